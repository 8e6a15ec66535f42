//! Joint coordinates of a roll-out: their states, and where they put links.

use super::Path;
use crate::integrator::Tableau;
use crate::reduction::{JointState, Reduction};
use crate::state::BodyState;
use osculate_math::Scalar;

impl<T: Scalar> Path<T> {
    /// Joint coordinates after `step` steps, where the scene has joints.
    ///
    /// # Panics
    /// Where the path starts after that step.
    pub fn joints(&self, step: usize) -> Option<&JointState<T>> {
        self.joint_states.get(step - self.first_state)
    }

    /// Joint coordinates at start and end of a stage, where the scene has joints.
    pub(crate) fn joint_stage(
        &self,
        step: usize,
        stage: usize,
    ) -> Option<(&JointState<T>, &JointState<T>)> {
        let at = (step - self.first_step) * self.stages + stage;
        Some((self.joint_starts.get(at)?, self.joint_ends.get(at)?))
    }

    /// `C(y_n; α_r, y_{n+1−r})` of the joints, where a step starts from.
    pub(crate) fn joint_star(&self, step: usize, tableau: &Tableau) -> Option<JointState<T>> {
        let base = self.joints(step)?;
        let terms =
            (1..tableau.history).filter_map(|r| Some((tableau.alpha[r], self.joints(step - r)?)));
        Some(JointState::combine(base, terms))
    }
}

/// What a stage solve fills: poses, and joint coordinates where the scene has joints.
pub(crate) struct StageEnd<'a, T> {
    pub(crate) bodies: &'a mut [BodyState<T>],
    pub(crate) joints: Option<&'a mut JointState<T>>,
}

/// Joints, and where their step starts.
pub(super) type JointStart<'a, T> = (&'a Reduction<T>, &'a JointState<T>);

/// Stage start of the joints, `C(q*; ã, q_j)`; links start where the joints put them, with velocities of their own.
pub(super) fn start_joints<T: Scalar>(
    (reduction, star): JointStart<'_, T>,
    (stage, tableau): (usize, &Tableau),
    first: usize,
    path: &mut Path<T>,
) {
    let before = &path.joint_ends[path.joint_ends.len() - stage..];
    let terms = before.iter().enumerate().map(|(j, y)| (tableau.start_weights[stage][j], y));
    let start = JointState::combine(star, terms);
    let kinematics = reduction.kinematics(&start.configuration);
    reduction.place(&kinematics, &mut path.starts[first..]);
    reduction.place(&kinematics, &mut path.ends[first..]);
    path.joint_starts.push(start.clone());
    path.joint_ends.push(start);
}

/// State of the joints at the end of a step; links are where the joints put them.
pub(super) fn finish_joints<T: Scalar>(
    (reduction, star): JointStart<'_, T>,
    tableau: &Tableau,
    bodies: usize,
    path: &mut Path<T>,
) {
    let ends = &path.joint_ends[path.joint_ends.len() - tableau.stages..];
    let state = if tableau.stiffly_accurate {
        ends[tableau.stages - 1].clone()
    } else {
        let terms = ends.iter().enumerate().map(|(j, y)| (tableau.step_weights[j], y));
        JointState::combine(star, terms)
    };
    let first = path.states.len() - bodies;
    let kinematics = reduction.kinematics(&state.configuration);
    reduction.place(&kinematics, &mut path.states[first..]);
    path.joint_states.push(state);
}
