//! The adjoint of joint coordinates: what the reverse sweep does beside bodies.
//!
//! Cotangents of links' poses go through forward kinematics to joint coordinates wherever a state, a stage start or a stage end
//! makes poses of them; what the sweep of bodies carries from stage to stage are then velocities alone.

use super::transposed::SweepScalar;
use crate::factors::StageFactors;
use crate::integrator::{MOST, Tableau};
use crate::reduction::{
    JointBar, JointStage, JointState, LinkMatrix, Power, Reduction, StageForce, TreeBar,
};
use crate::simulate::{Path, Simulator};
use crate::state::StateBar;
use crate::system::{Culling, Stage, System};
use crate::{ArticulationParameters, Settings};
use nalgebra::Vector3;
use osculate_math::{Jet, Scalar, so3};
use std::collections::VecDeque;

/// A dense matrix, row-major, or one of blocks, in the unknowns that are solved for.
pub(crate) enum StageMatrix<T> {
    /// Of bodies.
    Blocks(crate::linalg::BlockMatrix<T>),
    /// Of joint coordinates.
    Dense(Vec<T>),
}

/// Cotangents of joint coordinates.
#[derive(Clone, Debug)]
pub(super) struct JointSweep<'s, T> {
    reduction: &'s Reduction<T>,
    /// Of the states after steps `top`, `top − 1`, …
    pub(super) bars: VecDeque<JointBar<T>>,
    pub(super) total: TreeBar<T>,
    star: JointBar<T>,
    ends: Vec<JointBar<T>>,
    lambda: Vec<T>,
    links: Vec<T>,
    matrix: LinkMatrix<T>,
}

impl<'s, T: SweepScalar> JointSweep<'s, T> {
    pub(super) fn new(
        system: &'s System<'s, T>,
        parameters: Option<&ArticulationParameters<T>>,
    ) -> Option<Self> {
        let (reduction, p) = (system.reduction.as_ref()?, parameters?);
        let zero = JointBar::zero(reduction.model.dofs());
        Some(Self {
            reduction,
            bars: (0..=MOST).map(|_| zero.clone()).collect(),
            total: TreeBar::zero(reduction, p.efforts.len(), p.targets.len()),
            star: zero,
            ends: Vec::new(),
            lambda: vec![T::zero(); reduction.unknowns],
            links: vec![T::zero(); system.unknowns],
            matrix: LinkMatrix::default(),
        })
    }

    /// Moves cotangents of the links' poses in a state to its joint coordinates.
    pub(super) fn observe(
        &mut self,
        state: Option<&JointState<T>>,
        states: &mut [StateBar<T>],
        into: usize,
    ) {
        if let Some(state) = state {
            let kinematics = self.reduction.kinematics(&state.configuration);
            let position = &mut self.bars[into].position;
            self.reduction.pull_poses(&kinematics, states, position, &mut self.total);
        }
    }

    /// From the cotangent of the state at the end of a step to those of its stage ends and of where it starts.
    pub(super) fn end_of_step(&mut self, step: usize, tableau: &Tableau, path: &Path<T>) {
        let zero = JointBar::zero(self.reduction.model.dofs());
        let out = self.bars.pop_front().unwrap_or_else(|| zero.clone());
        self.bars.push_back(zero.clone());
        self.ends = vec![zero.clone(); tableau.stages];
        self.star = zero;
        let Some(star) = path.joint_star(step, tableau) else { return };
        if tableau.stiffly_accurate {
            self.ends[tableau.stages - 1].add(&out);
        } else {
            let weights = tableau.step_weights;
            let terms = ends(path, step, tableau.stages).map(|(j, y)| (weights[j], y));
            let emit = |j: usize, bar: &JointBar<T>| self.ends[j].add(bar);
            JointState::pull_combine(&star, terms, &out, &mut self.star, emit);
        }
    }

    /// From the cotangent of where a step starts to those of the states before.
    pub(super) fn start_of_step(&mut self, step: usize, tableau: &Tableau, path: &Path<T>) {
        let Some(base) = path.joints(step) else { return };
        let earlier = (1..tableau.history).filter_map(|r| Some((r, path.joints(step - r)?)));
        let terms = earlier.map(|(r, y)| (tableau.alpha[r], y));
        let mut own = JointBar::zero(self.reduction.model.dofs());
        let emit = |j: usize, bar: &JointBar<T>| self.bars[j + 1].add(bar);
        JointState::pull_combine(base, terms, &self.star, &mut own, emit);
        self.bars[0].add(&own);
    }

    /// Solves for the multipliers of a stage.
    ///
    /// * `poses`: cotangents of all bodies' poses at its end; becomes `J λ`.
    /// * returns the cotangent of the joints at its start, so far.
    pub(super) fn solve(
        &mut self,
        (system, at): (&System<'_, T>, &Stage<'_, T>),
        (stage, end): (usize, &JointState<T>),
        factors: StageFactors<'_>,
        poses: &mut [T],
    ) -> JointBar<T> {
        let reduction = self.reduction;
        let mut start_bar = JointBar::zero(reduction.model.dofs());
        let Some(joints) = at.joints else { return start_bar };
        let (bar, duration) = (&mut self.ends[stage], at.duration);
        end.pull_stage_rates(joints.start, duration, bar, &mut start_bar);
        let kinematics = reduction.kinematics(joints.now);
        reduction.gather(&kinematics, poses, &mut self.lambda);
        for (l, x) in self.lambda[reduction.first_dof..].iter_mut().zip(&bar.position) {
            *l += *x;
        }
        let (links, matrix) = (&mut self.links, &mut self.matrix);
        system.with_whole(at, |part| {
            matrix.bodies.reset(part.unknowns / 6, part.edges);
            let of = (&mut links[..], &mut matrix.bodies);
            system.residual_and_jacobian(part, at, &mut Culling::default(), of);
        });
        reduction.add_closures(at, links);
        reduction.closure_blocks(at, matrix);
        let (links, matrix) = (&self.links, &self.matrix);
        let dense = || {
            let mut dense = vec![T::zero(); reduction.unknowns * reduction.unknowns];
            reduction.matrix(&kinematics, (&joints, duration), (links, matrix), &mut dense);
            StageMatrix::Dense(dense)
        };
        T::solve_transposed(factors, dense, &mut self.lambda);
        reduction.spread(&kinematics, &self.lambda, poses);
        start_bar
    }

