//! Friction and damping from one dissipation potential.
//!
//! ```text
//! R      = λ̂ (μ ρ(V_t) + c_t V_t²/2 + c_n V_n²/2)          λ̂ = a λ_n
//! T_diss = −∂R/∂V = −λ̂ (c_n V_n N + c_t V_t + μ ρ'(V_t) V_t/V_t)
//! ```

mod coulomb_ramp;
mod schedule;

pub use coulomb_ramp::FrictionRamp;
pub use schedule::DissipationSchedule;

use crate::PairParams;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm::scale};

/// The three dissipative tractions \[Pa\], in the coordinates of `velocity` and `normal`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dissipation<T = f64> {
    /// `−c_n λ̂ V_n N`.
    pub damping: Vector3<T>,
    /// `−c_t λ̂ V_t`.
    pub viscous: Vector3<T>,
    /// `−μ λ̂ ρ'(V_t) V_t/V_t`.
    pub coulomb: Vector3<T>,
}

impl<T: Scalar> Dissipation<T> {
    /// `T_diss` \[Pa\].
    #[inline]
    pub fn total(&self) -> Vector3<T> {
        self.damping + self.viscous + self.coulomb
    }
}

/// `V_n` and `V_t` of a velocity \[m/s\].
#[inline]
fn split<T: Scalar>(velocity: &Vector3<T>, normal: &Vector3<T>) -> (T, Vector3<T>) {
    let v_n = velocity.dot(normal);
    (v_n, velocity - scale(normal, v_n))
}

/// Dissipation potential `R` \[W/m²\].
///
/// * `load`: `λ̂ = a λ_n` \[Pa\], * `velocity`: `V_rel` \[m/s\], * `normal`: unit.
pub fn potential<T: Scalar>(
    pair: &PairParams<T>,
    ramp: FrictionRamp,
    load: T,
    velocity: &Vector3<T>,
    normal: &Vector3<T>,
) -> T {
    let (v_n, v_t) = split(velocity, normal);
    let square = v_t.dot(&v_t);
    load * (pair.friction * ramp.rho(square, pair.falloff_speed)
        + pair.viscous_friction * square * 0.5
        + pair.damping * v_n * v_n * 0.5)
}

/// Dissipative tractions `−∂R/∂V` \[Pa\], arguments as in [`potential`].
#[inline]
pub fn tractions<T: Scalar>(
    pair: &PairParams<T>,
    ramp: FrictionRamp,
    load: T,
    velocity: &Vector3<T>,
    normal: &Vector3<T>,
) -> Dissipation<T> {
    let (v_n, v_t) = split(velocity, normal);
    let slope = ramp.slope_over_speed(v_t.dot(&v_t), pair.falloff_speed);
    Dissipation {
        damping: scale(normal, -load * pair.damping * v_n),
        viscous: scale(&v_t, -load * pair.viscous_friction),
        coulomb: scale(&v_t, -load * pair.friction * slope),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};
    use osculate_math::{Jet, lift};

    pub(super) fn pair() -> PairParams {
        PairParams {
            stiffness: 1.0,
            smoothing: 0.1,
            threshold: 0.0,
            max_alignment: 0.0,
            friction: 0.4,
            viscous_friction: 0.3,
            damping: 0.7,
            falloff_speed: 0.5,
            collider_normal: true,
        }
    }

    /// Tractions as a function of velocity (3), load, μ, c_t, c_n, V_f.
    struct Tractions(FrictionRamp);
    impl Law<8, 3> for Tractions {
        fn value<T: Scalar>(&self, x: [T; 8]) -> [T; 3] {
            let mut p = pair().map(T::from);
            (p.friction, p.viscous_friction, p.damping, p.falloff_speed) = (x[4], x[5], x[6], x[7]);
            let n = lift(&Vector3::new(0.6, 0.0, 0.8));
            let v = Vector3::new(x[0], x[1], x[2]);
            tractions(&p, self.0, x[3], &v, &n).total().into()
        }
    }

    #[test]
    fn tractions_have_exact_derivatives_in_stick_slip_and_on_each_joint() {
        for ramp in [FrictionRamp::C1, FrictionRamp::Smooth] {
            for (regime, v, smoothness) in [
                ("stick", [0.1, 0.05, -0.3], Smoothness::Smooth),
                ("slip", [1.2, -0.7, 0.2], Smoothness::Smooth),
                ("at rest", [0.0, 0.0, 0.0], Smoothness::Joint),
                ("exactly at V_f", [0.0, 0.5, 0.0], Smoothness::Joint),
            ] {
                let x = [v[0], v[1], v[2], 3.0, 0.4, 0.3, 0.7, 0.5];
                check::gradients(&Tractions(ramp), regime, x, [1e-3; 8], smoothness, 1e-6);
            }
        }
    }

    #[test]
    fn traction_is_minus_the_potential_gradient_in_velocity() {
        let n = Vector3::new(0.6, 0.0, 0.8);
        for ramp in [FrictionRamp::C1, FrictionRamp::Smooth] {
            for v in [[0.0; 3], [0.1, 0.05, -0.3], [0.0, 0.5, 0.0], [1.2, -0.7, 0.2]] {
                let seeded = Vector3::from_fn(|i, _| Jet::<3>::variable(v[i], i));
                let p = pair();
                let r = potential(&p.map(Jet::from), ramp, Jet::from(3.0), &seeded, &lift(&n));
                let t = tractions(&p, ramp, 3.0, &Vector3::from(v), &n).total();
                for i in 0..3 {
                    assert!((r.eps[i] + t[i]).abs() < 1e-14, "{ramp:?} {v:?}");
                }
            }
        }
    }

    #[test]
    fn friction_traction_never_exceeds_mu_times_load() {
        let n = Vector3::z();
        for ramp in [FrictionRamp::C1, FrictionRamp::Smooth] {
            for speed in [0.0, 1e-9, 0.1, 0.5, 3.0, 1e6] {
                let t = tractions(&pair(), ramp, 3.0, &Vector3::new(speed, 0.0, 0.0), &n).coulomb;
                assert!(t.norm() <= 0.4 * 3.0 * (1.0 + 1e-15));
            }
        }
    }

    #[test]
    fn dissipation_never_adds_power() {
        let n = Vector3::new(0.6, 0.0, 0.8);
        for v in [[0.1, 0.05, -0.3], [1.2, -0.7, 0.2], [-0.6, 0.0, -0.8]] {
            let v = Vector3::from(v);
            assert!(tractions(&pair(), FrictionRamp::C1, 3.0, &v, &n).total().dot(&v) < 0.0);
        }
    }
}
