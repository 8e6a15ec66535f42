//! Vertices at (almost) one place become one vertex.

use crate::GeometryError;
use crate::aabb::Aabb;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;
use std::collections::HashMap;

/// Vertices nearer than this, relative to the diagonal of the bounding box, are one.
pub const WELD_DISTANCE: f64 = 1e-6;

/// The mesh with near-duplicate vertices joined; triangles that collapse are dropped.
pub(super) fn welded(mesh: &TriangleMesh) -> Result<TriangleMesh, GeometryError> {
    let vertices = mesh.vertices();
    let bounds =
        Aabb::of_points(vertices).unwrap_or(Aabb::about(&Vector3::zeros(), &Vector3::zeros()));
    let tolerance = bounds.size().norm() * WELD_DISTANCE;
    // Cells as large as the tolerance: partners are in the same or a neighbouring cell.
    let cell = |x: &Vector3<f64>| {
        let c = (x - bounds.lower) / tolerance;
        [c.x.floor() as i64, c.y.floor() as i64, c.z.floor() as i64]
    };
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    let mut kept: Vec<Vector3<f64>> = Vec::new();
    let mut index = Vec::with_capacity(vertices.len());
    for x in vertices {
        let [i, j, k] = cell(x);
        let near = neighbours().find_map(|[a, b, c]| {
            let list = cells.get(&[i + a, j + b, k + c])?;
            list.iter().copied().find(|&v| (kept[v] - x).norm() <= tolerance)
        });
        index.push(near.unwrap_or_else(|| {
            kept.push(*x);
            cells.entry([i, j, k]).or_default().push(kept.len() - 1);
            kept.len() - 1
        }));
    }
    let triangles = mesh.triangles().iter().map(|t| t.map(|i| index[i]));
    let whole = triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    TriangleMesh::new(kept, whole)
}

fn neighbours() -> impl Iterator<Item = [i64; 3]> {
    (0..27).map(|n| [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soup_of_triangles_becomes_the_closed_mesh_again() {
        let mesh = TriangleMesh::icosphere(0.3, 2).unwrap();
        let soup: Vec<_> = (0..mesh.triangles().len()).flat_map(|i| mesh.corners(i)).collect();
        // Corners that differ by rounding of single precision.
        let soup: Vec<_> = soup
            .iter()
            .enumerate()
            .map(|(i, x)| x + Vector3::repeat(1e-9 * (i % 5) as f64))
            .collect();
        let triangles = (0..soup.len() / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let open = TriangleMesh::new(soup, triangles).unwrap();
        assert!(!open.is_closed());
        let closed = welded(&open).unwrap();
        assert!(closed.is_closed());
        assert_eq!(closed.vertices().len(), mesh.vertices().len());
    }
}
