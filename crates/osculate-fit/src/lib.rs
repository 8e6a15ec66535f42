//! Identification of contact parameters from measured motion.
//!
//! * [`recording`]: measured tosses on disk, the public cube recordings, and the errors a simulation makes on them.
//! * [`parameter`]: what is free, and on which scale.
//! * [`problem`]: pose residuals of roll-outs with exact Jacobians.
//! * [`least_squares`]: bounded Levenberg–Marquardt.

pub mod least_squares;
pub mod parameter;
pub mod problem;
pub mod recording;
