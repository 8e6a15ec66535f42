//! How far a simulated toss is from the measured one.
//!
//! With `δp` the distance of the centres (m), `θ` the angle (rad) of the rotation between the two poses, `h` the
//! half side (m) and means over the frames of the roll-out:
//!
//! ```text
//! loss           = mean |δp|² / h + mean θ²      (|δp|² in m², h in m: the baselines' mixed units, kept as they are)
//! position error = 100 · mean |δp| / (2h)        \[% of the cube's width\]
//! rotation error = mean θ                        (deg)
//! ```
//!
//! Over tosses: mean, **population** standard deviation (divided by `n`, the default of the baselines' tools) and
//! median (mean of the two middle values for an even count). The loss of a set is the mean of its tosses' losses.
//!
//! Source: Acosta, Yang, Posa, RA-L 7(3) 2022, <https://arxiv.org/abs/2110.00541>.

use super::RecordingError;
use osculate_math::{se3::Pose, so3};
use serde::{Deserialize, Serialize};

/// Errors of one simulated toss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TossErrors {
    /// Toss.
    pub id: u32,
    /// Loss of the page above.
    pub loss: f64,
    /// Mean distance of the centres \[% of the cube's width\].
    pub position_error_percent: f64,
    /// Mean rotation angle (deg).
    pub rotation_error_deg: f64,
}

impl TossErrors {
    /// Compares poses frame by frame.
    ///
    /// * `measured`, `simulated`: poses at the same times, shape `[frames]`, from the start of the roll-out.
    /// * `half_side`: half the width of the cube (m).
    ///
    /// # Errors
    /// [`RecordingError::PoseCount`], [`RecordingError::NoPoses`], [`RecordingError::HalfSide`], and
    /// [`RecordingError::PoseNotFinite`] for a simulation that diverged.
    pub fn compare(
        id: u32,
        measured: &[Pose],
        simulated: &[Pose],
        half_side: f64,
    ) -> Result<Self, RecordingError> {
        if !(half_side.is_finite() && half_side > 0.0) {
            return Err(RecordingError::HalfSide { found: half_side });
        }
        if measured.len() != simulated.len() {
            return Err(RecordingError::PoseCount {
                id,
                simulated: simulated.len(),
                measured: measured.len(),
            });
        }
        if measured.is_empty() {
            return Err(RecordingError::NoPoses { id });
        }
        let (mut distance, mut angle, mut loss) = (0.0, 0.0, 0.0);
        for (frame, (m, s)) in measured.iter().zip(simulated).enumerate() {
            let offset = s.position - m.position;
            let turn = s.rotation * m.rotation.transpose();
            let theta = so3::log(&turn).norm();
            if !(offset.norm().is_finite() && theta.is_finite()) {
                return Err(RecordingError::PoseNotFinite { id, frame });
            }
            distance += offset.norm();
            angle += theta;
            loss += offset.norm_squared() / half_side + theta * theta;
        }
        let n = measured.len() as f64;
        Ok(Self {
            id,
            loss: loss / n,
            position_error_percent: 100.0 * distance / n / (2.0 * half_side),
            rotation_error_deg: (angle / n).to_degrees(),
        })
    }
}

/// Distribution of one error over tosses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Mean.
    pub mean: f64,
    /// Population standard deviation.
    pub std: f64,
    /// Median.
    pub median: f64,
}

impl Statistics {
    /// Statistics of at least one value.
    ///
    /// # Errors
    /// [`RecordingError::NothingToAverage`] for an empty slice.
    pub fn of(values: &[f64]) -> Result<Self, RecordingError> {
        if values.is_empty() {
            return Err(RecordingError::NothingToAverage);
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Ok(Self { mean, std: variance.sqrt(), median: 0.5 * (low + high) })
    }
}

/// Errors of a set of simulated tosses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Mean loss over tosses.
    pub loss: f64,
    /// Position errors \[% of the cube's width\].
    pub position_error_percent: Statistics,
    /// Rotation errors (deg).
    pub rotation_error_deg: Statistics,
    /// Each toss, in the given order.
    pub tosses: Vec<TossErrors>,
    /// Each channel of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelErrors>,
}

/// Errors of one channel: of a toss the mean distance of readings and records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelErrors {
    /// Its name.
    pub name: String,
    /// Unit of the errors.
    pub unit: String,
    /// Over tosses.
    pub error: Statistics,
    /// Each toss that has records, in their order.
    pub tosses: Vec<f64>,
}

impl ChannelErrors {
    /// Aggregates tosses.
    ///
    /// # Errors
    /// [`RecordingError::NothingToAverage`] without tosses.
    pub fn new(name: String, unit: String, tosses: Vec<f64>) -> Result<Self, RecordingError> {
        Ok(Self { name, unit, error: Statistics::of(&tosses)?, tosses })
    }
}

