//! Uncertain starts of links: pose and velocities of a free joint, angles and rates of hinges, estimated for each toss.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use nalgebra::{DVector, Vector3};
use osculate_fit::experiment::Experiment;
use osculate_fit::least_squares::{BlockProblem, Settings, minimise};
use osculate_fit::own;
use osculate_fit::problem::{
    Horizon, InitialState, JointPrior, Problem, ProblemError, Toss, Weights,
};
use osculate_fit::twin;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const FRAMES: usize = 16;
/// Frames of the first horizon: from noisy starts a whole roll-out may end in another minimum.
const FIRST: usize = 6;
/// Far below what the starts are off by: the prior does not pull.
const NOISE: f64 = 1e-6;

fn elbow() -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/elbow_toss");
    let mut experiment = Experiment::read(&folder.join("experiment.toml")).unwrap();
    experiment.model.channels.iter_mut().for_each(|c| c.sigma = NOISE);
    experiment.file.parameters.truncate(1);
    experiment
}

/// Two boxes on a hinge that fall on the ground under the impulse model.
const SCENE: &str = r#"
[solver]
model = "impulse"
steps = 10
duration = 0.1

[[actor]]
name = "ground"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
impulse = { restitution = 0.2 }

[[actor]]
name = "first"
shape.box = { half_extents = [0.05, 0.025, 0.025] }
mass = 0.37
impulse = { restitution = 0.2 }

[[actor]]
name = "second"
shape.box = { half_extents = [0.05, 0.025, 0.025] }
mass = 0.37
impulse = { restitution = 0.2 }

[[joint]]
child = "first"
kind = "free"
q = [0.0, 0.0, 0.3, 0.0, 0.0, 0.0]

[[joint]]
child = "second"
parent = "first"
kind = "revolute"
axis = [0.0, 1.0, 0.0]
placement = { position = [-0.035, 0.06, 0.0] }
offset = { position = [0.035, 0.0, 0.0] }
friction = { viscous = 1.0e-4 }

[[pair]]
actors = ["first", "ground"]
mu = 0.3

[[pair]]
actors = ["second", "ground"]
mu = 0.3
"#;

/// A bar that hangs from the ceiling by a ball joint.
const PENDULUM: &str = r#"
[solver]
method = "dirk22"
steps = 10
duration = 0.1

[[actor]]
name = "bar"
collider = "none"
samples = "none"
mass = 0.5
inertia = [2.0e-3, 3.0e-3, 1.0e-3, 0.0, 0.0, 0.0]

[[joint]]
child = "bar"
kind = "spherical"
placement = { position = [0.1, 0.0, 0.5], rotation_vector = [0.2, -0.1, 0.3] }
offset = { position = [0.02, 0.0, -0.2] }
"#;

const HANGING: &str = r#"
scene = "scene.toml"
body = "bar"
data = "data"
substeps = 4

[loss]
kind = "channels"

[[channel]]
kind = "pose"
target = "bar"
sigma = 1e-6
rotation_sigma = 1e-6

[[parameter]]
path = "bar.mass"
range = [0.1, 2.0]

[initial_state]
joints.bar = { position_sigma = 0.1, rate_sigma = 3.0 }

[twin]
tosses = 2
frames = 12
rate_hz = 100.0
seed = 5
position_noise = 0.0
rotation_noise_deg = 0.0
exact_start = true
height = [0.3, 0.3]
speed = [0.0, 0.0]
fall = [0.0, 0.0]
spin = [1.0, 3.0]
"#;

