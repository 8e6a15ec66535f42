//! A folder of tosses.
//!
//! ```text
//! metadata.json   name, time step, cube, one entry per toss
//! split.json      optional: ids for training, validation and test
//! tosses/…        one CSV file per toss, see the csv module
//! ```
//!
//! `metadata.json` needs the fields of [`Metadata`], [`Cube`] and [`TossRecord`]; others are ignored. A toss
//! without the three `rollout_*` fields gets its initial condition from [`RolloutStart::fit`].

use super::times::{check_time_steps, line_of};
use super::{Recording, RecordingError, RolloutStart};
use check::Text;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

mod check;
#[cfg(test)]
mod tests;

/// Allowed deviation of a time step from the metadata, relative: room for rounded times, none for another rate.
pub const TIME_STEP_TOLERANCE: f64 = 1e-3;

/// The tossed cube.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cube {
    /// Width (m).
    pub side_m: f64,
    /// Half the width (m).
    pub half_side_m: f64,
    /// Mass (kg).
    pub mass_kg: f64,
    /// Principal moments of inertia about the centre \[kg m²\], body axes.
    pub inertia_kg_m2: [f64; 3],
}

/// One toss of `metadata.json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TossRecord {
    /// Number of the toss.
    pub id: u32,
    /// Trajectory, relative to the folder.
    pub file: String,
    /// Rows of the trajectory.
    pub frames: usize,
    /// Lowest id among the repetitions of this toss; its own id if absent.
    pub group: Option<u32>,
    /// Frame at which a roll-out starts.
    pub rollout_start_frame: Option<usize>,
    /// Velocity there \[m/s\], world frame.
    pub rollout_v0_m_s: Option<[f64; 3]>,
    /// Angular velocity there \[rad/s\], body frame.
    pub rollout_w0_rad_s: Option<[f64; 3]>,
    /// Position (rad, m) and velocity there of joints, by their name.
    #[serde(default)]
    pub rollout_joints: BTreeMap<String, [f64; 2]>,
    /// What it shares with other tosses, such as the board, by name.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

impl TossRecord {
    /// Duplicate group: lowest id among the repetitions of this toss.
    pub fn group(&self) -> u32 {
        self.group.unwrap_or(self.id)
    }
}

fn standard_gravity() -> f64 {
    9.81
}

/// Content of `metadata.json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Metadata {
    /// Name of the data.
    pub name: String,
    /// Time between frames (s).
    pub dt_s: f64,
    /// Gravity \[m/s²\], acting along `−z`; 9.81 if absent.
    #[serde(default = "standard_gravity")]
    pub gravity_m_s2: f64,
    /// Columns of the files beside the pose and its velocities.
    #[serde(default)]
    pub extra_columns: Vec<String>,
    /// The body.
    pub cube: Cube,
    /// The tosses.
    pub tosses: Vec<TossRecord>,
}

/// Content of `split.json`: ids of each part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// For fitting.
    pub train: Vec<u32>,
    /// For choosing.
    pub valid: Vec<u32>,
    /// For reporting; empty if absent.
    #[serde(default)]
    pub test: Vec<u32>,
}

/// Part of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// `train` of the split.
    Train,
    /// `valid` of the split.
    Valid,
    /// `test` of the split.
    Test,
    /// Every toss of the metadata, repetitions and tosses outside the split included.
    All,
}

impl Part {
    /// The word for it on the command line and in `split.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
            Self::All => "all",
        }
    }
}

/// A measured toss and where its simulation starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Toss {
    /// The trajectory.
    pub recording: Recording,
    /// Initial condition of the roll-out.
    pub start: RolloutStart,
    /// Position (rad, m) and velocity of joints there, of those that the metadata give.
    pub joints: BTreeMap<String, [f64; 2]>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
}

/// An opened folder. Trajectories are read on [`Dataset::load`].
#[derive(Clone, Debug)]
pub struct Dataset {
    folder: PathBuf,
    metadata: Metadata,
    split: Option<Split>,
    /// Index in `metadata.tosses` of each id.
    index: BTreeMap<u32, usize>,
}

