//! Every kind of parameter is found from twins without noise: to a ten thousandth, in at most ten iterations.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![expect(clippy::print_stdout, reason = "the table is what is asked for")]

use osculate_dynamics::file::SceneFile;
use osculate_fit::least_squares::{self, Settings};
use osculate_fit::parameter::{FreeParameter, Scale};
use osculate_fit::problem::{Horizon, InitialState, Model, ModelSettings, Problem, Weights};
use osculate_fit::twin::{self, TwinFile};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Largest relative error, and most iterations.
const ERROR: f64 = 1e-4;
const ITERATIONS: usize = 10;

/// A cube whose corners meet a ball of 0.4 m, its top at the height of the ground: every number of the contact matters.
const COMPLIANT: &str = r#"
[solver]
method = "bdf2"
steps = 10
duration = 0.1
tolerance = 1e-12
[[actor]]
name = "dome"
static = true
shape.sphere = { radius = 0.4 }
pose = { position = [0.0, 0.0, -0.4] }
contact = { epsilon = 0.001, delta = 0.001 }
[[actor]]
name = "cube"
collider = "none"
mass = 0.37
inertia = [8.1e-4, 8.1e-4, 8.1e-4, 0.0, 0.0, 0.0]
pose = { position = [0.0, 0.0, 0.2] }
contact = { epsilon = 0.001, delta = 0.001 }
[actor.samples]
weight = 2.5e-3
points = [[-0.052, -0.05, -0.05], [-0.048, -0.05, 0.05], [-0.052, 0.05, -0.05], [-0.048, 0.05, 0.05],
          [0.048, -0.05, -0.05], [0.052, -0.05, 0.05], [0.048, 0.05, -0.05], [0.052, 0.05, 0.05]]
[[pair]]
actors = ["cube", "dome"]
mu = 0.18
k = 4e5
c_n = 0.8
v_f = 0.1
"#;

/// The same under impulses.
const IMPULSE: &str = r#"
[solver]
model = "impulse"
steps = 10
duration = 0.1
[solver.impulse]
tolerance = 1e-13
restitution_threshold = 0.1
[[actor]]
name = "dome"
static = true
shape.sphere = { radius = 0.4 }
pose = { position = [0.0, 0.0, -0.4] }
[[actor]]
name = "cube"
shape.box = { half_extents = [0.05, 0.05, 0.05] }
mass = 0.37
inertia = [8.1e-4, 8.1e-4, 8.1e-4, 0.0, 0.0, 0.0]
pose = { position = [0.0, 0.0, 0.2] }
impulse = { restitution = 0.3 }
[[pair]]
actors = ["cube", "dome"]
mu = 0.18
"#;

/// A pendulum on a hinge with viscous and Coulomb friction, a second one hanging on it.
const HINGES: &str = r#"
[solver]
steps = 10
duration = 0.1
[[actor]]
name = "upper"
shape.box = { half_extents = [0.02, 0.02, 0.15] }
mass = 0.5
collider = "none"
[[actor]]
name = "lower"
shape.box = { half_extents = [0.02, 0.02, 0.15] }
mass = 0.3
collider = "none"
[[joint]]
child = "upper"
kind = "revolute"
axis = [0.0, 1.0, 0.0]
placement = { position = [0.0, 0.0, 0.6] }
offset = { position = [0.0, 0.0, -0.15] }
friction = { viscous = 0.02, coulomb = 0.05, falloff_speed = 0.1 }
[[joint]]
child = "lower"
parent = "upper"
kind = "revolute"
axis = [0.0, 1.0, 0.0]
placement = { position = [0.0, 0.0, -0.15] }
offset = { position = [0.0, 0.0, -0.15] }
friction = { viscous = 0.01 }
q = [0.5]
"#;

fn model(scene: &str, body: &str) -> Model {
    let built = SceneFile::parse(scene, "scene.toml").unwrap().build(Path::new("")).unwrap();
    let settings = match &built.impulse {
        Some(simulator) => ModelSettings::Impulse(*simulator.settings()),
        None => ModelSettings::Compliant(*built.simulator.settings()),
    };
    let scene = built.simulator.scene().clone();
    let body = scene.body(body).unwrap();
    Model { scene, settings, body, substeps: 10, channels: Vec::new() }
}

/// Tosses without noise, up to and through the first impacts.
fn exact(frames: usize, height: [f64; 2], speed: [f64; 2], fall: [f64; 2]) -> TwinFile {
    TwinFile {
        tosses: 4,
        frames,
        rate_hz: 148.0,
        seed: 3,
        position_noise: 0.0,
        rotation_noise_deg: 0.0,
        exact_start: true,
        height,
        speed,
        fall,
        spin: [1.0, 5.0],
        joints: BTreeMap::new(),
        noise: BTreeMap::new(),
    }
}

/// A ball that is a quarter too large holds the whole cube at the start: its radius begins 2 % off.
const RADIUS: &str = "dome.collider.radius";

