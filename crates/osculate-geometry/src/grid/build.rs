//! From a mesh to the values at the nodes.

use super::{GridExtent, GridParams, GridSdf, cache};
use crate::GeometryError;
use crate::distance::MeshDistance;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;
use rayon::prelude::*;

impl GridSdf {
    /// Exact distances of a mesh at the nodes of a grid, in parallel.
    ///
    /// The values do not depend on the number of threads: every plane of nodes is walked in one order.
    ///
    /// # Errors
    /// Where the mesh is open even after welding, or the grid is too large.
    ///
    /// ```
    /// use osculate_geometry::grid::{GridParams, GridSdf, ResolutionMode};
    /// use osculate_geometry::mesh::TriangleMesh;
    /// use nalgebra::Vector3;
    ///
    /// # fn main() -> Result<(), osculate_geometry::GeometryError> {
    /// let mesh = TriangleMesh::cuboid(&Vector3::new(0.05, 0.04, 0.03))?;
    /// let explicit = ResolutionMode::Explicit; // cells of 5 mm
    /// let params = GridParams { mode: explicit, delta: [0.005; 3], ..GridParams::default() };
    /// let grid = GridSdf::of_mesh(&mesh, &params)?;
    ///
    /// assert_eq!(grid.cells(), [22, 18, 14]); // 5 mm of padding on each side
    /// let (phi, gradient): (f64, _) = grid.field(&Vector3::new(0.052, 0.01, 0.0));
    /// assert!((phi - 0.002).abs() < 1e-15 && (gradient - Vector3::x()).norm() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_mesh(mesh: &TriangleMesh, params: &GridParams) -> Result<Self, GeometryError> {
        // Cells are counted before anything is built.
        params.extent(mesh)?;
        Self::of_distance(&MeshDistance::new(mesh)?, params)
    }

    /// As [`GridSdf::of_mesh`], of a mesh that is ready for queries.
    ///
    /// # Errors
    /// Where the grid is too large.
    pub fn of_distance(
        distance: &MeshDistance,
        params: &GridParams,
    ) -> Result<Self, GeometryError> {
        let extent = params.extent(distance.mesh())?;
        let GridExtent { bounds, cells } = extent;
        let nodes = cells.map(|n| n + 1);
        let size = bounds.size();
        let coordinate =
            |axis: usize, i: usize| bounds.lower[axis] + size[axis] / cells[axis] as f64 * i as f64;
        let mut values = vec![0.0; nodes[0] * nodes[1] * nodes[2]];
        values.par_chunks_mut(nodes[1] * nodes[2]).enumerate().for_each(|(i, plane)| {
            // Along a line that turns at the ends every node is a neighbour of the one before.
            let mut hint = 0;
            for j in 0..nodes[1] {
                for step in 0..nodes[2] {
                    let k = if j % 2 == 0 { step } else { nodes[2] - 1 - step };
                    let x = Vector3::new(coordinate(0, i), coordinate(1, j), coordinate(2, k));
                    let feature = distance.nearest_from(&x, &mut hint);
                    plane[j * nodes[2] + k] = distance.field_at(feature, &x).0;
                }
            }
        });
        Ok(Self::assemble(extent, values, cache::key(distance.mesh(), params)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::ResolutionMode;

    #[test]
    fn values_have_the_same_bits_for_any_number_of_threads() {
        let mesh = TriangleMesh::icosphere(0.1, 3).unwrap();
        let params = GridParams {
            mode: ResolutionMode::MeanAxis,
            delta: [0.07; 3],
            ..GridParams::default()
        };
        let built = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| GridSdf::of_mesh(&mesh, &params).unwrap())
        });
        let bits = |g: &GridSdf| g.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&built[0]), bits(&built[1]));
        assert_eq!(bits(&built[0]), bits(&built[2]));
    }

    #[test]
    fn open_mesh_is_refused_with_its_edge() {
        let mesh = TriangleMesh::cuboid(&Vector3::repeat(0.1)).unwrap();
        let open =
            TriangleMesh::new(mesh.vertices().to_vec(), mesh.triangles()[1..].to_vec()).unwrap();
        let error = GridSdf::of_mesh(&open, &GridParams::default()).unwrap_err();
        assert!(
            matches!(error, GeometryError::NotClosed { forward, backward, .. } if forward + backward == 1)
        );
        let inside_out = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
        let inside_out = TriangleMesh::new(mesh.vertices().to_vec(), inside_out).unwrap();
        let error = MeshDistance::new(&inside_out).unwrap_err();
        assert!(matches!(error, GeometryError::Quantity { found, .. } if found < 0.0));
    }
}
