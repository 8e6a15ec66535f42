//! Identification under the impulse model: Jacobians, and parameters of twins.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use osculate_fit::experiment::Experiment;
use osculate_fit::least_squares::{self, BlockProblem, Settings};
use osculate_fit::parameter::{FreeParameter, Scale};
use osculate_fit::problem::{Horizon, InitialState, Model, ModelSettings, Problem, Toss};
use osculate_fit::twin::{self, TwinFile};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Frames up to the first impacts: what follows multiplies every change.
const FRAMES: usize = 8;

fn experiment() -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cube_toss_impulse");
    Experiment::read(&folder.join("experiment.toml")).unwrap()
}

/// The cube of the experiment, solved tightly: differences see what a solve leaves.
fn model(experiment: &Experiment) -> Model {
    let mut model = experiment.model.clone();
    let ModelSettings::Impulse(settings) = &mut model.settings else { panic!("not impulses") };
    settings.tolerance = 1e-13;
    model
}

/// Tosses without noise.
fn tosses(experiment: &Experiment, model: &Model, count: usize) -> Vec<Toss> {
    let file = experiment.file.twin.clone().unwrap();
    let exact = TwinFile {
        tosses: count,
        frames: FRAMES + 1,
        position_noise: 0.0,
        rotation_noise_deg: 0.0,
        height: [0.09, 0.1],
        ..file
    };
    twin::make(model, &exact).unwrap().0
}

fn free(path: &str, range: [f64; 2]) -> FreeParameter {
    FreeParameter::new(path, Scale::Linear, range)
}

#[test]
fn jacobian_of_tosses_with_impulses_is_that_of_differences() {
    let experiment = experiment();
    let model = model(&experiment);
    let tosses = tosses(&experiment, &model, 3);
    let parameters = [
        free("pair.cube.ground.mu", [0.0, 1.0]),
        free("cube.restitution", [0.0, 1.0]),
        free("cube.mass", [0.1, 1.0]),
        free("cube.center_x", [-0.01, 0.01]),
    ];
    let initial = InitialState { velocity: Some(0.1), ..InitialState::default() };
    let weights = experiment.weights(0.0524);
    let horizon = Horizon::Short { frames: FRAMES };
    let problem = Problem::new(model, tosses, &parameters, weights, horizon, initial).unwrap();
    let shared: Vec<f64> =
        parameters.iter().map(|p| problem.scene_value(&p.path).unwrap()).collect();
    let own = problem.own_start();
    for block in 0..problem.blocks() {
        let at = |shared: &[f64], own: &[f64]| {
            problem.evaluate(block, shared, own, false).unwrap().residuals
        };
        let exact = problem.evaluate(block, &shared, &own[block], true).unwrap();
        let all = shared.len() + own[block].len();
        for column in 0..all {
            let moved = |h: f64| {
                let (mut s, mut o) = (shared.clone(), own[block].clone());
                match column.checked_sub(s.len()) {
                    None => s[column] += h,
                    Some(k) => o[k] += h,
                }
                at(&s, &o)
            };
            let d = |h: f64| (moved(h) - moved(-h)) / (2.0 * h);
            let h = 1e-5;
            let by_difference = (d(h / 2.0) * 4.0 - d(h)) / 3.0;
            let found = match column.checked_sub(shared.len()) {
                None => exact.shared.column(column).into_owned(),
                Some(k) => exact.own.column(k).into_owned(),
            };
            let scale = exact.own.amax().max(found.amax());
            let off = (&found - &by_difference).amax() / scale;
            assert!(off < 1e-6, "toss {block}, column {column}: {off:e}");
        }
    }
}

#[test]
fn friction_and_restitution_of_tosses_without_noise_are_found_to_a_ten_thousandth() {
    let experiment = experiment();
    let model = model(&experiment);
    let tosses = tosses(&experiment, &model, 6);
    let parameters =
        [free("pair.cube.ground.mu", [0.02, 1.0]), free("cube.restitution", [0.0, 1.0])];
    let weights = experiment.weights(0.0524);
    let (horizon, initial) = (Horizon::Short { frames: FRAMES }, InitialState::default());
    let problem = Problem::new(model, tosses, &parameters, weights, horizon, initial).unwrap();
    let truth: Vec<f64> =
        parameters.iter().map(|p| problem.scene_value(&p.path).unwrap()).collect();
    let start = vec![truth[0] * 1.3, truth[1] * 0.8];
    let bounds = [[0.02, 1.0], [0.0, 1.0]];
    let settings = Settings { iterations: 10, ..Settings::default() };
    let own = problem.own_start();
    let go = AtomicBool::new(false);
    let found = least_squares::minimise(&problem, (start, own), &bounds, &settings, &go, |_, _| {})
        .unwrap();
    for ((p, x), exact) in parameters.iter().zip(&found.shared).zip(&truth) {
        assert!((x / exact - 1.0).abs() < 1e-4, "{}: {x} for {exact}", p.path);
    }
    assert!(found.history.len() <= 11);
}
