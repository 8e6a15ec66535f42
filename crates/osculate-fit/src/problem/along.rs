//! The motion of a toss along its own change: what a derivative by a fitted parameter is asked about.
//!
//! ```text
//! u_i = (∂r/∂θ_i)/‖∂r/∂θ_i‖ at a point          J_i(θ) = u_i · r(θ)
//! dJ_i/dθ_i = ‖∂r/∂θ_i‖                          the root of what the toss tells about θ_i (JᵀJ)_ii
//! ```
//!
//! The loss itself is no such outcome: at its minimum its gradient is zero, and a question relative to zero has no answer.

use super::channel::{Numbers, Sample};
use super::observe::between;
use super::segments::Segments;
use super::typed::Typed;
use crate::contact_model::{ContactModel, ModelError};
use crate::trust::{self, Asked, Judged, Subject};
use nalgebra::{DMatrix, Matrix3, Vector3};
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{Kinematics, OnFailure};
use osculate_math::{Scalar, so3};

/// A roll-out and its motion along its own change by one parameter.
pub struct Along<'p> {
    /// `‖∂r/∂θ_i‖`, of this segment.
    pub sensitivity: f64,
    /// Index of the parameter in the layout.
    pub index: usize,
    /// Index of the segment.
    pub segment: usize,
    motion: Box<dyn Ask + 'p>,
}

impl Along<'_> {
    /// What its derivative is good for.
    ///
    /// # Errors
    /// As [`trust::assess`].
    pub fn assess(&self, asked: Asked, grids: usize) -> Result<Vec<Judged>, ModelError> {
        self.motion.assess(asked, grids)
    }
}

/// A motion under one of the contact models.
trait Ask: Sync {
    fn assess(&self, asked: Asked, grids: usize) -> Result<Vec<Judged>, ModelError>;
}

struct Motion<'p, S: ContactModel> {
    simulator: &'p S,
    parameters: S::Parameters<f64>,
    outcome: Projection<'p, S>,
}

impl<S: ContactModel> Ask for Motion<'_, S> {
    fn assess(&self, asked: Asked, grids: usize) -> Result<Vec<Judged>, ModelError> {
        let subject = Subject {
            simulator: self.simulator,
            parameters: &self.parameters,
            outcome: &self.outcome,
            on_failure: OnFailure::Continue,
        };
        trust::assess(&subject, &[asked], grids)
    }
}

/// Residuals of a segment, projected on a fixed direction.
struct Projection<'p, S: ContactModel> {
    problem: &'p Typed<S>,
    segments: &'p Segments<S>,
    first: usize,
    /// Six numbers for each frame of the segment; zero where it is not observed.
    direction: Vec<[f64; 6]>,
    /// Of each step what is read there, where the model has channels.
    readings: Vec<Vec<Reading>>,
}

/// A reading of a channel at a step and its share of the motion.
struct Reading {
    channel: usize,
    numbers: Numbers<f64>,
    sample: Sample,
    direction: Vector3<f64>,
}

impl<S: ContactModel> Outcome for Projection<'_, S> {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        if !self.readings.is_empty() {
            return self.readings[step].iter().fold(T::zero(), |sum, r| {
                let channel = &self.problem.stretch.channels[r.channel];
                let numbers = r.numbers.map(&|x| T::from(x));
                let off = channel.at_step(&|body| bodies[body], &numbers, &r.sample);
                sum + off.dot(&r.direction.map(T::from))
            });
        }
        let k = step / self.problem.stretch.substeps;
        let body = &bodies[self.problem.stretch.body];
        let residual =
            self.problem.frame(self.segments, self.first + k, &body.position, &body.rotation);
        let terms = residual.iter().zip(&self.direction[k]);
        terms.fold(T::zero(), |sum, (r, u)| sum + *r * *u)
    }

    fn observes(&self, step: usize) -> bool {
        if !self.readings.is_empty() {
            return !self.readings[step].is_empty();
        }
        let (k, inside) = (step / self.problem.stretch.substeps, self.direction.len());
        step.is_multiple_of(self.problem.stretch.substeps)
            && k < inside
            && self.segments.toss.observed[self.first + k]
    }
}

impl<S: ContactModel> Typed<S> {
    /// Residual of one frame of a toss at a pose of the local frame.
    pub(super) fn frame<T: Scalar>(
        &self,
        segments: &Segments<S>,
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
    pub(super) fn motions_along(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<Vec<Option<Along<'_>>>, ModelError> {
        let segments = &self.tosses[block];
        let jacobian = self.residuals_of(block, shared, own, true)?.shared;
        if !self.stretch.channels.is_empty() {
            let one = |i: usize| self.along_channels((segments, i), shared, own, &jacobian);
            return Ok((0..shared.len()).map(one).collect());
        }
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
                let motion = Box::new(Motion {
                    simulator,
                    parameters: self.at::<f64>(simulator, shared, own, |_| 0.0),
                    outcome: Projection {
                        problem: self,
                        segments,
                        first,
                        direction,
                        readings: Vec::new(),
                    },
                });
                found = Some(Along { sensitivity, index: self.indices[i], segment, motion });
            }
            found
        };
        Ok((0..shared.len()).map(one).collect())
    }

    /// The readings of a toss along their own change by a parameter. Forces and impulses, which depend on mass and gravity beside
    /// the motion, and the clock offsets, on which the motion does not depend, are left out.
    fn along_channels<'p>(
        &'p self,
        (segments, i): (&'p Segments<S>, usize),
        shared: &[f64],
        own: &[f64],
        jacobian: &DMatrix<f64>,
    ) -> Option<Along<'p>> {
        if self.indices[i] >= self.of_layout {
            return None;
        }
        let simulator = &segments.simulators[0];
        let parameters = self.at::<f64>(simulator, shared, own, |_| 0.0);
        let (toss, ends) = (&segments.toss, simulator.times());
        let mut readings: Vec<Vec<Reading>> = ends.iter().map(|_| Vec::new()).collect();
        let (mut row, mut square) = (0, 0.0);
        for record in self.records(segments, 0) {
            let c = record.channel;
            let channel = &self.stretch.channels[c];
            let Some(sample) = toss.series[c][record.frame] else { continue };
            let mut direction = Vector3::zeros();
            for &axis in &channel.axes {
                direction[axis] = jacobian[(row, i)];
                row += 1;
            }
            if channel.quantity.over_a_frame() {
                continue;
            }
            square += direction.norm_squared();
            let direction = direction * self.weight_of(segments, c);
            let numbers = channel.numbers(&self.stretch.scene, S::of_scene(&parameters));
            let offset = self.offset::<f64>(c, shared, |_| 0.0);
            let place = between(&ends, offset + (toss.times[record.frame] - toss.times[0]));
            for (step, share) in [(place.0, 1.0 - place.1), (place.0 + 1, place.1)] {
                if share != 0.0 {
                    let direction = direction * share;
                    let numbers = numbers.clone();
                    readings[step].push(Reading { channel: c, numbers, sample, direction });
                }
            }
        }
        let norm = square.sqrt();
        let sensitivity = norm / self.parameters[i].slope(shared[i]).abs();
        if !(norm > 0.0 && sensitivity.is_finite()) {
            return None;
        }
        readings.iter_mut().flatten().for_each(|r| r.direction /= norm);
        let direction = Vec::new();
        let outcome = Projection { problem: self, segments, first: 0, direction, readings };
        let motion = Box::new(Motion { simulator, parameters, outcome });
        Some(Along { sensitivity, index: self.indices[i], segment: 0, motion })
    }
}
