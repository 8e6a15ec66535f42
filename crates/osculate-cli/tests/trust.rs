//! `osculate gradcheck --trust`: what a gradient is good for.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, example, json, osculate, scratch, stdout, write};
use serde_json::Value;

/// The report of a scene, asked about these parameters.
fn report(scene: &str, parameters: &[&str], more: &[&str]) -> Value {
    let mut arguments = vec!["gradcheck", scene, "--trust", "--json"];
    for path in parameters {
        arguments.extend(["--parameter", path]);
    }
    arguments.extend(more);
    let output = osculate(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    json(&output)
}

fn judged<'a>(report: &'a Value, path: &str) -> &'a Value {
    let all = report["trust"].as_array().unwrap();
    all.iter().find(|j| j["evidence"]["path"] == path).unwrap()
}

fn refined(judged: &Value) -> Vec<f64> {
    let list = judged["evidence"]["refined"].as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn gradient_of_an_unresolved_bounce_is_not_trusted_though_every_difference_agrees() {
    let paths = ["point.k", "point.mass", "point.position_z"];
    let report = report(&example("bouncing_point.toml"), &paths, &[]);
    assert_eq!(report["agrees"], true);
    for path in paths {
        let checked = report["parameters"].as_array().unwrap();
        let checked = checked.iter().find(|p| p["path"] == path).unwrap();
        assert_eq!(checked["verdict"], "agrees", "{checked}");
        let judged = judged(&report, path);
        assert!(judged["evidence"]["plateau"]["decades"].as_f64().unwrap() >= 3.0, "{judged}");
        assert_eq!(judged["verdict"]["kind"], "do-not-trust", "{judged}");
        let reason = &judged["verdict"]["reasons"][0];
        assert_eq!(reason["kind"], "sign-changes", "{judged}");
        // It alternates: every halving of the step changes the sign.
        let refined = refined(judged);
        assert!(refined.windows(2).all(|w| w[0] * w[1] < 0.0), "{refined:?}");
        assert_eq!(reason["changes"].as_u64().unwrap() as usize, refined.len() - 1);
    }
}

#[test]
fn gradient_of_a_slide_by_friction_speed_and_gravity_is_trusted() {
    let paths = ["block.mu", "ground.mu", "block.velocity_x", "gravity_x", "block.position_x"];
    let report = report(&example("sliding_block.toml"), &paths, &[]);
    for path in paths {
        let judged = judged(&report, path);
        assert_eq!(judged["verdict"]["kind"], "trust", "{judged}");
        let refined = refined(judged);
        assert!(refined.iter().all(|g| g * refined[0] > 0.0), "{refined:?}");
    }
}

#[test]
fn range_of_local_trust_ends_before_the_differences_do() {
    let path = "ground.rotation_y";
    let report = report(&example("sliding_block.toml"), &[path], &["--sigma", "0.01"]);
    let judged = judged(&report, path);
    assert_eq!(judged["verdict"]["kind"], "trust-locally", "{judged}");
    let within = judged["verdict"]["within"].as_f64().unwrap();
    let plateau = judged["evidence"]["plateau"]["to"].as_f64().unwrap();
    assert!(within <= plateau && plateau < 0.01, "{judged}");
}

#[test]
fn force_that_is_held_over_finer_steps_keeps_its_derivative_to_first_order() {
    // Backward Euler: dx/dF = Δt (T − t_n)/m for a force in one step, Δt (T − t_n − Δt/2)/m in the limit.
    let scene = "gravity = [0.0, 0.0, 0.0]\n[solver]\ndt = 0.1\nsteps = 10\n\
         [[actor]]\nname = \"body\"\nmass = 1.0\ninertia = [1e-2, 1e-2, 1e-2, 0.0, 0.0, 0.0]\n\
         collider = \"none\"\n[[wrench]]\nactor = \"body\"\nsteps = [2, 3]\nforce = [1.0, 0.0, 0.0]\n\
         [[outcome]]\nactor = \"body\"\nposition = [1.0, 0.0, 0.0]\n";
    let scene = write(&scratch("trust_wrench"), "flight.toml", scene);
    let path = "body.wrench.2.force_x";
    let report = report(&scene, &[path], &[]);
    let judged = judged(&report, path);
    assert_eq!(judged["verdict"]["kind"], "trust", "{judged}");
    for (k, g) in refined(judged).into_iter().enumerate() {
        let error = (g - 0.075) * f64::from(1 << k);
        assert!((error - 0.005).abs() < 1e-10, "{k}: {error}");
    }
}

#[test]
fn verdicts_come_with_reasons_in_words_and_a_figure() {
    let folder = scratch("trust_figure");
    let out = folder.to_str().unwrap();
    let output = osculate(&[
        "gradcheck",
        &example("bouncing_point.toml"),
        "--trust",
        "--parameter",
        "point.k",
        "--grids",
        "3",
        "--out",
        out,
    ]);
    let text = stdout(&output);
    assert!(text.contains("point.k: do not trust, because its sign changes"), "{text}");
    assert!(text.contains("finest step Δt/4"), "{text}");
    assert!(folder.join("settling.svg").exists() && folder.join("settling.png").exists());
}

#[test]
fn unknown_parameter_is_refused_with_the_known_ones() {
    let scene = example("bouncing_point.toml");
    let output = osculate(&["gradcheck", &scene, "--trust", "--parameter", "point.mew"]);
    assert_refused(&output, 2, &["no parameter 'point.mew'", "point.k"]);
}
