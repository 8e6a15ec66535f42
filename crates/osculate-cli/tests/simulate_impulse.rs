//! `osculate simulate` of scenes of the impulse model: tables and warnings.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{example, json, osculate, scratch, stderr, stdout, write};
use std::fs;
use std::path::Path;

/// The rows of a table under their header.
fn table(folder: &Path, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let cells = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
    let mut lines = text.lines().map(cells);
    (lines.next().unwrap(), lines.collect())
}

/// The example of a pushed box with lines of `[solver]` and of `[solver.impulse]` put in.
fn pushed(folder: &Path, solver: &str, impulse: &str) -> String {
    let text = fs::read_to_string(example("pushed_box.toml")).unwrap();
    let text = text.replace("dt = 0.004\n", &format!("dt = 0.004\n{solver}\n"));
    write(folder, "scene.toml", &text.replace("anchor_beta = 0.2\n", impulse))
}

/// Friction at anchors stands in no contact: without a table of its own nobody would see what holds the box.
#[test]
fn anchors_have_a_table_with_the_friction_that_holds_a_box() {
    let folder = scratch("anchors_table");
    let out = folder.join("out");
    let output =
        osculate(&["simulate", &example("pushed_box.toml"), "--out", out.to_str().unwrap()]);
    assert!(output.status.success() && !stdout(&output).contains("warning"), "{}", stdout(&output));
    let (names, rows) = table(&out, "anchors.csv");
    assert!(rows.iter().all(|r| r.len() == names.len()) && rows.len() == 2 * 250);
    let at = |row: &[String], name: &str| {
        let i = names.iter().position(|n| n == name).unwrap();
        row[i].parse::<f64>().unwrap()
    };
    let last: Vec<_> = rows.iter().filter(|r| r[0] == "250").collect();
    // On the first actor, which is pushed along by the second.
    let sum: f64 = last.iter().map(|r| at(r, "impulse_x")).sum();
    let (names_of_contacts, contacts) = table(&out, "contacts.csv");
    assert!(contacts.iter().all(|r| r.len() == names_of_contacts.len()));
    assert_eq!(last[0][2], "ground");
    assert!((sum - 4.75785 * 0.004).abs() < 1e-9, "{sum} N s");
    assert!(last.iter().all(|r| r[4] == "held" && at(r, "load") > 0.0));
    assert!(!out.join("joints.csv").exists());
}

/// Symptom: a scene with joints had no joints.csv under impulses, as the manual says it has.
#[test]
fn joints_have_a_table_under_impulses_too() {
    let folder = scratch("joints_table");
    let text = fs::read_to_string(example("double_pendulum.toml")).unwrap();
    let text = text.replace("[solver]\n", "[solver]\nmodel = \"impulse\"\n");
    let (scene, out) = (write(&folder, "scene.toml", &text), folder.join("out"));
    let output = osculate(&["simulate", &scene, "--out", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (names, rows) = table(&out, "joints.csv");
    assert_eq!(names, ["step", "t", "upper.q", "lower.q", "upper.qdot", "lower.qdot"]);
    assert_eq!(rows.len(), 301);
    assert_eq!(rows[0][2..], ["1.2", "0.7", "0.0", "-1.0"]);
}

#[test]
fn counter_examples_warn_near_the_friction_limit_and_only_there() {
    let folder = scratch("counter_examples");
    let out = folder.join("out");
    let run = |solver: &str, impulse: &str| {
        let scene = pushed(&folder, solver, impulse);
        osculate(&["simulate", &scene, "--out", out.to_str().unwrap(), "--json"])
    };
    let few = "on_failure = \"continue\"";
    for mode in ["bisection", "bisection-desaxce"] {
        let lines = format!("friction_mode = \"{mode}\"\nsweeps = 40\n");
        let found = json(&run(few, &lines))["warnings"][0].to_string();
        let name = format!("`{}` at", mode.replace('-', "_"));
        for said in [&*name, "% of the friction limit", "'ground' on 'box'", "of 250 steps"] {
            assert!(found.contains(said), "{said}: {found}");
        }
    }
    // Told to stop, the step that fails is not written: the warning is all there is.
    let stopped = run("", "friction_mode = \"bisection\"\nsweeps = 40\n");
    assert_eq!(stopped.status.code(), Some(1));
    assert!(stderr(&stopped).contains("`bisection` scales the stick impulse radially"));
    let exact = run("", "friction_mode = \"coulomb-newton\"\n");
    assert!(exact.status.success() && json(&exact)["warnings"] == serde_json::json!([]));
    let (names, rows) = table(&out, "contacts.csv");
    assert_eq!(names.last().unwrap(), "solutions");
    assert!(rows.iter().all(|r| r.len() == names.len() && r.last().unwrap() == "1"));
}

/// The rod of `tests/impulse.rs`, beyond its critical friction of 4/3.
#[test]
fn contacts_with_several_solutions_are_told() {
    let folder = scratch("several_solutions");
    let text = r#"
gravity = [0.0, 0.0, 0.0]
[solver]
model = "impulse"
dt = 0.004
steps = 1
[solver.impulse]
friction_mode = "coulomb-newton"
[[actor]]
name = "ground"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
contact = { mu = 2.0 }
[[actor]]
name = "rod"
shape.sphere = { radius = 1e-6 }
samples = "none"
mass = 1.0
inertia = [0.3333333333333333, 0.3333333333333333, 0.3333333333333333, 0, 0, 0]
center = [-0.4472135954999579, 0.0, 0.8944271909999159]
pose.position = [0.0, 0.0, 1e-6]
velocity = [1.0, 0.0, 0.01]
contact = { mu = 2.0 }
"#;
    let (scene, out) = (write(&folder, "rod.toml", text), folder.join("out"));
    let output = osculate(&["simulate", &scene, "--out", out.to_str().unwrap()]);
    let said = stdout(&output);
    assert!(
        said.contains("a contact has 3 solutions of Coulomb's law"),
        "{said}{}",
        stderr(&output)
    );
    assert_eq!(table(&out, "contacts.csv").1[0].last().unwrap(), "3");
}
