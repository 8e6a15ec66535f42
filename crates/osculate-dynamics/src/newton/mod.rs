//! Newton's method on one stage, with the exact non-symmetric matrix and a line search on the residual norm.

mod rigid;

pub(crate) use rigid::{Bodies, Matrix, Rigid, moved, predict};

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

/// Equations of a stage: what Newton's method needs to know of them. They hold the matrix and its factors.
pub(crate) trait Equations {
    /// What is solved for.
    type Point: Clone;

    /// Writes the residual and makes the matrix at a point; returns the scale of the forces \[N\].
    fn linearise(&mut self, now: &Self::Point, r: &mut [f64]) -> f64;

    /// Writes the residual at a point.
    fn residual(&mut self, now: &Self::Point, r: &mut [f64]);

    /// Factorises the matrix.
    fn factorise(&mut self) -> Result<(), Failure>;

    /// Solves `K x = b` in place with the factors.
    fn solve(&self, b: &mut [f64]);

    /// Adds `by` times the inertia to the matrix.
    fn shift(&mut self, by: f64);

    /// The point a share of the step away from another.
    fn step(&self, from: &Self::Point, step: &[f64], share: f64, to: &mut Self::Point);

    /// Norm of a residual \[N\].
    fn norm(&self, r: &[f64]) -> f64;

    /// First unknown of the body or joint with the largest residual.
    fn worst(&self, r: &[f64]) -> usize;

    /// Whether the residual is the gradient of a potential.
    fn has_potential(&self) -> bool;

    /// The potential \[J\], where there is one.
    fn potential(&self, now: &Self::Point) -> Option<f64>;

    /// Residual that one rounding of the positions makes \[N\]: `ε ‖K‖ ‖x‖`.
    fn rounding(&self, now: &Self::Point) -> f64;
}

/// Memory of the stage solve, made once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace<P> {
    residual: Vec<f64>,
    trial_residual: Vec<f64>,
    step: Vec<f64>,
    trial: P,
    /// The iterate of least residual.
    best: P,
    /// The iterate; the guess before, the solution after.
    pub(crate) now: P,
}

impl<P: Clone> Workspace<P> {
    /// Memory with a guess.
    pub(crate) fn starting_at(now: P) -> Self {
        let (residual, trial_residual, step) = (Vec::new(), Vec::new(), Vec::new());
        Self { residual, trial_residual, step, trial: now.clone(), best: now.clone(), now }
    }

    pub(crate) fn prepare(&mut self, unknowns: usize) {
        self.residual.resize(unknowns, 0.0);
        self.trial_residual.resize(unknowns, 0.0);
        self.step.resize(unknowns, 0.0);
    }

    /// The residual of the last iterate.
    pub(crate) fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// `K s = −r`.
    fn newton_step(&mut self, equations: &impl Equations) {
        for (s, r) in self.step.iter_mut().zip(&self.residual) {
            *s = -r;
        }
        equations.solve(&mut self.step);
    }

    /// Slope of the potential along the step, `r·s`.
    fn slope(&self) -> f64 {
        self.residual.iter().zip(&self.step).map(|(r, s)| r * s).sum()
    }
}

/// Solves a stage from the guess in `work.now`; leaves the factors of `K` at the solution, where they are wanted.
pub(crate) fn solve<E: Equations>(
    equations: &mut E,
    settings: &NewtonSettings,
    (duration, keep_factors): (f64, bool),
    work: &mut Workspace<E::Point>,
) -> Result<StageStats, Failure> {
    work.trial.clone_from(&work.now);
    work.best.clone_from(&work.now);
    let mut stats = StageStats::default();
    let mut scale = equations.linearise(&work.now, &mut work.residual);
    let mut norm = equations.norm(&work.residual);
    let (mut before, mut best) = (f64::INFINITY, f64::INFINITY);
    loop {
        // An infinite residual would meet an infinite tolerance.
        if !(norm.is_finite() && scale.is_finite()) {
            return Err(Failure::NotFinite(equations.worst(&work.residual)));
        }
        if norm < best {
            best = norm;
            work.best.clone_from(&work.now);
        }
        let given_up = stats.iterations == settings.iterations;
        if given_up && best < norm {
            work.now.clone_from(&work.best);
            scale = equations.linearise(&work.now, &mut work.residual);
            norm = best;
        }
        let (asked, floor) = (settings.tolerance * scale, ROUNDING * equations.rounding(&work.now));
        // At the floor a Newton step gains nothing any more: that is as far as f64 goes.
        let stalled = norm <= floor && norm > 0.25 * before;
        stats.residual = norm;
        stats.tolerance = if stalled { floor.max(asked) } else { asked };
        stats.converged = norm <= stats.tolerance;
        let done = stats.converged || given_up;
        if !done || keep_factors {
            equations.factorise()?;
        }
        if done {
            return Ok(stats);
        }
        stats.iterations += 1;
        work.newton_step(equations);
        make_descent(equations, duration, work)?;
        if let Some(i) = work.step.iter().position(|x| !x.is_finite()) {
            return Err(Failure::NotFinite(i));
        }
        before = norm;
        let halvings = if norm <= floor { 0 } else { settings.halvings };
        (scale, norm) = line_search(equations, halvings, work, norm);
    }
}

