//! Wrong records and what is known beforehand: robust losses and priors of shared parameters.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use nalgebra::Vector3;
use osculate_fit::experiment::Experiment;
use osculate_fit::identify::curvature;
use osculate_fit::least_squares::{BlockProblem, Settings, cost, minimise};
use osculate_fit::parameter::{FreeParameter, ParameterPrior, Scale};
use osculate_fit::problem::{Horizon, InitialState, Problem, Toss, Weights};
use osculate_fit::robust::{Robust, RobustKind};
use osculate_fit::twin::{self, TwinFile};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const FRAMES: usize = 9;
const POSITION: f64 = 3e-4;
const ROTATION: f64 = 3e-3;

fn experiment() -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cube_toss");
    Experiment::read(&folder.join("experiment.toml")).unwrap()
}

fn tosses(experiment: &Experiment) -> Vec<Toss> {
    let twin = TwinFile {
        tosses: 4,
        frames: FRAMES,
        position_noise: POSITION,
        rotation_noise_deg: ROTATION.to_degrees(),
        exact_start: true,
        height: [0.085, 0.095],
        ..experiment.file.twin.clone().unwrap()
    };
    twin::make(&experiment.model, &twin).unwrap().0
}

fn free(prior: Option<ParameterPrior>) -> FreeParameter {
    FreeParameter { prior, ..FreeParameter::new("pair.cube.ground.mu", Scale::Log, [0.05, 0.8]) }
}

fn problem(tosses: Vec<Toss>, robust: Option<Robust>, parameter: FreeParameter) -> Problem {
    let (position, rotation) = (POSITION.powi(-2), ROTATION.powi(-2));
    let weights = Weights { position, rotation, per_frame_mean: false, robust };
    let initial = InitialState::default();
    let model = experiment().model;
    Problem::new(model, tosses, &[parameter], weights, Horizon::Full, initial).unwrap()
}

fn solve(problem: &Problem) -> f64 {
    let bounds = [problem.parameters()[0].coordinate_bounds()];
    let start = (vec![0.2_f64.ln()], problem.own_start());
    let settings = Settings { iterations: 30, ..Settings::default() };
    let go_on = AtomicBool::new(false);
    minimise(problem, start, &bounds, &settings, &go_on, |_, _| {}).unwrap().shared[0].exp()
}

/// A tenth of the frames is 30 mm off, to one side.
fn spoilt(tosses: &[Toss]) -> Vec<Toss> {
    let spoil = |toss: &Toss| {
        let mut toss = toss.clone();
        toss.measured[FRAMES - 2].position += Vector3::new(0.03, 0.0, 0.0);
        toss
    };
    tosses.iter().map(spoil).collect()
}

#[test]
fn friction_survives_a_tenth_of_wrong_frames_by_every_robust_loss_and_not_by_squares() {
    let good = tosses(&experiment());
    let bad = spoilt(&good);
    let off = |robust| (solve(&problem(bad.clone(), robust, free(None))) / 0.18 - 1.0).abs();
    let squares = off(None);
    assert!(squares > 0.1, "{squares}");
    for kind in [RobustKind::Huber, RobustKind::SoftL1, RobustKind::Cauchy] {
        let found = off(Some(Robust { kind, threshold: 3.0 }));
        assert!(found < 0.25 * squares && found < 0.05, "{kind:?}: {found}, squares {squares}");
    }
    // Of good frames alone it takes next to nothing away.
    let robust = Some(Robust { kind: RobustKind::Huber, threshold: 3.0 });
    let (with, without) = (
        solve(&problem(good.clone(), robust, free(None))),
        solve(&problem(good, None, free(None))),
    );
    assert!((with / without - 1.0).abs() < 2e-3, "{with} {without}");
}

#[test]
fn jacobian_of_robust_residuals_and_of_priors_is_that_of_differences() {
    let bad = spoilt(&tosses(&experiment()));
    let prior = Some(ParameterPrior { value: 0.3, sigma: 0.2 });
    for kind in [RobustKind::Huber, RobustKind::SoftL1, RobustKind::Cauchy] {
        let robust = Some(Robust { kind, threshold: 2.0 });
        let problem = problem(bad.clone(), robust, free(prior));
        let (u, h) = (0.21_f64.ln(), 1e-6);
        let at = |u: f64| problem.evaluate(0, &[u], &[], false).unwrap().residuals;
        let exact = problem.evaluate(0, &[u], &[], true).unwrap().shared;
        let difference = (at(u + h) - at(u - h)) / (2.0 * h);
        let off = (&difference - exact.column(0)).amax() / difference.amax();
        assert!(off < 1e-6, "{kind:?}: {off:e}");
    }
}

#[test]
fn prior_of_a_shared_parameter_is_in_the_loss_once_however_many_tosses_there_are() {
    let all = tosses(&experiment());
    let prior = ParameterPrior { value: 0.25, sigma: 0.02 };
    let u = 0.2_f64.ln();
    for count in [1, 4] {
        let some = all[..count].to_vec();
        let with = problem(some.clone(), None, free(Some(prior)));
        let without = problem(some, None, free(None));
        let own = without.own_start();
        let more = cost(&with, &[u], &own).unwrap() - cost(&without, &[u], &own).unwrap();
        let expected = ((u - 0.25_f64.ln()) / 0.02).powi(2);
        assert!((more / expected - 1.0).abs() < 1e-9, "{count}: {more} {expected}");
    }
    // What is known adds to the information, and the estimate is the weighted mean of both.
    let (with, without) =
        (problem(all.clone(), None, free(Some(prior))), problem(all, None, free(None)));
    let (a, b) = (solve(&with), solve(&without));
    let own = without.own_start();
    let told = curvature(&without, &[b.ln()], &own).unwrap();
    let known = curvature(&with, &[a.ln()], &own).unwrap();
    assert_eq!(known.degrees_of_freedom, told.degrees_of_freedom + 1);
    let information =
        |c: &osculate_fit::identify::Curvature| c.residual_variance / c.standard_errors[0].powi(2);
    let added = information(&known) - information(&told);
    // The information of the tosses moves a little with the point.
    assert!((added * 0.02_f64.powi(2) - 1.0).abs() < 0.5, "{added}");
    assert!(a > b && a < 0.25, "{a} {b}");
}

