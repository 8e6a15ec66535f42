//! Measured channels: derivatives, twins, clocks, noise levels, and what is refused or doubted.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use nalgebra::DVector;
use osculate_fit::experiment::{Doubt, Experiment};
use osculate_fit::least_squares::BlockProblem;
use osculate_fit::problem::{Horizon, InitialState, Problem, Toss, Weights};
use osculate_fit::recording::{Dataset, Part};
use osculate_fit::{report, twin};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A bar on a hinge that carries another one on a slide, and a ball that drops on the ground beside them.
const SCENE: &str = r#"
[solver]
steps = 10
duration = 0.1

[[actor]]
name = "ground"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
contact = { epsilon = 0.001, delta = 0.001, k = 1e5, mu = 0.5, c_n = 0.5, v_f = 0.05 }

[[actor]]
name = "upper"
shape.box = { half_extents = [0.02, 0.02, 0.15] }
mass = 0.5
collider = "none"
samples = "none"

[[actor]]
name = "lower"
shape.box = { half_extents = [0.02, 0.02, 0.1] }
mass = 0.3
collider = "none"
samples = "none"

[[actor]]
name = "ball"
collider = "none"
mass = 0.4
center = [0.002, 0.0, 0.001]
inertia = [4e-4, 5e-4, 6e-4, 0.0, 0.0, 0.0]
contact = { epsilon = 0.001, delta = 0.001, k = 1e5, mu = 0.5, c_n = 0.5, v_f = 0.05 }

[actor.samples]
weight = 1e-3
points = [[0.03, 0.02, -0.03], [-0.03, 0.02, -0.03], [0.0, -0.03, -0.03]]

[[joint]]
child = "upper"
kind = "revolute"
axis = [0.0, 1.0, 0.0]
placement = { position = [0.5, 0.5, 0.8], rotation_vector = [0.0, 0.0, 0.5] }
offset = { position = [0.0, 0.0, -0.15] }
friction = { viscous = 0.02 }

[[joint]]
child = "lower"
parent = "upper"
kind = "prismatic"
axis = [0.6, 0.0, 0.8]
placement = { position = [0.0, 0.02, -0.15] }
friction = { viscous = 0.3 }

[[pair]]
actors = ["ball", "ground"]
mu = 0.4
"#;

const EXPERIMENT: &str = r#"
scene = "scene.toml"
body = "ball"
data = "twin"
substeps = 4

[loss]
kind = "channels"

[[channel]]
kind = "pose"
target = "ball"
name = "camera"
sigma = 0.001
rotation_sigma = 0.01

[[channel]]
kind = "velocity"
target = "ball"
columns = ["bvx", "bvz"]
axes = ["x", "z"]
sigma = 0.01

[[channel]]
kind = "angular-velocity"
target = "ball"
columns = ["gx", "gy", "gz"]
sigma = 0.02

[[channel]]
kind = "contact-force"
target = "ball"
columns = ["fx", "fy", "fz"]
sigma = 0.1

[[channel]]
kind = "contact-torque"
target = "ball"
columns = ["mx", "my", "mz"]
sigma = 0.01

[[channel]]
kind = "impulse"
target = "ball"
columns = ["jz"]
axes = ["z"]
sigma = 0.001

[[channel]]
kind = "joint-position"
target = "upper"
name = "hinge"
columns = ["hinge"]
sigma = 0.002
clock = "encoder"
clock_offset = 0.0031

[[channel]]
kind = "joint-rate"
target = "upper"
columns = ["hinge_rate"]
sigma = 0.05
clock = "encoder"
clock_offset = 0.0031

[[channel]]
kind = "joint-position"
target = "lower"
name = "slide"
columns = ["slide"]
sigma = 0.0005

[[channel]]
kind = "joint-rate"
target = "lower"
columns = ["slide_rate"]
sigma = 0.01

[[channel]]
kind = "position"
target = "lower"
name = "end"
columns = ["ex", "ey", "ez"]
sigma = 0.001

