//! Exact derivatives of trajectories.
//!
//! * [`tangent`]: forward, many parameters at a time.
//! * [`adjoint`]: reverse, one outcome, all parameters; one transposed solve a stage.
//! * [`hessian`]: the tangent of the adjoint.
//!
//! All three use the linearisation of the converged residual on the branch taken (samples in contact, accepted,
//! on their piece of each ramp) and the factors that Newton left, so tangent and adjoint agree to rounding, through
//! impacts too. Where the residual itself jumps there is no derivative; [`crate::Trajectory`]'s contacts tell how
//! many samples sit near a switch.

pub mod adjoint;
mod collect;
pub mod hessian;
mod joints;
pub(crate) mod observe;
mod outcome;
pub mod tangent;
mod transposed;

pub use outcome::Outcome;
