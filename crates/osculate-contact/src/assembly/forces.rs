//! What the forces of a pair's samples add up to.

use super::Moments;
use nalgebra::Vector3;
use osculate_math::Scalar;
use std::ops::AddAssign;

/// Generalised contact force of a pair in collider axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrenches<T = f64> {
    /// Force on the colliding body \[N\]; the collider receives the opposite.
    pub force: Vector3<T>,
    /// Torque on the colliding body about its centre of mass \[N m\].
    pub torque_a: Vector3<T>,
    /// Torque of the same force about the collider's centre of mass \[N m\]; the collider receives the opposite.
    pub torque_b: Vector3<T>,
    /// `Σ ‖w T‖`: the scale that rounding and tolerances are measured against \[N\].
    pub magnitude: f64,
}

impl<T: Scalar> Default for Wrenches<T> {
    fn default() -> Self {
        let o = Vector3::zeros();
        Self { force: o, torque_a: o, torque_b: o, magnitude: 0.0 }
    }
}

impl<T: Scalar> AddAssign for Wrenches<T> {
    fn add_assign(&mut self, other: Self) {
        self.force += other.force;
        self.torque_a += other.torque_a;
        self.torque_b += other.torque_b;
        self.magnitude += other.magnitude;
    }
}

/// Force of a pair and the sums that its Jacobian is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forces<T> {
    pub(super) wrenches: Wrenches<T>,
    pub(super) moments: Moments<T>,
}

impl<T: Scalar> Default for Forces<T> {
    fn default() -> Self {
        Self { wrenches: Wrenches::default(), moments: Moments::default() }
    }
}

impl<T: Scalar> AddAssign for Forces<T> {
    fn add_assign(&mut self, other: Self) {
        self.wrenches += other.wrenches;
        self.moments += other.moments;
    }
}
