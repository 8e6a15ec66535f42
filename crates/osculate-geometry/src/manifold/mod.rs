//! Contact points between two bodies, each a differentiable function of their poses.
//!
//! ```text
//! gap  g = n·(x_a − x_b) − r_a − r_b        n leaves b, g < 0 where the bodies overlap
//! ```
//!
//! A shape is a half-space, a cylinder, or a convex polytope grown by a radius: a sphere is a vertex, a capsule an edge, a
//! box a box. The search runs in `f64` and returns *features* (a vertex against a face, an edge against an edge, …);
//! [`Contact::evaluate`] is then a closed formula in the two poses, generic over the scalar and exact for the
//! feature found.
//!
//! Points come in a fixed order and with an id each, which stays the same while the same features touch.

mod clip;
mod contact;
mod cylinder;
#[cfg(test)]
mod dimension_tests;
mod dimensions;
mod drum;
mod feature;
mod hull;
mod polytope;
mod rim;
mod round;
#[cfg(test)]
mod tests;

pub use contact::{Contact, ContactPoint, FeatureId};
pub use dimensions::{ContactBar, TwistBar};
pub use feature::{Feature, Line, Plane};
pub use polytope::Polytope;
pub use rim::Rim;

use crate::GeometryError;
use crate::collider::{Collider, Cylinder};
use nalgebra::Vector3;
use osculate_math::se3::Pose;

/// What touches: a half-space, a cylinder, or a convex polytope grown by a radius. Local coordinates \[m\].
#[derive(Clone, Debug, PartialEq)]
pub enum ContactShape {
    /// Everything below a plane.
    HalfSpace(Plane),
    /// A polytope grown by a radius.
    Convex {
        /// The polytope.
        core: Polytope,
        /// Radius by which it is grown \[m\], ≥ 0.
        radius: f64,
    },
    /// A cylinder about the local z axis.
    Cylinder(Cylinder),
}

impl ContactShape {
    /// A ball.
    pub fn sphere(center: Vector3<f64>, radius: f64) -> Self {
        Self::Convex { core: Polytope::point(center), radius }
    }

    /// The points within `radius` of a segment.
    pub fn capsule(ends: [Vector3<f64>; 2], radius: f64) -> Self {
        Self::Convex { core: Polytope::segment(ends), radius }
    }

    /// A box along the local axes.
    pub fn cuboid(half_extents: &Vector3<f64>) -> Self {
        Self::Convex { core: Polytope::cuboid(&Vector3::zeros(), half_extents), radius: 0.0 }
    }

    /// The convex hull of points.
    ///
    /// # Errors
    /// Where the points span no volume.
    pub fn hull(points: &[Vector3<f64>]) -> Result<Self, GeometryError> {
        Ok(Self::Convex { core: Polytope::hull(points)?, radius: 0.0 })
    }

    /// A prism over a regular polygon, about the local z axis: a cylinder with `sides` flat sides.
    ///
    /// # Errors
    /// Where a length is not positive or there are fewer than three sides.
    pub fn prism(radius: f64, half_height: f64, sides: usize) -> Result<Self, GeometryError> {
        Ok(Self::Convex { core: Polytope::prism(radius, half_height, sides)?, radius: 0.0 })
    }

    /// The shape of a collider. A mesh counts as its convex hull; a grid has no faces and no vertices.
    ///
    /// # Errors
    /// For a grid, and for a mesh without volume.
    pub fn of_collider(collider: &Collider) -> Result<Self, GeometryError> {
        Ok(match collider {
            Collider::HalfSpace(c) => {
                let unit = c.normal / c.normal.norm();
                Self::HalfSpace(Plane { normal: unit, offset: c.offset })
            }
            Collider::Sphere(c) => Self::sphere(c.center, c.radius),
            Collider::Cuboid(c) => {
                let core = c.half_extents.map(|e| e - c.edge_radius);
                Self::Convex { core: Polytope::cuboid(&c.center, &core), radius: c.edge_radius }
            }
            Collider::Cylinder(c) => Self::Cylinder(*c),
            Collider::Mesh(c) => {
                let scale = c.scale;
                let points: Vec<_> = c.base.mesh().vertices().iter().map(|x| x * scale).collect();
                Self::Convex { core: Polytope::hull(&points)?, radius: c.rounding }
            }
            Collider::Grid(_) | Collider::FreeGrid(_) => {
                return Err(GeometryError::NoFeatures { collider: "grid" });
            }
        })
    }