fn hanging() -> Experiment {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("spherical_starts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("scene.toml"), PENDULUM).unwrap();
    std::fs::write(folder.join("experiment.toml"), HANGING).unwrap();
    Experiment::read(&folder.join("experiment.toml")).unwrap()
}

fn impulsive() -> Experiment {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("link_starts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("scene.toml"), SCENE).unwrap();
    let own = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/elbow_toss/experiment.toml"),
    )
    .unwrap();
    let (head, tail) = (own.find("[[parameter]]").unwrap(), own.find("[twin]").unwrap());
    let mu = "[[parameter]]\npath = \"pair.first.ground.mu\"\nrange = [0.02, 1.5]\n\n";
    let text = format!("{}{mu}{}", &own[..head], &own[tail..]);
    std::fs::write(folder.join("experiment.toml"), text).unwrap();
    Experiment::read(&folder.join("experiment.toml")).unwrap()
}

/// Noiseless tosses.
fn exact(experiment: &Experiment, tosses: usize, frames: usize) -> Vec<Toss> {
    let mut twin = experiment.file.twin.clone().unwrap();
    for channel in &experiment.model.channels {
        twin.noise.insert(channel.name.clone(), 0.0);
    }
    // From just above the ground: it is touched within a few frames.
    (twin.tosses, twin.frames, twin.height) = (tosses, frames, [0.085, 0.1]);
    twin::make(&experiment.model, &twin).unwrap().0
}

fn uncertain() -> InitialState {
    InitialState {
        position: Some(0.01),
        rotation: Some(0.1),
        velocity: Some(0.3),
        angular_velocity: Some(3.0),
        joints: vec![JointPrior { joint: "second".into(), position: Some(0.1), rate: Some(3.0) }],
    }
}

fn problem(experiment: &Experiment, tosses: Vec<Toss>, initial: InitialState) -> Problem {
    up_to(Horizon::Full, experiment, tosses, initial)
}

fn up_to(
    horizon: Horizon,
    experiment: &Experiment,
    tosses: Vec<Toss>,
    initial: InitialState,
) -> Problem {
    let weights = Weights { position: 1.0, rotation: 1.0, per_frame_mean: false, robust: None };
    let (model, free) = (experiment.model.clone(), &experiment.file.parameters);
    Problem::new(model, tosses, free, weights, horizon, initial).unwrap()
}

/// What a start is off by: three coordinates each of position, rotation, velocity, angular velocity, then the hinge.
const OFF: [f64; 14] =
    [1e-3, -8e-4, 5e-4, 2e-3, 3e-3, -1e-3, 0.02, -0.01, 0.015, 0.1, -0.2, 0.15, 4e-3, 0.2];

fn noisy(toss: &Toss, sign: f64) -> Toss {
    let mut t = toss.clone();
    let three = |i: usize| Vector3::new(OFF[i], OFF[i + 1], OFF[i + 2]) * sign;
    t.measured[0] = t.measured[0].incremented(&three(0), &three(3));
    t.velocity += three(6);
    t.angular_velocity += three(9);
    t.joints[0].position += OFF[12] * sign;
    t.joints[0].rate += OFF[13] * sign;
    t
}

#[test]
fn start_of_two_hinged_boxes_is_found_beside_the_friction_of_all_tosses() {
    let experiment = elbow();
    let signs = [1.0, -1.0, 0.6];
    let tosses: Vec<Toss> =
        exact(&experiment, 3, FRAMES).iter().zip(signs).map(|(t, s)| noisy(t, s)).collect();
    let with = problem(&experiment, tosses.clone(), uncertain());
    let paths: Vec<String> = with.own_sigmas().into_iter().map(|o| o.0).collect();
    assert_eq!(
        paths[..4],
        ["joint.first.q_0", "joint.first.q_1", "joint.first.q_2", "joint.first.q_3"]
    );
    assert_eq!(paths[12..], ["joint.second.q", "joint.second.qdot"]);
    let horizons = |initial: &InitialState| {
        [Horizon::Short { frames: FIRST }, Horizon::Full]
            .map(|h| up_to(h, &experiment, tosses.clone(), initial.clone()))
    };
    let solve = |problems: &[Problem; 2]| {
        let mut at = (vec![0.26_f64.ln()], problems[0].own_start());
        // The cost falls by ten orders: no change of it is small enough to stop early.
        let settings = Settings { iterations: 100, cost_tolerance: 1e-14, ..Settings::default() };
        let go = AtomicBool::new(false);
        for problem in problems {
            let bounds = [problem.parameters()[0].coordinate_bounds()];
            let found = minimise(problem, at, &bounds, &settings, &go, |_, _| {}).unwrap();
            at = (found.shared, found.own);
        }
        at
    };
    let (shared, found) = solve(&horizons(&uncertain()));
    let off = (shared[0].exp() / 0.3 - 1.0).abs();
    assert!(off < 1e-3, "{off:e}");
    for (own, sign) in found.iter().zip(signs) {
        for (k, (l, off)) in own.iter().zip(OFF).enumerate() {
            // Three turns one after another are those of a rotation vector but for products of them.
            let miss = (l + off * sign).abs();
            assert!(miss < 2e-2 * off.abs() + 2e-5, "{}: {l} for {}", paths[k], -off * sign);
        }
    }
    // With the friction held the starts are the same.
    let held = own::estimate(&horizons(&uncertain()), &shared).unwrap();
    for (alone, beside) in held.iter().zip(&found) {
        let off = (DVector::from_vec(alone.own.clone()) - DVector::from_vec(beside.clone())).amax();
        assert!(off < 1e-3 && alone.after < 1e-3 * alone.before, "{off:e}");
    }
    // Where the recorded starts are kept, friction stands in for them.
    let (kept, _) = solve(&horizons(&InitialState::default()));
    assert!((kept[0].exp() / 0.3 - 1.0).abs() > 1e-2, "{}", kept[0].exp());
}

/// Largest difference of a Jacobian from central differences, relative to the largest entry of its column.
fn off_differences(problem: &Problem, shared: &[f64], own: &[f64], step: f64) -> f64 {
    let n = shared.len();
    let exact = problem.evaluate(0, shared, own, true).unwrap();
    let at = |k: usize, h: f64| {
        let (mut s, mut o) = (shared.to_vec(), own.to_vec());
        if k < n {
            s[k] += h
        } else {
            o[k - n] += h
        }
        problem.evaluate(0, &s, &o, false).unwrap().residuals
    };
    let column = |k: usize| {
        let column = if k < n { exact.shared.column(k) } else { exact.own.column(k - n) };
        let differences = (at(k, step) - at(k, -step)) / (2.0 * step);
        (differences - column).amax() / column.amax()
    };
    (0..n + own.len()).map(column).fold(0.0, f64::max)
}

#[test]
fn derivatives_by_the_start_of_links_are_those_of_differences_under_both_models() {
    for (experiment, step, allowed) in [(elbow(), 1e-7, 2e-5), (impulsive(), 1e-7, 2e-5)] {
        let tosses = exact(&experiment, 1, 10);
        let problem = problem(&experiment, tosses, uncertain());
        // Away from the recorded start, where three turns do not commute.
        let own: Vec<f64> = OFF.iter().map(|x| 0.5 * x).collect();
        let off = off_differences(&problem, &[0.25_f64.ln()], &own, step);
        assert!(off < allowed, "{off:e}");
    }
}

/// Symptom: a spherical joint had no prior, so a noisy start of what hangs on one bent the whole roll-out.
#[test]
fn start_of_a_body_on_a_ball_joint_is_found_and_has_exact_derivatives() {
    let experiment = hanging();
    let twin = experiment.file.twin.clone().unwrap();
    let (tosses, unconverged) = twin::make(&experiment.model, &twin).unwrap();
    assert_eq!(unconverged, 0);
    let initial = InitialState {
        joints: vec![JointPrior { joint: "bar".into(), position: Some(0.1), rate: Some(3.0) }],
        ..InitialState::default()
    };
    let exact = problem(&experiment, tosses.clone(), initial.clone());
    let paths: Vec<String> = exact.own_sigmas().into_iter().map(|o| o.0).collect();
    let expected = ["q_0", "q_1", "q_2", "qdot_0", "qdot_1", "qdot_2"];
    assert_eq!(paths, expected.map(|q| format!("joint.bar.{q}")));
    // The first frame is the prior's.
    let rows = exact.evaluate(0, &[0.5_f64.ln()], &[0.0; 6], false).unwrap().residuals.len();
    assert_eq!(rows, 11 * 6 + 6);
    let off = off_differences(&exact, &[0.6_f64.ln()], &[0.02, -0.03, 0.01, 0.2, -0.1, 0.3], 1e-6);
    assert!(off < 2e-5, "{off:e}");
    let turned = |t: &Toss| {
        let mut t = t.clone();
        let turn = Vector3::new(0.02, -0.03, 0.01);
        t.measured[0] = t.measured[0].incremented(&Vector3::zeros(), &turn);
        t.angular_velocity += Vector3::new(0.1, -0.2, 0.15);
        t
    };
    let noisy = problem(&experiment, tosses.iter().map(turned).collect(), initial);
    let held = own::estimate(&[noisy], &[0.5_f64.ln()]).unwrap();
    for found in held {
        assert!(found.after < 1e-6 * found.before, "{found:?}");
    }
}

#[test]
fn what_has_a_prior_is_not_measured_by_the_first_frame_again() {
    let experiment = elbow();
    let tosses = exact(&experiment, 1, 5);
    let rows = |initial: InitialState| {
        let p = problem(&experiment, tosses.clone(), initial);
        p.evaluate(0, &[0.3_f64.ln()], &p.own_start()[0], false).unwrap().residuals.len()
    };
    let all = rows(InitialState::default());
    assert_eq!(all, 5 * 7);
    let velocity = InitialState { velocity: Some(0.1), ..InitialState::default() };
    assert_eq!(rows(velocity), all + 3);
    let pose = InitialState { rotation: Some(0.1), ..InitialState::default() };
    assert_eq!(rows(pose), all - 6 + 3);
    let joints = |position, rate| InitialState {
        joints: vec![JointPrior { joint: "second".into(), position, rate }],
        ..InitialState::default()
    };
    assert_eq!(rows(joints(None, Some(0.1))), all + 1);
    assert_eq!(rows(joints(Some(0.1), None)), all - 1 + 1);
}

#[test]
fn links_cannot_be_cut_into_segments_and_unknown_joints_have_no_prior() {
    let experiment = elbow();
    let tosses = exact(&experiment, 1, 5);
    let weights = Weights { position: 1.0, rotation: 1.0, per_frame_mean: false, robust: None };
    let make = |plain: bool, horizon, initial| {
        let (mut model, mut tosses) = (experiment.model.clone(), tosses.clone());
        if plain {
            model.channels.clear();
            tosses.iter_mut().for_each(|t| t.series.clear());
        }
        Problem::new(model, tosses, &experiment.file.parameters, weights, horizon, initial).err()
    };
    let shooting = Horizon::MultipleShooting { frames: 2 };
    let refused = make(true, shooting, InitialState::default());
    assert_eq!(refused, Some(ProblemError::LinkShooting { body: "first".into() }));
    let prior = JointPrior { joint: "first".into(), position: Some(0.1), rate: None };
    let unknown = InitialState { joints: vec![prior], ..InitialState::default() };
    let refused = make(false, Horizon::Full, unknown).unwrap().to_string();
    for words in ["initial_state.joints.first", "revolute, prismatic and spherical joints: second"]
    {
        assert!(refused.contains(words), "{refused}");
    }
}
