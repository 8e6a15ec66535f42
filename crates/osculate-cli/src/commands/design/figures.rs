//! Figures of a design: the score against the setting that changes most, and the scores in order.

use crate::{CliError, files};
use osculate_fit::design::{CandidateReport, Report};
use osculate_fit::report::number;
use osculate_plot::{Axis, LineFigure, Series};
use std::path::Path;

/// Curves of one figure: beyond these the legend is longer than the figure.
const CURVES: usize = 7;

/// Writes every figure as PNG and SVG.
pub(super) fn write(folder: &Path, report: &Report) -> Result<(), CliError> {
    files::create_folder(folder)?;
    let mut all = vec![("ranking", ranking(report))];
    all.extend(settings(report).map(|figure| ("settings", figure)));
    for (name, figure) in all {
        if figure.series.iter().all(|s| s.x.is_empty()) {
            continue;
        }
        figure.save(&folder.join(format!("{name}.png")))?;
        figure.save(&folder.join(format!("{name}.svg")))?;
    }
    Ok(())
}

fn finite(c: &CandidateReport) -> Option<f64> {
    c.score.filter(|s| s.is_finite() && *s > 0.0)
}

fn score() -> Axis {
    Axis::log("standard error after the experiment", "")
}

/// The present knowledge as a line across.
fn before(report: &Report, ends: [f64; 2]) -> Option<Series> {
    let y = report.present_score;
    let known = y.is_finite() && y > 0.0;
    known.then(|| Series::line("before", ends.to_vec(), vec![y; 2]).coloured(6))
}

fn names(report: &Report) -> Vec<&str> {
    let mut names: Vec<(usize, &str)> = Vec::new();
    for c in &report.candidates {
        if !names.iter().any(|(_, n)| *n == c.name) {
            names.push((c.candidate, &c.name));
        }
    }
    names.sort_unstable();
    names.into_iter().map(|(_, n)| n).collect()
}

/// Scores in their order, a colour for each `[[candidate]]`.
fn ranking(report: &Report) -> LineFigure {
    let mut series: Vec<Series> = Vec::new();
    for (colour, name) in names(report).into_iter().enumerate() {
        let mine = report.candidates.iter().enumerate().filter(|(_, c)| c.name == name);
        let (x, y) = mine.filter_map(|(i, c)| Some(((i + 1) as f64, finite(c)?))).unzip();
        series.push(Series::dots(name, x, y).coloured(colour));
    }
    series.extend(before(report, [1.0, report.candidates.len().max(2) as f64]));
    LineFigure {
        title: format!("What experiments tell of {}", report.targets.join(", ")),
        x: Axis::linear("place", ""),
        y: score(),
        series,
        slopes: Vec::new(),
    }
}

/// Scores along the setting with most values, one curve for each combination of the others.
fn settings(report: &Report) -> Option<LineFigure> {
    let (path, unit) = widest(report)?;
    let value = |c: &CandidateReport| c.settings.iter().find(|s| s.path == path).map(|s| s.value);
    let others = |c: &CandidateReport| {
        let rest = c.settings.iter().filter(|s| s.path != path);
        let rest = rest.map(|s| format!("{} {}", short(&s.path), number(s.value)));
        let rest: Vec<String> = std::iter::once(c.name.clone()).chain(rest).collect();
        rest.join(", ")
    };
    let mut ordered: Vec<&CandidateReport> = report.candidates.iter().collect();
    ordered.sort_by_key(|c| c.candidate);
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for (c, x, y) in ordered.iter().filter_map(|c| Some((c, value(c)?, finite(c)?))) {
        let name = others(c);
        match curves.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push((x, y)),
            None => curves.push((name, vec![(x, y)])),
        }
    }
    // Of many, evenly spread ones.
    let most = curves.len().min(CURVES);
    let chosen = (0..most).map(|k| k * curves.len() / most.max(1));
    let mut series: Vec<Series> = chosen
        .map(|k| {
            let (name, mut points) = curves[k].clone();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (x, y) = points.into_iter().unzip();
            Series::line_dots(name, x, y)
        })
        .collect();
    let xs = || series.iter().flat_map(|s| s.x.iter().copied());
    let ends = [xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max)];
    series.extend(before(report, ends));
    Some(LineFigure {
        title: format!("What experiments tell of {}", report.targets.join(", ")),
        x: Axis::linear(path, unit),
        y: score(),
        series,
        slopes: Vec::new(),
    })
}

/// The setting with most different values, at least two.
fn widest(report: &Report) -> Option<(String, &'static str)> {
    let mut found: Vec<(String, &'static str, Vec<f64>)> = Vec::new();
    for s in report.candidates.iter().flat_map(|c| &c.settings) {
        let place = match found.iter().position(|f| f.0 == s.path) {
            Some(place) => place,
            None => {
                found.push((s.path.clone(), s.unit, Vec::new()));
                found.len() - 1
            }
        };
        let values = &mut found[place].2;
        if !values.iter().any(|v| v.total_cmp(&s.value).is_eq()) {
            values.push(s.value);
        }
    }
    let most = found.into_iter().filter(|f| f.2.len() > 1).max_by_key(|f| f.2.len())?;
    Some((most.0, most.1))
}

/// The last part of a path.
fn short(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
