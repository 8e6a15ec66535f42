//! Total time of bounces of constant restitution.
//!
//! From the first touch, a time `t₀ = √(2h/g)` after the drop, N bounces take `2 t₀ (e + e² + … + e^N)`; all of them together with
//! the fall take `t₀ (1 + e)/(1 − e)`. The restitution of the damped contact depends on the speed: before each impact the
//! damping is calibrated anew, `c_n = u(e)/v_k`.

use super::scenes::{G, Roll, crossing, plain, plane, point, settings};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp, RestitutionLaw};
use osculate_dynamics::{Method, Scene};
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ball {
    restitutions: Vec<f64>,
    drop: f64,
    mass: f64,
    area: f64,
    k: f64,
    #[serde(deserialize_with = "names::read_method")]
    method: Method,
    dt: f64,
    bounces: usize,
    tolerance: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let ball: Ball = config.read()?;
    let mut findings = Findings::default();
    let (mut measured, mut closed) = (Vec::new(), Vec::new());
    let fall = (2.0 * ball.drop / G).sqrt();
    for (i, &e) in ball.restitutions.iter().enumerate() {
        let (mut speed, mut time, mut sum) = (G * fall, fall, fall);
        let mut found =
            Series::dots(format!("e = {e}, simulated"), vec![0.0], vec![time]).coloured(i);
        let mut exact = Series::line(format!("e = {e}, closed form"), vec![0.0], vec![time]);
        for k in 1..=ball.bounces {
            let (lasted, next) = bounce(&ball, RestitutionLaw::Exact.damping(e, speed)?, speed, e)?;
            (time, speed) = (time + lasted, next);
            sum += 2.0 * fall * e.powi(k as i32);
            found.x.push(k as f64);
            found.y.push(time);
            exact.x.push(k as f64);
            exact.y.push(sum);
        }
        let what = format!("e = {e}: time of {} bounces", ball.bounces);
        findings.checks.push(Check::relative(what, "s", [time, sum], ball.tolerance));
        // What the bounces not simulated would take is the rest of the geometric series at the last speed.
        let rest = 2.0 * speed / G * e / (1.0 - e);
        let total = fall * (1.0 + e) / (1.0 - e);
        let what = format!("e = {e}: total time");
        findings.checks.push(Check::relative(what, "s", [time + rest, total], ball.tolerance));
        measured.push(found);
        closed.push(exact);
    }
    let figure = LineFigure {
        title: "Time since the drop of a bouncing ball of constant restitution".into(),
        x: Axis::linear("bounces", ""),
        y: Axis::linear("time", "s"),
        series: closed.into_iter().chain(measured).collect(),
        slopes: vec![],
    };
    findings.figures.push(("bouncing_ball".into(), figure));
    Ok(findings)
}

/// From one touch to the next: duration \[s\] and speed at its end \[m/s\].
fn bounce(ball: &Ball, damping: f64, speed: f64, e: f64) -> Result<(f64, f64), CliError> {
    let contact = ContactParams { damping, ..plain(ball.k) };
    let mut body = point(ball.mass, ball.area, contact)?;
    body.velocity.z = -speed;
    let scene = Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(contact)?, body])?;
    let settings = settings(ball.method, DissipationSchedule::Current, FrictionRamp::C1);
    let touch = std::f64::consts::PI * (ball.mass / (ball.k * ball.area)).sqrt();
    // Rebounds of heavily damped contacts leave slowly.
    let duration = 2.2 * e * speed / G + 6.0 * touch / e;
    let roll = Roll::new(scene, settings, ball.dt, duration)?;
    let up = roll.first(0, 1, |b| b.center.z > 0.0 && b.velocity.z > 0.0);
    let down = up.and_then(|k| roll.first(k, 1, |b| b.center.z <= 0.0));
    let Some(k) = down else { return Ok((f64::NAN, f64::NAN)) };
    let (before, after) = (roll.state(k - 1, 1), roll.state(k, 1));
    let part = crossing(before.center.z, after.center.z);
    // The step that ends in contact has slowed already: speed from the flight before it.
    Ok((roll.time(k - 1) + part * roll.dt, -before.velocity.z + G * part * roll.dt))
}
