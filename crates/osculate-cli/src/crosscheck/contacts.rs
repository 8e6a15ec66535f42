//! Family f1: the contact law, sample by sample.

use super::case::{Case, Properties, read};
use super::compare::{self, Worst};
use super::convert::Prepared;
use super::report::{CaseReport, Verdict};
use super::{PROPERTIES_TOLERANCE, unconverged_note};
use crate::CliError;
use nalgebra::Vector3;
use osculate_contact::Status;
use osculate_contact::combine::{PairKind, combine};
use osculate_dynamics::{ContactRecord, Trajectory};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What `worst` is.
pub(super) const MEASURE: &str = "sample force deviation beyond rounding / sample force";
/// Largest deviation of a sample's force relative to that force, beyond [`ROUNDING`].
pub(super) const TOLERANCE: f64 = 1e-9;
/// Deviation of a sample's force relative to the largest force of the case that rounding explains: at the toe of the ramp, a force of
/// 1e-12 of the largest changes by 1e-7 of itself where the position does by its last bit.
const ROUNDING: f64 = f64::EPSILON;
/// Largest deviation of a sample's position and distance (m).
pub(super) const LENGTH_TOLERANCE: f64 = 1e-11;
/// A sample this close to the threshold (m) may be listed by one side only.
const THRESHOLD_ROUNDING: f64 = 1e-12;

/// What is recorded.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    pub(super) case: Case,
    info: BTreeMap<String, Properties>,
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
struct Step {
    contacts: Vec<Contact>,
}

#[derive(Debug, Deserialize)]
struct Contact {
    a: String,
    b: String,
    sample: usize,
    pos_a: [f64; 3],
    distance: f64,
    force: [f64; 3],
}

pub(super) fn load(path: &Path) -> Result<Record, CliError> {
    read(path)
}

#[derive(Debug, Default)]
struct Found {
    force: Worst,
    /// Deviation relative to the largest force of the case.
    relative: Worst,
    position: Worst,
    distance: Worst,
    /// Samples listed by one side only, away from the threshold.
    unmatched: Vec<String>,
    compared: usize,
    rejected: usize,
    retained: usize,
}

impl Found {
    /// * `force`: of the sample, the larger of both sides', and the largest of the case \[N\].
    fn see_force(&mut self, deviation: f64, force: (f64, f64), place: impl Fn() -> String) {
        let (own, largest) = force;
        self.relative.see(deviation / largest, &place);
        // A number that is none must be seen as such.
        let beyond = deviation - ROUNDING * largest;
        self.force.see(if beyond <= 0.0 { 0.0 } else { beyond / own }, place);
    }
}

pub(super) fn judge(record: &Record, prepared: &Prepared) -> Result<CaseReport, CliError> {
    let trajectory = prepared.simulator.run(&prepared.parameters)?;
    let scale = force_scale(record);
    let mut found = Found::default();
    for (step, recorded) in record.steps.iter().enumerate() {
        compare_step(prepared, &trajectory, step, (recorded, scale), &mut found)?;
    }
    let mut properties = Worst::default();
    for (name, info) in &record.info {
        let body = prepared.simulator.scene().body(name)?;
        properties.see(compare::properties(prepared, body, info), || name.clone());
    }
    let mut notes = unconverged_note(&trajectory);
    notes.extend(found.unmatched.iter().cloned());
    Ok(CaseReport {
        name: record.case.name.clone(),
        verdict: verdict(&found, &properties),
        worst: Some(found.force.value),
        place: found.force.place.clone(),
        details: serde_json::json!({
            "samples": found.compared,
            "rejected": found.rejected,
            "retained": found.retained,
            "largest_force": scale,
            "force_relative_to_largest": found.relative.value,
            "position": found.position.value,
            "distance": found.distance.value,
            "properties": properties.value,
            "unconverged_stages": trajectory.unconverged(),
        }),
        notes,
    })
}

