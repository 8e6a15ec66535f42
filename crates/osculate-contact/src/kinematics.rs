//! Where a sample of the colliding actor is, in the collider's reference coordinates.
//!
//! ```text
//! p  = R_Bᵀ (x_A − c_B) + X_cB        x_A = c_A + R_A X
//! V_rel = (p − p⁰)/Δt                  both pullbacks evaluated independently
//! V_rel = ṗ                            or: the rate of the pullback now, p⁰ := p − Δt ṗ
//! ```
//!
//! The first is the page's. A turning body moves its samples on curves, so it is the rate at the end of the stage to first
//! order in Δt only; the second ([`Pullback::carried_back`]) is that rate.
//!
//! `c` are centres of mass, `X` a sample relative to the centre of mass of `A`, `X_cB` the centre of mass of `B`
//! in its local frame. Everything below is in the axes of the collider, so a pair is rotated to the world once,
//! not once a sample.

use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3, se3::Pose, so3};

/// A body that moves: its centre of mass and its turning, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<T = f64> {
    /// Pose of the centre-of-mass frame.
    pub pose: Pose<T>,
    /// Velocity of the centre of mass \[m/s\].
    pub velocity: Vector3<T>,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<T>,
}

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

    /// Where samples would have come from in a time `duration` \[s\] at their present rate: `p⁰ = p − Δt ṗ`,
    ///
    /// ```text
    /// p⁰ = R_Bᵀ ((1 − Δt [ω_A − ω_B]×) R_A X + d − Δt (v_A − v_B − ω_B × d)) + X_cB        d = c_A − c_B
    /// ```
    ///
    /// Affine in `X`, so it is a pullback, of a `rotation` that is none.
    pub fn carried_back(
        colliding: &Motion<T>,
        collider: &Motion<T>,
        collider_center: Vector3<T>,
        duration: f64,
    ) -> Self {
        let apart = colliding.pose.position - collider.pose.position;
        let speed = colliding.velocity - collider.velocity - collider.spin.cross(&apart);
        let spin = colliding.spin - collider.spin;
        let turned = so3::skew(&spin.map(|x| x * -duration)) + Matrix3::identity();
        let turned = mat3::mul(&turned, &colliding.pose.rotation);
        let from = apart - speed.map(|x| x * duration);
        Self {
            rotation: mat3::transposed_mul(&collider.pose.rotation, &turned),
            offset: mat3::apply_transposed(&collider.pose.rotation, &from),
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
    use osculate_math::Jet;

    #[test]
    fn samples_carried_back_come_from_where_their_present_rate_says() {
        let v = Vector3::<f64>::new;
        let motion = |p, r, velocity, spin| Motion {
            pose: Pose { position: p, rotation: so3::exp(&r) },
            velocity,
            spin,
        };
        let a = motion(v(1.0, 2.0, 0.5), v(0.3, -1.0, 0.4), v(0.2, 0.7, -1.1), v(3.0, -2.0, 0.5));
        let b = motion(v(-0.4, 0.2, 0.1), v(2.0, 0.1, 0.3), v(-0.5, 0.1, 0.6), v(-1.0, 0.4, 2.5));
        let (x, center, duration) = (v(0.1, -0.2, 0.3), v(0.01, 0.02, 0.03), 0.02);
        // The rate of the pullback by a dual time.
        let time = Jet::<1>::variable(0.0, 0);
        let at = |m: &Motion| {
            let moved = |y: &Vector3<f64>| y.map(|x| time * x);
            m.pose.lift::<Jet<1>>().incremented(&moved(&m.velocity), &moved(&m.spin))
        };
        let lifted = |y: &Vector3<f64>| y.map(Jet::<1>::from);
        let p = Pullback::new(&at(&a), &at(&b), lifted(&center)).position(&lifted(&x));
        let from = Pullback::carried_back(&a, &b, center, duration).position(&x);
        let rate = (p.map(|x| x.re) - from) / duration;
        assert!((rate - p.map(|x| x.eps[0])).norm() < 1e-13);
    }

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
