//! `worldbody`, `body` and `frame`.

use super::super::description::{ImportedLink, compose};
use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::notes::Outcome;
use super::super::xml::Element;
use super::compiler::FromGeom;
use super::joint::BodyJoint;
use super::orientation::pose;
use super::{Builder, Context, WORLD, geom, inertial, unique};
use crate::articulated::{Joint, JointKind, JointPosition, LinkInertia};
use osculate_math::se3::Pose;

/// Something in a body: the frame that `frame` elements put around it, and the class that they or bodies give.
#[derive(Clone, Copy)]
pub(super) struct Item<'x> {
    pub(super) element: Element<'x>,
    pub(super) frame: Pose,
    pub(super) class: Option<&'x str>,
}

/// What stands in a body, `frame` elements resolved.
fn contents<'x>(
    context: &Context<'x, '_>,
    around: &Item<'x>,
    out: &mut Vec<Item<'x>>,
) -> Result<(), ImportError> {
    for element in around.element.children() {
        let mut item = Item { element, ..*around };
        if element.tag() == "frame" {
            let e = context.defaults.resolve(element, &[], None)?;
            item.frame = compose(&around.frame, &pose(&e, &context.compiler)?);
            item.class = child_class(context, element, around.class)?;
            element.attribute("name");
            contents(context, &item, out)?;
        } else {
            out.push(item);
        }
    }
    Ok(())
}

fn child_class<'x>(
    context: &Context<'x, '_>,
    element: Element<'x>,
    around: Option<&'x str>,
) -> Result<Option<&'x str>, ImportError> {
    let own = element.text("childclass");
    if let Some(name) = own {
        context.defaults.check(element, name)?;
    }
    Ok(own.or(around))
}

/// Reads everything in the world.
pub(super) fn read_world<'x>(
    context: &Context<'x, '_>,
    element: Element<'x>,
    out: &mut Builder<'x>,
) -> Result<(), ImportError> {
    let class = child_class(context, element, None)?;
    let world = Item { element, frame: Pose::identity(), class };
    let mut items = Vec::new();
    contents(context, &world, &mut items)?;
    for item in &items {
        match item.element.tag() {
            "geom" => {
                if let Some(solid) = geom::read(context, item, false, out)? {
                    out.world.push(solid.geometry);
                }
            }
            "site" => site(context, item, None, out)?,
            "body" => read(context, item, None, out)?,
            "joint" | "freejoint" | "inertial" => {
                let what = format!("<{}> of the world", item.element.tag());
                let reason = "the world does not move";
                return Err(item.element.error(Problem::Refused { what, reason }));
            }
            _ => {}
        }
    }
    Ok(())
}

fn read<'x>(
    context: &Context<'x, '_>,
    item: &Item<'x>,
    parent: Option<usize>,
    out: &mut Builder<'x>,
) -> Result<(), ImportError> {
    let element = item.element;
    // Bodies have no defaults.
    let e = context.defaults.resolve(element, &[], None)?;
    let place = compose(&item.frame, &pose(&e, &context.compiler)?);
    let class = child_class(context, element, item.class)?;
    if element.flag("mocap")? == Some(true) {
        let reason = "it stays where it is".into();
        out.notes.push(element.note(Some("mocap"), Outcome::Ignored, reason));
    }
    let inner = Item { element, frame: Pose::identity(), class };
    let mut items = Vec::new();
    contents(context, &inner, &mut items)?;
    let joints = items
        .iter()
        .filter(|i| matches!(i.element.tag(), "joint" | "freejoint"))
        .map(|i| BodyJoint::read(context, i.element, (&i.frame, i.class), &mut out.notes))
        .collect::<Result<Vec<_>, _>>()?;
    check_free(&joints, parent)?;
    let link = links(element, joints, (parent, place), out)?;
    if element.text("name") == Some(WORLD) {
        return Err(element.refused("name", "another name: this one means the world"));
    }
    unique(&mut out.bodies, element, (Some(link), element.line()), |(_, line)| *line)?;
    fill(context, (element, &items), link, out)?;
    for item in items.iter().filter(|i| i.element.tag() == "body") {
        read(context, item, Some(link), out)?;
    }
    Ok(())
}

