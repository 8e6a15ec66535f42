//! The result of a fit: one JSON document and one page of text.

mod estimate;
mod profiles;
mod summary;

pub use estimate::Estimate;
pub use summary::number;

use estimate::estimates;
use profiles::profiles;

use crate::experiment::{Experiment, ExperimentError};
use crate::fit::{Fit, FitError, Plan, Progress, StartResult, fit};
use crate::identify::{Bootstrap, Curvature, Profile, bootstrap, curvature};
use crate::parameter::FreeParameter;
use crate::problem::{Channel, Model, ModelSettings, Problem, ProblemError, Quantity, Toss};
use crate::recording::{ChannelErrors, Evaluation, RecordingError, TossErrors};
use crate::trust;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

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
    /// The bootstrap over tosses, in coordinates; absent where none was asked or too few draws have an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Bootstrap>,
    /// Every start.
    pub starts: Vec<StartResult>,
    /// Index of the best start.
    pub best_start: usize,
    /// Errors on the tosses fitted; absent where a fit was interrupted and they took longer than half a second.
    pub evaluation: Option<Evaluation>,
    /// Stages of the best roll-outs that did not converge, of all.
    pub unconverged_stages: usize,
    /// The channels that were fitted, with their noise levels; the pose of the body where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<FittedChannel>,
    /// What looks wrong with the recordings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
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
    interrupted: &Arc<AtomicBool>,
    observe: &(dyn Fn(Progress) + Sync),
    phase: &(dyn Fn(&str) + Sync),
) -> Result<(Report, Fit), ReportError> {
    let doubts = experiment.doubts(&tosses, half_side).iter().map(ToString::to_string).collect();
    let plan = experiment.plan(tosses, half_side);
    let fitted = fit(&plan, interrupted, observe)?;
    let channels = fitted.problem.channels().to_vec();
    let plan = Plan { model: Model { channels, ..plan.model.clone() }, ..plan };
    phase("curvature");
    let best = fitted.best();
    let at = (best.coordinates.clone(), best.own.clone());
    let asked = || interrupted.load(Ordering::Relaxed);
    // The best point of an interrupted fit may be that of another stage.
    let curved = if asked() { None } else { curvature(&fitted.problem, &at.0, &at.1).ok() };
    let judged = match asked() {
        true => None,
        false => Some(evaluate(&fitted.problem, &at.0, &at.1, half_side)),
    };
    let (evaluation, unconverged_stages) = match judged {
        Some(Err(error)) if !asked() => return Err(error),
        Some(Ok(judged)) => judged,
        _ => judge_in_time(&plan, (&at.0, &at.1), half_side),
    };
    let stopped = asked();
    let profiles = if stopped || experiment.file.profile.points == 0 {
        Vec::new()
    } else {
        phase("profiles");
        profiles(experiment, &plan, (&fitted, curved.as_ref()), interrupted)?
    };
    let cut_short = experiment.file.profile.points > 0 && interrupted.load(Ordering::Relaxed);
    let mut parameters = estimates(&fitted, curved.as_ref(), &profiles, cut_short);
    let bootstrap = draw_again(experiment, &fitted, &mut parameters, (interrupted, phase));
    if experiment.file.trust.tosses > 0 && !interrupted.load(Ordering::Relaxed) {
        phase("trust");
        judge_derivatives(experiment, &fitted, &mut parameters, interrupted)?;
    }
    let (method, schedule) = solved_by(&plan.model.settings);
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
        bootstrap,
        starts: fitted.starts.clone(),
        best_start: fitted.best,
        evaluation,
        unconverged_stages,
        channels: fitted_channels(&fitted.problem),
        doubts,
        seed: plan.seed,
        interrupted: interrupted.load(Ordering::Relaxed),
    };
    Ok((report, fitted))
}

/// How long the errors of an interrupted fit may take: Ctrl-C ends everything within a second.
const JUDGING: Duration = Duration::from_millis(500);

/// Errors of the best point of an interrupted fit over the motion of the last stage; none where that takes longer than [`JUDGING`],
/// or a roll-out fails. The flag that interrupted the fit is up, so these roll-outs have one of their own.
fn judge_in_time(
    plan: &Plan,
    (shared, own): (&[f64], &[Vec<f64>]),
    half_side: f64,
) -> (Option<Evaluation>, usize) {
    let late = Arc::new(AtomicBool::new(false));
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let alarm = {
        let late = Arc::clone(&late);
        std::thread::spawn(move || {
            let waited = waiting.recv_timeout(JUDGING);
            late.store(waited == Err(RecvTimeoutError::Timeout), Ordering::Relaxed);
        })
    };
    let judge = || {
        let problem = plan.problem(plan.stages.last()?.horizon).ok()?.interrupted_by(&late);
        let start = problem.own_start();
        // Segments of an earlier stage have starts of their own, which the last stage has not.
        let fits =
            own.len() == start.len() && own.iter().zip(&start).all(|(a, b)| a.len() == b.len());
        let own = if fits { own } else { &start };
        evaluate(&problem, shared, own, half_side).ok()
    };
    let judged = judge();
    drop(done);
    // It ends by itself, and cannot panic.
    let _ = alarm.join();
    judged.unwrap_or((None, 0))
}

