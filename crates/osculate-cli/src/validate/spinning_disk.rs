//! A disk of uniform pressure slides and spins: friction of the two is coupled.
//!
//! With `ε = v/(R ω)`, force `μ N f`, torque `μ N R t`, and complete elliptic integrals of the parameter m:
//!
//! ```text
//! ε ≤ 1, m = ε²     f = 4/(3π ε) [(ε² + 1) E + (ε² − 1) K]     t = 4/(9π) [(4 − 2ε²) E + (ε² − 1) K]
//! ε ≥ 1, m = 1/ε²   f = 4/(3π) [(ε² + 1) E − (ε² − 1) K]       t = 4ε/(9π) [(4 − 2ε²) E + (2ε² − 5 + 3/ε²) K]
//! motion            dv/dt = −μ g f,   d(R ω)/dt = −2 μ g t;    both end together, at f = 2 ε t: ε₀ = 0.6530
//! ```
//!
//! Source of the fixed point: Z. Farkas, G. Bartels, T. Unger, D. E. Wolf, PRL 90, 248302, 2003,
//! <https://doi.org/10.1103/PhysRevLett.90.248302>.

use super::scenes::{G, Roll, plain, plane, root, sampled, settings};
use super::{Check, Config, Findings};
use crate::{CliError, names};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Method, Scene};
use osculate_geometry::mass::MassProperties;
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// ε₀ of Farkas et al.
const FIXED_POINT: f64 = 0.653;
/// Most steps of the integrated closed forms: without friction they have no end.
const MOST_STEPS: usize = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Disk {
    mass: f64,
    radius: f64,
    friction: f64,
    falloff_speed: f64,
    k: f64,
    rings: usize,
    samples_a_ring: usize,
    speed: f64,
    spin_speed: f64,
    #[serde(deserialize_with = "names::read_method")]
    method: Method,
    dt: f64,
    duration: f64,
    ratios: Vec<f64>,
    falloff_of_ratios: f64,
    late_speed: f64,
    end: End,
    tolerance: Tolerances,
}

/// The motion goes on from the late speed, in finer steps.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    falloff_speed: f64,
    dt: f64,
    duration: f64,
    speed: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    force: f64,
    torque: f64,
    motion: f64,
    late_ratio: f64,
    fixed_point: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let disk: Disk = config.read()?;
    let mut findings = Findings::default();
    loads(&disk, &mut findings)?;
    motion(&disk, &mut findings)?;
    Ok(findings)
}

impl Disk {
    /// The disk at its static depth, its centre of mass in the plane of its samples: friction does not tip it.
    fn scene(&self, falloff_speed: f64, v: f64, spin_speed: f64) -> Result<Scene, CliError> {
        let contact = ContactParams { friction: self.friction, falloff_speed, ..plain(self.k) };
        let (mut points, mut weights) = (Vec::new(), Vec::new());
        let width = self.radius / self.rings as f64;
        let spacing = TAU / self.samples_a_ring as f64;
        for ring in 0..self.rings {
            let r = width * (ring as f64 + 0.5);
            for i in 0..self.samples_a_ring {
                // Rings are turned against each other, so that no direction is preferred.
                let (s, c) = (spacing * (i as f64 + 0.618 * ring as f64)).sin_cos();
                points.push(Vector3::new(r * c, r * s, 0.0));
                weights.push(r * spacing * width);
            }
        }
        let area: f64 = weights.iter().sum();
        let square = self.mass * self.radius * self.radius;
        let inertia =
            Matrix3::from_diagonal(&Vector3::new(square / 4.0, square / 4.0, square / 2.0));
        let mass = MassProperties::new(self.mass, Vector3::zeros(), inertia)?;
        let mut body = sampled("disk", mass, points, weights, contact)?;
        body.pose.position.z = -self.mass * G / (self.k * area);
        body.velocity.x = v;
        body.angular_velocity.z = spin_speed / self.radius;
        Ok(Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(contact)?, body])?)
    }
}

/// Complete elliptic integrals `K(m)`, `E(m)`, by the arithmetic-geometric mean; m < 1.
fn elliptic(m: f64) -> (f64, f64) {
    let (mut a, mut g, mut power) = (1.0, (1.0 - m).sqrt(), 0.5);
    let mut sum = power * m;
    for _ in 0..40 {
        let c = 0.5 * (a - g);
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
        power *= 2.0;
        sum += power * c * c;
    }
    let k = FRAC_PI_2 / a;
    (k, k * (1.0 - sum))
}

