//! The binary on scenes: what it writes, and how it refuses.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, example, json, osculate, scratch, stderr, stdout, write};
use std::fs;
use std::path::Path;

/// A ball falls on the ground; free fall takes one iteration a stage, contact takes more.
const FALL: &str = r#"
[solver]
dt = 0.001
steps = 60
iterations = 1
[[actor]]
name = "ground"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
[[actor]]
name = "ball"
shape.icosphere = { radius = 0.05, subdivisions = 1 }
mass = 0.2
collider = "none"
pose.position = [0.0, 0.0, 0.06]
"#;

#[test]
fn help_is_the_manual() {
    let help = stdout(&osculate(&["--help"]));
    for command in ["simulate", "gradcheck", "crosscheck", "import"] {
        assert!(help.contains(command));
        let help = stdout(&osculate(&[command, "--help"]));
        assert!(help.contains("Examples:"), "{help}");
    }
    assert!(help.contains("Exit codes:"));
}

#[test]
fn wrong_usage_ends_with_2() {
    for args in [&[][..], &["simulate"], &["simulate", "a.toml", "--nonsense"], &["paint"]] {
        let output = osculate(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn simulate_writes_what_it_says() {
    let folder = scratch("simulate");
    let out = folder.join("out");
    let scene = example("sliding_block.toml");
    let output = osculate(&["simulate", &scene, "--out", out.to_str().unwrap(), "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let document = json(&output);
    assert_eq!(document["steps"], 400);
    assert_eq!(document["solver"]["unconverged"], 0);
    let lines = |name: &str| {
        let text = fs::read_to_string(out.join(name)).unwrap();
        text.lines().map(String::from).collect::<Vec<_>>()
    };
    let trajectory = lines("trajectory.csv");
    assert_eq!(trajectory.len(), 402);
    assert!(trajectory[0].starts_with("step,t,block.position_x"));
    let last: Vec<f64> = trajectory[401].split(',').map(|x| x.parse().unwrap()).collect();
    assert_eq!(last.len(), 15);
    for (k, x) in document["bodies"][0]["position"].as_array().unwrap().iter().enumerate() {
        assert!((x.as_f64().unwrap() - last[2 + k]).abs() < 1e-15);
    }
    assert_eq!(lines("energies.csv").len(), 402);
    // Steps were counted from 0 here and from 1 elsewhere, so that rows of one step did not match.
    let solver = lines("solver.csv");
    assert_eq!(solver.len(), 401);
    assert!(solver[1].starts_with("1,0,") && solver[400].starts_with("400,0,"), "{}", solver[1]);
    let contacts = lines("contacts.csv");
    let columns = contacts[0].split(',').count();
    assert!(contacts.len() > 400 && contacts.iter().all(|l| l.split(',').count() == columns));
}

#[test]
fn contact_force_is_the_sum_of_its_parts() {
    let folder = scratch("parts");
    let out = folder.to_str().unwrap();
    assert!(osculate(&["simulate", &example("sliding_block.toml"), "--out", out]).status.success());
    let text = fs::read_to_string(folder.join("contacts.csv")).unwrap();
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let mut sums = std::collections::BTreeMap::<String, f64>::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        for axis in ["x", "y", "z"] {
            let value = |vector: &str| -> f64 {
                let name = format!("{vector}_{axis}");
                cells[names.iter().position(|n| *n == name).unwrap()].parse().unwrap()
            };
            let parts: f64 = ["elastic", "damping", "viscous", "coulomb"].map(value).iter().sum();
            let force = value("force");
            assert!((force - parts).abs() <= 1e-14 * (1.0 + parts.abs()), "{line}");
            *sums.entry(format!("{} {axis}", cells[0])).or_default() += force;
        }
    }
    // The net force on the block is the sum over its samples, and the ground receives the opposite.
    let text = fs::read_to_string(folder.join("forces.csv")).unwrap();
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        for axis in ["x", "y", "z"] {
            let value = |body: &str| -> f64 {
                let name = format!("{body}.force_{axis}");
                cells[names.iter().position(|n| *n == name).unwrap()].parse().unwrap()
            };
            let sum = sums.get(&format!("{} {axis}", cells[0])).copied().unwrap_or(0.0);
            assert!((value("block") - sum).abs() <= 1e-12 * (1.0 + sum.abs()), "{line}");
            assert!((value("block") + value("ground")).abs() <= 1e-15, "{line}");
        }
    }
}

#[test]
fn steps_before_a_failure_are_kept_and_the_error_names_step_and_body() {
    let folder = scratch("failing");
    let (scene, out) = (write(&folder, "fall.toml", FALL), folder.join("out"));
    let output = osculate(&["simulate", &scene, "--out", out.to_str().unwrap()]);
    assert_refused(&output, 1, &["step ", "not converged", "body 'ball'", "steps before it"]);
    let text = fs::read_to_string(out.join("trajectory.csv")).unwrap();
    let written = text.lines().count() - 2;
    assert!((10..60).contains(&written));
    assert!(stderr(&output).contains(&format!("step {written}, stage 0")), "{}", stderr(&output));
}

#[test]
fn unconverged_stages_are_counted_aloud() {
    let folder = scratch("unconverged");
    let text = FALL.replace("iterations = 1", "iterations = 1\non_failure = \"continue\"");
    let (scene, out) = (write(&folder, "fall.toml", &text), folder.join("out"));
    let output = osculate(&["simulate", &scene, "--out", out.to_str().unwrap()]);
    assert!(output.status.success());
    assert!(stdout(&output).contains("stages did not converge"), "{}", stdout(&output));
}

#[test]
fn repairs_of_a_mesh_are_said_aloud() {
    let folder = scratch("repaired");
    let mesh = fs::read_to_string(example("tetrahedron.obj")).unwrap();
    write(&folder, "tetrahedron.obj", &mesh.replace("f 3 1 4", "f 1 3 4"));
    let text = fs::read_to_string(example("tetrahedron.toml")).unwrap();
    let text = text.replace("duration = 0.2", "steps = 1");
    let (scene, out) = (write(&folder, "tetrahedron.toml", &text), folder.join("out"));
    let said = "actor[1].shape.mesh: 'tetrahedron.obj' has 1 triangles of 1 pieces that disagree";
    let simulated = osculate(&["simulate", &scene, "--out", out.to_str().unwrap()]);
    assert!(stdout(&simulated).contains(said), "{}", stdout(&simulated));
    for command in ["gradcheck", "parameters"] {
        let text = stdout(&osculate(&[command, &scene]));
        assert!(text.contains(said), "{text}");
        let checked = json(&osculate(&[command, &scene, "--json"]));
        assert!(checked["warnings"][0].as_str().unwrap().contains(said), "{checked}");
    }
}

/// The command returned at the failed step, before the report that says the warnings.
#[test]
fn warnings_of_a_scene_are_said_though_a_step_fails() {
    let folder = scratch("failing_repaired");
    let mesh = fs::read_to_string(example("tetrahedron.obj")).unwrap();
    write(&folder, "tetrahedron.obj", &mesh.replace("f 3 1 4", "f 1 3 4"));
    let text = fs::read_to_string(example("tetrahedron.toml")).unwrap();
    let text = text.replace("duration = 0.2", "duration = 0.2\niterations = 1");
    let (scene, out) = (write(&folder, "tetrahedron.toml", &text), folder.join("out"));
    let output = osculate(&["simulate", &scene, "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let message = stderr(&output);
    let warned = message.find("actor[1].shape.mesh: 'tetrahedron.obj' has 1 triangles");
    assert!(message.starts_with("warning: "), "{message}");
    assert!(warned.unwrap() < message.find("error: ").unwrap(), "{message}");
}

/// They were taken, and ignored: without --trust nothing reads them.
#[test]
fn options_of_trust_are_refused_without_it() {
    let scene = example("tetrahedron.toml");
    for [option, value] in [["--out", "x"], ["--sigma", "0.1"], ["--grids", "3"]] {
        let output = osculate(&["gradcheck", &scene, option, value]);
        assert_refused(&output, 2, &["--trust"]);
    }
}

/// The error of writing was dropped, for the sake of readers that close the pipe early.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_is_full_is_an_error() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_osculate"))
        .args(["parameters", &example("sliding_block.toml")])
        .stdout(full)
        .output()
        .unwrap();
    assert_refused(&output, 2, &["standard output"]);
}

/// The message was the bare cause, without what was attempted; that of --config read "'x for all experiments'".
#[test]
fn messages_say_what_was_attempted_and_what_is_allowed() {
    let output = osculate(&["parameters", "no/scene.toml"]);
    assert_refused(&output, 2, &["cannot read no/scene.toml"]);
    let output = osculate(&["validate", "--config", "x.toml"]);
    assert_refused(&output, 2, &["--config is 'x.toml', allowed: only with the name of one"]);
}

#[test]
fn wrong_scenes_are_refused_with_file_line_and_field() {
    let folder = scratch("wrong");
    let out = folder.to_str().unwrap();
    for (name, from, to, said) in [
        ("mass", "mass = 0.2", "mass = -1.0", &["mass.toml:13", "mass", "-1", "> 0"][..]),
        ("field", "mass = 0.2", "weight = 0.2", &["field.toml:13", "weight"]),
        ("nan", "mass = 0.2", "mass = nan", &["nan.toml:13", "NaN"]),
        ("actor", "[[actor]]", "[[wrench]]\nactor = \"hat\"\n[[actor]]", &["hat", "ground, ball"]),
        ("toml", "steps = 60", "steps = = 60", &["toml.toml:4"]),
    ] {
        let scene = write(&folder, &format!("{name}.toml"), &FALL.replacen(from, to, 1));
        for command in ["simulate", "gradcheck"] {
            let mut args = vec![command, scene.as_str()];
            if command == "simulate" {
                args.extend(["--out", out]);
            }
            assert_refused(&osculate(&args), 2, said);
        }
    }
    let absent = folder.join("absent.toml");
    assert_refused(&osculate(&["gradcheck", absent.to_str().unwrap()]), 2, &["absent.toml"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_refused_with_its_path() {
    let folder = scratch("blocked");
    let blocked = write(&folder, "file", "");
    let output = osculate(&["simulate", &example("lifted_ball.toml"), "--out", &blocked]);
    assert_refused(&output, 2, &[&blocked]);
}

#[test]
fn adjoint_tangent_and_differences_agree_on_an_example() {
    let output = osculate(&["gradcheck", &example("tetrahedron.toml"), "--json"]);
    assert!(output.status.success(), "{}{}", stderr(&output), stdout(&output));
    let document = json(&output);
    let parameters = document["parameters"].as_array().unwrap();
    let agreeing = parameters.iter().filter(|p| p["verdict"] == "agrees").count();
    assert!(agreeing > 40 && agreeing < parameters.len());
    // At zero, a coefficient that must not be negative has a derivative to one side only.
    let edge = parameters.iter().find(|p| p["path"] == "slope.c_n").unwrap();
    assert!(edge["verdict"].as_str().unwrap().starts_with("unreliable"));
}

#[test]
fn gradcheck_refuses_a_distance_that_is_not_positive() {
    let output = osculate(&["gradcheck", &example("tetrahedron.toml"), "--near-distance", "0"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn import_refuses_a_folder_without_recordings() {
    let folder = scratch("import");
    let (source, destination) = (folder.join("source"), folder.join("destination"));
    fs::create_dir_all(&source).unwrap();
    let paths = [source.to_str().unwrap(), destination.to_str().unwrap()];
    let output = osculate(&["import", "contactnets", paths[0], paths[1]]);
    assert_refused(&output, 2, &["no `<id>.pt` files"]);
}

#[test]
fn tractions_of_every_pair_that_touched_are_drawn_where_asked() {
    let folder = scratch("tractions");
    let out = folder.to_str().unwrap();
    let scene = example("sliding_block.toml");
    let output = osculate(&["simulate", &scene, "--out", out, "--figures", "--at", "5"]);
    assert!(output.status.success(), "{output:?}");
    for extension in ["png", "svg"] {
        let file = folder.join(format!("figures/traction_block_on_ground.{extension}"));
        assert!(fs::metadata(&file).unwrap().len() > 1000, "{}", file.display());
    }
    let output = osculate(&["simulate", &scene, "--out", out, "--figures", "--at", "0"]);
    assert_refused(&output, 2, &["--at", "0", "from 1"]);
    let output = osculate(&["simulate", &scene, "--out", out, "--at", "5"]);
    assert_refused(&output, 2, &["--figures"]);
}

/// Ctrl-C in a long simulation wrote nothing, later with the impulse model only.
#[cfg(unix)]
#[test]
fn an_interrupted_simulation_writes_what_it_has_and_ends_with_130() {
    // Tens of thousands of samples, or a million steps: it would take minutes.
    let compliant = "[solver]\ndt = 1e-3\nsteps = 50000\n\
        [[actor]]\nname = 'ground'\nstatic = true\n\
        shape.plane = { normal = [0, 0, 1] }\n\
        [[actor]]\nname = 'ball'\nmass = 0.4\npose.position = [0, 0, 0.0999]\n\
        shape.icosphere = { radius = 0.1, subdivisions = 5 }\ncollider = 'none'\n";
    let impulse = "[solver]\nmodel = 'impulse'\ndt = 1e-3\nsteps = 1000000\n\
        [[actor]]\nname = 'ground'\nstatic = true\n\
        shape.plane = { normal = [0, 0, 1] }\n\
        [[actor]]\nname = 'cube'\nmass = 0.4\npose.position = [0, 0, 0.05]\n\
        shape.box = { half_extents = [0.05, 0.05, 0.05] }\n";
    for (name, scene) in [("interrupted", compliant), ("interrupted_impulse", impulse)] {
        let folder = scratch(name);
        write(&folder, "scene.toml", scene);
        interrupt_a_simulation(&folder);
    }
}

#[cfg(unix)]
fn interrupt_a_simulation(folder: &Path) {
    let (scene, out) = (folder.join("scene.toml"), folder.join("out"));
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_osculate"))
        .args(["simulate", scene.to_str().unwrap(), "--out", out.to_str().unwrap()])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let sent = std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let output = run.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("interrupted at step"), "{message}");
    let rows = std::fs::read_to_string(out.join("trajectory.csv")).unwrap();
    assert!(rows.lines().count() > 2);
    assert!(!rows.contains("-0.0,"), "zeros have no sign");
}

/// Symptom: a motion whose kinetic energy was `inf` ended with 0 and wrote `null` into its report. States are finite, their
/// squares are not.
#[test]
fn energy_that_overflows_ends_with_1_and_names_step_and_body() {
    let scene = r#"
[solver]
dt = 1e80
steps = 4
[[actor]]
name = "feather"
collider = "none"
samples = "none"
mass = 1.0
inertia = [0.01, 0.01, 0.01, 0.0, 0.0, 0.0]
[[actor]]
name = "stone"
collider = "none"
samples = "none"
mass = 1.0
inertia = [0.01, 0.01, 0.01, 0.0, 0.0, 0.0]
[[wrench]]
actor = "stone"
force = [1e80, 0.0, 0.0]
steps = [1, 4]
"#;
    let impulse = scene.replace("[solver]", "[solver]\nmodel = \"impulse\"");
    for (name, scene) in [("overflow", scene), ("overflow_impulse", &impulse)] {
        let folder = scratch(name);
        let file = write(&folder, "scene.toml", scene);
        let out = folder.join("out");
        let output = osculate(&["simulate", &file, "--out", out.to_str().unwrap()]);
        assert_refused(&output, 1, &["step 2", "inf J", "body 'stone'"]);
        // What was computed is there.
        assert!(fs::read_to_string(out.join("trajectory.csv")).unwrap().lines().count() == 6);
    }
}

#[test]
fn gradcheck_of_named_parameters_checks_those_alone() {
    let scene = example("sliding_block.toml");
    let arguments = ["gradcheck", &scene, "--parameter", "block.mu", "--parameter", "block.mass"];
    let output = osculate(&[&arguments[..], &["--json"]].concat());
    let report = json(&output);
    assert_eq!(output.status.code(), Some(0), "{report}");
    let all = report["parameters"].as_array().unwrap();
    let mut paths: Vec<&str> = all.iter().map(|p| p["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["block.mass", "block.mu"]);
    assert!(all.iter().all(|p| p["verdict"] == "agrees"), "{report}");
    let unknown = osculate(&["gradcheck", &scene, "--parameter", "block.mew"]);
    assert_refused(&unknown, 2, &["no parameter 'block.mew'", "block.mu"]);
}
