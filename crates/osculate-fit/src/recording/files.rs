//! Reading and atomic writing of whole files.

use super::RecordingError;
use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::Path,
};

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, RecordingError> {
    fs::read(path).map_err(|e| RecordingError::io("read", path, e))
}

/// Writes a file so that readers see the old or the new content, never a part: temporary sibling, then rename.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), RecordingError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let outcome = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)
        .and_then(|file| fill(file, content))
        .and_then(|()| fs::rename(&temporary, path));
    outcome.map_err(|e| {
        // The first error is the one to report; a temporary file that was never made cannot be removed.
        let _ = fs::remove_file(&temporary);
        RecordingError::io("write", path, e)
    })
}

fn fill(mut file: File, content: &[u8]) -> std::io::Result<()> {
    file.write_all(content)?;
    file.sync_all()
}

/// A folder of its own for one test, removed at its end.
#[cfg(test)]
pub(crate) struct Scratch(std::path::PathBuf);

#[cfg(test)]
impl Scratch {
    pub(crate) fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("osculate-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

#[cfg(test)]
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_replaces_the_file_and_leaves_nothing_else() {
        let scratch = Scratch::new("files");
        let path = scratch.path().join("a.csv");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }

    #[test]
    fn writing_into_a_missing_folder_names_the_file() {
        let scratch = Scratch::new("files-missing");
        let path = scratch.path().join("absent").join("a.csv");
        let error = write(&path, b"one").unwrap_err();
        assert!(error.to_string().contains("a.csv"), "{error}");
    }
}
