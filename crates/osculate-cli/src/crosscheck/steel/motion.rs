//! Families a to h: recorded motions.
//!
//! Each case is rolled out with as many sweeps from zero as the recording, and once to convergence. The recording of a
//! sweep that is cut short depends on the order of the rows, so a case agrees where one of the two does. Where neither
//! does, [`evidence`] looks for what shows which of the two is right.

use super::super::report::{CaseReport, Verdict};
use super::evidence;
use super::record::{Case, Record, Run};
use super::scenes::{Mark, Set, set};
use super::twins;
use crate::CliError;
use osculate_contact::impulse::FrictionCombine;
use osculate_contact::impulse::patch::IsotropicFootprint;
use osculate_dynamics::OnFailure;
use osculate_dynamics::impulse::{
    FrictionMode, FrictionPoint, ImpulseSettings, ImpulseSimulator, ImpulseTrajectory,
};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// What `worst` is.
pub(in super::super) const MEASURE: &str = "position deviation over what is allowed";
/// Largest `worst` that passes.
pub(in super::super) const TOLERANCE: f64 = 1.0;

/// Allowed deviation of a position \[m\]: what single precision adds up to.
pub(super) const ABSOLUTE: f64 = 1e-5;
/// Or of the way gone \[–\].
const RELATIVE: f64 = 0.01;
/// Sweeps of a bisection that is rolled out beyond its recording: it never meets Coulomb's law, so it would always take every sweep.
const SWEEPS_OF_BISECTIONS: usize = 256;

/// One case of a file, with everything that belongs to it.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) family: &'a str,
    pub(super) meta: &'a Value,
    pub(super) runs: &'a [Run],
    pub(super) run: &'a Run,
    pub(super) case: &'a Case,
}

/// Compares every case of a file.
///
/// # Errors
/// Where the file cannot be read.
pub(in super::super) fn check(path: &Path, family: &str) -> Result<Vec<CaseReport>, CliError> {
    let record: Record = super::super::case::read(path)?;
    let meta = &record.meta.scene;
    let runs = record.runs.iter().enumerate();
    let cases: Vec<_> = runs
        .flat_map(|(index, run)| run.cases.iter().map(move |case| (index, run, case)))
        .collect();
    let report = |&(index, run, case): &(usize, &Run, &Value)| {
        let id = case["id"].as_str().unwrap_or("?");
        let name = format!("run{index}/{id}");
        let report = judge((family, meta, &record.runs), run, (case, &name));
        report.unwrap_or_else(|error| {
            CaseReport::without_run(&name, Verdict::Unreadable(error.to_string()))
        })
    };
    Ok(cases.par_iter().map(report).collect())
}

/// How the recording was made, in our words.
pub(super) fn settings(run: &Run, set: &Set, case: &Case) -> Result<ImpulseSettings, CliError> {
    let mode = match run.options.friction_mode.as_str() {
        "fixed_normal" => FrictionMode::FixedNormal,
        "coulomb_newton" => FrictionMode::CoulombNewton,
        "bisection" => FrictionMode::Bisection,
        "bisection_desaxce" => FrictionMode::BisectionDesaxce,
        found => {
            return Err(CliError::Value {
                field: "friction_mode",
                found: found.into(),
                allowed: "fixed_normal, coulomb_newton, bisection, bisection_desaxce",
            });
        }
    };
    let rigid = osculate_contact::impulse::normal::Rigid {
        correction: run.options.baumgarte,
        ..Default::default()
    };
    Ok(ImpulseSettings {
        friction_mode: mode,
        anchor_beta: run.friction_anchor_beta,
        // Two of the three points of a disc, chosen anew by rounding, are no law that could be repeated.
        footprint: if case.is_disc() {
            IsotropicFootprint::Edges
        } else {
            IsotropicFootprint::Corners
        },
        combine: FrictionCombine::Average,
        normal: osculate_dynamics::impulse::NormalLaw::Rigid(rigid),
        restitution_threshold: run.options.restitution_velocity_threshold,
        velocity_sweeps: run.options.velocity_iterations,
        regularization: run.options.contact_regularization,
        friction_point: FrictionPoint::Own,
        friction_gap: run.options.contact_friction_gap_max.unwrap_or(f64::INFINITY),
        margin: set.margin,
        on_failure: OnFailure::Continue,
        ..ImpulseSettings::default()
    })
}

