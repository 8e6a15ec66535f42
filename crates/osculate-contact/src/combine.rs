//! Which actor's parameters act in a pair.
//!
//! ```text
//! μ, c_t, c_n    √(x_A x_B)
//! k, V_f         √(x_A x_B) where both are dynamic, else those of the colliding actor A
//! ε, δ, m        the collider's B; δ with its padding where A has no collider of its own
//! ```

use crate::{ContactError, ContactParams, PairParams};
use osculate_math::Scalar;

/// Values that replace the combined ones of a pair, in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairOverride<T = f64> {
    /// Replaces `k` \[Pa/m\].
    pub stiffness: Option<T>,
    /// Replaces `V_f` \[m/s\].
    pub falloff_speed: Option<T>,
    /// Replaces `c_t` \[s/m\].
    pub viscous_friction: Option<T>,
    /// Replaces `μ` \[–\].
    pub friction: Option<T>,
    /// Replaces `c_n` \[s/m\].
    pub damping: Option<T>,
}

impl<T> Default for PairOverride<T> {
    fn default() -> Self {
        Self {
            stiffness: None,
            falloff_speed: None,
            viscous_friction: None,
            friction: None,
            damping: None,
        }
    }
}

/// Symbols of the values that can be overridden, in the order of [`PairOverride::to_array`].
pub const OVERRIDE_SYMBOLS: [&str; 5] = ["k", "v_f", "c_t", "mu", "c_n"];

impl<T: Scalar> PairOverride<T> {
    /// The values, in the order of [`OVERRIDE_SYMBOLS`].
    pub fn to_array(&self) -> [Option<T>; 5] {
        [self.stiffness, self.falloff_speed, self.viscous_friction, self.friction, self.damping]
    }

    /// Inverse of [`PairOverride::to_array`].
    pub fn from_array(x: [Option<T>; 5]) -> Self {
        let [stiffness, falloff_speed, viscous_friction, friction, damping] = x;
        Self { stiffness, falloff_speed, viscous_friction, friction, damping }
    }
}

impl PairOverride {
    /// Checks every range that is given.
    ///
    /// # Errors
    /// With the symbol, the value found and what is allowed.
    pub fn validate(&self) -> Result<(), ContactError> {
        for (parameter, found) in OVERRIDE_SYMBOLS.into_iter().zip(self.to_array()) {
            let Some(found) = found else { continue };
            let positive = matches!(parameter, "k" | "v_f");
            let allowed = if positive { "> 0" } else { ">= 0" };
            if !found.is_finite() || found < 0.0 || (positive && found <= 0.0) {
                return Err(ContactError::Parameter { parameter, found, allowed });
            }
        }
        Ok(())
    }
}

/// What decides the combination, apart from the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairKind {
    /// The collider's actor is static.
    pub static_collider: bool,
    /// The colliding actor has no collider of its own.
    pub thin_colliding: bool,
}

/// `√(ab)`.
///
/// At `ab = 0` the mean has no finite derivative (it grows like the root); value and derivatives are then 0, so
/// a coefficient that is exactly zero in one actor stays a constant of the problem.
#[inline]
pub fn geometric_mean<T: Scalar>(a: T, b: T) -> T {
    let product = a * b;
    if product > 0.0 { product.sqrt() } else { T::zero() }
}

