//! From a field path to its line.

use super::error::Place;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// The text that a scene or an experiment was read from. Two are equal whatever they were read from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    text: Option<Arc<(PathBuf, String)>>,
}

impl PartialEq for Source {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Source {
    /// The text of a file.
    pub fn new(file: &Path, text: &str) -> Self {
        Self { text: Some(Arc::new((file.into(), text.into()))) }
    }

    /// The file; none for a scene that was built in memory.
    pub fn file(&self) -> Option<&Path> {
        self.text.as_ref().map(|t| t.0.as_path())
    }

    /// File and line of a field path such as `actor[1].contact.k`; the line of the nearest table or list around it
    /// where the file does not have the field.
    pub fn place(&self, field: &str) -> Place {
        let Some(text) = &self.text else {
            return Place { file: None, line: None, field: field.into() };
        };
        let (file, text) = text.as_ref();
        let at = DeTable::parse(text).map_or(0, |table| locate(table.get_ref(), field));
        Place { file: Some(file.clone()), line: Some(line(text, at)), field: field.into() }
    }
}

/// Line, from 1, of a byte.
pub(super) fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// Byte at which a field starts, or the nearest table or list around it.
fn locate(table: &DeTable<'_>, field: &str) -> usize {
    let mut at = 0;
    let mut parts = field.split(['.', '[', ']']).filter(|part| !part.is_empty());
    let Some((key, mut value)) = parts.next().and_then(|name| entry(table, name)) else {
        return at;
    };
    at = key;
    for part in parts {
        (at, value) = match value {
            DeValue::Table(inner) => match entry(inner, part) {
                Some(found) => found,
                None => return at,
            },
            DeValue::Array(list) => match part.parse::<usize>().ok().and_then(|i| list.get(i)) {
                Some(found) => (found.span().start, found.get_ref()),
                None => return at,
            },
            _ => return at,
        };
    }
    at
}

fn entry<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<(usize, &'t DeValue<'i>)> {
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
    Some((key.span().start, value.get_ref()))
}

/// Path of the field that a range of the text belongs to: the smallest key or value around its start.
pub(super) fn field_at(text: &str, range: &Range<usize>) -> String {
    let Ok(table) = DeTable::parse(text) else { return String::new() };
    let mut best = (usize::MAX, String::new());
    search_table(table.get_ref(), range.start, "", &mut best);
    best.1
}

fn search_table(table: &DeTable<'_>, at: usize, path: &str, best: &mut (usize, String)) {
    for (key, value) in table.iter() {
        let dot = if path.is_empty() { "" } else { "." };
        let path = format!("{path}{dot}{}", key.get_ref());
        consider(key.span(), at, &path, best);
        search(value.get_ref(), value.span(), at, &path, best);
    }
}

fn search(
    value: &DeValue<'_>,
    span: Range<usize>,
    at: usize,
    path: &str,
    best: &mut (usize, String),
) {
    consider(span, at, path, best);
    match value {
        DeValue::Table(table) => search_table(table, at, path, best),
        DeValue::Array(list) => {
            for (i, item) in list.iter().enumerate() {
                search(item.get_ref(), item.span(), at, &format!("{path}[{i}]"), best);
            }
        }
        _ => {}
    }
}

fn consider(span: Range<usize>, at: usize, path: &str, best: &mut (usize, String)) {
    // Not greater: of a list of one and its item, the item counts.
    if span.contains(&at) && span.len() <= best.0 {
        *best = (span.len(), path.into());
    }
}

/// A piece of the text on one line, of at most 60 characters.
pub(super) fn snippet(text: &str, range: &Range<usize>) -> String {
    let piece = text.get(range.clone()).unwrap_or_default();
    let line = piece.lines().next().unwrap_or_default().trim();
    let mut short: String = line.chars().take(60).collect();
    if short.len() < piece.trim().len() {
        short.push('…');
    }
    short
}
