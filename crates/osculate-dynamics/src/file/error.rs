//! What can be wrong with a scene file.

use crate::SceneError;
use osculate_contact::ContactError;
use osculate_geometry::GeometryError;
use std::fmt;
use std::path::PathBuf;

/// Where something stands: file, line and field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file; none for a scene that was built in memory.
    pub file: Option<PathBuf>,
    /// The line, from 1; none for a scene that was built in memory.
    pub line: Option<usize>,
    /// Path of the field, as in `actor[1].contact.k`; empty where the text is no TOML.
    pub field: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}", file.display())?,
            None => f.write_str("scene")?,
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if self.field.is_empty() { Ok(()) } else { write!(f, ": {}", self.field) }
    }
}

/// What can be wrong with a scene file. Every message says where, what was found and what is allowed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be opened.
    #[error("cannot read {}: {kind}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why, in the operating system's words.
        kind: std::io::ErrorKind,
    },
    /// The file is not text.
    #[error("{}: {cause}", file.display())]
    NotText {
        /// The file.
        file: PathBuf,
        /// The line, the byte found there, and what is allowed.
        cause: String,
    },
    /// The file is too large to be a scene.
    #[error("{} has {found} bytes, allowed: at most {most}", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// Its size in bytes.
        found: u64,
        /// The largest size in bytes.
        most: u64,
    },
    /// The text is not TOML.
    #[error("{place}: found `{found}`, which is not TOML: {cause}")]
    Syntax {
        /// Where.
        place: Place,
        /// The line.
        found: String,
        /// What the parser met and what it expected.
        cause: String,
    },
    /// An unknown field, an unknown word, or a value of another type.
    #[error("{place}: found `{found}`: {cause}")]
    Schema {
        /// Where.
        place: Place,
        /// The text found.
        found: String,
        /// What was met and what is allowed.
        cause: String,
    },
    /// A value is outside its range or contradicts another.
    #[error("{place}: found {found}, allowed: {allowed}")]
    Value {
        /// Where.
        place: Place,
        /// The value.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A name that no actor has.
    #[error("{place}: found '{found}', which no actor is named, allowed: {known}")]
    UnknownActor {
        /// Where.
        place: Place,
        /// The name found.
        found: String,
        /// The names there are.
        known: String,
    },
    /// Something that the schema knows and that is not built yet.
    #[error("{place}: found {found}, but {missing} is not built yet, allowed: {allowed}")]
    Unsupported {
        /// Where.
        place: Place,
        /// The value.
        found: String,
        /// What is missing.
        missing: &'static str,
        /// What to write meanwhile.
        allowed: &'static str,
    },
    /// A shape, samples or mass properties that no body can have.
    #[error("{place}: found {found}: {source}")]
    Geometry {
        /// Where.
        place: Place,
        /// The value.
        found: String,
        /// What is wrong and what is allowed.
        source: Box<GeometryError>,
    },
    /// A contact parameter outside its range.
    #[error("{place}: {source}")]
    Contact {
        /// Where.
        place: Place,
        /// The value and what is allowed.
        source: ContactError,
    },
    /// What only the whole scene shows.
    #[error("{place}: {source}")]
    Scene {
        /// Where.
        place: Place,
        /// The value and what is allowed.
        source: Box<SceneError>,
    },
    /// A scene that TOML cannot express, such as a path that is not Unicode.
    #[error("scene cannot be written as TOML: {cause}")]
    Write {
        /// What was met.
        cause: String,
    },
}
