//! One exception an error family, with the text of the library.

use osculate_dynamics::RunError;
use osculate_dynamics::file::FileError;
use osculate_dynamics::impulse::ImpulseRunError;
use osculate_dynamics::impulse::sensitivity::ImpulseGradientError;
use osculate_fit::certificate::CertificateError;
use osculate_fit::contact_model::ModelError;
use osculate_fit::experiment;
use osculate_fit::impact::ImpactError;
use osculate_fit::optimize::OptimizeError;
use osculate_fit::problem::ProblemError;
use osculate_fit::recording;
use osculate_fit::report::ReportError;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::error::Error as _;

pyo3::create_exception!(osculate, OsculateError, PyException, "Every error of the library.");
pyo3::create_exception!(
    osculate,
    SceneError,
    OsculateError,
    "A scene or its numbers are not valid: file, line, field, what was found and what is allowed."
);
pyo3::create_exception!(
    osculate,
    StepError,
    OsculateError,
    "A step of a roll-out failed: which step and body, with residual and tolerance."
);
pyo3::create_exception!(
    osculate,
    GradientError,
    OsculateError,
    "There is no derivative, or it is not determined."
);
pyo3::create_exception!(osculate, ExperimentError, OsculateError, "An experiment is not valid.");
pyo3::create_exception!(osculate, RecordingError, OsculateError, "A recording is not valid.");
pyo3::create_exception!(
    osculate,
    FitError,
    OsculateError,
    "A fit, a search or a certificate failed."
);

/// Adds the exceptions to the module.
pub(crate) fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("OsculateError", py.get_type::<OsculateError>())?;
    m.add("SceneError", py.get_type::<SceneError>())?;
    m.add("StepError", py.get_type::<StepError>())?;
    m.add("GradientError", py.get_type::<GradientError>())?;
    m.add("ExperimentError", py.get_type::<ExperimentError>())?;
    m.add("RecordingError", py.get_type::<RecordingError>())?;
    m.add("FitError", py.get_type::<FitError>())
}

/// An error of the library on its way to Python.
#[derive(Debug)]
pub(crate) enum Failure {
    Scene(String),
    Step(String),
    Gradient(String),
    Experiment(String),
    Recording(String),
    Fit(String),
    /// Ctrl-C: the exception that Python raised is kept.
    Python(PyErr),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scene(text) => SceneError::new_err(text),
            Failure::Step(text) => StepError::new_err(text),
            Failure::Gradient(text) => GradientError::new_err(text),
            Failure::Experiment(text) => ExperimentError::new_err(text),
            Failure::Recording(text) => RecordingError::new_err(text),
            Failure::Fit(text) => FitError::new_err(text),
            Failure::Python(error) => error,
        }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Scene(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Step(error) => Self::Step(error.to_string()),
            RunError::NoFactors => Self::Gradient(error.to_string()),
            error => Self::Scene(error.to_string()),
        }
    }
}

impl From<ImpulseRunError> for Failure {
    fn from(error: ImpulseRunError) -> Self {
        match error {
            ImpulseRunError::Step(error) => Self::Step(error.to_string()),
            error => Self::Scene(error.to_string()),
        }
    }
}

impl From<ImpulseGradientError> for Failure {
    fn from(error: ImpulseGradientError) -> Self {
        Self::Gradient(error.to_string())
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Compliant(error) => error.into(),
            ModelError::Impulse(error) => error.into(),
            ModelError::Gradient(error) => error.into(),
            error => Self::Scene(error.to_string()),
        }
    }
}

impl From<OptimizeError> for Failure {
    fn from(error: OptimizeError) -> Self {
        Self::Fit(error.to_string())
    }
}

impl From<experiment::ExperimentError> for Failure {
    fn from(error: experiment::ExperimentError) -> Self {
        use experiment::ExperimentError::{InRecording, NoPoses, Recording};
        let text = error.to_string();
        match error {
            Recording(_) | InRecording { .. } | NoPoses { .. } => Self::Recording(text),
            _ => Self::Experiment(text),
        }
    }
}

impl From<recording::RecordingError> for Failure {
    fn from(error: recording::RecordingError) -> Self {
        Self::Recording(error.to_string())
    }
}

impl From<ProblemError> for Failure {
    fn from(error: ProblemError) -> Self {
        Self::Fit(error.to_string())
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Experiment(error) => error.into(),
            ReportError::Recording(error) => error.into(),
            error => Self::Fit(error.to_string()),
        }
    }
}

impl From<CertificateError> for Failure {
    fn from(error: CertificateError) -> Self {
        match error {
            CertificateError::Run(error) => error.into(),
            error => Self::Fit(error.to_string()),
        }
    }
}

impl From<ImpactError> for Failure {
    fn from(error: ImpactError) -> Self {
        let mut text = error.to_string();
        if let Some(source) = error.source()
            && !text.contains(&source.to_string())
        {
            text += &format!(": {source}");
        }
        Self::Fit(text)
    }
}
