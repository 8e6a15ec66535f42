//! What no potential speaks of: contacts that come, go and are rejected.

use super::measure::Models;
use super::pair::PairModel;
use super::stages::StageOf;
use nalgebra::Vector3;
use osculate_contact::{ContactLaw, DissipationSchedule, PairParams, Sample, Status, Traction};
use osculate_dynamics::{Simulator, Trajectory};
use osculate_math::norm;
use serde::Serialize;

/// How far on each side of a switch: in alignment \[–\].
const BESIDE_ALIGNMENT: f64 = 1e-9;
/// And in distance \[m\].
const BESIDE_THRESHOLD: f64 = 1e-12;

/// How many samples were what, over all steps, under the stage-start schedule, and what retention adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Retention {
    /// Samples in contact.
    pub contacts: usize,
    /// Samples in contact at stage start only: dissipation without a conservative force.
    pub retained: usize,
    /// Samples within the threshold that the alignment rejects.
    pub rejected: usize,
    /// Largest dissipative force of a retained sample \[N\].
    pub retained_force: f64,
    /// Largest dissipative force of a sample in contact \[N\].
    pub contact_force: f64,
}

/// Tractions \[Pa\] on the two sides of a switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Jump {
    /// Schedule.
    pub schedule: &'static str,
    /// Whether dissipation fades.
    pub fade: bool,
    /// `‖T_n‖` inside and outside.
    pub elastic: [f64; 2],
    /// `‖T_diss‖` inside and outside.
    pub dissipative: [f64; 2],
    /// `W` \[J/m²\] inside and outside.
    pub energy: [f64; 2],
}

/// The special cases of a scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Events {
    /// Retention along the trajectory.
    pub retention: Retention,
    /// At `s = m`: the most loaded sample with its normal turned to either side. Empty where no surface has normals.
    pub alignment: Vec<Jump>,
    /// At `φ = δ`: the most loaded sample, moved out along the field's gradient to either side during the stage.
    pub leaving: Vec<Jump>,
}

/// Counts statuses over all steps.
pub(super) fn retention(
    simulator: &Simulator,
    trajectory: &Trajectory,
    models: &Models,
) -> Retention {
    let law = ContactLaw { schedule: DissipationSchedule::StageStart, ..simulator.settings().law };
    let mut found = Retention::default();
    for step in 0..simulator.steps() {
        let states = [trajectory.path.state(step), trajectory.path.state(step + 1)];
        for model in &models.real {
            let [start, now] = states.map(|s| super::pair::PairPoses {
                colliding: s[model.a].pose(),
                collider: s[model.b].pose(),
            });
            let duration = simulator.durations()[step];
            let pair = model.stage(&law, &model.params, (&start, &now), duration);
            pair.for_each_near(|i| {
                let t = pair.traction(i);
                let force = pair.weights[i] * t.dissipation.total().norm();
                match t.status {
                    Status::Contact => {
                        found.contacts += 1;
                        found.contact_force = found.contact_force.max(force);
                    }
                    Status::Retained => {
                        found.retained += 1;
                        found.retained_force = found.retained_force.max(force);
                    }
                    Status::Rejected => found.rejected += 1,
                    Status::Apart => {}
                }
            });
        }
    }
    found
}

/// A sample of a stage, and what it belongs to.
type Loaded<'m> = (&'m PairModel, Sample);

/// The sample with the largest elastic traction of all stages; with a normal, if so wanted.
fn most_loaded<'m>(
    models: &'m Models,
    stages: &[StageOf],
    with_normal: bool,
) -> Option<Loaded<'m>> {
    let law = ContactLaw { schedule: DissipationSchedule::Current, ..ContactLaw::default() };
    let mut best: Option<(f64, Loaded<'m>)> = None;
    for stage in stages {
        let model = &models.real[stage.pair];
        if with_normal && model.normals.is_none() {
            continue;
        }
        let pair = model.stage(&law, &model.params, (&stage.start, &stage.now), stage.duration);
        pair.for_each_near(|i| {
            let size = pair.traction(i).elastic.norm();
            let sample = pair.sample(i);
            // Stage start must be within the threshold too: each row is to have a load there.
            let began = model.collider.phi(&sample.start) < model.params.threshold;
            if began && best.as_ref().is_none_or(|b| size > b.0) {
                best = Some((size, (model, sample)));
            }
        });
    }
    best.map(|b| b.1)
}

/// Every schedule, faded and not, on two sides of a switch: `sides` are samples just inside and just outside.
fn jumps(
    model: &PairModel,
    simulator: &Simulator,
    sides: impl Fn(&ContactLaw) -> Option<[Sample; 2]>,
) -> Vec<Jump> {
    let laws = DissipationSchedule::ALL.into_iter().flat_map(|schedule| {
        [true, false].map(|fade| ContactLaw { schedule, fade, ..simulator.settings().law })
    });
    let params: &PairParams = &model.params;
    let jump = |law: ContactLaw| {
        let sides = sides(&law)?;
        let tractions: [Traction; 2] = sides.map(|s| law.traction(params, &model.collider, &s));
        Some(Jump {
            schedule: super::schedule_name(law.schedule),
            fade: law.fade,
            elastic: tractions.map(|t| t.elastic.norm()),
            dissipative: tractions.map(|t| t.dissipation.total().norm()),
            energy: sides.map(|s| law.energy_density(params, &model.collider, &s)),
        })
    };
    laws.filter_map(jump).collect()
}

/// On both sides of `s = m`.
pub(super) fn across_alignment(
    models: &Models,
    stages: &[StageOf],
    simulator: &Simulator,
) -> Vec<Jump> {
    let Some((model, sample)) = most_loaded(models, stages, true) else { return Vec::new() };
    jumps(model, simulator, |law| {
        let explicit = law.schedule == DissipationSchedule::StageStart;
        let at = if explicit { &sample.start } else { &sample.position };
        let gradient = model.collider.field(at).gradient;
        let axis = norm::direction(&gradient)?;
        let aside = norm::direction(&axis.cross(&least(&axis)))?;
        let with = |s: f64| {
            let cosine = (s / gradient.norm()).clamp(-1.0, 1.0);
            let normal = axis * cosine + aside * (1.0 - cosine * cosine).sqrt();
            Sample { normal: Some(normal), ..sample }
        };
        let m = model.params.max_alignment;
        Some([with(m - BESIDE_ALIGNMENT), with(m + BESIDE_ALIGNMENT)])
    })
}

/// On both sides of `φ = δ`.
pub(super) fn across_threshold(
    models: &Models,
    stages: &[StageOf],
    simulator: &Simulator,
) -> Vec<Jump> {
    let Some((model, sample)) = most_loaded(models, stages, false) else { return Vec::new() };
    let field = model.collider.field(&sample.position);
    let square = field.gradient.norm_squared();
    // The normal of the stage may be faded away or rejected; what is shown is what leaving does.
    let opposing = norm::direction(&field.gradient).map(|n| -n);
    jumps(model, simulator, |_| {
        let at = |gap: f64| {
            let out = (model.params.threshold + gap - field.phi) / square;
            let position = sample.position + field.gradient * out;
            Sample { position, normal: sample.normal.and(opposing), ..sample }
        };
        (square > 0.0).then(|| [at(-BESIDE_THRESHOLD), at(BESIDE_THRESHOLD)])
    })
}

/// The axis along which a vector is smallest.
fn least(v: &Vector3<f64>) -> Vector3<f64> {
    let mut axis = Vector3::zeros();
    axis[v.iamin()] = 1.0;
    axis
}
