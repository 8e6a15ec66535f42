//! The regularised Coulomb ramp `ρ(V_t)`.

use osculate_math::Scalar;

/// How friction is regularised below the falloff speed.
///
/// Both have the curvature `2/V_f` at rest and slope 1 at high speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FrictionRamp {
    /// `V²/V_f − V³/(3V_f²)` below `V_f`, `V − V_f/3` above: the model's default. Full friction at `V_f`.
    #[default]
    C1,
    /// `√(V² + V_f²/4) − V_f/2`: smooth to every order, full friction only in the limit of high speed.
    Smooth,
}

impl FrictionRamp {
    /// `ρ(V)` \[m/s\].
    ///
    /// * `square`: `V²` \[m²/s²\]; `V` itself has no derivative at rest, its square has.
    /// * `falloff_speed`: `V_f` \[m/s\].
    pub fn rho<T: Scalar>(self, square: T, falloff_speed: T) -> T {
        match self {
            Self::C1 => {
                let v = speed(square);
                if v < falloff_speed {
                    square / falloff_speed - square * v / (falloff_speed * falloff_speed * 3.0)
                } else {
                    v - falloff_speed / 3.0
                }
            }
            Self::Smooth => {
                (square + falloff_speed * falloff_speed * 0.25).sqrt() - falloff_speed * 0.5
            }
        }
    }

    /// `ρ'(V)/V` \[s/m\], finite at rest: `2/V_f` there for both.
    #[inline(always)]
    pub fn slope_over_speed<T: Scalar>(self, square: T, falloff_speed: T) -> T {
        match self {
            Self::C1 => {
                let v = speed(square);
                if v < falloff_speed {
                    let inverse = falloff_speed.recip();
                    (-v * inverse + 2.0) * inverse
                } else {
                    v.recip()
                }
            }
            Self::Smooth => (square + falloff_speed * falloff_speed * 0.25).sqrt().recip(),
        }
    }
}

/// `V` of `V²`, with zero derivatives at rest, where they are multiplied by `V_t = 0`.
#[inline]
fn speed<T: Scalar>(square: T) -> T {
    if square > 0.0 { square.sqrt() } else { T::zero() }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact by construction")]
mod tests {
    use super::*;
    use osculate_math::Jet;

    #[test]
    fn slope_over_speed_is_twice_the_derivative_by_the_square() {
        // dρ/d(V²) = ρ'(V)/(2V)
        for ramp in [FrictionRamp::C1, FrictionRamp::Smooth] {
            for v in [1e-3, 0.1, 0.49, 0.51, 3.0_f64] {
                let rho = ramp.rho(Jet::<1>::variable(v * v, 0), 0.5.into());
                let slope = ramp.slope_over_speed(v * v, 0.5);
                assert!((2.0 * rho.eps[0] - slope).abs() < 1e-12 * slope, "{ramp:?} {v}");
            }
        }
    }

    #[test]
    fn curvature_at_rest_is_two_over_the_falloff_speed() {
        for ramp in [FrictionRamp::C1, FrictionRamp::Smooth] {
            assert_eq!(ramp.slope_over_speed(0.0, 0.5), 4.0);
        }
    }

    #[test]
    fn c1_ramp_joins_with_continuous_slope_at_the_falloff_speed() {
        let (below, above) = (0.5 - 1e-9, 0.5 + 1e-9);
        let f = |v: f64| {
            (FrictionRamp::C1.rho(v * v, 0.5), FrictionRamp::C1.slope_over_speed(v * v, 0.5))
        };
        let (a, b) = (f(below), f(above));
        assert!((a.0 - b.0).abs() < 3e-9 && (a.1 - b.1).abs() < 1e-8);
    }
}
