//! Joints: the balance of a tree, and the rows of its joints and closures.
//!
//! ```text
//! balance   G = h ID(q, v, (v⁺ − v)/h) + h (c v⁺ − drive(q + h v⁺, v⁺) − τ) − Jᵀ r = 0          dv₀ = −Ĥ⁻¹ ∂G
//! acting    J v⁺ + b + γ r = 0       limits that are reached, held drives within their effort, dry friction that holds, closures
//! bound     r = ± its bound          drives at their effort limit, dry friction that slips, with the speed at the start
//! apart     r = 0                    limits
//! ```
//!
//! Contacts are wrenches on links. Both `J ψ` and `J v⁺` of a contact are velocities of links, so that a tree adds to the pullback of
//! contacts only the power of the contact's covectors on the columns `J`: see [`crate::reduction`] for that of a power.

mod adjoint;
mod balance;
mod closures;
mod drift;
mod laws;
mod tangent;

pub(super) use adjoint::{LinkFields, Tests, TreeSweep, of_link};
pub(super) use tangent::{TreePass, TreePath};

use super::ball::{ROUNDING, across};
use super::collect::INSIDE;
use super::line::LineBuf;
use super::linear::StepLinear;
use crate::articulated::immediate::{FrictionBlock, RowSource, TreeResponse, TreeRow};
use crate::articulated::{Configuration, MassFactor, TreeKinematics};

/// What a row of a joint does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RowState {
    /// Its unknown.
    Acting(usize),
    /// At its bound, with the sign of the impulse.
    Bound(f64),
    /// A limit that is not reached.
    Apart,
}

/// A row of a joint or a closure.
#[derive(Clone, Debug)]
pub(super) struct LiveRow {
    pub(super) source: RowSource,
    /// The degree of freedom of a joint, with the sign of its entry.
    dof: usize,
    sign: f64,
    /// `r` \[N s or N m s\].
    pub(super) impulse: f64,
    pub(super) state: RowState,
    /// How far it is from another state, see [`super::switches`].
    pub(super) margin: f64,
}

/// Dry friction of a joint with more degrees of freedom.
#[derive(Clone, Debug)]
pub(super) struct LiveBlock {
    pub(super) link: usize,
    first: usize,
    pub(super) count: usize,
    /// Where it slips, `r/‖r‖`.
    pub(super) along: Option<Vec<f64>>,
    pub(super) margin: f64,
}

/// The tree in a step.
#[derive(Clone, Debug)]
pub(super) struct TreeStep {
    /// Its first vector of unknowns.
    pub(super) at: usize,
    pub(super) q: Configuration,
    pub(super) v: Vec<f64>,
    /// `v⁺`.
    pub(super) after: Vec<f64>,
    pub(super) kinematics: TreeKinematics,
    /// Of `Ĥ`.
    pub(super) factor: MassFactor,
    pub(super) rows: Vec<LiveRow>,
    pub(super) blocks: Vec<LiveBlock>,
}

impl StepLinear {
    /// The tree, and the rows of its joints that act.
    ///
    /// * `at`: its first vector of unknowns.
    /// * `impulses`: of its rows, then of its blocks.
    pub(super) fn collect_joints(
        &mut self,
        (response, at): (TreeResponse<'_>, usize),
        (after, impulses): (&[f64], &[f64]),
        diagonal: &mut Vec<f64>,
    ) -> TreeStep {
        let (rows, blocks) = (response.joint_rows(), response.friction_blocks());
        let mut impulses = impulses.iter().copied();
        let mut next = || impulses.next().unwrap_or(0.0);
        let live = rows.iter().map(|row| self.joint_row((row, at), next(), after, diagonal));
        let rows = live.collect();
        let mut each = Vec::with_capacity(blocks.len());
        for block in &blocks {
            let r: Vec<f64> = block.rows.iter().map(|_| next()).collect();
            each.push(self.joint_block((block, at), &r, after, diagonal));
        }
        TreeStep {
            at,
            q: response.q.clone(),
            v: response.v.to_vec(),
            after: after.to_vec(),
            kinematics: response.at,
            factor: response.factor,
            rows,
            blocks: each,
        }
    }

    fn joint_row(
        &mut self,
        (row, at): (&TreeRow, usize),
        impulse: f64,
        after: &[f64],
        diagonal: &mut Vec<f64>,
    ) -> LiveRow {
        let [least, most] = row.bounds;
        let whole = row.weight + row.compliance;
        let residual = row.velocity(after) + row.bias + row.compliance * impulse;
        let aim = impulse - residual / whole;
        let (state, margin) = if least >= 0.0 && impulse <= 0.0 {
            (RowState::Apart, residual)
        } else if impulse.abs() < most * INSIDE || (least <= aim && aim <= most) {
            let spare = if least < 0.0 { 1.0 - impulse.abs() / most } else { impulse };
            (RowState::Acting(self.rows.len()), spare)
        } else {
            (RowState::Bound(impulse.signum()), aim.abs() / most - 1.0)
        };
        if let RowState::Acting(_) = state {
            self.push_row(LineBuf::of_tree(at, &row.jacobian).view());
            diagonal.push(row.compliance);
        }
        let dof = row.jacobian.iter().position(|j| *j != 0.0).unwrap_or(0);
        let sign = row.jacobian.get(dof).copied().unwrap_or(0.0);
        LiveRow { source: row.source, dof, sign, impulse, state, margin }
    }

    fn joint_block(
        &mut self,
        (block, at): (&FrictionBlock, usize),
        impulses: &[f64],
        after: &[f64],
        diagonal: &mut Vec<f64>,
    ) -> LiveBlock {
        let size = impulses.iter().map(|r| r * r).sum::<f64>().sqrt();
        let power: f64 =
            impulses.iter().zip(&block.rows).map(|(r, row)| r * row.velocity(after)).sum();
        let alpha = if size > 0.0 { -power / (size * size) } else { 0.0 };
        let trace: f64 = block.rows.iter().map(|r| r.weight).sum();
        let line = |row: &TreeRow| LineBuf::of_tree(at, &row.jacobian);
        let lines: Vec<LineBuf> = block.rows.iter().map(line).collect();
        let (first, count) = (block.first, lines.len());
        if size < block.bound * INSIDE || alpha <= ROUNDING * trace {
            for line in lines {
                self.push_row(line.view());
                diagonal.push(0.0);
            }
            let margin = 1.0 - size / block.bound;
            return LiveBlock { link: block.link, first, count, along: None, margin };
        }
        let along: Vec<f64> = impulses.iter().map(|r| r / size).collect();
        for t in across(&along) {
            let mut line = lines[0].view().scaled(t[0]);
            lines[1..].iter().zip(&t[1..]).for_each(|(own, t)| line.add(own.view(), *t));
            self.push_row(line.view());
            diagonal.push(alpha);
        }
        let margin = alpha / (alpha + trace);
        LiveBlock { link: block.link, first, count, along: Some(along), margin }
    }
}
