//! The friction coefficient of a pair in the impulse model.
//!
//! ```text
//! average         (μ_A + μ_B)/2
//! min, max        of the two
//! multiply        μ_A μ_B
//! geometric-mean  √(μ_A μ_B)
//!
//! two modes       the later in: average, geometric-mean, min, multiply, max
//! priority        the coefficient of the surface of higher priority, as it stands
//! μ               scale · combined,   static: max(static, dynamic)
//! ```
//!
//! Conventions of others, so that a model can be read as it was meant: PhysX orders average < min < multiply < max and takes the
//! later mode of the two (its modes have no geometric mean: here it gives way to every explicit choice but the average); MuJoCo takes the
//! larger coefficient unless one geom has priority; Newton's solvers average or take the geometric mean; Bullet multiplies; DART takes the smaller.
//!
//! At a tie of `min` and `max` value and derivative are those of the first surface.

use super::ImpulseError;
use crate::combine::geometric_mean;
use osculate_math::Scalar;

/// How two coefficients become one.
///
/// Ordered by precedence: where surfaces differ, the later one of the list acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrictionCombine {
    /// `(μ_A + μ_B)/2`.
    #[default]
    Average,
    /// `√(μ_A μ_B)`; value and derivative are 0 where one is 0.
    GeometricMean,
    /// The smaller one.
    Min,
    /// `μ_A μ_B`.
    Multiply,
    /// The larger one.
    Max,
}

impl FrictionCombine {
    /// Every mode, in order of precedence.
    pub const ALL: [Self; 5] =
        [Self::Average, Self::GeometricMean, Self::Min, Self::Multiply, Self::Max];

    /// The mode of a pair: the later of the two.
    pub fn of_pair(self, other: Self) -> Self {
        self.max(other)
    }

    /// The combined coefficient \[–\].
    #[inline]
    pub fn combine<T: Scalar>(self, a: T, b: T) -> T {
        match self {
            Self::Average => (a + b) * 0.5,
            Self::GeometricMean => geometric_mean(a, b),
            Self::Min => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            Self::Multiply => a * b,
            Self::Max => greater(a, b),
        }
    }
}

/// The larger of two, the first at a tie.
#[inline]
fn greater<T: Scalar>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// Friction of one surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceFriction<T = f64> {
    /// `μ_s` \[–\], ≥ 0: what it takes to start sliding. Below `dynamic` it counts as `dynamic`.
    pub static_friction: T,
    /// `μ` \[–\], ≥ 0: while sliding.
    pub dynamic: T,
    /// How it combines with another surface.
    pub combine: FrictionCombine,
    /// Whose coefficient acts alone, where the two differ; 0 where it does not matter.
    pub priority: i32,
}

impl<T: Scalar> SurfaceFriction<T> {
    /// One coefficient for rest and sliding, averaged, without priority.
    pub fn new(friction: T) -> Self {
        let combine = FrictionCombine::default();
        Self { static_friction: friction, dynamic: friction, combine, priority: 0 }
    }
}

impl SurfaceFriction {
    /// Checks that the coefficients are finite and not negative.
    ///
    /// # Errors
    /// With the number found.
    pub fn validate(&self) -> Result<(), ImpulseError> {
        ImpulseError::not_negative("static friction", self.static_friction)?;
        ImpulseError::not_negative("dynamic friction", self.dynamic)
    }
}

/// Friction of a pair of surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFriction<T = f64> {
    /// `μ_s` \[–\], at least `dynamic`.
    pub static_friction: T,
    /// `μ` \[–\].
    pub dynamic: T,
}

