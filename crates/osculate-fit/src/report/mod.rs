//! The result of a fit: one JSON document and one page of text.

mod summary;

pub use summary::number;

use crate::experiment::{Experiment, ExperimentError};
use crate::fit::{Fit, FitError, Plan, Progress, StartResult, fit};
use crate::identify::{Curvature, Profile, TWO_SIDED_95, Verdict, curvature, profile};
use crate::parameter::FreeParameter;
use crate::problem::{Horizon, ModelSettings, Problem, ProblemError, Toss};
use crate::recording::{Evaluation, RecordingError, TossErrors};
use crate::trust::{self, Trust};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// One estimated parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Path.
    pub path: String,
    /// Unit.
    pub unit: String,
    /// The estimate; absent where the data give only an interval or a bound, or its profile was interrupted.
    pub estimate: Option<f64>,
    /// The value of the best roll-outs: what `osculate evaluate` uses.
    pub best: f64,
    /// Standard error from the Fisher matrix, in units of the parameter.
    pub standard_error: Option<f64>,
    /// Standard error robust against correlation within a toss.
    pub robust_standard_error: Option<f64>,
    /// Standard error of the smooth loss's minimum from the roughness of the loss, where a response surface ended the
    /// fit and its last box holds it.
    pub surface_standard_error: Option<f64>,
    /// 95 % interval from the Fisher matrix on the scale of the fit.
    pub fisher_interval: Option<[f64; 2]>,
    /// What the profile says; absent without one, or where it was interrupted.
    pub verdict: Option<Verdict>,
    /// The same in words.
    pub statement: String,
    /// What derivatives by it are good for; absent where that was not asked or was interrupted, and for parameters that
    /// are not fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
}

impl Estimate {
    /// The largest standard error found: that of the smooth loss is the only sober one where roll-outs are chaotic.
    fn sigma(&self) -> Option<f64> {
        let all = [self.standard_error, self.robust_standard_error, self.surface_standard_error];
        all.into_iter().flatten().reduce(f64::max)
    }
}

/// Everything a fit found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of osculate.
    pub version: String,
    /// Where the experiment was read.
    pub experiment: String,
    /// How many tosses were fitted.
    pub tosses: usize,
    /// Method and schedule of the roll-outs.
    pub method: String,
    /// Schedule of the dissipation; of the impulse model how friction is solved and where it acts.
    pub schedule: String,
    /// Mean loss a toss at the best point.
    pub loss: f64,
    /// The parameters.
    pub parameters: Vec<Estimate>,
    /// Errors, correlation, weak directions.
    pub curvature: Option<Curvature>,
    /// Profiles.
    pub profiles: Vec<Profile>,
    /// Every start.
    pub starts: Vec<StartResult>,
    /// Index of the best start.
    pub best_start: usize,
    /// Errors on the tosses fitted.
    pub evaluation: Option<Evaluation>,
    /// Stages of the best roll-outs that did not converge, of all.
    pub unconverged_stages: usize,
    /// Seed of the starts.
    pub seed: u64,
    /// Whether the fit was stopped before its end.
    pub interrupted: bool,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The experiment is wrong.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A roll-out failed.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// Errors could not be computed.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// Fits and reports.
