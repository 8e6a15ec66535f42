//! Adjoint: one transposed solve a stage gives the derivatives of an outcome by every parameter.
//!
//! ```text
//! Kᵀ λ = q̄        x̄ ← x̄ − (∂r/∂x)ᵀ λ        x = q⁰, v⁰, W⁰, θ
//! ```
//!
//! The sweep is generic over the scalar: in f64 it is the gradient, in jets (states and parameters carrying their
//! tangents) it is the derivative of the gradient.

use super::Outcome;
use super::collect::Collector;
use super::joints::{JointSweep, StageMatrix, joint_stage};
use super::observe::Observer;
use super::transposed::SweepScalar;
use crate::integrator::{MOST, Tableau};
use crate::state::{BodyState, StateBar};
use crate::system::{Stage, System, SystemBar};
use crate::{Parameters, Path, RotationUpdate, RunError, Simulator, Trajectory};
use nalgebra::Vector3;
use osculate_math::{Scalar, so3};
use std::collections::VecDeque;

/// Outcome and its derivative by every parameter of the layout.
///
/// # Errors
/// Where the parameters do not fit the scene, or the trajectory's flag says stop.
pub fn gradient(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters,
    outcome: &impl Outcome,
) -> Result<(f64, Vec<f64>), RunError> {
    if !trajectory.has_factors() {
        return Err(RunError::NoFactors);
    }
    let system = simulator.system(parameters)?;
    let mut sweep = Sweep::new(simulator, &system, parameters, outcome);
    for step in (0..simulator.steps()).rev() {
        trajectory.go_on(step)?;
        sweep.step_back(step, &trajectory.path, trajectory);
    }
    Ok(sweep.finish(&trajectory.path))
}

/// As [`gradient`], keeping only the states of every `interval`-th step and rolling each segment out again: memory
/// for `interval` steps of stages instead of all. The same bits.
///
/// # Errors
/// Where a step fails or the parameters do not fit the scene.
pub fn checkpointed_gradient(
    simulator: &Simulator,
    parameters: &Parameters,
    outcome: &impl Outcome,
    interval: usize,
) -> Result<(f64, Vec<f64>), RunError> {
    let system = simulator.system(parameters)?;
    let (steps, interval) = (simulator.steps(), interval.max(1));
    let mut memory = Trajectory::default();
    simulator.lend_flag(&mut memory);
    memory.path.bodies = system.bodies.len();
    memory.path.stages = simulator.settings().method.stages();
    simulator.push_initial(parameters, &system, &mut memory.path);
    // Each checkpoint keeps the states a multistep method starts from.
    let mut checkpoints = Vec::new();
    for first in (0..steps).step_by(interval) {
        keep_history(&mut memory.path, first);
        let (states, joints) = (memory.path.states.clone(), memory.path.joint_states.clone());
        checkpoints.push((memory.path.first_state, states, joints));
        let range = first..(first + interval).min(steps);
        memory.path.clear_stages();
        simulator.run_segment(&system, parameters, range, &mut memory)?;
    }
    let mut sweep = Sweep::new(simulator, &system, parameters, outcome);
    for (index, (first_state, states, joints)) in checkpoints.into_iter().enumerate().rev() {
        let first = index * interval;
        let range = first..(first + interval).min(steps);
        memory.path.first_state = first_state;
        memory.path.states = states;
        memory.path.joint_states = joints;
        memory.path.clear_stages();
        simulator.run_segment(&system, parameters, range.clone(), &mut memory)?;
        for step in range.rev() {
            sweep.step_back(step, &memory.path, &memory);
        }
    }
    Ok(sweep.finish(&memory.path))
}

/// Drops the states that a multistep method no longer needs at `step`.
fn keep_history(path: &mut Path, step: usize) {
    let keep_from = (step + 1).saturating_sub(MOST).max(path.first_state);
    path.states.drain(..(keep_from - path.first_state) * path.bodies);
    if !path.joint_states.is_empty() {
        path.joint_states.drain(..keep_from - path.first_state);
    }
    path.first_state = keep_from;
}

