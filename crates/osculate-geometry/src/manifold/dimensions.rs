//! How the features of a shape depend on the dimensions of its collider.
//!
//! ```text
//! ball         point  X = c                      radius r
//! box          corner X = c + s ∘ (e − r)        plane n·X = n·c + |n|·(e − r)        radius r
//! cylinder     rim    X = c ± H z,  R             cap n·X = n·c + H               side: line c, radius R
//! hull         corner X = σ X₀                   plane offset = σ offset₀             radius r
//! half-space   plane  n = N/‖N‖, offset
//! ```
//!
//! Forward, [`Contact::of_colliders`] puts dimensions that carry derivatives into the features found. In reverse,
//! [`Contact::pull_dimensions`] needs no more than the derivative by the pose of the body: a change of a dimension moves
//! the feature as a translation (of a half-space, a translation and a turn about the local origin) would.

use super::contact::{Contact, ContactPoint};
use super::feature::{Feature, Line, Plane};
use super::rim::Rim;
use crate::collider::{Collider, DIMENSIONS};
use nalgebra::Vector3;
use osculate_math::{Jet, Scalar, lift, norm::scale, se3::Pose, so3};

fn signs(x: &Vector3<f64>, center: &Vector3<f64>) -> Vector3<f64> {
    (x - center).map(|d| if d < 0.0 { -1.0 } else { 1.0 })
}

/// A corner of the shape \[m\].
fn corner<T: Scalar>(x: &Vector3<f64>, collider: Option<&Collider<T>>) -> Vector3<T> {
    match collider {
        Some(Collider::Sphere(c)) => c.center,
        Some(Collider::Cuboid(c)) => {
            let side = signs(x, &c.center.map(|x| x.re()));
            c.center + c.half_extents.zip_map(&side, |e, s| (e - c.edge_radius) * s)
        }
        // Its axis.
        Some(Collider::Cylinder(c)) => c.center,
        Some(Collider::Mesh(c)) => scale(&lift(x), c.scale / c.scale.re()),
        _ => lift(x),
    }
}

fn line<T: Scalar>(l: &Line, collider: Option<&Collider<T>>) -> Line<T> {
    Line { origin: corner(&l.origin, collider), direction: lift(&l.direction) }
}

fn plane<T: Scalar>(p: &Plane, collider: Option<&Collider<T>>) -> Plane<T> {
    match collider {
        Some(Collider::HalfSpace(c)) => {
            let length = c.normal.dot(&c.normal).sqrt();
            Plane { normal: scale(&c.normal, length.recip()), offset: c.offset }
        }
        Some(Collider::Cuboid(c)) => {
            let core = c.half_extents.map(|e| e - c.edge_radius);
            let n: Vector3<T> = lift(&p.normal);
            let size: Vector3<T> = lift(&p.normal.abs());
            Plane { normal: n, offset: n.dot(&c.center) + size.dot(&core) }
        }
        Some(Collider::Cylinder(c)) => {
            let n: Vector3<T> = lift(&p.normal);
            Plane { normal: n, offset: n.dot(&c.center) + c.half_height }
        }
        Some(Collider::Mesh(c)) => {
            Plane { normal: lift(&p.normal), offset: c.scale / c.scale.re() * p.offset }
        }
        _ => Plane { normal: lift(&p.normal), offset: T::from(p.offset) },
    }
}

fn radius<T: Scalar>(r: f64, collider: Option<&Collider<T>>) -> T {
    match collider {
        Some(Collider::Sphere(c)) => c.radius,
        Some(Collider::Cuboid(c)) => c.edge_radius,
        Some(Collider::Mesh(c)) => c.rounding,
        // Its side; caps and rims are not grown.
        Some(Collider::Cylinder(c)) if r > 0.0 => c.radius,
        _ => T::from(r),
    }
}

