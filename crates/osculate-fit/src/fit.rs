//! Multi-start identification: from many starting points through stages of growing horizon.
//!
//! Full roll-outs of an impact are chaotic: their loss has many local minima. A short horizon has few, so each start
//! is carried through stages (first impacts, then more, then all) and the best end is taken: where the last stage
//! fits a response surface, the one with the lowest smooth loss, not the luckiest roll-outs. Starts run in parallel
//! and are independent: the result does not depend on the number of threads.

use crate::least_squares::{Solution, Stop};
use crate::noise;
use crate::nuisance::Nuisance;
use crate::optimise::{self, Budget, Solver};
use crate::parameter::FreeParameter;
use crate::problem::{Horizon, InitialState, Model, Problem, ProblemError, Toss, Weights};
pub use crate::stage::{Algorithm, Designs, StagePlan};
use crate::surface::{self, Surface, latin_column};
use rand::{SeedableRng, rngs::StdRng};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is fitted, to what, from where.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The model.
    pub model: Model,
    /// The data.
    pub tosses: Vec<Toss>,
    /// What is free.
    pub parameters: Vec<FreeParameter>,
    /// Weights of the residuals.
    pub weights: Weights,
    /// Prior of the initial states.
    pub initial: InitialState,
    /// What is another in each toss.
    pub nuisances: Vec<Nuisance>,
    /// The stages.
    pub stages: Vec<StagePlan>,
    /// How many starts.
    pub starts: usize,
    /// Seed of the starts.
    pub seed: u64,
}

impl Plan {
    /// The problem of a horizon.
    ///
    /// # Errors
    /// Where a parameter, the scene or a toss is wrong.
    pub fn problem(&self, horizon: Horizon) -> Result<Problem, ProblemError> {
        Problem::new(
            self.model.clone(),
            self.tosses.clone(),
            &self.parameters,
            self.weights,
            horizon,
            self.initial.clone(),
        )?
        .with_nuisances(&self.nuisances)
    }
}

/// What happens during a fit, for progress bars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Index of the start.
    pub start: usize,
    /// Index of the stage.
    pub stage: usize,
    /// Iteration (evaluation for argmin's solvers).
    pub iteration: usize,
    /// Loss.
    pub loss: f64,
}

/// The course of one start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StartResult {
    /// Values of the parameters at the start.
    pub start: Vec<f64>,
    /// Values at the end.
    pub values: Vec<f64>,
    /// Loss of the last stage at the end; infinite where the start failed.
    pub loss: f64,
    /// Loss after each iteration of each stage.
    pub history: Vec<Vec<f64>>,
    /// Why the last stage stopped.
    pub stop: Option<Stop>,
    /// What the last stage found of the smooth loss, where it fits a response surface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<Surface>,
    /// Why the start failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Coordinates at the end.
    #[serde(skip)]
    pub coordinates: Vec<f64>,
    /// Own parameters at the end.
    #[serde(skip)]
    pub own: Vec<Vec<f64>>,
}

impl StartResult {
    /// The loss that starts are compared by: the smooth one where there is one.
    pub fn compared_loss(&self) -> f64 {
        match &self.surface {
            Some(surface) if self.loss.is_finite() => surface.loss,
            _ => self.loss,
        }
    }
}

/// The result of a fit.
pub struct Fit {
    /// Every start, in order.
    pub starts: Vec<StartResult>,
    /// Index of the best.
    pub best: usize,
    /// The problem of the last stage.
    pub problem: Problem,
    /// Whether the caller stopped it.
    pub interrupted: bool,
}

impl Fit {
    /// The best start.
    pub fn best(&self) -> &StartResult {
        &self.starts[self.best]
    }
}

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The problem cannot be set up.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// Every start failed.
    #[error("all {starts} starts failed; the first because: {first}")]
    AllFailed {
        /// How many.
        starts: usize,
        /// Why the first did.
        first: String,
    },
    /// The caller asked to stop.
    #[error("interrupted before any start had a value")]
    Interrupted,
    /// A response surface of too few points for its trend.
    #[error(
        "stage {stage}: {found} points of a response surface for {parameters} parameters, allowed: at least {least}"
    )]
    Points {
        /// Which, from 1.
        stage: usize,
        /// Points of a round.
        found: usize,
        /// How many parameters move in it.
        parameters: usize,
        /// One and a half for each coefficient, and two.
        least: usize,
    },
    /// There are no stages or no starts.
    #[error("{what}: 0 given, at least 1 is needed")]
    Nothing {
        /// Of what.
        what: &'static str,
    },
}

