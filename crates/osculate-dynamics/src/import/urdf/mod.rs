//! URDF: one tree of links, joined by joints. Angles are radians; there is no unit in the file.
//!
//! Read are `link` (`inertial`, `collision`) and `joint`. What is for looks, for other simulators or for controllers is
//! noted and left out.

mod joint;
mod link;

use super::description::{Description, ImportedLink};
use super::error::{ImportError, Problem};
use super::fields::Fields;
use super::mesh::{Meshes, RobotOptions};
use super::xml::{Element, Xml};
use crate::articulated::{Joint, JointKind};
use joint::UrdfJoint;
use link::UrdfLink;
use nalgebra::Vector3;
use osculate_math::se3::Pose;
use std::collections::BTreeMap;
use std::path::Path;

/// A link of this name without mass stands for the world.
const WORLD: &str = "world";

pub(super) fn parse(
    text: &str,
    file: &Path,
    options: &RobotOptions,
) -> Result<Description, ImportError> {
    let xml = Xml::parse(text, file)?;
    let root = xml.root("robot")?;
    refuse_macros(root)?;
    let name = root.text("name").unwrap_or_default().to_owned();
    // Of the schema, not of the robot.
    root.attribute("version");
    let meshes = Meshes::new(options);
    let mut notes = Vec::new();
    let links = root
        .all("link")
        .map(|e| UrdfLink::read(e, &meshes, &mut notes))
        .collect::<Result<Vec<_>, _>>()?;
    let joints =
        root.all("joint").map(|e| UrdfJoint::read(e, &mut notes)).collect::<Result<Vec<_>, _>>()?;
    unique(links.iter().map(|l| (l.name, l.element)), "link")?;
    unique(joints.iter().map(|j| (j.name, j.element)), "joint")?;
    let (links, world) = tree(root, links, &joints, options.floating)?;
    notes.extend(xml.unread(reason));
    notes.sort_by_key(|n| n.line);
    let description = Description {
        name,
        gravity: None,
        timestep: None,
        links,
        world,
        actuators: Vec::new(),
        closures: Vec::new(),
        excluded: Vec::new(),
        pairs: Vec::new(),
        notes,
    };
    description.check()?;
    Ok(description)
}

/// A file of xacro that was not expanded: what its macros stand for is not in it.
fn refuse_macros(root: Element<'_>) -> Result<(), ImportError> {
    let mut waiting = vec![root];
    while let Some(element) = waiting.pop() {
        if element.is_macro() {
            let what = format!("<xacro:{}>", element.tag());
            let reason = "what it stands for would be missing; expand the macros first";
            return Err(element.error(Problem::Refused { what, reason }));
        }
        waiting.extend(element.children());
    }
    Ok(())
}

fn unique<'x>(
    named: impl Iterator<Item = (&'x str, Element<'x>)>,
    what: &str,
) -> Result<(), ImportError> {
    let mut seen: BTreeMap<&str, Element<'_>> = BTreeMap::new();
    for (name, element) in named {
        if let Some(first) = seen.insert(name, element) {
            let what = format!("{what} '{name}'");
            return Err(element.error(Problem::Twice { what, first: first.line() }));
        }
    }
    Ok(())
}

type World = Vec<super::description::Geometry>;

/// Links in the order of their parents, and what stands in the world.
fn tree(
    robot: Element<'_>,
    links: Vec<UrdfLink<'_>>,
    joints: &[UrdfJoint<'_>],
    floating: bool,
) -> Result<(Vec<ImportedLink>, World), ImportError> {
    let index: BTreeMap<&str, usize> = links.iter().enumerate().map(|(i, l)| (l.name, i)).collect();
    let mut above: Vec<Option<&UrdfJoint<'_>>> = vec![None; links.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    for joint in joints {
        let find = |(name, element): (&str, Element<'_>)| {
            let unknown = || element.error(Problem::Unknown { what: "link", name: name.into() });
            index.get(name).copied().ok_or_else(unknown)
        };
        let (parent, child) = (find(joint.parent)?, find(joint.child)?);
        if let Some(other) = above[child] {
            let what = format!("a joint to link '{}'", joint.child.0);
            return Err(joint.element.error(Problem::Twice { what, first: other.element.line() }));
        }
        above[child] = Some(joint);
        below[parent].push(child);
    }
    let mut roots = (0..links.len()).filter(|&i| above[i].is_none());
    let first = roots.next();
    if let (Some(first), Some(second)) = (first, roots.next()) {
        let (name, root) = (links[second].name.into(), links[first].name.into());
        return Err(links[second].element.error(Problem::Roots { name, root }));
    }
    // Depth first from the root; what is not reached stands in a cycle.
    let (mut order, mut reached) = (Vec::new(), vec![false; links.len()]);
    let mut waiting: Vec<usize> = first.into_iter().collect();
    while let Some(i) = waiting.pop() {
        order.push(i);
        reached[i] = true;
        waiting.extend(below[i].iter().rev());
    }
    if let Some(lost) = (0..links.len()).find(|&i| !reached[i]) {
        let names = cycle(lost, &links, &above, &index);
        return Err(links[lost].element.error(Problem::Cycle { names }));
    }
    if order.is_empty() {
        return Err(robot.error(Problem::Empty));
    }
    Ok(assembled(links, &above, &order, (&index, floating)))
}

