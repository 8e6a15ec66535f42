//! A dual number with `N` derivative directions in a plain array.
//!
//! `num-dual`'s `DualSVec64<N>` keeps an optional matrix: as fast at width 3, half as fast at width 6 (`benches/sample.rs`);
//! it is the oracle of this type in the tests below.

use crate::Scalar;
use num_traits::{One, Zero};
use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// `re + Σ eps[i] εᵢ` with `εᵢ εⱼ = 0`: a value and its derivative in `N` directions.
///
/// The parts are themselves scalars: `Jet<3, Jet<1>>` carries the derivative of a gradient along one direction,
/// which is what second derivatives of a trajectory are made of.
///
/// `==` compares every part (unlike `num-dual`); `<` compares the real part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<const N: usize, T = f64> {
    /// Value.
    pub re: T,
    /// Derivative along each direction.
    pub eps: [T; N],
}

impl<const N: usize, T: Scalar> Jet<N, T> {
    /// A constant.
    #[inline]
    pub fn constant(re: T) -> Self {
        Self { re, eps: [T::zero(); N] }
    }

    /// The variable of direction `i`: derivative 1 there, 0 elsewhere.
    ///
    /// # Panics
    /// Where `i ≥ N`.
    #[inline]
    pub fn variable(re: T, i: usize) -> Self {
        let mut x = Self::constant(re);
        x.eps[i] = T::one();
        x
    }

    /// `f(self)` from the value and slope of `f` at the real part.
    #[inline]
    fn chain(self, value: T, slope: T) -> Self {
        Self { re: value, eps: self.eps.map(|e| e * slope) }
    }
}

macro_rules! binary {
    ($trait:ident, $fn:ident, $assign:ident, $assign_fn:ident, |$a:ident, $b:ident| $body:expr, |$c:ident, $d:ident| $real:expr) => {
        impl<const N: usize, T: Scalar> $trait for Jet<N, T> {
            type Output = Self;
            #[inline]
            #[allow(clippy::suspicious_arithmetic_impl, reason = "product and quotient rule")]
            fn $fn(self, rhs: Self) -> Self {
                let ($a, $b) = (self, rhs);
                $body
            }
        }
        impl<const N: usize, T: Scalar> $trait<f64> for Jet<N, T> {
            type Output = Self;
            #[inline]
            fn $fn(self, rhs: f64) -> Self {
                let ($c, $d) = (self, rhs);
                $real
            }
        }
        impl<const N: usize, T: Scalar> $assign for Jet<N, T> {
            #[inline]
            fn $assign_fn(&mut self, rhs: Self) {
                *self = $trait::$fn(*self, rhs);
            }
        }
    };
}

binary!(
    Add,
    add,
    AddAssign,
    add_assign,
    |a, b| Self { re: a.re + b.re, eps: std::array::from_fn(|i| a.eps[i] + b.eps[i]) },
    |a, b| Self { re: a.re + b, eps: a.eps }
);
binary!(
    Sub,
    sub,
    SubAssign,
    sub_assign,
    |a, b| Self { re: a.re - b.re, eps: std::array::from_fn(|i| a.eps[i] - b.eps[i]) },
    |a, b| Self { re: a.re - b, eps: a.eps }
);
binary!(
    Mul,
    mul,
    MulAssign,
    mul_assign,
    |a, b| Self {
        re: a.re * b.re,
        eps: std::array::from_fn(|i| a.eps[i] * b.re + b.eps[i] * a.re)
    },
    |a, b| Self { re: a.re * b, eps: a.eps.map(|e| e * b) }
);
binary!(
    Div,
    div,
    DivAssign,
    div_assign,
    |a, b| {
        // The value is divided, not multiplied by the inverse: it has the bits of the same formula in f64.
        let inverse = b.re.recip();
        let re = a.re / b.re;
        Self { re, eps: std::array::from_fn(|i| (a.eps[i] - b.eps[i] * re) * inverse) }
    },
    |a, b| Self { re: a.re / b, eps: a.eps.map(|e| e / b) }
);

impl<const N: usize, T: Scalar> Neg for Jet<N, T> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { re: -self.re, eps: self.eps.map(|e| -e) }
    }
}

