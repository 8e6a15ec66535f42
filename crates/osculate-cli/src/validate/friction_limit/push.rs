//! A box is pushed in any direction, near the limit of its friction.

use super::{Limit, Mode, Shove};
use crate::CliError;
use crate::validate::{Check, Findings};
use nalgebra::Vector3;
use osculate_dynamics::impulse::{ImpulseSettings, StepRecord};
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;
use std::f64::consts::TAU;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Push {
    slip: f64,
    duration: f64,
    sweeps: usize,
    sweeps_of_bisections: usize,
    loads: Vec<f64>,
    directions: Vec<f64>,
    checked_load: f64,
    drawn_load: f64,
    drawn_direction: f64,
    bisection_way: f64,
}

impl Push {
    fn settings(&self, mode: Mode) -> ImpulseSettings {
        if mode.bisects() {
            mode.cold(self.sweeps_of_bisections)
        } else {
            mode.warm(self.sweeps, 1e-10)
        }
    }
}

pub(super) fn run(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    stops(limit, findings)?;
    counter_examples(limit, findings)?;
    loads(limit, findings)?;
    lifts(limit, findings)?;
    directions(limit, findings)?;
    disks(limit, findings)
}

/// What holds stops a slip at the way of Coulomb's law.
fn stops(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let push = &limit.push;
    let shove = Shove { load: push.checked_load, angle: 0.0, slip: push.slip };
    let [exact, _] = limit.exact(shove, push.duration)?;
    let percent = 100.0 * push.checked_load;
    for mode in [Mode::Points, Mode::Anchors, Mode::CoulombNewton] {
        let found = limit.shoved(shove, mode.cold(push.sweeps), push.duration)?;
        let what = format!("push of {percent} %, {} cold sweeps, {}", push.sweeps, mode.name());
        let allowed = &limit.tolerance;
        findings.checks.extend([
            Check::relative(
                format!("{what}: way to the stop"),
                "m",
                [found.way, exact],
                allowed.stopping_way,
            ),
            Check::absolute(
                format!("{what}: speed after {} s", push.duration),
                "m/s",
                [found.speed, 0.0],
                allowed.stopped_speed,
            ),
            Check::absolute(format!("{what}: lift"), "m", [found.lift, 0.0], allowed.stopped_speed),
        ]);
    }
    Ok(())
}

/// What bisections do instead, from rest and for any number of sweeps.
fn counter_examples(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let push = &limit.push;
    let shove = Shove { load: push.checked_load, angle: 0.0, slip: 0.0 };
    let percent = 100.0 * push.checked_load;
    for sweeps in [16, 64] {
        let found = limit.shoved(shove, Mode::Bisection.cold(sweeps), push.duration)?;
        findings.checks.push(Check::relative(
            format!("push of {percent} % from rest, {sweeps} cold sweeps, bisection (a counter-example): way"),
            "m",
            [found.way, push.bisection_way],
            limit.tolerance.bisection,
        ));
    }
    Ok(())
}

