//! What of a file was not taken as it stands.

use std::collections::BTreeMap;
use std::fmt;

/// What became of something in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Not supported, and left out.
    Ignored,
    /// Taken in another way than it stands there.
    Changed,
    /// Taken, but doubtful.
    Doubtful,
}

/// Something of a file that was not taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Line, from 1.
    pub line: usize,
    /// Tag of the element, with its name where it matters.
    pub element: String,
    /// The attribute; the whole element where there is none.
    pub attribute: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
}

/// Why something is not supported: by tag and attribute.
pub(super) type Reasons = fn(&str, Option<&str>) -> &'static str;

impl Note {
    fn subject(&self) -> String {
        match &self.attribute {
            Some(attribute) => format!("{}: {attribute}", self.element),
            None => self.element.clone(),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ignored => "not supported, ignored",
            Self::Changed => "changed",
            Self::Doubtful => "doubtful",
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, {}: {}: {}", self.line, self.subject(), self.outcome, self.reason)
    }
}

/// Notes that say the same in one line, with how often and where first, in the order of their first lines.
pub fn summary(notes: &[Note]) -> Vec<String> {
    let mut groups: BTreeMap<(String, Outcome, &str), (usize, usize)> = BTreeMap::new();
    for note in notes {
        let key = (note.subject(), note.outcome, note.reason.as_str());
        let (first, count) = groups.entry(key).or_insert((note.line, 0));
        *first = note.line.min(*first);
        *count += 1;
    }
    let mut lines: Vec<_> = groups.into_iter().collect();
    lines.sort_by_key(|(_, (first, _))| *first);
    let shown = lines.into_iter().map(|((subject, outcome, reason), (first, count))| {
        let times = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        format!("line {first}{times}, {subject}: {outcome}: {reason}")
    });
    shown.collect()
}
