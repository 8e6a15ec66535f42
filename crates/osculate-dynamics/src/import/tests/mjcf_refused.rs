//! What of MJCF is refused, where, and with which words.

use super::{mjcf, notes, refused, try_mjcf};

/// What stands in line 2 of a world.
fn world(inner: &str) -> String {
    format!("<mujoco><worldbody>\n{inner}\n</worldbody></mujoco>")
}

fn body(inner: &str) -> String {
    world(&format!("<body name='b'>{inner}<geom size='0.1'/></body>"))
}

#[test]
fn documents_without_bodies_are_refused() {
    refused(try_mjcf("<robot/>"), 1, "robot", "<robot>, expected: <mujoco>");
    refused(try_mjcf("<mujoco/>"), 1, "mujoco", "<worldbody> is missing");
    refused(try_mjcf(&world("")), 1, "mujoco", "there is no link");
    refused(try_mjcf("<mujoco>\n<worldbody>\n<body"), 3, "", "cut");
    refused(try_mjcf("<!DOCTYPE m><mujoco/>"), 1, "", "document type declarations");
    let deep = format!("<mujoco>{}</mujoco>", world(&"<body>".repeat(300)));
    assert!(try_mjcf(&deep).is_err());
}

#[test]
fn what_makes_bodies_elsewhere_is_refused() {
    for tag in ["include file='x.xml'", "replicate", "composite", "flexcomp", "attach"] {
        let name = tag.split(' ').next().unwrap();
        refused(try_mjcf(&world(&format!("<{tag}/>"))), 2, name, "would be missing");
    }
    let global = "<mujoco><compiler coordinate='global'/><worldbody/></mujoco>";
    refused(try_mjcf(global), 1, "compiler", "coordinate=\"global\" is not supported");
    refused(try_mjcf(&world("<geom type='hfield' hfield='h'/>")), 2, "geom", "would fall");
    refused(try_mjcf(&body("<geom type='box' mesh='m'/>")), 2, "geom of body 'b'", "fitted");
    refused(
        try_mjcf(&body("<geom size='1' shellinertia='true'/>")),
        2,
        "geom of body 'b'",
        "shell",
    );
}

#[test]
fn names_must_be_there_once_and_exist_where_they_are_used() {
    let two = "<body name='a'/>\n<body name='a'/>";
    refused(try_mjcf(&world(two)), 3, "body 'a'", "body 'a' is given twice, first in line 2");
    let joints = "<joint name='j'/>\n<joint name='j'/>";
    refused(try_mjcf(&body(joints)), 3, "joint 'j'", "joint 'j' is given twice, first in line 2");
    let geoms = "<geom name='g' size='1'/>\n<geom name='g' size='1'/>";
    refused(try_mjcf(&world(geoms)), 3, "geom 'g'", "first in line 2");
    refused(try_mjcf(&world("<body name='world'/>")), 2, "body 'world'", "means the world");
    refused(try_mjcf(&body("<joint class='x'/>")), 2, "joint of body 'b'", "there is no class 'x'");
    refused(try_mjcf(&world("<body childclass='x'/>")), 2, "body", "there is no class 'x'");
    let with = |section: &str| {
        try_mjcf(&body("<joint/>").replace("</mujoco>", &format!("\n{section}</mujoco>")))
    };
    refused(with("<actuator><motor joint='x'/></actuator>"), 4, "motor", "there is no joint 'x'");
    refused(with("<contact><exclude body1='b' body2='x'/></contact>"), 4, "exclude", "no body 'x'");
    refused(
        with("<contact><pair geom1='x' geom2='y'/></contact>"),
        4,
        "pair",
        "there is no geom 'x'",
    );
    refused(
        with("<equality><connect body1='x' anchor='0 0 0'/></equality>"),
        4,
        "connect",
        "no body 'x'",
    );
    refused(
        with("<equality><weld site1='x' site2='y'/></equality>"),
        4,
        "weld",
        "there is no site 'x'",
    );
    refused(with("<equality><connect body1='b'/></equality>"), 4, "connect", "anchor is missing");
    refused(
        with("<equality><weld body1='b' body2='b'/></equality>"),
        4,
        "weld",
        "joins a link to itself",
    );
}

#[test]
fn default_classes_must_have_names_of_their_own() {
    let of = |inner: &str| {
        try_mjcf(&format!("<mujoco><default>\n{inner}</default><worldbody/></mujoco>"))
    };
    refused(of("<default/>"), 2, "default", "attribute class is missing");
    let twice = "<default class='a'/>\n<default class='a'/>";
    refused(of(twice), 3, "default", "class 'a' is given twice, first in line 2");
}

#[test]
fn value_of_a_default_is_refused_where_it_stands() {
    let text = "<mujoco><default>\n<joint damping='-1'/></default><worldbody>
        <body><joint/><geom size='1'/></body></worldbody></mujoco>";
    refused(try_mjcf(text), 2, "joint", "damping is '-1', allowed: ≥ 0");
}

