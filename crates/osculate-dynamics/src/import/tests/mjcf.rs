//! What of MJCF is supported.

use super::super::{GeometryShape, Spring};
use super::{exactly, mjcf, noted, notes};
use crate::articulated::{ClosureKind, JointKind, JointPosition};
use nalgebra::{Matrix3, Vector3};
use osculate_math::so3;
use std::f64::consts::{FRAC_PI_2, PI};

/// A body of the world with a ball of 1 kg and what stands in it.
fn body(inner: &str) -> String {
    world(&format!(r#"<body name="b">{inner}<geom size="0.1" mass="1"/></body>"#))
}

fn world(inner: &str) -> String {
    format!("<mujoco><worldbody>{inner}</worldbody></mujoco>")
}

/// The orientation of a body with these attributes, below settings of the compiler.
fn rotation(compiler: &str, orientation: &str) -> Matrix3<f64> {
    let text = format!(
        "<mujoco><compiler {compiler}/><worldbody><body name='b' {orientation}/></worldbody></mujoco>"
    );
    mjcf(&text).links[0].joint.placement.rotation
}

fn turn(x: f64, y: f64, z: f64) -> Matrix3<f64> {
    so3::exp(&Vector3::new(x, y, z))
}

#[test]
fn orientations_of_every_form_are_the_same_rotation() {
    let quarter = turn(0.0, 0.0, FRAC_PI_2);
    for form in
        ["quat='1 0 0 1'", "axisangle='0 0 2 90'", "euler='0 0 90'", "xyaxes='0 3 0 -2 1 0'"]
    {
        assert!((rotation("", form) - quarter).norm() < 1e-15, "{form}");
    }
    let tilted = rotation("", "zaxis='0 -1 0'");
    assert!((tilted - turn(FRAC_PI_2, 0.0, 0.0)).norm() < 1e-15);
    assert!((rotation("", "zaxis='0 0 -1'") - turn(PI, 0.0, 0.0)).norm() < 1e-15);
    assert!((rotation("", "zaxis='0 0 5'") - Matrix3::identity()).norm() < 1e-15);
}

#[test]
fn angles_are_degrees_unless_the_compiler_says_radians() {
    let turned = turn(0.0, 0.0, 0.5);
    let degrees = 0.5_f64.to_degrees();
    assert!((rotation("", &format!("axisangle='0 0 1 {degrees}'")) - turned).norm() < 1e-15);
    assert!((rotation("angle='radian'", "axisangle='0 0 1 0.5'") - turned).norm() < 1e-15);
}

#[test]
fn lower_case_turns_follow_the_frame_and_upper_case_ones_do_not() {
    let (x, y, z) = (turn(0.3, 0.0, 0.0), turn(0.0, -0.4, 0.0), turn(0.0, 0.0, 0.5));
    let euler = |sequence: &str, angles: &str| {
        rotation(&format!("angle='radian' eulerseq='{sequence}'"), &format!("euler='{angles}'"))
    };
    let cases = [
        ("xyz", "0.3 -0.4 0.5", x * y * z),
        ("XYZ", "0.3 -0.4 0.5", z * y * x),
        ("zYx", "0.5 -0.4 0.3", y * z * x),
    ];
    for (sequence, angles, expected) in cases {
        assert!((euler(sequence, angles) - expected).norm() < 1e-15, "{sequence}");
    }
}

#[test]
fn every_type_of_joint_has_its_degrees_of_freedom() {
    let cases = [
        ("<joint/>", 1),
        ("<joint type='hinge'/>", 1),
        ("<joint type='slide'/>", 1),
        ("<joint type='ball'/>", 3),
        ("<joint type='free'/>", 6),
        ("<freejoint/>", 6),
        ("", 0),
    ];
    for (joint, dofs) in cases {
        let robot = mjcf(&body(joint));
        assert_eq!(robot.dofs(), dofs, "{joint}");
        assert!(robot.notes.is_empty(), "{joint}: {:?}", robot.notes);
    }
}

#[test]
fn several_joints_of_a_body_are_a_chain_of_links_without_mass() {
    let robot =
        mjcf(&body("<joint name='x' axis='1 0 0'/><joint type='slide'/><joint type='ball'/>"));
    let names: Vec<_> = robot.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["b_x", "b_joint_2", "b"]);
    let masses: Vec<_> = robot.links.iter().map(|l| l.inertia.mass).collect();
    assert_eq!(masses, [0.0, 0.0, 1.0]);
    assert_eq!(robot.dofs(), 5);
}

#[test]
fn made_up_names_give_way_to_those_of_the_file() {
    let robot = mjcf(&world(
        "<body name='b_x'><geom size='1'/></body>
         <body name='b'><joint name='x'/><joint/><geom size='1'/></body><body/>",
    ));
    let names: Vec<_> = robot.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["b_x", "b_x_", "b", "body_4"]);
}

