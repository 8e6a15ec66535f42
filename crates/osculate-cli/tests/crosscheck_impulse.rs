//! The binary on recordings of the impulse model: made by hand, and the recorded ones where they are.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{json, osculate, recorded, scratch, stdout, write};
use serde_json::{Value, json};

/// Recordings of the Steel solver, beside the repository.
const STEEL: &str = "../shared/oracle/steel/data";

/// A recording of single contacts: an isotropic pair on its circle and an uncoupled contact that slides, both solved by hand.
fn single_contacts(pair: [f64; 2]) -> Value {
    let input = json!([-1.0, 4.0, -3.0, 2.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.5, 0.0, 0.0, 0.0]);
    let exact = json!([0.5, -0.2, 0.15]);
    // De Saxcé's target is 0.5 · 5 m/s: 1.75 N s.
    let lifted = json!([1.75, -0.7, 0.525]);
    json!({
        "meta": {},
        "pairs": [[[2.0, 0.0, 2.0, 4.0, -3.0, 0.0, 0.0, 0.5, 1.0], pair]],
        "blocks": [{ "in": input, "coulomb_newton": exact, "bisection": exact, "bisection_desaxce": lifted }],
    })
}

#[test]
fn single_contacts_of_the_impulse_model_are_compared_by_mode() {
    let folder = scratch("single_contacts");
    let check = |pair: [f64; 2]| {
        write(&folder, "manifest.json", "{}");
        write(&folder, "i_block.json", &single_contacts(pair).to_string());
        osculate(&["crosscheck", folder.to_str().unwrap(), "--json"])
    };
    let output = check([-0.4, 0.3]);
    let document = json(&output);
    let families = document["families"].as_array().unwrap();
    assert_eq!(families.iter().map(|f| f["family"].clone()).collect::<Vec<_>>(), ["i"]);
    assert_eq!(families[0]["passed"], json!(4));
    assert!(output.status.success());
    let wrong = check([-0.3, 0.4]);
    let document = json(&wrong);
    assert_eq!(document["families"][0]["disagreements"][0]["case"], json!("fixed_normal"));
    assert!(!wrong.status.success());
}

/// Nothing is skipped in silence: a case that cannot be read is one that disagrees.
#[test]
fn recorded_case_that_lacks_a_field_is_told_with_its_name() {
    let folder = scratch("lacking_case");
    write(&folder, "manifest.json", "{}");
    write(&folder, "c_spin.json", &motions(json!({ "id": "disc_spin" })).to_string());
    let output = osculate(&["crosscheck", folder.to_str().unwrap(), "--json"]);
    let family = json(&output)["families"][0].clone();
    assert!(!output.status.success() && family["passed"] == json!(0));
    assert!(family["disagreements"][0].to_string().contains("missing field `params`"), "{family}");
}

/// A recording of one case of free bodies.
fn motions(case: Value) -> Value {
    let scene = json!({ "mass": 0.5, "radius": 0.05, "box": [0.06, 0.04, 0.02], "mu": 0.4 });
    let run = json!({ "options": {}, "friction_anchor_beta": 0.2, "dt": 0.1, "cases": [case] });
    json!({ "meta": { "scene": scene }, "runs": [run] })
}

#[test]
fn recorded_motions_of_the_impulse_model_are_compared_by_case() {
    let folder = scratch("recorded_motions");
    let check = |drop: f64| {
        write(&folder, "manifest.json", "{}");
        write(&folder, "h_drop.json", &motions(fall(drop)).to_string());
        let output = osculate(&["crosscheck", folder.to_str().unwrap(), "--json"]);
        (json(&output)["families"][0].clone(), output.status.success())
    };
    let (family, agrees) = check(0.0);
    assert_eq!((&family["family"], &family["passed"]), (&json!("h"), &json!(1)));
    assert!(agrees);
    let (family, agrees) = check(0.1);
    assert_eq!(family["disagreements"][0]["case"], json!("run0/fall"));
    assert!(!agrees);
}

/// A fall by the scheme from 50 m, at `z₀ − g h² k (k + 1)/2`, recorded `off` too low at its end.
fn fall(off: f64) -> Value {
    let z = |k: f64| 50.0 - 9.81 * 0.01 * k * (k + 1.0) / 2.0;
    let pose = |z: f64| json!([0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0]);
    let zero = json!([0.0, 0.0, 0.0]);
    json!({
        "id": "fall",
        "params": { "kind": "sphere_drop", "e_sphere": 0.0, "e_ground": 0.0, "v": zero, "w": zero },
        "steps": [0, 1, 4],
        "q": [pose(z(0.0)), pose(z(1.0)), pose(z(4.0) - off)],
    })
}

