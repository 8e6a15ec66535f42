//! Search without derivatives, behind a trait of our own.

use basin::{
    BoundedCmaEs, BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction,
    DenseMatrix, Executor, PopulationProgress, StepOutcome, Termination,
};
use std::convert::Infallible;

/// A search for the minimum of a cost in a box, by values alone.
pub trait DerivativeFree {
    /// Minimises from a start until `done` says so.
    ///
    /// * `cost`: infinite where there is no value.
    /// * `observe`: called after every generation with its number and the lowest cost of all.
    ///
    /// The best point, its cost and why the search ended.
    fn minimise(
        &self,
        start: &[f64],
        bounds: &[[f64; 2]],
        cost: &dyn Fn(&[f64]) -> f64,
        done: &dyn Fn() -> bool,
        observe: &mut dyn FnMut(usize, f64),
    ) -> Found;
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best point of all.
    pub point: Vec<f64>,
    /// Its cost; infinite where no point had a value.
    pub cost: f64,
    /// Why the search ended.
    pub ended: Ended,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It met its own tolerance.
    Converged,
    /// It had as many generations as it may.
    Generations,
    /// It was told to stop, or could not go on.
    Stopped,
}

/// CMA-ES with the default population `4 + ⌊3 ln n⌋` and an adaptive penalty at the bounds.
///
/// Source: N. Hansen, The CMA evolution strategy: a tutorial, 2016, <https://arxiv.org/abs/1604.00772>; the implementation
/// is that of the crate `basin`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CmaEs {
    /// First standard deviation of every coordinate.
    pub sigma: f64,
    /// Most generations.
    pub generations: usize,
    /// Seed: the same seed gives the same search.
    pub seed: u64,
    /// Converged where the largest standard deviation of the distribution is below this; none for never.
    pub collapsed: Option<f64>,
}

struct Boxed<'a> {
    cost: &'a dyn Fn(&[f64]) -> f64,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl CostFunction for Boxed<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;
    fn cost(&self, x: &Vec<f64>) -> Result<f64, Infallible> {
        Ok((self.cost)(x))
    }
}

impl Constraints for Boxed<'_> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;
    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.low), Some(&self.high)))
    }
}

impl DerivativeFree for CmaEs {
    fn minimise(
        &self,
        start: &[f64],
        bounds: &[[f64; 2]],
        cost: &dyn Fn(&[f64]) -> f64,
        done: &dyn Fn() -> bool,
        observe: &mut dyn FnMut(usize, f64),
    ) -> Found {
        let best = std::cell::RefCell::new((start.to_vec(), f64::INFINITY));
        let watched = |x: &[f64]| {
            // A generation is not cut short by the solver: what comes after the end costs nothing.
            if done() {
                return f64::INFINITY;
            }
            let value = cost(x);
            let mut best = best.borrow_mut();
            if value < best.1 {
                *best = (x.to_vec(), value);
            }
            value
        };
        let (low, high) = bounds.iter().map(|[a, b]| (*a, *b)).unzip();
        let problem = Boxed { cost: &watched, low, high };
        let solver = BoundedCmaEs::<Vec<f64>, DenseMatrix>::new(self.seed, self.sigma)
            .with_absolute_distribution_size_tolerance(self.collapsed);
        let progress = PopulationProgress::<Vec<f64>>::from_point(start.to_vec());
        let executor = Executor::new(problem, solver, progress).max_iter(self.generations as u64);
        let mut ended = Ended::Stopped;
        if let Ok(mut stepper) = executor.into_stepper() {
            let mut generation = 0;
            while !done() {
                match stepper.step() {
                    Ok(StepOutcome::Continue) => {
                        generation += 1;
                        observe(generation, best.borrow().1);
                    }
                    Ok(StepOutcome::Stopped(report)) => {
                        ended = match report.termination {
                            Termination::Converged(_) => Ended::Converged,
                            Termination::Limit(_) => Ended::Generations,
                            _ => Ended::Stopped,
                        };
                        break;
                    }
                    Err(_) => break,
                }
            }
        }
        let (point, cost) = best.into_inner();
        Found { point, cost, ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(seed: u64) -> (Vec<f64>, f64) {
        let rosenbrock = |x: &[f64]| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2);
        let search = CmaEs { sigma: 0.3, generations: 400, seed, collapsed: None };
        let bounds = [[-2.0, 2.0]; 2];
        let found = search.minimise(&[-1.0, 1.0], &bounds, &rosenbrock, &|| false, &mut |_, _| {});
        (found.point, found.cost)
    }

    #[test]
    fn valley_is_followed_to_its_end_and_a_seed_repeats_it() {
        let (x, value) = solve(3);
        assert!((x[0] - 1.0).abs() < 1e-3 && value < 1e-6, "{x:?} {value}");
        assert_eq!(solve(3), (x, value));
    }

    #[test]
    fn search_stops_where_it_is_told_to() {
        let count = std::cell::Cell::new(0);
        let cost = |x: &[f64]| {
            count.set(count.get() + 1);
            x[0] * x[0]
        };
        let search = CmaEs { sigma: 0.3, generations: 1000, seed: 1, collapsed: None };
        search.minimise(&[1.0], &[[-2.0, 2.0]], &cost, &|| count.get() >= 25, &mut |_, _| {});
        assert_eq!(count.get(), 25);
    }
}
