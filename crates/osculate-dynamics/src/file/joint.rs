//! `[[joint]]` and `[[loop]]`: links and how they are joined.

use super::actor::pose;
use super::build::Context;
use super::error::FileError;
use super::schema::{
    DriveTable, FrameTable, FrictionTable, JointTable, JointWord, LimitTable, SceneFile,
};
use crate::articulated::{
    Attachment, Joint, JointDrive, JointFriction, JointKind, JointLaws, JointLimits, JointPosition,
    LoopClosure, ModelError,
};
use crate::{Articulation, ArticulationError, LinkJoint, Scene};
use nalgebra::Vector3;
use osculate_math::se3::Pose;
use osculate_math::so3;

/// The joints of a scene, if it has any.
pub(super) fn articulation(
    context: &Context<'_>,
    file: &SceneFile,
    scene: &Scene,
) -> Result<Option<Articulation>, FileError> {
    if file.joints.is_empty() {
        return match file.loops.first() {
            None => Ok(None),
            Some(_) => Err(context.value("loop", "a loop without joints", "links to close it")),
        };
    }
    let mut joints = Vec::with_capacity(file.joints.len());
    for (i, table) in file.joints.iter().enumerate() {
        let at = format!("joint[{i}]");
        let joint = link_joint(context, table, scene, &at)?;
        check_link(context, (file, &file.joints[..i], scene), (table, joint.body), &at)?;
        joints.push(joint);
    }
    let mut closures = Vec::with_capacity(file.loops.len());
    for (i, table) in file.loops.iter().enumerate() {
        let at = format!("loop[{i}]");
        closures.push(LoopClosure {
            name: table.name.clone(),
            kind: table.kind.into(),
            first: attachment(context, &table.first, scene, &format!("{at}.first"))?,
            second: attachment(context, &table.second, scene, &format!("{at}.second"))?,
            stiffness: table.stiffness,
            damping: table.damping,
        });
    }
    let made = Articulation::new(&scene.bodies, joints, closures);
    made.map(Some).map_err(|source| context.scene(&place(file, &source), source.into()))
}

/// The joint or loop that an error is about.
fn place(file: &SceneFile, error: &ArticulationError) -> String {
    let joint = |name: &str| file.joints.iter().position(|j| j.child == name);
    let closure = |name: &str| file.loops.iter().position(|l| l.name == name);
    let at =
        |what: &str, i: Option<usize>| i.map_or_else(|| what.into(), |i| format!("{what}[{i}]"));
    match error {
        ArticulationError::Model(e) => match e {
            ModelError::Number { what: "closure", name, .. } => at("loop", closure(name)),
            ModelError::UnknownLink { closure: name, .. }
            | ModelError::SelfClosure { closure: name } => at("loop", closure(name)),
            ModelError::Unnamed { what: "closure", index } => at("loop", Some(*index)),
            ModelError::DuplicateName { what: "closure", name } => at("loop", closure(name)),
            ModelError::Number { name, .. } | ModelError::DuplicateName { name, .. } => {
                at("joint", joint(name))
            }
            ModelError::UnknownParent { link, .. }
            | ModelError::Law { link, .. }
            | ModelError::Mass { link, .. }
            | ModelError::Massless { link, .. }
            | ModelError::Position { link, .. } => at("joint", joint(link)),
            ModelError::Cycle { names } => at("joint", names.first().and_then(|n| joint(n))),
            _ => "joint".into(),
        },
        ArticulationError::Static { body }
        | ArticulationError::Rates { body, .. }
        | ArticulationError::NotFinite { body, .. } => at("joint", joint(body)),
        _ => "joint".into(),
    }
}

/// A link has one joint, and its motion follows from it.
fn check_link(
    context: &Context<'_>,
    (file, before, scene): (&SceneFile, &[JointTable], &Scene),
    (table, body): (&JointTable, usize),
    at: &str,
) -> Result<(), FileError> {
    if let Some(other) = before.iter().position(|j| j.child == table.child) {
        let allowed =
            format!("an actor other than that of joint[{other}]; close loops with [[loop]]");
        return Err(context.value(&format!("{at}.child"), format!("'{}'", table.child), allowed));
    }
    let actor = &file.actors[body];
    if actor.fixed {
        let found = format!("'{}', which is static", table.child);
        return Err(context.value(&format!("{at}.child"), found, "a dynamic actor"));
    }
    let moving = |v: &[f64; 3]| v.iter().any(|x| x.abs() > 0.0);
    let given = [
        ("pose", scene.bodies[body].pose != Pose::identity()),
        ("velocity", moving(&actor.velocity)),
        ("angular_velocity", moving(&actor.angular_velocity)),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        let found = format!("{name} of '{}', a link", actor.name);
        let allowed = "none: it follows from the joint's placement, offset, q and qdot";
        return Err(context.value(&format!("actor[{body}].{name}"), found, allowed));
    }
    Ok(())
}