/// Memory of one step of the sweep.
#[derive(Debug)]
struct Scratch<T> {
    star: Vec<BodyState<T>>,
    star_bars: Vec<StateBar<T>>,
    start_bars: Vec<StateBar<T>>,
    end_bars: Vec<StateBar<T>>,
    /// Of the states at the start of the step, as bases of the charts.
    base_bars: Vec<StateBar<T>>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        let (star, star_bars, base_bars) = (Vec::new(), Vec::new(), Vec::new());
        Self { star, star_bars, start_bars: Vec::new(), end_bars: Vec::new(), base_bars }
    }
}

fn zero_bars<T: Scalar>(bars: &mut Vec<StateBar<T>>, n: usize) {
    bars.clear();
    bars.resize(n, StateBar::zero());
}

/// Start states of a step, their cotangents, and the cotangents of its stage ends.
type StepMemory<'a, T> = (&'a [BodyState<T>], &'a mut [StateBar<T>], &'a mut [StateBar<T>]);

/// Cotangents of the end of a stage, of its start, and of the start of its step as base of the charts.
type StageBars<'a, T> = (&'a mut [StateBar<T>], &'a mut [StateBar<T>], &'a mut [StateBar<T>]);

/// The reverse sweep: cotangents of the last states and of every parameter.
pub(crate) struct Sweep<'s, T, O> {
    pub(super) simulator: &'s Simulator,
    pub(super) system: &'s System<'s, T>,
    pub(super) parameters: &'s Parameters<T>,
    outcome: &'s O,
    /// Cotangents of the states after steps `top`, `top − 1`, …
    pub(super) bars: VecDeque<Vec<StateBar<T>>>,
    started: bool,
    pub(super) total: SystemBar<T>,
    value: T,
    lambda: Vec<T>,
    scratch: Scratch<T>,
    /// Of the joints, where the scene has any.
    pub(super) joints: Option<JointSweep<'s, T>>,
    observer: Observer<T>,
}

impl<'s, T: SweepScalar, O: Outcome> Sweep<'s, T, O> {
    pub(crate) fn new(
        simulator: &'s Simulator,
        system: &'s System<'s, T>,
        parameters: &'s Parameters<T>,
        outcome: &'s O,
    ) -> Self {
        let zeros = || vec![StateBar::zero(); system.bodies.len()];
        Self {
            simulator,
            system,
            parameters,
            outcome,
            bars: (0..=MOST).map(|_| zeros()).collect(),
            started: false,
            total: SystemBar::zero(system, parameters.wrenches.len()),
            value: T::zero(),
            lambda: vec![T::zero(); system.unknowns],
            scratch: Scratch::default(),
            joints: JointSweep::new(system, parameters.articulation.as_ref()),
            observer: Observer::default(),
        }
    }

    /// Adds the outcome's own cotangent of the state after `step` steps.
    fn observe(&mut self, step: usize, path: &Path<T>, into: usize) {
        let states = path.state(step);
        if !self.outcome.observes(step) {
            return;
        }
        let bodies = states.iter().zip(&self.parameters.bodies);
        let motion = bodies.map(|(y, p)| y.kinematics(&p.center));
        self.value += self.observer.value(self.outcome, step, motion);
        for (i, state) in states.iter().enumerate() {
            let moves = self.system.unknown[i].is_some();
            let by = self.observer.gradient(self.outcome, step, i, moves);
            let v = |k: usize| Vector3::new(by[k], by[k + 1], by[k + 2]);
            let arm = state.rotation * self.parameters.bodies[i].center;
            let bar = &mut self.bars[into][i];
            bar.center += v(0);
            bar.rotation += v(3) - arm.cross(&v(0));
            bar.velocity += v(6);
            // ω = vee(W)
            bar.rate += so3::skew(&v(9)).map(|x| x * 0.5);
            self.total.center[i] -= state.rotation.transpose() * v(0);
        }
        if let Some(joints) = &mut self.joints {
            joints.observe(path.joints(step), &mut self.bars[into], into);
        }
    }

