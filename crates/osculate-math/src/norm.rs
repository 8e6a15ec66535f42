//! Norms that are safe at zero.

use crate::Scalar;
use nalgebra::Vector3;

/// Euclidean norm with the zero subgradient at zero.
///
/// `‖v‖` has no derivative at `v = 0`; the zero vector is the subgradient of least norm, and it is the
/// derivative of every even function of `‖v‖` there, which is how the friction law uses it.
#[inline(always)]
pub fn norm0<T: Scalar>(v: &Vector3<T>) -> T {
    let square = v.dot(v);
    if square.re() > 0.0 { square.sqrt() } else { T::zero() }
}

/// `v/‖v‖`, or `None` where `v = 0` and there is no direction.
#[inline(always)]
pub fn direction<T: Scalar>(v: &Vector3<T>) -> Option<Vector3<T>> {
    direction_and_inverse(v).map(|(n, _)| n)
}

/// `v/‖v‖` and `1/‖v‖`, or `None` where `v = 0`.
#[inline(always)]
pub fn direction_and_inverse<T: Scalar>(v: &Vector3<T>) -> Option<(Vector3<T>, T)> {
    let square = v.dot(v);
    (square.re() > 0.0).then(|| {
        let inverse = square.sqrt().recip();
        (v.map(|x| x * inverse), inverse)
    })
}

/// `v` scaled by `s`; nalgebra offers this only for its own field types.
#[inline]
pub fn scale<T: Scalar>(v: &Vector3<T>, s: T) -> Vector3<T> {
    v.map(|x| x * s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Jet;
    use num_dual::Dual64;

    #[test]
    fn norm_at_zero_has_zero_slope_not_nan() {
        let v = Vector3::new(Jet::<1>::variable(0.0, 0), Jet::zero(), Jet::zero());
        assert_eq!(norm0(&v), Jet::constant(0.0));
        let d = norm0(&Vector3::new(Dual64::new(0.0, 1.0), Dual64::from(0.0), Dual64::from(0.0)));
        assert_eq!((d.re, d.eps), (0.0, 0.0));
        assert!(direction(&v).is_none());
    }

    #[test]
    fn gradient_of_the_norm_is_the_direction() {
        let x = [0.3, -0.4, 1.2];
        let v = Vector3::from_fn(|i, _| Jet::<3>::variable(x[i], i));
        let (n, u) = (norm0(&v), direction(&Vector3::from(x)).unwrap());
        assert!((n.re - 1.3).abs() < 1e-15);
        for i in 0..3 {
            assert!((n.eps[i] - u[i]).abs() < 1e-15);
        }
    }

    use num_traits::Zero;
}
