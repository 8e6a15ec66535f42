//! Samples of a triangulated surface as functions of its vertices.
//!
//! ```text
//! N = (b − a) × (c − a),   x_i = Σ λ_i · (a, b, c),   W_i = w_i ‖N‖/2,   n = N/‖N‖
//! N̄ = n Σ w_i W̄_i/2 + (1 − n nᵀ) Σ n̄_i/‖N‖            the pullback, from there to a, b, c
//! ```

use super::TriangleRule;
use crate::GeometryError;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm::scale};

/// Points, weights and normals of samples, one of each for each sample; or what an outcome changes by with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleValues<T = f64> {
    /// Points (m), local.
    pub points: Vec<Vector3<T>>,
    /// Weights (m²).
    pub weights: Vec<T>,
    /// Outward unit normals.
    pub normals: Vec<Vector3<T>>,
}

/// Triangles with a rule: all of a sampled surface but where its vertices are.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[usize; 3]>,
    rule: TriangleRule,
}

/// `(b − a) × (c − a)` and its length.
#[inline]
fn doubled_area<T: Scalar>([a, b, c]: &[Vector3<T>; 3]) -> (Vector3<T>, T) {
    let vector = (b - a).cross(&(c - a));
    let square = vector.dot(&vector);
    (vector, square.sqrt())
}

impl Surface {
    /// The surface of a mesh.
    pub fn new(mesh: &TriangleMesh, rule: TriangleRule) -> Self {
        let (vertices, triangles) = (mesh.vertices().to_vec(), mesh.triangles().to_vec());
        Self { vertices, triangles, rule }
    }

    /// Vertices (m) of the mesh it was made of.
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Vertex indices of the triangles.
    pub fn triangles(&self) -> &[[usize; 3]] {
        &self.triangles
    }

    /// How many samples there are.
    #[expect(clippy::len_without_is_empty, reason = "there is always a triangle")]
    pub fn len(&self) -> usize {
        self.triangles.len() * self.rule.nodes().len()
    }

    /// The samples for vertices (m) at other places: triangle by triangle, in the rule's order.
    ///
    /// # Errors
    /// Where there are not as many vertices as the surface has.
    pub fn samples<T: Scalar>(
        &self,
        vertices: &[Vector3<T>],
    ) -> Result<SampleValues<T>, GeometryError> {
        self.check(vertices.len())?;
        let n = self.len();
        let mut samples = SampleValues {
            points: Vec::with_capacity(n),
            weights: Vec::with_capacity(n),
            normals: Vec::with_capacity(n),
        };
        for triangle in &self.triangles {
            let corners = triangle.map(|i| vertices[i]);
            let (vector, length) = doubled_area(&corners);
            let normal = vector.map(|x| x / length);
            for node in self.rule.nodes() {
                let [a, b, c] = &corners;
                let [u, v, w] = node.barycentric;
                samples.points.push(a.map(|x| x * u) + b.map(|x| x * v) + c.map(|x| x * w));
                samples.weights.push(length * 0.5 * node.weight);
                samples.normals.push(normal);
            }
        }
        Ok(samples)
    }

    /// Pullback of [`Surface::samples`]: the change by each vertex, from those by points, weights and normals.
    ///
    /// # Errors
    /// Where there are not as many vertices as the surface has.
    pub fn pull<T: Scalar>(
        &self,
        vertices: &[Vector3<T>],
        by: &SampleValues<T>,
    ) -> Result<Vec<Vector3<T>>, GeometryError> {
        self.check(vertices.len())?;
        let mut by_vertex = vec![Vector3::zeros(); vertices.len()];
        let nodes = self.rule.nodes();
        for (triangle, first) in self.triangles.iter().zip((0..).step_by(nodes.len())) {
            let corners = triangle.map(|i| vertices[i]);
            let (mut by_length, mut by_normal) = (T::zero(), Vector3::zeros());
            for (i, node) in (first..).zip(nodes) {
                by_length += by.weights[i] * (0.5 * node.weight);
                by_normal += by.normals[i];
                for (corner, share) in triangle.iter().zip(node.barycentric) {
                    by_vertex[*corner] += by.points[i].map(|x| x * share);
                }
            }
            let (vector, length) = doubled_area(&corners);
            let normal = vector.map(|x| x / length);
            let across = by_normal - scale(&normal, normal.dot(&by_normal));
            let by_vector = scale(&normal, by_length) + across.map(|x| x / length);
            // N = u × v with u = b − a, v = c − a.
            let [a, b, c] = &corners;
            let (by_u, by_v) = ((c - a).cross(&by_vector), by_vector.cross(&(b - a)));
            by_vertex[triangle[0]] -= by_u + by_v;
            by_vertex[triangle[1]] += by_u;
            by_vertex[triangle[2]] += by_v;
        }
        Ok(by_vertex)
    }

