//! What a recording itself says about the rows of its contacts.
//!
//! ```text
//! overlap    max(0, −(φ + h u_N)) apart, max(0, −(β φ + h u_N)) overlapping      of poses before and after a step
//! impulses   |r − max(0, r − (u_N + b + γ r)/(W + γ))| (W + γ)                   of recorded impulses
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
fn forbidden(
    setting: &Setting<'_>,
    set: &Set,
    [from, to]: &[Vec<Pose>; 2],
) -> Result<f64, CliError> {
    let bodies = &set.scene.bodies;
    let shape = |i: usize| bodies[i].collider.as_ref().map(ContactShape::of_collider).transpose();
    let way = |i: usize, point: &Vector3<f64>| {
        let turn = so3::log(&(to[i].rotation * from[i].rotation.transpose()));
        to[i].position - from[i].position + turn.cross(&(point - from[i].position))
    };
    let mut worst = 0.0_f64;
    for a in 0..bodies.len() {
        for b in a + 1..bodies.len() {
            let (Some(first), Some(second)) = (shape(a)?, shape(b)?) else { continue };
            let first = Placed { shape: &first, pose: &from[a] };
            let second = Placed { shape: &second, pose: &from[b] };
            for contact in contacts(first, second, set.margin) {
                let point = contact.evaluate(&from[a], &from[b]);
                let middle = (point.point_a + point.point_b) * 0.5;
                let closing = point.normal.dot(&(way(a, &middle) - way(b, &middle)));
                let target = if point.gap >= 0.0 {
                    point.gap
                } else if set.softness > 0.0 {
                    // A soft row yields, and what it carries is not known here.
                    continue;
                } else {
                    setting.run.options.baumgarte * point.gap
                };
                worst = worst.max(-(target + closing));
            }
        }
    }
    Ok(worst)
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
