//! Identification of scenes with joints: a tracked link of the world, and what moves with it.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use osculate_fit::experiment::Experiment;
use osculate_fit::least_squares::{self, Settings};
use osculate_fit::problem::{Horizon, InitialState, Problem, ProblemError, Weights};
use osculate_fit::twin;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Two bars on hinges that touch nothing.
const SCENE: &str = r#"
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
friction = { viscous = 0.02 }

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

const EXPERIMENT: &str = r#"
scene = "scene.toml"
body = "upper"
data = "twin"
substeps = 4

[[parameter]]
path = "joint.upper.damping"
range = [0.001, 0.1]

[[parameter]]
path = "lower.mass"
range = [0.05, 1.0]

[twin]
tosses = 3
frames = 30
rate_hz = 100.0
seed = 1
position_noise = 0.0
rotation_noise_deg = 0.0
height = [0.45, 0.45]
speed = [0.0, 0.0]
fall = [0.0, 0.0]
spin = [1.0, 5.0]
"#;

/// The experiment in a folder of its own.
fn experiment(test: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("scene.toml"), SCENE).unwrap();
    std::fs::write(folder.join("experiment.toml"), text).unwrap();
    folder.join("experiment.toml")
}

fn problem(experiment: &Experiment, initial: InitialState) -> Result<Problem, ProblemError> {
    let (tosses, _) =
        twin::make(&experiment.model, &experiment.file.twin.clone().unwrap()).unwrap();
    let weights = Weights { position: 100.0, rotation: 1.0, per_frame_mean: true, robust: None };
    let parameters = &experiment.file.parameters;
    Problem::new(experiment.model.clone(), tosses, parameters, weights, Horizon::Full, initial)
}

#[test]
fn damping_of_a_hinge_and_mass_of_a_hanging_bar_are_found_from_the_motion_of_the_other() {
    let experiment = Experiment::read(&experiment("joints", EXPERIMENT)).unwrap();
    let problem = problem(&experiment, InitialState::default()).unwrap();
    let truth = |p: &osculate_fit::parameter::FreeParameter| {
        p.to_coordinate(problem.scene_value(&p.path).unwrap())
    };
    let exact: Vec<f64> = problem.parameters().iter().map(truth).collect();
    let start = vec![exact[0] + 0.4, exact[1] - 0.3];
    let bounds: Vec<[f64; 2]> =
        problem.parameters().iter().map(|p| p.coordinate_bounds()).collect();
    let own = problem.own_start();
    let (settings, go) =
        (Settings { iterations: 10, ..Settings::default() }, AtomicBool::new(false));
    let found = least_squares::minimise(&problem, (start, own), &bounds, &settings, &go, |_, _| {})
        .unwrap();
    for (i, p) in problem.parameters().iter().enumerate() {
        // Coordinates are logarithms.
        let off = (found.shared[i] - exact[i]).abs();
        assert!(off < 1e-4, "{}: off by {off:e}", p.path);
    }
    assert!(found.cost() < 1e-12, "{}", found.cost());
}

#[test]
fn starts_that_a_recording_does_not_determine_are_refused() {
    let hanging = EXPERIMENT.replace("body = \"upper\"", "body = \"lower\"");
    let refused =
        Experiment::read(&experiment("joints_hanging", &hanging)).unwrap_err().to_string();
    for words in
        ["experiment.toml:3: body", "'lower', a link that hangs on 'upper'", "of the world"]
    {
        assert!(refused.contains(words), "{refused}");
    }
    let read = Experiment::read(&experiment("joints_start", EXPERIMENT)).unwrap();
    let initial = InitialState { velocity: Some(0.1), ..InitialState::default() };
    let refused = problem(&read, initial).err().unwrap();
    assert!(matches!(refused, ProblemError::Prior(_)), "{refused}");
    let priors = |prior: &str| {
        let text = EXPERIMENT.replace(
            "[[parameter]]\npath = \"lower",
            &format!("{prior}\n[[parameter]]\npath = \"lower"),
        );
        let text = text.replace(
            "[twin]",
            "[loss]\nkind = \"noise\"\nposition_sigma = 1e-3\nrotation_sigma_deg = 0.1\n\n[twin]",
        );
        Experiment::read(&experiment("joints_priors", &text)).unwrap_err().to_string()
    };
    for (prior, words) in [
        (
            "[initial_state]\nvelocity_sigma = 0.1\n",
            ["initial_state", "'upper', which a joint moves"],
        ),
        ("[initial_state.joints.lwoer]\nrate_sigma = 0.1\n", ["joints.lwoer", "upper, lower"]),
        ("[initial_state.joints.lower]\nrate_sigma = 0.0\n", ["joints.lower.rate_sigma", "> 0"]),
    ] {
        let refused = priors(prior);
        let words = ["experiment.toml:1", words[0], words[1]];
        assert!(words.iter().all(|w| refused.contains(w)), "{refused}");
    }
}
