//! The rows that joints and closures bring to a step.

use super::row::{FrictionBlock, TreeRow};
use super::tree::TreeResponse;
use crate::articulated::closure::closure_rows;
use crate::articulated::{JointDrive, JointKind, JointLimits};
use std::ops::Range;

impl TreeResponse<'_> {
    /// Spring and damper at the end of the step: `b = k g/(h k + d)`, `γ = 1/(h (h k + d))`.
    fn spring(&self, gap: f64, stiffness: f64, damping: f64) -> (f64, f64) {
        let whole = self.duration * stiffness + damping;
        (stiffness * gap / whole, 1.0 / (self.duration * whole))
    }

    fn dof_row(&self, dof: usize, sign: f64) -> TreeRow {
        let mut jacobian = vec![0.0; self.free.len()];
        jacobian[dof] = sign;
        self.row(jacobian)
    }

    /// Rows of the limits, drives with an effort limit, dry friction of joints with one degree of freedom, and
    /// closures.
    pub fn joint_rows(&self) -> Vec<TreeRow> {
        let mut rows = Vec::new();
        for (i, link) in self.model.links().iter().enumerate() {
            let Some(q) = self.q.joints()[i].scalar() else { continue };
            let dof = self.model.joint_dofs(i).start;
            let laws = &link.joint.laws;
            if let Some(limits) = &laws.limits {
                self.push_limits(limits, q, dof, &mut rows);
            }
            if let Some(drive) = laws.drive.as_ref() {
                rows.extend(self.drive_row(drive, q, dof));
            }
            let bound = self.friction_bound(i, dof..dof + 1);
            if bound > 0.0 {
                rows.push(TreeRow { bounds: [-bound, bound], ..self.dof_row(dof, 1.0) });
            }
        }
        for closure in self.model.closures() {
            for row in closure_rows(self.model, &self.at, closure) {
                let (bias, compliance) = self.spring(row.gap, closure.stiffness, closure.damping);
                rows.push(TreeRow { bias, compliance, ..self.row(row.jacobian) });
            }
        }
        rows
    }

    /// Dry friction of joints with more degrees of freedom.
    pub fn friction_blocks(&self) -> Vec<FrictionBlock> {
        let mut blocks = Vec::new();
        for (i, link) in self.model.links().iter().enumerate() {
            let own = self.model.joint_dofs(i);
            let parts = match link.joint.kind {
                JointKind::Free => vec![own.start..own.start + 3, own.start + 3..own.end],
                JointKind::Spherical => vec![own],
                _ => Vec::new(),
            };
            for part in parts {
                let bound = self.friction_bound(i, part.clone());
                if bound > 0.0 {
                    let rows = part.map(|k| self.dof_row(k, 1.0)).collect();
                    blocks.push(FrictionBlock { rows, bound });
                }
            }
        }
        blocks
    }

    fn push_limits(&self, limits: &JointLimits, q: f64, dof: usize, rows: &mut Vec<TreeRow>) {
        // The row's velocity is that of the distance φ, which an impulse ≥ 0 increases.
        for (sign, distance) in [(-1.0, limits.upper - q), (1.0, q - limits.lower)] {
            if distance.is_finite() {
                // Apart, there is no damper: only the end of the step may load the spring.
                let damping = if distance > 0.0 { 0.0 } else { limits.damping };
                let (bias, compliance) = self.spring(distance, limits.stiffness, damping);
                let bounds = [0.0, f64::INFINITY];
                rows.push(TreeRow { bias, compliance, bounds, ..self.dof_row(dof, sign) });
            }
        }
    }

    /// A drive that is held by its effort limit; without feedback it has no row, see [`TreeResponse::new`].
    fn drive_row(&self, drive: &JointDrive, q: f64, dof: usize) -> Option<TreeRow> {
        let h = self.duration;
        let slope = h * h * drive.stiffness + h * drive.damping;
        let limit = drive.effort_limit.filter(|_| slope > 0.0)? * h;
        let at_rest = drive.demand(q, 0.0) * h;
        Some(TreeRow {
            bias: -at_rest / slope,
            compliance: 1.0 / slope,
            bounds: [-limit, limit],
            ..self.dof_row(dof, 1.0)
        })
    }

    /// Largest impulse of dry friction \[N s or N m s\].
    fn friction_bound(&self, link: usize, part: Range<usize>) -> f64 {
        let square: f64 = self.v[part].iter().map(|v| v * v).sum();
        self.model.links()[link].joint.laws.friction.bound(square) * self.duration
    }
}
