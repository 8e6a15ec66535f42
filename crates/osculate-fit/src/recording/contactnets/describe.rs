//! What the metadata of an imported folder says about each toss.

use super::{HALF_SIDE, RATE};
use crate::recording::{Recording, RolloutStart};
use nalgebra::Vector3;
use serde::Serialize;

/// A corner below this height (m) may touch the ground, so the free fall is over.
const CLEARANCE: f64 = 0.010;

/// Fewest frames of free fall from which gravity is fitted.
const FEWEST_FALLING: usize = 12;

/// Frames at the end that are taken to be at rest.
const RESTING: usize = 8;

/// Entry of a toss in `metadata.json`; numbers are rounded for printing.
#[derive(Debug, Serialize)]
pub(super) struct TossDescription {
    pub(super) id: u32,
    /// Trajectory, relative to the folder.
    pub(super) file: String,
    frames: usize,
    duration_s: f64,
    /// Lowest id among the repetitions of this toss.
    group: u32,
    /// Frames before the lowest corner of the nominal cube comes down to 10 mm.
    free_fall_frames: usize,
    /// Downward acceleration of a free parabola through them, with 12 frames or more.
    g_fit_m_s2: Option<f64>,
    /// Lowest corner of the nominal cube over the toss.
    min_corner_height_m: f64,
    /// Mean height of the centre over the last 8 frames.
    rest_height_m: f64,
    /// Body axis that points up on the last frame.
    face_up: String,
    rollout_start_frame: usize,
    rollout_v0_m_s: [f64; 3],
    rollout_w0_rad_s: [f64; 3],
    initial_speed_m_s: f64,
    initial_spin_rad_s: f64,
}

impl TossDescription {
    pub(super) fn new(recording: &Recording, group: u32, start: &RolloutStart) -> Self {
        let frames = recording.times.len();
        let heights: Vec<f64> = recording.poses.iter().map(|pose| pose.position.z).collect();
        let corners = lowest_corners(recording);
        let falling = corners.iter().position(|&z| z <= CLEARANCE).unwrap_or(frames);
        let gravity = (falling >= FEWEST_FALLING)
            .then(|| rounded(-acceleration(&recording.times[..falling], &heights[..falling]), 5));
        let resting = &heights[frames.saturating_sub(RESTING)..];
        let first = |series: &Option<Vec<Vector3<f64>>>| {
            series.as_ref().and_then(|values| values.first()).map_or(0.0, |v| v.norm())
        };
        Self {
            id: recording.id,
            file: format!("tosses/toss_{:03}.csv", recording.id),
            frames,
            duration_s: rounded((frames as f64 - 1.0) / RATE, 6),
            group,
            free_fall_frames: falling,
            g_fit_m_s2: gravity,
            min_corner_height_m: rounded(corners.iter().copied().fold(f64::INFINITY, f64::min), 6),
            rest_height_m: rounded(resting.iter().sum::<f64>() / resting.len() as f64, 6),
            face_up: face_up(recording),
            rollout_start_frame: start.frame,
            rollout_v0_m_s: start.velocity.map(|x| rounded(x, 7)).into(),
            rollout_w0_rad_s: start.angular_velocity.map(|x| rounded(x, 7)).into(),
            initial_speed_m_s: rounded(first(&recording.velocities), 4),
            initial_spin_rad_s: rounded(first(&recording.angular_velocities), 4),
        }
    }
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10.0_f64.powi(decimals);
    (value * scale).round() / scale
}

/// Height (m) of the lowest corner of the nominal cube on each frame: `z − h Σ |R₃ⱼ|`.
fn lowest_corners(recording: &Recording) -> Vec<f64> {
    let lowest = |pose: &osculate_math::se3::Pose| {
        pose.position.z - HALF_SIDE * pose.rotation.row(2).iter().map(|r| r.abs()).sum::<f64>()
    };
    recording.poses.iter().map(lowest).collect()
}

/// Second derivative \[m/s²\] of the parabola fitted to heights (m) at times (s), three or more.
///
/// By the projection of `τ²` orthogonal to 1 and τ, with τ counted from the mean time.
fn acceleration(times: &[f64], heights: &[f64]) -> f64 {
    let n = times.len() as f64;
    let middle = times.iter().sum::<f64>() / n;
    let taus = || times.iter().map(|t| t - middle);
    let moment = |power: i32| taus().map(|tau| tau.powi(power)).sum::<f64>();
    let (second, third) = (moment(2), moment(3));
    let curve = |tau: f64| tau * tau - third / second * tau - second / n;
    let square: f64 = taus().map(|tau| curve(tau).powi(2)).sum();
    let projection: f64 = taus().zip(heights).map(|(tau, z)| curve(tau) * z).sum();
    2.0 * projection / square
}

/// Body axis with the largest upward component on the last frame, `+x` to `-z`.
fn face_up(recording: &Recording) -> String {
    let Some(pose) = recording.poses.last() else { return String::new() };
    let up = pose.rotation.row(2);
    let axis = up.transpose().iamax();
    format!("{}{}", if up[axis] < 0.0 { '-' } else { '+' }, ["x", "y", "z"][axis])
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;
    use osculate_math::{se3::Pose, so3};

    #[test]
    fn fitted_acceleration_is_that_of_a_parabola() {
        let times: Vec<f64> = (0..15).map(|k| 1.0 + f64::from(k * k) * 0.003).collect();
        let heights: Vec<f64> = times.iter().map(|t| 0.3 - 2.0 * t - 4.9 * t * t).collect();
        assert!((acceleration(&times, &heights) + 9.8).abs() < 1e-9);
    }

    #[test]
    fn lowest_corner_and_upper_face_follow_the_rotation() {
        let mut recording = Recording::empty(0, false);
        let cube = Pose { position: Vector3::z(), rotation: Matrix3::identity() };
        // The diagonal of the cube on the vertical: √3 h below the centre.
        let diagonal: Vector3<f64> = Vector3::new(1.0, 1.0, 1.0).normalize();
        let tilt = diagonal.cross(&Vector3::z()).normalize() * diagonal.z.acos();
        for turn in [Vector3::zeros(), tilt, Vector3::x() * std::f64::consts::FRAC_PI_2] {
            recording.poses.push(Pose { rotation: so3::exp(&turn), ..cube });
        }
        let corners = lowest_corners(&recording);
        assert!((corners[0] - (1.0 - HALF_SIDE)).abs() < 1e-15);
        assert!((corners[1] - (1.0 - 3.0_f64.sqrt() * HALF_SIDE)).abs() < 1e-12);
        // A quarter turn about x lifts +y.
        assert_eq!(face_up(&recording), "+y");
    }
}
