//! Shapes and the colliders that come from them.

use super::build::Context;
use super::error::FileError;
use super::mesh_file;
use super::schema::{BoxShape, CylinderField, CylinderShape, PlaneField, Shape, SphereField};
use nalgebra::Vector3;
use osculate_geometry::GeometryError;
use osculate_geometry::collider::Collider;
use osculate_geometry::mesh::TriangleMesh;

/// The most squares along an edge of a box.
const MOST_DIVISIONS: usize = 200;
/// The most strips of each half of a rounded edge.
const MOST_STRIPS: usize = 100;
/// How often the triangles of an icosphere may be cut.
const MOST_CUTS: usize = 7;
/// The most sides and rings of a cylinder.
const MOST_SIDES: usize = 1000;
const MOST_RINGS: usize = 100;

/// A shape that was read or made.
#[derive(Default)]
pub(super) struct Resolved {
    /// Its triangles, if it has any.
    pub(super) mesh: Option<TriangleMesh>,
    /// Its exact distance field, if it has one.
    pub(super) field: Option<Collider>,
}

/// The shape; `at` is its field path.
pub(super) fn resolve(
    context: &Context<'_>,
    shape: Option<&Shape>,
    at: &str,
) -> Result<Resolved, FileError> {
    let Some(shape) = shape else { return Ok(Resolved::default()) };
    let mesh = |mesh: TriangleMesh| Resolved { mesh: Some(mesh), field: None };
    match shape {
        Shape::Mesh(file) => mesh_file::read(context, file, &format!("{at}.mesh")).map(mesh),
        Shape::Box(b) => boxed(context, b, &format!("{at}.box")),
        Shape::Cylinder(c) => cylinder(context, c, &format!("{at}.cylinder")),
        Shape::Icosphere(ball) => {
            let at = format!("{at}.icosphere");
            let radius = context.positive(&format!("{at}.radius"), ball.radius, "m")?;
            let cuts =
                limited(context, ball.subdivisions, 0..=MOST_CUTS, &format!("{at}.subdivisions"))?;
            let made = TriangleMesh::icosphere(radius, cuts);
            made.map(mesh).map_err(|e| context.geometry(&at, format!("{ball:?}"), e))
        }
        Shape::Triangles(list) => {
            let at = format!("{at}.triangles");
            for (i, vertex) in list.vertices.iter().enumerate() {
                context.vector(&format!("{at}.vertices[{i}]"), vertex)?;
            }
            let vertices = list.vertices.iter().map(|&x| Vector3::from(x)).collect();
            let made = TriangleMesh::new(vertices, list.triangles.clone());
            made.map(mesh).map_err(|e| match e {
                GeometryError::IndexOutOfRange { triangle, .. }
                | GeometryError::DegenerateTriangle { triangle, .. } => {
                    let found = format!("{:?}", list.triangles[triangle]);
                    context.geometry(&format!("{at}.triangles[{triangle}]"), found, e)
                }
                _ => context.geometry(&at, "this mesh", e),
            })
        }
        Shape::Plane(plane) => {
            let field = Some(half_space(context, plane, &format!("{at}.plane"))?);
            Ok(Resolved { mesh: None, field })
        }
        Shape::Sphere(ball) => {
            let field = Some(sphere(context, ball, &format!("{at}.sphere"))?);
            Ok(Resolved { mesh: None, field })
        }
    }
}