fn verdict(found: &Found, properties: &Worst) -> Verdict {
    let differs = |w: &Worst, tolerance: f64, what: &str, unit: &str| {
        w.exceeds(tolerance)
            .then(|| format!("{what} of {} differs by {:.1e}{unit}", w.place, w.value))
    };
    let first = differs(properties, PROPERTIES_TOLERANCE, "mass properties", " relative")
        .or_else(|| found.unmatched.first().cloned())
        .or_else(|| differs(&found.force, TOLERANCE, "force", " of itself"))
        .or_else(|| differs(&found.position, LENGTH_TOLERANCE, "position", " m"))
        .or_else(|| differs(&found.distance, LENGTH_TOLERANCE, "distance", " m"));
    first.map_or(Verdict::Passed, Verdict::Disagrees)
}

/// Largest force of a sample (N); 1 N where there is none.
fn force_scale(record: &Record) -> f64 {
    let forces = record.steps.iter().flat_map(|s| &s.contacts);
    let largest = forces.map(|c| Vector3::from(c.force).norm()).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}

fn compare_step(
    prepared: &Prepared,
    trajectory: &Trajectory,
    step: usize,
    recorded: (&Step, f64),
    found: &mut Found,
) -> Result<(), CliError> {
    let simulator = &prepared.simulator;
    let (recorded, scale) = recorded;
    let ours = simulator.contacts(trajectory, &prepared.parameters, step)?;
    let mut ours: BTreeMap<(usize, usize, usize), ContactRecord> =
        ours.into_iter().map(|c| ((c.colliding, c.collider, c.sample), c)).collect();
    for c in &recorded.contacts {
        let (a, b) = (simulator.scene().body(&c.a)?, simulator.scene().body(&c.b)?);
        let place = || format!("step {step}, sample {} of {} on {}", c.sample, c.a, c.b);
        let theirs = Vector3::from(c.force);
        found.compared += 1;
        let Some(own) = ours.remove(&(a, b, c.sample)) else {
            found.see_force(theirs.norm(), (theirs.norm(), scale), place);
            // Beyond the threshold the reference lists some samples without force.
            if c.distance < threshold(prepared, a, b) - THRESHOLD_ROUNDING {
                found.unmatched.push(format!("{} is not a contact here", place()));
            }
            continue;
        };
        found.rejected += usize::from(own.status == Status::Rejected);
        found.retained += usize::from(own.status == Status::Retained);
        let force = own.force.norm().max(theirs.norm());
        found.see_force((own.force - theirs).norm(), (force, scale), place);
        found.position.see(compare::distance(&own.position, &c.pos_a), place);
        // A sample retained from the stage start but misaligned is recorded at the threshold.
        let reported = own.distance.min(threshold(prepared, a, b));
        found.distance.see((reported - c.distance).abs(), place);
    }
    for own in ours.values() {
        let names = [own.colliding, own.collider].map(|i| &simulator.scene().bodies[i].name);
        let place =
            || format!("step {step}, sample {} of {} on {}", own.sample, names[0], names[1]);
        found.see_force(own.force.norm(), (own.force.norm(), scale), place);
        let limit = threshold(prepared, own.colliding, own.collider);
        if (own.distance - limit).abs() > THRESHOLD_ROUNDING {
            found.unmatched.push(format!("{} ({:?}) is not recorded", place(), own.status));
        }
    }
    Ok(())
}

/// `δ` of a pair (m).
fn threshold(prepared: &Prepared, a: usize, b: usize) -> f64 {
    let (bodies, scene) = (&prepared.parameters.bodies, prepared.simulator.scene());
    let kind = PairKind {
        static_collider: !scene.bodies[b].is_dynamic(),
        thin_colliding: scene.bodies[a].collider.is_none(),
    };
    combine(&bodies[a].contact, &bodies[b].contact, kind, &Default::default()).threshold
}
