//! Vectors and symmetric blocks of the tangent plane.

use super::ImpulseError;
use nalgebra::{Matrix2, Vector2};
use osculate_math::Scalar;

/// Eigenvalues below this part of the largest are zero: the rounding of the determinant.
pub(super) const SINGULAR: f64 = 4.0 * f64::EPSILON;

/// `A v`, from the upper triangle.
#[inline]
pub(super) fn apply<T: Scalar>(a: &Matrix2<T>, v: &Vector2<T>) -> Vector2<T> {
    let (xx, xy, yy) = (a[(0, 0)], a[(0, 1)], a[(1, 1)]);
    Vector2::new(xx * v.x + xy * v.y, xy * v.x + yy * v.y)
}

/// `v` turned by a quarter.
#[inline]
pub(super) fn quarter<T: Scalar>(v: &Vector2<T>) -> Vector2<T> {
    Vector2::new(-v.y, v.x)
}

#[inline]
pub(super) fn scale<T: Scalar>(v: &Vector2<T>, s: T) -> Vector2<T> {
    v.map(|x| x * s)
}

/// `v/‖v‖`, zero at zero.
pub(super) fn direction<T: Scalar>(v: &Vector2<T>) -> Vector2<T> {
    let square = v.dot(v);
    if square > 0.0 { scale(v, square.sqrt().recip()) } else { Vector2::zeros() }
}

/// `A⁻¹ v` by elimination from the larger diagonal entry; the least change along the null direction of a singular block.
pub(super) fn inverse<T: Scalar>(a: &Matrix2<T>, v: &Vector2<T>) -> Vector2<T> {
    let (xx, xy, yy) = (a[(0, 0)], a[(0, 1)], a[(1, 1)]);
    let swap = yy.re() > xx.re();
    let (p, q, r, s) = if swap { (yy, xx, v.y, v.x) } else { (xx, yy, v.x, v.y) };
    if p.re() <= 0.0 {
        return Vector2::zeros();
    }
    let factor = xy / p;
    let pivot = q - factor * xy;
    let (first, second) = if pivot.re() > SINGULAR * p.re() {
        let second = (s - factor * r) / pivot;
        ((r / p) - factor * second, second)
    } else {
        // A = p (1, f)(1, f)ᵀ: the least solution of A z = v.
        let square = factor * factor + 1.0;
        let along = (r + factor * s) / (p * square * square);
        (along, factor * along)
    };
    if swap { Vector2::new(second, first) } else { Vector2::new(first, second) }
}

/// A block in its eigenbasis: `A = size · (l₁ e eᵀ + l₂ e⊥ e⊥ᵀ)`, `l₁ ≥ l₂ ≥ 0`.
pub(super) struct Spectrum {
    pub(super) size: f64,
    pub(super) values: [f64; 2],
    axis: Vector2<f64>,
}

/// The power of two below `x`, and its inverse: dividing by it is exact. 1 where there is none.
#[inline]
fn power_of_two(x: f64) -> (f64, f64) {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    /// Twice the exponent of 1.
    const INVERSE: u64 = 0x7fe0_0000_0000_0000;
    let bits = x.to_bits() & EXPONENT;
    let power = f64::from_bits(bits);
    // Not for what is negative, subnormal or has no inverse.
    if x > 0.0 && power > 1e-300 && power < 1e300 {
        // A difference of exponents, for everything else waits for it.
        (power, f64::from_bits(INVERSE - bits))
    } else {
        (1.0, 1.0)
    }
}

impl Spectrum {
    #[inline]
    pub(super) fn new(block: &Matrix2<f64>) -> Result<Self, ImpulseError> {
        let (size, inverse) = power_of_two(block[(0, 0)].max(block[(1, 1)]));
        let (a, d, c) = (block[(0, 0)] * inverse, block[(0, 1)] * inverse, block[(1, 1)] * inverse);
        let half = 0.5 * (a - c);
        let root = (half * half + d * d).sqrt();
        let first = 0.5 * (a + c) + root;
        // The difference of mean and root would cancel to nothing in anisotropic blocks.
        let second = if first > 0.0 { (a * c - d * d) / first } else { a.min(c) - d.abs() };
        if second < -SINGULAR * first.max(1.0) {
            let (smallest, largest) = (second * size, first * size);
            return Err(ImpulseError::Indefinite { smallest, largest });
        }
        let second = if second <= SINGULAR * first { 0.0 } else { second };
        // A choice between two numbers, not between two ways: its side cannot be guessed.
        let long = root + half.abs();
        let (x, y) = if half >= 0.0 { (long, d) } else { (d, long) };
        let direction = Vector2::new(x, y);
        let square = direction.norm_squared();
        let axis = if square > 0.0 { direction * square.sqrt().recip() } else { Vector2::x() };
        Ok(Self { size, values: [first, second], axis })
    }

    #[inline]
    pub(super) fn rotate(&self, v: &Vector2<f64>) -> [f64; 2] {
        [self.axis.dot(v), quarter(&self.axis).dot(v)]
    }

    #[inline]
    pub(super) fn rotate_back(&self, v: [f64; 2]) -> Vector2<f64> {
        self.axis * v[0] + quarter(&self.axis) * v[1]
    }
}
