//! `geom`.

use super::super::description::{ContactNumbers, Geometry, GeometryShape, compose};
use super::super::error::{ImportError, Problem};
use super::super::fields::{Fields, unit};
use super::super::notes::Outcome;
use super::super::solid::{placed, unit_mass, with_mass};
use super::body::Item;
use super::defaults::Resolved;
use super::orientation::{pose, z_to};
use super::{Builder, Context, unique};
use crate::articulated::LinkInertia;
use nalgebra::Vector3;
use osculate_math::se3::Pose;

/// Density where neither mass nor density is given \[kg/m³\].
const DENSITY: f64 = 1000.0;
/// Friction where none is given: sliding, torsional, rolling.
const FRICTION: [f64; 3] = [1.0, 0.005, 0.0001];

/// A geometry, and what it adds to the mass of its body.
pub(super) struct Solid {
    pub(super) geometry: Geometry,
    pub(super) mass: Option<LinkInertia>,
}

/// Reads a geometry; none where it only has looks. `weighs`: whether the mass of the body comes from geometries.
pub(super) fn read<'x>(
    context: &Context<'x, '_>,
    item: &Item<'x>,
    weighs: bool,
    out: &mut Builder<'x>,
) -> Result<Option<Solid>, ImportError> {
    let element = item.element;
    let e = context.defaults.resolve(element, &["geom"], item.class)?;
    unique(&mut out.geometries, element, element.line(), |line| *line)?;
    let contact = contact(&e)?;
    let group = e.whole("group")?.unwrap_or(0);
    let mass = e.not_negative("mass")?;
    let density = e.not_negative("density")?.unwrap_or(DENSITY);
    let [first, last] = context.compiler.groups;
    let heavy = mass.unwrap_or(density) > 0.0 && (first..=last).contains(&group);
    let weighs = weighs && heavy;
    if e.flag("shellinertia")? == Some(true) && weighs {
        let (what, reason) = ("shellinertia".into(), "the mass of a shell is not computed");
        return Err(element.error(Problem::Refused { what, reason }));
    }
    let ends = ends(&e)?;
    let own = pose(&e, &context.compiler)?;
    let place = compose(&item.frame, &ends.map_or(own, |(pose, _)| pose));
    let kind = e.text("type").unwrap_or("sphere");
    if ends.is_some() && !matches!(kind, "capsule" | "cylinder" | "box" | "ellipsoid") {
        return Err(
            e.refused("fromto", "none, unless the type is capsule, cylinder, box or ellipsoid")
        );
    }
    if kind == "mesh" && !contact.acts() && !weighs {
        e.find("mesh");
        let reason = "it touches nothing and its mass does not count: only looks".into();
        out.notes.push(element.note(None, Outcome::Ignored, reason));
        return Ok(None);
    }
    let shape = shape(context, (&e, kind), ends.map(|(_, half)| half), out)?;
    let weight = if weighs { weigh(&e, &shape, (mass, density))? } else { None };
    let name = element.text("name").unwrap_or_default().into();
    let geometry = Geometry { name, line: element.line(), shape, pose: place, contact };
    Ok(Some(Solid { mass: weight.map(|w| placed(&w, &place)), geometry }))
}

/// Mass properties about the origin of the shape.
fn weigh(
    e: &Resolved<'_>,
    shape: &GeometryShape,
    (mass, density): (Option<f64>, f64),
) -> Result<Option<LinkInertia>, ImportError> {
    let wrong = |source| {
        let file = match shape {
            GeometryShape::Mesh(mesh) => mesh.path.display().to_string(),
            _ => String::new(),
        };
        e.element().error(Problem::Mesh { file, source })
    };
    let unit = unit_mass(shape).map_err(wrong)?;
    Ok(unit.map(|(volume, unit)| with_mass(&unit, mass.unwrap_or(density * volume))))
}

/// `contype`, `conaffinity`, `condim`, `friction` and `priority`.
pub(super) fn contact(e: &Resolved<'_>) -> Result<ContactNumbers, ImportError> {
    let given = e.list("friction", (1, 3), "one to three finite numbers")?.unwrap_or_default();
    if given.iter().any(|x| *x < 0.0) {
        return Err(e.refused("friction", "numbers ≥ 0"));
    }
    let mut friction = FRICTION;
    friction[..given.len()].copy_from_slice(&given);
    let dimension = dimension(e)?;
    Ok(ContactNumbers {
        friction: Some(friction),
        dimension,
        kind: e.whole("contype")?.unwrap_or(1),
        affinity: e.whole("conaffinity")?.unwrap_or(1),
        priority: priority(e)?,
    })
}

