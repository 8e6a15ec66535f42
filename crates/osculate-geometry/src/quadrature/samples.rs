//! Samples of a surface.

use super::TriangleRule;
use crate::GeometryError;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;

/// How far a given normal may be from unit length; it is then normalised.
const UNIT: f64 = 1e-6;

/// Points on a surface, in the local coordinates of a body, with the area and the normal that each stands for.
///
/// `∫_S f dA ≈ Σ_s W_s f(x_s)`.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceSamples {
    points: Vec<Vector3<f64>>,
    weights: Vec<f64>,
    normals: Option<Vec<Vector3<f64>>>,
    elements: Vec<usize>,
}

impl SurfaceSamples {
    /// The points of a rule on every triangle of a mesh: triangle by triangle, in the rule's order.
    ///
    /// The weight is the rule's weight times the triangle's area `[m²]`, the normal is the triangle's outward one.
    pub fn from_mesh(mesh: &TriangleMesh, rule: TriangleRule) -> Self {
        let count = mesh.triangles().len() * rule.nodes().len();
        let mut points = Vec::with_capacity(count);
        let mut weights = Vec::with_capacity(count);
        let mut normals = Vec::with_capacity(count);
        let mut elements = Vec::with_capacity(count);
        for element in 0..mesh.triangles().len() {
            let [a, b, c] = mesh.corners(element);
            let (area, normal) = (mesh.triangle_area(element), mesh.face_normal(element));
            for node in rule.nodes() {
                let [u, v, w] = node.barycentric;
                points.push(a * u + b * v + c * w);
                weights.push(node.weight * area);
                normals.push(normal);
                elements.push(element);
            }
        }
        Self { points, weights, normals: Some(normals), elements }
    }

    /// Samples given one by one: points `[m]`, weights `[m²]` and, if known, outward unit normals (normalised here).
    ///
    /// The unit of a weight follows the dimension of what is sampled: m² for a surface, m for a curve, 1 for a point.
    ///
    /// # Errors
    /// Where there is no point, the lists have different lengths, a number is not finite, a weight is not positive, or
    /// the length of a normal differs from 1 by more than 10⁻⁶.
    pub fn explicit(
        points: Vec<Vector3<f64>>,
        weights: Vec<f64>,
        normals: Option<Vec<Vector3<f64>>>,
    ) -> Result<Self, GeometryError> {
        if points.is_empty() {
            return Err(GeometryError::Quantity {
                quantity: "number of sample points",
                found: 0.0,
                allowed: "> 0",
            });
        }
        check_count("weights", weights.len(), points.len())?;
        for (sample, point) in points.iter().enumerate() {
            if let Some(&found) = point.iter().find(|x| !x.is_finite()) {
                let (quantity, allowed) = ("coordinate", "finite");
                return Err(GeometryError::Sample { sample, quantity, found, allowed });
            }
        }
        for (sample, &found) in weights.iter().enumerate() {
            if !(found > 0.0 && found.is_finite()) {
                let (quantity, allowed) = ("weight", "> 0 and finite");
                return Err(GeometryError::Sample { sample, quantity, found, allowed });
            }
        }
        let normals = normals.map(|normals| unit_normals(normals, points.len())).transpose()?;
        Ok(Self { points, weights, normals, elements: Vec::new() })
    }

    /// How many samples there are.
    #[expect(clippy::len_without_is_empty, reason = "there is always a sample")]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Points `x_s` `[m]`.
    pub fn points(&self) -> &[Vector3<f64>] {
        &self.points
    }

    /// Weights `W_s` \[m² on a surface\], positive.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Outward unit normals; none where explicit samples were given without.
    pub fn normals(&self) -> Option<&[Vector3<f64>]> {
        self.normals.as_deref()
    }

    /// The triangle on which each sample lies; empty for explicit samples.
    pub fn elements(&self) -> &[usize] {
        &self.elements
    }
}

fn check_count(list: &'static str, found: usize, points: usize) -> Result<(), GeometryError> {
    if found == points { Ok(()) } else { Err(GeometryError::SampleCount { list, found, points }) }
}

