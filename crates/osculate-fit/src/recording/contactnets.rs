//! Import of the public ContactNets cube tosses.
//!
//! The recordings are `data/tosses_processed/<id>.pt` of <https://github.com/DAIRLab/contact-nets> (BSD 3-Clause):
//! one tensor `(1, frames, 19)` each, per frame position(3), quaternion(4, scalar first), velocity(3), angular
//! velocity(3, body frame), control(6), with lengths in half sides of the cube and frames at 148 Hz. [`import`]
//! scales positions and velocities by 0.0524 m, drops the controls (all zero, checked) and writes a folder that
//! [`Dataset::open`](super::Dataset::open) reads.
//!
//! Some recordings repeat another one under a random symmetry: a quarter turn of the body about its x axis and a
//! turn of the world about z. Neither changes the height nor the speed of the centre, so tosses whose series of
//! both agree within [`DUPLICATE_TOLERANCE`] form a group named by its lowest id. Spins are not compared: the
//! source filtered rotation vectors component by component *after* the quarter turn, so they differ.
//!
//! Source: Pfrommer, Halm, Posa, "ContactNets", CoRL 2020, <https://arxiv.org/abs/2009.11193>.

use super::{
    Cube, Recording, RecordingError, RolloutStart, Split,
    csv::{COLUMNS, NORM_TOLERANCE, write_rows},
    files,
};
use describe::TossDescription;
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

mod describe;
mod legacy;
mod pickle;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;

/// Half the width of the cube (m).
pub const HALF_SIDE: f64 = 0.0524;

/// Nominal frame rate (Hz).
pub const RATE: f64 = 148.0;

/// Gravity \[m/s²\] of the roll-out starts.
pub const GRAVITY: f64 = 9.81;

/// Largest difference of heights (m) and speeds \[m/s\] between repetitions of one toss.
pub const DUPLICATE_TOLERANCE: f64 = 1e-9;

/// How [`import`] treats its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Write into a folder that has content; files of the same name are replaced, others stay.
    pub overwrite: bool,
}

/// What [`import`] wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportSummary {
    /// Number of tosses.
    pub tosses: usize,
    /// Number of frames of all tosses.
    pub frames: usize,
    /// Tosses that repeat an earlier one: `(id, lowest id of its group)`.
    pub duplicates: Vec<(u32, u32)>,
    /// The split, without repetitions.
    pub split: Split,
}

/// Converts the original recordings in `source` into a data folder `destination`.
///
/// Everything is read and checked before anything is written; files are written atomically and `metadata.json`
/// last, so an interrupted import does not open as a dataset.
///
/// # Errors
/// [`RecordingError::NoRecordings`], [`RecordingError::RecordingName`], [`RecordingError::DestinationNotEmpty`],
/// what is wrong in a stream ([`RecordingError::Truncated`], [`RecordingError::Opcode`],
/// [`RecordingError::Stream`], [`RecordingError::TrailingBytes`]) or in a frame
/// ([`RecordingError::FrameQuaternion`], [`RecordingError::Controlled`]), [`RecordingError::NeverFalls`], and
/// [`RecordingError::Io`].
pub fn import(
    source: &Path,
    destination: &Path,
    options: ImportOptions,
) -> Result<ImportSummary, RecordingError> {
    if !options.overwrite && !is_vacant(destination)? {
        return Err(RecordingError::DestinationNotEmpty { path: destination.into() });
    }
    let tosses = list(source)?
        .into_iter()
        .map(|(id, file)| SourceToss::read(id, &file))
        .collect::<Result<Vec<_>, _>>()?;
    let groups = groups(&tosses);
    let descriptions = tosses
        .iter()
        .zip(&groups)
        .map(|(toss, &group)| {
            let start = RolloutStart::fit(&toss.recording, HALF_SIDE, GRAVITY)
                .map_err(|e| e.in_file(&source.join(format!("{}.pt", toss.recording.id))))?;
            Ok(TossDescription::new(&toss.recording, group, &start))
        })
        .collect::<Result<Vec<_>, RecordingError>>()?;
    let ids = || tosses.iter().zip(&groups).map(|(toss, &group)| (toss.recording.id, group));
    let split = split(ids());
    write(destination, &tosses, descriptions, &split)?;
    Ok(ImportSummary {
        tosses: tosses.len(),
        frames: tosses.iter().map(|toss| toss.rows.len()).sum(),
        duplicates: ids().filter(|(id, group)| id != group).collect(),
        split,
    })
}

/// A converted recording.
struct SourceToss {
    recording: Recording,
    /// Rows in the order of [`COLUMNS`], quaternions with the sign of the source.
    rows: Vec<[f64; COLUMNS.len()]>,
}

impl SourceToss {
    fn read(id: u32, file: &Path) -> Result<Self, RecordingError> {
        let frames = legacy::read_frames(&files::read(file)?, file)?;
        let mut recording = Recording::empty(id, true);
        let mut rows = Vec::with_capacity(frames.len());
        for (k, frame) in frames.iter().enumerate() {
            let row = convert(k, frame, file)?;
            recording.push(&row, file, k + 1)?;
            rows.push(row);
        }
        Ok(Self { recording, rows })
    }

    /// Height (m) and speed \[m/s\] of the centre: what the source's symmetries keep.
    fn invariants(&self) -> impl Iterator<Item = (f64, f64)> {
        self.rows.iter().map(|row| {
            let [vx, vy, vz] = [row[8], row[9], row[10]];
            (row[3], (vx * vx + vy * vy + vz * vz).sqrt())
        })
    }

