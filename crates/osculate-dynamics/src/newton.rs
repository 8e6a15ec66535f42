//! Newton's method on one stage, with the exact non-symmetric matrix and a line search on the residual norm.

use crate::linalg::blocks::BLOCK;
use crate::linalg::{BlockFactors, BlockMatrix, dense};
use crate::state::{BodyState, nearest_rotation};
use crate::system::{Part, Stage, System};
use nalgebra::Vector3;
use osculate_math::so3;

/// Tolerances of the stage solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// Residual force allowed, relative to the sum of the magnitudes of all forces of the stage \[–\].
    ///
    /// Below what rounding of positions can resolve (`ε ‖K‖ ‖x‖`), iteration goes on while it gains anything and the
    /// stage counts as converged.
    pub tolerance: f64,
    /// Most iterations.
    pub iterations: usize,
    /// Most halvings of a step.
    pub halvings: usize,
    /// What to do where the tolerance is not reached.
    pub on_failure: OnFailure,
}

/// What to do where a stage does not converge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// Stop with [`StepError::NotConverged`](crate::StepError::NotConverged).
    #[default]
    Stop,
    /// Keep the best iterate and go on; the trajectory counts such stages.
    Continue,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self { tolerance: 1e-10, iterations: 60, halvings: 12, on_failure: OnFailure::Stop }
    }
}

/// What one stage solve took.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct StageStats {
    /// Newton iterations.
    pub iterations: usize,
    /// Norm of the residual at the end \[N\]; torques are divided by the radius of gyration.
    pub residual: f64,
    /// The tolerance it was held to \[N\].
    pub tolerance: f64,
    /// Whether it was met.
    pub converged: bool,
}

/// Why a stage has no solution to offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The matrix is singular at an unknown.
    Singular(usize),
    /// An unknown is not finite.
    NotFinite(usize),
}

impl Failure {
    /// The same failure, its unknown counted otherwise.
    pub(crate) fn map(self, unknown: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Singular(i) => Self::Singular(unknown(i)),
            Self::NotFinite(i) => Self::NotFinite(unknown(i)),
        }
    }
}

/// Memory for the factors of the stage matrix.
#[derive(Debug)]
pub(crate) enum Matrix<'a> {
    Dense(&'a mut [f64], &'a mut [usize]),
    Blocks(&'a mut BlockFactors),
}

impl Matrix<'_> {
    fn factorise(&mut self, matrix: &BlockMatrix<f64>) -> Result<(), usize> {
        match self {
            Self::Dense(lu, pivots) => {
                matrix.write_dense(lu);
                dense::factorise(lu, pivots)
            }
            Self::Blocks(factors) => factors.factorise(matrix),
        }
    }

    fn solve(&self, b: &mut [f64]) {
        match self {
            Self::Dense(lu, pivots) => dense::solve(lu, pivots, b),
            Self::Blocks(factors) => factors.solve(b),
        }
    }
}

/// Memory of the stage solve, made once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    residual: Vec<f64>,
    trial_residual: Vec<f64>,
    matrix: BlockMatrix<f64>,
    step: Vec<f64>,
    trial: Vec<BodyState>,
    /// The iterate of least residual.
    best: Vec<BodyState>,
    /// Mass \[kg\] and moment of inertia \[kg m²\] of the body of each group of six unknowns.
    inertia: Vec<[f64; 2]>,
    /// Radius of gyration of the body of each group of six unknowns \[m\].
    gyration: Vec<f64>,
}

impl Workspace {
    pub(crate) fn prepare(&mut self, system: &System<'_, f64>, part: &Part<'_, f64>) {
        let n = part.unknowns;
        self.residual.resize(n, 0.0);
        self.trial_residual.resize(n, 0.0);
        self.matrix.reset(n / BLOCK, part.edges);
        self.step.resize(n, 0.0);
        self.gyration.clear();
        self.inertia.clear();
        for (&body, unknown) in part.bodies.iter().zip(part.unknown) {
            if unknown.is_some() {
                let body = &system.bodies[body];
                self.inertia.push([body.mass, body.second_moment.trace()]);
                let length = (body.second_moment.trace() / body.mass).sqrt();
                self.gyration.push(if length > 0.0 { length } else { 1.0 });
            }
        }
    }

    fn start(&mut self, now: &[BodyState]) {
        for states in [&mut self.trial, &mut self.best] {
            states.clear();
            states.extend_from_slice(now);
        }
    }

    /// `K s = −r`.
    fn newton_step(&mut self, factors: &Matrix<'_>) {
        for (s, r) in self.step.iter_mut().zip(&self.residual) {
            *s = -r;
        }
        factors.solve(&mut self.step);
    }