impl<const N: usize, T: Scalar> PartialOrd for Jet<N, T> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl<const N: usize, T: Scalar> PartialEq<f64> for Jet<N, T> {
    fn eq(&self, other: &f64) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl<const N: usize, T: Scalar> PartialOrd<f64> for Jet<N, T> {
    #[inline]
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.re.partial_cmp(other)
    }
}

impl<const N: usize, T: Scalar> From<f64> for Jet<N, T> {
    #[inline]
    fn from(x: f64) -> Self {
        Self::constant(T::from(x))
    }
}

impl<const N: usize, T: Scalar> Zero for Jet<N, T> {
    #[inline]
    fn zero() -> Self {
        Self::from(0.0)
    }
    fn is_zero(&self) -> bool {
        self.re.is_zero() && self.eps.iter().all(Zero::is_zero)
    }
}

impl<const N: usize, T: Scalar> One for Jet<N, T> {
    #[inline]
    fn one() -> Self {
        Self::from(1.0)
    }
}

impl<const N: usize, T: Scalar> Scalar for Jet<N, T> {
    #[inline]
    fn re(&self) -> f64 {
        self.re.re()
    }
    #[inline]
    fn sqrt(self) -> Self {
        let root = self.re.sqrt();
        self.chain(root, (root * 2.0).recip())
    }
    #[inline]
    fn recip(self) -> Self {
        let inverse = self.re.recip();
        self.chain(inverse, -inverse * inverse)
    }
    #[inline]
    fn sin(self) -> Self {
        self.chain(self.re.sin(), self.re.cos())
    }
    #[inline]
    fn cos(self) -> Self {
        self.chain(self.re.cos(), -self.re.sin())
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        let square = (self.re * self.re + x.re * x.re).recip();
        let (dy, dx) = (x.re * square, -self.re * square);
        Self {
            re: self.re.atan2(x.re),
            eps: std::array::from_fn(|i| self.eps[i] * dy + x.eps[i] * dx),
        }
    }
    #[inline]
    fn exp(self) -> Self {
        let e = self.re.exp();
        self.chain(e, e)
    }
    #[inline]
    fn ln(self) -> Self {
        self.chain(self.re.ln(), self.re.recip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_dual::{DualSVec64, HyperDual64};

    fn every_function<T: Scalar>(x: T, y: T) -> T {
        (x * y + 0.5).sqrt() / (y - 3.0) + (x.sin() * y.cos() - x.recip() * 2.0).exp()
            - (x + y).ln() * x.atan2(y)
    }

    #[test]
    fn agrees_with_num_dual_in_value_and_gradient() {
        let (x, y) = (0.7, 1.3);
        let jet = every_function(Jet::<2>::variable(x, 0), Jet::variable(y, 1));
        let d = |v: f64, i| {
            DualSVec64::<2>::new(
                v,
                num_dual::Derivative::derivative_generic(
                    nalgebra::Const::<2>,
                    nalgebra::Const::<1>,
                    i,
                ),
            )
        };
        let dual = every_function(d(x, 0), d(y, 1));
        let eps = dual.eps.unwrap_generic(nalgebra::Const::<2>, nalgebra::Const::<1>);
        assert!((jet.re - dual.re).abs() < 1e-14);
        for i in 0..2 {
            assert!((jet.eps[i] - eps[i]).abs() < 1e-13, "{} {}", jet.eps[i], eps[i]);
        }
    }

    #[test]
    fn nested_jet_is_a_mixed_second_derivative() {
        let (x, y) = (0.7, 1.3);
        let jet = every_function(
            Jet::<1, Jet<1>> { re: Jet::constant(x), eps: [Jet::one()] },
            Jet { re: Jet::variable(y, 0), eps: [Jet::zero()] },
        );
        let hyper =
            every_function(HyperDual64::new(x, 1.0, 0.0, 0.0), HyperDual64::new(y, 0.0, 1.0, 0.0));
        assert!((jet.eps[0].eps[0] - hyper.eps1eps2).abs() < 1e-12);
    }

    #[test]
    fn equality_looks_at_derivatives_and_order_at_the_value() {
        let (a, b) = (Jet::<1>::variable(1.0, 0), Jet::<1>::constant(1.0));
        assert!(a != b);
        assert_eq!(a.partial_cmp(&b), Some(Ordering::Equal));
        assert!(a < 2.0);
    }
}
