//! Spin and rolling friction against their constant decelerations.

use super::{Limit, Mode, on_ground, roll, steps, stride};
use crate::CliError;
use crate::validate::scenes::G;
use crate::validate::{Check, Findings};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::impulse::Condim;
use osculate_contact::impulse::torsion::uniform_disk_radius;
use osculate_dynamics::Body;
use osculate_dynamics::impulse::RigidState;
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spin {
    pub(super) radius: f64,
    spin_speed: f64,
    duration: f64,
    roll_friction: f64,
    roll_speed: f64,
    roll_duration: f64,
}

/// A homogeneous disk that touches at one point below its centre of mass, which lies in the plane: friction does not tip it.
pub(super) fn disk(mass: f64, radius: f64, friction: f64) -> Result<Body, CliError> {
    let square = mass * radius * radius;
    let inertia = Matrix3::from_diagonal(&Vector3::new(square / 4.0, square / 4.0, square / 2.0));
    let foot = Vector3::z() * -radius;
    let mut body = Body::dynamic("disk", MassProperties::new(mass, foot, inertia)?);
    body.collider = Some(Collider::sphere(Vector3::zeros(), radius)?);
    body.contact.friction = friction;
    body.pose.position.z = radius;
    Ok(body)
}

fn ball(limit: &Limit) -> Result<Body, CliError> {
    let radius = limit.spin.radius;
    let mut body = Body::dynamic("ball", MassProperties::sphere(limit.mass, radius)?);
    body.collider = Some(Collider::sphere(Vector3::zeros(), radius)?);
    body.contact.friction = limit.friction;
    body.pose.position.z = radius;
    Ok(body)
}

pub(super) fn run(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    spins(limit, findings)?;
    rolls(limit, findings)
}

/// A number of the first body after each step, with its time \[s\]; the start first.
fn curve(
    limit: &Limit,
    body: Body,
    duration: f64,
    value: impl Fn(&RigidState) -> f64,
    start: f64,
) -> Result<[Vec<f64>; 2], CliError> {
    let scene = on_ground(body, limit.friction)?;
    let (mut times, mut values) = (vec![0.0], vec![start]);
    let settings = Mode::Points.warm(1000, 1e-12);
    roll(&scene, settings, &[], (limit.dt, steps(duration, limit.dt)?), |state, _| {
        times.push(times.len() as f64 * limit.dt);
        values.push(value(state));
        true
    })?;
    Ok([times, values])
}

/// `max(start − rate t, 0)` against what was found: the largest error over the start, and both as series.
fn against(
    name: &str,
    [times, values]: [Vec<f64>; 2],
    (start, rate): (f64, f64),
    place: usize,
) -> (f64, [Series; 2]) {
    let closed: Vec<f64> = times.iter().map(|t| (start - rate * t).max(0.0)).collect();
    let worst = closed.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let every = stride(times.len(), 30);
    let thin = |x: &[f64]| x.iter().copied().step_by(every).collect::<Vec<_>>();
    let dots = Series::dots(name, thin(&times), thin(&values)).coloured(place);
    let line = Series::line(format!("{name}, closed form"), times, closed).coloured(place);
    (worst / start, [line, dots])
}

fn spins(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let spin = &limit.spin;
    let torque_radius = uniform_disk_radius(spin.radius);
    let mut with_radius = disk(limit.mass, spin.radius, limit.friction)?;
    with_radius.impulse.torsional_radius = torque_radius;
    let mut with_row = ball(limit)?;
    with_row.impulse.condim = Condim::Spinning;
    with_row.impulse.spin_friction = limit.friction * torque_radius;
    let torque = torque_radius * limit.friction * limit.mass * G;
    let square = limit.mass * spin.radius * spin.radius;
    let mut series = Vec::new();
    for (place, (name, mut body, inertia)) in [
        ("disk, torsional radius 2R/3", with_radius, square / 2.0),
        ("ball, condim 4", with_row, 0.4 * square),
    ]
    .into_iter()
    .enumerate()
    {
        body.angular_velocity.z = spin.spin_speed;
        let found = curve(limit, body, spin.duration, |s| s.angular_velocity.z, spin.spin_speed)?;
        let (worst, both) = against(name, found, (spin.spin_speed, torque / inertia), place);
        findings.checks.push(Check::absolute(
            format!("spin, {name}: largest error of ω over its start"),
            "",
            [worst, 0.0],
            limit.tolerance.spin,
        ));
        series.extend(both);
    }
    let figure = LineFigure {
        title: "Spin friction stops a disk and a ball".into(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("spin", "rad/s"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_spin".into(), figure));
    Ok(())
}

fn rolls(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let spin = &limit.spin;
    let mut series = Vec::new();
    for (place, (name, condim, rolling)) in
        [("condim 3", Condim::Sliding, 0.0), ("condim 6", Condim::Rolling, spin.roll_friction)]
            .into_iter()
            .enumerate()
    {
        let mut body = ball(limit)?;
        body.impulse.condim = condim;
        body.impulse.rolling_friction = rolling;
        body.velocity.x = spin.roll_speed;
        body.angular_velocity.y = spin.roll_speed / spin.radius;
        let found = curve(limit, body, spin.roll_duration, |s| s.velocity.x, spin.roll_speed)?;
        let rate = 5.0 / 7.0 * rolling * G / spin.radius;
        let (worst, both) = against(name, found, (spin.roll_speed, rate), place);
        findings.checks.push(Check::absolute(
            format!("rolling ball, {name}: largest error of v over its start"),
            "",
            [worst, 0.0],
            limit.tolerance.roll,
        ));
        series.extend(both);
    }
    let figure = LineFigure {
        title: format!("A rolling ball, μ_r = {} m, R = {} m", spin.roll_friction, spin.radius),
        x: Axis::linear("time", "s"),
        y: Axis::linear("speed", "m/s"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_roll".into(), figure));
    Ok(())
}