///
/// * `observe`: progress of the fit; `phase`: called when a new part of the work begins.
///
/// # Errors
/// Where the fit fails. Curvature and profiles that fail leave their part of the report empty.
pub fn run(
    experiment: &Experiment,
    tosses: Vec<Toss>,
    half_side: f64,
    interrupted: &AtomicBool,
    observe: &(dyn Fn(Progress) + Sync),
    phase: &(dyn Fn(&str) + Sync),
) -> Result<(Report, Fit), ReportError> {
    let plan = experiment.plan(tosses, half_side);
    let fitted = fit(&plan, interrupted, observe)?;
    phase("curvature");
    let best = fitted.best();
    let at = (best.coordinates.clone(), best.own.clone());
    let curved = curvature(&fitted.problem, &at.0, &at.1).ok();
    let (evaluation, unconverged_stages) = evaluate(&fitted.problem, &at.0, &at.1, half_side)?;
    let stopped = interrupted.load(Ordering::Relaxed);
    let profiles = if stopped || experiment.file.profile.points == 0 {
        Vec::new()
    } else {
        phase("profiles");
        profiles(experiment, &plan, (&fitted, curved.as_ref()), interrupted)?
    };
    let cut_short = experiment.file.profile.points > 0 && interrupted.load(Ordering::Relaxed);
    let mut parameters = estimates(&fitted, curved.as_ref(), &profiles, cut_short);
    if experiment.file.trust.tosses > 0 && !interrupted.load(Ordering::Relaxed) {
        phase("trust");
        judge_derivatives(experiment, &fitted, &mut parameters, interrupted)?;
    }
    let (method, schedule) = match &plan.model.settings {
        ModelSettings::Compliant(s) => (format!("{:?}", s.method), format!("{:?}", s.law.schedule)),
        ModelSettings::Impulse(s) => {
            let friction = if s.patch_friction() { "anchors" } else { "point friction" };
            ("impulses".into(), format!("{:?}, {friction}", s.friction_mode))
        }
    };
    let report = Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        experiment: experiment.path.display().to_string(),
        tosses: plan.tosses.len(),
        method,
        schedule,
        loss: best.loss,
        parameters,
        curvature: curved,
        profiles,
        starts: fitted.starts.clone(),
        best_start: fitted.best,
        evaluation,
        unconverged_stages,
        seed: plan.seed,
        interrupted: interrupted.load(Ordering::Relaxed),
    };
    Ok((report, fitted))
}

/// Adds what the derivatives by each fitted parameter are good for.
fn judge_derivatives(
    experiment: &Experiment,
    fitted: &Fit,
    parameters: &mut [Estimate],
    interrupted: &AtomicBool,
) -> Result<(), ReportError> {
    let best = fitted.best();
    let sigmas: Vec<Option<f64>> =
        parameters[..best.coordinates.len()].iter().map(Estimate::sigma).collect();
    let at = (best.coordinates.as_slice(), best.own.as_slice());
    let found =
        trust::fitted(&fitted.problem, at, &sigmas, experiment.trust_extent(), interrupted)?;
    for (p, t) in parameters.iter_mut().zip(found.into_iter().flatten()) {
        p.trust = Some(t);
    }
    Ok(())
}

/// Errors of every toss at a point, and unconverged stages.
///
/// # Errors
/// Where a roll-out fails or diverges.
pub fn evaluate(
    problem: &Problem,
    shared: &[f64],
    own: &[Vec<f64>],
    half_side: f64,
) -> Result<(Option<Evaluation>, usize), ReportError> {
    let rolled: Vec<Result<(TossErrors, usize), ReportError>> = (0..own.len())
        .into_par_iter()
        .map(|b| {
            let r = problem.roll_out(b, shared, &own[b])?;
            let errors = TossErrors::compare(r.id, &r.measured, &r.simulated, half_side)?;
            Ok((errors, r.unconverged))
        })
        .collect();
    let (mut errors, mut unconverged) = (Vec::new(), 0);
    for r in rolled {
        let (e, u) = r?;
        errors.push(e);
        unconverged += u;
    }
    Ok((Some(Evaluation::new(errors)?), unconverged))
}

/// Profiles of every free parameter and of those that are only profiled, on a subset of the tosses.
fn profiles(
    experiment: &Experiment,
    plan: &Plan,
    (fitted, curved): (&Fit, Option<&Curvature>),
    interrupted: &AtomicBool,
) -> Result<Vec<Profile>, ReportError> {
    let most = experiment.file.profile.tosses.max(2);
    let n = plan.tosses.len();
    let chosen: Vec<usize> =
        if n <= most { (0..n).collect() } else { (0..most).map(|k| k * n / most).collect() };
    let tosses = chosen.iter().map(|&i| plan.tosses[i].clone()).collect();
    let all: Vec<FreeParameter> = plan
        .parameters
        .iter()
        .map(|p| FreeParameter { profile_only: false, ..p.clone() })
        .collect();
    let problem =
        Problem::new(plan.model.clone(), tosses, &all, plan.weights, Horizon::Full, plan.initial)?;
    let best = fitted.best();
    let mut free = best.coordinates.iter();
    let mut shared = Vec::new();
    for p in &plan.parameters {
        let value = match (p.profile_only, free.as_slice().first()) {
            (false, Some(&u)) => {
                free.next();
                u
            }
            _ => p.to_coordinate(problem.scene_value(&p.path).unwrap_or(f64::NAN)),
        };
        shared.push(value);
    }
    let own: Vec<Vec<f64>> = chosen
        .iter()
        .zip(problem.own_start())
        .map(|(&i, zero)| {
            let own = &best.own[i];
            if own.len() == zero.len() { own.clone() } else { zero }
        })
        .collect();
    let only: Vec<usize> =
        (0..plan.parameters.len()).filter(|&i| plan.parameters[i].profile_only).collect();
    // A first distance: the robust standard error, or a tenth where there is none.
    let mut errors = curved.iter().flat_map(|c| c.robust_standard_errors.iter());
    let scales: Vec<f64> = plan
        .parameters
        .iter()
        .map(|p| if p.profile_only { None } else { errors.next() })
        .map(|e| e.copied().filter(|e| e.is_finite() && *e > 0.0).unwrap_or(0.1))
        .collect();
    let made: Vec<_> = (0..all.len())
        .into_par_iter()
        .map(|i| {
            profile(
                &problem,
                (&shared, &own),
                (i, &only, scales[i]),
                &experiment.profile_plan(),
                interrupted,
            )
        })
        .collect();
    made.into_iter().map(|p| p.map_err(ReportError::from)).collect()
}

