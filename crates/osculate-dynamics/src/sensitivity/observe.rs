//! The outcome's own derivatives: by the motion of each body, in jets.

use super::Outcome;
use crate::state::Kinematics;
use nalgebra::Vector3;
use osculate_math::{Jet, Scalar};

/// Memory of the derivatives of one contribution.
#[derive(Debug)]
pub(crate) struct Observer<T> {
    bodies: Vec<Kinematics<T>>,
    moving: Vec<Kinematics<Jet<12, T>>>,
    /// A body that is not solved for has a pose only.
    fixed: Vec<Kinematics<Jet<6, T>>>,
}

impl<T> Default for Observer<T> {
    fn default() -> Self {
        Self { bodies: Vec::new(), moving: Vec::new(), fixed: Vec::new() }
    }
}

impl<T: Scalar> Observer<T> {
    /// The contribution of a step whose bodies move like this. Readies [`Observer::gradient`].
    pub(crate) fn value(
        &mut self,
        outcome: &impl Outcome,
        step: usize,
        bodies: impl Iterator<Item = Kinematics<T>>,
    ) -> T {
        self.bodies.clear();
        self.bodies.extend(bodies);
        lift(&self.bodies, &mut self.moving);
        self.fixed.clear();
        outcome.contribution(step, &self.bodies)
    }

    /// By position, rotation, velocity and angular velocity of body `i`; by its pose only where it does not move.
    pub(crate) fn gradient(
        &mut self,
        outcome: &impl Outcome,
        step: usize,
        i: usize,
        moves: bool,
    ) -> [T; 12] {
        if moves {
            return gradient(outcome, step, (&self.bodies, i), &mut self.moving);
        }
        if self.fixed.is_empty() {
            lift(&self.bodies, &mut self.fixed);
        }
        let by: [T; 6] = gradient(outcome, step, (&self.bodies, i), &mut self.fixed);
        std::array::from_fn(|k| if k < 6 { by[k] } else { T::zero() })
    }
}

fn constant<const N: usize, T: Scalar>(b: &Kinematics<T>) -> Kinematics<Jet<N, T>> {
    Kinematics {
        position: b.position.map(Jet::constant),
        rotation: b.rotation.map(Jet::constant),
        velocity: b.velocity.map(Jet::constant),
        angular_velocity: b.angular_velocity.map(Jet::constant),
    }
}

fn lift<const N: usize, T: Scalar>(
    bodies: &[Kinematics<T>],
    lifted: &mut Vec<Kinematics<Jet<N, T>>>,
) {
    lifted.clear();
    lifted.extend(bodies.iter().map(constant));
}

/// Seeds body `i`, evaluates, and takes the seeds out again.
fn gradient<const N: usize, T: Scalar>(
    outcome: &impl Outcome,
    step: usize,
    (bodies, i): (&[Kinematics<T>], usize),
    lifted: &mut [Kinematics<Jet<N, T>>],
) -> [T; N] {
    let body = &mut lifted[i];
    for k in 0..3 {
        body.position[k].eps[k] = T::one();
        // exp(δθ) R = R + δθ × R to first order.
        let mut axis = Vector3::zeros();
        axis[k] = T::one();
        for c in 0..3 {
            let turned = axis.cross(&bodies[i].rotation.column(c).into_owned());
            for r in 0..3 {
                body.rotation[(r, c)].eps[3 + k] = turned[r];
            }
        }
        if N == 12 {
            body.velocity[k].eps[6 + k] = T::one();
            body.angular_velocity[k].eps[9 + k] = T::one();
        }
    }
    let by = outcome.contribution(step, lifted).eps;
    lifted[i] = constant(&bodies[i]);
    by
}
