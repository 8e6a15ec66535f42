//! Laws of an optimisation, on a box that slides on a plane beside a free ball.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use osculate_dynamics::Simulator;
use osculate_dynamics::file::{SceneFile, Source};
use osculate_dynamics::impulse::ImpulseSimulator;
use osculate_fit::contact_model::ContactModel;
use osculate_fit::least_squares::BlockProblem;
use osculate_fit::optimize::{
    Checkpoint, Loaded, Meter, OptimizeFile, Point, Problem, Search, Softness, Task, Watch, search,
};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const SCENE: &str = r#"
[solver]
dt = 0.01
steps = 30
[[actor]]
name = "ground"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
[[actor]]
name = "box"
shape.box = { half_extents = [0.05, 0.05, 0.05] }
mass = 0.4
pose = { position = [0.0, 0.0, 0.049], rotation_vector = [0.0, 0.0, 0.2] }
velocity = [0.6, 0.1, 0.0]
contact = { k = 1e7, mu = 0.3, v_f = 0.05 }
[[actor]]
name = "ball"
shape.sphere = { radius = 0.02 }
samples = "none"
mass = 0.1
inertia = [1.6e-5, 1.6e-5, 1.6e-5, 0.0, 0.0, 0.0]
pose = { position = [0.0, 0.5, 1.0] }
[[outcome]]
actor = "box"
position = [1.0, 0.5, 0.0]
[[outcome]]
actor = "box"
step = 12
speed = 1.0
"#;

const VARIABLES: &str = r#"
scene = "scene.toml"
[[variable]]
path = "box.velocity_x"
scale = "linear"
range = [0.1, 2.0]
start = [0.4, 1.0]
[[variable]]
path = "box.mu"
scale = "log"
range = [0.05, 1.0]
start = [0.2, 0.4]
[[variable]]
path = "box.angular_velocity_z"
scale = "bounded"
range = [-5.0, 5.0]
start = [-1.0, 1.0]
[[control]]
name = "push"
actor = "box"
component = "force_y"
steps = [3, 23]
knots = 5
spline = "cubic"
range = [-2.0, 2.0]
start = [-0.5, 0.5]
[[control]]
name = "lift"
actor = "ball"
component = "force_z"
knots = 3
range = [0.0, 2.0]
start = [0.5, 1.5]
"#;

/// Every objective and constraint, each by its own.
const TERMS: [&str; 11] = [
    "[[objective]]\nkind = \"position\"\nactor = \"box\"\ntarget = [0.2, 0.1, 0.05]\nscale = 0.1\nwithin = 0.05",
    "[[objective]]\nkind = \"position\"\nactor = \"box\"\naxes = [\"y\"]\nsteps = [5, 20]\nscale = 0.1",
    "[[objective]]\nkind = \"rotation\"\nactor = \"box\"\ntarget = [0.1, 0.0, 0.5]\nscale = 0.1",
    "[[objective]]\nkind = \"velocity\"\nactor = \"box\"\nstep = 7\nscale = 0.1",
    "[[objective]]\nkind = \"angular-velocity\"\nactor = \"box\"\ntimes = [0.0, 0.2]\nscale = 0.3",
    "[[objective]]\nkind = \"effort\"\nscale = 0.5",
    "[[objective]]\nkind = \"contact-force\"\nactor = \"box\"\nsteps = [2, 9]\nscale = 1.0",
    "[[objective]]\nkind = \"no-slip\"\nactor = \"box\"\npoint = [0.05, 0.0, -0.05]\nagainst = \"ball\"\nsteps = [4, 8]\nscale = 0.1",
    "[[objective]]\nkind = \"outcome\"\ntarget = [0.3]\nscale = 0.1",
    "[[constraint]]\nkind = \"inside\"\nactor = \"box\"\nhigh = [0.01, 0.0, 0.0]\nsteps = [10, 30]\nscale = 0.1",
    "[[constraint]]\nkind = \"keep-out\"\nactor = \"box\"\ncenter = [0.05, 0.1, 0.0]\naxes = [\"x\", \"y\"]\nradius = 0.3\nsteps = [10, 30]\nscale = 0.1",
];