/// What may be off after a way \[m\].
pub(super) fn allowed(mark: &Mark, instant: usize) -> f64 {
    let way = match (mark.path.first(), mark.path.get(instant)) {
        (Some(from), Some(to)) => (to - from).norm(),
        _ => 0.0,
    };
    ABSOLUTE.max(RELATIVE * way)
}

/// Where a trajectory has a mark after a step, from where it was recorded at an instant \[m\].
fn off(mark: &Mark, trajectory: &ImpulseTrajectory, instant: usize, step: usize) -> f64 {
    let state = &trajectory.state(step)[mark.body];
    let here = state.center + state.rotation * mark.offset;
    mark.path.get(instant).map_or(f64::NAN, |there| (here - there).norm())
}

/// Largest deviation over what is allowed within the first `instants`, and where.
pub(super) fn deviation(
    set: &Set,
    case: &Case,
    trajectory: &ImpulseTrajectory,
    instants: usize,
) -> (f64, String) {
    let mut worst = (0.0, String::from("every recorded instant"));
    for (instant, &step) in case.steps.iter().enumerate().take(instants) {
        for mark in &set.marks {
            let off = off(mark, trajectory, instant, step);
            let relative = off / allowed(mark, instant);
            if relative > worst.0 || relative.is_nan() {
                worst = (relative, format!("{} after step {step}: {off:.2e} m", mark.name));
            }
        }
    }
    worst
}

/// Rolls a scene out.
///
/// # Errors
/// Where a step fails.
pub(super) fn roll(set: &Set, settings: ImpulseSettings) -> Result<ImpulseTrajectory, CliError> {
    let simulator = ImpulseSimulator::new(set.scene.clone(), settings, set.durations())?;
    let mut parameters = simulator.parameters();
    set.drive(&mut parameters);
    simulator.run(&parameters).map_err(|e| CliError::Impulse(Box::new(e)))
}

/// How many recorded instants are compared: a toss is sensitive after its second impact.
fn instants(run: &Run, case: &Case) -> usize {
    let until = if case.params["kind"] == "toss" { 0.3 } else { f64::INFINITY };
    case.steps.iter().take_while(|s| **s as f64 * run.dt <= until).count()
}

fn judge(
    (family, meta, runs): (&str, &Value, &[Run]),
    run: &Run,
    (value, name): (&Value, &str),
) -> Result<CaseReport, CliError> {
    let unreadable =
        |source: serde_json::Error| CliError::Json { path: name.into(), source: source.into() };
    let case = Case::deserialize(value).map_err(unreadable)?;
    let set = set(family, meta, run, &case)?;
    let converged = settings(run, &set, &case)?;
    let sweeps = run.options.iterations;
    let cut = ImpulseSettings { sweeps, tolerance: 1e-300, warm_start: 0.0, ..converged };
    let instants = instants(run, &case);
    let ours = roll(&set, cut)?;
    let (as_recorded, place) = deviation(&set, &case, &ours, instants);
    let mut report = CaseReport {
        name: name.into(),
        verdict: Verdict::Passed,
        worst: Some(as_recorded),
        place,
        details: json!({ "sweeps": sweeps, "as_recorded": as_recorded }),
        notes: Vec::new(),
    };
    if as_recorded <= TOLERANCE {
        return Ok(report);
    }
    let most = if run.options.bisects() { SWEEPS_OF_BISECTIONS } else { converged.sweeps };
    let solved = roll(&set, ImpulseSettings { sweeps: most, ..converged })?;
    let (off, place) = deviation(&set, &case, &solved, instants);
    report.details = json!({ "sweeps": sweeps, "as_recorded": as_recorded, "converged": off });
    if off <= TOLERANCE {
        (report.worst, report.place) = (Some(off), place);
        return Ok(report);
    }
    let setting = Setting { family, meta, runs, run, case: &case };
    let shown = match evidence::find(&setting, &set, &solved)? {
        None => twins::find(&setting, &set, (cut, &ours))?,
        shown => shown,
    };
    report.verdict = match shown {
        Some(shown) => {
            report.details["shown"] = shown.numbers;
            report.worst = None;
            Verdict::Explained(shown.text)
        }
        None => Verdict::Disagrees(format!(
            "{}; {off:.1} times what is allowed when converged ({place})",
            report.place
        )),
    };
    Ok(report)
}
