//! Rotations: exponential, logarithm and their left Jacobians.
//!
//! ```text
//! exp(φ)   = 1 + a [φ]× + b [φ]×²        a = sin θ/θ,  b = (1 − cos θ)/θ²,  θ = ‖φ‖
//! Jl(φ)    = 1 + b [φ]× + c [φ]×²        c = (θ − sin θ)/θ³
//! Jl(φ)⁻¹  = 1 − [φ]×/2 + d [φ]×²        d = (1 − (θ/2) cot(θ/2))/θ²
//! exp(φ + δ) = exp(Jl(φ) δ) exp(φ) + O(δ²)
//! ```
//!
//! All coefficients are even in θ and are written in `θ²`, with a series near zero: nalgebra's exponential and
//! logarithm take an "angle is zero" branch that drops every derivative, which is silent and fatal because a
//! Newton increment starts at zero.

use crate::{Scalar, mat3, norm::scale};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::FRAC_PI_2;

/// Below this `θ²` the series are exact to rounding with the terms kept.
const SERIES_BELOW: f64 = 0.5;

/// `[v]×`, the matrix of `w ↦ v × w`.
#[inline]
pub fn skew<T: Scalar>(v: &Vector3<T>) -> Matrix3<T> {
    let o = T::zero();
    Matrix3::new(o, -v.z, v.y, v.z, o, -v.x, -v.y, v.x, o)
}

/// The vector of the antisymmetric part: `vee([v]×) = v`.
#[inline]
pub fn vee<T: Scalar>(m: &Matrix3<T>) -> Vector3<T> {
    scale(&-axial(m), T::from(0.5))
}

/// `(M₂₃ − M₃₂, M₃₁ − M₁₃, M₁₂ − M₂₁)`, so that `tr([v]× M) = v · axial(M)`.
#[inline]
pub fn axial<T: Scalar>(m: &Matrix3<T>) -> Vector3<T> {
    Vector3::new(m[(1, 2)] - m[(2, 1)], m[(2, 0)] - m[(0, 2)], m[(0, 1)] - m[(1, 0)])
}

fn horner<T: Scalar>(coefficients: &[f64], x: T) -> T {
    coefficients.iter().rev().fold(T::zero(), |sum, &c| sum * x + c)
}

/// `sin θ/θ`, `(1 − cos θ)/θ²` and `(θ − sin θ)/θ³` of `θ²`.
fn trigonometric<T: Scalar>(square: T) -> (T, T, T) {
    if square < SERIES_BELOW {
        // (−1)ᵏ/(2k+1)!, (−1)ᵏ/(2k+2)!, (−1)ᵏ/(2k+3)!
        const TERMS: usize = 10;
        let (mut a, mut b, mut c) = ([0.0; TERMS], [0.0; TERMS], [0.0; TERMS]);
        let (mut factorial, mut sign) = (1.0, 1.0);
        for k in 0..TERMS {
            let n = 2.0 * k as f64;
            (a[k], b[k], c[k]) = (
                sign / factorial,
                sign / (factorial * (n + 2.0)),
                sign / (factorial * (n + 2.0) * (n + 3.0)),
            );
            factorial *= (n + 2.0) * (n + 3.0);
            sign = -sign;
        }
        (horner(&a, square), horner(&b, square), horner(&c, square))
    } else {
        let theta = square.sqrt();
        let (s, c) = (theta.sin(), theta.cos());
        (s / theta, (-c + 1.0) / square, (theta - s) / (square * theta))
    }
}

/// Rotation matrix of the rotation vector `phi` \[rad\].
#[inline]
pub fn exp<T: Scalar>(phi: &Vector3<T>) -> Matrix3<T> {
    let (a, b, _) = trigonometric(phi.dot(phi));
    let k = skew(phi);
    Matrix3::identity() + k.map(|x| x * a) + mat3::mul(&k, &k).map(|x| x * b)
}

/// `Jl(φ)`: the world rotation that a change of the rotation vector makes, `exp(φ + δ) = exp(Jl(φ) δ) exp(φ)`.
#[inline]
pub fn left_jacobian<T: Scalar>(phi: &Vector3<T>) -> Matrix3<T> {
    let (_, b, c) = trigonometric(phi.dot(phi));
    let k = skew(phi);
    Matrix3::identity() + k.map(|x| x * b) + (k * k).map(|x| x * c)
}