fn rim<T: Scalar>(r: &Rim, collider: Option<&Collider<T>>) -> Rim<T> {
    match collider {
        Some(Collider::Cylinder(c)) => {
            let up = if r.center.z < c.center.z.re() { -c.half_height } else { c.half_height };
            Rim { center: c.center + Vector3::new(T::zero(), T::zero(), up), radius: c.radius }
        }
        _ => r.lift(),
    }
}

/// A direction that turns with the normal of a plane by the least rotation.
fn turned<T: Scalar>(v: &Vector3<f64>, from: &Vector3<f64>, to: &Vector3<T>) -> Vector3<T> {
    let (v, n): (Vector3<T>, Vector3<T>) = (lift(v), lift(from));
    let change = to - n;
    v + scale(&change, n.dot(&v)) - scale(&n, change.dot(&v))
}

/// Derivative of a number by the contact's point, normal and gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactBar {
    /// By the middle of the two points.
    pub middle: Vector3<f64>,
    /// By the normal.
    pub normal: Vector3<f64>,
    /// By the gap.
    pub gap: f64,
}

/// Derivative of a number by the pose and the radius of one body of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwistBar {
    /// By a translation of the body, world.
    pub translation: Vector3<f64>,
    /// By a rotation of the body about the middle of the two points, world.
    pub rotation: Vector3<f64>,
    /// By the radius by which the body is grown.
    pub radius: f64,
}

impl Contact {
    /// The same features, of colliders whose dimensions carry derivatives; a collider without dimensions of its own, and none at
    /// all, is constant.
    ///
    /// * `colliders`: of `a` and of `b`, with the real parts that the features were found for.
    pub fn of_colliders<T: Scalar>(&self, colliders: [Option<&Collider<T>>; 2]) -> Contact<T> {
        let [a, b] = colliders;
        let (first, second) = if self.is_swapped() { (b, a) } else { (a, b) };
        let feature = match self.feature() {
            Feature::PointPlane(x, p) => Feature::PointPlane(corner(x, first), plane(p, second)),
            Feature::PointLine(x, l) => Feature::PointLine(corner(x, first), line(l, second)),
            Feature::PointPoint(x, y) => Feature::PointPoint(corner(x, first), corner(y, second)),
            Feature::LineLine(l, m, s) => Feature::LineLine(line(l, first), line(m, second), *s),
            Feature::CutLine(l, [s, f]) => {
                Feature::CutLine(line(l, first), [plane(s, second), plane(f, second)])
            }
            Feature::PlanePoint(p, x, n) => {
                Feature::PlanePoint(plane(p, first), corner(x, second), lift(n))
            }
            Feature::RimPlane(r, toward, p) => {
                let plane = plane(p, second);
                let toward = turned(toward, &p.normal, &plane.normal);
                Feature::RimPlane(rim(r, first), toward, plane)
            }
            Feature::RimPoint(r, x) => Feature::RimPoint(rim(r, first), corner(x, second)),
            Feature::RimLine(r, l, place) => {
                Feature::RimLine(rim(r, first), line(l, second), *place)
            }
        };
        let [r, s] = *self.radii();
        self.with(feature, [radius(r, first), radius(s, second)])
    }

    /// Derivatives by the two poses, from those by point, normal and gap.
    ///
    /// Jets go through the pose of `a` alone. A motion of both bodies together moves the point, turns the normal and keeps the
    /// gap, which gives the derivative by the pose of `b`.
    pub fn pull(&self, poses: [&Pose; 2], point: &ContactPoint, bar: &ContactBar) -> [TwistBar; 2] {
        if let Feature::PointPlane(..) = self.feature() {
            return self.pull_point_plane(point, bar);
        }
        let middle = (point.point_a + point.point_b) * 0.5;
        let arm = middle - poses[0].position;
        let moved = self.lift::<Jet<6>>().evaluate(&seeded(poses[0]), &constant(poses[1]));
        let by = |i: usize| {
            let x = |v: &Vector3<Jet<6>>| v.map(|x| x.eps[i]);
            let along = (x(&moved.point_a) + x(&moved.point_b)).dot(&bar.middle) * 0.5;
            along + x(&moved.normal).dot(&bar.normal) + moved.gap.eps[i] * bar.gap
        };
        let translation = Vector3::new(by(0), by(1), by(2));
        // A turn about the middle is one about the origin and a translation by −δθ × arm.
        let rotation = Vector3::new(by(3), by(4), by(5)) - arm.cross(&translation);
        both(point, bar, 0, (translation, rotation))
    }

