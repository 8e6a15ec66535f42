//! Whole files, read and written atomically.

use crate::CliError;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The bytes of a file.
///
/// # Errors
/// With the path.
pub fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    fs::read(path).map_err(|e| CliError::io("read", path, e))
}

/// Writes a file so that readers see the old or the new content, never a part: temporary sibling, then rename. A link is followed;
/// a device or a pipe is written into.
///
/// # Errors
/// With the path.
pub fn write(path: &Path, content: &[u8]) -> Result<(), CliError> {
    // A link to nothing yet cannot be followed: then it is what is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(found) if !found.is_file() && !found.is_dir() => File::options()
            .write(true)
            .open(&target)
            .and_then(|mut file| file.write_all(content))
            .map_err(|e| CliError::io("write", path, e)),
        _ => replace(&target, content),
    }
}

fn replace(path: &Path, content: &[u8]) -> Result<(), CliError> {
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

/// Writes files into a folder, and where that fails all of them into one of the system's temporary folder.
///
/// # Errors
/// Why the first failed, with the folder that has them; none where that fails too.
pub fn write_or_rescue(
    folder: &Path,
    files: &[(&str, &[u8])],
) -> Result<(), (CliError, Option<PathBuf>)> {
    let all = |folder: &Path| {
        files.iter().try_for_each(|(name, content)| write(&folder.join(name), content))
    };
    all(folder).map_err(|error| {
        let rescue = std::env::temp_dir().join(format!("osculate-{}", std::process::id()));
        let saved = create_folder(&rescue).and_then(|()| all(&rescue)).is_ok();
        (error, saved.then_some(rescue))
    })
}

/// Refuses a folder in which something stands where a file is to be written.
///
/// # Errors
/// With the path.
pub fn check_free(folder: &Path, names: &[&str]) -> Result<(), CliError> {
    match names.iter().map(|name| folder.join(name)).find(|path| path.is_dir()) {
        Some(path) => {
            let source = std::io::Error::other("it is a folder; move it, or name another --out");
            Err(CliError::io("write", &path, source))
        }
        None => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A link was replaced by the file, its target stayed as it was; `/dev/full` became a file.
    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_are_not_replaced() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = std::env::temp_dir().join(format!("osculate-link-{}", std::process::id()));
        create_folder(&folder).unwrap();
        let (link, target) = (folder.join("link"), folder.join("target"));
        fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read(&target).unwrap(), b"new");
        write(Path::new("/dev/null"), b"nothing").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        fs::remove_dir_all(&folder).unwrap();
    }

    /// The report of a long fit was lost where a folder stood in its place.
    #[test]
    fn files_that_cannot_be_written_are_rescued() {
        let folder = std::env::temp_dir().join(format!("osculate-rescue-{}", std::process::id()));
        create_folder(&folder.join("report.json")).unwrap();
        assert!(check_free(&folder, &["summary.txt", "report.json"]).is_err());
        let files = [("report.json", &b"{}"[..]), ("summary.txt", &b"one"[..])];
        let (error, rescue) = write_or_rescue(&folder, &files).unwrap_err();
        assert!(error.to_string().contains("report.json"), "{error}");
        let rescue = rescue.unwrap();
        for (name, content) in files {
            assert_eq!(read(&rescue.join(name)).unwrap(), content);
        }
        fs::remove_dir_all(&rescue).unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
