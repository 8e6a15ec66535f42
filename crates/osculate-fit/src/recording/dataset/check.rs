//! What `metadata.json` and `split.json` may say. Every refusal names file, line, field, value and what is allowed.

use super::{Metadata, Part, Split, TossRecord};
use crate::json;
use crate::recording::{RecordingError, csv::COLUMNS, files};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The text of a file, to say in which line a field is.
pub(super) struct Text {
    pub(super) file: PathBuf,
    bytes: Vec<u8>,
}

impl Text {
    pub(super) fn read(file: PathBuf) -> Result<Self, RecordingError> {
        Ok(Self { bytes: files::read(&file)?, file })
    }

    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, RecordingError> {
        json::from_slice(&self.bytes)
            .map_err(|source| RecordingError::Json { file: self.file.clone(), source })
    }

    pub(super) fn line(&self, field: &str) -> usize {
        json::line_of(&self.bytes, field)
    }

    fn out_of_range(&self, field: &str, found: f64, allowed: impl Into<String>) -> RecordingError {
        let (file, line) = (self.file.clone(), self.line(field));
        RecordingError::OutOfRange {
            file,
            line,
            field: field.into(),
            found,
            allowed: allowed.into(),
        }
    }
}

/// Constants are positive and agree with each other.
pub(super) fn constants(metadata: &Metadata, text: &Text) -> Result<(), RecordingError> {
    let cube = &metadata.cube;
    let [ixx, iyy, izz] = cube.inertia_kg_m2;
    let positive = [
        ("dt_s", metadata.dt_s),
        ("gravity_m_s2", metadata.gravity_m_s2),
        ("cube.side_m", cube.side_m),
        ("cube.half_side_m", cube.half_side_m),
        ("cube.mass_kg", cube.mass_kg),
        ("cube.inertia_kg_m2[0]", ixx),
        ("cube.inertia_kg_m2[1]", iyy),
        ("cube.inertia_kg_m2[2]", izz),
    ];
    columns(&metadata.extra_columns, text)?;
    for (field, found) in positive {
        if !(found.is_finite() && found > 0.0) {
            return Err(text.out_of_range(field, found, "finite and > 0"));
        }
    }
    if (2.0 * cube.half_side_m - cube.side_m).abs() > 1e-9 * cube.side_m {
        let allowed = format!("half of cube.side_m: {}", 0.5 * cube.side_m);
        return Err(text.out_of_range("cube.half_side_m", cube.half_side_m, allowed));
    }
    Ok(())
}

/// Extra columns have names of their own, each once, that a header can hold.
fn columns(extra: &[String], text: &Text) -> Result<(), RecordingError> {
    for (i, name) in extra.iter().enumerate() {
        let plain = !name.is_empty() && name.trim() == name && !name.contains([',', '\n', '\r']);
        if !plain || COLUMNS.contains(&name.as_str()) || extra[..i].contains(name) {
            let field = format!("extra_columns[{i}]");
            let (file, line) = (text.file.clone(), text.line(&field));
            return Err(RecordingError::ColumnName { file, line, field, found: name.clone() });
        }
    }
    Ok(())
}

/// Checks each entry and returns the position of each id.
pub(super) fn tosses(
    tosses: &[TossRecord],
    text: &Text,
) -> Result<BTreeMap<u32, usize>, RecordingError> {
    let mut index = BTreeMap::new();
    for (position, toss) in tosses.iter().enumerate() {
        let (id, file) = (toss.id, text.file.clone());
        let at = |field: &str| {
            let field = format!("tosses[{position}].{field}");
            (text.line(&field), field)
        };
        if index.insert(id, position).is_some() {
            let (line, field) = at("id");
            return Err(RecordingError::DuplicateId { file, line, field, id });
        }
        let path = Path::new(&toss.file);
        let inside = path.components().all(|c| matches!(c, Component::Normal(_)));
        if !inside || toss.file.is_empty() {
            let ((line, field), found) = (at("file"), toss.file.clone());
            return Err(RecordingError::OutsideFolder { file, line, field, id, found });
        }
        let given: Vec<&str> = [
            ("rollout_start_frame", toss.rollout_start_frame.is_some()),
            ("rollout_v0_m_s", toss.rollout_v0_m_s.is_some()),
            ("rollout_w0_rad_s", toss.rollout_w0_rad_s.is_some()),
        ]
        .into_iter()
        .filter_map(|(field, given)| given.then_some(field))
        .collect();
        if let (Some(first), 1..=2) = (given.first(), given.len()) {
            let ((line, field), found) = (at(first), given.len());
            return Err(RecordingError::PartialRollout { file, line, field, id, found });
        }
        if let Some(frame) = toss.rollout_start_frame
            && frame >= toss.frames
        {
            let allowed = format!("less than `frames`: {}", toss.frames);
            return Err(text.out_of_range(&at("rollout_start_frame").1, frame as f64, allowed));
        }
    }
    match index.is_empty() {
        true => {
            Err(RecordingError::NoTosses { file: text.file.clone(), line: text.line("tosses") })
        }
        false => Ok(index),
    }
}

/// Parts name known ids once, and no duplicate group twice in different parts.
pub(super) fn split<'a>(
    split: &Split,
    record: impl Fn(u32) -> Option<&'a TossRecord>,
    text: &Text,
) -> Result<(), RecordingError> {
    let mut seen = BTreeMap::new();
    let mut groups = BTreeMap::new();
    let parts =
        [(Part::Train, &split.train), (Part::Valid, &split.valid), (Part::Test, &split.test)];
    for (part, ids) in &parts {
        for (i, &id) in ids.iter().enumerate() {
            // A folder may hold a part of the data with the split of the whole: what is missing is refused where it
            // is asked for.
            let Some(toss) = record(id) else { continue };
            let at = || {
                let field = format!("{}[{i}]", part.name());
                (text.file.clone(), text.line(&field), field)
            };
            if seen.insert(id, part).is_some() {
                let (file, line, field) = at();
                return Err(RecordingError::DuplicateId { file, line, field, id });
            }
            let group = toss.group();
            let &mut (first, owner) = groups.entry(group).or_insert((id, part));
            if owner != part {
                let ((file, line, field), second) = (at(), id);
                return Err(RecordingError::GroupLeak { file, line, field, group, first, second });
            }
        }
    }
    Ok(())
}
