//! What can be wrong with a recording.

use super::dataset::Part;
use crate::json::JsonError;
use std::path::PathBuf;

/// A refused recording, folder or comparison: where, what was found, what is allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each field is explained by the message it appears in")]
pub enum RecordingError {
    /// The file system refused.
    #[error("cannot {action} {path}: {source}")]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },

    /// A file without a header line.
    #[error("{file}: line 1: empty file, expected the header {expected}")]
    NoHeader { file: PathBuf, expected: String },
    /// A required column is absent. The six velocity columns come together or not at all.
    #[error("{file}: line 1: column `{column}` is missing, expected {expected}")]
    MissingColumn { file: PathBuf, column: String, expected: String },
    /// A column that is not in the layout.
    #[error("{file}: line 1: unknown column `{column}`, expected {expected}")]
    UnknownColumn { file: PathBuf, column: String, expected: String },
    /// A column named twice.
    #[error("{file}: line 1: column `{column}` appears twice")]
    DuplicateColumn { file: PathBuf, column: String },
    /// A line with too few or too many fields.
    #[error("{file}: line {line}: {found} fields, expected {expected}")]
    FieldCount { file: PathBuf, line: usize, found: usize, expected: usize },
    /// The last line misses fields or its line end, so its last number may be cut as well.
    #[error(
        "{file}: line {line}: the file is cut short: `{text}` has {found} of {expected} fields and no line end, allowed: whole lines"
    )]
    CutShort { file: PathBuf, line: usize, text: String, found: usize, expected: usize },
    /// A field that is not a decimal number.
    #[error(
        "{file}: line {line}, column `{column}`: `{found}` is not a number, allowed: a finite one"
    )]
    NotANumber { file: PathBuf, line: usize, column: String, found: String },
    /// A NaN or an infinity.
    #[error(
        "{file}: line {line}, column `{column}`: {found} is not finite, allowed: a finite number"
    )]
    NotFinite { file: PathBuf, line: usize, column: String, found: f64 },
    /// A quaternion that is not a rotation.
    #[error("{file}: line {line}: quaternion norm {norm}, allowed 1 ± {tolerance:e}")]
    QuaternionNorm { file: PathBuf, line: usize, norm: f64, tolerance: f64 },
    /// Times that stand still or run backwards.
    #[error(
        "{file}: line {line}, column `t`: time {found} s does not exceed the previous {previous} s, allowed: rows in the order of time"
    )]
    TimeNotIncreasing { file: PathBuf, line: usize, found: f64, previous: f64 },
    /// A header and nothing below it.
    #[error("{file}: line 1: 0 rows below the header, allowed: at least {needed}")]
    EmptyTrajectory { file: PathBuf, needed: usize },
    /// Too few rows to be a motion.
    #[error("{file}: line {line}: the file ends after {found} row, allowed: at least {needed}")]
    TooFewRows { file: PathBuf, line: usize, found: usize, needed: usize },
    /// Series of one recording that differ in length.
    #[error("recording {id}: {found} {series} for {expected} times")]
    SeriesLength { id: u32, series: &'static str, found: usize, expected: usize },

    /// Malformed JSON, or a required field is missing or of the wrong type.
    #[error("{file}: {source}")]
    Json { file: PathBuf, source: JsonError },
    /// A number outside its range.
    #[error("{file}: line {line}: `{field}` is {found}, allowed: {allowed}")]
    OutOfRange { file: PathBuf, line: usize, field: String, found: f64, allowed: String },
    /// A name that no extra column can have.
    #[error(
        "{file}: line {line}: `{field}` is `{found}`, allowed: a name without commas, each once, other than those of the pose"
    )]
    ColumnName { file: PathBuf, line: usize, field: String, found: String },
    /// The folder lists no toss.
    #[error("{file}: line {line}: `tosses` is empty, allowed: at least one")]
    NoTosses { file: PathBuf, line: usize },
    /// One id, two entries.
    #[error("{file}: line {line}: `{field}`: toss {id} is listed twice, allowed: each id once")]
    DuplicateId { file: PathBuf, line: usize, field: String, id: u32 },
    /// A toss file outside the folder.
    #[error(
        "{file}: line {line}: `{field}` of toss {id} is `{found}`, allowed: a relative path inside the data folder"
    )]
    OutsideFolder { file: PathBuf, line: usize, field: String, id: u32, found: String },
    /// Some, but not all, of the three `rollout_*` fields.
    #[error(
        "{file}: line {line}: `{field}` of toss {id} is one of {found} of the 3 fields `rollout_start_frame`, `rollout_v0_m_s` and \
         `rollout_w0_rad_s`, allowed: all or none"
    )]
    PartialRollout { file: PathBuf, line: usize, field: String, id: u32, found: usize },
    /// An id the metadata does not list.
    #[error("{file}: toss {id} is not in `tosses`, allowed: one of its {count} ids, {known}")]
    UnknownId { file: PathBuf, id: u32, count: usize, known: String },
    /// Two repetitions of one toss in different parts of the split: the parts are not independent.
    #[error(
        "{file}: line {line}: `{field}`: tosses {first} and {second} of duplicate group {group} are in different parts"
    )]
    GroupLeak { file: PathBuf, line: usize, field: String, group: u32, first: u32, second: u32 },
    /// A part was asked for, but the folder has no split.
    #[error(
        "{file} does not exist, so there is no part '{}'; every toss is in one part, 'all'",
        part.name()
    )]
    NoSplit { file: PathBuf, part: Part },
    /// Metadata and trajectory disagree about the number of frames.
    #[error(
        "{file}: line {line}: {found} rows, allowed: {expected}, as line {metadata_line} of metadata.json says in `{field}` of toss {id}"
    )]
    FrameCount {
        file: PathBuf,
        /// Of the last row, or of the first that is too many.
        line: usize,
        id: u32,
        found: usize,
        expected: usize,
        field: String,
        metadata_line: usize,
    },
    /// Metadata and trajectory disagree about the time step.
    #[error(
        "{file}: line {line} (frame {frame}, from 0), column `t`: {time} s is {found} s after the frame before, allowed: {expected} s \
         (dt_s of the metadata) within 0.1 %{looks}"
    )]
    TimeStep {
        file: PathBuf,
        line: usize,
        frame: usize,
        time: f64,
        found: f64,
        expected: f64,
        looks: String,
    },

    /// What is wrong with the recording in a file.
    #[error("{file}: {source}")]
    InFile { file: PathBuf, source: Box<RecordingError> },
    /// The body never comes down, so there is no impact to predict.
    #[error("recording {id}: the centre never falls to z ≤ {threshold} m (lowest {lowest} m)")]
    NeverFalls { id: u32, threshold: f64, lowest: f64 },
    /// Too short a free flight to fit a velocity, and none was recorded.
    #[error(
        "recording {id}: {frames} frames before the roll-out, {needed} are needed to fit its \
         velocities and none are recorded"
    )]
    PrefixTooShort { id: u32, frames: usize, needed: usize },

    /// The stream ends too early.
    #[error("{file}: byte {offset}: cut short, {needed} bytes needed, {available} available")]
    Truncated { file: PathBuf, offset: usize, needed: usize, available: usize },
    /// A pickle instruction that a saved tensor does not use.
    #[error("{file}: byte {offset}: pickle opcode {opcode:#04x} is not allowed in a saved tensor")]
    Opcode { file: PathBuf, offset: usize, opcode: u8 },
    /// A part of the stream that is not what a saved toss has there.
    #[error("{file}: byte {offset}: {what} is {found}, allowed: {allowed}")]
    Stream {
        file: PathBuf,
        offset: usize,
        what: &'static str,
        found: String,
        allowed: &'static str,
    },
    /// Bytes after the end of the tensor.
    #[error("{file}: byte {offset}: {extra} bytes after the end of the tensor")]
    TrailingBytes { file: PathBuf, offset: usize, extra: usize },
    /// A quaternion of a source recording that is not a rotation.
    #[error("{file}: frame {frame}: quaternion norm {norm}, allowed 1 ± {tolerance:e}")]
    FrameQuaternion { file: PathBuf, frame: usize, norm: f64, tolerance: f64 },
    /// A toss under control: dropping the control would change its meaning.
    #[error("{file}: frame {frame}: control {found}, allowed 0 for a free toss")]
    Controlled { file: PathBuf, frame: usize, found: f64 },
    /// A source folder without recordings.
    #[error("{path}: no `<id>.pt` files")]
    NoRecordings { path: PathBuf },
    /// A source folder without tables.
    #[error("{path}: no files `{expected}`")]
    NoTables { path: PathBuf, expected: &'static str },
    /// A `.pt` file whose name is not an id.
    #[error("{path}: the name must be a decimal id without leading zeros")]
    RecordingName { path: PathBuf },
    /// The destination has content and overwriting was not asked for.
    #[error("{path}: the destination is not empty; --overwrite replaces its recordings")]
    DestinationNotEmpty { path: PathBuf },

    /// Series of different length cannot be compared.
    #[error("toss {id}: {simulated} simulated poses for {measured} measured ones")]
    PoseCount { id: u32, simulated: usize, measured: usize },
    /// Nothing to average.
    #[error("toss {id}: no poses to compare")]
    NoPoses { id: u32 },
    /// A pose that is not finite: the simulation diverged.
    #[error("toss {id}: pose {frame} is not finite")]
    PoseNotFinite { id: u32, frame: usize },
    /// A length scale that is not positive.
    #[error("half side {found} m, allowed: finite and > 0")]
    HalfSide { found: f64 },
    /// An average over no tosses.
    #[error("no tosses to average")]
    NothingToAverage,
}

impl RecordingError {
    /// The same, with the file that the recording is in.
    pub(crate) fn in_file(self, file: &std::path::Path) -> Self {
        Self::InFile { file: file.to_owned(), source: Box::new(self) }
    }

    pub(crate) fn io(action: &'static str, path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
}
