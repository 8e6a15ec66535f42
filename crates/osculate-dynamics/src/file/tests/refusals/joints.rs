//! Joints and loops.

use super::refusal;
use crate::file::SceneFile;
use std::path::Path;

const BASE: &str = r#"[solver]
dt = 0.001
steps = 2
[[actor]]
name = "ground"
static = true
shape.plane = { normal = [0, 0, 1], offset = -1 }
[[actor]]
name = "upper"
mass = 0.4
shape.box = { half_extents = [0.02, 0.02, 0.1] }
[[actor]]
name = "lower"
mass = 0.4
shape.box = { half_extents = [0.02, 0.02, 0.1] }
[[joint]]
child = "upper"
kind = "revolute"
axis = [0, 2, 0]
q = [0.3]
[[joint]]
child = "lower"
parent = "upper"
kind = "spherical"
placement.position = [0, 0, -0.1]
offset.position = [0, 0, -0.1]
[[loop]]
name = "wire"
kind = "ball"
first.link = "lower"
second.frame.position = [-0.0591, 0, -0.191]
"#;

#[test]
fn the_base_scene_is_built_and_its_links_do_not_touch() {
    let built = SceneFile::parse(BASE, "scene.toml").unwrap().build(Path::new("")).unwrap();
    let scene = built.simulator.scene();
    assert!(!scene.filter.allows(1, 2) && !scene.filter.allows(2, 1));
    let again = format!("{BASE}[[filter]]\nactors = [\"upper\", \"lower\"]\nenable = true\n");
    let built = SceneFile::parse(&again, "scene.toml").unwrap().build(Path::new("")).unwrap();
    assert!(built.simulator.scene().filter.allows(1, 2));
    built.simulator.run(&built.parameters).unwrap();
}

#[test]
fn a_file_of_joints_reads_back() {
    let file = SceneFile::parse(BASE, "scene.toml").unwrap();
    let again = SceneFile::parse(&file.to_toml().unwrap(), "again.toml").unwrap();
    assert_eq!(file, again);
}

/// The base scene with one piece replaced; where it is refused and with which words.
type Case<'a> = (&'a str, &'a str, usize, &'a str, &'a [&'a str]);

