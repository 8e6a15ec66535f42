//! Frictionless normal penalty: ramp, energy density and normal load.
//!
//! ```text
//! z = −φ − (ε − δ),  y = z/ε
//! h = 0 (z ≤ −ε),   3ε/16 + (1/2 + 3y/8 − y³/16) z (|z| < ε),   z (z ≥ ε)
//! W = k h²/2        λ_n = −∂W/∂φ = k h h'
//! ```

use osculate_math::Scalar;

/// The smoothed ramp `h_{ε,δ}(−φ)` \[m\] and its slope `h' = dh/dz` \[–\].
///
/// * `phi`: signed distance \[m\]; the ramp is zero at and above `threshold`, and linear below `threshold − 2ε`.
/// * `smoothing`: half-width ε \[m\]; at 0 the plain ramp `max(0, δ − φ)`, whose slope at the kink is taken as 0.
///
/// `C²` in φ. Source: contact model, *Frictionless normal penalty*.
#[inline(always)]
pub fn ramp<T: Scalar>(phi: T, smoothing: T, threshold: T) -> (T, T) {
    let [h, slope, _] = ramp_and_slopes(phi, smoothing, threshold);
    (h, slope)
}

/// `h`, `h'` and `h'' = (3/4)(1 − y²)/ε` between the joints.
#[inline(always)]
fn ramp_and_slopes<T: Scalar>(phi: T, smoothing: T, threshold: T) -> [T; 3] {
    let z = -phi - (smoothing - threshold);
    if z <= -smoothing {
        [T::zero(); 3]
    } else if z >= smoothing {
        [z, T::one(), T::zero()]
    } else {
        let inverse = smoothing.recip();
        let y = z * inverse;
        let y2 = y * y;
        let h = smoothing * (3.0 / 16.0) + (y * 0.375 - y * y2 * 0.0625 + 0.5) * z;
        [h, y * 0.75 - y * y2 * 0.25 + 0.5, (-y2 + 1.0) * inverse * 0.75]
    }
}

/// Elastic energy per reference area, `W = k/2 · h(−φ)²` \[J/m²\].
#[inline]
pub fn energy_density<T: Scalar>(phi: T, stiffness: T, smoothing: T, threshold: T) -> T {
    let (h, _) = ramp(phi, smoothing, threshold);
    stiffness * h * h * 0.5
}

/// Normal-load coefficient `λ_n = −∂W/∂φ = k h h'` \[Pa\], ≥ 0; the traction is `λ_n G`.
#[inline(always)]
pub fn normal_load<T: Scalar>(phi: T, stiffness: T, smoothing: T, threshold: T) -> T {
    let (h, slope) = ramp(phi, smoothing, threshold);
    stiffness * h * slope
}

/// `λ_n` \[Pa\] and `dλ_n/dφ = −k (h'² + h h'')` \[Pa/m\].
#[inline(always)]
pub fn normal_load_and_slope<T: Scalar>(
    phi: T,
    stiffness: T,
    smoothing: T,
    threshold: T,
) -> (T, T) {
    let [h, slope, curvature] = ramp_and_slopes(phi, smoothing, threshold);
    (stiffness * h * slope, -(stiffness * (slope * slope + h * curvature)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::Jet;
    use osculate_math::check::{self, Law, Smoothness};

    const EPS: f64 = 0.4;
    const DELTA: f64 = 0.15;

    /// Load as a function of φ, k, ε, δ.
    struct Load;
    impl Law<4, 1> for Load {
        fn value<T: Scalar>(&self, [phi, k, eps, delta]: [T; 4]) -> [T; 1] {
            [normal_load(phi, k, eps, delta)]
        }
    }

    #[test]
    fn load_has_exact_derivatives_in_every_regime_and_on_each_joint() {
        for (regime, phi, smoothness) in [
            ("apart", 0.5, Smoothness::Smooth),
            ("touching", 0.0, Smoothness::Smooth),
            ("deep", -2.0, Smoothness::Smooth),
            ("exactly at the threshold", DELTA, Smoothness::Joint),
            ("exactly where the ramp turns linear", DELTA - 2.0 * EPS, Smoothness::Joint),
        ] {
            check::gradients(&Load, regime, [phi, 3.0, EPS, DELTA], [1e-3; 4], smoothness, 1e-6);
        }
    }

    #[test]
    fn plain_ramp_is_the_limit_of_no_smoothing() {
        for (regime, phi) in [("apart", 0.5), ("deep", -0.5)] {
            let (h, slope) = ramp(phi, 0.0, DELTA);
            assert_eq!((h, slope), if phi < 0.0 { (DELTA - phi, 1.0) } else { (0.0, 0.0) });
            let (near, _) = ramp(phi, 1e-9, DELTA);
            assert!((near - h).abs() < 2e-9, "{regime}");
        }
        check::gradients(
            &Load,
            "exactly on the kink, ε = 0",
            [DELTA, 3.0, 0.0, DELTA],
            [1e-3; 4],
            Smoothness::Kink,
            0.0,
        );
    }

    #[test]
    fn normal_force_is_minus_energy_gradient() {
        for phi in [0.5, 0.1, 0.0, -0.3, -0.65, -2.0, DELTA, DELTA - 2.0 * EPS] {
            let w =
                energy_density(Jet::<1>::variable(phi, 0), 3.0.into(), EPS.into(), DELTA.into());
            assert!((w.eps[0] + normal_load(phi, 3.0, EPS, DELTA)).abs() < 1e-15, "φ = {phi}");
        }
    }

    #[test]
    fn slope_of_the_load_is_the_closed_form() {
        for phi in [0.5, 0.1, 0.0, -0.3, -0.6, -0.9, DELTA, DELTA - 2.0 * EPS] {
            let (value, slope) = normal_load_and_slope(phi, 3.0, EPS, DELTA);
            let load =
                normal_load(Jet::<1>::variable(phi, 0), 3.0.into(), EPS.into(), DELTA.into());
            assert!((load.re - value).abs() < 1e-15 && (load.eps[0] - slope).abs() < 1e-14);
        }
    }

    #[test]
    fn ramp_is_twice_continuous_at_both_joints() {
        for joint in [DELTA, DELTA - 2.0 * EPS] {
            let at = |phi: f64| {
                let x = Jet::<1, Jet<1>> { re: Jet::variable(phi, 0), eps: [Jet::constant(1.0)] };
                let (h, _) = ramp(x, EPS.into(), DELTA.into());
                [h.re.re, h.eps[0].re, h.eps[0].eps[0]]
            };
            for (a, b) in at(joint - 1e-9).into_iter().zip(at(joint + 1e-9)) {
                assert!((a - b).abs() < 2e-8);
            }
        }
    }

    #[test]
    fn static_pressure_has_the_closed_form_depth() {
        // Deep regime: P = k h with h = −φ − (ε − δ).
        let (k, p) = (1e7, 1e7 * 1.2);
        let phi = -(EPS - DELTA) - p / k;
        assert!((normal_load(phi, k, EPS, DELTA) - p).abs() < 1e-6);
    }
}
