//! The loss along one parameter with the others optimal, and by how much each value is excluded.

use super::verdict::{Verdict, verdict};
use crate::least_squares::{self, Settings, block_costs};
use crate::parameter::FreeParameter;
use crate::problem::{Problem, ProblemError};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// 95 % of a χ² of one degree of freedom.
const CHI_SQUARE_95: f64 = 3.841;
/// One-sided 95 % of a normal variable.
const NORMAL_95: f64 = 1.6449;

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
    /// Whether Δχ² decided, whose intervals are of 95 %; else a paired test over tosses, whose are of 95 % or more.
    pub known_noise: bool,
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
            if interrupted.load(Ordering::Relaxed) {
                break;
            }
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
                if interrupted.load(Ordering::Relaxed) {
                    break;
                }
                points.push(point);
                if point.2 <= 1.0 { inside = point.0 } else { outside = point.0 }
            }
        }
    }
    // Where others were not optimised to the end, the loss is too high and the value looks excluded.
    let finished = !interrupted.load(Ordering::Relaxed);
    if plan.known_noise {
        // Δχ² counts from the least of all, wherever the search met it.
        let least = points.iter().map(|p| p.2).fold(0.0, f64::min);
        points.iter_mut().for_each(|p| p.2 -= least);
    }
    let read = Read { i, best: shared[i], known_noise: plan.known_noise, finished };
    Ok(read.profile(problem, points))
}

/// How points are read.
struct Read {
    i: usize,
    best: f64,
    known_noise: bool,
    finished: bool,
}

impl Read {
    /// The profile of points `(u, loss, excess)`.
    fn profile(self, problem: &Problem, mut points: Vec<(f64, f64, f64)>) -> Profile {
        let p = &problem.parameters()[self.i];
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let verdict = || verdict(&points, self.best, p.scale).map(|u| p.to_value(u));
        Profile {
            path: p.path.clone(),
            unit: problem.unit(self.i).to_owned(),
            values: points.iter().map(|x| p.to_value(x.0)).collect(),
            losses: points.iter().map(|x| x.1).collect(),
            excess: points.iter().map(|x| x.2).collect(),
            known_noise: self.known_noise,
            best: p.to_value(self.best),
            verdict: self.finished.then(verdict),
        }
    }
}

/// Moves a point to the minimum of the loss of these tosses, from that of others: Δχ² counts from there.
///
/// # Errors
/// Where a roll-out at the point fails.
pub fn settle(
    problem: &Problem,
    from: &mut (Vec<f64>, Vec<Vec<f64>>),
    held: &[usize],
    interrupted: &AtomicBool,
) -> Result<(), ProblemError> {
    let iterations = Settings::default().iterations;
    minimise_others(problem, from, (held, iterations), interrupted)
}

fn optimise_others(
    problem: &Problem,
    from: &mut (Vec<f64>, Vec<Vec<f64>>),
    (i, held): (usize, &[usize]),
    plan: &ProfilePlan,
    interrupted: &AtomicBool,
) -> Result<Vec<f64>, ProblemError> {
    let kept: Vec<usize> = held.iter().copied().chain([i]).collect();
    minimise_others(problem, from, (&kept, plan.iterations), interrupted)?;
    block_costs(problem, &from.0, &from.1)
}

/// Levenberg–Marquardt by all parameters but those that are kept.
fn minimise_others(
    problem: &Problem,
    from: &mut (Vec<f64>, Vec<Vec<f64>>),
    (kept, iterations): (&[usize], usize),
    interrupted: &AtomicBool,
) -> Result<(), ProblemError> {
    let bound = |(j, p): (usize, &FreeParameter)| {
        if kept.contains(&j) { [from.0[j]; 2] } else { p.coordinate_bounds() }
    };
    let bounds: Vec<[f64; 2]> = problem.parameters().iter().enumerate().map(bound).collect();
    let settings =
        Settings { iterations, cost_tolerance: 1e-5, step_tolerance: 1e-5, ..Settings::default() };
    let solution =
        least_squares::minimise(problem, from.clone(), &bounds, &settings, interrupted, |_, _| {})?;
    *from = (solution.shared, solution.own);
    Ok(())
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
    // One toss alone excludes nothing.
    if error > 0.0 && n > 1.0 { average / (student_95(n - 1.0) * error) } else { 0.0 }
}

/// One-sided 95 % of Student's distribution with `ν ≥ 1` degrees of freedom: exact for 1 and 2, else Cornish and Fisher's
/// series about the normal quantile, within 4e-4. Source: Abramowitz, Stegun, 26.7.5.
fn student_95(nu: f64) -> f64 {
    if nu < 1.5 {
        return (0.45 * std::f64::consts::PI).tan();
    }
    if nu < 2.5 {
        return 0.9 * (2.0 / (1.0 - 0.81_f64)).sqrt();
    }
    let z = NORMAL_95;
    let odd = |c: &[f64]| z * c.iter().rev().fold(0.0, |sum, c| sum * z * z + c);
    z + odd(&[1.0, 1.0]) / (4.0 * nu)
        + odd(&[3.0, 16.0, 5.0]) / (96.0 * nu.powi(2))
        + odd(&[-15.0, 17.0, 19.0, 3.0]) / (384.0 * nu.powi(3))
        + odd(&[-945.0, -1920.0, 1482.0, 776.0, 79.0]) / (92160.0 * nu.powi(4))
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_quantile_is_that_of_the_tables() {
        let table = [
            (1.0, 6.3138),
            (2.0, 2.9200),
            (3.0, 2.3534),
            (5.0, 2.0150),
            (10.0, 1.8125),
            (30.0, 1.6973),
            (1e9, 1.6449),
        ];
        for (nu, expected) in table {
            let found = student_95(nu);
            assert!((found - expected).abs() < 5e-4 * expected, "{nu}: {found}, {expected}");
        }
    }

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
