//! Where a recorded motion and ours differ: what shows which of the two is right.
//!
//! 1. A closed form of the way that Coulomb's law allows, met here and missed in the recording.
//! 2. A disc that only spins, which by symmetry stays where it is, is pushed aside in the same recording and not here.
//! 3. The recording of the same case with more sweeps: what was cut short misses it, and the converged roll-out meets it.
//! 4. What the recording itself holds at the step where the two part, see [`rows`]: bodies that overlap where the row of a contact
//!    forbids it, impulses that leave a natural residual, or a push by rows that stay open.
//! 5. A roll-out of ours that differs from it in one known thing, see [`twins`](super::twins).
//!
//! None of them: the difference stays a disagreement.

use super::motion::{Setting, TOLERANCE, allowed, deviation, roll, settings};
use super::record::Case;
use super::rows;
use super::scenes::{Set, exact_travel, set};
use crate::CliError;
use nalgebra::Vector3;
use osculate_dynamics::impulse::ImpulseTrajectory;
use serde::Deserialize;
use serde_json::{Value, json};

/// What was found.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) numbers: Value,
}

/// What shows that a difference is not ours, if anything does.
///
/// # Errors
/// Where a roll-out fails.
pub(super) fn find(
    setting: &Setting<'_>,
    set: &Set,
    solved: &ImpulseTrajectory,
) -> Result<Option<Shown>, CliError> {
    if let Some(shown) = closed_form(setting, set, solved) {
        return Ok(Some(shown));
    }
    if let Some(shown) = aside(setting)? {
        return Ok(Some(shown));
    }
    if let Some(shown) = finer(setting, set, solved)? {
        return Ok(Some(shown));
    }
    if let Some(shown) = rows::overlap(setting, set, solved)? {
        return Ok(Some(shown));
    }
    if let Some(shown) = rows::impulses(setting, set, residual(solved)) {
        return Ok(Some(shown));
    }
    if let Some(shown) = rows::open(setting, set, (solved, residual(solved)))? {
        return Ok(Some(shown));
    }
    Ok(rows::mirror(setting, set, solved))
}

/// Largest natural residual of Coulomb's law in any step \[–\].
fn residual(trajectory: &ImpulseTrajectory) -> f64 {
    trajectory.records.iter().map(|r| r.stats.residual).fold(0.0, f64::max)
}

/// What a closed form says where it is nearer to us: the way of the first mark to the end.
fn closed_form(setting: &Setting<'_>, set: &Set, solved: &ImpulseTrajectory) -> Option<Shown> {
    let Setting { family, meta, run, case, .. } = *setting;
    let exact = exact_travel(family, meta, run, case)?;
    let mark = set.marks.first()?;
    let (start, last) = (mark.path.first()?, mark.path.last()?);
    let miss = |x: &Vector3<f64>| ((x - start).norm() - exact).abs();
    let theirs = miss(last);
    let here = miss(&solved.last()[mark.body].center);
    let right = here <= (1e-5_f64).max(0.01 * exact) && here < theirs;
    let sweeps = run.options.iterations;
    right.then(|| Shown {
        text: format!(
            "Coulomb's law has the closed form {exact:.6} m: the recording of {sweeps} sweeps is {theirs:.1e} m off, ours {here:.1e} m"
        ),
        numbers: json!({ "by": "closed form", "exact": exact, "recorded_off": theirs, "ours_off": here }),
    })
}

/// Of a disc that slides and spins: how far the one that only spins, which by symmetry stays, goes with the same options.
fn aside(setting: &Setting<'_>) -> Result<Option<Shown>, CliError> {
    let Setting { family, meta, run, case, .. } = *setting;
    let id = case.id.replace("slide_and_spin", "spin");
    let found = run.cases.iter().find(|c| c["id"] == id.as_str() && id != case.id);
    let (true, Some(value)) = (case.is_disc(), found) else { return Ok(None) };
    let spins = Case::deserialize(value)
        .map_err(|source| CliError::Json { path: id.into(), source: source.into() })?;
    let set = set(family, meta, run, &spins)?;
    let Some(mark) = set.marks.first() else { return Ok(None) };
    let (Some(start), Some(last)) = (mark.path.first(), mark.path.last()) else { return Ok(None) };
    let theirs = (last - start).norm();
    let solved = roll(&set, settings(run, &set, &spins)?)?;
    let here = (solved.last()[mark.body].center - start).norm();
    Ok((theirs > 1e-3 && here < 1e-5).then(|| Shown {
        text: format!(
            "with the same options the disc that only spins, which by symmetry stays, goes {theirs:.1e} m aside in the recording, whose anchors are two of its three points, and {here:.0e} m here, where they are opposite to each other"
        ),
        numbers: json!({ "by": "spin in place", "recorded_off": theirs, "ours_off": here }),
    }))
}

/// What the recording of most sweeps of the same case says.
fn finer(
    setting: &Setting<'_>,
    coarse: &Set,
    solved: &ImpulseTrajectory,
) -> Result<Option<Shown>, CliError> {
    let Setting { family, meta, runs, run, case } = *setting;
    let finest = runs.iter().filter(|r| r.is_finer(run)).max_by_key(|r| r.options.iterations);
    let Some(finest) = finest else { return Ok(None) };
    let Some(value) = finest.cases.iter().find(|c| c["id"] == case.id.as_str()) else {
        return Ok(None);
    };
    let fine = Case::deserialize(value)
        .map_err(|source| CliError::Json { path: case.id.clone().into(), source: source.into() })?;
    if fine.steps != case.steps || fine.params != case.params {
        return Ok(None);
    }
    let set = set(family, meta, finest, &fine)?;
    let (ours, place) = deviation(&set, &fine, solved, fine.steps.len());
    let mut theirs = 0.0_f64;
    for (there, here) in coarse.marks.iter().zip(&set.marks) {
        for (instant, (a, b)) in there.path.iter().zip(&here.path).enumerate() {
            theirs = theirs.max((a - b).norm() / allowed(here, instant));
        }
    }
    let unsolved = residual(solved);
    let (few, many) = (run.options.iterations, finest.options.iterations);
    Ok((ours <= TOLERANCE && theirs > TOLERANCE).then(|| Shown {
        text: format!(
            "the recording of {few} sweeps is {theirs:.1} times what is allowed off that of {many} sweeps; ours, solved to a natural residual of {unsolved:.0e}, {ours:.2} times ({place})"
        ),
        numbers: json!({
            "by": "the recording of more sweeps", "sweeps": many, "recorded_off": theirs,
            "ours_off": ours, "ours_residual": unsolved,
        }),
    }))
}
