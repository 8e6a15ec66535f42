//! Boxes of many squares, with sharp or rounded edges.
//!
//! ```text
//! X = t ∘ (h − r) + r n        t ∈ [−1, 1]³,  n = u/‖u‖
//! ```
//!
//! `h` half extents, `r` radius of edges and corners. A face of the box is a square of `arc + flat + arc` intervals along each
//! side: on the flat part `t` goes from −1 to 1 and `n` is the normal of the face; on the arcs `t` stays and `u` turns from there
//! to the diagonal, by equal angles. Vertices are linear in `h` and `r`.

use super::TriangleMesh;
use super::shapes::{check_extents, check_positive};
use crate::GeometryError;
use nalgebra::Vector3;
use std::collections::HashMap;
use std::f64::consts::FRAC_PI_4;

/// The most intervals along the edge of a box: six million triangles.
const MOST_DIVISIONS: usize = 700;

/// How the surface of a box is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CuboidGrid {
    /// Squares along each edge of the flat part of a face, ≥ 1.
    pub flat: usize,
    /// Intervals of an eighth of a circle: a rounded edge has twice as many; 0 for sharp edges.
    pub arc: usize,
}

/// Vertices (m), and triples of vertex indices.
pub type Triangulation = (Vec<Vector3<f64>>, Vec<[usize; 3]>);

impl CuboidGrid {
    fn check(self) -> Result<usize, GeometryError> {
        let n = self.arc.saturating_mul(2).saturating_add(self.flat);
        if self.flat >= 1 && n <= MOST_DIVISIONS {
            return Ok(n);
        }
        Err(GeometryError::Quantity {
            quantity: "number of divisions of a box",
            found: if self.flat < 1 { 0.0 } else { n as f64 },
            allowed: "1..=700",
        })
    }

    /// `t` and `u` of a place along an axis.
    fn place(self, i: usize) -> (f64, f64) {
        let Self { flat, arc } = self;
        let turned = |steps: usize| {
            // Exactly one on the diagonal: the arcs of two faces meet.
            if steps == arc { 1.0 } else { (FRAC_PI_4 * steps as f64 / arc as f64).tan() }
        };
        if i < arc {
            (-1.0, -turned(arc - i))
        } else if i > arc + flat {
            (1.0, turned(i - arc - flat))
        } else {
            // (2i − n)/n is antisymmetric in rounding too: opposite vertices mirror each other exactly.
            ((2.0 * (i - arc) as f64 - flat as f64) / flat as f64, 0.0)
        }
    }

    /// The vertex of a node, on the face of an axis where its index is first or last.
    fn vertex(self, node: [usize; 3], axis: usize, core: &Vector3<f64>, r: f64) -> Vector3<f64> {
        let mut at = node.map(|i| self.place(i));
        at[axis].1 = at[axis].0;
        let t = Vector3::from(at.map(|(t, _)| t));
        let u = Vector3::from(at.map(|(_, u)| u));
        let x = t.component_mul(core);
        if self.arc == 0 { x } else { x + u * (r / u.norm()) }
    }

    /// Vertices (m) of a box of half extents `h` (m) and edge radius `r` (m), and triangles facing outwards.
    ///
    /// Faces are in the order −x, +x, −y, +y, −z, +z and share the vertices on their edges. The vertices are linear in `h` and
    /// `r`, which may be any numbers: those of unit vectors are how the vertices move with each.
    ///
    /// # Errors
    /// Where there is no square on a face, or more than 700 intervals along an edge.
    pub fn surface(self, h: &Vector3<f64>, r: f64) -> Result<Triangulation, GeometryError> {
        let n = self.check()?;
        let core = h.map(|x| x - r);
        let mut numbers: HashMap<[usize; 3], usize> = HashMap::new();
        let mut vertices = Vec::with_capacity(6 * n * n + 2);
        let mut triangles = Vec::with_capacity(12 * n * n);
        for (axis, upper) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let mut number = |u: usize, v: usize| {
                    let mut node = [0; 3];
                    node[axis] = if upper { n } else { 0 };
                    (node[(axis + 1) % 3], node[(axis + 2) % 3]) = (u, v);
                    *numbers.entry(node).or_insert_with(|| {
                        vertices.push(self.vertex(node, axis, &core, r));
                        vertices.len() - 1
                    })
                };
                let (a, b) = (number(i, j), number(i + 1, j));
                let (c, d) = (number(i + 1, j + 1), number(i, j + 1));
                triangles.extend(if upper {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, c, b], [a, d, c]]
                });
            }
        }
        Ok((vertices, triangles))
    }
}

impl TriangleMesh {
    /// Box `|X_i| ≤ half_extents_i` `[m]` of `n × n` quads on each face, `12 n²` triangles and `6 n² + 2` vertices.
    ///
    /// Faces are in the order −x, +x, −y, +y, −z, +z and share the vertices on their edges.
    ///
    /// # Errors
    /// Where a half extent is not positive and finite, or `n` is not in 1..=700.
    pub fn refined_cuboid(half_extents: &Vector3<f64>, n: usize) -> Result<Self, GeometryError> {
        check_extents(half_extents)?;
        let (vertices, triangles) = CuboidGrid { flat: n, arc: 0 }.surface(half_extents, 0.0)?;
        Self::new(vertices, triangles)
    }