impl Evaluation {
    /// Aggregates tosses, each with equal weight whatever its duration.
    ///
    /// # Errors
    /// [`RecordingError::NothingToAverage`] without tosses.
    pub fn new(tosses: Vec<TossErrors>) -> Result<Self, RecordingError> {
        let collect = |f: fn(&TossErrors) -> f64| -> Vec<f64> { tosses.iter().map(f).collect() };
        let loss = Statistics::of(&collect(|t| t.loss))?.mean;
        let position_error_percent = Statistics::of(&collect(|t| t.position_error_percent))?;
        let rotation_error_deg = Statistics::of(&collect(|t| t.rotation_error_deg))?;
        Ok(Self { loss, position_error_percent, rotation_error_deg, tosses, channels: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn poses(count: usize) -> Vec<Pose> {
        (0..count)
            .map(|k| {
                let x = k as f64;
                Pose::identity()
                    .incremented(&Vector3::new(x, 0.1 * x, 0.2), &Vector3::new(0.3 * x, 1.0, -x))
            })
            .collect()
    }

    #[test]
    fn perfect_simulation_has_no_error() {
        let errors = TossErrors::compare(3, &poses(5), &poses(5), 0.0524).unwrap();
        assert!(errors.loss < 1e-25 && errors.position_error_percent < 1e-25, "{errors:?}");
        assert!(errors.rotation_error_deg < 1e-12, "{errors:?}");
    }

    #[test]
    fn constant_offset_and_turn_give_the_closed_form() {
        let (offset, turn) = (Vector3::new(0.03, 0.0, -0.04), Vector3::new(0.0, 0.6, 0.8) * 0.5);
        let measured = poses(6);
        let simulated: Vec<Pose> = measured.iter().map(|p| p.incremented(&offset, &turn)).collect();
        let errors = TossErrors::compare(3, &measured, &simulated, 0.05).unwrap();
        assert!((errors.loss - (0.0025 / 0.05 + 0.25)).abs() < 1e-14);
        assert!((errors.position_error_percent - 50.0).abs() < 1e-11);
        assert!((errors.rotation_error_deg - 0.5_f64.to_degrees()).abs() < 1e-12);
    }

    #[test]
    fn errors_do_not_depend_on_the_world_frame() {
        let (a, b) = (poses(4), poses(5).split_off(1));
        let turn = so3::exp(&Vector3::new(0.2, -0.4, 1.0));
        let moved = |set: &[Pose]| -> Vec<Pose> {
            let place = |p: &Pose| Pose {
                position: turn * p.position + Vector3::new(3.0, 1.0, 2.0),
                rotation: turn * p.rotation,
            };
            set.iter().map(place).collect()
        };
        let here = TossErrors::compare(0, &a, &b, 0.1).unwrap();
        let there = TossErrors::compare(0, &moved(&a), &moved(&b), 0.1).unwrap();
        assert!((here.loss - there.loss).abs() < 1e-12 * here.loss);
        assert!((here.rotation_error_deg - there.rotation_error_deg).abs() < 1e-11);
    }

    #[test]
    fn statistics_are_population_statistics() {
        let s = Statistics::of(&[4.0, 1.0, 2.0, 9.0]).unwrap();
        let expected = Statistics { mean: 4.0, std: 9.5_f64.sqrt(), median: 3.0 };
        assert_eq!(s, expected);
        assert!(matches!(Statistics::of(&[]), Err(RecordingError::NothingToAverage)));
    }

    #[test]
    fn unequal_empty_and_diverged_series_are_refused() {
        let compare = |m: &[Pose], s: &[Pose]| TossErrors::compare(9, m, s, 0.1).unwrap_err();
        assert!(matches!(
            compare(&poses(3), &poses(2)),
            RecordingError::PoseCount { id: 9, simulated: 2, measured: 3 }
        ));
        assert!(matches!(compare(&[], &[]), RecordingError::NoPoses { id: 9 }));
        let mut diverged = poses(3);
        diverged[1].position.y = f64::NAN;
        let error = compare(&poses(3), &diverged);
        assert!(matches!(error, RecordingError::PoseNotFinite { id: 9, frame: 1 }));
        let mut turned = poses(3);
        turned[2].rotation[(1, 1)] = f64::NAN;
        let error = compare(&poses(3), &turned);
        assert!(matches!(error, RecordingError::PoseNotFinite { id: 9, frame: 2 }), "{error}");
        let error = TossErrors::compare(9, &poses(1), &poses(1), 0.0).unwrap_err();
        assert!(matches!(error, RecordingError::HalfSide { .. }));
    }

    #[test]
    fn evaluation_serialises_to_the_documented_layout() {
        let toss =
            TossErrors { id: 4, loss: 0.5, position_error_percent: 12.0, rotation_error_deg: 8.0 };
        let text = serde_json::to_string(&Evaluation::new(vec![toss]).unwrap()).unwrap();
        let expected = concat!(
            r#"{"loss":0.5,"position_error_percent":{"mean":12.0,"std":0.0,"median":12.0},"#,
            r#""rotation_error_deg":{"mean":8.0,"std":0.0,"median":8.0},"#,
            r#""tosses":[{"id":4,"loss":0.5,"position_error_percent":12.0,"rotation_error_deg":8.0}]}"#
        );
        assert_eq!(text, expected);
        assert!(serde_json::from_str::<Evaluation>(&text).unwrap().loss > 0.4);
        assert!(matches!(Evaluation::new(vec![]), Err(RecordingError::NothingToAverage)));
    }
}