/// Drift along an edge, against the size of the push.
fn loads(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let push = &limit.push;
    let at = |load: f64| Shove { load, angle: 0.0, slip: push.slip };
    let mut series = Vec::new();
    let exact = |load: &f64| limit.exact(at(*load), push.duration).map(|x| x[1]);
    let speeds = push.loads.iter().map(exact).collect::<Result<Vec<f64>, _>>()?;
    series.push(Series::line("Coulomb's law", push.loads.clone(), speeds.clone()));
    for mode in Mode::ALL {
        let speed = |load: &f64| {
            limit.shoved(at(*load), push.settings(mode), push.duration).map(|x| x.speed)
        };
        let found = push.loads.iter().map(speed).collect::<Result<Vec<f64>, _>>()?;
        if !mode.bisects() {
            let worst = found.iter().zip(&speeds).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            findings.checks.push(Check::absolute(
                format!("push along an edge, {}: largest error of the drift", mode.name()),
                "m/s",
                [worst, 0.0],
                limit.tolerance.drift,
            ));
        }
        series.push(Series::line_dots(mode.name(), push.loads.clone(), found));
    }
    let figure = LineFigure {
        title: format!(
            "Speed of a box {} s after a slip of {} m/s, pushed along an edge",
            push.duration, push.slip
        ),
        x: Axis::linear("push over μ m g", ""),
        y: Axis::linear("speed", "m/s"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_push".into(), figure));
    Ok(())
}

/// How far a slip lifts the box, which Coulomb's law does not.
fn lifts(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let push = &limit.push;
    let mut series = Vec::new();
    for mode in [Mode::CoulombNewton, Mode::BisectionDesaxce] {
        let lift = |load: &f64| {
            let shove = Shove { load: *load, angle: 0.0, slip: push.slip };
            limit.shoved(shove, push.settings(mode), push.duration).map(|x| x.lift)
        };
        let found = push.loads.iter().map(lift).collect::<Result<Vec<f64>, _>>()?;
        series.push(Series::line_dots(mode.name(), push.loads.clone(), found));
    }
    let figure = LineFigure {
        title: format!("Largest rise of a box in {} s, pushed along an edge", push.duration),
        x: Axis::linear("push over μ m g", ""),
        y: Axis::linear("rise", "m"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_lift".into(), figure));
    Ok(())
}

/// Drift below the limit, against the direction of the push.
fn directions(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let push = &limit.push;
    let load = push.checked_load;
    let mut series = Vec::new();
    for mode in Mode::ALL {
        let speed = |degrees: &f64| {
            let shove = Shove { load, angle: degrees.to_radians(), slip: push.slip };
            limit.shoved(shove, push.settings(mode), push.duration).map(|x| x.speed)
        };
        let found = push.directions.iter().map(speed).collect::<Result<Vec<f64>, _>>()?;
        if !mode.bisects() {
            let worst = found.iter().map(|x| x.abs()).fold(0.0, f64::max);
            findings.checks.push(Check::absolute(
                format!(
                    "push of {} % in any direction, {}: largest drift",
                    100.0 * load,
                    mode.name()
                ),
                "m/s",
                [worst, 0.0],
                limit.tolerance.drift,
            ));
        }
        series.push(Series::line_dots(mode.name(), push.directions.clone(), found));
    }
    let figure = LineFigure {
        title: format!(
            "Speed of a box {} s after a slip of {} m/s, pushed at {} % of its limit",
            push.duration,
            push.slip,
            100.0 * load
        ),
        x: Axis::linear("direction of the push, from an edge", "°"),
        y: Axis::linear("speed", "m/s"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_direction".into(), figure));
    Ok(())
}

/// Impulses of friction and their disks, under a push from rest.
fn disks(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let push = &limit.push;
    let shove =
        Shove { load: push.drawn_load, angle: push.drawn_direction.to_radians(), slip: 0.0 };
    let a = limit.half_extent;
    let (x, y) = (vec![-a, a, a, -a, -a], vec![-a, -a, a, a, -a]);
    let mut series = vec![Series::line("footprint", x, y)];
    // A disk of the whole load would fill half of the footprint.
    let scale = a / (limit.friction * limit.mass * super::G * limit.dt);
    for (place, mode) in [Mode::Points, Mode::Anchors].into_iter().enumerate() {
        let found = limit.shoved(shove, push.settings(mode), push.duration)?;
        let Some(record) = found.last else { continue };
        let [mut circles, mut arrows] = [[vec![], vec![]], [vec![], vec![]]];
        for (at, impulse, radius) in acting(&record, limit.friction) {
            for i in 0..=72 {
                let (sin, cos) = (TAU * f64::from(i) / 72.0).sin_cos();
                circles[0].push(at.x + scale * radius * cos);
                circles[1].push(at.y + scale * radius * sin);
            }
            for (i, (circle, arrow)) in circles.iter_mut().zip(&mut arrows).enumerate() {
                circle.push(f64::NAN);
                arrow.extend([at[i], at[i] + scale * impulse[i], f64::NAN]);
            }
        }
        let (colour, [cx, cy], [ax, ay]) = (place + 1, circles, arrows);
        series.push(Series::line(format!("disks, {}", mode.name()), cx, cy).coloured(colour));
        series
            .push(Series::line_dots(format!("friction, {}", mode.name()), ax, ay).coloured(colour));
    }
    let figure = LineFigure {
        title: format!(
            "Friction of a box pushed at {} % of its limit, {}° from an edge; μ m g h is {a} m long",
            100.0 * push.drawn_load,
            push.drawn_direction
        ),
        x: Axis::equal("x", "m"),
        y: Axis::equal("y", "m"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_disks".into(), figure));
    Ok(())
}

/// Where friction acts, its impulse on the box and the radius of its disk.
fn acting(record: &StepRecord, friction: f64) -> Vec<(Vector3<f64>, Vector3<f64>, f64)> {
    if record.anchors.is_empty() {
        let point = |c: &osculate_dynamics::impulse::ContactImpulse| {
            (c.point.point_a, c.friction, friction * c.normal)
        };
        return record.contacts.iter().map(point).collect();
    }
    record.anchors.iter().map(|a| (a.position, a.impulse, a.radius)).collect()
}
