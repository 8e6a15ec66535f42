//! From cotangents of states and of the system to those of the parameters, in the order of the layout.

use super::Outcome;
use super::adjoint::Sweep;
use super::joints::{JointSweep, pull_rate};
use super::transposed::SweepScalar;
use crate::chart::pull_momentum;
use crate::layout::{Counts, INERTIA, Place};
use crate::shape::ShapeBar;
use crate::{Body, Layout, RotationUpdate};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::combine::combine;
use osculate_contact::{ContactParams, PairOverride};
use osculate_math::{Jet, so3};

/// Turns the cotangents of the system into those of the layout's parameters.
pub(super) struct Collector<'a, 's, T, O> {
    sweep: &'a Sweep<'s, T, O>,
    contact: Vec<[T; 9]>,
    overrides: Vec<[T; 5]>,
    inertia: Vec<Matrix3<T>>,
    center: Vec<Vector3<T>>,
    position: Vec<Vector3<T>>,
    rotation: Vec<Vector3<T>>,
    angular_velocity: Vec<Vector3<T>>,
    /// Of the bodies whose shape is free.
    shapes: Vec<Option<ShapeBar<T>>>,
}

impl<'a, 's, T: SweepScalar, O: Outcome> Collector<'a, 's, T, O> {
    pub(super) fn new(sweep: &'a Sweep<'s, T, O>) -> Self {
        let n = sweep.system.bodies.len();
        let o = vec![Vector3::zeros(); n];
        let (total, p) = (&sweep.total, &sweep.parameters.bodies);
        let shape = |(i, body): (usize, &Body)| {
            let shape = body.shape.as_ref()?;
            Some(shape.pull(body, &p[i], &total.samples[i], &total.dimensions[i]))
        };
        Self {
            sweep,
            contact: vec![[T::zero(); 9]; n],
            overrides: vec![[T::zero(); 5]; sweep.parameters.overrides.len()],
            inertia: sweep
                .total
                .second_moment
                .iter()
                .map(|j| Matrix3::from_diagonal_element(j.trace() * 0.5) - j)
                .collect(),
            center: o.clone(),
            position: o.clone(),
            rotation: o.clone(),
            angular_velocity: o,
            shapes: sweep.system.scene.bodies.iter().enumerate().map(shape).collect(),
        }
    }

    pub(super) fn collect(mut self) -> Vec<T> {
        self.pull_pairs();
        for b in 0..self.center.len() {
            self.pull_initial_state(b);
        }
        self.pull_link_centers();
        let scene = self.sweep.simulator.scene();
        let layout = Layout::with_counts(scene, &Counts::of(self.sweep.parameters));
        (0..layout.len()).map(|i| self.at(layout.place(i))).collect()
    }

    /// Pair parameters to actor parameters and overrides: the combination, differentiated.
    fn pull_pairs(&mut self) {
        let (system, p) = (self.sweep.system, self.sweep.parameters);
        for (&(a, b), bar) in &self.sweep.total.pairs {
            let pair = system.pair(a, b);
            let seed = |x: [T; 9], first: usize, normal: bool| {
                let mut k = first;
                let seeded = x.map(|v| {
                    k += 1;
                    Jet::<23, T>::variable(v, k - 1)
                });
                ContactParams::from_array(seeded, normal)
            };
            let (a, b) = (&p.bodies[pair.a].contact, &p.bodies[pair.b].contact);
            let replaced = pair.replaced.map_or_else(PairOverride::default, |o| {
                let values = p.overrides[o].to_array();
                PairOverride::from_array(std::array::from_fn(|j| {
                    values[j].map(|v| Jet::<23, T>::variable(v, 18 + j))
                }))
            });
            let combined = combine(
                &seed(a.to_array(), 0, a.collider_normal),
                &seed(b.to_array(), 9, b.collider_normal),
                pair.kind,
                &replaced,
            );
            for (x, g) in combined.to_array().iter().zip(bar) {
                for j in 0..9 {
                    self.contact[pair.a][j] += x.eps[j] * *g;
                    self.contact[pair.b][j] += x.eps[9 + j] * *g;
                }
                if let Some(o) = pair.replaced {
                    for j in 0..5 {
                        self.overrides[o][j] += x.eps[18 + j] * *g;
                    }
                }
            }
        }
    }

