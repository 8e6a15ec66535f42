//! Import of the public elbow tosses: two boxes on a hinge, tossed on a board.
//!
//! The recordings are `assets/contactnets_elbow/<id>.pt` of <https://github.com/ebianchi/dair_pll> (BSD 3-Clause), as CSV files
//! `elbow_<id>.csv` with the columns `t,px,py,pz,qw,qx,qy,qz,theta,vx,vy,vz,wx,wy,wz,dtheta` in SI units at 148 Hz: pose of the
//! centre of the first box, angle of the hinge, and their backward differences. [`import`] adds what a roll-out starts from.
//!
//! ```text
//! s   = max(0, first frame whose lowest corner is at 10 mm or below − 3)
//! v, ω, θ̇ = slope at s of the parabolas through p, log(R R_sᵀ), θ of up to 16 frames before s and s
//! ```
//!
//! Source: Bianchini, Halm, Posa, "Simultaneous Learning of Contact and Continuous Dynamics", CoRL 2023, <https://arxiv.org/abs/2310.12054>.

use super::contactnets::ImportOptions;
use super::flight::{self, FEWEST_FRAMES, Flight, FlightSummary, Folder};
use super::{Cube, Recording, RecordingError};
use nalgebra::Vector3;
use osculate_math::{se3::Pose, so3};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Half extents of a box (m).
pub const HALF_EXTENTS: [f64; 3] = [0.05, 0.025, 0.025];
/// The hinge in the frame of the first box (m); its axis is `+y`.
pub const HINGE: [f64; 3] = [-0.035, 0.06, 0.0];
/// Centre of the second box in the hinge's moved frame (m).
pub const SECOND: [f64; 3] = [0.035, 0.0, 0.0];
/// Name of the actor that the hinge moves.
pub const SECOND_NAME: &str = "second";
/// A corner below this (m) is a loss of tracking: a few times what the resting boxes show.
const DEEPEST: f64 = -0.005;

/// Downward accelerations (m/s²) of the common centre of mass that are those of a free fall: tracked lengths are 2 % short.
const FREE_FALL: std::ops::RangeInclusive<f64> = 8.63..=10.63;

const EXTRA: [&str; 2] = ["theta", "dtheta"];

/// Converts the recordings in `source`, or in its folder `tosses`, into a data folder `destination`.
///
/// # Errors
/// Where there are no recordings, one cannot be read, or the destination cannot be written.
pub fn import(
    source: &Path,
    destination: &Path,
    options: ImportOptions,
) -> Result<FlightSummary, RecordingError> {
    let inner = source.join("tosses");
    let files = list(if inner.is_dir() { &inner } else { source })?;
    let flights = files.iter().map(|(id, file)| read(*id, file)).collect::<Result<Vec<_>, _>>()?;
    let folder = Folder {
        name: "elbow tosses",
        source: "github.com/ebianchi/dair_pll, assets/contactnets_elbow (BSD-3-Clause)",
        dt: 1.0 / 148.0,
        extra_columns: &EXTRA,
        cube: Cube {
            side_m: 2.0 * HALF_EXTENTS[0],
            half_side_m: HALF_EXTENTS[0],
            mass_kg: 0.37,
            inertia_kg_m2: [6.167e-4; 3],
        },
    };
    flight::write(destination, options, &folder, &flights)
}

/// The files `elbow_<id>.csv` of a folder, by id.
fn list(source: &Path) -> Result<Vec<(u32, PathBuf)>, RecordingError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(source).map_err(|e| RecordingError::io("list", source, e))? {
        let path = entry.map_err(|e| RecordingError::io("list", source, e))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let Some(id) = name.strip_prefix("elbow_").and_then(|n| n.strip_suffix(".csv")) else {
            continue;
        };
        let id = id.parse().map_err(|_| RecordingError::RecordingName { path: path.clone() })?;
        found.push((id, path));
    }
    found.sort();
    match found.is_empty() {
        true => Err(RecordingError::NoTables { path: source.into(), expected: "elbow_<id>.csv" }),
        false => Ok(found),
    }
}

