//! The cross-check: on cases that our own simulator makes, and on the recorded ones where they are at hand.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, json, osculate, recorded, scratch, stdout, write};
use osculate_cli::crosscheck::case::{Case, Meshes};
use osculate_cli::crosscheck::convert::{Converted, Prepared, convert};
use osculate_math::so3;
use serde_json::{Value, json};
use std::path::Path;

fn cube_mesh() -> Value {
    let corner = |i: usize| [i & 4, i & 2, i & 1].map(|bit| if bit > 0 { 0.05 } else { -0.05 });
    json!({
        "spec": { "mesh": "box", "hx": 0.05, "hy": 0.05, "hz": 0.05 },
        "vertices": (0..8).map(corner).collect::<Vec<_>>(),
        "triangles": [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7],
            [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]],
    })
}

fn cube_on_plane() -> Value {
    json!({
        "name": "cube_on_plane", "method": "BDF2", "dt": 0.001, "steps": 4,
        "gravity": [0.0, 0.0, -9.81], "dissipation": "explicit", "fade": true, "friction": "C1",
        "bodies": [
            { "name": "A", "shape": cube_mesh()["spec"], "collider": "none", "static": false,
              "contact": { "k": 1e7, "mu": 0.4, "ct": 0.1, "cn": 0.2, "delta_extra": 0.0 },
              "mass": 0.37, "element": "P1Q3", "pos": [0.0, 0.0, 0.048],
              "quat": [0.0, 0.01, 0.0, (1.0_f64 - 1e-4).sqrt()],
              "v": [0.3, 0.1, -0.4], "w": [1.0, -2.0, 3.0] },
            { "name": "B", "shape": { "plane": { "normal": [0, 0, 1], "distance": 0 } },
              "collider": "auto", "static": true, "contact": { "mu": 0.5, "ct": 0.2, "cn": 0.3 },
              "pos": [0, 0, 0], "quat": [0, 0, 0, 1] },
        ],
    })
}

fn prepare(case: &Value) -> Prepared {
    let case: Case = serde_json::from_value(case.clone()).unwrap();
    let meshes: Meshes =
        serde_json::from_value(json!({ "meshes": { "cube": cube_mesh() } })).unwrap();
    match convert(&case, &meshes).unwrap() {
        Converted::Ready(scene) => Prepared::new(&scene).unwrap(),
        Converted::Unsupported(reason) => panic!("{reason}"),
    }
}

fn properties(p: &Prepared, body: usize) -> Value {
    let b = &p.parameters.bodies[body];
    let i = b.inertia;
    json!({
        "mass": b.mass, "com_local": b.center.as_slice(),
        "inertia_local_ixx_ixy_ixz_iyy_iyz_izz":
            [i[(0, 0)], i[(0, 1)], i[(0, 2)], i[(1, 1)], i[(1, 2)], i[(2, 2)]],
    })
}

/// A case of family f1, recorded by our own simulator.
fn contact_case() -> Value {
    let case = cube_on_plane();
    let p = prepare(&case);
    let trajectory = p.simulator.run(&p.parameters).unwrap();
    let step = |k: usize| {
        let contacts = p.simulator.contacts(&trajectory, &p.parameters, k).unwrap();
        let contacts = contacts.iter().map(|c| {
            json!({ "a": "A", "b": "B", "sample": c.sample, "pos_a": c.position.as_slice(),
                "distance": c.distance, "force": c.force.as_slice() })
        });
        json!({ "contacts": contacts.collect::<Vec<_>>() })
    };
    json!({ "meta": {}, "case": case, "info": { "A": properties(&p, 0) },
        "steps": (0..4).map(step).collect::<Vec<_>>() })
}

/// A case of family f2, recorded by our own simulator.
fn trajectory_case() -> Value {
    let mut case = cube_on_plane();
    case["name"] = json!("sliding");
    let p = prepare(&case);
    let trajectory = p.simulator.run(&p.parameters).unwrap();
    let state = |k: usize| {
        let y = &trajectory.path.state(k)[0];
        let [w, x, y_, z] = so3::to_quaternion(&y.rotation);
        json!({ "step": k, "t": 1e-3 * k as f64,
            "bodies": { "A": { "com_pos": y.center.as_slice(), "com_quat": [x, y_, z, w] } } })
    };
    json!({ "meta": {}, "case": case, "info": { "A": properties(&p, 0) },
        "amplification": [1.0, 1.0, 1.0, 1e5, 1e5],
        "states": (0..5).map(state).collect::<Vec<_>>() })
}

