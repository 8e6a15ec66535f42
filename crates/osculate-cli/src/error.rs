//! What can go wrong in a command, and the exit code it gives.

use crate::Report;
use osculate_contact::ContactError;
use osculate_contact::impulse::ImpulseError;
use osculate_dynamics::file::FileError;
use osculate_dynamics::import::ImportError;
use osculate_dynamics::impulse::{ImpulseRunError, ImpulseStepError};
use osculate_dynamics::{RunError, SceneError, StepError};
use osculate_fit::certificate::CertificateError;
use osculate_fit::contact_model::ModelError;
use osculate_fit::design::DesignError;
use osculate_fit::experiment::ExperimentError;
use osculate_fit::fit::FitError;
use osculate_fit::impact::ImpactError;
use osculate_fit::json::JsonError;
use osculate_fit::optimize::OptimizeError;
use osculate_fit::problem::ProblemError;
use osculate_fit::recording::RecordingError;
use osculate_fit::report::ReportError;
use osculate_fit::twin::TwinError;
use osculate_geometry::GeometryError;
use osculate_plot::PlotError;
use std::path::{Path, PathBuf};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each field is explained by the message it appears in")]
pub enum CliError {
    /// The file system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// Malformed JSON, or a field is missing or of the wrong type.
    #[error("{}: {source}", path.display())]
    Json { path: PathBuf, source: JsonError },
    /// Malformed TOML, or a field is missing, unknown or of the wrong type.
    #[error("{}: {source}", path.display())]
    Toml { path: PathBuf, source: Box<toml::de::Error> },
    /// A configuration with a number that is out of range.
    #[error("{}: {source}", path.display())]
    Config { path: PathBuf, source: Box<CliError> },
    /// An experiment that is not there.
    #[error("no experiment is named '{found}', there are: {known}")]
    UnknownExperiment { found: String, known: String },
    /// A scene file.
    #[error(transparent)]
    File(Box<FileError>),
    /// A robot file.
    #[error(transparent)]
    Import(Box<ImportError>),
    /// A scene that is not valid.
    #[error(transparent)]
    Scene(Box<SceneError>),
    /// A roll-out that failed.
    #[error(transparent)]
    Run(Box<RunError>),
    /// A roll-out or its derivative that failed, under either contact model.
    #[error(transparent)]
    Model(Box<ModelError>),
    /// A roll-out with impulses that failed.
    #[error(transparent)]
    ImpulseRun(Box<ImpulseRunError>),
    /// A law of impulses that refused its input.
    #[error(transparent)]
    ImpulseLaw(Box<ImpulseError>),
    /// A shape or its mass properties.
    #[error(transparent)]
    Geometry(Box<GeometryError>),
    /// A number of the contact law.
    #[error(transparent)]
    Contact(Box<ContactError>),
    /// A simulated impact.
    #[error(transparent)]
    Impact(Box<ImpactError>),
    /// Recordings.
    #[error(transparent)]
    Recording(Box<RecordingError>),
    /// An experiment file.
    #[error(transparent)]
    Experiment(Box<ExperimentError>),
    /// A fit.
    #[error(transparent)]
    Fit(Box<ReportError>),
    /// A comparison of experiments.
    #[error(transparent)]
    Design(Box<DesignError>),
    /// An optimisation.
    #[error(transparent)]
    Optimize(Box<OptimizeError>),
    /// A problem set up from parameters.
    #[error(transparent)]
    Problem(Box<ProblemError>),
    /// Synthetic recordings.
    #[error(transparent)]
    Twin(Box<TwinError>),
    /// A certificate.
    #[error(transparent)]
    Certificate(Box<CertificateError>),
    /// A figure.
    #[error(transparent)]
    Plot(Box<PlotError>),
    /// A report that lacks a parameter of the experiment.
    #[error("{}: no parameter '{missing}'; it has: {known}", file.display())]
    ReportParameter { file: PathBuf, missing: String, known: String },
    /// A parameter of a report that is not usable.
    #[error("{}: parameter '{path}' is {found}, allowed: a number in [{low}, {high}]", file.display())]
    ReportValue { file: PathBuf, path: String, found: String, low: f64, high: f64 },
    /// A value on the command line that its parameter cannot have.
    #[error("--set: {path} is {found}, allowed: a number in [{low}, {high}]")]
    SetValue { path: String, found: f64, low: f64, high: f64 },
    /// A value of a reference case that has no meaning here.
    #[error("{field} is '{found}', allowed: {allowed}")]
    Value { field: &'static str, found: String, allowed: &'static str },
    /// A roll-out that failed after some steps, which were written.
    #[error("{source}; the {steps} steps before it are in {}", folder.display())]
    Stopped { steps: usize, folder: PathBuf, source: Box<RunError> },
    /// A roll-out with impulses that failed.
    #[error(transparent)]
    Impulse(Box<ImpulseRunError>),
    /// The same with impulses.
    #[error("{source}; the {steps} steps before it are in {}", folder.display())]
    StoppedImpulse { steps: usize, folder: PathBuf, source: Box<ImpulseRunError> },
    /// A motion whose energy is more than a number can say.
    #[error(
        "step {step}: the energy is {energy} J, body '{body}' moves at {speed:.3e} m/s; the motion is in {}",
        folder.display()
    )]
    Energy { step: usize, body: String, speed: f64, energy: f64, folder: PathBuf },
    /// A fit or a search that was interrupted; its report says what was found so far.
    #[error("interrupted: the best point so far is in {}", folder.display())]
    Interrupted { folder: PathBuf, report: Box<Report> },
    /// Results that could not be written where they should and were written elsewhere.
    #[error("{source}; what was computed is in {}", folder.display())]
    Elsewhere { folder: PathBuf, source: Box<CliError>, report: Box<Report> },
    /// A parameter that the scene does not have.
    #[error("no parameter '{found}', there are: {known}")]
    NoParameter { found: String, known: String },
    /// A parameter whose value is at the edge of its range.
    #[error("no parameter '{found}' that can change to both sides, there are: {known}")]
    UnknownParameter { found: String, known: String },
    /// A family that is not there.
    #[error("no family is named '{found}', there are: {known}")]
    UnknownFamily { found: String, known: String },
    /// A folder without reference cases.
    #[error("{}: no family folders (named f1… to f9…) with cases, and no recordings of the impulse model (a_….json to i_….json with manifest.json)", path.display())]
    NoFamilies { path: PathBuf },
}