/// `(f, t)` of the ratio ε ≥ 0.
fn law(ratio: f64) -> (f64, f64) {
    let square = ratio * ratio;
    if ratio < 1e-6 {
        return (ratio, 2.0 / 3.0);
    }
    // K has a logarithmic pole at m = 1 that its factor cancels.
    if (ratio - 1.0).abs() < 1e-9 {
        return (8.0 / (3.0 * PI), 8.0 / (9.0 * PI));
    }
    if ratio < 1.0 {
        let (k, e) = elliptic(square);
        let f = 4.0 / (3.0 * PI * ratio) * ((square + 1.0) * e + (square - 1.0) * k);
        let t = 4.0 / (9.0 * PI) * ((4.0 - 2.0 * square) * e + (square - 1.0) * k);
        return (f, t);
    }
    let (k, e) = elliptic(1.0 / square);
    let f = 4.0 / (3.0 * PI) * ((square + 1.0) * e - (square - 1.0) * k);
    let t = 4.0 * ratio / (9.0 * PI)
        * ((4.0 - 2.0 * square) * e + (2.0 * square - 5.0 + 3.0 / square) * k);
    (f, t)
}

fn loads(disk: &Disk, findings: &mut Findings) -> Result<(), CliError> {
    let (mut forces, mut torques) = (Vec::new(), Vec::new());
    let load = disk.friction * disk.mass * G;
    for &ratio in &disk.ratios {
        let scene = disk.scene(disk.falloff_of_ratios, ratio, 1.0)?;
        let law_of = settings(disk.method, DissipationSchedule::default(), FrictionRamp::C1);
        // A step so short that nothing changes.
        let roll = Roll::new(scene, law_of, 1e-9, 1e-9)?;
        let contacts = roll.simulator.contacts(&roll.trajectory, &roll.parameters, 0)?;
        let force: f64 = contacts.iter().map(|c| -(c.viscous.x + c.coulomb.x)).sum();
        let torque: f64 =
            contacts.iter().map(|c| -c.position.cross(&(c.viscous + c.coulomb)).z).sum();
        let (f, t) = law(ratio);
        let found = [force / load, torque / (load * disk.radius)];
        let allowed = &disk.tolerance;
        findings.checks.push(Check::absolute(
            format!("force over μ N at ε = {ratio}"),
            "",
            [found[0], f],
            allowed.force,
        ));
        findings.checks.push(Check::absolute(
            format!("torque over μ N R at ε = {ratio}"),
            "",
            [found[1], t],
            allowed.torque,
        ));
        forces.push(found[0]);
        torques.push(found[1]);
    }
    let fixed = root(|x| law(x).0 - 2.0 * x * law(x).1, 0.3, 0.95);
    findings.checks.push(Check::absolute(
        "fixed point f = 2 ε t, against the published one",
        "",
        [fixed, FIXED_POINT],
        5e-4,
    ));
    let fine: Vec<f64> = (1..=320).map(|i| 0.01 * f64::from(i)).collect();
    let closed = |pick: fn((f64, f64)) -> f64| fine.iter().map(|&x| pick(law(x))).collect();
    let figure = LineFigure {
        title: "Friction of a disk that slides and spins".into(),
        x: Axis::linear("ε = v/(R ω)", ""),
        y: Axis::linear("load", ""),
        series: vec![
            Series::line("force over μ N, closed form", fine.clone(), closed(|x| x.0)),
            Series::line("torque over μ N R, closed form", fine.clone(), closed(|x| x.1)),
            Series::dots("force, simulated", disk.ratios.clone(), forces),
            Series::dots("torque, simulated", disk.ratios.clone(), torques),
        ],
        slopes: vec![],
    };
    findings.figures.push(("spinning_disk_loads".into(), figure));
    Ok(())
}

