//! Laws of the layer as plain numbers: derivatives, batches, threads, refusals.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{rows, scene, spec};
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::sensitivity::{Outcome, adjoint};
use osculate_dynamics::{Kinematics, Layout, Wrench};
use osculate_learn::{Input, LayerSpec, LearnError, Output, Rollout, STATE};
use osculate_math::{Scalar, so3};

const COLUMNS: usize = 26;

/// `Σ w · state` of the cube after 12 steps.
struct Weighted([f64; STATE]);

impl Outcome for Weighted {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        if step != 12 {
            return T::zero();
        }
        let k = &bodies[1];
        let rows = k.rotation.transpose();
        let all = k.position.iter().chain(rows.iter());
        let all = all.chain(k.velocity.iter()).chain(k.angular_velocity.iter());
        all.zip(&self.0).fold(T::zero(), |sum, (x, w)| sum + *x * *w)
    }
}

fn relative(a: f64, b: f64, scale: f64) -> f64 {
    (a - b).abs() / scale
}

#[test]
fn pull_is_the_adjoint_of_the_simulator() {
    let scene = scene("compliant", "bdf2");
    let layer =
        Rollout::new(&scene, LayerSpec { outputs: vec![Output::state("cube", 12)], ..spec() })
            .unwrap();
    let row = rows(1);
    let mut parameters = scene.parameters.clone();
    let body = &mut parameters.bodies[1];
    body.position = Vector3::from_column_slice(&row[..3]);
    body.rotation = Matrix3::from_row_slice(&row[3..12]);
    body.velocity = Vector3::from_column_slice(&row[12..15]);
    body.angular_velocity = Vector3::from_column_slice(&row[15..18]);
    body.mass = row[25];
    parameters.overrides[0].friction = Some(row[24]);
    parameters.wrenches = vec![Wrench::zero(); 12];
    for w in &mut parameters.wrenches[2..9] {
        w.force = Vector3::from_column_slice(&row[18..21]);
        w.torque = Vector3::from_column_slice(&row[21..24]);
    }
    let weights: [f64; STATE] = std::array::from_fn(|i| (i as f64 + 1.0).sin());
    let trajectory = scene.simulator.run(&parameters).unwrap();
    let (value, gradient) =
        adjoint::gradient(&scene.simulator, &trajectory, &parameters, &Weighted(weights)).unwrap();
    let layout = Layout::new(scene.simulator.scene(), &parameters);
    let by = |path: &str| gradient[layout.index(path).unwrap()];

    let rolled = layer.run(&row).unwrap();
    let ours: f64 = rolled.outputs.iter().zip(&weights).map(|(y, w)| y * w).sum();
    assert!(relative(ours, value, 1.0) < 1e-14, "{ours} {value}");
    let pulled = rolled.pull(&weights).unwrap();
    let scale = pulled.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        for (column, what) in [(0, "position"), (12, "velocity"), (15, "angular_velocity")] {
            let wanted = by(&format!("cube.{what}_{axis}"));
            assert!(relative(pulled[column + k], wanted, scale) < 1e-12, "{what} {axis}");
        }
        // Along a turn about an axis, [e]× R.
        let mut e = Vector3::zeros();
        e[k] = 1.0;
        let along = so3::skew(&e) * parameters.bodies[1].rotation;
        let bar = Matrix3::from_row_slice(&pulled[3..12]);
        let wanted = by(&format!("cube.rotation_{axis}"));
        assert!(relative(bar.dot(&along), wanted, scale) < 1e-12, "rotation {axis}");
        for (column, what) in [(18, "force"), (21, "torque")] {
            let steps = (2..9).map(|s| by(&format!("cube.wrench.{s}.{what}_{axis}")));
            let wanted: f64 = steps.sum();
            assert!(relative(pulled[column + k], wanted, scale) < 1e-12, "{what} {axis}");
        }
    }
    for (column, path) in [(24, "pair.cube.ground.mu"), (25, "cube.mass")] {
        assert!(relative(pulled[column], by(path), scale) < 1e-12, "{path}");
    }
}

/// A row with column `c` moved by `h`, or turned about axis `c − 3` where it is of the rotation.
fn moved(row: &[f64], c: usize, h: f64) -> Vec<f64> {
    let mut out = row.to_vec();
    if (3..6).contains(&c) {
        let mut turn = Vector3::zeros();
        turn[c - 3] = h;
        let rotation = so3::exp(&turn) * Matrix3::from_row_slice(&row[3..12]);
        out[3..12].copy_from_slice(rotation.transpose().as_slice());
    } else {
        out[c] += h;
    }
    out
}

