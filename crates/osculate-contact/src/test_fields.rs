//! Colliders of data for the law tests: a grid and a mesh, scaled and rounded.

use nalgebra::Vector3;
use osculate_geometry::collider::Collider;
use osculate_geometry::distance::MeshDistance;
use osculate_geometry::grid::{GridParams, GridSdf, ResolutionMode};
use osculate_geometry::mesh::TriangleMesh;
use std::sync::LazyLock;

pub(crate) const SCALE: f64 = 1.25;
pub(crate) const ROUNDING: f64 = 0.02;

/// A point of the surface of [`grid`], by bisection, and the normal there.
pub(crate) fn grid_surface() -> (Vector3<f64>, Vector3<f64>) {
    let (grid, along) = (grid(), Vector3::new(0.2, 0.6, 0.75).normalize());
    let (mut inside, mut outside) = (0.0, 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (inside + outside);
        let side = if grid.phi(&(along * middle)) < 0.0 { &mut inside } else { &mut outside };
        *side = middle;
    }
    let surface = along * inside;
    (surface, grid.field(&surface).gradient.normalize())
}

/// A ball of radius 0.8 on a grid whose cells are large against every regime of the tests.
pub(crate) fn grid() -> Collider {
    static GRID: LazyLock<Collider> = LazyLock::new(|| {
        let mesh = TriangleMesh::icosphere(0.8, 3).unwrap();
        let explicit = ResolutionMode::Explicit;
        let params =
            GridParams { mode: explicit, delta: [0.9; 3], min_cells: [1; 3], padding: 0.5 };
        let grid = Collider::grid(GridSdf::of_mesh(&mesh, &params).unwrap());
        grid.scaled(SCALE, ROUNDING).unwrap()
    });
    GRID.clone()
}

/// A box of half extents (0.5, 0.6, 0.7), scaled and rounded.
pub(crate) fn mesh() -> Collider {
    static MESH: LazyLock<Collider> = LazyLock::new(|| {
        let mesh = TriangleMesh::cuboid(&Vector3::new(0.5, 0.6, 0.7)).unwrap();
        let field = Collider::mesh(MeshDistance::new(&mesh).unwrap());
        field.scaled(SCALE, ROUNDING).unwrap()
    });
    MESH.clone()
}
