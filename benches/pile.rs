//! Piles of cubes that fall on a plane and on each other, every step converged to 1e-8 of the forces: how long, and how often not.
//!
//! Cubes of 0.1 m and 0.37 kg, μ = 0.5, the model's defaults (k = 10⁹ Pa/m, ε = 5 mm, δ = 1 mm, V_f = 0.01 m/s, rule
//! P1Q3, backward Euler), slightly turned and shifted at random; 5 ms steps, 2 ms from 512 cubes on.
//!
//! `cargo bench --bench pile [-- WORD …]` with numbers of cubes, `box` or `sdf` (grids with the default resolution), and `stage-start`, `current-geometry` or `current`
//! as words; more than one of a kind are run in turn. `2ms` makes all steps that long, `once` rolls out once instead of three times, `spread` makes piles of
//! eight a metre apart instead of one. `halve` cuts the steps that do not converge, down to Δt/2¹². One second is rolled out in two halves, where the cubes fall and collide, and where they come to rest. Printed
//! are processor time a step (mean, and median of the steps) and a contact, Newton iterations, stages not converged, contacts and memory.
//! `RAYON_NUM_THREADS=1` for one thread.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

use nalgebra::Vector3;
use osculate_contact::{ContactLaw, ContactParams, DissipationSchedule};
use osculate_dynamics::{Body, NewtonSettings, OnFailure, Scene, Settings, Simulator, Trajectory};
use osculate_geometry::collider::Collider;
use osculate_geometry::grid::{GridParams, GridSdf};
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::{se3::Pose, so3};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

const HALF: f64 = 0.05;

fn uniform(rng: &mut impl Rng, width: f64) -> f64 {
    width * (2.0 * rng.random::<f64>() - 1.0)
}

/// What the cubes' fields are.
#[derive(Clone, Copy, Debug)]
enum Field {
    Box,
    Sdf,
}

impl Field {
    fn collider(self, mesh: &TriangleMesh) -> Collider {
        match self {
            Self::Box => Collider::cuboid(Vector3::zeros(), Vector3::repeat(HALF)).unwrap(),
            Self::Sdf => Collider::grid(GridSdf::of_mesh(mesh, &GridParams::default()).unwrap()),
        }
    }
}

/// `n` cubes in a lattice of 0.125 × 0.125 × 0.13 m, 8 cm above a plane; or of eight each, a metre apart.
fn scene(n: usize, field: Field, spread: bool) -> Scene {
    let contact = ContactParams { friction: 0.5, ..ContactParams::default() };
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    ground.contact = contact;
    let half = Vector3::repeat(HALF);
    let mass = MassProperties::cuboid(0.37, &half).unwrap();
    let mesh = TriangleMesh::cuboid(&half).unwrap();
    let samples = SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3);
    let collider = field.collider(&mesh);
    let mut rng = StdRng::seed_from_u64(0);
    let piles = if spread { n.div_ceil(8) } else { 1 };
    let side = (n as f64 / piles as f64).cbrt().round() as usize;
    let across = (piles as f64).sqrt().ceil() as usize;
    let mut bodies = vec![ground];
    for i in 0..n {
        let (pile, i) = if spread { (i / 8, i % 8) } else { (0, i) };
        let (x, y, z) = (i % side, i / side % side, i / (side * side));
        let mut cube = Body::dynamic(format!("cube_{pile}_{i}"), mass);
        let turn = Vector3::from_fn(|_, _| uniform(&mut rng, 0.2));
        let position = Vector3::new(
            0.125 * x as f64 + (pile % across) as f64 + uniform(&mut rng, 0.01),
            0.125 * y as f64 + (pile / across) as f64 + uniform(&mut rng, 0.01),
            0.08 + 0.13 * z as f64,
        );
        cube.pose = Pose { position, rotation: so3::exp(&turn) };
        cube.contact = contact;
        cube.samples = Some(samples.clone());
        cube.collider = Some(collider.clone());
        bodies.push(cube);
    }
    Scene::new(Vector3::new(0.0, 0.0, -9.81), bodies).unwrap()
}

