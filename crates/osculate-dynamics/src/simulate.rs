//! The time loop.

mod joints;
mod path;
mod settings;
mod solve;

pub(crate) use joints::StageEnd;
pub use path::{Path, Trajectory};
pub use settings::{InitialRate, Settings};

use crate::integrator::Tableau;
use crate::newton::Failure;
use crate::reduction::{JointStage, Reduction};
use crate::state::BodyState;
use crate::system::{Stage, System, lift_state};
use crate::{BodyKind, Parameters, RotationUpdate, Scene, SceneError, StepError};
use joints::{JointStart, finish_joints, start_joints};
use osculate_math::{Scalar, se3::Pose, so3};
use solve::StageSolver;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A scene, settings and a time grid.
#[derive(Clone, Debug)]
pub struct Simulator {
    scene: Scene,
    settings: Settings,
    durations: Vec<f64>,
    interrupt: Option<Arc<AtomicBool>>,
}

/// Times of the states of steps of some durations \[s\], from 0.
pub fn step_times(durations: &[f64]) -> Vec<f64> {
    let mut t = 0.0;
    let mut times = vec![0.0];
    for d in durations {
        t += d;
        times.push(t);
    }
    times
}

impl Simulator {
    /// A simulation of a scene with steps of the given durations \[s\].
    ///
    /// # Errors
    /// Where the scene is invalid, a duration is not positive, or there is none.
    pub fn new(scene: Scene, settings: Settings, durations: Vec<f64>) -> Result<Self, SceneError> {
        scene.validate()?;
        if durations.is_empty() {
            return Err(SceneError::Count { what: "steps", found: 0, expected: 1 });
        }
        if let Some(&found) = durations.iter().find(|d| !(d.is_finite() && **d > 0.0)) {
            return Err(SceneError::Number { field: "time step", found, allowed: "> 0 s" });
        }
        if !(settings.newton.tolerance.is_finite() && settings.newton.tolerance > 0.0) {
            let found = settings.newton.tolerance;
            return Err(SceneError::Number { field: "newton tolerance", found, allowed: "> 0" });
        }
        if settings.rotation == RotationUpdate::Chart && scene.articulation.is_some() {
            return Err(SceneError::ChartOfJoints);
        }
        Ok(Self { scene, settings, durations, interrupt: None })
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Durations of the steps \[s\].
    pub fn durations(&self) -> &[f64] {
        &self.durations
    }

    /// How many steps there are.
    pub fn steps(&self) -> usize {
        self.durations.len()
    }

    /// Times of the states \[s\], from 0.
    pub fn times(&self) -> Vec<f64> {
        step_times(&self.durations)
    }

    /// Once `flag` is true, roll-outs and derivatives of them stop with [`StepError::Interrupted`], but for trajectories with a
    /// flag of their own ([`Trajectory::interrupted_by`]).
    pub fn interrupt_by(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Some(flag);
    }

    /// The flag of [`Simulator::interrupt_by`].
    pub fn interrupt(&self) -> Option<&Arc<AtomicBool>> {
        self.interrupt.as_ref()
    }

    /// The scene's own numbers.
    pub fn parameters(&self) -> Parameters {
        Parameters::of(&self.scene)
    }

    /// Rolls out the whole time grid.
    ///
    /// # Errors
    /// Where a step fails ([`StepError`]) or the parameters do not fit the scene.
    pub fn run(&self, parameters: &Parameters) -> Result<Trajectory, RunError> {
        let mut trajectory = Trajectory::default();
        self.run_into(parameters, &mut trajectory)?;
        Ok(trajectory)
    }

    /// As [`Simulator::run`], in memory that is used again: in one thread, stages of free bodies allocate nothing once the trajectory has
    /// done the same roll-out. Those of joints do.
    ///
    /// # Errors
    /// As [`Simulator::run`]; the steps before the failure stay in the trajectory.
    pub fn run_into(
        &self,
        parameters: &Parameters,
        trajectory: &mut Trajectory,
    ) -> Result<(), RunError> {
        let system = self.system(parameters)?;
        self.lend_flag(trajectory);
        trajectory.path.restart(self.scene.bodies.len(), self.settings.method.stages(), 0);
        self.push_initial(parameters, &system, &mut trajectory.path);
        self.run_segment(&system, parameters, 0..self.steps(), trajectory)
    }

    /// A trajectory without a flag of its own has that of the simulator.
    pub(crate) fn lend_flag(&self, trajectory: &mut Trajectory) {
        if trajectory.interrupt.is_none() {
            trajectory.interrupt.clone_from(&self.interrupt);
        }
    }

    /// The scene with the numbers given, ready to evaluate.
    pub(crate) fn system<T: Scalar>(
        &self,
        parameters: &Parameters<T>,
    ) -> Result<System<'_, T>, RunError> {
        let dynamic = self.scene.dynamic_bodies().count();
        let (found, expected) = (parameters.wrenches.len(), self.steps() * dynamic);
        if found != 0 && found != expected {
            return Err(SceneError::Count { what: "applied wrenches", found, expected }.into());
        }
        if let Some(p) = &parameters.articulation {
            p.check_steps(self.steps())?;
        }
        let how = (self.settings.law, self.settings.rotation);
        Ok(System::new(&self.scene, how, parameters)?)
    }

