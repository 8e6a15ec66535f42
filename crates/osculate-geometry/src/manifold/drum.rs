//! Contacts of a cylinder with a polytope.
//!
//! The axis of least overlap is that of the largest gap among the normals of faces and caps and the common normals of side and
//! edges, side and corners, rims and edges, rims and corners. All pairs of features whose normal is that axis, but for a few
//! degrees, are contacts: rims on a face, corners on a cap or the side, edges across the side or a rim.

use super::contact::{Contact, FeatureId};
use super::cylinder::{LINE_LINE, POINT_LINE, POINT_PLANE, RIM_LINE, RIM_POINT, rims_on_plane};
use super::feature::Feature;
use super::polytope::Polytope;
use crate::collider::Cylinder;
use nalgebra::Vector3;
use osculate_math::se3::Pose;

/// Normals of one manifold agree to this cosine: 5.7 degrees, as those of a region of friction.
const TOGETHER: f64 = 0.995;
/// A face or a cap is preferred to another axis unless that has a gap larger by this part of the size.
const PREFERENCE: f64 = 1e-4;
/// An edge and the tangent of a rim that make a smaller angle (its sine) have no contact of their own.
const TANGENT: f64 = 0.05;
/// Projections of a rim onto an edge and back, before Newton.
const PROJECTIONS: usize = 24;

/// A cylinder and a polytope.
pub(super) struct Drum<'a> {
    pub(super) cylinder: &'a Cylinder,
    /// Pose of the cylinder in the world.
    pub(super) pose: &'a Pose,
    pub(super) body: &'a Polytope,
    /// Radius by which the polytope is grown \[m\].
    pub(super) radius: f64,
    /// Pose of the polytope in the world.
    pub(super) other: &'a Pose,
    pub(super) margin: f64,
}

