//! Why there is no derivative.

use crate::SceneError;
use crate::impulse::ImpulseRunError;

/// Why a trajectory has no derivative.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpulseGradientError {
    /// A step is no fixed point of the sweeps.
    #[error(
        "step {step} has no derivative: not converged, residual {residual:.3e} > {tolerance:.3e}"
    )]
    NotConverged {
        /// Index of the step, from 0.
        step: usize,
        /// Natural residual, relative \[–\].
        residual: f64,
        /// What was asked \[–\].
        tolerance: f64,
    },
    /// The velocity after a step depends on how the load is distributed over contacts, which the step does not determine.
    #[error(
        "step {step} has no derivative: the motion of '{first}' against '{second}' depends on the distribution of the load over \
         their contacts, which is not determined (relative effect {effect:.3e} > {allowed:.0e}); patch friction (anchor_beta > 0) \
         does not"
    )]
    Indeterminate {
        /// Index of the step, from 0.
        step: usize,
        /// One body.
        first: String,
        /// The other.
        second: String,
        /// Velocity that impulses without any effect on the rows bring, relative to what they bring one by one \[–\].
        effect: f64,
        /// What counts as none \[–\].
        allowed: f64,
    },
    /// A setting whose result is no fixed point, or which has no derivative.
    #[error("no derivative with {field} = {found}, allowed: {allowed}")]
    Unsupported {
        /// The setting.
        field: &'static str,
        /// What it is.
        found: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// The trajectory is of another simulation.
    #[error("trajectory has {found} steps of {bodies} bodies, the simulation {expected} steps")]
    Trajectory {
        /// Steps of the trajectory.
        found: usize,
        /// Its bodies.
        bodies: usize,
        /// Steps of the simulation.
        expected: usize,
    },
    /// The parameters do not fit the scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// An impulse law refused its input.
    #[error("step {step}: {source}")]
    Law {
        /// Index of the step, from 0.
        step: usize,
        /// What is wrong.
        source: osculate_contact::impulse::ImpulseError,
    },
    /// A gyroscopic equation is not solved.
    #[error("step {step}: a body turns by {angle} rad in a step")]
    TurnsTooFast {
        /// Index of the step, from 0.
        step: usize,
        /// By how much \[rad\].
        angle: f64,
    },
    /// A mass matrix is not positive definite.
    #[error("step {step}: {source}")]
    Tree {
        /// Index of the step, from 0.
        step: usize,
        /// What is wrong.
        source: crate::articulated::ModelError,
    },
    /// A roll-out failed.
    #[error(transparent)]
    Run(#[from] ImpulseRunError),
}
