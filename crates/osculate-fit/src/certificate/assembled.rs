//! The residual and the matrix that Newton sees, less their conservative part.
//!
//! `K_ji = ∂r_j/∂q_i` differentiates torques, which are components along world axes at the pose *they are taken at*. A 1-form in
//! exponential coordinates about the present pose is `ω(δ) = Jl(δ)ᵀ r(q ⊕ δ)`, `Jl = 1 + [δ]×/2 + …`, so its derivative is
//!
//! ```text
//! M_ji = ∂ω_j/∂δ_i = K_ji + [r_θ]×_ji / 2        on the rotational block of each body
//! M − Mᵀ = −dω
//! ```
//!
//! A residual that is a gradient has a symmetric `M`; its `K` is not symmetric wherever there is a torque.

use super::forms::{Form, Square, units};
use super::pair::PairModel;
use super::stages::StageOf;
use osculate_contact::assembly::{Blocks, Moving, Wrenches};
use osculate_contact::{ContactLaw, PairParams};
use osculate_math::so3::skew;

/// The dissipative part of what is assembled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assembled {
    /// `r_d` \[N\].
    pub(super) residual: Form,
    /// `M` \[N/m\].
    pub(super) corrected: Square,
    /// What rounding of the elastic part leaves in both, relative to them \[–\]: the larger of `ε‖r_e‖/‖r_d‖`
    /// and `ε‖K_e‖/‖M‖`.
    pub(super) rounding: f64,
}

/// Residual and corrected matrix of a pair at a stage, full less frictionless and undamped.
pub(super) fn dissipative(
    model: &PairModel,
    law: &ContactLaw,
    params: &PairParams,
    stage: &StageOf,
) -> Assembled {
    let (full, k_full) = assemble(model, law, params, stage);
    let conservative = PairParams { friction: 0.0, viscous_friction: 0.0, damping: 0.0, ..*params };
    let (elastic, k_elastic) = assemble(model, law, &conservative, stage);
    let (residual, k) = (full - elastic, k_full - k_elastic);
    let mut corrected = k;
    for first in [3, 9] {
        let torque = residual.fixed_rows::<3>(first).into_owned();
        let half = skew(&torque) * 0.5;
        let mut block = corrected.fixed_view_mut::<3, 3>(first, first);
        block += half;
    }
    let units = units(model);
    let both = units * units.transpose();
    corrected.component_mul_assign(&both);
    let residual = residual.component_mul(&units);
    let lost = |elastic: f64, left: f64| f64::EPSILON * elastic / left.max(f64::MIN_POSITIVE);
    let rounding = lost(elastic.component_mul(&units).norm(), residual.norm())
        .max(lost(k_elastic.component_mul(&both).norm(), corrected.norm()));
    Assembled { residual, corrected, rounding }
}

fn assemble(
    model: &PairModel,
    law: &ContactLaw,
    params: &PairParams,
    stage: &StageOf,
) -> (Form, Square) {
    let pair = model.stage(law, params, (&stage.start, &stage.now), stage.duration);
    let (mut wrenches, mut blocks) = (Wrenches::default(), Blocks::default());
    let moving = Moving { colliding: model.moves[0], collider: model.moves[1] };
    pair.add_forces_and_jacobian(moving, &mut wrenches, &mut blocks);
    let parts = [-wrenches.force, -wrenches.torque_a, wrenches.force, wrenches.torque_b];
    let residual = Form::from_fn(|k, _| parts[k / 3][k % 3]);
    let matrix = Square::from_fn(|r, c| blocks.0[r / 3][c / 3][(r % 3, c % 3)]);
    (residual, matrix)
}

#[cfg(test)]
mod tests {
    use super::super::{forms, measure::Models, stages};
    use super::*;
    use osculate_contact::DissipationSchedule;
    use osculate_dynamics::file::SceneFile;

    #[test]
    fn matrix_of_a_gradient_is_symmetric_only_after_half_the_torque_is_added() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/certificate/scene.toml");
        let scene = SceneFile::read(path).unwrap().build(std::path::Path::new("")).unwrap();
        let (simulator, parameters) = (&scene.simulator, &scene.parameters);
        let lifted = parameters.lift();
        let models = Models {
            real: PairModel::all(simulator.scene(), parameters),
            dual: PairModel::all(simulator.scene(), &lifted),
        };
        let trajectory = simulator.run(parameters).unwrap();
        let met = stages::touching(simulator, &trajectory, &models.real);
        let law = ContactLaw { schedule: DissipationSchedule::StageStart, ..Default::default() };
        let mut uncorrected: f64 = 0.0;
        for stage in stages::choose(&met, &models.real, 8, 3) {
            let model = &models.real[stage.pair];
            let found = dissipative(model, &law, &model.params, &stage);
            let norm = found.corrected.norm();
            if norm <= f64::MIN_POSITIVE {
                continue;
            }
            let asymmetry = (found.corrected - found.corrected.transpose()).norm() / norm;
            assert!(asymmetry < 1e-9, "{asymmetry:e}");
            // Without the correction the torque is what is left.
            let torque: f64 = [3, 9]
                .map(|k| found.residual.fixed_rows::<3>(k).norm() / model.reach())
                .iter()
                .sum();
            uncorrected = uncorrected.max(torque / norm);
            let dual = &models.dual[stage.pair];
            let form = forms::evaluate(dual, &law, &dual.params, &stage);
            assert!((form.residual - found.residual).norm() < 1e-8 * form.residual.norm());
        }
        assert!(uncorrected > 1e-6, "no torque: the test cannot fail ({uncorrected:e})");
    }
}
