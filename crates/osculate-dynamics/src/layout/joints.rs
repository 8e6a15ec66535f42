//! Parameters of joints and loop closures.

use super::{AXES, Counts, Place};
use crate::articulated::{Joint, JointKind, JointPosition, Link};
use crate::reduction::{NUMBERS, number_mut, numbers};
use crate::{Articulation, ArticulationParameters};
use nalgebra::Vector3;
use osculate_math::se3::Pose;
use osculate_math::{Scalar, so3};

/// Where Stribeck friction and what is beyond it stand in the flat order of a joint's numbers.
const LIMITS: std::ops::Range<usize> = 11..15;
const EFFORT_LIMIT: usize = 20;

/// Path and unit of each increment of a frame.
fn frame(path: &str, turn: &str) -> Vec<(String, &'static str)> {
    let position = AXES.iter().map(move |a| (format!("{path}_{a}"), "m"));
    let rotation = AXES.iter().map(move |a| (format!("{turn}_{a}"), "rad"));
    position.chain(rotation).collect()
}

/// Whether a joint has a number.
fn has(joint: &Joint, i: usize) -> bool {
    let at = |x: f64| x.is_finite();
    let (dofs, laws) = (joint.kind.dofs(), &joint.laws);
    match i {
        0..6 => i < dofs,
        6..11 => dofs > 0,
        11 => laws.limits.is_some_and(|l| at(l.lower)),
        12 => laws.limits.is_some_and(|l| at(l.upper)),
        _ if LIMITS.contains(&i) => laws.limits.is_some(),
        EFFORT_LIMIT => laws.drive.is_some_and(|d| d.effort_limit.is_some()),
        _ => laws.drive.is_some(),
    }
}

fn translates(kind: &JointKind, k: usize) -> bool {
    match kind {
        JointKind::Free => k < 3,
        JointKind::Prismatic { .. } => true,
        _ => false,
    }
}

