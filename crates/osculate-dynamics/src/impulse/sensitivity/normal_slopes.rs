//! Derivatives of a normal row by its gap and by the numbers of its law, in closed form; the tests compare them with the dual ones.
//!
//! ```text
//! rigid           b = s φ/h apart,  (β/h) min(φ + slop, 0) ≥ −b_max overlapping,   γ = cfm
//! spring, damper  b = k φ/d,  γ = 1/(d h),  d = k h + c,  c = 0 apart
//! ```

use crate::impulse::settings::NormalLaw;

/// Numbers of a law at most.
pub(super) const NUMBERS: usize = 5;

/// Slopes of bias and softness.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slopes {
    /// `∂b/∂φ` \[1/s\].
    pub(super) bias_by_gap: f64,
    /// By the numbers, in the order of `ImpulseParameters::normal_names`.
    pub(super) bias: [f64; NUMBERS],
    pub(super) softness: [f64; NUMBERS],
}

/// Slopes of the row of a gap \[m\] in a step of `h` \[s\]; at a joint those of the smaller overlap.
pub(super) fn slopes(law: &NormalLaw, gap: f64, h: f64) -> Slopes {
    let mut out = Slopes::default();
    match law {
        NormalLaw::Rigid(r) => {
            out.softness[2] = 1.0;
            let overlap = gap + r.slop;
            if gap >= 0.0 {
                out.bias_by_gap = r.speculative / h;
                out.bias[3] = gap / h;
            } else if overlap < 0.0 && r.correction * overlap / h < -r.max_correction_speed {
                out.bias[4] = -1.0;
            } else if overlap < 0.0 {
                out.bias_by_gap = r.correction / h;
                out.bias[0] = overlap / h;
                out.bias[1] = r.correction / h;
            }
        }
        NormalLaw::SpringDamper(s) => {
            let touches = gap <= 0.0;
            let drag = s.stiffness * h + if touches { s.damping } else { 0.0 };
            let pull = s.stiffness * gap / drag;
            out.bias_by_gap = s.stiffness / drag;
            out.bias[0] = (gap - pull * h) / drag;
            out.softness[0] = -1.0 / (drag * drag);
            if touches {
                out.bias[1] = -pull / drag;
                out.softness[1] = -1.0 / (drag * drag * h);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::parameters::row;
    use super::*;
    use osculate_contact::impulse::normal::{Rigid, SpringDamper};
    use osculate_math::Jet;

    #[test]
    fn closed_form_is_the_dual_one_on_every_branch_and_joint() {
        let h = 0.004;
        let rigid = [0.2, 1e-3, 0.05, 0.8, 0.3];
        let [correction, slop, softness, speculative, max_correction_speed] = rigid;
        let law = Rigid { correction, slop, softness, speculative, max_correction_speed };
        let spring = [500.0, 3.0];
        let soft = SpringDamper { stiffness: spring[0], damping: spring[1] };
        let laws: [(NormalLaw, &[f64]); 2] =
            [(NormalLaw::Rigid(law), &rigid), (NormalLaw::SpringDamper(soft), &spring)];
        for (law, numbers) in laws {
            for gap in [2e-3, 0.0, -5e-4, -1e-3, -3e-3, -7e-3, -9e-3] {
                let seeded: Vec<Jet<6>> =
                    numbers.iter().enumerate().map(|(j, x)| Jet::variable(*x, 1 + j)).collect();
                let dual = row(&seeded, &law, Jet::variable(gap, 0), h);
                let found = slopes(&law, gap, h);
                let close = |x: f64, y: f64| (x - y).abs() <= 1e-13 * y.abs().max(1e-12);
                assert!(close(found.bias_by_gap, dual.bias.eps[0]), "{law:?} {gap}");
                for j in 0..numbers.len() {
                    let [x, y] = [found.bias[j], found.softness[j]];
                    assert!(close(x, dual.bias.eps[1 + j]), "{law:?} {gap} {j}: {x}");
                    assert!(close(y, dual.softness.eps[1 + j]), "{law:?} {gap} {j}: {y}");
                }
                // Softness depends on the gap by a branch alone.
                assert!(dual.softness.eps[0] == 0.0);
            }
        }
    }
}