    fn repeats(&self, other: &Self) -> bool {
        self.rows.len() == other.rows.len()
            && self.invariants().zip(other.invariants()).all(|(a, b)| {
                (a.0 - b.0).abs() <= DUPLICATE_TOLERANCE && (a.1 - b.1).abs() <= DUPLICATE_TOLERANCE
            })
    }
}

/// One frame of the source in SI units.
fn convert(
    index: usize,
    frame: &[f64; legacy::WIDTH],
    file: &Path,
) -> Result<[f64; COLUMNS.len()], RecordingError> {
    let [px, py, pz, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz, control @ ..] = *frame;
    let norm = (qw * qw + qx * qx + qy * qy + qz * qz).sqrt();
    if (norm - 1.0).abs() > NORM_TOLERANCE {
        let (file, frame, tolerance) = (file.into(), index, NORM_TOLERANCE);
        return Err(RecordingError::FrameQuaternion { file, frame, norm, tolerance });
    }
    if let Some(&found) = control.iter().find(|u| u.abs() > 0.0) {
        return Err(RecordingError::Controlled { file: file.into(), frame: index, found });
    }
    let h = HALF_SIDE;
    let t = index as f64 / RATE;
    Ok([t, px * h, py * h, pz * h, qw, qx, qy, qz, vx * h, vy * h, vz * h, wx, wy, wz])
}

/// The recordings of a folder, by id. Files without the extension `pt` are ignored.
fn list(source: &Path) -> Result<Vec<(u32, PathBuf)>, RecordingError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(source).map_err(|e| RecordingError::io("list", source, e))? {
        let path = entry.map_err(|e| RecordingError::io("list", source, e))?.path();
        if path.extension().is_none_or(|extension| extension != "pt") {
            continue;
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        match stem.parse::<u32>() {
            Ok(id) if id.to_string() == stem => found.push((id, path)),
            _ => return Err(RecordingError::RecordingName { path }),
        }
    }
    found.sort();
    match found.is_empty() {
        true => Err(RecordingError::NoRecordings { path: source.into() }),
        false => Ok(found),
    }
}

/// The duplicate group of each toss: lowest id of its repetitions; `tosses` in order of id.
fn groups(tosses: &[SourceToss]) -> Vec<u32> {
    let mut firsts: Vec<&SourceToss> = Vec::new();
    let mut groups = Vec::with_capacity(tosses.len());
    for toss in tosses {
        match firsts.iter().find(|first| toss.repeats(first)) {
            Some(first) => groups.push(first.recording.id),
            None => {
                firsts.push(toss);
                groups.push(toss.recording.id);
            }
        }
    }
    groups
}

/// One toss per group, by id: half for fitting, a quarter for choosing, a quarter for reporting.
fn split(tosses: impl Iterator<Item = (u32, u32)>) -> Split {
    let mut split = Split::default();
    for (id, _) in tosses.filter(|(id, group)| id == group) {
        match id % 4 {
            0 | 1 => split.train.push(id),
            2 => split.valid.push(id),
            _ => split.test.push(id),
        }
    }
    split
}

/// A folder that does not exist or has no entries.
pub(super) fn is_vacant(folder: &Path) -> Result<bool, RecordingError> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(e) => Err(RecordingError::io("list", folder, e)),
    }
}

/// `metadata.json`.
#[derive(Serialize)]
struct MetadataFile {
    name: &'static str,
    source_repo: &'static str,
    source_path: &'static str,
    license: &'static str,
    n_tosses: usize,
    n_frames: usize,
    dt_s: f64,
    rate_hz: f64,
    cube: Cube,
    gravity_m_s2: f64,
    ground_plane_z_m: f64,
    ground_normal: [f64; 3],
    tosses: Vec<TossDescription>,
}

/// `split.json`.
#[derive(Serialize)]
struct SplitFile<'a> {
    rule: &'static str,
    #[serde(flatten)]
    split: &'a Split,
}

fn write(
    destination: &Path,
    tosses: &[SourceToss],
    descriptions: Vec<TossDescription>,
    split: &Split,
) -> Result<(), RecordingError> {
    let folder = destination.join("tosses");
    fs::create_dir_all(&folder).map_err(|e| RecordingError::io("create", &folder, e))?;
    let metadata_path = destination.join("metadata.json");
    match fs::remove_file(&metadata_path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(RecordingError::io("replace", &metadata_path, e));
        }
        _ => {}
    }
    for (toss, description) in tosses.iter().zip(&descriptions) {
        write_rows(&destination.join(&description.file), &COLUMNS, &toss.rows)?;
    }
    let rule = "one toss per duplicate group (id == group); train id%4 in {0,1}, valid id%4==2, \
                test id%4==3";
    write_json(&destination.join("split.json"), &SplitFile { rule, split })?;
    let metadata = MetadataFile {
        name: "ContactNets cube tosses",
        source_repo: "github.com/DAIRLab/contact-nets",
        source_path: "data/tosses_processed/*.pt",
        license: "BSD-3-Clause (file LICENSE in the source repo)",
        n_tosses: tosses.len(),
        n_frames: tosses.iter().map(|toss| toss.rows.len()).sum(),
        dt_s: 1.0 / RATE,
        rate_hz: RATE,
        cube: Cube {
            side_m: 2.0 * HALF_SIDE,
            half_side_m: HALF_SIDE,
            mass_kg: 0.37,
            inertia_kg_m2: [0.00081; 3],
        },
        gravity_m_s2: GRAVITY,
        ground_plane_z_m: 0.0,
        ground_normal: [0.0, 0.0, 1.0],
        tosses: descriptions,
    };
    write_json(&metadata_path, &metadata)
}

pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RecordingError> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(|source| RecordingError::Json { file: path.into(), source: source.into() })?;
    text.push(b'\n');
    files::write(path, &text)
}
