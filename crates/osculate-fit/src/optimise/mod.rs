//! One interface to the solvers of a block problem: bounded Levenberg–Marquardt (our own), argmin's L-BFGS and
//! Nelder–Mead, basin's CMA-ES.
//!
//! argmin and basin see plain vectors; gradients are ours. Bounds are kept by projection: the cost outside the box is that of
//! the nearest point inside plus a penalty, so the minimum stays where it is. Value and gradient of the last point are
//! remembered, because line searches ask for the same point twice.

mod cma_es;

use crate::least_squares::{self, BlockProblem, Solution, Stop, cost};
use argmin::core::{CostFunction, Error, Executor, Gradient, State, TerminationReason};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::neldermead::NelderMead;
use argmin::solver::quasinewton::LBFGS;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Settings of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Most iterations; generations of CMA-ES.
    pub iterations: usize,
    /// Stop where the cost changes less than this, relative to it. CMA-ES stops where its distribution has collapsed.
    pub cost_tolerance: f64,
    /// Edge of the first simplex along each coordinate (Nelder–Mead), signed, or its size as the first standard deviation
    /// (CMA-ES); the last one holds for those not listed. An edge that would leave the bounds is turned round.
    pub simplex: Vec<f64>,
    /// Seed of CMA-ES.
    pub seed: u64,
}

impl Budget {
    /// First step along a coordinate.
    fn edge(&self, i: usize) -> f64 {
        self.simplex.get(i).or(self.simplex.last()).copied().unwrap_or(0.1)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { iterations: 60, cost_tolerance: 1e-6, simplex: vec![0.1], seed: 1 }
    }
}

/// Where an evaluation and its derivative were, and the best point of all.
struct Record {
    point: Vec<f64>,
    value: f64,
    gradient: Option<Vec<f64>>,
    best: (Vec<f64>, f64),
    history: Vec<f64>,
    evaluations: usize,
}

/// A block problem as argmin sees it; own parameters stay where they are.
struct Adaptor<'a, P> {
    problem: &'a P,
    own: &'a [Vec<f64>],
    bounds: &'a [[f64; 2]],
    interrupted: &'a AtomicBool,
    observe: &'a (dyn Fn(usize, f64) + Sync),
    record: &'a Mutex<Record>,
}

impl<P: BlockProblem> Adaptor<'_, P> {
    fn project(&self, u: &[f64]) -> (Vec<f64>, f64) {
        let inside: Vec<f64> =
            u.iter().zip(self.bounds).map(|(x, [low, high])| x.clamp(*low, *high)).collect();
        let outside = u.iter().zip(&inside).map(|(x, y)| (x - y).powi(2)).sum();
        (inside, outside)
    }

    fn evaluate(&self, u: &[f64], gradient: bool) -> Result<(f64, Option<Vec<f64>>), Error> {
        if self.interrupted.load(Ordering::Relaxed) {
            // argmin 0.11 unwraps costs while it sets up a simplex: an error there would be a panic.
            return Ok((f64::INFINITY, gradient.then(|| vec![0.0; u.len()])));
        }
        {
            let record = lock(self.record);
            if record.point == u && (record.gradient.is_some() || !gradient) {
                return Ok((record.value, record.gradient.clone()));
            }
        }
        let (inside, outside) = self.project(u);
        let (value, slope) = if gradient {
            match cost_and_gradient(self.problem, &inside, self.own) {
                Ok((v, g)) => (v, Some(g)),
                Err(_) => (f64::INFINITY, Some(vec![0.0; u.len()])),
            }
        } else {
            (cost(self.problem, &inside, self.own).unwrap_or(f64::INFINITY), None)
        };
        // Outside the box: the value inside, and a wall as steep as the value.
        let wall = value.abs().max(f64::MIN_POSITIVE);
        let slope = slope.map(|g| {
            g.iter()
                .zip(u.iter().zip(&inside))
                .map(
                    |(g, (x, y))| {
                        if x.to_bits() == y.to_bits() { *g } else { 2.0 * wall * (x - y) }
                    },
                )
                .collect::<Vec<f64>>()
        });
        let total = value + wall * outside;
        let mut record = lock(self.record);
        record.evaluations += 1;
        if value < record.best.1 {
            record.best = (inside, value);
        }
        let best = record.best.1;
        record.history.push(best);
        (self.observe)(record.history.len() - 1, best);
        (record.point, record.value, record.gradient) = (u.to_vec(), total, slope.clone());
        Ok((total, slope))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic in another thread leaves numbers, not broken invariants.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Cost and gradient by the shared parameters, in block order.
///
/// # Errors
/// The first block's that fails.
pub fn cost_and_gradient<P: BlockProblem>(
    problem: &P,
    shared: &[f64],
    own: &[Vec<f64>],
) -> Result<(f64, Vec<f64>), P::Error> {
    let parts: Vec<_> = (0..problem.blocks())
        .into_par_iter()
        .map(|b| problem.cost_and_gradient(b, shared, &own[b]))
        .collect();
    let (mut value, mut gradient) = (0.0, vec![0.0; shared.len()]);
    for part in parts {
        let (v, g) = part?;
        value += v;
        for (a, b) in gradient.iter_mut().zip(g.iter()) {
            *a += b;
        }
    }
    Ok((value, gradient))
}

impl<P: BlockProblem> CostFunction for Adaptor<'_, P> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, u: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.evaluate(u, false)?.0)
    }
}