/// The same with a ball in place of the box, under the impulse model: it slides, then rolls.
fn impulse_scene() -> String {
    SCENE
        .replace("[solver]", "[solver]\nmodel = \"impulse\"")
        .replace(
            "shape.box = { half_extents = [0.05, 0.05, 0.05] }",
            "shape.sphere = { radius = 0.05 }\nsamples = \"none\"\ninertia = [4e-4, 4e-4, 4e-4, 0.0, 0.0, 0.0]",
        )
        .replace("k = 1e7, mu = 0.3, v_f = 0.05", "mu = 0.3")
}

fn load(scene: &str, terms: &str) -> (OptimizeFile, Loaded) {
    let path = Path::new("optimize.toml");
    // Something is always wanted, as files must.
    let wanted = if terms.contains("objective") { "" } else { TERMS[0] };
    let text = format!("{VARIABLES}\n{terms}\n{wanted}\n");
    let file = OptimizeFile::parse(&text, path).unwrap();
    let scene = SceneFile::parse(scene, "scene.toml").unwrap().build(Path::new(".")).unwrap();
    let task = Loaded::new(&file, Source::new(path, &text), &scene).unwrap();
    (file, task)
}

fn task(terms: &str) -> (OptimizeFile, Task<Simulator>) {
    let (file, loaded) = load(SCENE, terms);
    let Loaded::Compliant(task) = loaded else { panic!("the scene is compliant") };
    (file, *task)
}

fn impulse_task(terms: &str) -> (OptimizeFile, Task<ImpulseSimulator>) {
    let (file, loaded) = load(&impulse_scene(), terms);
    let Loaded::Impulse(task) = loaded else { panic!("the scene is of impulses") };
    (file, *task)
}

fn point<M: ContactModel>(task: &Task<M>) -> Vec<f64> {
    task.variables.starts(3, 5).swap_remove(1)
}

/// `‖a − b‖/‖b‖` of the gradient.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
}

#[test]
fn gradient_of_every_objective_is_that_of_differences_and_adjoint_is_tangent() {
    for terms in TERMS {
        gradient_is_that_of_differences(&task(terms).1, terms);
    }
}

#[test]
fn gradient_of_every_objective_is_exact_through_impulses_too() {
    for terms in TERMS {
        gradient_is_that_of_differences(&impulse_task(terms).1, terms);
    }
}

fn gradient_is_that_of_differences<M: ContactModel>(task: &Task<M>, terms: &str) {
    let mut problem = Problem::new(task, Softness::NONE, Meter::default());
    // A multiplier shifts the kink of a constraint.
    problem.multipliers.iter_mut().zip(&task.rows.rows).for_each(|(m, row)| {
        *m = if row.inequality { 0.3 } else { 0.0 };
    });
    let x = point(task);
    let (cost, by_adjoint) = problem.cost_and_gradient(0, &x, &[]).unwrap();
    let linear = problem.evaluate(0, &x, &[], true).unwrap();
    let by_tangent = linear.shared.tr_mul(&linear.residuals) * 2.0;
    assert!(cost > 0.0 && (cost - linear.residuals.norm_squared()).abs() < 1e-12 * cost);
    let gap = apart(by_adjoint.as_slice(), by_tangent.as_slice());
    assert!(gap < 1e-10, "{terms}: adjoint and tangent {gap:e}");
    let at = |j: usize, h: f64| {
        let mut moved = x.clone();
        moved[j] += h;
        problem.evaluate(0, &moved, &[], false).unwrap().residuals.norm_squared()
    };
    let difference = |j: usize| (at(j, 1e-5) - at(j, -1e-5)) / 2e-5;
    let differences: Vec<f64> = (0..x.len()).map(difference).collect();
    let gap = apart(by_adjoint.as_slice(), &differences);
    // Stage solves are converged to 1e-10 of the forces: over 2e-5 that leaves about 1e-6 of a gradient.
    assert!(gap < 3e-5, "{terms}: adjoint and differences {gap:e}");
}

