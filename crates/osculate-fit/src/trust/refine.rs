//! The same roll-out on a finer time grid.

use nalgebra::Vector3;
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{BodyKind, Kinematics, Parameters, SceneError, Simulator, Wrench};
use osculate_math::{Scalar, se3::Pose};

/// An outcome whose steps are `factor` times as many: it sees every `factor`-th state.
pub(super) struct Refined<'o, O> {
    pub(super) outcome: &'o O,
    pub(super) factor: usize,
}

impl<O: Outcome> Outcome for Refined<'_, O> {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        if step.is_multiple_of(self.factor) {
            self.outcome.contribution(step / self.factor, bodies)
        } else {
            T::zero()
        }
    }

    fn observes(&self, step: usize) -> bool {
        step.is_multiple_of(self.factor) && self.outcome.observes(step / self.factor)
    }
}

/// Every step cut into `factor` equal ones. Prescribed motions stay on the geodesics between their poses.
///
/// # Errors
/// As [`Simulator::new`].
pub(super) fn simulator(coarse: &Simulator, factor: usize) -> Result<Simulator, SceneError> {
    let mut scene = coarse.scene().clone();
    for body in &mut scene.bodies {
        if let BodyKind::Static { motion } = &mut body.kind {
            *motion = cut(&body.pose, motion, factor);
        }
    }
    let durations = coarse.durations().iter();
    let durations = durations.flat_map(|d| std::iter::repeat_n(d / factor as f64, factor));
    Simulator::new(scene, *coarse.settings(), durations.collect())
}

/// Poses at the ends of the small steps.
fn cut(first: &Pose, motion: &[Pose], factor: usize) -> Vec<Pose> {
    let from = std::iter::once(first).chain(motion);
    from.zip(motion)
        .flat_map(|(from, to)| {
            let (p, r): (Vector3<f64>, Vector3<f64>) = to.increment_from(from);
            (1..=factor).map(move |k| {
                let share = k as f64 / factor as f64;
                from.incremented(&(p * share), &(r * share))
            })
        })
        .collect()
}

/// The numbers, with wrenches held over the small steps.
pub(super) fn parameters(coarse: &Parameters, steps: usize, factor: usize) -> Parameters {
    let mut fine = coarse.clone();
    let dynamic = coarse.wrenches.len() / steps.max(1);
    if dynamic > 0 {
        let held = coarse.wrenches.chunks(dynamic).flat_map(|w| std::iter::repeat_n(w, factor));
        fine.wrenches = held.flatten().copied().collect::<Vec<Wrench>>();
    }
    fine
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::so3;

    #[test]
    fn small_steps_end_where_the_large_ones_do_and_turn_evenly() {
        let pose = |x: f64| Pose {
            position: Vector3::new(x, 0.0, 1.0),
            rotation: so3::exp(&Vector3::new(0.0, x, 0.3 * x)),
        };
        let fine = cut(&pose(0.0), &[pose(0.2), pose(0.5)], 4);
        assert_eq!(fine.len(), 8);
        for (small, large) in [(3, 0.2), (7, 0.5)] {
            assert!((fine[small].position - pose(large).position).norm() < 1e-15);
            assert!((fine[small].rotation - pose(large).rotation).norm() < 1e-14);
        }
        let turned = |a: &Pose, b: &Pose| b.increment_from(a).1;
        assert!((turned(&fine[4], &fine[5]) - turned(&fine[5], &fine[6])).norm() < 1e-14);
    }
}
