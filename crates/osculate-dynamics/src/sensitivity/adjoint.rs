//! Adjoint: one transposed solve a stage gives the derivatives of an outcome by every parameter.
//!
//! ```text
//! Kᵀ λ = q̄        x̄ ← x̄ − (∂r/∂x)ᵀ λ        x = q⁰, v⁰, W⁰, θ
//! ```
//!
//! The sweep is generic over the scalar: in f64 it is the gradient, in jets (states and parameters carrying their
//! tangents) it is the derivative of the gradient.

use super::Outcome;
use crate::integrator::MOST;
use crate::parameters::{INERTIA, Place};
use crate::state::{BodyState, Kinematics, StateBar};
use crate::system::{Stage, System, SystemBar};
use crate::{Layout, Parameters, Path, RunError, Simulator, Trajectory, linalg};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::combine::combine;
use osculate_contact::{ContactParams, PairOverride};
use osculate_math::{Jet, Scalar, so3};
use std::collections::VecDeque;

/// A scalar in which the transposed stage system can be solved from factors in f64.
pub(crate) trait SweepScalar: Scalar {
    /// Solves `Kᵀ x = b` in place; `matrix` gives `K` with its derivatives, where it has any.
    fn solve_transposed(
        factors: (&[f64], &[usize]),
        matrix: impl FnOnce() -> Vec<Self>,
        b: &mut [Self],
    );
}

impl SweepScalar for f64 {
    fn solve_transposed(
        (lu, pivots): (&[f64], &[usize]),
        _matrix: impl FnOnce() -> Vec<f64>,
        b: &mut [f64],
    ) {
        linalg::solve_transposed(lu, pivots, b);
    }
}

impl<const N: usize> SweepScalar for Jet<N> {
    /// `λ = K⁻ᵀ b`, `λ' = K⁻ᵀ (b' − K'ᵀ λ)`.
    fn solve_transposed(
        (lu, pivots): (&[f64], &[usize]),
        matrix: impl FnOnce() -> Vec<Self>,
        b: &mut [Self],
    ) {
        let n = b.len();
        let k = matrix();
        let mut lambda: Vec<f64> = b.iter().map(|x| x.re).collect();
        linalg::solve_transposed(lu, pivots, &mut lambda);
        for (i, x) in b.iter_mut().enumerate() {
            for e in 0..N {
                let moved: f64 = (0..n).map(|j| k[j * n + i].eps[e] * lambda[j]).sum();
                x.eps[e] -= moved;
            }
            x.re = 0.0;
        }
        linalg::solve_transposed(lu, pivots, b);
        for (x, l) in b.iter_mut().zip(&lambda) {
            x.re = *l;
        }
    }
}