    /// Pulls one step back, from the state after `step + 1` steps to those it started from.
    pub(crate) fn step_back(&mut self, step: usize, path: &Path<T>, factors: &Trajectory) {
        if !self.started {
            self.started = true;
            self.observe(step + 1, path, 0);
        }
        let tableau = self.simulator.settings().method.tableau(step + 1);
        let (nb, stages) = (self.system.bodies.len(), tableau.stages);
        let mut out = self.bars.pop_front().unwrap_or_default();
        let mut memory = std::mem::take(&mut self.scratch);
        let Scratch { star, star_bars, start_bars, end_bars, base_bars } = &mut memory;
        zero_bars(star_bars, nb);
        zero_bars(base_bars, nb);
        zero_bars(end_bars, nb * stages);
        star.clear();
        star.extend((0..nb).map(|b| star_state(path, step, &tableau, b)));
        self.end_of_step(step, &tableau, path, &mut out, (star, star_bars, end_bars));
        if let Some(joints) = &mut self.joints {
            joints.end_of_step(step, &tableau, path);
        }
        for stage in (0..stages).rev() {
            zero_bars(start_bars, nb);
            let ends = &mut end_bars[stage * nb..(stage + 1) * nb];
            self.stage_back((step, stage), path, factors, (ends, start_bars, base_bars));
            for b in (0..nb).filter(|&b| self.system.unknown[b].is_some()) {
                let weights = tableau.start_weights[stage];
                let terms = (0..stage).map(|j| (weights[j], &path.stage(step, j).1[b]));
                let emit = |j: usize, bar| end_bars[j * nb + b].add(&bar);
                BodyState::pull_combine(&star[b], terms, &start_bars[b], &mut star_bars[b], emit);
            }
        }
        for b in (0..nb).filter(|&b| self.system.unknown[b].is_some()) {
            let terms = (1..tableau.history).map(|r| (tableau.alpha[r], &path.state(step - r)[b]));
            let mut base = StateBar::zero();
            let emit = |j: usize, bar| self.bars[j + 1][b].add(&bar);
            BodyState::pull_combine(&path.state(step)[b], terms, &star_bars[b], &mut base, emit);
            base.add(&base_bars[b]);
            self.bars[0][b].add(&base);
        }
        if let Some(joints) = &mut self.joints {
            joints.start_of_step(step, &tableau, path);
        }
        zero_bars(&mut out, nb);
        self.bars.push_back(out);
        self.scratch = memory;
        self.observe(step, path, 0);
    }

    /// From the cotangents of the state at the end of a step to those of its stage ends and of its base.
    fn end_of_step(
        &mut self,
        step: usize,
        tableau: &Tableau,
        path: &Path<T>,
        out: &mut [StateBar<T>],
        (star, star_bars, end_bars): StepMemory<'_, T>,
    ) {
        let (nb, stages) = (star.len(), tableau.stages);
        for b in 0..nb {
            if self.system.unknown[b].is_none() {
                // What the outcome sees of a body at rest depends on its one pose.
                self.total.pose[b][0] += out[b].center;
                self.total.pose[b][1] += out[b].rotation;
            } else if tableau.stiffly_accurate {
                end_bars[(stages - 1) * nb + b].add(&out[b]);
            } else {
                if self.system.rotation == RotationUpdate::Chart {
                    let inertia = &self.system.bodies[b].inertia;
                    let by = path.state(step + 1)[b].pull_spin(inertia, &mut out[b]);
                    self.total.add_inertia(b, &by);
                }
                let weights = tableau.step_weights;
                let terms = (0..stages).map(|j| (weights[j], &path.stage(step, j).1[b]));
                let emit = |j: usize, bar| end_bars[j * nb + b].add(&bar);
                BodyState::pull_combine(&star[b], terms, &out[b], &mut star_bars[b], emit);
            }
        }
    }