    fn check(&self, found: usize) -> Result<(), GeometryError> {
        let expected = self.vertices.len();
        if found == expected { Ok(()) } else { Err(GeometryError::VertexCount { found, expected }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::SurfaceSamples;
    use osculate_math::Jet;

    fn mesh() -> TriangleMesh {
        TriangleMesh::icosphere(0.3, 0).unwrap()
    }

    fn wave(i: usize) -> f64 {
        (1.7 * i as f64).sin()
    }

    /// Cotangents that differ for every sample.
    fn bars(n: usize) -> SampleValues {
        let vector = |i: usize| Vector3::new(wave(i), wave(i + 1), wave(2 * i + 5));
        SampleValues {
            points: (0..n).map(vector).collect(),
            weights: (0..n).map(|i| 40.0 * wave(3 * i + 2)).collect(),
            normals: (0..n).map(|i| vector(i + 7)).collect(),
        }
    }

    #[test]
    fn samples_at_the_vertices_of_the_mesh_are_those_of_the_mesh() {
        for rule in TriangleRule::ALL {
            let surface = Surface::new(&mesh(), rule);
            let samples = surface.samples(surface.vertices()).unwrap();
            let expected = SurfaceSamples::from_mesh(&mesh(), rule);
            assert_eq!(samples.points, expected.points());
            assert_eq!(samples.weights, expected.weights());
            assert_eq!(samples.normals, expected.normals().unwrap());
        }
    }

    #[test]
    fn pullback_to_vertices_is_the_derivative_of_points_weights_and_normals() {
        for rule in [TriangleRule::P1Q1, TriangleRule::P1Q3, TriangleRule::P1Q7] {
            let surface = Surface::new(&mesh(), rule);
            let bars = bars(surface.len());
            let found = surface.pull(surface.vertices(), &bars).unwrap();
            for (v, found) in found.iter().enumerate() {
                let mut vertices: Vec<_> =
                    surface.vertices().iter().map(|x| x.map(Jet::<3>::constant)).collect();
                vertices[v] = Vector3::from_fn(|k, _| Jet::variable(vertices[v][k].re, k));
                let s = surface.samples(&vertices).unwrap();
                for k in 0..3 {
                    let along = |x: &Vector3<Jet<3>>| x.map(|x| x.eps[k]);
                    let exact: f64 = (0..surface.len())
                        .map(|i| {
                            along(&s.points[i]).dot(&bars.points[i])
                                + s.weights[i].eps[k] * bars.weights[i]
                                + along(&s.normals[i]).dot(&bars.normals[i])
                        })
                        .sum();
                    assert!((found[k] - exact).abs() < 1e-12 * exact.abs().max(1.0));
                }
            }
        }
    }

    /// Weights grow with the square of the size, normals do not turn.
    #[test]
    fn scaling_the_vertices_scales_points_and_weights() {
        let surface = Surface::new(&mesh(), TriangleRule::P1Q6);
        let at = |s: f64| {
            let vertices: Vec<_> = surface.vertices().iter().map(|x| x * s).collect();
            surface.samples(&vertices).unwrap()
        };
        let (one, two) = (at(1.0), at(2.0));
        for i in 0..surface.len() {
            assert!((two.points[i] - one.points[i] * 2.0).norm() < 1e-15);
            assert!((two.weights[i] - one.weights[i] * 4.0).abs() < 1e-15);
            assert!((two.normals[i] - one.normals[i]).norm() < 1e-15);
        }
    }

    #[test]
    fn another_number_of_vertices_is_refused() {
        let surface = Surface::new(&mesh(), TriangleRule::P1Q1);
        let error = surface.samples(&[Vector3::<f64>::zeros(); 3]).unwrap_err();
        assert_eq!(error, GeometryError::VertexCount { found: 3, expected: 12 });
    }
}
