//! Triangle meshes: surfaces of rigid bodies.
//!
//! ```text
//! area    A = Σ ½ ‖(b−a) × (c−a)‖
//! volume  V = Σ ⅙ a·(b × c)
//! ```
//!
//! over triangles `(a, b, c)`, counter-clockwise seen from outside.

mod cuboid;
mod cylinder;
pub mod repair;
mod shapes;
mod topology;

use crate::GeometryError;
use nalgebra::Vector3;
use osculate_math::se3::Pose;

pub use cuboid::{CuboidGrid, Triangulation};
pub(crate) use shapes::check_positive;

/// Smallest `2·area / (longest edge)²` of a triangle that has a usable normal: below it, fewer than four of the
/// sixteen digits of a normal are left.
const THINNEST: f64 = 1e-12;

/// The area `[m²]` at or below which a triangle with these corners is degenerate.
fn smallest_area([a, b, c]: &[Vector3<f64>; 3]) -> f64 {
    let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
    0.5 * THINNEST * longest
}

/// A surface of triangles, in the local coordinates of a body.
///
/// Vertices are finite and every triangle has an area, hence a normal. A mesh may be open, may consist of several
/// pieces and may have vertices that no triangle uses; [`TriangleMesh::check_closed`] tells whether it bounds a
/// volume.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[usize; 3]>,
}

impl TriangleMesh {
    /// A mesh of vertices `[m]` and triples of vertex indices, counter-clockwise seen from outside.
    ///
    /// # Errors
    /// Where there is no triangle, a coordinate is not finite, an index has no vertex, or a triangle is degenerate:
    /// twice its area is below 10⁻¹² of its longest edge squared.
    pub fn new(
        vertices: Vec<Vector3<f64>>,
        triangles: Vec<[usize; 3]>,
    ) -> Result<Self, GeometryError> {
        if triangles.is_empty() || vertices.is_empty() {
            return Err(GeometryError::EmptyMesh {
                vertices: vertices.len(),
                triangles: triangles.len(),
            });
        }
        if let Some(vertex) = vertices.iter().position(|v| v.iter().any(|x| !x.is_finite())) {
            return Err(GeometryError::NonFiniteVertex { vertex, found: vertices[vertex].into() });
        }
        let mesh = Self { vertices, triangles };
        for triangle in 0..mesh.triangles.len() {
            mesh.check_triangle(triangle)?;
        }
        Ok(mesh)
    }

    fn check_triangle(&self, triangle: usize) -> Result<(), GeometryError> {
        let corners = self.triangles[triangle];
        let vertices = self.vertices.len();
        if let Some(&index) = corners.iter().find(|&&i| i >= vertices) {
            return Err(GeometryError::IndexOutOfRange { triangle, index, vertices });
        }
        let smallest = smallest_area(&self.corners(triangle));
        let area = self.triangle_area(triangle);
        if area > smallest && area.is_finite() {
            Ok(())
        } else {
            Err(GeometryError::DegenerateTriangle { triangle, corners, area, smallest })
        }
    }

    /// Vertices `[m]`.
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Vertex indices of the triangles.
    pub fn triangles(&self) -> &[[usize; 3]] {
        &self.triangles
    }

    /// The three corners `[m]` of a triangle.
    ///
    /// # Panics
    /// Where `triangle` is not below the number of triangles.
    #[inline]
    pub fn corners(&self, triangle: usize) -> [Vector3<f64>; 3] {
        self.triangles[triangle].map(|i| self.vertices[i])
    }

    /// `½ (b−a) × (c−a)` `[m²]`: outward, as long as the area.
    #[inline]
    fn area_vector(&self, triangle: usize) -> Vector3<f64> {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(&(c - a)) * 0.5
    }

    /// Area of a triangle `[m²]`.
    ///
    /// # Panics
    /// Where `triangle` is not below the number of triangles.
    #[inline]
    pub fn triangle_area(&self, triangle: usize) -> f64 {
        self.area_vector(triangle).norm()
    }

    /// Outward unit normal of a triangle.
    ///
    /// # Panics
    /// Where `triangle` is not below the number of triangles.
    #[inline]
    pub fn face_normal(&self, triangle: usize) -> Vector3<f64> {
        self.area_vector(triangle).normalize()
    }

