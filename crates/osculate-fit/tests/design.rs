//! Which experiment tells most: laws of Fisher matrices, on scenes whose answer is known.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use osculate_fit::design::{Design, Report, search};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A block on four points in the plane of its centre of mass: it slides and does not tip.
const BLOCK: &str = "\
[solver]
method = \"bdf2\"
dt = 0.001
steps = 800
tolerance = 1e-13
MODEL
[[actor]]
name = \"ground\"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
contact = { k = 1e8, mu = 0.3, v_f = 0.05, c_n = 1.0, epsilon = 0.0, delta = 0.0 }
[[actor]]
name = \"block\"
collider = \"none\"
mass = 0.5
inertia = [1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0]
velocity = [1.0, 0.0, 0.0]
contact = { k = 1e8, mu = 0.3, v_f = 0.05, c_n = 1.0, epsilon = 0.0, delta = 0.0 }
SHAPE
[[pair]]
actors = [\"block\", \"ground\"]
mu = 0.3
";

const POINTS: &str = "\
pose = { position = [0.0, 0.0, -1.22625e-5] }
[actor.samples]
weight = 1e-3
points = [[-0.05, -0.05, 0.0], [-0.05, 0.05, 0.0], [0.05, -0.05, 0.0], [0.05, 0.05, 0.0]]
";

const FRICTION: &str = "\
scene = \"scene.toml\"
[[parameter]]
path = \"pair.block.ground.mu\"
range = [0.01, 2.0]
PRIOR
[[channel]]
actor = \"block\"
kind = \"position\"
sigma = 0.001
every = 800
[trust]
candidates = 0
";

fn folder(test: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("osculate-design-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(folder: &Path, scene: &str, design: &str) -> Report {
    std::fs::write(folder.join("scene.toml"), scene).unwrap();
    std::fs::write(folder.join("design.toml"), design).unwrap();
    let design = Design::read(&folder.join("design.toml")).unwrap();
    search(&design, &AtomicBool::new(false), &|| {}).unwrap()
}

fn block() -> String {
    BLOCK.replace("SHAPE", POINTS).replace("MODEL", "")
}

fn friction(prior: &str, candidates: &str) -> String {
    FRICTION.replace("PRIOR", prior) + candidates
}

/// Information on the first parameter, in the order of the file.
fn informations(report: &Report) -> Vec<f64> {
    let mut all: Vec<_> =
        report.candidates.iter().map(|c| (c.candidate, c.information[0][0])).collect();
    all.sort_by_key(|x| x.0);
    all.into_iter().map(|x| x.1).collect()
}

/// Where a sliding block stops [m]: `d = v²/(2μg) + (ln 2 − ½) v_f²/(μg)`, the second term from the ramp of friction below `v_f`.
fn distance(v: f64) -> f64 {
    let (deceleration, v_f) = (0.3 * 9.81, 0.05_f64);
    v * v / (2.0 * deceleration) + (2.0_f64.ln() - 0.5) * v_f * v_f / deceleration
}

/// `∂d/∂ln μ = −d`, so one measurement of where it stops tells `(d/σ)²`. The ramp is passed in many steps: of a stop within one
/// step the first derivative is right, and its change with the speed is that of the time grid.
#[test]
fn information_of_a_stopping_distance_on_friction_grows_as_the_fourth_power_of_the_speed() {
    let candidates = "[[candidate]]\nname = \"slide\"\n\
                      settings = { \"block.velocity_x\" = [0.5, 1.0, 2.0] }\n";
    let report = run(&folder("stop"), &block(), &friction("", candidates));
    let found = informations(&report);
    for (v, f) in [0.5, 1.0, 2.0_f64].into_iter().zip(&found) {
        let expected = (distance(v) / 1e-3).powi(2);
        assert!((f / expected - 1.0).abs() < 0.01, "{v} m/s: {f} for {expected}");
    }
    // The fastest slide is the best, and doubling the speed divides the error by four.
    assert_eq!(report.candidates[0].candidate, 2);
    let errors: Vec<f64> = report.candidates.iter().map(|c| c.score.unwrap()).collect();
    assert!((errors[1] / errors[0] - 4.0).abs() < 0.02, "{errors:?}");
    // d ln(σ/d)/dv = −2/v, but for the ramp.
    let gradient = report.candidates[0].gradient.as_ref().unwrap();
    assert!((gradient[0].log_score + 1.0).abs() < 0.01, "{gradient:?}");
}

#[test]
fn what_does_not_touch_tells_nothing_of_friction() {
    let candidates = "[[candidate]]\nname = \"above\"\n\
                      settings = { \"block.position_z\" = 10.0 }\n";
    let report = run(&folder("above"), &block(), &friction("", candidates));
    let only = &report.candidates[0];
    assert!(only.information[0][0].abs() <= 0.0 && only.score.unwrap().is_infinite());
    assert!(report.summary().contains("not determined"), "{}", report.summary());
    // Beside a prior, what is known stays what it is.
    let report = run(&folder("above_prior"), &block(), &friction("prior = 0.25", candidates));
    let only = &report.candidates[0];
    assert!((only.score.unwrap() - 0.25).abs() < 1e-15, "{:?}", only.score);
    assert!((only.gain.unwrap() - 1.0).abs() < 1e-15);
}

#[test]
fn information_adds_over_experiments() {
    let file = String::from("experiments = 4\n");
    let candidates = "[[candidate]]\nname = \"slide\"\nsettings = { \"block.velocity_x\" = 1.0 }\n\
                      [[candidate]]\nname = \"slow\"\nsettings = { \"block.velocity_x\" = 0.3 }\n";
    let report = run(&folder("adds"), &block(), &(file + &friction("prior = 0.1", candidates)));
    let f = informations(&report);
    assert_eq!(report.chosen.len(), 4);
    for (k, c) in report.chosen.iter().enumerate() {
        assert_eq!(c.candidate, 0, "the faster slide tells more each time");
        let expected = (100.0 + f[0] * (k + 1) as f64).sqrt().recip();
        assert!((c.score / expected - 1.0).abs() < 1e-12, "{} for {expected}", c.score);
    }
}

/// A choice of each kind once, where nothing may be done twice.
#[test]
fn what_was_done_is_not_chosen_again_where_nothing_repeats() {
    let candidates = "[[candidate]]\nname = \"slide\"\n\
                      settings = { \"block.velocity_x\" = [0.5, 1.5, 1.0] }\n";
    let file = String::from("experiments = 3\nrepeat = false\n");
    let report = run(&folder("once"), &block(), &(file + &friction("prior = 0.1", candidates)));
    let order: Vec<usize> = report.chosen.iter().map(|c| c.candidate).collect();
    assert_eq!(order, [1, 2, 0]);
}

/// A cube that falls on an edge, slides and turns: every channel, nuisance parameters, two targets.
const CUBE: &str = "\
[solver]
method = \"bdf2\"
dt = 0.001
steps = 120
tolerance = 1e-13
schedule = \"stage-start\"
[[actor]]
name = \"ground\"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
contact = { k = 2e5, epsilon = 0.002, delta = 0.002 }
[[actor]]
name = \"cube\"
collider = \"none\"
mass = 0.37
inertia = [8.1e-4, 8.1e-4, 8.1e-4, 0.0, 0.0, 0.0]
velocity = [0.6, 0.1, -0.4]
angular_velocity = [1.0, 2.0, -0.5]
pose = { position = [0.0, 0.0, 0.085], rotation_vector = [0.5, 0.35, 0.0] }
contact = { k = 2e5, epsilon = 0.002, delta = 0.002 }
[actor.samples]
weight = 2.5e-3
points = [[-0.05, -0.05, -0.05], [-0.05, -0.05, 0.05], [-0.05, 0.05, -0.05], [-0.05, 0.05, 0.05],
          [0.05, -0.05, -0.05], [0.05, -0.05, 0.05], [0.05, 0.05, -0.05], [0.05, 0.05, 0.05]]
[[pair]]
actors = [\"cube\", \"ground\"]
mu = 0.2
k = 2e5
c_n = 0.5
v_f = 0.05
";

fn cube_design(criterion: &str, settings: &str) -> String {
    format!(
        "scene = \"scene.toml\"
criterion = \"{criterion}\"
target = [\"pair.cube.ground.mu\", \"pair.cube.ground.c_n\"]
[[parameter]]
path = \"pair.cube.ground.mu\"
range = [0.01, 2.0]
prior = 0.3
[[parameter]]
path = \"pair.cube.ground.k\"
range = [1e3, 1e8]
[[parameter]]
path = \"pair.cube.ground.c_n\"
scale = \"linear\"
range = [0.0, 10.0]
[[nuisance]]
path = \"cube.velocity\"
sigma = 0.02
[[nuisance]]
path = \"cube.rotation\"
sigma = 0.01
[[nuisance]]
path = \"cube.mass\"
sigma = 0.01
[[channel]]
actor = \"cube\"
kind = \"position\"
sigma = 0.001
every = 7
[[channel]]
actor = \"cube\"
kind = \"rotation\"
sigma_deg = 0.3
every = 10
[[channel]]
actor = \"cube\"
kind = \"angular-velocity\"
sigma = 0.2
every = 20
[[channel]]
actor = \"cube\"
kind = \"velocity\"
sigma = 0.05
every = 20
[trust]
candidates = 0
[[candidate]]
name = \"toss\"
settings = {{ {settings} }}
"
    )
}

/// The gradient of a Fisher matrix is a second derivative of the motion: tangents of the adjoint, against differences of
/// whole reports.
#[test]
fn gradient_by_the_settings_is_that_of_differences() {
    let folder = folder("gradient");
    let paths =
        ["cube.velocity_x", "cube.position_z", "cube.angular_velocity_y", "pair.cube.ground.v_f"];
    let at = [0.6, 0.085, 2.0, 0.05];
    let settings = |x: &[f64]| {
        let all: Vec<String> =
            paths.iter().zip(x).map(|(p, x)| format!("\"{p}\" = {x:.17e}")).collect();
        all.join(", ")
    };
    for criterion in ["a", "d"] {
        let score = |x: &[f64]| {
            let report = run(&folder, CUBE, &cube_design(criterion, &settings(x)));
            let c = &report.candidates[0];
            assert_eq!(c.failure, None);
            (c.score.unwrap().ln(), c.gradient.clone().unwrap())
        };
        let (_, gradient) = score(&at);
        let slope = |path: &str| gradient.iter().find(|g| g.path == path).unwrap().log_score;
        let sizes = paths.iter().zip(at).map(|(path, x)| slope(path).abs() * x);
        let largest = sizes.fold(0.0_f64, f64::max);
        assert!(largest > 0.1, "a gradient that matters: {gradient:?}");
        for (k, path) in paths.iter().enumerate() {
            let exact = slope(path);
            let value = |h: f64| {
                let mut moved = at;
                moved[k] += h;
                score(&moved).0
            };
            let h = 1e-5 * at[k];
            let by_difference = (value(h) - value(-h)) / (2.0 * h);
            let off = (exact - by_difference).abs() * at[k] / largest;
            assert!(off < 1e-6, "{criterion} {path}: {exact} for {by_difference}, {off:e}");
        }
    }
}

/// Another coordinate of a nuisance-free problem: `ln θ` and `θ` rank alike under D, and gain alike.
#[test]
fn d_optimal_gain_does_not_depend_on_the_scale_of_the_parameters() {
    let settings = "\"cube.velocity_x\" = [0.3, 0.6, 1.2]";
    let linear = cube_design("d", settings).replace("prior = 0.3", "");
    let log = linear.replace("scale = \"linear\"\nrange = [0.0, 10.0]", "range = [0.01, 10.0]");
    let ratios = |design: &str, test: &str| -> Vec<(usize, f64)> {
        let report = run(&folder(test), CUBE, design);
        let best = report.candidates[0].score.unwrap();
        report.candidates.iter().map(|c| (c.candidate, c.score.unwrap() / best)).collect()
    };
    let (a, b) = (ratios(&linear, "linear"), ratios(&log, "log"));
    for ((i, x), (j, y)) in a.iter().zip(&b) {
        assert_eq!(i, j);
        assert!((x / y - 1.0).abs() < 1e-9, "{a:?} {b:?}");
    }
}

/// Released along y with an unknown velocity along x, the block tells friction best where it leaves straight: the error is that
/// of the stopping distance alone, and both ways off the nuisance takes a part.
#[test]
fn local_search_finds_the_optimum_between_the_points_of_the_grid() {
    let more = "[[nuisance]]\npath = \"block.velocity_x\"\nsigma = 1.0\n\
                [[candidate]]\nname = \"slide\"\n\
                settings = { \"block.velocity_x\" = { low = -0.5, high = 0.4, count = 2 }, \"block.velocity_y\" = 1.0 }\n\
                [ascent]\nsteps = 30\n";
    let report = run(&folder("ascent"), &block(), &friction("", more));
    let found = report.ascended.unwrap();
    let straight = 1e-3 / distance(1.0);
    assert_eq!(found.settings[0].path, "block.velocity_x");
    assert!(found.settings[0].value.abs() < 0.03, "{found:?}");
    assert!(
        (found.after / straight - 1.0).abs() < 0.02 && found.before > 1.05 * straight,
        "{found:?}"
    );
    assert!((found.settings[1].value - 1.0).abs() < 1e-15, "what has no range stays");
    // At the end of a range the search stays.
    let end = "[[candidate]]\nname = \"slide\"\n\
               settings = { \"block.velocity_x\" = { low = 0.4, high = 1.1, count = 2 } }\n\
               [ascent]\nsteps = 5\n";
    let report = run(&folder("ascent_end"), &block(), &friction("prior = 0.5", end));
    let found = report.ascended.unwrap();
    assert!((found.settings[0].value - 1.1).abs() < 1e-15 && found.steps == 0, "{found:?}");
}

#[test]
fn impulses_have_a_ranking_but_no_gradient_and_the_summary_says_why() {
    let scene = BLOCK.replace("MODEL", "model = \"impulse\"").replace(
        "SHAPE",
        "shape.box = { half_extents = [0.05, 0.05, 0.01] }\npose.position = [0.0, 0.0, 0.01]\n",
    );
    let scene = scene
        .replace("method = \"bdf2\"\n", "")
        .replace("collider = \"none\"\n", "")
        .replace("tolerance = 1e-13\n", "");
    let candidates = "[[candidate]]\nname = \"slide\"\n\
                      settings = { \"block.velocity_x\" = [0.5, 1.0] }\n";
    let report = run(&folder("impulse"), &scene, &friction("", candidates));
    let found = informations(&report);
    for (v, f) in [0.5, 1.0_f64].into_iter().zip(&found) {
        let expected = (v * v / (2.0 * 0.3 * 9.81) / 1e-3).powi(2);
        assert!((f / expected - 1.0).abs() < 0.02, "{v} m/s: {f} for {expected}");
    }
    assert!(report.candidates.iter().all(|c| c.gradient.is_none()));
    let summary = report.summary();
    assert!(summary.contains("first derivatives only"), "{summary}");
}

/// What a fit knows is the inverse of its covariance, whatever the scale it was fitted in.
#[test]
fn errors_of_a_fit_are_what_is_known_before() {
    let folder = folder("present");
    let report = r#"{ "parameters": [
        { "path": "other", "best": 1.0, "standard_error": 1.0, "robust_standard_error": 2.0 },
        { "path": "pair.cube.ground.mu", "best": 0.25, "standard_error": 0.01, "robust_standard_error": 0.02 },
        { "path": "pair.cube.ground.c_n", "best": 0.5, "standard_error": 0.1, "robust_standard_error": 0.3 } ],
        "curvature": { "correlation": [[1.0, 0.9, 0.0], [0.9, 1.0, -0.6], [0.0, -0.6, 1.0]] } }"#;
    std::fs::write(folder.join("report.json"), report).unwrap();
    let with = "[present]\nreport = \"report.json\"\n";
    let design = cube_design("a", "\"cube.position_z\" = 10.0").replace("prior = 0.3", "") + with;
    let found = run(&folder, CUBE, &design);
    let known: Vec<f64> = found.parameters.iter().map(|p| p.present_standard_error).collect();
    assert!((known[0] - 0.01 / 0.25).abs() < 1e-12, "ln μ: {known:?}");
    assert!(known[1].is_infinite(), "k is not in the report");
    assert!((known[2] - 0.1).abs() < 1e-12, "c_n: {known:?}");
    assert!((found.parameters[0].value - 0.25).abs() < 1e-15, "the best value is assumed");
    let robust = design + "errors = \"robust\"\n";
    let found = run(&folder, CUBE, &robust);
    assert!((found.parameters[0].present_standard_error - 0.08).abs() < 1e-12);
}

#[test]
fn a_verdict_stands_beside_the_fisher_matrix_of_the_best() {
    let design = cube_design("a", "\"cube.velocity_x\" = 0.6")
        .replace("[trust]\ncandidates = 0", "[trust]\ncandidates = 1\ngrids = 2");
    let report = run(&folder("trust"), CUBE, &design);
    let trust = &report.candidates[0].trust;
    assert_eq!(trust.len(), 2, "{trust:?}");
    assert!(trust.iter().all(|t| t.contains("trust")), "{trust:?}");
}
