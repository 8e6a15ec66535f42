//! What the data can tell: standard errors, correlations, weak directions, profiles and verdicts.
//!
//! ```text
//! H = JᵀJ (own parameters eliminated)      Fisher   s² H⁻¹,  s² = cost/(m − p)
//! robust  H⁻¹ (Σ_b s_b s_bᵀ) H⁻¹           s_b = J_bᵀ r_b: errors of one toss may be correlated in any way
//! profile L_i(u) = min over the others of the loss with u_i = u
//! ```
//!
//! All in the coordinates of the fit (`ln θ` on a log scale). A value is *excluded* where the profile's loss is
//! significantly above that of the best point: by Δχ² where the noise is known, and otherwise by a paired test of the
//! logarithms of the tosses' losses; tosses are independent, frames of one are not.

use crate::least_squares::{self, BlockProblem, Settings, information};
use crate::parameter::Scale;
use crate::problem::{Problem, ProblemError};
use nalgebra::{DMatrix, SymmetricEigen};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::AtomicBool;

/// 95 % of a χ² of one degree of freedom.
const CHI_SQUARE_95: f64 = 3.841;
/// One-sided 95 % of a normal variable.
const NORMAL_95: f64 = 1.645;
/// Two-sided 95 % of a normal variable.
pub const TWO_SIDED_95: f64 = 1.96;
/// A parameter whose 95 % interval spans at most this factor (or this share of its range) is a point.
const POINT_FACTOR: f64 = 1.5;
/// A combination with a larger relative standard deviation is weak.
const WEAK: f64 = 0.2;

/// Uncertainty from the curvature at the best point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curvature {
    /// Standard error of each coordinate from the Fisher matrix.
    pub standard_errors: Vec<f64>,
    /// Standard error of each coordinate, robust against correlation within a toss.
    pub robust_standard_errors: Vec<f64>,
    /// Correlation of the coordinates (Fisher).
    pub correlation: Vec<Vec<f64>>,
    /// Combinations that the data hardly determine, weakest first; the weakest is always listed.
    pub weak_directions: Vec<WeakDirection>,
    /// `s²`, variance of a residual.
    pub residual_variance: f64,
    /// Residuals less parameters.
    pub degrees_of_freedom: usize,
}

/// A direction in parameter space with little information.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeakDirection {
    /// Standard deviation along the unit direction, in coordinates.
    pub standard_deviation: f64,
    /// Share of each free parameter, in order.
    pub coefficients: Vec<f64>,
    /// In words: `k^0.80 · c_n^-0.60`.
    pub combination: String,
    /// Whether it is weak, not only the weakest.
    pub weak: bool,
}