/// Families f1, f2 and f5 in a folder.
fn data(folder: &Path, contact: &Value, trajectory: &Value) -> String {
    let meshes = json!({ "meshes": { "cube": cube_mesh() } }).to_string();
    write(folder, "f1_contact_law/_meshes.json", &meshes);
    write(folder, "f1_contact_law/cube_on_plane.json", &contact.to_string());
    // Its mesh stands in the neighbouring family.
    write(folder, "f2_trajectories/sliding.json", &trajectory.to_string());
    let mut sdf = contact.clone();
    sdf["case"]["name"] = json!("needs_points");
    sdf["case"]["bodies"][1]["collider"] = json!("point_cloud");
    write(folder, "f1_contact_law/needs_points.json", &sdf.to_string());
    write(folder, "f5_soft/cube.json", "{}");
    folder.to_str().unwrap().into()
}

#[test]
fn own_cases_agree_and_what_is_not_built_is_listed_with_its_reason() {
    let folder = data(&scratch("own"), &contact_case(), &trajectory_case());
    let output = osculate(&["crosscheck", &folder, "--json"]);
    assert!(output.status.success(), "{}", stdout(&output));
    let document = json(&output);
    let families = document["families"].as_array().unwrap();
    let key = |f: usize, k: &str| families[f][k].clone();
    assert_eq!([key(0, "family"), key(1, "family"), key(2, "family")], ["f1", "f2", "f5"]);
    assert_eq!([key(0, "cases"), key(0, "passed"), key(0, "unsupported")], [2, 1, 1]);
    assert_eq!(key(0, "worst_case"), "cube_on_plane");
    assert!(key(0, "worst").as_f64().unwrap() < 1e-12);
    assert_eq!([key(2, "cases"), key(2, "unsupported")], [1, 1]);
    assert!(key(2, "worst").is_null() && key(2, "worst_case").is_null());
    let text = stdout(&osculate(&["crosscheck", &folder]));
    assert!(text.contains("unsupported, because it needs a point_cloud collider"), "{text}");
    assert!(text.contains("needs_points") && text.contains("cube"), "{text}");
}

#[test]
fn a_force_off_by_a_millionth_is_found() {
    let mut contact = contact_case();
    let force = contact["steps"][2]["contacts"][1]["force"].as_array_mut().unwrap();
    let largest = force[2].as_f64().unwrap();
    force[2] = json!(largest * (1.0 + 1e-6));
    let folder = data(&scratch("force"), &contact, &trajectory_case());
    let output = osculate(&["crosscheck", &folder]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("DISAGREES cube_on_plane: force of step 2"));
}

