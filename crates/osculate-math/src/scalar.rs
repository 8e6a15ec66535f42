//! The scalar a law is generic over.

use nalgebra::{Matrix3, Vector3};
use num_dual::DualNum;
use num_traits::{One, Zero};
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A real scalar: `f64`, any `Copy` dual number of `num-dual` (nested ones too), or a [`Jet`](crate::Jet).
///
/// Laws bound `T: Scalar` and nothing else. Comparisons (`<`, `>`) look at the real part, so a law takes the
/// same branch whatever it is differentiated by; constants stand on the right (`x * 2.0`).
///
/// The functions here are those the laws need. A law that needs another one adds it here.
pub trait Scalar:
    Copy
    + Debug
    + PartialEq
    + PartialOrd
    + PartialOrd<f64>
    + Send
    + Sync
    + 'static
    + From<f64>
    + Zero
    + One
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// The real part: the value without derivatives.
    fn re(&self) -> f64;
    /// `√x`. The derivative at 0 is infinite: guard first.
    fn sqrt(self) -> Self;
    /// `1/x`.
    fn recip(self) -> Self;
    /// `sin x`.
    fn sin(self) -> Self;
    /// `cos x`.
    fn cos(self) -> Self;
    /// Angle of the point `(x, y)` with `self = y`, in `(−π, π]`.
    fn atan2(self, x: Self) -> Self;
    /// `eˣ`.
    fn exp(self) -> Self;
    /// `ln x`.
    fn ln(self) -> Self;
}

impl<T> Scalar for T
where
    T: DualNum<Primitive = f64> + Copy + Send + Sync,
{
    fn re(&self) -> f64 {
        num_dual::DualStruct::re(self)
    }
    fn sqrt(self) -> Self {
        DualNum::sqrt(&self)
    }
    fn recip(self) -> Self {
        DualNum::recip(&self)
    }
    fn sin(self) -> Self {
        DualNum::sin(&self)
    }
    fn cos(self) -> Self {
        DualNum::cos(&self)
    }
    fn atan2(self, x: Self) -> Self {
        DualNum::atan2(&self, x)
    }
    fn exp(self) -> Self {
        DualNum::exp(&self)
    }
    fn ln(self) -> Self {
        DualNum::ln(&self)
    }
}

/// A constant vector in the scalar `T`.
pub fn lift<T: Scalar>(v: &Vector3<f64>) -> Vector3<T> {
    v.map(T::from)
}

/// A constant matrix in the scalar `T`.
pub fn lift_matrix<T: Scalar>(m: &Matrix3<f64>) -> Matrix3<T> {
    m.map(T::from)
}

/// The real part of a vector.
pub fn real<T: Scalar>(v: &Vector3<T>) -> Vector3<f64> {
    v.map(|x| x.re())
}

/// The real part of a matrix.
pub fn real_matrix<T: Scalar>(m: &Matrix3<T>) -> Matrix3<f64> {
    m.map(|x| x.re())
}
