//! The row of an anchor: how much it can hold, how it pulls back, when it lets go.
//!
//! ```text
//! budget   ρ = μ/#anchors · Σ r_N
//! row      u_T + β d/Δt:  held without load, d decays by (1 − β) a step
//! release  Σ r_N ≤ 0,  or  ‖r_T‖ ≥ s ρ and u_T·r_T < −10⁻⁵ ρ R/Δt        s = 0.95
//! ```
//!
//! An anchor on its circle that does not slip keeps its memory: it may be held there.
//! Source: the page *Friction* of the Steel solver.

use super::super::ImpulseError;
use nalgebra::Vector3;
use osculate_math::Scalar;
use osculate_math::norm::scale;

/// Drift correction β \[–\] of an anchor.
pub const DRIFT_CORRECTION: f64 = 0.2;

/// Largest friction impulse \[N s\] of each of `anchors` anchors: `μ/#anchors · Σ r_N`.
///
/// * `load`: `Σ r_N` of the region \[N s\]; negative counts as none.
pub fn budget<T: Scalar>(friction: T, load: T, anchors: usize) -> T {
    if load > 0.0 && anchors > 0 { friction * load / anchors as f64 } else { T::zero() }
}

/// `β d/Δt` \[m/s\], added to the slip in the row of an anchor.
pub fn drift_velocity<T: Scalar>(
    displacement: &Vector3<T>,
    correction: T,
    duration: f64,
) -> Vector3<T> {
    scale(displacement, correction / duration)
}

/// The slip against its impulse \[m/s\] beyond which an anchor on its circle slides: `10⁻⁵ R/Δt`.
///
/// * `length`: `R` \[m\].
/// * `duration`: `Δt` \[s\].
pub fn slow_slip(length: f64, duration: f64) -> f64 {
    1e-5 * length / duration
}

/// When an anchor forgets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Release {
    saturation: f64,
}

impl Default for Release {
    fn default() -> Self {
        Self { saturation: 0.95 }
    }
}

/// An anchor after the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnchorState {
    /// `Σ r_N` of its region \[N s\].
    pub load: f64,
    /// `ρ` \[N s\].
    pub radius: f64,
    /// `r_T` \[N s\].
    pub impulse: Vector3<f64>,
    /// `u_T` at the end of the step \[m/s\].
    pub slip: Vector3<f64>,
}

impl Release {
    /// * `saturation`: `s` \[–\], part of the radius from which an anchor counts as sliding, in (0, 1].
    ///
    /// # Errors
    /// Where it is outside its range.
    pub fn new(saturation: f64) -> Result<Self, ImpulseError> {
        if saturation > 0.0 && saturation <= 1.0 {
            return Ok(Self { saturation });
        }
        let (quantity, allowed) = ("saturation of an anchor", "in (0, 1]");
        Err(ImpulseError::Input { quantity, found: saturation, allowed })
    }

    /// Whether the anchor forgets its displacement.
    ///
    /// * `length`: `R` \[m\].
    /// * `duration`: `Δt` \[s\].
    pub fn releases(&self, anchor: &AnchorState, length: f64, duration: f64) -> bool {
        if anchor.load <= 0.0 {
            return true;
        }
        let saturated = anchor.impulse.norm() >= self.saturation * anchor.radius;
        saturated && anchor.slip.dot(&anchor.impulse) < -anchor.radius * slow_slip(length, duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: f64 = 0.01;

    #[test]
    fn budgets_add_up_to_the_load_times_friction() {
        for anchors in 1..4 {
            let each = budget(0.4_f64, 3.0, anchors);
            assert!((each * anchors as f64 - 1.2).abs() < 1e-15);
        }
        assert!(budget(0.4, -1.0, 2) <= 0.0 && budget(0.4, 1.0, 0) <= 0.0);
    }

    #[test]
    fn a_held_anchor_without_load_decays_by_a_fifth_a_step() {
        let start = Vector3::new(1e-3, -2e-3, 0.0);
        let mut d = start;
        for _ in 0..10 {
            // A row that is met has u_T = −β d/Δt.
            d -= drift_velocity(&d, DRIFT_CORRECTION, DURATION) * DURATION;
        }
        assert!((d - start * 0.8_f64.powi(10)).norm() < 1e-17);
    }

    #[test]
    fn anchors_let_go_where_they_slide_or_carry_nothing() {
        let held = AnchorState {
            load: 2.0,
            radius: 1.0,
            impulse: Vector3::new(1.0, 0.0, 0.0),
            slip: Vector3::zeros(),
        };
        let release = Release::default();
        let check = |a: &AnchorState| release.releases(a, 0.1, DURATION);
        assert!(!check(&held), "saturated, but without slip");
        let sliding = AnchorState { slip: Vector3::new(-1e-3, 0.0, 0.0), ..held };
        assert!(check(&sliding));
        assert!(!check(&AnchorState { slip: -sliding.slip, ..held }), "pulled back");
        let inside = AnchorState { impulse: held.impulse * 0.94, ..sliding };
        assert!(!check(&inside));
        assert!(Release::new(0.9).unwrap().releases(&inside, 0.1, DURATION));
        assert!(check(&AnchorState { load: 0.0, ..held }));
        assert!(Release::new(0.0).is_err() && Release::new(1.1).is_err());
    }
}