/// `Jl(φ)⁻¹`: how the logarithm changes with a world rotation, `log(exp(δ) exp(φ)) = φ + Jl(φ)⁻¹ δ`.
///
/// Singular at `θ = 2π`, which [`log`] never returns.
#[inline]
pub fn left_jacobian_inverse<T: Scalar>(phi: &Vector3<T>) -> Matrix3<T> {
    let square = phi.dot(phi);
    let d = if square < SERIES_BELOW {
        // |B₂ₖ|/(2k)!, Bernoulli numbers
        const D: [f64; 9] = [
            1.0 / 12.0,
            1.0 / 720.0,
            1.0 / 30_240.0,
            1.0 / 1_209_600.0,
            1.0 / 47_900_160.0,
            691.0 / 1_307_674_368_000.0,
            1.0 / 74_724_249_600.0,
            3617.0 / 10_670_622_842_880_000.0,
            43_867.0 / (798.0 * 6_402_373_705_728_000.0),
        ];
        horner(&D, square)
    } else {
        let half = square.sqrt() * 0.5;
        (-half * half.cos() / half.sin() + 1.0) / square
    };
    let k = skew(phi);
    Matrix3::identity() - k.map(|x| x * 0.5) + (k * k).map(|x| x * d)
}

/// Rotation vector \[rad\] of a rotation matrix, `θ ≤ π`.
///
/// Goes through the unit quaternion with the largest component as pivot, so value and derivatives are right at
/// the identity and up to π. At exactly π the two antipodal vectors are both right and one is returned.
/// Derivatives are those along rotations; a perturbation that leaves SO(3) is not projected.
pub fn log<T: Scalar>(rotation: &Matrix3<T>) -> Vector3<T> {
    let q = to_quaternion(rotation);
    rotation_vector(q[0], &Vector3::new(q[1], q[2], q[3]))
}

/// Rotation vector \[rad\] that leads from one rotation to another, `log(R R_bᵀ)`, of the relative accuracy of `R − R_b`.
///
/// The antisymmetric part of `R R_bᵀ` is that of `(R − R_b) R_bᵀ`, whose terms are of the size of the rotation between them: values
/// and derivatives that the two share do not cancel to rounding. Far apart it is [`log`].
pub fn log_between<T: Scalar>(from: &Matrix3<T>, to: &Matrix3<T>) -> Vector3<T> {
    let change = mat3::mul_transposed(&(to - from), from);
    // 4 w² = 1 + tr(R R_bᵀ)
    let square = change.trace() + 4.0;
    if square < 3.0 {
        return log(&mat3::mul_transposed(to, from));
    }
    let root = square.sqrt();
    rotation_vector(root * 0.5, &scale(&axial(&change), -root.recip() * 0.5))
}

/// Rotation vector of the quaternion `(w, v)`, `w ≥ 0`.
fn rotation_vector<T: Scalar>(w: T, v: &Vector3<T>) -> Vector3<T> {
    let square = v.dot(v);
    let factor = if square < 0.01 * w.re() * w.re() {
        // atan(u)/u in u² = tan²(θ/2)
        const ATAN: [f64; 10] = [
            1.0,
            -1.0 / 3.0,
            1.0 / 5.0,
            -1.0 / 7.0,
            1.0 / 9.0,
            -1.0 / 11.0,
            1.0 / 13.0,
            -1.0 / 15.0,
            1.0 / 17.0,
            -1.0 / 19.0,
        ];
        horner(&ATAN, square / (w * w)) / w
    } else {
        let sine = square.sqrt();
        // Near π, where w vanishes, second derivatives of atan2(sine, w) cancel to rounding over w.
        let half = if w < sine { -w.atan2(sine) + FRAC_PI_2 } else { sine.atan2(w) };
        half / sine
    };
    scale(v, factor * 2.0)
}