fn unit_normals(
    mut normals: Vec<Vector3<f64>>,
    points: usize,
) -> Result<Vec<Vector3<f64>>, GeometryError> {
    check_count("normals", normals.len(), points)?;
    for (sample, normal) in normals.iter_mut().enumerate() {
        let found = normal.norm();
        let unit = (found - 1.0).abs() <= UNIT; // false where the length is not a number
        if !unit {
            let (quantity, allowed) = ("length of the normal", "1 within 1e-6");
            return Err(GeometryError::Sample { sample, quantity, found, allowed });
        }
        *normal /= found;
    }
    Ok(normals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_every_rule_sum_to_the_area() {
        let mesh = TriangleMesh::icosphere(0.3, 2).unwrap();
        for rule in TriangleRule::ALL {
            let samples = SurfaceSamples::from_mesh(&mesh, rule);
            assert_eq!(samples.len(), 320 * rule.nodes().len());
            // Rounding of a plain sum of up to 5120 terms.
            assert!((samples.weights().iter().sum::<f64>() - mesh.area()).abs() < 1e-12);
        }
    }

    #[test]
    fn samples_of_a_mesh_lie_on_their_triangle_in_the_order_of_the_rule() {
        let mesh = TriangleMesh::refined_cuboid(&Vector3::new(0.1, 0.2, 0.3), 2).unwrap();
        for rule in TriangleRule::ALL {
            let samples = SurfaceSamples::from_mesh(&mesh, rule);
            for (s, (&element, point)) in
                samples.elements().iter().zip(samples.points()).enumerate()
            {
                let normal = samples.normals().unwrap()[s];
                assert_eq!(element, s / rule.nodes().len());
                assert!((normal - mesh.face_normal(element)).norm() < 1e-15);
                assert!(normal.dot(&(point - mesh.corners(element)[0])).abs() < 1e-16);
            }
        }
    }

    /// `∫ x·n dA = 3V` (divergence theorem); on a plane face x·n is constant, so every rule is exact.
    #[test]
    fn flux_of_position_is_three_times_the_volume() {
        let mesh = TriangleMesh::icosphere(0.4, 1).unwrap();
        for rule in TriangleRule::ALL {
            let s = SurfaceSamples::from_mesh(&mesh, rule);
            let normals = s.normals().unwrap();
            let flux: f64 =
                (0..s.len()).map(|i| s.weights()[i] * s.points()[i].dot(&normals[i])).sum();
            assert!((flux - 3.0 * mesh.signed_volume()).abs() < 1e-14);
        }
    }

    #[test]
    fn explicit_normals_become_unit() {
        let n = Vector3::new(0.6, 0.8, 0.0) * (1.0 + 5e-7);
        let s = SurfaceSamples::explicit(vec![Vector3::x()], vec![2.0], Some(vec![n])).unwrap();
        assert!((s.normals().unwrap()[0].norm() - 1.0).abs() < 1e-15);
        assert!(s.elements().is_empty());
        let s = SurfaceSamples::explicit(vec![Vector3::x()], vec![2.0], None).unwrap();
        assert!(s.normals().is_none());
    }

    #[test]
    fn invalid_explicit_samples_are_refused_with_the_place() {
        let refused = |p: &[Vector3<f64>], w: &[f64], n: Option<&[Vector3<f64>]>| {
            SurfaceSamples::explicit(p.to_vec(), w.to_vec(), n.map(<[_]>::to_vec)).unwrap_err()
        };
        let (p, z) = ([Vector3::x(), Vector3::y()], Vector3::z());
        assert!(matches!(refused(&[], &[], None), GeometryError::Quantity { .. }));
        assert_eq!(
            refused(&p, &[1.0], None),
            GeometryError::SampleCount { list: "weights", found: 1, points: 2 }
        );
        assert_eq!(
            refused(&p, &[1.0; 2], Some(&[z; 3])),
            GeometryError::SampleCount { list: "normals", found: 3, points: 2 }
        );
        for w in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = refused(&p, &[1.0, w], None);
            assert!(matches!(error, GeometryError::Sample { sample: 1, quantity: "weight", .. }));
        }
        let error = refused(&[p[0], z * f64::NAN], &[1.0; 2], None);
        assert!(matches!(error, GeometryError::Sample { sample: 1, quantity: "coordinate", .. }));
        for n in [z * 0.0, z * 1.00001, z * f64::NAN, z * f64::INFINITY] {
            let error = refused(&p, &[1.0; 2], Some(&[z, n]));
            assert!(matches!(error, GeometryError::Sample { sample: 1, .. }));
        }
    }
}
