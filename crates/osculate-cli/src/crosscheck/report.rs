//! What a case and a family amount to.

use serde::Serialize;
use serde_json::Value;

/// How a case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Within the tolerances.
    Passed,
    /// Not within the tolerances, and the difference is shown not to be ours: how, with both numbers.
    Explained(String),
    /// Not within the tolerances: why.
    Disagrees(String),
    /// It needs what is not built yet: what.
    Unsupported(String),
    /// It cannot be read: why.
    Unreadable(String),
}

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseReport {
    /// Name of the case.
    pub name: String,
    /// How it ended.
    pub verdict: Verdict,
    /// Largest deviation, in the measure of the family.
    pub worst: Option<f64>,
    /// Where the largest deviation is.
    pub place: String,
    /// More numbers, for the JSON document.
    pub details: Value,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

impl CaseReport {
    /// A case that was not run.
    pub fn without_run(name: &str, verdict: Verdict) -> Self {
        Self {
            name: name.into(),
            verdict,
            worst: None,
            place: String::new(),
            details: Value::Null,
            notes: Vec::new(),
        }
    }
}

/// Short name of a family: `f1` of `f1_contact_law`, `i` of `i_block`.
pub fn short(folder: &str) -> &str {
    let end = if folder.as_bytes().get(1) == Some(&b'_') { 1 } else { 2 };
    folder.get(..end).unwrap_or(folder)
}

/// One family.
#[derive(Clone, Debug, Serialize)]
pub struct FamilyReport {
    /// Short name, `f1`.
    pub family: String,
    /// Name of the folder.
    pub folder: String,
    /// What `worst` is.
    pub measure: &'static str,
    /// Largest `worst` that passes.
    pub tolerance: f64,
    /// How many cases there are.
    pub cases: usize,
    /// How many agree.
    pub passed: usize,
    /// How many were not run.
    pub unsupported: usize,
    /// How many differ, and the difference is shown not to be ours.
    pub explained: usize,
    /// How many disagree or cannot be read.
    pub failed: usize,
    /// Largest deviation of a supported case.
    pub worst: Option<f64>,
    /// Name of that case.
    pub worst_case: Option<String>,
    /// Where in that case.
    pub worst_place: Option<String>,
    /// What was compared, where that is not all.
    pub span: Option<String>,
    /// Why cases were not run, with how many each.
    pub reasons: Vec<Reason>,
    /// The cases that differ where the difference is shown not to be ours, with what shows it.
    pub explanations: Vec<Disagreement>,
    /// The cases that disagree, with reasons.
    pub disagreements: Vec<Disagreement>,
    /// Every case that was run.
    pub details: Vec<Value>,
    #[serde(skip)]
    pub(crate) notes_matter: bool,
    #[serde(skip)]
    pub(crate) reports: Vec<CaseReport>,
}

/// Why cases were not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The reason.
    pub because: String,
    /// The cases.
    pub cases: Vec<String>,
}

/// A case that disagrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// Its name.
    pub case: String,
    /// Where and by how much.
    pub because: String,
}

impl FamilyReport {
    /// Counts the cases of a family.
    pub fn new(
        folder: &str,
        measure: &'static str,
        tolerance: f64,
        reports: Vec<CaseReport>,
    ) -> Self {
        let count = |f: fn(&Verdict) -> bool| reports.iter().filter(|r| f(&r.verdict)).count();
        let worst = reports
            .iter()
            .filter(|r| r.worst.is_some())
            .max_by(|a, b| a.worst.unwrap_or(0.0).total_cmp(&b.worst.unwrap_or(0.0)));
        Self {
            family: short(folder).into(),
            folder: folder.into(),
            measure,
            tolerance,
            cases: reports.len(),
            passed: count(|v| *v == Verdict::Passed),
            unsupported: count(|v| matches!(v, Verdict::Unsupported(_))),
            explained: count(|v| matches!(v, Verdict::Explained(_))),
            failed: count(|v| matches!(v, Verdict::Disagrees(_) | Verdict::Unreadable(_))),
            worst: worst.and_then(|r| r.worst),
            worst_case: worst.map(|r| r.name.clone()),
            worst_place: worst.map(|r| r.place.clone()),
            span: None,
            reasons: reasons(&reports),
            explanations: named(&reports, |v| match v {
                Verdict::Explained(because) => Some(because),
                _ => None,
            }),
            disagreements: named(&reports, |v| match v {
                Verdict::Disagrees(because) | Verdict::Unreadable(because) => Some(because),
                _ => None,
            }),
            details: reports.iter().filter(|r| was_run(r)).map(detail).collect(),
            // What was not judged is said aloud, spans of trajectories are summed up.
            notes_matter: !folder.starts_with("f2"),
            reports,
        }
    }

    /// The cases.
    pub fn reports(&self) -> &[CaseReport] {
        &self.reports
    }
}

fn was_run(r: &CaseReport) -> bool {
    r.worst.is_some() || matches!(r.verdict, Verdict::Explained(_))
}

fn detail(r: &CaseReport) -> Value {
    serde_json::json!({
        "case": r.name,
        "passed": r.verdict == Verdict::Passed,
        "worst": r.worst,
        "place": r.place,
        "notes": r.notes,
        "numbers": r.details,
    })
}

fn reasons(reports: &[CaseReport]) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for r in reports {
        if let Verdict::Unsupported(because) = &r.verdict {
            match reasons.iter_mut().find(|x| x.because == *because) {
                Some(reason) => reason.cases.push(r.name.clone()),
                None => {
                    reasons.push(Reason { because: because.clone(), cases: vec![r.name.clone()] });
                }
            }
        }
    }
    reasons
}

/// The cases of some verdicts, with their reasons.
fn named(reports: &[CaseReport], reason: fn(&Verdict) -> Option<&String>) -> Vec<Disagreement> {
    let found = reports.iter().filter_map(|r| {
        let because = reason(&r.verdict)?.clone();
        Some(Disagreement { case: r.name.clone(), because })
    });
    found.collect()
}