/// Outcome and its derivative by every parameter of the layout.
///
/// # Errors
/// Where the parameters do not fit the scene.
pub fn gradient(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters,
    outcome: &impl Outcome,
) -> Result<(f64, Vec<f64>), RunError> {
    let system = simulator.system(parameters)?;
    let mut sweep = Sweep::new(simulator, &system, parameters, outcome);
    for step in (0..simulator.steps()).rev() {
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
    memory.path.bodies = system.bodies.len();
    memory.path.stages = simulator.settings().method.stages();
    simulator.push_initial(parameters, &mut memory.path);
    // Each checkpoint keeps the states a multistep method starts from.
    let mut checkpoints: Vec<(usize, Vec<BodyState>)> = Vec::new();
    for first in (0..steps).step_by(interval) {
        keep_history(&mut memory.path, first);
        checkpoints.push((memory.path.first_state, memory.path.states.clone()));
        let range = first..(first + interval).min(steps);
        clear_stages(&mut memory.path);
        simulator.run_segment(&system, parameters, range, &mut memory)?;
    }
    let mut sweep = Sweep::new(simulator, &system, parameters, outcome);
    for (index, (first_state, states)) in checkpoints.into_iter().enumerate().rev() {
        let first = index * interval;
        let range = first..(first + interval).min(steps);
        memory.path.first_state = first_state;
        memory.path.states = states;
        clear_stages(&mut memory.path);
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
    path.first_state = keep_from;
}

fn clear_stages(path: &mut Path) {
    path.starts.clear();
    path.ends.clear();
}

/// The reverse sweep: cotangents of the last states and of every parameter.
pub(crate) struct Sweep<'s, T, O> {
    simulator: &'s Simulator,
    system: &'s System<'s, T>,
    parameters: &'s Parameters<T>,
    outcome: &'s O,
    /// Cotangents of the states after steps `top`, `top − 1`, …
    bars: VecDeque<Vec<StateBar<T>>>,
    started: bool,
    total: SystemBar<T>,
    value: T,
    lambda: Vec<T>,
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
        }
    }

    /// Adds the outcome's own cotangent of the state after `step` steps.
    fn observe(&mut self, step: usize, states: &[BodyState<T>], into: usize) {
        if !self.outcome.observes(step) {
            return;
        }
        let bodies: Vec<_> = states
            .iter()
            .zip(&self.parameters.bodies)
            .map(|(y, p)| y.kinematics(&p.center))
            .collect();
        self.value += self.outcome.contribution(step, &bodies);
        for i in 0..bodies.len() {
            let by = outcome_gradient(self.outcome, step, &bodies, i);
            let (state, center) = (&states[i], &self.parameters.bodies[i].center);
            let v = |k: usize| Vector3::new(by[k], by[k + 1], by[k + 2]);
            let arm = state.rotation * center;
            let bar = &mut self.bars[into][i];
            bar.center += v(0);
            bar.rotation += v(3) - arm.cross(&v(0));
            bar.velocity += v(6);
            // ω = vee(W)
            bar.rate += so3::skew(&v(9)).map(|x| x * 0.5);
            self.total.center[i] -= state.rotation.transpose() * v(0);
        }
    }

    /// Pulls one step back, from the state after `step + 1` steps to those it started from.
    pub(crate) fn step_back<'p>(
        &mut self,
        step: usize,
        path: &'p Path<T>,
        factors: &Trajectory,
    ) {
        if !self.started {
            self.started = true;
            self.observe(step + 1, path.state(step + 1), 0);
        }
        let settings = self.simulator.settings();
        let tableau = settings.method.tableau(step + 1);
        let (nb, stages) = (self.system.bodies.len(), tableau.stages);
        let out = self.bars.pop_front().unwrap_or_default();
        self.bars.push_back(vec![StateBar::zero(); nb]);
        let mut star_bars = vec![StateBar::zero(); nb];
        let mut ends_bars = vec![StateBar::zero(); nb * stages];
        let star: Vec<BodyState<T>> = (0..nb).map(|b| star_state(path, step, &tableau, b)).collect();
        for b in 0..nb {
            if self.system.unknown[b].is_none() {
                // What the outcome sees of a body at rest depends on its one pose.
                self.total.pose[b][0] += out[b].center;
                self.total.pose[b][1] += out[b].rotation;
            } else if tableau.stiffly_accurate {
                ends_bars[(stages - 1) * nb + b].add(&out[b]);
            } else {
                let terms = (0..stages).map(|j| (tableau.step_weights[j], &path.stage(step, j).1[b]));
                BodyState::pull_combine(&star[b], terms, &out[b], &mut star_bars[b], |j, bar| {
                    ends_bars[j * nb + b].add(&bar);
                });
            }
        }
        for stage in (0..stages).rev() {
            let mut start_bars = vec![StateBar::zero(); nb];
            let end_bars = &mut ends_bars[stage * nb..(stage + 1) * nb];
            self.stage_back(step, stage, path, factors, (end_bars, &mut start_bars));
            for b in (0..nb).filter(|&b| self.system.unknown[b].is_some()) {
                let terms =
                    (0..stage).map(|j| (tableau.start_weights[stage][j], &path.stage(step, j).1[b]));
                BodyState::pull_combine(&star[b], terms, &start_bars[b], &mut star_bars[b], |j, bar| {
                    ends_bars[j * nb + b].add(&bar);
                });
            }
        }
        for b in (0..nb).filter(|&b| self.system.unknown[b].is_some()) {
            let terms = (1..tableau.history).map(|r| (tableau.alpha[r], &path.state(step - r)[b]));
            let mut base = StateBar::zero();
            BodyState::pull_combine(&path.state(step)[b], terms, &star_bars[b], &mut base, |j, bar| {
                self.bars[j + 1][b].add(&bar);
            });
            self.bars[0][b].add(&base);
        }
        self.observe(step, path.state(step), 0);
    }

    /// Pulls one stage back: from cotangents of its end to those of its start and of the parameters.
    fn stage_back(
        &mut self,
        step: usize,
        stage: usize,
        path: &Path<T>,
        factors: &Trajectory,
        (end_bars, start_bars): (&mut [StateBar<T>], &mut [StateBar<T>]),
    ) {
        let settings = self.simulator.settings();
        let (start, now) = path.stage(step, stage);
        let tableau = settings.method.tableau(step + 1);
        let duration = tableau.duration[stage] * self.simulator.durations()[step];
        let dynamic = self.parameters.wrenches.len() / self.simulator.steps();
        let wrenches = &self.parameters.wrenches[step * dynamic..(step + 1) * dynamic];
        let at = Stage { now, start, duration, wrenches };
        for (b, unknown) in self.system.unknown.iter().enumerate() {
            if let Some(k) = *unknown {
                now[b].pull_stage_velocity(
                    &start[b],
                    duration,
                    &mut end_bars[b],
                    &mut start_bars[b],
                );
                for i in 0..3 {
                    self.lambda[k + i] = end_bars[b].center[i];
                    self.lambda[k + 3 + i] = end_bars[b].rotation[i];
                }
            }
        }
        let matrix = || {
            let n = self.system.unknowns;
            let (mut r, mut k) = (vec![T::zero(); n], vec![T::zero(); n * n]);
            self.system.residual_and_jacobian(&at, &mut r, &mut k);
            k
        };
        T::solve_transposed(factors.factors(step, stage), matrix, &mut self.lambda);
        self.total.step = step;
        self.system.pull_residual(&at, &self.lambda, start_bars, &mut self.total);
        for (b, unknown) in self.system.unknown.iter().enumerate() {
            if unknown.is_none() {
                // A body at rest has one pose: that of the start is that of the end.
                self.total.pose[b][0] += start_bars[b].center;
                self.total.pose[b][1] += start_bars[b].rotation;
            }
        }
    }

    /// Outcome and gradient, once every step has been pulled back.
    pub(crate) fn finish(self, path: &Path<T>) -> (T, Vec<T>) {
        debug_assert!(path.first_state == 0, "the sweep ends at the initial state");
        let gradient = Collector::new(&self).collect();
        (self.value, gradient)
    }
}