    /// The commonest pair in closed form: `x = τ + ω × X` moves, the plane does not.
    ///
    /// ```text
    /// middle = x − q n,  gap = n·x − …,  q = (height + r − s)/2:   τ̄ = m̄ + n (ḡ − n·m̄/2),   ω̄ = q n × m̄
    /// ```
    fn pull_point_plane(&self, point: &ContactPoint, bar: &ContactBar) -> [TwistBar; 2] {
        let first = usize::from(self.is_swapped());
        let n = if self.is_swapped() { -point.normal } else { point.normal };
        let half = 0.5 * point.gap + self.radii()[0];
        let translation = bar.middle + n * (bar.gap - 0.5 * n.dot(&bar.middle));
        both(point, bar, first, (translation, n.cross(&bar.middle) * half))
    }

    /// Derivatives by the dimensions of the collider of `a` (`body` 0) or `b` (1), from those by its pose and its radius.
    ///
    /// * `pose`: of the body's local frame.
    pub fn pull_dimensions(
        &self,
        body: usize,
        collider: &Collider,
        pose: &Pose,
        point: &ContactPoint,
        bar: &TwistBar,
    ) -> [f64; DIMENSIONS] {
        let mut d = [0.0; DIMENSIONS];
        let shift = pose.rotation.tr_mul(&bar.translation);
        let anchor = self.anchor((body == 1) != self.is_swapped());
        match collider {
            Collider::Sphere(_) => {
                d[..3].copy_from_slice(shift.as_slice());
                d[3] = bar.radius;
            }
            Collider::Cuboid(c) => {
                d[..3].copy_from_slice(shift.as_slice());
                for k in 0..3 {
                    d[3 + k] = shift[k] * anchor.side(k, &c.center);
                }
                d[6] = bar.radius - d[3] - d[4] - d[5];
            }
            Collider::Cylinder(c) => {
                d[..3].copy_from_slice(shift.as_slice());
                match &anchor {
                    Anchor::Point(_) => d[3] = bar.radius,
                    Anchor::Planes(_) => d[4] = shift.z * anchor.side(2, &c.center),
                    Anchor::Rim(rim) => {
                        // A rim is not grown, so the point of the body lies on it.
                        let x = if body == 0 { &point.point_a } else { &point.point_b };
                        let away = pose.inverse_transform_point(x) - rim.center;
                        d[3] = shift.dot(&away) / rim.radius;
                        d[4] = if rim.center.z < c.center.z { -shift.z } else { shift.z };
                    }
                }
            }
            Collider::Mesh(c) => {
                d[0] = shift.dot(&anchor.growth()) / c.scale;
                d[1] = bar.radius;
            }
            Collider::HalfSpace(c) => {
                let length = c.normal.norm();
                let n = c.normal / length;
                let arm = (point.point_a + point.point_b) * 0.5 - pose.position;
                let turn = pose.rotation.tr_mul(&(bar.rotation + arm.cross(&bar.translation)));
                // n × dn turns n by dn.
                let by_normal = turn.cross(&n) / length;
                d[..3].copy_from_slice(by_normal.as_slice());
                d[3] = n.dot(&shift);
            }
            Collider::Grid(_) | Collider::FreeGrid(_) => {}
        }
        d
    }

