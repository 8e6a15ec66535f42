//! Scenes whose geometry is a parameter.

use super::{Case, case, contact, corners, cuboid, ground, place};
use nalgebra::Vector3;
use osculate_dynamics::{Body, FreeShape, ShapeMode};
use osculate_geometry::collider::Collider;
use osculate_geometry::grid::{GridParams, GridSdf, ResolutionMode};
use osculate_geometry::mesh::{CuboidGrid, TriangleMesh};
use osculate_geometry::quadrature::{Surface, SurfaceSamples, TriangleRule};
use std::sync::Arc;

pub const HALF_EXTENTS: [f64; 3] = [0.06, 0.05, 0.04];
pub const EDGE_RADIUS: f64 = 0.012;
const DIVISIONS: CuboidGrid = CuboidGrid { flat: 1, arc: 1 };

/// A box with rounded edges on its surface and in its collider; size, half extents, edge radius and vertices are free.
pub fn rounded(half_extents: Vector3<f64>, edge_radius: f64) -> Body {
    let (rule, h) = (TriangleRule::P1Q1, half_extents);
    let mesh = TriangleMesh::rounded_cuboid(&h, edge_radius, DIVISIONS).unwrap();
    let mut body = cuboid("box", Vector3::from(HALF_EXTENTS));
    body.samples = Some(SurfaceSamples::from_mesh(&mesh, rule));
    body.collider = Some(Collider::rounded_cuboid(Vector3::zeros(), h, edge_radius).unwrap());
    body.shape = Some(Arc::new(FreeShape {
        surface: Some(Surface::new(&mesh, rule)),
        scale: true,
        modes: ShapeMode::of_cuboid(DIVISIONS, &h, edge_radius, true).unwrap().to_vec(),
        vertices: true,
        nodes: false,
    }));
    body
}

/// The rounded box on the ground, and a cube on free corners of a free size on top of it.
pub fn rounded_case(half_extents: Vector3<f64>, edge_radius: f64) -> Case {
    let slow = [0.1, 0.05, -0.2];
    let below = rounded(half_extents, edge_radius);
    let below = place(below, [0.0, 0.0, 0.046], [0.06, 0.04, 0.2], slow, [0.2, 0.1, 0.0]);
    let mut above = corners("cube");
    above.collider = None;
    above.shape = Some(Arc::new(FreeShape { scale: true, ..FreeShape::default() }));
    let above = place(above, [0.02, 0.01, 0.148], [0.2, 0.1, 0.3], [0.2, 0.1, -0.6], [0.0; 3]);
    case("rounded box", vec![ground(), below, above], 1e-3, 30)
}

/// A case whose free geometry is sizes and modes alone.
pub fn without_points(mut case: Case) -> Case {
    for body in &mut case.scene.bodies {
        body.free_samples = false;
        if let Some(shape) = &mut body.shape {
            Arc::make_mut(shape).vertices = false;
        }
    }
    case
}

/// A cube with free vertices on a ball of a free size.
fn vertices() -> Case {
    let h = Vector3::repeat(0.05);
    let mut cube = cuboid("cube", h);
    let surface = Surface::new(&TriangleMesh::cuboid(&h).unwrap(), TriangleRule::P1Q3);
    let shape = FreeShape { surface: Some(surface), vertices: true, ..FreeShape::default() };
    cube.shape = Some(Arc::new(shape));
    let cube = place(cube, [0.0, 0.0, 0.066], [0.2, 0.1, 0.3], [0.8, 0.3, -0.9], [1.0, -2.0, 0.5]);
    let mut peg = Body::fixed("peg");
    peg.collider = Some(Collider::sphere(Vector3::new(0.01, 0.0, -0.06), 0.06).unwrap());
    peg.contact = contact(1e8);
    peg.shape = Some(Arc::new(FreeShape { scale: true, ..FreeShape::default() }));
    case("free vertices", vec![cube, peg], 1e-3, 60)
}

/// A cube on a slab of free node values, scaled and rounded.
fn nodes() -> Case {
    let mesh = TriangleMesh::cuboid(&Vector3::new(0.2, 0.2, 0.05)).unwrap();
    let explicit = ResolutionMode::Explicit;
    let params =
        GridParams { mode: explicit, delta: [0.14, 0.14, 0.08], min_cells: [1; 3], padding: 0.05 };
    let grid = Collider::grid(GridSdf::of_mesh(&mesh, &params).unwrap());
    let mut slab = Body::fixed("slab");
    slab.collider = Some(grid.scaled(1.1, 0.002).unwrap());
    slab.contact = contact(1e8);
    slab.pose.position.z = -0.057;
    slab.shape = Some(Arc::new(FreeShape { scale: true, nodes: true, ..FreeShape::default() }));
    let cube = cuboid("cube", Vector3::repeat(0.05));
    let cube =
        place(cube, [0.07, 0.07, 0.056], [0.05, 0.08, 0.1], [0.2, 0.1, -0.5], [0.3, -0.2, 0.1]);
    case("free nodes", vec![slab, cube], 1e-3, 40)
}

/// A rounded box under a cube of corners, free vertices on a ball, and free nodes under a cube.
pub fn cases() -> Vec<Case> {
    vec![rounded_case(Vector3::from(HALF_EXTENTS), EDGE_RADIUS), vertices(), nodes()]
}
