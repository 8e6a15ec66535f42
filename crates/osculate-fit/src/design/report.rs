//! The result of a comparison of experiments: one JSON document, one page of text, one table.

use super::{Candidate, Criterion, Design, NearSwitch, Setting};
use crate::parameter::Scale;
use crate::report::number;
use serde::Serialize;
use std::fmt::Write;

/// Candidates shown in the summary.
const SHOWN: usize = 12;

/// Everything that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of osculate.
    pub version: String,
    /// Where the design was read.
    pub design: String,
    /// What is made small.
    pub criterion: Criterion,
    /// The parameters and what is known of them.
    pub parameters: Vec<ParameterReport>,
    /// Paths of those asked about.
    pub targets: Vec<String>,
    /// The score before any experiment; infinite (null) where it is not determined.
    pub present_score: f64,
    /// The candidates, the best first.
    pub candidates: Vec<CandidateReport>,
    /// What to do, one after another.
    pub chosen: Vec<ChosenReport>,
    /// Where the local search got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ascended: Option<Ascended>,
    /// Why the local search failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ascent_failure: Option<String>,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// A parameter and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterReport {
    /// Path.
    pub path: String,
    /// Unit.
    pub unit: &'static str,
    /// Coordinate in which errors are counted.
    pub scale: Scale,
    /// The value assumed.
    pub value: f64,
    /// `dθ/du`: a standard error in the unit is this times the one of the coordinate.
    pub slope: f64,
    /// Standard error before any experiment, in the coordinate; infinite (null) where it is not determined.
    pub present_standard_error: f64,
}

impl ParameterReport {
    pub(super) fn all(design: &Design, errors: &[f64]) -> Vec<Self> {
        let one = |(k, e): (&super::Known, &f64)| Self {
            path: k.path.clone(),
            unit: k.unit,
            scale: k.scale,
            value: k.value,
            slope: k.slope,
            present_standard_error: *e,
        };
        design.known.iter().zip(errors).map(one).collect()
    }
}

/// A setting of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingReport {
    /// Path.
    pub path: String,
    /// Unit.
    pub unit: &'static str,
    /// Value.
    pub value: f64,
    /// Values between which it may be chosen; absent where it may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
}

impl SettingReport {
    pub(super) fn of(s: &Setting) -> Self {
        Self { path: s.path.clone(), unit: s.unit, value: s.value, range: s.range }
    }
}

/// Derivative of the logarithm of the score by a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GradientEntry {
    /// Path of the setting.
    pub path: String,
    /// Its unit.
    pub unit: &'static str,
    /// `∂ln score/∂s`, of one over that unit.
    pub log_score: f64,
}

/// What one candidate would tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CandidateReport {
    /// Its index, in the order of the file.
    pub candidate: usize,
    /// Name of its `[[candidate]]`.
    pub name: String,
    /// Its settings.
    pub settings: Vec<SettingReport>,
    /// The standard error that the criterion makes small, after the experiment; infinite (null) where not determined.
    pub score: Option<f64>,
    /// The score before over the score after; absent where the former is infinite.
    pub gain: Option<f64>,
    /// Standard error of each parameter after the experiment, in its coordinate.
    pub standard_errors: Vec<f64>,
    /// `ln det` of the covariance of the targets.
    pub log_det: Option<f64>,
    /// Fisher matrix of the experiment alone, in coordinates, nuisance parameters eliminated.
    pub information: Vec<Vec<f64>>,
    /// Derivatives by the settings; absent without second derivatives.
    pub gradient: Option<Vec<GradientEntry>>,
    /// The nearest switch of each target that changes a force or its derivative.
    pub switches: Vec<Option<NearSwitch>>,
    /// What the derivatives of the targets are good for, where that was asked.
    pub trust: Vec<String>,
    /// Solves that did not converge.
    pub unconverged: usize,
    /// Why it, or its gradient, failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl CandidateReport {
    pub(super) fn new(index: usize, candidate: &Candidate) -> Self {
        Self {
            candidate: index,
            name: candidate.name.clone(),
            settings: candidate.settings.iter().map(SettingReport::of).collect(),
            score: None,
            gain: None,
            standard_errors: Vec::new(),
            log_det: None,
            information: Vec::new(),
            gradient: None,
            switches: Vec::new(),
            trust: Vec::new(),
            unconverged: 0,
            failure: None,
        }
    }

    /// Name and settings.
    pub fn label(&self) -> String {
        let settings = self.settings.iter().map(|s| format!("{} {}", s.path, number(s.value)));
        let settings = settings.collect::<Vec<_>>().join(", ");
        if settings.is_empty() { self.name.clone() } else { format!("{}: {settings}", self.name) }
    }

    /// Whether a switch lies within one standard error of a target.
    pub fn near_switch(&self) -> bool {
        self.switches.iter().flatten().any(|s| s.sigmas < 1.0)
    }
}