/// Calls `push` with path, unit and place of every parameter of the joints, in their order.
pub(super) fn push(
    articulation: &Articulation,
    counts: &Counts,
    mut push: impl FnMut(String, &'static str, Place),
) {
    let model = articulation.model();
    for (i, link) in model.links().iter().enumerate() {
        push_joint(i, link, &mut push);
        for (j, at) in model.joint_dofs(i).enumerate() {
            let units =
                if translates(&link.joint.kind, j) { ["m", "m/s"] } else { ["rad", "rad/s"] };
            let index = index(link, j);
            push(format!("joint.{}.q{index}", link.name), units[0], Place::JointPosition(at));
            push(format!("joint.{}.qdot{index}", link.name), units[1], Place::JointRate(at));
        }
    }
    for (i, closure) in model.closures().iter().enumerate() {
        let path = format!("loop.{}", closure.name);
        push(format!("{path}.stiffness"), "N/m", Place::Closure(i, 0));
        push(format!("{path}.damping"), "N s/m", Place::Closure(i, 1));
        for (side, name) in ["first", "second"].into_iter().enumerate() {
            let entries = frame(&format!("{path}.{name}"), &format!("{path}.{name}_rotation"));
            for (k, (path, unit)) in entries.into_iter().enumerate() {
                push(path, unit, Place::ClosureFrame(i, side, k));
            }
        }
    }
    push_steps(articulation, counts, &mut push);
}

fn push_joint(i: usize, link: &Link, push: &mut impl FnMut(String, &'static str, Place)) {
    let path = format!("joint.{}", link.name);
    let placement = frame(&format!("{path}.position"), &format!("{path}.rotation"));
    for (k, (path, unit)) in placement.into_iter().enumerate() {
        push(path, unit, Place::Placement(i, k));
    }
    let offset = frame(&format!("{path}.offset"), &format!("{path}.offset_rotation"));
    for (k, (path, unit)) in offset.into_iter().enumerate() {
        push(path, unit, Place::Offset(i, k));
    }
    for (j, (name, turning, moving)) in NUMBERS.iter().enumerate() {
        if has(&link.joint, j) {
            let moves = translates(&link.joint.kind, if j < 6 { j } else { 0 });
            let name = if j == 0 && link.joint.kind.dofs() == 1 { "armature" } else { name };
            let unit = if moves { moving } else { turning };
            push(format!("{path}.{name}"), unit, Place::JointNumber(i, j));
        }
    }
}

/// Efforts and targets of steps, where there are any.
fn push_steps(
    articulation: &Articulation,
    counts: &Counts,
    push: &mut impl FnMut(String, &'static str, Place),
) {
    let model = articulation.model();
    let dofs = model.dofs().max(1);
    for i in 0..counts.efforts {
        let (step, k) = (i / dofs, i % dofs);
        let link = &model.links()[model.link_of(k)];
        let own = k - model.joint_dofs(model.link_of(k)).start;
        let unit = if translates(&link.joint.kind, own) { "N" } else { "N m" };
        let index = index(link, own);
        push(format!("joint.{}.effort{index}.{step}", link.name), unit, Place::Effort(i));
    }
    for i in 0..counts.targets {
        let (step, k) = (i / dofs, i % dofs);
        let link = &model.links()[model.link_of(k)];
        if link.joint.laws.drive.is_some() {
            let unit = if translates(&link.joint.kind, 0) { "m" } else { "rad" };
            push(format!("joint.{}.target.{step}", link.name), unit, Place::Target(i));
        }
    }
}

/// What tells the degrees of freedom of a joint apart: nothing where there is one.
fn index(link: &Link, own: usize) -> String {
    if link.joint.kind.dofs() == 1 { String::new() } else { format!("_{own}") }
}

/// Position of degree of freedom `k` of a joint; rotations are increments, whose value is zero.
fn coordinate<T: Scalar>(q: &JointPosition<T>, k: usize) -> T {
    match q {
        JointPosition::Scalar(x) => *x,
        JointPosition::Pose(x) if k < 3 => x.position[k],
        _ => T::zero(),
    }
}

pub(super) fn get<T: Scalar>(p: &ArticulationParameters<T>, place: Place) -> T {
    let links = p.model.links();
    let position = |x: &Pose<T>, k: usize| if k < 3 { x.position[k] } else { T::zero() };
    match place {
        Place::JointNumber(i, j) => numbers(&links[i].joint)[j],
        Place::Placement(i, k) => position(&links[i].joint.placement, k),
        Place::Offset(i, k) => position(&links[i].joint.offset, k),
        Place::JointPosition(k) => {
            let link = p.model.link_of(k);
            let own = k - p.model.joint_dofs(link).start;
            coordinate(&p.initial.configuration.joints()[link], own)
        }
        Place::JointRate(k) => p.initial.rates[k],
        Place::Effort(i) => p.efforts[i],
        Place::Target(i) => p.targets[i],
        Place::Closure(i, 0) => p.model.closures()[i].stiffness,
        Place::Closure(i, _) => p.model.closures()[i].damping,
        Place::ClosureFrame(i, side, k) => {
            let closure = &p.model.closures()[i];
            position(&[&closure.first, &closure.second][side].frame, k)
        }
        _ => T::zero(),
    }
}

fn move_frame<T: Scalar>(frame: &mut Pose<T>, k: usize, x: T) {
    if k < 3 {
        frame.position[k] += x;
    } else {
        let mut turn = Vector3::zeros();
        turn[k - 3] = x;
        frame.rotation = so3::exp(&turn) * frame.rotation;
    }
}

pub(super) fn add<T: Scalar>(p: &mut ArticulationParameters<T>, place: Place, x: T) {
    match place {
        Place::JointNumber(i, j) => {
            let mut laws = *p.model.laws_mut(i);
            if let Some(number) = number_mut(p.model.armature_mut(i), &mut laws, j) {
                *number += x;
            }
            *p.model.laws_mut(i) = laws;
        }
        Place::Placement(i, k) => move_frame(p.model.placement_mut(i), k, x),
        Place::Offset(i, k) => move_frame(p.model.offset_mut(i), k, x),
        Place::JointPosition(k) => {
            let mut delta = vec![T::zero(); p.model.dofs()];
            delta[k] = x;
            p.initial.configuration = p.initial.configuration.incremented(&delta);
        }
        Place::JointRate(k) => p.initial.rates[k] += x,
        Place::Effort(i) => p.efforts[i] += x,
        Place::Target(i) => p.targets[i] += x,
        Place::Closure(i, 0) => p.model.closure_mut(i).stiffness += x,
        Place::Closure(i, _) => p.model.closure_mut(i).damping += x,
        Place::ClosureFrame(i, side, k) => {
            let closure = p.model.closure_mut(i);
            let attachment = if side == 0 { &mut closure.first } else { &mut closure.second };
            move_frame(&mut attachment.frame, k, x);
        }
        _ => {}
    }
}
