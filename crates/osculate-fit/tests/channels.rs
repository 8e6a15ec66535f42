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
const SCENE: &str = include_str!("channels/scene.toml");

const EXPERIMENT: &str = include_str!("channels/experiment.toml");

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
