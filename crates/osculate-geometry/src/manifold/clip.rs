//! Contacts of two polytopes: the axis of least overlap, and the clipped face.
//!
//! Axes are the normals of faces and the cross products of edges. Along the normal of a face the opposite face is
//! clipped by the sides of the first (Sutherland–Hodgman), and each corner of the result keeps where it came from:
//! a vertex, an edge through a side, or a corner of the clipping face.

use super::Pair;
use super::contact::{Contact, FeatureId};
use super::feature::{Feature, Line, Plane};
use super::polytope::Polytope;
use nalgebra::Vector3;
use osculate_math::se3::Pose;

const POINT_PLANE: u64 = 1;
const LINE_LINE: u64 = 4;
const CUT_LINE: u64 = 5;
const PLANE_POINT: u64 = 6;

/// A face of the first body, or an edge pair, is preferred to a face of the second only where its gap is larger by
/// this part of the size: without it the choice flips from step to step between faces that are equally good.
const PREFERENCE: f64 = 1e-4;
/// Corners this part of the size outside a side plane count as inside.
const ON_SIDE: f64 = 1e-9;

/// A polytope in the world.
struct World<'a> {
    body: &'a Polytope,
    pose: &'a Pose,
    vertices: Vertices,
    center: Vector3<f64>,
}

/// Vertices of a polytope; those of a box, of which there are many, without an allocation.
enum Vertices {
    Few([Vector3<f64>; 8]),
    Many(Vec<Vector3<f64>>),
}

impl std::ops::Deref for Vertices {
    type Target = [Vector3<f64>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Few(v) => v,
            Self::Many(v) => v,
        }
    }
}

impl<'a> World<'a> {
    fn new(body: &'a Polytope, pose: &'a Pose) -> Self {
        let place = |v: &Vector3<f64>| pose.transform_point(v);
        let vertices = match <&[Vector3<f64>; 8]>::try_from(&body.vertices[..]) {
            Ok(few) => Vertices::Few(few.each_ref().map(place)),
            Err(_) => Vertices::Many(body.vertices.iter().map(place).collect()),
        };
        Self { body, pose, vertices, center: pose.transform_point(&body.center) }
    }

    fn lowest(&self, n: &Vector3<f64>) -> f64 {
        self.vertices.iter().map(|v| n.dot(v)).fold(f64::INFINITY, f64::min)
    }

    fn size(&self) -> f64 {
        self.vertices.iter().map(|v| (v - self.center).norm()).fold(0.0, f64::max)
    }

    fn normal(&self, face: usize) -> Vector3<f64> {
        self.pose.rotation * self.body.faces[face].plane.normal
    }

    /// The face with the largest gap to another body, and that gap; none where a gap is beyond `reach`.
    fn best_face(&self, other: &World<'_>, reach: f64) -> Option<(f64, usize)> {
        let gap = |f: usize| {
            let n = self.normal(f);
            let offset = self.body.faces[f].plane.offset + n.dot(&self.pose.position);
            other.lowest(&n) - offset
        };
        let mut best = (f64::NEG_INFINITY, 0);
        for f in 0..self.body.faces.len() {
            let g = gap(f);
            if g > reach {
                return None;
            }
            if g > best.0 {
                best = (g, f);
            }
        }
        Some(best)
    }

    /// The face whose normal points most against `n`.
    fn opposite_face(&self, n: &Vector3<f64>) -> usize {
        let mut best = (f64::INFINITY, 0);
        for f in 0..self.body.faces.len() {
            let along = self.normal(f).dot(n);
            if along < best.0 {
                best = (along, f);
            }
        }
        best.1
    }

    /// The lowest edge along `n` in a direction.
    fn lowest_edge(&self, n: &Vector3<f64>, direction: &Vector3<f64>) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (e, &[i, j]) in self.body.edges.iter().enumerate() {
            let along = (self.vertices[j] - self.vertices[i]).normalize();
            if along.cross(direction).norm() > 1e-6 {
                continue;
            }
            let height = n.dot(&(self.vertices[i] + self.vertices[j]));
            if best.is_none_or(|b| height < b.0) {
                best = Some((height, e));
            }
        }
        best.map(|b| b.1)
    }
}

