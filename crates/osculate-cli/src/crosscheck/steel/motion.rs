//! Families a to h: recorded motions of free bodies.
//!
//! Each case is rolled out with as many sweeps from zero as the recording, and once to convergence. The recording of a
//! sweep that is cut short depends on the order of the rows, so a case agrees where one of the two does; where neither
//! does and the motion has a closed form, the closed form decides.

use super::super::compare::rotation;
use super::super::report::{CaseReport, Verdict};
use super::scenes::{Set, exact_travel, set};
use crate::CliError;
use nalgebra::Vector3;
use osculate_contact::impulse::FrictionCombine;
use osculate_contact::impulse::patch::IsotropicFootprint;
use osculate_dynamics::OnFailure;
use osculate_dynamics::impulse::{
    FrictionMode, ImpulseSettings, ImpulseSimulator, ImpulseTrajectory,
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
const ABSOLUTE: f64 = 1e-5;
/// Or of the way gone \[–\].
const RELATIVE: f64 = 0.01;

/// What is recorded.
#[derive(Debug, Deserialize)]
struct Record {
    meta: Meta,
    runs: Vec<Run>,
}

#[derive(Debug, Deserialize)]
struct Meta {
    scene: Value,
}

/// Cases with the same options.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    pub(super) options: Options,
    pub(super) friction_anchor_beta: f64,
    pub(super) dt: f64,
    #[serde(default)]
    pub(super) group: Option<String>,
    cases: Vec<Value>,
}

/// Options that are not the default.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(super) struct Options {
    iterations: usize,
    friction_mode: String,
    baumgarte: f64,
    restitution_velocity_threshold: f64,
    pub(super) enable_restitution: bool,
    velocity_iterations: usize,
}

impl Options {
    /// Whether the mode is one of the counter-examples, which have another law.
    pub(super) fn bisects(&self) -> bool {
        self.friction_mode.starts_with("bisection")
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            iterations: 12,
            friction_mode: "fixed_normal".into(),
            baumgarte: 0.2,
            restitution_velocity_threshold: 0.5,
            enable_restitution: true,
            velocity_iterations: 0,
        }
    }
}

/// A pose as recorded: position and quaternion `[x, y, z, w]`.
pub(super) type Recorded = [f64; 7];

/// One case; `q` holds one pose, or one a body.
#[derive(Debug, Deserialize)]
pub(super) struct Case {
    pub(super) params: Value,
    steps: Vec<usize>,
    q: Vec<Value>,
}

impl Case {
    /// Recorded poses of the bodies, at a recorded instant.
    pub(super) fn poses(&self, instant: usize) -> Vec<Recorded> {
        let q = self.q.get(instant).cloned().unwrap_or_default();
        serde_json::from_value::<Vec<Recorded>>(q.clone())
            .or_else(|_| serde_json::from_value::<Recorded>(q).map(|one| vec![one]))
            .unwrap_or_default()
    }

    /// Steps of the recording.
    pub(super) fn steps(&self) -> usize {
        self.steps.last().copied().unwrap_or(0)
    }

    /// The rotation of a recorded pose.
    pub(super) fn rotation(pose: &Recorded) -> nalgebra::Matrix3<f64> {
        rotation(&[pose[3], pose[4], pose[5], pose[6]])
    }
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
        let report = match articulated(family, run, id) {
            Some(reason) => Ok(CaseReport::without_run(&name, Verdict::Unsupported(reason))),
            None => judge(family, meta, run, (case, &name)),
        };
        report.unwrap_or_else(|error| {
            CaseReport::without_run(&name, Verdict::Unreadable(error.to_string()))
        })
    };
    Ok(cases.par_iter().map(report).collect())
}

/// Why a case is not run.
fn articulated(family: &str, run: &Run, id: &str) -> Option<String> {
    let articulated =
        matches!(family, "e" | "f") || run.group.as_deref().is_some_and(|g| g != "free");
    if articulated {
        return Some("recorded arms and grippers are not read yet".into());
    }
    let disc = family == "c" && id.starts_with("disc");
    disc.then(|| {
        "a cylinder touches as a prism here, its recording at three points that do not turn with it"
            .into()
    })
}

