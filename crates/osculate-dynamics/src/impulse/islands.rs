//! Bodies that contacts or joints link, directly or through others, are solved apart from the rest.
//!
//! An island has its own scale and its own sweeps: it moves, bit by bit, as it would alone in the world, and one that rests
//! takes one sweep while another takes thousands. Islands are solved on several threads; each by one, so results do not depend
//! on how many there are.

use super::parts::{Part, Partition};
use super::row::Velocities;
use super::rows::Rows;
use super::schedule;
use super::settings::ImpulseSettings;
use super::solve::{ImpulseStats, row_scale};
use crate::islands::find;
use osculate_contact::impulse::ImpulseError;
use rayon::prelude::*;

/// From so many groups beside the largest island on islands are solved on several threads.
const MANY: usize = 64;

/// Solves every island; what the whole took.
///
/// * `free`: velocities without impulses.
///
/// # Errors
/// Where an impulse law refuses its input.
pub(crate) fn solve(
    rows: &mut Rows,
    (free, v): (&Velocities, &mut Velocities),
    settings: &ImpulseSettings,
) -> Result<ImpulseStats, ImpulseError> {
    let partition = partition(rows, v.len());
    if partition.parts <= 1 {
        let scale = row_scale(rows, free);
        let stats = schedule::solve(rows, v, settings, scale)?;
        return Ok(ImpulseStats { islands: partition.parts, ..stats });
    }
    let mut parts = partition.split(rows, v.len());
    let alone = |part: &mut Part| {
        part.read(free);
        let scale = row_scale(&part.rows, &part.v);
        part.read(v);
        schedule::solve(&mut part.rows, &mut part.v, settings, scale)
    };
    let largest = parts.iter().map(|p| p.rows.groups.len()).max().unwrap_or(0);
    let alone_only = rayon::current_num_threads() == 1;
    let found: Result<Vec<_>, _> = if alone_only || partition.groups.len() - largest < MANY {
        parts.iter_mut().map(alone).collect()
    } else {
        parts.par_iter_mut().map(alone).collect()
    };
    let found = found?;
    parts.iter().for_each(|part| part.write(v));
    partition.join(parts, rows);
    Ok(whole(&found))
}

/// What all islands took: the most sweeps, the worst residual.
fn whole(found: &[ImpulseStats]) -> ImpulseStats {
    let mut all = ImpulseStats { converged: true, stationary: true, ..found[0] };
    all.contacts = found.iter().map(|s| s.contacts).sum();
    for stats in found {
        all.sweeps = all.sweeps.max(stats.sweeps);
        all.converged &= stats.converged;
        all.stationary &= stats.stationary;
        // A NaN is the worst of all.
        if stats.residual > all.residual || stats.residual.is_nan() {
            (all.residual, all.worst, all.worst_tree) =
                (stats.residual, stats.worst, stats.worst_tree);
        }
    }
    ImpulseStats { islands: found.len(), ..all }
}

/// Islands in the order of their first groups, then of their first joints.
fn partition(rows: &Rows, unknowns: usize) -> Partition {
    let mut root: Vec<usize> = (0..unknowns).collect();
    for group in &rows.groups {
        if let [Some(a), Some(b)] = rows.places(group) {
            let (a, b) = (find(&mut root, a), find(&mut root, b));
            root[a.max(b)] = a.min(b);
        }
    }
    for pass in &rows.passes {
        for link in pass.places() {
            let (a, b) = (find(&mut root, pass.at()), find(&mut root, link));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut found = vec![None; unknowns];
    let mut partition = Partition::default();
    let mut part = |place: Option<usize>| {
        let known = place.map(|p| find(&mut root, p));
        let part = known.and_then(|p| found[p]).unwrap_or(partition.parts);
        partition.parts = partition.parts.max(part + 1);
        if let Some(p) = known {
            found[p] = Some(part);
        }
        part
    };
    let groups = rows.groups.iter().map(|g| {
        let [a, b] = rows.places(g);
        part(a.or(b))
    });
    partition.groups = groups.collect();
    partition.joints = rows.joints.iter().map(|j| part(Some(j.at))).collect();
    partition.passes = rows.passes.iter().map(|p| part(Some(p.at()))).collect();
    partition
}