/// * `cut_short`: a parameter without a verdict has none because the fit was interrupted.
fn estimates(
    fitted: &Fit,
    curved: Option<&Curvature>,
    profiles: &[Profile],
    cut_short: bool,
) -> Vec<Estimate> {
    let best = fitted.best();
    let free = fitted.problem.parameters();
    let mut all: Vec<Estimate> = free
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let (u, value) = (best.coordinates[i], best.values[i]);
            let slope = p.slope(u).abs();
            let error = curved.map(|c| c.standard_errors[i]).filter(|e| e.is_finite());
            let robust = curved.map(|c| c.robust_standard_errors[i]).filter(|e| e.is_finite());
            let smooth = best.surface.as_ref().and_then(|s| s.standard_errors[i]);
            let profile = profiles.iter().find(|q| q.path == p.path);
            let verdict = profile.and_then(|q| q.verdict);
            let point = verdict.map_or(!cut_short, |v| matches!(v, Verdict::Point { .. }));
            let unit = fitted.problem.unit(i);
            Estimate {
                path: p.path.clone(),
                unit: unit.to_owned(),
                estimate: point.then_some(value),
                best: value,
                standard_error: error.map(|e| e * slope),
                robust_standard_error: robust.map(|e| e * slope),
                surface_standard_error: smooth.map(|e| e * slope),
                fisher_interval: error
                    .map(|e| [u - TWO_SIDED_95 * e, u + TWO_SIDED_95 * e].map(|x| p.to_value(x))),
                statement: statement((&p.path, unit), value, verdict.as_ref(), cut_short),
                verdict,
                trust: None,
            }
        })
        .collect();
    for q in profiles.iter().filter(|q| !free.iter().any(|p| p.path == q.path)) {
        all.push(Estimate {
            path: q.path.clone(),
            unit: q.unit.clone(),
            estimate: None,
            best: q.best,
            standard_error: None,
            robust_standard_error: None,
            surface_standard_error: None,
            fisher_interval: None,
            statement: format!(
                "{} (kept at {} in the fit)",
                statement((&q.path, &q.unit), q.best, q.verdict.as_ref(), cut_short),
                number(q.best)
            ),
            verdict: q.verdict,
            trust: None,
        });
    }
    all
}

fn statement(
    (path, unit): (&str, &str),
    value: f64,
    verdict: Option<&Verdict>,
    cut_short: bool,
) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    match verdict {
        None => {
            let mark = if cut_short { " (profile not finished)" } else { "" };
            format!("{path} = {}{unit}{mark}", number(value))
        }
        Some(Verdict::Point { lower, upper }) => format!(
            "{path} = {}{unit}, 95 % interval {} to {}",
            number(value),
            number(*lower),
            number(*upper)
        ),
        Some(Verdict::Interval { lower, upper }) => {
            format!(
                "{path}: interval {} to {}{unit}, no single value",
                number(*lower),
                number(*upper)
            )
        }
        Some(Verdict::LowerBound { lower }) => {
            format!("{path}: bound only, above {}{unit}", number(*lower))
        }
        Some(Verdict::UpperBound { upper }) => {
            format!("{path}: bound only, below {}{unit}", number(*upper))
        }
        Some(Verdict::Undetermined) => {
            format!("{path}: undetermined, no value of its range is excluded")
        }
    }
}
