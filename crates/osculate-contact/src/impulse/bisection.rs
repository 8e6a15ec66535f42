//! Bisection on the normal impulse: two counter-examples.
//!
//! ```text
//! probe r_N:  x = −W_T⁻¹ (b_T + w r_N), scaled radially to μ r_N;   test u_N = W_N r_N + w·x + b_N − lift
//! bracket     [0, max(2 r_N, r_N + (lift − u_N)/W_N, 1 N s)] of the old impulse, 20 halvings, then one linear interpolation
//! lift        plain: 0;   De Saxcé: μ ‖u_T‖ of the old impulse
//! ```
//!
//! **Do not use them near the friction limit.** Each probe scales the stick impulse radially, which [`radial`] shows to be
//! another law: at 97 % of its limit a box slides away under both, where the [`disk`](super::disk) and the [`cone`](super::cone) hold it, and more
//! iterations do not change that. De Saxcé's shift belongs inside the projection onto the cone, where it cancels the dilatancy; as a
//! target of a normal row that is enforced already, it makes a sliding body rise with `u_N = μ‖u_T‖`.
//! [`BisectionWarning`] says so for a contact that is close to its limit.
//!
//! They are here to be compared with. The least bracket of 1 N s is the original's and not free of units; an impulse that needs more than the
//! bracket holds ends at its upper end. No derivative is offered of an answer that is not the law's.
//!
//! This is not RaiSim's per-contact bisection (Hwangbo, Lee and Hutter 2018), which bisects an angle.
//! Source: the page *Friction* of the Steel solver, and its recorded single-contact solves, which this reproduces.

use super::ImpulseError;
use super::cone::{Cone, parts};
use super::plane::inverse;
use super::radial::{self, Radii};
use nalgebra::{Vector2, Vector3};
use std::fmt;

/// Halvings of the bracket.
const HALVINGS: usize = 20;

/// Least upper end of the bracket \[N s\].
const LEAST_BRACKET: f64 = 1.0;

/// Load over limit from which the answer is not to be trusted.
pub const NEAR_LIMIT: f64 = 0.9;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bisection {
    /// On `u_N = 0`.
    Plain,
    /// On `u_N = μ‖u_T‖`.
    DeSaxce,
}

impl Bisection {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "bisection",
            Self::DeSaxce => "bisection_desaxce",
        }
    }
}

/// Why the answer of a bisection is not that of Coulomb's law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BisectionWarning {
    /// Which of the two.
    pub law: Bisection,
    /// Friction that would be needed to stick over the largest there is \[–\].
    pub load_over_limit: f64,
}

impl fmt::Display for BisectionWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, percent) = (self.law.name(), 100.0 * self.load_over_limit);
        write!(
            f,
            "`{name}` at {percent:.0} % of the friction limit: it scales the stick impulse radially and may slide where Coulomb's law holds"
        )?;
        match self.law {
            Bisection::Plain => Ok(()),
            Bisection::DeSaxce => write!(f, ", and lifts what slides"),
        }
    }
}

/// What a bisection ends with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BisectionSolution {
    /// `r` \[N s\], normal first.
    pub impulse: Vector3<f64>,
    /// Why it is not to be trusted.
    pub warning: Option<BisectionWarning>,
}

/// A probe: the scaled friction impulse, its length before over the radius, and `u_N`.
fn probe(cone: &Cone, load: f64) -> (Vector2<f64>, f64, f64) {
    let (normal, coupling, tangential) = parts(&cone.block);
    let slip = cone.velocity.yz() + coupling * load;
    let radius = cone.friction * load;
    let x = radial::update(&tangential, &Radii::equal(radius), &Vector2::zeros(), &slip);
    let stick = inverse(&tangential, &slip).norm();
    let ratio = if stick > 0.0 { stick / radius } else { 0.0 };
    (x, ratio, normal * load + coupling.dot(&x) + cone.velocity.x)
}

impl Bisection {
    /// The impulse after `old` \[N s\], normal first.
    ///
    /// # Errors
    /// [`ImpulseError::Input`] where a number is not finite, `W_N` is not positive or `μ` is negative.
    pub fn solve(self, cone: &Cone, old: &Vector3<f64>) -> Result<BisectionSolution, ImpulseError> {
        cone.check()?;
        ImpulseError::finite("contact impulse", old.as_slice())?;
        let velocity = cone.velocity_after(old);
        let lift = match self {
            Self::Plain => 0.0,
            Self::DeSaxce => cone.friction * velocity.yz().norm(),
        };
        let none = BisectionSolution { impulse: Vector3::zeros(), warning: None };
        if cone.velocity.x >= lift {
            return Ok(none);
        }
        let reach = old.x + (lift - velocity.x) / cone.block[(0, 0)];
        let (mut low, mut high) = (0.0, (2.0 * old.x).max(reach).max(LEAST_BRACKET));
        let mut ends = [cone.velocity.x - lift, probe(cone, high).2 - lift];
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let found = probe(cone, middle).2 - lift;
            if found < 0.0 {
                (low, ends[0]) = (middle, found);
            } else {
                (high, ends[1]) = (middle, found);
            }
        }
        let load = if ends[1] >= 0.0 {
            low - (high - low) * ends[0] / (ends[1] - ends[0])
        } else {
            0.5 * (low + high)
        };
        let (x, load_over_limit, _) = probe(cone, load);
        let warning = self.warning(load_over_limit);
        Ok(BisectionSolution { impulse: Vector3::new(load, x.x, x.y), warning })
    }

    /// The warning of a contact that uses this part of its friction \[–\]: from [`NEAR_LIMIT`] on.
    pub fn warning(self, load_over_limit: f64) -> Option<BisectionWarning> {
        let near = load_over_limit >= NEAR_LIMIT;
        near.then_some(BisectionWarning { law: self, load_over_limit })
    }
}

#[cfg(test)]
mod tests;
