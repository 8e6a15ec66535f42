//! Pairs of features: points and common normal as closed formulas of two poses.
//!
//! Each pair gives a point `x` of the first body, a point `y` of the second and the unit normal `n` that leaves the
//! second; `x − y ∥ n`.

use super::rim::Rim;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm, norm::scale, se3::Pose};

/// A plane `n·X = offset` with a unit normal that leaves the body, local frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane<T = f64> {
    /// Unit normal.
    pub normal: Vector3<T>,
    /// Distance from the local origin along the normal \[m\].
    pub offset: T,
}

/// A line through `origin` along the unit `direction`, local frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<T = f64> {
    /// A point of the line \[m\].
    pub origin: Vector3<T>,
    /// Unit direction.
    pub direction: Vector3<T>,
}

/// Which parts of two bodies touch; the first is of the first body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feature<T = f64> {
    /// A point against a plane; the normal is the plane's.
    PointPlane(Vector3<T>, Plane<T>),
    /// A point against a line, apart; the normal leads from the line to the point.
    PointLine(Vector3<T>, Line<T>),
    /// A point against a point, apart.
    PointPoint(Vector3<T>, Vector3<T>),
    /// Two lines that are not parallel; the normal is `±d₁ × d₂`, the sign given.
    LineLine(Line<T>, Line<T>, f64),
    /// Where a line of the first body passes through a side plane of the second, against the second plane: a point
    /// of a clipped face.
    CutLine(Line<T>, [Plane<T>; 2]),
    /// A plane of the first body against a point of the second, along the normal of a face of the second: a corner
    /// of the clipping face.
    PlanePoint(Plane<T>, Vector3<T>, Vector3<T>),
    /// The point of a rim of the first body that is furthest along a direction of the second, against a plane of the second.
    RimPlane(Rim<T>, Vector3<T>, Plane<T>),
    /// A rim against a point, apart; the normal leads from the point to the rim.
    RimPoint(Rim<T>, Vector3<T>),
    /// A rim against a line, near an angle of the rim, and the sign of the normal: that of the tangent and the line.
    RimLine(Rim<T>, Line<T>, (f64, f64)),
}

impl<T: Scalar> Plane<T> {
    /// Normal and offset in the world.
    #[inline]
    pub(super) fn at(&self, pose: &Pose<T>) -> (Vector3<T>, T) {
        let n = pose.rotation * self.normal;
        (n, self.offset + n.dot(&pose.position))
    }

    fn lift<U: Scalar>(&self) -> Plane<U> {
        Plane { normal: constant(&self.normal), offset: U::from(self.offset.re()) }
    }
}

impl<T: Scalar> Line<T> {
    #[inline]
    pub(super) fn at(&self, pose: &Pose<T>) -> (Vector3<T>, Vector3<T>) {
        (pose.transform_point(&self.origin), pose.rotation * self.direction)
    }

    fn lift<U: Scalar>(&self) -> Line<U> {
        Line { origin: constant(&self.origin), direction: constant(&self.direction) }
    }
}

pub(super) fn constant<T: Scalar, U: Scalar>(v: &Vector3<T>) -> Vector3<U> {
    v.map(|x| U::from(x.re()))
}

/// `n` along `x − y`; along `z` where the two points are one, which the search never returns.
pub(super) fn apart<T: Scalar>(x: &Vector3<T>, y: &Vector3<T>) -> Vector3<T> {
    norm::direction(&(x - y)).unwrap_or_else(|| Vector3::z().map(|c: f64| T::from(c)))
}

impl<T: Scalar> Feature<T> {
    /// `[x, y, n]` in the world.
    pub(super) fn evaluate(&self, first: &Pose<T>, second: &Pose<T>) -> [Vector3<T>; 3] {
        match self {
            Self::PointPlane(point, plane) => {
                let x = first.transform_point(point);
                let (n, offset) = plane.at(second);
                [x, x - scale(&n, n.dot(&x) - offset), n]
            }
            Self::PointLine(point, line) => {
                let x = first.transform_point(point);
                let (o, d) = line.at(second);
                let y = o + scale(&d, d.dot(&(x - o)));
                [x, y, apart(&x, &y)]
            }
            Self::PointPoint(x, y) => {
                let (x, y) = (first.transform_point(x), second.transform_point(y));
                [x, y, apart(&x, &y)]
            }
            Self::LineLine(l, m, sign) => lines(l.at(first), m.at(second), *sign),
            Self::CutLine(line, [side, face]) => {
                let ((o, d), (m, e), (n, f)) = (line.at(first), side.at(second), face.at(second));
                let x = o + scale(&d, (e - m.dot(&o)) / m.dot(&d));
                [x, x - scale(&n, n.dot(&x) - f), n]
            }
            Self::PlanePoint(plane, point, normal) => {
                let (m, e) = plane.at(first);
                let (y, n) = (second.transform_point(point), second.rotation * normal);
                [y + scale(&n, (e - m.dot(&y)) / m.dot(&n)), y, n]
            }
            Self::RimPlane(rim, toward, plane) => rim.on_plane(first, (toward, plane), second),
            Self::RimPoint(rim, point) => rim.at_point(first, point, second),
            Self::RimLine(rim, line, (near, sign)) => {
                rim.at_line(first, (line, *near, *sign), second)
            }
        }
    }

    pub(super) fn lift<U: Scalar>(&self) -> Feature<U> {
        match self {
            Self::PointPlane(x, p) => Feature::PointPlane(constant(x), p.lift()),
            Self::PointLine(x, l) => Feature::PointLine(constant(x), l.lift()),
            Self::PointPoint(x, y) => Feature::PointPoint(constant(x), constant(y)),
            Self::LineLine(l, m, s) => Feature::LineLine(l.lift(), m.lift(), *s),
            Self::CutLine(l, [s, f]) => Feature::CutLine(l.lift(), [s.lift(), f.lift()]),
            Self::PlanePoint(p, x, n) => Feature::PlanePoint(p.lift(), constant(x), constant(n)),
            Self::RimPlane(r, d, p) => Feature::RimPlane(r.lift(), constant(d), p.lift()),
            Self::RimPoint(r, x) => Feature::RimPoint(r.lift(), constant(x)),
            Self::RimLine(r, l, place) => Feature::RimLine(r.lift(), l.lift(), *place),
        }
    }
}

/// Nearest points of two lines and their common normal.
pub(super) fn lines<T: Scalar>(
    (o, d): (Vector3<T>, Vector3<T>),
    (p, e): (Vector3<T>, Vector3<T>),
    sign: f64,
) -> [Vector3<T>; 3] {
    let across = d.cross(&e);
    let square = across.dot(&across);
    let n = scale(&across, square.sqrt().recip() * sign);
    let between = p - o;
    let s = between.cross(&e).dot(&across) / square;
    let t = between.cross(&d).dot(&across) / square;
    [o + scale(&d, s), p + scale(&e, t), n]
}