fn pull_is_the_derivative_of_the_outputs(model: &str, methods: &[&str], tolerance: f64) {
    for method in methods {
        let layer = Rollout::new(&scene(model, method), spec()).unwrap();
        let row = rows(1);
        let rolled = layer.run(&row).unwrap();
        let outputs = rolled.outputs.len();
        let weights: Vec<f64> = (0..outputs).map(|i| (0.7 * i as f64 + 1.0).cos()).collect();
        let value = |row: &[f64]| -> f64 {
            layer.run(row).unwrap().outputs.iter().zip(&weights).map(|(y, w)| y * w).sum()
        };
        let pulled = rolled.pull(&weights).unwrap();
        let bar = Matrix3::from_row_slice(&pulled[3..12]);
        let scale = pulled.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        for c in (0..6).chain(12..COLUMNS) {
            let h = 1e-5;
            // Of fourth order.
            let d = |h: f64| (value(&moved(&row, c, h)) - value(&moved(&row, c, -h))) / (2.0 * h);
            let difference = (4.0 * d(h) - d(2.0 * h)) / 3.0;
            let exact = if (3..6).contains(&c) {
                let mut e = Vector3::zeros();
                e[c - 3] = 1.0;
                bar.dot(&(so3::skew(&e) * Matrix3::from_row_slice(&row[3..12])))
            } else {
                pulled[c]
            };
            let error = relative(exact, difference, scale);
            assert!(error < tolerance, "{model} {method}, column {c}: {exact} {difference}");
        }
    }
}

#[test]
fn pull_agrees_with_differences_under_the_compliant_model() {
    let methods = ["backward-euler", "bdf2", "dirk22"];
    pull_is_the_derivative_of_the_outputs("compliant", &methods, 1e-7);
}

#[test]
fn pull_agrees_with_differences_under_the_impulse_model() {
    pull_is_the_derivative_of_the_outputs("impulse", &["-"], 1e-5);
}

#[test]
fn a_batch_has_the_bits_of_its_rows_one_by_one_for_any_number_of_threads() {
    for model in ["compliant", "impulse"] {
        let layer = Rollout::new(&scene(model, "backward-euler"), spec()).unwrap();
        let batch = rows(7);
        let bars: Vec<f64> = (0..7 * 39).map(|i| (i as f64).sin()).collect();
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let all = || {
            let rolled = layer.run(&batch).unwrap();
            (bits(&rolled.outputs), bits(&rolled.pull(&bars).unwrap()))
        };
        let mut alone = (Vec::new(), Vec::new());
        for (row, bar) in batch.chunks(COLUMNS).zip(bars.chunks(39)) {
            let rolled = layer.run(row).unwrap();
            alone.0.extend(bits(&rolled.outputs));
            alone.1.extend(bits(&rolled.pull(bar).unwrap()));
        }
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(all) == alone, "{model}, {threads} threads");
        }
    }
}

#[test]
fn roll_outs_can_be_chained_by_states() {
    let whole = scene("compliant", "backward-euler");
    let simulator = &whole.simulator;
    let half = osculate_dynamics::Simulator::new(
        simulator.scene().clone(),
        *simulator.settings(),
        simulator.durations()[..6].to_vec(),
    )
    .unwrap();
    let state = |step| LayerSpec {
        inputs: vec![Input::state("cube")],
        outputs: vec![Output::state("cube", step)],
    };
    let long = Rollout::new(&whole, state(12)).unwrap();
    let short = Rollout::of(half, whole.parameters.clone(), state(6)).unwrap();
    let start = &rows(1)[..STATE];
    let middle = short.run(start).unwrap();
    let end = short.run(&middle.outputs).unwrap();
    let at_once = long.run(start).unwrap();
    for (a, b) in end.outputs.iter().zip(&at_once.outputs) {
        assert!((a - b).abs() < 1e-11, "{a} {b}");
    }
    let bars: Vec<f64> = (0..STATE).map(|i| (i as f64).cos()).collect();
    let by_halves = middle.pull(&end.pull(&bars).unwrap()).unwrap();
    let scale = by_halves.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    for (a, b) in by_halves.iter().zip(at_once.pull(&bars).unwrap()) {
        assert!(relative(*a, b, scale) < 1e-9, "{a} {b}");
    }
}

