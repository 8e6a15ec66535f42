//! Why a step failed.

use super::solve::ImpulseStats;
use crate::articulated::ModelError;
use osculate_contact::impulse::ImpulseError;
use osculate_geometry::GeometryError;

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpulseStepError {
    /// The sweeps did not reach their tolerance.
    #[error(
        "step {step}: not converged after {} sweeps, residual {:.3e} > {:.3e}, largest between '{first}' and '{second}'",
        stats.sweeps, stats.residual, stats.tolerance
    )]
    NotConverged {
        /// Index of the step, from 0.
        step: usize,
        /// What the solve took.
        stats: ImpulseStats,
        /// One body of the contact with the largest residual.
        first: String,
        /// The other.
        second: String,
    },
    /// The sweeps did not reach their tolerance, and joints are farthest from it.
    #[error(
        "step {step}: not converged after {} sweeps, residual {:.3e} > {:.3e}, largest in the joints of the tree of '{root}'",
        stats.sweeps, stats.residual, stats.tolerance
    )]
    JointsNotConverged {
        /// Index of the step, from 0.
        step: usize,
        /// What the solve took.
        stats: ImpulseStats,
        /// First link of the tree.
        root: String,
    },
    /// The equations of a tree have no solution.
    #[error("step {step}: {source}")]
    Tree {
        /// Index of the step, from 0.
        step: usize,
        /// What is wrong.
        source: ModelError,
    },
    /// Two bodies that may touch have shapes between which no contact points are built.
    #[error("step {step}: '{first}' and '{second}': {source}")]
    Pair {
        /// Index of the step, from 0.
        step: usize,
        /// One body.
        first: String,
        /// The other.
        second: String,
        /// What is missing.
        source: GeometryError,
    },
    /// A body turns too far in a step for its gyroscopic equation to be solved.
    #[error(
        "step {step}: body '{body}' turns by {angle} rad in a step, its gyroscopic equation has no solution near"
    )]
    TurnsTooFast {
        /// Index of the step, from 0.
        step: usize,
        /// The body.
        body: String,
        /// Angle of the step \[rad\].
        angle: f64,
    },
    /// A state is not finite.
    #[error("step {step}: the motion of body '{body}' is not finite")]
    Diverged {
        /// Index of the step, from 0.
        step: usize,
        /// The body.
        body: String,
    },
    /// The caller asked to stop.
    #[error("interrupted at step {step}")]
    Interrupted {
        /// Index of the step, from 0.
        step: usize,
    },
    /// The time step is not positive.
    #[error("step {step}: time step is {found} s, allowed: > 0")]
    Duration {
        /// Index of the step, from 0.
        step: usize,
        /// The value found \[s\].
        found: f64,
    },
    /// An impulse law refused its input.
    #[error("step {step}: {source}")]
    Law {
        /// Index of the step, from 0.
        step: usize,
        /// What is wrong.
        source: ImpulseError,
    },
}
