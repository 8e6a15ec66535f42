//! The distance fields that actors supply.

use super::build::Context;
use super::error::FileError;
use super::schema::{self, BoxField, ColliderField, ColliderKind, MeshField, SdfField};
use super::shape::{self, Resolved};
use nalgebra::Vector3;
use osculate_geometry::collider::Collider;
use osculate_geometry::distance::MeshDistance;
use osculate_geometry::grid::GridSdf;

/// The collider that an actor asks for; `at` is the actor's field path.
pub(super) fn collider(
    context: &Context<'_>,
    choice: &schema::Collider,
    resolved: &Resolved,
    at: &str,
) -> Result<Option<Collider>, FileError> {
    let at = format!("{at}.collider");
    match choice {
        schema::Collider::Field(ColliderField::Plane(plane)) => {
            shape::half_space(context, plane, &format!("{at}.plane")).map(Some)
        }
        schema::Collider::Field(ColliderField::Sphere(ball)) => {
            shape::sphere(context, ball, &format!("{at}.sphere")).map(Some)
        }
        schema::Collider::Field(ColliderField::Box(field)) => {
            rounded_box(context, field, &format!("{at}.box")).map(Some)
        }
        schema::Collider::Field(ColliderField::Cylinder(field)) => {
            shape::cylinder_field(context, field, &format!("{at}.cylinder")).map(Some)
        }
        schema::Collider::Field(ColliderField::Sdf(field)) => {
            grid(context, field, resolved, &format!("{at}.sdf")).map(Some)
        }
        schema::Collider::Field(ColliderField::Mesh(field)) => {
            triangles(context, field, resolved, &format!("{at}.mesh")).map(Some)
        }
        schema::Collider::Named(kind) => named(context, *kind, resolved, &at),
    }
}

fn named(
    context: &Context<'_>,
    kind: ColliderKind,
    resolved: &Resolved,
    at: &str,
) -> Result<Option<Collider>, FileError> {
    match (kind, resolved.field.clone()) {
        (ColliderKind::None, _) => Ok(None),
        (ColliderKind::Auto, None) if resolved.mesh.is_some() => {
            grid(context, &SdfField::default(), resolved, at).map(Some)
        }
        (ColliderKind::Auto, field) => Ok(field),
        (ColliderKind::Mesh, _) => {
            triangles(context, &MeshField::default(), resolved, at).map(Some)
        }
        (ColliderKind::Sdf, _) => grid(context, &SdfField::default(), resolved, at).map(Some),
        (ColliderKind::PointCloud, _) => Err(FileError::Unsupported {
            place: context.source.place(at),
            found: "\"point-cloud\"".into(),
            missing: "the point-cloud contact of deformable bodies",
            allowed: "\"none\" if nothing has to collide with this actor, \"sdf\", \"mesh\", \"box\", \
                      \"sphere\", or a table",
        }),
        (ColliderKind::Plane, Some(field @ Collider::HalfSpace(_))) => Ok(Some(field)),
        (ColliderKind::Sphere, Some(field @ Collider::Sphere(_))) => Ok(Some(field)),
        (ColliderKind::Box, Some(field @ Collider::Cuboid(_))) => Ok(Some(field)),
        (ColliderKind::Plane, _) => Err(context.value(
            at,
            "\"plane\"",
            "a plane as shape, or { plane = { normal, offset } }",
        )),
        (ColliderKind::Sphere | ColliderKind::Box, _) => {
            bounds(context, kind, resolved, at).map(Some)
        }
    }
}

fn rounded_box(context: &Context<'_>, field: &BoxField, at: &str) -> Result<Collider, FileError> {
    let BoxField { center, half_extents, edge_radius } = field;
    // Centre and half extents are checked on the way.
    shape::cuboid(context, center, half_extents, at)?;
    let made = Collider::rounded_cuboid(
        Vector3::from(*center),
        Vector3::from(*half_extents),
        *edge_radius,
    );
    made.map_err(|e| context.geometry(&format!("{at}.edge_radius"), edge_radius, e))
}

