//! Drive of a coordinate: feed-forward effort, and proportional and derivative feedback, within a limit.
//!
//! ```text
//! e(q, v) = τ + k_p (q* − q) + k_d (v* − v),   f = min(max(e, −τ_max), τ_max)
//! φ = e²/(2s) for |e| ≤ τ_max,  τ_max |e|/s − τ_max²/(2s) beyond,   s = −de/dq = k_p + k_d/Δt
//! ```
//!
//! Without feedback (`s = 0`) the potential is `−f q`. Held effort is a `C¹` potential, so the force has a kink and
//! its derivative on it is that of the side within the limit.

use super::CoordinateStage;
use crate::articulated::JointDrive;
use osculate_math::Scalar;

impl<T: Scalar> JointDrive<T> {
    /// `e(q, v)`: the effort asked for \[N m or N\].
    pub fn demand(&self, q: T, v: T) -> T {
        self.effort + self.stiffness * (self.target - q) + self.damping * (self.target_velocity - v)
    }

    /// Force on the coordinate \[N m or N\].
    pub fn force(&self, q: T, v: T) -> T {
        let demand = self.demand(q, v);
        match self.effort_limit {
            Some(limit) if demand > limit => limit,
            Some(limit) if demand < -limit => -limit,
            _ => demand,
        }
    }

    /// Incremental potential \[J\].
    pub fn potential(&self, stage: &CoordinateStage<T>) -> T {
        let demand = self.demand(stage.position, stage.velocity());
        let force = self.force(stage.position, stage.velocity());
        let slope = self.stiffness + self.damping / stage.duration;
        if slope > 0.0 {
            // f e/s − f²/(2s) is e²/(2s) within the limit, and its tangent beyond.
            (force * demand - force * force * 0.5) / slope
        } else {
            -force * stage.position
        }
    }
}