/// How the profile of a parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// Determined: the 95 % interval is narrow.
    Point {
        /// Lower end of the 95 % interval.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// Bounded on both sides, but the data give no single value.
    Interval {
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// Only values below are excluded.
    LowerBound {
        /// The bound.
        lower: f64,
    },
    /// Only values above are excluded.
    UpperBound {
        /// The bound.
        upper: f64,
    },
    /// Nothing in the range is excluded.
    Undetermined,
}

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
    /// What follows.
    pub verdict: Verdict,
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

/// Curvature of the loss at a point.
///
/// # Errors
/// Where a roll-out fails.
pub fn curvature(
    problem: &Problem,
    shared: &[f64],
    own: &[Vec<f64>],
) -> Result<Curvature, ProblemError> {
    let info = information(problem, shared, own)?;
    let n = shared.len();
    let used = n + own.iter().map(Vec::len).sum::<usize>();
    let degrees_of_freedom = info.residuals.saturating_sub(used).max(1);
    let residual_variance = info.cost / degrees_of_freedom as f64;
    let eigen = SymmetricEigen::new(info.matrix.clone());
    // A direction without information has an infinite variance, not a made-up one.
    let largest = eigen.eigenvalues.amax();
    let inverse_of = |l: f64| if l > 1e-14 * largest { 1.0 / l } else { f64::INFINITY };
    let mut inverse = DMatrix::zeros(n, n);
    for (k, l) in eigen.eigenvalues.iter().enumerate() {
        let v = eigen.eigenvectors.column(k);
        let w = inverse_of(*l).min(1e300);
        inverse += v * v.transpose() * w;
    }
    let covariance = &inverse * residual_variance;
    let robust = &inverse * &info.outer * &inverse;
    let deviation = |m: &DMatrix<f64>| (0..n).map(|i| m[(i, i)].max(0.0).sqrt()).collect();
    let standard_errors: Vec<f64> = deviation(&covariance);
    let correlation = (0..n)
        .map(|i| {
            (0..n)
                .map(|j| {
                    let size = standard_errors[i] * standard_errors[j];
                    if size > 0.0 { covariance[(i, j)] / size } else { f64::from(i == j) }
                })
                .collect()
        })
        .collect();
    Ok(Curvature {
        weak_directions: weak_directions(problem, &eigen, residual_variance, largest),
        robust_standard_errors: deviation(&robust),
        standard_errors,
        correlation,
        residual_variance,
        degrees_of_freedom,
    })
}

fn weak_directions(
    problem: &Problem,
    eigen: &SymmetricEigen<f64, nalgebra::Dyn>,
    variance: f64,
    largest: f64,
) -> Vec<WeakDirection> {
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let direction = |k: usize| {
        let l = eigen.eigenvalues[k];
        let standard_deviation =
            if l > 1e-14 * largest { (variance / l).sqrt() } else { f64::INFINITY };
        let coefficients: Vec<f64> = eigen.eigenvectors.column(k).iter().copied().collect();
        WeakDirection {
            standard_deviation,
            combination: combination(problem, &coefficients),
            coefficients,
            weak: standard_deviation > WEAK,
        }
    };
    let mut all: Vec<WeakDirection> = order.into_iter().map(direction).collect();
    let keep = all.iter().filter(|d| d.weak).count().max(1);
    all.truncate(keep);
    all
}

/// A direction in words; shares below a tenth are left out.
fn combination(problem: &Problem, coefficients: &[f64]) -> String {
    let terms: Vec<String> = problem
        .parameters()
        .iter()
        .zip(coefficients)
        .filter(|(_, c)| c.abs() >= 0.1)
        .map(|(p, c)| match p.scale {
            Scale::Log => format!("{}^{c:.2}", p.path),
            Scale::Linear => format!("exp({c:.2} {})", p.path),
            Scale::Bounded => format!("odds({})^{c:.2}", p.path),
        })
        .collect();
    terms.join(" · ")
}

/// Loss of each toss, in block order.
fn block_losses(
    problem: &Problem,
    shared: &[f64],
    own: &[Vec<f64>],
) -> Result<Vec<f64>, ProblemError> {
    let losses: Vec<Result<f64, ProblemError>> = (0..problem.blocks())
        .into_par_iter()
        .map(|b| Ok(problem.evaluate(b, shared, &own[b], false)?.residuals.norm_squared()))
        .collect();
    losses.into_iter().collect()
}

/// Profile of parameter `i` of a problem around its best point.
///
/// * `held`: parameters (by index) that keep their value while the others are optimised.
/// * `scale`: a first distance from the best value, in coordinates: its standard error, say.
///
/// From the best value outwards in growing steps to the end of the range or well past exclusion; where a value is
/// excluded, the place between it and the last one that is not is halved twice.
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
    let reference = block_losses(problem, shared, own)?;
    let p = &problem.parameters()[i];
    let [low, high] = p.coordinate_bounds();
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
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let verdict = verdict(&points, shared[i], p.scale).map(|u| p.to_value(u));
    Ok(Profile {
        path: p.path.clone(),
        unit: problem.unit(i).to_owned(),
        values: points.iter().map(|x| p.to_value(x.0)).collect(),
        losses: points.iter().map(|x| x.1).collect(),
        excess: points.iter().map(|x| x.2).collect(),
        best: p.to_value(shared[i]),
        verdict,
    })
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
    block_losses(problem, &from.0, &from.1)
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

impl Verdict {
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Point { lower, upper } => Self::Point { lower: f(lower), upper: f(upper) },
            Self::Interval { lower, upper } => Self::Interval { lower: f(lower), upper: f(upper) },
            Self::LowerBound { lower } => Self::LowerBound { lower: f(lower) },
            Self::UpperBound { upper } => Self::UpperBound { upper: f(upper) },
            Self::Undetermined => Self::Undetermined,
        }
    }

    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Point { .. } => "point",
            Self::Interval { .. } => "interval",
            Self::LowerBound { .. } | Self::UpperBound { .. } => "bound only",
            Self::Undetermined => "undetermined",
        }
    }
}

