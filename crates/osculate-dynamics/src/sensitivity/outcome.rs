//! What is differentiated: a scalar of the motion.

use crate::Kinematics;
use osculate_math::Scalar;

/// A scalar outcome of a roll-out: a sum over steps of a function of the bodies' motion.
///
/// Written once, generic over the scalar; its derivatives are taken by jets.
pub trait Outcome: Sync {
    /// The share of the state after `step` steps, 0 ≤ step ≤ steps. `bodies` are all bodies of the scene.
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T;

    /// Whether the state after `step` steps matters; the others are skipped.
    fn observes(&self, step: usize) -> bool {
        let _ = step;
        true
    }
}
