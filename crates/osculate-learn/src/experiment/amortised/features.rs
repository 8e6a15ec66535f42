//! What the network sees of a toss: frame by frame, what an impact shows.
//!
//! Coordinates are turned about the vertical so that x is the heading of the toss: friction does not depend on it. Of the frame
//! `k`, from poses `(x_k, R_k)` a time `h` apart and the velocities of the start:
//!
//! ```text
//! v_k = (x_k − x_(k−1))/h,   ω_k = log(R_k R_(k−1)ᵀ)/h
//! change       v_k − v_(k−1) − g h,   ω_k − ω_(k−1)                an impulse: its slope is friction where the cube slides
//! height       of the lowest sample, now and in the frame before
//! arm          from the centre to that sample
//! slip         v + ω × arm, now and in the frame before
//! ```

use super::data::Drawn;
use nalgebra::{Matrix3, Vector3};
use osculate_fit::problem::Toss;
use osculate_math::se3::Pose;
use osculate_math::so3;

/// Numbers of a frame.
pub(super) const PER_FRAME: usize = 17;
/// Heights above it say no more than that there is no contact (m).
const FAR: f64 = 0.06;

/// What does not change from toss to toss.
pub(super) struct Known {
    /// Samples of the tossed body, in its frame (m).
    pub(super) samples: Vec<Vector3<f64>>,
    /// (m/s²)
    pub(super) gravity: Vector3<f64>,
}

/// The body in a frame, x along the heading.
#[derive(Clone, Copy)]
struct Frame {
    velocity: Vector3<f64>,
    angular_velocity: Vector3<f64>,
    height: f64,
    arm: Vector3<f64>,
}

impl Frame {
    fn slip(&self) -> Vector3<f64> {
        self.velocity + self.angular_velocity.cross(&self.arm)
    }
}

impl Known {
    /// Height of the lowest sample (m) and the way to it from the origin of the body.
    fn lowest(&self, pose: &Pose<f64>) -> (f64, Vector3<f64>) {
        let arms = self.samples.iter().map(|x| pose.rotation * x);
        let lowest = arms.min_by(|a, b| a.z.total_cmp(&b.z)).unwrap_or_else(Vector3::zeros);
        ((pose.position.z + lowest.z).min(FAR), lowest)
    }

    /// [`PER_FRAME`] numbers of every frame but the first.
    pub(super) fn features(&self, drawn: &Drawn) -> Vec<f64> {
        let toss = &drawn.toss;
        let turn = heading(&toss.velocity);
        let frame = |pose: &Pose<f64>, velocity: Vector3<f64>, rate: Vector3<f64>| {
            let (height, arm) = self.lowest(pose);
            let [velocity, angular_velocity, arm] = [velocity, rate, arm].map(|x| turn * x);
            Frame { velocity, angular_velocity, height, arm }
        };
        let rate = toss.measured[0].rotation * toss.angular_velocity;
        let mut before = frame(&toss.measured[0], toss.velocity, rate);
        let mut out = Vec::with_capacity(PER_FRAME * (toss.times.len() - 1));
        for k in 1..toss.times.len() {
            let (velocity, rate, duration) = slopes(toss, k);
            let now = frame(&toss.measured[k], velocity, rate);
            let impulse = now.velocity - before.velocity - self.gravity * duration;
            out.extend_from_slice(impulse.as_slice());
            out.extend_from_slice((now.angular_velocity - before.angular_velocity).as_slice());
            out.extend([now.height, before.height]);
            out.extend_from_slice(now.arm.as_slice());
            out.extend_from_slice(now.slip().as_slice());
            out.extend_from_slice(before.slip().as_slice());
            before = now;
        }
        out
    }
}

/// Mean velocity and angular velocity (of the world) from a frame to the next, and how long it took.
fn slopes(toss: &Toss, k: usize) -> (Vector3<f64>, Vector3<f64>, f64) {
    let (from, to) = (&toss.measured[k - 1], &toss.measured[k]);
    let duration = toss.times[k] - toss.times[k - 1];
    let turned = so3::log(&(to.rotation * from.rotation.transpose()));
    ((to.position - from.position) / duration, turned / duration, duration)
}

/// The rotation about z that turns the horizontal part of a velocity to x.
fn heading(velocity: &Vector3<f64>) -> Matrix3<f64> {
    let (sin, cos) = velocity.y.atan2(velocity.x).sin_cos();
    Matrix3::new(cos, sin, 0.0, -sin, cos, 0.0, 0.0, 0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A toss whose poses are those of a free flight with a push in one frame, all turned about z by an angle.
    fn toss(angle: f64, push: Vector3<f64>) -> Drawn {
        let turn = so3::exp(&Vector3::new(0.0, 0.0, angle));
        let (h, g) = (0.01, Vector3::new(0.0, 0.0, -9.81));
        let rate = Vector3::new(0.3, -1.0, 2.0);
        let (mut x, mut v) = (Vector3::new(0.0, 0.0, 0.2), Vector3::new(1.0, 0.5, -0.4));
        let start = v;
        let mut measured = Vec::new();
        for k in 0..6 {
            let rotation = turn * so3::exp(&(rate * (h * k as f64)));
            measured.push(Pose { position: turn * x, rotation });
            v += g * h + if k == 2 { push } else { Vector3::zeros() };
            x += v * h;
        }
        let toss = Toss {
            id: 0,
            times: (0..6).map(|k| h * f64::from(k)).collect(),
            observed: vec![true; 6],
            measured,
            velocity: turn * start,
            angular_velocity: rate,
            joints: Vec::new(),
            others: Vec::new(),
            series: Vec::new(),
            labels: Default::default(),
        };
        Drawn { truth: Vec::new(), toss }
    }

    fn known() -> Known {
        let samples = vec![Vector3::new(0.05, 0.05, 0.05), Vector3::new(-0.05, 0.05, -0.05)];
        Known { samples, gravity: Vector3::new(0.0, 0.0, -9.81) }
    }

    #[test]
    fn features_do_not_depend_on_the_heading() {
        let push = Vector3::new(-0.2, 0.1, 0.8);
        let (a, b) = (known().features(&toss(0.0, push)), known().features(&toss(2.0, push)));
        let worst = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-9, "{worst:e}");
    }

    #[test]
    fn free_flight_shows_no_impulse_and_a_push_shows_itself() {
        let push = Vector3::new(-0.2, 0.1, 0.8);
        let all = known().features(&toss(0.7, push));
        let heading = heading(&Vector3::new(1.0, 0.5, 0.0));
        for (k, frame) in all.chunks(PER_FRAME).enumerate() {
            let expected = if k == 2 { heading * push } else { Vector3::zeros() };
            let found = Vector3::from_column_slice(&frame[..3]);
            assert!((found - expected).norm() < 1e-9, "frame {k}: {found:?}");
            assert!(frame[3..6].iter().all(|x| x.abs() < 1e-9), "frame {k}");
        }
    }
}
