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

mod fitted;
mod plateau;
mod refine;
mod switches;
mod verdict;

pub use fitted::{Extent, OfToss, Trust, chosen, fitted};
pub use plateau::{Difference, ON_PLATEAU, Plateau, plateau};
pub use switches::{Harm, Switch};
pub use verdict::{
    Evidence, NEGLIGIBLE, Reason, SETTLED, STRAIGHT, UNSETTLED, USABLE, Verdict, drift, judge,
};

use osculate_dynamics::sensitivity::{Outcome, adjoint, hessian};
use osculate_dynamics::{Layout, Parameters, RunError, Simulator, Trajectory};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;

/// Time grids by default: Δt over 1, 2, 4, 8.
pub const GRIDS: usize = 4;
/// The most: Δt/4096.
pub const MOST_GRIDS: usize = 13;
/// Columns of the Hessian of one pass.
const WIDTH: usize = 4;

/// What is differentiated: the outcome of a roll-out.
#[derive(Debug)]
pub struct Subject<'a, O> {
    /// Scene, settings and time grid. Solve stages tightly: differences see what Newton leaves.
    pub simulator: &'a Simulator,
    /// The parameters at which it is differentiated.
    pub parameters: &'a Parameters,
    /// The scalar.
    pub outcome: &'a O,
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
pub fn assess<O: Outcome>(
    subject: &Subject<'_, O>,
    asked: &[Asked],
    grids: usize,
) -> Result<Vec<Judged>, RunError> {
    let (simulator, parameters) = (subject.simulator, subject.parameters);
    let layout = Layout::new(simulator.scene(), parameters);
    let trajectory = simulator.run(parameters)?;
    let which: Vec<usize> = asked.iter().map(|a| a.index).collect();
    let gradients: Vec<Option<Vec<f64>>> = (0..grids.clamp(1, MOST_GRIDS))
        .into_par_iter()
        .map(|k| on_grid(subject, &layout, 1 << k))
        .collect();
    let (_, own) = adjoint::gradient(simulator, &trajectory, parameters, subject.outcome)?;
    let curvature = diagonal(subject, &trajectory, &which)?;
    let switches = switches::nearest(subject, &trajectory, &which)?;
    let influence = |g: &[f64], a: &Asked| g[a.index].abs() * a.scale;
    let largest = asked.iter().map(|a| influence(&own, a)).fold(f64::MIN_POSITIVE, f64::max);
    let values = layout.values(parameters);
    let judged = asked.par_iter().enumerate().map_init(Trajectory::default, |scratch, (k, a)| {
        let info = &layout.entries()[a.index];
        let differences = plateau::scan(subject, &layout, a.index, (a.scale, a.sigma), scratch);
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
            curvature: curvature[k],
            switches: switches[k].clone(),
            influence: on_grids.fold(influence(&own, a), f64::max) / largest,
        };
        Judged { verdict: judge(&evidence), evidence }
    });
    Ok(judged.collect())
}

/// The gradient on a finer grid, in the order of the subject's own layout.
fn on_grid<O: Outcome>(
    subject: &Subject<'_, O>,
    layout: &Layout,
    factor: usize,
) -> Option<Vec<f64>> {
    let simulator = refine::simulator(subject.simulator, factor).ok()?;
    let parameters = refine::parameters(subject.parameters, subject.simulator.steps(), factor);
    let outcome = refine::Refined { outcome: subject.outcome, factor };
    let trajectory = simulator.run(&parameters).ok()?;
    let (_, fine) = adjoint::gradient(&simulator, &trajectory, &parameters, &outcome).ok()?;
    let fine_layout = Layout::new(simulator.scene(), &parameters);
    let places: HashMap<&str, usize> =
        fine_layout.entries().iter().enumerate().map(|(i, e)| (e.path.as_str(), i)).collect();
    let at = |path: &str| places.get(path).map(|&i| fine[i]);
    // What is held over several steps has the sum of their derivatives.
    let gradient = layout.entries().iter().map(|entry| match refine::held(&entry.path, factor) {
        None => at(&entry.path),
        Some(paths) => paths.iter().map(|path| at(path)).sum(),
    });
    gradient.collect()
}

/// `d²J/dθ²` of each parameter.
fn diagonal<O: Outcome>(
    subject: &Subject<'_, O>,
    trajectory: &Trajectory,
    which: &[usize],
) -> Result<Vec<f64>, RunError> {
    let (simulator, parameters) = (subject.simulator, subject.parameters);
    let chunks: Result<Vec<Vec<f64>>, RunError> = which
        .par_chunks(WIDTH)
        .map(|chunk| {
            let outcome = subject.outcome;
            hessian::hessian::<WIDTH>(simulator, trajectory, parameters, chunk, outcome)
                .map(|h| (0..chunk.len()).map(|k| h[(k, k)]).collect())
        })
        .collect();
    Ok(chunks?.concat())
}
