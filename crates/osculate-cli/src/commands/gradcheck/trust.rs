//! `--trust`: a verdict for every derivative.

use super::Args;
use crate::{CliError, Report, files, table};
use osculate_dynamics::sensitivity::Outcome;
use osculate_fit::contact_model::{ContactModel, Entry};
use osculate_fit::trust::{self, Asked, Evidence, Harm, Judged, Subject};
use osculate_plot::{Axis, LineFigure, Series};
use serde_json::Value;
use std::path::Path;

/// The most series of the figure.
const MOST_SERIES: usize = 7;

/// Adds the verdicts to a report, and writes the figure.
///
/// * `scales`: a large change of each parameter; none at the edge of its range, where it is not asked about.
pub(super) fn append<S: ContactModel, O: Outcome>(
    report: &mut Report,
    subject: &Subject<'_, S, O>,
    (entries, scales): (&[Entry], &[Option<f64>]),
    args: &Args,
) -> Result<(), CliError> {
    let asked = asked(entries, scales, args)?;
    let judged = trust::assess(subject, &asked, args.grids as usize)?;
    let at_edge = scales.iter().filter(|s| s.is_none()).count();
    report.text += &text(&judged, args, at_edge);
    report.json["trust"] = serde_json::to_value(&judged).unwrap_or(Value::Null);
    if let Some(folder) = &args.out {
        figure(folder, subject.simulator.durations(), &judged)?;
    }
    Ok(())
}

/// The parameters that are to be asked about, all that can change to both sides unless some are named.
fn asked(entries: &[Entry], scales: &[Option<f64>], args: &Args) -> Result<Vec<Asked>, CliError> {
    let all = || scales.iter().enumerate().filter_map(|(i, scale)| Some((i, (*scale)?)));
    let path = |i: usize| entries[i].path.as_str();
    if let Some(found) = args.parameter.iter().find(|p| !all().any(|(i, _)| path(i) == p.as_str()))
    {
        let known = all().map(|(i, _)| path(i)).collect::<Vec<_>>().join(", ");
        return Err(CliError::UnknownParameter { found: found.clone(), known });
    }
    let named = |i: usize| args.parameter.is_empty() || args.parameter.iter().any(|p| p == path(i));
    let ask = |(index, scale)| Asked { index, scale, sigma: args.sigma * scale };
    Ok(all().filter(|&(i, _)| named(i)).map(ask).collect())
}

/// `θ dJ/dθ` against the time step, for the parameters that matter most.
fn figure(folder: &Path, durations: &[f64], judged: &[Judged]) -> Result<(), CliError> {
    files::create_folder(folder)?;
    let longest = durations.iter().copied().fold(0.0, f64::max);
    let mut order: Vec<&Evidence> = judged.iter().map(|j| &j.evidence).collect();
    order.sort_by(|a, b| b.influence.total_cmp(&a.influence));
    let series = order.into_iter().take(MOST_SERIES).map(|e| {
        let steps = (0..e.refined.len()).map(|k| longest / f64::from(1 << k));
        let values = e.refined.iter().map(|g| g.map_or(f64::NAN, |g| g * e.scale));
        Series::line_dots(e.path.clone(), steps.collect(), values.collect())
    });
    let figure = LineFigure {
        title: "Does the gradient settle?".into(),
        x: Axis::log("time step", "s"),
        y: Axis::linear("θ dJ/dθ", ""),
        series: series.collect(),
        slopes: Vec::new(),
    };
    figure.save(&folder.join("settling.png"))?;
    Ok(figure.save(&folder.join("settling.svg"))?)
}

fn text(judged: &[Judged], args: &Args, at_edge: usize) -> String {
    let mut rows = vec![
        [
            "parameter",
            "derivative",
            "finest",
            "moves by",
            "plateau",
            "decades",
            "2nd order",
            "switch",
            "verdict",
        ]
        .map(String::from)
        .to_vec(),
    ];
    // What does not matter would hide what does.
    let matters = |j: &&Judged| j.verdict != trust::Verdict::TrustAsZero;
    rows.extend(judged.iter().filter(matters).map(cells));
    let right = [false, true, true, true, true, true, true, true, false];
    let (sigma, finest) = (args.sigma, 1_u64 << (args.grids - 1));
    let mut text = format!(
        "\ntrust, σ = {sigma:e} of each parameter (docs/trust.md); finest step Δt/{finest}\n"
    );
    text += &table::render(&rows, &right);
    text += "\n";
    for j in judged.iter().filter(|j| !j.verdict.reasons().is_empty()) {
        text += &j.sentence();
        text.push('\n');
    }
    let count = |word: &str| judged.iter().filter(|j| j.verdict.word() == word).count();
    text += &format!(
        "{} derivatives: {} trust, {} trust as zero, {} trust locally, {} do not trust; {at_edge} at the edge of \
         their range, not asked about\n",
        judged.len(),
        count("trust"),
        count("trust as zero"),
        count("trust locally"),
        count("do not trust"),
    );
    text
}

fn cells(j: &Judged) -> Vec<String> {
    let e: &Evidence = &j.evidence;
    let refined: Vec<f64> = e.refined.iter().map_while(|g| *g).collect();
    let finest = e.refined.last().copied().flatten();
    let harmful = e.switches.iter().filter(|s| s.harm != Harm::None).map(|s| s.distance);
    let nearest = harmful.fold(f64::INFINITY, f64::min) / e.sigma;
    let second = 0.5 * e.sigma * e.curvature.abs() / e.derivative.abs();
    let part = |x: f64| if x.is_finite() { format!("{x:.1e}") } else { "-".into() };
    let plateau = e.plateau.map_or_else(|| "none".into(), |p| format!("{:.0e}", p.to / e.scale));
    vec![
        e.path.clone(),
        format!("{:.3e}", e.derivative),
        finest.map_or_else(|| "fails".into(), |x| format!("{x:.3e}")),
        part(trust::drift(&refined)),
        plateau,
        e.plateau.map_or_else(|| "-".into(), |p| format!("{:.1}", p.decades)),
        part(second),
        if nearest.is_finite() { format!("{nearest:.1e} σ") } else { "-".into() },
        j.verdict.word().into(),
    ]
}