/// A free joint is the only one of a body of the world.
fn check_free(joints: &[BodyJoint<'_>], parent: Option<usize>) -> Result<(), ImportError> {
    let Some(free) = joints.iter().find(|j| j.joint.kind == JointKind::Free) else {
        return Ok(());
    };
    if joints.len() == 1 && parent.is_none() {
        return Ok(());
    }
    let what = "a free joint here".into();
    let reason = "only a body of the world, without other joints, may be free";
    Err(free.element.error(Problem::Refused { what, reason }))
}

/// Makes the links of a body, one a joint and at least one; the last is the body.
fn links<'x>(
    element: Element<'x>,
    joints: Vec<BodyJoint<'x>>,
    (mut parent, mut place): (Option<usize>, Pose),
    out: &mut Builder<'x>,
) -> Result<usize, ImportError> {
    let name = element.text("name").filter(|n| !n.is_empty());
    let body = name.map_or_else(|| format!("body_{}", out.links.len() + 1), Into::into);
    let count = joints.len();
    let add = |link: ImportedLink, generated: bool, out: &mut Builder<'x>| {
        if generated {
            out.generated.push(out.links.len());
        }
        out.links.push(link);
        out.links.len() - 1
    };
    let plain = |joint: Joint, initial: JointPosition| ImportedLink {
        name: body.clone(),
        spot: element.spot(),
        between: false,
        parent: None,
        joint_name: String::new(),
        joint,
        spring: None,
        effort_limit: None,
        initial,
        inertia: LinkInertia::massless(),
        geometries: Vec::new(),
    };
    if count == 0 {
        let joint = Joint::new(JointKind::Fixed).placed(place);
        let link = ImportedLink { parent, ..plain(joint, JointPosition::None) };
        return Ok(add(link, name.is_none(), out));
    }
    for (i, given) in joints.into_iter().enumerate() {
        let BodyJoint {
            element: at,
            name: joint_name,
            mut joint,
            mut initial,
            spring,
            effort_limit,
        } = given;
        if joint.kind == JointKind::Free {
            initial = JointPosition::Pose(place);
        } else {
            joint.placement = compose(&place, &joint.placement);
            place = Pose::identity();
        }
        let last = i + 1 == count;
        let mut link = ImportedLink { parent, spring, effort_limit, ..plain(joint, initial) };
        link.joint_name = joint_name.into();
        if !last {
            link.between = true;
            let part = if joint_name.is_empty() {
                format!("joint_{}", i + 1)
            } else {
                link.joint_name.clone()
            };
            link.name = format!("{body}_{part}");
        }
        let index = add(link, !last || name.is_none(), out);
        unique(&mut out.joints, at, (index, at.line()), |(_, line)| *line)?;
        parent = Some(index);
    }
    Ok(out.links.len() - 1)
}

/// Mass properties, geometries and sites of a body.
fn fill<'x>(
    context: &Context<'x, '_>,
    (element, items): (Element<'x>, &[Item<'x>]),
    link: usize,
    out: &mut Builder<'x>,
) -> Result<(), ImportError> {
    let given = match element.only("inertial")? {
        Some(e) => Some(inertial::read(context, e, &mut out.notes)?),
        None => None,
    };
    let from_geom = match context.compiler.from_geom {
        FromGeom::Always => true,
        FromGeom::Auto => given.is_none(),
        FromGeom::Never => false,
    };
    let mut bodies = Vec::new();
    for item in items {
        match item.element.tag() {
            "geom" => {
                if let Some(solid) = geom::read(context, item, from_geom, out)? {
                    bodies.extend(solid.mass);
                    out.links[link].geometries.push(solid.geometry);
                }
            }
            "site" => site(context, item, Some(link), out)?,
            _ => {}
        }
    }
    out.links[link].inertia = if from_geom {
        super::super::solid::sum(&bodies)
    } else {
        given.unwrap_or_else(LinkInertia::massless)
    };
    Ok(())
}

fn site<'x>(
    context: &Context<'x, '_>,
    item: &Item<'x>,
    link: Option<usize>,
    out: &mut Builder<'x>,
) -> Result<(), ImportError> {
    let e = context.defaults.resolve(item.element, &["site"], item.class)?;
    let fromto = geom::ends(&e)?.map(|(pose, _)| pose);
    let own = pose(&e, &context.compiler)?;
    let place = compose(&item.frame, &fromto.unwrap_or(own));
    let value = (link, place, item.element.line());
    // What else it has is how it looks, and what sensors and tendons make of it.
    for attribute in ["type", "size", "group", "rgba", "material", "user"] {
        e.find(attribute);
    }
    unique(&mut out.sites, item.element, value, |(_, _, line)| *line)
}
