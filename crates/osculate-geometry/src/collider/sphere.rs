//! Sphere: `Φ = ‖X − c‖ − r`.

use super::Field;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm};

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere<T = f64> {
    /// Centre in local coordinates \[m\].
    pub center: Vector3<T>,
    /// Radius \[m\], > 0.
    pub radius: T,
}

impl<T: Scalar> Sphere<T> {
    /// Signed distance \[m\].
    #[inline]
    pub fn phi(&self, point: &Vector3<T>) -> T {
        norm::norm0(&(point - self.center)) - self.radius
    }

    /// Signed distance \[m\] and the unit gradient; at the centre, where no direction exists, the gradient is zero.
    #[inline(always)]
    pub fn field(&self, point: &Vector3<T>) -> Field<T> {
        let arm = point - self.center;
        let distance = norm::norm0(&arm);
        let inverse = if distance > 0.0 { distance.recip() } else { T::zero() };
        let gradient = norm::scale(&arm, inverse);
        Field { phi: distance - self.radius, gradient, unit: distance > 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use crate::collider::{Collider, laws::check_field};
    use nalgebra::Vector3;
    use osculate_math::check::Smoothness::{Kink, Smooth};

    #[test]
    fn sphere_has_exact_derivatives_apart_touching_and_deep() {
        let sphere = Collider::sphere(Vector3::new(0.01, -0.02, 0.03), 0.8).unwrap();
        for (regime, z) in [("apart", 1.5), ("touching", 0.83), ("deep", 0.4)] {
            check_field(&sphere, regime, [0.01, -0.02, z], Smooth);
            check_field(&sphere, regime, [0.21, -0.42, z], Smooth);
        }
        check_field(&sphere, "exactly at the centre", [0.01, -0.02, 0.03], Kink);
    }

    #[test]
    fn hessian_is_the_tangent_projector_over_the_distance() {
        use osculate_math::Jet;
        let sphere = Collider::sphere(Vector3::zeros(), 0.8).unwrap();
        let x = Vector3::new(0.3, -0.4, 1.2);
        let field = sphere.constant().field(&Vector3::from_fn(|i, _| Jet::<3>::variable(x[i], i)));
        let n = x / x.norm();
        for i in 0..3 {
            for j in 0..3 {
                let expected = (f64::from(i == j) - n[i] * n[j]) / x.norm();
                assert!((field.gradient[i].eps[j] - expected).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn radius_must_be_positive() {
        assert!(Collider::sphere(Vector3::zeros(), 0.0).is_err());
        assert!(Collider::sphere(Vector3::zeros(), f64::INFINITY).is_err());
    }
}
