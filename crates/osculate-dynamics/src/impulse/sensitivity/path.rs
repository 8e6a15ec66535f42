//! A trajectory with its derivatives.

use super::ImpulseParameters;
use crate::Kinematics;
use crate::impulse::body::RigidState;
use crate::sensitivity::Outcome;
use osculate_math::Scalar;

/// States after every step, with their derivatives.
#[derive(Clone, Debug)]
pub struct ImpulsePath<T> {
    pub(super) bodies: usize,
    pub(super) states: Vec<RigidState<T>>,
}

impl<T> ImpulsePath<T> {
    /// States of all bodies after `step` steps.
    ///
    /// # Panics
    /// Where there is no such step.
    pub fn state(&self, step: usize) -> &[RigidState<T>] {
        &self.states[step * self.bodies..(step + 1) * self.bodies]
    }
}

impl<T: Scalar> ImpulsePath<T> {
    pub(super) fn evaluate(&self, parameters: &ImpulseParameters<T>, outcome: &impl Outcome) -> T {
        let mut total = T::zero();
        for step in (0..=self.states.len() / self.bodies - 1).filter(|&k| outcome.observes(k)) {
            let states = self.state(step).iter().zip(&parameters.scene.bodies);
            let bodies: Vec<Kinematics<T>> = states.map(|(y, p)| y.kinematics(&p.center)).collect();
            total += outcome.contribution(step, &bodies);
        }
        total
    }
}