[[parameter]]
path = "joint.upper.damping"
range = [0.001, 0.1]

[[parameter]]
path = "lower.mass"
range = [0.05, 1.0]

[[parameter]]
path = "pair.ball.ground.mu"
range = [0.1, 1.0]

[[parameter]]
path = "ball.mass"
range = [0.1, 1.0]

[[parameter]]
path = "gravity_z"
scale = "linear"
range = [-12.0, -8.0]

[[parameter]]
path = "joint.lower.offset_x"
scale = "linear"
range = [-0.1, 0.1]

[[parameter]]
path = "clock.encoder.offset"
scale = "linear"
range = [-0.02, 0.02]

[multistart]
starts = 1

[profile]
points = 0

[trust]
tosses = 1
grids = 1

[twin]
tosses = 3
frames = 25
rate_hz = 100.0
seed = 4
position_noise = 0.0
rotation_noise_deg = 0.0
exact_start = true
height = [0.06, 0.08]
speed = [0.3, 0.5]
fall = [0.1, 0.2]
spin = [0.5, 1.0]

[twin.joints.upper]
position = [0.4, 1.0]
rate = [-1.0, 1.0]

[twin.joints.lower]
position = [0.0, 0.1]
rate = [-0.2, 0.2]
"#;

/// A folder of the test's own with scene and experiment.
fn folder(test: &str, scene: &str, experiment: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("scene.toml"), scene).unwrap();
    std::fs::write(folder.join("experiment.toml"), experiment).unwrap();
    folder
}

fn read(test: &str, experiment: &str) -> Experiment {
    Experiment::read(&folder(test, SCENE, experiment).join("experiment.toml")).unwrap()
}

fn refusal(test: &str, experiment: &str) -> String {
    let folder = folder(test, SCENE, experiment);
    Experiment::read(&folder.join("experiment.toml")).unwrap_err().to_string()
}

/// Tosses without noise.
fn exact(experiment: &Experiment) -> Vec<Toss> {
    let mut twin = experiment.file.twin.clone().unwrap();
    for channel in &experiment.model.channels {
        twin.noise.insert(channel.name.clone(), 0.0);
    }
    twin::make(&experiment.model, &twin).unwrap().0
}

fn problem(experiment: &Experiment, tosses: Vec<Toss>) -> Problem {
    let weights = Weights { position: 1.0, rotation: 1.0, per_frame_mean: false, robust: None };
    let (model, free) = (experiment.model.clone(), &experiment.file.parameters);
    Problem::new(model, tosses, free, weights, Horizon::Full, InitialState::default()).unwrap()
}

/// Coordinates of the scene's values.
fn truth(problem: &Problem) -> Vec<f64> {
    let of = |p: &osculate_fit::parameter::FreeParameter| {
        p.to_coordinate(problem.scene_value(&p.path).unwrap())
    };
    problem.parameters().iter().map(of).collect()
}

/// Writes a twin and reads it back.
fn written(experiment: &Experiment) -> PathBuf {
    let folder = experiment.data_folder(None);
    let settings = experiment.file.twin.clone().unwrap();
    let (tosses, _) = twin::make(&experiment.model, &settings).unwrap();
    twin::write(&tosses, &experiment.model, &settings, &[], &folder).unwrap();
    folder
}

#[test]
fn jacobian_of_every_channel_is_the_difference_of_its_residuals() {
    let experiment = read("channels_gradient", EXPERIMENT);
    let problem = problem(&experiment, exact(&experiment));
    let own: Vec<f64> = Vec::new();
    let at: Vec<f64> = truth(&problem);
    let block = problem.evaluate(0, &at, &own, true).unwrap();
    assert!(block.residuals.amax() < 1e-9, "exact data have residuals {}", block.residuals.amax());
    for i in 0..at.len() {
        let h = 1e-5;
        let side = |s: f64| {
            let mut moved = at.clone();
            moved[i] += s * h;
            problem.evaluate(0, &moved, &own, false).unwrap().residuals
        };
        let difference: DVector<f64> = (side(1.0) - side(-1.0)) / (2.0 * h);
        let exact = block.shared.column(i);
        let scale = difference.amax().max(1e-3);
        assert!(difference.amax() > 1e-6, "{} moves nothing", problem.parameters()[i].path);
        for row in 0..difference.len() {
            let off = (difference[row] - exact[row]).abs() / scale;
            assert!(
                off < 5e-4,
                "{}, row {row}: {} by jets, {} by differences",
                problem.parameters()[i].path,
                exact[row],
                difference[row]
            );
        }
    }
}

