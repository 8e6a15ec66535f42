//! `joint` and `freejoint`: several in one body act one after the other.
//!
//! ```text
//! X = X_parent · pose · Π_i T(p_i) M_i(q_i − ref_i) T(−p_i)
//! ```
//!
//! Each is a joint of its own here, placed at `T(p_i) M_i(−ref_i)`, with `T(−p_i)` as offset; all but the last hold a
//! link without mass. So coordinates, limits and initial positions are those of the file.

use super::super::description::{Spring, compose, shift};
use super::super::error::{ImportError, Problem};
use super::super::fields::{Fields, unit};
use super::super::notes::{Note, Outcome};
use super::super::xml::Element;
use super::Context;
use super::defaults::Resolved;
use crate::articulated::{Joint, JointKind, JointLimits, JointPosition};
use nalgebra::Vector3;
use osculate_math::se3::Pose;

/// A joint as it stands in a body.
pub(super) struct BodyJoint<'x> {
    pub(super) element: Element<'x>,
    pub(super) name: &'x str,
    /// Without the pose of the body in its placement.
    pub(super) joint: Joint,
    pub(super) initial: JointPosition,
    pub(super) spring: Option<Spring>,
    pub(super) effort_limit: Option<f64>,
}

impl<'x> BodyJoint<'x> {
    pub(super) fn read(
        context: &Context<'x, '_>,
        element: Element<'x>,
        (frame, class): (&Pose, Option<&'x str>),
        notes: &mut Vec<Note>,
    ) -> Result<Self, ImportError> {
        if element.tag() == "freejoint" {
            element.visit();
            element.attribute("group");
            return Ok(free(element));
        }
        let e = context.defaults.resolve(element, &["joint"], class)?;
        let axis = e.direction("axis")?.unwrap_or_else(Vector3::z);
        let axis = unit(&(frame.rotation * axis)).unwrap_or(axis);
        let kind = match e.text("type").unwrap_or("hinge") {
            "hinge" => JointKind::Revolute { axis },
            "slide" => JointKind::Prismatic { axis },
            "ball" => JointKind::Spherical,
            "free" => JointKind::Free,
            _ => return Err(e.refused("type", "hinge, slide, ball or free")),
        };
        let angle = |x: f64| match kind {
            JointKind::Prismatic { .. } => x,
            _ => context.compiler.angle(x),
        };
        if kind == JointKind::Free {
            let mut out = free(element);
            loose(&e, notes)?;
            out.joint = out.joint.with_armature(e.not_negative("armature")?.unwrap_or(0.0));
            return Ok(out);
        }
        let anchor = frame.transform_point(&e.vector("pos")?.unwrap_or_else(Vector3::zeros));
        let reference = angle(e.number("ref")?.unwrap_or(0.0));
        let initial = match kind {
            JointKind::Spherical => kind.neutral(),
            _ => JointPosition::Scalar(reference),
        };
        let back = kind.motion(&match kind {
            JointKind::Spherical => kind.neutral(),
            _ => JointPosition::Scalar(-reference),
        });
        let mut joint = Joint::new(kind)
            .placed(compose(&shift(anchor), &back))
            .with_offset(shift(-anchor))
            .with_armature(e.not_negative("armature")?.unwrap_or(0.0));
        joint.laws.friction.viscous = e.not_negative("damping")?.unwrap_or(0.0);
        joint.laws.friction.coulomb = e.not_negative("frictionloss")?.unwrap_or(0.0);
        let range = range(context, &e)?.map(|r| r.map(angle));
        let spring = spring(&e, angle)?;
        let effort_limit = effort_limit(context, &e, notes)?;
        let mut out = Self { element, name: name(element), joint, initial, spring, effort_limit };
        match (&kind, range) {
            (JointKind::Spherical, range) => out.restrict_ball(range.is_some(), notes),
            (_, Some([lower, upper])) => {
                out.joint.laws.limits = Some(JointLimits::new(lower, upper))
            }
            (_, None) => {}
        }
        Ok(out)
    }

    /// Leaves out what a ball joint has no law for.
    fn restrict_ball(&mut self, limited: bool, notes: &mut Vec<Note>) {
        let mut ignored = |attribute, reason: &str| {
            let outcome = Outcome::Ignored;
            notes.push(self.element.note(Some(attribute), outcome, reason.into()));
        };
        if limited {
            ignored("range", "ball joints have no limits");
        }
        if self.spring.take().is_some() {
            ignored("stiffness", "ball joints have no springs");
        }
        if self.effort_limit.take().is_some() {
            ignored("actuatorfrcrange", "ball joints have no drives");
        }
        if self.joint.laws.friction.coulomb > 0.0 {
            let reason = "acts on the norm of the angular velocity, not on each component".into();
            notes.push(self.element.note(Some("frictionloss"), Outcome::Changed, reason));
        }
    }
}

fn name(element: Element<'_>) -> &str {
    element.text("name").unwrap_or_default()
}

fn free(element: Element<'_>) -> BodyJoint<'_> {
    BodyJoint {
        element,
        name: name(element),
        joint: Joint::new(JointKind::Free),
        initial: JointKind::Free.neutral(),
        spring: None,
        effort_limit: None,
    }
}

/// Notes what a free joint has no law for.
fn loose(e: &Resolved<'_>, notes: &mut Vec<Note>) -> Result<(), ImportError> {
    for attribute in ["damping", "frictionloss", "stiffness"] {
        if e.number(attribute)?.is_some_and(|x| x.abs() > 0.0) {
            let reason = "free joints have no friction and no springs".into();
            notes.push(e.element().note(Some(attribute), Outcome::Ignored, reason));
        }
    }
    // None of them has a meaning for a free joint.
    for attribute in ["axis", "pos", "ref", "springref", "range", "limited"] {
        e.find(attribute);
    }
    Ok(())
}

/// `range`, where it limits.
fn range(context: &Context<'_, '_>, e: &Resolved<'_>) -> Result<Option<[f64; 2]>, ImportError> {
    bounds(context, e, "range", "limited")
}

/// A range with its switch: `true`, `false`, or `auto`, which means that a range that is given counts.
pub(super) fn bounds(
    context: &Context<'_, '_>,
    e: &Resolved<'_>,
    range: &'static str,
    limited: &'static str,
) -> Result<Option<[f64; 2]>, ImportError> {
    let ends = e.list(range, (2, 2), "two finite numbers")?.map(|x| [x[0], x[1]]);
    let acts = match e.text(limited).unwrap_or("auto") {
        "true" => true,
        "false" => false,
        "auto" if context.compiler.autolimits => ends.is_some(),
        "auto" if ends.is_some() => {
            let what = format!("attribute {limited} (autolimits is off)");
            return Err(e.element().error(Problem::Missing { what }));
        }
        "auto" => false,
        _ => return Err(e.refused(limited, "true, false or auto")),
    };
    match (acts, ends) {
        (true, None) => Err(e.missing(range)),
        (true, Some([lower, upper])) if lower >= upper => {
            Err(e.refused(range, "two numbers, the first less than the second"))
        }
        (acts, ends) => Ok(ends.filter(|_| acts)),
    }
}

fn spring(e: &Resolved<'_>, angle: impl Fn(f64) -> f64) -> Result<Option<Spring>, ImportError> {
    let stiffness = e.not_negative("stiffness")?.unwrap_or(0.0);
    let rest = angle(e.number("springref")?.unwrap_or(0.0));
    Ok((stiffness > 0.0).then_some(Spring { stiffness, rest }))
}

/// `actuatorfrcrange`, where both sides are the same.
fn effort_limit(
    context: &Context<'_, '_>,
    e: &Resolved<'_>,
    notes: &mut Vec<Note>,
) -> Result<Option<f64>, ImportError> {
    let name = "actuatorfrcrange";
    let Some([lower, upper]) = bounds(context, e, name, "actuatorfrclimited")? else {
        return Ok(None);
    };
    if upper > 0.0 && (lower + upper).abs() <= 1e-12 * upper {
        return Ok(Some(upper));
    }
    let reason = "the limit of a drive is the same on both sides".into();
    notes.push(e.element().note(Some(name), Outcome::Ignored, reason));
    Ok(None)
}
