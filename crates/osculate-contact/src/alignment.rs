//! Alignment of the colliding surface with the collider's field.
//!
//! ```text
//! s = G·N_A          −1 for opposing unit normals
//! rejected           s > m: no force at all, conservative part included
//! a = (m − s)/(m + 1)   fades dissipation to zero at the threshold
//! ```

use nalgebra::Vector3;
use osculate_math::Scalar;

/// `s = G·N_A` \[–\], with the raw gradient; −1 where the colliding surface has no normal.
#[inline]
pub fn alignment<T: Scalar>(gradient: &Vector3<T>, normal: Option<&Vector3<T>>) -> T {
    normal.map_or_else(|| -T::one(), |n| gradient.dot(n))
}

/// Whether a sample of alignment `s` is a contact: `s ≤ m`.
///
/// Energy and force jump at `s = m`, so they have no derivative there; on the joint the sample is accepted.
#[inline]
pub fn accepted<T: Scalar>(s: T, max_alignment: T) -> bool {
    s <= max_alignment
}

/// Dissipative alignment factor `a` [–]: `(m − s)/(m + 1)`, or 1 where `m = −1`.
#[inline]
pub fn fading<T: Scalar>(s: T, max_alignment: T) -> T {
    if max_alignment > -1.0 { (max_alignment - s) / (max_alignment + 1.0) } else { T::one() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};

    struct Fading;
    impl Law<2, 1> for Fading {
        fn value<T: Scalar>(&self, [s, m]: [T; 2]) -> [T; 1] {
            [fading(s, m)]
        }
    }

    #[test]
    fn fading_has_exact_derivatives() {
        for (regime, s, m) in [
            ("opposing", -1.0, 0.2),
            ("oblique", -0.4, 0.0),
            ("exactly at the threshold", 0.2, 0.2),
        ] {
            check::gradients(&Fading, regime, [s, m], [1e-3; 2], Smoothness::Smooth, 1e-6);
        }
    }

    #[test]
    fn dissipation_is_full_for_opposing_normals_and_gone_at_the_threshold() {
        assert_eq!((fading(-1.0, 0.3), fading(0.3, 0.3), fading(-1.0, -1.0)), (1.0, 0.0, 1.0));
        assert!(accepted(0.3, 0.3) && !accepted(0.3 + 1e-15, 0.3));
    }

    #[test]
    fn surface_without_a_normal_is_never_rejected() {
        let s = alignment(&Vector3::new(0.0, 0.0, 1.0), None);
        assert!(accepted(s, -1.0));
    }
}
