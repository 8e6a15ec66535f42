//! Roll-outs that start from several known states.

use crate::simulate::{Path, RunError};
use crate::{BodyState, Parameters, RotationUpdate, SceneError, Simulator, Trajectory};

impl Simulator {
    /// Rolls out from given states instead of the initial one: a multistep method then has its full order from
    /// the first step on, instead of starting as backward Euler.
    ///
    /// * `history`: the states of all bodies (of the centre of mass) after 0, 1, … steps of the time grid, oldest
    ///   first; the roll-out does the steps that remain. [`RotationUpdate::Chart`] takes their momenta from their rates.
    ///
    /// The initial pose and velocity of `parameters` are not used. Derivatives
    /// ([`sensitivity`](crate::sensitivity)) are of roll-outs from the initial state, not of these.
    ///
    /// # Errors
    /// Where the scene has joints, a step fails, the parameters do not fit the scene, or the history is empty, longer than the time grid,
    /// or of another number of bodies.
    pub fn run_from_history(
        &self,
        parameters: &Parameters,
        history: &[Vec<BodyState>],
    ) -> Result<Trajectory, RunError> {
        let count = |what, found, expected| SceneError::Count { what, found, expected };
        let bodies = self.scene().bodies.len();
        if self.scene().articulation.is_some() {
            return Err(SceneError::HistoryOfJoints.into());
        }
        if history.is_empty() || history.len() > self.steps() {
            return Err(count("states of the history", history.len(), self.steps()).into());
        }
        if let Some(states) = history.iter().find(|s| s.len() != bodies) {
            return Err(count("bodies of a state of the history", states.len(), bodies).into());
        }
        let system = self.system(parameters)?;
        let mut trajectory = Trajectory::default();
        trajectory.path = Path::new(bodies, self.settings().method.stages());
        trajectory.path.states.extend(history.iter().flatten());
        if self.settings().rotation == RotationUpdate::Chart {
            let bodies = self.scene().dynamic_bodies().collect::<Vec<_>>();
            for states in trajectory.path.states.chunks_exact_mut(self.scene().bodies.len()) {
                for &b in &bodies {
                    states[b].set_momentum(&parameters.bodies[b].inertia);
                }
            }
        }
        let first = history.len() - 1;
        self.run_segment(&system, parameters, first..self.steps(), &mut trajectory)?;
        Ok(trajectory)
    }
}
