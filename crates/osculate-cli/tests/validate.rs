//! The binary on experiments: the fast ones whole, and how it fails.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, json, osculate, scratch, stderr, stdout, workspace, write};
use std::fs;

/// Runs an experiment into a folder of its own; the JSON document of its findings.
fn validated(name: &str) -> serde_json::Value {
    let folder = scratch(&format!("validate_{name}"));
    let output = osculate(&["validate", name, "--out", folder.to_str().unwrap(), "--json"]);
    assert!(output.status.success(), "{}{}", stderr(&output), stdout(&output));
    let found = json(&output)[name].clone();
    for figure in found["figures"].as_array().unwrap() {
        let figure = figure.as_str().unwrap();
        let data = fs::read_to_string(folder.join(format!("data/{figure}.csv"))).unwrap();
        assert!(data.starts_with(&format!("# osculate validate {name}; ")), "{data:.80}");
        assert!(data.lines().count() > 5);
        for extension in ["svg", "png"] {
            assert!(folder.join(format!("figures/{figure}.{extension}")).is_file());
        }
    }
    found
}

#[test]
fn fast_experiments_agree_with_their_closed_forms() {
    for name in ["sliding_block", "rolling_ball", "friction_limit", "balance", "convergence"] {
        let found = validated(name);
        assert_eq!(found["agrees"], true);
        assert!(!found["figures"].as_array().unwrap().is_empty());
        for check in found["checks"].as_array().unwrap() {
            let number = |key: &str| check[key].as_f64().unwrap();
            let distance = (number("measured") - number("expected")).abs();
            let relative = check["relative"] == true;
            let error = if relative { distance / number("expected").abs() } else { distance };
            assert!(error <= number("allowed"), "{name}: {check}");
        }
    }
}

#[test]
fn missed_tolerance_ends_with_1_and_is_named() {
    let folder = scratch("validate_missed");
    let own = workspace().join("experiments/sliding_block/config.toml");
    let text = fs::read_to_string(own).unwrap().replace("distance = 1e-6", "distance = 1e-15");
    let file = write(&folder, "strict.toml", &text);
    let out = folder.to_str().unwrap();
    let output = osculate(&["validate", "sliding_block", "--config", &file, "--out", out]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("1 numbers miss") && said.contains("MISSES"), "{said}");
}

#[test]
fn wrong_names_and_configurations_are_refused() {
    assert_refused(&osculate(&["validate", "billiards"]), 2, &["billiards", "rolling_ball"]);
    let folder = scratch("validate_wrong");
    let own = workspace().join("experiments/convergence/config.toml");
    let text = fs::read_to_string(own).unwrap();
    for (name, from, to, said) in [
        ("unknown", "mass = 0.37", "weight = 0.37", "weight"),
        ("absent", "mass = 0.37", "", "mass"),
        ("range", "mass = 0.37", "mass = -1.0", "range.toml: "),
        ("grid", "duration = 0.1", "duration = -0.1", "time step"),
    ] {
        let file = write(&folder, &format!("{name}.toml"), &text.replacen(from, to, 1));
        let output = osculate(&["validate", "convergence", "--config", &file]);
        assert_refused(&output, 2, &[said]);
    }
    let output = osculate(&["validate", "all", "--config", "x.toml"]);
    assert_refused(&output, 2, &["the name of one experiment"]);
}

#[test]
fn every_experiment_has_a_page_that_names_its_command() {
    let output = osculate(&["validate", "--help"]);
    let help = stdout(&output);
    let mut pages = 0;
    for entry in fs::read_dir(workspace().join("experiments")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("config.toml").is_file() {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            let page = fs::read_to_string(folder.join("README.md")).unwrap();
            assert!(page.contains(&format!("osculate validate {name}")), "{name}");
            assert!(help.contains(&name), "{name} is not in --help");
            pages += 1;
        }
    }
    assert_eq!(pages, 12);
}
