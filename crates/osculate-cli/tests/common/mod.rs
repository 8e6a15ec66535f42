//! Running the binary, and folders to run it in.
#![allow(dead_code, reason = "not every test file uses every helper")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs `osculate` with arguments.
pub(crate) fn osculate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_osculate")).args(args).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The JSON document on standard output.
pub(crate) fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Fails unless the command ended with this code and, where it is not 0, with an `error:` that says all of `said`.
pub(crate) fn assert_refused(output: &Output, code: i32, said: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(message.starts_with("error: "), "{message}");
    for words in said {
        assert!(message.contains(words), "'{words}' is not in: {message}");
    }
    assert!(output.stdout.is_empty(), "{}", stdout(output));
}

/// An empty folder of its own for a test.
pub(crate) fn scratch(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder of recordings that are not part of the repository: where `variable` says, else beside it. Without it, says what is skipped.
#[expect(clippy::print_stdout, reason = "what is skipped is said")]
pub(crate) fn recorded(variable: &str, beside: &str) -> Option<String> {
    let folder = std::env::var_os(variable).map_or_else(|| workspace().join(beside), Into::into);
    if !folder.is_dir() {
        println!("skipped: no recordings at {} ({variable})", folder.display());
        return None;
    }
    Some(folder.to_str().unwrap().into())
}

/// An example scene of the documentation.
pub(crate) fn example(name: &str) -> String {
    let path = workspace().join("docs/examples").join(name);
    path.to_str().unwrap().into()
}

/// Writes a file and gives its path as text.
pub(crate) fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().into()
}
