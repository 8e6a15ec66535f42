//! Three questions that need contact inside a network: see `experiments/push_policy`, `residual_toss`, `amortised_toss`.
//!
//! Each reads one TOML file, strictly, and writes `report.json` and figures.

mod amortised;
mod error;
mod files;
mod policy;
mod residual;
mod tosses;
mod train;

pub use error::ExperimentError;

use std::path::{Path, PathBuf};

/// Where results go, and how long to work for them.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of results.
    pub out: PathBuf,
    /// The small settings of the file, `[quick]`: for tests.
    pub quick: bool,
}

/// A policy that pushes, trained through contact. Returns what to print.
///
/// # Errors
/// Where the file is wrong, a roll-out fails or results cannot be written.
pub fn policy(file: &Path, options: &Options) -> Result<String, ExperimentError> {
    policy::run(file, options)
}

/// Physics with a small network beside it, on data that the physics does not explain. Returns what to print.
///
/// # Errors
/// As [`policy()`].
pub fn residual(file: &Path, options: &Options) -> Result<String, ExperimentError> {
    residual::run(file, options)
}

/// A network from a toss to its contact parameters, beside a fit. Returns what to print.
///
/// # Errors
/// As [`policy()`].
pub fn amortised(file: &Path, options: &Options) -> Result<String, ExperimentError> {
    amortised::run(file, options)
}