#[test]
fn numbers_of_a_joint_reach_it_in_radians() {
    let robot = mjcf(&body(
        "<joint axis='0 0 2' range='-90 180' ref='30' damping='0.1' frictionloss='0.2' armature='0.3'
          stiffness='4' springref='45' actuatorfrcrange='-7 7'/>",
    ));
    let link = &robot.links[0];
    let laws = &link.joint.laws;
    let limits = laws.limits.unwrap();
    assert!((limits.lower + FRAC_PI_2).abs() < 1e-15 && (limits.upper - PI).abs() < 1e-15);
    exactly([laws.friction.viscous, laws.friction.coulomb], [0.1, 0.2]);
    exactly(link.joint.armature, [0.3, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(link.initial, JointPosition::Scalar(PI / 6.0));
    assert_eq!(link.spring, Some(Spring { stiffness: 4.0, rest: PI / 4.0 }));
    assert_eq!(link.effort_limit, Some(7.0));
    // In its reference position a body stands where the file has it.
    assert!((robot.initial_poses()[0].rotation - Matrix3::identity()).norm() < 1e-15);
}

#[test]
fn ranges_act_by_their_switch_and_by_autolimits() {
    let limited = |compiler: &str, joint: &str| {
        let text = format!(
            "<mujoco><compiler {compiler}/><worldbody><body>{joint}<geom size='1'/></body></worldbody></mujoco>"
        );
        mjcf(&text).links[0].joint.laws.limits.is_some()
    };
    let range = "range='0 1'";
    assert!(limited("", &format!("<joint {range}/>")));
    assert!(!limited("", &format!("<joint limited='false' {range}/>")));
    assert!(limited("autolimits='false'", &format!("<joint limited='true' {range}/>")));
    assert!(!limited("autolimits='false'", "<joint/>"));
}

#[test]
fn shapes_have_the_sizes_of_the_file_and_segments_their_place() {
    let geometry = |attributes: &str| {
        let robot = mjcf(&world(&format!("<geom {attributes}/>")));
        robot.world[0].clone()
    };
    let (radius, half_length) = (0.1, 0.5);
    let h = Vector3::new(0.1, 0.2, 0.3);
    let cases = [
        ("size='0.1'", GeometryShape::Sphere { radius }),
        ("type='plane' size='1 1 1'", GeometryShape::Plane),
        ("type='box' size='0.1 0.2 0.3'", GeometryShape::Box { half_extents: h }),
        ("type='ellipsoid' size='0.1 0.2 0.3'", GeometryShape::Ellipsoid { half_axes: h }),
        ("type='capsule' size='0.1 0.5'", GeometryShape::Capsule { radius, half_length }),
        ("type='cylinder' size='0.1 0.5'", GeometryShape::Cylinder { radius, half_length }),
    ];
    for (attributes, shape) in cases {
        assert_eq!(geometry(attributes).shape, shape, "{attributes}");
    }
    let between = geometry("type='capsule' size='0.1' fromto='1 0 0 1 2 0'");
    assert_eq!(between.shape, GeometryShape::Capsule { radius: 0.1, half_length: 1.0 });
    assert_eq!(between.pose.position, Vector3::new(1.0, 1.0, 0.0));
    assert!((between.pose.rotation.column(2) + Vector3::y()).norm() < 1e-15);
}

#[test]
fn mass_of_geometries_counts_where_the_compiler_says() {
    let mass = |compiler: &str, inner: &str| {
        let text = format!(
            "<mujoco><compiler {compiler}/><worldbody><body>{inner}</body></worldbody></mujoco>"
        );
        mjcf(&text).mass()
    };
    let inertial = "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/>";
    let both = format!("{inertial}<geom type='box' size='0.5 0.5 0.5' density='3'/>");
    assert!((mass("", &both) - 2.0).abs() < 1e-15);
    assert!((mass("inertiafromgeom='true'", &both) - 3.0).abs() < 1e-15);
    let geoms = "<geom size='1' mass='3'/><geom size='1' mass='5' group='4'/>";
    assert!((mass("", geoms) - 8.0).abs() < 1e-15);
    assert!((mass("inertiagrouprange='0 3'", geoms) - 3.0).abs() < 1e-15);
    assert!((mass("settotalmass='4'", geoms) - 4.0).abs() < 1e-15);
    assert!(mass("inertiafromgeom='false'", geoms).abs() < 1e-15);
    // Water, where neither mass nor density is given.
    assert!((mass("", "<geom type='box' size='0.5 0.5 0.5'/>") - 1000.0).abs() < 1e-10);
}

#[test]
fn defaults_come_from_the_class_of_the_element_of_its_body_or_from_the_outermost() {
    let robot = mjcf(
        "<mujoco><default><joint damping='1' armature='9'/>
           <default class='a'><joint damping='2'/>
             <default class='b'><joint axis='1 0 0'/></default></default></default>
         <worldbody>
           <body name='0'><joint/><geom size='1'/></body>
           <body name='1' childclass='a'><joint/><geom size='1'/>
             <body name='2'><joint class='b'/><geom size='1'/></body>
             <body name='3' childclass='main'><joint damping='4'/><geom size='1'/></body>
           </body></worldbody></mujoco>",
    );
    let damping: Vec<_> = robot.links.iter().map(|l| l.joint.laws.friction.viscous).collect();
    assert_eq!(damping, [1.0, 2.0, 2.0, 4.0]);
    assert!(robot.links.iter().all(|l| l.joint.armature[0].to_bits() == 9_f64.to_bits()));
    assert_eq!(robot.links[2].joint.kind, JointKind::Revolute { axis: Vector3::x() });
    assert!(robot.notes.is_empty(), "{:?}", robot.notes);
}

#[test]
fn orientation_of_an_element_replaces_one_of_its_class_in_another_form() {
    let robot = mjcf(
        "<mujoco><default><geom euler='0 0 90'/></default><worldbody>
         <geom size='1' quat='1 0 0 0'/><geom size='1'/></worldbody></mujoco>",
    );
    assert!((robot.world[0].pose.rotation - Matrix3::identity()).norm() < 1e-15);
    assert!((robot.world[1].pose.rotation - turn(0.0, 0.0, FRAC_PI_2)).norm() < 1e-15);
}

#[test]
fn contact_numbers_reach_the_geometry_and_bits_decide_who_touches() {
    let robot = mjcf(&world(
        "<geom name='a' size='1' friction='0.5' condim='6' contype='2' conaffinity='0'/>
         <geom name='b' size='1' friction='0.4 0.3 0.2' contype='0' conaffinity='2'/><geom size='1'/>",
    ));
    let [a, b, c] = [0, 1, 2].map(|i| robot.world[i].contact);
    assert_eq!((a.friction, a.dimension), (Some([0.5, 0.005, 0.0001]), 6));
    assert_eq!((b.friction, b.dimension), (Some([0.4, 0.3, 0.2]), 3));
    assert!(a.meets(&b) && b.meets(&a) && c.meets(&c) && !a.meets(&c) && !a.meets(&a));
}

#[test]
fn excluded_bodies_and_pairs_are_kept() {
    let robot = mjcf(
        "<mujoco><worldbody><geom name='g' size='1'/><body name='a'><geom name='h' size='1'/></body></worldbody>
         <contact><exclude body1='a' body2='world'/><pair geom1='g' geom2='h' condim='1' friction='0.3 0.3 0.2'/></contact></mujoco>",
    );
    assert_eq!(robot.excluded, [[Some(0), None]]);
    let pair = &robot.pairs[0];
    assert_eq!(pair.geometries, ["g", "h"]);
    assert_eq!((pair.contact.dimension, pair.contact.friction), (1, Some([0.3, 0.2, 0.0001])));
}

#[test]
fn closures_hold_the_two_frames_together_in_the_position_of_the_file() {
    let robot = mjcf(
        "<mujoco><worldbody>
           <body name='a' pos='1 0 0' euler='0 90 0'><joint ref='20'/><geom size='1'/><site name='s' pos='0 1 0'/></body>
           <body name='b' pos='0 2 0' euler='30 0 0'><joint/><geom size='1'/><site name='t' zaxis='0 1 0'/></body>
         </worldbody><equality>
           <connect body1='a' body2='b' anchor='0.1 0.2 0.3'/><connect name='c' body1='b' anchor='0 0 1'/>
           <weld body1='a' body2='b' anchor='0.1 0 0'/><weld name='d' site1='s' site2='t'/>
           <weld body1='a' active='false'/></equality></mujoco>",
    );
    let names: Vec<_> = robot.closures.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["connect_5", "c", "weld_6", "d"]);
    assert_eq!(robot.closures[0].kind, ClosureKind::Ball);
    assert_eq!(robot.closures[2].kind, ClosureKind::Fixed);
    assert_eq!(robot.closures[1].second.0, None);
    let poses = robot.initial_poses();
    for closure in &robot.closures[..3] {
        let [first, second] = [&closure.first, &closure.second].map(|(link, frame)| {
            let link = link.map_or_else(osculate_math::se3::Pose::identity, |i| poses[i]);
            (link.transform_point(&frame.position), link.rotation * frame.rotation)
        });
        assert!((first.0 - second.0).norm() < 1e-14, "{}", closure.name);
        let turned = (first.1 - second.1).norm();
        assert!(closure.kind == ClosureKind::Ball || turned < 1e-14, "{}", closure.name);
    }
    assert_eq!(robot.closures[3].first.1.position, Vector3::y());
    notes(&robot, &["line 7", "weld", "not active"]);
}

#[test]
fn free_bodies_start_where_the_file_has_them_and_several_trees_stand_side_by_side() {
    let robot = mjcf(&world(
        "<body name='a' pos='1 2 3' euler='0 0 90'><freejoint/><geom size='1'/></body>
         <body name='b' pos='4 5 6'><freejoint/><geom size='1'/></body>",
    ));
    assert_eq!((robot.dofs(), robot.links[1].parent), (12, None));
    let poses = robot.initial_poses();
    assert_eq!(poses[1].position, Vector3::new(4.0, 5.0, 6.0));
    assert!((poses[0].rotation - turn(0.0, 0.0, FRAC_PI_2)).norm() < 1e-15);
}

#[test]
fn options_are_those_of_the_file_or_of_the_format() {
    let robot = mjcf(&body(""));
    assert_eq!((robot.gravity, robot.timestep), (Some(Vector3::new(0.0, 0.0, -9.81)), Some(0.002)));
    let text =
        body("").replace("<worldbody>", "<option timestep='0.01' gravity='1 2 3'/><worldbody>");
    assert_eq!(mjcf(&text).gravity, Some(Vector3::new(1.0, 2.0, 3.0)));
    let text = text.replace("/><worldbody>", "><flag gravity='disable'/></option><worldbody>");
    assert_eq!((mjcf(&text).gravity, mjcf(&text).timestep), (Some(Vector3::zeros()), Some(0.01)));
}

#[test]
fn frames_move_what_stands_in_them() {
    let inner = "<geom size='1' pos='1 0 0'/><site name='s'/>";
    let framed = format!(
        "<frame pos='0 0 1' euler='0 0 90'><frame pos='1 0 0'><body name='b' pos='0 1 0'>
         <frame euler='0 90 0'><joint axis='0 0 1' pos='0 0 2'/></frame>{inner}</body></frame></frame>"
    );
    let plain = format!(
        "<body name='b' pos='-1 1 1' euler='0 0 90'><joint axis='1 0 0' pos='2 0 0'/>{inner}</body>"
    );
    let (framed, plain) = (mjcf(&world(&framed)), mjcf(&world(&plain)));
    let (a, b) = (&framed.links[0].joint, &plain.links[0].joint);
    assert!((a.placement.position - b.placement.position).norm() < 1e-15);
    assert!((a.placement.rotation - b.placement.rotation).norm() < 1e-15);
    assert!((a.offset.position - b.offset.position).norm() < 1e-15);
    let axis = |kind: &JointKind| match kind {
        JointKind::Revolute { axis } => *axis,
        _ => Vector3::zeros(),
    };
    assert!((axis(&a.kind) - axis(&b.kind)).norm() < 1e-15);
}

#[test]
fn what_is_not_supported_is_named_with_line_and_reason() {
    let robot = mjcf(
        "<mujoco><option integrator='RK4'/><visual/><statistic/><custom/><size/>
         <default><geom solref='0.1 1' rgba='1 1 1 1'/><default class='unused'><geom margin='1'/></default></default>
         <asset><mesh file='x.stl'/><material name='m'/></asset>
         <worldbody><light/><camera/><geom size='1' fluidshape='ellipsoid'/>
         <body name='b' gravcomp='1' mocap='true'><joint type='ball' range='0 30' stiffness='1' frictionloss='1'/>
           <geom size='1' frobnicate='1'/></body>
         <body name='c'><joint type='free' damping='3'/><geom size='1' type='mesh' mesh='y' contype='0' conaffinity='0' mass='0'/><geom size='1'/></body>
         </worldbody>
         <tendon/><sensor/><keyframe/><frobnicate/>
         <equality><joint joint1='q'/></equality></mujoco>",
    );
    for words in [
        ["line 1, option: integrator", "solver"],
        ["line 1, visual:", "only looks"],
        ["line 2, geom: solref", "laws of this simulator"],
        ["line 2, geom: rgba", "only looks"],
        ["line 3, mesh:", "no geometry uses it"],
        ["line 4, light:", "only looks"],
        ["line 4, geom: fluidshape", "fluids"],
        ["line 5, body: gravcomp", "gravity acts"],
        ["line 5, body 'b': mocap", "stays where it is"],
        ["line 5, joint of body 'b': range", "no limits"],
        ["line 5, joint of body 'b': stiffness", "no springs"],
        ["line 5, joint of body 'b': frictionloss", "norm"],
        ["line 6, geom: frobnicate", "not known"],
        ["line 7, joint of body 'c': damping", "no friction"],
        ["line 7, geom of body 'c':", "only looks"],
        ["line 9, tendon:", "not supported"],
        ["line 9, sensor:", "not simulated"],
        ["line 9, frobnicate:", "not known"],
        ["line 10, joint:", "both move on their own"],
    ] {
        notes(&robot, &words);
    }
    assert!(!noted(&robot).iter().any(|n| n.contains("margin")), "of a class that nothing uses");
}
