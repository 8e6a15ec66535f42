//! How far the parameters are from a change of the active set.
//!
//! ```text
//! g ∈ {φ − δ,  s − m,  V_t − V_f}       one of each for every sample and step
//! distance of θ = |g| / |dg/dθ|         to first order, dg/dθ by the tangent of the trajectory
//! ```

use crate::certificate::pair::{PairModel, PairPoses};
use crate::contact_model::Kept;
use osculate_contact::assembly::PairStage;
use osculate_contact::{DissipationSchedule, FrictionRamp, Status};
use osculate_dynamics::sensitivity::tangent;
use osculate_dynamics::{Layout, RunError};
use osculate_math::{Jet, norm};
use rayon::prelude::*;
use serde::Serialize;

/// Parameters of one tangent pass.
const WIDTH: usize = 8;

/// What changes where a sample switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// The force jumps: no derivative across it.
    Jump,
    /// The derivative of the force jumps.
    Kink,
    /// A second derivative jumps at most.
    None,
}

/// The nearest switch of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Switch {
    /// What is crossed: `φ = δ`, `s = m` or `V_t = V_f`; of the impulse model see
    /// [`SwitchKind`](osculate_dynamics::impulse::sensitivity::SwitchKind).
    pub what: &'static str,
    /// What changes there.
    pub harm: Harm,
    /// How far the parameter is from it, in its unit.
    pub distance: f64,
    /// After which step, from 1.
    pub step: usize,
    /// Index of the colliding body.
    pub body: usize,
    /// What switches: `sample`, `contact` or `anchor`.
    pub of: &'static str,
    /// Its index.
    pub sample: usize,
}

/// The nearest switch of every kind that occurs in the compliant model, for each parameter of `which`.
///
/// # Errors
/// Where the parameters do not fit the scene.
pub fn nearest_samples(roll_out: Kept<'_>, which: &[usize]) -> Result<Vec<Vec<Switch>>, RunError> {
    let chunks: Result<Vec<_>, RunError> =
        which.par_chunks(WIDTH).map(|chunk| pass(roll_out, chunk)).collect();
    Ok(chunks?.concat())
}

fn pass(
    (simulator, parameters, trajectory): Kept<'_>,
    chunk: &[usize],
) -> Result<Vec<Vec<Switch>>, RunError> {
    let layout = Layout::new(simulator.scene(), parameters);
    let mut seeded = parameters.lift::<Jet<WIDTH>>();
    for (direction, &i) in chunk.iter().enumerate() {
        layout.add(&mut seeded, i, Jet::variable(0.0, direction));
    }
    let path = tangent::path(simulator, trajectory, &seeded)?;
    let models = PairModel::all(simulator.scene(), &seeded);
    let law = simulator.settings().law;
    let mut found: Vec<Vec<Switch>> = vec![Vec::new(); chunk.len()];
    for step in 0..simulator.steps() {
        let states = [path.state(step), path.state(step + 1)];
        for model in &models {
            let [start, now] = states
                .map(|s| PairPoses { colliding: s[model.a].pose(), collider: s[model.b].pose() });
            let duration = simulator.durations()[step];
            let pair = model.stage(&law, &model.params, (&start, &now), duration);
            for sample in 0..pair.points.len() {
                gaps(&pair, sample, |what, harm, gap| {
                    for (direction, nearest) in found.iter_mut().enumerate() {
                        let distance = (gap.re / gap.eps[direction]).abs();
                        let body = model.a;
                        let (step, of) = (step + 1, "sample");
                        keep(nearest, Switch { what, harm, distance, step, body, of, sample });
                    }
                });
            }
        }
    }
    Ok(found)
}

/// Keeps the nearest of each kind.
pub(super) fn keep(nearest: &mut Vec<Switch>, found: Switch) {
    if !found.distance.is_finite() {
        return;
    }
    match nearest.iter_mut().find(|s| s.what == found.what) {
        Some(known) if found.distance < known.distance => *known = found,
        Some(_) => {}
        None => nearest.push(found),
    }
}

/// Calls `f` with what each switching function of a sample is, what it harms, and its value.
fn gaps<const N: usize>(
    pair: &PairStage<'_, Jet<N>>,
    i: usize,
    mut f: impl FnMut(&'static str, Harm, Jet<N>),
) {
    let (p, law) = (pair.params, pair.law);
    let traction = pair.traction(i);
    let dissipates = (p.friction.re, p.viscous_friction.re, p.damping.re) != (0.0, 0.0, 0.0);
    let leaves_with_force = dissipates && law.schedule == DissipationSchedule::CurrentGeometry;
    let at_threshold = match (leaves_with_force, p.smoothing.re > 0.0) {
        (true, _) => Harm::Jump,
        (false, false) => Harm::Kink,
        (false, true) => Harm::None,
    };
    if traction.status != Status::Retained {
        f("φ = δ", at_threshold, traction.phi - p.threshold);
    }
    let within = matches!(traction.status, Status::Contact | Status::Rejected);
    if within && pair.normals.is_some() {
        f("s = m", Harm::Jump, traction.alignment - p.max_alignment);
    }
    let bends = law.ramp == FrictionRamp::C1 && p.friction.re > 0.0;
    if bends && traction.status == Status::Contact {
        let sample = pair.sample(i);
        let field = pair.collider.field(&sample.position);
        let Some(n) = norm::direction(&field.gradient) else { return };
        let velocity = (sample.position - sample.start).map(|x| x * (1.0 / sample.duration));
        let tangential = velocity - n * velocity.dot(&n);
        f("V_t = V_f", Harm::None, norm::norm0(&tangential) - p.falloff_speed);
    }
}
