//! Text to structs and back.

use super::error::{FileError, Place};
use super::schema::SceneFile;
use super::source::{self, Source};
use super::text::read_text;
use std::io::ErrorKind;
use std::path::Path;

/// The largest scene file \[bytes\].
const MOST_BYTES: u64 = 256 << 20;

impl SceneFile {
    /// Reads a scene file. Nothing is checked yet but its form: see [`SceneFile::build`].
    ///
    /// # Errors
    /// Where the file cannot be read, is not TOML, has an unknown field or a value of the wrong type.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let file = path.as_ref();
        let refused = |e: std::io::Error| match e.kind() {
            ErrorKind::InvalidData => {
                FileError::NotText { file: file.into(), cause: e.to_string() }
            }
            kind => FileError::Read { file: file.into(), kind },
        };
        let found = std::fs::metadata(file).map_err(refused)?.len();
        if found > MOST_BYTES {
            return Err(FileError::TooLarge { file: file.into(), found, most: MOST_BYTES });
        }
        Self::parse(&read_text(file).map_err(refused)?, file)
    }

    /// Reads a scene from text; `file` is what errors call it.
    ///
    /// # Errors
    /// Where the text is not TOML, has an unknown field or a value of the wrong type.
    pub fn parse(text: &str, file: impl AsRef<Path>) -> Result<Self, FileError> {
        let file = file.as_ref();
        if let Err(error) = toml::de::DeTable::parse(text) {
            let at = error.span().map_or(0, |span| span.start);
            let line = source::line(text, at);
            let place = Place { file: Some(file.into()), line: Some(line), field: String::new() };
            let whole = text.lines().nth(line - 1).unwrap_or_default();
            let found = source::snippet(whole, &(0..whole.len()));
            return Err(FileError::Syntax { place, found, cause: error.message().into() });
        }
        let mut scene: Self = toml::from_str(text).map_err(|e| schema_error(text, file, &e))?;
        scene.source = Source::new(file, text);
        Ok(scene)
    }

    /// The scene as TOML; reading it gives the scene back.
    ///
    /// # Errors
    /// Where TOML cannot express it: a path that is not Unicode, a number of steps beyond 2⁶³.
    pub fn to_toml(&self) -> Result<String, FileError> {
        toml::to_string(self).map_err(|e| FileError::Write { cause: e.to_string() })
    }
}

fn schema_error(text: &str, file: &Path, error: &toml::de::Error) -> FileError {
    let span = error.span().unwrap_or(0..0);
    let field = source::field_at(text, &span);
    let line = Some(source::line(text, span.start));
    FileError::Schema {
        place: Place { file: Some(file.into()), line, field },
        found: source::snippet(text, &span),
        cause: error.message().replace('\n', ", "),
    }
}