impl Drum<'_> {
    /// Contacts of the cylinder against the polytope.
    pub(super) fn contacts(&self) -> Vec<Contact> {
        let faces = self.body.faces.iter().map(|f| self.other.rotation * f.plane.normal);
        let axis = self.pose.rotation.column(2).into_owned();
        // Faces first: among equal gaps the first counts.
        let mut best = (f64::NEG_INFINITY, Vector3::zeros());
        for n in faces.chain([axis, -axis]) {
            let gap = self.gap(&n);
            if gap > self.margin {
                return Vec::new();
            }
            if gap > best.0 + PREFERENCE * self.cylinder.radius {
                best = (gap, n);
            }
        }
        let curved = self.curved();
        let mut round: Option<(f64, Vector3<f64>)> = None;
        for contact in &curved {
            let n = contact.evaluate(self.pose, self.other).normal;
            let gap = self.gap(&n);
            if gap > self.margin {
                return Vec::new();
            }
            if round.is_none_or(|b| gap > b.0) {
                round = Some((gap, n));
            }
        }
        if let Some((gap, n)) = round
            && gap > best.0 + PREFERENCE * self.cylinder.radius
        {
            best = (gap, n);
        }
        let all = self.flat().into_iter().chain(curved);
        all.filter(|c| {
            let point = c.evaluate(self.pose, self.other);
            point.gap <= self.margin && point.normal.dot(&best.1) >= TOGETHER
        })
        .collect()
    }

    /// How far the two are apart along a direction that leaves the polytope \[m\].
    fn gap(&self, n: &Vector3<f64>) -> f64 {
        let c = self.cylinder;
        let along = self.pose.rotation.column(2).dot(n);
        let across = (1.0 - along * along).max(0.0).sqrt();
        let center = self.pose.transform_point(&c.center);
        let lowest = n.dot(&center) - c.half_height * along.abs() - c.radius * across;
        let local = self.other.rotation.tr_mul(n);
        let highest = self.body.vertices.iter().map(|v| local.dot(v));
        let highest = highest.fold(f64::NEG_INFINITY, f64::max) + n.dot(&self.other.position);
        lowest - highest - self.radius
    }

    /// A place of the world in the frame of the cylinder, from its centre.
    fn arm_of(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.pose.inverse_transform_point(x) - self.cylinder.center
    }

    /// Rims on faces and corners on caps.
    fn flat(&self) -> Vec<Contact> {
        let mut found = Vec::new();
        for (f, face) in self.body.faces.iter().enumerate() {
            let plane = (&face.plane, self.other, self.radius, f);
            let above = rims_on_plane(self.cylinder, self.pose, plane).into_iter().filter(|c| {
                let y = c.evaluate(self.pose, self.other).point_b;
                self.body.is_above(f, &self.other.inverse_transform_point(&y))
            });
            found.extend(above);
        }
        for (v, x) in self.body.vertices.iter().enumerate() {
            let arm = self.arm_of(&self.other.transform_point(x));
            if arm.xy().norm() > self.cylinder.radius {
                continue;
            }
            for cap in 0..2 {
                let feature = Feature::PointPlane(*x, self.cylinder.cap(cap));
                let id = FeatureId::new(POINT_PLANE, [v, cap, 0]);
                found.push(Contact::new(feature, [self.radius, 0.0], id).swapped());
            }
        }
        found
    }

    /// Edges and corners on the side and the rims.
    fn curved(&self) -> Vec<Contact> {
        let (c, mut found) = (self.cylinder, Vec::new());
        for (v, x) in self.body.vertices.iter().enumerate() {
            let arm = self.arm_of(&self.other.transform_point(x));
            let (rho, along) = (arm.xy().norm(), arm.z.abs() - c.half_height);
            if along <= 0.0 && rho > 0.0 {
                let feature = Feature::PointLine(*x, c.axis());
                let id = FeatureId::new(POINT_LINE, [v, 0, 0]);
                found.push(Contact::new(feature, [self.radius, c.radius], id).swapped());
            } else if along > 0.0 && rho > c.radius {
                let cap = usize::from(arm.z > 0.0);
                let id = FeatureId::new(RIM_POINT, [cap, v, 0]);
                let feature = Feature::RimPoint(c.rim(cap), *x);
                found.push(Contact::new(feature, [0.0, self.radius], id));
            }
        }
        for edge in 0..self.body.edges.len() {
            self.across_side(edge, &mut found);
            for cap in 0..2 {
                self.across_rim(edge, cap, &mut found);
            }
        }
        found
    }

    /// Centre of the polytope against a normal: contacts look away from it.
    fn sign(&self, across: &Vector3<f64>, y: &Vector3<f64>) -> f64 {
        let outwards = y - self.other.transform_point(&self.body.center);
        if across.dot(&outwards) < 0.0 { -1.0 } else { 1.0 }
    }

    /// An edge across the side, where both nearest points are inside.
    fn across_side(&self, edge: usize, found: &mut Vec<Contact>) {
        let c = self.cylinder;
        let [p, q] = self.ends(edge);
        let (o, d) =
            (self.pose.transform_point(&c.center), self.pose.rotation.column(2).into_owned());
        let e = q - p;
        let across = d.cross(&e);
        let square = across.norm_squared();
        if square <= 1e-12 * e.norm_squared() {
            return;
        }
        let s = (p - o).cross(&e).dot(&across) / square;
        let t = (p - o).cross(&d).dot(&across) / square;
        if s.abs() < c.half_height && t > 0.0 && t < 1.0 {
            let sign = self.sign(&across, &(p + e * t));
            let feature = Feature::LineLine(c.axis(), self.body.line(edge), sign);
            let id = FeatureId::new(LINE_LINE, [edge, 0, 0]);
            found.push(Contact::new(feature, [c.radius, self.radius], id));
        }
    }

    /// An edge across a rim, at most once on either side.
    fn across_rim(&self, edge: usize, cap: usize, found: &mut Vec<Contact>) {
        let rim = self.cylinder.rim(cap);
        let line = self.body.line(edge);
        let [p, q] = self.ends(edge);
        for (which, end) in [p, q].into_iter().enumerate() {
            let mut x = self.pose.inverse_transform_point(&end) - rim.center;
            let mut angle = x.y.atan2(x.x);
            for _ in 0..PROJECTIONS {
                let (at, _) = rim.tangent(self.pose, angle);
                let t = ((at - p).dot(&(q - p)) / (q - p).norm_squared()).clamp(0.0, 1.0);
                x = self.pose.inverse_transform_point(&(p + (q - p) * t)) - rim.center;
                angle = x.y.atan2(x.x);
            }
            let (angle, slope, off) = rim.nearest(self.pose, (&line, angle), self.other);
            let (at, along) = rim.tangent(self.pose, angle);
            let across = along.cross(&(q - p).normalize());
            let t = (at - p).dot(&(q - p)) / (q - p).norm_squared();
            // A tangent that is nearly the edge, or no common normal near.
            let meets = off.abs() <= 1e-9 * rim.radius && slope.is_finite();
            if !meets || across.norm() < TANGENT || !(t > 0.0 && t < 1.0) {
                continue;
            }
            let sign = self.sign(&across, &(p + (q - p) * t));
            let feature = Feature::RimLine(rim, line, (angle, sign));
            let id = FeatureId::new(RIM_LINE, [cap, edge, which]);
            let contact = Contact::new(feature, [0.0, self.radius], id);
            let point = contact.evaluate(self.pose, self.other).point_a;
            let same = |c: &Contact| {
                matches!(c.feature(), Feature::RimLine(..))
                    && c.id.0 >> 1 == id.0 >> 1
                    && (c.evaluate(self.pose, self.other).point_a - point).norm()
                        < 1e-6 * rim.radius
            };
            if !found.iter().any(same) {
                found.push(contact);
            }
        }
    }

    fn ends(&self, edge: usize) -> [Vector3<f64>; 2] {
        self.body.edges[edge].map(|i| self.other.transform_point(&self.body.vertices[i]))
    }
}
