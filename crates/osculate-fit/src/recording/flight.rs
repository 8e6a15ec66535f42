//! Folders of free flights that end in an impact: where roll-outs start, how fast, and the files.

use super::contactnets::{ImportOptions, is_vacant, write_json};
use super::{Cube, Recording, RecordingError, Split};
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Height (m) of the lowest point below which the ground may be touched.
pub(crate) const CLEARANCE: f64 = 0.010;
/// Frames between the start of a roll-out and the first frame at or below it.
pub(crate) const FRAMES_BEFORE: usize = 3;
/// Most frames, the start included, that velocities are fitted to.
const MOST_FRAMES: usize = 16;
/// Fewest of them.
pub(crate) const FEWEST_FRAMES: usize = 6;

/// First frame of a roll-out; none where the body never comes down.
pub(crate) fn start_frame(lowest: &[f64]) -> Option<usize> {
    let touch = lowest.iter().position(|&z| z <= CLEARANCE)?;
    Some(touch.saturating_sub(FRAMES_BEFORE))
}

/// Frames of the flight that velocities at `start` are fitted to.
pub(crate) fn window(start: usize) -> std::ops::RangeInclusive<usize> {
    (start + 1).saturating_sub(MOST_FRAMES)..=start
}

/// Slope at the last time of the parabola through values at times, three or more.
pub(crate) fn end_slope(times: &[f64], values: &[f64]) -> f64 {
    parabola(times, values)[0]
}

/// Slope at the last time, and second derivative, of the parabola through values at times, three or more.
///
/// By least squares in `τ = (t − t_last)/T`, `T` the length of the window.
pub(crate) fn parabola(times: &[f64], values: &[f64]) -> [f64; 2] {
    let (first, last) = (times[0], times[times.len() - 1]);
    let length = last - first;
    let (mut matrix, mut right) = (Matrix3::zeros(), Vector3::zeros());
    for (t, x) in times.iter().zip(values) {
        let tau = (t - last) / length;
        let row = Vector3::new(1.0, tau, tau * tau);
        matrix += row * row.transpose();
        right += row * *x;
    }
    matrix.lu().solve(&right).map_or([0.0; 2], |c| [c.y / length, 2.0 * c.z / (length * length)])
}

/// A recording to write.
pub(crate) struct Flight {
    pub(crate) recording: Recording,
    /// Frame at which a roll-out starts.
    pub(crate) start: usize,
    /// Velocity there (m/s, world).
    pub(crate) velocity: Vector3<f64>,
    /// Angular velocity there (rad/s, body).
    pub(crate) angular_velocity: Vector3<f64>,
    /// Position and rate of joints there.
    pub(crate) joints: BTreeMap<&'static str, [f64; 2]>,
    /// Why it is in no part of the split.
    pub(crate) left_out: Option<&'static str>,
}

/// What a folder says of itself.
pub(crate) struct Folder {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) dt: f64,
    pub(crate) extra_columns: &'static [&'static str],
    pub(crate) cube: Cube,
}

/// What an import wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlightSummary {
    /// Number of recordings.
    pub tosses: usize,
    /// Number of frames of all.
    pub frames: usize,
    /// Recordings that are in no part of the split, and why.
    pub left_out: Vec<(u32, &'static str)>,
    /// The split.
    pub split: Split,
}

/// Writes `tosses/*.csv`, `split.json` and, last, `metadata.json`.
///
/// # Errors
/// Where the folder has content and may not be overwritten, or a file cannot be written.
pub(crate) fn write(
    destination: &Path,
    options: ImportOptions,
    folder: &Folder,
    flights: &[Flight],
) -> Result<FlightSummary, RecordingError> {
    if !options.overwrite && !is_vacant(destination)? {
        return Err(RecordingError::DestinationNotEmpty { path: destination.into() });
    }
    let tosses = destination.join("tosses");
    fs::create_dir_all(&tosses).map_err(|e| RecordingError::io("create", &tosses, e))?;
    let (mut records, mut split, mut left_out, mut frames) = (vec![], Split::default(), vec![], 0);
    for f in flights {
        let id = f.recording.id;
        let file = format!("tosses/toss_{id:03}.csv");
        f.recording.write_csv(&destination.join(&file))?;
        frames += f.recording.times.len();
        match (f.left_out, id % 4) {
            (Some(why), _) => left_out.push((id, why)),
            (None, 0 | 1) => split.train.push(id),
            (None, 2) => split.valid.push(id),
            (None, _) => split.test.push(id),
        }
        let joints: BTreeMap<&str, [f64; 2]> = f.joints.clone();
        records.push(json!({
            "id": id, "file": file, "frames": f.recording.times.len(),
            "rollout_start_frame": f.start,
            "rollout_v0_m_s": f.velocity.as_slice(),
            "rollout_w0_rad_s": f.angular_velocity.as_slice(),
            "rollout_joints": joints,
            "left_out": f.left_out,
        }));
    }
    let rule = "train id%4 in {0,1}, valid id%4==2, test id%4==3; none of those that metadata.json leaves out";
    let parts =
        json!({ "rule": rule, "train": split.train, "valid": split.valid, "test": split.test });
    write_json(&destination.join("split.json"), &parts)?;
    let metadata: Value = json!({
        "name": folder.name, "source": folder.source, "dt_s": folder.dt,
        "n_tosses": flights.len(), "n_frames": frames,
        "extra_columns": folder.extra_columns, "cube": folder.cube, "tosses": records,
    });
    write_json(&destination.join("metadata.json"), &metadata)?;
    Ok(FlightSummary { tosses: flights.len(), frames, left_out, split })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_at_the_end_is_that_of_a_parabola() {
        let times: Vec<f64> = (0..9).map(|k| 2.0 + 0.01 * f64::from(k)).collect();
        let values: Vec<f64> = times.iter().map(|t| 1.0 + 3.0 * t - 4.9 * t * t).collect();
        let exact = 3.0 - 9.8 * times[8];
        assert!((end_slope(&times, &values) - exact).abs() < 1e-9);
        assert!((parabola(&times, &values)[1] + 9.8).abs() < 1e-6);
    }

    #[test]
    fn roll_out_starts_three_frames_before_the_lowest_point_comes_down() {
        let lowest = [0.05, 0.04, 0.03, 0.02, 0.01, 0.0];
        assert_eq!(start_frame(&lowest), Some(1));
        assert_eq!(start_frame(&lowest[..4]), None);
        assert_eq!(window(20), 5..=20);
        assert_eq!(window(2), 0..=2);
    }
}
