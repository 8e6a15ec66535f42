//! Simple predictions that a simulation has to beat, judged like it.
//!
//! * hold: everything stays as it starts.
//! * flight: it goes on as it starts, falls freely, and stays where something first touches the ground.
//! * mean path: it starts where it does and moves as the mean of the tosses for fitting, turned into the direction of its start;
//!   rotation and joints stay. Of a body whose joints alone say where it is each joint moves so, in the sense of its rate at the start.

use crate::problem::{Channel, Model, Quantity, Sample, Toss, start_poses, starts_by_joints};
use crate::recording::{ChannelErrors, Evaluation, RecordingError, TossErrors};
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::articulated::{JointKind, TreeKinematics};
use osculate_dynamics::{Kinematics, Parameters, SceneError};
use osculate_math::se3::Pose;
use osculate_math::so3;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Why a baseline cannot be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// The scene does not fit a toss.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Errors could not be computed.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// A prediction of a toss: at each frame the toss as if it started there.
type Course = Vec<Toss>;

/// Every baseline with its errors; the mean path where there are tosses to take it from.
///
/// * `half_side`: half the width of the body (m); `train`: tosses for fitting.
///
/// # Errors
/// Where the scene does not fit a toss.
pub fn evaluate(
    model: &Model,
    tosses: &[Toss],
    train: &[Toss],
    half_side: f64,
) -> Result<Vec<(&'static str, Evaluation)>, BaselineError> {
    let mut all = vec![
        ("hold", judge(model, tosses, half_side, |t| Ok(hold(t)))?),
        ("flight", judge(model, tosses, half_side, |t| flight(model, t))?),
    ];
    if !train.is_empty() {
        let judged = if starts_by_joints(model) {
            let mean = mean_joints(model, train);
            judge(model, tosses, half_side, |t| Ok(along_joints(t, &mean)))
        } else {
            let mean = mean_path(train);
            judge(model, tosses, half_side, |t| Ok(along(t, &mean)))
        };
        all.push(("mean path", judged?));
    }
    Ok(all)
}

fn judge(
    model: &Model,
    tosses: &[Toss],
    half_side: f64,
    course: impl Fn(&Toss) -> Result<Course, SceneError> + Sync,
) -> Result<Evaluation, BaselineError> {
    let one = |t: &Toss| -> Result<(TossErrors, Vec<Option<f64>>), BaselineError> {
        let course = course(t)?;
        let poses =
            course.iter().map(|at| start_poses(model, at)).collect::<Result<Vec<_>, _>>()?;
        let tracked: Vec<Pose> = poses.iter().map(|p| p[model.body]).collect();
        let errors = TossErrors::compare(t.id, &t.measured, &tracked, half_side)?;
        Ok((errors, channels(model, t, &poses)))
    };
    let found = tosses.par_iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let (errors, means): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let mut evaluation = Evaluation::new(errors)?;
    for (c, channel) in model.channels.iter().enumerate() {
        let each: Vec<f64> = means.iter().filter_map(|m| m[c]).collect();
        if !each.is_empty() {
            let (name, unit) = (channel.name.clone(), channel.unit(&model.scene).to_owned());
            evaluation.channels.push(ChannelErrors::new(name, unit, each)?);
        }
    }
    Ok(evaluation)
}

/// Mean distances of the channels of places; none of rates and forces, which a course of poses does not have.
fn channels(model: &Model, toss: &Toss, poses: &[Vec<Pose>]) -> Vec<Option<f64>> {
    let parameters = Parameters::of(&model.scene);
    let one = |(c, channel): (usize, &Channel)| {
        let placed = [Quantity::Position, Quantity::Rotation, Quantity::JointPosition];
        if !placed.contains(&channel.quantity) {
            return None;
        }
        let (mut sum, mut count) = (0.0, 0);
        for (frame, sample) in toss.series[c].iter().enumerate() {
            let Some(sample) = sample else { continue };
            let at = |body: usize| still(&poses[frame][body]);
            sum += channel.misfit_of(&model.scene, &parameters, &at, sample).norm();
            count += 1;
        }
        (count > 0).then(|| sum / f64::from(count))
    };
    model.channels.iter().enumerate().map(one).collect()
}

fn still(pose: &Pose) -> Kinematics<f64> {
    Kinematics {
        position: pose.position,
        rotation: pose.rotation,
        velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
    }
}

/// The start of a toss alone.
fn start(toss: &Toss) -> Toss {
    Toss { measured: vec![toss.measured[0]], series: Vec::new(), ..toss.clone() }
}

fn hold(toss: &Toss) -> Course {
    vec![start(toss); toss.measured.len()]
}

fn flight(model: &Model, toss: &Toss) -> Result<Course, SceneError> {
    let fall = falls(model, toss);
    let mut course = Vec::with_capacity(toss.measured.len());
    let mut down = false;
    for time in &toss.times {
        let t = time - toss.times[0];
        let mut at = start(toss);
        let pose = &mut at.measured[0];
        pose.position += toss.velocity * t + model.scene.gravity * (0.5 * t * t);
        pose.rotation = so3::exp(&(toss.angular_velocity * t)) * pose.rotation;
        for (joint, acceleration) in at.joints.iter_mut().zip(&fall) {
            joint.position += joint.rate * t + 0.5 * acceleration * t * t;
        }
        down = down || touches(model, &at)?;
        match (down, course.last().cloned()) {
            (true, Some(last)) => course.push(last),
            _ => course.push(at),
        }
    }
    Ok(course)
}

