//! What a roll-out leaves: states and stages, and in f64 the factors of every stage.

use super::solve::SolveMemory;
use crate::StepError;
use crate::factors::{FactorStore, StageFactors};
use crate::integrator::MOST;
use crate::newton::StageStats;
use crate::reduction::JointState;
use crate::state::{BodyState, Kinematics};
use osculate_math::Scalar;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// States and stages of a roll-out, generic over the scalar: of the whole of it or of a segment.
#[derive(Clone, Debug, Default)]
pub struct Path<T = f64> {
    pub(crate) bodies: usize,
    pub(crate) stages: usize,
    /// Step of the first stored state, and of the first stored stage.
    pub(crate) first_state: usize,
    pub(crate) first_step: usize,
    pub(crate) states: Vec<BodyState<T>>,
    pub(crate) starts: Vec<BodyState<T>>,
    pub(crate) ends: Vec<BodyState<T>>,
    /// Those of the joints: one a state and one a stage, or none where the scene has none.
    pub(crate) joint_states: Vec<JointState<T>>,
    pub(crate) joint_starts: Vec<JointState<T>>,
    pub(crate) joint_ends: Vec<JointState<T>>,
    /// Stages are forgotten when their step is done.
    pub(crate) forgets: bool,
}

impl<T: Scalar> Path<T> {
    /// An empty path.
    pub(crate) fn new(bodies: usize, stages: usize) -> Self {
        Self {
            bodies,
            stages,
            first_state: 0,
            first_step: 0,
            states: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            joint_states: Vec::new(),
            joint_starts: Vec::new(),
            joint_ends: Vec::new(),
            forgets: false,
        }
    }

    /// An empty path that holds states only.
    pub(crate) fn of_states(bodies: usize, stages: usize) -> Self {
        Self { forgets: true, ..Self::new(bodies, stages) }
    }

    /// States of all bodies after `step` steps.
    ///
    /// # Panics
    /// Where the path does not hold that step.
    pub fn state(&self, step: usize) -> &[BodyState<T>] {
        let at = (step - self.first_state) * self.bodies;
        &self.states[at..at + self.bodies]
    }

    /// Forgets the stages.
    pub(crate) fn clear_stages(&mut self) {
        self.starts.clear();
        self.ends.clear();
        self.joint_starts.clear();
        self.joint_ends.clear();
    }

    /// Steps whose states are held.
    pub fn steps(&self) -> Range<usize> {
        self.first_state..self.first_state + self.states.len() / self.bodies.max(1)
    }

    /// Start and end of a stage.
    pub(crate) fn stage(&self, step: usize, stage: usize) -> (&[BodyState<T>], &[BodyState<T>]) {
        let at = ((step - self.first_step) * self.stages + stage) * self.bodies;
        (&self.starts[at..at + self.bodies], &self.ends[at..at + self.bodies])
    }

    pub(super) fn restart(&mut self, bodies: usize, stages: usize, step: usize) {
        (self.bodies, self.stages) = (bodies, stages);
        (self.first_state, self.first_step) = (step, step);
        self.states.clear();
        self.joint_states.clear();
        self.clear_stages();
    }

    pub(super) fn reserve(&mut self, steps: usize) {
        self.states.reserve((steps + MOST) * self.bodies);
        let kept = if self.forgets { 1 } else { steps };
        self.starts.reserve(kept * self.stages * self.bodies);
        self.ends.reserve(kept * self.stages * self.bodies);
    }
}

/// A roll-out in f64, with the factors of every stage.
#[derive(Clone, Debug, Default)]
pub struct Trajectory {
    /// States and stages.
    pub path: Path,
    pub(crate) factors: FactorStore,
    /// What each stage solve took.
    pub stats: Vec<StageStats>,
    /// Whether the factors of a large scene are dropped.
    pub(super) forgets: bool,
    /// Once true, the roll-out stops.
    pub(super) interrupt: Option<Arc<AtomicBool>>,
    pub(super) solves: SolveMemory,
    pub(super) scratch: Vec<BodyState>,
}

impl Trajectory {
    /// Stages that did not meet their tolerance; not zero only with [`OnFailure::Continue`](crate::OnFailure::Continue).
    pub fn unconverged(&self) -> usize {
        self.stats.iter().filter(|s| !s.converged).count()
    }

    /// Memory for a roll-out of which no derivative is wanted: it drops the factors of large scenes.
    pub fn without_factors() -> Self {
        Self { forgets: true, ..Self::default() }
    }

    /// The same memory; once `flag` is true, a roll-out into it, or a derivative of it, stops with [`StepError::Interrupted`].
    #[must_use]
    pub fn interrupted_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { interrupt: Some(flag), ..self }
    }

    /// An error once the caller asked to stop.
    pub(crate) fn go_on(&self, step: usize) -> Result<(), StepError> {
        go_on(self.interrupt.as_deref(), step)
    }

    /// Whether the trajectory can be differentiated: it holds the factors of its stages.
    pub(crate) fn has_factors(&self) -> bool {
        !self.forgets
    }

    /// Factors of the stage matrix.
    pub(crate) fn factors(&self, step: usize, stage: usize) -> StageFactors<'_> {
        self.factors.stage((step - self.path.first_step) * self.path.stages + stage)
    }

    /// Motion of a body's local frame after each step held.
    pub fn kinematics(&self, body: usize, center: &nalgebra::Vector3<f64>) -> Vec<Kinematics> {
        self.path.steps().map(|k| self.path.state(k)[body].kinematics(center)).collect()
    }
}

/// [`StepError::Interrupted`] where the flag is true.
pub(super) fn go_on(flag: Option<&AtomicBool>, step: usize) -> Result<(), StepError> {
    match flag {
        Some(flag) if flag.load(Ordering::Relaxed) => Err(StepError::Interrupted { step }),
        _ => Ok(()),
    }
}