/// Starting points: a Latin hypercube in the coordinates of the starting ranges, reproducible from the seed.
pub fn starting_points(parameters: &[FreeParameter], starts: usize, seed: u64) -> Vec<Vec<f64>> {
    let free: Vec<_> = parameters.iter().filter(|p| !p.profile_only).collect();
    let mut points = vec![vec![0.0; free.len()]; starts];
    for (i, p) in free.iter().enumerate() {
        let mut rng = StdRng::seed_from_u64(seed.wrapping_add(i as u64 * 0x9E37_79B9));
        let range = p.start.unwrap_or(p.range);
        let [low, high] = range.map(|x| p.to_coordinate(x));
        for (point, x) in points.iter_mut().zip(latin_column(starts, &mut rng)) {
            point[i] = low + (high - low) * x;
        }
    }
    points
}

/// Runs every start through every stage.
///
/// * `interrupted`: once true, each start returns the best point it has; roll-outs stop half-way.
/// * `observe`: called from worker threads.
///
/// # Errors
/// Where the problem cannot be set up, every start fails, or it was interrupted before any had a value.
pub fn fit(
    plan: &Plan,
    interrupted: &Arc<AtomicBool>,
    observe: &(dyn Fn(Progress) + Sync),
) -> Result<Fit, FitError> {
    for (what, count) in [("stages", plan.stages.len()), ("starts", plan.starts)] {
        if count == 0 {
            return Err(FitError::Nothing { what });
        }
    }
    check_points(plan)?;
    let problems =
        plan.stages.iter().map(|s| Ok(plan.problem(s.horizon)?.interrupted_by(interrupted)));
    let problems = problems.collect::<Result<Vec<_>, ProblemError>>()?;
    let points = starting_points(&plan.parameters, plan.starts, plan.seed);
    let starts: Vec<StartResult> = points
        .into_par_iter()
        .enumerate()
        .map(|(index, point)| run_start(plan, &problems, (index, point), interrupted, observe))
        .collect();
    let compared = |i: usize| starts[i].compared_loss();
    // Losses of stages are not alike: of starts that were interrupted those that came furthest count.
    let left = |i: usize| match compared(i).is_finite() {
        true => plan.stages.len().saturating_sub(starts[i].history.len()),
        false => usize::MAX,
    };
    let better =
        |a: usize, b: usize| left(a).cmp(&left(b)).then(compared(a).total_cmp(&compared(b)));
    let best = (0..starts.len()).min_by(|&a, &b| better(a, b)).unwrap_or(0);
    if !compared(best).is_finite() {
        if interrupted.load(Ordering::Relaxed) {
            return Err(FitError::Interrupted);
        }
        let first = starts[0].failure.clone().unwrap_or_default();
        return Err(FitError::AllFailed { starts: starts.len(), first });
    }
    let problem = problems.into_iter().next_back().ok_or(FitError::Nothing { what: "stages" })?;
    let mut found = Fit { starts, best, problem, interrupted: false };
    if plan.model.channels.iter().any(|c| c.estimated) {
        noise::estimate(plan, &mut found, interrupted)?;
    }
    found.interrupted = interrupted.load(Ordering::Relaxed);
    Ok(found)
}

/// Parameters of groups are known only with the recordings, so this is not known when an experiment is read.
fn check_points(plan: &Plan) -> Result<(), FitError> {
    for (i, s) in plan.stages.iter().enumerate() {
        let parameters = plan.parameters.iter().filter(|p| s.moves(p)).count();
        let (found, least) = (s.designs.points, surface::least_points(parameters));
        if s.algorithm == Algorithm::ResponseSurface && found < least {
            return Err(FitError::Points { stage: i + 1, found, parameters, least });
        }
    }
    Ok(())
}

