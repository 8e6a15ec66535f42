//! The momentum balance of a tree over a step, and the laws of its joints, generic over the scalar.

use super::{LiveBlock, LiveRow, RowState};
use crate::articulated::immediate::{RowNumbers, RowSource};
use crate::articulated::{
    ArticulatedModel, Configuration, JointDrive, JointLaws, Load, TreeKinematics, inverse_dynamics,
};
use osculate_math::Scalar;

/// What the balance depends on.
pub(super) struct Balance<'a, T> {
    pub(super) model: &'a ArticulatedModel<T>,
    pub(super) at: &'a TreeKinematics<T>,
    pub(super) q: &'a Configuration<T>,
    pub(super) v: &'a [T],
    /// Velocities of Coriolis and gyroscopic forces: `v`, or none.
    pub(super) moving: &'a [T],
    /// `v⁺`.
    pub(super) after: &'a [T],
    /// Generalised forces of the step; empty for none.
    pub(super) efforts: &'a [T],
    /// Targets of drives in the step; empty for those of the model.
    pub(super) targets: &'a [T],
    pub(super) duration: f64,
}

/// Force of a drive that has no row, `v⁺` included where it is implicit.
fn drive_force<T: Scalar>(drive: &JointDrive<T>, (q, after): (T, T), h: f64) -> T {
    let has_row = drive.effort_limit.is_some() && drive.slope(h) > 0.0;
    if has_row { T::zero() } else { drive.force(q + after * h, after) }
}

/// Impulse of the laws of a joint that have no rows, against a coordinate \[N s or N m s\].
pub(super) fn smooth_impulse<T: Scalar>(laws: &JointLaws<T>, q: Option<T>, after: T, h: f64) -> T {
    let mut force = laws.friction.viscous * after;
    if let (Some(drive), Some(q)) = (&laws.drive, q) {
        force -= drive_force(drive, (q, after), h);
    }
    force * h
}

/// `b` and `γ` of a row of a joint; `None` for dry friction and closures.
pub(super) fn numbers<T: Scalar>(
    source: RowSource,
    laws: &JointLaws<T>,
    q: T,
    h: f64,
) -> Option<RowNumbers<T>> {
    match source {
        RowSource::Upper { .. } => Some(laws.limits?.row(q, true, h).1),
        RowSource::Lower { .. } => Some(laws.limits?.row(q, false, h).1),
        RowSource::Drive { .. } => laws.drive?.row(q, h),
        _ => None,
    }
}

/// Bound of the impulse of a row of a joint \[N s or N m s\].
///
/// * `square`: of the speed at the start.
pub(super) fn bound<T: Scalar>(
    source: RowSource,
    laws: &JointLaws<T>,
    square: T,
    h: f64,
) -> Option<T> {
    match source {
        RowSource::Drive { .. } => Some(laws.drive?.effort_limit? * h),
        RowSource::Friction { .. } => Some(laws.friction.bound(square) * h),
        _ => None,
    }
}

impl<T: Scalar> Balance<'_, T> {
    /// Laws of a link's joint in the step.
    pub(super) fn laws(&self, link: usize) -> JointLaws<T> {
        let mut laws = self.model.links()[link].joint.laws;
        let target = self.targets.get(self.model.joint_dofs(link).start);
        if let (Some(drive), Some(target)) = (&mut laws.drive, target) {
            drive.target = *target;
        }
        laws
    }

    /// `h ID + h (c v⁺ − drive − τ)`: the balance without the impulses of rows.
    pub(super) fn smooth(&self, load: &Load<T>) -> Vec<T> {
        let h = self.duration;
        let a: Vec<T> = self.after.iter().zip(self.v).map(|(x, v)| (*x - *v) / h).collect();
        let mut out = inverse_dynamics(self.model, self.at, self.moving, &a, load);
        out.iter_mut().for_each(|x| *x *= T::from(h));
        for (k, effort) in self.efforts.iter().enumerate() {
            out[k] -= *effort * h;
        }
        for link in 0..self.model.links().len() {
            let (laws, q) = (self.laws(link), self.q.joints()[link].scalar());
            for k in self.model.joint_dofs(link) {
                out[k] += smooth_impulse(&laws, q, self.after[k], h);
            }
        }
        out
    }

    /// Residual of a row that acts, and its impulse where that is a bound.
    pub(super) fn row(&self, live: &LiveRow) -> (Option<T>, T) {
        let (k, h) = (live.dof, self.duration);
        let impulse = T::from(live.impulse);
        let link = match live.source {
            RowSource::Upper { link }
            | RowSource::Lower { link }
            | RowSource::Drive { link }
            | RowSource::Friction { link } => link,
            RowSource::Closure { .. } | RowSource::Other => return (None, T::zero()),
        };
        let laws = self.laws(link);
        match live.state {
            RowState::Apart => (None, impulse),
            RowState::Bound(sign) => {
                let bound = bound(live.source, &laws, self.v[k] * self.v[k], h);
                (None, bound.map_or(impulse, |b| b * sign))
            }
            RowState::Acting(_) => {
                let q = self.q.joints()[link].scalar().unwrap_or_else(T::zero);
                let zero = RowNumbers { bias: T::zero(), compliance: T::zero() };
                let RowNumbers { bias, compliance } =
                    numbers(live.source, &laws, q, h).unwrap_or(zero);
                (Some(self.after[k] * live.sign + bias + compliance * impulse), impulse)
            }
        }
    }

    /// Bound of the friction of a block \[N s or N m s\].
    pub(super) fn block_bound(&self, live: &LiveBlock) -> T {
        let own = &self.v[live.first..live.first + live.count];
        let square = own.iter().fold(T::zero(), |sum, v| sum + *v * *v);
        self.laws(live.link).friction.bound(square) * self.duration
    }
}
