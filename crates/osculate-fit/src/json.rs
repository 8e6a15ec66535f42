//! Reading JSON files, with errors that name the field.

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
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

/// The line, from 1, of a field such as `tosses[3].frames`; the first where the text has no such field.
///
/// For messages about values that are JSON but not allowed: what was parsed has forgotten where it stood.
pub fn line_of(text: &[u8], field: &str) -> usize {
    let steps: Vec<&str> = field.split(['.', '[']).map(|s| s.trim_end_matches(']')).collect();
    let mut reader = serde_json::Deserializer::from_slice(text);
    match Seek(&steps).deserialize(&mut reader) {
        Err(found) if found.line() > 0 => found.line(),
        _ => 1,
    }
}

/// Goes down to a field and ends there, with an error: only errors know their line.
struct Seek<'a>(&'a [&'a str]);

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Where steps are left, arrays and objects are gone through; all else is not expected.
impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the end of the path")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((step, rest)) = self.0.split_first() else {
            return Err(serde::de::Error::custom("found"));
        };
        while let Some(key) = map.next_key::<String>()? {
            if key == *step {
                map.next_value_seed(Seek(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Some((step, rest)) = self.0.split_first() else {
            return Err(serde::de::Error::custom("found"));
        };
        let before = step.parse().unwrap_or(usize::MAX);
        for _ in 0..before {
            if seq.next_element::<IgnoredAny>()?.is_none() {
                return Ok(());
            }
        }
        seq.next_element_seed(Seek(rest))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn a_field_is_found_in_its_line() {
        let text = br#"{
  "name": "x",
  "cube": {
    "inertia": [
      1.0,
      -2.0
    ],
    "mass": -1.0
  },
  "tosses": [
    { "id": 3, "file": "a" },
    {
      "id": 4,
      "file": "b"
    }
  ],
  "none": []
}"#;
        for (field, line) in [
            ("name", 2),
            ("cube.inertia[1]", 6),
            ("cube.mass", 8),
            ("tosses[0].file", 11),
            ("tosses[1].file", 14),
            ("none", 17),
            ("cube.absent", 1),
            ("tosses[7].id", 1),
        ] {
            assert_eq!(line_of(text, field), line, "{field}");
        }
        assert_eq!(line_of(b"not json", "name"), 1);
    }
}
