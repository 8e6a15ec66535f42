//! What is another in each toss: found beside what all share, by elimination, and with the shared parameters held.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use osculate_fit::experiment::Experiment;
use osculate_fit::least_squares::{Settings, Solution, minimise};
use osculate_fit::nuisance::Nuisance;
use osculate_fit::own;
use osculate_fit::parameter::{FreeParameter, Scale};
use osculate_fit::problem::{Horizon, InitialState, Problem, ProblemError, Toss, Weights};
use osculate_fit::twin::{self, TwinFile};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const FRAMES: usize = 8;
/// Far below what a tilt does: the prior does not pull.
const NOISE: f64 = 1e-6;

fn experiment() -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cube_toss");
    Experiment::read(&folder.join("experiment.toml")).unwrap()
}

/// Noiseless tosses on planes that are tilted, each by another angle: gravity turns instead.
fn tilted(experiment: &Experiment, tilts: &[f64]) -> Vec<Toss> {
    let twin = TwinFile {
        tosses: tilts.len(),
        frames: FRAMES + 1,
        position_noise: 0.0,
        rotation_noise_deg: 0.0,
        height: [0.085, 0.095],
        ..experiment.file.twin.clone().unwrap()
    };
    let one = |(i, tilt): (usize, &f64)| {
        let mut model = experiment.model.clone();
        model.scene.gravity.x += tilt;
        twin::make(&model, &twin).unwrap().0.swap_remove(i)
    };
    tilts.iter().enumerate().map(one).collect()
}

fn free() -> FreeParameter {
    FreeParameter::new("pair.cube.ground.mu", Scale::Log, [0.05, 0.8])
}

fn problem(
    experiment: &Experiment,
    tosses: Vec<Toss>,
    horizon: Horizon,
    nuisances: &[Nuisance],
) -> Result<Problem, ProblemError> {
    let weights = Weights {
        position: NOISE.powi(-2),
        rotation: 1e-5_f64.powi(-2),
        per_frame_mean: false,
        robust: None,
    };
    let (model, initial) = (experiment.model.clone(), InitialState::default());
    Problem::new(model, tosses, &[free()], weights, horizon, initial)?.with_nuisances(nuisances)
}

fn solve(problem: &Problem, mu: f64) -> Solution {
    let bounds = [free().coordinate_bounds()];
    let start = (vec![mu.ln()], problem.own_start());
    let settings = Settings { iterations: 12, ..Settings::default() };
    minimise(problem, start, &bounds, &settings, &AtomicBool::new(false), |_, _| {}).unwrap()
}

const TILTS: [f64; 4] = [0.12, -0.05, 0.0, -0.18];

fn tilt() -> [Nuisance; 1] {
    [Nuisance { path: "gravity_x".into(), sigma: 0.3 }]
}

#[test]
fn tilt_of_each_toss_is_found_beside_the_friction_of_all() {
    let experiment = experiment();
    let tosses = tilted(&experiment, &TILTS);
    let with = problem(&experiment, tosses.clone(), Horizon::Full, &tilt()).unwrap();
    assert_eq!(with.own_sigmas(), [("gravity_x".to_owned(), 0.3)]);
    let found = solve(&with, 0.2);
    assert!((found.shared[0].exp() / 0.18 - 1.0).abs() < 2e-3, "{}", found.shared[0].exp());
    for (own, tilt) in found.own.iter().zip(TILTS) {
        assert!((own[0] - tilt).abs() < 2e-3, "{own:?} for {tilt}");
    }
    // Without them friction takes up what it can, and is wrong.
    let without = solve(&problem(&experiment, tosses, Horizon::Full, &[]).unwrap(), 0.2);
    let off = (without.shared[0].exp() / 0.18 - 1.0).abs();
    assert!(off > 1e-4 && without.cost() > 100.0 * found.cost(), "{off} {}", without.cost());
}

#[test]
fn own_parameters_with_the_shared_ones_held_are_those_of_the_joint_fit() {
    let experiment = experiment();
    let tosses = tilted(&experiment, &TILTS);
    let all = [Horizon::Short { frames: 5 }, Horizon::Full];
    let problems: Vec<Problem> = all
        .map(|horizon| problem(&experiment, tosses.clone(), horizon, &tilt()).unwrap())
        .into_iter()
        .collect();
    let joint = solve(&problems[1], 0.2);
    let held = own::estimate(&problems, &joint.shared).unwrap();
    for (a, b) in held.iter().zip(&joint.own) {
        assert!((a.own[0] - b[0]).abs() < 1e-5, "{:?} {b:?}", a.own);
        assert!(a.after < a.before);
    }
}

#[test]
fn what_is_free_already_is_no_nuisance_and_segments_have_none() {
    let experiment = experiment();
    let tosses = tilted(&experiment, &TILTS[..1]);
    let set = |path: &str, horizon| {
        let nuisances = [Nuisance { path: path.into(), sigma: 0.1 }];
        problem(&experiment, tosses.clone(), horizon, &nuisances).err().unwrap().to_string()
    };
    for path in ["pair.cube.ground.mu", "cube.velocity"] {
        let refused = set(path, Horizon::Full);
        assert!(refused.contains("free already") && refused.contains(path), "{refused}");
    }
    let refused = set("gravity_x", Horizon::MultipleShooting { frames: 3 });
    assert!(refused.contains("shooting"), "{refused}");
}
