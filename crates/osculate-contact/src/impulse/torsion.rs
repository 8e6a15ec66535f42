//! Spin friction of a contact or a patch: budgets that share the load with sliding, and one that does not.
//!
//! ```text
//! linear budget   |τ_n| ≤ r (μ N − S)₊,   N = Σ r_N,  S = Σ ‖r_T‖;   where S > μ N the r_T are scaled by μN/S first
//! spin row        τ ← clip(τ − (ω_n + bias)/D, −B, B)
//! PhysX           |τ| ≤ μ N r_eff,   r_eff = max(r_min, √(max(0, −φ) r_patch))        its own budget
//! ellipsoid       ‖f‖²/μ² + τ²/(μ r)² ≤ N²                                          elliptic, three rows
//! uniform disk    the limit surface                                                  limit_surface, see DiskPatch
//! ```
//!
//! `r` \[m\] is the torque of pure spin over `μN`: `2R/3` of a uniformly loaded disk. The linear budget lies far inside the true surface (at
//! `V = R ω` it allows none of the 42 % there is) and gives no torque at all to a patch that slides fully.
//!
//! Sources: the page *Friction* of the Steel solver; PhysX documentation, *torsional patch friction*.

mod disk_patch;

pub use disk_patch::{DiskPatch, DiskPatchSolution, DiskPatchVariation};

use super::elliptic::Ellipsoid;
use nalgebra::{Matrix3, Vector3};
use osculate_math::Scalar;

/// Radius \[m\] of a uniformly loaded disk of radius `R`: `2R/3`.
pub fn uniform_disk_radius<T: Scalar>(disk_radius: T) -> T {
    disk_radius * (2.0 / 3.0)
}

/// PhysX's effective radius \[m\].
///
/// * `min_radius`: `r_min` \[m\], ≥ 0.
/// * `patch_radius`: `r_patch` \[m\], ≥ 0: that of a ball of which a cap of the penetration touches.
/// * `phi`: distance \[m\], negative in penetration.
///
/// At a tie value and derivative are those of `r_min`, so that touching without penetration has no infinite slope.
pub fn effective_radius<T: Scalar>(min_radius: T, patch_radius: T, phi: T) -> T {
    let square = -phi * patch_radius;
    if square.re() <= 0.0 {
        return min_radius;
    }
    let cap = square.sqrt();
    if cap > min_radius { cap } else { min_radius }
}

/// What is left of a budget, in the linear law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearBudget<T = f64> {
    /// Factor of the sliding impulses \[–\], 1 where they are within `μ N`.
    pub sliding_scale: T,
    /// `B`, largest spin impulse \[N m s\].
    pub spin_bound: T,
}

impl<T: Scalar> LinearBudget<T> {
    /// * `friction`: `μ` \[–\].
    /// * `load`: `N` \[N s\]; negative counts as none.
    /// * `sliding`: `S` \[N s\], ≥ 0.
    /// * `radius`: `r` \[m\], ≥ 0.
    ///
    /// Where sliding just uses all, value and derivatives are those of sliding within it.
    pub fn new(friction: T, load: T, sliding: T, radius: T) -> Self {
        let budget = if load > 0.0 { friction * load } else { T::zero() };
        if sliding > budget {
            return Self { sliding_scale: budget / sliding, spin_bound: T::zero() };
        }
        Self { sliding_scale: T::one(), spin_bound: radius * (budget - sliding) }
    }
}

/// Spin impulse \[N m s\] after a sweep of its row, within `±bound`.
///
/// * `rate`: `ω_n` with its bias \[rad/s\], at the impulse `old`.
/// * `mobility`: `D` \[1/(kg m²)\], > 0.
///
/// On the bound value and derivative are those inside.
pub fn update_spin<T: Scalar>(old: T, rate: T, mobility: T, bound: T) -> T {
    let free = old - rate / mobility;
    if free > bound {
        bound
    } else if free < -bound {
        -bound
    } else {
        free
    }
}

/// The ellipsoid of a patch: rows (slide, slide, spin).
///
/// * `block`: velocity per impulse of the three rows; `drive`: minus their velocity without the impulse.
/// * `radius`: `r` \[m\].
/// * `load`: `N` \[N s\].
pub fn ellipsoid<T: Scalar>(
    block: Matrix3<T>,
    drive: Vector3<T>,
    friction: T,
    radius: T,
    load: T,
) -> Ellipsoid<3, T> {
    let coefficients = Vector3::new(friction, friction, friction * radius);
    Ellipsoid { block, drive, coefficients, load }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};

    struct Linear;
    impl Law<7, 3> for Linear {
        fn value<T: Scalar>(&self, [mu, load, sliding, r, old, rate, mobility]: [T; 7]) -> [T; 3] {
            let budget = LinearBudget::new(mu, load, sliding, r);
            let spin = update_spin(old, rate, mobility, budget.spin_bound);
            [budget.sliding_scale, budget.spin_bound, spin]
        }
    }

    struct Radius;
    impl Law<3, 1> for Radius {
        fn value<T: Scalar>(&self, [least, patch, phi]: [T; 3]) -> [T; 1] {
            [effective_radius(least, patch, phi)]
        }
    }

    #[test]
    fn linear_budget_has_exact_derivatives_stuck_spinning_and_sliding() {
        for (regime, sliding, rate) in [
            ("holds", 0.2, 0.1),
            ("spins", 0.2, 9.0),
            ("spins back", 0.2, -9.0),
            ("slides", 2.0, 0.1),
        ] {
            let x = [0.5, 1.2, sliding, 0.3, 0.02, rate, 3.0];
            check::gradients(&Linear, regime, x, [1e-3; 7], Smoothness::Smooth, 1e-6);
        }
        let full = [0.5, 1.2, 0.6, 0.3, 0.02, 0.1, 3.0];
        check::gradients(&Linear, "budget just used", full, [1e-3; 7], Smoothness::Kink, 1e-6);
    }

    #[test]
    fn effective_radius_has_exact_derivatives_and_no_infinite_slope_at_touch() {
        for phi in [-0.3, -0.01, 0.1] {
            check::gradients(&Radius, "any", [0.2, 0.4, phi], [1e-4; 3], Smoothness::Smooth, 1e-5);
        }
        for phi in [0.0, -0.1] {
            check::gradients(&Radius, "joint", [0.2, 0.4, phi], [1e-4; 3], Smoothness::Kink, 1e-5);
        }
        assert!((effective_radius(0.001, 0.1, -0.001_f64) - 0.01).abs() < 1e-16);
    }

    #[test]
    fn a_fully_sliding_patch_has_no_spin_torque_under_the_linear_law() {
        let budget = LinearBudget::new(0.5_f64, 1.2, 0.9, 0.3);
        assert!((budget.sliding_scale - 2.0 / 3.0).abs() < 1e-15 && budget.spin_bound <= 0.0);
        assert!(update_spin(0.1, 5.0, 3.0, budget.spin_bound).abs() <= 0.0);
        assert!(LinearBudget::new(0.5, -1.0, 0.0, 0.3).spin_bound <= 0.0);
    }

    #[test]
    fn ellipsoid_of_pure_spin_is_the_radius_times_the_load() {
        let problem = ellipsoid(Matrix3::identity(), Vector3::z() * 9.0, 0.5, 0.3, 1.2);
        let s = problem.solve(&Vector3::zeros()).unwrap();
        assert!((s.impulse - Vector3::z() * 0.18).norm() < 1e-15);
        assert!((uniform_disk_radius(0.45_f64) - 0.3).abs() < 1e-16);
    }
}
