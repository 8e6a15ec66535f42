//! `joint`.

use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::notes::{Note, Outcome};
use super::super::xml::Element;
use super::origin;
use crate::articulated::{Joint, JointKind, JointLimits};
use nalgebra::Vector3;

/// A joint between links by name.
pub(super) struct UrdfJoint<'x> {
    pub(super) name: &'x str,
    pub(super) element: Element<'x>,
    /// The parent, and where it is named.
    pub(super) parent: (&'x str, Element<'x>),
    /// The child, and where it is named.
    pub(super) child: (&'x str, Element<'x>),
    pub(super) joint: Joint,
    /// Largest force or torque.
    pub(super) effort_limit: Option<f64>,
}

impl<'x> UrdfJoint<'x> {
    pub(super) fn read(element: Element<'x>, notes: &mut Vec<Note>) -> Result<Self, ImportError> {
        let name = element.needed_text("name")?;
        let end = |tag| {
            let end = element.needed(tag)?;
            Ok((end.needed_text("link")?, end))
        };
        let (parent, child) = (end("parent")?, end("child")?);
        let kind_name = element.needed_text("type")?;
        let kind = kind(element, kind_name)?;
        let mut joint = Joint::new(kind).placed(origin(element)?);
        let limit = if kind.is_scalar() { element.only("limit")? } else { None };
        let mut effort_limit = None;
        if let Some(limit) = limit {
            if kind_name != "continuous" {
                joint.laws.limits = Some(range(limit)?);
            }
            effort_limit = effort(limit, notes)?;
        } else if matches!(kind_name, "revolute" | "prismatic") {
            return Err(element.error(Problem::Missing { what: "<limit>".into() }));
        }
        if kind.is_scalar()
            && let Some(dynamics) = element.only("dynamics")?
        {
            joint.laws.friction.viscous = dynamics.not_negative("damping")?.unwrap_or(0.0);
            joint.laws.friction.coulomb = dynamics.not_negative("friction")?.unwrap_or(0.0);
        }
        Ok(Self { name, element, parent, child, joint, effort_limit })
    }
}

fn kind(element: Element<'_>, name: &str) -> Result<JointKind, ImportError> {
    let axis = || {
        let axis =
            element.only("axis")?.map(|a| a.direction("xyz")?.ok_or_else(|| a.missing("xyz")));
        Ok(axis.transpose()?.unwrap_or_else(Vector3::x))
    };
    match name {
        "revolute" | "continuous" => Ok(JointKind::Revolute { axis: axis()? }),
        "prismatic" => Ok(JointKind::Prismatic { axis: axis()? }),
        "fixed" => Ok(JointKind::Fixed),
        "floating" => Ok(JointKind::Free),
        // An extension of the format.
        "spherical" => Ok(JointKind::Spherical),
        "planar" => Err(element.error(Problem::Refused {
            what: "a planar joint".into(),
            reason: "write it as two prismatic joints and a revolute one",
        })),
        _ => Err(element
            .refused("type", "revolute, continuous, prismatic, fixed, floating or spherical")),
    }
}

fn range(limit: Element<'_>) -> Result<JointLimits, ImportError> {
    let end = |name| Ok::<_, ImportError>(limit.number(name)?.unwrap_or(0.0));
    let (lower, upper) = (end("lower")?, end("upper")?);
    if lower > upper {
        return Err(limit.refused("lower", "at most the upper limit"));
    }
    Ok(JointLimits::new(lower, upper))
}

/// `effort`; zero, as many files have it, says nothing.
fn effort(limit: Element<'_>, notes: &mut Vec<Note>) -> Result<Option<f64>, ImportError> {
    let effort = limit.not_negative("effort")?;
    if effort.is_some_and(|e| e <= 0.0) {
        let reason = "a limit of zero is taken for none".into();
        notes.push(limit.note(Some("effort"), Outcome::Changed, reason));
        return Ok(None);
    }
    Ok(effort)
}
