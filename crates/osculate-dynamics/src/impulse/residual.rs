//! What is left after a sweep, and many sweeps at once.

use super::row::Velocities;
use super::rows::{FrictionPair, Rows};
use super::solve::{Solver, slip};
use super::spin::Angular;
use super::stall::{self, State};
use osculate_contact::impulse::ImpulseError;

/// The largest natural residual.
#[derive(Clone, Copy, Default)]
pub(super) struct Worst {
    /// Its size \[m/s or rad/s\].
    pub(super) size: f64,
    pub(super) contact: usize,
    pub(super) tree: Option<usize>,
}

impl Solver<'_> {
    /// Takes many sweeps like the next at once, if that leaves no larger residual than `size`; how many sweeps it took to find out, and where it
    /// landed.
    pub(super) fn leap(
        &self,
        (rows, v): (&mut Rows, &mut Velocities),
        size: f64,
        left: usize,
    ) -> Result<(usize, Option<State>), ImpulseError> {
        let tries = stall::LEAPS.len() * stall::SETTLE;
        if left <= tries + 2 {
            return Ok((0, None));
        }
        let first = rows.clone();
        self.sweep(rows, v)?;
        let before = rows.clone();
        self.sweep(rows, v)?;
        if !stall::is_steady(&first, &before, rows) {
            return Ok((2, None));
        }
        let start = State::of(rows, v, size);
        let mut landed: Option<State> = None;
        for factor in stall::LEAPS {
            start.put(rows, v);
            stall::leap(rows, v, &before, factor);
            for _ in 0..stall::SETTLE {
                self.sweep(rows, v)?;
            }
            let residual = self.residual(rows, v).size;
            let bar = landed.as_ref().map_or(size, |s| s.residual);
            // As good is better: what is wound up shows in no residual.
            if residual <= bar * 1.001 {
                landed = Some(State::of(rows, v, residual));
            }
        }
        landed.as_ref().unwrap_or(&start).put(rows, v);
        Ok((tries + 2, landed))
    }

    /// Natural residual, and where it is largest.
    pub(super) fn residual(&self, rows: &Rows, v: &Velocities) -> Worst {
        let mut worst = Worst::default();
        let mut see = |size: f64, contact: usize| {
            // A NaN is the worst of all.
            if size > worst.size || size.is_nan() {
                worst = Worst { size, contact, tree: None };
            }
        };
        for group in &rows.groups {
            let load = rows.load(group);
            for normal in &rows.normals[group.normals.clone()] {
                see(self.normal_step(normal, v), normal.contact);
            }
            let contact = rows.normals.get(group.normals.start).map_or(0, |n| n.contact);
            let pairs = &rows.pairs[group.pairs.clone()];
            if let Some(size) = group.angular.residual_with(load, pairs, v) {
                see(size, contact);
                continue;
            }
            for pair in pairs {
                see(friction_residual(pair, load, v), contact);
            }
            if let Angular::Spin(spin) = &group.angular {
                see(spin.residual(load, pairs, v), contact);
            }
        }
        for joints in &rows.joints {
            let size = joints.residual(v);
            if size > worst.size || size.is_nan() {
                worst = Worst { size, tree: Some(joints.tree), ..worst };
            }
        }
        worst
    }
}

/// Natural residual of a friction pair \[m/s\].
pub(super) fn friction_residual(pair: &FrictionPair, load: f64, v: &Velocities) -> f64 {
    let tau = pair.block.trace();
    if tau <= 0.0 {
        return 0.0;
    }
    let radius = pair.share * load;
    let mut aim = pair.impulse - slip(pair, v) / tau;
    let size = aim.norm();
    if size > radius {
        aim *= radius / size;
    }
    (pair.impulse - aim).norm() * tau
}
