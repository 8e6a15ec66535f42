//! Order of convergence of every method through contact that is smooth.
//!
//! A block slides and bounces deep in a plane; the C∞ friction ramp and the current load make every term smooth. Once it does not
//! turn, once it spins and rocks too, with both updates of rotations: by the rate tensor they are of first order with every method,
//! in the chart they have the method's. BDF3 starts itself at first order, which costs one order of the trajectory: it is expected
//! at 2.

use super::scenes::{G, Roll, order, plain, plane, sampled, settings, sledge};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Body, BodyState, Method, RotationUpdate, Scene};
use osculate_geometry::mass::MassProperties;
use osculate_math::so3;
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
    turning: Turning,
    tolerance: Tolerances,
}

/// The block that turns.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turning {
    half_extents: [f64; 3],
    vertical_speed: f64,
    angular_velocity: [f64; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    slope: f64,
}

impl Ladder {
    fn contact(&self) -> ContactParams {
        ContactParams {
            friction: self.friction,
            viscous_friction: self.viscous_friction,
            damping: self.damping,
            falloff_speed: self.falloff_speed,
            ..plain(self.k)
        }
    }

    fn sliding(&self) -> Result<Body, CliError> {
        let mut body = sledge(self.mass, self.area, self.contact())?;
        body.pose.position.z = self.height;
        body.velocity = Vector3::from(self.velocity);
        Ok(body)
    }

    fn turning(&self) -> Result<Body, CliError> {
        let half = Vector3::from(self.turning.half_extents);
        let corner = |x: f64, y: f64| Vector3::new(x * half.x, y * half.y, -half.z);
        let points = [corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(-1.0, -1.0)];
        let mass = MassProperties::cuboid(self.mass, &half)?;
        let weights = vec![self.area / 4.0; 4];
        let mut body = sampled("block", mass, points.to_vec(), weights, self.contact())?;
        body.pose.position.z = half.z + self.height;
        body.velocity = Vector3::from(self.velocity);
        body.velocity.z = self.turning.vertical_speed;
        body.angular_velocity = Vector3::from(self.turning.angular_velocity);
        Ok(body)
    }

    fn end(
        &self,
        body: Body,
        (method, rotation): (Method, RotationUpdate),
        steps: usize,
    ) -> Result<BodyState, CliError> {
        let ground = plane(self.contact())?;
        let scene = Scene::new(Vector3::new(0.0, 0.0, -G), vec![ground, body])?;
        let mut law = settings(method, DissipationSchedule::Current, FrictionRamp::Smooth);
        law.newton.tolerance = 1e-14;
        law.rotation = rotation;
        let roll = Roll::new(scene, law, self.duration / steps as f64, self.duration)?;
        Ok(*roll.state(roll.steps(), 1))
    }

    /// Distances from the finest roll-out, step by step.
    fn errors(
        &self,
        body: &Body,
        how: (Method, RotationUpdate),
        distance: impl Fn(&BodyState) -> f64,
    ) -> Result<Vec<f64>, CliError> {
        let error = |&n: &usize| Ok(distance(&self.end(body.clone(), how, n)?));
        self.steps.iter().map(error).collect()
    }

    fn check(&self, name: String, errors: &[f64], expected: u32) -> Check {
        let finest = &errors[errors.len().saturating_sub(3)..];
        let slopes = [order(finest), f64::from(expected)];
        Check::absolute(name, "", slopes, self.tolerance.slope)
    }

    /// Time steps \[ms\].
    fn time_steps(&self) -> Vec<f64> {
        self.steps.iter().map(|&n| self.duration / n as f64 * 1e3).collect()
    }

    fn translation(&self, findings: &mut Findings) -> Result<(), CliError> {
        let body = self.sliding()?;
        let how = |method| (method, RotationUpdate::RateTensor);
        let fine = self.end(body.clone(), how(Method::Dirk33), self.fine)?;
        // Lengths over 0.1 m, speeds over 1 m/s.
        let distance = |a: &BodyState| {
            (a.center - fine.center).norm() * 10.0 + (a.velocity - fine.velocity).norm()
        };
        let mut series = Vec::new();
        for method in Method::ALL {
            let errors = self.errors(&body, how(method), distance)?;
            let name = names::of_method(method);
            findings.checks.push(self.check(format!("order of {name}"), &errors, expected(method)));
            series.push(Series::line_dots(name, self.time_steps(), errors));
        }
        let title = "Error of the final state of a block that slides and bounces in contact";
        let y = "error (position over 0.1 m, speed over 1 m/s)";
        findings.figures.push(("convergence".into(), figure(title, y, series)));
        Ok(())
    }

    fn rotation(&self, findings: &mut Findings) -> Result<(), CliError> {
        let body = self.turning()?;
        let fine = self.end(body.clone(), (Method::Dirk33, RotationUpdate::Chart), self.fine)?;
        let distance = |a: &BodyState| {
            let turned = so3::log_between(&fine.rotation, &a.rotation).norm();
            turned + (a.angular_velocity() - fine.angular_velocity()).norm() / 10.0
        };
        let mut series = Vec::new();
        for (place, method) in Method::ALL.into_iter().enumerate() {
            let name = names::of_method(method);
            let errors = self.errors(&body, (method, RotationUpdate::Chart), distance)?;
            let what = format!("order of rotation in the chart, {name}");
            findings.checks.push(self.check(what, &errors, expected(method)));
            series.push(Series::line_dots(name, self.time_steps(), errors).coloured(place));
        }
        for (place, method) in Method::ALL.into_iter().enumerate() {
            let name = names::of_method(method);
            let errors = self.errors(&body, (method, RotationUpdate::RateTensor), distance)?;
            let what = format!("order of rotation by the rate tensor, {name}");
            findings.checks.push(self.check(what, &errors, 1));
            // One name in the legend stands for all of them.
            let name = if place == 0 { "rate tensor, all methods" } else { "" };
            series.push(Series::dots(name, self.time_steps(), errors).coloured(place));
        }
        let title = "Error of the final rotation of a block that spins and rocks in contact";
        let y = "error (angle over 1 rad, angular velocity over 10 rad/s)";
        findings.figures.push(("convergence_rotation".into(), figure(title, y, series)));
        Ok(())
    }
}

/// The order of a roll-out that starts itself.
fn expected(method: Method) -> u32 {
    if method == Method::Bdf3 { 2 } else { method.order() }
}

fn figure(title: &str, y: &str, series: Vec<Series>) -> LineFigure {
    let slope = |order: f64| ReferenceSlope { order, label: format!("order {order}") };
    LineFigure {
        title: title.into(),
        x: Axis::log("time step", "ms"),
        y: Axis::log(y, ""),
        series,
        slopes: vec![slope(1.0), slope(2.0), slope(3.0)],
    }
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let ladder: Ladder = config.read()?;
    let mut findings = Findings::default();
    ladder.translation(&mut findings)?;
    ladder.rotation(&mut findings)?;
    Ok(findings)
}
