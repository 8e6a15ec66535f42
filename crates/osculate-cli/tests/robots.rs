//! `osculate import urdf` and `mjcf`: what is printed, what is written, and how files are refused.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, json, osculate, scratch, stderr, stdout, workspace, write};
use std::fs;

fn robot(name: &str) -> String {
    let folder = workspace().join("crates/osculate-dynamics/tests/reference/robots");
    folder.join(name).to_str().unwrap().into()
}

#[test]
fn summary_names_links_mass_and_what_is_not_supported() {
    let output = osculate(&["import", "urdf", &robot("arm.urdf")]);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    for words in [
        "arm: 5 links, 3 moving joints, 3 degrees of freedom, 6.750000 kg",
        "shoulder",
        "limit: velocity",
        "speeds are not limited",
    ] {
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }
    let document = json(&osculate(&["import", "mjcf", &robot("humanoid.xml"), "--json"]));
    assert_eq!(document["dofs"], 21);
    assert_eq!(document["links"].as_array().unwrap().len(), 10);
}

#[test]
fn root_floats_where_it_is_asked() {
    let document = json(&osculate(&["import", "urdf", &robot("arm.urdf"), "--floating", "--json"]));
    assert_eq!(document["dofs"], 9);
}

#[test]
fn scene_that_is_written_can_be_simulated() {
    let folder = scratch("robots");
    for (format, name) in [("urdf", "arm.urdf"), ("mjcf", "loop.xml")] {
        let scene = folder.join(format!("{name}.toml"));
        let scene = scene.to_str().unwrap();
        let output = osculate(&["import", format, &robot(name), "--out", scene]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains("written: "));
        // A hundredth of the second that is written, for time.
        let text = fs::read_to_string(scene).unwrap();
        let line = text.lines().find(|l| l.starts_with("steps = ")).unwrap();
        let short = write(&folder, "short.toml", &text.replace(line, "steps = 5"));
        let out = folder.join(format);
        let output = osculate(&["simulate", &short, "--out", out.to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        let output = osculate(&["import", format, &robot(name), "--out", scene]);
        assert_refused(&output, 2, &["--out", "--overwrite"]);
    }
}

#[test]
fn refusal_says_file_line_and_element() {
    let folder = scratch("robots_refused");
    let text = "<robot name='r'>\n<link name='a'/>\n<joint name='j' type='hinge'><parent link='a'/><child link='a'/></joint></robot>";
    let file = write(&folder, "bad.urdf", text);
    let output = osculate(&["import", "urdf", &file]);
    assert_refused(&output, 2, &["bad.urdf, line 3, joint 'j'", "type is 'hinge'", "revolute"]);
    let missing = folder.join("none.xml");
    let output = osculate(&["import", "mjcf", missing.to_str().unwrap()]);
    assert_refused(&output, 2, &["none.xml", "cannot be read"]);
}

#[test]
fn mesh_is_looked_for_in_the_search_folder() {
    let folder = scratch("robots_meshes");
    let text = "<robot><link name='a'><collision><geometry><mesh filename='package://robots/meshes/wedge.obj' scale='0.01 0.01 0.01'/></geometry></collision></link></robot>";
    let file = write(&folder, "mesh.urdf", text);
    let output = osculate(&["import", "urdf", &file]);
    assert_refused(&output, 2, &["line 1, mesh of link 'a'", "not found; tried: "]);
    let search = workspace().join("crates/osculate-dynamics/tests/reference");
    let output = osculate(&["import", "urdf", &file, "--search", search.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
}
