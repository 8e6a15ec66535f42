//! The multiplier of a trust region in its eigenbasis.
//!
//! ```text
//! min ½ Σ lᵢ yᵢ² − Σ βᵢ yᵢ,  ‖y‖ ≤ 1        lᵢ ≥ 0
//! y(α)ᵢ = βᵢ/(lᵢ + α),  α ≥ 0,  ‖y(α)‖ = 1   where ‖y(0)‖ > 1
//! ψ(α) = 1/‖y‖ − 1 = 0                       Hebden's form: increasing and concave
//! α₊ = α + (‖y‖ − 1) ‖y‖²/Σ yᵢ²/(lᵢ + α)     Newton's step
//! ```
//!
//! Newton from the left of the root rises monotonically. It starts at the largest lower bound of the root; `ψ` being concave, only rounding can
//! lead out of the bracket, and then the midpoint is taken.
//!
//! ```text
//! max(0, ‖β‖ − Σ lᵢβᵢ²/‖β‖², maxᵢ(|βᵢ| − lᵢ)) ≤ α ≤ ‖β‖ − min l
//! ```
//!
//! (the second by Jensen: `1/(l + α)²` is convex in l).
//!
//! Where the least eigenvalue is far below the others, `ψ` has two scales and Newton creeps. Then, once, the bracket is tightened by the other
//! terms: with `S` the sum of their squares, which hardly changes over the bracket,
//!
//! ```text
//! |βₘ|/√(1 − S(high)) − lₘ ≤ α ≤ |βₘ|/√(1 − S(low)) − lₘ          m the least eigenvalue
//! ```
//!
//! Every number is dimensionless: the caller divides by the radius and by the size of the block.
//! Source: Moré and Sorensen 1983, <https://doi.org/10.1137/0904038>; Hebden 1973 for the reciprocal form.

use super::ImpulseError;

/// Newton steps before bisection takes over.
pub const NEWTON_STEPS: usize = 8;

/// Bisections at most: the bracket is at most `2³⁰` times the smaller of the numbers its end is added to in blocks
/// of anisotropy 1e8, and 53 more halvings leave its rounding.
const BISECTIONS: usize = 128;

/// Stops at `|‖y‖ − 1|` below this.
///
/// `‖y‖` of N terms is evaluated to about (N + 3)/2 ulp, and a change of α by one ulp of `lᵢ + α` changes it by one ulp
/// at most, so that eight ulp are always reached up to N = 5.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Newton steps after which the bracket is tightened.
const TIGHTEN_AT: usize = 5;

/// Where the search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root<const N: usize> {
    /// The multiplier α.
    pub multiplier: f64,
    /// The point `y(α)`, of norm one to rounding.
    pub point: [f64; N],
    /// Newton steps and bisections taken.
    pub steps: usize,
}

/// `y(α)`, `‖y‖` and `Σ yᵢ²/(lᵢ + α)`.
#[inline]
fn point<const N: usize>(l: &[f64; N], beta: &[f64; N], alpha: f64) -> ([f64; N], f64, f64) {
    // A term without drive is none, also where lᵢ + α = 0.
    let inverse: [f64; N] =
        std::array::from_fn(|i| if beta[i] == 0.0 { 0.0 } else { (l[i] + alpha).recip() });
    let y: [f64; N] = std::array::from_fn(|i| beta[i] * inverse[i]);
    let slope = (0..N).map(|i| y[i] * y[i] * inverse[i]).sum();
    (y, norm(&y), slope)
}

#[inline]
fn norm<const N: usize>(y: &[f64; N]) -> f64 {
    y.iter().map(|y| y * y).sum::<f64>().sqrt()
}