/// The best pair of edges.
struct EdgePair {
    gap: f64,
    edges: [usize; 2],
    sign: f64,
}

impl Pair<'_> {
    /// Contacts of two solids.
    pub(super) fn between_polytopes(&self) -> Vec<Contact> {
        let a = World::new(self.first, self.poses[0]);
        let b = World::new(self.second, self.poses[1]);
        let [r, s] = self.radii;
        let reach = self.margin + r + s;
        // Most pairs that come here are apart along some face.
        let Some((on_b, face_b)) = b.best_face(&a, reach) else { return Vec::new() };
        let Some((on_a, face_a)) = a.best_face(&b, reach) else { return Vec::new() };
        let preference = PREFERENCE * a.size().min(b.size());
        let edge = best_edges(&a, &b);
        if let Some(edge) = edge
            && edge.gap > on_a.max(on_b) + preference
        {
            if edge.gap > reach {
                return Vec::new();
            }
            let [i, j] = edge.edges;
            let feature = Feature::LineLine(self.first.line(i), self.second.line(j), edge.sign);
            let mut found = Vec::new();
            self.keep(feature, FeatureId::new(LINE_LINE, [i, j, 0]), &mut found);
            return found;
        }
        let mut found = Vec::new();
        if on_a > on_b + preference {
            let other = Pair {
                first: self.second,
                second: self.first,
                radii: [s, r],
                poses: [self.poses[1], self.poses[0]],
                margin: self.margin,
            };
            other.clipped(&b, (&a, face_a), &mut found);
            return found.into_iter().map(Contact::swapped).collect();
        }
        self.clipped(&a, (&b, face_b), &mut found);
        found
    }

    /// The face of the first body opposite to a face of the second, clipped by its sides.
    fn clipped(&self, a: &World<'_>, (b, face): (&World<'_>, usize), found: &mut Vec<Contact>) {
        let n = b.normal(face);
        let incident = a.opposite_face(&n);
        let reference = &b.body.faces[face];
        let mut polygon = Polygon::of_face(a, incident);
        let tolerance = ON_SIDE * b.size();
        let count = reference.corners.len();
        let side = |k: usize| side_plane(b.body, face, k);
        for k in 0..count {
            let plane = side(k);
            let m = b.pose.rotation * plane.normal;
            let offset = plane.offset + m.dot(&b.pose.position);
            polygon = polygon.clip(k, |x| m.dot(x) - offset, tolerance);
        }
        for corner in &polygon.corners {
            let (feature, id) = match corner.origin {
                Origin::Vertex(i) => (
                    Feature::PointPlane(a.body.vertices[i], reference.plane),
                    FeatureId::new(POINT_PLANE, [i, face, 0]),
                ),
                Origin::Cut([i, j], k) => {
                    let line: Line = a.body.line_through(i, j);
                    let edge = a.body.edge_between(i, j).unwrap_or(0);
                    let id = FeatureId::new(CUT_LINE, [edge, face, k]);
                    (Feature::CutLine(line, [side(k), reference.plane]), id)
                }
                Origin::Corner(k, l) => {
                    // Sides k and k + 1 meet in corner k + 1 of the face.
                    let (low, high) = (k.min(l), k.max(l));
                    let place = if low == 0 && high == count - 1 { 0 } else { high };
                    let vertex = reference.corners[place];
                    let plane: Plane = a.body.faces[incident].plane;
                    let point = b.body.vertices[vertex];
                    let id = FeatureId::new(PLANE_POINT, [incident, vertex, face]);
                    (Feature::PlanePoint(plane, point, reference.plane.normal), id)
                }
            };
            self.keep(feature, id, found);
        }
    }
}