/// Reads points `(u, loss, excess)`: on each side the first value beyond which everything is excluded.
fn verdict(points: &[(f64, f64, f64)], best: f64, scale: Scale) -> Verdict {
    // From the far end inwards: the last excluded value before one that is not.
    let crossing = |side: Vec<(f64, f64)>| -> Option<f64> {
        let inside = side.iter().rposition(|(_, e)| *e <= 1.0).unwrap_or(0);
        let (outer, inner) = (side.get(inside + 1)?, side[inside]);
        let share = if outer.1.is_finite() { (1.0 - inner.1) / (outer.1 - inner.1) } else { 1.0 };
        Some(inner.0 + (outer.0 - inner.0) * share.clamp(0.0, 1.0))
    };
    let side = |keep: &dyn Fn(f64) -> bool| -> Vec<(f64, f64)> {
        let mut side: Vec<(f64, f64)> =
            points.iter().filter(|p| keep(p.0)).map(|p| (p.0, p.2)).collect();
        side.sort_by(|a, b| (a.0 - best).abs().total_cmp(&(b.0 - best).abs()));
        side
    };
    let (lower, upper) = (crossing(side(&|u| u <= best)), crossing(side(&|u| u >= best)));
    match (lower, upper) {
        (Some(lower), Some(upper)) => {
            let narrow = match scale {
                Scale::Log => upper - lower <= POINT_FACTOR.ln(),
                _ => {
                    let all = points.iter().map(|p| p.0);
                    let span = all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min);
                    upper - lower <= (POINT_FACTOR - 1.0) * span
                }
            };
            if narrow {
                Verdict::Point { lower, upper }
            } else {
                Verdict::Interval { lower, upper }
            }
        }
        (Some(lower), None) => Verdict::LowerBound { lower },
        (None, Some(upper)) => Verdict::UpperBound { upper },
        (None, None) => Verdict::Undetermined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(excess: impl Fn(f64) -> f64) -> Vec<(f64, f64, f64)> {
        (-10..=10).map(|k| (0.2 * f64::from(k), 0.0, excess(0.2 * f64::from(k)))).collect()
    }

    #[test]
    fn verdict_names_point_interval_bound_and_undetermined() {
        let near = verdict(&points(|u| (u / 0.1).powi(2)), 0.0, Scale::Log);
        assert!(matches!(near, Verdict::Point { lower, upper } if lower < 0.0 && upper > 0.0));
        let wide = verdict(&points(|u| u * u), 0.0, Scale::Log);
        assert!(
            matches!(wide, Verdict::Interval { lower, upper } if (lower + 1.0).abs() < 0.05 && (upper - 1.0).abs() < 0.05)
        );
        let below = verdict(&points(|u| if u < 0.0 { u * u } else { 0.0 }), 0.0, Scale::Log);
        assert!(matches!(below, Verdict::LowerBound { lower } if (lower + 1.0).abs() < 0.05));
        let above = verdict(&points(|u| if u > 0.0 { u * u } else { 0.0 }), 0.0, Scale::Log);
        assert!(matches!(above, Verdict::UpperBound { .. }));
        assert_eq!(verdict(&points(|_| 0.5), 0.0, Scale::Log), Verdict::Undetermined);
    }

    #[test]
    fn a_dip_beyond_an_excluded_value_widens_the_interval() {
        // Not excluded again at −1.6: the interval reaches past it.
        let v =
            verdict(&points(|u| if (u + 1.6).abs() < 0.05 { 0.5 } else { u * u }), 0.0, Scale::Log);
        assert!(matches!(v, Verdict::Interval { lower, .. } if lower < -1.6), "{v:?}");
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