#[test]
fn joints_must_be_of_a_known_type_with_possible_numbers() {
    let at = "joint of body 'b'";
    refused(try_mjcf(&body("<joint type='screw'/>")), 2, at, "type is 'screw', allowed: hinge");
    refused(try_mjcf(&body("<joint axis='0 0 0'/>")), 2, at, "not all zero");
    refused(try_mjcf(&body("<joint axis='0 0 nan'/>")), 2, at, "three finite numbers");
    refused(try_mjcf(&body("<joint range='1 -1'/>")), 2, at, "the first less than the second");
    refused(try_mjcf(&body("<joint limited='true'/>")), 2, at, "attribute range is missing");
    refused(try_mjcf(&body("<joint limited='maybe' range='0 1'/>")), 2, at, "true, false or auto");
    refused(try_mjcf(&body("<joint armature='-1'/>")), 2, at, "armature is '-1'");
    refused(
        try_mjcf(&body("<joint/><freejoint/>")),
        2,
        "freejoint of body 'b'",
        "a free joint here",
    );
    let nested = "<body name='a'><body name='b'><freejoint/><geom size='1'/></body></body>";
    refused(try_mjcf(&world(nested)), 2, "freejoint of body 'b'", "only a body of the world");
    let off = body("<joint range='0 1'/>")
        .replace("<worldbody>", "<compiler autolimits='false'/><worldbody>");
    refused(try_mjcf(&off), 2, at, "attribute limited (autolimits is off) is missing");
}

#[test]
fn orientations_must_be_given_once_and_be_one() {
    let at = "body 'b'";
    let of = |attributes: &str| try_mjcf(&world(&format!("<body name='b' {attributes}/>")));
    refused(
        of("quat='1 0 0 0' euler='0 0 0'"),
        2,
        at,
        "the orientation (by quat and euler) is given twice",
    );
    refused(of("quat='0 0 0 0'"), 2, at, "not all zero");
    refused(of("quat='1 0 0'"), 2, at, "quat is '1 0 0'");
    refused(of("xyaxes='1 0 0 2 0 0'"), 2, at, "not parallel");
    refused(of("zaxis='0 0 0'"), 2, at, "an axis that is not zero");
    let sequence = "<mujoco><compiler eulerseq='xyw'/><worldbody/></mujoco>";
    refused(try_mjcf(sequence), 1, "compiler", "eulerseq is 'xyw'");
}

#[test]
fn geometries_must_be_of_a_known_type_with_sizes() {
    let of = |attributes: &str| try_mjcf(&world(&format!("<geom {attributes}/>")));
    refused(of("type='torus'"), 2, "geom", "type is 'torus'");
    refused(of(""), 2, "geom", "attribute size is missing");
    refused(of("size='0'"), 2, "geom", "as many numbers > 0");
    refused(of("type='box' size='1 1'"), 2, "geom", "as many numbers > 0");
    refused(of("type='capsule' size='1' fromto='0 0 0 0 0 0'"), 2, "geom", "two different points");
    refused(of("size='1' friction='-1'"), 2, "geom", "numbers ≥ 0");
    refused(of("size='1' condim='2'"), 2, "geom", "1, 3, 4 or 6");
    refused(of("size='1' contype='-1'"), 2, "geom", "a whole number");
    refused(of("size='1' fromto='0 0 0 1 0 0'"), 2, "geom", "none, unless the type is capsule");
    refused(try_mjcf(&world("<joint/>")), 2, "joint", "<joint> of the world is not supported");
    refused(of("type='mesh'"), 2, "geom", "attribute mesh is missing");
    refused(of("type='mesh' mesh='m'"), 2, "geom", "there is no mesh 'm'");
}

#[test]
fn meshes_must_be_found_closed_and_in_place() {
    let of = |mesh: &str| {
        try_mjcf(&format!(
            "<mujoco><asset>\n<mesh {mesh}/></asset><worldbody>
             <body><geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
        ))
    };
    refused(
        of("name='m' file='no.stl'"),
        2,
        "mesh 'm'",
        "mesh file 'no.stl' is not found; tried: ",
    );
    refused(of("name='m'"), 2, "mesh 'm'", "attribute file is missing");
    refused(of(""), 2, "mesh", "attribute file is missing");
    refused(of("name='m' file='x' refpos='1 0 0'"), 2, "mesh 'm'", "refpos is not supported");
    refused(of("name='m' file='x' inertia='shell'"), 2, "mesh 'm'", "only the mass of a solid");
    refused(of("name='m' file='humanoid.xml'"), 2, "mesh 'm'", "humanoid.xml");
}

#[test]
fn mass_properties_must_be_those_of_a_body() {
    let of =
        |inertial: &str| try_mjcf(&world(&format!("<body name='b'><joint/>{inertial}</body>")));
    let at = "inertial of body 'b'";
    refused(of(""), 2, "body 'b'", "the revolute joint of link 'b' moves, but neither");
    refused(of("<geom size='1' mass='0'/>"), 2, "body 'b'", "has mass");
    refused(of("<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>"), 2, at, "mass is '-1'");
    refused(of("<inertial pos='0 0 0' mass='1'/>"), 2, at, "diaginertia");
    refused(of("<inertial mass='1' diaginertia='1 1 1'/>"), 2, at, "attribute pos is missing");
    refused(of("<inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/>"), 2, at, "mass properties");
    let full = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1' fullinertia='1 1 1 0 0 0'/>";
    refused(of(full), 2, at, "given twice");
    let text = world("<body><inertial pos='0 0 0' mass='1' diaginertia='1 1 4'/></body>");
    let balanced =
        mjcf(&text.replace("<worldbody>", "<compiler balanceinertia='true'/><worldbody>"));
    notes(&balanced, &["balanceinertia"]);
    assert!((balanced.links[0].inertia.inertia[(2, 2)] - 2.0).abs() < 1e-15);
}

#[test]
fn options_must_be_possible() {
    let of = |option: &str| {
        try_mjcf(&format!(
            "<mujoco>\n<option {option}/><worldbody><geom size='1'/></worldbody></mujoco>"
        ))
    };
    refused(of("timestep='0'"), 2, "option", "allowed: > 0");
    refused(of("gravity='0 0'"), 2, "option", "three finite numbers");
}
