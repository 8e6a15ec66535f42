//! Recordings of the impulse model: families `a` to `i`, one file each or two.
//!
//! Recorded from the Steel solver (in `newton` 1.8.0) in single precision. The folder has a `manifest.json` beside them.

mod articulated;
pub(super) mod block;
mod evidence;
pub(super) mod motion;
mod record;
mod rows;
mod scenes;
mod twins;

use super::Family;
use crate::{CliError, files};
use std::path::Path;

/// The families of a folder of recordings, none where it is another folder.
///
/// # Errors
/// Where the folder cannot be read.
pub(super) fn families(folder: &Path) -> Result<Vec<Family>, CliError> {
    let inside = files::list(folder)?;
    let is_named = |path: &Path, name: &str| path.file_name().is_some_and(|n| n == name);
    if !inside.iter().any(|path| is_named(path, "manifest.json")) {
        return Ok(Vec::new());
    }
    let family = |path: &std::path::PathBuf| {
        let name = path.file_stem()?.to_string_lossy().into_owned();
        let json = path.extension().is_some_and(|e| e == "json");
        let is_family = matches!(name.as_bytes(), [b'a'..=b'i', b'_', _, ..]);
        let found = Family { folder: name, path: folder.into(), cases: vec![path.clone()] };
        (json && is_family).then_some(found)
    };
    Ok(inside.iter().filter_map(family).collect())
}
