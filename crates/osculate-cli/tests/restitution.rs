//! The binary on restitution.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, json, osculate, stderr, stdout};

#[test]
fn damping_step_and_band_are_consistent() {
    let args = ["restitution", "--e", "0.6", "--speed", "2.0", "--schedule", "current", "--json"];
    let output = osculate(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let found = json(&output);
    let number = |path: &str| found.pointer(path).unwrap().as_f64().unwrap();
    // u (1 + e) = ln((1 + u)/(1 − e u)).
    let (u, e) = (number("/damping_number"), 0.6);
    assert!((u * (1.0 + e) - ((1.0 + u) / (1.0 - e * u)).ln()).abs() < 1e-13);
    assert!((number("/c_n_s_m") * 2.0 - u).abs() < 1e-15);
    for path in ["/step/found/e/0", "/step/found/e/1"] {
        assert!((number(path) - e).abs() <= 0.01, "{path}");
    }
    assert!(number("/step/found/dt_s") > 1e-5);
}

#[test]
fn given_damping_and_given_restitution_are_inverse() {
    let forward = osculate(&["restitution", "--e", "0.4", "--speed", "3", "--json"]);
    let c_n = json(&forward)["c_n_s_m"].as_f64().unwrap().to_string();
    let back = osculate(&["restitution", "--c-n", &c_n, "--speed", "3", "--json"]);
    assert!((json(&back)["e"].as_f64().unwrap() - 0.4).abs() < 1e-14);
}

#[test]
fn tolerance_that_no_step_meets_ends_with_1_and_says_so() {
    let args = ["restitution", "--e", "0.5", "--speed", "1", "--method", "backward-euler"];
    let output = osculate(&[&args[..], &["--tolerance", "1e-9", "--phases", "1"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("no step down to"), "{}", stdout(&output));
}

#[test]
fn numbers_out_of_range_are_refused_with_name_and_value() {
    for (args, said) in [
        (&["--e", "1.5", "--speed", "1"][..], &["e is 1.5", "in (0, 1]"][..]),
        (&["--e", "0", "--speed", "1"], &["e is 0", "in (0, 1]"]),
        (&["--e", "0.5", "--speed", "0"], &["v is 0", "> 0 m/s"]),
        (&["--c-n=-1", "--speed", "1"], &["c_n v is -1", ">= 0"]),
        // Negative numbers were taken for options that do not exist.
        (&["--e", "-0.1", "--speed", "1"], &["e is -0.1", "in (0, 1]"]),
        (&["--e", "0.5", "--speed", "-1"], &["v is -1", "> 0 m/s"]),
        (&["--e", "0.5", "--speed", "1", "--mass", "-0.002"], &["mass is -0.002"]),
        (&["--e", "0.5", "--speed", "1", "--mass", "0"], &["mass is 0"]),
        (&["--e", "0.5", "--speed", "1", "--k=-1"], &["k is -1", "> 0"]),
        (&["--e", "0.5", "--speed", "1", "--dt", "nan"], &["time step is NaN"]),
        (&["--e", "0.5", "--speed", "1", "--phases", "0"], &["phases is 0"]),
    ] {
        assert_refused(&osculate(&[&["restitution"], args].concat()), 2, said);
    }
    for wrong in [&["--speed", "1"][..], &["--e", "0.5", "--c-n", "1", "--speed", "1"]] {
        assert_eq!(osculate(&[&["restitution"], wrong].concat()).status.code(), Some(2));
    }
}

/// Six decimals show no digit of a small coefficient, and a plain `{}` three hundred zeros of a tiny one.
#[test]
fn small_numbers_are_shown_with_their_digits() {
    let shown = |e: &str, speed: &str| {
        let output = osculate(&["restitution", "--e", e, "--speed", speed, "--phases", "1"]);
        (stdout(&output), stderr(&output))
    };
    let (text, said) = shown("0.5", "1e6");
    let exact =
        text.lines().find(|line| line.starts_with("exact")).unwrap_or_else(|| panic!("{said}"));
    let c_n: f64 = exact.split_whitespace().nth(1).unwrap().parse().unwrap();
    let u = c_n * 1e6;
    assert!((u * 1.5 - ((1.0 + u) / (1.0 - 0.5 * u)).ln()).abs() < 1e-5, "{exact}");
    let (text, said) = shown("1e-300", "1");
    assert!(text.contains("1e-300") || said.contains("1e-300"), "{text}{said}");
    assert!(text.lines().chain(said.lines()).all(|line| line.len() < 200), "{text}{said}");
}
