//! Verdicts about the derivatives of a fit: of a short motion, and of the same tosses to their end.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use osculate_contact::DissipationSchedule;
use osculate_fit::experiment::Experiment;
use osculate_fit::least_squares::BlockProblem;
use osculate_fit::problem::{Horizon, ModelSettings, Problem};
use osculate_fit::recording::{Dataset, Part};
use osculate_fit::trust::{self, Extent, Trust};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The bundled tosses of a cube at the parameters that made them, with a schedule of friction and damping.
fn problem(horizon: Horizon, schedule: DissipationSchedule) -> (Problem, Vec<f64>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cube_toss");
    let experiment = Experiment::read(&folder.join("experiment.toml")).unwrap();
    let data = Dataset::open(folder.join("twin")).unwrap();
    let half_side = data.metadata().cube.half_side_m;
    let tosses = experiment.tosses(&data, Part::All).unwrap();
    let mut plan = experiment.plan(tosses, half_side);
    let ModelSettings::Compliant(settings) = &mut plan.model.settings else { panic!("impulses") };
    settings.law.schedule = schedule;
    let problem = Problem::new(
        plan.model,
        plan.tosses,
        &plan.parameters,
        plan.weights,
        horizon,
        plan.initial,
    )
    .unwrap();
    let truth = |p: &osculate_fit::parameter::FreeParameter| {
        p.to_coordinate(problem.scene_value(&p.path).unwrap())
    };
    let shared = problem.parameters().iter().map(truth).collect();
    (problem, shared)
}

/// Over a relative standard error.
fn ask(problem: &Problem, shared: &[f64], sigma: f64) -> Vec<Trust> {
    let sigmas: Vec<Option<f64>> = problem
        .parameters()
        .iter()
        .zip(shared)
        .map(|(p, u)| Some(sigma * p.to_value(*u)))
        .collect();
    let extent = Extent { tosses: 3, grids: trust::GRIDS };
    let own = problem.own_start();
    trust::fitted(problem, (shared, &own), &sigmas, extent, &AtomicBool::new(false))
        .unwrap()
        .unwrap()
}

#[test]
fn derivative_asked_about_is_the_norm_of_the_jacobian_of_the_toss() {
    for horizon in [Horizon::Short { frames: 8 }, Horizon::MultipleShooting { frames: 6 }] {
        let (problem, shared) = problem(horizon, DissipationSchedule::Current);
        let own = problem.own_start();
        let found = ask(&problem, &shared, 0.01);
        for (i, trust) in found.iter().enumerate() {
            for (block, toss) in trust::chosen(problem.blocks(), 3).into_iter().zip(&trust.tosses) {
                let Some(evidence) = &toss.evidence else { continue };
                let along = problem.along(block, &shared, &own[block]).unwrap();
                let expected = along[i].as_ref().unwrap().sensitivity;
                let off = (evidence.derivative / expected - 1.0).abs();
                assert!(off < 1e-8, "{}: {} for {expected}", evidence.path, evidence.derivative);
            }
        }
        // One segment: its sensitivity is the whole column of the Jacobian.
        if matches!(horizon, Horizon::Short { .. }) {
            let jacobian = problem.evaluate(0, &shared, &own[0], true).unwrap().shared;
            let along = problem.along(0, &shared, &own[0]).unwrap();
            for (i, p) in problem.parameters().iter().enumerate() {
                let norm = jacobian.column(i).norm() / p.slope(shared[i]);
                let found = along[i].as_ref().map_or(0.0, |a| a.sensitivity);
                assert!((found - norm).abs() <= 1e-12 * norm, "{found} for {norm}");
            }
        }
    }
}

/// The words for μ, k and c_n.
fn words(horizon: Horizon, schedule: DissipationSchedule) -> Vec<&'static str> {
    let (problem, shared) = problem(horizon, schedule);
    verdicts(&problem, &shared)
}

fn verdicts(problem: &Problem, shared: &[f64]) -> Vec<&'static str> {
    ask(problem, shared, 0.01).iter().map(|t| t.verdict.unwrap()).collect()
}

/// The first impact of the tosses, at a step that resolves it.
#[test]
fn derivatives_of_a_resolved_impact_are_to_be_trusted_locally_at_least() {
    for schedule in [DissipationSchedule::Current, DissipationSchedule::CurrentGeometry] {
        let words = words(Horizon::Short { frames: 14 }, schedule);
        assert!(words.iter().all(|w| ["trust", "trust locally"].contains(w)), "{words:?}");
    }
}

/// The same tosses to their end with contact thirty times as stiff, as on the real cube: the time of each later impact,
/// and which corner it is of, multiplies what the ones before made of a change. At the twin's own stiffness `Current` is
/// tame enough for most of its tosses, so it is not asked here.
#[test]
fn derivatives_of_a_chaotic_motion_are_not_to_be_trusted() {
    for schedule in [DissipationSchedule::Current, DissipationSchedule::CurrentGeometry] {
        let (problem, mut shared) = problem(Horizon::Full, schedule);
        let stiffness = problem.parameters().iter().position(|p| p.path.ends_with(".k")).unwrap();
        shared[stiffness] += 30.0_f64.ln();
        assert_eq!(verdicts(&problem, &shared), ["do not trust"; 3], "{schedule:?}");
    }
}

/// Nothing has touched the ground after three frames.
#[test]
fn parameter_that_nothing_depends_on_is_trusted_as_zero() {
    let words = words(Horizon::Short { frames: 2 }, DissipationSchedule::Current);
    assert_eq!(words, ["trust as zero"; 3]);
}