    /// What it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::HalfSpace(_) => "plane",
            Self::Cylinder(_) => "cylinder",
            Self::Convex { core, .. } => match core.vertices.len() {
                1 => "ball",
                2 => "capsule",
                _ => "polytope",
            },
        }
    }

    /// Refuses a pair that has no contact points here: a cylinder and another one, or a capsule.
    ///
    /// # Errors
    /// Where [`contacts`] of the pair are not built.
    pub fn check_pair(&self, other: &Self) -> Result<(), GeometryError> {
        let (first, second) = (self.kind(), other.kind());
        match (first, second) {
            ("cylinder", "cylinder" | "capsule") | ("capsule", "cylinder") => {
                Err(GeometryError::NoManifold { first, second })
            }
            _ => Ok(()),
        }
    }

    /// Radius of a ball about `center` (local) that contains the shape \[m\]; `None` for a half-space.
    pub fn radius_about(&self, center: &Vector3<f64>) -> Option<f64> {
        match self {
            Self::HalfSpace(_) => None,
            Self::Convex { core, radius } => {
                let far = core.vertices.iter().map(|v| (v - center).norm()).fold(0.0, f64::max);
                Some(far + radius)
            }
            Self::Cylinder(c) => Some((c.center - center).norm() + c.radius.hypot(c.half_height)),
        }
    }
}

/// A shape and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The shape, in its local frame.
    pub shape: &'a ContactShape,
    /// Pose of the local frame.
    pub pose: &'a Pose,
}

/// Contacts of `a` against `b` whose gap is at most `margin` \[m\], in a fixed order.
///
/// The normal of each leaves `b`. Two half-spaces never touch; pairs that [`ContactShape::check_pair`] refuses have none. Polytopes that are apart are seen along the best
/// face or edge–edge axis, which is exact while they are nearer to each other than the size of their features.
pub fn contacts(a: Placed<'_>, b: Placed<'_>, margin: f64) -> Vec<Contact> {
    match (a.shape, b.shape) {
        (ContactShape::HalfSpace(_), ContactShape::HalfSpace(_)) => Vec::new(),
        (ContactShape::HalfSpace(plane), ContactShape::Convex { core, radius }) => {
            let found = round::on_plane((core, *radius), b.pose, (plane, a.pose), margin);
            found.into_iter().map(Contact::swapped).collect()
        }
        (ContactShape::Convex { core, radius }, ContactShape::HalfSpace(plane)) => {
            round::on_plane((core, *radius), a.pose, (plane, b.pose), margin)
        }
        (
            ContactShape::Convex { core: first, radius: r },
            ContactShape::Convex { core: second, radius: s },
        ) => {
            let pair = Pair { first, second, radii: [*r, *s], poses: [a.pose, b.pose], margin };
            pair.contacts()
        }
        (ContactShape::Cylinder(cylinder), ContactShape::HalfSpace(plane)) => {
            cylinder::on_plane(cylinder, a.pose, (plane, b.pose), margin)
        }
        (ContactShape::Cylinder(cylinder), ContactShape::Convex { core, radius }) => {
            if core.vertices.len() == 1 {
                let ball =
                    cylinder::under_ball((core, *radius), b.pose, (cylinder, a.pose), margin);
                return ball.map(Contact::swapped).into_iter().collect();
            }
            if core.faces.is_empty() {
                return Vec::new();
            }
            let (pose, body, radius, other) = (a.pose, core, *radius, b.pose);
            drum::Drum { cylinder, pose, body, radius, other, margin }.contacts()
        }
        (ContactShape::HalfSpace(_) | ContactShape::Convex { .. }, ContactShape::Cylinder(_)) => {
            contacts(b, a, margin).into_iter().map(Contact::swapped).collect()
        }
        (ContactShape::Cylinder(_), ContactShape::Cylinder(_)) => Vec::new(),
    }
}

/// Two grown polytopes.
#[derive(Clone, Copy)]
struct Pair<'a> {
    first: &'a Polytope,
    second: &'a Polytope,
    radii: [f64; 2],
    poses: [&'a Pose; 2],
    margin: f64,
}

impl Pair<'_> {
    fn contacts(&self) -> Vec<Contact> {
        match (self.first.faces.is_empty(), self.second.faces.is_empty()) {
            (false, false) => self.between_polytopes(),
            (true, _) => self.round_against(),
            (false, true) => {
                let other = Pair {
                    first: self.second,
                    second: self.first,
                    radii: [self.radii[1], self.radii[0]],
                    poses: [self.poses[1], self.poses[0]],
                    margin: self.margin,
                };
                other.round_against().into_iter().map(Contact::swapped).collect()
            }
        }
    }

    /// Gap and points of a contact; kept where the gap is at most the margin.
    fn keep(&self, feature: Feature, id: FeatureId, found: &mut Vec<Contact>) {
        let contact = Contact::new(feature, self.radii, id);
        let gap = contact.evaluate(self.poses[0], self.poses[1]).gap;
        if gap <= self.margin {
            found.push(contact);
        }
    }
}