/// One choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChosenReport {
    /// Index of the candidate, in the order of the file.
    pub candidate: usize,
    /// Score after this and all before.
    pub score: f64,
    /// Standard errors after this and all before, in coordinates.
    pub standard_errors: Vec<f64>,
}

/// Where the local search got.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ascended {
    /// Index of the candidate that it started from.
    pub candidate: usize,
    /// The settings found.
    pub settings: Vec<SettingReport>,
    /// Score at the start.
    pub before: f64,
    /// Score found.
    pub after: f64,
    /// Steps taken.
    pub steps: usize,
    /// Fisher matrices evaluated.
    pub evaluations: usize,
}

/// A standard error in words.
fn error(x: f64) -> String {
    if x.is_finite() { number(x) } else { "not determined".into() }
}

impl Report {
    /// One page of text.
    pub fn summary(&self) -> String {
        let mut s = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(s, "osculate {}: {}", self.version, self.design);
        let _ = writeln!(
            s,
            "{} candidates, criterion {:?} of {}",
            self.candidates.len(),
            self.criterion,
            self.targets.join(", ")
        );
        let _ = writeln!(s, "\nknown before, standard error in the coordinate of the scale");
        for p in &self.parameters {
            let (unit, gap) = (p.unit, if p.unit.is_empty() { "" } else { " " });
            let before = error(p.present_standard_error);
            let _ = writeln!(s, "  {} = {}{gap}{unit}: {before}", p.path, number(p.value));
        }
        self.ranking(&mut s);
        self.best_words(&mut s);
        self.chosen_words(&mut s);
        self.ascent_words(&mut s);
        if self.interrupted {
            s += "\ninterrupted: candidates without a score were not asked\n";
        }
        s
    }

    fn ranking(&self, s: &mut String) {
        *s += "\ncandidates, the best first: score after the experiment";
        *s += if self.present_score.is_finite() { " (factor gained)\n" } else { "\n" };
        for c in self.candidates.iter().take(SHOWN) {
            let told = match (&c.failure, c.score) {
                (Some(why), None) => format!("failed: {why}"),
                (_, score) => error(score.unwrap_or(f64::INFINITY)),
            };
            let gain = c.gain.map_or_else(String::new, |g| format!(" ({}x)", number(g)));
            let mark = if c.near_switch() { ", a switch within one standard error" } else { "" };
            let failed = match c.unconverged {
                0 => String::new(),
                n => format!(", {n} solves did not converge"),
            };
            let _ = writeln!(s, "  {told}{gain}  {}{mark}{failed}", c.label());
        }
        if let Some(rest) = self.candidates.len().checked_sub(SHOWN + 1) {
            let _ = writeln!(s, "  and {} more: candidates.csv, report.json", rest + 1);
        }
    }

