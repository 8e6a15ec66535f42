//! Why a roll-out or its derivative failed, under either model.

use osculate_dynamics::impulse::ImpulseRunError;
use osculate_dynamics::impulse::sensitivity::ImpulseGradientError;
use osculate_dynamics::{RunError, SceneError};

/// Why a roll-out or its derivative failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A roll-out of the compliant model.
    #[error(transparent)]
    Compliant(#[from] RunError),
    /// A roll-out of the impulse model.
    #[error(transparent)]
    Impulse(#[from] ImpulseRunError),
    /// A derivative of the impulse model.
    #[error(transparent)]
    Gradient(#[from] ImpulseGradientError),
    /// The scene is not valid.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

impl ModelError {
    /// Whether a step failed or has no derivative: the input itself is valid.
    pub fn in_a_step(&self) -> bool {
        match self {
            Self::Compliant(e) => matches!(e, RunError::Step(_)),
            Self::Impulse(e) => matches!(e, ImpulseRunError::Step(_)),
            Self::Gradient(e) => match e {
                ImpulseGradientError::Run(e) => matches!(e, ImpulseRunError::Step(_)),
                ImpulseGradientError::NotConverged { .. }
                | ImpulseGradientError::Indeterminate { .. }
                | ImpulseGradientError::Law { .. }
                | ImpulseGradientError::TurnsTooFast { .. } => true,
                _ => false,
            },
            Self::Scene(_) => false,
        }
    }
}
