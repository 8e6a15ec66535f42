//! Reading JSON files, with errors that name the field.

use serde::de::DeserializeOwned;
use std::fmt;

/// What is wrong with a JSON text: line, column, field, and what was expected there.
#[derive(Debug)]
pub struct JsonError {
    /// Empty where the text as a whole is wrong.
    field: String,
    source: serde_json::Error,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = (self.source.line(), self.source.column());
        // A value that is in memory has no lines.
        if line > 0 {
            write!(f, "line {line}, column {column}: ")?;
        }
        if !self.field.is_empty() {
            write!(f, "`{}`: ", self.field)?;
        }
        let said = self.source.to_string();
        let again = format!(" at line {line} column {column}");
        f.write_str(said.strip_suffix(&again).unwrap_or(&said))
    }
}

impl std::error::Error for JsonError {}

impl From<serde_json::Error> for JsonError {
    fn from(source: serde_json::Error) -> Self {
        Self { field: String::new(), source }
    }
}

/// The value that a text is.
///
/// # Errors
/// Where the text is not JSON, or a field is missing or of the wrong type.
pub fn from_slice<T: DeserializeOwned>(text: &[u8]) -> Result<T, JsonError> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let field = error.path().to_string();
        let field = if field == "." { String::new() } else { field };
        JsonError { field, source: error.into_inner() }
    })?;
    reader.end()?;
    Ok(value)
}