/// Rolls out half a second some `times` and prints the median of what it took; returns the scene as it is then.
fn phase(
    name: &str,
    mut scene: Scene,
    schedule: DissipationSchedule,
    (step, times): (f64, usize),
) -> Scene {
    let settings = Settings {
        law: ContactLaw { schedule, ..ContactLaw::default() },
        newton: NewtonSettings {
            tolerance: 1e-8,
            on_failure: OnFailure::Continue,
            ..NewtonSettings::default()
        },
        ..Settings::default()
    };
    let steps = (0.5 / step).round() as usize;
    let simulator = Simulator::new(scene.clone(), settings, vec![step; steps]).unwrap();
    let parameters = simulator.parameters();
    let mut trajectory = Trajectory::without_factors();
    let mut times: Vec<f64> = (0..times)
        .map(|_| {
            let begin = cpu();
            simulator.run_into(&parameters, &mut trajectory).unwrap();
            cpu() - begin
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    let time = times[times.len() / 2];
    let iterations: usize = trajectory.stats.iter().map(|s| s.iterations).sum();
    let local: usize = trajectory.stats.iter().map(|s| s.local_iterations).sum();
    let most = trajectory.stats.iter().map(|s| s.iterations).max().unwrap();
    let touching = |k: usize| simulator.contacts(&trajectory, &parameters, k).unwrap().len();
    let contacts: usize = (0..steps).map(touching).sum();
    println!(
        "  {name:8} {:9.3} ms a step, {:6.2} µs a contact, {:5.2} iterations (most {most}) and {:.1} of groups, {} of {steps} steps not converged, {} contacts at the end, memory {:.0} MB",
        time * 1e3 / steps as f64,
        time * 1e6 / contacts.max(1) as f64,
        iterations as f64 / steps as f64,
        local as f64 / steps as f64,
        trajectory.unconverged(),
        touching(steps - 1),
        peak(),
    );
    for (body, y) in scene.bodies.iter_mut().zip(trajectory.path.state(steps)) {
        if body.is_dynamic() {
            body.pose = Pose { position: y.center, rotation: y.rotation };
            body.velocity = y.velocity;
            body.angular_velocity = y.angular_velocity();
        }
    }
    scene
}

/// Rolls out a second with steps that do not converge in halves, and prints what it took.
fn halved(scene: Scene, schedule: DissipationSchedule, step: f64) {
    let settings = Settings {
        law: ContactLaw { schedule, ..ContactLaw::default() },
        newton: NewtonSettings { tolerance: 1e-8, ..NewtonSettings::default() },
        ..Settings::default()
    };
    let steps = (1.0 / step).round() as usize;
    let simulator = Simulator::new(scene, settings, vec![step; steps]).unwrap();
    let begin = cpu();
    let found = simulator.run_halving(&simulator.parameters(), 12, Trajectory::without_factors());
    let time = cpu() - begin;
    match found {
        Ok(halved) => println!(
            "  halved   {time:9.3} s in all, {} of {steps} steps cut, {} steps after, at most {} for one",
            halved.substeps.iter().filter(|n| **n > 1).count(),
            halved.simulator.steps(),
            halved.substeps.iter().max().unwrap(),
        ),
        Err(error) => println!("  halved   {time:9.3} s in all: {error}"),
    }
}

/// Processor time of this process so far \[s\]; NaN where the system does not tell.
fn cpu() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of = |path: std::path::PathBuf| {
        let stat = std::fs::read_to_string(path.join("schedstat")).ok()?;
        stat.split_whitespace().next()?.parse::<f64>().ok()
    };
    let times: Vec<f64> = tasks.map(|task| of(task.path()).unwrap_or(f64::NAN)).collect();
    if times.is_empty() { f64::NAN } else { times.iter().sum::<f64>() * 1e-9 }
}

/// Peak of the memory of this process so far \[MB\]; NaN where the system does not tell.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:"));
    let size = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
    size.map_or(f64::NAN, |kilobytes| kilobytes * 1e-3)
}

fn main() {
    let (mut numbers, mut fields, mut schedules) = (Vec::new(), Vec::new(), Vec::new());
    let (mut halves, mut times, mut step, mut spread) = (false, 3, None, false);
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "halve" => halves = true,
            "once" => times = 1,
            "spread" => spread = true,
            "box" => fields.push(Field::Box),
            "sdf" => fields.push(Field::Sdf),
            "stage-start" => schedules.push(DissipationSchedule::StageStart),
            "current-geometry" => schedules.push(DissipationSchedule::CurrentGeometry),
            "current" => schedules.push(DissipationSchedule::Current),
            // Cargo passes --bench.
            word => match word.strip_suffix("ms").map(str::parse::<f64>) {
                Some(Ok(milliseconds)) => step = Some(1e-3 * milliseconds),
                _ => numbers.extend(word.parse::<usize>()),
            },
        }
    }
    let or = |given: Vec<usize>| if given.is_empty() { vec![8, 27, 64, 125, 216] } else { given };
    let fields = if fields.is_empty() { vec![Field::Box] } else { fields };
    // The other rows jump where a sample leaves: some stages of a pile have no solution.
    let stage_start = vec![DissipationSchedule::StageStart];
    let schedules = if schedules.is_empty() { stage_start } else { schedules };
    for n in or(numbers) {
        for &field in &fields {
            for &schedule in &schedules {
                let apart = if spread { " in piles of 8" } else { "" };
                println!("{n} cubes{apart}, {field:?}, {schedule:?}");
                let step = step.unwrap_or(if n >= 512 { 0.002 } else { 0.005 });
                if halves {
                    halved(scene(n, field, spread), schedule, step);
                    continue;
                }
                let fallen = phase("falling", scene(n, field, spread), schedule, (step, times));
                phase("settled", fallen, schedule, (step, times));
            }
        }
    }
}
