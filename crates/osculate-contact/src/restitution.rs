//! Restitution of a head-on impact against the damping that gives it.
//!
//! ```text
//! load λ_n (1 − c_n V_n), any penalty law, no gravity; u = c_n v, v the speed before, e v the speed after:
//!
//! exact      u (1 + e) = ln((1 + u)/(1 − e u))
//! rational   u = (1 − e)(1 + 9e/2)/(e (1 + 8e/3)),      (9/2 + 8u/3) e² + (u − 7/2) e − 1 = 0
//!
//! u → 0      e = 1 − 2u/3 + 4u²/9 − …                   Hunt and Crossley 1975: c_n ≈ 3(1 − e)/(2v)
//! u → ∞      e u = 1 − b,  b = (1 + u) e^{−(1+u)} eᵇ     e v ≈ 1/c_n
//! ```
//!
//! The exact relation is solved divided by `u² (1 + e)`, its trivial root, in a form without cancellation:
//!
//! ```text
//! G(u, e) = (1 − e)(1 + e)/2 + u (ψ(u) + e³ ψ(−e u)) = 0,     ψ(x) = (x − ln(1 + x) − x²/2)/x³
//! ```
//!
//! Sources: contact model, *Restitution Behavior of Rigid Collisions* (the rational formula and the limits); the exact relation after
//! S. Alaci et al., Mathematics 9(16) 1849, 2021, <https://doi.org/10.3390/math9161849>, as cited there.

use crate::ContactError;
use osculate_math::{Jet, Scalar};

/// Above this `u`, and below its inverse in `e`, the explicit asymptotic form is right to rounding.
const HEAVY: f64 = 16.0;

/// The relation between the damping number `u = c_n v` and the coefficient of restitution `e`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RestitutionLaw {
    /// The exact implicit relation.
    #[default]
    Exact,
    /// The rational formula of the model's documentation: within 3.1 % in `u`, 0.0075 in `e`.
    Rational,
}

impl RestitutionLaw {
    /// Coefficient of restitution `e` \[–\] of a damping number `u = c_n v` \[–\].
    ///
    /// Differentiable to third order by any scalar; for [`RestitutionLaw::Exact`] to rounding for every `u`.
    ///
    /// # Errors
    /// [`ContactError::Parameter`] where `u` is negative or not finite.
    pub fn restitution<T: Scalar>(self, u: T) -> Result<T, ContactError> {
        let found = u.re();
        if !(found >= 0.0 && found.is_finite()) {
            let allowed = ">= 0 and finite";
            return Err(ContactError::Parameter { parameter: "c_n v", found, allowed });
        }
        Ok(match self {
            Self::Rational => rational_restitution(u),
            Self::Exact if found > HEAVY => (-gap(u) + 1.0) / u,
            Self::Exact => exact_restitution(u),
        })
    }

    /// Damping number `u = c_n v` \[–\] of a coefficient of restitution `e` \[–\]: the inverse of
    /// [`RestitutionLaw::restitution`].
    ///
    /// # Errors
    /// [`ContactError::Parameter`] where `e` is outside (0, 1].
    pub fn damping_number<T: Scalar>(self, e: T) -> Result<T, ContactError> {
        let found = e.re();
        // The inverse of a subnormal number is not finite.
        if !(f64::MIN_POSITIVE..=1.0).contains(&found) {
            return Err(ContactError::Parameter { parameter: "e", found, allowed: "in (0, 1]" });
        }
        Ok(match self {
            Self::Rational => rational_damping_number(e),
            Self::Exact if found * HEAVY < 1.0 => heavy_damping_number(e),
            Self::Exact => exact_damping_number(e),
        })
    }

    /// Damping coefficient `c_n = u/v` \[s/m\] that gives `e` \[–\] at the relative speed `v` \[m/s\].
    ///
    /// # Errors
    /// [`ContactError::Parameter`] where `e` is outside (0, 1] or `v` is not positive.
    pub fn damping<T: Scalar>(self, e: T, v: T) -> Result<T, ContactError> {
        let found = v.re();
        if !(found > 0.0 && found.is_finite()) {
            let allowed = "> 0 m/s and finite";
            return Err(ContactError::Parameter { parameter: "v", found, allowed });
        }
        Ok(self.damping_number(e)? / v)
    }
}

