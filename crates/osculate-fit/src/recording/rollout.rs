//! The state from which a simulated toss starts.
//!
//! The velocities stored with a recording are differenced and filtered positions; a roll-out starts instead from
//! a fit to the free flight before the impact. With `h` the half side, `s` the start frame and frames counted
//! from 0:
//!
//! ```text
//! s    = max(0, first frame with z ≤ √3 h  −  3)
//! v_xy = (p_xy(s−1) − p_xy(0)) / (t(s−1) − t(0))
//! v_z  = b − g (t(s−1) − t(0)),   (a, b) = argmin Σ_{k<s} (a + b τ_k − g τ_k²/2 − z_k)²,   τ_k = t(k) − t(0)
//! ω    = log(R(0)ᵀ R(s)) / (t(s) − t(0))                                                       body frame
//! ```
//!
//! The flight that is fitted is frames `0..s`, **without** the start frame, and the linear velocity is its value
//! at the last of them, one frame before the start; the rotation does reach the start frame. This is the
//! convention of the published baselines, kept because errors are only comparable from the same start.
//! For `s < 4` there are too few frames, and the recorded velocities at the start frame are used.
//!
//! Source: Acosta, Yang, Posa, "Validating Robotics Simulators on Real-World Impacts", RA-L 7(3) 2022,
//! <https://arxiv.org/abs/2110.00541>, and the code published with it.

use super::{Recording, RecordingError};
use nalgebra::Vector3;
use osculate_math::so3;

/// Frames between the start of the roll-out and the first frame at or below `√3 h`.
pub const FRAMES_BEFORE: usize = 3;

/// Fewest frames of free flight that are fitted.
pub const FEWEST_FRAMES: usize = 4;

/// Initial condition of a simulated toss; its pose is that of the recording at `frame`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolloutStart {
    /// Frame of the recording at which the roll-out starts.
    pub frame: usize,
    /// Velocity of the centre \[m/s\], world frame.
    pub velocity: Vector3<f64>,
    /// Angular velocity \[rad/s\], **body** frame.
    pub angular_velocity: Vector3<f64>,
}

impl RolloutStart {
    /// A start at a frame, without velocities.
    pub fn at_rest(frame: usize) -> Self {
        Self { frame, velocity: Vector3::zeros(), angular_velocity: Vector3::zeros() }
    }

    /// The initial condition of the page above.
    ///
    /// * `half_side`: half the side of the cube (m).
    /// * `gravity`: \[m/s²\], positive, acting along `−z`.
    ///
    /// # Errors
    /// [`RecordingError::NeverFalls`] without a start frame; [`RecordingError::PrefixTooShort`] if the flight is
    /// too short to fit and the recording has no velocities; [`RecordingError::SeriesLength`].
    pub fn fit(
        recording: &Recording,
        half_side: f64,
        gravity: f64,
    ) -> Result<Self, RecordingError> {
        recording.check_lengths()?;
        let frame = start_frame(recording, half_side)?;
        if frame < FEWEST_FRAMES {
            return recorded(recording, frame);
        }
        let elapsed = |k: usize| recording.times[k] - recording.times[0];
        let (first, last) = (&recording.poses[0], &recording.poses[frame - 1]);
        let mut velocity = (last.position - first.position) / elapsed(frame - 1);
        velocity.z = launch_speed(recording, frame, gravity) - gravity * elapsed(frame - 1);
        let turn = so3::log(&(first.rotation.transpose() * recording.poses[frame].rotation));
        Ok(Self { frame, velocity, angular_velocity: turn / elapsed(frame) })
    }
}

/// First frame of the roll-out; `half_side` (m).
///
/// # Errors
/// [`RecordingError::NeverFalls`] if the centre stays above `√3 half_side`.
pub fn start_frame(recording: &Recording, half_side: f64) -> Result<usize, RecordingError> {
    let threshold = 3.0_f64.sqrt() * half_side;
    let heights = recording.poses.iter().map(|pose| pose.position.z);
    match heights.clone().position(|z| z <= threshold) {
        Some(first) => Ok(first.saturating_sub(FRAMES_BEFORE)),
        None => Err(RecordingError::NeverFalls {
            id: recording.id,
            threshold,
            lowest: heights.fold(f64::INFINITY, f64::min),
        }),
    }
}

/// Recorded velocities at a frame.
fn recorded(recording: &Recording, frame: usize) -> Result<RolloutStart, RecordingError> {
    match (&recording.velocities, &recording.angular_velocities) {
        (Some(v), Some(w)) => {
            Ok(RolloutStart { frame, velocity: v[frame], angular_velocity: w[frame] })
        }
        _ => Err(RecordingError::PrefixTooShort {
            id: recording.id,
            frames: frame,
            needed: FEWEST_FRAMES,
        }),
    }
}

