//! The normal row of a contact in a Gauss–Seidel sweep, and how soft it is.
//!
//! ```text
//! u_N + bias + γ r_N ≥ 0,  r_N ≥ 0, one of them zero
//! r_N ← max(0, r_N − ω (u_N + bias + γ r_N)/(W_N + γ))
//!
//! rigid           bias = (β/Δt) min(φ + s, 0) penetrating, φ/Δt apart (speculative);   γ = CFM
//! spring, damper  F = max(0, −k φ₊ − c u₊):  γ = 1/(Δt (Δt k + c)),  bias = k φ/(Δt k + c);  no damper across a gap
//! compliance      C [m/N]:  the spring of k = 1/C;  γ = C/Δt²,  bias = φ/Δt
//! rebound         bias = e u⁻ where the approach u⁻ < −threshold
//! ```
//!
//! The forms of spring and damper put the force law at the end of the step, `φ₊ = φ + Δt u₊`, and are exact for it: no iteration,
//! any stiffness. `r_N = Δt F`.
//! Sources: Catto, *Soft Constraints* (GDC 2011) for γ and bias; Stewart and Trinkle 1996 for the speculative row.

use osculate_math::Scalar;

/// A soft normal row: how much it yields and what it asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalRow<T = f64> {
    /// `γ` \[1/kg\], velocity given up per impulse, ≥ 0.
    pub softness: T,
    /// Velocity asked for, with its sign turned \[m/s\].
    pub bias: T,
}

impl<T: Scalar> NormalRow<T> {
    /// `u_N + bias + γ r_N` \[m/s\]: 0 in contact, > 0 apart.
    #[inline]
    pub fn residual(&self, normal_velocity: T, impulse: T) -> T {
        normal_velocity + self.bias + self.softness * impulse
    }

    /// The impulse \[N s\] after a relaxed sweep.
    ///
    /// * `mobility`: `W_N` \[1/kg\]; `W_N + γ` > 0.
    /// * `relaxation`: `ω` \[–\], in (0, 2); 1 solves the row.
    ///
    /// Where the row opens exactly, value and derivative are those of the open one.
    #[inline]
    pub fn update(&self, mobility: T, normal_velocity: T, impulse: T, relaxation: f64) -> T {
        let step = self.residual(normal_velocity, impulse) / (mobility + self.softness);
        positive(impulse - step * relaxation)
    }
}

/// `x` where it is positive, else 0 with no derivative.
#[inline]
fn positive<T: Scalar>(x: T) -> T {
    if x > 0.0 { x } else { T::zero() }
}

/// How a rigid row treats gap and penetration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigid<T = f64> {
    /// `β` \[–\], part of the penetration removed in a step, in \[0, 1\].
    pub correction: T,
    /// `s` \[m\], penetration left alone, ≥ 0.
    pub slop: T,
    /// Part of an open gap that a step may close \[–\]; 1 lets it close just to touch.
    pub speculative: T,
    /// `γ` \[1/kg\], constant.
    pub softness: T,
    /// Largest velocity of the correction \[m/s\].
    pub max_correction_speed: T,
}

impl<T: Scalar> Default for Rigid<T> {
    fn default() -> Self {
        Self {
            correction: T::from(0.2),
            slop: T::zero(),
            speculative: T::one(),
            softness: T::zero(),
            max_correction_speed: T::from(f64::INFINITY),
        }
    }
}

impl<T: Scalar> Rigid<T> {
    /// The row at the distance `phi` \[m\], with a step of `duration` \[s\].
    ///
    /// Continuous in `phi`; at `φ = 0` and `φ = −s`, value and derivative are those of the smaller penetration.
    pub fn row(&self, phi: T, duration: f64) -> NormalRow<T> {
        let penetration = phi + self.slop;
        let bias = if phi >= 0.0 {
            self.speculative * phi / duration
        } else if penetration < 0.0 {
            let wanted = self.correction * penetration / duration;
            if wanted < -self.max_correction_speed { -self.max_correction_speed } else { wanted }
        } else {
            T::zero()
        };
        NormalRow { softness: self.softness, bias }
    }
}

/// A physical spring and damper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringDamper<T = f64> {
    /// `k` \[N/m\], > 0.
    pub stiffness: T,
    /// `c` \[N s/m\], ≥ 0.
    pub damping: T,
}

impl<T: Scalar> SpringDamper<T> {
    /// The spring of a compliance `C` \[m/N\], > 0.
    pub fn of_compliance(compliance: T) -> Self {
        Self { stiffness: compliance.recip(), damping: T::zero() }
    }

    /// The row at the distance `phi` \[m\], with a step of `duration` \[s\].
    ///
    /// The damper acts in contact alone: across a gap, `φ > 0`, the row is that of the spring.
    pub fn row(&self, phi: T, duration: f64) -> NormalRow<T> {
        let damping = if phi > 0.0 { T::zero() } else { self.damping };
        let drag = self.stiffness * duration + damping;
        NormalRow { softness: (drag * duration).recip(), bias: self.stiffness * phi / drag }
    }
}

