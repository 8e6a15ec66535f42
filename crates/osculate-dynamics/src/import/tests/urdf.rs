//! What of URDF is supported.

use super::super::{GeometryShape, RobotOptions, parse_urdf};
use super::{exactly, notes, robots, urdf};
use crate::articulated::JointKind;
use nalgebra::Vector3;
use osculate_math::so3;
use std::path::Path;

const INERTIAL: &str =
    r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"#;

/// A base and a link with mass, `joint` between them.
fn pair(joint: &str) -> String {
    format!(r#"<robot name="pair"><link name="a"/><link name="b">{INERTIAL}</link>{joint}</robot>"#)
}

fn joint(kind: &str, inner: &str) -> String {
    pair(&format!(
        r#"<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{inner}</joint>"#
    ))
}

#[test]
fn every_type_of_joint_has_its_degrees_of_freedom() {
    let limit = r#"<limit lower="-1" upper="2"/>"#;
    let cases = [
        ("revolute", limit, 1),
        ("continuous", "", 1),
        ("prismatic", limit, 1),
        ("fixed", "", 0),
        ("floating", "", 6),
        ("spherical", "", 3),
    ];
    for (kind, inner, dofs) in cases {
        let robot = urdf(&joint(kind, inner));
        assert_eq!(robot.dofs(), dofs, "{kind}");
        assert_eq!(robot.model().unwrap().0.dofs(), dofs, "{kind}");
        assert!(robot.notes.is_empty(), "{kind}: {:?}", robot.notes);
    }
}

#[test]
fn axis_is_x_where_none_is_given_and_a_unit_vector_where_one_is() {
    let axis = |inner: &str| match urdf(&joint("continuous", inner)).links[1].joint.kind {
        JointKind::Revolute { axis } => axis,
        other => panic!("{other:?}"),
    };
    assert_eq!(axis(""), Vector3::x());
    assert!((axis(r#"<axis xyz="0 3 4"/>"#) - Vector3::new(0.0, 0.6, 0.8)).norm() < 1e-15);
}

#[test]
fn roll_pitch_and_yaw_turn_about_the_fixed_axes_one_after_the_other() {
    let robot = urdf(&joint("fixed", r#"<origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/>"#));
    let found = robot.links[1].joint.placement;
    let turn = |axis: Vector3<f64>, angle: f64| so3::exp(&(axis * angle));
    let expected = turn(Vector3::z(), 0.5) * turn(Vector3::y(), -0.4) * turn(Vector3::x(), 0.3);
    assert!((found.rotation - expected).norm() < 1e-15);
    assert_eq!(found.position, Vector3::new(1.0, 2.0, 3.0));
}

#[test]
fn limits_friction_and_effort_reach_the_joint() {
    let inner =
        r#"<limit lower="-1" upper="2" effort="7"/><dynamics damping="0.3" friction="0.2"/>"#;
    let robot = urdf(&joint("prismatic", inner));
    let link = &robot.links[1];
    let limits = link.joint.laws.limits.unwrap();
    exactly([limits.lower, limits.upper], [-1.0, 2.0]);
    let friction = link.joint.laws.friction;
    exactly([friction.viscous, friction.coulomb], [0.3, 0.2]);
    assert_eq!(link.effort_limit, Some(7.0));
}

#[test]
fn tree_may_stand_in_any_order_and_parents_come_first() {
    let text = format!(
        r#"<robot name="r">
        <joint name="2" type="fixed"><parent link="b"/><child link="c"/></joint>
        <link name="c">{INERTIAL}</link><link name="b"/><link name="a"/>
        <joint name="1" type="fixed"><parent link="a"/><child link="b"/></joint></robot>"#
    );
    let robot = urdf(&text);
    let order: Vec<_> = robot.links.iter().map(|l| (l.name.as_str(), l.parent)).collect();
    assert_eq!(order, [("a", None), ("b", Some(0)), ("c", Some(1))]);
}

#[test]
fn root_is_fixed_or_floats_as_the_options_say() {
    let text = format!(r#"<robot name="r"><link name="a">{INERTIAL}</link></robot>"#);
    assert_eq!(urdf(&text).dofs(), 0);
    let options = RobotOptions { floating: true, ..RobotOptions::default() };
    assert_eq!(parse_urdf(&text, Path::new("r"), &options).unwrap().dofs(), 6);
}

#[test]
fn link_named_world_without_mass_is_the_world() {
    let text = joint("floating", "")
        .replace(r#"name="a"/>"#, r#"name="world"><collision><geometry><sphere radius="1"/></geometry></collision></link>"#)
        .replace(r#"link="a""#, r#"link="world""#);
    let robot = urdf(&text);
    assert_eq!((robot.links.len(), robot.world.len()), (1, 1));
    assert_eq!((robot.links[0].parent, robot.dofs()), (None, 6));
}

#[test]
fn shapes_have_half_of_the_sizes_of_the_file() {
    let shape = |inner: &str| {
        let text = format!(
            r#"<robot><link name="a"><collision><geometry>{inner}</geometry></collision></link></robot>"#
        );
        urdf(&text).links[0].geometries[0].shape.clone()
    };
    assert_eq!(shape(r#"<sphere radius="2"/>"#), GeometryShape::Sphere { radius: 2.0 });
    let half_extents = Vector3::new(1.0, 2.0, 3.0);
    assert_eq!(shape(r#"<box size="2 4 6"/>"#), GeometryShape::Box { half_extents });
    let (radius, half_length) = (1.0, 2.0);
    let cylinder = GeometryShape::Cylinder { radius, half_length };
    assert_eq!(shape(r#"<cylinder radius="1" length="4"/>"#), cylinder);
    let capsule = GeometryShape::Capsule { radius, half_length };
    assert_eq!(shape(r#"<capsule radius="1" length="4"/>"#), capsule);
}

#[test]
fn mirrored_mesh_keeps_its_volume_and_its_outside() {
    let text = r#"<robot><link name="a"><collision><geometry>
        <mesh filename="meshes/wedge.obj" scale="SCALE"/></geometry></collision></link></robot>"#;
    let mesh = |scale: &str| {
        let robot = urdf(&text.replace("SCALE", scale));
        match &robot.links[0].geometries[0].shape {
            GeometryShape::Mesh(mesh) => mesh.mesh.clone(),
            other => panic!("{other:?}"),
        }
    };
    let volume = mesh("0.01 0.01 0.01").signed_volume();
    assert!(volume > 0.0);
    for scale in ["0.01 -0.01 0.01", "-0.01 -0.01 -0.01", "0.005 0.02 0.01"] {
        assert!((mesh(scale).signed_volume() / volume - 1.0).abs() < 1e-12, "{scale}");
    }
}

#[test]
fn package_is_found_around_the_file_and_in_the_search_folders() {
    let text = r#"<robot><link name="a"><collision><geometry>
        <mesh filename="package://NAME" scale="0.01 0.01 0.01"/></geometry></collision></link></robot>"#;
    let read = |name: &str, folder: &Path, search: &[&Path]| {
        let search = search.iter().map(|p| p.to_path_buf()).collect();
        let options = RobotOptions { folder: folder.into(), search, ..RobotOptions::default() };
        parse_urdf(&text.replace("NAME", name), Path::new("r"), &options)
    };
    let here = robots();
    let elsewhere = Path::new("/nonexistent");
    assert!(read("robots/meshes/wedge.obj", &here, &[]).is_ok());
    assert!(read("robots/meshes/wedge.obj", elsewhere, &[&here]).is_ok());
    assert!(read("meshes/wedge.obj", elsewhere, &[&here]).is_ok());
    assert!(read("robots/meshes/wedge.obj", elsewhere, &[here.parent().unwrap()]).is_ok());
    let error = read("robots/meshes/wedge.obj", elsewhere, &[]).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/robots/meshes/wedge.obj"), "{error}");
}

#[test]
fn mesh_of_suspicious_size_is_noted() {
    let text = r#"<robot><link name="a"><collision><geometry>
        <mesh filename="meshes/wedge.obj" scale="10 10 10"/></geometry></collision></link></robot>"#;
    notes(&urdf(text), &["line 2", "doubtful", "wedge.obj", "millimetres"]);
}

#[test]
fn lengths_of_links_that_look_like_millimetres_are_noted() {
    let ball = |radius: &str| {
        let geometry =
            format!("\n<collision><geometry><sphere radius=\"{radius}\"/></geometry></collision>");
        joint("continuous", "\n<origin xyz=\"0 0 AWAY\"/>")
            .replace("</link>", &format!("{geometry}</link>"))
    };
    let robot = urdf(&ball("40").replace("AWAY", "300"));
    notes(&robot, &["line 2", "geometry of link 'b'", "doubtful", "80 m large", "millimetres"]);
    notes(&robot, &["line 1", "doubtful", "300 m from its parent", "millimetres"]);
    assert!(urdf(&ball("4").replace("AWAY", "0.3")).notes.is_empty());
}

#[test]
fn what_is_not_supported_is_named_with_line_and_reason() {
    let text = joint(
        "continuous",
        "\n<limit effort=\"0\" velocity=\"3\"/>\n<mimic joint=\"k\"/>\n<safety_controller k_velocity=\"1\"/>",
    )
    .replace("</robot>", "\n<transmission name=\"t\"/>\n<gazebo/>\n<frobnicate x=\"1\"/></robot>")
    .replace("<link name=\"a\"/>", "<link name=\"a\" type=\"x\"><visual/></link>");
    let robot = urdf(&text);
    notes(&robot, &["line 1, link: type", "not known"]);
    notes(&robot, &["line 1, visual: ", "only looks"]);
    notes(&robot, &["line 2", "effort", "changed", "none"]);
    notes(&robot, &["line 2, limit: velocity", "speeds are not limited"]);
    notes(&robot, &["line 3, mimic", "moves on its own"]);
    notes(&robot, &["line 4, safety_controller", "controller"]);
    notes(&robot, &["line 5, transmission", "not read"]);
    notes(&robot, &["line 6, gazebo", "another simulator"]);
    notes(&robot, &["line 7, frobnicate", "not known"]);
    assert_eq!(robot.notes.len(), 9, "{:#?}", robot.notes);
}

#[test]
fn rounded_inertia_is_lowered_to_the_triangle_inequality_and_noted() {
    let text =
        pair(r#"<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>"#)
            .replace(r#"izz="1""#, r#"izz="2.001""#);
    let robot = urdf(&text);
    notes(&robot, &["changed", "lowered"]);
    assert!((robot.links[1].inertia.inertia[(2, 2)] - 2.0).abs() < 1e-12);
}
