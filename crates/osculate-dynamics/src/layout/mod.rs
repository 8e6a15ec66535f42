//! The flat order of a scene's parameters.
//!
//! A parameter has a path (`cube.mu`, `ground.collider.offset`, `gravity_z`, `cube.position_x`) and an index into
//! one flat vector; gradients and Hessians use the same order. Rotations are parameterised by a world increment
//! about the local origin, whose value is zero.

mod joints;

use crate::{ArticulationParameters, Body, BodyKind, Parameters, Scene};
use nalgebra::Vector3;
use osculate_contact::combine::OVERRIDE_SYMBOLS;
use osculate_contact::params::{ACTOR_PARAMETERS, ACTOR_SYMBOLS, ACTOR_UNITS};
use osculate_contact::{ContactParams, PairOverride};
use osculate_geometry::collider::{Collider, DIMENSIONS};
use osculate_math::{Scalar, so3};

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Path, unique in the scene.
    pub path: String,
    /// Unit, empty for a pure number.
    pub unit: &'static str,
    place: Place,
}

/// Where a parameter stands in [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Contact(usize, usize),
    Dimension(usize, usize),
    Mass(usize),
    Center(usize, usize),
    Inertia(usize, usize),
    Position(usize, usize),
    Rotation(usize, usize),
    Velocity(usize, usize),
    AngularVelocity(usize, usize),
    Point(usize, usize, usize),
    Gravity(usize),
    Override(usize, usize),
    Force(usize, usize),
    Torque(usize, usize),
    Scale(usize),
    Mode(usize, usize),
    Vertex(usize, usize, usize),
    Node(usize, usize),
    /// Of a link: a number of its joint, and the increments of placement and offset.
    JointNumber(usize, usize),
    Placement(usize, usize),
    Offset(usize, usize),
    /// Of a degree of freedom.
    JointPosition(usize),
    JointRate(usize),
    /// Of a step and a degree of freedom.
    Effort(usize),
    Target(usize),
    /// Of a closure: a number, and the increments of one of its frames.
    Closure(usize, usize),
    ClosureFrame(usize, usize, usize),
}

/// How many numbers of steps there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    wrenches: usize,
    efforts: usize,
    targets: usize,
}

impl Counts {
    /// Those of parameters.
    pub(crate) fn of<T>(p: &Parameters<T>) -> Self {
        let of = |f: fn(&ArticulationParameters<T>) -> usize| p.articulation.as_ref().map_or(0, f);
        let (efforts, targets) = (of(|a| a.efforts.len()), of(|a| a.targets.len()));
        Self { wrenches: p.wrenches.len(), efforts, targets }
    }
}

/// Rows and columns of the six inertia parameters.
pub(crate) const INERTIA: [(usize, usize, &str); 6] =
    [(0, 0, "xx"), (1, 1, "yy"), (2, 2, "zz"), (0, 1, "xy"), (0, 2, "xz"), (1, 2, "yz")];
const AXES: [&str; 3] = ["x", "y", "z"];

/// The flat order of a scene's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    entries: Vec<ParameterInfo>,
}

impl Layout {
    /// The order for a scene, with the wrenches of `steps` steps where `parameters` has any.
    pub fn new(scene: &Scene, parameters: &Parameters) -> Self {
        Self::with_counts(scene, &Counts::of(parameters))
    }

    /// The order for a scene with as many numbers of steps.
    pub(crate) fn with_counts(scene: &Scene, counts: &Counts) -> Self {
        let mut layout = Self { entries: Vec::new() };
        for (i, body) in scene.bodies.iter().enumerate() {
            layout.push_body(i, body, scene.link_of(i).is_some());
        }
        layout.push_vector("gravity", "m/s²", Place::Gravity);
        for (i, o) in scene.overrides.iter().enumerate() {
            let [a, b] = o.bodies.map(|k| scene.bodies[k].name.as_str());
            for (j, symbol) in OVERRIDE_SYMBOLS.iter().enumerate() {
                if o.values.to_array()[j].is_some() {
                    let unit = ["Pa/m", "m/s", "s/m", "", "s/m"][j];
                    layout.push(format!("pair.{a}.{b}.{symbol}"), unit, Place::Override(i, j));
                }
            }
        }
        let dynamic: Vec<usize> = scene.dynamic_bodies().collect();
        for i in 0..counts.wrenches {
            let (step, body) = (i / dynamic.len(), &scene.bodies[dynamic[i % dynamic.len()]].name);
            let path = |what: &str| format!("{body}.wrench.{step}.{what}");
            layout.push_vector(&path("force"), "N", |k| Place::Force(i, k));
            layout.push_vector(&path("torque"), "N m", |k| Place::Torque(i, k));
        }
        if let Some(articulation) = &scene.articulation {
            joints::push(articulation, counts, |path, unit, place| layout.push(path, unit, place));
        }
        layout
    }

