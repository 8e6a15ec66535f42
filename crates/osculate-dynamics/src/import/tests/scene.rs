//! Scenes of robots: written, read again and built, they have the motion of the description.

use super::super::{Description, RobotOptions, read_mjcf, read_urdf};
use super::{exactly, mjcf, robots, urdf};
use crate::articulated::{ArticulatedModel, TreeKinematics, mass_matrix};
use crate::file::{BuiltScene, SceneFile, Shape};
use std::path::Path;

pub(super) fn built(robot: &Description) -> (SceneFile, BuiltScene) {
    let scene = robot.scene(Path::new(""));
    let text = scene.file.to_toml().unwrap();
    let read = SceneFile::parse(&text, "scene.toml").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let built = read.build(Path::new("")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (scene.file, built)
}

/// Poses of links and mass matrix of the scene are those of the description, but for the mass that actors must have.
fn agrees(robot: &Description) {
    let (_, scene) = built(robot);
    let articulation = scene.simulator.scene().articulation.as_ref().unwrap();
    let found = articulation.model();
    let (model, initial) = robot.model().unwrap();
    let (a, b) = (
        TreeKinematics::new(&model, &initial),
        TreeKinematics::new(found, &articulation.initial.configuration),
    );
    // Links stand in the same order among those with joints that move.
    let moving = |m: &ArticulatedModel| (0..m.dofs()).map(|k| m.link_of(k)).collect::<Vec<_>>();
    assert_eq!(found.dofs(), model.dofs());
    for (i, j) in moving(&model).into_iter().zip(moving(found)) {
        assert_eq!(model.links()[i].name, found.links()[j].name);
        let (x, y) = (&a.links[i], &b.links[j]);
        let gap = (x.position - y.position).norm() + (x.rotation - y.rotation).norm();
        assert!(gap < 1e-12, "{}: {gap}", model.links()[i].name);
        assert_eq!(model.links()[i].joint.laws, found.links()[j].joint.laws);
    }
    let (h, g) = (mass_matrix(&model, &a), mass_matrix(found, &b));
    assert!((&h - &g).norm() < 1e-7 * h.norm(), "{}", (h.clone() - g).norm() / h.norm());
    assert_eq!(found.closures().len(), model.closures().len());
}

fn all() -> [Description; 3] {
    let at = |name: &str| robots().join(name);
    let options = RobotOptions::default();
    [
        read_urdf(&at("arm.urdf"), &options).unwrap(),
        read_mjcf(&at("humanoid.xml"), &options).unwrap(),
        read_mjcf(&at("loop.xml"), &options).unwrap(),
    ]
}

#[test]
fn scene_has_the_poses_laws_and_mass_matrix_of_the_robot() {
    all().iter().for_each(agrees);
}

#[test]
fn scene_of_a_robot_moves() {
    for robot in all() {
        let mut file = robot.scene(Path::new("")).file;
        file.solver.steps = Some(3);
        let scene = file.build(Path::new("")).unwrap();
        scene.simulator.run(&scene.parameters).unwrap();
    }
}

#[test]
fn only_geometry_in_the_origin_is_the_shape_of_its_link_and_others_are_fixed_to_it() {
    let robot = mjcf(
        "<mujoco><worldbody><body name='a'><joint/><geom type='box' size='1 2 3'/></body>
         <body name='b'><joint/><geom name='g' type='box' size='1 2 3' pos='0 0 1'/></body></worldbody></mujoco>",
    );
    let file = robot.scene(Path::new("")).file;
    let names: Vec<_> = file.actors.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "b_g"]);
    assert!(matches!(file.actors[0].shape, Some(Shape::Box(_))));
    assert!(file.actors[1].shape.is_none());
    assert_eq!(file.actors[2].parent.as_deref(), Some("b"));
    assert_eq!(file.joints[2].parent.as_deref(), Some("b"));
    assert!((file.joints[2].placement.position[2] - 1.0).abs() < 1e-15);
}

/// Who may touch whom in the scene of a robot, by name.
fn touch(robot: &Description, a: &str, b: &str) -> bool {
    let (_, scene) = built(robot);
    let scene = scene.simulator.scene();
    let find = |name: &str| scene.bodies.iter().position(|b| b.name == name).unwrap();
    let (a, b) = (find(a), find(b));
    let (there, back) = (scene.filter.allows(a, b), scene.filter.allows(b, a));
    assert_eq!(there, back);
    there
}

