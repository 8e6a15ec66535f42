//! CMA-ES of the crate `basin`: the derivative-free search that others use, here as the baseline.
//!
//! Mean and covariance of a normal distribution follow the better half of each generation (Hansen 2016,
//! arXiv:1604.00772). Bounds are kept by repair and an adaptive penalty. The population is `4 + ⌊3 ln n⌋`; its members are
//! evaluated one after another, each over all blocks in parallel, so the course does not depend on the thread count.

use super::{Adaptor, Budget};
use crate::least_squares::BlockProblem;
use basin::{
    BoundedCmaEs, BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction,
    DenseMatrix, Executor, PopulationProgress, Termination,
};
use std::sync::atomic::Ordering;

/// Stop where the largest standard deviation of the distribution is below this, relative to the first one.
const COLLAPSED: f64 = 1e-5;

/// The caller asked to stop.
#[derive(Debug)]
struct Interrupted;

/// The coordinates that move, in units of their first standard deviation.
struct Boxed<'a, P> {
    adaptor: Adaptor<'a, P>,
    start: &'a [f64],
    /// Index and first standard deviation of each coordinate that moves.
    moving: Vec<(usize, f64)>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl<P> Boxed<'_, P> {
    fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        let mut u = self.start.to_vec();
        for ((i, deviation), x) in self.moving.iter().zip(x) {
            u[*i] += deviation * x;
        }
        u
    }
}

impl<P> Constraints for Boxed<'_, P> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;
    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.lower), Some(&self.upper)))
    }
}

impl<P: BlockProblem> CostFunction for Boxed<'_, P> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Interrupted;
    fn cost(&self, x: &Vec<f64>) -> Result<f64, Interrupted> {
        if self.adaptor.interrupted.load(Ordering::Relaxed) {
            return Err(Interrupted);
        }
        let value = self.adaptor.evaluate(&self.coordinates(x), false);
        Ok(value.map_or(f64::INFINITY, |(value, _)| value))
    }
}

/// Runs it; whether the distribution has collapsed, and none where it could not go on.
pub(super) fn run<P: BlockProblem>(
    adaptor: Adaptor<'_, P>,
    start: &[f64],
    bounds: &[[f64; 2]],
    budget: &Budget,
) -> Option<bool> {
    let moving: Vec<(usize, f64)> = (0..start.len())
        .filter(|&i| bounds[i][1] > bounds[i][0])
        .map(|i| (i, budget.edge(i).abs()))
        .filter(|(_, deviation)| *deviation > 0.0)
        .collect();
    if moving.is_empty() {
        return Some(true);
    }
    let scaled = |end: usize| -> Vec<f64> {
        moving.iter().map(|&(i, deviation)| (bounds[i][end] - start[i]) / deviation).collect()
    };
    let (lower, upper) = (scaled(0), scaled(1));
    let mean = vec![0.0; moving.len()];
    let problem = Boxed { adaptor, start, moving, lower, upper };
    let solver = BoundedCmaEs::<Vec<f64>, DenseMatrix>::new(budget.seed, 1.0)
        .with_absolute_distribution_size_tolerance(COLLAPSED);
    let result = Executor::new(problem, solver, PopulationProgress::<Vec<f64>>::from_point(mean))
        .max_iter(budget.iterations as u64)
        .run()
        .ok()?;
    match result.report.termination {
        Termination::Converged(_) => Some(true),
        Termination::Limit(_) => Some(false),
        _ => None,
    }
}
