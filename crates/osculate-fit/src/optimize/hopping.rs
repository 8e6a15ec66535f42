//! Basin hopping: short Gauss–Newton runs from perturbations of the best point so far.
//!
//! ```text
//! candidates   x̂ + σ_h ξ, a few, one roll-out each          ξ ~ N(0, 1)
//! run          Gauss–Newton from the cheapest, given up where it gets stuck
//! x̂            its end, where that is lower                  σ_h: next of σ, σ/2, σ/4, σ/8, σ … where it is not
//! ```
//!
//! A rough cost has many valleys, each of which Gauss–Newton goes down in few steps or gets stuck in at once; values tell little
//! about which is which, but a low one is right more often. After Wales and Doye, *Global optimization by basin-hopping*, 1997,
//! <https://doi.org/10.1021/jp970984n>, at temperature zero.

use crate::least_squares::{self, BlockProblem};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};
use std::sync::atomic::{AtomicBool, Ordering};

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hopping {
    /// Most runs.
    pub runs: usize,
    /// Candidates before each run.
    pub samples: usize,
    /// Largest standard deviation of a perturbation.
    pub sigma: f64,
    /// Seed.
    pub seed: u64,
}

/// Sizes of a perturbation, each half of the one before; then the first again.
const SCALES: usize = 4;
/// A run is given up after so many refused steps in one iteration.
const REFUSALS: usize = 6;
/// A run is given up where three iterations lower the cost by less than this part of it.
const LEAST_PROGRESS: f64 = 0.2;

impl Hopping {
    /// Runs from a start: the best point and its cost, infinite where nothing had a value.
    ///
    /// * `go_on`: called after every run with the number of runs and the lowest cost; false ends the search.
    pub fn minimise<P: BlockProblem>(
        &self,
        problem: &P,
        start: &[f64],
        bounds: &[[f64; 2]],
        stop: &AtomicBool,
        mut go_on: impl FnMut(usize, f64) -> bool,
    ) -> (Vec<f64>, f64) {
        // A good valley is gone down at once: what gets stuck is not worth its roll-outs.
        let settings = least_squares::Settings {
            refusals: REFUSALS,
            least_progress: LEAST_PROGRESS,
            ..least_squares::Settings::default()
        };
        let mut rng = StdRng::seed_from_u64(self.seed);
        let (mut best, mut lowest) = (start.to_vec(), f64::INFINITY);
        let mut failures = 0;
        for run in 0..self.runs {
            let sigma = self.sigma * 0.5_f64.powi((failures % SCALES) as i32);
            // The start is a candidate itself.
            let first = (run == 0).then(|| start.to_vec());
            let from = self.cheapest(problem, &best, (first, sigma, bounds), &mut rng, stop);
            let Some(from) = from else { break };
            let begin = (from, vec![Vec::new()]);
            let found = least_squares::minimise(problem, begin, bounds, &settings, stop, |_, _| ());
            match found {
                Ok(found) if found.cost() < lowest => {
                    lowest = found.cost();
                    best = found.shared;
                }
                _ => failures += 1,
            }
            if !go_on(run + 1, lowest) {
                break;
            }
        }
        (best, lowest)
    }

    /// The candidate of the lowest cost; none where no one has a value or the search is to stop.
    fn cheapest<P: BlockProblem>(
        &self,
        problem: &P,
        center: &[f64],
        (first, sigma, bounds): (Option<Vec<f64>>, f64, &[[f64; 2]]),
        rng: &mut StdRng,
        stop: &AtomicBool,
    ) -> Option<Vec<f64>> {
        let mut cheapest: Option<(Vec<f64>, f64)> = None;
        let mut first = first;
        for _ in 0..self.samples {
            let x = first.take().unwrap_or_else(|| {
                let moved = center.iter().zip(bounds).map(|(x, [low, high])| {
                    let xi: f64 = StandardNormal.sample(rng);
                    (x + sigma * xi).clamp(*low, *high)
                });
                moved.collect()
            });
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let Ok(cost) = least_squares::cost(problem, &x, &[Vec::new()]) else { continue };
            if cheapest.as_ref().is_none_or(|c| cost < c.1) {
                cheapest = Some((x, cost));
            }
        }
        cheapest.map(|c| c.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::BlockResiduals;
    use nalgebra::{DMatrix, DVector};

    /// `r_j = x_j + 0.3 sin 12 x_j`: seven valleys a coordinate, the lowest at zero.
    struct Ripples;

    impl BlockProblem for Ripples {
        type Error = ();
        fn blocks(&self) -> usize {
            1
        }
        fn evaluate(&self, _: usize, x: &[f64], _: &[f64], _: bool) -> Result<BlockResiduals, ()> {
            let slopes = x.iter().map(|x| 1.0 + 3.6 * (12.0 * x).cos());
            Ok(BlockResiduals {
                residuals: DVector::from_iterator(
                    x.len(),
                    x.iter().map(|x| x + 0.3 * (12.0 * x).sin()),
                ),
                shared: DMatrix::from_diagonal(&DVector::from_iterator(x.len(), slopes)),
                own: DMatrix::zeros(x.len(), 0),
            })
        }
    }

    const BOUNDS: [[f64; 2]; 3] = [[-2.0, 2.0]; 3];
    const START: [f64; 3] = [1.6, -1.7, 1.5];

    fn hop(seed: u64, runs: usize) -> (Vec<f64>, f64) {
        let search = Hopping { runs, samples: 4, sigma: 0.3, seed };
        search.minimise(&Ripples, &START, &BOUNDS, &AtomicBool::new(false), |_, _| true)
    }

    #[test]
    fn hops_reach_the_lowest_of_many_valleys_where_one_run_gets_stuck() {
        let stop = AtomicBool::new(false);
        let settings = least_squares::Settings::default();
        let begin = (START.to_vec(), vec![Vec::new()]);
        let alone =
            least_squares::minimise(&Ripples, begin, &BOUNDS, &settings, &stop, |_, _| ()).unwrap();
        assert!(alone.cost() > 0.1, "{}", alone.cost());
        for seed in 1..5 {
            let (x, cost) = hop(seed, 1000);
            assert!(cost < 1e-6, "seed {seed}: {cost} at {x:?}");
        }
        assert_eq!(hop(3, 20), hop(3, 20));
    }

    #[test]
    fn the_cost_never_rises_and_the_caller_ends_the_search() {
        let mut seen = Vec::new();
        let search = Hopping { runs: 100, samples: 2, sigma: 0.3, seed: 1 };
        let stop = AtomicBool::new(false);
        search.minimise(&Ripples, &START, &BOUNDS, &stop, |run, cost| {
            seen.push(cost);
            run < 7
        });
        assert_eq!(seen.len(), 7);
        assert!(seen.windows(2).all(|w| w[1] <= w[0]), "{seen:?}");
        stop.store(true, Ordering::Relaxed);
        let (x, cost) = search.minimise(&Ripples, &START, &BOUNDS, &stop, |_, _| true);
        assert_eq!((x, cost), (START.to_vec(), f64::INFINITY));
    }
}
