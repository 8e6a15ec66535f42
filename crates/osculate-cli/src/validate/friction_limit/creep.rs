//! Does a box at rest below its limit stay where it is?

use super::{Cube, Limit, Mode, Shove};
use crate::CliError;
use crate::validate::scenes::{G, Roll, plain, plane, settings, sledge};
use crate::validate::{Check, Findings};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::impulse::ImpulseSettings;
use osculate_dynamics::{Method, Scene};
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

/// Sweeps a step at most of bisections, which meet no tolerance where they slide.
const MOST_SWEEPS: usize = 12;
/// Sweeps a step at most of what converges.
const ENOUGH_SWEEPS: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Creep {
    loads: Vec<f64>,
    duration: f64,
    tolerance: f64,
    cold_sweeps: usize,
    compliant: Compliant,
    beside: Beside,
}

/// The scene of the other engines: pushed at the centre.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Beside {
    mass: f64,
    half_extent: f64,
    dt: f64,
    duration: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compliant {
    falloff_speeds: Vec<f64>,
    area: f64,
    k: f64,
    dt: f64,
    duration: f64,
    loads: Vec<f64>,
}

pub(super) fn run(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let creep = &limit.creep;
    let mut series = Vec::new();
    for (place, mode) in Mode::ALL.into_iter().enumerate() {
        let most = if mode.bisects() { MOST_SWEEPS } else { ENOUGH_SWEEPS };
        let warm = mode.warm(most, creep.tolerance);
        let cold = mode.cold(creep.cold_sweeps);
        let name = mode.name();
        let speeds = rests(limit, mode, warm, findings)?;
        let what = format!("{name}, warm");
        series.push(Series::line_dots(what, creep.loads.clone(), speeds).coloured(place));
        let speeds = rests(limit, mode, cold, &mut Findings::default())?;
        let what = format!("{name}, {} cold sweeps", creep.cold_sweeps);
        series.push(Series::line_dots(what, creep.loads.clone(), speeds).coloured(7 + place));
    }
    for (place, &falloff) in creep.compliant.falloff_speeds.iter().enumerate() {
        let (closed, found) = compliant(limit, falloff, findings)?;
        series.extend([closed.coloured(5 + place), found.coloured(5 + place)]);
    }
    let figure = LineFigure {
        title: format!(
            "Creep of a box pushed from rest: mean speed over {} s; what is zero is not drawn",
            creep.duration
        ),
        x: Axis::linear("push over μ m g", ""),
        y: Axis::log("speed", "m/s"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_creep".into(), figure));
    beside(limit, findings)
}

/// Ways in the scene that other engines were measured in; bars are those of the long rest.
fn beside(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let creep = &limit.creep;
    let Beside { mass, half_extent, dt, duration } = creep.beside;
    let cube = Cube { mass, half_extent, friction: limit.friction, dt, below: 0.0 };
    let mut series = Vec::new();
    for (place, (mode, bar)) in [
        (Mode::Points, limit.tolerance.creep_of_points),
        (Mode::Anchors, limit.tolerance.creep_of_anchors),
    ]
    .into_iter()
    .enumerate()
    {
        let warm = (mode.warm(ENOUGH_SWEEPS, creep.tolerance), "warm".to_owned());
        let cold = (mode.cold(creep.cold_sweeps), format!("{} cold sweeps", creep.cold_sweeps));
        for (shade, (settings, how)) in [warm, cold].into_iter().enumerate() {
            let way = |load: &f64| {
                let shove = Shove { load: *load, angle: 0.0, slip: 0.0 };
                cube.shoved(shove, settings, duration).map(|x| x.way)
            };
            let ways = creep.loads.iter().map(way).collect::<Result<Vec<f64>, _>>()?;
            let what = format!("{}, {how}", mode.name());
            if shade == 0 {
                let worst = ways.iter().map(|x| x.abs()).fold(0.0, f64::max);
                let name =
                    format!("rest beside other engines, {what}: largest way in {duration} s");
                findings.checks.push(Check::absolute(name, "m", [worst, 0.0], bar));
            }
            let ways = ways.into_iter().map(f64::abs).collect();
            let line = Series::line_dots(what, creep.loads.clone(), ways);
            series.push(line.coloured(2 * place + shade));
        }
    }
    let figure = LineFigure {
        title: format!("Way of a small cube in {duration} s, pushed from rest at its centre"),
        x: Axis::linear("push over μ m g", ""),
        y: Axis::log("way", "m"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_beside".into(), figure));
    Ok(())
}

/// Mean speeds \[m/s\] from rest at every load; the way is a finding where there is a bar for it.
fn rests(
    limit: &Limit,
    mode: Mode,
    settings: ImpulseSettings,
    findings: &mut Findings,
) -> Result<Vec<f64>, CliError> {
    let creep = &limit.creep;
    let mut speeds = Vec::new();
    for &load in &creep.loads {
        let shove = Shove { load, angle: 0.0, slip: 0.0 };
        let found = limit.shoved(shove, settings, creep.duration)?;
        speeds.push(found.way.abs() / creep.duration);
        let bar = match mode {
            Mode::Points | Mode::CoulombNewton => limit.tolerance.creep_of_points,
            Mode::Anchors => limit.tolerance.creep_of_anchors,
            Mode::Bisection | Mode::BisectionDesaxce => continue,
        };
        let what = format!("rest at {} %, {}", 100.0 * load, mode.name());
        findings.checks.extend([
            Check::absolute(
                format!("{what}: way in {} s", creep.duration),
                "m",
                [found.way, 0.0],
                bar,
            ),
            Check::absolute(
                format!("{what}: steps that did not converge"),
                "",
                [found.unconverged as f64, 0.0],
                0.0,
            ),
        ]);
    }
    Ok(speeds)
}

/// Creep of the compliant model on a slope of the same load: closed form and found \[m/s\].
fn compliant(
    limit: &Limit,
    falloff_speed: f64,
    findings: &mut Findings,
) -> Result<(Series, Series), CliError> {
    let c = &limit.creep.compliant;
    let closed = |load: f64| falloff_speed * (1.0 - (1.0 - load).sqrt());
    let (mut speeds, mut worst) = (Vec::new(), 0.0_f64);
    for &load in &c.loads {
        let tilt = (load * limit.friction).atan();
        let gravity = Vector3::new(tilt.sin(), 0.0, -tilt.cos()) * G;
        let contact = ContactParams { friction: limit.friction, falloff_speed, ..plain(c.k) };
        let mut body = sledge(limit.mass, c.area, contact)?;
        body.pose.position.z = limit.mass * gravity.z / (c.k * c.area);
        let scene = Scene::new(gravity, vec![plane(contact)?, body])?;
        let law =
            settings(Method::BackwardEuler, DissipationSchedule::StageStart, FrictionRamp::C1);
        let roll = Roll::new(scene, law, c.dt, c.duration)?;
        let speed = roll.state(roll.steps(), 1).velocity.x;
        worst = worst.max((speed / closed(load) - 1.0).abs());
        speeds.push(speed);
    }
    findings.checks.push(Check::absolute(
        format!("creep of the compliant model, V_f = {falloff_speed} m/s: largest relative error"),
        "",
        [worst, 0.0],
        limit.tolerance.compliant,
    ));
    let name = format!("compliant, V_f = {falloff_speed} m/s");
    let fine: Vec<f64> = (2..=97).map(|i| 0.01 * f64::from(i)).collect();
    let line = fine.iter().map(|&x| closed(x)).collect();
    Ok((
        Series::line(format!("{name}, closed form"), fine, line),
        Series::dots(name, c.loads.clone(), speeds),
    ))
}
