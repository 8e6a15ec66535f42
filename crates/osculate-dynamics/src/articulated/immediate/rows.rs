//! The rows that joints and closures bring to a step.

use super::law::{RowNumbers, RowSource, spring_row};
use super::row::{FrictionBlock, TreeRow};
use super::tree::TreeResponse;
use crate::articulated::closure::closure_rows;
use crate::articulated::{JointDrive, JointKind, JointLimits};
use std::ops::Range;

impl TreeResponse<'_> {
    fn dof_row(&self, dof: usize, sign: f64, source: RowSource) -> TreeRow {
        let mut jacobian = vec![0.0; self.free.len()];
        jacobian[dof] = sign;
        TreeRow { source, ..self.row(jacobian) }
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
                self.push_limits(limits, q, (i, dof), &mut rows);
            }
            if let Some(drive) = laws.drive.as_ref() {
                rows.extend(self.drive_row(drive, q, (i, dof)));
            }
            let bound = self.friction_bound(i, dof..dof + 1);
            if bound > 0.0 {
                let row = self.dof_row(dof, 1.0, RowSource::Friction { link: i });
                rows.push(TreeRow { bounds: [-bound, bound], ..row });
            }
        }
        for (index, closure) in self.model.closures().iter().enumerate() {
            let numbers = [closure.stiffness, closure.damping];
            let each = closure_rows(self.model, &self.at, closure).into_iter();
            rows.extend(each.enumerate().map(|(component, row)| {
                let source = RowSource::Closure { closure: index, component };
                let RowNumbers { bias, compliance } = spring_row(row.gap, numbers, self.duration);
                TreeRow { bias, compliance, source, ..self.row(row.jacobian) }
            }));
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
                    let source = RowSource::Friction { link: i };
                    let first = part.start;
                    let rows = part.map(|k| self.dof_row(k, 1.0, source)).collect();
                    blocks.push(FrictionBlock { rows, bound, link: i, first });
                }
            }
        }
        blocks
    }

    fn push_limits(
        &self,
        limits: &JointLimits,
        q: f64,
        (link, dof): (usize, usize),
        rows: &mut Vec<TreeRow>,
    ) {
        // The row's velocity is that of the distance, which an impulse ≥ 0 increases.
        for (sign, upper) in [(-1.0, true), (1.0, false)] {
            let (distance, RowNumbers { bias, compliance }) = limits.row(q, upper, self.duration);
            if distance.is_finite() {
                let source =
                    if upper { RowSource::Upper { link } } else { RowSource::Lower { link } };
                let bounds = [0.0, f64::INFINITY];
                rows.push(TreeRow { bias, compliance, bounds, ..self.dof_row(dof, sign, source) });
            }
        }
    }

    /// A drive that is held by its effort limit; without feedback it has no row, see [`TreeResponse::new`].
    fn drive_row(
        &self,
        drive: &JointDrive,
        q: f64,
        (link, dof): (usize, usize),
    ) -> Option<TreeRow> {
        let limit = drive.effort_limit? * self.duration;
        let RowNumbers { bias, compliance } = drive.row(q, self.duration)?;
        let row = self.dof_row(dof, 1.0, RowSource::Drive { link });
        Some(TreeRow { bias, compliance, bounds: [-limit, limit], ..row })
    }

    /// Largest impulse of dry friction \[N s or N m s\].
    fn friction_bound(&self, link: usize, part: Range<usize>) -> f64 {
        let square: f64 = self.v[part].iter().map(|v| v * v).sum();
        self.model.links()[link].joint.laws.friction.bound(square) * self.duration
    }
}