/// Symptom: forces of a ramp's toe that were wrong by more than 1e-9 of themselves passed. Cause: a deviation was measured by the largest
/// force of the case.
#[test]
fn a_small_force_is_measured_by_itself() {
    let mut contact = contact_case();
    let of = |c: &Value| {
        c["force"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap().powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let steps = contact["steps"].as_array_mut().unwrap();
    let mut all: Vec<_> =
        steps.iter_mut().flat_map(|s| s["contacts"].as_array_mut().unwrap()).collect();
    all.retain(|c| of(c) > 0.0);
    all.sort_by(|a, b| of(a).total_cmp(&of(b)));
    let (weakest, largest) = (of(all[0]), of(all[all.len() - 1]));
    assert!(1e-8 * weakest < 1e-9 * largest, "{weakest} {largest}");
    for x in all[0]["force"].as_array_mut().unwrap() {
        *x = json!(x.as_f64().unwrap() * (1.0 + 1e-8));
    }
    let folder = data(&scratch("small"), &contact, &trajectory_case());
    let output = osculate(&["crosscheck", &folder, "--family", "f1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("differs by 1.0e-8 of itself"), "{}", stdout(&output));
}

#[test]
fn a_missing_and_an_additional_sample_are_found() {
    let mut contact = contact_case();
    let contacts = contact["steps"][3]["contacts"].as_array_mut().unwrap();
    contacts[0]["sample"] = json!(10_000);
    let folder = data(&scratch("samples"), &contact, &trajectory_case());
    let output = osculate(&["crosscheck", &folder, "--family", "f1"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("sample 10000 of A on B is not a contact here"), "{text}");
    assert!(text.contains("is not recorded"), "{text}");
}

#[test]
fn trajectories_are_judged_only_below_the_amplification_limit() {
    let mut trajectory = trajectory_case();
    let moved = |x: &mut Value, by: f64| *x = json!(x.as_f64().unwrap() + by);
    moved(&mut trajectory["states"][4]["bodies"]["A"]["com_pos"][0], 1.0);
    let folder = scratch("span");
    let path = data(&folder, &contact_case(), &trajectory);
    assert!(osculate(&["crosscheck", &path, "--family", "f2"]).status.success());
    moved(&mut trajectory["states"][2]["bodies"]["A"]["com_pos"][0], 1e-7);
    let path = data(&folder, &contact_case(), &trajectory);
    let output = osculate(&["crosscheck", &path, "--family", "f2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("position of A after step 2 differs by 1.0e-7"));
}

#[test]
fn wrong_mass_properties_are_found() {
    let mut contact = contact_case();
    contact["info"]["A"]["mass"] = json!(0.370_000_001);
    let folder = data(&scratch("mass"), &contact, &trajectory_case());
    let output = osculate(&["crosscheck", &folder, "--family", "f1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("mass properties of A"));
}

#[test]
fn a_case_that_cannot_be_read_is_reported_and_the_others_are_run() {
    let folder = scratch("unreadable");
    let path = data(&folder, &contact_case(), &trajectory_case());
    write(&folder, "f1_contact_law/broken.json", "{\n \"case\": 3\n}");
    let output = osculate(&["crosscheck", &path]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("broken") && text.contains("line 2"), "{text}");
    assert!(text.contains("f1_contact_law: 1 of 3 cases agree"), "{text}");
}

#[test]
fn exported_scenes_are_read_back_and_simulated() {
    let folder = scratch("export");
    let path = data(&folder.join("data"), &contact_case(), &trajectory_case());
    let scenes = folder.join("scenes");
    let export = ["crosscheck", &path, "--export", scenes.to_str().unwrap(), "--json"];
    assert_eq!(json(&osculate(&export))["exported"], 2);
    let scene = scenes.join("f2_trajectories/sliding.toml");
    let out = folder.join("out");
    let paths = [scene.to_str().unwrap(), out.to_str().unwrap()];
    let output = osculate(&["simulate", paths[0], "--out", paths[1], "--json"]);
    let recorded = &trajectory_case()["states"][4]["bodies"]["A"]["com_pos"];
    let simulated = &json(&output)["bodies"][0]["position"];
    for axis in 0..3 {
        // The centre of the cube is its local origin to rounding.
        let [a, b] = [recorded, simulated].map(|x| x[axis].as_f64().unwrap());
        assert!((a - b).abs() < 1e-15, "{a} {b}");
    }
}

#[test]
fn folders_without_cases_and_unknown_families_are_refused() {
    let folder = scratch("nothing");
    let nothing = folder.to_str().unwrap().to_owned();
    assert_refused(&osculate(&["crosscheck", &nothing]), 2, &["no family folders", &nothing]);
    let path = data(&folder.join("data"), &contact_case(), &trajectory_case());
    let output = osculate(&["crosscheck", &path, "--family", "f7"]);
    assert_refused(&output, 2, &["'f7'", "f1_contact_law, f2_trajectories, f5_soft"]);
    let absent = folder.join("absent");
    assert_refused(&osculate(&["crosscheck", absent.to_str().unwrap()]), 2, &["absent"]);
}

#[test]
fn recorded_reference_cases_agree() {
    let beside = "../shared/oracle/superdex/data";
    let Some(folder) = recorded("OSCULATE_REFERENCE_CASES", beside) else { return };
    let output = osculate(&["crosscheck", &folder, "--json"]);
    let document = json(&output);
    for family in document["families"].as_array().unwrap() {
        println!("{}: {} of {}", family["folder"], family["passed"], family["cases"]);
        assert_eq!(family["disagreements"], json!([]), "{}", family["folder"]);
    }
    let least = |name: &str, passed: u64| {
        let families = document["families"].as_array().unwrap();
        let family = families.iter().find(|f| f["family"] == name).unwrap();
        assert!(family["passed"].as_u64().unwrap() >= passed, "{family:#}");
    };
    least("f1", 240);
    least("f2", 104);
    least("f3", 6);
    least("f4", 80);
    least("f8", 20);
    assert!(output.status.success());
}