/// Records under a mask of zero, however wrong, say nothing: the fit has the bits of one to files that lack them.
#[test]
fn masked_records_are_left_out() {
    let masked =
        EXPERIMENT.replace("columns = [\"slide\"]", "columns = [\"slide\"]\nmask = \"slide_seen\"");
    let experiment = read("channels_mask", &masked);
    let folder = written(&experiment);
    let seen = |k: usize| k % 3 != 1;
    let with_mask = |wrong: &str| {
        for entry in std::fs::read_dir(folder.join("tosses")).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let (header, rows) = text.split_once('\n').unwrap();
            let names: Vec<&str> = header.trim_end().split(',').collect();
            let slide = names.iter().position(|n| *n == "slide").unwrap();
            let mask = names.iter().position(|n| *n == "slide_seen");
            let names = &names[..mask.unwrap_or(names.len())];
            let mut out = format!("{},slide_seen\n", names.join(","));
            for (k, row) in rows.lines().enumerate() {
                let mut fields: Vec<&str> = row.split(',').take(names.len()).collect();
                if !seen(k) {
                    fields[slide] = wrong;
                }
                out += &format!("{},{}\n", fields.join(","), u8::from(seen(k)));
            }
            std::fs::write(&path, out).unwrap();
        }
        let file = folder.join("metadata.json");
        let mut json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let extra = json["extra_columns"].as_array_mut().unwrap();
        if extra.iter().all(|name| name != "slide_seen") {
            extra.push("slide_seen".into());
        }
        std::fs::write(&file, json.to_string()).unwrap();
        let data = Dataset::open(&folder).unwrap();
        let tosses = experiment.tosses(&data, Part::Train).unwrap();
        let problem = problem(&experiment, tosses);
        problem.evaluate(0, &truth(&problem), &[], true).unwrap()
    };
    let (absent, wrong) = (with_mask(""), with_mask("17.5"));
    assert_eq!(absent, wrong);
    // Eight of 25 records of the slide are masked.
    let every = experiment_without_mask(&folder);
    assert_eq!(every.residuals.len(), absent.residuals.len() + 8);
    assert!(every.residuals.amax() > 1e3 && absent.residuals.amax() < 10.0);
}

/// Residuals of the first toss of a folder where every record counts.
fn experiment_without_mask(data: &Path) -> osculate_fit::least_squares::BlockResiduals {
    let plain = read("channels_no_mask", EXPERIMENT);
    let tosses = plain.tosses(&Dataset::open(data).unwrap(), Part::Train).unwrap();
    let problem = problem(&plain, tosses);
    problem.evaluate(0, &truth(&problem), &[], true).unwrap()
}

#[test]
fn joint_coordinates_of_a_motion_are_those_of_its_start_and_rates_their_slope() {
    let experiment = read("channels_joints", EXPERIMENT);
    let toss = exact(&experiment).remove(0);
    let channel =
        |name: &str| experiment.model.channels.iter().position(|c| c.name == name).unwrap();
    let value = |c: usize, k: usize| match toss.series[c][k].unwrap() {
        osculate_fit::problem::Sample::Vector(v) => v.x,
        osculate_fit::problem::Sample::Rotation(_) => f64::NAN,
    };
    let slide = channel("slide");
    let start =
        toss.joints.iter().find(|j| experiment.model.scene.bodies[j.body].name == "lower").unwrap();
    assert!((value(slide, 0) - start.position).abs() < 1e-12);
    for (position, rate, tolerance) in
        [("slide", "joint-rate lower", 0.02), ("hinge", "joint-rate upper", 0.1)]
    {
        let (p, r) = (channel(position), channel(rate));
        for k in 1..20 {
            let slope =
                (value(p, k + 1) - value(p, k - 1)) / (toss.times[k + 1] - toss.times[k - 1]);
            // Backward Euler's rates are those of the step before: of first order in the step.
            assert!((slope - value(r, k)).abs() < tolerance, "{rate} {k}: {slope} {}", value(r, k));
        }
    }
}

