//! Special functions, written for derivatives.

use crate::Scalar;

/// From here on `erf x` is 1 and its derivative 0 to rounding of 1.
const ONE_ABOVE: f64 = 6.5;

/// `erf x = 2/√π ∫₀ˣ e^{−t²} dt`.
///
/// The series `2/√π e^{−x²} Σ 2ⁿ x^{2n+1}/(2n+1)!!` has terms of one sign, so nothing cancels, and its derivatives
/// are those of a polynomial times an exponential. Source: Abramowitz and Stegun, 7.1.6.
pub fn erf<T: Scalar>(x: T) -> T {
    if x > ONE_ABOVE {
        return T::one();
    }
    if x < -ONE_ABOVE {
        return -T::one();
    }
    let square = x * x;
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    // Terms grow until 2n = 2x²; the derivatives' terms are larger by n/x, which the margin of the bound covers.
    while odd < 1.0 + 4.0 * square.re() || term.re().abs() > 1e-22 * sum.re().abs() {
        odd += 2.0;
        term = term * square * 2.0 / odd;
        sum += term;
    }
    sum * (-square).exp() * std::f64::consts::FRAC_2_SQRT_PI
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Jet;

    #[test]
    fn values_agree_with_tables() {
        // Abramowitz and Stegun, table 7.1.
        for (x, value) in [
            (0.5, 0.520_499_877_8),
            (1.0, 0.842_700_792_9),
            (2.0, 0.995_322_265_0),
            (-1.0, -0.842_700_792_9_f64),
        ] {
            assert!((erf(x) - value).abs() < 1e-10, "{x}");
        }
    }

    #[test]
    fn slope_is_the_gaussian_and_its_slope_follows() {
        for x in [-6.4, -3.0, -0.4, 0.0, 1e-8, 0.7, 2.5, 5.0, 6.4, 7.0_f64] {
            let y = erf(Jet::<1, Jet<1>> { re: Jet::variable(x, 0), eps: [Jet::constant(1.0)] });
            let gauss = std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
            assert!((y.eps[0].re - gauss).abs() < 1e-14, "{x}: {} {gauss}", y.eps[0].re);
            // Parts of the size 4x² of series and exponential cancel.
            let rounding = 10.0 * f64::EPSILON * (1.0 + 4.0 * x * x);
            let (found, curvature) = (y.eps[0].eps[0], -2.0 * x * gauss);
            assert!((found - curvature).abs() < rounding, "{x}: {found} {curvature}");
        }
    }

    #[test]
    fn error_function_is_odd_and_bounded() {
        for x in [0.3, 1.7, 5.9, 6.6, 40.0_f64] {
            assert!((erf(x) + erf(-x)).abs() < 1e-16 && erf(x) <= 1.0 + 1e-15);
        }
    }
}
