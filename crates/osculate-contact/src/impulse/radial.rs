//! Friction by scaling the stick impulse onto the disk: what others do, and a counter-example.
//!
//! ```text
//! x* = x_old − A⁻¹ u_old,   x = x*                where ‖x*‖ ≤ ρ_s
//!                           x = ρ_d x*/‖x*‖       else
//! ```
//!
//! PhysX solves a friction pair like this, with a static and a dynamic radius.
//!
//! A sweep of it rests where `A⁻¹ u = −k x`: friction is parallel to `A⁻¹u`, not to the slip. Where contacts mirror each other
//! only the part along the slip adds up, and the capacity falls to `cos δ` of Coulomb's, `δ` the angle between `u` and `A⁻¹u`. A cube on its four
//! corners, pushed along an edge, holds 0.936 of what it should; between that and 1 a sweep has a sticking and a false sliding
//! resting point, and more sweeps do not lead from one to the other.
//!
//! Exact only for isotropic blocks; use [`disk`](super::disk).
//! Source: the page *Friction* of the Steel solver; the capacity is of this project.

use super::plane::{apply, inverse, scale};
use nalgebra::{Matrix2, Vector2};
use osculate_math::Scalar;

/// Radii of the disk \[N s\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radii<T = f64> {
    /// Up to which the contact sticks.
    pub resting: T,
    /// Of a contact that slides, ≤ `resting`.
    pub sliding: T,
}

impl<T: Scalar> Radii<T> {
    /// One radius for rest and sliding.
    pub fn equal(radius: T) -> Self {
        Self { resting: radius, sliding: radius }
    }
}

/// The scaled impulse \[N s\] after `old`, at which the slip is `slip` \[m/s\].
///
/// Generic: its derivative is that of the formula. On the edge of the disk it is that of sticking. A singular block leaves the impulse
/// along its null direction as it was.
pub fn update<T: Scalar>(
    block: &Matrix2<T>,
    radii: &Radii<T>,
    old: &Vector2<T>,
    slip: &Vector2<T>,
) -> Vector2<T> {
    let stick = old - inverse(block, slip);
    let square = stick.dot(&stick);
    if square <= radii.resting * radii.resting {
        return stick;
    }
    scale(&stick, radii.sliding / square.sqrt())
}

/// `cos δ` \[–\] of a sliding direction: the part of Coulomb's capacity that mirrored contacts of this block reach.
///
/// 1 for an isotropic block and along its principal axes.
pub fn capacity<T: Scalar>(block: &Matrix2<T>, slip: &Vector2<T>) -> T {
    let friction = inverse(block, slip);
    let squares = slip.dot(slip) * friction.dot(&friction);
    if squares > 0.0 { slip.dot(&friction) / squares.sqrt() } else { T::one() }
}

/// Slip \[m/s\] left after an impulse `x`, from the slip at `old`.
pub fn slip_after<T: Scalar>(
    block: &Matrix2<T>,
    old: &Vector2<T>,
    slip: &Vector2<T>,
    x: &Vector2<T>,
) -> Vector2<T> {
    slip + apply(block, &(x - old))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impulse::{Disk, disk};
    use osculate_math::check::{self, Law, Smoothness};

    struct Scaled;
    impl Law<7, 2> for Scaled {
        fn value<T: Scalar>(&self, [xx, xy, yy, ux, uy, resting, sliding]: [T; 7]) -> [T; 2] {
            let block = Matrix2::new(xx, xy, xy, yy);
            let radii = Radii { resting, sliding };
            update(&block, &radii, &Vector2::zeros(), &Vector2::new(ux, uy)).into()
        }
    }

    struct Capacity;
    impl Law<5, 1> for Capacity {
        fn value<T: Scalar>(&self, [xx, xy, yy, ux, uy]: [T; 5]) -> [T; 1] {
            [capacity(&Matrix2::new(xx, xy, xy, yy), &Vector2::new(ux, uy))]
        }
    }

    #[test]
    fn impulse_and_capacity_have_exact_derivatives_stuck_and_sliding() {
        for (regime, speed) in [("stick", 0.3), ("slide", 3.0)] {
            let x = [2.0, 0.6, 0.9, speed, -0.4 * speed, 0.5, 0.4];
            check::gradients(&Scaled, regime, x, [1e-3; 7], Smoothness::Smooth, 1e-6);
        }
        check::gradients(
            &Capacity,
            "any",
            [2.0, 0.6, 0.9, 0.7, -0.4],
            [1e-3; 5],
            Smoothness::Smooth,
            1e-6,
        );
    }

    #[test]
    fn isotropic_blocks_give_the_answer_of_the_disk() {
        let (block, slip) = (Matrix2::identity() * 2.0, Vector2::new(1.2, -0.9));
        for radius in [0.2, 2.0] {
            let x = update(&block, &Radii::equal(radius), &Vector2::zeros(), &slip);
            let exact = disk::update(&block, radius, &Vector2::zeros(), &slip).unwrap();
            assert!((x - exact.impulse).norm() <= 1e-15);
            assert!((capacity(&block, &slip) - 1.0).abs() <= 1e-15);
        }
    }

    #[test]
    fn a_cube_on_its_corners_holds_0_936_of_its_limit_along_an_edge() {
        for shear in [-1.5, 1.5] {
            let block = Matrix2::new(4.0, shear, shear, 4.0);
            let found = capacity(&block, &Vector2::x());
            assert!((found - 4.0 / (16.0_f64 + 2.25).sqrt()).abs() < 1e-15);
            assert!((found - 0.936).abs() < 5e-4);
        }
    }

    #[test]
    fn friction_of_a_resting_sweep_is_parallel_to_the_inverse_block_times_slip() {
        let block = Matrix2::<f64>::new(4.0, 1.5, 1.5, 4.0);
        let radii = Radii::equal(0.1);
        let (mut x, mut slip) = (Vector2::zeros(), Vector2::<f64>::new(1.0, 0.2));
        for _ in 0..50 {
            let next = update(&block, &radii, &x, &slip);
            slip = slip_after(&block, &x, &slip, &next);
            x = next;
        }
        let steady = block.try_inverse().unwrap() * slip;
        assert!(steady.perp(&x).abs() <= 1e-12 && slip.perp(&x).abs() > 1e-3);
        // The disk's optimality conditions tell: this is no answer of Coulomb's.
        let drive = block * x - slip;
        let exact = Disk { block, drive, radius: 0.1 }.solve(&x).unwrap();
        assert!(!exact.kept && (exact.impulse - x).norm() > 1e-3);
    }

    #[test]
    fn what_breaks_loose_slides_with_the_dynamic_radius() {
        let (block, radii) = (Matrix2::identity(), Radii { resting: 0.5, sliding: 0.4 });
        let at = |u: f64| update(&block, &radii, &Vector2::zeros(), &Vector2::new(-u, 0.0)).x;
        assert!((at(0.49) - 0.49).abs() < 1e-16 && (at(0.51) - 0.4).abs() < 1e-16);
    }
}