/// A box with sharp or rounded edges.
fn boxed(context: &Context<'_>, b: &BoxShape, at: &str) -> Result<Resolved, FileError> {
    let sharp = cuboid(context, &[0.0; 3], &b.half_extents, at)?;
    limited(context, b.subdivisions, 1..=MOST_DIVISIONS, &format!("{at}.subdivisions"))?;
    let h = Vector3::from(b.half_extents);
    let failed = |field: &str, e| context.geometry(field, format!("{b:?}"), e);
    let Some(radius) = b.edge_radius else {
        if b.edge_subdivisions.is_some() {
            let (field, found) = (format!("{at}.edge_subdivisions"), "no edge_radius");
            return Err(context.value(&field, found, "edge_radius beside edge_subdivisions"));
        }
        let mesh = TriangleMesh::refined_cuboid(&h, b.subdivisions).map_err(|e| failed(at, e))?;
        return Ok(Resolved { mesh: Some(mesh), field: Some(sharp) });
    };
    let field = format!("{at}.edge_radius");
    context.positive(&field, radius, "m")?;
    if radius >= h.min() {
        let allowed = format!("below the smallest half extent, {} m", h.min());
        return Err(context.value(&field, format!("{radius} m"), allowed));
    }
    let divisions = b.divisions();
    limited(context, divisions.arc, 1..=MOST_STRIPS, &format!("{at}.edge_subdivisions"))?;
    let mesh = TriangleMesh::rounded_cuboid(&h, radius, divisions).map_err(|e| failed(at, e))?;
    let rounded = Collider::rounded_cuboid(Vector3::zeros(), h, radius);
    let rounded = rounded.map_err(|e| failed(&field, e))?;
    Ok(Resolved { mesh: Some(mesh), field: Some(rounded) })
}

/// A cylinder and its triangles.
fn cylinder(context: &Context<'_>, c: &CylinderShape, at: &str) -> Result<Resolved, FileError> {
    let CylinderShape { radius, half_height, sides, rings } = *c;
    let field = CylinderField { center: [0.0; 3], radius, half_height };
    let field = cylinder_field(context, &field, at)?;
    limited(context, sides, 3..=MOST_SIDES, &format!("{at}.sides"))?;
    limited(context, rings, 1..=MOST_RINGS, &format!("{at}.rings"))?;
    let mesh = TriangleMesh::cylinder(radius, half_height, sides, rings)
        .map_err(|e| context.geometry(at, format!("{c:?}"), e))?;
    Ok(Resolved { mesh: Some(mesh), field: Some(field) })
}

pub(super) fn cylinder_field(
    context: &Context<'_>,
    field: &CylinderField,
    at: &str,
) -> Result<Collider, FileError> {
    let center = context.vector(&format!("{at}.center"), &field.center)?;
    let radius = context.positive(&format!("{at}.radius"), field.radius, "m")?;
    let half_height = context.positive(&format!("{at}.half_height"), field.half_height, "m")?;
    Collider::cylinder(center, radius, half_height)
        .map_err(|e| context.geometry(at, format!("{field:?}"), e))
}

fn limited(
    context: &Context<'_>,
    found: usize,
    range: std::ops::RangeInclusive<usize>,
    at: &str,
) -> Result<usize, FileError> {
    if range.contains(&found) {
        return Ok(found);
    }
    let allowed = format!("{} to {}", range.start(), range.end());
    Err(context.value(at, found, allowed))
}

pub(super) fn half_space(
    context: &Context<'_>,
    plane: &PlaneField,
    at: &str,
) -> Result<Collider, FileError> {
    let normal = context.vector(&format!("{at}.normal"), &plane.normal)?;
    let offset = context.number(&format!("{at}.offset"), plane.offset)?;
    // The square of the length must not vanish either.
    if normal.norm() < 1e-90 {
        let found = format!("{:?}", plane.normal);
        return Err(context.value(&format!("{at}.normal"), found, "a vector that is not zero"));
    }
    Collider::half_space(normal, offset)
        .map_err(|e| context.geometry(&format!("{at}.normal"), format!("{:?}", plane.normal), e))
}

pub(super) fn sphere(
    context: &Context<'_>,
    ball: &SphereField,
    at: &str,
) -> Result<Collider, FileError> {
    let center = context.vector(&format!("{at}.center"), &ball.center)?;
    let radius = context.positive(&format!("{at}.radius"), ball.radius, "m")?;
    Collider::sphere(center, radius)
        .map_err(|e| context.geometry(&format!("{at}.radius"), ball.radius, e))
}

pub(super) fn cuboid(
    context: &Context<'_>,
    center: &[f64; 3],
    half_extents: &[f64; 3],
    at: &str,
) -> Result<Collider, FileError> {
    let center = context.vector(&format!("{at}.center"), center)?;
    for (i, &x) in half_extents.iter().enumerate() {
        context.positive(&format!("{at}.half_extents[{i}]"), x, "m")?;
    }
    Collider::cuboid(center, Vector3::from(*half_extents))
        .map_err(|e| context.geometry(at, format!("{half_extents:?}"), e))
}