/// The plane through side `k` of a face, perpendicular to it, its normal pointing away from the face.
fn side_plane(body: &Polytope, face: usize, k: usize) -> Plane {
    let face = &body.faces[face];
    let (i, j) = (face.corners[k], face.corners[(k + 1) % face.corners.len()]);
    let (x, y) = (body.vertices[i], body.vertices[j]);
    let normal = (y - x).cross(&face.plane.normal).normalize();
    Plane { normal, offset: normal.dot(&x) }
}

fn best_edges(a: &World<'_>, b: &World<'_>) -> Option<EdgePair> {
    let mut best: Option<(f64, Vector3<f64>, [Vector3<f64>; 2])> = None;
    for d in &a.body.directions {
        let d = a.pose.rotation * d;
        for e in &b.body.directions {
            let e = b.pose.rotation * e;
            let across = d.cross(&e);
            let length = across.norm();
            if length < 1e-6 {
                continue;
            }
            let mut n = across / length;
            if n.dot(&(a.center - b.center)) < 0.0 {
                n = -n;
            }
            let gap = a.lowest(&n) + b.lowest(&-n);
            if best.is_none_or(|x| gap > x.0) {
                best = Some((gap, n, [d, e]));
            }
        }
    }
    let (gap, n, [d, e]) = best?;
    let edges = [a.lowest_edge(&n, &d)?, b.lowest_edge(&-n, &e)?];
    let [d, e] = [(a, edges[0]), (b, edges[1])].map(|(w, e)| {
        let [i, j] = w.body.edges[e];
        w.vertices[j] - w.vertices[i]
    });
    let sign = if d.cross(&e).dot(&n) < 0.0 { -1.0 } else { 1.0 };
    Some(EdgePair { gap, edges, sign })
}

/// Where a corner of the clipped polygon came from.
#[derive(Clone, Copy)]
enum Origin {
    Vertex(usize),
    /// The edge between two vertices, through side `k`.
    Cut([usize; 2], usize),
    /// Where two sides meet.
    Corner(usize, usize),
}

/// What the side of a polygon lies on.
#[derive(Clone, Copy)]
enum Along {
    Edge([usize; 2]),
    Side(usize),
}

#[derive(Clone, Copy)]
struct Corner {
    x: Vector3<f64>,
    origin: Origin,
    /// The side that leads to the next corner.
    along: Along,
}

struct Polygon {
    corners: Vec<Corner>,
}

impl Polygon {
    fn of_face(a: &World<'_>, face: usize) -> Self {
        let corners = &a.body.faces[face].corners;
        let corner = |k: usize| {
            let (i, j) = (corners[k], corners[(k + 1) % corners.len()]);
            Corner { x: a.vertices[i], origin: Origin::Vertex(i), along: Along::Edge([i, j]) }
        };
        Self { corners: (0..corners.len()).map(corner).collect() }
    }

    /// The part with `height ≤ tolerance`.
    fn clip(&self, k: usize, height: impl Fn(&Vector3<f64>) -> f64, tolerance: f64) -> Self {
        let n = self.corners.len();
        let mut corners = Vec::with_capacity(n + 2);
        for i in 0..n {
            let (p, q) = (self.corners[i], self.corners[(i + 1) % n]);
            let (hp, hq) = (height(&p.x), height(&q.x));
            let (inside, next_inside) = (hp <= tolerance, hq <= tolerance);
            if inside {
                corners.push(p);
            }
            if inside == next_inside {
                continue;
            }
            let x = p.x + (q.x - p.x) * (hp / (hp - hq)).clamp(0.0, 1.0);
            let origin = match p.along {
                Along::Edge(edge) => Origin::Cut(edge, k),
                Along::Side(l) => Origin::Corner(l, k),
            };
            // Leaving, the polygon goes on along the side; entering, along what it came from.
            let along = if inside { Along::Side(k) } else { p.along };
            corners.push(Corner { x, origin, along });
        }
        Self { corners }
    }
}
