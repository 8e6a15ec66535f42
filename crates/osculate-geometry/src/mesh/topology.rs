//! Whether a surface bounds a volume.

use super::TriangleMesh;
use crate::GeometryError;

impl TriangleMesh {
    /// Whether the surface has neither hole nor fin and is oriented consistently: see
    /// [`TriangleMesh::check_closed`].
    pub fn is_closed(&self) -> bool {
        self.check_closed().is_ok()
    }

    /// Checks that exactly two triangles share every edge and run along it in opposite directions.
    ///
    /// Edges are pairs of vertex *indices*: two vertices at one place are not one vertex. An inside-out mesh is
    /// closed too; its [`TriangleMesh::signed_volume`] is negative.
    ///
    /// # Errors
    /// Names the first edge, in the order of vertex indices, for which this does not hold, where it is, how often it
    /// occurs, and how many such edges there are.
    pub fn check_closed(&self) -> Result<(), GeometryError> {
        let mut edges: Vec<(usize, usize, bool)> = self
            .triangles()
            .iter()
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
            .map(|(i, j)| (i.min(j), i.max(j), i < j))
            .collect();
        edges.sort_unstable();
        let edges = || edges.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1));
        let forward = |edge: &[(usize, usize, bool)]| edge.iter().filter(|e| e.2).count();
        let is_open = |edge: &&[(usize, usize, bool)]| edge.len() != 2 || forward(edge) != 1;
        let Some(first) = edges().find(is_open) else { return Ok(()) };
        let (from, to, _) = first[0];
        let forward = forward(first);
        Err(GeometryError::NotClosed {
            from,
            to,
            forward,
            backward: first.len() - forward,
            edges: edges().filter(is_open).count(),
            at: ((self.vertices()[from] + self.vertices()[to]) * 0.5).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn cube() -> TriangleMesh {
        TriangleMesh::cuboid(&Vector3::repeat(1.0)).unwrap()
    }

    #[test]
    fn cube_without_a_triangle_is_open_at_its_edges() {
        let mesh = cube();
        assert!(mesh.is_closed());
        for missing in 0..mesh.triangles().len() {
            let mut triangles = mesh.triangles().to_vec();
            let removed = triangles.remove(missing);
            let open = TriangleMesh::new(mesh.vertices().to_vec(), triangles).unwrap();
            let Err(GeometryError::NotClosed { from, to, forward, backward, edges, .. }) =
                open.check_closed()
            else {
                panic!("closed without triangle {missing}");
            };
            assert_eq!((forward + backward, edges), (1, 3));
            assert!(removed.contains(&from) && removed.contains(&to));
        }
    }

    #[test]
    fn flipped_triangle_is_not_closed() {
        let mesh = cube();
        let mut triangles = mesh.triangles().to_vec();
        triangles[5].swap(1, 2);
        let flipped = TriangleMesh::new(mesh.vertices().to_vec(), triangles).unwrap();
        assert!(matches!(
            flipped.check_closed(),
            Err(GeometryError::NotClosed { forward: 2, backward: 0, .. }
                | GeometryError::NotClosed { forward: 0, backward: 2, .. })
        ));
    }

    #[test]
    fn fin_is_not_closed() {
        let mesh = cube();
        let mut triangles = mesh.triangles().to_vec();
        triangles.push([0, 1, 7]);
        let fin = TriangleMesh::new(mesh.vertices().to_vec(), triangles).unwrap();
        assert_eq!(
            fin.check_closed(),
            Err(GeometryError::NotClosed {
                from: 0,
                to: 1,
                forward: 2,
                backward: 1,
                edges: 3,
                at: [-1.0, -1.0, 0.0]
            })
        );
    }

    #[test]
    fn inside_out_cube_is_closed_with_negative_volume() {
        let mesh = cube();
        let triangles = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
        let inside_out = TriangleMesh::new(mesh.vertices().to_vec(), triangles).unwrap();
        assert!(inside_out.is_closed());
        assert!((inside_out.signed_volume() + 8.0).abs() < 1e-14);
    }
}