    fn best_words(&self, s: &mut String) {
        let Some(best) = self.candidates.first().filter(|c| c.score.is_some()) else { return };
        let _ = writeln!(s, "\nthe best: {}", best.label());
        for (p, e) in self.parameters.iter().zip(&best.standard_errors) {
            let _ = writeln!(s, "  {}: standard error {}", p.path, error(*e));
        }
        match &best.gradient {
            Some(gradient) => {
                for g in gradient {
                    let per =
                        if g.unit.is_empty() { String::new() } else { format!(" per {}", g.unit) };
                    let change = number(g.log_score);
                    let _ = writeln!(s, "  d ln score / d {} = {change}{per}", g.path);
                }
            }
            None if best.settings.is_empty() => {}
            None if best.score.is_some_and(f64::is_infinite) => {
                *s += "  no gradient, because the score is not finite\n";
            }
            None => {
                *s += "  gradient not available, because the impulse model has first derivatives only \
                       (a Fisher matrix is made of first derivatives, its gradient of second ones)\n";
            }
        }
        for c in self.candidates.iter().filter(|c| !c.trust.is_empty()) {
            let _ = writeln!(s, "\nwhat the derivatives are good for: {}", c.label());
            for sentence in &c.trust {
                let _ = writeln!(s, "  {sentence}");
            }
        }
    }

    fn chosen_words(&self, s: &mut String) {
        if self.chosen.len() < 2 {
            return;
        }
        let _ =
            writeln!(s, "\n{} experiments, one after another: score after each", self.chosen.len());
        for c in &self.chosen {
            let label = self.candidates.iter().find(|x| x.candidate == c.candidate);
            let label = label.map_or_else(String::new, CandidateReport::label);
            let _ = writeln!(s, "  {}  {label}", error(c.score));
        }
    }

    fn ascent_words(&self, s: &mut String) {
        if let Some(why) = &self.ascent_failure {
            let _ = writeln!(s, "\nlocal search failed: {why}");
        }
        let Some(a) = &self.ascended else { return };
        let settings = a.settings.iter().map(|x| format!("{} {}", x.path, number(x.value)));
        let _ = writeln!(
            s,
            "\nlocal search from the best, {} steps: {} to {} at {}",
            a.steps,
            error(a.before),
            error(a.after),
            settings.collect::<Vec<_>>().join(", ")
        );
    }

    /// One row a candidate, the best first; empty where there is no number.
    pub fn csv(&self) -> String {
        let mut paths: Vec<&str> = Vec::new();
        for s in self.candidates.iter().flat_map(|c| &c.settings) {
            if !paths.contains(&s.path.as_str()) {
                paths.push(&s.path);
            }
        }
        let mut text = String::from("candidate,name");
        paths.iter().for_each(|p| text += &format!(",{p}"));
        text += ",score,gain,log_det";
        self.parameters.iter().for_each(|p| text += &format!(",standard_error {}", p.path));
        paths.iter().for_each(|p| text += &format!(",d ln score/d {p}"));
        text += ",switch_sigmas,unconverged\n";
        let cell = |x: Option<f64>| {
            x.filter(|x| x.is_finite()).map_or_else(String::new, |x| format!("{x:?}"))
        };
        for c in &self.candidates {
            let set = |p: &&str| c.settings.iter().find(|s| s.path == **p).map(|s| s.value);
            let slope = |p: &&str| {
                let entry = c.gradient.as_ref()?.iter().find(|g| g.path == **p)?;
                Some(entry.log_score)
            };
            let near = c.switches.iter().flatten().map(|s| s.sigmas).reduce(f64::min);
            let mut cells = vec![c.candidate.to_string(), quoted(&c.name)];
            cells.extend(paths.iter().map(|p| cell(set(p))));
            cells.extend([cell(c.score), cell(c.gain), cell(c.log_det)]);
            cells.extend(
                (0..self.parameters.len()).map(|i| cell(c.standard_errors.get(i).copied())),
            );
            cells.extend(paths.iter().map(|p| cell(slope(p))));
            cells.extend([cell(near), c.unconverged.to_string()]);
            text += &cells.join(",");
            text.push('\n');
        }
        text
    }
}

/// A name as a cell of a table.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
