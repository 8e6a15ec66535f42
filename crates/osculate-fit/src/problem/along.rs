//! The motion of a toss along its own change: what a derivative by a fitted parameter is asked about.
//!
//! ```text
//! u_i = (∂r/∂θ_i)/‖∂r/∂θ_i‖ at a point          J_i(θ) = u_i · r(θ)
//! dJ_i/dθ_i = ‖∂r/∂θ_i‖                          the root of what the toss tells about θ_i (JᵀJ)_ii
//! ```
//!
//! The loss itself is no such outcome: at its minimum its gradient is zero, and a question relative to zero has no answer.

use super::segments::Segments;
use super::{Problem, ProblemError};
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{Kinematics, Parameters, Simulator};
use osculate_math::{Scalar, so3};

/// A roll-out and its motion along its own change by one parameter.
pub struct Along<'p> {
    /// The roll-out.
    pub simulator: &'p Simulator,
    /// The point.
    pub parameters: Parameters,
    /// `J_i`.
    pub outcome: Projection<'p>,
    /// `‖∂r/∂θ_i‖`, of this segment.
    pub sensitivity: f64,
    /// Index of the parameter in the layout.
    pub index: usize,
    /// Index of the segment.
    pub segment: usize,
}

/// Residuals of a segment, projected on a fixed direction.
pub struct Projection<'p> {
    problem: &'p Problem,
    segments: &'p Segments,
    first: usize,
    /// Six numbers for each frame of the segment; zero where it is not observed.
    direction: Vec<[f64; 6]>,
}

impl Outcome for Projection<'_> {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        let k = step / self.problem.model.substeps;
        let body = &bodies[self.problem.model.body];
        let residual =
            self.problem.frame(self.segments, self.first + k, &body.position, &body.rotation);
        let terms = residual.iter().zip(&self.direction[k]);
        terms.fold(T::zero(), |sum, (r, u)| sum + *r * *u)
    }

    fn observes(&self, step: usize) -> bool {
        let (k, inside) = (step / self.problem.model.substeps, self.direction.len());
        step.is_multiple_of(self.problem.model.substeps)
            && k < inside
            && self.segments.toss.observed[self.first + k]
    }
}

impl Problem {
    /// Number of a toss in its data set.
    pub fn toss_id(&self, block: usize) -> u32 {
        self.tosses[block].toss.id
    }

    /// Residual of one frame of a toss at a pose of the local frame.
    pub(super) fn frame<T: Scalar>(
        &self,
        segments: &Segments,
        frame: usize,
        position: &Vector3<T>,
        rotation: &Matrix3<T>,
    ) -> [T; 6] {
        let toss = &segments.toss;
        let observed = toss.observed.iter().filter(|o| **o).count().max(1) as f64;
        let mean = if self.weights.per_frame_mean { observed } else { 1.0 };
        let (wp, wr) =
            ((self.weights.position / mean).sqrt(), (self.weights.rotation / mean).sqrt());
        let measured = &toss.measured[frame];
        let turn = so3::log(&(rotation * measured.rotation.map(T::from).transpose()));
        std::array::from_fn(|k| match k.checked_sub(3) {
            None => (position[k] - measured.position[k]) * wp,
            Some(axis) => turn[axis] * wr,
        })
    }

    /// For every free parameter, the motion of a toss along its own change; none where nothing changes.
    ///
    /// Of a toss in segments, the one that changes most.
    ///
    /// # Errors
    /// Where the roll-out fails.
    pub fn along(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<Vec<Option<Along<'_>>>, ProblemError> {
        let segments = &self.tosses[block];
        let jacobian = self
            .block(block, shared, own, true)
            .map_err(|source| ProblemError::Run { id: segments.toss.id, source })?
            .shared;
        let per = self.own.len();
        let one = |i: usize| {
            let slope = self.parameters[i].slope(shared[i]).abs();
            let mut row = 0;
            let mut found: Option<Along<'_>> = None;
            for (segment, simulator) in segments.simulators.iter().enumerate() {
                let (first, last) = (segments.cuts[segment], segments.cuts[segment + 1]);
                let mut direction = vec![[0.0; 6]; last - first];
                for k in (0..last - first).filter(|k| segments.toss.observed[first + k]) {
                    direction[k] = std::array::from_fn(|c| jacobian[(row + c, i)]);
                    row += 6;
                }
                let norm = direction.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
                let sensitivity = norm / slope;
                let more = found.as_ref().is_none_or(|f| sensitivity > f.sensitivity);
                if !(norm > 0.0 && sensitivity.is_finite() && more) {
                    continue;
                }
                direction.iter_mut().flatten().for_each(|x| *x /= norm);
                let own = &own[segment * per..(segment + 1) * per];
                found = Some(Along {
                    simulator,
                    parameters: self.at::<f64>(simulator, shared, own, |_| 0.0),
                    outcome: Projection { problem: self, segments, first, direction },
                    sensitivity,
                    index: self.indices[i],
                    segment,
                });
            }
            found
        };
        Ok((0..shared.len()).map(one).collect())
    }
}
