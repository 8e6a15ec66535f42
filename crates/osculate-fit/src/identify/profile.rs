//! The loss along one parameter with the others optimal, and by how much each value is excluded.

use super::verdict::{Verdict, verdict};
use crate::least_squares::{self, Settings, block_costs};
use crate::problem::{Problem, ProblemError};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// 95 % of a χ² of one degree of freedom.
const CHI_SQUARE_95: f64 = 3.841;
/// One-sided 95 % of a normal variable.
const NORMAL_95: f64 = 1.645;

/// The loss along one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Path of the parameter.
    pub path: String,
    /// Unit.
    pub unit: String,
    /// Values it was held at, increasing; the best value among them.
    pub values: Vec<f64>,
    /// Mean loss a toss, others optimal.
    pub losses: Vec<f64>,
    /// By how many allowances the loss is above the best: excluded above 1.
    pub excess: Vec<f64>,
    /// The best value.
    pub best: f64,
    /// What follows; absent where the profile was interrupted: it would read what was not reached as not excluded.
    pub verdict: Option<Verdict>,
}

/// How profiles are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfilePlan {
    /// Most values a side of the best, before the end of the interval is refined.
    pub points: usize,
    /// Levenberg–Marquardt iterations of the other parameters at each value.
    pub iterations: usize,
    /// Residuals are in units of their noise: Δχ² decides, not the test over tosses.
    pub known_noise: bool,
}

/// Profile of parameter `i` of a problem around its best point.
///
/// * `held`: parameters (by index) that keep their value while the others are optimised.
/// * `scale`: a first distance from the best value, in coordinates: its standard error, say.
///
/// From the best value outwards in growing steps to the end of the range or well past exclusion; where a value is
/// excluded, the place between it and the last one that is not is halved twice. An interrupt ends it at the values
/// reached, without a verdict.
///
/// # Errors
/// Where a roll-out at the best point fails; a value at which one fails counts as excluded.
pub fn profile(
    problem: &Problem,
    best: (&[f64], &[Vec<f64>]),
    (i, held, scale): (usize, &[usize], f64),
    plan: &ProfilePlan,
    interrupted: &AtomicBool,
) -> Result<Profile, ProblemError> {
    let (shared, own) = best;
    let reference = block_costs(problem, shared, own)?;
    let [low, high] = problem.parameters()[i].coordinate_bounds();
    let at = |u: f64, from: &mut (Vec<f64>, Vec<Vec<f64>>)| {
        from.0[i] = u;
        match optimise_others(problem, from, (i, held), plan, interrupted) {
            Ok(losses) => (u, mean(&losses), excess(&losses, &reference, plan.known_noise)),
            Err(_) => (u, f64::INFINITY, f64::INFINITY),
        }
    };
    let mut points: Vec<(f64, f64, f64)> = vec![(shared[i], mean(&reference), 0.0)];
    for end in [low, high] {
        let distance = end - shared[i];
        if distance.abs() < 1e-9 {
            continue;
        }
        let first = scale.clamp(1e-6 * distance.abs(), 0.2 * distance.abs());
        let ratio = (distance.abs() / first).powf(1.0 / (plan.points.max(2) - 1) as f64);
        let mut from = (shared.to_vec(), own.to_vec());
        let (mut inside, mut outside) = (points[0].0, None);
        for k in 0..plan.points.max(2) {
            if interrupted.load(Ordering::Relaxed) {
                break;
            }
            let u = shared[i] + distance.signum() * first * ratio.powi(k as i32);
            let point = at(u.clamp(low, high), &mut from);
            points.push(point);
            if point.2 <= 1.0 {
                (inside, outside) = (point.0, None);
            } else if outside.is_none() {
                outside = Some((point.0, from.clone()));
            }
            if point.2 > 3.0 {
                break;
            }
        }
        if let Some((mut outside, mut from)) = outside {
            for _ in 0..2 {
                let point = at(0.5 * (inside + outside), &mut from);
                points.push(point);
                if point.2 <= 1.0 { inside = point.0 } else { outside = point.0 }
            }
        }
    }
    // Where others were not optimised to the end, the loss is too high and the value looks excluded.
    let finished = !interrupted.load(Ordering::Relaxed);
    Ok(read(problem, (i, shared[i]), points, finished))
}

