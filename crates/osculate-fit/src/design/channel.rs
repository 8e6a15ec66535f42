//! What is measured, in units of its noise.
//!
//! ```text
//! y = (p − p̄)/σ,  log(R R̄ᵀ)/σ,  (v − v̄)/σ,  (ω − ω̄)/σ        each coordinate, at each measured step; ‾ at the point asked
//! ```

use super::file::ChannelKind;
use nalgebra::Vector3;
use osculate_dynamics::Kinematics;
use osculate_dynamics::sensitivity::Outcome;
use osculate_math::{Scalar, so3};

/// A channel with its actor resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) body: usize,
    pub(super) kind: ChannelKind,
    /// In m, rad, m/s or rad/s.
    pub(super) sigma: f64,
    /// Steps between two measurements; the start is not measured.
    pub(super) every: usize,
}

impl Measured {
    fn sees(&self, step: usize) -> bool {
        step > 0 && step.is_multiple_of(self.every)
    }

    fn relative<T: Scalar>(&self, now: &Kinematics<T>, reference: &Kinematics) -> Vector3<T> {
        let lift = |v: &Vector3<f64>| v.map(T::from);
        let difference = match self.kind {
            ChannelKind::Position => now.position - lift(&reference.position),
            ChannelKind::Rotation => {
                so3::log_between(&reference.rotation.map(T::from), &now.rotation)
            }
            ChannelKind::Velocity => now.velocity - lift(&reference.velocity),
            ChannelKind::AngularVelocity => {
                now.angular_velocity - lift(&reference.angular_velocity)
            }
        };
        difference.map(|x| x / self.sigma)
    }
}

/// The measurements of a roll-out relative to themselves, and a weighted sum of them.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    measured: Vec<Measured>,
    /// First row of each step; none where nothing is measured.
    first: Vec<Option<usize>>,
    /// Motions measured, three rows each, in the order of the rows.
    references: Vec<Kinematics>,
    weights: Vec<f64>,
}

impl Projection {
    pub(super) fn new(
        measured: &[Measured],
        steps: usize,
        motion: impl Fn(usize, usize) -> Kinematics,
    ) -> Self {
        let (mut first, mut references) = (Vec::with_capacity(steps + 1), Vec::new());
        for step in 0..=steps {
            let row = 3 * references.len();
            references
                .extend(measured.iter().filter(|m| m.sees(step)).map(|m| motion(step, m.body)));
            first.push((3 * references.len() > row).then_some(row));
        }
        Self { measured: measured.to_vec(), first, references, weights: Vec::new() }
    }

    pub(super) fn rows(&self) -> usize {
        3 * self.references.len()
    }

    /// The sum with these weights, one for each row.
    pub(super) fn weighted(&self, weights: Vec<f64>) -> Self {
        Self { weights, ..self.clone() }
    }

    /// Calls `f` with each row and its value.
    pub(super) fn each<T: Scalar>(
        &self,
        motion: impl Fn(usize, usize) -> Kinematics<T>,
        mut f: impl FnMut(usize, T),
    ) {
        for (step, first) in self.first.iter().enumerate() {
            let Some(first) = *first else { continue };
            for (k, m) in self.measured.iter().filter(|m| m.sees(step)).enumerate() {
                let row = first + 3 * k;
                let y = m.relative(&motion(step, m.body), &self.references[row / 3]);
                for axis in 0..3 {
                    f(row + axis, y[axis]);
                }
            }
        }
    }
}

impl Outcome for Projection {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        let Some(first) = self.first[step] else { return T::zero() };
        let mut total = T::zero();
        for (k, m) in self.measured.iter().filter(|m| m.sees(step)).enumerate() {
            let row = first + 3 * k;
            let y = m.relative(&bodies[m.body], &self.references[row / 3]);
            for axis in 0..3 {
                total += y[axis] * self.weights[row + axis];
            }
        }
        total
    }

    fn observes(&self, step: usize) -> bool {
        // A refined grid asks beyond the steps that there are.
        self.first.get(step).is_some_and(Option::is_some)
    }
}
