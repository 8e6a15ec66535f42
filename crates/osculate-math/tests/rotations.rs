//! First and second derivatives of rotations and of increments of a pose: at the identity, near it and near π.

use nalgebra::Vector3;
use num_dual::HyperDual64;
use osculate_math::check::{self, Law, Smoothness};
use osculate_math::se3::Pose;
use osculate_math::so3::{exp, left_jacobian, left_jacobian_inverse, log};
use osculate_math::{Scalar, lift_matrix};
use std::f64::consts::PI;

/// At the identity, near it, on both sides of where series take over, near π.
const ANGLES: [f64; 11] =
    [0.0, 1e-12, 1e-5, 0.1, 0.19, 0.21, 0.7, 0.7072, 2.5, PI - 1e-3, PI - 1e-9];

fn axis() -> Vector3<f64> {
    Vector3::new(0.36, -0.48, 0.8)
}

/// `exp`, `Jl` and `Jl⁻¹` of a rotation vector.
struct Maps;
impl Law<3, 27> for Maps {
    fn value<T: Scalar>(&self, phi: [T; 3]) -> [T; 27] {
        let phi = Vector3::from(phi);
        let all = [exp(&phi), left_jacobian(&phi), left_jacobian_inverse(&phi)];
        std::array::from_fn(|i| all[i / 9][i % 9])
    }
}

#[test]
fn exponential_and_jacobians_have_exact_first_and_second_derivatives_at_every_angle() {
    for angle in ANGLES {
        let regime = format!("angle {angle}");
        let x = (axis() * angle).into();
        check::gradients(&Maps, &regime, x, [1e-2; 3], Smoothness::Smooth, 1e-7);
    }
}

#[test]
fn logarithm_has_exact_second_derivatives_at_every_angle_up_to_pi() {
    // Differences would cross π: exp(log(exp(δ) R)) = exp(δ) R has the same derivatives on both sides.
    for angle in ANGLES {
        let rotation = lift_matrix(&exp(&(axis() * angle)));
        for i in 0..9 {
            let (a, b) = (Vector3::<f64>::ith(i / 3, 1.0), Vector3::<f64>::ith(i % 3, 1.0));
            let turned =
                exp(&Vector3::from_fn(|k, _| HyperDual64::new(0.0, a[k], b[k], 0.0))) * rotation;
            let again = exp(&log(&turned)) - turned;
            let off = |part: fn(HyperDual64) -> f64| again.map(part).norm();
            assert!(off(|x| x.eps1) < 1e-13 && off(|x| x.eps2) < 1e-13, "angle {angle}");
            assert!(off(|x| x.eps1eps2) < 1e-12, "angle {angle}: {}", off(|x| x.eps1eps2));
        }
    }
}

/// A pose moved by an increment (6), and the increment that leads there from the identity.
struct Increment(Pose);
impl Law<6, 18> for Increment {
    fn value<T: Scalar>(&self, x: [T; 6]) -> [T; 18] {
        let (translation, rotation) =
            (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
        let moved = self.0.lift::<T>().incremented(&translation, &rotation);
        let (p, r) = moved.increment_from(&Pose::identity());
        std::array::from_fn(|i| match i {
            0..9 => moved.rotation[i],
            9..12 => moved.position[i - 9],
            12..15 => p[i - 12],
            _ => r[i - 15],
        })
    }
}

#[test]
fn increments_have_exact_first_and_second_derivatives_at_the_identity_and_near_pi() {
    for angle in [0.0, 1e-9, 0.3, 2.0, PI - 0.05] {
        let there = Pose::identity().incremented(&Vector3::new(0.3, 0.1, -0.2), &(axis() * angle));
        let (regime, x) = (format!("angle {angle}"), [0.1, -0.2, 0.3, 0.0, 0.0, 0.0]);
        let steps = [1e-2; 6];
        check::gradients(&Increment(there), &regime, x, steps, Smoothness::Smooth, 1e-7);
    }
}