#[test]
fn gauss_newton_with_the_second_order_is_half_the_hessian_of_the_cost() {
    for terms in TERMS {
        let (_, task) = task(terms);
        let mut problem = Problem::new(&task, Softness::NONE, Meter::default());
        problem.second_order = true;
        let x = point(&task);
        let linear = problem.evaluate(0, &x, &[], true).unwrap();
        let curvature = problem.curvature(0, &x, &[]).unwrap().unwrap();
        let half = linear.shared.tr_mul(&linear.shared) + &curvature;
        let gradient = |j: usize, h: f64| {
            let mut moved = x.clone();
            moved[j] += h;
            problem.cost_and_gradient(0, &moved, &[]).unwrap().1
        };
        let columns: Vec<_> =
            (0..x.len()).map(|j| (gradient(j, 1e-5) - gradient(j, -1e-5)) / 4e-5).collect();
        let differences = nalgebra::DMatrix::from_columns(&columns);
        let gap = (&half - &differences).norm() / differences.norm();
        assert!(gap < 1e-4, "{terms}: {gap:e}");
        // Without it the matrix is another one, but for an effort, whose residuals are the variables themselves.
        let linear_rows = terms.contains("effort");
        assert!(linear_rows || curvature.norm() > 1e-3 * half.norm(), "{terms}");
    }
}

/// Two turns of one body: the adjoint took the derivative by the first as if no other followed.
#[test]
fn turns_about_several_axes_take_those_before_along() {
    let turn = |axis: &str, start: f64| {
        format!(
            "[[variable]]\npath = \"box.rotation_{axis}\"\nscale = \"linear\"\nrange = [-1.5, 1.5]\nstart = [{start}, {start}]\n"
        )
    };
    let turns =
        [("z", 0.7), ("x", -0.9), ("y", 0.5)].map(|(axis, start)| turn(axis, start)).concat();
    // In the air, so that only the turns matter; a corner lands when the box is low.
    let air = SCENE.replace("position = [0.0, 0.0, 0.049]", "position = [0.0, 0.0, 0.09]");
    let terms = format!("{}\n{turns}", TERMS[2]);
    let (_, loaded) = load(&air, &terms);
    let Loaded::Compliant(task) = loaded else { panic!("the scene is compliant") };
    gradient_is_that_of_differences(&task, &terms);
}

#[test]
fn contact_forces_of_all_steps_sum_to_the_change_of_momentum_and_the_weight() {
    let force = |actor: &str| {
        format!(
            "[[objective]]\nkind = \"contact-force\"\nactor = \"{actor}\"\naxes = [\"z\"]\nsteps = [0, 30]\nscale = 1.0"
        )
    };
    for (actor, body, mass) in [("ball", 2, 0.1), ("box", 1, 0.4)] {
        let (_, task) = task(&force(actor));
        let problem = Problem::new(&task, Softness::NONE, Meter::default());
        let (z, trajectory) = problem.values(&point(&task)).unwrap();
        // Residuals of a running objective are over √n.
        let forces: Vec<f64> = z.iter().map(|z| z * 30.0_f64.sqrt()).collect();
        if actor == "ball" {
            // What flies is touched by nothing, though a control pushes it.
            assert!(forces.iter().all(|f| f.abs() < 1e-9), "{forces:?}");
        } else {
            let v = |step: usize| trajectory.path.state(step)[body].velocity.z;
            let expected = mass * (v(30) - v(0)) / 0.01 + 30.0 * mass * 9.81;
            assert!((forces.iter().sum::<f64>() - expected).abs() < 1e-9 * expected);
            // A box on the ground is pushed upwards on the whole by about its weight.
            let mean = forces.iter().sum::<f64>() / 30.0;
            assert!((mean / (mass * 9.81) - 1.0).abs() < 0.5, "{mean} N");
        }
    }
}

#[test]
fn coordinates_at_their_ends_are_values_at_theirs() {
    let (_, task) = task(TERMS[0]);
    let bounds = task.variables.bounds();
    for side in 0..2 {
        let x: Vec<f64> = bounds.iter().map(|b| b[side]).collect();
        for (value, free) in task.variables.values(&x).iter().zip(&task.variables.free) {
            let inside = (free.range[0]..=free.range[1]).contains(value);
            let width = free.range[1] - free.range[0];
            assert!(inside && (value - free.range[side]).abs() < 1e-8 * width, "{}", free.path);
        }
        // A control stays in the range of its numbers in every step.
        let (_, moved) =
            task.variables.parameters::<Simulator, f64>((&task.layout, &task.base), &x, |_| None);
        for control in &task.variables.controls {
            let [low, high] = task.variables.free[control.variables.start].range;
            let room = 1e-12 * (high - low);
            assert!(
                moved[control.moved.clone()].iter().all(|v| (low - room..=high + room).contains(v))
            );
        }
    }
}