/// Moves the iterate along the step; halves it until it is good enough, and takes the trial of least residual where none is
/// (a residual that jumps has no descent direction at the jump). Leaves residual and matrix at the new point.
///
/// Where the residual is the gradient of a potential, the potential decides: stiff friction lets the residual grow on
/// steps that lead to the minimum. Else the residual norm has to fall. The full step is mostly taken, so it is
/// evaluated with its matrix at once.
fn line_search<E: Equations>(
    equations: &mut E,
    halvings: usize,
    work: &mut Workspace<E::Point>,
    norm: f64,
) -> (f64, f64) {
    let mut merit = Merit { norm, slope: work.slope(), before: None };
    equations.step(&work.now, &work.step, 1.0, &mut work.trial);
    let mut scale = equations.linearise(&work.trial, &mut work.residual);
    let mut found = equations.norm(&work.residual);
    // A trial that is not finite is the worst there is.
    let mut best = (if found.is_finite() { found } else { f64::INFINITY }, 1.0);
    let (mut last, mut factor) = (best.0, 1.0);
    for _ in 0..halvings {
        if merit.accepts(equations, (&work.now, &work.trial), last, factor) {
            best = (last, factor);
            break;
        }
        factor *= 0.5;
        equations.step(&work.now, &work.step, factor, &mut work.trial);
        equations.residual(&work.trial, &mut work.trial_residual);
        last = equations.norm(&work.trial_residual);
        if last < best.0 {
            best = (last, factor);
        }
    }
    if factor < 1.0 {
        equations.step(&work.now, &work.step, best.1, &mut work.trial);
        scale = equations.linearise(&work.trial, &mut work.residual);
        found = equations.norm(&work.residual);
    }
    work.now.clone_from(&work.trial);
    (scale, found)
}

/// Where there is a potential, adds inertia to the matrix until the step leads down: negative curvature (turning boxes,
/// leaving contacts) else sends Newton up the potential, where it crawls.
fn make_descent<E: Equations>(
    equations: &mut E,
    duration: f64,
    work: &mut Workspace<E::Point>,
) -> Result<(), Failure> {
    if !equations.has_potential() {
        return Ok(());
    }
    let mut shift = 0.5 / (duration * duration);
    for _ in 0..SHIFTS {
        if work.slope() < 0.0 {
            break;
        }
        equations.shift(shift);
        equations.factorise()?;
        work.newton_step(equations);
        shift *= 4.0;
    }
    Ok(())
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
    fn accepts<E: Equations>(
        &mut self,
        equations: &E,
        (now, trial): (&E::Point, &E::Point),
        norm: f64,
        share: f64,
    ) -> bool {
        if norm < 0.5 * self.norm {
            return true;
        }
        if self.slope < 0.0 {
            self.before = self.before.or_else(|| equations.potential(now));
        }
        let Some(before) = self.before else {
            return norm < self.norm * (1.0 - 1e-4 * share);
        };
        let allowed = before + 1e-4 * share * self.slope + 1e-13 * before.abs();
        equations.potential(trial).is_some_and(|after| after <= allowed)
    }
}

/// How many times the estimate of rounding a residual may be and still be rounding.
const ROUNDING: f64 = 64.0;
