//! A body bounces on a plane, for several damping coefficients.
//!
//! Speeds before and after impact k: `v_{k+1} = e(c_n v_k) v_k`, with `c_n = u(e)/v_1` of the target e at the first.

use super::scenes::{G, Roll, plain, plane, point, settings};
use super::{Check, Config, Findings};
use crate::CliError;
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp, RestitutionLaw};
use osculate_dynamics::{Method, Scene};
use osculate_plot::{Axis, LineFigure};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sweep {
    targets: Vec<f64>,
    drop: f64,
    mass: f64,
    area: f64,
    k: f64,
    dt: f64,
    duration: f64,
    bounces: usize,
    slowest: f64,
    tolerance: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let sweep: Sweep = config.read()?;
    let mut findings = Findings::default();
    let mut series = Vec::new();
    for &target in &sweep.targets {
        let mut speed = (2.0 * G * sweep.drop).sqrt();
        let damping = RestitutionLaw::Exact.damping(target, speed)?;
        let roll = bounce(&sweep, damping)?;
        series.push(
            roll.series(format!("e = {target}, c_n = {damping:.2} s/m"), 1, |b| b.center.z * 1e3),
        );
        let tops = tops(&roll);
        for (k, top) in tops.iter().take(sweep.bounces).enumerate() {
            if speed < sweep.slowest {
                break;
            }
            let after = RestitutionLaw::Exact.restitution(damping * speed)? * speed;
            let found = (2.0 * G * top).sqrt();
            let what = format!("target {target}: speed after impact {}", k + 1);
            findings.checks.push(Check::relative(what, "m/s", [found, after], sweep.tolerance));
            speed = found;
        }
    }
    let figure = LineFigure {
        title: format!("A body dropped from {} m, damping calibrated to e", sweep.drop),
        x: Axis::linear("time", "s"),
        y: Axis::linear("height", "mm"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("damping_sweep".into(), figure));
    Ok(findings)
}

fn bounce(s: &Sweep, damping: f64) -> Result<Roll, CliError> {
    let contact = ContactParams { damping, ..plain(s.k) };
    let mut body = point(s.mass, s.area, contact)?;
    body.pose.position.z = s.drop;
    let scene = Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(contact)?, body])?;
    let settings = settings(Method::Bdf2, DissipationSchedule::Current, FrictionRamp::C1);
    Roll::new(scene, settings, s.dt, s.duration)
}

/// Heights at the tops of the flights between impacts \[m\].
fn tops(roll: &Roll) -> Vec<f64> {
    let height = |k: usize| roll.state(k, 1).center.z;
    let mut tops = Vec::new();
    for k in 1..roll.steps() {
        let top = height(k) > height(k - 1) && height(k) >= height(k + 1);
        if top && height(k) > 0.0 {
            tops.push(height(k));
        }
    }
    tops
}