/// Multiplier of the problem with eigenvalues `l` ≥ 0 and right-hand side `beta`, where `‖y(0)‖ > 1`.
///
/// # Errors
/// [`ImpulseError::NotConverged`] where neither Newton nor bisection gets there: not for numbers that are finite.
#[inline]
pub fn solve<const N: usize>(
    l: &[f64; N],
    beta: &[f64; N],
    newton_steps: usize,
) -> Result<Root<N>, ImpulseError> {
    let square: f64 = beta.iter().map(|b| b * b).sum();
    let length = square.sqrt();
    let weighted: f64 = l.iter().zip(beta).map(|(l, b)| l * b * b).sum();
    let least = l.iter().copied().fold(f64::INFINITY, f64::min);
    let along = l.iter().zip(beta).map(|(l, b)| b.abs() - l).fold(0.0, f64::max);
    let (mut low, mut high) = (along.max(length - weighted / square), length - least);
    let mut alpha = low;
    let (mut steps, mut residual) = (0, f64::INFINITY);
    while steps <= newton_steps + BISECTIONS {
        let (y, size, slope) = point(l, beta, alpha);
        residual = size - 1.0;
        if residual.abs() <= ROUNDING {
            return Ok(Root { multiplier: alpha, point: y, steps });
        }
        if residual > 0.0 {
            low = alpha;
        } else {
            high = alpha;
        }
        let mut newton = alpha + residual * size * size / slope;
        if steps == TIGHTEN_AT && newton_steps > 0 {
            (low, high) = tightened(l, beta, low, high);
            newton = newton.max(low);
        }
        let inside = newton >= low && newton < high;
        alpha = if steps < newton_steps && inside { newton } else { 0.5 * (low + high) };
        steps += 1;
    }
    let law = "trust region";
    Err(ImpulseError::NotConverged { law, steps, residual: residual.abs(), tolerance: ROUNDING })
}

/// The bracket with the bounds that the terms above the least eigenvalue give.
fn tightened<const N: usize>(l: &[f64; N], beta: &[f64; N], low: f64, high: f64) -> (f64, f64) {
    let least = (0..N).fold(0, |m, i| if l[i] < l[m] { i } else { m });
    let others = |alpha: f64| {
        let terms = (0..N).filter(|&i| i != least).map(|i| beta[i] / (l[i] + alpha));
        terms.map(|y| y * y).sum::<f64>()
    };
    let bound = |alpha: f64| beta[least].abs() / (1.0 - others(alpha)).sqrt() - l[least];
    // A root of a negative number is no bound, and neither max nor min takes it.
    let high = high.min(bound(low));
    (low.max(bound(high)), high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_alone_finds_the_root_that_newton_finds() {
        for (l, beta) in [
            ([1.0, 1e-8], [1.0 + 1e-10, 0.0]),
            ([1.0, 1e-8], [0.9, 2e-8]),
            ([1.0, 0.3], [3.0, 1e-9]),
            ([1.0, 1.0], [1e9, 1e7]),
            ([1.0, 0.0], [0.1, 1e-12]),
            ([0.0, 0.0], [0.1, 1e-12]),
        ] {
            let newton = solve(&l, &beta, NEWTON_STEPS).unwrap();
            let halved = solve(&l, &beta, 0).unwrap();
            assert!(newton.steps <= NEWTON_STEPS, "{l:?} {beta:?}: {} steps", newton.steps);
            for i in 0..2 {
                assert!((newton.point[i] - halved.point[i]).abs() <= 1e-14, "{l:?} {beta:?}");
            }
        }
    }

    #[test]
    fn multiplier_of_an_isotropic_block_is_a_difference() {
        for n in [1.5, 2.0, 1e3, 1e12] {
            let root = solve(&[1.0; 5], &[0.6 * n, 0.0, -0.8 * n, 0.0, 0.0], NEWTON_STEPS).unwrap();
            assert!((root.multiplier - (n - 1.0)).abs() <= 4.0 * f64::EPSILON * n);
        }
    }

    #[test]
    fn what_is_not_a_number_is_an_error_and_not_an_answer() {
        assert!(matches!(
            solve(&[1.0, 1.0], &[f64::NAN, 1.0], NEWTON_STEPS),
            Err(ImpulseError::NotConverged { .. })
        ));
    }
}