    /// Slope of the potential along the step, `r·s`.
    fn slope(&self) -> f64 {
        self.residual.iter().zip(&self.step).map(|(r, s)| r * s).sum()
    }

    fn norm(&self, r: &[f64]) -> f64 {
        let bodies = r.chunks_exact(BLOCK).zip(&self.gyration);
        bodies.map(|(r, l)| squares(r, *l)).sum::<f64>().sqrt()
    }

    /// Index of the body with the largest residual.
    pub(crate) fn worst_body(&self) -> usize {
        let size = |i: usize| squares(&self.residual[BLOCK * i..BLOCK * (i + 1)], self.gyration[i]);
        (0..self.gyration.len()).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(0)
    }
}

fn squares(r: &[f64], length: f64) -> f64 {
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    square(&r[..3]) + square(&r[3..]) / (length * length)
}

/// Where Newton starts: every body carried on by its velocity.
pub(crate) fn predict(
    system: &System<'_, f64>,
    stage_start: &[BodyState],
    dt: f64,
    now: &mut [BodyState],
) {
    for (i, unknown) in system.unknown.iter().enumerate() {
        if unknown.is_some() {
            let start = &stage_start[i];
            now[i] = *start;
            now[i].center += start.velocity * dt;
            now[i].rotation = so3::exp(&(start.angular_velocity() * dt)) * start.rotation;
        }
    }
}

fn increment(
    part: &Part<'_, f64>,
    from: &[BodyState],
    step: &[f64],
    factor: f64,
    to: &mut [BodyState],
) {
    for (slot, unknown) in part.unknown.iter().enumerate() {
        if let Some(at) = *unknown {
            let v = |k: usize| Vector3::new(step[k], step[k + 1], step[k + 2]) * factor;
            to[slot].center = from[slot].center + v(at);
            to[slot].rotation = nearest_rotation(&(so3::exp(&v(at + 3)) * from[slot].rotation));
        }
    }
}

/// Solves a part of a stage from the guess in `now`; leaves the factors of `K` at the solution in `factors`.
pub(crate) fn solve(
    problem: &Problem<'_, '_>,
    settings: &NewtonSettings,
    work: &mut Workspace,
    now: &mut [BodyState],
    mut factors: Matrix<'_>,
) -> Result<StageStats, Failure> {
    work.start(now);
    let mut stats = StageStats::default();
    let mut scale = problem.evaluate(now, work);
    let mut norm = work.norm(&work.residual);
    let (mut before, mut best) = (f64::INFINITY, f64::INFINITY);
    loop {
        // An infinite residual would meet an infinite tolerance.
        if !(norm.is_finite() && scale.is_finite()) {
            return Err(Failure::NotFinite(BLOCK * work.worst_body()));
        }
        if norm < best {
            best = norm;
            work.best.copy_from_slice(now);
        }
        let given_up = stats.iterations == settings.iterations;
        if given_up && best < norm {
            now.copy_from_slice(&work.best);
            scale = problem.evaluate(now, work);
            norm = best;
        }
        let (asked, floor) = (settings.tolerance * scale, ROUNDING * problem.rounding(now, work));
        // At the floor a Newton step gains nothing any more: that is as far as f64 goes.
        let stalled = norm <= floor && norm > 0.25 * before;
        stats.residual = norm;
        stats.tolerance = if stalled { floor.max(asked) } else { asked };
        stats.converged = norm <= stats.tolerance;
        let done = stats.converged || given_up;
        if !done || problem.keep_factors {
            factors.factorise(&work.matrix).map_err(Failure::Singular)?;
        }
        if done {
            return Ok(stats);
        }
        stats.iterations += 1;
        work.newton_step(&factors);
        problem.make_descent(work, &mut factors)?;
        if let Some(i) = work.step.iter().position(|x| !x.is_finite()) {
            return Err(Failure::NotFinite(i));
        }
        before = norm;
        let halvings = if norm <= floor { 0 } else { settings.halvings };
        (scale, norm) = problem.line_search(halvings, work, now, norm);
    }
}

/// What is solved: a part of a stage. The stage gives start, duration and wrenches; its `now` is ignored.
pub(crate) struct Problem<'a, 's> {
    pub(crate) system: &'a System<'s, f64>,
    pub(crate) part: &'a Part<'a, f64>,
    pub(crate) stage: &'a Stage<'a, f64>,
    /// Whether the factors at the solution are wanted.
    pub(crate) keep_factors: bool,
}

impl Problem<'_, '_> {
    /// Residual and matrix at `now`; returns the scale of the forces.
    fn evaluate(&self, now: &[BodyState], work: &mut Workspace) -> f64 {
        let at = Stage { now, ..*self.stage };
        let (r, k) = (&mut work.residual, &mut work.matrix);
        self.system.residual_and_jacobian(self.part, &at, r, k)
    }

