//! Recordings of real tosses, where they are at hand.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{json, osculate, recorded, stderr, workspace};

/// The best point of the fit that `experiments/cube_toss_protocol` reports, chosen on *train*, on the tosses that were not fitted.
#[test]
fn real_tosses_that_were_not_fitted_are_met_within_the_bars() {
    let beside = "../shared/data/contactnets_tosses";
    let Some(data) = recorded("OSCULATE_CUBE_TOSSES", beside) else { return };
    let experiment = workspace().join("experiments/cube_toss_protocol/experiment.toml");
    let [mu, k, c_n] =
        ["mu=0.1819", "k=3.5e8", "c_n=0.15"].map(|x| format!("--set=pair.cube.ground.{x}"));
    let experiment = experiment.display().to_string();
    let part = ["--data", &data, "--part", "valid", "--json"];
    let output = osculate(&[&["evaluate", &experiment, &mu, &k, &c_n], &part[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let found = json(&output);
    let number = |path: &str| found.pointer(path).unwrap().as_f64().unwrap();
    for (what, path, bar) in [
        ("loss", "/loss", 0.25),
        ("position (% of the width)", "/position_error_percent/mean", 13.6),
        ("rotation (deg)", "/rotation_error_deg/mean", 15.7),
    ] {
        println!("{what}: {:.4}, allowed {bar}", number(path));
        assert!(number(path) <= bar, "{what}");
    }
    assert_eq!(found["tosses"].as_array().unwrap().len(), 134);
}
