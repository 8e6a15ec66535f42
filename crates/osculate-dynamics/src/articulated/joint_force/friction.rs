//! Friction of a joint: viscous, Coulomb and Stribeck.
//!
//! ```text
//! R = c V²/2 + τ_c ρ(V) + τ_s σ(V)
//! ρ = V²/V_f − V³/(3V_f²)  below V_f,   V − V_f/3  above                          the C¹ ramp of contacts
//! σ = ρ                    below V_f,   2V_f/3 + √π/2 V_s erf((V − V_f)/V_s)  above
//! f = −v [ c + (τ_c + τ_s e^{−((V − V_f)₊/V_s)²}) ρ'(V)/V ]
//! ```
//!
//! The extra torque of stiction is whole up to the falloff speed and fades from there on, so that at rest and in
//! stick the curvature of `R` is `c + 2(τ_c + τ_s)/V_f`. The reference implementation does the same.

use crate::articulated::JointFriction;
use osculate_contact::FrictionRamp;
use osculate_math::{Scalar, special::erf};

impl<T: Scalar> JointFriction<T> {
    /// `R(V)` \[W\].
    ///
    /// * `square`: `V²` \[rad²/s²\]; the speed has no derivative at rest, its square has.
    pub fn dissipation(&self, square: T) -> T {
        let rho = FrictionRamp::C1.rho(square, self.falloff_speed);
        let extra = match self.beyond_falloff(square) {
            None => rho,
            Some(speed) => {
                let tail = erf(speed / self.stribeck_speed) * self.stribeck_speed;
                tail / std::f64::consts::FRAC_2_SQRT_PI + self.falloff_speed * (2.0 / 3.0)
            }
        };
        square * self.viscous * 0.5 + self.coulomb * rho + self.stiction_extra * extra
    }

    /// `R'(V)/V` \[N m s/rad\]: the force is `−v` times it. Finite at rest.
    pub fn resistance(&self, square: T) -> T {
        let ramp = FrictionRamp::C1.slope_over_speed(square, self.falloff_speed);
        self.viscous + self.bound(square) * ramp
    }

    /// `τ_c + τ_s e^{−((V − V_f)₊/V_s)²}` \[N m\]: the torque of dry friction without regularisation.
    pub fn bound(&self, square: T) -> T {
        let shape = match self.beyond_falloff(square) {
            None => T::one(),
            Some(speed) => {
                let ratio = speed / self.stribeck_speed;
                (-ratio * ratio).exp()
            }
        };
        self.coulomb + self.stiction_extra * shape
    }

    /// `V − V_f` where it is positive.
    fn beyond_falloff(&self, square: T) -> Option<T> {
        (square > self.falloff_speed * self.falloff_speed)
            .then(|| square.sqrt() - self.falloff_speed)
    }
}