/// Gravity along each joint of the toss that slides.
fn falls(model: &Model, toss: &Toss) -> Vec<f64> {
    let Some(a) = &model.scene.articulation else { return vec![0.0; toss.joints.len()] };
    let tree = TreeKinematics::new(a.model(), &a.initial.configuration);
    let of = |body: usize| {
        let link = a.link_of_body(body)?;
        match a.model().links()[link].joint.kind {
            JointKind::Prismatic { axis } => {
                Some((tree.joints[link].rotation * axis).dot(&model.scene.gravity))
            }
            _ => None,
        }
    };
    toss.joints.iter().map(|j| of(j.body).unwrap_or(0.0)).collect()
}

/// Whether a sample of a dynamic body is on or in a static one.
fn touches(model: &Model, toss: &Toss) -> Result<bool, SceneError> {
    let (scene, poses) = (&model.scene, start_poses(model, toss)?);
    Ok(scene.pairs().into_iter().any(|(a, b)| {
        let (Some(samples), Some(collider)) = (&scene.bodies[a].samples, &scene.bodies[b].collider)
        else {
            return false;
        };
        let inside = |x: &Vector3<f64>| {
            let world = poses[a].position + poses[a].rotation * x;
            collider.phi(&(poses[b].rotation.transpose() * (world - poses[b].position))) <= 0.0
        };
        scene.bodies[a].is_dynamic()
            && !scene.bodies[b].is_dynamic()
            && samples.points().iter().any(inside)
    }))
}

/// Turn about the vertical into the direction in which the tracked body starts.
fn heading(toss: &Toss) -> Matrix3<f64> {
    let last = toss.measured[1.min(toss.measured.len() - 1)];
    let way = if toss.velocity.xy().norm() > 0.0 {
        toss.velocity
    } else {
        last.position - toss.measured[0].position
    };
    so3::exp(&(Vector3::z() * way.y.atan2(way.x)))
}

/// Mean way from the start at each frame, in the direction of the start; a toss that has ended stays.
fn mean_path(train: &[Toss]) -> Vec<Vector3<f64>> {
    let frames = train.iter().map(|t| t.measured.len()).max().unwrap_or(0);
    let mut mean = vec![Vector3::zeros(); frames];
    for t in train {
        let back = heading(t).transpose();
        for (k, sum) in mean.iter_mut().enumerate() {
            let at = t.measured[k.min(t.measured.len() - 1)];
            *sum += back * (at.position - t.measured[0].position) / train.len() as f64;
        }
    }
    mean
}

fn along(toss: &Toss, mean: &[Vector3<f64>]) -> Course {
    let turn = heading(toss);
    let at = |k: usize| {
        let mut at = start(toss);
        let way = turn * mean[k.min(mean.len() - 1)];
        at.measured[0].position += way;
        at
    };
    (0..toss.measured.len()).map(at).collect()
}

/// Mean way of a joint from its start at each frame, by the body that it moves.
type JointWay = (usize, Vec<f64>);

/// Of each joint with a channel the mean way from its start, in the sense of its rate there; of missing records, and of a toss
/// that has ended, the last one stays.
fn mean_joints(model: &Model, train: &[Toss]) -> Vec<JointWay> {
    let frames = train.iter().map(|t| t.measured.len()).max().unwrap_or(0);
    let of_joints = model.channels.iter().enumerate();
    let of_joints = of_joints.filter(|(_, c)| c.quantity == Quantity::JointPosition);
    let mean = |(c, channel): (usize, &Channel)| {
        let mut mean = vec![0.0; frames];
        for toss in train {
            let Some(start) = toss.joints.iter().find(|j| j.body == channel.body) else { continue };
            let (turns, mut way) = (turns(model, channel.body), 0.0);
            for (k, sum) in mean.iter_mut().enumerate() {
                if let Some(Some(Sample::Vector(at))) = toss.series[c].get(k) {
                    let step = at.x - start.position - way;
                    // Recorded angles may jump by a turn.
                    way += if turns { step - TAU * (step / TAU).round() } else { step };
                }
                *sum += way * start.rate.signum() / train.len() as f64;
            }
        }
        (channel.body, mean)
    };
    of_joints.map(mean).collect()
}

/// Whether a joint turns.
fn turns(model: &Model, body: usize) -> bool {
    model.scene.articulation.as_ref().is_some_and(|a| {
        let link = a.link_of_body(body).map(|l| &a.model().links()[l].joint.kind);
        matches!(link, Some(JointKind::Revolute { .. }))
    })
}

fn along_joints(toss: &Toss, mean: &[JointWay]) -> Course {
    let at = |k: usize| {
        let mut at = start(toss);
        for joint in &mut at.joints {
            let way = mean.iter().find(|(body, _)| *body == joint.body);
            joint.position +=
                way.map_or(0.0, |(_, way)| way[k.min(way.len() - 1)] * joint.rate.signum());
        }
        at
    };
    (0..toss.measured.len()).map(at).collect()
}
