//! Why experiments cannot be compared.

use crate::experiment::ExperimentError;
use crate::json::JsonError;
use std::path::PathBuf;

/// Why experiments cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DesignError {
    /// The design file or one of its scenes.
    #[error(transparent)]
    File(#[from] ExperimentError),
    /// The report of a fit cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    ReadReport {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The report of a fit is not one.
    #[error("{}: {source}", file.display())]
    Report {
        /// The file.
        file: PathBuf,
        /// What is wrong there.
        source: JsonError,
    },
    /// The report of a fit says nothing of the parameters.
    #[error(
        "{}: {why}; needed: curvature.correlation and the standard errors of at least one [[parameter]]",
        file.display()
    )]
    Present {
        /// The file.
        file: PathBuf,
        /// What is missing.
        why: String,
    },
    /// Every candidate failed.
    #[error("all {candidates} candidates failed; the first because: {first}")]
    AllFailed {
        /// How many.
        candidates: usize,
        /// Why the first did.
        first: String,
    },
}
