//! CMA-ES on a block problem: the derivative-free search that others use, here as the baseline.
//!
//! The members of a generation are evaluated one after another, each over all blocks in parallel, so the course does not depend on
//! the thread count.

use super::{Adaptor, Budget};
use crate::evolve::{CmaEs, DerivativeFree, Ended};
use crate::least_squares::BlockProblem;
use std::sync::atomic::Ordering;

/// Stop where the largest standard deviation of the distribution is below this, relative to the first one.
const COLLAPSED: f64 = 1e-5;

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
    // The coordinates that move, in units of their first standard deviation.
    let scaled = moving.iter().map(|&(i, deviation)| bounds[i].map(|b| (b - start[i]) / deviation));
    let cost = |x: &[f64]| {
        let mut u = start.to_vec();
        for ((i, deviation), x) in moving.iter().zip(x) {
            u[*i] += deviation * x;
        }
        adaptor.evaluate(&u, false).map_or(f64::INFINITY, |(value, _)| value)
    };
    let search = CmaEs {
        sigma: 1.0,
        generations: budget.iterations,
        seed: budget.seed,
        collapsed: Some(COLLAPSED),
    };
    let mean = vec![0.0; moving.len()];
    let done = || adaptor.interrupted.load(Ordering::Relaxed);
    let scaled: Vec<[f64; 2]> = scaled.collect();
    match search.minimise(&mean, &scaled, &cost, &done, &mut |_, _| {}).ended {
        Ended::Converged => Some(true),
        Ended::Generations => Some(false),
        Ended::Stopped => None,
    }
}
