//! Contact parameters of an actor and of a pair.

use crate::ContactError;
use osculate_math::Scalar;

/// Contact parameters of one actor, defaults as in the model's documentation.
///
/// Which actor's value acts in a pair: [`combine`](crate::combine).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParams<T = f64> {
    /// `k`, penalty coefficient \[Pa/m\], > 0.
    pub stiffness: T,
    /// `ε`, smoothing half-width of the ramp \[m\], ≥ 0.
    pub smoothing: T,
    /// `δ`, signed distance at which contact starts \[m\].
    pub threshold: T,
    /// Added to `δ` where the colliding actor has no collider of its own \[m\], ≥ 0.
    pub threshold_padding: T,
    /// `m`, largest alignment `s = G·N_A` that is still a contact \[–\], in [−1, 1].
    pub max_alignment: T,
    /// `μ`, Coulomb friction coefficient \[–\], ≥ 0.
    pub friction: T,
    /// `c_t`, viscous friction coefficient \[s/m\], ≥ 0.
    pub viscous_friction: T,
    /// `c_n`, normal damping coefficient \[s/m\], ≥ 0.
    pub damping: T,
    /// `V_f`, speed below which friction is regularised \[m/s\], > 0.
    pub falloff_speed: T,
    /// Split velocities by the collider's normal (true) or by the colliding surface's.
    pub collider_normal: bool,
}

/// How many numbers [`ContactParams`] has.
pub const ACTOR_PARAMETERS: usize = 9;
/// How many numbers [`PairParams`] has.
pub const PAIR_PARAMETERS: usize = 8;

/// Symbols of the actor's parameters, in the order of [`ContactParams::to_array`]; the keys used in files.
pub const ACTOR_SYMBOLS: [&str; ACTOR_PARAMETERS] =
    ["k", "epsilon", "delta", "delta_extra", "m", "mu", "c_t", "c_n", "v_f"];

/// Units of the actor's parameters, in the order of [`ACTOR_SYMBOLS`].
pub const ACTOR_UNITS: [&str; ACTOR_PARAMETERS] =
    ["Pa/m", "m", "m", "m", "", "", "s/m", "s/m", "m/s"];

impl Default for ContactParams {
    fn default() -> Self {
        Self {
            stiffness: 1e9,
            smoothing: 0.005,
            threshold: 0.001,
            threshold_padding: 0.0,
            max_alignment: 0.0,
            friction: 0.5,
            viscous_friction: 0.0,
            damping: 0.0,
            falloff_speed: 0.01,
            collider_normal: true,
        }
    }
}

impl<T: Scalar> ContactParams<T> {
    /// The numbers, in the order of [`ACTOR_SYMBOLS`].
    pub fn to_array(&self) -> [T; ACTOR_PARAMETERS] {
        [
            self.stiffness,
            self.smoothing,
            self.threshold,
            self.threshold_padding,
            self.max_alignment,
            self.friction,
            self.viscous_friction,
            self.damping,
            self.falloff_speed,
        ]
    }

    /// Inverse of [`ContactParams::to_array`].
    pub fn from_array(x: [T; ACTOR_PARAMETERS], collider_normal: bool) -> Self {
        let [
            stiffness,
            smoothing,
            threshold,
            threshold_padding,
            max_alignment,
            friction,
            viscous_friction,
            damping,
            falloff_speed,
        ] = x;
        Self {
            stiffness,
            smoothing,
            threshold,
            threshold_padding,
            max_alignment,
            friction,
            viscous_friction,
            damping,
            falloff_speed,
            collider_normal,
        }
    }
}

impl ContactParams {
    /// Checks every range.
    ///
    /// # Errors
    /// With the symbol, the value found and what is allowed.
    pub fn validate(&self) -> Result<(), ContactError> {
        let x = self.to_array();
        for (parameter, found) in ACTOR_SYMBOLS.into_iter().zip(x) {
            let (allowed, ok) = match parameter {
                "k" | "v_f" => ("> 0", found > 0.0),
                "delta" => ("finite", true),
                "m" => ("in [-1, 1]", (-1.0..=1.0).contains(&found)),
                _ => (">= 0", found >= 0.0),
            };
            if !ok || !found.is_finite() {
                return Err(ContactError::Parameter { parameter, found, allowed });
            }
        }
        Ok(())
    }
}

/// Contact parameters of an ordered pair of actors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairParams<T = f64> {
    /// `k` \[Pa/m\].
    pub stiffness: T,
    /// `ε` \[m\].
    pub smoothing: T,
    /// `δ` \[m\].
    pub threshold: T,
    /// `m` \[–\].
    pub max_alignment: T,
    /// `μ` \[–\].
    pub friction: T,
    /// `c_t` \[s/m\].
    pub viscous_friction: T,
    /// `c_n` \[s/m\].
    pub damping: T,
    /// `V_f` \[m/s\].
    pub falloff_speed: T,
    /// Split velocities by the collider's normal (true) or by the colliding surface's.
    pub collider_normal: bool,
}

impl<T: Scalar> PairParams<T> {
    /// The numbers, in the order of the fields.
    #[inline]
    pub fn to_array(&self) -> [T; PAIR_PARAMETERS] {
        [
            self.stiffness,
            self.smoothing,
            self.threshold,
            self.max_alignment,
            self.friction,
            self.viscous_friction,
            self.damping,
            self.falloff_speed,
        ]
    }

    /// Inverse of [`PairParams::to_array`].
    #[inline]
    pub fn from_array(x: [T; PAIR_PARAMETERS], collider_normal: bool) -> Self {
        let [
            stiffness,
            smoothing,
            threshold,
            max_alignment,
            friction,
            viscous_friction,
            damping,
            falloff_speed,
        ] = x;
        Self {
            stiffness,
            smoothing,
            threshold,
            max_alignment,
            friction,
            viscous_friction,
            damping,
            falloff_speed,
            collider_normal,
        }
    }

    /// The same numbers as constants of another scalar.
    #[inline]
    pub fn map<U: Scalar>(&self, f: impl Fn(T) -> U) -> PairParams<U> {
        PairParams::from_array(self.to_array().map(f), self.collider_normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_every_range_is_refused_with_its_symbol() {
        let good = ContactParams::default();
        good.validate().unwrap();
        let bad = [
            ("k", 0.0),
            ("epsilon", -1e-9),
            ("delta", f64::NAN),
            ("delta_extra", -1.0),
            ("m", 1.5),
            ("mu", -0.1),
            ("c_t", f64::INFINITY),
            ("c_n", -1.0),
            ("v_f", 0.0),
        ];
        for (i, (symbol, value)) in bad.into_iter().enumerate() {
            let mut x = good.to_array();
            x[i] = value;
            match ContactParams::from_array(x, true).validate() {
                Err(ContactError::Parameter { parameter, .. }) => assert_eq!(parameter, symbol),
                other => panic!("{symbol} = {value} gave {other:?}"),
            }
        }
    }
}