/// Pose of the second box.
fn second(pose: &Pose, theta: f64) -> Pose {
    let turn = so3::exp(&Vector3::new(0.0, theta, 0.0));
    let arm = Vector3::from(HINGE) + turn * Vector3::from(SECOND);
    Pose { position: pose.position + pose.rotation * arm, rotation: pose.rotation * turn }
}

/// Height (m) of the lowest corner of both boxes.
fn lowest(pose: &Pose, theta: f64) -> f64 {
    let of = |p: &Pose| {
        let reach: f64 = (0..3).map(|k| p.rotation[(2, k)].abs() * HALF_EXTENTS[k]).sum();
        p.position.z - reach
    };
    of(pose).min(of(&second(pose, theta)))
}

/// Angles of the hinge without jumps.
fn angles(recording: &Recording, file: &Path) -> Result<Vec<f64>, RecordingError> {
    let mut theta = Vec::with_capacity(recording.times.len());
    for (k, angle) in recording.extra["theta"].iter().enumerate() {
        let Some(angle) = *angle else {
            let (column, found) = ("theta".to_owned(), String::new());
            return Err(RecordingError::NotANumber {
                file: file.into(),
                line: k + 2,
                column,
                found,
            });
        };
        // The angle of the record jumps by a turn at ±π.
        let turns = theta.last().map_or(0.0, |last: &f64| ((last - angle) / TURN).round());
        theta.push(angle + turns * TURN);
    }
    Ok(theta)
}

fn read(id: u32, file: &Path) -> Result<Flight, RecordingError> {
    let extra = EXTRA.map(String::from);
    let recording = Recording::read_csv_with(file, id, &extra)?;
    if recording.poses.is_empty() {
        let expected = "the pose of the first box, `theta` and `dtheta`".to_owned();
        return Err(RecordingError::MissingColumn {
            file: file.into(),
            column: "px".into(),
            expected,
        });
    }
    let theta = angles(&recording, file)?;
    let heights: Vec<f64> =
        recording.poses.iter().zip(&theta).map(|(p, t)| lowest(p, *t)).collect();
    let start = flight::start_frame(&heights);
    let deepest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let frames = flight::window(start.unwrap_or(0));
    let found = start;
    let start = start.unwrap_or(0);
    let times = &recording.times[frames.clone()];
    let slope = |value: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = frames.clone().map(value).collect();
        if values.len() < 3 { 0.0 } else { flight::end_slope(times, &values) }
    };
    let height = |f: usize| {
        let pose = &recording.poses[f];
        0.5 * (pose.position.z + second(pose, theta[f]).position.z)
    };
    let fall = |frames: std::ops::RangeInclusive<usize>| {
        let heights: Vec<f64> = frames.map(height).collect();
        -flight::parabola(times, &heights)[1]
    };
    let left_out = match found {
        None => Some("never comes down"),
        Some(_) if frames.clone().count() < FEWEST_FRAMES => Some("flight too short"),
        Some(_) if deepest < DEEPEST => {
            Some("tracking lost: a corner is more than 5 mm below the board")
        }
        Some(_) if !FREE_FALL.contains(&fall(frames.clone())) => {
            Some("not in free fall before the start: 8.6 to 10.6 m/s²")
        }
        Some(_) => None,
    };
    let at = recording.poses[start];
    let velocity = Vector3::from_fn(|k, _| slope(&|f| recording.poses[f].position[k]));
    // In body axes: log(R_sᵀ R).
    let turned = |f: usize| so3::log(&(at.rotation.transpose() * recording.poses[f].rotation));
    let angular_velocity = Vector3::from_fn(|k, _| slope(&|f| turned(f)[k]));
    let rate = slope(&|f| theta[f]);
    let joints = BTreeMap::from([(SECOND_NAME, [theta[start], rate])]);
    Ok(Flight { recording, start, velocity, angular_velocity, joints, left_out })
}

const TURN: f64 = std::f64::consts::TAU;
