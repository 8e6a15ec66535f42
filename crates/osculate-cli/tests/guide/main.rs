//! The guide does what it says: its files are read and its commands run, what it prints is printed, every link of every page
//! leads somewhere, and no block is left out silently. Its Rust are doctests of the root package, its Python runs in the tests
//! of the Python package.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod blocks;
mod commands;
mod links;

use std::path::{Path, PathBuf};

/// The root of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A file of the workspace, by its path in it.
fn read(path: &str) -> String {
    std::fs::read_to_string(workspace().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Paths of the pages of the book, as `docs/SUMMARY.md` lists them.
fn pages() -> Vec<String> {
    let summary = read("docs/SUMMARY.md");
    let pages = links::targets(&summary).into_iter().map(|(_, target)| format!("docs/{target}"));
    pages.collect()
}

/// Those of the guide.
fn chapters() -> Vec<String> {
    pages().into_iter().filter(|page| page.starts_with("docs/guide/")).collect()
}
