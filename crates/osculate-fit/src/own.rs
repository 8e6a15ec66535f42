//! Own parameters of each recording (initial state, nuisance parameters) with the shared ones held.
//!
//! ```text
//! l_b = argmin ‖r_b(g, l)‖² + ‖l/σ‖²        g fixed; recording by recording, through growing horizons
//! ```
//!
//! What is judged so has seen the recording it is judged on: say it beside the numbers.

use crate::least_squares::{BlockProblem, BlockResiduals, Settings, minimise};
use crate::problem::{Problem, ProblemError};
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;

/// Most iterations of one horizon.
const ITERATIONS: usize = 30;

/// One recording with the shared parameters held.
struct One<'p> {
    problem: &'p Problem,
    block: usize,
}

impl BlockProblem for One<'_> {
    type Error = ProblemError;

    fn blocks(&self) -> usize {
        1
    }

    fn evaluate(
        &self,
        _block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ProblemError> {
        let mut r = self.problem.evaluate(self.block, shared, own, jacobian)?;
        // Without a derivative nothing moves.
        r.shared.fill(0.0);
        Ok(r)
    }
}

/// Own parameters of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimated {
    /// Increments, in the order of [`Problem::own_sigmas`].
    pub own: Vec<f64>,
    /// Cost of the recorded start.
    pub before: f64,
    /// Cost with them, prior included.
    pub after: f64,
}

/// Estimates the own parameters of every recording.
///
/// * `problems`: of the same recordings, horizons growing; the last is the one that counts.
///
/// Each horizon starts where the one before ended, the last also from the recorded start; the lower cost is taken, so no cost is
/// above that of the recorded start. The result does not depend on the number of threads.
///
/// # Errors
/// Where a roll-out from a recorded start fails.
pub fn estimate(problems: &[Problem], shared: &[f64]) -> Result<Vec<Estimated>, ProblemError> {
    let Some((last, before)) = problems.split_last() else { return Ok(Vec::new()) };
    let zero = last.own_start();
    let one = |block: usize| {
        let start = zero[block].clone();
        let (direct, cost) = refine(last, block, shared, start.clone())?;
        let mut through = start.clone();
        for problem in before {
            // A horizon that fails from there is passed over.
            if let Ok((own, _)) = refine(problem, block, shared, through.clone()) {
                through = own;
            }
        }
        let first = last.evaluate(block, shared, &start, false)?.residuals.norm_squared();
        let (own, after) = match refine(last, block, shared, through) {
            Ok((own, other)) if other < cost => (own, other),
            _ => (direct, cost),
        };
        Ok(Estimated { own, before: first, after })
    };
    let found: Vec<Result<Estimated, ProblemError>> =
        (0..last.blocks()).into_par_iter().map(one).collect();
    found.into_iter().collect()
}

fn refine(
    problem: &Problem,
    block: usize,
    shared: &[f64],
    own: Vec<f64>,
) -> Result<(Vec<f64>, f64), ProblemError> {
    let bounds: Vec<[f64; 2]> = shared.iter().map(|u| [*u; 2]).collect();
    let settings = Settings { iterations: ITERATIONS, cost_tolerance: 1e-8, ..Settings::default() };
    let one = One { problem, block };
    let start = (shared.to_vec(), vec![own]);
    let found = minimise(&one, start, &bounds, &settings, &AtomicBool::new(false), |_, _| {})?;
    let cost = found.cost();
    Ok((found.own.into_iter().next().unwrap_or_default(), cost))
}
