//! Is a gradient good for anything? A verdict for each `dJ/dθ`, with reasons; never a number alone.
//!
//! Adjoint, tangent and differences of roll-outs can agree to ten digits on a derivative that is of no use: of an unresolved
//! bounce, or beside a switch. Four questions are asked of each derivative:
//!
//! 1. Does it settle as the time step is halved, by default three times over?
//! 2. Over how many decades of the step do differences agree with it?
//! 3. How far is the parameter from a change of the active set?
//! 4. How large is the second-order term over one standard error, `σ|H|/(2|g|)`?
//!
//! Criteria and thresholds: `docs/trust.md`.

mod contacts;
mod fitted;
mod plateau;
mod refine;
mod switches;
mod verdict;

pub use contacts::{nearest_contacts, words};
pub use fitted::{Extent, OfToss, Trust, chosen, fitted};
pub use plateau::{Difference, ON_PLATEAU, Plateau, Sides, plateau};
pub use switches::{Harm, Switch, nearest_samples};
pub use verdict::{
    Evidence, NEGLIGIBLE, Reason, SETTLED, STRAIGHT, UNSETTLED, USABLE, Verdict, drift, judge,
};

use crate::contact_model::{ContactModel, Entry, ModelError};
use osculate_dynamics::OnFailure;
use osculate_dynamics::sensitivity::Outcome;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;

/// Time grids by default: Δt over 1, 2, 4, 8.
pub const GRIDS: usize = 4;
/// The most: Δt/4096.
pub const MOST_GRIDS: usize = 13;

/// What is differentiated: the outcome of a roll-out, under either contact model.
pub struct Subject<'a, S: ContactModel, O> {
    /// Scene, settings and time grid. Solve tightly: differences see what a solve leaves.
    pub simulator: &'a S,
    /// The parameters at which it is differentiated.
    pub parameters: &'a S::Parameters<f64>,
    /// The scalar.
    pub outcome: &'a O,
    /// What to do where a step has no derivative for sure.
    pub on_failure: OnFailure,
}

/// A parameter to ask about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Index in the layout.
    pub index: usize,
    /// A change of it that is large, in its unit, > 0.
    pub scale: f64,
    /// Its standard error, in its unit, > 0.
    pub sigma: f64,
}

/// Evidence and verdict of one derivative.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// What was measured.
    pub evidence: Evidence,
    /// What it means.
    pub verdict: Verdict,
}

impl Judged {
    /// Parameter, verdict and every reason in one sentence, for reports.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.evidence.path, self.verdict.explained(&self.evidence.unit))
    }
}

/// Asks the four questions of the derivatives by the parameters asked about.
///
/// * `grids`: how many time grids, each with half the step of the one before, the subject's own first; 1 to [`MOST_GRIDS`],
///   clamped. [`GRIDS`] is what the thresholds are meant for.
///
/// The result does not depend on the number of threads. A refined roll-out that fails is evidence, not an error.
///
/// # Errors
/// Where the roll-out on the subject's own grid fails or the parameters do not fit the scene.
pub fn assess<S: ContactModel, O: Outcome>(
    subject: &Subject<'_, S, O>,
    asked: &[Asked],
    grids: usize,
) -> Result<Vec<Judged>, ModelError> {
    let (simulator, parameters) = (subject.simulator, subject.parameters);
    let layout = simulator.layout(parameters);
    let entries = S::entries(&layout);
    let trajectory = simulator.run(parameters)?;
    let derivatives = simulator.linearise(parameters, &trajectory, subject.on_failure)?;
    let gradients: Vec<Option<Vec<f64>>> = (0..grids.clamp(1, MOST_GRIDS))
        .into_par_iter()
        .map(|k| on_grid(subject, &entries, 1 << k))
        .collect();
    let (value, own) = S::adjoint(&derivatives, subject.outcome)?;
    let over: Vec<(usize, f64)> = asked.iter().map(|a| (a.index, a.sigma)).collect();
    let curvature = S::curvature(&derivatives, &over, subject.outcome)?;
    let large: Vec<(usize, f64)> = asked.iter().map(|a| (a.index, a.scale)).collect();
    let switches = S::switches(&derivatives, &large)?;
    let influence = |g: &[f64], a: &Asked| g[a.index].abs() * a.scale;
    let largest = asked.iter().map(|a| influence(&own, a)).fold(f64::MIN_POSITIVE, f64::max);
    let values = S::values(&layout, parameters);
    let judged =
        asked.par_iter().enumerate().map_init(S::Trajectory::default, |scratch, (k, a)| {
            let info = &entries[a.index];
            let size = (a.scale, a.sigma);
            let (differences, sides) =
                plateau::scan(subject, (&layout, value), a.index, size, scratch);
            let on_grids = gradients.iter().flatten().map(|g| influence(g, a));
            let evidence = Evidence {
                path: info.path.clone(),
                unit: info.unit.into(),
                value: values[a.index],
                scale: a.scale,
                sigma: a.sigma,
                derivative: own[a.index],
                refined: gradients.iter().map(|g| g.as_ref().map(|g| g[a.index])).collect(),
                plateau: plateau(&differences, own[a.index]),
                differences,
                sides,
                curvature: curvature[k],
                switches: switches[k].clone(),
                influence: on_grids.fold(influence(&own, a), f64::max) / largest,
            };
            Judged { verdict: judge(&evidence), evidence }
        });
    Ok(judged.collect())
}

/// The gradient on a finer grid, in the order of the subject's own layout.
fn on_grid<S: ContactModel, O: Outcome>(
    subject: &Subject<'_, S, O>,
    entries: &[Entry],
    factor: usize,
) -> Option<Vec<f64>> {
    let simulator = refine::simulator(subject.simulator, factor).ok()?;
    let steps = subject.simulator.steps();
    let parameters = refine::parameters::<S>(subject.parameters, steps, factor);
    let outcome = refine::Refined { outcome: subject.outcome, factor };
    let trajectory = simulator.run(&parameters).ok()?;
    let derivatives = simulator.linearise(&parameters, &trajectory, subject.on_failure).ok()?;
    let (_, fine) = S::adjoint(&derivatives, &outcome).ok()?;
    let fine_entries = S::entries(&simulator.layout(&parameters));
    let places: HashMap<&str, usize> =
        fine_entries.iter().enumerate().map(|(i, e)| (e.path.as_str(), i)).collect();
    let at = |path: &str| places.get(path).map(|&i| fine[i]);
    // What is held over several steps has the sum of their derivatives.
    let gradient = entries.iter().map(|entry| match refine::held(&entry.path, factor) {
        None => at(&entry.path),
        Some(paths) => paths.iter().map(|path| at(path)).sum(),
    });
    gradient.collect()
}
