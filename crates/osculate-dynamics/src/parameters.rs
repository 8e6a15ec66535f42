//! Every number that a trajectory depends on, generic over the scalar.

use crate::{ArticulationParameters, BodyState, Scene, SceneError, ShapeParameters};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactParams, PairOverride};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
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
    /// Sample positions, local frame \[m\]; empty where they follow from the vertices of a free shape.
    pub points: Vec<Vector3<T>>,
    /// What of the shape is free.
    pub shape: ShapeParameters<T>,
}

impl<T: Scalar> BodyParameters<T> {
    /// Initial state, with the symmetric rate given.
    pub(crate) fn initial_state(&self, symmetric_rate: Matrix3<T>) -> BodyState<T> {
        BodyState {
            center: self.position + self.rotation * self.center,
            rotation: self.rotation,
            velocity: self.velocity,
            rate: so3::skew(&self.angular_velocity) + symmetric_rate,
            momentum: Vector3::zeros(),
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
    /// Those of the joints, where the scene has any.
    pub articulation: Option<ArticulationParameters<T>>,
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
            points: match &b.samples {
                Some(samples) if !b.has_free_surface() => samples.points().to_vec(),
                _ => Vec::new(),
            },
            shape: ShapeParameters::of(b),
        });
        Self {
            gravity: scene.gravity,
            bodies: bodies.collect(),
            overrides: scene.overrides.iter().map(|o| o.values).collect(),
            wrenches: Vec::new(),
            articulation: scene.articulation.as_ref().map(ArticulationParameters::of),
        }
    }

    /// Checks what a roll-out does not: contact coefficients, masses and inertias that no body has are integrated as they are.
    /// For numbers that come from outside.
    ///
    /// # Errors
    /// Where a number is outside its range, with body, value and what is allowed.
    pub fn validate(&self, scene: &Scene) -> Result<(), SceneError> {
        for (p, body) in self.bodies.iter().zip(&scene.bodies) {
            let name = || body.name.clone();
            p.contact.validate().map_err(|source| SceneError::Contact { body: name(), source })?;
            if body.is_dynamic() {
                MassProperties::new(p.mass, p.center, p.inertia)
                    .map_err(|source| SceneError::Geometry { body: name(), source })?;
            }
        }
        for (values, o) in self.overrides.iter().zip(&scene.overrides) {
            values.validate().map_err(|source| {
                let [first, second] = o.bodies.map(|i| scene.bodies[i].name.clone());
                SceneError::Override { first, second, source }
            })?;
        }
        Ok(())
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
            shape: b.shape.lift(),
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
            articulation: self.articulation.as_ref().map(ArticulationParameters::lift),
        }
    }
}
