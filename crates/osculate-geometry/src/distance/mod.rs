//! Exact signed distance to a closed triangle mesh.
//!
//! ```text
//! face    Φ = (X − a)·n
//! edge    Φ = ± ‖(X − a) − ((X − a)·t) t‖
//! vertex  Φ = ± ‖X − v‖
//! ```
//!
//! of the feature nearest to `X`. The sign is that of `(X − x)·ñ`, with `x` the nearest point and `ñ` the
//! pseudo-normal of the feature: the normal of a face, the sum of both normals at an edge, the sum weighted by the
//! angles at a vertex (Bærentzen & Aanæs 2005, <https://doi.org/10.1109/TVCG.2005.49>). The nearest triangle is found with a
//! bounding-volume hierarchy.

mod closest;
mod weld;

pub use weld::WELD_DISTANCE;

use crate::GeometryError;
use crate::aabb::Aabb;
use crate::mesh::TriangleMesh;
use closest::{Region, Triangle};
use nalgebra::Vector3;
use osculate_math::{Scalar, lift, norm, real};
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhLeafCost, BvhNode};

/// The most triangles: the hierarchy counts leaves in thirty bits.
const MOST_TRIANGLES: usize = 1 << 30;

/// Below this distance to an edge or a vertex, relative to the diagonal, its direction is rounding.
const TOUCHING: f64 = 1e-12;

/// A closed mesh that answers with distances.
#[derive(Clone)]
pub struct MeshDistance {
    mesh: TriangleMesh,
    bounds: Aabb,
    triangles: Vec<Triangle>,
    face_normals: Vec<Vector3<f64>>,
    /// Of the edges `k → k + 1` of each triangle, unit.
    edge_normals: Vec<[Vector3<f64>; 3]>,
    /// Unit.
    vertex_normals: Vec<Vector3<f64>>,
    hierarchy: Bvh,
    touching: f64,
}

/// The part of a mesh that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A triangle.
    Face(usize),
    /// The edge from corner `k` to the next corner of a triangle.
    Edge(usize, usize),
    /// A vertex.
    Vertex(usize),
}

/// A leaf of the search.
#[derive(Clone, Copy)]
struct Candidate {
    squared: f64,
    region: Region,
}

impl BvhLeafCost for Candidate {
    fn cost(&self) -> f64 {
        self.squared
    }
}

impl std::fmt::Debug for MeshDistance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (triangles, bounds) = (self.triangles.len(), &self.bounds);
        f.debug_struct("MeshDistance")
            .field("triangles", &triangles)
            .field("bounds", bounds)
            .finish()
    }
}

/// Two are equal where their meshes are.
impl PartialEq for MeshDistance {
    fn eq(&self, other: &Self) -> bool {
        self.mesh == other.mesh
    }
}

