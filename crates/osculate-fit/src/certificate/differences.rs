//! `∇_q(Δt R)` by differences: what the potential itself says, independent of duals.
//!
//! ```text
//! D(h) = (f(h) − f(−h))/2h      D₁ = (4 D(h/2) − D(h))/3      D₂ = (16 D₁(h/2) − D₁(h))/15
//! ```
//!
//! `D₂` at four steps a decade apart; of two neighbours the closest pair is the estimate and their distance its error.

use super::forms::{Form, UNKNOWNS, units};
use super::pair::PairModel;
use super::stages::StageOf;
use nalgebra::Vector3;
use osculate_contact::{ContactLaw, PairParams};
use osculate_math::se3::Pose;

/// Steps, relative to the smallest length of the law.
const STEPS: [f64; 4] = [0.3, 0.03, 0.003, 0.0003];

/// A gradient by differences, with the error it estimates of itself \[N\].
#[derive(Clone, Copy, Debug)]
pub(super) struct ByDifferences {
    pub(super) gradient: Form,
    pub(super) error: Form,
}

/// `∇_q(Δt R)` of a pair at a stage.
pub(super) fn gradient(
    model: &PairModel,
    law: &ContactLaw,
    params: &PairParams,
    stage: &StageOf,
) -> ByDifferences {
    let units = units(model);
    let mut found = ByDifferences { gradient: Form::zeros(), error: Form::zeros() };
    // The law bends over the falloff of friction and over the smoothing of the load.
    let length = (params.falloff_speed * stage.duration).min(if params.smoothing > 0.0 {
        params.smoothing
    } else {
        f64::INFINITY
    });
    for k in (0..UNKNOWNS).filter(|&k| units[k] > 0.0) {
        let potential = |x: f64| total(model, law, params, &moved(stage, k, x * units[k]));
        let central = |h: f64| (potential(h) - potential(-h)) / (2.0 * h);
        let extrapolated = STEPS.map(|step| {
            let h = step * length;
            let d = [central(h), central(h * 0.5), central(h * 0.25)];
            let first = [(4.0 * d[1] - d[0]) / 3.0, (4.0 * d[2] - d[1]) / 3.0];
            (16.0 * first[1] - first[0]) / 15.0
        });
        let pairs = extrapolated.windows(2).map(|w| (w[1], (w[0] - w[1]).abs()));
        if let Some((value, error)) = pairs.min_by(|a, b| a.1.total_cmp(&b.1)) {
            (found.gradient[k], found.error[k]) = (value, error);
        }
    }
    found
}

/// The stage with one unknown moved by `x` \[m or rad\].
fn moved(stage: &StageOf, k: usize, x: f64) -> StageOf {
    let mut moved = *stage;
    let (mut translation, mut rotation) = (Vector3::zeros(), Vector3::zeros());
    if k % 6 < 3 {
        translation[k % 3] = x
    } else {
        rotation[k % 3] = x
    }
    let pose: &mut Pose = if k < 6 { &mut moved.now.colliding } else { &mut moved.now.collider };
    *pose = pose.incremented(&translation, &rotation);
    moved
}

/// `Δt R` of a pair \[J\].
fn total(model: &PairModel, law: &ContactLaw, params: &PairParams, stage: &StageOf) -> f64 {
    let pair = model.stage(law, params, (&stage.start, &stage.now), stage.duration);
    let mut sum = 0.0;
    pair.for_each_near(|i| {
        sum += pair.weights[i] * law.dissipation_potential(params, pair.collider, &pair.sample(i));
    });
    sum
}