    /// Initial state and samples to position, rotation, centre of mass and angular velocity.
    fn pull_initial_state(&mut self, b: usize) {
        let sweep = self.sweep;
        let (p, total) = (&sweep.parameters.bodies[b], &sweep.total);
        let mut bar = sweep.bars[0][b];
        let moving = sweep.simulator.scene().bodies[b].is_dynamic();
        if !moving {
            // What the outcome sees of a static body depends on its pose directly.
            bar.center += total.pose[b][0];
            bar.rotation += total.pose[b][1];
        }
        if moving && sweep.system.rotation == RotationUpdate::Chart {
            let by = pull_momentum(&p.rotation, &p.inertia, &p.angular_velocity, &bar.momentum);
            bar.rotation += by.rotation;
            bar.rate += so3::skew(&by.vector).map(|x| x * 0.5);
            self.inertia[b] += by.inertia;
        }
        let arm = p.rotation * p.center;
        self.position[b] = bar.center;
        self.rotation[b] = bar.rotation + arm.cross(&bar.center);
        let by_points = total.samples[b].points.iter().fold(Vector3::zeros(), |sum, x| sum + x);
        self.center[b] = total.center[b] - by_points + p.rotation.transpose() * bar.center;
        let first_step = sweep.simulator.durations()[0];
        let settings = sweep.simulator.settings();
        self.angular_velocity[b] = pull_rate(settings, &p.angular_velocity, first_step, &bar.rate);
    }

    /// What a link's centre of mass moves at every stage.
    fn pull_link_centers(&mut self) {
        let scene = self.sweep.simulator.scene();
        if let (Some(joints), Some(articulation)) = (&self.sweep.joints, &scene.articulation) {
            for (by, &body) in joints.total.centers.iter().zip(articulation.bodies()) {
                self.center[body] += by;
            }
        }
    }

    /// A number of the joints.
    fn joint(&self, f: impl Fn(&JointSweep<'s, T>) -> T) -> T {
        self.sweep.joints.as_ref().map_or_else(T::zero, f)
    }

    /// A number of a body's shape, where it is free.
    fn shape(&self, b: usize, f: impl Fn(&ShapeBar<T>) -> T) -> T {
        self.shapes[b].as_ref().map_or_else(T::zero, f)
    }

    fn at(&self, place: Place) -> T {
        let total = &self.sweep.total;
        match place {
            Place::Contact(b, j) => self.contact[b][j],
            Place::Dimension(b, j) => match &self.shapes[b] {
                Some(shape) => shape.dimensions[j],
                None => total.dimensions[b][j],
            },
            Place::Mass(b) => total.mass[b],
            Place::Center(b, k) => self.center[b][k],
            Place::Inertia(b, j) => {
                let (r, c, _) = INERTIA[j];
                let i = &self.inertia[b];
                if r == c { i[(r, c)] } else { i[(r, c)] + i[(c, r)] }
            }
            Place::Position(b, k) => self.position[b][k],
            Place::Rotation(b, k) => self.rotation[b][k],
            Place::Velocity(b, k) => self.sweep.bars[0][b].velocity[k],
            Place::AngularVelocity(b, k) => self.angular_velocity[b][k],
            Place::Point(b, j, k) => match &self.shapes[b] {
                Some(shape) => shape.vertices[j][k],
                None => total.samples[b].points[j][k],
            },
            Place::Gravity(k) => total.gravity[k],
            Place::Override(o, j) => self.overrides[o][j],
            Place::Force(i, k) => total.wrenches[i].force[k],
            Place::Torque(i, k) => total.wrenches[i].torque[k],
            Place::Scale(b) => self.shape(b, |s| s.scale),
            Place::Mode(b, j) => self.shape(b, |s| s.modes[j]),
            Place::Vertex(b, j, k) => self.shape(b, |s| s.vertices[j][k]),
            Place::Node(b, j) => total.nodes[b][j],
            Place::JointNumber(i, j) => self.joint(|s| s.total.terms.numbers[i][j]),
            Place::Placement(i, k) => self.joint(|s| s.total.placements[i][k]),
            Place::Offset(i, k) => self.joint(|s| s.total.offsets[i][k]),
            Place::JointPosition(k) => self.joint(|s| s.bars[0].position[k]),
            Place::JointRate(k) => self.joint(|s| s.bars[0].rate[k]),
            Place::Effort(i) => self.joint(|s| s.total.terms.efforts[i]),
            Place::Target(i) => self.joint(|s| s.total.terms.targets[i]),
            Place::Closure(i, j) => self.joint(|s| s.total.closures[i].numbers[j]),
            Place::ClosureFrame(i, side, k) => self.joint(|s| s.total.closures[i].frames[side][k]),
        }
    }
}
