//! Scalars and rotations written for derivatives. No physics.
//!
//! * [`Scalar`]: what a law is generic over: `f64`, a dual number of `num-dual`, or a [`Jet`].
//! * [`so3`]: exponential, logarithm and their Jacobians, right to second order at the identity.
//! * [`se3`]: increments of a pose.
//! * [`mat3`]: products of 3×3 matrices, inlined for every scalar.
//! * [`norm`]: norms that are safe at zero.
//! * [`special`]: the error function.
//! * `check` (feature `check`): the gradient validator that every law test runs.

#[cfg(feature = "check")]
pub mod check;
mod jet;
pub mod mat3;
pub mod norm;
mod scalar;
pub mod se3;
pub mod so3;
pub mod special;

pub use jet::Jet;
pub use scalar::{Scalar, lift, lift_matrix, real, real_matrix};