/// The bias of an impact: `e u⁻` for an approach faster than `threshold` \[m/s\], else none.
///
/// * `restitution`: `e` \[–\], in \[0, 1\].
/// * `approach`: `u⁻` \[m/s\], normal velocity before, negative where the bodies close.
#[inline]
pub fn rebound<T: Scalar>(restitution: T, approach: T, threshold: f64) -> Option<T> {
    (approach < -threshold).then(|| restitution * approach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};

    const DURATION: f64 = 0.01;

    /// Impulse after one sweep by distance, velocity, old impulse, mobility and the parameters of the softness.
    struct Soft;
    impl Law<6, 1> for Soft {
        fn value<T: Scalar>(&self, [phi, u, r, w, stiffness, damping]: [T; 6]) -> [T; 1] {
            [SpringDamper { stiffness, damping }.row(phi, DURATION).update(w, u, r, 1.3)]
        }
    }

    struct Hard;
    impl Law<6, 1> for Hard {
        fn value<T: Scalar>(&self, [phi, u, r, w, correction, softness]: [T; 6]) -> [T; 1] {
            let rigid = Rigid { correction, softness, slop: T::from(1e-3), ..Rigid::default() };
            [rigid.row(phi, DURATION).update(w, u, r, 1.0)]
        }
    }

    #[test]
    fn rows_have_exact_derivatives_apart_touching_and_deep() {
        let steps = [1e-5, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3];
        for (regime, phi) in [("speculative", 2e-3), ("slop", -5e-4), ("deep", -5e-3)] {
            for (state, u) in [("loaded", -1.0), ("open", 5.0)] {
                let regime = format!("{regime}, {state}");
                check::gradients(
                    &Hard,
                    &regime,
                    [phi, u, 0.3, 2.0, 0.2, 0.1],
                    steps,
                    Smoothness::Smooth,
                    1e-5,
                );
                check::gradients(
                    &Soft,
                    &regime,
                    [phi, u, 0.3, 2.0, 500.0, 3.0],
                    steps,
                    Smoothness::Smooth,
                    1e-5,
                );
            }
        }
        for phi in [0.0, -1e-3] {
            check::gradients(
                &Hard,
                "joint",
                [phi, -1.0, 0.3, 2.0, 0.2, 0.1],
                steps,
                Smoothness::Kink,
                1e-5,
            );
        }
    }

    #[test]
    fn a_solved_row_is_complementary() {
        for (phi, u) in [(2e-3, -1.0), (2e-3, 0.1), (-4e-3, 0.3), (-4e-3, 2.0)] {
            let row = Rigid::<f64> { softness: 0.1, ..Rigid::default() }.row(phi, DURATION);
            let (w, old) = (2.0, 0.25);
            let impulse = row.update(w, u, old, 1.0);
            let after = row.residual(u + w * (impulse - old), impulse);
            assert!(impulse >= 0.0 && after >= -1e-15 && (impulse * after).abs() <= 1e-15);
        }
    }

    #[test]
    fn speculative_row_closes_the_gap_and_no_more() {
        let row = Rigid::<f64>::default().row(3e-3, DURATION);
        // A mass of 0.5 kg that approaches at 1 m/s is left the 0.3 m/s that just close the gap.
        let impulse = row.update(2.0, -1.0, 0.0, 1.0);
        assert!((-1.0 + 2.0 * impulse + 0.3).abs() < 1e-15);
        assert!(row.update(2.0, -0.2, 0.0, 1.0) <= 0.0);
    }

    #[test]
    fn correction_removes_its_part_of_the_penetration_beyond_the_slop() {
        let rigid = Rigid::<f64> { slop: 1e-3, ..Rigid::default() };
        let row = rigid.row(-6e-3, DURATION);
        assert!((row.bias + 0.2 * 5e-3 / DURATION).abs() < 1e-15);
        assert!(rigid.row(-1e-3, DURATION).bias.abs() <= 0.0);
        let capped = Rigid { max_correction_speed: 0.05, ..rigid };
        assert!((capped.row(-6e-3, DURATION).bias + 0.05).abs() < 1e-16);
    }

    #[test]
    fn spring_and_damper_give_the_force_at_the_end_of_the_step() {
        let law = SpringDamper { stiffness: 800.0, damping: 5.0 };
        for (phi, u) in [(-2e-3, -0.4), (-2e-3, 0.1), (0.0, -0.4), (1e-3, -0.4)] {
            let (w, row) = (2.0, law.row(phi, DURATION));
            let impulse = row.update(w, u, 0.0, 1.0);
            let after: f64 = u + w * impulse;
            let damping = if phi > 0.0 { 0.0 } else { law.damping };
            let force = (-law.stiffness * (phi + DURATION * after) - damping * after).max(0.0);
            assert!((impulse - DURATION * force).abs() < 1e-15, "phi {phi}, u {u}");
        }
    }

    #[test]
    fn a_stiff_spring_is_a_rigid_row_that_removes_all_penetration() {
        let stiff = SpringDamper::<f64>::of_compliance(1e-18).row(-2e-3, DURATION);
        let rigid = Rigid { correction: 1.0, ..Rigid::default() }.row(-2e-3, DURATION);
        let impulse = |row: NormalRow| row.update(2.0, -0.4, 0.0, 1.0);
        assert!((impulse(stiff) - impulse(rigid)).abs() < 1e-12);
        assert!(
            (SpringDamper::<f64>::of_compliance(3e-4).row(0.0, DURATION).softness - 3.0).abs()
                < 1e-14
        );
    }

    #[test]
    fn rebound_needs_a_fast_approach() {
        assert_eq!(rebound(0.5, -2.0, 0.5), Some(-1.0));
        assert_eq!(rebound(0.5, -0.5, 0.5), None);
        assert_eq!(rebound(0.5, 2.0, 0.5), None);
        // The row asks for e times the approach, backwards.
        let row = NormalRow { softness: 0.0, bias: -1.0 };
        let impulse: f64 = row.update(2.0, -2.0, 0.0, 1.0);
        assert!((-2.0 + 2.0 * impulse - 1.0).abs() < 1e-15);
    }
}
