//! What the impulse model needs of a surface.

use osculate_contact::impulse::Condim;
use osculate_contact::impulse::combine::{FrictionCombine, SurfaceFriction, combine};
use osculate_math::Scalar;

/// What the impulse model needs of a surface beside its friction coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpulseSurface {
    /// `e`, coefficient of restitution \[–\], 0 to 1; the mean of two bodies acts.
    pub restitution: f64,
    /// `r`, effective radius of spin friction that shares the budget of sliding \[m\], ≥ 0; the larger of two bodies acts.
    pub torsional_radius: f64,
    /// `r_patch` \[m\], ≥ 0: where two bodies overlap by δ the effective radius is at least `√(δ r_patch)`; the larger of two bodies acts.
    pub torsional_patch_radius: f64,
    /// Which friction rows a contact has; the larger number of two bodies acts.
    pub condim: Condim,
    /// Coefficient of spin with four or six rows \[m\], ≥ 0; the larger of two bodies acts.
    pub spin_friction: f64,
    /// Coefficient of rolling with six rows \[m\], ≥ 0; the larger of two bodies acts.
    pub rolling_friction: f64,
    /// How its sliding friction combines with that of another surface, of two modes the later one; `None` is that of the scene.
    pub combine: Option<FrictionCombine>,
    /// Whose sliding friction acts alone, where the two differ.
    pub friction_priority: i32,
}

impl Default for ImpulseSurface {
    fn default() -> Self {
        Self {
            restitution: 0.0,
            torsional_radius: 0.0,
            torsional_patch_radius: 0.0,
            condim: Condim::Sliding,
            spin_friction: 0.0,
            rolling_friction: 0.0,
            combine: None,
            friction_priority: 0,
        }
    }
}

impl ImpulseSurface {
    /// Sliding friction of two surfaces of coefficients `mu` \[–\].
    ///
    /// * `scene`: how those combine that do not say.
    pub(crate) fn sliding<T: Scalar>(of: [&Self; 2], mu: [T; 2], scene: FrictionCombine) -> T {
        let surface = |k: usize| {
            let combine = of[k].combine.unwrap_or(scene);
            let priority = of[k].friction_priority;
            SurfaceFriction { combine, priority, ..SurfaceFriction::new(mu[k]) }
        };
        combine(&surface(0), &surface(1), T::one()).dynamic
    }

    /// Checks every range.
    ///
    /// # Errors
    /// With the field, the value and what is allowed.
    pub fn validate(&self) -> Result<(), (&'static str, f64, &'static str)> {
        let e = self.restitution;
        if !(0.0..=1.0).contains(&e) {
            return Err(("restitution", e, "0 to 1"));
        }
        let lengths = [
            ("torsional_radius", self.torsional_radius),
            ("torsional_patch_radius", self.torsional_patch_radius),
            ("spin_friction", self.spin_friction),
            ("rolling_friction", self.rolling_friction),
        ];
        let bad = lengths.into_iter().find(|(_, x)| !(*x >= 0.0 && x.is_finite()));
        bad.map_or(Ok(()), |(field, found)| Err((field, found, ">= 0 m")))
    }
}
