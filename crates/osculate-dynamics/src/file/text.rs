//! Files that have to be text.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Reads a file of UTF-8 text.
///
/// # Errors
/// Where it cannot be read, or has a byte that is no text: the error tells the line.
pub fn read_text(path: impl AsRef<Path>) -> Result<String> {
    let bytes = std::fs::read(path)?;
    text_of(bytes)
}

/// The text of bytes.
///
/// # Errors
/// As [`read_text`].
pub(crate) fn text_of(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let bytes = error.as_bytes();
        let at = error.utf8_error().valid_up_to();
        let line = 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count();
        let found = bytes[at];
        let text = format!("line {line}: found byte 0x{found:02x}, allowed: UTF-8 text");
        Error::new(ErrorKind::InvalidData, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symptom: "cannot read scene.toml: invalid data". Cause: the reader of the standard library tells no place.
    #[test]
    fn a_byte_that_is_no_text_is_found_on_its_line() {
        assert_eq!(text_of(b"steps = 3\n".to_vec()).unwrap(), "steps = 3\n");
        for (bytes, says) in [
            (&b"\xff"[..], "line 1: found byte 0xff"),
            (b"a = 1\nb = \"\xe9t\xe9\"\n", "line 2: found byte 0xe9"),
            // A character that is cut off at the end of the file.
            (b"a\n\nb \xce", "line 3: found byte 0xce"),
        ] {
            let error = text_of(bytes.to_vec()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            assert!(error.to_string().starts_with(says), "{error}");
        }
    }
}
