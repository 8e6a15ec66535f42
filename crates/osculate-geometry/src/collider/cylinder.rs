//! Cylinder about an axis along the local z axis: exact distance outside, distance to the nearest surface inside.
//!
//! ```text
//! q = (ρ − R, |X_z − c_z| − H),  ρ = ‖(X − c)_xy‖        outside: Φ = ‖max(q, 0)‖        inside: Φ = max(q)
//! ```

use super::Field;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm};

/// A cylinder about the local z axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder<T = f64> {
    /// Centre in local coordinates \[m\].
    pub center: Vector3<T>,
    /// Radius `R` \[m\], > 0.
    pub radius: T,
    /// Half height `H` \[m\], > 0.
    pub half_height: T,
}

impl<T: Scalar> Cylinder<T> {
    /// `q`, the direction away from the axis and the side along it.
    ///
    /// On the axis, where no direction leads away, it is x: a documented one-sided choice where no derivative exists.
    #[inline]
    fn excess(&self, point: &Vector3<T>) -> (T, T, Vector3<T>, f64) {
        let arm = point - self.center;
        let across = Vector3::new(arm.x, arm.y, T::zero());
        let (rho, away) = match norm::direction(&across) {
            Some(unit) => (unit.dot(&across), unit),
            None => (arm.x, Vector3::new(T::one(), T::zero(), T::zero())),
        };
        let (z, side) = if arm.z < 0.0 { (-arm.z, -1.0) } else { (arm.z, 1.0) };
        (rho - self.radius, z - self.half_height, away, side)
    }

    /// Whether the gradient is that of one cap around a point.
    #[inline]
    pub(super) fn is_flat(&self, point: &Vector3<T>) -> bool {
        let (across, along, ..) = self.excess(point);
        across <= 0.0 && along > across
    }

    /// Signed distance \[m\].
    #[inline]
    pub fn phi(&self, point: &Vector3<T>) -> T {
        self.field(point).phi
    }

    /// Signed distance \[m\] and its gradient.
    ///
    /// Inside, where side and cap are equally near, the side is taken: a documented one-sided choice where no derivative exists.
    #[inline]
    pub fn field(&self, point: &Vector3<T>) -> Field<T> {
        let (across, along, away, side) = self.excess(point);
        let cap = Vector3::new(T::zero(), T::zero(), T::from(side));
        let (phi, gradient) = if across > 0.0 && along > 0.0 {
            let distance = (across * across + along * along).sqrt();
            let inverse = distance.recip();
            let gradient =
                norm::scale(&away, across * inverse) + norm::scale(&cap, along * inverse);
            (distance, gradient)
        } else if along > across {
            (along, cap)
        } else {
            (across, away)
        };
        Field { phi, gradient, unit: true }
    }
}

#[cfg(test)]
mod tests {
    use crate::collider::{Collider, laws::check_field};
    use nalgebra::Vector3;
    use osculate_math::check::Smoothness::{Kink, Smooth};

    fn cylinder() -> Collider {
        Collider::cylinder(Vector3::new(0.1, 0.0, -0.2), 0.5, 0.7).unwrap()
    }

    #[test]
    fn cylinder_has_exact_derivatives_in_every_region_and_on_each_joint() {
        for (regime, x, smoothness) in [
            ("apart from the side", [0.8, 0.4, -0.1], Smooth),
            ("apart from a cap", [0.2, 0.3, 0.9], Smooth),
            ("apart from a rim", [0.7, 0.4, -1.2], Smooth),
            ("inside, nearest to the side", [0.4, 0.2, -0.1], Smooth),
            ("inside, nearest to a cap", [0.2, 0.1, 0.45], Smooth),
            ("exactly on the side", [0.4, 0.4, -0.1], Smooth),
            ("exactly on a cap", [0.2, 0.3, 0.5], Smooth),
            ("exactly on a rim", [0.4, 0.4, 0.5], Kink),
            ("exactly beside a rim", [0.9, 0.0, 0.5], Kink),
            ("exactly above a rim", [0.4, 0.4, 0.9], Kink),
            ("exactly as near to side and cap", [0.1 + 0.3, 0.0, 0.3], Kink),
            ("exactly on the axis, nearest to a cap", [0.1, 0.0, 0.4], Smooth),
            ("exactly on the axis, nearest to the side", [0.1, 0.0, -0.1], Kink),
        ] {
            check_field(&cylinder(), regime, x, smoothness);
        }
    }

    #[test]
    fn distance_is_that_to_the_nearest_point_of_the_surface() {
        // Brute force over caps and side.
        let (c, r, h) = (Vector3::new(0.1, 0.0, -0.2), 0.5, 0.7);
        let mut surface = Vec::new();
        for i in 0..720 {
            let angle = std::f64::consts::TAU * f64::from(i) / 720.0;
            for k in 0..=140 {
                let t = f64::from(k) / 140.0;
                let at =
                    |rho: f64, z: f64| c + Vector3::new(rho * angle.cos(), rho * angle.sin(), z);
                surface.extend([at(r, h * (2.0 * t - 1.0)), at(r * t, h), at(r * t, -h)]);
            }
        }
        for x in
            [[0.8, 0.4, -0.1], [0.2, 0.3, 0.9], [0.7, 0.4, -1.2], [0.4, 0.2, 0.1], [0.2, 0.1, 0.45]]
        {
            let x = Vector3::from(x);
            let nearest = surface.iter().map(|s| (s - x).norm()).fold(f64::INFINITY, f64::min);
            let phi = cylinder().phi(&x);
            assert!((phi.abs() - nearest).abs() < 1e-4, "{x:?}: {phi} and {nearest}");
            assert!((phi < 0.0) == (x.z < 0.5 && x.z > -0.9 && (x - c).xy().norm() < r), "{x:?}");
        }
    }

    #[test]
    fn cylinders_without_a_size_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Collider::cylinder(Vector3::zeros(), bad, 1.0).is_err());
            assert!(Collider::cylinder(Vector3::zeros(), 1.0, bad).is_err());
            assert!(Collider::cylinder(Vector3::x() * bad, 1.0, 1.0).is_err() || bad.is_finite());
        }
    }
}
