//! Half-space: `Φ = n̂·X − offset`, `n̂ = n/‖n‖`.

use super::Field;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm};

/// Everything below a plane.
///
/// The normal need not be unit: only its direction counts, so its three components can be free parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace<T = f64> {
    /// Normal of the plane, leaving the solid; not zero.
    pub normal: Vector3<T>,
    /// Distance of the plane from the local origin along the unit normal \[m\].
    pub offset: T,
    /// `n̂`: normalised once, not at every query.
    unit: Vector3<T>,
}

impl<T: Scalar> HalfSpace<T> {
    /// A half-space of a normal that is not zero.
    pub(crate) fn new(normal: Vector3<T>, offset: T) -> Self {
        let inverse = normal.dot(&normal).sqrt().recip();
        Self { normal, offset, unit: norm::scale(&normal, inverse) }
    }

    /// Signed distance \[m\].
    #[inline(always)]
    pub fn phi(&self, point: &Vector3<T>) -> T {
        self.unit.dot(point) - self.offset
    }

    /// Signed distance \[m\] and gradient `n̂`.
    #[inline(always)]
    pub fn field(&self, point: &Vector3<T>) -> Field<T> {
        Field { phi: self.phi(point), gradient: self.unit, unit: true }
    }
}

#[cfg(test)]
mod tests {
    use crate::collider::{Collider, laws::check_field};
    use nalgebra::Vector3;
    use osculate_math::check::Smoothness::Smooth;

    #[test]
    fn half_space_has_exact_derivatives_apart_touching_and_deep() {
        let plane = Collider::half_space(Vector3::new(0.3, -0.2, 1.0), 0.02).unwrap();
        for (regime, z) in [("apart", 0.5), ("touching", 0.02), ("deep", -0.7)] {
            check_field(&plane, regime, [0.1, 0.2, z], Smooth);
        }
    }

    #[test]
    fn length_of_the_normal_does_not_matter() {
        let x = Vector3::new(0.1, 0.5, -0.3);
        let n = Vector3::new(0.3, -0.2, 1.0);
        let (a, b) =
            (Collider::half_space(n, 0.02).unwrap(), Collider::half_space(n * 7.0, 0.02).unwrap());
        assert!((a.phi(&x) - b.phi(&x)).abs() < 1e-16);
        assert!(Collider::half_space(Vector3::zeros(), 0.0).is_err());
        assert!(Collider::half_space(n, f64::NAN).is_err());
    }
}