/// The profile of points `(u, loss, excess)` around the best coordinate of parameter `i`.
fn read(
    problem: &Problem,
    (i, best): (usize, f64),
    mut points: Vec<(f64, f64, f64)>,
    finished: bool,
) -> Profile {
    let p = &problem.parameters()[i];
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Profile {
        path: p.path.clone(),
        unit: problem.unit(i).to_owned(),
        values: points.iter().map(|x| p.to_value(x.0)).collect(),
        losses: points.iter().map(|x| x.1).collect(),
        excess: points.iter().map(|x| x.2).collect(),
        best: p.to_value(best),
        verdict: finished.then(|| verdict(&points, best, p.scale).map(|u| p.to_value(u))),
    }
}

fn optimise_others(
    problem: &Problem,
    from: &mut (Vec<f64>, Vec<Vec<f64>>),
    (i, held): (usize, &[usize]),
    plan: &ProfilePlan,
    interrupted: &AtomicBool,
) -> Result<Vec<f64>, ProblemError> {
    let bounds: Vec<[f64; 2]> = problem
        .parameters()
        .iter()
        .enumerate()
        .map(
            |(j, p)| {
                if j == i || held.contains(&j) { [from.0[j]; 2] } else { p.coordinate_bounds() }
            },
        )
        .collect();
    let settings = Settings {
        iterations: plan.iterations,
        cost_tolerance: 1e-5,
        step_tolerance: 1e-5,
        ..Settings::default()
    };
    let solution =
        least_squares::minimise(problem, from.clone(), &bounds, &settings, interrupted, |_, _| {})?;
    *from = (solution.shared, solution.own);
    block_costs(problem, &from.0, &from.1)
}

/// How many allowances losses are above the reference.
fn excess(losses: &[f64], reference: &[f64], known_noise: bool) -> f64 {
    let n = losses.len() as f64;
    let differences: Vec<f64> = losses.iter().zip(reference).map(|(a, b)| a - b).collect();
    let sum: f64 = differences.iter().sum();
    if known_noise {
        return sum / CHI_SQUARE_95;
    }
    // Losses of chaotic roll-outs are heavy-tailed: their logarithms are compared, so that no one toss decides.
    let smallest = f64::MIN_POSITIVE.max(1e-12 * mean(reference));
    let ratio = |a: &f64, b: &f64| (a.max(smallest) / b.max(smallest)).ln();
    let ratios: Vec<f64> = losses.iter().zip(reference).map(|(a, b)| ratio(a, b)).collect();
    let average = mean(&ratios);
    let variance = ratios.iter().map(|d| (d - average).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let error = (variance / n).sqrt();
    // Student's quantile to second order; one toss alone excludes nothing.
    let quantile = NORMAL_95 * (1.0 + 1.5 / (n - 1.0));
    if error > 0.0 && n > 1.0 { average / (quantile * error) } else { 0.0 }
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paired_test_needs_a_difference_above_its_scatter() {
        let reference = vec![1.0; 20];
        let scattered: Vec<f64> =
            (0..20).map(|i| 1.0 + if i % 2 == 0 { 0.5 } else { -0.45 }).collect();
        assert!(excess(&scattered, &reference, false) < 1.0);
        let shifted: Vec<f64> = (0..20).map(|i| 1.1 + 0.01 * (i % 2) as f64).collect();
        assert!(excess(&shifted, &reference, false) > 1.0);
        assert!(excess(&shifted, &reference, true) < 1.0, "Δχ² of 2.1 is within 3.84");
    }
}
