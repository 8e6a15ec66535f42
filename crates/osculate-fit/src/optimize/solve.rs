//! One stage of one start.

use super::differences::Differenced;
use super::file::{Solver, StageFile};
use super::hopping::Hopping;
use super::hybrid::{Descent, descend};
use super::run::{Derivatives, Local, StageResult};
use super::task::Problem;
use crate::contact_model::{ContactModel, ModelError};
use crate::evolve::{CmaEs, DerivativeFree};
use crate::least_squares::{self, BlockProblem, Stop};
use crate::optimise;
use std::sync::atomic::Ordering;

/// Solves one stage from a point.
///
/// # Errors
/// Where the point itself has no value.
pub(super) fn solve<M: ContactModel>(
    problem: &Problem<'_, M>,
    x: &[f64],
    (index, stage, seed): (usize, &StageFile, u64),
    derivatives: Derivatives,
    local: &Local<'_>,
) -> Result<(Vec<f64>, StageResult), ModelError> {
    match derivatives {
        Derivatives::Exact => solve_with(problem, problem, x, (index, stage, seed), local),
        Derivatives::Differences => {
            solve_with(problem, &Differenced(problem), x, (index, stage, seed), local)
        }
    }
}

fn solve_with<M: ContactModel, P: BlockProblem<Error = ModelError>>(
    problem: &Problem<'_, M>,
    derived: &P,
    x: &[f64],
    (index, stage, seed): (usize, &StageFile, u64),
    local: &Local<'_>,
) -> Result<(Vec<f64>, StageResult), ModelError> {
    let bounds = problem.task().variables.bounds();
    let seen = |iteration: usize, cost: f64| local.seen(index, iteration, cost, &problem.meter);
    let start = || (x.to_vec(), vec![Vec::new()]);
    let (solution, iterations) = match stage.solver {
        Solver::GaussNewton => {
            let settings = least_squares::Settings {
                iterations: stage.iterations,
                ..least_squares::Settings::default()
            };
            let s =
                least_squares::minimise(derived, start(), &bounds, &settings, &local.stop, seen)?;
            let iterations = s.history.len() - 1;
            (s, iterations)
        }
        Solver::Lbfgs => {
            let budget = optimise::Budget {
                iterations: stage.iterations,
                cost_tolerance: 1e-12,
                ..optimise::Budget::default()
            };
            let how = (optimise::Solver::Lbfgs, budget);
            let observe = |i: usize, cost: f64| seen(i, cost);
            let s = optimise::minimise(derived, start(), &bounds, how, &local.stop, &observe)?;
            let evaluations = s.evaluations;
            (s, evaluations)
        }
        Solver::CmaEs | Solver::Hybrid | Solver::BasinHopping => {
            return Ok(sample(problem, derived, x, (index, stage, seed), local));
        }
    };
    let (cost, stop) = (solution.cost(), solution.stop);
    Ok((solution.shared, StageResult { solver: stage.solver, cost, iterations, stop }))
}

/// The solvers that draw samples: the best point is the meter's.
fn sample<M: ContactModel, P: BlockProblem<Error = ModelError>>(
    problem: &Problem<'_, M>,
    derived: &P,
    x: &[f64],
    (index, stage, seed): (usize, &StageFile, u64),
    local: &Local<'_>,
) -> (Vec<f64>, StageResult) {
    let mut taken = 0;
    let mut seen = |iteration: usize, cost: f64| {
        taken = iteration;
        local.seen(index, iteration, cost, &problem.meter);
    };
    let bounds = problem.task().variables.bounds();
    match stage.solver {
        Solver::CmaEs => {
            let search =
                CmaEs { sigma: stage.sigma, generations: stage.iterations, seed, collapsed: None };
            evolve(problem, &search, x, local, &mut seen);
        }
        Solver::BasinHopping => {
            let (runs, samples, sigma) = (stage.iterations, stage.samples, stage.sigma);
            let search = Hopping { runs, samples, sigma, seed };
            search.minimise(derived, x, &bounds, &local.stop, |run, cost| {
                seen(run, cost);
                !local.stop.load(Ordering::Relaxed) && problem.meter.goal().is_none()
            });
        }
        _ => {
            let settings = Descent {
                iterations: stage.iterations,
                sigma: stage.sigma,
                samples: stage.samples,
                rate: stage.rate,
                seed,
            };
            descend(derived, x, &bounds, &settings, |i, cost, _| {
                seen(i + 1, cost);
                !local.stop.load(Ordering::Relaxed)
            });
        }
    }
    let (point, cost) = problem.meter.best().unwrap_or((x.to_vec(), f64::INFINITY));
    let stopped = local.stop.load(Ordering::Relaxed);
    let stop = if stopped { Stop::Interrupted } else { Stop::Iterations };
    (point, StageResult { solver: stage.solver, cost, iterations: taken, stop })
}

/// CMA-ES on a problem; its meter keeps the best point.
pub(super) fn evolve<M: ContactModel>(
    problem: &Problem<'_, M>,
    search: &CmaEs,
    x: &[f64],
    local: &Local<'_>,
    observe: &mut dyn FnMut(usize, f64),
) {
    let cost = |x: &[f64]| {
        let value = problem.evaluate(0, x, &[], false);
        value.map_or(f64::INFINITY, |r| r.residuals.norm_squared())
    };
    let done = || {
        local.stop.load(Ordering::Relaxed)
            || local.watch.interrupted.load(Ordering::Relaxed)
            || problem.meter.done()
    };
    let bounds = problem.task().variables.bounds();
    search.minimise(x, &bounds, &cost, &done, observe);
}
