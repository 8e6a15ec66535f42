//! A ball that slides ends up rolling.
//!
//! ```text
//! sliding   v = v₀ − μ g t,   R ω = 5/2 μ g t;   slip v − R ω = v₀ − 7/2 μ g t
//! rolling   v = 5/7 v₀ whatever the friction;    x = 12 v₀²/(49 μ g) where it starts at V_f → 0
//! ```
//!
//! The ball is a wheel with the inertia of a ball, sampled on rings of points, so that it rolls without facets.

use super::scenes::{G, Roll, crossing, plain, plane, root, sampled, settings};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Body, Method, Scene};
use osculate_geometry::mass::MassProperties;
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;
use std::f64::consts::TAU;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ball {
    mass: f64,
    radius: f64,
    speed: f64,
    friction: f64,
    falloff_speed: f64,
    k: f64,
    rings: usize,
    samples_a_ring: usize,
    #[serde(deserialize_with = "names::read_method")]
    method: Method,
    dt: f64,
    duration: f64,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    speed: f64,
    time: f64,
    distance: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let ball: Ball = config.read()?;
    let contact = ContactParams {
        friction: ball.friction,
        falloff_speed: ball.falloff_speed,
        ..plain(ball.k)
    };
    let gravity = Vector3::new(0.0, 0.0, -G);
    let scene = Scene::new(gravity, vec![plane(contact)?, wheel(&ball, contact)?])?;
    let settings = settings(ball.method, DissipationSchedule::default(), FrictionRamp::C1);
    let roll = Roll::new(scene, settings, ball.dt, ball.duration)?;
    let turning = |k: usize| roll.state(k, 1).angular_velocity().y * ball.radius;
    let speed = |k: usize| roll.state(k, 1).velocity.x;
    let a = ball.friction * G;
    let (end, rolling) = (roll.steps(), 5.0 / 7.0 * ball.speed);
    // The slip falls at 7/2 μ g until friction fades.
    let slip = |k: usize| speed(k) - turning(k) - ball.falloff_speed;
    let faded = (ball.speed - ball.falloff_speed) / (3.5 * a);
    let (mut time, mut place) = (f64::NAN, f64::NAN);
    if let Some(k) = (1..=end).find(|&k| slip(k) <= 0.0) {
        let part = crossing(slip(k - 1), slip(k));
        let x = |k: usize| roll.state(k, 1).center.x;
        time = roll.time(k - 1) + part * roll.dt;
        place = x(k - 1) + part * (x(k) - x(k - 1));
    }
    let way = ball.speed * faded - 0.5 * a * faded * faded;
    let allowed = &ball.tolerance;
    let checks = vec![
        Check::relative("speed at the end", "m/s", [speed(end), rolling], allowed.speed),
        Check::relative("R ω at the end", "m/s", [turning(end), rolling], allowed.speed),
        Check::relative("time at which the slip is V_f", "s", [time, faded], allowed.time),
        Check::relative("distance at that time", "m", [place, way], allowed.distance),
    ];
    let times = vec![0.0, 2.0 * ball.speed / (7.0 * a), ball.duration];
    let figure = LineFigure {
        title: format!("A sliding ball starts to roll, μ = {}", ball.friction),
        x: Axis::linear("time", "s"),
        y: Axis::linear("speed", "m/s"),
        series: vec![
            Series::line("v, closed form", times.clone(), vec![ball.speed, rolling, rolling]),
            Series::line("R ω, closed form", times, vec![0.0, rolling, rolling]),
            dots(&roll, "v, simulated", speed).coloured(0),
            dots(&roll, "R ω, simulated", turning).coloured(1),
        ],
        slopes: vec![],
    };
    Ok(Findings { checks, figures: vec![("rolling_ball".into(), figure)] })
}

fn dots(roll: &Roll, name: &str, value: impl Fn(usize) -> f64) -> Series {
    let steps: Vec<usize> = (0..=roll.steps()).step_by(roll.steps().div_ceil(40)).collect();
    let times = steps.iter().map(|&k| roll.time(k)).collect();
    Series::dots(name, times, steps.into_iter().map(value).collect())
}

/// The ball at the depth at which its weight is carried.
fn wheel(ball: &Ball, contact: ContactParams) -> Result<Body, CliError> {
    let (radius, count, width) = (ball.radius, ball.samples_a_ring, 0.05);
    let spacing = TAU / count as f64;
    let mut points = Vec::with_capacity(ball.rings * count);
    for ring in 0..ball.rings {
        let y = width * (ring as f64 - 0.5 * (ball.rings as f64 - 1.0));
        points.extend((0..count).map(|i| {
            let (s, c) = (spacing * i as f64).sin_cos();
            Vector3::new(radius * s, y, -radius * c)
        }));
    }
    let area = spacing * radius * width;
    let carried = |sink: f64| {
        points.iter().map(|x| contact.stiffness * area * (sink - radius - x.z).max(0.0)).sum()
    };
    let weight = ball.mass * G;
    let sink = root(
        |sink| {
            let load: f64 = carried(sink);
            load - weight
        },
        0.0,
        radius,
    );
    let mass = MassProperties::sphere(ball.mass, radius)?;
    let weights = vec![area; points.len()];
    let mut body = sampled("ball", mass, points, weights, contact)?;
    body.pose.position.z = radius - sink;
    body.velocity.x = ball.speed;
    Ok(body)
}