fn priority(e: &Resolved<'_>) -> Result<i32, ImportError> {
    let Some(text) = e.text("priority") else { return Ok(0) };
    text.parse().map_err(|_| e.refused("priority", "a whole number"))
}

/// `condim`.
pub(super) fn dimension(e: &Resolved<'_>) -> Result<u32, ImportError> {
    let dimension = e.whole("condim")?.unwrap_or(3);
    if matches!(dimension, 1 | 3 | 4 | 6) {
        return Ok(dimension);
    }
    Err(e.refused("condim", "1, 3, 4 or 6"))
}

/// `fromto`: the middle of a segment with z along it, and half its length.
pub(super) fn ends(e: &Resolved<'_>) -> Result<Option<(Pose, f64)>, ImportError> {
    let Some(x) = e.list("fromto", (6, 6), "six finite numbers")? else { return Ok(None) };
    let (from, to) = (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
    let along = from - to;
    let Some(direction) = unit(&along) else {
        return Err(e.refused("fromto", "two different points"));
    };
    let pose = Pose { position: (from + to) / 2.0, rotation: z_to(&direction) };
    Ok(Some((pose, along.norm() / 2.0)))
}

fn shape<'x>(
    context: &Context<'x, '_>,
    (e, kind): (&Resolved<'x>, &str),
    half_length: Option<f64>,
    out: &mut Builder<'x>,
) -> Result<GeometryShape, ImportError> {
    let size = e.list("size", (1, 3), "one to three finite numbers")?.unwrap_or_default();
    if kind == "mesh" {
        return mesh(context, e, out);
    }
    if e.find("mesh").is_some() {
        let what = format!("a {kind} fitted to a mesh");
        let reason = "the fit is not made; give size and pose";
        return Err(e.element().error(Problem::Refused { what, reason }));
    }
    let positive = |count: usize| {
        if size.len() < count || size[..count].iter().any(|x| *x <= 0.0) {
            let allowed = "as many numbers > 0 as the type needs";
            return Err(if size.is_empty() {
                e.missing("size")
            } else {
                e.refused("size", allowed)
            });
        }
        Ok(size.clone())
    };
    // Of a shape between two points, the first number is what lies across.
    let long = || match half_length {
        Some(half) => Ok((positive(1)?[0], half)),
        None => positive(2).map(|s| (s[0], s[1])),
    };
    let three = || match half_length {
        Some(half) => positive(1).map(|s| Vector3::new(s[0], s[0], half)),
        None => positive(3).map(|s| Vector3::new(s[0], s[1], s[2])),
    };
    Ok(match kind {
        "plane" => GeometryShape::Plane,
        "sphere" => GeometryShape::Sphere { radius: positive(1)?[0] },
        "capsule" => {
            let (radius, half_length) = long()?;
            GeometryShape::Capsule { radius, half_length }
        }
        "cylinder" => {
            let (radius, half_length) = long()?;
            GeometryShape::Cylinder { radius, half_length }
        }
        "box" => GeometryShape::Box { half_extents: three()? },
        "ellipsoid" => GeometryShape::Ellipsoid { half_axes: three()? },
        "hfield" | "sdf" => {
            let (what, reason) =
                (format!("a geometry of type {kind}"), "what stands on it would fall");
            return Err(e.element().error(Problem::Refused { what, reason }));
        }
        _ => {
            return Err(
                e.refused("type", "plane, sphere, capsule, ellipsoid, cylinder, box or mesh")
            );
        }
    })
}

fn mesh<'x>(
    context: &Context<'x, '_>,
    e: &Resolved<'x>,
    out: &mut Builder<'x>,
) -> Result<GeometryShape, ImportError> {
    let name = match e.text("mesh") {
        Some(name) => name,
        None => return Err(e.missing("mesh")),
    };
    context.assets.mesh(context, (e.element(), name), &mut out.notes).map(GeometryShape::Mesh)
}
