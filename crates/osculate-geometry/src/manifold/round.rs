//! Contacts of points and segments (spheres, capsules), and of anything with a plane.

use super::contact::{Contact, FeatureId};
use super::feature::{Feature, Plane};
use super::polytope::Polytope;
use super::{FeatureId as Id, Pair};
use nalgebra::Vector3;
use osculate_math::se3::Pose;

/// Kinds of feature pairs, the upper bits of an id.
const POINT_PLANE: u64 = 1;
const POINT_LINE: u64 = 2;
const POINT_POINT: u64 = 3;
const LINE_LINE: u64 = 4;

/// Every vertex that is near a plane.
pub(super) fn on_plane(
    (core, radius): (&Polytope, f64),
    pose: &Pose,
    (plane, other): (&Plane, &Pose),
    margin: f64,
) -> Vec<Contact> {
    let contact = |(i, &vertex): (usize, &Vector3<f64>)| {
        let id = FeatureId::new(POINT_PLANE, [i, 0, 0]);
        Contact::new(Feature::PointPlane(vertex, *plane), [radius, 0.0], id)
    };
    let all = core.vertices.iter().enumerate().map(contact);
    all.filter(|c| c.evaluate(pose, other).gap <= margin).collect()
}

impl Pair<'_> {
    /// A point or a segment against anything.
    pub(super) fn round_against(&self) -> Vec<Contact> {
        let mut found = Vec::new();
        let ends = self.first.vertices.len();
        let crossing = (ends == 2).then(|| self.crossing()).flatten();
        if let Some((feature, id)) = crossing {
            self.keep(feature, id, &mut found);
            let parallel_ends = found.is_empty();
            if !parallel_ends && self.second.faces.is_empty() {
                return found;
            }
        }
        for i in 0..ends {
            if let Some((feature, id)) = self.nearest_to_vertex(i) {
                self.keep(feature, id, &mut found);
            }
        }
        // Two segments side by side touch at the ends of either.
        if self.second.vertices.len() == 2 && ends == 2 {
            let other = Pair {
                first: self.second,
                second: self.first,
                radii: [self.radii[1], self.radii[0]],
                poses: [self.poses[1], self.poses[0]],
                margin: self.margin,
            };
            for i in 0..2 {
                if let Some((feature @ Feature::PointLine(..), id)) = other.nearest_to_vertex(i) {
                    let mut one = Vec::new();
                    other.keep(feature, id, &mut one);
                    found.extend(one.into_iter().map(Contact::swapped));
                }
            }
        }
        found
    }

    /// What of the second body is nearest to a vertex of the first; `None` where the vertex lies on an edge or a
    /// vertex and there is no direction.
    fn nearest_to_vertex(&self, i: usize) -> Option<(Feature, Id)> {
        let vertex = self.first.vertices[i];
        let x = self.poses[1].inverse_transform_point(&self.poses[0].transform_point(&vertex));
        let body = self.second;
        // Deepest face, where the point is inside or straight above a face.
        let heights = body.faces.iter().enumerate();
        let heights = heights.map(|(f, face)| (face.plane.normal.dot(&x) - face.plane.offset, f));
        let highest = heights.fold(None, |best: Option<(f64, usize)>, h| match best {
            Some(b) if b.0 >= h.0 => Some(b),
            _ => Some(h),
        });
        if let Some((height, face)) = highest
            && (height <= 0.0 || body.is_above(face, &x))
        {
            let id = Id::new(POINT_PLANE, [i, face, 0]);
            return Some((Feature::PointPlane(vertex, body.faces[face].plane), id));
        }
        if let Some(face) = (0..body.faces.len()).find(|&f| {
            let plane = &body.faces[f].plane;
            plane.normal.dot(&x) > plane.offset && body.is_above(f, &x)
        }) {
            let id = Id::new(POINT_PLANE, [i, face, 0]);
            return Some((Feature::PointPlane(vertex, body.faces[face].plane), id));
        }
        self.nearest_edge_or_vertex(i, &x)
    }

    fn nearest_edge_or_vertex(&self, i: usize, x: &Vector3<f64>) -> Option<(Feature, Id)> {
        let (vertex, body) = (self.first.vertices[i], self.second);
        let mut best = f64::INFINITY;
        let mut found = None;
        for (e, &[p, q]) in body.edges.iter().enumerate() {
            let (a, b) = (body.vertices[p], body.vertices[q]);
            let along = (x - a).dot(&(b - a)) / (b - a).norm_squared();
            let distance = (a + (b - a) * along - x).norm();
            if along > 0.0 && along < 1.0 && distance < best && distance > 0.0 {
                best = distance;
                found = Some((
                    Feature::PointLine(vertex, body.line(e)),
                    Id::new(POINT_LINE, [i, e, 0]),
                ));
            }
        }
        for (v, y) in body.vertices.iter().enumerate() {
            let distance = (y - x).norm();
            if distance < best && distance > 0.0 {
                best = distance;
                found = Some((Feature::PointPoint(vertex, *y), Id::new(POINT_POINT, [i, v, 0])));
            }
        }
        found
    }

    /// The edge of the second body that a segment crosses nearest, where both nearest points are inside.
    fn crossing(&self) -> Option<(Feature, Id)> {
        let at = |body: &Polytope, pose: &Pose, [i, j]: [usize; 2]| {
            (pose.transform_point(&body.vertices[i]), pose.transform_point(&body.vertices[j]))
        };
        let (a, b) = at(self.first, self.poses[0], [0, 1]);
        let center = self.poses[1].transform_point(&self.second.center);
        let mut best: Option<(f64, Feature, Id)> = None;
        for (e, &edge) in self.second.edges.iter().enumerate() {
            let (p, q) = at(self.second, self.poses[1], edge);
            let (d, f) = (b - a, q - p);
            let across = d.cross(&f);
            let square = across.norm_squared();
            if square <= 1e-18 * d.norm_squared() * f.norm_squared() {
                continue;
            }
            let s = (p - a).cross(&f).dot(&across) / square;
            let t = (p - a).cross(&d).dot(&across) / square;
            if !(s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0) {
                continue;
            }
            let between = a + d * s - (p + f * t);
            // Outwards of a solid, towards the first body otherwise.
            let outwards = if self.second.faces.is_empty() { between } else { p + f * t - center };
            let sign = if across.dot(&outwards) < 0.0 { -1.0 } else { 1.0 };
            let gap = between.dot(&across) * sign / square.sqrt();
            if best.is_none_or(|b| gap < b.0) {
                let feature = Feature::LineLine(self.first.line(0), self.second.line(e), sign);
                best = Some((gap, feature, Id::new(LINE_LINE, [0, e, 0])));
            }
        }
        best.map(|(_, feature, id)| (feature, id))
    }
}

impl Polytope {
    /// Whether a point is straight above a face or on its border.
    pub(super) fn is_above(&self, face: usize, x: &Vector3<f64>) -> bool {
        let face = &self.faces[face];
        let n = face.corners.len();
        (0..n).all(|k| {
            let (a, b) = (self.vertices[face.corners[k]], self.vertices[face.corners[(k + 1) % n]]);
            (b - a).cross(&face.plane.normal).dot(&(x - a)) <= 0.0
        })
    }
}
