//! `equality`: `connect` and `weld` become loop closures.

use super::super::description::{Description, ImportedClosure, compose, inverse, shift};
use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::notes::Outcome;
use super::super::xml::Element;
use super::orientation::quaternion;
use super::{Builder, Context};
use crate::articulated::ClosureKind;
use nalgebra::Vector3;
use osculate_math::se3::Pose;
use std::collections::BTreeMap;

type End = (Option<usize>, Pose);

pub(super) fn read<'x>(
    context: &Context<'x, '_>,
    root: Element<'x>,
    out: &mut Builder<'x>,
    robot: &Description,
) -> Result<Vec<ImportedClosure>, ImportError> {
    let mut closures = Vec::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let poses = robot.initial_poses();
    for section in root.all("equality") {
        for element in section.children() {
            let kind = match element.tag() {
                "connect" => ClosureKind::Ball,
                "weld" => ClosureKind::Fixed,
                _ => continue,
            };
            let e = context.defaults.resolve(element, &["equality"], None)?;
            let active = e.flag("active")?.unwrap_or(true);
            let ends = match sites(element, out)? {
                Some(ends) => ends,
                None if kind == ClosureKind::Ball => connect(element, out, &poses)?,
                None => weld(element, out, &poses)?,
            };
            if !active {
                let reason = "it is not active".into();
                out.notes.push(element.note(None, Outcome::Ignored, reason));
                continue;
            }
            let given = element.text("name").filter(|n| !n.is_empty());
            let name =
                given.map_or_else(|| format!("{}_{}", element.tag(), element.line()), Into::into);
            if let Some(first) = names.insert(name.clone(), element.line()) {
                let what = format!("{} '{name}'", element.tag());
                return Err(element.error(Problem::Twice { what, first }));
            }
            let (first, second) = ends;
            closures.push(ImportedClosure { name, spot: element.spot(), kind, first, second });
        }
    }
    Ok(closures)
}

/// Both ends by sites.
fn sites<'x>(e: Element<'x>, out: &Builder<'x>) -> Result<Option<(End, End)>, ImportError> {
    if e.attribute("site1").is_none() && e.attribute("site2").is_none() {
        return Ok(None);
    }
    let find = |attribute: &str| {
        let name = e.needed_text(attribute)?;
        let unknown = || e.error(Problem::Unknown { what: "site", name: name.into() });
        let (link, pose, _) = out.sites.get(name).ok_or_else(unknown)?;
        Ok::<End, ImportError>((*link, *pose))
    };
    Ok(Some((find("site1")?, find("site2")?)))
}

/// The two bodies; the second is the world where it is not given.
fn bodies<'x>(
    e: Element<'x>,
    out: &Builder<'x>,
) -> Result<(Option<usize>, Option<usize>), ImportError> {
    let first = out.body(e, "body1")?;
    let second = match e.attribute("body2") {
        Some(_) => out.body(e, "body2")?,
        None => None,
    };
    Ok((first, second))
}

fn at(poses: &[Pose], link: Option<usize>) -> Pose {
    link.map_or_else(Pose::identity, |i| poses[i])
}

/// The point `anchor` of the first body, and where it is in the second at first.
fn connect<'x>(
    e: Element<'x>,
    out: &Builder<'x>,
    poses: &[Pose],
) -> Result<(End, End), ImportError> {
    let (first, second) = bodies(e, out)?;
    let anchor = e.vector("anchor")?.ok_or_else(|| e.missing("anchor"))?;
    let point = at(poses, first).transform_point(&anchor);
    let there = at(poses, second).inverse_transform_point(&point);
    Ok(((first, shift(anchor)), (second, shift(there))))
}

/// Frames held together: one of the second body, at `anchor`, and where it is in the first: `relpose`, or where it is
/// at first.
fn weld<'x>(e: Element<'x>, out: &Builder<'x>, poses: &[Pose]) -> Result<(End, End), ImportError> {
    let (first, second) = bodies(e, out)?;
    let anchor = shift(e.vector("anchor")?.unwrap_or_else(Vector3::zeros));
    let given = e.list("relpose", (7, 7), "seven finite numbers")?;
    let given = given.and_then(|x| {
        let rotation = quaternion([x[3], x[4], x[5], x[6]])?;
        Some(Pose { position: Vector3::new(x[0], x[1], x[2]), rotation })
    });
    let now = || {
        let relative = compose(&inverse(&at(poses, first)), &at(poses, second));
        compose(&relative, &anchor)
    };
    Ok(((first, given.unwrap_or_else(now)), (second, anchor)))
}