impl MeshDistance {
    /// Prepares a mesh for queries.
    ///
    /// Vertices of an open mesh that are nearer than [`WELD_DISTANCE`] times its diagonal are joined first.
    ///
    /// # Errors
    /// Where the mesh is open (the first open edge is named), inside out, or too large.
    pub fn new(mesh: &TriangleMesh) -> Result<Self, GeometryError> {
        let mesh = if mesh.is_closed() { mesh.clone() } else { weld::welded(mesh)? };
        mesh.check_closed()?;
        let volume = mesh.signed_volume();
        if volume <= 0.0 {
            return Err(GeometryError::Quantity {
                quantity: "volume of a mesh that supplies distances",
                found: volume,
                allowed: "> 0: triangles counter-clockwise seen from outside",
            });
        }
        let count = mesh.triangles().len();
        if count >= MOST_TRIANGLES {
            return Err(GeometryError::TooMany {
                what: "triangles of a mesh that supplies distances",
                found: count as u128,
                allowed: MOST_TRIANGLES as u128,
            });
        }
        let bounds = Aabb::of_points(mesh.vertices())
            .ok_or(GeometryError::EmptyMesh { vertices: 0, triangles: count })?;
        let corners = |i: usize| mesh.corners(i);
        let boxes: Vec<_> = (0..count).map(|i| leaf_box(&corners(i))).collect();
        let face_normals: Vec<_> = (0..count).map(|i| mesh.face_normal(i)).collect();
        Ok(Self {
            bounds,
            triangles: (0..count).map(|i| Triangle::new(corners(i))).collect(),
            edge_normals: edge_normals(&mesh, &face_normals),
            vertex_normals: vertex_normals(&mesh, &face_normals),
            face_normals,
            hierarchy: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes),
            touching: TOUCHING * bounds.size().norm(),
            mesh,
        })
    }

    /// The mesh, after welding.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// Its bounding box.
    pub fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    /// The nearest feature to a point (m).
    pub fn nearest(&self, point: &Vector3<f64>) -> Feature {
        self.nearest_from(point, &mut 0)
    }

    /// The nearest feature, from a triangle that is probably near; leaves the nearest triangle there.
    #[inline]
    pub(crate) fn nearest_from(&self, point: &Vector3<f64>, hint: &mut usize) -> Feature {
        // Without a limit the triangle always answers.
        let (squared, region) = self.triangles[*hint]
            .closest(point, f64::INFINITY)
            .unwrap_or((f64::INFINITY, Region::Face));
        let p = Vector::new(point.x, point.y, point.z);
        let better = self.hierarchy.find_best(
            squared,
            |node, _| squared_distance(node, p),
            |leaf, limit| {
                let (squared, region) = self.triangles[leaf as usize].closest(point, limit)?;
                Some(Candidate { squared, region })
            },
        );
        let (triangle, region) =
            better.map_or((*hint, region), |(leaf, found)| (leaf as usize, found.region));
        *hint = triangle;
        match region {
            Region::Face => Feature::Face(triangle),
            Region::Edge(k) => Feature::Edge(triangle, usize::from(k)),
            Region::Corner(k) => Feature::Vertex(self.mesh.triangles()[triangle][usize::from(k)]),
        }
    }

    /// Signed distance (m) of a point (m).
    pub fn phi(&self, point: &Vector3<f64>) -> f64 {
        self.field(point).0
    }

    /// Signed distance (m) of a point (m) and its gradient, which is unit.
    ///
    /// On the medial axis, where several features are equally near, one of them is taken. On an edge or a vertex the
    /// gradient is the pseudo-normal.
    #[inline]
    pub fn field<T: Scalar>(&self, point: &Vector3<T>) -> (T, Vector3<T>) {
        self.field_at(self.nearest(&real(point)), point)
    }

    /// Distance to a feature and its gradient, generic over the scalar.
    pub fn field_at<T: Scalar>(&self, feature: Feature, point: &Vector3<T>) -> (T, Vector3<T>) {
        match feature {
            Feature::Face(i) => {
                let normal = lift(&self.face_normals[i]);
                ((point - lift::<T>(&self.mesh.corners(i)[0])).dot(&normal), normal)
            }
            Feature::Edge(i, k) => {
                let corners = self.mesh.corners(i);
                let along = lift::<T>(&(corners[(k + 1) % 3] - corners[k]).normalize());
                let arm = point - lift::<T>(&corners[k]);
                let across = arm - norm::scale(&along, arm.dot(&along));
                self.signed(across, &self.edge_normals[i][k])
            }
            Feature::Vertex(v) => {
                self.signed(point - lift::<T>(&self.mesh.vertices()[v]), &self.vertex_normals[v])
            }
        }
    }

    /// `± ‖arm‖` and its gradient, with the side of a pseudo-normal.
    fn signed<T: Scalar>(&self, arm: Vector3<T>, normal: &Vector3<f64>) -> (T, Vector3<T>) {
        let normal = lift::<T>(normal);
        let (height, distance) = (arm.dot(&normal), norm::norm0(&arm));
        if distance.re() <= self.touching {
            return (height, normal);
        }
        let side = if height < 0.0 { -1.0 } else { 1.0 };
        let gradient = norm::scale(&arm, distance.recip() * side);
        (distance * side, gradient)
    }
}

fn leaf_box(corners: &[Vector3<f64>; 3]) -> parry3d_f64::bounding_volume::Aabb {
    let v = |x: Vector3<f64>| Vector::new(x.x, x.y, x.z);
    let [a, b, c] = corners;
    parry3d_f64::bounding_volume::Aabb::new(v(a.inf(b).inf(c)), v(a.sup(b).sup(c)))
}

#[inline(always)]
fn squared_distance(node: &BvhNode, point: Vector) -> f64 {
    let away = (node.mins() - point).max(point - node.maxs()).max(Vector::ZERO);
    away.dot(away)
}

fn edge_normals(mesh: &TriangleMesh, faces: &[Vector3<f64>]) -> Vec<[Vector3<f64>; 3]> {
    let mut sides: Vec<(usize, usize, usize, usize)> = Vec::with_capacity(3 * faces.len());
    for (i, t) in mesh.triangles().iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            sides.push((a.min(b), a.max(b), i, k));
        }
    }
    sides.sort_unstable();
    let mut normals = vec![[Vector3::zeros(); 3]; faces.len()];
    for edge in sides.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        let sum: Vector3<f64> = edge.iter().map(|side| faces[side.2]).sum();
        for &(_, _, i, k) in edge {
            // Of a fold that closes on itself no side is out: its face decides.
            normals[i][k] = sum.try_normalize(f64::MIN_POSITIVE).unwrap_or(faces[i]);
        }
    }
    normals
}

fn vertex_normals(mesh: &TriangleMesh, faces: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    let mut normals = vec![Vector3::<f64>::zeros(); mesh.vertices().len()];
    for (i, t) in mesh.triangles().iter().enumerate() {
        let corners = mesh.corners(i);
        for k in 0..3 {
            let (u, v) = (corners[(k + 1) % 3] - corners[k], corners[(k + 2) % 3] - corners[k]);
            let angle = u.cross(&v).norm().atan2(u.dot(&v));
            normals[t[k]] += faces[i] * angle;
        }
    }
    for (i, t) in mesh.triangles().iter().enumerate() {
        for &v in t {
            // As at an edge; a vertex without triangles is never asked.
            if normals[v].norm_squared() < f64::MIN_POSITIVE {
                normals[v] = faces[i];
            }
        }
    }
    normals.iter().map(|n| n.try_normalize(f64::MIN_POSITIVE).unwrap_or_default()).collect()
}