impl CliError {
    /// 1 where a roll-out failed, 130 after an interrupt, else 2: the input is not valid.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Stopped { source, .. }
                if matches!(**source, RunError::Step(StepError::Interrupted { .. })) =>
            {
                130
            }
            Self::StoppedImpulse { source, .. }
                if matches!(
                    **source,
                    ImpulseRunError::Step(ImpulseStepError::Interrupted { .. })
                ) =>
            {
                130
            }
            Self::Stopped { .. } | Self::StoppedImpulse { .. } | Self::Energy { .. } => 1,
            Self::Interrupted { .. } => 130,
            Self::Fit(error) if matches!(**error, ReportError::Fit(FitError::Interrupted)) => 130,
            Self::Config { source, .. } => source.exit_code(),
            Self::Impact(error) if matches!(**error, ImpactError::Run(RunError::Step(_))) => 1,
            Self::Model(error) if error.in_a_step() => 1,
            Self::Run(error) if matches!(**error, RunError::Step(_)) => 1,
            Self::Problem(error) if failed(error) => 1,
            Self::Fit(error) => match &**error {
                ReportError::Problem(error) | ReportError::Fit(FitError::Problem(error))
                    if failed(error) =>
                {
                    1
                }
                ReportError::Fit(FitError::AllFailed { .. }) => 1,
                _ => 2,
            },
            Self::Twin(error) => match &**error {
                TwinError::Run { source, .. } if source.in_a_step() => 1,
                _ => 2,
            },
            Self::Design(error) if matches!(**error, DesignError::AllFailed { .. }) => 1,
            Self::Optimize(error) if !matches!(**error, OptimizeError::Checkpoint { .. }) => 1,
            Self::ImpulseRun(error) if matches!(**error, ImpulseRunError::Step(_)) => 1,
            Self::Certificate(error)
                if matches!(**error, CertificateError::Run(RunError::Step(_))) =>
            {
                1
            }
            _ => 2,
        }
    }

    /// What was found all the same.
    pub(crate) fn report(&self) -> Option<&Report> {
        match self {
            Self::Interrupted { report, .. } | Self::Elsewhere { report, .. } => Some(report),
            _ => None,
        }
    }

    /// An I/O error with what was attempted.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }
}

/// Whether the roll-out of a toss failed: its input is valid.
fn failed(error: &ProblemError) -> bool {
    matches!(error, ProblemError::Run { source, .. } if source.in_a_step())
}

/// Large errors are boxed, so that results stay small.
macro_rules! boxed {
    ($($variant:ident($error:ty)),*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )*};
}

boxed!(
    File(FileError),
    Import(ImportError),
    Recording(RecordingError),
    Geometry(GeometryError),
    Contact(ContactError),
    Impact(ImpactError),
    Scene(SceneError),
    Run(RunError),
    Model(ModelError),
    ImpulseRun(ImpulseRunError),
    ImpulseLaw(ImpulseError),
    Experiment(ExperimentError),
    Fit(ReportError),
    Optimize(OptimizeError),
    Design(DesignError),
    Problem(ProblemError),
    Twin(TwinError),
    Certificate(CertificateError),
    Plot(PlotError)
);

#[cfg(test)]
mod tests {
    use super::*;

    /// `evaluate` of a toss whose motion diverged ended with 2, as if a file were wrong.
    #[test]
    fn failed_roll_outs_of_tosses_end_with_1_and_wrong_tosses_with_2() {
        let diverged = StepError::Diverged { step: 20, stage: 0, body: "cube".into() };
        let source = ModelError::Compliant(RunError::Step(diverged));
        let run = ProblemError::Run { id: 3, source: source.clone() };
        let short = ProblemError::TooShort { id: 3, frames: 1 };
        for (failed, code) in [(run, 1), (short, 2)] {
            assert_eq!(CliError::from(failed.clone()).exit_code(), code);
            assert_eq!(CliError::from(ReportError::Problem(failed.clone())).exit_code(), code);
            let fit = ReportError::Fit(FitError::Problem(failed));
            assert_eq!(CliError::from(fit).exit_code(), code);
        }
        assert_eq!(CliError::from(TwinError::Run { id: 3, source }).exit_code(), 1);
    }
}
