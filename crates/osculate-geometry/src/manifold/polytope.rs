//! Convex polytopes with their faces, edges and vertices.

use super::feature::{Line, Plane};
use crate::GeometryError;
use crate::mesh::check_positive;
use nalgebra::Vector3;

/// A face: its plane and its vertices, counter-clockwise seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Face {
    pub(super) plane: Plane,
    pub(super) corners: Vec<usize>,
}

/// A convex polytope in local coordinates \[m\]: a point, a segment, or a solid with flat faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    pub(super) vertices: Vec<Vector3<f64>>,
    pub(super) faces: Vec<Face>,
    /// Ends of each edge, ascending.
    pub(super) edges: Vec<[usize; 2]>,
    /// Unit directions of the edges, parallel ones once.
    pub(super) directions: Vec<Vector3<f64>>,
    pub(super) center: Vector3<f64>,
}

/// Directions whose cross product is shorter than this are parallel \[–\].
const PARALLEL: f64 = 1e-9;

impl Polytope {
    /// One point.
    pub fn point(x: Vector3<f64>) -> Self {
        Self::from_parts(vec![x], Vec::new(), Vec::new())
    }

    /// A segment.
    pub fn segment(ends: [Vector3<f64>; 2]) -> Self {
        Self::from_parts(ends.to_vec(), Vec::new(), vec![[0, 1]])
    }

    /// A box along the axes.
    pub fn cuboid(center: &Vector3<f64>, half_extents: &Vector3<f64>) -> Self {
        let vertex = |i: usize| {
            let sign = |k: usize| if i >> k & 1 == 1 { 1.0 } else { -1.0 };
            center + Vector3::from_fn(|k, _| sign(k) * half_extents[k])
        };
        let loops =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Self::from_loops((0..8).map(vertex).collect(), loops.iter().map(|l| l.to_vec()).collect())
    }

    /// A prism over a regular polygon, about the z axis.
    ///
    /// # Errors
    /// Where a length is not positive or there are fewer than three sides.
    pub fn prism(radius: f64, half_height: f64, sides: usize) -> Result<Self, GeometryError> {
        check_positive("radius", radius)?;
        check_positive("half height", half_height)?;
        if sides < 3 {
            let (quantity, found) = ("number of sides", sides as f64);
            return Err(GeometryError::Quantity { quantity, found, allowed: ">= 3" });
        }
        let corner = |i: usize| {
            let angle = std::f64::consts::TAU * (i % sides) as f64 / sides as f64;
            let z = if i < sides { -half_height } else { half_height };
            Vector3::new(radius * angle.cos(), radius * angle.sin(), z)
        };
        let mut loops = vec![(0..sides).rev().collect(), (sides..2 * sides).collect()];
        for i in 0..sides {
            let j = (i + 1) % sides;
            loops.push(vec![i, j, sides + j, sides + i]);
        }
        Ok(Self::from_loops((0..2 * sides).map(corner).collect(), loops))
    }

    /// A solid from vertices and loops of faces, counter-clockwise seen from outside.
    pub(super) fn from_loops(vertices: Vec<Vector3<f64>>, loops: Vec<Vec<usize>>) -> Self {
        let mut edges = Vec::new();
        let faces = loops.into_iter().map(|corners| {
            for (k, &i) in corners.iter().enumerate() {
                let j = corners[(k + 1) % corners.len()];
                if i < j {
                    edges.push([i, j]);
                }
            }
            Face { plane: plane_of(&vertices, &corners), corners }
        });
        let faces = faces.collect();
        Self::from_parts(vertices, faces, edges)
    }

    fn from_parts(
        vertices: Vec<Vector3<f64>>,
        faces: Vec<Face>,
        mut edges: Vec<[usize; 2]>,
    ) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let mut directions: Vec<Vector3<f64>> = Vec::new();
        for [i, j] in &edges {
            let d = (vertices[*j] - vertices[*i]).normalize();
            if directions.iter().all(|e| e.cross(&d).norm() > PARALLEL) {
                directions.push(d);
            }
        }
        let center = vertices.iter().sum::<Vector3<f64>>() / vertices.len().max(1) as f64;
        Self { vertices, faces, edges, directions, center }
    }

    /// Vertices \[m\].
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// How many faces there are.
    pub fn faces(&self) -> usize {
        self.faces.len()
    }

    /// The line through an edge.
    pub(super) fn line(&self, edge: usize) -> Line {
        let [i, j] = self.edges[edge];
        self.line_through(i, j)
    }

    pub(super) fn line_through(&self, i: usize, j: usize) -> Line {
        let (origin, end) = (self.vertices[i], self.vertices[j]);
        Line { origin, direction: (end - origin).normalize() }
    }

    /// Index of the edge between two vertices.
    pub(super) fn edge_between(&self, i: usize, j: usize) -> Option<usize> {
        self.edges.binary_search(&[i.min(j), i.max(j)]).ok()
    }
}

/// Plane of a loop by Newell's sum, which does not hang on three of its corners.
fn plane_of(vertices: &[Vector3<f64>], corners: &[usize]) -> Plane {
    let center = corners.iter().map(|&i| vertices[i]).sum::<Vector3<f64>>() / corners.len() as f64;
    let mut normal = Vector3::zeros();
    for (k, &i) in corners.iter().enumerate() {
        let j = corners[(k + 1) % corners.len()];
        normal += (vertices[i] - center).cross(&(vertices[j] - center));
    }
    let normal = normal.normalize();
    Plane { normal, offset: normal.dot(&center) }
}