    /// Box `|X_i| ≤ half_extents_i` (m) with edges and corners of a radius (m): flat faces, quarters of cylinders, eighths of
    /// spheres.
    ///
    /// The mesh is inscribed: its vertices lie on the surface, so its area and volume are below those of the box, which are, of a
    /// core of half extents `a, b, c = h − r`,
    ///
    /// ```text
    /// A = 8 (ab + bc + ca) + 4π r (a + b + c) + 4π r²
    /// V = 8 abc + 8 r (ab + bc + ca) + 2π r² (a + b + c) + 4/3 π r³
    /// ```
    ///
    /// by a share of `O(arc⁻²)`.
    ///
    /// # Errors
    /// Where a half extent or the radius is not positive and finite, the radius is not below every half extent, the edges have no
    /// arcs, or the divisions are not in 1..=700.
    pub fn rounded_cuboid(
        half_extents: &Vector3<f64>,
        edge_radius: f64,
        grid: CuboidGrid,
    ) -> Result<Self, GeometryError> {
        check_extents(half_extents)?;
        check_positive("edge radius of a box", edge_radius)?;
        if edge_radius >= half_extents.min() {
            return Err(GeometryError::Quantity {
                quantity: "edge radius of a box",
                found: edge_radius,
                allowed: "below the smallest half extent",
            });
        }
        if grid.arc < 1 {
            return Err(GeometryError::Quantity {
                quantity: "number of divisions of a rounded edge",
                found: 0.0,
                allowed: ">= 1",
            });
        }
        let (vertices, triangles) = grid.surface(half_extents, edge_radius)?;
        Self::new(vertices, triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collider::Collider;
    use std::f64::consts::PI;

    #[test]
    fn refined_box_shares_the_vertices_of_its_edges() {
        for n in 1..6 {
            let mesh = TriangleMesh::refined_cuboid(&Vector3::repeat(1.0), n).unwrap();
            assert_eq!(mesh.triangles().len(), 12 * n * n);
            assert_eq!(mesh.vertices().len(), 6 * n * n + 2);
        }
    }

    #[test]
    fn rounded_box_is_closed_faces_outwards_and_lies_on_its_surface() {
        let (h, r) = (Vector3::new(0.5, 0.3, 0.8), 0.12);
        let exact = Collider::rounded_cuboid(Vector3::zeros(), h, r).unwrap();
        for grid in [(1, 1), (3, 2), (2, 5)].map(|(flat, arc)| CuboidGrid { flat, arc }) {
            let mesh = TriangleMesh::rounded_cuboid(&h, r, grid).unwrap();
            mesh.check_closed().unwrap();
            for x in mesh.vertices() {
                assert!(exact.phi(x).abs() < 1e-15, "{x:?}: {}", exact.phi(x));
                let mirrored = mesh.vertices().iter().any(|y| (x + y).norm() == 0.0);
                assert!(mirrored, "{x:?} has no opposite vertex");
            }
            for i in 0..mesh.triangles().len() {
                let centre = mesh.corners(i).iter().sum::<Vector3<f64>>() / 3.0;
                let outward = exact.field(&centre).gradient.dot(&mesh.face_normal(i));
                assert!(outward > 0.8, "triangle {i}: {outward}");
            }
        }
    }

    #[test]
    fn rounded_box_converges_to_area_and_volume_of_its_closed_form_at_second_order() {
        let (h, r) = (Vector3::new(0.5, 0.3, 0.8), 0.12);
        let [a, b, c] = <[f64; 3]>::from(h.map(|x| x - r));
        let (pairs, sum) = (a * b + b * c + c * a, a + b + c);
        let area = 8.0 * pairs + 4.0 * PI * r * (sum + r);
        let volume =
            8.0 * (a * b * c + r * pairs) + 2.0 * PI * r * r * sum + 4.0 / 3.0 * PI * r.powi(3);
        let defects: Vec<_> = [4, 8, 16, 32]
            .iter()
            .map(|&arc| {
                let mesh =
                    TriangleMesh::rounded_cuboid(&h, r, CuboidGrid { flat: 2, arc }).unwrap();
                (1.0 - mesh.signed_volume() / volume, 1.0 - mesh.area() / area)
            })
            .collect();
        for pair in defects.windows(2) {
            let (volume, area) = (pair[0].0 / pair[1].0, pair[0].1 / pair[1].1);
            assert!((volume - 4.0).abs() < 0.1, "volume defect falls by {volume}");
            assert!((area - 4.0).abs() < 0.1, "area defect falls by {area}");
        }
    }

    #[test]
    fn vertices_are_linear_in_half_extents_and_radius() {
        let (h, r) = (Vector3::new(0.5, 0.3, 0.8), 0.12);
        let grid = CuboidGrid { flat: 2, arc: 3 };
        let of = |h: Vector3<f64>, r: f64| grid.surface(&h, r).unwrap().0;
        let basis = [Vector3::x(), Vector3::y(), Vector3::z()].map(|e| of(e, 0.0));
        let by_radius = of(Vector3::zeros(), 1.0);
        for (i, x) in of(h, r).iter().enumerate() {
            let sum: Vector3<f64> = (0..3).map(|k| basis[k][i] * h[k]).sum();
            assert!((sum + by_radius[i] * r - x).norm() < 1e-15);
        }
    }

    #[test]
    fn rounded_boxes_without_room_are_refused() {
        let h = Vector3::new(0.5, 0.3, 0.8);
        let grid = CuboidGrid { flat: 1, arc: 1 };
        for r in [0.0, -0.1, 0.3, 0.4, f64::NAN, f64::INFINITY] {
            assert!(TriangleMesh::rounded_cuboid(&h, r, grid).is_err(), "{r}");
        }
        for (flat, arc) in [(0, 1), (1, 0), (1, 350), (usize::MAX, usize::MAX)] {
            assert!(TriangleMesh::rounded_cuboid(&h, 0.1, CuboidGrid { flat, arc }).is_err());
        }
    }
}
