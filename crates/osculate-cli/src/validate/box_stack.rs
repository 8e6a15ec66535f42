//! Boxes stacked on a plane, each off the centre of the one below, at rest.
//!
//! ```text
//! the loads are off centre: boxes tilt by what the contact yields, ∝ 1/k; on the slope β of two boxes the upper one
//! creeps as friction with a falloff speed does,    V = V_f (1 − √(1 − tan β/μ)) ≈ V_f β/(2μ),
//! and the lowest, on the level plane, rests
//! ```

use super::scenes::{G, Roll, plain, plane, settings};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Body, BodyState, Method, Scene};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::so3;
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stack {
    boxes: usize,
    mass: f64,
    half_extent: f64,
    offset: f64,
    divisions: usize,
    k: f64,
    damping: f64,
    friction: f64,
    falloff_speed: f64,
    #[serde(deserialize_with = "names::read_method")]
    method: Method,
    dt: f64,
    settle: f64,
    duration: f64,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    rest: f64,
    creep: f64,
    turn: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let stack: Stack = config.read()?;
    if !(stack.settle >= 0.0 && stack.settle < stack.duration) {
        let found = format!("{} s of {} s", stack.settle, stack.duration);
        return Err(CliError::Value { field: "settle", found, allowed: ">= 0 and < duration" });
    }
    let law = settings(stack.method, DissipationSchedule::default(), FrictionRamp::C1);
    let roll = Roll::new(scene(&stack)?, law, stack.dt, stack.duration)?;
    let to = roll.steps();
    let from = ((stack.settle / roll.dt) as usize).min(to - 1);
    let span = roll.time(to) - roll.time(from);
    let drift =
        |body: usize| (roll.state(to, body).center.x - roll.state(from, body).center.x) / span;
    let mut findings = Findings::default();
    let (mut lines, mut dots, mut below) = (Vec::new(), Vec::new(), 0.0);
    for body in 1..=stack.boxes {
        let (a, b) = (roll.state(from, body), roll.state(to, body));
        let turn = so3::log(&(b.rotation * a.rotation.transpose())).norm() / span;
        let (name, allowed) = (format!("box {body}"), &stack.tolerance);
        let mut closed = 0.0;
        if body == 1 {
            let speed = [drift(1), 0.0];
            findings.checks.push(Check::absolute("box 1: drift", "m/s", speed, allowed.rest));
        } else {
            // Both boxes sample: the slope is the mean of theirs.
            let slope = 0.5 * (tilt(roll.state(to, body)) + tilt(roll.state(to, body - 1)));
            closed = stack.creep(slope);
            let speed = [drift(body) - drift(body - 1), closed];
            let what = format!("{name}: creep on box {}", body - 1);
            findings.checks.push(Check::relative(what, "m/s", speed, allowed.creep));
        }
        let what = format!("{name}: turn");
        findings.checks.push(Check::absolute(what, "rad/s", [turn, 0.0], allowed.turn));
        below += closed;
        let nanometres = |k: usize| (roll.state(k, body).center.x - a.center.x) * 1e9;
        let shown: Vec<usize> = (from..=to).step_by((to - from).div_ceil(12)).collect();
        let times: Vec<f64> = shown.iter().map(|&k| roll.time(k)).collect();
        let drifts = shown.iter().map(|&k| nanometres(k)).collect();
        dots.push(Series::dots("", times, drifts).coloured(body - 1));
        let ends = vec![roll.time(from), roll.time(to)];
        lines.push(Series::line(name, ends, vec![0.0, below * span * 1e9]));
    }
    let figure = LineFigure {
        title: format!(
            "Sideways drift of {} stacked boxes at rest; lines: closed form, dots: simulated",
            stack.boxes
        ),
        x: Axis::linear("time", "s"),
        y: Axis::linear("sideways drift", "nm"),
        series: lines.into_iter().chain(dots).collect(),
        slopes: vec![],
    };
    findings.figures.push(("box_stack".into(), figure));
    Ok(findings)
}

impl Stack {
    /// Creep speed on a slope \[rad\] \[m/s\], with its sign.
    fn creep(&self, slope: f64) -> f64 {
        let load = slope.abs().tan() / self.friction;
        self.falloff_speed * (1.0 - (1.0 - load).sqrt()) * slope.signum()
    }
}

/// Tilt about y \[rad\]: towards +x where positive.
fn tilt(body: &BodyState) -> f64 {
    body.rotation[(0, 2)].atan2(body.rotation[(2, 2)])
}

/// The boxes just touching, laid to either side in turn.
fn scene(stack: &Stack) -> Result<Scene, CliError> {
    let contact = ContactParams {
        damping: stack.damping,
        friction: stack.friction,
        falloff_speed: stack.falloff_speed,
        max_alignment: 0.0,
        ..plain(stack.k)
    };
    let h = stack.half_extent;
    let half = Vector3::repeat(h);
    let mesh = TriangleMesh::refined_cuboid(&half, stack.divisions)?;
    let mut bodies = vec![plane(contact)?];
    for i in 0..stack.boxes {
        let mass = MassProperties::cuboid(stack.mass, &half)?;
        let mut body = Body::dynamic(format!("box {}", i + 1), mass);
        body.samples = Some(SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3));
        body.collider = Some(Collider::cuboid(Vector3::zeros(), half)?);
        body.contact = contact;
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        body.pose.position = Vector3::new(side * stack.offset, 0.0, h * (2 * i + 1) as f64);
        bodies.push(body);
    }
    Ok(Scene::new(Vector3::new(0.0, 0.0, -G), bodies)?)
}