fn star_state<T: Scalar>(
    path: &Path<T>,
    step: usize,
    tableau: &crate::integrator::Tableau,
    body: usize,
) -> BodyState<T> {
    let terms = (1..tableau.history).map(|r| (tableau.alpha[r], &path.state(step - r)[body]));
    BodyState::combine(&path.state(step)[body], terms)
}

/// Derivative of a contribution by position, rotation, velocity and angular velocity of body `i`.
fn outcome_gradient<T: Scalar>(
    outcome: &impl Outcome,
    step: usize,
    bodies: &[Kinematics<T>],
    i: usize,
) -> [T; 12] {
    let mut seeded: Vec<Kinematics<Jet<12, T>>> = bodies
        .iter()
        .map(|b| Kinematics {
            position: b.position.map(Jet::constant),
            rotation: b.rotation.map(Jet::constant),
            velocity: b.velocity.map(Jet::constant),
            angular_velocity: b.angular_velocity.map(Jet::constant),
        })
        .collect();
    let direction = |first: usize| {
        Vector3::from_fn(|k, _| Jet::<12, T>::variable(T::zero(), first + k))
    };
    let body = &mut seeded[i];
    body.position += direction(0);
    body.rotation = so3::exp(&direction(3)) * body.rotation;
    body.velocity += direction(6);
    body.angular_velocity += direction(9);
    outcome.contribution(step, &seeded).eps
}

/// Turns the cotangents of the system into those of the layout's parameters.
struct Collector<'a, 's, T, O> {
    sweep: &'a Sweep<'s, T, O>,
    contact: Vec<[T; 9]>,
    overrides: Vec<[T; 5]>,
    inertia: Vec<Matrix3<T>>,
    center: Vec<Vector3<T>>,
    position: Vec<Vector3<T>>,
    rotation: Vec<Vector3<T>>,
    angular_velocity: Vec<Vector3<T>>,
}

impl<'a, 's, T: SweepScalar, O: Outcome> Collector<'a, 's, T, O> {
    fn new(sweep: &'a Sweep<'s, T, O>) -> Self {
        let n = sweep.system.bodies.len();
        let o = vec![Vector3::zeros(); n];
        Self {
            sweep,
            contact: vec![[T::zero(); 9]; n],
            overrides: vec![[T::zero(); 5]; sweep.parameters.overrides.len()],
            inertia: sweep
                .total
                .second_moment
                .iter()
                .map(|j| Matrix3::from_diagonal_element(j.trace() * 0.5) - j)
                .collect(),
            center: o.clone(),
            position: o.clone(),
            rotation: o.clone(),
            angular_velocity: o,
        }
    }

