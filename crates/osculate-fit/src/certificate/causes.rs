//! What breaks the potential: the defect `Δt ∂R/∂q`, one dependency at a time.
//!
//! ```text
//! R = a λ_n f(V, N)      f = μ ρ(V_t) + c_t V_t²/2 + c_n V_n²/2
//! Δt ∂R/∂q = Δt (a f ∂λ_n/∂q + λ_n f ∂a/∂q + a λ_n ∂f/∂N ∂N/∂q)
//! ```
//!
//! Each ingredient is evaluated with duals while the others, and `V`, are frozen to their values. The fading is split once
//! more: by the field's gradient where the sample is, and by the turning of the two bodies. Nothing of it is
//! taken from the law under test, so that the sum of the causes is a check of its own.

use super::forms::{Dual, Form, constant, seeded, units};
use super::pair::PairModel;
use super::stages::StageOf;
use nalgebra::Vector3;
use osculate_contact::assembly::PairStage;
use osculate_contact::{
    ContactLaw, DissipationSchedule, PairParams, Status, alignment, dissipation, normal_penalty,
};
use osculate_math::norm;

/// Names of the causes: `∂λ̂/∂q`, `∂N/∂q`, `∂a/∂G`, `∂a/∂N_A`.
pub const CAUSES: [&str; 4] = ["load", "plane", "fading-by-place", "fading-by-turning"];

/// The parts of the defect: `∂λ̂/∂q`, `∂N/∂q`, `∂a/∂G`, `∂a/∂N_A` \[N\].
pub(super) type Causes = [Form; 4];

/// The parts of the defect of a pair at a stage; none under the stage-start schedule.
pub(super) fn causes(
    model: &PairModel<Dual>,
    law: &ContactLaw,
    params: &PairParams<Dual>,
    stage: &StageOf,
) -> Causes {
    let mut causes = [Form::zeros(); 4];
    if law.schedule == DissipationSchedule::StageStart {
        return causes;
    }
    let poses = (&constant(&stage.start), &seeded(&stage.now));
    let pair = model.stage(law, params, poses, stage.duration);
    pair.for_each_near(|i| {
        if pair.traction(i).status == Status::Contact {
            add_sample(&pair, i, &mut causes);
        }
    });
    let units = units(model);
    for cause in &mut causes {
        cause.component_mul_assign(&units);
    }
    causes
}

/// Forgets the derivatives.
fn frozen(x: Dual) -> Dual {
    Dual::constant(x.re)
}

fn add_sample(pair: &PairStage<'_, Dual>, i: usize, causes: &mut Causes) {
    let (params, sample) = (pair.params, pair.sample(i));
    let field = pair.collider.field(&sample.position);
    let moved = sample.position - sample.start;
    let seen = match pair.law.schedule {
        DissipationSchedule::CurrentGeometry => field.phi - field.gradient.dot(&moved),
        _ => field.phi,
    };
    let load =
        normal_penalty::normal_load(seen, params.stiffness, params.smoothing, params.threshold);
    let fading = |gradient: &Vector3<Dual>, normal: Option<&Vector3<Dual>>| match normal {
        Some(_) if pair.law.fade => {
            alignment::fading(alignment::alignment(gradient, normal), params.max_alignment)
        }
        _ => Dual::from(1.0),
    };
    let surface = sample.normal;
    let normal = match surface {
        Some(n) if !params.collider_normal => Some(-n),
        other => norm::direction(&field.gradient).or(other.map(|n| -n)),
    };
    let Some(normal) = normal else { return };
    let velocity = moved.map(|x| Dual::constant(x.re / sample.duration));
    let scale = pair.weights[i].re * sample.duration;
    let (still_gradient, still_surface) =
        (field.gradient.map(frozen), surface.map(|n| n.map(frozen)));
    let still = fading(&still_gradient, still_surface.as_ref());
    let mut add = |cause: usize, load: Dual, fading: Dual, normal: &Vector3<Dual>| {
        let r = dissipation::potential(params, pair.law.ramp, fading * load, &velocity, normal);
        for (part, eps) in causes[cause].iter_mut().zip(r.eps) {
            *part += scale * eps;
        }
    };
    let still_normal = normal.map(frozen);
    add(0, load, still, &still_normal);
    add(1, frozen(load), still, &normal);
    add(2, frozen(load), fading(&field.gradient, still_surface.as_ref()), &still_normal);
    add(3, frozen(load), fading(&still_gradient, surface.as_ref()), &still_normal);
}
