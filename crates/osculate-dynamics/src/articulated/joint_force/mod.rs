//! Laws inside a joint: friction, limits and drive, each a potential with its force.
//!
//! ```text
//! Δt R = Δt [ c V²/2 + τ_c ρ(V) + τ_s σ(V) ]             friction,  V = |v|
//! U    = k g²/2,   Δt R = d (g − g⁰)²/(2Δt)              limits,    g = how far the coordinate is beyond one
//! φ    = e²/2s held within the effort limit              drive,     e = τ + k_p (q* − q) + k_d (v* − v)
//! f    = −∂(U + Δt R + φ)/∂q,   v = (q − q⁰)/Δt
//! ```
//!
//! `q⁰` is the coordinate at the start of a stage of duration `Δt`. The numbers are in
//! [`JointFriction`](super::JointFriction), [`JointLimits`](super::JointLimits) and
//! [`JointDrive`](super::JointDrive), the formulas are their methods. A joint with more than one degree of freedom
//! has friction on the norm of its velocity; a free joint has it of its translation and of its rotation.

mod drive;
mod friction;
mod limits;

use super::laws::JointLaws;
use osculate_math::{Jet, Scalar};

/// Coordinate of a joint during a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateStage<T = f64> {
    /// `q` \[rad or m\].
    pub position: T,
    /// `q⁰` \[rad or m\].
    pub start: T,
    /// `Δt` \[s\].
    pub duration: f64,
}

impl<T: Scalar> CoordinateStage<T> {
    /// `v = (q − q⁰)/Δt`.
    pub fn velocity(&self) -> T {
        (self.position - self.start) / self.duration
    }
}

impl<T: Scalar> JointLaws<T> {
    /// Incremental potential of a joint with one coordinate \[J\].
    pub fn potential(&self, stage: &CoordinateStage<T>) -> T {
        let v = stage.velocity();
        let mut sum = self.friction.dissipation(v * v) * stage.duration;
        if let Some(limits) = &self.limits {
            sum += limits.potential(stage);
        }
        if let Some(drive) = &self.drive {
            sum += drive.potential(stage);
        }
        sum
    }

    /// Force on a joint with one coordinate, `−∂potential/∂q` \[N m or N\].
    pub fn force(&self, stage: &CoordinateStage<T>) -> T {
        let v = stage.velocity();
        let mut sum = -v * self.friction.resistance(v * v);
        if let Some(limits) = &self.limits {
            sum += limits.force(stage);
        }
        if let Some(drive) = &self.drive {
            sum += drive.force(stage.position, v);
        }
        sum
    }

    /// Force with its derivatives by `q` and by `q⁰` \[N m/rad or N/m\].
    pub fn force_derivatives(&self, stage: &CoordinateStage<T>) -> (T, [T; 2]) {
        let lifted = self.map(&Jet::<2, T>::constant);
        let seeded = CoordinateStage {
            position: Jet::variable(stage.position, 0),
            start: Jet::variable(stage.start, 1),
            duration: stage.duration,
        };
        let force = lifted.force(&seeded);
        (force.re, force.eps)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
