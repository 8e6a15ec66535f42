//! Why a problem cannot be set up or evaluated.

use super::PriorError;
use crate::contact_model::ModelError;
use crate::nuisance::NuisanceError;
use crate::parameter::ParameterError;
use osculate_dynamics::SceneError;

/// Why a problem cannot be set up or evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// A toss could not be simulated.
    #[error("toss {id}: {source}")]
    Run {
        /// Number of the toss.
        id: u32,
        /// Why.
        source: ModelError,
    },
    /// The scene is not valid for a toss.
    #[error("toss {id}: {source}")]
    Scene {
        /// Number of the toss.
        id: u32,
        /// Why.
        source: SceneError,
    },
    /// The scene is not valid.
    #[error(transparent)]
    Invalid(#[from] SceneError),
    /// A free parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A nuisance parameter is wrong.
    #[error("nuisance[{index}]: {source}")]
    Nuisance {
        /// Which.
        index: usize,
        /// What is wrong and what is allowed.
        source: NuisanceError,
    },
    /// Nuisance parameters hold for a whole toss.
    #[error(
        "nuisance parameters and shooting: segments of a toss would each have their own, allowed: one of the two"
    )]
    NuisanceInSegments,
    /// A prior on a start that the scene does not have.
    #[error(transparent)]
    Prior(PriorError),
    /// There are no tosses.
    #[error("no tosses to fit")]
    NoTosses,
    /// A toss has no motion to compare.
    #[error("toss {id}: {frames} frames from the start of the roll-out, at least 2 are needed")]
    TooShort {
        /// Number of the toss.
        id: u32,
        /// Frames found.
        frames: usize,
    },
    /// The recorded start of a link says nothing of the links that it hangs on.
    #[error(
        "body '{body}' hangs on link '{parent}': only a free body or a link of the world can be tracked"
    )]
    Hangs {
        /// Its name.
        body: String,
        /// Its parent.
        parent: String,
    },
    /// The state of a link that starts a segment is that of all joints.
    #[error("body '{body}' is a link: its tosses cannot be cut into segments by shooting")]
    LinkShooting {
        /// Its name.
        body: String,
    },
    /// Segments are tied by the state of the tracked body alone.
    #[error("multiple shooting beside channels: roll out in one piece, or fit poses alone")]
    ShootingChannels,
    /// Records that do not fit the channels.
    #[error("toss {id}: {found} series of records for {expected} channels of {frames} frames")]
    Series {
        /// Number of the toss.
        id: u32,
        /// How many series have that many frames.
        found: usize,
        /// How many channels there are.
        expected: usize,
        /// Frames of the toss.
        frames: usize,
    },
    /// A parameter has a value of its own for each value of a label that a toss does not have.
    #[error(
        "toss {id} has no label '{label}', for each value of which '{path}' has one of its own"
    )]
    Label {
        /// Number of the toss.
        id: u32,
        /// The label.
        label: String,
        /// Path of the parameter.
        path: String,
    },
    /// The tracked body does not move.
    #[error("body '{body}' is static: only a dynamic body can be fitted to a trajectory")]
    Static {
        /// Its name.
        body: String,
    },
}
