//! Rims of cylinders against planes, points and lines.
//!
//! ```text
//! rim      x(u) = c + R u,  u ⟂ a unit          a the axis, c the centre of a cap
//! plane    u = P d/‖P d‖,  P = 1 − a aᵀ         d = −n gives the lowest point of the rim
//! point    u = P (y − c)/‖P (y − c)‖
//! line     u where the common normal of line and tangent passes through x(u)
//! ```

use super::feature::{Line, Plane, apart, constant, lines};
use nalgebra::Vector3;
use osculate_math::{Jet, Scalar, norm, norm::scale, real, se3::Pose};

/// A circle about an axis along the local z axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rim<T = f64> {
    /// Centre, local \[m\].
    pub center: Vector3<T>,
    /// Radius \[m\].
    pub radius: T,
}

/// Newton steps to the place on a rim; it starts at the place that was found, so that few are needed.
const NEWTON: usize = 20;

impl<T: Scalar> Rim<T> {
    pub(super) fn lift<U: Scalar>(&self) -> Rim<U> {
        Rim { center: constant(&self.center), radius: U::from(self.radius.re()) }
    }

    /// The point of the rim furthest along a direction of the world; along x where the axis has that direction.
    fn furthest(&self, pose: &Pose<T>, direction: &Vector3<T>) -> Vector3<T> {
        let axis = pose.rotation.column(2).into_owned();
        let across = direction - scale(&axis, axis.dot(direction));
        let unit = norm::direction(&across).unwrap_or_else(|| pose.rotation.column(0).into_owned());
        pose.transform_point(&self.center) + scale(&unit, self.radius)
    }

    /// Point and unit tangent at an angle from the local x axis, in the world.
    pub(super) fn tangent(&self, pose: &Pose<T>, angle: T) -> (Vector3<T>, Vector3<T>) {
        let (s, c) = (angle.sin(), angle.cos());
        let local = Vector3::new(c * self.radius, s * self.radius, T::zero());
        let along = Vector3::new(-s, c, T::zero());
        (pose.transform_point(&(self.center + local)), pose.rotation * along)
    }

    /// `[x, y, n]` against a plane of another body, at the point of the rim furthest along a direction of that body.
    pub(super) fn on_plane(
        &self,
        pose: &Pose<T>,
        (toward, plane): (&Vector3<T>, &Plane<T>),
        other: &Pose<T>,
    ) -> [Vector3<T>; 3] {
        let x = self.furthest(pose, &(other.rotation * toward));
        let (n, offset) = plane.at(other);
        [x, x - scale(&n, n.dot(&x) - offset), n]
    }

    /// `[x, y, n]` against a point of another body, apart.
    pub(super) fn at_point(
        &self,
        pose: &Pose<T>,
        point: &Vector3<T>,
        other: &Pose<T>,
    ) -> [Vector3<T>; 3] {
        let y = other.transform_point(point);
        let x = self.furthest(pose, &(y - pose.transform_point(&self.center)));
        [x, y, apart(&x, &y)]
    }

    /// `[x, y, n]` against a line of another body, near an angle of the rim; first derivatives are exact.
    ///
    /// Newton runs on the real parts; one more step, with derivatives, makes those of the angle exact.
    pub(super) fn at_line(
        &self,
        pose: &Pose<T>,
        (line, near, sign): (&Line<T>, f64, f64),
        other: &Pose<T>,
    ) -> [Vector3<T>; 3] {
        let plain = Line { origin: real(&line.origin), direction: real(&line.direction) };
        let flat: Rim = self.lift();
        let (angle, slope, _) = flat.nearest(&pose.real(), (&plain, near), &other.real());
        let beside = line.at(other);
        let off = |angle: T| lines(self.tangent(pose, angle), beside, sign);
        let at = self.tangent(pose, T::from(angle));
        let [x, ..] = off(T::from(angle));
        let exact = T::from(angle) - at.1.dot(&(x - at.0)) / slope;
        off(exact)
    }
}

impl Rim {
    /// Angle at which the common normal with a line passes through the rim, how far the foot of the normal moves along the
    /// tangent with the angle \[m/rad\], and how far off it still is \[m\].
    pub(super) fn nearest(
        &self,
        pose: &Pose,
        (line, near): (&Line, f64),
        other: &Pose,
    ) -> (f64, f64, f64) {
        let (rim, lifted): (Rim<Jet<1>>, Pose<Jet<1>>) = (self.lift(), pose.lift());
        let beside = line.at(other);
        let beside = (osculate_math::lift(&beside.0), osculate_math::lift(&beside.1));
        let off = |angle: f64| {
            let (x, along) = rim.tangent(&lifted, Jet::variable(angle, 0));
            let [foot, ..] = lines((x, along), beside, 1.0);
            along.dot(&(foot - x))
        };
        let mut angle = near;
        for _ in 0..NEWTON {
            let foot = off(angle);
            let step = foot.re / foot.eps[0];
            if !step.is_finite() || step.abs() > 1.0 {
                break;
            }
            angle -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        let foot = off(angle);
        (angle, foot.eps[0], foot.re)
    }
}
