//! Family f2: trajectories of rigid bodies in contact.

use super::case::{Case, Properties, read};
use super::compare::{self, Worst};
use super::convert::Prepared;
use super::report::{CaseReport, Verdict};
use super::{PROPERTIES_TOLERANCE, unconverged_note};
use crate::CliError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What `worst` is.
pub(super) const MEASURE: &str = "pose deviation (m, rad) / recorded amplification";
/// Largest deviation of a pose (m, rad) by the recorded amplification of a perturbation.
pub(super) const TOLERANCE: f64 = 1e-8;
/// States are judged up to the first whose recorded amplification reaches this.
pub(super) const LARGEST_AMPLIFICATION: f64 = 1e3;

/// What is recorded.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    pub(super) case: Case,
    info: BTreeMap<String, Properties>,
    amplification: Vec<f64>,
    states: Vec<State>,
}

#[derive(Debug, Deserialize)]
struct State {
    step: usize,
    t: f64,
    bodies: BTreeMap<String, Motion>,
}

#[derive(Debug, Deserialize)]
struct Motion {
    com_pos: [f64; 3],
    com_quat: [f64; 4],
}

pub(super) fn load(path: &Path) -> Result<Record, CliError> {
    read(path)
}

pub(super) fn judge(record: &Record, prepared: &Prepared) -> Result<CaseReport, CliError> {
    let simulator = &prepared.simulator;
    let trajectory = simulator.run(&prepared.parameters)?;
    let amplifications = record.amplification.iter().copied();
    let judged = amplifications.take_while(|a| *a < LARGEST_AMPLIFICATION).count();
    let (mut worst, mut beyond) = (Worst::default(), Worst::default());
    for (k, state) in record.states.iter().enumerate() {
        let amplification = record.amplification.get(k).copied().unwrap_or(f64::INFINITY).max(1.0);
        let tally = if k < judged { &mut worst } else { &mut beyond };
        for (name, motion) in &state.bodies {
            let ours = &trajectory.path.state(state.step)[simulator.scene().body(name)?];
            let moved = compare::distance(&ours.center, &motion.com_pos);
            let turned = compare::angle(&ours.rotation, &compare::rotation(&motion.com_quat));
            let at = |what: &str| format!("{what} of {name} after step {}", state.step);
            tally.see(moved / amplification, || at("position"));
            tally.see(turned / amplification, || at("rotation"));
        }
    }
    let mut properties = Worst::default();
    for (name, info) in &record.info {
        let body = simulator.scene().body(name)?;
        properties.see(compare::properties(prepared, body, info), || name.clone());
    }
    let end = |n: usize| n.checked_sub(1).and_then(|k| record.states.get(k)).map_or(0.0, |s| s.t);
    let (span, whole) = (end(judged), end(record.states.len()));
    Ok(CaseReport {
        name: record.case.name.clone(),
        verdict: verdict(&worst, &properties),
        worst: Some(worst.value),
        place: worst.place,
        details: serde_json::json!({
            "span_s": span,
            "recorded_s": whole,
            "states_judged": judged,
            "states_recorded": record.states.len(),
            "worst_beyond_the_span": beyond.value,
            "properties": properties.value,
            "unconverged_stages": trajectory.unconverged(),
        }),
        notes: std::iter::once(format!("compared up to {span} s of {whole} s"))
            .chain(unconverged_note(&trajectory))
            .collect(),
    })
}

fn verdict(worst: &Worst, properties: &Worst) -> Verdict {
    if properties.exceeds(PROPERTIES_TOLERANCE) {
        let Worst { value, place } = properties;
        Verdict::Disagrees(format!("mass properties of {place} differ by {value:.1e} relative"))
    } else if worst.exceeds(TOLERANCE) {
        let Worst { value, place } = worst;
        Verdict::Disagrees(format!("{place} differs by {value:.1e} × the amplification"))
    } else {
        Verdict::Passed
    }
}

/// What was compared of all cases that were run.
pub(super) fn span(reports: &[CaseReport]) -> Option<String> {
    let of = |r: &CaseReport, key: &str| r.details.get(key)?.as_f64();
    let spans: Vec<(f64, f64)> =
        reports.iter().filter_map(|r| Some((of(r, "span_s")?, of(r, "recorded_s")?))).collect();
    let whole = spans.iter().filter(|(judged, all)| judged >= all).count();
    let parts = spans.iter().filter(|(judged, all)| judged < all);
    let least = parts.clone().map(|(judged, all)| judged / all).fold(f64::INFINITY, f64::min);
    let n = spans.len();
    let part = match parts.count() {
        0 => String::new(),
        some => format!(", {some} in part, at least {:.0} % of its time", 100.0 * least),
    };
    (n > 0).then(|| format!("compared in full: {whole} of {n} cases{part}"))
}
