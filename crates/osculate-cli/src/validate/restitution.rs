//! Restitution of every method and schedule against the exact curve, and its error against the time step.

use super::scenes::{geometric, order};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use osculate_contact::{ContactParams, DissipationSchedule, RestitutionLaw};
use osculate_dynamics::Method;
use osculate_fit::impact::Impact;
use osculate_plot::{Axis, LineFigure, ReferenceSlope, Series};
use serde::Deserialize;
use std::sync::atomic::AtomicBool;

/// Place of the exact curve in the palette: black, which no method then has.
const EXACT: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    mass: f64,
    area: f64,
    speed: f64,
    k: f64,
    epsilon: f64,
    delta: f64,
    damping_numbers: Grid,
    steps_a_contact: f64,
    phases: usize,
    error: ErrorSettings,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Grid {
    low: f64,
    high: f64,
    count: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorSettings {
    restitution: f64,
    #[serde(deserialize_with = "names::read_method")]
    method: Method,
    steps_a_contact: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    backward_euler: f64,
    lagged: f64,
    current: f64,
    slope: f64,
}

impl Settings {
    fn impact(&self, u: f64, method: Method, schedule: DissipationSchedule) -> Impact {
        let contact = ContactParams {
            stiffness: self.k,
            smoothing: self.epsilon,
            threshold: self.delta,
            friction: 0.0,
            damping: u / self.speed,
            ..ContactParams::default()
        };
        let (mass, area, speed) = (self.mass, self.area, self.speed);
        Impact { mass, area, speed, contact, method, schedule }
    }
}

/// Order in the time step of the restitution.
fn expected_order(method: Method, schedule: DissipationSchedule) -> f64 {
    let lagged = schedule != DissipationSchedule::Current;
    if lagged || method == Method::BackwardEuler { 1.0 } else { 2.0 }
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let settings: Settings = config.read()?;
    let mut findings = Findings::default();
    for schedule in DissipationSchedule::ALL {
        curve(&settings, schedule, &mut findings)?;
    }
    errors(&settings, &mut findings)?;
    Ok(findings)
}

fn curve(
    s: &Settings,
    schedule: DissipationSchedule,
    findings: &mut Findings,
) -> Result<(), CliError> {
    let grid = &s.damping_numbers;
    let fine = geometric(grid.low, grid.high, 120);
    let exact =
        fine.iter().map(|&u| RestitutionLaw::Exact.restitution(u)).collect::<Result<_, _>>()?;
    let mut series = vec![Series::line("exact", fine, exact).coloured(EXACT)];
    let places = (0..).filter(|&place| place != EXACT);
    for (palette, method) in places.zip(Method::ALL) {
        let (mut x, mut y, mut worst) = (Vec::new(), Vec::new(), 0.0_f64);
        for u in geometric(grid.low, grid.high, grid.count) {
            let impact = s.impact(u, method, schedule);
            let e = RestitutionLaw::Exact.restitution(u)?;
            let dt = impact.contact_time() / s.steps_a_contact;
            let band = impact.band(dt, s.phases, &AtomicBool::default())?;
            worst = worst.max(band.error(e));
            x.push(u);
            y.push(0.5 * (band.low + band.high));
        }
        let (method_name, schedule_name) = (names::of_method(method), names::of_schedule(schedule));
        let allowed = match (method, schedule) {
            (Method::BackwardEuler, _) => s.tolerance.backward_euler,
            (_, DissipationSchedule::Current) => s.tolerance.current,
            _ => s.tolerance.lagged,
        };
        let what = format!("largest error of e, {method_name}, {schedule_name}");
        findings.checks.push(Check::absolute(what, "", [worst, 0.0], allowed));
        series.push(Series::line_dots(method_name, x, y).coloured(palette));
    }
    let name = names::of_schedule(schedule);
    let figure = LineFigure {
        title: format!(
            "Restitution of a head-on impact, {name} load, {} steps a contact",
            s.steps_a_contact
        ),
        x: Axis::log("damping number c_n v", ""),
        y: Axis::linear("restitution e", ""),
        series,
        slopes: vec![],
    };
    findings.figures.push((format!("restitution_{}", name.replace('-', "_")), figure));
    Ok(())
}

fn errors(s: &Settings, findings: &mut Findings) -> Result<(), CliError> {
    let e = s.error.restitution;
    let u = RestitutionLaw::Exact.damping_number(e)?;
    let mut series = Vec::new();
    for schedule in DissipationSchedule::ALL {
        let impact = s.impact(u, s.error.method, schedule);
        let steps: Vec<f64> =
            s.error.steps_a_contact.iter().map(|n| impact.contact_time() / n).collect();
        let errors = steps
            .iter()
            .map(|&dt| Ok(impact.band(dt, s.phases, &AtomicBool::default())?.error(e)))
            .collect::<Result<Vec<f64>, CliError>>()?;
        let finest = &errors[errors.len().saturating_sub(3)..];
        let expected = expected_order(s.error.method, schedule);
        let name = names::of_schedule(schedule);
        let what = format!("order in Δt, {}, {name}", names::of_method(s.error.method));
        findings.checks.push(Check::absolute(
            what,
            "",
            [order(finest), expected],
            s.tolerance.slope,
        ));
        let milliseconds = steps.iter().map(|dt| dt * 1e3).collect();
        // Head-on, the two lagged schedules coincide: dots on the line of the other.
        series.push(match schedule {
            DissipationSchedule::CurrentGeometry => Series::dots(name, milliseconds, errors),
            _ => Series::line_dots(name, milliseconds, errors),
        });
    }
    let slope = |order: f64| ReferenceSlope { order, label: format!("order {order}") };
    let figure = LineFigure {
        title: format!(
            "Error of the restitution {e} with {}, by the time level of the load",
            names::of_method(s.error.method)
        ),
        x: Axis::log("time step", "ms"),
        y: Axis::log("largest error of e over the phase of the impact", ""),
        series,
        slopes: vec![slope(1.0), slope(2.0)],
    };
    findings.figures.push(("restitution_error".into(), figure));
    Ok(())
}
