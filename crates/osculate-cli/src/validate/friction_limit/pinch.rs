//! Does a box stay between jaws whose faces are tilted?

use super::{Limit, Mode, steps};
use crate::CliError;
use crate::gripper::{BOX, Gripper};
use crate::validate::scenes::G;
use crate::validate::{Check, Findings};
use nalgebra::Vector3;
use osculate_contact::impulse::FrictionCombine;
use osculate_contact::impulse::normal::Rigid;
use osculate_dynamics::articulated::JointDrive;
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseSimulator, NormalLaw};
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pinch {
    half: f64,
    jaw: [f64; 3],
    gap: f64,
    masses: [f64; 2],
    friction: [f64; 2],
    tilt: f64,
    stiffness: f64,
    damping: f64,
    target: f64,
    dt: f64,
    duration: f64,
    from: f64,
    sweeps: usize,
    tolerance: f64,
    correction: f64,
    softness: f64,
    least_drift_of_points: f64,
}

impl Pinch {
    /// Height of the box over the left jaw \[m\] after every step.
    fn heights(&self, settings: ImpulseSettings) -> Result<Vec<f64>, CliError> {
        let jaw = Vector3::from(self.jaw);
        let aside = Vector3::x() * (self.half + jaw.x + self.gap);
        let (stiffness, damping, target) = (self.stiffness, self.damping, self.target);
        let gripper = Gripper {
            half: self.half,
            jaw,
            masses: self.masses,
            friction: self.friction,
            tilt: self.tilt.to_radians(),
            drive: JointDrive { stiffness, damping, target, ..JointDrive::default() },
            start: [-aside, aside, Vector3::zeros()],
            gravity: G,
        };
        let softness = self.softness;
        let rigid = Rigid { correction: self.correction, softness, ..Rigid::default() };
        let settings = ImpulseSettings {
            normal: NormalLaw::Rigid(rigid),
            combine: FrictionCombine::Average,
            ..settings
        };
        let durations = vec![self.dt; steps(self.duration, self.dt)?];
        let simulator = ImpulseSimulator::new(gripper.scene()?, settings, durations)?;
        let trajectory = simulator.run(&simulator.parameters())?;
        let height = |k: usize| {
            let states = trajectory.state(k);
            states[BOX].center.z - states[0].center.z
        };
        Ok((0..=simulator.durations().len()).map(height).collect())
    }
}

pub(super) fn run(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let pinch = &limit.pinch;
    let first = steps(pinch.from, pinch.dt)?;
    let mut series = Vec::new();
    for (place, (mode, settings, how)) in [
        (Mode::Points, Mode::Points.cold(pinch.sweeps), "cold"),
        (Mode::Anchors, Mode::Anchors.cold(pinch.sweeps), "cold"),
        (Mode::Points, Mode::Points.warm(10_000, pinch.tolerance), "warm"),
        (Mode::Anchors, Mode::Anchors.warm(10_000, pinch.tolerance), "warm"),
    ]
    .into_iter()
    .enumerate()
    {
        let heights = pinch.heights(settings)?;
        let Some(&from) = heights.get(first) else { continue };
        let drift = heights[heights.len() - 1] - from;
        let what = match how {
            "cold" => format!("{}, {} cold sweeps", mode.name(), pinch.sweeps),
            _ => format!("{}, warm", mode.name()),
        };
        let name = format!("pinch at {}°, {what}: drift", pinch.tilt);
        let allowed = &limit.tolerance;
        findings.checks.push(if mode == Mode::Points && how == "cold" {
            // Shown, not allowed: whether it is at least as large as the page's test asks.
            let least = pinch.least_drift_of_points;
            Check::absolute(
                format!("{name} beyond {least} m"),
                "m",
                [(least - drift.abs()).max(0.0), 0.0],
                0.0,
            )
        } else {
            Check::absolute(name, "m", [drift, 0.0], allowed.pinch)
        });
        let times = (0..heights.len()).map(|k| pinch.dt * k as f64).collect();
        let moved = heights.iter().map(|h| 1e6 * (h - heights[0])).collect();
        series.push(Series::line(what, times, moved).coloured(place));
    }
    let figure = LineFigure {
        title: format!("Height of a box between jaws tilted by {}°", pinch.tilt),
        x: Axis::linear("time", "s"),
        y: Axis::linear("rise since the start", "µm"),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_pinch".into(), figure));
    Ok(())
}
