//! Losses in which large residuals count less, so that a few wrong records do not decide.
//!
//! ```text
//! Σ ρ(s_g),  s_g = ‖r_g‖²  of a record g (a position, a rotation, a reading) in units of its noise;   x = s/c²
//! Huber     ρ = s up to c², then 2 c √s − c²       soft-l1  ρ = 2 c² (√(1 + x) − 1)       Cauchy  ρ = c² ln(1 + x)
//! r̃_g = φ(s_g) r_g,  φ = √(ρ/s):  ‖r̃‖² = Σ ρ exactly, and the Jacobian of r̃ is that of the loss
//! ```
//!
//! So every solver of sums of squares minimises them as they stand. Sources: Huber, Ann. Math. Stat. 35 (1964); Triggs et al., *Bundle
//! adjustment*, 2000, section 3.

use osculate_math::Scalar;
use serde::{Deserialize, Serialize};

/// Which `ρ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobustKind {
    /// Squares up to the threshold, then straight.
    Huber,
    /// A smooth Huber.
    SoftL1,
    /// Far records hardly count at all.
    Cauchy,
}

/// A robust loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robust {
    /// Which.
    pub kind: RobustKind,
    /// `c`: from about here on a record counts less, in standard deviations of its noise, > 0.
    pub threshold: f64,
}

/// Below this `x` a quotient that tends to one is a series, whose next term is below rounding.
const SMALL: f64 = 1e-4;

impl Robust {
    /// `φ(s) = √(ρ(s)/s)` \[–\], in (0, 1]; `C¹` in `s ≥ 0`.
    pub fn factor<T: Scalar>(&self, s: T) -> T {
        let x = s / (self.threshold * self.threshold);
        match self.kind {
            RobustKind::Huber if x <= 1.0 => T::one(),
            RobustKind::Huber => ((x.sqrt() * 2.0 - 1.0) / x).sqrt(),
            // (√(1 + x) − 1)/x = 1/(√(1 + x) + 1)
            RobustKind::SoftL1 => (((x + 1.0).sqrt() + 1.0).recip() * 2.0).sqrt(),
            RobustKind::Cauchy if x < SMALL => {
                (x * (x * (x * (-0.25) + 1.0 / 3.0) - 0.5) + 1.0).sqrt()
            }
            RobustKind::Cauchy => ((x + 1.0).ln() / x).sqrt(),
        }
    }

    /// The residuals of a record as those whose squares are `ρ`.
    pub(crate) fn apply<T: Scalar>(robust: Option<&Self>, residuals: &mut [T]) {
        let Some(robust) = robust else { return };
        let s = residuals.iter().fold(T::zero(), |sum, r| sum + *r * *r);
        let factor = robust.factor(s);
        residuals.iter_mut().for_each(|r| *r *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::Jet;

    const KINDS: [RobustKind; 3] = [RobustKind::Huber, RobustKind::SoftL1, RobustKind::Cauchy];

    fn rho(kind: RobustKind, s: f64, c: f64) -> f64 {
        let x = s / (c * c);
        c * c
            * match kind {
                RobustKind::Huber if x <= 1.0 => x,
                RobustKind::Huber => 2.0 * x.sqrt() - 1.0,
                // √(1 + x) − 1, without cancellation and another way than the law.
                RobustKind::SoftL1 => 2.0 * (0.5 * x.ln_1p()).exp_m1(),
                RobustKind::Cauchy => x.ln_1p(),
            }
    }

    #[test]
    fn squares_of_robust_residuals_are_the_loss_and_small_ones_are_left_alone() {
        for kind in KINDS {
            let robust = Robust { kind, threshold: 2.0 };
            for s in [1e-12, 1e-5, 3.9e-4, 4.1e-4, 0.1, 3.9, 4.0, 4.1, 100.0, 1e6] {
                let found = robust.factor::<f64>(s).powi(2) * s;
                let expected = rho(kind, s, 2.0);
                assert!((found / expected - 1.0).abs() < 1e-11, "{kind:?} {s}: {found} {expected}");
            }
            assert!((robust.factor::<f64>(0.0) - 1.0).abs() < 1e-15);
            // A record a hundred thresholds off pulls far less than its square would.
            assert!(rho(kind, 4e4, 2.0) < 0.05 * 4e4, "{kind:?}");
        }
    }

    #[test]
    fn derivative_of_the_factor_is_that_of_differences_on_both_sides_of_the_threshold() {
        for kind in KINDS {
            let robust = Robust { kind, threshold: 1.5 };
            for s in [1e-6, 2e-4, 2.4e-4, 0.3, 2.2, 2.3, 50.0] {
                let slope = robust.factor(Jet::<1>::variable(s, 0)).eps[0];
                // Rounding of ln(1 + x)/x is 1e-12 just above the series: steps are long where the factor is nearly straight.
                let h = if s < 0.01 { 0.1 } else { 1e-4 } * s;
                let at = |s: f64| robust.factor::<f64>(s);
                let difference = (at(s + h) - at(s - h)) / (2.0 * h);
                assert!((slope - difference).abs() < 1e-6 * slope.abs() + 1e-9, "{kind:?} {s}");
            }
        }
    }
}