#[test]
fn mixed_channels_with_noise_give_back_parameters_clock_and_noise_level() {
    let text = EXPERIMENT
        .replace(
            "name = \"end\"\ncolumns = [\"ex\", \"ey\", \"ez\"]\nsigma = 0.001",
            "name = \"end\"\ncolumns = [\"ex\", \"ey\", \"ez\"]\nsigma = \"estimated\"",
        )
        .replace("[twin.joints.upper]", "[twin.noise]\nend = 0.003\n\n[twin.joints.upper]");
    let text = text.replace(
        "path = \"lower.mass\"\nrange = [0.05, 1.0]",
        "path = \"lower.mass\"\nrange = [0.05, 1.0]\nstart = [0.25, 0.4]",
    );
    // Near enough for one start.
    let text = text
        .replace("range = [0.001, 0.1]", "range = [0.001, 0.1]\nstart = [0.015, 0.03]")
        .replace("range = [0.1, 1.0]", "range = [0.1, 1.0]\nstart = [0.35, 0.45]")
        .replace("range = [-12.0, -8.0]", "range = [-12.0, -8.0]\nstart = [-9.9, -9.7]")
        .replace("range = [-0.1, 0.1]", "range = [-0.1, 0.1]\nstart = [-0.01, 0.01]")
        .replace("range = [-0.02, 0.02]", "range = [-0.02, 0.02]\nstart = [0.0, 0.006]");
    let experiment = read("channels_twin", &text);
    let data = Dataset::open(written(&experiment)).unwrap();
    let tosses = experiment.tosses(&data, Part::All).unwrap();
    let half_side = data.metadata().cube.half_side_m;
    let go = Arc::default();
    let (found, _) = report::run(&experiment, tosses, half_side, &go, &|_| {}, &|_| {}).unwrap();
    assert!(found.doubts.is_empty(), "{:?}", found.doubts);
    let numbers = experiment.model.numbers().unwrap();
    for p in &found.parameters {
        let exact = numbers.iter().find(|(e, _)| e.path == p.path).unwrap().1;
        let best = p.best;
        let tolerance = match p.path.as_str() {
            "clock.encoder.offset" => 4e-4,
            "gravity_z" => 0.02,
            "joint.lower.offset_x" => 2e-3,
            _ => 0.05 * exact.abs(),
        };
        assert!((best - exact).abs() < tolerance, "{}: {best} for {exact}", p.path);
    }
    let end = found.channels.iter().find(|c| c.name == "end").unwrap();
    assert!(end.estimated && (end.sigma / 0.003 - 1.0).abs() < 0.25, "{}", end.sigma);
}

