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
/// * `interrupted`: what is written is not finished: results of an earlier run that are stay beside it.
///
/// # Errors
/// Why the first failed, with the folder that has them; none where that fails too.
pub fn write_or_rescue(
    folder: &Path,
    files: &[(&str, &[u8])],
    interrupted: bool,
) -> Result<(), (CliError, Option<PathBuf>)> {
    let all = |folder: &Path| {
        if interrupted {
            keep_finished(folder, files)?;
        }
        files.iter().try_for_each(|(name, content)| write(&folder.join(name), content))
    };
    all(folder).map_err(|error| {
        let rescue = std::env::temp_dir().join(format!("osculate-{}", std::process::id()));
        let saved = create_folder(&rescue).and_then(|()| all(&rescue)).is_ok();
        (error, saved.then_some(rescue))
    })
}

/// Sets finished results aside, where `report.json` is of some: `NAME.EXT` becomes `NAME.finished.EXT`.
fn keep_finished(folder: &Path, files: &[(&str, &[u8])]) -> Result<(), CliError> {
    let finished = |text: Vec<u8>| {
        let report: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
        report.is_some_and(|r| r["interrupted"] == false)
    };
    if !fs::read(folder.join("report.json")).is_ok_and(finished) {
        return Ok(());
    }
    for from in files.iter().map(|(name, _)| folder.join(name)).filter(|path| path.exists()) {
        let end = from.extension().unwrap_or_default().to_string_lossy();
        let to = from.with_extension(format!("finished.{end}"));
        fs::rename(&from, &to).map_err(|e| CliError::io("rename", &from, e))?;
    }
    Ok(())
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

    /// A fit that was interrupted replaced the report of one that had come to its end.
    #[test]
    fn what_is_interrupted_stands_beside_what_was_finished() {
        let folder = std::env::temp_dir().join(format!("osculate-kept-{}", std::process::id()));
        create_folder(&folder).unwrap();
        let put = |report: &[u8], interrupted| {
            let files = [("report.json", report), ("summary.txt", report)];
            write_or_rescue(&folder, &files, interrupted).map_err(|(e, _)| e).unwrap();
        };
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let [first, part, second] = [
            r#"{"interrupted": false, "of": 1}"#,
            r#"{"interrupted": true}"#,
            r#"{"interrupted": false, "of": 2}"#,
        ];
        put(first.as_bytes(), false);
        put(part.as_bytes(), true);
        for end in ["json", "txt"] {
            let name = if end == "json" { "report" } else { "summary" };
            assert_eq!(read(&format!("{name}.{end}")).as_deref(), Some(part));
            assert_eq!(read(&format!("{name}.finished.{end}")).as_deref(), Some(first));
        }
        // Another that is interrupted takes the place of the unfinished one alone; a finished one that of the present files.
        put(part.as_bytes(), true);
        assert_eq!(read("report.finished.json").as_deref(), Some(first));
        put(second.as_bytes(), false);
        assert_eq!(read("report.json").as_deref(), Some(second));
        fs::remove_dir_all(&folder).unwrap();
    }

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
        let (error, rescue) = write_or_rescue(&folder, &files, false).unwrap_err();
        assert!(error.to_string().contains("report.json"), "{error}");
        let rescue = rescue.unwrap();
        for (name, content) in files {
            assert_eq!(read(&rescue.join(name)).unwrap(), content);
        }
        fs::remove_dir_all(&rescue).unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