    pub(crate) fn initial_states<T: Scalar>(
        &self,
        parameters: &Parameters<T>,
    ) -> impl Iterator<Item = BodyState<T>> {
        parameters.bodies.iter().zip(&self.scene.bodies).map(|(p, body)| {
            let rate = self.settings.symmetric_rate(&p.angular_velocity, self.durations[0]);
            let mut state = p.initial_state(rate);
            if !body.is_dynamic() {
                state = BodyState::at_rest(state.pose());
            } else if self.settings.rotation == RotationUpdate::Chart {
                state.set_momentum(&p.inertia);
            }
            state
        })
    }

    pub(crate) fn push_initial<T: Scalar>(
        &self,
        parameters: &Parameters<T>,
        system: &System<'_, T>,
        path: &mut Path<T>,
    ) {
        let first = path.states.len();
        path.states.extend(self.initial_states(parameters));
        if let (Some(r), Some(p)) = (&system.reduction, &parameters.articulation) {
            let states = &mut path.states[first..];
            let motions = r.place_moving(&p.initial, states);
            for (&body, (velocity, spin)) in r.bodies.iter().zip(&motions) {
                let symmetric = self.settings.initial_rate.symmetric(spin, self.durations[0]);
                states[body].velocity = *velocity;
                states[body].rate = so3::skew(spin) + symmetric;
            }
            path.joint_states.push(p.initial.clone());
        }
    }

    /// Rolls out steps `range` from the states at the end of the path, in f64.
    pub(crate) fn run_segment(
        &self,
        system: &System<'_, f64>,
        parameters: &Parameters,
        range: Range<usize>,
        trajectory: &mut Trajectory,
    ) -> Result<(), RunError> {
        let stages = range.len() * self.settings.method.stages();
        let Trajectory { path, factors, stats, solves, scratch, forgets, interrupt } = trajectory;
        path.first_step = range.start;
        let (of, memory) = ((self, system), (solves, *forgets));
        let mut solver = StageSolver::new(of, stages, (factors, stats), memory);
        let solve = |at: StageIndex, stage: &Stage<'_, f64>, end: StageEnd<'_, f64>| {
            path::go_on(interrupt.as_deref(), at.step)?;
            solver.solve(at, stage, end)
        };
        let of = (parameters, system.reduction.as_ref());
        Ok(self.roll(of, range, path, scratch, solve)?)
    }

    /// How many dynamic bodies stand before one.
    fn dynamic_index(&self, body: usize) -> usize {
        self.scene.dynamic_bodies().take_while(|&b| b < body).count()
    }

    fn dynamic_name(&self, i: usize) -> String {
        let mut bodies = self.scene.dynamic_bodies();
        bodies.nth(i).map_or_else(String::new, |b| self.scene.bodies[b].name.clone())
    }

    fn failure(&self, at: StageIndex, failure: Failure) -> StepError {
        let (step, stage) = (at.step, at.stage);
        match failure {
            Failure::Singular(i) => {
                StepError::Singular { step, stage, pivot: i % 6, body: self.dynamic_name(i / 6) }
            }
            Failure::NotFinite(i) => {
                StepError::Diverged { step, stage, body: self.dynamic_name(i / 6) }
            }
        }
    }

