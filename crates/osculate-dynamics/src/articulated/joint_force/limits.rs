//! Soft limits of a coordinate.
//!
//! ```text
//! g = q − q_max above the upper limit, q − q_min below the lower, 0 between
//! U + Δt R = k g²/2 + d (g − g⁰)²/(2Δt)
//! f = −(k g + d (g − g⁰)/Δt) where g ≠ 0
//! ```
//!
//! The elastic part is that of the reference implementation. The damping is that of its compliant constraints; no
//! reference case reaches a limit with damping. On the way out the damped force ends with a jump of `d g⁰/Δt` where
//! `g` becomes zero.

use super::CoordinateStage;
use crate::articulated::JointLimits;
use osculate_math::Scalar;

impl<T: Scalar> JointLimits<T> {
    /// `g`, signed \[rad or m\]; 0 on a limit and between the two.
    pub fn overshoot(&self, q: T) -> T {
        if q > self.upper {
            q - self.upper
        } else if q < self.lower {
            q - self.lower
        } else {
            T::zero()
        }
    }

    /// Incremental potential \[J\].
    pub fn potential(&self, stage: &CoordinateStage<T>) -> T {
        let (g, start) = (self.overshoot(stage.position), self.overshoot(stage.start));
        let moved = g - start;
        self.stiffness * g * g * 0.5 + self.damping * moved * moved * (0.5 / stage.duration)
    }

    /// Force on the coordinate \[N m or N\].
    pub fn force(&self, stage: &CoordinateStage<T>) -> T {
        if stage.position <= self.upper && stage.position >= self.lower {
            return T::zero();
        }
        let (g, start) = (self.overshoot(stage.position), self.overshoot(stage.start));
        -(self.stiffness * g + self.damping * (g - start) / stage.duration)
    }
}
