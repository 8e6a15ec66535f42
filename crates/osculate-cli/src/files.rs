//! Whole files, read and written atomically.

use crate::CliError;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// The bytes of a file.
///
/// # Errors
/// With the path.
pub fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    fs::read(path).map_err(|e| CliError::io("read", path, e))
}

/// Writes a file so that readers see the old or the new content, never a part: temporary sibling, then rename.
///
/// # Errors
/// With the path.
pub fn write(path: &Path, content: &[u8]) -> Result<(), CliError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|e| {
        // The first error is the one to report; a file that was never made cannot be removed.
        let _ = fs::remove_file(&temporary);
        CliError::io("write", path, e)
    })
}

/// Makes a folder and those above it.
///
/// # Errors
/// With the path.
pub fn create_folder(path: &Path) -> Result<(), CliError> {
    fs::create_dir_all(path).map_err(|e| CliError::io("create folder", path, e))
}

/// Entries of a folder, sorted by name.
///
/// # Errors
/// With the path.
pub fn list(path: &Path) -> Result<Vec<std::path::PathBuf>, CliError> {
    let fail = |e| CliError::io("list", path, e);
    let entries = fs::read_dir(path).map_err(fail)?;
    let mut paths =
        entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(fail)?;
    paths.sort();
    Ok(paths)
}