/// Motion by the closed forms of the loads until the speed is a thousandth: times, v, R ω, distance, angle.
fn closed_motion(disk: &Disk) -> Vec<[f64; 5]> {
    let a = disk.friction * G;
    let rate = |[v, w]: [f64; 2]| {
        let (f, t) = law(v / w);
        [-a * f, -2.0 * a * t, v, w / disk.radius]
    };
    let (h, mut y, mut path) = (2e-5, [disk.speed, disk.spin_speed, 0.0, 0.0], Vec::new());
    let mut time = 0.0;
    while path.len() < MOST_STEPS && y[0].min(y[1]) > 1e-3 * disk.speed {
        path.push([time, y[0], y[1], y[2], y[3]]);
        let at = |k: [f64; 4], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
        let k1 = rate([y[0], y[1]]);
        let k2 = rate(at(k1, 0.5 * h));
        let k3 = rate(at(k2, 0.5 * h));
        let k4 = rate(at(k3, h));
        for (i, y) in y.iter_mut().enumerate() {
            *y += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
        time += h;
    }
    path
}

fn motion(disk: &Disk, findings: &mut Findings) -> Result<(), CliError> {
    let scene = disk.scene(disk.falloff_speed, disk.speed, disk.spin_speed)?;
    let law_of = settings(disk.method, DissipationSchedule::default(), FrictionRamp::C1);
    let roll = Roll::new(scene, law_of, disk.dt, disk.duration)?;
    let speed = |k: usize| roll.state(k, 1).velocity.x;
    let spin = |k: usize| roll.state(k, 1).angular_velocity().z * disk.radius;
    let closed = closed_motion(disk);
    let end = closed.last().copied().unwrap_or([f64::NAN; 5]);
    let stopped = roll.first(0, 1, |b| b.velocity.x < 1e-3 * disk.speed);
    let time = stopped.map_or(f64::NAN, |k| roll.time(k));
    let angle: f64 =
        (1..=roll.steps()).map(|k| 0.5 * (spin(k) + spin(k - 1)) * roll.dt / disk.radius).sum();
    let distance = roll.state(roll.steps(), 1).center.x;
    let late = roll.first(0, 1, |b| b.velocity.x < disk.late_speed);
    let ratio = late.map_or(f64::NAN, |k| speed(k) / spin(k));
    let then = late.map_or(f64::NAN, speed);
    let closed_ratio = closed.iter().find(|p| p[1] <= then).map_or(f64::NAN, |p| p[1] / p[2]);
    let allowed = &disk.tolerance;
    findings.checks.extend([
        Check::relative("time of the stop", "s", [time, end[0]], allowed.motion),
        Check::relative("distance", "m", [distance, end[3]], allowed.motion),
        Check::relative("angle", "rad", [angle, end[4]], allowed.motion),
        Check::relative(
            format!("ε at v = {} m/s", disk.late_speed),
            "",
            [ratio, closed_ratio],
            allowed.late_ratio,
        ),
    ]);
    findings.checks.push(approach(disk, [then, then / ratio])?);
    let line = |name: &str, pick: fn(&[f64; 5]) -> f64| {
        let kept: Vec<_> = closed.iter().step_by(closed.len().div_ceil(300).max(1)).collect();
        Series::line(
            name,
            kept.iter().map(|p| p[0]).collect(),
            kept.iter().map(|p| pick(p)).collect(),
        )
    };
    let dots = |name: &str, value: &dyn Fn(usize) -> f64| {
        let steps: Vec<usize> = (0..=roll.steps()).step_by(roll.steps().div_ceil(40)).collect();
        let times = steps.iter().map(|&k| roll.time(k)).collect();
        Series::dots(name, times, steps.iter().map(|&k| value(k)).collect())
    };
    let figure = LineFigure {
        title: format!(
            "A disk slides and spins to a stop, μ = {}, R = {} m",
            disk.friction, disk.radius
        ),
        x: Axis::linear("time", "s"),
        y: Axis::linear("speed", "m/s"),
        series: vec![
            line("v, closed form", |p| p[1]),
            line("R ω, closed form", |p| p[2]),
            dots("v, simulated", &speed),
            dots("R ω, simulated", &spin),
        ],
        slopes: vec![],
    };
    findings.figures.push(("spinning_disk_motion".into(), figure));
    Ok(())
}

/// The ratio of the two speeds near the end, from speeds `v`, `R ω` \[m/s\].
fn approach(disk: &Disk, [v, spin]: [f64; 2]) -> Result<Check, CliError> {
    let end = &disk.end;
    let scene = disk.scene(end.falloff_speed, v, spin)?;
    let law_of = settings(disk.method, DissipationSchedule::default(), FrictionRamp::C1);
    let roll = Roll::new(scene, law_of, end.dt, end.duration)?;
    let state = roll.first(0, 1, |b| b.velocity.x < end.speed).map(|k| roll.state(k, 1));
    let ratio = state.map_or(f64::NAN, |b| b.velocity.x / (b.angular_velocity().z * disk.radius));
    Ok(Check::relative(
        format!("going on from there, ε at v = {} m/s", end.speed),
        "",
        [ratio, FIXED_POINT],
        disk.tolerance.fixed_point,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_the_disk_are_continuous_and_have_their_limits() {
        // Pure sliding: f = 1, t = 0; pure spinning: f = 0, t = 2/3.
        let (f, t) = law(1e3);
        assert!((f - 1.0).abs() < 1e-6 && t.abs() < 1e-3);
        let (f, t) = law(1e-4);
        assert!((f - 1e-4).abs() < 1e-9 && (t - 2.0 / 3.0).abs() < 1e-6);
        let (low, high) = (law(1.0 - 1e-7), law(1.0 + 1e-7));
        assert!((low.0 - high.0).abs() < 1e-5 && (low.1 - high.1).abs() < 1e-5);
        let (k, e) = elliptic(0.5);
        // Legendre's relation at m = 1/2: 2 E K − K² = π/2.
        assert!((2.0 * e * k - k * k - FRAC_PI_2).abs() < 1e-14);
    }
}