    /// Moves `now` along the step; halves it until it is good enough, and takes the trial of least residual where none is
    /// (a residual that jumps has no descent direction at the jump). Leaves residual and matrix at the new point.
    ///
    /// Where the residual is the gradient of a potential, the potential decides: stiff friction lets the residual grow on
    /// steps that lead to the minimum. Else the residual norm has to fall. The full step is mostly taken, so it is
    /// evaluated with its matrix at once.
    fn line_search(
        &self,
        halvings: usize,
        work: &mut Workspace,
        now: &mut [BodyState],
        norm: f64,
    ) -> (f64, f64) {
        let mut merit = Merit { norm, slope: work.slope(), before: None };
        let mut trial = std::mem::take(&mut work.trial);
        increment(self.part, now, &work.step, 1.0, &mut trial);
        let mut scale = self.evaluate(&trial, work);
        let mut found = work.norm(&work.residual);
        // A trial that is not finite is the worst there is.
        let mut best = (if found.is_finite() { found } else { f64::INFINITY }, 1.0);
        let (mut last, mut factor) = (best.0, 1.0);
        for _ in 0..halvings {
            if merit.accepts(self, (now, &trial), last, factor) {
                best = (last, factor);
                break;
            }
            factor *= 0.5;
            increment(self.part, now, &work.step, factor, &mut trial);
            let mut residual = std::mem::take(&mut work.trial_residual);
            let at = Stage { now: &trial, ..*self.stage };
            self.system.residual(self.part, &at, &mut residual);
            last = work.norm(&residual);
            work.trial_residual = residual;
            if last < best.0 {
                best = (last, factor);
            }
        }
        if factor < 1.0 {
            increment(self.part, now, &work.step, best.1, &mut trial);
            scale = self.evaluate(&trial, work);
            found = work.norm(&work.residual);
        }
        now.copy_from_slice(&trial);
        work.trial = trial;
        (scale, found)
    }

    fn potential(&self, now: &[BodyState]) -> Option<f64> {
        self.system.potential(self.part, &Stage { now, ..*self.stage })
    }

    /// Where there is a potential, adds inertia to the matrix until the step leads down: negative curvature (turning boxes,
    /// leaving contacts) else sends Newton up the potential, where it crawls.
    fn make_descent(&self, work: &mut Workspace, factors: &mut Matrix<'_>) -> Result<(), Failure> {
        if !self.system.has_potential(self.stage) {
            return Ok(());
        }
        let mut shift = 0.5 / (self.stage.duration * self.stage.duration);
        for _ in 0..SHIFTS {
            if work.slope() < 0.0 {
                break;
            }
            for (body, [mass, moment]) in work.inertia.iter().enumerate() {
                work.matrix.shift(body, [mass * shift, moment * shift]);
            }
            factors.factorise(&work.matrix).map_err(Failure::Singular)?;
            work.newton_step(factors);
            shift *= 4.0;
        }
        Ok(())
    }

    /// Residual that one rounding of the positions makes \[N\]: `ε ‖K‖ ‖x‖`.
    fn rounding(&self, now: &[BodyState], work: &Workspace) -> f64 {
        let mut sum = 0.0;
        for (slot, unknown) in self.part.unknown.iter().enumerate() {
            if let Some(at) = *unknown {
                let length = work.gyration[at / BLOCK];
                let [stiffness, torsion] = work.matrix.stiffness(at / BLOCK);
                sum += stiffness * (now[slot].center.norm() + length) + torsion / length;
            }
        }
        f64::EPSILON * sum
    }
}

/// How often the matrix is shifted at most: the last shift is 2¹⁵ times the inertia.
const SHIFTS: usize = 9;

/// What a step has to improve.
struct Merit {
    /// Residual norm and slope of the potential where the step starts.
    norm: f64,
    slope: f64,
    /// The potential there, once it was asked for.
    before: Option<f64>,
}

impl Merit {
    /// Whether a trial of this residual norm, at this share of the step, is good enough.
    fn accepts(
        &mut self,
        problem: &Problem<'_, '_>,
        (now, trial): (&[BodyState], &[BodyState]),
        norm: f64,
        share: f64,
    ) -> bool {
        if norm < 0.5 * self.norm {
            return true;
        }
        if self.slope < 0.0 {
            self.before = self.before.or_else(|| problem.potential(now));
        }
        let Some(before) = self.before else {
            return norm < self.norm * (1.0 - 1e-4 * share);
        };
        let allowed = before + 1e-4 * share * self.slope + 1e-13 * before.abs();
        problem.potential(trial).is_some_and(|after| after <= allowed)
    }
}

/// How many times the estimate of rounding a residual may be and still be rounding.
const ROUNDING: f64 = 64.0;