fn link_joint(
    context: &Context<'_>,
    table: &JointTable,
    scene: &Scene,
    at: &str,
) -> Result<LinkJoint, FileError> {
    let body = context.actor(&format!("{at}.child"), &table.child, scene)?;
    let field = format!("{at}.parent");
    let parent =
        table.parent.as_ref().map(|name| context.actor(&field, name, scene)).transpose()?;
    let kind = kind(context, table, at)?;
    let mut joint = Joint::new(kind)
        .placed(pose(context, &table.placement, &format!("{at}.placement"))?)
        .with_offset(pose(context, &table.offset, &format!("{at}.offset"))?)
        .with_armature(context.number(&format!("{at}.armature"), table.armature)?);
    joint.laws = laws(context, table, at)?;
    let position = match &table.q {
        Some(q) => Some(position(context, &kind, q, &format!("{at}.q"))?),
        None => None,
    };
    let rates = table.qdot.clone().unwrap_or_default();
    let field = format!("{at}.qdot");
    context.numbers(&field, &rates)?;
    if table.qdot.is_some() && rates.len() != kind.dofs() {
        let allowed = format!("{} of a {} joint", kind.dofs(), kind.name());
        return Err(context.value(&field, format!("{} numbers", rates.len()), allowed));
    }
    Ok(LinkJoint { body, parent, joint, position, rates })
}

fn kind(context: &Context<'_>, table: &JointTable, at: &str) -> Result<JointKind, FileError> {
    let field = format!("{at}.axis");
    let needs = matches!(table.kind, JointWord::Revolute | JointWord::Prismatic);
    let axis = match (&table.axis, needs) {
        (Some(axis), true) => {
            let v = context.vector(&field, axis)?;
            let unit = v.try_normalize(0.0);
            unit.ok_or_else(|| {
                context.value(&field, format!("{axis:?}"), "a vector that is not zero")
            })?
        }
        (None, false) => Vector3::zeros(),
        (found, _) => {
            let allowed = "an axis for a revolute or prismatic joint, none for the others";
            let found = if found.is_some() { "an axis" } else { "no axis" };
            return Err(context.value(&field, found, allowed));
        }
    };
    Ok(match table.kind {
        JointWord::Free => JointKind::Free,
        JointWord::Spherical => JointKind::Spherical,
        JointWord::Revolute => JointKind::Revolute { axis },
        JointWord::Prismatic => JointKind::Prismatic { axis },
        JointWord::Fixed => JointKind::Fixed,
    })
}

fn laws(context: &Context<'_>, table: &JointTable, at: &str) -> Result<JointLaws, FileError> {
    let FrictionTable { viscous, coulomb, stiction, stribeck_speed, falloff_speed } =
        table.friction;
    let friction =
        JointFriction { viscous, coulomb, stiction_extra: stiction, stribeck_speed, falloff_speed };
    let limits = table.limits.map(|l| {
        let LimitTable { lower, upper, stiffness, damping } = l;
        JointLimits {
            lower: lower.unwrap_or(f64::NEG_INFINITY),
            upper: upper.unwrap_or(f64::INFINITY),
            stiffness,
            damping,
        }
    });
    if let Some(l) = &table.limits {
        let field = format!("{at}.limits");
        for x in [l.lower, l.upper].into_iter().flatten() {
            context.number(&field, x)?;
        }
        if l.lower.is_none() && l.upper.is_none() {
            return Err(context.value(&field, "neither", "lower, upper or both"));
        }
    }
    let drive = table.drive.map(|d| {
        let DriveTable { effort, k_p, k_d, target, target_velocity, effort_limit } = d;
        JointDrive { effort, stiffness: k_p, damping: k_d, target, target_velocity, effort_limit }
    });
    Ok(JointLaws { friction, limits, drive })
}

fn position(
    context: &Context<'_>,
    kind: &JointKind,
    q: &[f64],
    at: &str,
) -> Result<JointPosition, FileError> {
    context.numbers(at, q)?;
    if q.len() != kind.dofs() {
        let allowed = format!("{} of a {} joint", kind.dofs(), kind.name());
        return Err(context.value(at, format!("{} numbers", q.len()), allowed));
    }
    let v = |i: usize| Vector3::new(q[i], q[i + 1], q[i + 2]);
    Ok(match q.len() {
        6 => JointPosition::Pose(Pose { position: v(0), rotation: so3::exp(&v(3)) }),
        3 => JointPosition::Rotation(so3::exp(&v(0))),
        1 => JointPosition::Scalar(q[0]),
        _ => JointPosition::None,
    })
}

fn attachment(
    context: &Context<'_>,
    table: &FrameTable,
    scene: &Scene,
    at: &str,
) -> Result<Attachment, FileError> {
    let field = format!("{at}.link");
    let link = table.link.as_ref().map(|name| context.actor(&field, name, scene)).transpose()?;
    Ok(Attachment { link, frame: pose(context, &table.frame, &format!("{at}.frame"))? })
}
