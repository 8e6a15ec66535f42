//! Rows of the joints and closures of a tree, which are swept after the contacts.

use super::{flat, padded};
use crate::articulated::immediate::{FrictionBlock, TreeRow};
use crate::impulse::row::Velocities;

/// Rows of one tree's joints and closures.
#[derive(Clone, Debug)]
pub(crate) struct JointRows {
    pub(crate) tree: usize,
    /// Where its velocities stand.
    pub(crate) at: usize,
    pub(super) dofs: usize,
    pub(super) rows: Vec<TreeRow>,
    pub(super) blocks: Vec<FrictionBlock>,
}

impl JointRows {
    /// How many vectors its velocities take.
    pub(crate) fn length(&self) -> usize {
        self.dofs.div_ceil(3)
    }

    pub(super) fn each(&self) -> impl Iterator<Item = &TreeRow> {
        self.rows.iter().chain(self.blocks.iter().flat_map(|b| &b.rows))
    }

    pub(super) fn each_mut(&mut self) -> impl Iterator<Item = &mut TreeRow> {
        self.rows.iter_mut().chain(self.blocks.iter_mut().flat_map(|b| &mut b.rows))
    }

    /// Adds what the impulses that the rows start from do.
    pub(crate) fn warm(&self, v: &mut Velocities) {
        let mut own = flat(v, self.at, self.dofs);
        self.each().for_each(|row| row.apply(row.impulse, &mut own));
        self.write(v, &own);
    }

    /// Solves each row alone; the largest change of a row's velocity.
    pub(crate) fn relax(&mut self, v: &mut Velocities) -> f64 {
        let mut own = flat(v, self.at, self.dofs);
        let mut change: f64 = 0.0;
        for row in &mut self.rows {
            change = change.max(row.relax(&mut own));
        }
        for block in &mut self.blocks {
            change = change.max(block.relax(&mut own));
        }
        self.write(v, &own);
        change
    }

    /// Largest natural residual of a row, as a velocity.
    pub(crate) fn residual(&self, v: &Velocities) -> f64 {
        let own = flat(v, self.at, self.dofs);
        let rows = self.rows.iter().map(|r| r.residual(&own));
        rows.chain(self.blocks.iter().map(|b| b.residual(&own))).fold(0.0, larger)
    }

    /// The same without impulses, at the velocities `free` that they have not changed.
    pub(crate) fn idle_residual(&self, free: &Velocities) -> f64 {
        let own = flat(free, self.at, self.dofs);
        let rows = self.rows.iter().map(|r| r.idle_residual(&own));
        rows.chain(self.blocks.iter().map(|b| b.idle_residual(&own))).fold(0.0, larger)
    }

    fn write(&self, v: &mut Velocities, own: &[f64]) {
        v[self.at..self.at + own.len().div_ceil(3)].copy_from_slice(&padded(own));
    }
}

/// The larger of two, and a NaN if there is one.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