#[test]
fn softness_multiplies_every_stiffness_ramp_and_falloff_and_nothing_else() {
    let (_, task) = task(TERMS[0]);
    let x = point(&task);
    let hard = Problem::new(&task, Softness::NONE, Meter::default()).parameters(&x);
    let factors = Softness { k: 0.1, epsilon: 2.0, v_f: 4.0 };
    let soft = Problem::new(&task, factors, Meter::default()).parameters(&x);
    for (a, b) in hard.bodies.iter().zip(&soft.bodies) {
        let ratio = |f: fn(&osculate_contact::ContactParams) -> f64| f(&b.contact) / f(&a.contact);
        assert!((ratio(|c| c.stiffness) - 0.1).abs() < 1e-12);
        assert!((ratio(|c| c.smoothing) - 2.0).abs() < 1e-12);
        assert!((ratio(|c| c.falloff_speed) - 4.0).abs() < 1e-12);
        assert!((ratio(|c| c.friction) - 1.0).abs() < 1e-12);
    }
}

/// Largest difference of the two, relative to the largest entry, over all rows.
fn jacobians_apart<M: ContactModel>(task: &Task<M>) -> f64 {
    let x = point(task);
    let problem = Problem::new(task, Softness::NONE, Meter::default());
    let (_, trajectory) = problem.values(&x).unwrap();
    let all: Vec<usize> = (0..task.rows.rows.len()).collect();
    let columns = problem.by_tangents(&x, &all, &trajectory).unwrap();
    let rows = problem.by_adjoints(&x, &all, &trajectory).unwrap();
    assert!(columns.amax() > 0.0);
    (&columns - rows).amax() / columns.amax()
}

#[test]
fn jacobian_by_adjoints_is_that_by_tangents_for_every_objective_and_constraint() {
    for terms in TERMS {
        let off = [jacobians_apart(&task(terms).1), jacobians_apart(&impulse_task(terms).1)];
        assert!(off.iter().all(|off| *off < 1e-10), "{terms}: {off:?}");
    }
}

/// A few residuals at the end cost a few adjoints, however many controls there are, and an effort costs none.
#[test]
fn many_controls_and_few_residuals_take_adjoints_and_the_other_way_round_tangents() {
    let controls = |knots: &str, wanted: &str| {
        let text = VARIABLES.replace("knots = 5\nspline = \"cubic\"\n", knots);
        let terms = format!("{wanted}\n{}", TERMS[5]);
        let (path, text) = (Path::new("optimize.toml"), format!("{text}\n{terms}\n"));
        let file = OptimizeFile::parse(&text, path).unwrap();
        let scene = SceneFile::parse(SCENE, "scene.toml").unwrap().build(Path::new(".")).unwrap();
        let Loaded::Compliant(task) = Loaded::new(&file, Source::new(path, &text), &scene).unwrap()
        else {
            panic!("the scene is compliant")
        };
        let problem = Problem::new(&task, Softness::NONE, Meter::default());
        problem.linearised(&point(&task)).unwrap();
        let spent = problem.meter.spent();
        (task.variables.len(), spent.adjoints, spent.tangents)
    };
    assert_eq!(controls("", TERMS[0]), (26, 3, 0));
    // Eleven variables are two tangents, and fifteen residuals look at states.
    assert_eq!(controls("knots = 5\nspline = \"cubic\"\n", TERMS[1]), (11, 0, 2));
}

fn run(threads: usize) -> Search {
    let stages = "[[stage]]\nk = 0.3\niterations = 3\n[[stage]]\nsolver = \"lbfgs\"\niterations = 4\n\
                  [[stage]]\niterations = 4\n[augmented]\nrounds = 2\n[multistart]\nstarts = 3\nseed = 4\n";
    let (file, task) = task(&format!("{}\n{}\n{stages}", TERMS[0], TERMS[9]));
    let interrupted = AtomicBool::new(false);
    let watch = Watch { interrupted: &interrupted, observe: &|_| {}, save: &|_| {} };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| search(&task, &file, None, &watch)).unwrap()
}