impl<P: BlockProblem> Gradient for Adaptor<'_, P> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, u: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.evaluate(u, true)?.1.unwrap_or_default())
    }
}

/// Which solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Bounded Levenberg–Marquardt: Jacobians; moves own parameters too.
    LevenbergMarquardt,
    /// Limited-memory BFGS with a Moré–Thuente line search.
    Lbfgs,
    /// Nelder–Mead simplex: no derivatives, for losses that are noisy.
    NelderMead,
    /// CMA-ES: no derivatives, a search over the whole box.
    CmaEs,
}

/// Minimises the cost over the shared parameters; own parameters stay, but for Levenberg–Marquardt.
///
/// # Errors
/// Where the start has no value.
pub fn minimise<P: BlockProblem>(
    problem: &P,
    start: (Vec<f64>, Vec<Vec<f64>>),
    bounds: &[[f64; 2]],
    solver: (Solver, Budget),
    interrupted: &AtomicBool,
    observe: &(dyn Fn(usize, f64) + Sync),
) -> Result<Solution, P::Error> {
    let (kind, budget) = solver;
    if kind == Solver::LevenbergMarquardt {
        let settings = least_squares::Settings {
            iterations: budget.iterations,
            cost_tolerance: budget.cost_tolerance,
            step_tolerance: 10.0 * budget.cost_tolerance,
            ..Default::default()
        };
        return least_squares::minimise(problem, start, bounds, &settings, interrupted, observe);
    }
    let (shared, own) = start;
    let first = cost(problem, &shared, &own)?;
    let record = Mutex::new(Record {
        point: Vec::new(),
        value: first,
        gradient: None,
        best: (shared.clone(), first),
        history: vec![first],
        evaluations: 1,
    });
    observe(0, first);
    if interrupted.load(Ordering::Relaxed) {
        let history = vec![first];
        return Ok(Solution { shared, own, history, evaluations: 1, stop: Stop::Interrupted });
    }
    let adaptor = Adaptor { problem, own: &own, bounds, interrupted, observe, record: &record };
    let converged = match kind {
        Solver::NelderMead => run_simplex(adaptor, &shared, bounds, &budget, first).ok().flatten(),
        Solver::CmaEs => cma_es::run(adaptor, &shared, bounds, &budget)
            .map(|collapsed| if collapsed { Stop::Converged } else { Stop::Iterations }),
        _ => run_lbfgs(adaptor, &shared, &budget).ok().flatten(),
    };
    let asked = interrupted.load(Ordering::Relaxed) || problem.interrupted();
    let stop = match (asked, converged) {
        (true, _) => Stop::Interrupted,
        (false, Some(stop)) => stop,
        // A line search that finds no lower point ends here; the best point is kept.
        (false, None) => Stop::Stalled,
    };
    let record = record.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Solution {
        shared: record.best.0,
        own,
        history: record.history,
        evaluations: record.evaluations,
        stop,
    })
}

fn run_lbfgs<P: BlockProblem>(
    adaptor: Adaptor<'_, P>,
    start: &[f64],
    budget: &Budget,
) -> Result<Option<Stop>, Error> {
    let solver =
        LBFGS::new(MoreThuenteLineSearch::new(), 7).with_tolerance_cost(budget.cost_tolerance)?;
    let result = Executor::new(adaptor, solver)
        .configure(|s| s.param(start.to_vec()).max_iters(budget.iterations as u64))
        .run()?;
    Ok(ended(result.state().get_termination_reason()))
}

