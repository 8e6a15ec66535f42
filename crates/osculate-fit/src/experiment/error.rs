//! Why an experiment cannot be read or set up.

use crate::nuisance::NuisanceError;
use crate::parameter::ParameterError;
use crate::recording::{Dataset, RecordingError};
use osculate_dynamics::SceneError;
use osculate_dynamics::file::{FileError, Place};
use std::path::PathBuf;

/// Why an experiment cannot be read or set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a valid experiment.
    #[error("{}: line {line}: {message}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong there, and what is allowed.
        message: String,
    },
    /// A value is outside its range or contradicts another.
    #[error("{place}: found {found}, allowed: {allowed}")]
    Value {
        /// Where.
        place: Place,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A free parameter is wrong.
    #[error("{place}: {source}")]
    Parameter {
        /// Where.
        place: Place,
        /// What is wrong and what is allowed.
        source: ParameterError,
    },
    /// A nuisance parameter is wrong.
    #[error("{place}: {source}")]
    Nuisance {
        /// Where.
        place: Place,
        /// What is wrong and what is allowed.
        source: NuisanceError,
    },
    /// The scene.
    #[error(transparent)]
    Scene(#[from] FileError),
    /// The scene as a whole.
    #[error("{}: {source}", file.display())]
    Body {
        /// The file.
        file: PathBuf,
        /// Why.
        source: SceneError,
    },
    /// A toss without a label that a parameter goes by.
    #[error(
        "{}: toss {id}: found labels {known}, allowed: with '{label}', for each value of which '{path}' has one of its own",
        file.display()
    )]
    Label {
        /// The metadata.
        file: PathBuf,
        /// Number of the toss.
        id: u32,
        /// The label.
        label: String,
        /// Path of the parameter.
        path: String,
        /// Labels of the toss.
        known: String,
    },
    /// A part without tosses.
    #[error(
        "{}: {part} has no tosses, so there is nothing to roll out; the folder has {counts}: \
         name another part or add tosses to this one",
        file.display()
    )]
    EmptyPart {
        /// The split, or the metadata where all tosses are meant.
        file: PathBuf,
        /// Which part.
        part: &'static str,
        /// How many tosses the parts have.
        counts: String,
    },
    /// A channel names a column that a recording does not have.
    #[error(
        "{place}: channel '{channel}': recording {id} has no column '{column}', allowed: {known} (others must be listed in \
         extra_columns of metadata.json)"
    )]
    Column {
        /// The field of the experiment that names it.
        place: Place,
        /// The channel.
        channel: String,
        /// The column.
        column: String,
        /// The recording.
        id: u32,
        /// Columns that it has.
        known: String,
    },
    /// A record that is no rotation.
    #[error(
        "recording {id}, frame {frame}: quaternion of channel '{channel}' has norm {norm}, allowed: 1 ± 1e-6"
    )]
    Quaternion {
        /// The recording.
        id: u32,
        /// The channel.
        channel: String,
        /// Its frame.
        frame: usize,
        /// The norm found.
        norm: f64,
    },
    /// The metadata start a joint that is not in the scene.
    #[error(
        "recording {id}: rollout_joints names '{joint}', which is no revolute or prismatic joint of the scene"
    )]
    StartJoint {
        /// The recording.
        id: u32,
        /// The name.
        joint: String,
    },
    /// Nothing says where a joint starts.
    #[error(
        "recording {id}: channel '{channel}' has no record at frame {frame}, where the roll-out starts; give rollout_joints"
    )]
    StartMissing {
        /// The recording.
        id: u32,
        /// The channel.
        channel: String,
        /// The frame.
        frame: usize,
    },
    /// Neither poses nor joints say where the tracked body is.
    #[error(
        "recording {id} has no poses, and not every joint that moves '{body}' has a channel of its position"
    )]
    NoPoses {
        /// The recording.
        id: u32,
        /// The tracked body.
        body: String,
    },
    /// What is wrong with a recording, and where.
    #[error("{}: line {line}: {source}", file.display())]
    InRecording {
        /// The recording, or the metadata.
        file: PathBuf,
        /// The line.
        line: usize,
        /// What.
        source: Box<ExperimentError>,
    },
    /// The recordings.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

impl ExperimentError {
    /// The same with file and line, where it is about a recording of a folder.
    pub(super) fn in_recording(self, data: &Dataset) -> Self {
        let place = match &self {
            Self::Quaternion { id, frame, .. } | Self::StartMissing { id, frame, .. } => {
                data.line_of(*id, *frame)
            }
            // The header has no such columns.
            Self::NoPoses { id, .. } => data.line_of(*id, 0).map(|(file, _)| (file, 1)),
            Self::StartJoint { id, .. } => data.line_in_metadata(*id, "rollout_joints"),
            _ => None,
        };
        match place {
            Some((file, line)) => Self::InRecording { file, line, source: Box::new(self) },
            None => self,
        }
    }
}