/// Two groups have a friction each, and one prior each; stiffness, which all share, has its own once.
#[test]
fn priors_of_groups_count_once_for_each_group_and_once_for_what_all_share() {
    let mut all = tosses(&experiment());
    for (toss, board) in all.iter_mut().zip(["oak", "oak", "oak", "pine"]) {
        toss.labels.insert("board".into(), board.into());
    }
    let mu = |prior| FreeParameter { per: Some("board".into()), ..free(prior) };
    let k = |prior| FreeParameter {
        path: "pair.cube.ground.k".into(),
        range: [1e4, 1e9],
        ..free(prior)
    };
    let made = |priors: bool| {
        let one = |value, sigma| priors.then_some(ParameterPrior { value, sigma });
        let weights = Weights {
            position: POSITION.powi(-2),
            rotation: ROTATION.powi(-2),
            per_frame_mean: false,
            robust: None,
        };
        let parameters = [mu(one(0.25, 0.1)), k(one(3e6, 0.2))];
        let (model, initial) = (experiment().model, InitialState::default());
        Problem::new(model, all.clone(), &parameters, weights, Horizon::Full, initial).unwrap()
    };
    let (with, without) = (made(true), made(false));
    let value = |path: &str| {
        if path.contains("oak") {
            0.2
        } else if path.contains("pine") {
            0.3
        } else {
            2e6
        }
    };
    let shared: Vec<f64> = with.parameters().iter().map(|p| f64::ln(value(&p.path))).collect();
    let own = with.own_start();
    let more = cost(&with, &shared, &own).unwrap() - cost(&without, &shared, &own).unwrap();
    let term = |x: f64, at: f64, sigma: f64| ((x / at).ln() / sigma).powi(2);
    let expected = term(0.2, 0.25, 0.1) + term(0.3, 0.25, 0.1) + term(2e6, 3e6, 0.2);
    assert!((more / expected - 1.0).abs() < 1e-9, "{more} {expected}");
    // Each of the three is one residual, however many tosses it stands in.
    let degrees = |p: &Problem| curvature(p, &shared, &own).unwrap().degrees_of_freedom;
    assert_eq!(degrees(&with), degrees(&without) + 3);
}

const BESIDE: [(&str, &str, &str); 5] = [
    (
        "[loss]\nkind = \"baseline\"\n[robust]\nkind = \"huber\"\nthreshold = 3.0\n",
        "",
        "robust: found a threshold beside a loss of means",
    ),
    (
        "[loss]\nkind = \"baseline\"\n",
        "prior = { value = 0.2, sigma = 0.1 }\n",
        "parameter[0].prior: found a prior beside a loss of means",
    ),
    (NOISE, "prior = { value = 2.0, sigma = 0.1 }\n", "parameter[0].prior"),
    (NOISE, "prior = { value = 0.2, sigma = 0.0 }\n", "parameter[0].prior"),
    (
        "[loss]\nkind = \"noise\"\nposition_sigma = 1e-3\nrotation_sigma_deg = 0.2\n[robust]\nkind = \"cauchy\"\nthreshold = -1.0\n",
        "",
        "robust.threshold: found -1",
    ),
];
const NOISE: &str = "[loss]\nkind = \"noise\"\nposition_sigma = 1e-3\nrotation_sigma_deg = 0.2\n";

#[test]
fn robust_losses_and_priors_beside_means_and_without_a_width_are_refused_with_their_line() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("robust");
    std::fs::create_dir_all(&folder).unwrap();
    let scene =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cube_toss/scene.toml");
    std::fs::copy(scene, folder.join("scene.toml")).unwrap();
    let path = folder.join("experiment.toml");
    let read = |loss: &str, more: &str| {
        let head = "scene = \"scene.toml\"\nbody = \"cube\"\ndata = \"data\"\nsubsteps = 5\n";
        let parameter = "[[parameter]]\npath = \"pair.cube.ground.mu\"\nrange = [0.05, 0.8]\n";
        std::fs::write(&path, format!("{head}{loss}{parameter}{more}")).unwrap();
        Experiment::read(&path)
    };
    for (loss, more, words) in BESIDE {
        let refused = read(loss, more).unwrap_err().to_string();
        assert!(refused.contains(words), "{words}: {refused}");
        assert!(refused.contains("experiment.toml:"), "{refused}");
    }
    let loss = format!("{NOISE}[robust]\nkind = \"soft-l1\"\nthreshold = 2.5\n");
    let read = read(&loss, "prior = { value = 0.2, sigma = 0.1 }\n").unwrap();
    assert_eq!(read.file.robust, Some(Robust { kind: RobustKind::SoftL1, threshold: 2.5 }));
    assert_eq!(read.weights(0.05).robust, read.file.robust);
    assert_eq!(read.file.parameters[0].prior, Some(ParameterPrior { value: 0.2, sigma: 0.1 }));
}
