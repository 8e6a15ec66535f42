//! `osculate design` from a file to its results.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, json, osculate, scratch, stdout, write};

/// A ball falls on its lowest point, and slides.
const SCENE: &str = "\
[solver]
dt = 0.002
steps = 60
[[actor]]
name = \"floor\"
static = true
shape.plane = { normal = [0.0, 0.0, 1.0] }
contact = { k = 1e6, mu = 0.2, v_f = 0.1 }
[[actor]]
name = \"ball\"
collider = \"none\"
mass = 0.1
inertia = [1e-4, 1e-4, 1e-4, 0.0, 0.0, 0.0]
pose = { position = [0.0, 0.0, 0.06] }
velocity = [1.0, 0.0, -0.5]
contact = { k = 1e6, mu = 0.2, v_f = 0.1 }
[actor.samples]
weight = 1e-3
points = [[0.0, 0.0, -0.05]]
[[pair]]
actors = [\"ball\", \"floor\"]
mu = 0.2
c_n = 0.1
";

const DESIGN: &str = "\
scene = \"scene.toml\"
target = [\"pair.ball.floor.mu\"]
experiments = 2
[[parameter]]
path = \"pair.ball.floor.mu\"
range = [0.02, 1.0]
prior = 0.5
[[parameter]]
path = \"pair.ball.floor.c_n\"
range = [0.001, 10.0]
prior = 1.0
[[nuisance]]
path = \"ball.velocity\"
sigma = 0.02
[[channel]]
actor = \"ball\"
kind = \"position\"
sigma = 0.001
every = 5
[[candidate]]
name = \"throw\"
settings = { \"ball.velocity_x\" = { low = 0.5, high = 2.0, count = 2 }, \"ball.velocity_z\" = [-0.3, -1.0] }
[[candidate]]
name = \"hold\"
settings = { \"ball.position_z\" = 5.0 }
[ascent]
steps = 2
[trust]
candidates = 1
grids = 1
";

fn files(test: &str, design: &str) -> (String, std::path::PathBuf) {
    let folder = scratch(test);
    write(&folder, "scene.toml", SCENE);
    (write(&folder, "design.toml", design), folder.join("out"))
}

#[test]
fn design_ranks_candidates_and_writes_what_it_found() {
    let (file, out) = files("design", DESIGN);
    let folder = out.to_str().unwrap();
    let output = osculate(&["design", &file, "--out", folder, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", common::stderr(&output));
    let report = &json(&output)["report"];
    let candidates = report["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 5);
    let score = |k: usize| candidates[k]["score"].as_f64().unwrap();
    assert!((1..5).all(|k| score(k - 1) <= score(k)), "the best first");
    // What never touches is last, and gains nothing.
    assert_eq!(candidates[4]["name"], "hold");
    assert!((candidates[4]["gain"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert!(candidates[0]["gain"].as_f64().unwrap() > 1.5);
    assert_eq!(candidates[0]["gradient"].as_array().unwrap().len(), 2);
    assert_eq!(candidates[0]["trust"].as_array().unwrap().len(), 1);
    assert_eq!(report["chosen"].as_array().unwrap().len(), 2);
    for name in [
        "report.json",
        "summary.txt",
        "candidates.csv",
        "figures/ranking.png",
        "figures/settings.svg",
    ] {
        assert!(std::fs::metadata(out.join(name)).unwrap().len() > 100, "{name}");
    }
    let table = std::fs::read_to_string(out.join("candidates.csv")).unwrap();
    let columns = |line: &str| line.split(',').count();
    let head = columns(table.lines().next().unwrap());
    assert!(table.lines().count() == 6 && table.lines().all(|l| columns(l) == head), "{table}");
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    let (file, _) = files("design_threads", DESIGN);
    let run = |threads: &str| stdout(&osculate(&["design", &file, "--threads", threads, "--json"]));
    assert_eq!(run("1"), run("3"));
}

#[test]
fn what_is_wrong_is_refused_with_line_field_value_and_what_is_allowed() {
    for (from, to, words) in [
        ("experiments = 2", "experiments = 0", &["design.toml:3", "found 0", "1 to 1000"][..]),
        ("every = 5", "evry = 5", &["line 19", "unknown field `evry`", "`every`"]),
        (
            "ball.velocity_z\\\"",
            "ball.velocty_z\\\"",
            &["candidate[0].settings", "'ball.velocty_z'"],
        ),
        (
            "\"ball.position_z\" = 5.0",
            "\"pair.ball.floor.mu\" = 0.3",
            &["candidate[1]", "[[parameter]]"],
        ),
        ("low = 0.5, high = 2.0", "low = 2.0, high = 0.5", &["low 2, high 0.5", "low < high"]),
        ("low = 0.5, high = 2.0, count = 2", "low = 0.5", &["a list of numbers"]),
        ("prior = 0.5", "prior = -1.0", &["parameter[0].prior", "found -1", "> 0"]),
        ("sigma = 0.001", "sigma_deg = 0.1", &["channel[0].sigma_deg", "rotation"]),
        ("path = \"ball.velocity\"", "path = \"ball.speed\"", &["nuisance[0]", "'ball.speed'"]),
        ("actor = \"ball\"", "actor = \"floor\"", &["channel[0].actor", "a dynamic actor"]),
        (
            "range = [0.02, 1.0]",
            "range = [0.3, 1.0]",
            &["parameter[0].value", "found 0.2", "0.3 to 1"],
        ),
        ("name = \"hold\"", "name = \"throw\"", &["candidate[1].name", "a name of its own"]),
    ] {
        let from = from.replace("\\\"", "\"");
        assert!(DESIGN.contains(&from), "{from}");
        let bad = DESIGN.replacen(&from, &to.replace("\\\"", "\""), 1);
        let (file, _) = files("design_refused", &bad);
        assert_refused(&osculate(&["design", &file]), 2, words);
    }
}