    /// Pulls one stage back: from cotangents of its end to those of its start and of the parameters.
    fn stage_back(
        &mut self,
        (step, stage): (usize, usize),
        path: &Path<T>,
        factors: &Trajectory,
        (end_bars, start_bars, base_bars): StageBars<'_, T>,
    ) {
        let settings = self.simulator.settings();
        let (start, now) = path.stage(step, stage);
        let tableau = settings.method.tableau(step + 1);
        let duration = tableau.duration[stage] * self.simulator.durations()[step];
        let wrenches = self.simulator.of_step(&self.parameters.wrenches, step);
        let articulation = self.parameters.articulation.as_ref();
        let joints = joint_stage(self.simulator, articulation, path, (step, stage));
        let at = Stage { now, start, base: path.state(step), duration, wrenches, joints };
        for (b, unknown) in self.system.unknown.iter().enumerate() {
            if let Some(k) = *unknown {
                self.pull_velocity(b, &at, (end_bars, start_bars, base_bars));
                for i in 0..3 {
                    self.lambda[k + i] = end_bars[b].center[i];
                    self.lambda[k + 3 + i] = end_bars[b].rotation[i];
                }
            }
        }
        let factors = factors.factors(step, stage);
        let joint_start = match (&mut self.joints, path.joint_stage(step, stage)) {
            (Some(joints), Some((_, end))) => {
                let (system, lambda) = ((self.system, &at), &mut self.lambda);
                Some(joints.solve(system, (stage, end), factors, lambda))
            }
            _ => {
                let matrix = || StageMatrix::Blocks(self.system.whole_matrix(&at));
                T::solve_transposed(factors, matrix, &mut self.lambda);
                None
            }
        };
        self.total.step = step;
        let bars = (&mut *start_bars, &mut *base_bars);
        self.system.pull_residual(&at, &self.lambda, bars, &mut self.total);
        if let (Some(joints), Some(mut bar)) = (&mut self.joints, joint_start) {
            let bars = (&*end_bars, &mut *start_bars);
            joints.pull((&at, step), &self.lambda, bars, &mut bar);
            joints.start_of_stage((step, stage), &tableau, path, &bar);
        }
        for (b, unknown) in self.system.unknown.iter().enumerate() {
            if unknown.is_none() {
                // A body at rest has one pose: that of the start is that of the end.
                self.total.pose[b][0] += start_bars[b].center;
                self.total.pose[b][1] += start_bars[b].rotation;
            }
        }
    }

    /// Moves the cotangents of a body's velocities at the end of a stage to the poses they are made from.
    fn pull_velocity(&mut self, b: usize, at: &Stage<'_, T>, bars: StageBars<'_, T>) {
        let (end, start) = (&mut bars.0[b], &mut bars.1[b]);
        match self.system.rotation {
            RotationUpdate::RateTensor => {
                at.now[b].pull_stage_velocity(&at.start[b], at.duration, end, start);
            }
            RotationUpdate::Chart => {
                let from = (&at.base[b].rotation, &at.start[b]);
                let inertia = &self.system.bodies[b].inertia;
                let to = (start, &mut bars.2[b]);
                let by = at.now[b].pull_chart_velocity(from, at.duration, inertia, end, to);
                self.total.add_inertia(b, &by);
            }
        }
    }

    /// Outcome and gradient, once every step has been pulled back.
    pub(crate) fn finish(mut self, path: &Path<T>) -> (T, Vec<T>) {
        if let (Some(joints), Some(initial)) = (&mut self.joints, path.joints(0)) {
            joints.initial(self.simulator, initial, &mut self.bars[0]);
        }
        debug_assert!(path.first_state == 0, "the sweep ends at the initial state");
        let gradient = Collector::new(&self).collect();
        (self.value, gradient)
    }
}

fn star_state<T: Scalar>(
    path: &Path<T>,
    step: usize,
    tableau: &Tableau,
    body: usize,
) -> BodyState<T> {
    let terms = (1..tableau.history).map(|r| (tableau.alpha[r], &path.state(step - r)[body]));
    BodyState::combine(&path.state(step)[body], terms)
}
