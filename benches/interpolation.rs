//! What the interpolant of a grid does to a motion: a point slides, and a ball rolls, down a large ball whose distance is
//! on a grid.
//!
//! `cargo bench --bench interpolation` prints, for the exact field and for grids of 40, 20 and 10 mm: iterations a step,
//! the largest, steps not converged, and the force's noise, `rms(F_n − F)/mean F` over the steps, with F that of the exact field. Both
//! start at rest in balance at 10° from the top of a ball of 0.5 m; 0.2 s at 1 ms, BDF2.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

use nalgebra::Vector3;
use osculate_contact::ContactParams;
use osculate_dynamics::{
    Body, Method, NewtonSettings, OnFailure, Scene, Settings, Simulator, Trajectory,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::distance::MeshDistance;
use osculate_geometry::grid::{GridParams, GridSdf, Interpolation, ResolutionMode};
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::se3::Pose;
use std::time::Instant;

const RADIUS: f64 = 0.5;
const STEPS: usize = 200;

/// A grid of exact distances of the ball, of cells of a size.
fn grid(mesh: &MeshDistance, cell: f64, interpolation: Interpolation) -> Collider {
    let explicit = ResolutionMode::Explicit;
    let params =
        GridParams { mode: explicit, delta: [cell; 3], padding: 0.05, ..GridParams::default() };
    let grid = GridSdf::of_distance(mesh, &params).unwrap();
    let [nx, ny, nz] = grid.nodes();
    let node = |n: usize| grid.node([n / (ny * nz), n / nz % ny, n % nz]);
    let values = (0..nx * ny * nz).map(|n| node(n).norm() - RADIUS).collect();
    Collider::grid(grid.with_values(values).unwrap().interpolated(interpolation))
}

/// A body that rolls or slides, and the distance of its centre from the surface where it is in balance.
struct Mover {
    samples: SurfaceSamples,
    mass: MassProperties,
    friction: f64,
    height: f64,
}

fn point() -> Mover {
    let samples = SurfaceSamples::explicit(vec![Vector3::zeros()], vec![1e-5], None).unwrap();
    let mass = MassProperties::cuboid(0.1, &Vector3::repeat(0.01)).unwrap();
    Mover { samples, mass, friction: 0.0, height: 0.0 }
}

fn ball() -> Mover {
    let mesh = TriangleMesh::icosphere(0.03, 3).unwrap();
    let samples = SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3);
    let mass = MassProperties::sphere(0.1, 0.03).unwrap();
    Mover { samples, mass, friction: 0.5, height: 0.0297 }
}

/// Normal force after each step.
fn run(mover: &Mover, collider: Collider, name: &str, exact: Option<&[f64]>) -> Vec<f64> {
    let contact = ContactParams {
        stiffness: 1e8,
        smoothing: 1e-3,
        threshold: 0.0,
        friction: mover.friction,
        damping: 1.0,
        ..ContactParams::default()
    };
    let mut ground = Body::fixed("ground");
    ground.collider = Some(collider);
    ground.contact = contact;
    let mut body = Body::dynamic("body", mover.mass);
    let up = Vector3::new(
        10_f64.to_radians().sin() * 0.8,
        10_f64.to_radians().sin() * 0.6,
        10_f64.to_radians().cos(),
    );
    body.pose = Pose { position: up * (RADIUS + mover.height), ..Pose::identity() };
    body.contact = contact;
    body.samples = Some(mover.samples.clone());
    let newton = NewtonSettings { on_failure: OnFailure::Continue, ..NewtonSettings::default() };
    let settings = Settings { newton, method: Method::Bdf2, ..Settings::default() };
    let scene = Scene::new(Vector3::new(0.0, 0.0, -9.81), vec![ground, body]).unwrap();
    let simulator = Simulator::new(scene, settings, vec![1e-3; STEPS]).unwrap();
    let parameters = simulator.parameters();
    let mut trajectory = Trajectory::default();
    let begin = Instant::now();
    simulator.run_into(&parameters, &mut trajectory).unwrap();
    let took = begin.elapsed().as_secs_f64() * 1e6 / STEPS as f64;
    let force = |k: usize| {
        let contacts = simulator.contacts(&trajectory, &parameters, k).unwrap();
        contacts.iter().map(|c| c.force).sum::<Vector3<f64>>().norm()
    };
    // The first half is left out: what of the start was not in balance has died.
    let forces: Vec<f64> = (STEPS / 2..STEPS).map(force).collect();
    let iterations: Vec<usize> = trajectory.stats.iter().map(|s| s.iterations).collect();
    let noise = exact.map_or_else(String::new, |exact| {
        let square: f64 = forces.iter().zip(exact).map(|(a, b)| (a - b).powi(2)).sum();
        let mean = exact.iter().sum::<f64>() / exact.len() as f64;
        format!(", noise {:8.2e}", (square / exact.len() as f64).sqrt() / mean)
    });
    println!(
        "  {name:<20} {:5.2} iterations (most {:2}), {} of {STEPS} not converged, {took:8.1} µs a step{noise}",
        iterations.iter().sum::<usize>() as f64 / STEPS as f64,
        iterations.iter().max().unwrap(),
        trajectory.unconverged(),
    );
    forces
}

fn main() {
    let mesh = MeshDistance::new(&TriangleMesh::icosphere(RADIUS, 3).unwrap()).unwrap();
    for (name, mover) in [("a point slides", point()), ("a ball rolls", ball())] {
        println!("{name}");
        let sphere = Collider::sphere(Vector3::zeros(), RADIUS).unwrap();
        let exact = run(&mover, sphere, "exact", None);
        for cell in [0.04, 0.02, 0.01] {
            for interpolation in Interpolation::ALL {
                let name = format!("{:2.0} mm, {}", cell * 1e3, interpolation.name());
                run(&mover, grid(&mesh, cell, interpolation), &name, Some(&exact));
            }
        }
    }
}
