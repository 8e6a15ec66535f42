//! Piles of cubes that fall on a plane and on each other, converged to 1e-8 of the forces: how long, and how often not.
//!
//! Cubes of 0.1 m and 0.37 kg, μ = 0.5, the model's defaults (k = 10⁹ Pa/m, ε = 5 mm, δ = 1 mm, V_f = 0.01 m/s, rule
//! P1Q3, backward Euler), slightly turned and shifted at random. `cargo bench --bench pile [-- CUBES …]` prints time a
//! step and a contact, iterations, stages not converged, contacts and memory; `RAYON_NUM_THREADS=1` for one thread.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

use nalgebra::Vector3;
use osculate_contact::{ContactLaw, ContactParams, DissipationSchedule};
use osculate_dynamics::{Body, NewtonSettings, OnFailure, Scene, Settings, Simulator, Trajectory};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::{se3::Pose, so3};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use std::time::Instant;

const HALF: f64 = 0.05;

fn uniform(rng: &mut impl Rng, width: f64) -> f64 {
    width * (2.0 * rng.random::<f64>() - 1.0)
}

/// `n` cubes in a lattice of 0.125 × 0.125 × 0.13 m, 8 cm above a plane.
fn scene(n: usize) -> Scene {
    let contact = ContactParams { friction: 0.5, ..ContactParams::default() };
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    ground.contact = contact;
    let half = Vector3::repeat(HALF);
    let mass = MassProperties::cuboid(0.37, &half).unwrap();
    let mesh = TriangleMesh::cuboid(&half).unwrap();
    let samples = SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3);
    let mut rng = StdRng::seed_from_u64(0);
    let side = (n as f64).cbrt().round() as usize;
    let mut bodies = vec![ground];
    for i in 0..n {
        let (x, y, z) = (i % side, i / side % side, i / (side * side));
        let mut cube = Body::dynamic(format!("cube_{i}"), mass);
        let turn = Vector3::from_fn(|_, _| uniform(&mut rng, 0.2));
        let position = Vector3::new(
            0.125 * x as f64 + uniform(&mut rng, 0.01),
            0.125 * y as f64 + uniform(&mut rng, 0.01),
            0.08 + 0.13 * z as f64,
        );
        cube.pose = Pose { position, rotation: so3::exp(&turn) };
        cube.contact = contact;
        cube.samples = Some(samples.clone());
        cube.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
        bodies.push(cube);
    }
    Scene::new(Vector3::new(0.0, 0.0, -9.81), bodies).unwrap()
}

fn run(n: usize, schedule: DissipationSchedule, step: f64, steps: usize) {
    let settings = Settings {
        law: ContactLaw { schedule, ..ContactLaw::default() },
        newton: NewtonSettings {
            tolerance: 1e-8,
            on_failure: OnFailure::Continue,
            ..NewtonSettings::default()
        },
        ..Settings::default()
    };
    let simulator = Simulator::new(scene(n), settings, vec![step; steps]).unwrap();
    let parameters = simulator.parameters();
    let begin = (Instant::now(), cpu());
    let mut trajectory = Trajectory::without_factors();
    simulator.run_into(&parameters, &mut trajectory).unwrap();
    let took = begin.0.elapsed().as_secs_f64();
    let worked = cpu().zip(begin.1).map(|(now, before)| now - before);
    let iterations: usize = trajectory.stats.iter().map(|s| s.iterations).sum();
    let most = trajectory.stats.iter().map(|s| s.iterations).max().unwrap();
    let touching = |k: usize| simulator.contacts(&trajectory, &parameters, k).unwrap().len();
    let contacts: usize = (0..steps).map(touching).sum();
    println!(
        "{n:5} cubes, {schedule:?}: {:8.3} ms a step, {:5.2} iterations (most {most}), {} of {steps} steps not converged, {} contacts at the end",
        took * 1e3 / steps as f64,
        iterations as f64 / steps as f64,
        trajectory.unconverged(),
        touching(steps - 1),
    );
    let per_contact = |seconds: f64| seconds * 1e6 / contacts as f64;
    let processor = worked.map(|w| format!(", {:.2} µs of processor time", per_contact(w)));
    println!(
        "      {:.2} µs a contact and step{}; {contacts} contacts of all steps",
        per_contact(took),
        processor.unwrap_or_default()
    );
    if let Some(peak) = peak() {
        println!("      peak of memory so far {peak:.0} MB");
    }
}

/// Processor time of this process so far [s], where the system tells in ticks of 10 ms.
fn cpu() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) * 0.01)
}

/// Peak of the memory of this process so far [MB], where the system tells.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1e-3)
}

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|x| x.parse().ok()).collect();
    let asked = if asked.is_empty() { vec![8, 64, 216] } else { asked };
    for n in asked {
        let steps = if n > 300 { 60 } else { 200 };
        run(n, DissipationSchedule::StageStart, 0.005, steps);
        // The other rows jump where a sample leaves: some stages of a pile have no solution.
        if n <= 8 {
            run(n, DissipationSchedule::CurrentGeometry, 0.005, steps);
            run(n, DissipationSchedule::Current, 0.005, steps);
        }
    }
}