#[test]
fn angles_alone_tell_of_a_pendulum_and_where_its_end_is() {
    let head = EXPERIMENT.find("[loss]").unwrap();
    let twin = EXPERIMENT.find("[multistart]").unwrap();
    let mut text = EXPERIMENT[..head].replace("body = \"ball\"", "body = \"lower\"");
    text += r#"
[loss]
kind = "channels"
[[channel]]
kind = "joint-position"
target = "upper"
name = "hinge"
columns = ["hinge"]
sigma = 0.002
[[channel]]
kind = "joint-position"
target = "lower"
name = "slide"
columns = ["slide"]
sigma = 0.001
[[parameter]]
path = "joint.upper.damping"
range = [0.001, 0.1]
start = [0.01, 0.04]
"#;
    text += &EXPERIMENT[twin..];
    let experiment = read("channels_angles", &text);
    let data = Dataset::open(written(&experiment)).unwrap();
    let tosses = experiment.tosses(&data, Part::All).unwrap();
    assert!(data.load(0).unwrap().recording.poses.is_empty());
    // The pose of the end follows from the angles, but for their noise.
    let rolled = experiment.model.roll_out(tosses[0].clone()).unwrap();
    let off = (rolled.simulated[10].position - tosses[0].measured[10].position).norm();
    assert!(off < 0.01, "{off}");
    let go = Arc::default();
    let (found, _) = report::run(&experiment, tosses, 0.1, &go, &|_| {}, &|_| {}).unwrap();
    let best = found.parameters[0].best;
    assert!((best / 0.02 - 1.0).abs() < 0.1, "{best}");
}

#[test]
fn wrong_tables_are_refused_with_field_and_what_is_allowed() {
    let cases = [
        (
            "kind = \"impulse\"\ntarget = \"ball\"",
            "kind = \"pressure\"\ntarget = \"ball\"",
            "unknown variant `pressure`",
        ),
        (
            "target = \"lower\"\nname = \"end\"",
            "target = \"nobody\"\nname = \"end\"",
            "'nobody', allowed: a dynamic actor: upper, lower, ball",
        ),
        (
            "target = \"upper\"\nname = \"hinge\"",
            "target = \"ball\"\nname = \"hinge\"",
            "a revolute or prismatic joint",
        ),
        (
            "kind = \"contact-force\"\ntarget = \"ball\"",
            "kind = \"contact-force\"\ntarget = \"lower\"",
            "a dynamic actor without joint",
        ),
        ("columns = [\"jz\"]", "columns = [\"jx\", \"jz\"]", "2 columns, allowed: 1 of them"),
        ("sigma = 0.0005", "sigma = -1.0", "allowed: > 0"),
        ("sigma = 0.0005", "sigma = \"guessed\"", "\"estimated\""),
        ("kind = \"channels\"", "kind = \"baseline\"", "beside [[channel]]"),
        ("name = \"slide\"", "name = \"hinge\"", "'hinge' twice"),
        (
            "clock_offset = 0.0031\n\n[[channel]]\nkind = \"joint-rate\"",
            "clock_offset = 0.1\n\n[[channel]]\nkind = \"joint-rate\"",
            "one offset for all channels of a clock",
        ),
        (
            "path = \"clock.encoder.offset\"",
            "path = \"clock.nobody.offset\"",
            "no parameter is called 'clock.nobody.offset'",
        ),
        ("body = \"ball\"", "body = \"lower\"", "columns: found absent"),
    ];
    for (i, (from, to, words)) in cases.into_iter().enumerate() {
        assert!(EXPERIMENT.contains(from), "{from}");
        let refused = refusal(&format!("channels_refused_{i}"), &EXPERIMENT.replace(from, to));
        assert!(refused.contains(words) && refused.contains("experiment.toml"), "{refused}");
    }
}

/// Changes a file of a written twin and reads the tosses again.
fn changed(experiment: &Experiment, change: impl Fn(&str) -> String) -> Result<Vec<Toss>, String> {
    let folder = written(experiment);
    let file = folder.join("tosses/toss_000.csv");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, change(&text)).unwrap();
    let data = Dataset::open(&folder).map_err(|e| e.to_string())?;
    experiment.tosses(&data, Part::All).map_err(|e| e.to_string())
}

/// A file with field `column` of line `line` (from 1, header 1) replaced.
fn with_field(text: &str, line: usize, column: &str, value: &str) -> String {
    let place = text.lines().next().unwrap().split(',').position(|c| c == column).unwrap();
    let replaced = text.lines().enumerate().map(|(i, l)| {
        let mut fields: Vec<&str> = l.split(',').collect();
        if i + 1 == line {
            fields[place] = value;
        }
        fields.join(",") + "\n"
    });
    replaced.collect()
}

