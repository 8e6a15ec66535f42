//! The cylinder as a mesh.

use super::TriangleMesh;
use super::shapes::check_positive;
use crate::GeometryError;
use nalgebra::Vector3;
use std::f64::consts::TAU;

/// The most sides of a cylinder, and the most rings of a cap.
const MOST_SIDES: usize = 1000;
const MOST_RINGS: usize = 100;

impl TriangleMesh {
    /// Cylinder of a radius and a half height `[m]` about the origin, its axis along z: `sides` flat sides, and caps of a fan and
    /// `rings − 1` rings around it. The side has `2 rings` strips along the axis.
    ///
    /// The mesh is inscribed: all vertices but those inside the caps lie on the rims and the side, so area and volume are below those
    /// of the cylinder, the volume by a factor `(n/2π) sin(2π/n)`, `n` sides.
    ///
    /// # Errors
    /// Where a length is not positive and finite, there are not 3 to 1000 sides, or not 1 to 100 rings.
    pub fn cylinder(
        radius: f64,
        half_height: f64,
        sides: usize,
        rings: usize,
    ) -> Result<Self, GeometryError> {
        check_positive("radius of a cylinder", radius)?;
        check_positive("half height of a cylinder", half_height)?;
        check_count("number of sides of a cylinder", sides, 3..=MOST_SIDES, "3..=1000")?;
        check_count("number of rings of a cylinder", rings, 1..=MOST_RINGS, "1..=100")?;
        // From the lower pole to the upper one: radius and height of each circle, in parts.
        let part = |i: usize| i as f64 / rings as f64;
        let lower = (1..=rings).map(|i| (part(i), -1.0));
        let side = (1..2 * rings).map(|i| (1.0, part(i) - 1.0));
        let upper = (1..=rings).rev().map(|i| (part(i), 1.0));
        let circles: Vec<(f64, f64)> = lower.chain(side).chain(upper).collect();
        let mut vertices = vec![Vector3::z() * -half_height];
        for (r, z) in &circles {
            vertices.extend((0..sides).map(|i| {
                let angle = TAU * i as f64 / sides as f64;
                let across = Vector3::new(angle.cos(), angle.sin(), 0.0) * (radius * r);
                across + Vector3::z() * (half_height * z)
            }));
        }
        vertices.push(Vector3::z() * half_height);
        let (top, last) = (vertices.len() - 1, circles.len() - 1);
        let at = |circle: usize, i: usize| 1 + circle * sides + i % sides;
        let mut triangles = Vec::with_capacity(2 * sides * (last + 1));
        for i in 0..sides {
            triangles.push([0, at(0, i + 1), at(0, i)]);
            for c in 0..last {
                let (a, b) = (at(c, i), at(c, i + 1));
                let (d, e) = (at(c + 1, i), at(c + 1, i + 1));
                triangles.extend([[a, b, e], [a, e, d]]);
            }
            triangles.push([top, at(last, i), at(last, i + 1)]);
        }
        Self::new(vertices, triangles)
    }
}

fn check_count(
    quantity: &'static str,
    found: usize,
    range: std::ops::RangeInclusive<usize>,
    allowed: &'static str,
) -> Result<(), GeometryError> {
    if range.contains(&found) {
        return Ok(());
    }
    Err(GeometryError::Quantity { quantity, found: found as f64, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collider::Collider;
    use crate::mass::MassProperties;

    #[test]
    fn cylinder_is_closed_faces_outwards_and_lies_on_its_surface() {
        let exact = Collider::cylinder(Vector3::zeros(), 0.3, 0.2).unwrap();
        for (sides, rings) in [(3, 1), (8, 1), (12, 3)] {
            let mesh = TriangleMesh::cylinder(0.3, 0.2, sides, rings).unwrap();
            mesh.check_closed().unwrap();
            assert!(mesh.vertices().iter().all(|x| exact.phi(x).abs() < 1e-15));
            for i in 0..mesh.triangles().len() {
                let centre = mesh.corners(i).iter().sum::<Vector3<f64>>() / 3.0;
                assert!(mesh.face_normal(i).dot(&centre) > 0.0, "triangle {i} faces inwards");
            }
            let n = sides as f64;
            let volume = 0.3f64.powi(2) * 0.4 * (n / 2.0) * (TAU / n).sin();
            assert!((mesh.signed_volume() - volume).abs() < 1e-15);
        }
    }

    #[test]
    fn mesh_tends_to_the_inertia_of_the_cylinder_at_second_order() {
        let exact = MassProperties::cylinder(2.0, 0.3, 0.2).unwrap();
        let defect = |sides: usize| {
            let mesh = TriangleMesh::cylinder(0.3, 0.2, sides, 2).unwrap();
            let found = MassProperties::of_mesh_with_mass(&mesh, 2.0).unwrap();
            assert!(found.center_of_mass().norm() < 1e-15);
            (found.inertia() - exact.inertia()).norm()
        };
        let order = (defect(32) / defect(64)).log2();
        assert!((order - 2.0).abs() < 0.02, "order {order}");
    }

    #[test]
    fn cylinders_without_a_size_are_refused() {
        for x in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(TriangleMesh::cylinder(x, 1.0, 8, 1).is_err());
            assert!(TriangleMesh::cylinder(1.0, x, 8, 1).is_err());
            assert!(MassProperties::cylinder(1.0, x, 1.0).is_err());
            assert!(MassProperties::cylinder(1.0, 1.0, x).is_err());
        }
        for (sides, rings) in [(2, 1), (1001, 1), (8, 0), (8, 101), (usize::MAX, usize::MAX)] {
            assert!(TriangleMesh::cylinder(1.0, 1.0, sides, rings).is_err());
        }
    }
}
