//! Newton's method on one stage, with the exact non-symmetric matrix and a line search on the residual norm.

mod local;
mod rigid;
mod search;

pub(crate) use rigid::{Bodies, Matrix, PartWork, Rigid, moved, predict};

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
    /// Newton iterations of groups of bodies with the others held, between those.
    pub local_iterations: usize,
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

/// What a linearisation tells besides residual and matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linearised {
    /// Scale of the forces \[N\].
    pub(crate) scale: f64,
    /// The potential \[J\], where it comes for free.
    pub(crate) potential: Option<f64>,
}

/// Equations of a stage: what Newton's method needs to know of them. They hold the matrix and its factors.
pub(crate) trait Equations {
    /// What is solved for.
    type Point: Clone;

    /// Writes the residual and makes the matrix at a point.
    fn linearise(&mut self, now: &Self::Point, r: &mut [f64]) -> Linearised;

    /// The point that was linearised last is the iterate: its matrix is the one that the methods below mean.
    fn accept(&mut self) {}

    /// Learns from a step and the residual where it led which bodies went too far, and holds them back in the next ones; returns
    /// false where it cannot.
    ///
    /// * `rejected`: the step will be made again, from where it was.
    fn damp(&mut self, _step: &[f64], _r: &[f64], _duration: f64, _rejected: bool) -> bool {
        false
    }

    /// Adds the inertia that holds bodies back to the matrix.
    fn hold(&mut self, _duration: f64) {}

    /// Solves the few bodies that have nearly all of the residual with the others held; moves them, writes residual and matrix there and
    /// returns the iterations too. `None` where nothing was moved.
    ///
    /// * `asked`: the norm that is good enough \[N\].
    fn relax(
        &mut self,
        _now: &mut Self::Point,
        _r: &mut [f64],
        _settings: &NewtonSettings,
        _asked: f64,
    ) -> Option<(Linearised, usize)> {
        None
    }

    /// Writes the residual at a point.
    fn residual(&mut self, now: &Self::Point, r: &mut [f64]);

    /// Factorises the matrix.
    fn factorise(&mut self) -> Result<(), Failure>;

    /// Solves `K x = b` in place with the factors.
    fn solve(&mut self, b: &mut [f64]);

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
    fn potential(&mut self, now: &Self::Point) -> Option<f64>;

    /// Residual that one rounding of the positions makes \[N\]: `ε ‖K‖ ‖x‖`.
    fn rounding(&self, now: &Self::Point) -> f64;
}

/// Memory of the stage solve, made once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace<P> {
    residual: Vec<f64>,
    trial_residual: Vec<f64>,
    pub(crate) step: Vec<f64>,
    pub(crate) trial: P,
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

    /// The iterate, and its residual.
    pub(crate) fn solution(&mut self) -> (&mut P, &[f64]) {
        (&mut self.now, &self.residual)
    }

    /// The residual of the last iterate.
    pub(crate) fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// `K s = −r`.
    fn newton_step(&mut self, equations: &mut impl Equations) {
        for (s, r) in self.step.iter_mut().zip(&self.residual) {
            *s = -r;
        }
        equations.solve(&mut self.step);
    }

    /// Slope of the potential along the step, `r·s`.
    fn slope(&self) -> f64 {
        self.residual.iter().zip(&self.step).map(|(r, s)| r * s).sum()
    }

    /// Linearises at the iterate.
    fn linearise<E: Equations<Point = P>>(&mut self, equations: &mut E) -> Evaluation {
        let of = equations.linearise(&self.now, &mut self.residual);
        equations.accept();
        Evaluation { norm: equations.norm(&self.residual), of }
    }
}

/// A linearised point.
#[derive(Clone, Copy, Debug)]
struct Evaluation {
    /// Norm of the residual \[N\].
    norm: f64,
    of: Linearised,
}

impl Evaluation {
    // An infinite residual would meet an infinite tolerance.
    fn is_finite(&self) -> bool {
        self.norm.is_finite() && self.of.scale.is_finite()
    }
}

/// How a stage is solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// Of the stage \[s\].
    pub(crate) duration: f64,
    /// Whether the factors at the solution are wanted.
    pub(crate) keep_factors: bool,
    /// A residual that is good enough, whatever the tolerance \[N\].
    pub(crate) goal: f64,
}

/// Solves a stage from the guess in `work.now`; leaves the factors of `K` at the solution, where they are wanted.
pub(crate) fn solve<E: Equations>(
    equations: &mut E,
    settings: &NewtonSettings,
    how: How,
    work: &mut Workspace<E::Point>,
) -> Result<StageStats, Failure> {
    work.trial.clone_from(&work.now);
    work.best.clone_from(&work.now);
    let mut stats = StageStats::default();
    let mut at = work.linearise(equations);
    let (mut before, mut best) = (f64::INFINITY, f64::INFINITY);
    let mut relaxed = false;
    loop {
        if !at.is_finite() {
            return Err(Failure::NotFinite(equations.worst(&work.residual)));
        }
        if at.norm < best {
            best = at.norm;
            work.best.clone_from(&work.now);
        }
        let given_up = stats.iterations == settings.iterations;
        if given_up && best < at.norm {
            work.now.clone_from(&work.best);
            at = work.linearise(equations);
        }
        let (asked, floor) =
            (settings.tolerance * at.of.scale, ROUNDING * equations.rounding(&work.now));
        let asked = asked.max(how.goal);
        // At the floor a Newton step gains nothing any more: that is as far as f64 goes.
        let stalled = at.norm <= floor && at.norm > 0.25 * before;
        stats.residual = at.norm;
        stats.tolerance = if stalled { floor.max(asked) } else { asked };
        stats.converged = at.norm <= stats.tolerance;
        let done = stats.converged || given_up;
        if done {
            if how.keep_factors {
                equations.factorise()?;
            }
            return Ok(stats);
        }
        // Once between two steps of all.
        if !relaxed
            && at.norm > floor
            && let Some((of, iterations)) =
                equations.relax(&mut work.now, &mut work.residual, settings, asked)
        {
            at = Evaluation { norm: equations.norm(&work.residual), of };
            stats.local_iterations += iterations;
            (before, relaxed) = (f64::INFINITY, true);
            continue;
        }
        relaxed = false;
        stats.iterations += 1;
        before = at.norm;
        let halvings = if at.norm <= floor { 0 } else { settings.halvings };
        at = search::step(equations, (halvings, how.duration), work, at)?;
    }
}

/// How many times the estimate of rounding a residual may be and still be rounding.
const ROUNDING: f64 = 64.0;
