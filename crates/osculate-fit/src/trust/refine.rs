//! The same roll-out on a finer time grid.

use crate::contact_model::ContactModel;
use nalgebra::Vector3;
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{BodyKind, Kinematics, SceneError, Wrench};
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
/// As [`ContactModel::new`].
pub(super) fn simulator<S: ContactModel>(coarse: &S, factor: usize) -> Result<S, SceneError> {
    let mut scene = coarse.scene().clone();
    for body in &mut scene.bodies {
        if let BodyKind::Static { motion } = &mut body.kind {
            *motion = cut(&body.pose, motion, factor);
        }
    }
    let durations = coarse.durations().iter();
    let durations = durations.flat_map(|d| std::iter::repeat_n(d / factor as f64, factor));
    let mut fine = S::new(scene, *coarse.settings(), durations.collect())?;
    if let Some(flag) = coarse.interrupt() {
        fine.interrupt_by(flag.clone());
    }
    Ok(fine)
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

/// The paths of a number of one step on the finer grid; `None` for a number that belongs to no step.
///
/// Numbers of steps are `BODY.wrench.STEP.…`, `joint.LINK.effort….STEP` and `joint.LINK.target.STEP`.
pub(super) fn held(path: &str, factor: usize) -> Option<Vec<String>> {
    let parts: Vec<&str> = path.split('.').collect();
    let joint = parts.len() == 4 && parts[0] == "joint";
    let place = if parts.get(1) == Some(&"wrench") {
        2
    } else if joint && (parts[2].starts_with("effort") || parts[2] == "target") {
        3
    } else {
        return None;
    };
    let step: usize = parts.get(place)?.parse().ok()?;
    let at = |fine: usize| {
        let named = parts.iter().enumerate();
        let named = named.map(|(i, x)| if i == place { fine.to_string() } else { (*x).into() });
        named.collect::<Vec<String>>().join(".")
    };
    Some((0..factor).map(|k| at(step * factor + k)).collect())
}

/// The numbers, with wrenches and what acts on joints held over the small steps.
pub(super) fn parameters<S: ContactModel>(
    coarse: &S::Parameters<f64>,
    steps: usize,
    factor: usize,
) -> S::Parameters<f64> {
    let mut all = coarse.clone();
    let (fine, coarse) = (S::of_scene_mut(&mut all), S::of_scene(coarse));
    let dynamic = coarse.wrenches.len() / steps.max(1);
    if dynamic > 0 {
        let held = coarse.wrenches.chunks(dynamic).flat_map(|w| std::iter::repeat_n(w, factor));
        fine.wrenches = held.flatten().copied().collect::<Vec<Wrench>>();
    }
    if let (Some(fine), Some(coarse)) = (&mut fine.articulation, &coarse.articulation) {
        let held = |all: &[f64]| -> Vec<f64> {
            let each = (all.len() / steps.max(1)).max(1);
            let steps = all.chunks(each).flat_map(|x| std::iter::repeat_n(x, factor));
            steps.flatten().copied().collect()
        };
        (fine.efforts, fine.targets) = (held(&coarse.efforts), held(&coarse.targets));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::so3;

    #[test]
    fn numbers_of_a_step_are_held_over_its_small_steps() {
        let paths = |path: &str| held(path, 2);
        let found = paths("box.wrench.3.force_x").unwrap();
        assert_eq!(found, ["box.wrench.6.force_x", "box.wrench.7.force_x"]);
        assert_eq!(
            paths("joint.arm.effort_1.0").unwrap(),
            ["joint.arm.effort_1.0", "joint.arm.effort_1.1"]
        );
        assert_eq!(paths("joint.arm.target.5").unwrap()[1], "joint.arm.target.11");
        for path in ["box.mass", "joint.arm.effort", "joint.arm.target", "pair.a.b.mu", "gravity_z"]
        {
            assert!(paths(path).is_none(), "{path}");
        }
    }

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
