//! Where the columns of a file are, and the numbers of its lines.

use super::{COLUMNS, POSE_COLUMNS};
use crate::recording::RecordingError;
use std::path::Path;

/// What a field of a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    /// A column of [`COLUMNS`].
    Motion(usize),
    /// An extra column of the folder.
    Extra(usize),
}

/// Where the columns of a file are.
pub(super) struct Layout {
    /// Of each field of a line.
    order: Vec<Field>,
    /// Whether there are poses; a file of extra columns may do without.
    pub(super) poses: bool,
    pub(super) velocities: bool,
}

impl Layout {
    pub(super) fn parse(
        header: &[u8],
        file: &Path,
        extra: &[String],
    ) -> Result<Self, RecordingError> {
        let expected = || {
            let (pose, velocity) = COLUMNS.split_at(POSE_COLUMNS);
            let more: String = extra.iter().map(|name| format!(",{name}")).collect();
            format!("`{}[,{}]{more}`", pose.join(","), velocity.join(","))
        };
        if header.trim_ascii().is_empty() {
            return Err(RecordingError::NoHeader { file: file.into(), expected: expected() });
        }
        let mut order = Vec::new();
        for name in header.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
            let motion = COLUMNS.iter().position(|c| c.as_bytes() == name).map(Field::Motion);
            let more = extra.iter().position(|c| c.as_bytes() == name).map(Field::Extra);
            let Some(field) = motion.or(more) else {
                let (column, expected) = (excerpt(name), expected());
                return Err(RecordingError::UnknownColumn { file: file.into(), column, expected });
            };
            if order.contains(&field) {
                let column = excerpt(name);
                return Err(RecordingError::DuplicateColumn { file: file.into(), column });
            }
            order.push(field);
        }
        let has = |range: std::ops::Range<usize>| {
            range.into_iter().any(|c| order.contains(&Field::Motion(c)))
        };
        let velocities = has(POSE_COLUMNS..COLUMNS.len());
        let poses = extra.is_empty() || velocities || has(1..POSE_COLUMNS);
        let needed = match (poses, velocities) {
            (_, true) => COLUMNS.len(),
            (true, false) => POSE_COLUMNS,
            (false, false) => 1,
        };
        let motion = (0..needed).find(|c| !order.contains(&Field::Motion(*c)));
        let more = (0..extra.len()).find(|c| !order.contains(&Field::Extra(*c)));
        let missing =
            motion.map(|c| COLUMNS[c].to_owned()).or_else(|| more.map(|c| extra[c].clone()));
        match missing {
            Some(column) => {
                let file = file.into();
                Err(RecordingError::MissingColumn { file, column, expected: expected() })
            }
            None => Ok(Self { order, poses, velocities }),
        }
    }

    /// The numbers of a line in the order of [`COLUMNS`], zero where the file has no column, and those of the extra columns.
    pub(super) fn row(
        &self,
        line: &[u8],
        (file, extra): (&Path, &[String]),
        number: usize,
    ) -> Result<([f64; COLUMNS.len()], Vec<Option<f64>>), RecordingError> {
        let (found, expected) = (line.split(|&b| b == b',').count(), self.order.len());
        let ended = line.ends_with(b"\n");
        if !ended {
            let (file, text) = (file.into(), excerpt(line));
            return Err(RecordingError::CutShort { file, line: number, text, found, expected });
        }
        if found != expected {
            let file = file.into();
            return Err(RecordingError::FieldCount { file, line: number, found, expected });
        }
        let mut row = [0.0; COLUMNS.len()];
        let mut more = vec![None; extra.len()];
        for (text, field) in line.split(|&b| b == b',').map(<[u8]>::trim_ascii).zip(&self.order) {
            match *field {
                Field::Motion(c) => row[c] = parse_number(text, file, number, COLUMNS[c])?,
                Field::Extra(_) if text.is_empty() => {}
                Field::Extra(c) => more[c] = Some(parse_number(text, file, number, &extra[c])?),
            }
        }
        Ok((row, more))
    }
}

/// The finite number that a field is.
///
/// # Errors
/// Where it is none.
pub(crate) fn parse_number(
    field: &[u8],
    file: &Path,
    line: usize,
    column: &str,
) -> Result<f64, RecordingError> {
    let parsed = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok());
    let (file, column) = (file.into(), column.to_owned());
    match parsed {
        Some(number) if number.is_finite() => Ok(number),
        Some(found) => Err(RecordingError::NotFinite { file, line, column, found }),
        None => Err(RecordingError::NotANumber { file, line, column, found: excerpt(field) }),
    }
}

/// The beginning of a field, printable, for an error message.
fn excerpt(field: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text: String = String::from_utf8_lossy(field).chars().take(LONGEST + 1).collect();
    let shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().count() > LONGEST { format!("{shown}…") } else { shown }
}