    /// Surface area `[m²]`.
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|i| self.triangle_area(i)).sum()
    }

    /// Volume `[m³]`, negative where the triangles face inwards.
    ///
    /// Only a closed mesh has one; of an open mesh this is the volume of the cones from the first vertex to its
    /// triangles.
    pub fn signed_volume(&self) -> f64 {
        // From a vertex of the mesh and not from the origin: a small body far away keeps its digits.
        let origin = self.vertices[0];
        (0..self.triangles.len())
            .map(|i| {
                let [a, b, c] = self.corners(i).map(|x| x - origin);
                a.dot(&b.cross(&c)) / 6.0
            })
            .sum()
    }

    /// The mesh `factor` times as large about the local origin.
    ///
    /// # Errors
    /// Where the factor is not positive and finite, or so extreme that coordinates overflow or areas vanish.
    pub fn scaled(&self, factor: f64) -> Result<Self, GeometryError> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(GeometryError::Quantity {
                quantity: "scale factor of a mesh",
                found: factor,
                allowed: "> 0 and finite",
            });
        }
        Self::new(self.vertices.iter().map(|v| v * factor).collect(), self.triangles.clone())
    }

    /// The mesh with every vertex at `p + R X`.
    ///
    /// # Errors
    /// Where the pose is not finite, or so far away that rounding flattens a triangle.
    pub fn transformed(&self, pose: &Pose) -> Result<Self, GeometryError> {
        let vertices = self.vertices.iter().map(|v| pose.transform_point(v)).collect();
        Self::new(vertices, self.triangles.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> TriangleMesh {
        let o = Vector3::zeros();
        TriangleMesh::new(
            vec![o, Vector3::x(), Vector3::y(), Vector3::z()],
            vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        )
        .unwrap()
    }

    #[test]
    fn tetrahedron_has_area_and_volume_of_its_closed_form() {
        let mesh = tetrahedron();
        assert!((mesh.area() - (1.5 + 3f64.sqrt() / 2.0)).abs() < 1e-15);
        assert!((mesh.signed_volume() - 1.0 / 6.0).abs() < 1e-16);
        assert!((mesh.face_normal(3) - Vector3::repeat(1.0 / 3f64.sqrt())).norm() < 1e-15);
    }

    #[test]
    fn volume_scales_with_the_cube_and_area_with_the_square() {
        let (mesh, f) = (tetrahedron(), 1.7f64);
        let scaled = mesh.scaled(f).unwrap();
        assert!((scaled.signed_volume() - mesh.signed_volume() * f.powi(3)).abs() < 1e-15);
        assert!((scaled.area() - mesh.area() * f.powi(2)).abs() < 1e-14);
        for f in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            assert!(mesh.scaled(f).is_err(), "scaled by {f}");
        }
    }

    #[test]
    fn rigid_motion_keeps_area_and_volume_and_turns_normals() {
        let mesh = tetrahedron();
        let pose = Pose::identity()
            .incremented(&Vector3::new(3.0, -2.0, 50.0), &Vector3::new(0.4, -1.0, 0.7));
        let moved = mesh.transformed(&pose).unwrap();
        assert!((moved.area() - mesh.area()).abs() < 1e-13);
        assert!((moved.signed_volume() - mesh.signed_volume()).abs() < 1e-14);
        for i in 0..4 {
            let turned = pose.rotation * mesh.face_normal(i);
            assert!((moved.face_normal(i) - turned).norm() < 1e-13);
        }
        let nowhere = Pose { position: Vector3::repeat(f64::NAN), ..pose };
        assert!(matches!(
            mesh.transformed(&nowhere),
            Err(GeometryError::NonFiniteVertex { vertex: 0, .. })
        ));
    }

    #[test]
    fn invalid_meshes_are_refused_with_the_place() {
        let v = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::x() * 2.0];
        let refused = |v: &[_], t: &[_]| TriangleMesh::new(v.to_vec(), t.to_vec()).unwrap_err();
        assert_eq!(refused(&v, &[]), GeometryError::EmptyMesh { vertices: 4, triangles: 0 });
        assert_eq!(
            refused(&[], &[[0, 1, 2]]),
            GeometryError::EmptyMesh { vertices: 0, triangles: 1 }
        );
        assert_eq!(
            refused(&v, &[[0, 1, 2], [0, 2, 4]]),
            GeometryError::IndexOutOfRange { triangle: 1, index: 4, vertices: 4 }
        );
        for flat in [[0, 1, 3], [0, 1, 1], [2, 2, 2]] {
            assert!(matches!(
                refused(&v, &[[0, 1, 2], flat]),
                GeometryError::DegenerateTriangle { triangle: 1, corners, .. } if corners == flat
            ));
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut v = v.clone();
            v[3].y = bad;
            assert!(matches!(
                refused(&v, &[[0, 1, 2]]),
                GeometryError::NonFiniteVertex { vertex: 3, .. }
            ));
        }
    }

    #[test]
    fn error_says_what_was_found_and_what_is_allowed() {
        let error = TriangleMesh::new(vec![Vector3::zeros(); 3], vec![[0, 1, 2]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "triangle 0 with corners [0, 1, 2] is degenerate: area 0.000e0 m², allowed: > 0.000e0 m²"
        );
    }
}
