//! Why a trajectory cannot be optimised.

use crate::contact_model::ModelError;

/// Why a trajectory cannot be optimised.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimizeError {
    /// Every start failed.
    #[error("all {starts} starts failed; the first because: {first}")]
    AllFailed {
        /// How many.
        starts: usize,
        /// Why the first did.
        first: String,
    },
    /// A roll-out failed.
    #[error(transparent)]
    Run(#[from] ModelError),
    /// A checkpoint of something else.
    #[error("the checkpoint has {found} {what}, the experiment {expected}")]
    Checkpoint {
        /// Of what.
        what: &'static str,
        /// How many it has.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
}