#[test]
fn search_has_the_same_bits_for_any_number_of_threads() {
    let bits = |s: &Search| -> Vec<Vec<u64>> {
        s.starts.iter().map(|s| s.x.iter().map(|x| x.to_bits()).collect()).collect()
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(bits(&one), bits(&three));
    assert_eq!(one.best, three.best);
}

#[test]
fn interruption_returns_the_start_and_a_checkpoint_goes_on_from_where_it_was() {
    let (file, task) = task(TERMS[0]);
    let interrupted = AtomicBool::new(true);
    let watch = Watch { interrupted: &interrupted, observe: &|_| {}, save: &|_| {} };
    let stopped = search(&task, &file, None, &watch).unwrap();
    assert!(stopped.interrupted);
    for (start, x) in stopped.starts.iter().zip(task.variables.starts(5, 1)) {
        assert_eq!(start.x, x);
    }
    let x = vec![0.25; task.variables.len()];
    let mut starts = vec![None; 5];
    starts[3] = Some(Point { stage: 0, x: x.clone() });
    let resumed =
        search(&task, &file, Some(&Checkpoint { starts: starts.clone() }), &watch).unwrap();
    assert_eq!(resumed.starts[3].x, x);
    starts.pop();
    let refused = search(&task, &file, Some(&Checkpoint { starts }), &watch).unwrap_err();
    assert!(refused.to_string().contains("4 starts, the experiment 5"), "{refused}");
}

#[test]
fn impulses_have_nothing_to_soften() {
    let text = format!("{VARIABLES}\n{}\n[[stage]]\nk = 0.5\n[[stage]]\n", TERMS[0]);
    let path = Path::new("optimize.toml");
    let file = OptimizeFile::parse(&text, path).unwrap();
    let scene = SceneFile::parse(&impulse_scene(), "scene.toml").unwrap();
    let scene = scene.build(Path::new(".")).unwrap();
    let Err(refused) = Loaded::new(&file, Source::new(path, &text), &scene) else {
        panic!("softened")
    };
    assert!(
        refused.to_string().contains("stage[0].k: found 0.5, allowed: 1 with model"),
        "{refused}"
    );
}

#[test]
fn wrong_files_are_refused_with_line_field_value_and_what_is_allowed() {
    let scene = SceneFile::parse(SCENE, "scene.toml").unwrap().build(Path::new(".")).unwrap();
    let refused = |from: &str, to: &str| {
        let text = format!("{VARIABLES}\n{}\n[[stage]]\n", TERMS[0]);
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        let path = Path::new("optimize.toml");
        match OptimizeFile::parse(&text, path) {
            Ok(file) => match Loaded::new(&file, Source::new(path, &text), &scene) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("accepted: {text}"),
            },
            Err(error) => error.to_string(),
        }
    };
    for (from, to, said) in [
        ("knots = 5", "knots = 3", "optimize.toml:23: control[0].knots: found 3, allowed: 4 to 20"),
        (
            "force_y",
            "force_w",
            "control[0].component: found 'box.wrench.3.force_w', allowed: one of box.wrench.3.force_x",
        ),
        (
            "box.velocity_x",
            "box.speed",
            "optimize.toml:4: variable[0].path: no parameter is called 'box.speed'",
        ),
        ("kind = \"position\"", "kind = \"pose\"", "unknown variant `pose`"),
        ("scale = 0.1", "scale = 0.0", "objective[0].scale: found 0, allowed: > 0"),
        (
            "actor = \"box\"\ntarget",
            "actor = \"ground\"\ntarget",
            "allowed: a dynamic actor: box, ball",
        ),
        ("[[stage]]", "[[stage]]\nk = 0.5", "stage[0].k: found 0.5, allowed: 1 in the last stage"),
        (
            "[[stage]]",
            "[[stage]]\nsamples = 3",
            "stage[0].samples: found samples, allowed: only beside",
        ),
        ("range = [-2.0, 2.0]", "range = [2.0, -2.0]", "range of 'push[0]' is [2, -2]"),
        ("steps = [3, 23]", "steps = [3, 31]", "allowed: [from, to] with 0 <= from < to <= 30"),
        ("within = 0.05", "wihtin = 0.05", "unknown field `wihtin`"),
    ] {
        let message = refused(from, to);
        assert!(message.contains(said), "'{said}' is not in: {message}");
    }
}