#[test]
fn a_recording_that_its_own_finer_one_contradicts_differs_and_does_not_disagree() {
    let folder = scratch("finer_recording");
    let mut record = motions(fall(0.2));
    let mut fine = motions(fall(0.0))["runs"][0].clone();
    fine["options"] = json!({ "iterations": 64 });
    record["runs"].as_array_mut().unwrap().push(fine);
    write(&folder, "manifest.json", "{}");
    write(&folder, "h_drop.json", &record.to_string());
    let output = osculate(&["crosscheck", folder.to_str().unwrap(), "--json"]);
    let family = &json(&output)["families"][0];
    assert_eq!((&family["passed"], &family["explained"]), (&json!(1), &json!(1)));
    assert_eq!(family["explanations"][0]["case"], json!("run0/fall"));
    let numbers = &family["details"][0]["numbers"]["shown"];
    // 0.2 m against 1 % of a way of 0.981 m.
    assert!((numbers["recorded_off"].as_f64().unwrap() - 0.2 / 0.00981).abs() < 1e-6, "{numbers}");
    assert!(numbers["ours_off"].as_f64().unwrap() < 1e-6, "{numbers}");
    assert!(output.status.success());
    let text = stdout(&osculate(&["crosscheck", folder.to_str().unwrap()]));
    assert!(text.contains("DIFFERS run0/fall: the recording of 12 sweeps"), "{text}");
}

#[test]
fn jaws_of_a_recorded_gripper_start_by_the_law_of_their_drives() {
    let folder = scratch("recorded_gripper");
    let (h, mass, stiffness, damping, target) = (0.005, 0.032, 100.0, 10.0, 0.01);
    // One step of an implicit drive, and of free fall.
    let way = h * h * stiffness * target / (mass + h * h * stiffness + h * damping);
    let pose = |x: f64, z: f64| json!([x, 0.0, z, 0.0, 0.0, 0.0, 1.0]);
    let all = |x: f64, z: f64| json!([pose(-x, 0.5), pose(x, 0.5), pose(0.0, z)]);
    let case = json!({
        "id": "tilt0", "params": { "tilt_deg": 0.0 }, "steps": [0, 1],
        "q": [all(0.026, 0.5), all(0.026 - way, 0.5 - 9.81 * h * h)],
    });
    let scene = json!({
        "box": 0.02, "jaw": [0.005, 0.02, 0.02], "box_mass": 0.1, "jaw_mass": mass, "mu_jaw": 5.0, "mu_box": 0.5,
        "ke": stiffness, "kd": damping, "target": target,
    });
    let run = json!({ "options": {}, "friction_anchor_beta": 0.2, "dt": h, "cases": [case] });
    write(&folder, "manifest.json", "{}");
    let record = json!({ "meta": { "scene": scene }, "runs": [run] });
    write(&folder, "f_pinch.json", &record.to_string());
    let output = osculate(&["crosscheck", folder.to_str().unwrap(), "--json"]);
    let family = &json(&output)["families"][0];
    assert_eq!(family["passed"], json!(1), "{family:#}");
    assert!(family["worst"].as_f64().unwrap() < 1e-9, "{family:#}");
}

#[test]
fn recorded_single_contacts_agree() {
    let Some(folder) = recorded("OSCULATE_IMPULSE_CASES", STEEL) else { return };
    let output = osculate(&["crosscheck", &folder, "--family", "i", "--json"]);
    let family = &json(&output)["families"][0];
    println!("{}", family["details"]);
    assert_eq!((&family["passed"], &family["failed"]), (&json!(4), &json!(0)));
    assert!(output.status.success());
}

#[test]
fn recorded_motions_of_articulated_bodies_and_stacks_agree_or_are_shown_not_to_be_ours() {
    let Some(folder) = recorded("OSCULATE_IMPULSE_CASES", STEEL) else { return };
    let filters = ["--family", "e", "--family", "g", "--json"];
    let output = osculate(&[&["crosscheck", &folder], &filters[..]].concat());
    let document = json(&output);
    let count = |f: usize, key: &str| document["families"][f][key].as_u64().unwrap();
    assert_eq!([count(0, "passed"), count(0, "unsupported"), count(0, "failed")], [60, 0, 0]);
    assert_eq!([count(1, "cases"), count(1, "failed")], [16, 0]);
    assert!(output.status.success());
}
