//! Where a sample of the colliding actor is, in the collider's reference coordinates.
//!
//! ```text
//! p  = R_Bᵀ (x_A − c_B) + X_cB        x_A = c_A + R_A X
//! V_rel = (p − p⁰)/Δt                  both pullbacks evaluated independently
//! ```
//!
//! `c` are centres of mass, `X` a sample relative to the centre of mass of `A`, `X_cB` the centre of mass of `B`
//! in its local frame. Everything below is in the axes of the collider, so a pair is rotated to the world once,
//! not once a sample.

use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3, se3::Pose};

/// Maps samples of the colliding body into collider-reference coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pullback<T = f64> {
    /// `R_Bᵀ R_A`.
    pub rotation: Matrix3<T>,
    /// `R_Bᵀ (c_A − c_B)`: the centre of mass of `A` as seen from that of `B` \[m\].
    pub offset: Vector3<T>,
    /// Centre of mass of the collider in its local frame \[m\].
    pub collider_center: Vector3<T>,
}

impl<T: Scalar> Pullback<T> {
    /// The pullback of two centre-of-mass poses.
    #[inline]
    pub fn new(colliding: &Pose<T>, collider: &Pose<T>, collider_center: Vector3<T>) -> Self {
        let apart = colliding.position - collider.position;
        Self {
            rotation: mat3::transposed_mul(&collider.rotation, &colliding.rotation),
            offset: mat3::apply_transposed(&collider.rotation, &apart),
            collider_center,
        }
    }

    /// Lever arms of a sample in collider axes \[m\]: from the centre of mass of `A`, and from that of `B`.
    #[inline]
    pub fn levers(&self, point: &Vector3<T>) -> (Vector3<T>, Vector3<T>) {
        let a = mat3::apply(&self.rotation, point);
        (a, a + self.offset)
    }

    /// Reference position \[m\] of a sample.
    #[inline]
    pub fn position(&self, point: &Vector3<T>) -> Vector3<T> {
        mat3::apply(&self.rotation, point) + self.offset + self.collider_center
    }

    /// The pullback without derivatives.
    pub fn real(&self) -> Pullback<f64> {
        Pullback {
            rotation: self.rotation.map(|x| x.re()),
            offset: self.offset.map(|x| x.re()),
            collider_center: self.collider_center.map(|x| x.re()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::so3;

    #[test]
    fn pullback_is_the_inverse_collider_motion_after_the_sample_motion() {
        let pose = |p: [f64; 3], r: [f64; 3]| Pose {
            position: Vector3::from(p),
            rotation: so3::exp(&Vector3::from(r)),
        };
        let (a, b) =
            (pose([1.0, 2.0, 0.5], [0.3, -1.0, 0.4]), pose([-0.4, 0.2, 0.1], [2.0, 0.1, 0.3]));
        let (x, center) = (Vector3::new(0.1, -0.2, 0.3), Vector3::new(0.01, 0.02, 0.03));
        let pullback = Pullback::new(&a, &b, center);
        // b's local origin is at c_B − R_B X_cB.
        let local = Pose { position: b.position - b.rotation * center, rotation: b.rotation };
        let expected = local.inverse_transform_point(&a.transform_point(&x));
        assert!((pullback.position(&x) - expected).norm() < 1e-15);
        let (lever_a, lever_b) = pullback.levers(&x);
        assert!((b.rotation * lever_a - a.rotation * x).norm() < 1e-15);
        assert!((b.rotation * lever_b - (a.transform_point(&x) - b.position)).norm() < 1e-15);
    }
}
