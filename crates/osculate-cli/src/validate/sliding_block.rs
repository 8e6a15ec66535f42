//! A block slides to a stop, and creeps below the Coulomb limit.
//!
//! ```text
//! slide   v = v₀ − μ g t down to V_f, then 2 V_f/(1 + exp(2 μ g t′/V_f)),   x = (v₀² − V_f²)/(2 μ g) + V_f² ln 2/(μ g)
//! creep   τ = F_t/(μ N) < 1:   C¹ ramp V = V_f (1 − √(1 − τ)),   C∞ ramp V = V_f τ/(2 √(1 − τ²))
//! ```

use super::scenes::{G, Roll, plain, plane, settings, sledge};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Method, Scene};
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    mass: f64,
    area: f64,
    k: f64,
    slide: Slide,
    creep: Creep,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slide {
    speed: f64,
    friction: f64,
    falloff_speed: f64,
    #[serde(deserialize_with = "names::read_method")]
    method: Method,
    dt: f64,
    duration: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Creep {
    friction: f64,
    falloff_speed: f64,
    loads: Vec<f64>,
    dt: f64,
    duration: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    distance: f64,
    speed: f64,
    creep: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let block: Block = config.read()?;
    let mut findings = Findings::default();
    slide(&block, &mut findings)?;
    creep(&block, &mut findings)?;
    Ok(findings)
}

impl Block {
    /// The block at its static depth under a gravity.
    fn scene(
        &self,
        contact: ContactParams,
        gravity: Vector3<f64>,
        v: f64,
    ) -> Result<Scene, CliError> {
        let mut body = sledge(self.mass, self.area, contact)?;
        body.pose.position.z = self.mass * gravity.z / (self.k * self.area);
        body.velocity.x = v;
        Ok(Scene::new(gravity, vec![plane(contact)?, body])?)
    }

    fn rough(&self, friction: f64, falloff_speed: f64) -> ContactParams {
        ContactParams { friction, falloff_speed, ..plain(self.k) }
    }
}

fn slide(block: &Block, findings: &mut Findings) -> Result<(), CliError> {
    let s = &block.slide;
    let (a, falloff) = (s.friction * G, s.falloff_speed);
    let slow = (s.speed - falloff) / a;
    let speed = |t: f64| {
        if t < slow {
            s.speed - a * t
        } else {
            2.0 * falloff / (1.0 + (2.0 * a * (t - slow) / falloff).exp())
        }
    };
    let scene =
        block.scene(block.rough(s.friction, falloff), Vector3::new(0.0, 0.0, -G), s.speed)?;
    let settings = settings(s.method, DissipationSchedule::default(), FrictionRamp::C1);
    let roll = Roll::new(scene, settings, s.dt, s.duration)?;
    let found = |k: usize| roll.state(k, 1).velocity.x;
    let worst =
        (0..=roll.steps()).map(|k| (found(k) - speed(roll.time(k))).abs()).fold(0.0, f64::max);
    let stop = (s.speed * s.speed - falloff * falloff) / (2.0 * a)
        + falloff * falloff * std::f64::consts::LN_2 / a;
    let distance = roll.state(roll.steps(), 1).center.x;
    let allowed = &block.tolerance;
    findings.checks.extend([
        Check::relative("stopping distance", "m", [distance, stop], allowed.distance),
        Check::absolute("largest error of the speed", "m/s", [worst, 0.0], allowed.speed),
    ]);
    let kept: Vec<usize> = (0..=roll.steps()).step_by(roll.steps().div_ceil(40)).collect();
    let line = roll.thinned();
    let times = |steps: &[usize]| steps.iter().map(|&k| roll.time(k)).collect::<Vec<_>>();
    let closed = times(&line).into_iter().map(speed).collect();
    let dots = kept.iter().map(|&k| found(k)).collect();
    let figure = LineFigure {
        title: format!("A block slides to a stop, μ = {}, V_f = {falloff} m/s", s.friction),
        x: Axis::linear("time", "s"),
        y: Axis::linear("speed", "m/s"),
        series: vec![
            Series::line("closed form", times(&line), closed),
            Series::dots("simulated", times(&kept), dots),
        ],
        slopes: vec![],
    };
    findings.figures.push(("sliding_block_speed".into(), figure));
    Ok(())
}

/// Creep speed over falloff speed.
fn creep_ratio(ramp: FrictionRamp, load: f64) -> f64 {
    match ramp {
        FrictionRamp::C1 => 1.0 - (1.0 - load).sqrt(),
        FrictionRamp::Smooth => 0.5 * load / (1.0 - load * load).sqrt(),
    }
}

fn creep(block: &Block, findings: &mut Findings) -> Result<(), CliError> {
    let c = &block.creep;
    let mut series = Vec::new();
    for (ramp, name) in [(FrictionRamp::C1, "C¹ ramp"), (FrictionRamp::Smooth, "C∞ ramp")] {
        let (mut ratios, mut worst) = (Vec::new(), 0.0_f64);
        for &load in &c.loads {
            let tilt = (load * c.friction).atan();
            let gravity = Vector3::new(tilt.sin(), 0.0, -tilt.cos()) * G;
            let scene = block.scene(block.rough(c.friction, c.falloff_speed), gravity, 0.0)?;
            let law = settings(Method::BackwardEuler, DissipationSchedule::default(), ramp);
            let roll = Roll::new(scene, law, c.dt, c.duration)?;
            let ratio = roll.state(roll.steps(), 1).velocity.x / c.falloff_speed;
            worst = worst.max((ratio / creep_ratio(ramp, load) - 1.0).abs());
            ratios.push(ratio);
        }
        let what = format!("largest relative error of the creep speed, {name}");
        findings.checks.push(Check::absolute(what, "", [worst, 0.0], block.tolerance.creep));
        let fine: Vec<f64> = (0..=97).map(|i| 0.01 * f64::from(i)).collect();
        let closed = fine.iter().map(|&x| creep_ratio(ramp, x)).collect();
        series.push(Series::line(format!("{name}, closed form"), fine, closed));
        series.push(Series::dots(format!("{name}, simulated"), c.loads.clone(), ratios));
    }
    let figure = LineFigure {
        title: "Creep of a block on a slope below the Coulomb limit".into(),
        x: Axis::linear("tangential load over μ N", ""),
        y: Axis::linear("speed over falloff speed V_f", ""),
        series,
        slopes: vec![],
    };
    findings.figures.push(("sliding_block_creep".into(), figure));
    Ok(())
}
