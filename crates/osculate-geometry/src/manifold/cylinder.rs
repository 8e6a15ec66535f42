//! Contacts of cylinders: with planes, balls and polytopes.
//!
//! A tilted cylinder touches a plane at the lowest points of its rims, one on each cap, and may come down on the far side of the
//! lower one. Flat on a cap, where there is no lowest point, it stands on three points of the rim that are fixed in the directions of the *other* body: they do not turn with the
//! cylinder, as the place where it is carried does not. A rolling one touches at the ends of its lowest line.

use super::contact::{Contact, FeatureId};
use super::feature::{Feature, Line, Plane};
use super::polytope::Polytope;
use super::rim::Rim;
use crate::collider::Cylinder;
use nalgebra::Vector3;
use osculate_math::se3::Pose;

pub(super) const POINT_PLANE: u64 = 1;
pub(super) const POINT_LINE: u64 = 2;
pub(super) const LINE_LINE: u64 = 4;
pub(super) const RIM_PLANE: u64 = 7;
pub(super) const RIM_POINT: u64 = 8;
pub(super) const RIM_LINE: u64 = 9;

/// Sine of the tilt below which a cap has no lowest point: it overlaps by at most half of it times the radius more than its three
/// points say.
const FLAT: f64 = 1e-5;
/// Cosine of the tilt up to which the three points of a cap are looked at.
const STEEP: f64 = 0.7;
/// Cosine of the angle to the lowest point within which one of the three is left out.
const BESIDE: f64 = 0.5;

impl Cylinder {
    pub(super) fn rim(&self, cap: usize) -> Rim {
        let z = if cap == 0 { -self.half_height } else { self.half_height };
        Rim { center: self.center + Vector3::z() * z, radius: self.radius }
    }

    pub(super) fn cap(&self, cap: usize) -> Plane {
        let normal = if cap == 0 { -Vector3::z() } else { Vector3::z() };
        Plane { normal, offset: normal.z * self.center.z + self.half_height }
    }

    pub(super) fn axis(&self) -> Line {
        Line { origin: self.center, direction: Vector3::z() }
    }
}

/// Points of the rims against a plane whose index is `face`, and which of the rim they are.
pub(super) fn rims_on_plane(
    cylinder: &Cylinder,
    pose: &Pose,
    (plane, other, radius, face): (&Plane, &Pose, f64, usize),
) -> Vec<Contact> {
    let axis = other.rotation.tr_mul(&pose.rotation.column(2).into_owned());
    let (upright, tilt) = (axis.dot(&plane.normal), axis.cross(&plane.normal).norm());
    let mut found = Vec::with_capacity(5);
    let mut add = |cap: usize, which: usize, toward: Vector3<f64>| {
        let feature = Feature::RimPlane(cylinder.rim(cap), toward, *plane);
        let id = FeatureId::new(RIM_PLANE, [cap, which, face]);
        found.push(Contact::new(feature, [0.0, radius], id));
    };
    if tilt > FLAT {
        add(0, 0, -plane.normal);
        add(1, 0, -plane.normal);
    }
    if upright.abs() > STEEP {
        let lower = usize::from(upright < 0.0);
        let down = axis * upright - plane.normal;
        for (k, toward) in spokes(&plane.normal).into_iter().enumerate() {
            // The lowest point stands for the one beside it, which is no place of the rim that stays as low while it turns.
            if tilt <= FLAT || toward.dot(&down) < BESIDE * down.norm() {
                add(lower, 1 + k, toward);
            }
        }
    }
    found
}

/// Three directions along a plane, 120° apart: the first is x along the plane, y where x is its normal.
fn spokes(n: &Vector3<f64>) -> [Vector3<f64>; 3] {
    let along = |e: Vector3<f64>| e - n * n.dot(&e);
    let first = along(Vector3::x());
    let first = if first.norm() > 1e-6 { first } else { along(Vector3::y()) };
    let (t, half) = (first.normalize(), 0.75f64.sqrt());
    let s = n.cross(&t);
    [t, s * -half - t * 0.5, s * half - t * 0.5]
}

/// A cylinder on a half-space.
pub(super) fn on_plane(
    cylinder: &Cylinder,
    pose: &Pose,
    (plane, other): (&Plane, &Pose),
    margin: f64,
) -> Vec<Contact> {
    let all = rims_on_plane(cylinder, pose, (plane, other, 0.0, 0));
    all.into_iter().filter(|c| c.evaluate(pose, other).gap <= margin).collect()
}

/// A ball against a cylinder; none where its centre lies on the axis nearest to the side, or on a rim.
pub(super) fn under_ball(
    (ball, radius): (&Polytope, f64),
    pose: &Pose,
    (cylinder, other): (&Cylinder, &Pose),
    margin: f64,
) -> Option<Contact> {
    let vertex = ball.vertices()[0];
    let arm = other.inverse_transform_point(&pose.transform_point(&vertex)) - cylinder.center;
    let rho = arm.xy().norm();
    let (across, along) = (rho - cylinder.radius, arm.z.abs() - cylinder.half_height);
    let cap = usize::from(arm.z >= 0.0);
    let contact = if across > 0.0 && along > 0.0 {
        let id = FeatureId::new(RIM_POINT, [cap, 0, 0]);
        Contact::new(Feature::RimPoint(cylinder.rim(cap), vertex), [0.0, radius], id).swapped()
    } else if along > across {
        let id = FeatureId::new(POINT_PLANE, [0, cap, 0]);
        Contact::new(Feature::PointPlane(vertex, cylinder.cap(cap)), [radius, 0.0], id)
    } else if rho > 0.0 {
        let feature = Feature::PointLine(vertex, cylinder.axis());
        Contact::new(feature, [radius, cylinder.radius], FeatureId::new(POINT_LINE, [0; 3]))
    } else {
        return None;
    };
    (contact.evaluate(pose, other).gap <= margin).then_some(contact)
}
