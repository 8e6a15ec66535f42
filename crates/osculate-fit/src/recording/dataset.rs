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

use super::times::check_time_steps;
use super::{Recording, RecordingError, RolloutStart, csv::COLUMNS, files};
use crate::json;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

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
        let file = folder.join("metadata.json");
        let metadata: Metadata = read_json(&file)?;
        check_constants(&metadata, &file)?;
        let index = check_tosses(&metadata.tosses, &file)?;
        let file = folder.join("split.json");
        let split = match file.try_exists() {
            Ok(true) => Some(read_json(&file)?),
            Ok(false) => None,
            Err(source) => return Err(RecordingError::io("look for", &file, source)),
        };
        let dataset = Self { folder: folder.to_owned(), metadata, split, index };
        dataset.check_split()?;
        Ok(dataset)
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
            RecordingError::UnknownId { file: self.folder.join("metadata.json"), id }
        })
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
            return Err(RecordingError::FrameCount { file, id, found, expected });
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
                    RolloutStart::fit(&recording, cube.half_side_m, self.metadata.gravity_m_s2)?
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

    /// Parts name known ids once, and no duplicate group twice in different parts.
    fn check_split(&self) -> Result<(), RecordingError> {
        let Some(split) = &self.split else { return Ok(()) };
        let file = self.folder.join("split.json");
        let mut seen = BTreeMap::new();
        let mut groups = BTreeMap::new();
        let parts =
            [(Part::Train, &split.train), (Part::Valid, &split.valid), (Part::Test, &split.test)];
        for (part, &id) in parts.iter().flat_map(|(part, ids)| ids.iter().map(move |id| (part, id)))
        {
            // A folder may hold a part of the data with the split of the whole: what is missing is refused where it
            // is asked for.
            let Some(&toss) = self.index.get(&id) else { continue };
            if seen.insert(id, part).is_some() {
                return Err(RecordingError::DuplicateId { file, id });
            }
            let group = self.metadata.tosses[toss].group();
            let &mut (first, owner) = groups.entry(group).or_insert((id, part));
            if owner != part {
                return Err(RecordingError::GroupLeak { file, group, first, second: id });
            }
        }
        Ok(())
    }
}

fn read_json<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<T, RecordingError> {
    json::from_slice(&files::read(file)?)
        .map_err(|source| RecordingError::Json { file: file.into(), source })
}

fn check_constants(metadata: &Metadata, file: &Path) -> Result<(), RecordingError> {
    let cube = &metadata.cube;
    let [ixx, iyy, izz] = cube.inertia_kg_m2;
    let positive = [
        ("dt_s", metadata.dt_s),
        ("gravity_m_s2", metadata.gravity_m_s2),
        ("cube.side_m", cube.side_m),
        ("cube.half_side_m", cube.half_side_m),
        ("cube.mass_kg", cube.mass_kg),
        ("cube.inertia_kg_m2[0]", ixx),
        ("cube.inertia_kg_m2[1]", iyy),
        ("cube.inertia_kg_m2[2]", izz),
    ];
    check_columns(&metadata.extra_columns, file)?;
    let refuse = |field: &str, found, allowed| {
        Err(RecordingError::OutOfRange { file: file.into(), field: field.into(), found, allowed })
    };
    for (field, found) in positive {
        if !(found.is_finite() && found > 0.0) {
            return refuse(field, found, "finite and > 0");
        }
    }
    if (2.0 * cube.half_side_m - cube.side_m).abs() > 1e-9 * cube.side_m {
        return refuse("cube.half_side_m", cube.half_side_m, "half of cube.side_m");
    }
    Ok(())
}

/// Extra columns have names of their own, each once, that a header can hold.
fn check_columns(extra: &[String], file: &Path) -> Result<(), RecordingError> {
    for (i, name) in extra.iter().enumerate() {
        let plain = !name.is_empty() && name.trim() == name && !name.contains([',', '\n', '\r']);
        if !plain || COLUMNS.contains(&name.as_str()) || extra[..i].contains(name) {
            let field = format!("extra_columns[{i}]");
            return Err(RecordingError::ColumnName {
                file: file.into(),
                field,
                found: name.clone(),
            });
        }
    }
    Ok(())
}

/// Checks each entry and returns the position of each id.
fn check_tosses(
    tosses: &[TossRecord],
    file: &Path,
) -> Result<BTreeMap<u32, usize>, RecordingError> {
    let mut index = BTreeMap::new();
    for (position, toss) in tosses.iter().enumerate() {
        let id = toss.id;
        if index.insert(id, position).is_some() {
            return Err(RecordingError::DuplicateId { file: file.into(), id });
        }
        let path = Path::new(&toss.file);
        let inside = path.components().all(|c| matches!(c, Component::Normal(_)));
        if !inside || toss.file.is_empty() {
            let found = toss.file.clone();
            return Err(RecordingError::OutsideFolder { file: file.into(), id, found });
        }
        let given = usize::from(toss.rollout_start_frame.is_some())
            + usize::from(toss.rollout_v0_m_s.is_some())
            + usize::from(toss.rollout_w0_rad_s.is_some());
        if given != 0 && given != 3 {
            return Err(RecordingError::PartialRollout { file: file.into(), id, found: given });
        }
        if let Some(frame) = toss.rollout_start_frame
            && frame >= toss.frames
        {
            return Err(RecordingError::OutOfRange {
                file: file.into(),
                field: format!("tosses[{position}].rollout_start_frame"),
                found: frame as f64,
                allowed: "less than `frames`",
            });
        }
    }
    match index.is_empty() {
        true => Err(RecordingError::NoTosses { file: file.into() }),
        false => Ok(index),
    }
}