fn check(cases: &[Case<'_>]) {
    for (from, to, line, field, words) in cases {
        assert!(BASE.contains(from), "{from}");
        let message = refusal(&BASE.replacen(from, to, 1)).to_string();
        let place = format!("scene.toml:{line}: {field}");
        assert!(message.starts_with(&place), "{to}\n  {message}\n  does not start with {place}");
        for word in *words {
            assert!(message.contains(word), "{to}\n  {message}\n  does not contain {word}");
        }
    }
}

#[test]
fn joints_that_cannot_be_are_refused_where_they_stand() {
    check(&[
        ("child = \"upper\"", "child = \"uper\"", 17, "joint[0].child:", &["'uper'", "upper"]),
        (
            "child = \"upper\"",
            "child = \"ground\"",
            17,
            "joint[0].child:",
            &["static", "a dynamic actor"],
        ),
        (
            "child = \"lower\"",
            "child = \"upper\"",
            22,
            "joint[1].child:",
            &["joint[0]", "[[loop]]"],
        ),
        ("parent = \"upper\"", "parent = \"ground\"", 21, "joint[1]:", &["lower", "ground"]),
        ("parent = \"upper\"", "parent = \"lower\"", 21, "joint[1]:", &["cycle"]),
        ("kind = \"revolute\"", "kind = \"hinge\"", 18, "joint[0].kind:", &["hinge", "revolute"]),
        ("axis = [0, 2, 0]", "axis = [0, 0, 0]", 19, "joint[0].axis:", &["not zero"]),
        ("axis = [0, 2, 0]\n", "", 16, "joint[0].axis:", &["no axis", "an axis for a revolute"]),
        (
            "kind = \"spherical\"",
            "kind = \"spherical\"\naxis = [1, 0, 0]",
            25,
            "joint[1].axis:",
            &["none for the others"],
        ),
    ]);
}

#[test]
fn numbers_of_joints_outside_their_range_are_refused() {
    check(&[
        ("q = [0.3]", "q = [0.3, 0.1]", 20, "joint[0].q:", &["2 numbers", "1 of a revolute joint"]),
        ("q = [0.3]", "qdot = []", 20, "joint[0].qdot:", &["0 numbers"]),
        ("q = [0.3]", "q = [nan]", 20, "joint[0].q[0]:", &["NaN", "finite"]),
        ("q = [0.3]", "armature = -1", 16, "joint[0]:", &["armature is -1", "≥ 0"]),
        ("q = [0.3]", "friction.falloff_speed = 0", 16, "joint[0]:", &["is 0", "> 0"]),
        ("q = [0.3]", "limits = { lower = 1, upper = 0 }", 16, "joint[0]:", &["upper"]),
        ("q = [0.3]", "limits = {}", 20, "joint[0].limits:", &["neither"]),
        ("q = [0.3]", "drive = { k_p = -1 }", 16, "joint[0]:", &["-1"]),
        (
            "kind = \"spherical\"",
            "kind = \"spherical\"\ndrive.k_p = 1",
            21,
            "joint[1]:",
            &["spherical joint has no drive"],
        ),
    ]);
}

#[test]
fn links_with_motions_and_loops_that_cannot_be_are_refused() {
    check(&[
        (
            "name = \"upper\"",
            "name = \"upper\"\nvelocity = [1, 0, 0]",
            10,
            "actor[1].velocity:",
            &["a link", "qdot"],
        ),
        (
            "name = \"upper\"",
            "name = \"upper\"\npose.position = [1, 0, 0]",
            10,
            "actor[1].pose:",
            &["a link"],
        ),
        (
            "kind = \"ball\"",
            "kind = \"ball\"\nstiffness = 0",
            27,
            "loop[0]:",
            &["wire", "is 0", "> 0"],
        ),
        ("first.link = \"lower\"", "first.link = \"ground\"", 27, "loop[0]:", &["wire"]),
        ("first.link = \"lower\"", "first.frame = {}", 27, "loop[0]:", &["wire", "itself"]),
    ]);
}

#[test]
fn efforts_and_targets_are_those_of_their_steps() {
    let drive = "q = [0.3]\ndrive = { k_p = 2.0, target = 0.1 }";
    let text = BASE.replacen("q = [0.3]", drive, 1)
        + "[[effort]]\njoint = \"upper\"\nsteps = [1, 2]\neffort = [0.5]\ntarget = 0.7\n\
           [[effort]]\njoint = \"lower\"\neffort = [1, 2, 3]\n";
    let built = SceneFile::parse(&text, "scene.toml").unwrap().build(Path::new("")).unwrap();
    let p = built.parameters.articulation.as_ref().unwrap();
    assert_eq!(p.efforts, [0.0, 1.0, 2.0, 3.0, 0.5, 1.0, 2.0, 3.0]);
    assert_eq!((p.targets[0], p.targets[4]), (0.1, 0.7));
    built.simulator.run(&built.parameters).unwrap();
    let cases = [
        ("joint = \"upper\"", "joint = \"ground\"", "effort[0].joint:", "upper, lower"),
        ("effort = [0.5]", "effort = [0.5, 1]", "effort[0].effort:", "1, one for each"),
        ("effort = [1, 2, 3]", "target = 1", "effort[1].target:", "without drive"),
        ("effort = [1, 2, 3]", "", "effort[1]:", "neither"),
        ("steps = [1, 2]", "steps = [1, 3]", "effort[0].steps:", "<= 2"),
    ];
    for (from, to, field, word) in cases {
        let message = refusal(&text.replacen(from, to, 1)).to_string();
        assert!(message.contains(field) && message.contains(word), "{to}: {message}");
    }
}

#[test]
fn a_loop_without_joints_is_refused() {
    let joint = BASE.find("[[joint]]").unwrap();
    let closure = BASE.find("[[loop]]").unwrap();
    let text = format!("{}{}", &BASE[..joint], &BASE[closure..]);
    let message = refusal(&text).to_string();
    assert!(message.starts_with("scene.toml:16: loop: found a loop without joints"), "{message}");
}
