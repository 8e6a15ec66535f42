//! Pullback of the velocity without contact.
//!
//! ```text
//! I (w_f − w) + h x × I x − h Rᵀτ = 0,   w = Rᵀω, ω_f = R w_f;   x = (w + w_f)/2, w or 0
//! B = h ∂(x × I x)/∂x,  K = I + B/2 (midpoint) or I,   κ = K⁻ᵀ Rᵀω̄_f
//! w̄ = (I − B')ᵀκ,  B' = B/2 or B;   Ī = −κ (w_f − w)ᵀ − h (κ × x) xᵀ;   τ̄ = h R κ
//! ```

use crate::impulse::Gyroscopic;
use crate::impulse::body::{Inertia, RigidState, inverse};
use nalgebra::{Matrix3, Vector3};
use osculate_math::so3;

/// Derivatives of a number by what the velocity without contact depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeBar {
    /// By a rotation of the body.
    pub(super) rotation: Vector3<f64>,
    pub(super) angular_velocity: Vector3<f64>,
    pub(super) torque: Vector3<f64>,
    pub(super) inertia: Matrix3<f64>,
}

/// From the derivative `bar` by the angular velocity `free` to those by state, torque and inertia.
pub(super) fn pull(
    body: &Inertia,
    state: &RigidState,
    (torque, free, bar): (&Vector3<f64>, &Vector3<f64>, &Vector3<f64>),
    duration: f64,
    gyroscopic: Gyroscopic,
) -> FreeBar {
    let (r, i) = (&state.rotation, &body.tensor);
    let (start, end) = (r.tr_mul(&state.angular_velocity), r.tr_mul(free));
    let x = match gyroscopic {
        Gyroscopic::Midpoint => (start + end) * 0.5,
        Gyroscopic::Explicit => start,
        Gyroscopic::Off => Vector3::zeros(),
    };
    let by_x = (so3::skew(&x) * i - so3::skew(&(i * x))) * duration;
    let (matrix, by_start) = match gyroscopic {
        Gyroscopic::Midpoint => (i + by_x * 0.5, by_x * 0.5),
        Gyroscopic::Explicit | Gyroscopic::Off => (*i, by_x),
    };
    let kappa = inverse(&matrix).tr_mul(&r.tr_mul(bar));
    let by_w = r * (i - by_start).tr_mul(&kappa);
    let twist = r * kappa * duration;
    FreeBar {
        // Rᵀω and Rᵀτ turn back with the body, ω_f with it.
        rotation: by_w.cross(&state.angular_velocity) + twist.cross(torque) + free.cross(bar),
        angular_velocity: by_w,
        torque: twist,
        inertia: -kappa * (end - start).transpose() - kappa.cross(&x) * x.transpose() * duration,
    }
}