fn rational_damping_number<T: Scalar>(e: T) -> T {
    (-e + 1.0) * (e * 4.5 + 1.0) / (e * (e * (8.0 / 3.0) + 1.0))
}

/// The positive root of the quadratic, in the form without cancellation for its sign of the linear term.
fn rational_restitution<T: Scalar>(u: T) -> T {
    let (a, b) = (u * (8.0 / 3.0) + 4.5, u - 3.5);
    let root = (b * b + a * 4.0).sqrt();
    if b > 0.0 { (b + root).recip() * 2.0 } else { (root - b) / (a * 2.0) }
}

/// `ψ(x) = (x − ln(1 + x) − x²/2)/x³`, x > −1; −1/3 at 0.
fn psi<T: Scalar>(x: T) -> T {
    // ln(1 + x) = 2 artanh r; the terms below have one sign, so nothing cancels.
    let r = x / (x + 2.0);
    if r.re().abs() > 0.5 {
        return (x - (x + 1.0).ln() - x * x * 0.5) / (x * x * x);
    }
    // Σ r^{2k}/(2k + 3): 27 terms leave 4⁻²⁷ of it.
    let r2 = r * r;
    let series = (0..27).rev().fold(T::zero(), |sum, k| sum * r2 + 1.0 / f64::from(2 * k + 3));
    let d = x + 2.0;
    -(d * 2.0).recip() - series * 2.0 / (d * d * d)
}

/// `G(u, e)`: decreasing in both where it vanishes.
fn relation<T: Scalar>(u: T, e: T) -> T {
    let light = (-e + 1.0) * (e + 1.0) * 0.5;
    light + u * (psi(u) + e * e * e * psi(-(e * u)))
}

/// `b₀ = (1 + u) e^{−(1+u)}`, below `b = 1 − e u`.
fn least_gap<T: Scalar>(u: T) -> T {
    (u + 1.0) * (-u - 1.0).exp()
}

/// `b = b₀ eᵇ` for `u` above [`HEAVY`], where `b₀ < 10⁻⁶`: two rounds of the fixed point leave `b₀³` of it.
fn gap<T: Scalar>(u: T) -> T {
    let least = least_gap(u);
    least * (least * least.exp()).exp()
}

fn exact_restitution<T: Scalar>(u: T) -> T {
    let at = u.re();
    let highest = if at > 0.0 { ((1.0 - least_gap(at)) / at).min(1.0) } else { 1.0 };
    let start = rational_restitution(at);
    let (e, slope) = newton(|e| relation(Jet::constant(at), e), start, highest);
    lift_root(|x| relation(u, x), e, slope)
}

fn exact_damping_number<T: Scalar>(e: T) -> T {
    let at = e.re();
    let highest = (1.0 - least_gap(1.0 / at)) / at;
    let start = rational_damping_number(at);
    let (u, slope) = newton(|u| relation(u, Jet::constant(at)), start, highest);
    lift_root(|x| relation(x, e), u, slope)
}

/// `u = (1 − b(u))/e` below `e = 1/`[`HEAVY`]: each round leaves `b/e < 10⁻⁵` of the error, and of that of derivatives.
fn heavy_damping_number<T: Scalar>(e: T) -> T {
    (0..4).fold(e.recip(), |u, _| (-gap(u) + 1.0) / e)
}

/// Root of a function that is decreasing and concave above it, and its slope there; nothing above `highest` is tried.
///
/// The start is within a few per cent, so eight rounds are many.
fn newton(f: impl Fn(Jet<1>) -> Jet<1>, start: f64, highest: f64) -> (f64, f64) {
    let mut x = start.min(highest);
    let mut slope = -1.0;
    for _ in 0..8 {
        let y = f(Jet::variable(x, 0));
        slope = y.eps[0];
        x = (x - y.re / slope).clamp(0.0, highest);
    }
    (x, slope)
}

/// The root as a function of what `f` carries: each chord step makes one more order of derivatives exact.
///
/// No dual goes through the iteration that finds the root.
fn lift_root<T: Scalar>(f: impl Fn(T) -> T, root: f64, slope: f64) -> T {
    (0..3).fold(T::from(root), |x, _| x - f(x) / slope)
}

#[cfg(test)]
mod tests;