/// Relative error and iterations of one parameter alone, from 1.25 times its value.
fn recover(model: &Model, twin: &TwinFile, path: &str, scale: Scale) -> (f64, usize) {
    let (tosses, _) = twin::make(model, twin).unwrap();
    let numbers = model.numbers().unwrap();
    let truth = numbers.iter().find(|n| n.0.path == path).map(|n| n.1);
    let truth = truth.unwrap_or_else(|| panic!("the scene has no {path}"));
    // A centre of mass at the origin has no relative error: one at a fiftieth of the width has.
    let range = match scale {
        Scale::Log => [truth / 10.0, truth * 10.0],
        _ => [truth - 0.02, truth + 0.02],
    };
    let free = FreeParameter::new(path, scale, range);
    let weights =
        Weights { position: 1.0 / 0.05, rotation: 1.0, per_frame_mean: true, robust: None };
    let (horizon, initial) = (Horizon::Full, InitialState::default());
    let bounds = [free.coordinate_bounds()];
    let u = free.to_coordinate(truth);
    let start = match scale {
        Scale::Log if path == RADIUS => u - 0.02,
        Scale::Log => u + 1.25_f64.ln(),
        _ => u + 0.0025,
    };
    let free = [free];
    let problem = Problem::new(model.clone(), tosses, &free, weights, horizon, initial).unwrap();
    let settings = Settings {
        iterations: ITERATIONS,
        cost_tolerance: 1e-12,
        step_tolerance: 1e-12,
        ..Settings::default()
    };
    let start = (vec![start], problem.own_start());
    let go = AtomicBool::new(false);
    let found =
        least_squares::minimise(&problem, start, &bounds, &settings, &go, |_, _| {}).unwrap();
    let value = free[0].to_value(found.shared[0]);
    // Iterations until it is there: the last ones only confirm it.
    let size = if matches!(scale, Scale::Log) { truth } else { 0.1 };
    ((value - truth).abs() / size.abs(), found.history.len() - 1)
}

fn table(name: &str, rows: &[(&str, (f64, usize))]) {
    println!("{name}");
    for (path, (error, iterations)) in rows {
        println!("  {path:<28} {error:8.1e} relative, {iterations:>2} iterations");
    }
    for (path, (error, iterations)) in rows {
        assert!(*error < ERROR, "{name}: {path} is off by {error:e}");
        assert!(*iterations <= ITERATIONS, "{name}: {path} takes {iterations} iterations");
    }
}

#[test]
fn every_number_of_compliant_contact_is_found_to_a_ten_thousandth_in_ten_iterations() {
    let model = model(COMPLIANT, "cube");
    let twin = exact(9, [0.095, 0.105], [0.3, 0.8], [0.4, 0.8]);
    let all = [
        ("pair.cube.dome.k", Scale::Log),
        ("dome.epsilon", Scale::Log),
        ("pair.cube.dome.mu", Scale::Log),
        ("pair.cube.dome.c_n", Scale::Log),
        ("pair.cube.dome.v_f", Scale::Log),
        ("cube.mass", Scale::Log),
        ("cube.center_x", Scale::Linear),
        ("cube.inertia_xx", Scale::Log),
        (RADIUS, Scale::Log),
    ];
    table("compliant", &all.map(|(path, scale)| (path, recover(&model, &twin, path, scale))));
}

#[test]
fn every_number_that_moves_a_body_under_impulses_is_found_to_a_ten_thousandth_in_ten_iterations() {
    let model = model(IMPULSE, "cube");
    let twin = exact(8, [0.095, 0.105], [0.3, 0.8], [0.4, 0.8]);
    // A mass alone is not told: impulses on a fixed body grow with it and the motion stays the same.
    let all = [
        ("pair.cube.dome.mu", Scale::Log),
        ("cube.restitution", Scale::Log),
        ("cube.center_x", Scale::Linear),
        ("cube.inertia_xx", Scale::Log),
        (RADIUS, Scale::Log),
    ];
    table("impulse", &all.map(|(path, scale)| (path, recover(&model, &twin, path, scale))));
}

#[test]
fn friction_of_joints_is_found_to_a_ten_thousandth_in_ten_iterations() {
    let twin = exact(30, [0.45, 0.45], [0.0, 0.0], [0.0, 0.0]);
    let all = [
        ("joint.upper.damping", Scale::Log),
        ("joint.upper.friction", Scale::Log),
        ("lower.mass", Scale::Log),
    ];
    let compliant = model(HINGES, "upper");
    table("hinges", &all.map(|(path, scale)| (path, recover(&compliant, &twin, path, scale))));
    let scene = HINGES.replace("[solver]", "[solver]\nmodel = \"impulse\"");
    let scene = scene + "[solver.impulse]\ntolerance = 1e-13\n";
    let impulse = model(&scene, "upper");
    table(
        "hinges, impulses",
        &all.map(|(path, scale)| (path, recover(&impulse, &twin, path, scale))),
    );
}