#[test]
fn contact_force_is_the_sum_of_contacts() {
    let scene = scene("compliant", "backward-euler");
    let outputs = (1..=12).map(|k| Output::contact_force("cube", k)).collect();
    let layer = Rollout::new(&scene, LayerSpec { outputs, ..spec() }).unwrap();
    let row = rows(1);
    let found = layer.run(&row).unwrap().outputs;
    let mut parameters = scene.parameters.clone();
    let body = &mut parameters.bodies[1];
    body.position = Vector3::from_column_slice(&row[..3]);
    body.rotation = Matrix3::from_row_slice(&row[3..12]);
    body.velocity = Vector3::from_column_slice(&row[12..15]);
    body.angular_velocity = Vector3::from_column_slice(&row[15..18]);
    body.mass = row[25];
    parameters.overrides[0].friction = Some(row[24]);
    parameters.wrenches = vec![Wrench::zero(); 12];
    for w in &mut parameters.wrenches[2..9] {
        w.force = Vector3::from_column_slice(&row[18..21]);
        w.torque = Vector3::from_column_slice(&row[21..24]);
    }
    let trajectory = scene.simulator.run(&parameters).unwrap();
    let mut largest: f64 = 0.0;
    for step in 0..12 {
        let contacts = scene.simulator.contacts(&trajectory, &parameters, step).unwrap();
        let sum = contacts.iter().fold(Vector3::zeros(), |s: Vector3<f64>, c| s + c.force);
        let ours = Vector3::from_column_slice(&found[3 * step..3 * step + 3]);
        assert!((sum - ours).norm() < 1e-6 * (1.0 + sum.norm()), "{step}: {sum} {ours}");
        largest = largest.max(sum.norm());
    }
    assert!(largest > 1.0, "nothing touched: {largest} N");
}

#[test]
fn what_does_not_fit_the_scene_is_refused() {
    let scene = scene("compliant", "bdf2");
    let with = |inputs: Vec<Input>, outputs: Vec<Output>| {
        Rollout::new(&scene, LayerSpec { inputs, outputs }).unwrap_err()
    };
    let out = || vec![Output::state("cube", 3)];
    let state = || vec![Input::state("cube")];
    assert!(matches!(with(vec![], out()), LearnError::Empty { what: "inputs" }));
    assert!(matches!(with(state(), vec![]), LearnError::Empty { what: "outputs" }));
    assert!(matches!(
        with(vec![Input::state("cub")], out()),
        LearnError::UnknownBody { ref known, .. } if known == "ground, cube"
    ));
    assert!(matches!(with(vec![Input::state("ground")], out()), LearnError::Unsuitable { .. }));
    let path = |p: &str| vec![Input::parameter(p)];
    assert!(matches!(with(path("cube.colour"), out()), LearnError::UnknownParameter { .. }));
    assert!(matches!(with(path("cube.rotation_x"), out()), LearnError::Unsuitable { .. }));
    let twice = vec![Input::state("cube"), Input::parameter("cube.velocity_y")];
    assert!(matches!(
        with(twice, out()),
        LearnError::SetTwice { ref path, .. } if path == "cube.velocity_y"
    ));
    for steps in [3..3, 5..13] {
        let wrench = vec![Input::wrench("cube", steps)];
        assert!(matches!(with(wrench, out()), LearnError::Step { .. }));
    }
    assert!(matches!(
        with(vec![Input::wrench("ground", 0..1)], out()),
        LearnError::Unsuitable { .. }
    ));
    assert!(matches!(
        with(state(), vec![Output::state("cube", 13)]),
        LearnError::Step { found: 13, .. }
    ));
    assert!(matches!(
        with(state(), vec![Output::contact_force("cube", 0)]),
        LearnError::Step { found: 0, .. }
    ));
    assert!(matches!(
        with(state(), vec![Output::contact_force("ground", 1)]),
        LearnError::Unsuitable { .. }
    ));
}

#[test]
fn rows_that_are_no_scene_are_refused_with_row_and_number() {
    let layer = Rollout::new(&scene("compliant", "bdf2"), spec()).unwrap();
    let broken = |column: usize, x: f64| {
        let mut batch = rows(3);
        batch[COLUMNS + column] = x;
        layer.run(&batch).unwrap_err()
    };
    assert!(matches!(
        broken(13, f64::NAN),
        LearnError::NotFinite { row: 1, ref entry, .. } if entry == "cube.velocity[1]"
    ));
    assert!(matches!(broken(4, 2.0), LearnError::NotARotation { row: 1, .. }));
    // Friction and mass that nothing has.
    assert!(matches!(broken(24, -0.1), LearnError::Run { row: 1, .. }));
    assert!(matches!(broken(25, 0.0), LearnError::Run { row: 1, .. }));
    assert!(matches!(layer.run(&rows(1)[1..]), Err(LearnError::Shape { .. })));
    assert!(matches!(layer.run(&[]), Err(LearnError::Shape { .. })));
    let rolled = layer.run(&rows(2)).unwrap();
    assert!(matches!(rolled.pull(&[0.0; 39]), Err(LearnError::Cotangents { rows: 2, .. })));
}

#[test]
fn a_mirror_is_no_rotation() {
    let layer = Rollout::new(&scene("compliant", "bdf2"), spec()).unwrap();
    let mut row = rows(1);
    for x in &mut row[3..6] {
        *x = -*x;
    }
    assert!(matches!(layer.run(&row), Err(LearnError::NotARotation { .. })));
}
