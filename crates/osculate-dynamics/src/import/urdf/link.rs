//! `link`.

use super::super::description::{ContactNumbers, Geometry, GeometryShape};
use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::mesh::{MeshName, Meshes};
use super::super::notes::{Note, Outcome};
use super::super::solid::{Moments, moments, placed};
use super::super::xml::Element;
use super::origin;
use crate::articulated::LinkInertia;
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::mass::MassProperties;

/// A link, not yet joined.
pub(super) struct UrdfLink<'x> {
    pub(super) name: &'x str,
    pub(super) element: Element<'x>,
    pub(super) inertia: LinkInertia,
    pub(super) geometries: Vec<Geometry>,
}

impl<'x> UrdfLink<'x> {
    pub(super) fn read(
        element: Element<'x>,
        meshes: &Meshes<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<Self, ImportError> {
        let name = element.needed_text("name")?;
        let inertia = match element.only("inertial")? {
            Some(inertial) => mass(inertial, notes)?,
            None => LinkInertia::massless(),
        };
        let geometries = element
            .all("collision")
            .map(|c| collision(c, meshes, notes))
            .collect::<Result<_, _>>()?;
        Ok(Self { name, element, inertia, geometries })
    }
}

/// `inertial`: the inertia is about the centre of mass, which is `origin`, along its axes.
fn mass(inertial: Element<'_>, notes: &mut Vec<Note>) -> Result<LinkInertia, ImportError> {
    let pose = origin(inertial)?;
    let weight = inertial.needed("mass")?;
    let mass = weight.needed_number("value")?;
    if mass < 0.0 {
        return Err(weight.refused("value", "≥ 0"));
    }
    let entries = inertial.needed("inertia")?;
    let entry = |name: &str| Ok(entries.number(name)?.unwrap_or(0.0));
    let [x, y, z] = ["ixx", "iyy", "izz"].map(|name| entries.needed_number(name));
    let [xy, xz, yz] = ["ixy", "ixz", "iyz"].map(entry);
    let (x, y, z, xy, xz, yz) = (x?, y?, z?, xy?, xz?, yz?);
    let mut inertia = Matrix3::new(x, xy, xz, xy, y, yz, xz, yz, z);
    if mass <= 0.0 {
        if inertia.amax() > 0.0 {
            notes.push(entries.note(None, Outcome::Ignored, "without mass there is none".into()));
        }
        return Ok(LinkInertia::massless());
    }
    if let Moments::Lowered(lowered, by) = moments(&inertia) {
        let percent = by * 100.0;
        let reason = format!(
            "the largest principal moment exceeded the sum of the others by {percent:.2e} % of it, and is lowered to it"
        );
        notes.push(entries.note(None, Outcome::Changed, reason));
        inertia = lowered;
    }
    let body = LinkInertia { mass, center: Vector3::zeros(), inertia };
    let body = placed(&body, &pose);
    MassProperties::new(body.mass, body.center, body.inertia)
        .map(Into::into)
        .map_err(|source| entries.error(Problem::Mass { source }))
}

fn collision(
    element: Element<'_>,
    meshes: &Meshes<'_>,
    notes: &mut Vec<Note>,
) -> Result<Geometry, ImportError> {
    let pose = origin(element)?;
    let name = element.text("name").unwrap_or_default().into();
    let geometry = element.needed("geometry")?;
    let Some(shape) = geometry.children().next() else {
        return Err(geometry.error(Problem::Missing { what: "a shape".into() }));
    };
    shape.visit();
    if let Some(second) = geometry.children().nth(1) {
        let what = "the shape".into();
        return Err(second.error(Problem::Twice { what, first: shape.line() }));
    }
    let shape = match shape.tag() {
        "sphere" => GeometryShape::Sphere { radius: shape.needed_positive("radius")? },
        "box" => {
            let size = shape.vector("size")?.ok_or_else(|| shape.missing("size"))?;
            if size.min() <= 0.0 {
                return Err(shape.refused("size", "three numbers > 0"));
            }
            GeometryShape::Box { half_extents: size / 2.0 }
        }
        "cylinder" => GeometryShape::Cylinder {
            radius: shape.needed_positive("radius")?,
            half_length: shape.needed_positive("length")? / 2.0,
        },
        "capsule" => GeometryShape::Capsule {
            radius: shape.needed_positive("radius")?,
            half_length: shape.needed_positive("length")? / 2.0,
        },
        "mesh" => {
            let file = shape.needed_text("filename")?;
            let scale = shape.vector("scale")?.unwrap_or_else(|| Vector3::repeat(1.0));
            if scale.iter().any(|s| s.abs() <= 0.0) {
                return Err(shape.refused("scale", "three numbers, none zero"));
            }
            let name = MeshName { file, folder: "", scale };
            GeometryShape::Mesh(meshes.load(shape, &name, notes)?)
        }
        found => {
            let (field, found) = ("geometry".into(), found.into());
            let allowed = "sphere, box, cylinder, capsule or mesh";
            return Err(shape.error(Problem::Value { field, found, allowed }));
        }
    };
    Ok(Geometry { name, line: element.line(), shape, pose, contact: ContactNumbers::default() })
}
