//! What a recording itself says about the rows of its contacts.
//!
//! ```text
//! overlap    max(0, −(φ + h u_N)) apart, max(0, −(β φ + h u_N)) overlapping      of poses before and after a step
//! impulses   |r − max(0, r − (u_N + b + γ r)/(W + γ))| (W + γ)                   of recorded impulses
//! open       min(φ/h + u_N, ‖Δv‖/(n √(1 + μ²)))                                 of n rows that gave a body the velocity Δv
//! ```
//!
//! A gripper is its own mirror image in x and in y, so that the box may move along z only and the jaws alike.
//!
//! `φ + h u_N ≥ 0` is what every normal row asks for, whatever its impulse is. The second is the natural residual of the row.

use super::evidence::Shown;
use super::motion::{ABSOLUTE, Setting, TOLERANCE, deviation};
use super::record::Case;
use super::scenes::{GRAVITY, Set};
use crate::CliError;
use crate::gripper::BOX;
use nalgebra::Vector3;
use osculate_dynamics::impulse::ImpulseTrajectory;
use osculate_geometry::manifold::{ContactShape, Placed, contacts};
use osculate_math::se3::Pose;
use osculate_math::so3;
use serde_json::json;

/// Overlap of ours that is rounding and tolerance, as part of what is called one.
const OURS: f64 = 0.1;
/// How far a recording must leave a mirror plane, over what is allowed of a position.
const TWICE: f64 = 2.0;
/// Natural residual of recorded impulses that single precision does not explain, relative to what gravity does in a step \[–\].
const UNSOLVED: f64 = 1e-3;
/// Natural residual of a solved step \[–\].
const SOLVED: f64 = 1e-6;

/// Whether the recording overlaps where a row forbids it, at the first step at which it parts from ours.
///
/// # Errors
/// Where a shape cannot touch.
pub(super) fn overlap(
    setting: &Setting<'_>,
    set: &Set,
    solved: &ImpulseTrajectory,
) -> Result<Option<Shown>, CliError> {
    let case = setting.case;
    // Of links, joint coordinates were recorded and no poses.
    if case.poses(0).len() != set.marks.len() {
        return Ok(None);
    }
    let ours = |step: usize| -> Vec<Pose> {
        let pose = |s: &osculate_dynamics::impulse::RigidState| Pose {
            position: s.center,
            rotation: s.rotation,
        };
        solved.state(step).iter().map(pose).collect()
    };
    for (instant, pair) in case.steps.windows(2).enumerate() {
        if pair[1] != pair[0] + 1 || deviation(set, case, solved, instant + 1).0 > TOLERANCE {
            break;
        }
        let there = [instant, instant + 1].map(|i| recorded(set, case, &ours(0), i));
        let theirs = forbidden(setting, set, &there)?;
        let here = forbidden(setting, set, &[ours(pair[0]), ours(pair[1])])?;
        if theirs > ABSOLUTE && here < OURS * ABSOLUTE {
            let (step, sweeps) = (pair[1], setting.run.options.iterations);
            return Ok(Some(Shown {
                text: format!(
                    "agrees up to step {}; in step {step} of the recording ({sweeps} sweeps) bodies overlap by {theirs:.1e} m where the rows of their contacts forbid it, ours by {here:.1e} m",
                    pair[0]
                ),
                numbers: json!({
                    "by": "overlap", "step": step, "recorded_overlap": theirs, "ours_overlap": here,
                }),
            }));
        }
    }
    Ok(None)
}

/// Poses of all bodies at a recorded instant; a body that was not recorded stands still.
fn recorded(set: &Set, case: &Case, start: &[Pose], instant: usize) -> Vec<Pose> {
    let mut poses = start.to_vec();
    let [first, now] = [0, instant].map(|i| case.poses(i));
    for ((mark, a), b) in set.marks.iter().zip(&first).zip(&now) {
        let turn = Case::rotation(b) * Case::rotation(a).transpose();
        poses[mark.body] = Pose {
            position: Vector3::new(b[0], b[1], b[2]),
            rotation: turn * start[mark.body].rotation,
        };
    }
    poses
}