impl Dataset {
    /// Reads and checks `metadata.json` and, if there is one, `split.json`.
    ///
    /// # Errors
    /// [`RecordingError::Io`], [`RecordingError::Json`], and one variant per violated rule: numbers out of range,
    /// ids listed twice, files outside the folder, partial `rollout_*`, duplicate groups across parts.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let folder = folder.as_ref();
        let text = Text::read(folder.join("metadata.json"))?;
        let metadata: Metadata = text.parse()?;
        check::constants(&metadata, &text)?;
        let index = check::tosses(&metadata.tosses, &text)?;
        let file = folder.join("split.json");
        let split = match file.try_exists() {
            Ok(true) => {
                let text = Text::read(file)?;
                let split = text.parse()?;
                check::split(&split, |id| index.get(&id).map(|&i| &metadata.tosses[i]), &text)?;
                Some(split)
            }
            Ok(false) => None,
            Err(source) => return Err(RecordingError::io("look for", &file, source)),
        };
        Ok(Self { folder: folder.to_owned(), metadata, split, index })
    }

    /// The metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the folder has a `split.json`.
    pub fn has_split(&self) -> bool {
        self.split.is_some()
    }

    /// Ids of a part, in the order of its file.
    ///
    /// # Errors
    /// [`RecordingError::NoSplit`] for a part other than [`Part::All`] of a folder without `split.json`.
    pub fn part(&self, part: Part) -> Result<Vec<u32>, RecordingError> {
        match (part, &self.split) {
            (Part::All, _) => Ok(self.metadata.tosses.iter().map(|toss| toss.id).collect()),
            (Part::Train, Some(split)) => Ok(split.train.clone()),
            (Part::Valid, Some(split)) => Ok(split.valid.clone()),
            (Part::Test, Some(split)) => Ok(split.test.clone()),
            (_, None) => {
                Err(RecordingError::NoSplit { file: self.folder.join("split.json"), part })
            }
        }
    }

    /// Entry of a toss in the metadata.
    ///
    /// # Errors
    /// [`RecordingError::UnknownId`].
    pub fn record(&self, id: u32) -> Result<&TossRecord, RecordingError> {
        self.index.get(&id).map(|&i| &self.metadata.tosses[i]).ok_or_else(|| {
            let ends = (self.index.keys().next(), self.index.keys().next_back());
            let known = match ends {
                (Some(first), Some(last)) => format!("{first} to {last}"),
                _ => "none".to_owned(),
            };
            let (file, count) = (self.folder.join("metadata.json"), self.index.len());
            RecordingError::UnknownId { file, id, count, known }
        })
    }

    /// The line of a frame in the file of a toss, and the file; nothing where no such toss is listed.
    pub(crate) fn line_of(&self, id: u32, frame: usize) -> Option<(PathBuf, usize)> {
        let file = self.folder.join(&self.record(id).ok()?.file);
        let line = line_of(frame, &file);
        Some((file, line))
    }

    /// The line of a field of a toss in the metadata, and the file; nothing where no such toss is listed.
    pub(crate) fn line_in_metadata(&self, id: u32, field: &str) -> Option<(PathBuf, usize)> {
        let field = format!("tosses[{}].{field}", self.index.get(&id)?);
        let text = Text::read(self.folder.join("metadata.json")).ok()?;
        Some((text.file.clone(), text.line(&field)))
    }

    /// Reads one toss.
    ///
    /// # Errors
    /// [`RecordingError::UnknownId`], anything [`Recording::read_csv`] refuses, a disagreement with the metadata
    /// ([`RecordingError::FrameCount`], [`RecordingError::TimeStep`]), or what [`RolloutStart::fit`] refuses.
    pub fn load(&self, id: u32) -> Result<Toss, RecordingError> {
        let record = self.record(id)?;
        let file = self.folder.join(&record.file);
        let recording = Recording::read_csv_with(&file, id, &self.metadata.extra_columns)?;
        // First: a frame that is missing is a gap in time too, which says where.
        check_time_steps(&recording, self.metadata.dt_s, &file)?;
        let (found, expected) = (recording.times.len(), record.frames);
        if found != expected {
            let field = format!("tosses[{}].frames", self.index[&id]);
            let metadata_line =
                Text::read(self.folder.join("metadata.json")).map_or(1, |text| text.line(&field));
            let line = line_of(expected.min(found - 1), &file);
            return Err(RecordingError::FrameCount {
                file,
                line,
                id,
                found,
                expected,
                field,
                metadata_line,
            });
        }
        let start =
            match (record.rollout_start_frame, record.rollout_v0_m_s, record.rollout_w0_rad_s) {
                (Some(frame), Some(v), Some(w)) => RolloutStart {
                    frame,
                    velocity: Vector3::from(v),
                    angular_velocity: Vector3::from(w),
                },
                // Without poses the joints say where everything starts: at the first frame.
                _ if recording.poses.is_empty() => RolloutStart::at_rest(0),
                _ => {
                    let cube = &self.metadata.cube;
                    RolloutStart::fit(&recording, cube.half_side_m, self.metadata.gravity_m_s2)
                        .map_err(|e| e.in_file(&file))?
                }
            };
        let (joints, labels) = (record.rollout_joints.clone(), record.labels.clone());
        Ok(Toss { recording, start, joints, labels })
    }

    /// Reads every toss of a part.
    ///
    /// # Errors
    /// Those of [`Dataset::part`] and, for the first toss that fails, of [`Dataset::load`].
    pub fn load_part(&self, part: Part) -> Result<Vec<Toss>, RecordingError> {
        self.part(part)?.into_iter().map(|id| self.load(id)).collect()
    }
}