/// Friction of a pair; `scale` \[–\] multiplies every coefficient of a scene.
pub fn combine<T: Scalar>(
    a: &SurfaceFriction<T>,
    b: &SurfaceFriction<T>,
    scale: T,
) -> PairFriction<T> {
    let mode = a.combine.of_pair(b.combine);
    let pick = |x: T, y: T| match a.priority.cmp(&b.priority) {
        std::cmp::Ordering::Greater => x,
        std::cmp::Ordering::Less => y,
        std::cmp::Ordering::Equal => mode.combine(x, y),
    };
    let dynamic = pick(a.dynamic, b.dynamic) * scale;
    let resting = pick(a.static_friction, b.static_friction) * scale;
    PairFriction { static_friction: greater(dynamic, resting), dynamic }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact by construction")]
mod tests {
    use super::*;
    use num_dual::Dual64;
    use osculate_math::check::{self, Law, Smoothness};

    struct Combined(FrictionCombine);
    impl Law<3, 2> for Combined {
        fn value<T: Scalar>(&self, [a, b, scale]: [T; 3]) -> [T; 2] {
            let surface = |x: T| SurfaceFriction {
                static_friction: x * 1.25,
                combine: self.0,
                ..SurfaceFriction::new(x)
            };
            let pair = combine(&surface(a), &surface(b), scale);
            [pair.static_friction, pair.dynamic]
        }
    }

    #[test]
    fn combination_has_exact_derivatives_away_from_ties() {
        for mode in FrictionCombine::ALL {
            for x in [[0.3, 0.8, 1.0], [0.9, 0.2, 0.5]] {
                check::gradients(
                    &Combined(mode),
                    &format!("{mode:?}"),
                    x,
                    [1e-2; 3],
                    Smoothness::Smooth,
                    1e-6,
                );
            }
        }
    }

    #[test]
    fn the_first_surface_acts_at_a_tie() {
        for mode in [FrictionCombine::Min, FrictionCombine::Max] {
            let mu = mode.combine(Dual64::new(0.5, 1.0), Dual64::new(0.5, 10.0));
            assert_eq!((mu.re, mu.eps), (0.5, 1.0));
            check::gradients(
                &Combined(mode),
                "tie",
                [0.5, 0.5, 1.0],
                [1e-2; 3],
                Smoothness::Kink,
                1e-6,
            );
        }
    }

    #[test]
    fn identical_surfaces_keep_their_coefficient_in_every_mean() {
        for mode in [
            FrictionCombine::Average,
            FrictionCombine::GeometricMean,
            FrictionCombine::Min,
            FrictionCombine::Max,
        ] {
            assert!((mode.combine(0.7, 0.7) - 0.7_f64).abs() < 1e-16, "{mode:?}");
        }
    }

    #[test]
    fn every_mode_commutes() {
        for a in FrictionCombine::ALL {
            for b in FrictionCombine::ALL {
                assert_eq!(a.of_pair(b), b.of_pair(a));
            }
            assert_eq!(a.combine(0.3, 0.8), a.combine(0.8, 0.3));
        }
    }

    #[test]
    fn precedence_is_average_min_multiply_max() {
        use FrictionCombine::{Average, Max, Min, Multiply};
        assert_eq!(Average.of_pair(Min), Min);
        assert_eq!(Multiply.of_pair(Min), Multiply);
        assert_eq!(Multiply.of_pair(Max), Max);
        assert_eq!(Average.of_pair(FrictionCombine::GeometricMean), FrictionCombine::GeometricMean);
    }

    #[test]
    fn priority_wins_over_any_mode() {
        let a = SurfaceFriction { combine: FrictionCombine::Max, ..SurfaceFriction::new(0.9) };
        let b = SurfaceFriction { priority: 1, ..SurfaceFriction::new(0.1) };
        assert_eq!(combine(&a, &b, 2.0).dynamic, 0.2);
        assert_eq!(combine(&b, &a, 2.0), combine(&a, &b, 2.0));
    }

    #[test]
    fn static_friction_is_never_below_dynamic() {
        let a = SurfaceFriction::<f64> { static_friction: 0.2, ..SurfaceFriction::new(0.6) };
        let pair = combine(&a, &a, 1.0);
        assert_eq!((pair.static_friction, pair.dynamic), (0.6, 0.6));
        let b = SurfaceFriction { static_friction: 0.9, ..a };
        assert!((combine(&b, &b, 0.5).static_friction - 0.45).abs() < 1e-16);
    }

    #[test]
    fn a_frictionless_surface_has_no_infinite_slope() {
        let mu = FrictionCombine::GeometricMean.combine(Dual64::new(0.0, 1.0), Dual64::from(0.5));
        assert_eq!((mu.re, mu.eps), (0.0, 0.0));
    }

    #[test]
    fn coefficients_out_of_range_are_refused() {
        assert!(SurfaceFriction::new(0.5).validate().is_ok());
        for bad in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(SurfaceFriction::new(bad).validate().is_err());
            assert!(
                SurfaceFriction { static_friction: bad, ..SurfaceFriction::new(0.5) }
                    .validate()
                    .is_err()
            );
        }
    }
}
