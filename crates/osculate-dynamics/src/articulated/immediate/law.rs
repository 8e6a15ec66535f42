//! Numbers of the rows of joints, generic over the scalar.
//!
//! ```text
//! spring and damper at the end of the step    b = k g/(h k + d)                          γ = 1/(h (h k + d))
//! drive with effort limit                     b = −h (τ + k_p (q* − q) + k_d v*)/s       γ = 1/s,  s = h² k_p + h k_d
//! ```

use crate::articulated::{JointDrive, JointLimits};
use osculate_math::Scalar;

/// What a row belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowSource {
    /// No joint.
    #[default]
    Other,
    /// The upper limit of a link's joint.
    Upper {
        /// Index of the link.
        link: usize,
    },
    /// The lower limit of a link's joint.
    Lower {
        /// Index of the link.
        link: usize,
    },
    /// The drive of a link's joint.
    Drive {
        /// Index of the link.
        link: usize,
    },
    /// Dry friction of a link's joint.
    Friction {
        /// Index of the link.
        link: usize,
    },
    /// A component of a loop closure.
    Closure {
        /// Index of the closure.
        closure: usize,
        /// Which of its rows.
        component: usize,
    },
}

/// `b` and `γ` of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowNumbers<T = f64> {
    /// `b`, in the unit of the row's velocity.
    pub bias: T,
    /// `γ`.
    pub compliance: T,
}

/// Spring and damper at the end of a step of `duration` \[s\].
pub fn spring_row<T: Scalar>(gap: T, [stiffness, damping]: [T; 2], duration: f64) -> RowNumbers<T> {
    let whole = stiffness * duration + damping;
    RowNumbers { bias: stiffness * gap / whole, compliance: (whole * duration).recip() }
}

impl<T: Scalar> JointLimits<T> {
    /// Distance to a limit, negative beyond it, and its row: an impulse ≥ 0 increases the distance.
    ///
    /// Apart, there is no damper: only the end of the step may load the spring.
    pub fn row(&self, q: T, upper: bool, duration: f64) -> (T, RowNumbers<T>) {
        let distance = if upper { self.upper - q } else { q - self.lower };
        let damping = if distance > 0.0 { T::zero() } else { self.damping };
        (distance, spring_row(distance, [self.stiffness, damping], duration))
    }
}

impl<T: Scalar> JointDrive<T> {
    /// The row of a drive that an effort limit may hold; `None` without feedback.
    pub fn row(&self, q: T, duration: f64) -> Option<RowNumbers<T>> {
        let slope = self.slope(duration);
        (slope > 0.0).then(|| RowNumbers {
            bias: -self.demand(q, T::zero()) * duration / slope,
            compliance: slope.recip(),
        })
    }

    /// `s = h² k_p + h k_d`: impulse by the velocity at the end of a step.
    pub fn slope(&self, duration: f64) -> T {
        self.stiffness * (duration * duration) + self.damping * duration
    }
}