/// Method and schedule in words.
fn solved_by(settings: &ModelSettings) -> (String, String) {
    match settings {
        ModelSettings::Compliant(s) => (format!("{:?}", s.method), format!("{:?}", s.law.schedule)),
        ModelSettings::Impulse(s) => {
            let friction = if s.patch_friction() { "anchors" } else { "point friction" };
            ("impulses".into(), format!("{:?}, {friction}", s.friction_mode))
        }
    }
}

/// Adds the intervals of the bootstrap, where one is asked.
fn draw_again(
    experiment: &Experiment,
    fitted: &Fit,
    parameters: &mut [Estimate],
    (interrupted, phase): (&AtomicBool, &(dyn Fn(&str) + Sync)),
) -> Option<Bootstrap> {
    let plan = experiment.bootstrap_plan();
    if plan.resamples == 0 || interrupted.load(Ordering::Relaxed) {
        return None;
    }
    phase("bootstrap");
    let best = fitted.best();
    let free = fitted.problem.parameters();
    let bounds: Vec<[f64; 2]> = free.iter().map(FreeParameter::coordinate_bounds).collect();
    let found = bootstrap(
        &fitted.problem,
        (&best.coordinates, &best.own),
        (&bounds, best.surface.as_ref()),
        &plan,
        interrupted,
    )?;
    for ((estimate, p), interval) in parameters.iter_mut().zip(free).zip(&found.intervals) {
        estimate.bootstrap_interval = Some(interval.map(|u| p.to_value(u)));
    }
    Some(found)
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
/// Where a roll-out fails, diverges or is interrupted ([`Problem::interrupted_by`]).
pub fn evaluate(
    problem: &Problem,
    shared: &[f64],
    own: &[Vec<f64>],
    half_side: f64,
) -> Result<(Option<Evaluation>, usize), ReportError> {
    let rolled: Vec<Result<_, ReportError>> = (0..own.len())
        .into_par_iter()
        .map(|b| {
            let r = problem.roll_out(b, shared, &own[b])?;
            let errors = TossErrors::compare(r.id, &r.measured, &r.simulated, half_side)?;
            let means: Vec<Option<f64>> = r.channels.iter().map(|c| mean_distance(c)).collect();
            Ok((errors, means, r.unconverged))
        })
        .collect();
    let (mut errors, mut unconverged) = (Vec::new(), 0);
    let mut channels: Vec<Vec<f64>> = vec![Vec::new(); problem.channels().len()];
    for r in rolled {
        let (e, means, u) = r?;
        errors.push(e);
        channels.iter_mut().zip(means).for_each(|(all, mean)| all.extend(mean));
        unconverged += u;
    }
    let mut evaluation = Evaluation::new(errors)?;
    for ((channel, unit), tosses) in
        problem.channels().iter().zip(problem.channel_units()).zip(channels)
    {
        if !tosses.is_empty() {
            let name = channel.name.clone();
            evaluation.channels.push(ChannelErrors::new(name, unit.to_owned(), tosses)?);
        }
    }
    Ok((Some(evaluation), unconverged))
}

/// Mean distance of readings and records; none without records.
fn mean_distance(channel: &[(f64, nalgebra::Vector3<f64>)]) -> Option<f64> {
    let sum: f64 = channel.iter().map(|(_, off)| off.norm()).sum();
    (!channel.is_empty()).then(|| sum / channel.len() as f64)
}

/// A channel of a fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedChannel {
    /// Its name.
    pub name: String,
    /// What it measures.
    pub quantity: Quantity,
    /// Unit of σ.
    pub unit: String,
    /// Standard deviation of a component.
    pub sigma: f64,
    /// Whether the fit estimated it.
    pub estimated: bool,
}

fn fitted_channels(problem: &Problem) -> Vec<FittedChannel> {
    let of = |(c, unit): (&Channel, &'static str)| FittedChannel {
        name: c.name.clone(),
        quantity: c.quantity,
        unit: unit.to_owned(),
        sigma: c.sigma,
        estimated: c.estimated,
    };
    problem.channels().iter().zip(problem.channel_units()).map(of).collect()
}