    /// What fixes the place of the first or the second feature.
    fn anchor(&self, second: bool) -> Anchor {
        match (self.feature(), second) {
            (Feature::PointPlane(x, _) | Feature::PointLine(x, _), false)
            | (Feature::PointPoint(x, _), false)
            | (
                Feature::PointPoint(_, x) | Feature::PlanePoint(_, x, _) | Feature::RimPoint(_, x),
                true,
            ) => Anchor::Point(*x),
            (
                Feature::RimPlane(r, ..) | Feature::RimPoint(r, _) | Feature::RimLine(r, ..),
                false,
            ) => Anchor::Rim(*r),
            (
                Feature::PointLine(_, l) | Feature::LineLine(_, l, _) | Feature::RimLine(_, l, _),
                true,
            )
            | (Feature::LineLine(l, ..) | Feature::CutLine(l, _), false) => Anchor::Point(l.origin),
            (Feature::PointPlane(_, p) | Feature::RimPlane(_, _, p), true)
            | (Feature::PlanePoint(p, ..), false) => {
                Anchor::Planes([*p, Plane { normal: Vector3::zeros(), offset: 0.0 }])
            }
            (Feature::CutLine(_, planes), true) => Anchor::Planes(*planes),
        }
    }
}

/// Both bodies' derivatives from those of one.
fn both(
    point: &ContactPoint,
    bar: &ContactBar,
    known: usize,
    (translation, rotation): (Vector3<f64>, Vector3<f64>),
) -> [TwistBar; 2] {
    let across = point.normal.dot(&bar.middle) * 0.5;
    let radius = [-bar.gap - across, -bar.gap + across];
    let other = 1 - known;
    let mut out = [TwistBar { translation, rotation, radius: radius[known] }; 2];
    out[other] = TwistBar {
        translation: bar.middle - translation,
        rotation: point.normal.cross(&bar.normal) - rotation,
        radius: radius[other],
    };
    out
}

pub(super) fn constant(pose: &Pose) -> Pose<Jet<6>> {
    Pose { position: lift(&pose.position), rotation: pose.rotation.map(Jet::constant) }
}

/// A pose with a translation and a rotation about its origin as variables.
pub(super) fn seeded(pose: &Pose) -> Pose<Jet<6>> {
    let mut out = constant(pose);
    for k in 0..3 {
        out.position[k].eps[k] = 1.0;
        let turned = so3::skew(&Vector3::ith(k, 1.0)) * pose.rotation;
        for (x, t) in out.rotation.iter_mut().zip(turned.iter()) {
            x.eps[3 + k] = *t;
        }
    }
    out
}

/// A point, a rim, or one or two planes.
enum Anchor {
    Point(Vector3<f64>),
    Rim(Rim),
    Planes([Plane; 2]),
}

impl Anchor {
    /// How far the feature moves along axis `k` for each unit of the half extent.
    fn side(&self, k: usize, center: &Vector3<f64>) -> f64 {
        match self {
            Self::Point(x) => signs(x, center)[k],
            Self::Rim(r) => signs(&r.center, center)[k],
            // Normals of a box are axes.
            Self::Planes(planes) => planes.iter().map(|p| p.normal[k]).sum(),
        }
    }

    /// How the feature moves for each unit of a factor on all lengths \[m\].
    fn growth(&self) -> Vector3<f64> {
        match self {
            Self::Point(x) => *x,
            Self::Rim(r) => r.center,
            Self::Planes([p, q]) => {
                // t in the span of the normals with p.n·t and q.n·t the two offsets.
                let across = p.normal.dot(&q.normal);
                let det = q.normal.norm_squared() - across * across;
                if det <= 0.0 {
                    return p.normal * p.offset;
                }
                let x = (p.offset * q.normal.norm_squared() - across * q.offset) / det;
                let y = (q.offset - across * p.offset) / det;
                p.normal * x + q.normal * y
            }
        }
    }
}
