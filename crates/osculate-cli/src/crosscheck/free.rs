//! Family f4: free rotation, no contact.

use super::case::{Case, Properties, read};
use super::compare::{self, Worst};
use super::convert::Prepared;
use super::report::{CaseReport, Verdict};
use super::{PROPERTIES_TOLERANCE, unconverged_note};
use crate::CliError;
use serde::Deserialize;
use std::path::Path;

/// What `worst` is.
pub(super) const MEASURE: &str = "pose deviation (m, rad)";
/// Largest deviation of a pose (m, rad), beside what the file states of itself.
pub(super) const TOLERANCE: f64 = 1e-9;
/// Largest deviation of a velocity, relative to max(1, its size): velocities are differences of poses over a stage.
const VELOCITY_TOLERANCE: f64 = 1e-8;

/// What is recorded.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    meta: Meta,
    pub(super) case: Case,
    info: Properties,
    states: Vec<State>,
}

#[derive(Debug, Deserialize)]
struct Meta {
    /// Deviation of the recorded run from a restatement of the same scheme.
    numpy_check: Option<Stated>,
}

#[derive(Debug, Deserialize)]
struct Stated {
    rotation: f64,
}

#[derive(Debug, Deserialize)]
struct State {
    step: usize,
    com_pos: [f64; 3],
    com_quat: [f64; 4],
    v: [f64; 3],
    w: [f64; 3],
}

pub(super) fn load(path: &Path) -> Result<Record, CliError> {
    read(path)
}

pub(super) fn judge(record: &Record, prepared: &Prepared) -> Result<CaseReport, CliError> {
    let trajectory = prepared.simulator.run(&prepared.parameters)?;
    let (mut pose, mut velocity) = (Worst::default(), Worst::default());
    for s in &record.states {
        let ours = &trajectory.path.state(s.step)[0];
        let at = |what: &str| format!("{what} after step {}", s.step);
        pose.see(compare::distance(&ours.center, &s.com_pos), || at("position"));
        let turned = compare::angle(&ours.rotation, &compare::rotation(&s.com_quat));
        pose.see(turned, || at("rotation"));
        let relative = |d: f64, x: &[f64; 3]| d / nalgebra::Vector3::from(*x).norm().max(1.0);
        let ours_w = ours.angular_velocity();
        velocity.see(relative(compare::distance(&ours.velocity, &s.v), &s.v), || at("velocity"));
        velocity.see(relative(compare::distance(&ours_w, &s.w), &s.w), || at("angular velocity"));
    }
    let properties = compare::properties(prepared, 0, &record.info);
    let stated = record.meta.numpy_check.as_ref().map_or(0.0, |s| s.rotation);
    let allowed = TOLERANCE + stated;
    let verdict = if compare::exceeds(properties, PROPERTIES_TOLERANCE) {
        Verdict::Disagrees(format!("mass properties differ by {properties:.1e} relative"))
    } else if pose.exceeds(allowed) {
        Verdict::Disagrees(format!("{} differs by {:.1e}", pose.place, pose.value))
    } else if velocity.exceeds(VELOCITY_TOLERANCE) {
        Verdict::Disagrees(format!("{} differs by {:.1e} relative", velocity.place, velocity.value))
    } else {
        Verdict::Passed
    };
    let mut notes = unconverged_note(&trajectory);
    if verdict == Verdict::Passed && pose.value > TOLERANCE {
        notes.push(format!(
            "{} differs by {:.3e}; the file states that the reference is off by {stated:.3e} itself",
            pose.place, pose.value
        ));
    }
    Ok(CaseReport {
        name: record.case.name.clone(),
        verdict,
        worst: Some(pose.value),
        place: pose.place,
        details: serde_json::json!({
            "velocity": velocity.value,
            "velocity_place": velocity.place,
            "stated_error_of_the_reference": stated,
            "properties": properties,
            "unconverged_stages": trajectory.unconverged(),
        }),
        notes,
    })
}