    /// The stage form of every method: `solve` fills the end poses of each stage.
    pub(crate) fn roll<T: Scalar, E>(
        &self,
        (parameters, reduction): (&Parameters<T>, Option<&Reduction<T>>),
        range: Range<usize>,
        path: &mut Path<T>,
        scratch: &mut Vec<BodyState<T>>,
        mut solve: impl FnMut(StageIndex, &Stage<'_, T>, StageEnd<'_, T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let nb = self.scene.bodies.len();
        path.reserve(range.len());
        for step in range {
            let tableau = self.settings.method.tableau(step + 1);
            scratch.clear();
            for body in 0..nb {
                let y = |r: usize| &path.state(step - r)[body];
                let terms = (1..tableau.history).map(|r| (tableau.alpha[r], y(r)));
                scratch.push(BodyState::combine(y(0), terms));
            }
            let joint_star = path.joint_star(step, &tableau);
            let joints = reduction.zip(joint_star.as_ref());
            for stage in 0..tableau.stages {
                self.run_stage(
                    (parameters, joints),
                    StageIndex { step, stage },
                    &tableau,
                    (scratch, path),
                    &mut solve,
                )?;
            }
            self.finish_step(parameters, step, &tableau, (scratch, joints), path);
            if path.forgets {
                path.clear_stages();
            }
        }
        Ok(())
    }

    fn run_stage<T: Scalar, E>(
        &self,
        (parameters, joints): (&Parameters<T>, Option<JointStart<'_, T>>),
        at: StageIndex,
        tableau: &Tableau,
        memory: (&[BodyState<T>], &mut Path<T>),
        solve: &mut impl FnMut(StageIndex, &Stage<'_, T>, StageEnd<'_, T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (star, path) = memory;
        let nb = star.len();
        let step_duration = self.durations[at.step];
        let duration = tableau.duration[at.stage] * step_duration;
        let first = path.starts.len();
        let step_first = first - at.stage * nb;
        for (body, base) in star.iter().enumerate() {
            let ends = &path.ends;
            let terms = (0..at.stage)
                .map(|j| (tableau.start_weights[at.stage][j], &ends[step_first + j * nb + body]));
            let start = BodyState::combine(base, terms);
            path.starts.push(start);
            path.ends.push(start);
        }
        for (body, b) in self.scene.bodies.iter().enumerate() {
            if let Some(pose) = self.prescribed(b, at.step, tableau.node[at.stage]) {
                let end = &mut path.ends[first + body];
                (end.center, end.rotation) =
                    (pose.position.map(T::from), pose.rotation.map(T::from));
            }
        }
        if let Some(joints) = joints {
            start_joints(joints, (at.stage, tableau), first, path);
        }
        let Path { states, starts, ends, joint_starts, joint_ends, .. } = path;
        let (starts, ends) = (&starts[first..], &mut ends[first..]);
        let base = &states[(at.step - path.first_state) * nb..][..nb];
        let wrenches = self.of_step(&parameters.wrenches, at.step);
        let joints = joint_starts.last().zip(parameters.articulation.as_ref()).map(|(start, p)| {
            let (efforts, targets) =
                (self.of_step(&p.efforts, at.step), self.of_step(&p.targets, at.step));
            JointStage { now: &start.configuration, start, efforts, targets }
        });
        let stage = Stage { now: &[], start: starts, base, duration, wrenches, joints };
        solve(at, &stage, StageEnd { bodies: ends, joints: joint_ends.last_mut() })?;
        if let Some((start, end)) = joint_starts.last().zip(joint_ends.last_mut()) {
            end.set_stage_rates(start, duration);
        }
        for body in self.scene.dynamic_bodies() {
            let (start, end, of) = (&starts[body], &mut ends[body], &parameters.bodies[body]);
            match self.settings.rotation {
                RotationUpdate::RateTensor => end.set_stage_velocity(start, duration),
                RotationUpdate::Chart => {
                    end.set_chart_velocity(&base[body].rotation, start, duration, &of.inertia);
                }
            }
        }
        Ok(())
    }

    fn finish_step<T: Scalar>(
        &self,
        parameters: &Parameters<T>,
        step: usize,
        tableau: &Tableau,
        (star, joints): (&[BodyState<T>], Option<JointStart<'_, T>>),
        path: &mut Path<T>,
    ) {
        let nb = star.len();
        let first = path.ends.len() - tableau.stages * nb;
        for (body, b) in self.scene.bodies.iter().enumerate() {
            let end = |j: usize| &path.ends[first + j * nb + body];
            let state = if let Some(pose) = self.prescribed(b, step, 1.0) {
                lift_state(&BodyState::at_rest(pose))
            } else if tableau.stiffly_accurate || !b.is_dynamic() {
                *end(tableau.stages - 1)
            } else {
                let terms = (0..tableau.stages).map(|j| (tableau.step_weights[j], end(j)));
                let mut state = BodyState::combine(&star[body], terms);
                if self.settings.rotation == RotationUpdate::Chart {
                    state.set_spin(&parameters.bodies[body].inertia);
                }
                state
            };
            path.states.push(state);
        }
        if let Some(joints) = joints {
            finish_joints(joints, tableau, nb, path);
        }
    }

    /// The entries of a step in a list that has as many for each, or none.
    pub(crate) fn of_step<'a, V>(&self, all: &'a [V], step: usize) -> &'a [V] {
        let each = all.len() / self.steps();
        &all[step * each..(step + 1) * each]
    }

    /// Pose of a body with prescribed motion at a fraction of a step: on the geodesic between the poses at its ends.
    fn prescribed(&self, body: &crate::Body, step: usize, fraction: f64) -> Option<Pose> {
        let BodyKind::Static { motion } = &body.kind else { return None };
        let last = motion.len().checked_sub(1)?;
        let to = &motion[step.min(last)];
        let from = if step == 0 { &body.pose } else { &motion[(step - 1).min(last)] };
        let (p, r) = to.increment_from(from);
        Some(from.incremented(&(p * fraction), &(r * fraction)))
    }
}

/// Which stage of which step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StageIndex {
    pub(crate) step: usize,
    pub(crate) stage: usize,
}

/// Why a roll-out failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// Scene and parameters do not fit.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A derivative was asked of a trajectory that dropped its factors.
    #[error(
        "the trajectory was rolled out without factors (Trajectory::without_factors) and cannot be differentiated"
    )]
    NoFactors,
}
