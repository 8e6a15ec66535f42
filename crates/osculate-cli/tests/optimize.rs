//! `osculate optimize` from a file to its results.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, json, osculate, scratch, stdout, write};
use std::path::Path;

/// A ball is thrown, and bounces once.
const SCENE: &str = "\
[solver]
dt = 0.005
steps = 100
[[actor]]
name = \"floor\"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
contact = { k = 1e5, mu = 0.2 }
[[actor]]
name = \"ball\"
shape.icosphere = { radius = 0.05, subdivisions = 1 }
quadrature = \"P1Q1\"
collider = \"none\"
mass = 0.1
pose = { position = [0.0, 0.0, 0.4] }
contact = { k = 1e5, mu = 0.2, c_n = 0.1 }
";

const OPTIMIZE: &str = "\
scene = \"scene.toml\"
[[variable]]
path = \"ball.velocity_x\"
scale = \"linear\"
range = [-3.0, 3.0]
start = [0.5, 1.5]
[[control]]
name = \"draught\"
actor = \"ball\"
component = \"force_y\"
knots = 3
range = [-1.0, 1.0]
start = [0.0, 0.0]
[[objective]]
kind = \"position\"
actor = \"ball\"
target = [0.3, 0.1, 0.0]
axes = [\"x\", \"y\"]
scale = 0.01
within = 0.001
[[objective]]
kind = \"effort\"
scale = 10.0
[multistart]
starts = 2
seed = 3
[baselines]
starts = 1
rollouts = 60
";

fn files(test: &str, optimize: &str) -> (String, std::path::PathBuf) {
    let folder = scratch(test);
    write(&folder, "scene.toml", SCENE);
    (write(&folder, "optimize.toml", optimize), folder.join("out"))
}

#[test]
fn throw_reaches_its_goal_and_says_what_it_cost() {
    let (file, out) = files("optimize_throw", OPTIMIZE);
    let folder = out.to_str().unwrap();
    let output = osculate(&["optimize", &file, "--out", folder, "--baselines", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", common::stderr(&output));
    let document = json(&output);
    let report = &document["report"];
    assert_eq!((&report["reached"], &report["variables"]), (&2.into(), &4.into()));
    assert!(report["terms"][0]["error"].as_f64().unwrap() <= 0.001, "{}", report["terms"]);
    for start in report["starts"].as_array().unwrap() {
        assert_eq!(start["reached"], true);
        let (all, goal) = (&start["spent"]["rollouts"], &start["to_goal"]["rollouts"]);
        assert!(
            goal.as_u64().unwrap() <= all.as_u64().unwrap() && all.as_u64().unwrap() < 40,
            "{start}"
        );
    }
    let baselines = report["baselines"].as_array().unwrap();
    assert_eq!(baselines.len(), 2);
    // Differences see the same valley and pay a roll-out for every variable.
    let differences = &baselines[1]["starts"][0]["to_goal"]["rollouts"];
    assert!(
        differences.as_u64().unwrap()
            > report["starts"][0]["to_goal"]["rollouts"].as_u64().unwrap()
    );
    // The file of the motion ends where the report says.
    let motion = std::fs::read_to_string(out.join("trajectory.csv")).unwrap();
    let last: Vec<f64> =
        motion.lines().last().unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    let miss = (last[2] - 0.3).hypot(last[3] - 0.1);
    assert!((miss - report["terms"][0]["error"].as_f64().unwrap()).abs() < 1e-9, "{miss}");
    for name in ["summary.txt", "controls.csv", "figures/path.svg", "figures/controls.png"] {
        assert!(Path::new(&out.join(name)).is_file(), "{name}");
    }
}

#[test]
fn goal_out_of_reach_is_told_and_ends_with_1() {
    let (file, out) = files("optimize_far", &OPTIMIZE.replace("0.3, 0.1, 0.0", "30.0, 0.1, 0.0"));
    let output = osculate(&["optimize", &file, "--out", out.to_str().unwrap(), "--no-figures"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("2 starts (seed 3): 0 reach the goal"), "{}", stdout(&output));
    assert!(stdout(&output).contains("(NOT met)"));
}

#[test]
fn wrong_file_is_refused_before_anything_is_written() {
    let (file, out) = files("optimize_wrong", &OPTIMIZE.replace("knots = 3", "knots = 1"));
    let output = osculate(&["optimize", &file, "--out", out.to_str().unwrap()]);
    assert_refused(
        &output,
        2,
        &["optimize.toml:11", "control[0].knots", "found 1", "allowed: 2 to 100"],
    );
    assert!(!out.exists());
}
