//! `osculate verify`: the page's table, measured.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, example, json, osculate, scratch, stdout, workspace, write};
use serde_json::Value;

/// Rounding, and beyond doubt.
const EXACT: f64 = 1e-12;
const BROKEN: f64 = 1e-3;

fn scene() -> String {
    workspace().join("experiments/certificate/scene.toml").to_str().unwrap().into()
}

fn verify(arguments: &[&str]) -> Value {
    let output = osculate(&[&["verify", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    json(&output)
}

fn rows<'a>(certificate: &'a Value, schedule: &str) -> Vec<&'a Value> {
    let all = certificate["rows"].as_array().unwrap();
    all.iter().filter(|r| r["schedule"] == schedule).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn worst(row: &Value) -> f64 {
    number(&row["measured"]["defect"]["worst"])
}

/// A plane at rest under samples without normals that slides and sinks.
fn plain(contact: &str) -> String {
    format!(
        "[solver]\ndt = 0.001\nsteps = 30\n\
         [[actor]]\nname = \"ground\"\nstatic = true\nshape.plane = {{ normal = [0.0, 0.0, 1.0] }}\n\
         contact = {{ {contact} }}\n\
         [[actor]]\nname = \"body\"\ncollider = \"none\"\nmass = 1.0\n\
         inertia = [1e-2, 1e-2, 2e-2, 0.0, 0.0, 0.0]\n\
         velocity = [0.5, 0.1, -0.4]\nangular_velocity = [1.0, 2.0, 0.5]\n\
         samples = {{ weight = 1e-3, points = [[0.1, 0.0, 0.0], [-0.1, 0.1, 0.0], [0.0, -0.1, 0.0]] }}\n\
         contact = {{ k = 1e7, {contact} }}\n"
    )
}

#[test]
fn stage_start_residual_is_a_gradient_and_the_others_are_not_on_curved_and_turning_colliders() {
    let certificate = verify(&[&scene(), "--states", "6"]);
    assert_eq!(certificate["agrees"], true);
    assert_eq!(certificate["fourth_refused"], true);
    let starts = rows(&certificate, "stage-start");
    assert_eq!(starts.len(), 8);
    for row in starts {
        let m = &row["measured"];
        assert_eq!(row["finding"]["kind"], "gradient", "{row}");
        assert!(worst(row) <= EXACT, "{row}");
        assert!(number(&m["differences"]["defect"]["worst"]) < 1e-6, "{row}");
        assert!(number(&m["curl"]["by_duals"]) <= EXACT, "{row}");
        assert!(number(&m["curl"]["assembled"]) < 1e-9, "{row}");
        for term in m["terms"].as_array().unwrap() {
            assert!(number(&term["worst"]) <= EXACT, "{row}");
        }
    }
    for schedule in ["current-geometry", "current"] {
        let broken = rows(&certificate, schedule);
        assert_eq!(broken.len(), 8);
        for row in broken {
            assert_eq!(row["finding"]["kind"], "not-a-gradient", "{row}");
            assert!(worst(row) >= BROKEN, "{row}");
            let by_differences = number(&row["measured"]["differences"]["defect"]["worst"]);
            assert!(by_differences >= BROKEN, "{row}");
            for term in row["measured"]["terms"].as_array().unwrap() {
                assert!(number(&term["worst"]) >= BROKEN, "{row}");
            }
        }
    }
}

#[test]
fn each_dependency_breaks_the_potential_exactly_where_it_exists() {
    let certificate = verify(&[&scene(), "--states", "6"]);
    for row in certificate["rows"].as_array().unwrap() {
        let fade = row["fade"].as_bool().unwrap();
        let own_plane = row["collider_normal"].as_bool().unwrap();
        let causes = row["measured"]["causes"].as_array().unwrap();
        let breaks = |k: usize| number(&causes[k]["share"]) > EXACT;
        let start = row["schedule"] == "stage-start";
        assert_eq!(breaks(0), !start, "load: {row}");
        // The surface's plane turns with the bodies, the collider's with the place on a curved field.
        assert!(!breaks(1) || !start, "plane: {row}");
        assert!(own_plane || start || breaks(1), "surface's plane: {row}");
        assert!(fade || (!breaks(2) && !breaks(3)), "no fading, no cause: {row}");
        assert!(start || !fade || breaks(3), "fading by turning: {row}");
    }
}

#[test]
fn default_row_is_a_gradient_on_a_plane_without_fading() {
    // φ − G·Δp = φ⁰ where G is the same everywhere: nothing that R depends on changes.
    let folder = scratch("certificate_plane");
    let contact = "mu = 0.4, c_t = 0.3, c_n = 0.5, epsilon = 0.002, v_f = 0.05";
    let certificate = verify(&[&write(&folder, "plane.toml", &plain(contact)), "--states", "8"]);
    for row in rows(&certificate, "current-geometry") {
        assert_eq!(row["finding"]["kind"], "special-case", "{row}");
        assert!(worst(row) <= EXACT, "{row}");
    }
    for row in rows(&certificate, "current") {
        assert_eq!(row["finding"]["kind"], "not-a-gradient", "{row}");
        assert_eq!(row["finding"]["of_another"], false, "{row}");
    }
    // With normals and fading it is not.
    let faded = verify(&[&example("sliding_block.toml"), "--states", "8"]);
    for row in rows(&faded, "current-geometry") {
        let special = row["fade"] == false && row["collider_normal"] == true;
        let kind = if special { "special-case" } else { "not-a-gradient" };
        assert_eq!(row["finding"]["kind"], kind, "{row}");
    }
}

#[test]
fn damping_alone_on_a_plane_is_curl_free_under_the_current_load_yet_no_gradient_of_its_potential() {
    // T = −c_n λ(φ) V_n N depends on N·p alone: the gradient of something, not of Δt R.
    let folder = scratch("certificate_damping");
    let contact = "mu = 0.0, c_n = 0.5, epsilon = 0.002";
    let certificate = verify(&[&write(&folder, "plane.toml", &plain(contact)), "--states", "8"]);
    for row in rows(&certificate, "current") {
        assert!(worst(row) >= BROKEN, "{row}");
        assert_eq!(row["finding"]["of_another"], true, "{row}");
        assert_eq!(row["measured"]["terms"][0], Value::Null, "no Coulomb term: {row}");
    }
}

#[test]
fn force_jumps_where_it_must_and_nowhere_else() {
    let certificate = verify(&[&scene(), "--states", "6"]);
    let events = &certificate["events"];
    let sides = |jump: &Value, key: &str| [number(&jump[key][0]), number(&jump[key][1])];
    let alignment = events["alignment"].as_array().unwrap();
    assert_eq!(alignment.len(), 6);
    for jump in alignment {
        let [inside, outside] = sides(jump, "elastic");
        assert!(inside > 1e3 && outside == 0.0, "conservative force at s = m: {jump}");
        assert!(sides(jump, "energy")[0] > 0.0 && sides(jump, "energy")[1] == 0.0, "{jump}");
        let [inside, outside] = sides(jump, "dissipative");
        let faded = jump["fade"] == true;
        assert!(outside == 0.0 && (inside < 1e-6 * sides(jump, "elastic")[0]) == faded, "{jump}");
    }
    for jump in events["leaving"].as_array().unwrap() {
        let [inside, outside] = sides(jump, "dissipative");
        match jump["schedule"].as_str().unwrap() {
            "stage-start" => {
                assert!(inside > 1e3 && (inside - outside).abs() < 1e-6 * inside, "{jump}");
            }
            "current-geometry" => assert!(inside > 1e3 && outside == 0.0, "{jump}"),
            _ => assert!(inside < 1e-3 && outside == 0.0, "{jump}"),
        }
    }
    assert!(events["retention"]["retained"].as_u64().unwrap() > 0);
}

#[test]
fn tables_and_figure_are_written_and_results_do_not_depend_on_the_run() {
    let folder = scratch("certificate_files");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (csv, latex, out) = (path("c.csv"), path("c.tex"), path("figure"));
    let first =
        verify(&[&scene(), "--states", "4", "--csv", &csv, "--latex", &latex, "--out", &out]);
    assert_eq!(first, verify(&[&scene(), "--states", "4"]));
    assert_ne!(first, verify(&[&scene(), "--states", "4", "--seed", "2"]));
    let csv = std::fs::read_to_string(csv).unwrap();
    assert_eq!(csv.lines().count(), 1 + 24);
    let columns = |line: &str| line.split(',').count();
    assert!(csv.lines().all(|l| columns(l) == columns(csv.lines().next().unwrap())));
    let latex = std::fs::read_to_string(latex).unwrap();
    assert!(latex.contains("\\begin{tabular}") && latex.contains("refused"), "{latex}");
    assert_eq!(latex.matches(" \\\\").count(), 5, "{latex}");
    assert!(folder.join("figure/certificate.png").exists());
}

#[test]
fn scene_without_friction_and_damping_has_nothing_to_contradict() {
    // One sample, at the centre of mass: no lever arm either.
    let certificate = verify(&[&example("bouncing_point.toml"), "--states", "6"]);
    assert_eq!(certificate["agrees"], true);
    for row in certificate["rows"].as_array().unwrap() {
        assert_eq!(row["finding"]["kind"], "inactive", "{row}");
        assert_eq!(row["measured"]["defect"], Value::Null, "{row}");
    }
}

#[test]
fn scene_without_contact_and_too_few_states_are_refused() {
    let folder = scratch("certificate_refused");
    let high =
        plain("mu = 0.4").replace("velocity = [0.5, 0.1, -0.4]", "velocity = [0.0, 0.0, 9.0]");
    let high =
        high.replace("angular_velocity = [1.0, 2.0, 0.5]", "pose.position = [0.0, 0.0, 1.0]");
    let output = osculate(&["verify", &write(&folder, "high.toml", &high)]);
    assert_refused(&output, 2, &["no sample carries load", "30 steps"]);
    let output = osculate(&["verify", &scene(), "--states", "1"]);
    assert_refused(&output, 2, &["states is 1", "2 or more"]);
}

/// Verdict "CONTRADICTS the page" for a mesh on a plane: where the elastic load is a million times the dissipation, the assembled
/// residual less its elastic part was rounding, and was compared with the 1-form all the same.
#[test]
fn elastic_load_far_above_dissipation_is_rounding_and_no_contradiction() {
    let certificate = verify(&[&example("tetrahedron.toml"), "--states", "20"]);
    assert_eq!(certificate["agrees"], true);
    let all = certificate["rows"].as_array().unwrap();
    let measured = || all.iter().map(|row| &row["measured"]);
    let most = measured().map(|m| m["rounded"].as_u64().unwrap()).max().unwrap();
    assert!(most > 0, "no stage is lost to rounding: the test cannot fail");
    let compared = |m: &Value| m["defect"]["stages"].as_u64() > m["rounded"].as_u64();
    assert!(measured().filter(|m| !m["defect"].is_null()).any(compared), "nothing is compared");
}

#[test]
fn grids_and_meshes_have_the_table_of_the_page() {
    let folder = scratch("certificate_data");
    let contact = "mu = 0.4, c_t = 0.3, c_n = 0.5, epsilon = 0.002, v_f = 0.05";
    // A gradient that is not unit and jumps, one that is smooth, and one of faces, edges and vertices.
    for (kind, collider) in [
        ("grid", "{ sdf = { padding = 0.02 } }"),
        ("grid", "{ sdf = { padding = 0.02, interpolation = \"tricubic\" } }"),
        ("mesh", "\"mesh\""),
    ] {
        let scene = format!(
            "[solver]\ndt = 0.001\nsteps = 60\n\
             [[actor]]\nname = \"drum\"\nstatic = true\ncollider = {collider}\n\
             shape.icosphere = {{ radius = 0.2, subdivisions = 2 }}\n\
             pose.position = [0.0, 0.0, -0.2]\ncontact = {{ {contact} }}\n\
             [[actor]]\nname = \"die\"\nmass = 0.3\ncollider = \"none\"\n\
             shape.box = {{ half_extents = [0.03, 0.03, 0.03] }}\n\
             pose.position = [0.0, 0.0, 0.032]\nvelocity = [0.5, 0.1, -0.4]\n\
             angular_velocity = [1.0, 2.0, 0.5]\ncontact = {{ k = 1e7, {contact} }}\n"
        );
        let certificate = verify(&[&write(&folder, "drum.toml", &scene), "--states", "8"]);
        assert_eq!(certificate["agrees"], true, "{collider}");
        assert_eq!(certificate["pairs"][0]["kind"], kind, "{}", certificate["pairs"]);
        for row in rows(&certificate, "stage-start") {
            assert!(worst(row) <= EXACT, "{collider}: {row}");
        }
        for schedule in ["current-geometry", "current"] {
            for row in rows(&certificate, schedule) {
                // Faces are planes: without fading the default row is a gradient there.
                let flat = kind == "mesh" && schedule == "current-geometry";
                let special = flat && row["fade"] == false && row["collider_normal"] == true;
                let found = if special { "special-case" } else { "not-a-gradient" };
                assert_eq!(row["finding"]["kind"], found, "{collider}: {row}");
                assert_eq!(worst(row) >= BROKEN, !special, "{collider}: {row}");
            }
        }
    }
}
