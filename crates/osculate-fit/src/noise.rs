//! Noise levels of channels that are estimated.
//!
//! ```text
//! σ₀ = median ‖x_{k+1} − 2 x_k + x_{k−1}‖ / (0.674 √6)        before a fit: what is rough in the records of one component
//! σ² = Σ ‖reading − record‖² / (records · components)          after it, and the fit again, until no σ changes by a hundredth
//! ```
//!
//! A record that a roll-out starts from is met exactly and says nothing of noise: it is not counted.
//!
//! Weights and parameters in turn: the fixed point is that of the likelihood of both. Median and 0.674 are those of the normal distribution.

use crate::fit::{Fit, FitError, Plan, run_stage};
use crate::least_squares::BlockProblem;
use crate::problem::{Channel, Problem, ProblemError, Sample, Toss};
use nalgebra::Vector3;
use osculate_math::so3;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most rounds of weights and parameters.
const ROUNDS: usize = 10;
/// Relative change of every σ at which they end.
const SETTLED: f64 = 0.01;
/// Smallest σ, relative to the largest record: exact data have no noise level.
const LEAST: f64 = 1e-7;
/// A distance up to this part of σ is that of a record that a roll-out starts from, met to rounding.
const MET: f64 = 1e-7;

/// σ₀ of the channels that are estimated, the others as they are.
pub(crate) fn first_sigmas(channels: &[Channel], tosses: &[Toss]) -> Vec<f64> {
    let one = |(c, channel): (usize, &Channel)| {
        if !channel.estimated {
            return channel.sigma;
        }
        let mut rough: Vec<f64> = Vec::new();
        let mut largest: f64 = 0.0;
        for series in tosses.iter().map(|t| &t.series[c]) {
            for w in series.windows(3) {
                if let [Some(a), Some(b), Some(d)] = w {
                    let bend = change(b, d) - change(a, b);
                    rough.extend(channel.axes.iter().map(|&k| bend[k].abs()));
                    largest = largest.max(size(b));
                }
            }
        }
        rough.sort_by(f64::total_cmp);
        let median = rough.get(rough.len() / 2).copied().unwrap_or(1.0);
        let sigma = median / (0.674 * 6.0_f64.sqrt());
        sigma.max(LEAST * largest).max(f64::MIN_POSITIVE.sqrt())
    };
    channels.iter().enumerate().map(one).collect()
}

fn change(from: &Sample, to: &Sample) -> Vector3<f64> {
    match (from, to) {
        (Sample::Rotation(a), Sample::Rotation(b)) => so3::log(&(b * a.transpose())),
        (Sample::Vector(a), Sample::Vector(b)) => b - a,
        _ => Vector3::zeros(),
    }
}

fn size(sample: &Sample) -> f64 {
    match sample {
        Sample::Vector(v) => v.amax(),
        Sample::Rotation(_) => 1.0,
    }
}

/// Estimates σ of channels from the residuals of the best start and fits its last stage again, in turn.
///
/// # Errors
/// Where a roll-out fails.
pub(crate) fn estimate(
    plan: &Plan,
    found: &mut Fit,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), FitError> {
    let (Some(stage), mut model) = (plan.stages.last(), plan.model.clone()) else { return Ok(()) };
    let scale = plan.tosses.len() as f64;
    for _ in 0..ROUNDS {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let best = &mut found.starts[found.best];
        let sigmas = match sigmas(&found.problem, &best.coordinates, &best.own) {
            Err(_) if interrupted.load(Ordering::Relaxed) => break,
            sigmas => sigmas?,
        };
        let mut change: f64 = 0.0;
        for (channel, sigma) in model.channels.iter_mut().zip(&sigmas) {
            change = change.max((sigma / channel.sigma).ln().abs());
            channel.sigma = *sigma;
        }
        let again = Plan { model: model.clone(), ..plan.clone() };
        found.problem = again.problem(stage.horizon)?.interrupted_by(interrupted);
        let origin = best.coordinates.clone();
        let start = (origin.clone(), best.own.clone());
        let how = (stage, origin.as_slice(), plan.seed);
        let solution = match run_stage(&found.problem, how, start, interrupted, &|_, _| {}) {
            Err(_) if interrupted.load(Ordering::Relaxed) => break,
            solved => solved?.0,
        };
        let parameters = found.problem.parameters().iter();
        best.values = parameters.zip(&solution.shared).map(|(p, u)| p.to_value(*u)).collect();
        best.loss = solution.cost() / scale;
        best.history.push(solution.history.iter().map(|c| c / scale).collect());
        best.stop = Some(solution.stop);
        (best.coordinates, best.own) = (solution.shared, solution.own);
        if change < SETTLED {
            break;
        }
    }
    Ok(())
}

/// σ of the channels that are estimated at a point, the others as they are.
///
/// # Errors
/// Where a roll-out fails.
fn sigmas(problem: &Problem, shared: &[f64], own: &[Vec<f64>]) -> Result<Vec<f64>, ProblemError> {
    let channels = problem.channels();
    let rolled = (0..problem.blocks())
        .into_par_iter()
        .map(|b| problem.roll_out(b, shared, &own[b]))
        .collect::<Result<Vec<_>, _>>()?;
    let one = |(c, channel): (usize, &Channel)| {
        let (mut square, mut count) = (0.0, 0);
        let met = MET * channel.sigma;
        let told = |(_, off): &&(f64, Vector3<f64>)| off.norm() > met;
        for (_, off) in rolled.iter().flat_map(|r| &r.channels[c]).filter(told) {
            square += off.norm_squared();
            count += channel.axes.len();
        }
        match channel.estimated && count > 0 {
            true => (square / count as f64).sqrt().max(channel.sigma * LEAST),
            false => channel.sigma,
        }
    };
    Ok(channels.iter().enumerate().map(one).collect())
}
