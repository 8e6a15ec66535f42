//! Forces balance in every step, momentum is kept, and energy never grows.
//!
//! With backward Euler `m (v_{n+1} − v_n)/Δt = m g + Σ f` is what a step solves; of two free bodies the momentum is constant.
//! Kinetic, gravitational and contact energy together do not grow from step to step.

use super::scenes::{G, Roll, plain, plane, settings};
use super::{Check, Config, Findings};
use crate::CliError;
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Body, Method, Scene};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::so3;
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toss {
    mass: f64,
    half_extent: f64,
    divisions: usize,
    k: f64,
    damping: f64,
    friction: f64,
    falloff_speed: f64,
    dt: f64,
    duration: f64,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    force: f64,
    energy: f64,
    momentum: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let toss: Toss = config.read()?;
    let mut findings = Findings::default();
    let law = settings(Method::BackwardEuler, DissipationSchedule::default(), FrictionRamp::C1);
    let roll = Roll::new(toss.on_the_plane()?, law, toss.dt, toss.duration)?;
    let allowed = &toss.tolerance;
    let force = worst_balance(&toss, &roll)?;
    let gain = largest_gain(&roll)?;
    findings.checks.extend([
        Check::absolute("toss: unbalanced force over weight", "", [force, 0.0], allowed.force),
        Check::absolute("toss: largest gain of energy", "", [gain, 0.0], allowed.energy),
    ]);
    findings.figures.push(("balance_energy".into(), energies(&roll)?));
    let roll = Roll::new(toss.in_free_space()?, law, toss.dt, 0.1)?;
    let momentum = |k: usize| {
        let bodies = roll.simulator.scene().bodies.iter().enumerate();
        bodies
            .filter_map(|(i, b)| Some(roll.state(k, i).velocity * b.mass()?.mass()))
            .sum::<Vector3<f64>>()
    };
    let before = momentum(0);
    let worst = (1..=roll.steps()).map(|k| (momentum(k) - before).norm()).fold(0.0, f64::max);
    let given = (roll.state(roll.steps(), 1).velocity - roll.state(0, 1).velocity).norm();
    let gain = largest_gain(&roll)?;
    findings.checks.extend([
        Check::absolute(
            "collision: change of momentum",
            "",
            [worst / before.norm(), 0.0],
            allowed.momentum,
        ),
        Check::absolute("collision: largest gain of energy", "", [gain, 0.0], allowed.energy),
        // Without a collision the line above would say nothing: the ball bounces back.
        Check::relative(
            "collision: change of the ball's speed over its speed",
            "",
            [given / 1.5, 1.0],
            0.6,
        ),
    ]);
    Ok(findings)
}

impl Toss {
    fn contact(&self) -> ContactParams {
        ContactParams {
            damping: self.damping,
            friction: self.friction,
            falloff_speed: self.falloff_speed,
            max_alignment: 0.0,
            ..plain(self.k)
        }
    }

    fn cube(&self, name: &str, half: Vector3<f64>) -> Result<Body, CliError> {
        let mut body = Body::dynamic(name, MassProperties::cuboid(self.mass, &half)?);
        let mesh = TriangleMesh::refined_cuboid(&half, self.divisions)?;
        body.samples = Some(SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3));
        body.contact = self.contact();
        Ok(body)
    }

    fn on_the_plane(&self) -> Result<Scene, CliError> {
        let mut cube = self.cube("cube", Vector3::repeat(self.half_extent))?;
        cube.pose.position.z = 4.0 * self.half_extent;
        cube.pose.rotation = so3::exp(&Vector3::new(0.2, 0.4, 0.3));
        cube.velocity = Vector3::new(0.8, 0.3, -0.9);
        cube.angular_velocity = Vector3::new(3.0, -6.0, 2.0);
        Ok(Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(self.contact())?, cube])?)
    }

    fn in_free_space(&self) -> Result<Scene, CliError> {
        let half = self.half_extent * Vector3::new(1.8, 1.6, 0.6);
        let mut slab = self.cube("slab", half)?;
        slab.collider = Some(Collider::cuboid(Vector3::zeros(), half)?);
        slab.velocity.z = 0.2;
        let radius = self.half_extent;
        let mut ball = Body::dynamic("ball", MassProperties::sphere(self.mass, radius)?);
        let mesh = TriangleMesh::icosphere(radius, 2)?;
        ball.samples = Some(SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3));
        ball.collider = Some(Collider::sphere(Vector3::zeros(), radius)?);
        ball.contact = self.contact();
        ball.pose.position = Vector3::new(0.5 * radius, 0.3 * radius, half.z + 1.2 * radius);
        ball.velocity.z = -1.5;
        ball.angular_velocity = Vector3::new(2.0, 5.0, -1.0);
        Ok(Scene::new(Vector3::zeros(), vec![slab, ball])?)
    }
}

/// Largest `‖m Δv/Δt − m g − Σ f‖` over the weight.
fn worst_balance(toss: &Toss, roll: &Roll) -> Result<f64, CliError> {
    let (m, gravity) = (toss.mass, roll.simulator.scene().gravity);
    let mut worst = 0.0_f64;
    for k in 0..roll.steps() {
        let contacts = roll.simulator.contacts(&roll.trajectory, &roll.parameters, k)?;
        let force: Vector3<f64> = contacts.iter().map(|c| c.force).sum();
        let change = (roll.state(k + 1, 1).velocity - roll.state(k, 1).velocity) * (m / roll.dt);
        worst = worst.max((change - gravity * m - force).norm() / (m * G));
    }
    Ok(worst)
}

fn total(roll: &Roll, step: usize) -> Result<f64, CliError> {
    Ok(roll.energies(step)?.iter().sum())
}

/// Largest gain of energy in a step over the kinetic energy at the start; 0 where every step loses.
fn largest_gain(roll: &Roll) -> Result<f64, CliError> {
    let [kinetic, ..] = roll.energies(0)?;
    let (mut worst, mut last) = (0.0_f64, total(roll, 0)?);
    for k in 1..=roll.steps() {
        let now = total(roll, k)?;
        worst = worst.max(now - last);
        last = now;
    }
    Ok(worst / kinetic)
}

fn energies(roll: &Roll) -> Result<LineFigure, CliError> {
    let kept = roll.thinned();
    let all = kept.iter().map(|&k| roll.energies(k)).collect::<Result<Vec<_>, _>>()?;
    let times: Vec<f64> = kept.iter().map(|&k| roll.time(k)).collect();
    let line = |name: &str, pick: &dyn Fn(&[f64; 3]) -> f64| {
        Series::line(name, times.clone(), all.iter().map(pick).collect())
    };
    Ok(LineFigure {
        title: "Energy of a tossed cube".into(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("energy", "J"),
        series: vec![
            line("total", &|e| e.iter().sum()),
            line("kinetic", &|e| e[0]),
            line("gravitational", &|e| e[1]),
            line("contact", &|e| e[2]),
        ],
        slopes: vec![],
    })
}
