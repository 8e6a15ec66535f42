//! Spatial vectors: twists and forces about one fixed point, world axes.

use super::LinkInertia;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3, norm::scale};

/// Motion of a rigid body: angular velocity and the velocity of its material point at the reference point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist<T = f64> {
    /// Angular velocity \[rad/s\], world axes.
    pub angular: Vector3<T>,
    /// Velocity \[m/s\] at the reference point, world axes.
    pub linear: Vector3<T>,
}

/// Force on a rigid body: its moment about the reference point and its resultant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialForce<T = f64> {
    /// Moment \[N m\] about the reference point, world axes.
    pub moment: Vector3<T>,
    /// Resultant \[N\], world axes.
    pub force: Vector3<T>,
}

impl<T: Scalar> Twist<T> {
    /// No motion.
    pub fn zero() -> Self {
        Self { angular: Vector3::zeros(), linear: Vector3::zeros() }
    }

    /// Rotation with `angular` about an axis through `arm`, seen from the reference point.
    #[inline]
    pub fn rotation(angular: Vector3<T>, arm: &Vector3<T>) -> Self {
        Self { angular, linear: arm.cross(&angular) }
    }

    /// Velocity of the material point at `arm` from the reference point \[m/s\].
    #[inline]
    pub fn at(&self, arm: &Vector3<T>) -> Vector3<T> {
        self.linear + self.angular.cross(arm)
    }

    /// `ad(self) other = (ω × ω', ω × v' + v × ω')`: how `other` changes when it is carried along with `self`.
    #[inline]
    pub fn cross(&self, other: &Self) -> Self {
        Self {
            angular: self.angular.cross(&other.angular),
            linear: self.angular.cross(&other.linear) + self.linear.cross(&other.angular),
        }
    }

    /// `ad*(self) f = (ω × m + v × f, ω × f)`: how a force changes when it is carried along with `self`.
    #[inline]
    pub fn cross_force(&self, f: &SpatialForce<T>) -> SpatialForce<T> {
        SpatialForce {
            moment: self.angular.cross(&f.moment) + self.linear.cross(&f.force),
            force: self.angular.cross(&f.force),
        }
    }

    /// Power `ω·m + v·f` \[W\].
    #[inline]
    pub fn dot(&self, f: &SpatialForce<T>) -> T {
        self.angular.dot(&f.moment) + self.linear.dot(&f.force)
    }

    /// `self + s · other`.
    #[inline]
    pub fn plus(&self, other: &Self, s: T) -> Self {
        Self {
            angular: self.angular + scale(&other.angular, s),
            linear: self.linear + scale(&other.linear, s),
        }
    }
}

impl<T: Scalar> SpatialForce<T> {
    /// No force.
    pub fn zero() -> Self {
        Self { moment: Vector3::zeros(), force: Vector3::zeros() }
    }

    /// `force` and `torque` that act at `arm` from the reference point.
    #[inline]
    pub fn at(force: Vector3<T>, torque: Vector3<T>, arm: &Vector3<T>) -> Self {
        Self { moment: torque + arm.cross(&force), force }
    }

    /// `self + other`.
    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self { moment: self.moment + other.moment, force: self.force + other.force }
    }

    /// `self − other`.
    #[inline]
    pub fn minus(&self, other: &Self) -> Self {
        Self { moment: self.moment - other.moment, force: self.force - other.force }
    }
}

/// Inertia of a rigid body about the reference point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpatialInertia<T> {
    /// Mass \[kg\].
    mass: T,
    /// `m r`, first moment \[kg m\].
    first: Vector3<T>,
    /// Inertia tensor about the reference point, world axes \[kg m²\].
    second: Matrix3<T>,
}

impl<T: Scalar> SpatialInertia<T> {
    /// Of a link of a pose, with its centre of mass at `arm` from the reference point.
    pub(super) fn new(link: &LinkInertia<T>, rotation: &Matrix3<T>, arm: &Vector3<T>) -> Self {
        let turned = mat3::mul_transposed(&mat3::mul(rotation, &link.inertia), rotation);
        let square = arm.dot(arm);
        let offset = Matrix3::from_fn(|i, j| {
            let diagonal = if i == j { square } else { T::zero() };
            (diagonal - arm[i] * arm[j]) * link.mass
        });
        Self { mass: link.mass, first: scale(arm, link.mass), second: turned + offset }
    }

    /// Momentum of a twist: `(I ω + h × v, m v − h × ω)`.
    pub(super) fn momentum(&self, v: &Twist<T>) -> SpatialForce<T> {
        SpatialForce {
            moment: mat3::apply(&self.second, &v.angular) + self.first.cross(&v.linear),
            force: scale(&v.linear, self.mass) - self.first.cross(&v.angular),
        }
    }

    /// `self + other`.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twist(seed: f64) -> Twist {
        let v = |k: f64| Vector3::from_fn(|i, _| (seed + k + 1.3 * i as f64).sin());
        Twist { angular: v(0.0), linear: v(0.7) }
    }

    #[test]
    fn power_does_not_change_when_motion_and_force_are_carried_together() {
        let (v, s) = (twist(0.0), twist(2.0));
        let f = SpatialForce { moment: twist(4.0).angular, force: twist(4.0).linear };
        assert!((v.cross(&s).dot(&f) + s.dot(&v.cross_force(&f))).abs() < 1e-15);
    }

    #[test]
    fn power_of_a_point_force_is_force_times_velocity_of_the_point() {
        let (v, arm, force) = (twist(0.0), twist(1.0).linear, twist(3.0).linear);
        let f = SpatialForce::at(force, Vector3::zeros(), &arm);
        assert!((v.dot(&f) - v.at(&arm).dot(&force)).abs() < 1e-15);
    }

    #[test]
    fn rotation_leaves_its_axis_at_rest() {
        let (angular, arm) = (twist(0.0).angular, twist(1.0).linear);
        assert!(Twist::rotation(angular, &arm).at(&(arm + angular * 2.5)).norm() < 1e-15);
    }
}
