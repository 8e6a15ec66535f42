//! Block bootstrap over recordings: how far an estimate moves when tosses are drawn again.
//!
//! ```text
//! cost(g) = Σ_b n_b ‖r_b(g, l_b)‖²       n_b: how often toss b is among B draws with replacement
//! ```
//!
//! Tosses are independent, frames of one are not: only tosses are drawn. A fit that ended on a response surface is
//! fitted again to the roll-outs that it has, weighted; any other by Levenberg–Marquardt from its best point. The interval
//! is that of the percentiles (Efron & Tibshirani 1993, ch. 13). With few tosses it is too narrow.

use crate::least_squares::{self, BlockProblem, BlockResiduals, Settings};
use crate::surface::Surface;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// How it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootstrapPlan {
    /// How many times the tosses are drawn.
    pub resamples: usize,
    /// Levenberg–Marquardt iterations of each, where no response surface ended the fit.
    pub iterations: usize,
    /// Seed of the draws.
    pub seed: u64,
}

/// What the draws gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bootstrap {
    /// How many draws have an estimate.
    pub resamples: usize,
    /// How many have none.
    pub failed: usize,
    /// Standard deviation of each coordinate over the draws.
    pub standard_errors: Vec<f64>,
    /// 2.5 and 97.5 % percentiles of each coordinate.
    pub intervals: Vec<[f64; 2]>,
}

/// Draws tosses and estimates again; none where fewer than half of the draws have an estimate, or where it was
/// interrupted.
pub fn bootstrap<P: BlockProblem>(
    problem: &P,
    (shared, own): (&[f64], &[Vec<f64>]),
    (bounds, surface): (&[[f64; 2]], Option<&Surface>),
    plan: &BootstrapPlan,
    interrupted: &AtomicBool,
) -> Option<Bootstrap> {
    let blocks = problem.blocks();
    let estimate = |draw: usize| -> Option<Vec<f64>> {
        if interrupted.load(Ordering::Relaxed) {
            return None;
        }
        let seed = plan.seed.wrapping_add((draw as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut rng = StdRng::seed_from_u64(seed);
        let mut counts = vec![0; blocks];
        (0..blocks).for_each(|_| counts[rng.random_range(0..blocks)] += 1);
        if let Some(surface) = surface {
            return surface.design.minimum(&counts);
        }
        let drawn = Drawn::new(problem, &counts);
        let own = drawn.blocks.iter().map(|(b, _)| own[*b].clone()).collect();
        let settings = Settings {
            iterations: plan.iterations,
            cost_tolerance: 1e-7,
            step_tolerance: 1e-6,
            ..Settings::default()
        };
        let start = (shared.to_vec(), own);
        let run = least_squares::minimise(&drawn, start, bounds, &settings, interrupted, |_, _| {});
        run.ok().map(|solution| solution.shared)
    };
    let found: Vec<Option<Vec<f64>>> = (0..plan.resamples).into_par_iter().map(estimate).collect();
    let samples: Vec<Vec<f64>> = found.into_iter().flatten().collect();
    if interrupted.load(Ordering::Relaxed) || 2 * samples.len() < plan.resamples.max(4) {
        return None;
    }
    let column = |i: usize| -> Vec<f64> {
        let mut column: Vec<f64> = samples.iter().map(|s| s[i]).collect();
        column.sort_by(f64::total_cmp);
        column
    };
    let columns: Vec<Vec<f64>> = (0..shared.len()).map(column).collect();
    Some(Bootstrap {
        resamples: samples.len(),
        failed: plan.resamples - samples.len(),
        standard_errors: columns.iter().map(|c| deviation(c)).collect(),
        intervals: columns.iter().map(|c| [0.025, 0.975].map(|p| percentile(c, p))).collect(),
    })
}

/// Standard deviation of values.
fn deviation(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// Percentile of sorted values, linear between them.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// The blocks that were drawn, each as often as it was: residuals times the root of the count.
struct Drawn<'a, P> {
    problem: &'a P,
    /// Index of a block and root of its count.
    blocks: Vec<(usize, f64)>,
}

impl<'a, P> Drawn<'a, P> {
    fn new(problem: &'a P, counts: &[usize]) -> Self {
        let drawn = counts.iter().enumerate().filter(|(_, n)| **n > 0);
        Self { problem, blocks: drawn.map(|(b, n)| (b, (*n as f64).sqrt())).collect() }
    }
}

impl<P: BlockProblem> BlockProblem for Drawn<'_, P> {
    type Error = P::Error;

    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn evaluate(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, P::Error> {
        let (block, root) = self.blocks[block];
        let mut r = self.problem.evaluate(block, shared, own, jacobian)?;
        r.residuals *= root;
        r.shared *= root;
        r.own *= root;
        Ok(r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    /// One measured number a block; the estimate is the mean.
    struct Mean(Vec<f64>);

    impl BlockProblem for Mean {
        type Error = ();
        fn blocks(&self) -> usize {
            self.0.len()
        }
        fn evaluate(&self, b: usize, x: &[f64], _: &[f64], _: bool) -> Result<BlockResiduals, ()> {
            Ok(BlockResiduals {
                residuals: DVector::from_vec(vec![x[0] - self.0[b]]),
                shared: DMatrix::from_element(1, 1, 1.0),
                own: DMatrix::zeros(1, 0),
            })
        }
    }

    fn run(data: &Mean, seed: u64) -> Bootstrap {
        let n = data.0.len();
        let mean = data.0.iter().sum::<f64>() / n as f64;
        let plan = BootstrapPlan { resamples: 400, iterations: 5, seed };
        let (own, bounds) = (vec![vec![]; n], [[-100.0, 100.0]]);
        bootstrap(data, (&[mean], &own), (&bounds, None), &plan, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn bootstrap_error_of_a_mean_is_that_of_the_drawn_values() {
        let data = Mean((0..40).map(|k| f64::from(k * k % 17)).collect());
        let found = run(&data, 1);
        // Of drawing with replacement: standard deviation (of the population) over √n. 400 draws give it to 3.5 %.
        let (n, mean) = (40.0_f64, data.0.iter().sum::<f64>() / 40.0);
        let exact = (data.0.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n / n).sqrt();
        let ratio = found.standard_errors[0] / exact;
        assert!((ratio - 1.0).abs() < 4.0 * 0.035, "{ratio}");
        // Percentiles of a nearly normal mean.
        let [low, high] = found.intervals[0];
        assert!(((high - low) / (2.0 * 1.96 * exact) - 1.0).abs() < 0.2, "{low} {high} {exact}");
        assert!(low < mean && mean < high);
        assert_eq!((found.resamples, found.failed), (400, 0));
    }

    #[test]
    fn draws_follow_the_seed() {
        let data = Mean((0..12).map(f64::from).collect());
        assert_eq!(run(&data, 3), run(&data, 3));
        assert_ne!(run(&data, 3), run(&data, 4));
    }
}
