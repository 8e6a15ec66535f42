//! Readers of robot files: what is supported, what is refused and with which words, and damaged files.

mod damage;
mod drives;
mod friction;
mod mjcf;
mod mjcf_refused;
mod scene;
mod urdf;
mod urdf_refused;

use super::{Description, ImportError, RobotOptions, parse_mjcf, parse_urdf};
use std::path::{Path, PathBuf};

fn options() -> RobotOptions {
    RobotOptions { folder: robots(), ..RobotOptions::default() }
}

/// Where the robots are that are compared with other readers.
fn robots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/robots")
}

fn try_urdf(text: &str) -> Result<Description, ImportError> {
    parse_urdf(text, Path::new("r.urdf"), &options())
}

fn urdf(text: &str) -> Description {
    try_urdf(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn try_mjcf(text: &str) -> Result<Description, ImportError> {
    parse_mjcf(text, Path::new("m.xml"), &options())
}

fn mjcf(text: &str) -> Description {
    try_mjcf(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Line, element and message of an error.
fn said(result: Result<Description, ImportError>) -> (usize, String, String) {
    match result {
        Ok(robot) => panic!("not refused: {robot:?}"),
        Err(e) => (e.spot.line, e.spot.element.clone(), e.problem.to_string()),
    }
}

/// That a text is refused in a line, at an element, with these words.
fn refused(result: Result<Description, ImportError>, line: usize, element: &str, words: &str) {
    let found = said(result);
    assert_eq!((found.0, found.1.as_str()), (line, element), "{}", found.2);
    assert!(found.2.contains(words), "'{}' does not say '{words}'", found.2);
}

/// Notes as text, without lines.
fn noted(robot: &Description) -> Vec<String> {
    robot.notes.iter().map(ToString::to_string).collect()
}

/// That one note holds all these words.
fn notes(robot: &Description, words: &[&str]) {
    let all = noted(robot);
    assert!(
        all.iter().any(|n| words.iter().all(|w| n.contains(w))),
        "no note says {words:?}: {all:#?}"
    );
}

/// That numbers are those of the file, to the last bit.
fn exactly<const N: usize>(found: [f64; N], expected: [f64; N]) {
    assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{found:?} for {expected:?}");
}