/// `b`, the vertical speed at the first frame of the parabola fitted to frames `0..frame`.
fn launch_speed(recording: &Recording, frame: usize, gravity: f64) -> f64 {
    let lifted: Vec<(f64, f64)> = (0..frame)
        .map(|k| {
            let tau = recording.times[k] - recording.times[0];
            (tau, recording.poses[k].position.z + 0.5 * gravity * tau * tau)
        })
        .collect();
    let n = frame as f64;
    let mean_tau = lifted.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_z = lifted.iter().map(|p| p.1).sum::<f64>() / n;
    let covariance: f64 = lifted.iter().map(|p| (p.0 - mean_tau) * (p.1 - mean_z)).sum();
    let variance: f64 = lifted.iter().map(|p| (p.0 - mean_tau).powi(2)).sum();
    covariance / variance
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;
    use osculate_math::se3::Pose;

    const GRAVITY: f64 = 9.81;
    const HALF_SIDE: f64 = 0.0524;

    /// Exact free flight with a constant body rate, sampled at 100 Hz.
    fn flight(z: f64, velocity: Vector3<f64>, spin: Vector3<f64>) -> Recording {
        let times: Vec<f64> = (0..20).map(|k| 2.0 + 0.01 * f64::from(k)).collect();
        let pose = |t: &f64| {
            let tau = t - 2.0;
            let drop = Vector3::new(0.0, 0.0, -0.5 * GRAVITY * tau * tau);
            let turned = so3::exp(&Vector3::new(0.4, -1.0, 0.2)) * so3::exp(&(spin * tau));
            Pose { position: Vector3::new(0.1, 0.2, z) + velocity * tau + drop, rotation: turned }
        };
        Recording {
            id: 7,
            poses: times.iter().map(pose).collect(),
            times,
            velocities: None,
            angular_velocities: None,
            extra: Default::default(),
        }
    }

    #[test]
    fn fit_recovers_exact_free_flight() {
        let (v, w) = (Vector3::new(-0.7, 0.3, 0.2), Vector3::new(1.0, -2.0, 3.0));
        let recording = flight(0.15, v, w);
        let start = RolloutStart::fit(&recording, HALF_SIDE, GRAVITY).unwrap();
        let tau = recording.times[start.frame - 1] - recording.times[0];
        let expected = v - Vector3::new(0.0, 0.0, GRAVITY * tau);
        assert!((start.velocity - expected).norm() < 1e-12);
        assert!((start.angular_velocity - w).norm() < 1e-12);
    }

    #[test]
    fn roll_out_starts_three_frames_before_the_corner_can_touch() {
        let recording = flight(0.15, Vector3::zeros(), Vector3::zeros());
        let frame = start_frame(&recording, HALF_SIDE).unwrap();
        let z = |k: usize| recording.poses[k].position.z;
        let threshold = 3.0_f64.sqrt() * HALF_SIDE;
        assert!(z(frame + 3) <= threshold && z(frame + 2) > threshold);
    }

    #[test]
    fn low_start_is_clamped_and_takes_recorded_velocities() {
        let mut recording = flight(0.091, Vector3::zeros(), Vector3::zeros());
        let error = RolloutStart::fit(&recording, HALF_SIDE, GRAVITY).unwrap_err();
        assert!(
            matches!(error, RecordingError::PrefixTooShort { id: 7, frames: 0, needed: 4 }),
            "{error}"
        );
        recording.velocities = Some((0..20).map(|k| Vector3::x() * f64::from(k + 1)).collect());
        recording.angular_velocities = Some(vec![Vector3::y(); 20]);
        let start = RolloutStart::fit(&recording, HALF_SIDE, GRAVITY).unwrap();
        let expected =
            RolloutStart { frame: 0, velocity: Vector3::x(), angular_velocity: Vector3::y() };
        assert_eq!(start, expected);
    }

    #[test]
    fn body_that_stays_up_has_no_start() {
        let mut recording = flight(0.5, Vector3::zeros(), Vector3::zeros());
        for pose in &mut recording.poses {
            *pose = Pose { position: Vector3::z(), rotation: Matrix3::identity() };
        }
        let error = RolloutStart::fit(&recording, HALF_SIDE, GRAVITY).unwrap_err();
        assert!(matches!(error, RecordingError::NeverFalls { id: 7, .. }), "{error}");
    }
}
