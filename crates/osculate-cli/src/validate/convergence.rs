//! Order of convergence of every method through contact that is smooth.
//!
//! A block that does not turn slides and bounces deep in a plane; the C∞ friction ramp and the current load make every term
//! smooth. BDF3 starts itself at first order, which costs one order of the trajectory: it is expected at 2.

use super::scenes::{G, Roll, order, plain, plane, settings, sledge};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{BodyState, Method, Scene};
use osculate_plot::{Axis, LineFigure, ReferenceSlope, Series};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ladder {
    mass: f64,
    area: f64,
    k: f64,
    friction: f64,
    viscous_friction: f64,
    damping: f64,
    falloff_speed: f64,
    height: f64,
    velocity: [f64; 3],
    duration: f64,
    steps: Vec<usize>,
    fine: usize,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    slope: f64,
}

impl Ladder {
    fn end(&self, method: Method, steps: usize) -> Result<BodyState, CliError> {
        let contact = ContactParams {
            friction: self.friction,
            viscous_friction: self.viscous_friction,
            damping: self.damping,
            falloff_speed: self.falloff_speed,
            ..plain(self.k)
        };
        let mut body = sledge(self.mass, self.area, contact)?;
        body.pose.position.z = self.height;
        body.velocity = Vector3::from(self.velocity);
        let scene = Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(contact)?, body])?;
        let mut law = settings(method, DissipationSchedule::Current, FrictionRamp::Smooth);
        law.newton.tolerance = 1e-14;
        let roll = Roll::new(scene, law, self.duration / steps as f64, self.duration)?;
        Ok(*roll.state(roll.steps(), 1))
    }
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let ladder: Ladder = config.read()?;
    let fine = ladder.end(Method::Dirk33, ladder.fine)?;
    // Lengths over 0.1 m, speeds over 1 m/s.
    let distance = |a: &BodyState| {
        (a.center - fine.center).norm() * 10.0 + (a.velocity - fine.velocity).norm()
    };
    let steps: Vec<f64> = ladder.steps.iter().map(|&n| ladder.duration / n as f64 * 1e3).collect();
    let mut findings = Findings::default();
    let mut series = Vec::new();
    for method in Method::ALL {
        let errors = ladder
            .steps
            .iter()
            .map(|&n| Ok(distance(&ladder.end(method, n)?)))
            .collect::<Result<Vec<f64>, CliError>>()?;
        let expected = if method == Method::Bdf3 { 2 } else { method.order() };
        let finest = &errors[errors.len().saturating_sub(3)..];
        let name = names::of_method(method);
        findings.checks.push(Check::absolute(
            format!("order of {name}"),
            "",
            [order(finest), f64::from(expected)],
            ladder.tolerance.slope,
        ));
        series.push(Series::line_dots(name, steps.clone(), errors));
    }
    let slope = |order: f64| ReferenceSlope { order, label: format!("order {order}") };
    let figure = LineFigure {
        title: "Error of the final state of a block that slides and bounces in contact".into(),
        x: Axis::log("time step", "ms"),
        y: Axis::log("error (position over 0.1 m, speed over 1 m/s)", ""),
        series,
        slopes: vec![slope(1.0), slope(2.0), slope(3.0)],
    };
    findings.figures.push(("convergence".into(), figure));
    Ok(findings)
}