/// Parameters of the ordered pair: `colliding` supplies samples, `collider` the distance.
pub fn combine<T: Scalar>(
    colliding: &ContactParams<T>,
    collider: &ContactParams<T>,
    kind: PairKind,
    replaced: &PairOverride<T>,
) -> PairParams<T> {
    let (a, b) = (colliding, collider);
    let dynamic_mean = |x, y| if kind.static_collider { x } else { geometric_mean(x, y) };
    let or_mean = |given: Option<T>, x, y| given.unwrap_or_else(|| geometric_mean(x, y));
    PairParams {
        stiffness: replaced.stiffness.unwrap_or_else(|| dynamic_mean(a.stiffness, b.stiffness)),
        smoothing: b.smoothing,
        threshold: if kind.thin_colliding {
            b.threshold + b.threshold_padding
        } else {
            b.threshold
        },
        max_alignment: b.max_alignment,
        friction: or_mean(replaced.friction, a.friction, b.friction),
        viscous_friction: or_mean(
            replaced.viscous_friction,
            a.viscous_friction,
            b.viscous_friction,
        ),
        damping: or_mean(replaced.damping, a.damping, b.damping),
        falloff_speed: replaced
            .falloff_speed
            .unwrap_or_else(|| dynamic_mean(a.falloff_speed, b.falloff_speed)),
        collider_normal: b.collider_normal,
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact by construction")]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};

    fn params(x: f64) -> ContactParams {
        ContactParams {
            stiffness: 1e6 * x,
            smoothing: 1e-3 * x,
            threshold: 2e-3 * x,
            threshold_padding: 1e-4 * x,
            max_alignment: 0.1 * x,
            friction: 0.3 * x,
            viscous_friction: 0.2 * x,
            damping: 0.5 * x,
            falloff_speed: 0.01 * x,
            collider_normal: true,
        }
    }

    const BOTH_DYNAMIC: PairKind = PairKind { static_collider: false, thin_colliding: false };
    const STATIC: PairKind = PairKind { static_collider: true, thin_colliding: false };

    #[test]
    fn coefficients_of_two_dynamic_actors_commute() {
        let (a, b) = (params(1.0), params(4.0));
        let ab = combine(&a, &b, BOTH_DYNAMIC, &PairOverride::default());
        let ba = combine(&b, &a, BOTH_DYNAMIC, &PairOverride::default());
        for (x, y) in [
            (ab.stiffness, ba.stiffness),
            (ab.friction, ba.friction),
            (ab.viscous_friction, ba.viscous_friction),
            (ab.damping, ba.damping),
            (ab.falloff_speed, ba.falloff_speed),
        ] {
            assert_eq!(x, y);
        }
        assert_eq!((ab.smoothing, ab.threshold, ab.max_alignment), (4e-3, 8e-3, 0.4));
    }

    #[test]
    fn identical_surfaces_keep_their_coefficients() {
        let a = params(1.7);
        let p = combine(&a, &a, BOTH_DYNAMIC, &PairOverride::default());
        assert!((p.stiffness / a.stiffness - 1.0).abs() < 1e-15);
        assert!((p.friction / a.friction - 1.0).abs() < 1e-15);
        assert!((p.falloff_speed / a.falloff_speed - 1.0).abs() < 1e-15);
    }

    #[test]
    fn static_collider_leaves_stiffness_and_falloff_to_the_colliding_actor() {
        let (a, b) = (params(1.0), params(4.0));
        let p = combine(&a, &b, STATIC, &PairOverride::default());
        assert_eq!((p.stiffness, p.falloff_speed), (a.stiffness, a.falloff_speed));
        assert!((p.friction - 0.6).abs() < 1e-15);
    }

    #[test]
    fn padding_acts_only_where_the_colliding_actor_has_no_collider() {
        let (a, b) = (params(1.0), params(4.0));
        let thin = PairKind { static_collider: false, thin_colliding: true };
        let p = combine(&a, &b, thin, &PairOverride::default());
        assert!((p.threshold - 8.4e-3).abs() < 1e-18);
    }

    #[test]
    fn frictionless_actor_makes_a_frictionless_pair_without_nan() {
        let (mut a, b) = (params(1.0), params(4.0));
        a.friction = 0.0;
        let p = combine(&a, &b, STATIC, &PairOverride::default());
        assert_eq!(p.friction, 0.0);
    }

    #[test]
    fn override_replaces_what_it_names_and_nothing_else() {
        let (a, b) = (params(1.0), params(4.0));
        let replaced = PairOverride { friction: Some(0.9), ..Default::default() };
        let p = combine(&a, &b, STATIC, &replaced);
        let q = combine(&a, &b, STATIC, &PairOverride::default());
        assert_eq!(PairParams { friction: q.friction, ..p }, q);
        assert_eq!(p.friction, 0.9);
        assert!(PairOverride { stiffness: Some(0.0), ..Default::default() }.validate().is_err());
        assert!(PairOverride { damping: Some(f64::NAN), ..Default::default() }.validate().is_err());
    }

    struct Combination(PairKind);
    impl Law<18, 8> for Combination {
        fn value<T: Scalar>(&self, x: [T; 18]) -> [T; 8] {
            let a = ContactParams::from_array(std::array::from_fn(|i| x[i]), true);
            let b = ContactParams::from_array(std::array::from_fn(|i| x[9 + i]), true);
            combine(&a, &b, self.0, &PairOverride::default()).to_array()
        }
    }

    #[test]
    fn combination_has_exact_derivatives() {
        // Scaled so that every argument is of order one.
        let x = std::array::from_fn(|i| 0.5 + 0.1 * i as f64);
        for kind in [BOTH_DYNAMIC, STATIC] {
            check::gradients(&Combination(kind), "any", x, [1e-2; 18], Smoothness::Smooth, 1e-6);
        }
    }
}