/// Largest overlap that a row forbids, from poses before and after a step \[m\].
fn forbidden(setting: &Setting<'_>, set: &Set, poses: &[Vec<Pose>; 2]) -> Result<f64, CliError> {
    // A soft row yields, and what it carries is not known here.
    let soft = setting.run.options.contact_regularization > 0.0;
    let rows = left(setting, set, poses)?;
    let rigid = rows.iter().filter(|row| row.apart || !soft);
    Ok(rigid.map(|row| -row.left).fold(0.0, f64::max))
}

/// What a normal row sees.
struct Left {
    bodies: [usize; 2],
    /// Whether it was apart before the step.
    apart: bool,
    /// `φ + h u_N` apart, `β φ + h u_N` overlapping \[m\].
    left: f64,
}

/// What poses before and after a step leave of every normal row.
fn left(
    setting: &Setting<'_>,
    set: &Set,
    [from, to]: &[Vec<Pose>; 2],
) -> Result<Vec<Left>, CliError> {
    let bodies = &set.scene.bodies;
    let shape = |i: usize| bodies[i].collider.as_ref().map(ContactShape::of_collider).transpose();
    let way = |i: usize, point: &Vector3<f64>| {
        let turn = so3::log(&(to[i].rotation * from[i].rotation.transpose()));
        to[i].position - from[i].position + turn.cross(&(point - from[i].position))
    };
    let mut rows = Vec::new();
    for a in 0..bodies.len() {
        for b in a + 1..bodies.len() {
            let (Some(first), Some(second)) = (shape(a)?, shape(b)?) else { continue };
            let first = Placed { shape: &first, pose: &from[a] };
            let second = Placed { shape: &second, pose: &from[b] };
            for contact in contacts(first, second, set.margin) {
                let point = contact.evaluate(&from[a], &from[b]);
                let middle = (point.point_a + point.point_b) * 0.5;
                let closing = point.normal.dot(&(way(a, &middle) - way(b, &middle)));
                let apart = point.gap >= 0.0;
                let part = if apart { 1.0 } else { setting.run.options.baumgarte };
                rows.push(Left { bodies: [a, b], apart, left: part * point.gap + closing });
            }
        }
    }
    Ok(rows)
}

/// Whether the recording pushes the box of a gripper through rows that it leaves open, at the first step at which it parts from ours.
///
/// Of `n` rows that give the box `m Δv`, each within its friction cone, one has `W_N r ≥ ‖Δv‖/(n √(1 + μ²))`, for `W_N ≥ 1/m`.
///
/// # Errors
/// Where a shape cannot touch.
pub(super) fn open(
    setting: &Setting<'_>,
    set: &Set,
    (solved, ours): (&ImpulseTrajectory, f64),
) -> Result<Option<Shown>, CliError> {
    let (case, run) = (setting.case, setting.run);
    let mu = ["mu_jaw", "mu_box"].map(|field| setting.meta[field].as_f64());
    let (Some(_), [Some(jaw), Some(held)]) = (set.jaw_mobility, mu) else { return Ok(None) };
    let friction = 0.5 * (jaw + held);
    let agrees = |i: &usize| deviation(set, case, solved, i + 1).0 <= TOLERANCE;
    let Some(last) = (0..case.steps.len() - 1).take_while(agrees).last() else { return Ok(None) };
    let (step, next) = (case.steps[last], case.steps[last + 1]);
    if next != step + 1 {
        return Ok(None);
    }
    let start = solved.state(0).iter();
    let start: Vec<Pose> =
        start.map(|s| Pose { position: s.center, rotation: s.rotation }).collect();
    let poses = [last, last + 1].map(|i| recorded(set, case, &start, i));
    let rows = left(setting, set, &poses)?;
    let own: Vec<f64> =
        rows.iter().filter(|row| row.bodies.contains(&BOX)).map(|row| row.left).collect();
    let least = own.iter().copied().fold(f64::INFINITY, f64::min);
    let [before, after] = [last, last + 1].map(|i| case.velocities(i));
    let (Some([before, _]), Some([after, _])) = (before.get(BOX), after.get(BOX)) else {
        return Ok(None);
    };
    let fall = GRAVITY * run.dt;
    let push = (after - before + Vector3::z() * fall).norm();
    let loaded = push / (own.len() as f64 * (1.0 + friction * friction).sqrt());
    let theirs = loaded.min(least / run.dt) / fall;
    let sweeps = run.options.iterations;
    Ok((theirs > UNSOLVED && ours < SOLVED).then(|| Shown {
        text: format!(
            "agrees up to step {step}; in step {next} of the recording ({sweeps} sweeps) the box gets {push:.1e} m/s from {} contacts that all are {least:.1e} m apart or more after it: a natural residual of {theirs:.1e} of g h at least, ours {ours:.0e}",
            own.len()
        ),
        numbers: json!({
            "by": "open rows", "step": next, "recorded_residual": theirs, "recorded_gap": least,
            "recorded_push": push, "ours_residual": ours,
        }),
    }))
}

