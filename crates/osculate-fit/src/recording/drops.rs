//! Import of the public planar drops of a square between two plates.
//!
//! The recordings are one CSV table `traj,t,x,z,theta[,vx,vz,omega]` in SI units at 250 Hz, x to the right, z up, and θ clockwise, as
//! jumps of the spin at impacts say: the drops of N. Fazeli et al. (MIT MCube) as processed in
//! <https://github.com/DAIRLab/ImpactModeling>. [`import`] writes one file a drop with the columns `x`, `z` and `theta`, without a pose
//! in space, and what a roll-out starts from: three joints named `slide`, `lift` and `square`.
//!
//! ```text
//! s = max(0, first frame whose lowest corner is at 10 mm or below − 3)
//! ẋ, ż, θ̇ = slope at s of the parabolas through up to 16 frames before s and s
//! ```

use super::contactnets::ImportOptions;
use super::flight::{self, FEWEST_FRAMES, Flight, FlightSummary, Folder};
use super::{Cube, Recording, RecordingError, files};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::path::Path;

/// Half the side of the square (m).
pub const HALF_SIDE: f64 = 0.03;
/// Time between frames (s).
pub const DT: f64 = 0.004;
/// Names of the actors that the joints for x, z and θ move.
pub const JOINTS: [&str; 3] = ["slide", "lift", "square"];
/// Position of the centre (m) from which on a corner may touch the side wall.
const WALL: f64 = 0.65;
/// A jump between two frames (m) that no drop makes.
const JUMP: f64 = 0.05;

const EXTRA: [&str; 3] = ["x", "z", "theta"];

/// Converts a table `source` into a data folder `destination`.
///
/// # Errors
/// Where the table cannot be read or the destination cannot be written.
pub fn import(
    source: &Path,
    destination: &Path,
    options: ImportOptions,
) -> Result<FlightSummary, RecordingError> {
    let drops = read(&files::read(source)?, source)?;
    let flights: Vec<Flight> = drops.into_iter().map(flight_of).collect();
    if flights.is_empty() {
        return Err(RecordingError::EmptyTrajectory { file: source.into(), needed: 2 });
    }
    let folder = Folder {
        name: "planar square drops",
        source: "github.com/DAIRLab/ImpactModeling, Wang-Mason Square (BSD-3-Clause); data by N. Fazeli et al.",
        dt: DT,
        extra_columns: &EXTRA,
        // The mass is not given: kinematics and friction do not depend on it, stiffness and drag are relative to it.
        cube: Cube {
            side_m: 2.0 * HALF_SIDE,
            half_side_m: HALF_SIDE,
            mass_kg: 1.0,
            inertia_kg_m2: [2.0 / 3.0 * HALF_SIDE * HALF_SIDE; 3],
        },
    };
    flight::write(destination, options, &folder, &flights)
}

/// One recording for each number in the column `traj`, in the order of the table.
fn read(bytes: &[u8], file: &Path) -> Result<Vec<Recording>, RecordingError> {
    let expected = "`traj,t,x,z,theta`, others are not read";
    let mut lines = bytes.split_inclusive(|&b| b == b'\n').enumerate();
    let header: Vec<String> = lines.next().map_or_else(Vec::new, |(_, line)| {
        line.split(|&b| b == b',').map(|n| String::from_utf8_lossy(n.trim_ascii()).into()).collect()
    });
    let mut places = [0; 5];
    for (place, name) in places.iter_mut().zip(["traj", "t", "x", "z", "theta"]) {
        *place = header.iter().position(|h| h == name).ok_or_else(|| {
            let (file, column) = (file.into(), name.to_owned());
            RecordingError::MissingColumn { file, column, expected: expected.to_owned() }
        })?;
    }
    let mut drops: Vec<Recording> = Vec::new();
    for (index, line) in lines.filter(|(_, l)| !l.trim_ascii().is_empty()) {
        let fields: Vec<&[u8]> = line.split(|&b| b == b',').map(<[u8]>::trim_ascii).collect();
        let (found, expected, number) = (fields.len(), header.len(), index + 1);
        if found != expected {
            return Err(RecordingError::FieldCount {
                file: file.into(),
                line: number,
                found,
                expected,
            });
        }
        let mut row = [0.0; 5];
        for (value, &place) in row.iter_mut().zip(&places) {
            *value = super::csv::parse_number(fields[place], file, number, &header[place])?;
        }
        push(&mut drops, row, file, number)?;
    }
    Ok(drops)
}

fn push(
    drops: &mut Vec<Recording>,
    [traj, t, x, z, theta]: [f64; 5],
    file: &Path,
    line: usize,
) -> Result<(), RecordingError> {
    let id = traj as u32;
    if traj.fract() != 0.0 || traj < 0.0 || drops.iter().rev().skip(1).any(|d| d.id == id) {
        let (column, found) = ("traj".to_owned(), format!("{traj}, a number of a new drop"));
        return Err(RecordingError::NotANumber { file: file.into(), line, column, found });
    }
    if drops.last().is_none_or(|d| d.id != id) {
        drops.push(Recording::empty(id, false));
    }
    let Some(drop) = drops.last_mut() else { return Ok(()) };
    if let Some(&previous) = drop.times.last()
        && t <= previous
    {
        return Err(RecordingError::TimeNotIncreasing {
            file: file.into(),
            line,
            found: t,
            previous,
        });
    }
    drop.times.push(t);
    for (name, value) in EXTRA.iter().zip([x, z, theta]) {
        drop.extra.entry((*name).to_owned()).or_default().push(Some(value));
    }
    Ok(())
}

fn flight_of(recording: Recording) -> Flight {
    let series = EXTRA.map(|name| -> Vec<f64> {
        recording.extra[name].iter().map(|x| x.unwrap_or(f64::NAN)).collect()
    });
    let [x, z, theta] = &series;
    let lowest = |k: usize| z[k] - HALF_SIDE * (theta[k].cos().abs() + theta[k].sin().abs());
    let heights: Vec<f64> = (0..z.len()).map(lowest).collect();
    let start = flight::start_frame(&heights);
    let frames = flight::window(start.unwrap_or(0));
    let jumps = (1..x.len()).any(|k| (x[k] - x[k - 1]).hypot(z[k] - z[k - 1]) > JUMP);
    let left_out = match start {
        None => Some("never comes down"),
        Some(_) if frames.clone().count() < FEWEST_FRAMES => Some("flight too short"),
        Some(_) if jumps => Some("tracking lost: more than 5 cm between two frames"),
        Some(_) => None,
    };
    let left_out =
        left_out.or_else(|| x.iter().any(|x| *x > WALL).then_some("reaches the side wall"));
    let start = start.unwrap_or(0);
    let joints = JOINTS.iter().zip(&series).map(|(&name, values)| {
        let short = frames.clone().count() < 3;
        let fitted =
            || flight::end_slope(&recording.times[frames.clone()], &values[frames.clone()]);
        (name, [values[start], if short { 0.0 } else { fitted() }])
    });
    let joints: BTreeMap<&'static str, [f64; 2]> = joints.collect();
    let (velocity, angular_velocity) = (Vector3::zeros(), Vector3::zeros());
    Flight { recording, start, velocity, angular_velocity, joints, left_out }
}