    fn collect(mut self) -> Vec<T> {
        self.pull_pairs();
        for b in 0..self.center.len() {
            self.pull_initial_state(b);
        }
        let scene = self.sweep.simulator.scene();
        let real = Parameters::of(scene);
        // Only the shape of the wrenches matters to the layout.
        let layout = Layout::new(scene, &Parameters {
            wrenches: vec![crate::Wrench::zero(); self.sweep.parameters.wrenches.len()],
            ..real
        });
        (0..layout.len()).map(|i| self.at(layout.place(i))).collect()
    }

    /// Pair parameters to actor parameters and overrides: the combination, differentiated.
    fn pull_pairs(&mut self) {
        let (system, p) = (self.sweep.system, self.sweep.parameters);
        for (pair, bar) in system.pairs.iter().zip(&self.sweep.total.pairs) {
            let seed = |x: [T; 9], first: usize, normal: bool| {
                let mut k = first;
                let seeded = x.map(|v| {
                    k += 1;
                    Jet::<23, T>::variable(v, k - 1)
                });
                ContactParams::from_array(seeded, normal)
            };
            let (a, b) = (&p.bodies[pair.a].contact, &p.bodies[pair.b].contact);
            let replaced = pair.replaced.map_or_else(PairOverride::default, |o| {
                let values = p.overrides[o].to_array();
                PairOverride::from_array(std::array::from_fn(|j| {
                    values[j].map(|v| Jet::<23, T>::variable(v, 18 + j))
                }))
            });
            let combined = combine(
                &seed(a.to_array(), 0, a.collider_normal),
                &seed(b.to_array(), 9, b.collider_normal),
                pair.kind,
                &replaced,
            );
            for (x, g) in combined.to_array().iter().zip(bar) {
                for j in 0..9 {
                    self.contact[pair.a][j] += x.eps[j] * *g;
                    self.contact[pair.b][j] += x.eps[9 + j] * *g;
                }
                if let Some(o) = pair.replaced {
                    for j in 0..5 {
                        self.overrides[o][j] += x.eps[18 + j] * *g;
                    }
                }
            }
        }
    }

    /// Initial state and samples to position, rotation, centre of mass and angular velocity.
    fn pull_initial_state(&mut self, b: usize) {
        let sweep = self.sweep;
        let (p, total) = (&sweep.parameters.bodies[b], &sweep.total);
        let mut bar = sweep.bars[0][b];
        let moving = sweep.simulator.scene().bodies[b].is_dynamic();
        if !moving {
            // What the outcome sees of a static body depends on its pose directly.
            bar.center += total.pose[b][0];
            bar.rotation += total.pose[b][1];
        }
        let arm = p.rotation * p.center;
        self.position[b] = bar.center;
        self.rotation[b] = bar.rotation + arm.cross(&bar.center);
        let by_points = total.points[b].iter().fold(Vector3::zeros(), |sum, x| sum + x);
        self.center[b] = total.center[b] - by_points + p.rotation.transpose() * bar.center;
        let seeded =
            Vector3::from_fn(|k, _| Jet::<3, T>::variable(p.angular_velocity[k], k));
        let first_step = sweep.simulator.durations()[0];
        let rate = so3::skew(&seeded)
            + sweep.simulator.settings().initial_rate.symmetric(&seeded, first_step);
        self.angular_velocity[b] = Vector3::from_fn(|k, _| {
            let mut sum = T::zero();
            for (w, g) in rate.iter().zip(bar.rate.iter()) {
                sum += w.eps[k] * *g;
            }
            sum
        });
    }

    fn at(&self, place: Place) -> T {
        let total = &self.sweep.total;
        match place {
            Place::Contact(b, j) => self.contact[b][j],
            Place::Dimension(b, j) => total.dimensions[b][j],
            Place::Mass(b) => total.mass[b],
            Place::Center(b, k) => self.center[b][k],
            Place::Inertia(b, j) => {
                let (r, c, _) = INERTIA[j];
                let i = &self.inertia[b];
                if r == c { i[(r, c)] } else { i[(r, c)] + i[(c, r)] }
            }
            Place::Position(b, k) => self.position[b][k],
            Place::Rotation(b, k) => self.rotation[b][k],
            Place::Velocity(b, k) => self.sweep.bars[0][b].velocity[k],
            Place::AngularVelocity(b, k) => self.angular_velocity[b][k],
            Place::Point(b, j, k) => total.points[b][j][k],
            Place::Gravity(k) => total.gravity[k],
            Place::Override(o, j) => self.overrides[o][j],
            Place::Force(i, k) => total.wrenches[i].force[k],
            Place::Torque(i, k) => total.wrenches[i].torque[k],
        }
    }
}