/// Names along the parents of a link until one comes again.
fn cycle(
    start: usize,
    links: &[UrdfLink<'_>],
    above: &[Option<&UrdfJoint<'_>>],
    index: &BTreeMap<&str, usize>,
) -> Vec<String> {
    let mut met = vec![start];
    let mut at = start;
    while let Some(&parent) = above[at].and_then(|j| index.get(j.parent.0)) {
        if let Some(begin) = met.iter().position(|&m| m == parent) {
            met.drain(..begin);
            break;
        }
        met.push(parent);
        at = parent;
    }
    met.iter().map(|&m| links[m].name.to_owned()).collect()
}

fn assembled(
    links: Vec<UrdfLink<'_>>,
    above: &[Option<&UrdfJoint<'_>>],
    order: &[usize],
    (index, floating): (&BTreeMap<&str, usize>, bool),
) -> (Vec<ImportedLink>, World) {
    let mut place: Vec<Option<usize>> = vec![None; links.len()];
    let mut links: Vec<Option<UrdfLink<'_>>> = links.into_iter().map(Some).collect();
    let (mut sorted, mut world) = (Vec::new(), Vec::new());
    for &i in order {
        let Some(link) = links[i].take() else { continue };
        let joint = above[i];
        if joint.is_none() && link.name == WORLD && link.inertia.mass <= 0.0 {
            world.extend(link.geometries);
            continue;
        }
        place[i] = Some(sorted.len());
        let parent = joint.and_then(|j| index.get(j.parent.0)).and_then(|&p| place[p]);
        sorted.push(link.joined(joint, parent, floating));
    }
    (sorted, world)
}

impl UrdfLink<'_> {
    fn joined(
        self,
        joint: Option<&UrdfJoint<'_>>,
        parent: Option<usize>,
        floating: bool,
    ) -> ImportedLink {
        let root = if floating { JointKind::Free } else { JointKind::Fixed };
        let held = joint.map_or_else(|| Joint::new(root), |j| j.joint.clone());
        ImportedLink {
            name: self.name.into(),
            spot: self.element.spot(),
            between: false,
            parent,
            joint_name: joint.map(|j| j.name.to_owned()).unwrap_or_default(),
            initial: held.kind.neutral(),
            joint: held,
            spring: None,
            effort_limit: joint.and_then(|j| j.effort_limit),
            inertia: self.inertia,
            geometries: self.geometries,
        }
    }
}

/// `origin`: `R = R_z(yaw) R_y(pitch) R_x(roll)`.
fn origin(owner: Element<'_>) -> Result<Pose, ImportError> {
    let Some(origin) = owner.only("origin")? else { return Ok(Pose::identity()) };
    let zero = Vector3::zeros;
    let position = origin.vector("xyz")?.unwrap_or_else(zero);
    let angles = origin.vector("rpy")?.unwrap_or_else(zero);
    let turn = |axis: Vector3<f64>, angle: f64| osculate_math::so3::exp(&(axis * angle));
    let rotation =
        turn(Vector3::z(), angles.z) * turn(Vector3::y(), angles.y) * turn(Vector3::x(), angles.x);
    Ok(Pose { position, rotation })
}

fn reason(tag: &str, attribute: Option<&str>) -> &'static str {
    match (tag, attribute) {
        ("visual" | "material" | "texture", _) => "only looks",
        ("transmission", _) => "drives of the other side are not read; the joint stays without one",
        ("gazebo", _) => "of another simulator",
        ("mimic", _) => "joints that follow another are not supported; this one moves on its own",
        ("safety_controller" | "calibration", _) => "of a controller, not of the mechanism",
        ("sensor", _) => "sensors are not simulated",
        ("contact", _) => "of another simulator",
        ("limit", Some("velocity")) => "speeds are not limited",
        ("limit", Some("lower" | "upper")) => "a joint of this type has no limits",
        ("verbose", _) => "a comment",
        ("limit" | "axis" | "dynamics", None) => "a joint of this type has none",
        _ => "not known to this reader",
    }
}