#[test]
fn damaged_records_are_refused_and_missing_ones_left_out() {
    let experiment = read("channels_damaged", EXPERIMENT);
    let error = |change: &dyn Fn(&str) -> String| changed(&experiment, change).unwrap_err();
    for (value, words) in [("NaN", "NaN is not finite"), ("two", "`two` is not a number")] {
        let found = error(&|t| with_field(t, 4, "hinge", value));
        assert!(found.contains("line 4, column `hinge`") && found.contains(words), "{found}");
    }
    let found = error(&|t| with_field(t, 5, "t", "0.0"));
    assert!(found.contains("does not exceed the previous"), "{found}");
    let found = error(&|t| t.replacen("hinge,", "angle,", 1));
    assert!(found.contains("unknown column `angle`"), "{found}");
    let found = error(&|t| {
        t.lines().enumerate().filter(|(i, _)| *i != 6).map(|(_, l)| format!("{l}\n")).collect()
    });
    assert!(
        found.contains("line 7 (frame 5") && found.contains("missing before it: 1?"),
        "{found}"
    );
    let tosses = changed(&experiment, |t| with_field(t, 4, "hinge", "")).unwrap();
    let hinge = experiment.model.channels.iter().position(|c| c.name == "hinge").unwrap();
    let missing: Vec<usize> = (0..25).filter(|&k| tosses[0].series[hinge][k].is_none()).collect();
    assert_eq!(missing, [2]);
    let other = read(
        "channels_no_column",
        &EXPERIMENT.replace("columns = [\"slide\"]", "columns = [\"way\"]"),
    );
    let data = Dataset::open(written(&experiment)).unwrap();
    let found = other.tosses(&data, Part::All).unwrap_err().to_string();
    assert!(found.contains("channel 'slide'") && found.contains("no column 'way'"), "{found}");
}

#[test]
fn degrees_millimetres_and_starts_inside_the_ground_are_doubted() {
    let experiment = read("channels_doubts", EXPERIMENT);
    let tosses = exact(&experiment);
    assert_eq!(experiment.doubts(&tosses, 0.03), []);
    // Thirty for 30 mm: errors were told as 0.00 % of a width of 60 m.
    let wide = experiment.doubts(&tosses, 30.0);
    assert!(matches!(wide[..], [Doubt::Size { .. }]), "{wide:?}");
    let c = |name: &str| experiment.model.channels.iter().position(|c| c.name == name).unwrap();
    let scaled = |name: &str, factor: f64| {
        let mut tosses = tosses.clone();
        for sample in tosses.iter_mut().flat_map(|t| t.series[c(name)].iter_mut()).flatten() {
            if let osculate_fit::problem::Sample::Vector(v) = sample {
                *v *= factor;
            }
        }
        experiment.doubts(&tosses, 0.03)
    };
    let degrees = scaled("hinge", 180.0 / std::f64::consts::PI);
    assert!(
        degrees.iter().any(|d| matches!(d, Doubt::Degrees { channel, .. } if channel == "hinge")),
        "{degrees:?}"
    );
    assert!(
        degrees.iter().any(|d| d.to_string().contains("degrees beside radians")),
        "{degrees:?}"
    );
    let slide = scaled("slide", 1e3);
    assert!(slide.iter().any(|d| d.to_string().contains("millimetres beside metres")), "{slide:?}");
    let mut long = tosses.clone();
    for t in &mut long {
        let first = t.measured[0].position;
        t.measured.iter_mut().for_each(|p| p.position = first + (p.position - first) * 1e3);
    }
    let long = experiment.doubts(&long, 0.03);
    assert!(matches!(long[0], Doubt::Millimetres { .. }), "{long:?}");
    let mut low = tosses;
    low[1].measured[0].position.z = -0.05;
    let low = experiment.doubts(&low, 0.03);
    assert!(
        matches!(&low[..], [Doubt::Penetration { tosses: 1, body, other, .. }] if body == "ball" && other == "ground"),
        "{low:?}"
    );
}