    fn push(&mut self, path: String, unit: &'static str, place: Place) {
        self.entries.push(ParameterInfo { path, unit, place });
    }

    fn push_vector(&mut self, path: &str, unit: &'static str, place: impl Fn(usize) -> Place) {
        for (k, axis) in AXES.iter().enumerate() {
            self.push(format!("{path}_{axis}"), unit, place(k));
        }
    }

    fn push_body(&mut self, i: usize, body: &Body, link: bool) {
        let name = &body.name;
        for (j, symbol) in ACTOR_SYMBOLS.iter().enumerate() {
            self.push(format!("{name}.{symbol}"), ACTOR_UNITS[j], Place::Contact(i, j));
        }
        if let Some(collider) = &body.collider {
            let units = collider.dimension_units();
            for (j, (dimension, unit)) in collider.dimension_names().iter().zip(units).enumerate() {
                self.push(format!("{name}.collider.{dimension}"), unit, Place::Dimension(i, j));
            }
        }
        // A prescribed motion is data, not a parameter.
        let moved = matches!(&body.kind, BodyKind::Static { motion } if !motion.is_empty());
        if !(moved || link) {
            self.push_vector(&format!("{name}.position"), "m", |k| Place::Position(i, k));
            self.push_vector(&format!("{name}.rotation"), "rad", |k| Place::Rotation(i, k));
        }
        if body.is_dynamic() {
            self.push(format!("{name}.mass"), "kg", Place::Mass(i));
            self.push_vector(&format!("{name}.center"), "m", |k| Place::Center(i, k));
            for (j, (_, _, axes)) in INERTIA.iter().enumerate() {
                self.push(format!("{name}.inertia_{axes}"), "kg m²", Place::Inertia(i, j));
            }
        }
        // The motion of a link follows from the joints.
        if body.is_dynamic() && !link {
            self.push_vector(&format!("{name}.velocity"), "m/s", |k| Place::Velocity(i, k));
            self.push_vector(&format!("{name}.angular_velocity"), "rad/s", |k| {
                Place::AngularVelocity(i, k)
            });
        }
        if body.free_samples {
            let points = body.samples.as_ref().map_or(0, |s| s.len());
            for j in 0..points {
                let path = format!("{name}.sample_{j}");
                self.push_vector(&path, "m", |k| Place::Point(i, j, k));
            }
        }
        self.push_shape(i, body);
    }

    fn push_shape(&mut self, i: usize, body: &Body) {
        let (name, Some(shape)) = (&body.name, &body.shape) else { return };
        if shape.scale {
            self.push(format!("{name}.scale"), "", Place::Scale(i));
        }
        for (j, mode) in shape.modes.iter().enumerate() {
            self.push(format!("{name}.{}", mode.name), mode.unit, Place::Mode(i, j));
        }
        if let (true, Some(surface)) = (shape.vertices, &shape.surface) {
            for j in 0..surface.vertices().len() {
                let path = format!("{name}.vertex_{j}");
                self.push_vector(&path, "m", |k| Place::Vertex(i, j, k));
            }
        }
        if let (true, Some(Collider::Grid(grid))) = (shape.nodes, &body.collider) {
            for j in 0..grid.base.values().len() {
                self.push(format!("{name}.collider.node_{j}"), "m", Place::Node(i, j));
            }
        }
    }

