//! The equations of a step, generic over the scalar: what derivatives through a step are made of.
//!
//! ```text
//! v⁺ = v_f(state, θ) + Σ M⁻¹Jᵀ r        velocities_after
//! u  = J v⁺                             relative_velocity, of a contact or an anchor
//! ```
//!
//! The solve finds impulses in `f64`; at its solution these equations, with the regimes of the record (open, sticking, sliding),
//! are the root that the implicit function theorem needs. Nothing here iterates in `T`.

use super::body::{Gyroscopic, Inertia, RigidState, TurnsTooFast};
use super::row::{jacobian, response};
use nalgebra::Vector3;
use osculate_geometry::manifold::{Contact, ContactPoint};
use osculate_math::{Scalar, norm::scale};

/// Bodies at the start of a step, and what acts on them.
#[derive(Clone, Copy, Debug)]
pub struct StepStart<'a, T = f64> {
    /// Mass and inertia; `None` for a body that does not move.
    pub inertia: &'a [Option<Inertia<T>>],
    /// Centre of mass of each body, local \[m\].
    pub centers: &'a [Vector3<T>],
    /// States.
    pub states: &'a [RigidState<T>],
    /// Force, weight included \[N\], and torque \[N m\] on each body, world.
    pub forces: &'a [[Vector3<T>; 2]],
    /// Duration \[s\].
    pub duration: f64,
    /// What the gyroscopic torque does.
    pub gyroscopic: Gyroscopic,
}

/// An impulse between two bodies at a point: on the first, the opposite on the second.
#[derive(Clone, Copy, Debug)]
pub struct PointImpulse<T = f64> {
    /// The two bodies.
    pub bodies: [usize; 2],
    /// Where it acts \[m\], world.
    pub point: Vector3<T>,
    /// Impulse \[N s\], world.
    pub linear: Vector3<T>,
    /// Angular impulse beside it \[N m s\], world.
    pub angular: Vector3<T>,
}

impl<T: Scalar> StepStart<'_, T> {
    /// Points, normal and gap of a contact at the start of the step.
    pub fn contact_point(&self, bodies: [usize; 2], contact: &Contact<T>) -> ContactPoint<T> {
        let [a, b] = bodies.map(|i| self.states[i].local_pose(&self.centers[i]));
        contact.evaluate(&a, &b)
    }

    /// Where the forces of a contact act: the middle of its two points \[m\].
    pub fn contact_middle(&self, bodies: [usize; 2], contact: &Contact<T>) -> Vector3<T> {
        let c = self.contact_point(bodies, contact);
        (c.point_a + c.point_b).map(|x| x * 0.5)
    }

    /// `v⁺ = v_f + Σ M⁻¹Jᵀ r`, linear and angular; zero for bodies that do not move.
    ///
    /// # Errors
    /// Where a gyroscopic equation is not solved.
    pub fn velocities_after(
        &self,
        impulses: &[PointImpulse<T>],
    ) -> Result<Vec<[Vector3<T>; 2]>, TurnsTooFast> {
        let free = |i: usize| match &self.inertia[i] {
            Some(body) => {
                body.free_velocity(&self.states[i], &self.forces[i], self.duration, self.gyroscopic)
            }
            None => Ok([Vector3::zeros(); 2]),
        };
        let mut v = (0..self.states.len()).map(free).collect::<Result<Vec<_>, _>>()?;
        for impulse in impulses {
            for (body, sign) in impulse.bodies.into_iter().zip([1.0, -1.0]) {
                let Some(inertia) = &self.inertia[body] else { continue };
                let state = &self.states[body];
                let inverse = inertia.inverse_in_world(&state.rotation);
                let arm = impulse.point - state.center;
                let [linear, torque] = jacobian(&impulse.linear, &arm);
                let rows = [linear, torque + impulse.angular];
                let change = response(inertia, &inverse, &rows);
                v[body][0] += scale(&change[0], T::from(sign));
                v[body][1] += scale(&change[1], T::from(sign));
            }
        }
        Ok(v)
    }

    /// Velocity of the first body against the second at a point \[m/s\], world.
    pub fn relative_velocity(
        &self,
        bodies: [usize; 2],
        point: &Vector3<T>,
        velocities: &[[Vector3<T>; 2]],
    ) -> Vector3<T> {
        let [a, b] = bodies.map(|i| {
            let [v, w] = &velocities[i];
            v + w.cross(&(point - self.states[i].center))
        });
        a - b
    }
}
