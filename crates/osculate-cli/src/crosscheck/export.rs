//! Reference cases as scene files.

use super::case::{Case, Meshes, read};
use super::convert::{Converted, convert};
use super::{Family, articulated};
use crate::{CliError, files};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Record {
    case: Case,
}

/// Writes each convertible case of a family as `folder/<family>/<case>.toml`; returns how many.
///
/// # Errors
/// Where a file cannot be written.
pub fn export(family: &Family, folder: &Path) -> Result<usize, CliError> {
    // Of the other families the cases describe bodies that no scene has.
    if !["f1", "f2", "f4", "f7", "f8"].contains(&family.short()) {
        return Ok(0);
    }
    let meshes = family.meshes()?;
    let folder = folder.join(&family.folder);
    files::create_folder(&folder)?;
    let mut written = 0;
    for path in &family.cases {
        // The check has reported what cannot be read or converted.
        let text = match family.short() {
            "f7" => articulated::load_scene(path, &meshes).ok().map(|s| s.to_toml()).transpose()?,
            _ => scene(path, &meshes)?,
        };
        if let Some(text) = text {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            files::write(&folder.join(format!("{name}.toml")), text.as_bytes())?;
            written += 1;
        }
    }
    Ok(written)
}

fn scene(path: &Path, meshes: &Meshes) -> Result<Option<String>, CliError> {
    let Ok(record) = read::<Record>(path) else { return Ok(None) };
    match convert(&record.case, meshes) {
        Ok(Converted::Ready(scene)) => Ok(Some(scene.to_toml()?)),
        _ => Ok(None),
    }
}