    /// The parameters, in order.
    pub fn entries(&self) -> &[ParameterInfo] {
        &self.entries
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Index of a path.
    pub fn index(&self, path: &str) -> Option<usize> {
        self.entries.iter().position(|e| e.path == path)
    }

    pub(crate) fn place(&self, i: usize) -> Place {
        self.entries[i].place
    }

    /// The flat values.
    pub fn values<T: Scalar>(&self, parameters: &Parameters<T>) -> Vec<T> {
        self.entries.iter().map(|e| get(parameters, e.place)).collect()
    }

    /// Adds `x` to parameter `i`; derivatives that `x` carries come along. A rotation is turned by it.
    pub fn add<T: Scalar>(&self, parameters: &mut Parameters<T>, i: usize, x: T) {
        add(parameters, self.entries[i].place, x);
    }
}

fn get<T: Scalar>(p: &Parameters<T>, place: Place) -> T {
    match place {
        Place::Contact(b, j) => p.bodies[b].contact.to_array()[j],
        Place::Dimension(b, j) => {
            p.bodies[b].collider.as_ref().map_or_else(T::zero, |c| c.dimensions()[j])
        }
        Place::Mass(b) => p.bodies[b].mass,
        Place::Center(b, k) => p.bodies[b].center[k],
        Place::Inertia(b, j) => p.bodies[b].inertia[(INERTIA[j].0, INERTIA[j].1)],
        Place::Position(b, k) => p.bodies[b].position[k],
        Place::Rotation(..) => T::zero(),
        Place::Velocity(b, k) => p.bodies[b].velocity[k],
        Place::AngularVelocity(b, k) => p.bodies[b].angular_velocity[k],
        Place::Point(b, j, k) => p.bodies[b].points[j][k],
        Place::Gravity(k) => p.gravity[k],
        Place::Override(o, j) => p.overrides[o].to_array()[j].unwrap_or_else(T::zero),
        Place::Force(i, k) => p.wrenches[i].force[k],
        Place::Torque(i, k) => p.wrenches[i].torque[k],
        Place::Scale(b) => p.bodies[b].shape.scale,
        Place::Mode(b, j) => p.bodies[b].shape.modes[j],
        Place::Vertex(b, j, k) => p.bodies[b].shape.vertices[j][k],
        Place::Node(b, j) => p.bodies[b].shape.nodes[j],
        _ => p.articulation.as_ref().map_or_else(T::zero, |a| joints::get(a, place)),
    }
}

fn add<T: Scalar>(p: &mut Parameters<T>, place: Place, x: T) {
    match place {
        Place::Contact(b, j) => {
            let contact = &mut p.bodies[b].contact;
            let mut values: [T; ACTOR_PARAMETERS] = contact.to_array();
            values[j] += x;
            *contact = ContactParams::from_array(values, contact.collider_normal);
        }
        Place::Dimension(b, j) => {
            if let Some(collider) = &mut p.bodies[b].collider {
                let mut values: [T; DIMENSIONS] = collider.dimensions();
                values[j] += x;
                *collider = collider.with_dimensions(&values);
            }
        }
        Place::Mass(b) => p.bodies[b].mass += x,
        Place::Center(b, k) => p.bodies[b].center[k] += x,
        Place::Inertia(b, j) => {
            let (r, c, _) = INERTIA[j];
            p.bodies[b].inertia[(r, c)] += x;
            if r != c {
                p.bodies[b].inertia[(c, r)] += x;
            }
        }
        Place::Position(b, k) => p.bodies[b].position[k] += x,
        Place::Rotation(b, k) => {
            let mut turn = Vector3::zeros();
            turn[k] = x;
            p.bodies[b].rotation = so3::exp(&turn) * p.bodies[b].rotation;
        }
        Place::Velocity(b, k) => p.bodies[b].velocity[k] += x,
        Place::AngularVelocity(b, k) => p.bodies[b].angular_velocity[k] += x,
        Place::Point(b, j, k) => p.bodies[b].points[j][k] += x,
        Place::Gravity(k) => p.gravity[k] += x,
        Place::Override(o, j) => {
            let mut values = p.overrides[o].to_array();
            values[j] = values[j].map(|v| v + x);
            p.overrides[o] = PairOverride::from_array(values);
        }
        Place::Force(i, k) => p.wrenches[i].force[k] += x,
        Place::Torque(i, k) => p.wrenches[i].torque[k] += x,
        Place::Scale(b) => p.bodies[b].shape.scale += x,
        Place::Mode(b, j) => p.bodies[b].shape.modes[j] += x,
        Place::Vertex(b, j, k) => p.bodies[b].shape.vertices[j][k] += x,
        Place::Node(b, j) => p.bodies[b].shape.nodes[j] += x,
        _ => {
            if let Some(articulation) = &mut p.articulation {
                joints::add(articulation, place, x);
            }
        }
    }
}