/// How the recording was made, in our words.
fn settings(run: &Run) -> Result<ImpulseSettings, CliError> {
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
        footprint: IsotropicFootprint::Corners,
        combine: FrictionCombine::Average,
        normal: osculate_dynamics::impulse::NormalLaw::Rigid(rigid),
        restitution_threshold: run.options.restitution_velocity_threshold,
        velocity_sweeps: run.options.velocity_iterations,
        on_failure: OnFailure::Continue,
        ..ImpulseSettings::default()
    })
}

/// Largest deviation over what is allowed, and where.
fn deviation(case: &Case, trajectory: &ImpulseTrajectory, until: f64, dt: f64) -> (f64, String) {
    let mut worst = (0.0, String::from("every recorded instant"));
    let start = case.poses(0);
    for (instant, &step) in case.steps.iter().enumerate() {
        if step as f64 * dt > until {
            break;
        }
        for (body, pose) in case.poses(instant).iter().enumerate() {
            let at = |p: &Recorded| Vector3::new(p[0], p[1], p[2]);
            let way = (at(pose) - start.get(body).map_or_else(Vector3::zeros, at)).norm();
            let off = (trajectory.state(step)[body].center - at(pose)).norm();
            let relative = off / ABSOLUTE.max(RELATIVE * way);
            if relative > worst.0 || relative.is_nan() {
                worst = (relative, format!("body {body} after step {step}: {off:.2e} m"));
            }
        }
    }
    worst
}

fn roll(set: &Set, settings: ImpulseSettings) -> Result<ImpulseTrajectory, CliError> {
    let simulator = ImpulseSimulator::new(set.scene.clone(), settings, set.durations())?;
    let mut parameters = simulator.parameters();
    parameters.wrenches = set.wrenches();
    simulator.run(&parameters).map_err(|e| CliError::Impulse(Box::new(e)))
}

fn judge(
    family: &str,
    meta: &Value,
    run: &Run,
    (value, name): (&Value, &str),
) -> Result<CaseReport, CliError> {
    let unreadable = |source| CliError::Json { path: name.into(), source };
    let case = Case::deserialize(value).map_err(unreadable)?;
    let set = set(family, meta, run, &case)?;
    let converged = settings(run)?;
    let sweeps = run.options.iterations;
    let cut = ImpulseSettings { sweeps, tolerance: 1e-300, warm_start: 0.0, ..converged };
    // A toss is sensitive after its second impact.
    let until = if case.params["kind"] == "toss" { 0.3 } else { f64::INFINITY };
    let ours = roll(&set, cut)?;
    let (as_recorded, place) = deviation(&case, &ours, until, run.dt);
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
    // A bisection never meets Coulomb's law, so it would always take every sweep.
    let most = if run.options.bisects() { 256 } else { converged.sweeps };
    let ours = roll(&set, ImpulseSettings { sweeps: most, ..converged })?;
    let (solved, place) = deviation(&case, &ours, until, run.dt);
    report.details = json!({ "sweeps": sweeps, "as_recorded": as_recorded, "converged": solved });
    if solved <= TOLERANCE {
        (report.worst, report.place) = (Some(solved), place);
        return Ok(report);
    }
    if let Some(note) = closed_form(family, meta, (run, &case), (&set, &ours)) {
        report.worst = Some(0.0);
        report.notes.push(note);
        return Ok(report);
    }
    report.verdict = Verdict::Disagrees(format!(
        "{}; {solved:.1} times what is allowed when converged ({place})",
        report.place
    ));
    Ok(report)
}

/// What a closed form says where it is nearer to us: the way of the first body to the end.
fn closed_form(
    family: &str,
    meta: &Value,
    (run, case): (&Run, &Case),
    (set, ours): (&Set, &ImpulseTrajectory),
) -> Option<String> {
    let exact = exact_travel(family, meta, run, case)?;
    let last = case.poses(case.steps.len().saturating_sub(1));
    let pose = last.first()?;
    let off = |x: &Vector3<f64>| ((x - set.start(0)).norm() - exact).abs();
    let theirs = off(&Vector3::new(pose[0], pose[1], pose[2]));
    let here = off(&ours.last()[0].center);
    let right = here <= ABSOLUTE.max(RELATIVE * exact) && here < theirs;
    let sweeps = run.options.iterations;
    right.then(|| {
        format!(
            "the closed form says {exact:.6} m: {here:.1e} m off here, {theirs:.1e} m in the recording of {sweeps} sweeps"
        )
    })
}