    /// Pulls what joints make of a stage, once its multipliers are known: to its start and to the joints' numbers.
    ///
    /// * `lambda`: `J λ`.
    pub(super) fn pull(
        &mut self,
        (at, step): (&Stage<'_, T>, usize),
        lambda: &[T],
        (ends, start_bars): (&[StateBar<T>], &mut [StateBar<T>]),
        start_bar: &mut JointBar<T>,
    ) {
        let (reduction, Some(joints)) = (self.reduction, at.joints) else { return };
        let of = |&body: &usize| (ends[body].center, ends[body].rotation);
        let poses = reduction.bodies.iter().map(of).collect();
        let force = StageForce { residual: &self.links, matrix: &self.matrix };
        let first = step * reduction.model.dofs();
        let lambda = (self.lambda.as_slice(), lambda);
        let start = (&mut *start_bars, start_bar.position.as_mut_slice(), &mut start_bar.rate[..]);
        let total = (&mut self.total, first);
        reduction.pull_stage(at, lambda, (poses, force), start, total);
        let kinematics = reduction.kinematics(&joints.start.configuration);
        let position = &mut start_bar.position;
        reduction.pull_poses(&kinematics, start_bars, position, &mut self.total);
    }

    /// From the cotangent of a stage's start to those of the stages before and of where the step starts.
    pub(super) fn start_of_stage(
        &mut self,
        (step, stage): (usize, usize),
        tableau: &Tableau,
        path: &Path<T>,
        bar: &JointBar<T>,
    ) {
        let Some(star) = path.joint_star(step, tableau) else { return };
        let weights = tableau.start_weights[stage];
        let terms = ends(path, step, stage).map(|(j, y)| (weights[j], y));
        let (ends, star_bar) = (&mut self.ends, &mut self.star);
        JointState::pull_combine(&star, terms, bar, star_bar, |j, bar| ends[j].add(bar));
    }

    /// Velocities of the links at the start to joint velocities, joint positions and frames.
    pub(super) fn initial(
        &mut self,
        simulator: &Simulator,
        initial: &JointState<T>,
        states: &mut [StateBar<T>],
    ) {
        let reduction = self.reduction;
        let kinematics = reduction.kinematics(&initial.configuration);
        let motions = kinematics.center_velocities(&reduction.model, &initial.rates);
        let settings = simulator.settings();
        let first_step = simulator.durations()[0];
        let mut wrenches = Vec::with_capacity(motions.len());
        for (&body, (_, spin)) in reduction.bodies.iter().zip(&motions) {
            let bar = &mut states[body];
            wrenches.push((bar.velocity, pull_rate(settings, spin, first_step, &bar.rate)));
            (bar.velocity, bar.rate) = (Vector3::zeros(), nalgebra::Matrix3::zeros());
        }
        let forces = kinematics.generalised_forces(&reduction.model, &wrenches);
        let bar = &mut self.bars[0];
        bar.rate.iter_mut().zip(forces).for_each(|(x, f)| *x += f);
        let power = Power { rates: &initial.rates, wrenches: &wrenches };
        reduction.pull_power(&kinematics, power, &mut bar.position);
        let none = vec![(Vector3::zeros(), Vector3::zeros()); wrenches.len()];
        reduction.pull_frames(&kinematics, &none, power, &mut self.total);
    }
}

/// Stage ends of a step that are held, with their index.
fn ends<T: Scalar>(
    path: &Path<T>,
    step: usize,
    count: usize,
) -> impl Iterator<Item = (usize, &JointState<T>)> + Clone {
    (0..count).filter_map(move |j| Some((j, path.joint_stage(step, j)?.1)))
}

/// Cotangent of the angular velocity, of that of the rate which it sets.
pub(super) fn pull_rate<T: Scalar>(
    settings: &Settings,
    spin: &Vector3<T>,
    first_step: f64,
    bar: &nalgebra::Matrix3<T>,
) -> Vector3<T> {
    let seeded = Vector3::from_fn(|k, _| Jet::<3, T>::variable(spin[k], k));
    let rate = so3::skew(&seeded) + settings.symmetric_rate(&seeded, first_step);
    Vector3::from_fn(|k, _| {
        let mut sum = T::zero();
        for (w, g) in rate.iter().zip(bar.iter()) {
            sum += w.eps[k] * *g;
        }
        sum
    })
}

/// Joints of a stage, where the scene has any.
pub(super) fn joint_stage<'a, T: Scalar>(
    simulator: &Simulator,
    parameters: Option<&'a ArticulationParameters<T>>,
    path: &'a Path<T>,
    (step, stage): (usize, usize),
) -> Option<JointStage<'a, T>> {
    let (p, (start, end)) = (parameters?, path.joint_stage(step, stage)?);
    let efforts = simulator.of_step(&p.efforts, step);
    let targets = simulator.of_step(&p.targets, step);
    Some(JointStage { now: &end.configuration, start, efforts, targets })
}