/// Unit quaternion `[w, x, y, z]` of a rotation matrix, `w ≥ 0`.
pub fn to_quaternion<T: Scalar>(r: &Matrix3<T>) -> [T; 4] {
    let (xx, yy, zz) = (r[(0, 0)], r[(1, 1)], r[(2, 2)]);
    let four_squares =
        [xx + yy + zz + 1.0, xx - yy - zz + 1.0, yy - xx - zz + 1.0, zz - xx - yy + 1.0];
    let mut pivot = 0;
    for i in 1..4 {
        if four_squares[i] > four_squares[pivot] {
            pivot = i;
        }
    }
    let root = four_squares[pivot].sqrt();
    let f = root.recip() * 0.5;
    let (wx, wy, wz) =
        ((r[(2, 1)] - r[(1, 2)]) * f, (r[(0, 2)] - r[(2, 0)]) * f, (r[(1, 0)] - r[(0, 1)]) * f);
    let (xy, xz, yz) =
        ((r[(0, 1)] + r[(1, 0)]) * f, (r[(0, 2)] + r[(2, 0)]) * f, (r[(1, 2)] + r[(2, 1)]) * f);
    let own = root * 0.5;
    let q = match pivot {
        0 => [own, wx, wy, wz],
        1 => [wx, own, xy, xz],
        2 => [wy, xy, own, yz],
        _ => [wz, xz, yz, own],
    };
    if q[0] < 0.0 { q.map(|x| -x) } else { q }
}

