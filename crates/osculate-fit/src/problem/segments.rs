//! A toss cut into segments, what is free in each, and what ties them.

use super::typed::Stretch;
use super::{Horizon, ProblemError, Toss};
use crate::contact_model::ContactModel;
use nalgebra::Vector3;
use osculate_dynamics::impulse::RigidState;
use osculate_math::{Scalar, so3};

/// A toss cut into segments.
pub(super) struct Segments<S> {
    pub(super) toss: Toss,
    pub(super) simulators: Vec<S>,
    /// The toss in one piece, where it is cut into several.
    pub(super) whole: Option<S>,
    /// First frame of each segment, and the end.
    pub(super) cuts: Vec<usize>,
}

/// Standard deviation of the continuity of segments, relative to a residual of one: tight against data.
const CONTINUITY: [f64; 4] = [1e-4, 1e-3, 1e-3, 1e-2];

impl<S: ContactModel> Segments<S> {
    pub(super) fn new(
        model: &Stretch<S>,
        toss: Toss,
        horizon: Horizon,
    ) -> Result<Self, ProblemError> {
        let frames = toss.measured.len();
        if frames < 2 {
            return Err(ProblemError::TooShort { id: toss.id, frames });
        }
        let cuts: Vec<usize> = match horizon {
            Horizon::Full => vec![0, frames],
            Horizon::Short { frames: h } => vec![0, frames.min(h.max(1) + 1)],
            Horizon::MultipleShooting { frames: h } => {
                let mut cuts: Vec<usize> = (0..frames - 1).step_by(h.max(1)).collect();
                cuts.push(frames);
                cuts
            }
        };
        let simulate = |frames, start| {
            model
                .simulator(&toss, frames, start)
                .map_err(|source| ProblemError::Scene { id: toss.id, source })
        };
        let mut simulators = Vec::new();
        for (s, w) in cuts.windows(2).enumerate() {
            // Segments overlap by one frame: the end of one is the start of the next.
            let end = w[1] + usize::from(s + 2 < cuts.len());
            let (velocity, spin) =
                if s == 0 { (toss.velocity, toss.angular_velocity) } else { toss.rates(w[0]) };
            let start = (&toss.measured[w[0]], velocity, spin);
            simulators.push(simulate(w[0]..end, start)?);
        }
        let start = (&toss.measured[0], toss.velocity, toss.angular_velocity);
        let whole = if simulators.len() > 1 { Some(simulate(0..frames, start)?) } else { None };
        let mut toss = toss;
        if let Horizon::Short { .. } = horizon {
            toss.measured.truncate(cuts[1]);
            toss.observed.truncate(cuts[1]);
            toss.times.truncate(cuts[1]);
            toss.series.iter_mut().for_each(|s| s.truncate(cuts[1]));
        }
        Ok(Self { toss, simulators, whole, cuts })
    }
}

impl Toss {
    /// Velocity and angular velocity around a frame, from its neighbours.
    fn rates(&self, frame: usize) -> (Vector3<f64>, Vector3<f64>) {
        let (a, b) = (frame.saturating_sub(1), (frame + 1).min(self.measured.len() - 1));
        let dt = self.times[b] - self.times[a];
        let (p, r) = self.measured[b].increment_from(&self.measured[a]);
        (p / dt, r / dt)
    }
}

/// Residuals that tie the end of each segment to the start of the next.
pub(super) fn push_continuity<T: Scalar>(
    starts: &[RigidState<T>],
    ends: &[RigidState<T>],
    out: &mut Vec<T>,
) {
    for (end, start) in ends.iter().zip(starts.iter().skip(1)) {
        let gaps = [
            start.center - end.center,
            so3::log(&(start.rotation * end.rotation.transpose())),
            start.velocity - end.velocity,
            start.angular_velocity - end.angular_velocity,
        ];
        for (gap, sigma) in gaps.iter().zip(CONTINUITY) {
            out.extend(gap.iter().map(|x| *x / sigma));
        }
    }
}