/// Distances on a grid, read or built.
fn grid(
    context: &Context<'_>,
    field: &SdfField,
    resolved: &Resolved,
    at: &str,
) -> Result<Collider, FileError> {
    let made = match (&field.file, &resolved.mesh) {
        (Some(path), _) => {
            let alone = SdfField {
                interpolation: field.interpolation,
                scale: field.scale,
                rounding: field.rounding,
                file: field.file.clone(),
                ..SdfField::default()
            };
            if *field != alone {
                let allowed = "interpolation, scale and rounding beside file, or no file";
                return Err(context.value(at, "grid parameters beside file", allowed));
            }
            let found = format!("'{}'", path.display());
            GridSdf::load(context.base_dir.join(path))
                .map_err(|e| context.geometry(&format!("{at}.file"), found, e))?
        }
        (None, Some(mesh)) => {
            let params = field.params();
            let made = match &field.cache {
                Some(folder) => GridSdf::cached(mesh, &params, context.base_dir.join(folder)),
                None => GridSdf::of_mesh(mesh, &params),
            };
            made.map_err(|e| context.geometry(at, format!("{params:?}"), e))?
        }
        (None, None) => {
            let allowed =
                "a shape of triangles: mesh, box, cylinder, icosphere or triangles; or a grid file";
            return Err(context.value(at, "a grid without triangles", allowed));
        }
    };
    let made = made.interpolated(field.interpolation);
    scaled(context, &Collider::grid(made), (field.scale, field.rounding), at)
}

/// Distances to the triangles of the shape.
fn triangles(
    context: &Context<'_>,
    field: &MeshField,
    resolved: &Resolved,
    at: &str,
) -> Result<Collider, FileError> {
    let Some(mesh) = &resolved.mesh else {
        let allowed = "a shape of triangles: mesh, box, cylinder, icosphere or triangles";
        return Err(context.value(at, "distances to triangles without triangles", allowed));
    };
    let made = MeshDistance::new(mesh).map_err(|e| context.geometry(at, "this mesh", e))?;
    scaled(context, &Collider::mesh(made), (field.scale, field.rounding), at)
}

fn scaled(
    context: &Context<'_>,
    collider: &Collider,
    (scale, rounding): (f64, f64),
    at: &str,
) -> Result<Collider, FileError> {
    context.positive(&format!("{at}.scale"), scale, "")?;
    let rounding = context.number(&format!("{at}.rounding"), rounding)?;
    collider
        .scaled(scale, rounding)
        .map_err(|e| context.geometry(&format!("{at}.rounding"), rounding, e))
}

/// Ball or box of the local bounding box.
fn bounds(
    context: &Context<'_>,
    kind: ColliderKind,
    resolved: &Resolved,
    at: &str,
) -> Result<Collider, FileError> {
    let (lower, upper) = match (&resolved.mesh, &resolved.field) {
        (Some(mesh), _) => {
            let first = mesh.vertices()[0];
            let vertices = mesh.vertices().iter();
            vertices.fold((first, first), |(lower, upper), x| (lower.inf(x), upper.sup(x)))
        }
        (None, Some(Collider::Sphere(ball))) => {
            let radius = Vector3::repeat(ball.radius);
            (ball.center - radius, ball.center + radius)
        }
        (None, _) => {
            let found = format!("{kind:?} of a shape without bounds").to_lowercase();
            return Err(context.value(at, found, "a mesh, box or sphere as shape, or a table"));
        }
    };
    let (center, half_extents) = ((lower + upper) * 0.5, (upper - lower) * 0.5);
    let made = match kind {
        ColliderKind::Box => Collider::cuboid(center, half_extents),
        _ => Collider::sphere(center, half_extents.min()),
    };
    made.map_err(|e| context.geometry(at, format!("bounds {lower:?} to {upper:?}"), e))
}
