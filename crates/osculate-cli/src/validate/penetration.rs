//! Load and energy of sampled surfaces at a depth d, plain ramp, for every quadrature rule under refinement.
//!
//! ```text
//! ball on a plane                     F = π k R d²,    Π = π k R d³/3
//! box, face down                      F = k (A d + P d²/2), P the perimeter: the side faces count
//! box, corner down on its diagonal    F = 3 k d³/2
//! box, edge down, face tilted θ       F = k L d²/2 (1/sin θ + 1/cos θ) + k d³/(3 sin θ cos θ)
//! ```

use super::scenes::{force_and_energy, plain, plane};
use super::{Check, Config, Findings};
use crate::CliError;
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::Body;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::so3;
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;
use std::f64::consts::PI;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Penetration {
    k: f64,
    ball: Ball,
    #[serde(rename = "box")]
    cuboid: Cuboid,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ball {
    radius: f64,
    depth: f64,
    subdivisions: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cuboid {
    half_extents: [f64; 3],
    face_depth: f64,
    face_divisions: usize,
    corner_depth: f64,
    edge_depth: f64,
    edge_tilt: f64,
    divisions: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    ball: f64,
    face: f64,
    corner: f64,
    edge: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let s: Penetration = config.read()?;
    let mut findings = Findings::default();
    ball(&s, &mut findings)?;
    face(&s, &mut findings)?;
    let c = &s.cuboid;
    let (d, length, (sin, cos)) = (c.edge_depth, 2.0 * c.half_extents[0], c.edge_tilt.sin_cos());
    let edge =
        s.k * length * d * d / 2.0 * (1.0 / sin + 1.0 / cos) + s.k * d.powi(3) / (3.0 * sin * cos);
    let tilted = so3::exp(&(Vector3::x() * c.edge_tilt));
    refined(
        &s,
        ("corner", corner_down(), c.corner_depth),
        (1.5 * s.k * c.corner_depth.powi(3), s.tolerance.corner),
        &mut findings,
    )?;
    refined(&s, ("edge", tilted, d), (edge, s.tolerance.edge), &mut findings)?;
    Ok(findings)
}

/// Force and energy of a mesh on the plane, its origin at a height.
fn load(
    s: &Penetration,
    samples: SurfaceSamples,
    height: f64,
    rotation: Matrix3<f64>,
) -> Result<(f64, f64), CliError> {
    let mut body = Body::dynamic("body", MassProperties::sphere(1.0, 1.0)?);
    body.samples = Some(samples);
    body.pose.position.z = height;
    body.pose.rotation = rotation;
    body.contact = plain(s.k);
    force_and_energy([plane(plain(s.k))?, body])
}

fn figure(what: &str, series: Vec<Series>) -> LineFigure {
    LineFigure {
        title: format!("Load of a sampled {what} on a plane against its closed form"),
        x: Axis::log("samples on the body", ""),
        y: Axis::log("relative error of the force", ""),
        series,
        slopes: vec![],
    }
}

fn ball(s: &Penetration, findings: &mut Findings) -> Result<(), CliError> {
    let Ball { radius, depth, .. } = s.ball;
    let force = PI * s.k * radius * depth * depth;
    let energy = force * depth / 3.0;
    let mut series = Vec::new();
    for rule in TriangleRule::ALL {
        let (mut x, mut y, mut last) = (Vec::new(), Vec::new(), (f64::NAN, f64::NAN));
        for &n in &s.ball.subdivisions {
            let samples = SurfaceSamples::from_mesh(&TriangleMesh::icosphere(radius, n)?, rule);
            x.push(samples.len() as f64);
            last = load(s, samples, radius - depth, Matrix3::identity())?;
            y.push((last.0 / force - 1.0).abs());
        }
        let name = format!("{rule:?}");
        findings.checks.extend([
            Check::relative(format!("ball, {name}: force"), "N", [last.0, force], s.tolerance.ball),
            Check::relative(
                format!("ball, {name}: energy"),
                "J",
                [last.1, energy],
                s.tolerance.ball,
            ),
        ]);
        series.push(Series::line_dots(name, x, y));
    }
    findings.figures.push(("penetration_ball".into(), figure("ball", series)));
    Ok(())
}

fn face(s: &Penetration, findings: &mut Findings) -> Result<(), CliError> {
    let c = &s.cuboid;
    let (half, d) = (Vector3::from(c.half_extents), c.face_depth);
    let (area, perimeter) = (4.0 * half.x * half.y, 4.0 * (half.x + half.y));
    let force = s.k * (area * d + perimeter * d * d / 2.0);
    for rule in TriangleRule::ALL {
        let mesh = TriangleMesh::refined_cuboid(&half, c.face_divisions)?;
        let samples = SurfaceSamples::from_mesh(&mesh, rule);
        let (found, _) = load(s, samples, half.z - d, Matrix3::identity())?;
        let what = format!("box on its face, {rule:?}: force");
        findings.checks.push(Check::relative(what, "N", [found, force], s.tolerance.face));
    }
    Ok(())
}

/// The rotation that points the diagonal (−1, −1, −1) down.
fn corner_down() -> Matrix3<f64> {
    let down = Vector3::repeat(-1.0 / 3f64.sqrt());
    let axis = down.cross(&-Vector3::z());
    so3::exp(&(axis / axis.norm() * axis.norm().atan2(-down.z)))
}

fn refined(
    s: &Penetration,
    (what, rotation, depth): (&str, Matrix3<f64>, f64),
    (force, tolerance): (f64, f64),
    findings: &mut Findings,
) -> Result<(), CliError> {
    let half = Vector3::from(s.cuboid.half_extents);
    let corner =
        |i: usize| Vector3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
    let lowest = (0..8).map(|i| (rotation * corner(i)).z).fold(f64::INFINITY, f64::min);
    let mut series = Vec::new();
    for rule in TriangleRule::ALL {
        let (mut x, mut y, mut last) = (Vec::new(), Vec::new(), f64::NAN);
        for &n in &s.cuboid.divisions {
            let samples = SurfaceSamples::from_mesh(&TriangleMesh::refined_cuboid(&half, n)?, rule);
            x.push(samples.len() as f64);
            (last, _) = load(s, samples, -lowest - depth, rotation)?;
            y.push((last / force - 1.0).abs());
        }
        let check = format!("box on its {what}, {rule:?}: force");
        findings.checks.push(Check::relative(check, "N", [last, force], tolerance));
        series.push(Series::line_dots(format!("{rule:?}"), x, y));
    }
    findings
        .figures
        .push((format!("penetration_{what}"), figure(&format!("box, {what} down,"), series)));
    Ok(())
}