/// How a search of argmin's ended, none where a line search found no lower point: 0.11 returns that as success too.
fn ended(reason: Option<&TerminationReason>) -> Option<Stop> {
    match reason {
        Some(TerminationReason::SolverConverged | TerminationReason::TargetCostReached) => {
            Some(Stop::Converged)
        }
        Some(TerminationReason::SolverExit(_)) => None,
        _ => Some(Stop::Iterations),
    }
}

fn run_simplex<P: BlockProblem>(
    adaptor: Adaptor<'_, P>,
    start: &[f64],
    bounds: &[[f64; 2]],
    budget: &Budget,
    first: f64,
) -> Result<Option<Stop>, Error> {
    let mut simplex = vec![start.to_vec()];
    for i in 0..start.len() {
        let mut corner = start.to_vec();
        let edge = budget.edge(i);
        let inside = (bounds[i][0]..=bounds[i][1]).contains(&(start[i] + edge));
        corner[i] += if inside { edge } else { -edge };
        simplex.push(corner);
    }
    let solver = NelderMead::new(simplex).with_sd_tolerance(budget.cost_tolerance * first)?;
    let result = Executor::new(adaptor, solver)
        .configure(|s| s.max_iters(budget.iterations as u64))
        .run()?;
    Ok(ended(result.state().get_termination_reason()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::BlockResiduals;
    use nalgebra::{DMatrix, DVector};

    /// Rosenbrock's valley as two residuals.
    struct Rosenbrock;
    impl BlockProblem for Rosenbrock {
        type Error = ();
        fn blocks(&self) -> usize {
            1
        }
        fn evaluate(&self, _: usize, x: &[f64], _: &[f64], _: bool) -> Result<BlockResiduals, ()> {
            Ok(BlockResiduals {
                residuals: DVector::from_vec(vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]),
                shared: DMatrix::from_row_slice(2, 2, &[-20.0 * x[0], 10.0, -1.0, 0.0]),
                own: DMatrix::zeros(2, 0),
            })
        }
    }

    const SOLVERS: [Solver; 4] =
        [Solver::LevenbergMarquardt, Solver::Lbfgs, Solver::NelderMead, Solver::CmaEs];

    fn solve(solver: Solver, bounds: [[f64; 2]; 2]) -> Solution {
        let budget = Budget {
            iterations: 500,
            cost_tolerance: 1e-14,
            simplex: vec![0.3],
            ..Budget::default()
        };
        minimise(
            &Rosenbrock,
            (vec![-1.2, 1.0], vec![vec![]]),
            &bounds,
            (solver, budget.clone()),
            &AtomicBool::new(false),
            &|_, _| {},
        )
        .unwrap()
    }

    #[test]
    fn every_solver_finds_the_minimum() {
        for solver in SOLVERS {
            let s = solve(solver, [[-5.0, 5.0], [-5.0, 5.0]]);
            assert!(
                (s.shared[0] - 1.0).abs() < 1e-4 && (s.shared[1] - 1.0).abs() < 2e-4,
                "{solver:?} {s:?}"
            );
        }
    }

    #[test]
    fn every_solver_stays_in_the_box() {
        for solver in SOLVERS {
            let s = solve(solver, [[-5.0, 0.5], [-5.0, 5.0]]);
            assert!(s.shared[0] <= 0.5, "{solver:?}");
            assert!(
                s.cost() < 0.26,
                "{solver:?}: the constrained minimum is (1 − 0.5)², found {}",
                s.cost()
            );
        }
    }

    #[test]
    fn a_coordinate_without_room_stays() {
        for solver in SOLVERS {
            let s = solve(solver, [[-1.2, -1.2], [-5.0, 5.0]]);
            assert!((s.shared[0] + 1.2).abs() < 1e-12, "{solver:?} {s:?}");
            assert!((s.shared[1] - 1.44).abs() < 1e-4, "{solver:?}: x₁ = x₀², {s:?}");
        }
    }

    #[test]
    fn interruption_keeps_the_best_point() {
        for solver in SOLVERS {
            let s = minimise(
                &Rosenbrock,
                (vec![-1.2, 1.0], vec![vec![]]),
                &[[-5.0, 5.0]; 2],
                (solver, Budget::default()),
                &AtomicBool::new(true),
                &|_, _| {},
            )
            .unwrap();
            assert_eq!((s.stop, s.shared), (Stop::Interrupted, vec![-1.2, 1.0]), "{solver:?}");
        }
    }
}