#[test]
fn geometries_touch_unless_they_are_of_one_body_adjacent_excluded_or_have_no_common_bits() {
    let geom = |name: &str| format!("<geom name='{name}' type='box' size='1 1 1' pos='0 0 1'/>");
    let (x, y, z, w, v) = (geom("x"), geom("y"), geom("z"), geom("w"), geom("v"));
    let other = geom("u").replace("<geom", "<geom contype='2' conaffinity='2'");
    let robot = mjcf(&format!(
        "<mujoco><worldbody>{v}<body name='a'><joint/>{x}{y}
           <body name='b'><joint/><joint axis='1 0 0'/>{z}<body name='c'><joint/>{w}{other}</body></body></body></worldbody>
         <contact><exclude body1='c' body2='world'/></contact></mujoco>"
    ));
    for (one, two, expected) in [
        ("a_x", "a_y", false),
        ("a_x", "b_z", false),
        ("b_z", "c_w", false),
        ("a_x", "c_w", true),
        ("a_x", "world_v", true),
        ("c_w", "world_v", false),
        ("a_x", "c_u", false),
    ] {
        assert_eq!(touch(&robot, one, two), expected, "{one} and {two}");
    }
}

#[test]
fn frames_without_mass_become_part_of_what_they_are_fixed_to() {
    let inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>";
    let box_ = "<collision name='s'><geometry><box size='1 1 1'/></geometry></collision>";
    let robot = urdf(&format!(
        "<robot><link name='base'>{box_}</link><link name='a'>{inertial}</link><link name='tip'>{box_}</link><link name='b'>{inertial}</link>
         <joint name='1' type='continuous'><origin xyz='0 0 1'/><parent link='base'/><child link='a'/></joint>
         <joint name='2' type='fixed'><origin xyz='0 0 2'/><parent link='a'/><child link='tip'/></joint>
         <joint name='3' type='continuous'><origin xyz='0 0 3'/><parent link='tip'/><child link='b'/></joint></robot>"
    ));
    let file = robot.scene(Path::new("")).file;
    let names: Vec<_> = file.actors.iter().map(|a| (a.name.as_str(), a.fixed)).collect();
    assert_eq!(names, [("a", false), ("b", false), ("base_s", true), ("tip_s", false)]);
    assert_eq!(file.joints[1].parent.as_deref(), Some("a"));
    assert!((file.joints[1].placement.position[2] - 5.0).abs() < 1e-15);
    assert!(!touch(&robot, "a", "base_s") && touch(&robot, "b", "base_s"));
    agrees(&robot);
}

#[test]
fn friction_layers_and_pairs_reach_the_scene() {
    let robot = mjcf(
        "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' friction='0.3'/>
         <body name='a'><freejoint/><geom name='g' size='1' condim='1'/></body>
         <body name='b'><freejoint/><geom name='h' size='1' contype='0'/></body></worldbody>
         <contact><pair geom1='floor' geom2='g' friction='0.7 0.7'/></contact></mujoco>",
    );
    let file = robot.scene(Path::new("")).file;
    let actor = |name: &str| file.actors.iter().find(|a| a.name == name).unwrap();
    assert!((actor("world_floor").contact.mu - 0.3).abs() < 1e-15);
    assert!(actor("a").contact.mu.abs() < 1e-15);
    assert_eq!(actor("b").layer.as_deref(), Some("kind-0-affinity-1"));
    assert_eq!(file.pairs[0].actors, ["world_floor", "a"]);
    assert_eq!(file.pairs[0].mu, Some(0.7));
    exactly(file.gravity, [0.0, 0.0, -9.81]);
    assert_eq!((file.solver.dt, file.solver.steps), (Some(0.002), Some(500)));
}

#[test]
fn what_the_scene_does_not_say_as_the_file_is_noted() {
    let robot = mjcf(
        "<mujoco><worldbody><body name='left/arm'><joint/><joint axis='1 0 0'/>
         <geom type='capsule' size='0.1 0.2' condim='6'/><geom size='1' contype='0' conaffinity='0'/></body></worldbody></mujoco>",
    );
    let notes: Vec<_> = robot.scene(Path::new("")).notes.iter().map(ToString::to_string).collect();
    for words in ["named 'left_arm'", "1e-9 of the mass", "256 triangles", "touches nothing"] {
        assert!(notes.iter().any(|n| n.contains(words)), "{words}: {notes:#?}");
    }
}
