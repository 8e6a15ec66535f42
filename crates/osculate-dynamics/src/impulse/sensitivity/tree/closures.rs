//! Pullback of the rows of loop closures.
//!
//! ```text
//! φ = Σ_k [ r_k G_k(ψ) − μ_k (G_k(v⁺) + b_k + γ r_k) ]        G_k(u) = Σ over both frames of f_k·u_p + m_k·ω
//! ```
//!
//! `f`, `m` and the gap are functions of the two frames in the world: jets in their twelve increments. Of the velocities of the
//! frames φ is linear: those are powers, as those of contacts are.

use super::{RowState, TreeStep};
use crate::articulated::immediate::{RowNumbers, RowSource, spring_row};
use crate::articulated::{Attachment, LoopClosure, closure_covectors};
use crate::impulse::sensitivity::adjoint::StateBar;
use crate::impulse::sensitivity::back::Back;
use crate::reduction::{Reduction, TreeBar};
use nalgebra::Vector3;
use osculate_math::se3::Pose;
use osculate_math::{Jet, lift, lift_matrix, mat3, so3};

/// Increments of both frames, stiffness and damping.
type Seeded = Jet<14>;

/// A frame of a closure in the world.
struct Frame {
    body: Option<(usize, usize)>,
    pose: Pose,
}

fn frame(reduction: &Reduction<f64>, tree: &TreeStep, a: &Attachment) -> Frame {
    match a.link {
        None => Frame { body: None, pose: a.frame },
        Some(link) => {
            let x = &tree.kinematics.links[link];
            let position = x.position + x.rotation * a.frame.position;
            let pose = Pose { position, rotation: x.rotation * a.frame.rotation };
            Frame { body: Some((link, reduction.bodies[link])), pose }
        }
    }
}

fn seeded(pose: &Pose, first: usize) -> Pose<Seeded> {
    let v = |first: usize| Vector3::from_fn(|k, _| Seeded::variable(0.0, first + k));
    Pose {
        position: lift(&pose.position) + v(first),
        rotation: mat3::mul(&so3::exp(&v(first + 3)), &lift_matrix(&pose.rotation)),
    }
}

pub(super) fn pull_closures(
    (reduction, total): (&Reduction<f64>, &mut TreeBar<f64>),
    tree: &TreeStep,
    (back, h): (&mut Back<'_>, f64),
    bars: &mut [StateBar],
) {
    for (index, closure) in reduction.model.closures().iter().enumerate() {
        let frames = [&closure.first, &closure.second].map(|a| frame(reduction, tree, a));
        let sum = potential((closure, index), tree, &frames, (back, h));
        let bar = &mut total.closures[index];
        bar.numbers[0] += sum.eps[12];
        bar.numbers[1] += sum.eps[13];
        for (side, frame) in frames.iter().enumerate() {
            let by = &sum.eps[6 * side..6 * side + 6];
            let (force, moment) =
                (Vector3::from_column_slice(&by[..3]), Vector3::from_column_slice(&by[3..]));
            let turn = frame.body.map(|(link, _)| tree.kinematics.links[link].rotation);
            let local = |x: &Vector3<f64>| turn.map_or(*x, |r| r.tr_mul(x));
            for k in 0..3 {
                bar.frames[side][k] += local(&force)[k];
                bar.frames[side][3 + k] += local(&moment)[k];
            }
            if let Some((link, body)) = frame.body {
                let arm = frame.pose.position - back.states[body].center;
                bars[body].center += force;
                bars[body].rotation += moment + arm.cross(&force);
                // A frame is seen from the centre of mass.
                total.centers[link] -= local(&force);
            }
        }
        charge((closure, index), tree, &frames, (back, bars));
    }
}

/// The rows of a closure: component, `r` and `μ`.
fn rows<'a>(
    tree: &'a TreeStep,
    back: &'a Back<'_>,
    index: usize,
) -> impl Iterator<Item = (usize, f64, f64)> + 'a {
    tree.rows.iter().filter_map(move |row| match (row.source, row.state) {
        (RowSource::Closure { closure, component }, RowState::Acting(unknown))
            if closure == index =>
        {
            Some((component, row.impulse, back.rows[unknown]))
        }
        _ => None,
    })
}

/// `φ` with its derivatives by the frames, at velocities of the links' centres of mass that do not change.
fn potential(
    (closure, index): (&LoopClosure, usize),
    tree: &TreeStep,
    frames: &[Frame; 2],
    (back, h): (&Back<'_>, f64),
) -> Seeded {
    let poses = [seeded(&frames[0].pose, 0), seeded(&frames[1].pose, 6)];
    let covectors = closure_covectors(closure.kind, poses.each_ref());
    let numbers = [Seeded::variable(closure.stiffness, 12), Seeded::variable(closure.damping, 13)];
    // Velocity of the origin and angular velocity of each frame, at ψ and at v⁺.
    let velocity = |field: usize, side: usize| {
        frames[side].body.map(|(link, body)| {
            let (linear, angular) = back.links.twists[field][link];
            let w: Vector3<Seeded> = lift(&angular);
            let arm = poses[side].position - lift(&back.states[body].center);
            (lift(&linear) + w.cross(&arm), w)
        })
    };
    let velocities = [0, 1].map(|field| [velocity(field, 0), velocity(field, 1)]);
    let mut sum = Seeded::constant(0.0);
    for (component, r, mu) in rows(tree, back, index) {
        let row = &covectors[component];
        for (field, factor) in [r, -mu].into_iter().enumerate() {
            for (side, (f, m)) in row.sides.iter().enumerate() {
                if let Some((u, w)) = &velocities[field][side] {
                    sum += (f.dot(u) + m.dot(w)) * factor;
                }
            }
        }
        let RowNumbers { bias, compliance } = spring_row(row.gap, numbers, h);
        sum -= (bias + compliance * r) * mu;
    }
    sum
}

/// Covectors of the rows on the velocities of links; a centre of mass that moves changes the velocity of the frame too.
fn charge(
    (closure, index): (&LoopClosure, usize),
    tree: &TreeStep,
    frames: &[Frame; 2],
    (back, bars): (&mut Back<'_>, &mut [StateBar]),
) {
    let covectors = closure_covectors(closure.kind, [&frames[0].pose, &frames[1].pose]);
    let weights: Vec<(usize, f64, f64)> = rows(tree, back, index).collect();
    for (side, frame) in frames.iter().enumerate() {
        let Some((link, body)) = frame.body else { continue };
        let arm = frame.pose.position - back.states[body].center;
        for &(component, r, mu) in &weights {
            let (f, m) = covectors[component].sides[side];
            for (field, factor) in [r, -mu].into_iter().enumerate() {
                let (_, w) = back.links.twists[field][link];
                let force = f * factor;
                bars[body].center -= force.cross(&w);
                let power = &mut back.links.powers[field][link];
                power.0 += force;
                power.1 += m * factor + arm.cross(&force);
            }
        }
    }
}
