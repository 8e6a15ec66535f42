//! Every number that a trajectory depends on, generic over the scalar, and its flat layout.
//!
//! A parameter has a path (`cube.mu`, `ground.collider.offset`, `gravity_z`, `cube.position_x`) and an index into
//! one flat vector; gradients and Hessians use the same order. Rotations are parameterised by a world increment
//! about the local origin, whose value is zero.

use crate::{BodyKind, BodyState, Scene};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::combine::OVERRIDE_SYMBOLS;
use osculate_contact::params::{ACTOR_PARAMETERS, ACTOR_SYMBOLS, ACTOR_UNITS};
use osculate_contact::{ContactParams, PairOverride};
use osculate_geometry::collider::{Collider, DIMENSIONS};
use osculate_math::{Scalar, lift, lift_matrix, so3};

/// Force \[N\] at the centre of mass and torque \[N m\] on a body during one step, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench<T = f64> {
    /// Force \[N\].
    pub force: Vector3<T>,
    /// Torque \[N m\].
    pub torque: Vector3<T>,
}

impl<T: Scalar> Wrench<T> {
    /// No force.
    pub fn zero() -> Self {
        Self { force: Vector3::zeros(), torque: Vector3::zeros() }
    }
}

/// The numbers of one body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyParameters<T = f64> {
    /// Contact parameters.
    pub contact: ContactParams<T>,
    /// Distance field, local frame.
    pub collider: Option<Collider<T>>,
    /// Mass \[kg\]; 0 for a static body.
    pub mass: T,
    /// Centre of mass in the local frame \[m\].
    pub center: Vector3<T>,
    /// Inertia about the centre of mass, local axes \[kg m²\].
    pub inertia: Matrix3<T>,
    /// Initial position of the local origin \[m\].
    pub position: Vector3<T>,
    /// Initial rotation.
    pub rotation: Matrix3<T>,
    /// Initial velocity of the centre of mass \[m/s\].
    pub velocity: Vector3<T>,
    /// Initial angular velocity \[rad/s\], world.
    pub angular_velocity: Vector3<T>,
    /// Sample positions, local frame \[m\].
    pub points: Vec<Vector3<T>>,
}

impl<T: Scalar> BodyParameters<T> {
    /// Initial state, with the symmetric rate given.
    pub(crate) fn initial_state(&self, symmetric_rate: Matrix3<T>) -> BodyState<T> {
        BodyState {
            center: self.position + self.rotation * self.center,
            rotation: self.rotation,
            velocity: self.velocity,
            rate: so3::skew(&self.angular_velocity) + symmetric_rate,
        }
    }
}

/// Every number of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters<T = f64> {
    /// Gravity \[m/s²\].
    pub gravity: Vector3<T>,
    /// The bodies'.
    pub bodies: Vec<BodyParameters<T>>,
    /// Overridden pair values.
    pub overrides: Vec<PairOverride<T>>,
    /// Applied wrenches, `wrenches[step * dynamic bodies + i]`; empty for none.
    pub wrenches: Vec<Wrench<T>>,
}

impl Parameters {
    /// The numbers of a scene, without applied wrenches.
    pub fn of(scene: &Scene) -> Self {
        let bodies = scene.bodies.iter().map(|b| BodyParameters {
            contact: b.contact,
            collider: b.collider.clone(),
            mass: b.mass().map_or(0.0, |m| m.mass()),
            center: b.center(),
            inertia: b.mass().map_or_else(Matrix3::zeros, |m| m.inertia()),
            position: b.pose.position,
            rotation: b.pose.rotation,
            velocity: b.velocity,
            angular_velocity: b.angular_velocity,
            points: b.samples.as_ref().map_or_else(Vec::new, |s| s.points().to_vec()),
        });
        Self {
            gravity: scene.gravity,
            bodies: bodies.collect(),
            overrides: scene.overrides.iter().map(|o| o.values).collect(),
            wrenches: Vec::new(),
        }
    }

    /// The same numbers as constants of another scalar.
    pub fn lift<T: Scalar>(&self) -> Parameters<T> {
        let bodies = self.bodies.iter().map(|b| BodyParameters {
            contact: ContactParams::from_array(
                b.contact.to_array().map(T::from),
                b.contact.collider_normal,
            ),
            collider: b.collider.as_ref().map(Collider::lift),
            mass: T::from(b.mass),
            center: lift(&b.center),
            inertia: lift_matrix(&b.inertia),
            position: lift(&b.position),
            rotation: lift_matrix(&b.rotation),
            velocity: lift(&b.velocity),
            angular_velocity: lift(&b.angular_velocity),
            points: b.points.iter().map(lift).collect(),
        });
        Parameters {
            gravity: lift(&self.gravity),
            bodies: bodies.collect(),
            overrides: self
                .overrides
                .iter()
                .map(|o| PairOverride::from_array(o.to_array().map(|x| x.map(T::from))))
                .collect(),
            wrenches: self
                .wrenches
                .iter()
                .map(|w| Wrench { force: lift(&w.force), torque: lift(&w.torque) })
                .collect(),
        }
    }
}

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
        let mut layout = Self { entries: Vec::new() };
        for (i, body) in scene.bodies.iter().enumerate() {
            layout.push_body(i, body);
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
        for i in 0..parameters.wrenches.len() {
            let (step, body) = (i / dynamic.len(), &scene.bodies[dynamic[i % dynamic.len()]].name);
            let path = |what: &str| format!("{body}.wrench.{step}.{what}");
            layout.push_vector(&path("force"), "N", |k| Place::Force(i, k));
            layout.push_vector(&path("torque"), "N m", |k| Place::Torque(i, k));
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

    fn push_body(&mut self, i: usize, body: &crate::Body) {
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
        if !matches!(&body.kind, BodyKind::Static { motion } if !motion.is_empty()) {
            self.push_vector(&format!("{name}.position"), "m", |k| Place::Position(i, k));
            self.push_vector(&format!("{name}.rotation"), "rad", |k| Place::Rotation(i, k));
        }
        if body.is_dynamic() {
            self.push(format!("{name}.mass"), "kg", Place::Mass(i));
            self.push_vector(&format!("{name}.center"), "m", |k| Place::Center(i, k));
            for (j, (_, _, axes)) in INERTIA.iter().enumerate() {
                self.push(format!("{name}.inertia_{axes}"), "kg m²", Place::Inertia(i, j));
            }
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
    }
}
