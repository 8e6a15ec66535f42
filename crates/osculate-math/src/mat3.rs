//! Products of 3×3 matrices that are inlined for every scalar.
//!
//! nalgebra's product of a scalar that is not `f64` goes through a general routine, which a jet pays for dearly.
//! The sums are taken in its order, so an `f64` has the same bits.

use crate::Scalar;
use nalgebra::{Matrix3, Vector3};

/// `A B`.
#[inline(always)]
pub fn mul<T: Scalar>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_fn(|i, j| a[(i, 0)] * b[(0, j)] + a[(i, 1)] * b[(1, j)] + a[(i, 2)] * b[(2, j)])
}

/// `A Bᵀ`.
#[inline(always)]
pub fn mul_transposed<T: Scalar>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_fn(|i, j| a[(i, 0)] * b[(j, 0)] + a[(i, 1)] * b[(j, 1)] + a[(i, 2)] * b[(j, 2)])
}

/// `Aᵀ B`.
#[inline(always)]
pub fn transposed_mul<T: Scalar>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_fn(|i, j| a[(0, i)] * b[(0, j)] + a[(1, i)] * b[(1, j)] + a[(2, i)] * b[(2, j)])
}

/// `A v`.
#[inline(always)]
pub fn apply<T: Scalar>(a: &Matrix3<T>, v: &Vector3<T>) -> Vector3<T> {
    Vector3::from_fn(|i, _| a[(i, 0)] * v.x + a[(i, 1)] * v.y + a[(i, 2)] * v.z)
}

/// `Aᵀ v`.
#[inline(always)]
pub fn apply_transposed<T: Scalar>(a: &Matrix3<T>, v: &Vector3<T>) -> Vector3<T> {
    Vector3::from_fn(|i, _| a[(0, i)] * v.x + a[(1, i)] * v.y + a[(2, i)] * v.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Jet;

    #[test]
    fn products_are_those_of_nalgebra() {
        let m = |s: f64| {
            Matrix3::from_fn(|i, j| {
                let x = (s + (3 * i + j) as f64).sin();
                Jet::<2> { re: x, eps: [x * 0.3, x * x] }
            })
        };
        let (a, b, v) = (m(0.0), m(1.0), m(2.0).column(0).into_owned());
        assert_eq!(mul(&a, &b), a * b);
        assert_eq!(mul_transposed(&a, &b), a * b.transpose());
        assert_eq!(transposed_mul(&a, &b), a.transpose() * b);
        assert_eq!(apply(&a, &v), a * v);
        assert_eq!(apply_transposed(&a, &v), a.transpose() * v);
    }
}