/// Whether a recording of a gripper leaves the mirror planes x = 0 and y = 0 of its scene, and ours does not.
pub(super) fn mirror(
    setting: &Setting<'_>,
    set: &Set,
    solved: &ImpulseTrajectory,
) -> Option<Shown> {
    set.jaw_mobility?;
    let case = setting.case;
    let aside = |left: Vector3<f64>, right: Vector3<f64>, held: Vector3<f64>| {
        held.x.abs().max(held.y.abs()).max((left.x + right.x).abs())
    };
    let [mut theirs, mut here] = [0.0_f64; 2];
    for (instant, &step) in case.steps.iter().enumerate() {
        let there = |i: usize| set.marks[i].path.get(instant).copied();
        theirs = theirs.max(aside(there(0)?, there(1)?, there(BOX)?));
        let state = solved.state(step);
        here = here.max(aside(state[0].center, state[1].center, state[BOX].center));
    }
    let sweeps = setting.run.options.iterations;
    // Friction of point contacts is not unique in such a step, so that ours need not keep to the planes exactly.
    let ours_stays = here <= ABSOLUTE || here < OURS * theirs;
    (theirs > TWICE * ABSOLUTE && ours_stays).then(|| Shown {
        text: format!(
            "the scene is its own mirror image in x and in y; the recording ({sweeps} sweeps) leaves the planes by {theirs:.1e} m, ours by {here:.1e} m"
        ),
        numbers: json!({ "by": "mirror", "recorded_aside": theirs, "ours_aside": here }),
    })
}

/// Whether the recorded impulses of a gripper leave a natural residual in its normal rows.
pub(super) fn impulses(setting: &Setting<'_>, set: &Set, ours: f64) -> Option<Shown> {
    let jaw = set.jaw_mobility?;
    let (case, run) = (setting.case, setting.run);
    let held = *set.scene.bodies[BOX].mass()?;
    let (mass, moment) = (held.mass(), held.inertia()[(0, 0)]);
    let h = run.dt;
    let mut worst = (0.0_f64, 0);
    for (step, contacts) in &case.contacts {
        let step: usize = step.parse().ok()?;
        let Some(instant) = case.steps.iter().position(|s| *s == step) else { continue };
        let (pose, v) = (*case.poses(instant).get(BOX)?, case.velocities(instant));
        let [linear, angular] = *v.get(BOX)?;
        let center = Vector3::new(pose[0], pose[1], pose[2]) - linear * h;
        for c in contacts {
            let n = Vector3::new(c[3], c[4], c[5]);
            let arm = Vector3::new(c[0], c[1], c[2]) - center;
            let side = v.get(usize::from(n.x < 0.0))?[0];
            let impulse = Vector3::new(c[7], c[8], c[9]).dot(&n) * h;
            let velocity = n.dot(&(linear + angular.cross(&arm) - side));
            let correction = if c[6] < 0.0 { run.options.baumgarte } else { 1.0 };
            let weight = mass.recip() + arm.cross(&n).norm_squared() / moment + jaw * n.x * n.x;
            let soft = if c[6] < 0.0 { run.options.contact_regularization * weight } else { 0.0 };
            let row = velocity + correction * c[6] / h + soft * impulse;
            let aim = (impulse - row / (weight + soft)).max(0.0);
            let residual = (impulse - aim).abs() * (weight + soft) / (GRAVITY * h);
            if residual > worst.0 {
                worst = (residual, step);
            }
        }
    }
    let (theirs, step) = worst;
    let sweeps = run.options.iterations;
    (theirs > UNSOLVED && ours < SOLVED).then(|| Shown {
        text: format!(
            "the recorded impulses of step {step} ({sweeps} sweeps) leave a natural residual of {theirs:.1e} of g h in a normal row, ours {ours:.0e} in every row"
        ),
        numbers: json!({
            "by": "recorded impulses", "step": step, "recorded_residual": theirs, "ours_residual": ours,
        }),
    })
}
