//! Parameters with a value of their own for each board, or for each recording.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use osculate_fit::experiment::Experiment;
use osculate_fit::fit::{Algorithm, FitError, fit};
use osculate_fit::least_squares::BlockProblem;
use osculate_fit::problem::Toss;
use osculate_fit::recording::Dataset;
use osculate_fit::report;
use osculate_fit::twin::{self, TwinFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FRICTION: &str = "pair.cube.ground.mu";
const OAK: f64 = 0.15;
const STEEL: f64 = 0.28;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cube_toss")
}

/// The cube of the tosses with stiffness and damping of all boards, and friction `per` something.
fn experiment(test: &str, per: &str) -> Experiment {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(source().join("scene.toml"), folder.join("scene.toml")).unwrap();
    let text = format!(
        r#"
scene = "scene.toml"
body = "cube"
data = "boards"
part = "all"
substeps = 10

[[parameter]]
path = "{FRICTION}"
per = "{per}"
range = [0.05, 0.8]
start = [0.19, 0.21]

[[parameter]]
path = "pair.cube.ground.k"
range = [2e5, 2e7]
start = [1.5e6, 2.5e6]

[[stage]]
frames = 6
[[stage]]

[multistart]
starts = 1

[profile]
points = 1
iterations = 1

[trust]
tosses = 1
grids = 1
"#
    );
    let file = folder.join("experiment.toml");
    std::fs::write(&file, text).unwrap();
    Experiment::read(&file).unwrap()
}

/// Noiseless tosses on two boards in turn.
fn tosses(experiment: &Experiment) -> Vec<Toss> {
    let of_source = Experiment::read(&source().join("experiment.toml")).unwrap();
    let twin = TwinFile {
        tosses: 4,
        frames: 10,
        position_noise: 0.0,
        rotation_noise_deg: 0.0,
        height: [0.085, 0.095],
        ..of_source.file.twin.unwrap()
    };
    let one = |i: usize| {
        let (board, friction) = [("oak", OAK), ("steel", STEEL)][i % 2];
        let mut model = experiment.model.clone();
        model.scene.overrides[0].values.friction = Some(friction);
        let mut toss = twin::make(&model, &twin).unwrap().0.swap_remove(i);
        toss.labels.insert("board".into(), board.into());
        toss
    };
    (0..twin.tosses).map(one).collect()
}

fn folder(experiment: &Experiment, tosses: &[Toss]) -> Dataset {
    let of_source = Experiment::read(&source().join("experiment.toml")).unwrap();
    let (folder, settings) = (experiment.data_folder(None), of_source.file.twin.unwrap());
    twin::write(tosses, &experiment.model, &settings, &[], &folder).unwrap();
    Dataset::open(&folder).unwrap()
}

#[test]
fn friction_of_each_board_is_found_beside_the_stiffness_of_both() {
    let experiment = experiment("groups_boards", "board");
    let data = folder(&experiment, &tosses(&experiment));
    let read = experiment.tosses_to_fit(&data).unwrap();
    let silent = Arc::default();
    let half = data.metadata().cube.half_side_m;
    let (found, fitted) = report::run(&experiment, read, half, &silent, &|_| {}, &|_| {}).unwrap();
    let truth = [("pair.cube.ground.mu[oak]", OAK), ("pair.cube.ground.mu[steel]", STEEL)];
    for (path, truth) in truth.into_iter().chain([("pair.cube.ground.k", 2e6)]) {
        let p = found.parameters.iter().find(|p| p.path == path).unwrap();
        assert!((p.best / truth - 1.0).abs() < 1e-3, "{path}: {} for {truth}", p.best);
        assert!(p.standard_error.is_some() && p.verdict.is_some(), "{path}");
        assert!(p.trust.as_ref().is_some() || path.contains("steel"), "{path}");
    }
    assert_eq!(found.parameters[0].unit, found.parameters[1].unit);
    assert_eq!(found.parameters[2].unit, "Pa/m");
    assert_eq!(fitted.problem.toss_id(1), 1);
    // One friction for both explains neither.
    let shared = self::experiment("groups_shared", "board");
    let mut plan = shared.plan(tosses(&shared), half);
    plan.parameters.remove(1);
    plan.parameters[0].per = None;
    plan.parameters[0].group = None;
    plan.parameters[0].path = FRICTION.into();
    let one = fit(&plan, &silent, &|_| {}).unwrap();
    assert!(one.best().loss > 100.0 * found.loss, "{} {}", one.best().loss, found.loss);
}

#[test]
fn a_toss_feels_the_parameters_of_its_group_alone() {
    let experiment = experiment("groups_columns", "board");
    let problem = experiment.judged(tosses(&experiment), 0.05).unwrap();
    let shared = [OAK.ln(), STEEL.ln(), 2e6_f64.ln()];
    for block in 0..problem.blocks() {
        let at = problem.evaluate(block, &shared, &[], true).unwrap();
        assert!(at.residuals.amax() < 1e-9, "toss {block} is rolled out as another");
        let size: Vec<f64> = (0..3).map(|i| at.shared.column(i).amax()).collect();
        assert!(size[block % 2] > 1e-3 && size[1 - block % 2] == 0.0, "{size:?}");
        let mut moved = shared;
        moved[1 - block % 2] += 0.3;
        let other = problem.evaluate(block, &moved, &[], false).unwrap();
        assert_eq!(other.residuals, at.residuals);
    }
}

#[test]
fn friction_of_each_recording_is_found() {
    let experiment = experiment("groups_recordings", "recording");
    let plan = experiment.plan(tosses(&experiment), 0.05);
    let paths: Vec<&str> = plan.parameters.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths[..2], ["pair.cube.ground.mu[0]", "pair.cube.ground.mu[1]"]);
    let found = fit(&plan, &Arc::default(), &|_| {}).unwrap();
    for (i, value) in found.best().values[..4].iter().enumerate() {
        let truth = [OAK, STEEL][i % 2];
        assert!((value / truth - 1.0).abs() < 1e-3, "toss {i}: {value} for {truth}");
    }
}

#[test]
fn tosses_without_the_label_and_too_few_points_are_refused() {
    let experiment = experiment("groups_refused", "board");
    let mut plain = tosses(&experiment);
    plain[2].labels = [("day".to_owned(), "3".to_owned())].into();
    let data = folder(&experiment, &plain);
    let refused = experiment.tosses_to_fit(&data).unwrap_err().to_string();
    for part in ["metadata.json", "toss 2", "found labels day", "'board'", FRICTION] {
        assert!(refused.contains(part), "{refused}");
    }
    let refused = experiment.judged(plain, 0.05).err().unwrap().to_string();
    assert!(refused.contains("toss 2 has no label 'board'"), "{refused}");
    // Two parameters of the file are three of the fit.
    let mut plan = experiment.plan(tosses(&experiment), 0.05);
    plan.stages[1].algorithm = Algorithm::ResponseSurface;
    plan.stages[1].designs.points = 16;
    let refused = fit(&plan, &Arc::default(), &|_| {}).err().unwrap();
    assert_eq!(refused, FitError::Points { stage: 2, found: 16, parameters: 3, least: 17 });
    let text = std::fs::read_to_string(&experiment.path).unwrap().replace("\"board\"", "\"a[b]\"");
    std::fs::write(&experiment.path, text).unwrap();
    let refused = Experiment::read(&experiment.path).unwrap_err().to_string();
    assert!(
        refused.contains("experiment.toml:10: parameter[0].per") && refused.contains("a[b]"),
        "{refused}"
    );
}
