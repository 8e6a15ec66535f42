//! What contacts whose normal and friction are found together leave in doubt.

use super::row::Velocities;
use super::rows::{Group, Rows};
use super::settings::{FrictionMode, ImpulseSettings};
use super::solve::{Phase, Solver};
use super::stall::Manner;
use osculate_contact::impulse::BisectionWarning;

/// Of the contact of a group at the end of a step: how many impulses satisfy Coulomb's law, and the warning of a counter-example.
pub(super) fn doubts(
    (rows, v): (&Rows, &Velocities),
    group: &Group,
    settings: &ImpulseSettings,
) -> (Option<usize>, Option<BisectionWarning>) {
    let solver = Solver { settings, phase: Phase::Position, manner: Manner::WHOLE };
    if settings.friction_mode == FrictionMode::FixedNormal || !solver.is_coupled(group) {
        return (None, None);
    }
    let (normal, pair) = (&rows.normals[group.normals.start], &rows.pairs[group.pairs.start]);
    let Some(law) = settings.friction_mode.bisection() else {
        // What the law refuses the sweeps have refused before.
        return (solver.cone(normal, pair, v).solutions().ok().map(|all| all.len()), None);
    };
    let radius = pair.share * normal.impulse;
    let used = if radius > 0.0 { pair.impulse.norm() / radius } else { 0.0 };
    (None, law.warning(used))
}