fn run_start(
    plan: &Plan,
    problems: &[Problem],
    (index, point): (usize, Vec<f64>),
    interrupted: &AtomicBool,
    observe: &(dyn Fn(Progress) + Sync),
) -> StartResult {
    let values = |u: &[f64]| -> Vec<f64> {
        problems[0].parameters().iter().zip(u).map(|(p, u)| p.to_value(*u)).collect()
    };
    let origin = point.clone();
    let mut result = StartResult {
        start: values(&point),
        values: values(&point),
        loss: f64::INFINITY,
        history: Vec::new(),
        stop: None,
        surface: None,
        failure: None,
        coordinates: point,
        own: Vec::new(),
    };
    for (stage, (problem, stage_plan)) in problems.iter().zip(&plan.stages).enumerate() {
        let own = if result.own.len() == problem.own_start().len()
            && result.own.iter().zip(problem.own_start()).all(|(a, b)| a.len() == b.len())
        {
            result.own.clone()
        } else {
            problem.own_start()
        };
        let scale = plan.tosses.len() as f64;
        let report = |iteration: usize, cost: f64| {
            observe(Progress { start: index, stage, iteration, loss: cost / scale });
        };
        match run_stage(
            problem,
            (stage_plan, &origin, plan.seed.wrapping_add(index as u64)),
            (result.coordinates.clone(), own),
            interrupted,
            &report,
        ) {
            Ok((solution, surface)) => {
                result.surface = surface;
                result.values = values(&solution.shared);
                result.loss = solution.cost() / scale;
                result.history.push(solution.history.iter().map(|c| c / scale).collect());
                result.stop = Some(solution.stop);
                (result.coordinates, result.own) = (solution.shared, solution.own);
            }
            // What the stages before it found stays.
            Err(_) if interrupted.load(Ordering::Relaxed) => {
                result.stop = Some(Stop::Interrupted);
                break;
            }
            Err(error) => {
                result.loss = f64::INFINITY;
                result.failure = Some(error.to_string());
                break;
            }
        }
    }
    result
}

/// Lowers the loss of one problem from a point.
///
/// * `origin`: coordinates that the start had before its first stage; `seed`: of designs.
///
/// # Errors
/// Where the start has no value.
pub fn run_stage(
    problem: &Problem,
    (plan, origin, seed): (&StagePlan, &[f64], u64),
    start: (Vec<f64>, Vec<Vec<f64>>),
    interrupted: &AtomicBool,
    observe: &(dyn Fn(usize, f64) + Sync),
) -> Result<(Solution, Option<Surface>), ProblemError> {
    let moves = |p: &FreeParameter| plan.moves(p);
    let parameters = problem.parameters();
    let bounds: Vec<[f64; 2]> = parameters
        .iter()
        .zip(&start.0)
        .map(|(p, u)| if moves(p) { p.coordinate_bounds() } else { [*u; 2] })
        .collect();
    let solver = match plan.algorithm {
        Algorithm::LevenbergMarquardt => Solver::LevenbergMarquardt,
        Algorithm::ResponseSurface => {
            let d = plan.designs;
            let settings = surface::Settings {
                average: d.average,
                points: d.points,
                rounds: d.rounds,
                half_widths: parameters.iter().map(|p| p.step.unwrap_or(d.half_width)).collect(),
                shrink: d.shrink,
                seed,
            };
            return surface::minimise(problem, start, &bounds, &settings, interrupted, observe);
        }
        Algorithm::Lbfgs => Solver::Lbfgs,
        Algorithm::NelderMead => Solver::NelderMead,
        Algorithm::CmaEs => Solver::CmaEs,
    };
    let simplex = edges(parameters, (plan, moves), &start.0, origin);
    let cost_tolerance = if solver == Solver::LevenbergMarquardt { 1e-7 } else { 1e-6 };
    let budget = Budget { iterations: plan.iterations, cost_tolerance, simplex, seed };
    optimise::minimise(problem, start, &bounds, (solver, budget), interrupted, observe)
        .map(|solution| (solution, None))
}

/// Edges of the first simplex.
///
/// Without a step of its own an edge leads back towards the value the start had: starts that short horizons have
/// brought to one place look around from there in different directions.
fn edges(
    parameters: &[FreeParameter],
    (plan, moves): (&StagePlan, impl Fn(&FreeParameter) -> bool),
    at: &[f64],
    origin: &[f64],
) -> Vec<f64> {
    let edge = |(p, (u, from)): (&FreeParameter, (&f64, &f64))| {
        let back = from - u;
        match p.step {
            _ if !moves(p) => 0.0,
            Some(step) => step,
            None if back.abs() > plan.simplex => back,
            None => plan.simplex,
        }
    };
    parameters.iter().zip(at.iter().zip(origin)).map(edge).collect()
}