/// Rotation matrix of the quaternion `[w, x, y, z]`, normalised here.
pub fn from_quaternion<T: Scalar>(q: [T; 4]) -> Matrix3<T> {
    let [w, x, y, z] = q;
    let s = (w * w + x * x + y * y + z * z).recip() * 2.0;
    let one = |t: T| -t * s + 1.0;
    Matrix3::new(
        one(y * y + z * z),
        (x * y - w * z) * s,
        (x * z + w * y) * s,
        (x * y + w * z) * s,
        one(x * x + z * z),
        (y * z - w * x) * s,
        (x * z - w * y) * s,
        (y * z + w * x) * s,
        one(x * x + y * y),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Jet, real_matrix};
    use num_dual::{Dual64, HyperDual64};

    const ANGLES: [f64; 9] =
        [0.0, 1e-12, 1e-5, 0.1, 0.19, 0.7, 0.7072, 2.5, std::f64::consts::PI - 1e-9];

    fn axis() -> Vector3<f64> {
        Vector3::new(0.36, -0.48, 0.8)
    }

    fn seeded(v: &Vector3<f64>) -> Vector3<Jet<3>> {
        Vector3::from_fn(|i, _| Jet::variable(v[i], i))
    }

    #[test]
    fn rotation_exponential_has_generator_as_jacobian_at_identity() {
        let r = exp(&seeded(&Vector3::zeros()));
        for i in 0..3 {
            let slope = r.map(|x| x.eps[i]);
            assert_eq!(slope, skew(&Vector3::ith(i, 1.0)));
        }
        // The second derivative along one axis is [e]×².
        let d = exp(&Vector3::new(HyperDual64::new(0.0, 1.0, 1.0, 0.0), 0.0.into(), 0.0.into()));
        let k: Matrix3<f64> = skew(&Vector3::x());
        assert!((d.map(|x| x.eps1eps2) - k * k).norm() < 1e-15);
    }

    #[test]
    fn logarithm_inverts_exponential_up_to_pi() {
        for angle in ANGLES {
            let phi = axis() * angle;
            assert!((log(&exp(&phi)) - phi).norm() < 1e-14 * (1.0 + angle), "angle {angle}");
        }
    }

    #[test]
    fn exponential_is_a_rotation() {
        for angle in ANGLES {
            let r = exp(&(axis() * angle));
            assert!((r * r.transpose() - Matrix3::identity()).norm() < 4e-15);
            assert!((r.determinant() - 1.0).abs() < 4e-15);
        }
    }

    #[test]
    fn left_jacobian_is_the_derivative_of_the_exponential() {
        for angle in ANGLES {
            let phi = axis() * angle;
            let r = exp(&seeded(&phi));
            let jacobian = left_jacobian(&phi);
            for i in 0..3 {
                let spin = r.map(|x| x.eps[i]) * real_matrix(&r).transpose();
                assert!((vee(&spin) - jacobian.column(i)).norm() < 3e-14, "angle {angle}");
            }
        }
    }

    #[test]
    fn inverse_left_jacobian_is_the_derivative_of_the_logarithm() {
        for angle in ANGLES {
            let phi = axis() * angle;
            let turned = exp(&seeded(&Vector3::zeros())) * exp(&phi).map(Jet::<3>::from);
            let l = log(&turned);
            let inverse = left_jacobian_inverse(&phi);
            for i in 0..3 {
                assert!((l.map(|x| x.eps[i]) - inverse.column(i)).norm() < 1e-7, "angle {angle}");
            }
            if angle < 3.0 {
                let slopes = Matrix3::from_fn(|r, c| l[r].eps[c]);
                assert!((slopes - inverse).norm() < 2e-13, "angle {angle}");
            }
            assert!((inverse * left_jacobian(&phi) - Matrix3::identity()).norm() < 1e-13);
        }
    }

    #[test]
    fn logarithm_between_two_rotations_is_exact_where_they_are_near() {
        let base = exp(&Vector3::new(0.4, -1.1, 0.7));
        for angle in ANGLES {
            let phi = axis() * angle;
            let to = exp(&phi) * base;
            let plain = log(&(to * base.transpose()));
            assert!((log_between(&base, &to) - plain).norm() < 1e-14 * (1.0 + angle));
            // Derivatives along the two rotations.
            let turned = |r: &Matrix3<f64>| exp(&seeded(&Vector3::zeros())) * r.map(Jet::<3>::from);
            let (still, moved) = (base.map(Jet::<3>::from), turned(&to));
            let slopes = |l: Vector3<Jet<3>>| Matrix3::from_fn(|r, c| l[r].eps[c]);
            if angle < 3.0 {
                let inverse = left_jacobian_inverse(&phi);
                assert!((slopes(log_between(&still, &moved)) - inverse).norm() < 2e-13);
                let back = slopes(log_between(&turned(&base), &to.map(Jet::<3>::from)));
                assert!((back + inverse.transpose()).norm() < 2e-13, "angle {angle}");
            }
        }
        // A rotation to itself is none, to the bit; one turned by less than an ulp of 1 is found.
        assert_eq!(log_between(&base, &base), Vector3::zeros());
        let tiny = Vector3::new(0.0, 0.0, 1e-9);
        let near = log_between(&base, &(exp(&tiny) * base));
        assert!((near - tiny).norm() < 3e-16);
    }

    #[test]
    fn logarithm_has_exact_second_derivatives_at_the_identity() {
        // log(exp(aε₁) exp(bε₂)) = aε₁ + bε₂ + ½ a×b ε₁ε₂ (Baker–Campbell–Hausdorff)
        let (a, b) = (Vector3::new(1.0, 2.0, -0.5), Vector3::new(0.3, -1.0, 0.7));
        let left = exp(&a.map(|x| HyperDual64::new(0.0, x, 0.0, 0.0)));
        let right = exp(&b.map(|x| HyperDual64::new(0.0, 0.0, x, 0.0)));
        let l = log(&(left * right));
        assert!((l.map(|x| x.eps1) - a).norm() < 1e-15);
        assert!((l.map(|x| x.eps1eps2) - a.cross(&b) * 0.5).norm() < 1e-15);
    }

    #[test]
    fn series_and_closed_forms_meet() {
        for (below, above) in [(0.5 - 1e-13, 0.5 + 1e-13)] {
            let (b, a) =
                (trigonometric(Dual64::new(below, 1.0)), trigonometric(Dual64::new(above, 1.0)));
            for (x, y) in [(b.0, a.0), (b.1, a.1), (b.2, a.2)] {
                assert!((x.re - y.re).abs() < 1e-13 && (x.eps - y.eps).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn quaternion_round_trip_covers_every_pivot() {
        for (x, y, z) in [(0.1, 0.2, 0.3), (3.1, 0.1, 0.0), (0.0, 3.0, 0.2), (0.1, -0.2, 3.0)] {
            let r = exp(&Vector3::new(x, y, z));
            assert!((from_quaternion(to_quaternion(&r)) - r).norm() < 4e-15);
        }
    }

    #[test]
    fn axial_is_the_gradient_of_the_trace() {
        let m: Matrix3<f64> = Matrix3::new(1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0);
        let v = Vector3::new(0.3_f64, -0.1, 0.7);
        assert!(((skew(&v) * m).trace() - v.dot(&axial(&m))).abs() < 1e-14);
        assert!((vee(&skew(&v)) - v).norm() < 1e-16);
    }
}
