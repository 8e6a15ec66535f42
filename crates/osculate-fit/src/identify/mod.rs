//! What the data can tell: standard errors, correlations, weak directions, profiles and verdicts.
//!
//! ```text
//! H = JᵀJ (own parameters eliminated)      Fisher   s² H⁻¹,  s² = cost/(m − p), m residuals that anything is told by
//! robust  H⁻¹ (Σ_b s_b s_bᵀ) H⁻¹           s_b = J_bᵀ r_b: errors of one toss may be correlated in any way
//! profile L_i(u) = min over the others of the loss with u_i = u
//! ```
//!
//! All in the coordinates of the fit (`ln θ` on a log scale). A value is *excluded* where the profile's loss is
//! significantly above that of the best point: by Δχ² where the noise is known, and otherwise by a paired test of the
//! logarithms of the tosses' losses; tosses are independent, frames of one are not. The best point has the lowest of the same
//! losses, and where these are smooth in u the test then excludes later than a value is implausible: its intervals are of 95 % or more.
mod bootstrap;
mod partners;
mod profile;
mod verdict;

pub use bootstrap::{Bootstrap, BootstrapPlan, bootstrap};
pub use profile::{Profile, ProfilePlan, profile, settle};
pub use verdict::Verdict;

use crate::design::Posterior;
use crate::least_squares::information;
use crate::parameter::Scale;
use crate::problem::{Problem, ProblemError};
use nalgebra::{DMatrix, SymmetricEigen};
use serde::Serialize;

/// Two-sided 95 % of a normal variable.
pub const TWO_SIDED_95: f64 = 1.96;
/// A combination with a larger relative standard deviation is weak.
const WEAK: f64 = 0.2;

/// Uncertainty from the curvature at the best point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curvature {
    /// Standard error of each coordinate from the Fisher matrix; infinite where the data do not determine it.
    pub standard_errors: Vec<f64>,
    /// Standard error of each coordinate, robust against correlation within a toss.
    pub robust_standard_errors: Vec<f64>,
    /// Correlation of the coordinates (Fisher); 0 with what is not determined.
    pub correlation: Vec<Vec<f64>>,
    /// For each free parameter that the data would tell if others were known: paths of those others. Else empty.
    pub moves_with: Vec<Vec<String>>,
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
    let repeated = problem.repeated_prior_rows();
    let degrees_of_freedom = info.residuals.saturating_sub(used + repeated).max(1);
    let residual_variance = info.cost / degrees_of_freedom as f64;
    // What the data do not determine has an infinite error, and leaves the errors of the others alone.
    let posterior = Posterior::of(&info.matrix);
    let inverse = &posterior.covariance;
    let covariance = inverse * residual_variance;
    let robust = inverse * &info.outer * inverse;
    let deviation = |m: &DMatrix<f64>| -> Vec<f64> {
        let known = posterior.determined.iter().enumerate();
        known.map(|(i, d)| if *d { m[(i, i)].max(0.0).sqrt() } else { f64::INFINITY }).collect()
    };
    let standard_errors = deviation(&covariance);
    let eigen = SymmetricEigen::new(info.matrix.clone());
    let largest = eigen.eigenvalues.amax();
    let correlation = (0..n)
        .map(|i| {
            (0..n)
                .map(|j| {
                    let size = standard_errors[i] * standard_errors[j];
                    let known = size > 0.0 && size.is_finite();
                    if known { covariance[(i, j)] / size } else { f64::from(i == j) }
                })
                .collect()
        })
        .collect();
    let path = |j: &usize| problem.parameters()[*j].path.clone();
    let moves_with = partners::partners(&info.matrix, &posterior, residual_variance);
    Ok(Curvature {
        moves_with: moves_with.iter().map(|all| all.iter().map(path).collect()).collect(),
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
