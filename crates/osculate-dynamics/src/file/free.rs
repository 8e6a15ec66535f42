//! `free`: what of an actor's geometry is a parameter.

use super::build::Context;
use super::error::FileError;
use super::schema::{self, Actor, BoxShape, ColliderField, ColliderKind, FreeGeometry, Shape};
use super::shape::Resolved;
use crate::{Body, FreeShape, ShapeMode};
use nalgebra::Vector3;
use osculate_geometry::collider::Collider;
use osculate_geometry::quadrature::Surface;
use std::sync::Arc;

/// The most free vertices, three parameters each, and the most free nodes.
const MOST_VERTICES: usize = 100_000;
const MOST_NODES: usize = 1_000_000;

/// The free geometry of a body that is made but for it; `at` is the actor's field path.
pub(super) fn shape(
    context: &Context<'_>,
    (actor, resolved): (&Actor, &Resolved),
    body: &Body,
    at: &str,
) -> Result<Option<Arc<FreeShape>>, FileError> {
    let mut free = FreeShape::default();
    for (i, &what) in actor.free.iter().enumerate() {
        let field = format!("{at}.free[{i}]");
        if actor.free[..i].contains(&what) {
            return Err(context.value(&field, format!("\"{}\" twice", what.name()), "each once"));
        }
        let made = add(&mut free, what, (actor, resolved), body);
        made.map_err(|refusal| refusal.at(context, &field, what))?;
    }
    let (moves, rule) = (free != FreeShape::default(), actor.quadrature.unwrap_or_default());
    let only_nodes = !(free.scale || free.vertices || !free.modes.is_empty());
    if let (Some(mesh), true, false) = (&resolved.mesh, follow(body), only_nodes) {
        free.surface = Some(Surface::new(mesh, rule));
    }
    Ok(moves.then(|| Arc::new(free)))
}

/// Whether the samples are those of the triangles.
fn follow(body: &Body) -> bool {
    body.samples.as_ref().is_some_and(|s| !s.elements().is_empty())
}

/// What was found and what is allowed.
struct Refusal(String, &'static str);

impl Refusal {
    fn at(self, context: &Context<'_>, field: &str, what: FreeGeometry) -> FileError {
        let Self(found, allowed) = self;
        context.value(field, format!("\"{}\" of {found}", what.name()), allowed)
    }
}

fn add(
    free: &mut FreeShape,
    what: FreeGeometry,
    (actor, resolved): (&Actor, &Resolved),
    body: &Body,
) -> Result<(), Refusal> {
    match what {
        FreeGeometry::Scale if body.samples.is_none() && body.collider.is_none() => {
            Err(Refusal("an actor without samples and collider".into(), "either"))
        }
        FreeGeometry::Scale => {
            free.scale = true;
            Ok(())
        }
        FreeGeometry::HalfExtents => {
            free.modes.extend(box_modes(actor, body)?.into_iter().take(3));
            Ok(())
        }
        FreeGeometry::EdgeRadius => {
            free.modes.extend(box_modes(actor, body)?.into_iter().skip(3));
            match &actor.shape {
                Some(Shape::Box(BoxShape { edge_radius: Some(_), .. })) => Ok(()),
                _ => Err(Refusal("a box of sharp edges".into(), "shape.box with edge_radius")),
            }
        }
        FreeGeometry::Vertices => match &resolved.mesh {
            Some(mesh) if follow(body) && mesh.vertices().len() <= MOST_VERTICES => {
                free.vertices = true;
                Ok(())
            }
            Some(mesh) if follow(body) => {
                let found = format!("{} vertices", mesh.vertices().len());
                Err(Refusal(found, "at most 100000 vertices"))
            }
            _ => Err(Refusal(
                "samples that do not follow from triangles".into(),
                "a shape of triangles with a quadrature",
            )),
        },
        FreeGeometry::Nodes => match &body.collider {
            Some(Collider::Grid(grid)) if grid.base.values().len() <= MOST_NODES => {
                free.nodes = true;
                Ok(())
            }
            Some(Collider::Grid(grid)) => {
                let found = format!("{} nodes", grid.base.values().len());
                Err(Refusal(found, "at most 1000000 nodes"))
            }
            _ => Err(Refusal("a collider that is not a grid".into(), "collider = \"sdf\"")),
        },
    }
}

/// Half extents and edge radius of the actor's box.
fn box_modes(actor: &Actor, body: &Body) -> Result<[ShapeMode; 4], Refusal> {
    let Some(Shape::Box(b)) = &actor.shape else {
        return Err(Refusal("an actor that is not a box".into(), "shape.box"));
    };
    let collider = match &actor.collider {
        schema::Collider::Named(ColliderKind::Auto | ColliderKind::Box) => true,
        // Its dimensions are parameters of their own.
        schema::Collider::Named(ColliderKind::None)
        | schema::Collider::Field(
            ColliderField::Plane(_)
            | ColliderField::Sphere(_)
            | ColliderField::Box(_)
            | ColliderField::Cylinder(_),
        ) => false,
        _ => {
            let found = "a box whose collider would not change with it".into();
            return Err(Refusal(found, "\"auto\", \"box\", \"none\" or a table as collider"));
        }
    };
    let h = Vector3::from(b.half_extents);
    let made = ShapeMode::of_cuboid(b.divisions(), &h, b.edge_radius.unwrap_or(0.0), collider);
    // The divisions were checked with the shape.
    let mut modes = made.map_err(|e| Refusal(e.to_string(), "divisions of a box"))?;
    if !follow(body) {
        if body.samples.is_some() {
            let found = "explicit samples, which do not follow it".into();
            return Err(Refusal(found, "a quadrature, or samples = \"none\""));
        }
        modes.iter_mut().for_each(|mode| mode.displacements.clear());
    }
    Ok(modes)
}
