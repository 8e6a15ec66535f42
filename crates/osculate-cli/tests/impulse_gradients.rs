//! `osculate gradcheck` of scenes of the impulse model: the table, switches, verdicts and refusals.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, json, osculate, scratch, stderr, stdout, write};
use serde_json::Value;

/// A box on the ground, 2 mm deep, so that no parameter lifts it off.
fn scene(solver: &str, of_box: &str, outcome: &str) -> String {
    format!(
        "[solver]\nmodel = \"impulse\"\ndt = 0.004\n{solver}\n\
         [[actor]]\nname = \"ground\"\nstatic = true\nshape.plane = {{ normal = [0.0, 0.0, 1.0] }}\n\
         contact = {{ mu = 0.4 }}\n\
         [[actor]]\nname = \"box\"\nshape.box = {{ half_extents = [0.1, 0.1, 0.1] }}\nmass = 1.0\n\
         contact = {{ mu = 0.3 }}\n{of_box}\n\
         [[outcome]]\nactor = \"box\"\n{outcome}\n"
    )
}

const SLIDING: &str = "pose.position = [0.0, 0.0, 0.098]\nvelocity = [1.0, 0.4, 0.0]";

fn check(name: &str, scene: &str, more: &[&str]) -> Value {
    let path = write(&scratch(&format!("impulse_{name}")), "scene.toml", scene);
    let mut arguments = vec!["gradcheck", &path, "--json"];
    arguments.extend(more);
    let output = osculate(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    json(&output)
}

fn row<'a>(report: &'a Value, path: &str) -> &'a Value {
    let all = report["parameters"].as_array().unwrap();
    all.iter().find(|p| p["path"] == path).unwrap_or_else(|| panic!("no {path}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn derivatives_of_a_slide_agree_by_adjoint_tangent_and_differences() {
    for (name, beta) in [("points", 0.0), ("anchors", 0.2)] {
        let solver = format!("steps = 30\n[solver.impulse]\nanchor_beta = {beta}");
        let report = check(name, &scene(&solver, SLIDING, "position = [1.0, 0.7, 0.3]"), &[]);
        assert_eq!(report["agrees"], true);
        // Every step loses μ times its normal impulse, so x = v t − μ (n (n + 1) g h²/2 + rise) along the velocity; the rise is
        // what ERP removes of the overlap.
        let (steps, h) = (30, 0.004);
        let along = (1.0 + 0.7 * 0.4) / 1.16_f64.sqrt();
        let rise = 0.002 * (1.0 - 0.8_f64.powi(steps));
        let by_mu = -(f64::from(steps * (steps + 1) / 2) * 9.81 * h * h + rise) * along;
        // μ is the geometric mean of two: dμ/dμ_box = √(0.4/0.3)/2.
        let by_box = by_mu * (0.4_f64 / 0.3).sqrt() / 2.0;
        let found = row(&report, "box.mu");
        assert_eq!(found["verdict"], "agrees");
        assert!((number(&found["adjoint"]) / by_box - 1.0).abs() < 1e-6, "{found} for {by_box}");
        assert_eq!(
            row(&report, "box.restitution")["verdict"],
            "unreliable: at the edge of its range"
        );
        let erp = row(&report, "impulse.erp");
        assert_eq!(erp["verdict"], "agrees", "{erp}");
    }
}

/// An overlap is removed over several steps, a gap is closed in one: of a box that just touches, the outcome has one
/// derivative to each side, and the adjoint that of the smaller overlap.
#[test]
fn derivative_at_a_switch_is_said_to_be_that_of_one_side() {
    let solver = "steps = 1\n[solver.impulse]\nerp = 0.2";
    let text = scene(solver, "pose.position = [0.0, 0.0, 0.1]", "position = [0.0, 0.0, 1.0]");
    let more = ["--trust", "--parameter", "box.position_z", "--grids", "2"];
    let report = check("switch", &text, &more);
    let found = row(&report, "box.position_z");
    assert_eq!(found["verdict"], "at a switch: agrees above", "{found}");
    assert!(number(&found["one_sided"]["above"]).abs() < 1e-6, "{found}");
    assert!((number(&found["one_sided"]["below"]) - 0.8).abs() < 1e-6, "{found}");
    let reasons = report["trust"][0]["verdict"]["reasons"].as_array().unwrap();
    let one_sided = reasons.iter().find(|r| r["kind"] == "one-sided").unwrap();
    assert_eq!(one_sided["side"], "above", "{one_sided}");
}

#[test]
fn contacts_near_a_switch_are_counted_with_their_distances() {
    // A ball that reaches the ground in the first step, just above the threshold of restitution.
    let ball = "[solver]\nmodel = \"impulse\"\ndt = 0.004\nsteps = 5\n\
         [solver.impulse]\nrestitution_threshold = 0.999\n\
         [[actor]]\nname = \"ground\"\nstatic = true\nshape.plane = { normal = [0.0, 0.0, 1.0] }\n\
         [[actor]]\nname = \"ball\"\nshape.icosphere = { radius = 0.1, subdivisions = 1 }\nmass = 1.0\n\
         impulse = { restitution = 0.8 }\npose.position = [0.0, 0.0, 0.101]\nvelocity = [0.0, 0.0, -1.0]\n\
         [[outcome]]\nactor = \"ball\"\nposition = [0.0, 0.0, 1.0]\n";
    let report = check("threshold", ball, &["--trust", "--parameter", "ball.velocity_z"]);
    let threshold = &report["switches"]["threshold of restitution"];
    assert_eq!(threshold["count"], 1, "{threshold}");
    assert_eq!(threshold["step"], 1, "{threshold}");
    // 1 − 0.999 against a speed of 1 and what gravity adds in a step.
    let expected = 0.001 / (1.0 + 9.81 * 0.004);
    assert!((number(&threshold["nearest"]) - expected).abs() < 1e-12, "{threshold}");
    assert_eq!(threshold["motion_jumps"], true);
    // 1 % of 1 m/s reaches over the threshold; the nearest switch is named with its distance in m/s.
    let judged = &report["trust"][0];
    let switches = judged["evidence"]["switches"].as_array().unwrap();
    let found = switches.iter().find(|s| s["what"] == "threshold of restitution").unwrap();
    // To first order: the speed that distances are relative to changes too, by a thousandth of this one.
    assert!((number(&found["distance"]) - 1e-3).abs() < 5e-6, "{found}");
    assert_ne!(judged["verdict"]["kind"], "trust", "{judged}");
}

#[test]
fn refusals_of_the_library_are_lines_with_numbers_and_exit_code_1() {
    let folder = scratch("impulse_refusals");
    let refused = |name: &str, text: &str, code: i32, said: &[&str]| {
        let path = write(&folder, name, text);
        assert_refused(&osculate(&["gradcheck", &path]), code, said);
    };
    // Four corners that slide and turn: the load on each is not determined.
    let turning = format!("{SLIDING}\nangular_velocity = [0.0, 0.0, 3.0]");
    let points = "steps = 5\n[solver.impulse]\nanchor_beta = 0.0";
    let text = scene(points, &turning, "position = [1.0, 0.0, 0.0]");
    let said = ["step 0", "'ground' against 'box'", "distribution of the load", "anchor_beta > 0"];
    refused("turning.toml", &text, 1, &said);
    let impossible = "steps = 5\n[solver.impulse]\ntolerance = 1e-30";
    let text = scene(impossible, &turning, "position = [1.0, 0.0, 0.0]");
    refused("unsolved.toml", &text, 1, &["not converged", "residual", "1.000e-30"]);
    let bisection = "steps = 5\n[solver.impulse]\nfriction_mode = \"bisection\"";
    let text = scene(bisection, SLIDING, "position = [1.0, 0.0, 0.0]");
    refused("bisection.toml", &text, 2, &["friction_mode", "fixed_normal or coulomb_newton"]);
    let verify = write(&folder, "verify.toml", &scene("steps = 5", SLIDING, "speed = 1.0"));
    assert_refused(&osculate(&["verify", &verify]), 2, &["derive from no potential", "compliant"]);
}

#[test]
fn parameters_are_those_of_the_model_that_the_scene_asks_for() {
    let folder = scratch("impulse_parameters");
    let text = scene("steps = 5", SLIDING, "speed = 1.0");
    let list = |name: &str, text: &str| {
        let output = osculate(&["parameters", &write(&folder, name, text), "--json"]);
        let found = json(&output)["parameters"].as_array().unwrap().clone();
        found.iter().map(|p| p["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let impulse = list("impulse.toml", &text);
    let compliant = list("compliant.toml", &text.replace("\"impulse\"", "\"compliant\""));
    let has = |list: &[String], path: &str| list.iter().any(|p| p == path);
    for path in ["box.mu", "box.mass", "ground.collider.offset"] {
        assert!(has(&impulse, path) && has(&compliant, path), "{path}");
    }
    for path in ["box.restitution", "box.torsional_radius", "impulse.erp", "impulse.anchor_beta"] {
        assert!(has(&impulse, path) && !has(&compliant, path), "{path}");
    }
    assert!(has(&compliant, "box.k") && !has(&impulse, "box.k"));
}
