//! A block rocks on its edges.
//!
//! With `R` the half diagonal, `tan α` the half width over the half height, `p² = 3g/(4R)`:
//!
//! ```text
//! exact      θ″ = −p² sin(α − θ):   T/4 = ∫₀^θ₀ dθ / √(2p² (cos(α − θ₀) − cos(α − θ)))
//! Housner    small angles:          T = (4/p) arcosh(1/(1 − θ₀/α))
//! impact     ω after/ω before = 1 − 3/2 sin² α, where the blow is plastic and acts on the new edge alone
//! ```
//!
//! G. W. Housner, "The behavior of inverted pendulum structures during earthquakes", BSSA 53(2), 1963.

use super::scenes::{G, Roll, crossing, plain, plane, sampled, settings};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{BodyState, Method, Scene};
use osculate_geometry::mass::MassProperties;
use osculate_math::so3;
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    mass: f64,
    half_width: f64,
    half_height: f64,
    area: f64,
    k: f64,
    friction: f64,
    falloff_speed: f64,
    damping: f64,
    releases: Vec<f64>,
    #[serde(deserialize_with = "names::read_method")]
    method: Method,
    dt: f64,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    period: f64,
    housner: f64,
    loss: f64,
}

impl Block {
    fn alpha(&self) -> f64 {
        self.half_width.atan2(self.half_height)
    }

    /// `p` \[1/s\].
    fn rate(&self) -> f64 {
        (0.75 * G / self.half_width.hypot(self.half_height)).sqrt()
    }

    /// Quarter period from `θ₀` \[s\], by the midpoint rule in `s`, `θ = θ₀ (1 − s²)`, which takes the root at `θ₀` away.
    fn quarter(&self, release: f64) -> f64 {
        let (alpha, n) = (self.alpha(), 4000);
        let top = (alpha - release).cos();
        let sum: f64 = (0..n)
            .map(|i| (f64::from(i) + 0.5) / f64::from(n))
            .map(|s| {
                let fallen = top - (alpha - release * (1.0 - s * s)).cos();
                2.0 * release * s / (2.0 * fallen).sqrt()
            })
            .sum();
        sum / f64::from(n) / self.rate()
    }
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let block: Block = config.read()?;
    let (alpha, p) = (block.alpha(), block.rate());
    let loss = 1.0 - 1.5 * alpha.sin().powi(2);
    let mut findings = Findings::default();
    let mut series = Vec::new();
    for (i, &part) in block.releases.iter().enumerate() {
        let release = part * alpha;
        let (quarter, small) = (block.quarter(release), (1.0 / (1.0 - part)).acosh() / p);
        let roll = rock(&block, release, 3.2 * small)?;
        let angle = |k: usize| tilt(roll.state(k, 1));
        let down = (1..=roll.steps()).find(|&k| angle(k) <= 0.0);
        let time = down
            .map_or(f64::NAN, |k| roll.time(k - 1) + crossing(angle(k - 1), angle(k)) * roll.dt);
        // Energy about the new edge at the height of the next swing gives the speed after the blow.
        let swing = (0..=roll.steps()).map(angle).fold(0.0, f64::min);
        let height = |angle: f64| (alpha - angle).cos() - alpha.cos();
        let ratio = (height(-swing) / height(release)).sqrt();
        let allowed = &block.tolerance;
        let at = format!("θ₀ = {part} α");
        findings.checks.extend([
            Check::relative(
                format!("{at}: T/4, exact equation"),
                "s",
                [time, quarter],
                allowed.period,
            ),
            Check::relative(format!("{at}: T/4, Housner"), "s", [time, small], allowed.housner),
            Check::relative(
                format!("{at}: ω after over ω before"),
                "",
                [ratio, loss],
                allowed.loss,
            ),
        ]);
        let swing = roll.series(format!("released at {part} α"), 1, |b| tilt(b) / alpha);
        series.push(swing.coloured(i));
        let touch = Series::dots("", vec![quarter], vec![0.0]).coloured(i);
        series.push(touch);
    }
    let figure = LineFigure {
        title: "A block rocks on its edges; dots: closed-form time of the first blow".into(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("tilt over α", ""),
        series,
        slopes: vec![],
    };
    findings.figures.push(("rocking_block".into(), figure));
    Ok(findings)
}

/// Tilt about y \[rad\].
fn tilt(body: &BodyState) -> f64 {
    body.rotation[(0, 2)].atan2(body.rotation[(0, 0)])
}

/// Released at rest, tilted about its edge at +x, which carries it.
fn rock(block: &Block, release: f64, duration: f64) -> Result<Roll, CliError> {
    let contact = ContactParams {
        friction: block.friction,
        falloff_speed: block.falloff_speed,
        damping: block.damping,
        ..plain(block.k)
    };
    let (b, h) = (block.half_width, block.half_height);
    let points = [(b, b), (b, -b), (-b, b), (-b, -b)].map(|(x, y)| Vector3::new(x, y, -h));
    let mass = MassProperties::cuboid(block.mass, &Vector3::new(b, b, h))?;
    let weights = vec![block.area / 4.0; 4];
    let mut body = sampled("block", mass, points.to_vec(), weights, contact)?;
    body.pose.rotation = so3::exp(&(Vector3::y() * release));
    let edge = body.pose.rotation * Vector3::new(b, 0.0, -h);
    let depth = block.mass * G / (block.k * block.area / 2.0);
    body.pose.position = Vector3::new(0.0, 0.0, -depth) - edge;
    let scene = Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(contact)?, body])?;
    let law = settings(block.method, DissipationSchedule::Current, FrictionRamp::C1);
    Roll::new(scene, law, block.dt, duration)
}
