//! Why an experiment stopped.

use crate::LearnError;
use osculate_dynamics::SceneError;
use osculate_dynamics::file::FileError;
use osculate_fit::contact_model::ModelError;
use osculate_fit::fit::FitError;
use osculate_fit::twin::TwinError;
use osculate_plot::PlotError;

/// Why an experiment stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A file cannot be read or written.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{file}: {source}")]
    Syntax {
        /// The file.
        file: String,
        /// Why, with the line.
        source: Box<toml::de::Error>,
    },
    /// A value is outside its range.
    #[error("{file}: {field} is {found}, allowed: {allowed}")]
    Value {
        /// The file.
        file: String,
        /// Which.
        field: &'static str,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The experiment of a fit.
    #[error(transparent)]
    Experiment(#[from] osculate_fit::experiment::ExperimentError),
    /// A part of a file is absent.
    #[error("{file}: {what} is absent, needed: {why}")]
    Missing {
        /// The file.
        file: String,
        /// Which part.
        what: &'static str,
        /// What for.
        why: &'static str,
    },
    /// A report cannot be written.
    #[error("report: {0}")]
    Report(#[from] serde_json::Error),
    /// The scene.
    #[error(transparent)]
    Scene(#[from] FileError),
    /// The scene.
    #[error(transparent)]
    Build(#[from] SceneError),
    /// The layer.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A roll-out.
    #[error(transparent)]
    Run(#[from] ModelError),
    /// The twin.
    #[error(transparent)]
    Twin(#[from] TwinError),
    /// The fit.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A figure.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The loss of training is not a number.
    #[error("the loss is {found} in iteration {iteration}")]
    Loss {
        /// Which iteration.
        iteration: usize,
        /// The value.
        found: f64,
    },
}
