//! What of URDF is refused, where, and with which words.

use super::{refused, said, try_urdf};

const MASS: &str = r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"#;

/// Four lines: base, arm, joint and end.
fn arm(inertial: &str, joint: &str) -> String {
    format!(
        "<robot name=\"r\"><link name=\"a\"/>\n<link name=\"b\">{inertial}</link>\n<joint name=\"j\" {joint}</joint>\n</robot>"
    )
}

const ENDS: &str = r#"<parent link="a"/><child link="b"/>"#;

fn turning(inertial: &str) -> String {
    arm(inertial, &format!(r#"type="continuous">{ENDS}"#))
}

#[test]
fn other_documents_are_refused_with_what_they_are() {
    refused(try_urdf("<mujoco/>"), 1, "mujoco", "<mujoco>, expected: <robot>");
    refused(try_urdf("<robot name='r'/>"), 1, "robot 'r'", "there is no link");
    refused(try_urdf(""), 1, "", "column 1");
    refused(try_urdf("<robot>\n<link name='a'>\n</robot>"), 3, "", "link");
    refused(try_urdf("<robot>\n<link name='a'"), 2, "", "cut");
}

/// Symptom: a file of xacro that was not expanded gave the part of its robot that stands outside of macros.
#[test]
fn macros_that_were_not_expanded_are_refused() {
    let text = r#"<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/>
        <xacro:include filename="leg.xacro"/></robot>"#;
    refused(try_urdf(text), 2, "include", "<xacro:include> is not supported");
    refused(try_urdf(text), 2, "include", "expand the macros first");
}

#[test]
fn names_must_be_there_once() {
    refused(try_urdf("<robot><link/></robot>"), 1, "link", "attribute name is missing");
    refused(try_urdf("<robot><link name=' '/></robot>"), 1, "link ''", "allowed: a name");
    let twice = "<robot><link name='a'/>\n<link name='a'/></robot>";
    refused(try_urdf(twice), 2, "link 'a'", "link 'a' is given twice, first in line 1");
    let text = turning(MASS).replace(
        "\n</robot>",
        "\n<link name='c'/><joint name='j' type='fixed'><parent link='b'/><child link='c'/></joint></robot>",
    );
    refused(try_urdf(&text), 4, "joint 'j'", "joint 'j' is given twice, first in line 3");
}

#[test]
fn links_that_joints_name_must_exist_and_form_one_tree() {
    let unknown = turning(MASS).replace("parent link=\"a\"", "parent link=\"x\"");
    refused(try_urdf(&unknown), 3, "parent of joint 'j'", "there is no link 'x'");
    let two = turning(MASS).replace("\n</robot>", "\n<link name='c'/></robot>");
    refused(try_urdf(&two), 4, "link 'c'", "link 'c' has no parent, as 'a' has none");
    let parents = turning(MASS).replace(
        "\n</robot>",
        "\n<joint name='k' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
    );
    refused(
        try_urdf(&parents),
        4,
        "joint 'k'",
        "a joint to link 'b' is given twice, first in line 3",
    );
    let itself = turning(MASS).replace("parent link=\"a\"", "parent link=\"b\"");
    refused(try_urdf(&itself), 2, "link 'b'", "form a cycle");
}

#[test]
fn cycle_is_named_without_the_links_that_lead_to_it() {
    let joint = |name: &str, parent: &str, child: &str| {
        format!(
            "<joint name='{name}' type='fixed'><parent link='{parent}'/><child link='{child}'/></joint>"
        )
    };
    let text = format!(
        "<robot><link name='a'/>\n<link name='d'/><link name='b'/><link name='c'/>{}{}{}</robot>",
        joint("1", "b", "c"),
        joint("2", "c", "b"),
        joint("3", "c", "d")
    );
    let (line, _, message) = said(try_urdf(&text));
    assert_eq!(line, 2);
    assert!(message.contains("[\"c\", \"b\"]"), "{message}");
}

#[test]
fn joints_must_be_of_a_known_type_with_what_it_needs() {
    let of =
        |kind: &str, inner: &str| try_urdf(&arm(MASS, &format!("type='{kind}'>{ENDS}{inner}")));
    refused(of("ball", ""), 3, "joint 'j'", "type is 'ball', allowed: revolute");
    refused(of("planar", ""), 3, "joint 'j'", "a planar joint is not supported");
    refused(of("revolute", ""), 3, "joint 'j'", "<limit> is missing");
    refused(of("continuous", "<axis xyz='0 0 0'/>"), 3, "axis of joint 'j'", "not all zero");
    refused(of("continuous", "<axis/>"), 3, "axis of joint 'j'", "attribute xyz is missing");
    refused(
        of("prismatic", "<limit lower='2' upper='1'/>"),
        3,
        "limit of joint 'j'",
        "lower is '2'",
    );
    refused(of("continuous", "<limit effort='-1'/>"), 3, "limit of joint 'j'", "allowed: ≥ 0");
    refused(of("fixed", "<origin/><origin/>"), 3, "origin of joint 'j'", "<origin> is given twice");
    let untyped = arm(MASS, &format!(">{ENDS}"));
    refused(try_urdf(&untyped), 3, "joint 'j'", "attribute type is missing");
    let childless = arm(MASS, "type='fixed'><parent link='a'/>");
    refused(try_urdf(&childless), 3, "joint 'j'", "<child> is missing");
}

#[test]
fn numbers_must_be_finite_and_as_many_as_needed() {
    for bad in ["nan", "inf", "1e999", "one", "", "1 2", "1;"] {
        let inertial = MASS.replace("mass value=\"1\"", &format!("mass value=\"{bad}\""));
        refused(try_urdf(&turning(&inertial)), 2, "mass of link 'b'", "value is '");
    }
    for bad in ["0 0", "0 0 0 0", "0 0 NaN", "x y z"] {
        let text = arm(MASS, &format!("type='fixed'>{ENDS}<origin xyz='{bad}'/>"));
        refused(try_urdf(&text), 3, "origin of joint 'j'", "three finite numbers");
    }
}

#[test]
fn mass_properties_must_be_those_of_a_body() {
    let of = |inertial: &str| try_urdf(&turning(inertial));
    refused(
        of(&MASS.replace("value=\"1\"", "value=\"-1\"")),
        2,
        "mass of link 'b'",
        "allowed: ≥ 0",
    );
    refused(
        of(&MASS.replace("ixx=\"1\"", "ixx=\"3\"")),
        2,
        "inertia of link 'b'",
        "mass properties",
    );
    refused(
        of(&MASS.replace("ixx=\"1\"", "ixx=\"-1\"")),
        2,
        "inertia of link 'b'",
        "mass properties",
    );
    refused(
        of("<inertial><mass value='1'/></inertial>"),
        2,
        "inertial of link 'b'",
        "<inertia> is missing",
    );
    refused(of(""), 2, "link 'b'", "the revolute joint of link 'b' moves, but neither");
    let zero = "<inertial><mass value='0'/><inertia ixx='0' iyy='0' izz='0'/></inertial>";
    refused(of(zero), 2, "link 'b'", "has mass");
}

#[test]
fn shapes_must_be_known_and_have_sizes() {
    let of = |shape: &str| {
        try_urdf(&format!(
            "<robot><link name='a'>\n<collision><geometry>{shape}</geometry></collision></link></robot>"
        ))
    };
    refused(of("<torus/>"), 2, "torus of link 'a'", "geometry is 'torus'");
    refused(of(""), 2, "geometry of link 'a'", "a shape is missing");
    refused(of("<sphere radius='1'/><sphere radius='1'/>"), 2, "sphere of link 'a'", "twice");
    refused(of("<sphere radius='0'/>"), 2, "sphere of link 'a'", "allowed: > 0");
    refused(of("<sphere/>"), 2, "sphere of link 'a'", "attribute radius is missing");
    refused(of("<box size='1 1 -1'/>"), 2, "box of link 'a'", "three numbers > 0");
    refused(of("<cylinder radius='1'/>"), 2, "cylinder of link 'a'", "attribute length");
    refused(
        of("<mesh filename='no.stl'/>"),
        2,
        "mesh of link 'a'",
        "mesh file 'no.stl' is not found; tried: ",
    );
    refused(of("<mesh filename='arm.urdf'/>"), 2, "mesh of link 'a'", "arm.urdf");
    refused(
        of("<mesh filename='meshes/wedge.obj' scale='1 0 1'/>"),
        2,
        "mesh of link 'a'",
        "none zero",
    );
}

/// Entities that expand to a billion words, elements within elements without end, and more links than can be held.
#[test]
fn bombs_are_refused_before_they_take_time_or_memory() {
    let mut laughs = String::from("<!DOCTYPE r [<!ENTITY a0 \"ha\">");
    for i in 1..12 {
        laughs += &format!("<!ENTITY a{i} \"{}\">", format!("&a{};", i - 1).repeat(10));
    }
    laughs += "]>\n<robot name=\"&a11;\"><link name=\"a\"/></robot>";
    refused(try_urdf(&laughs), 1, "", "document type declarations");
    let deep = format!("<robot>{}{}</robot>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    refused(try_urdf(&deep), 1, "a", "nested more than 256 deep");
    let links: String = (0..6000).map(|i| format!("<link name='{i}'/>")).collect();
    let joints: String = (1..6000)
        .map(|i| {
            let parent = i - 1;
            format!("<joint name='{i}' type='fixed'><parent link='{parent}'/><child link='{i}'/></joint>")
        })
        .collect();
    let (_, _, message) = said(try_urdf(&format!("<robot>{links}{joints}</robot>")));
    assert!(message.contains("6000 links, allowed: at most 5000"), "{message}");
}
