//! Files and commands of each chapter, in a folder of its own.

use crate::blocks::blocks;
use crate::{chapters, read};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the binary first, so that `osculate` is the one under test.
fn search_path() -> std::ffi::OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_osculate")).parent().unwrap().to_path_buf();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([binary].into_iter().chain(std::env::split_paths(&rest))).unwrap()
}

/// A block that begins with `# NAME.toml` is that file; with `# NAME.toml, continued` it goes on with it.
fn write(folder: &Path, text: &str, place: &str) {
    let head = text.lines().next().and_then(|line| line.strip_prefix("# "));
    let name = head.unwrap_or_else(|| panic!("{place} does not begin with its file name"));
    let (name, goes_on) = match name.strip_suffix(", continued") {
        Some(name) => (name, true),
        None => (name, false),
    };
    assert!(name.ends_with(".toml") && !name.contains('/'), "{place}: {name}");
    let path = folder.join(name);
    assert_eq!(path.exists(), goes_on, "{place}: {name} is written twice, or not yet");
    let before = if goes_on { fs::read_to_string(&path).unwrap() } else { String::new() };
    fs::write(path, before + text).unwrap();
}

/// A line with one space between its words: columns are as wide as their longest entry.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a printed line has what a page shows of it: a part of it, `…` for digits that depend on the machine.
fn shows(printed: &str, shown: &str) -> bool {
    let mut rest = printed;
    shown.split('…').all(|part| match rest.split_once(part.trim()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// Runs a chapter: files as they come, commands in the folder, and what they print.
fn follow(page: &str) {
    let name = Path::new(page).file_stem().unwrap();
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let (mut printed, mut unread) = (String::new(), Vec::new());
    for block in blocks(&read(page)) {
        let place = format!("{page}:{}", block.line);
        match block.info.as_str() {
            "toml" => {
                write(&folder, &block.text, &place);
                unread.push(place);
            }
            "sh" => {
                let mut shell = Command::new("sh");
                shell.args(["-eu", "-c", &block.text]).current_dir(&folder);
                let output = shell.env("PATH", search_path()).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                printed = String::from_utf8(output.stdout).unwrap();
                assert!(output.status.success(), "{place}: {}\n{printed}{said}", block.text);
                unread.clear();
            }
            "text,output" => {
                let printed_lines: Vec<String> = printed.lines().map(words).collect();
                for line in block.text.lines().map(words).filter(|line| !line.is_empty()) {
                    let is_there = printed_lines.iter().any(|printed| shows(printed, &line));
                    assert!(is_there, "{place}: '{line}' is not in\n{printed}");
                }
            }
            _ => {}
        }
    }
    assert!(unread.is_empty(), "{unread:?}: no command comes after these files");
}

#[test]
fn commands_of_every_chapter_run_and_print_what_it_shows() {
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            chapters().into_iter().map(|page| scope.spawn(move || follow(&page))).collect();
        let failed: Vec<_> = runs.into_iter().filter_map(|run| run.join().err()).collect();
        assert!(failed.is_empty(), "{} chapters, see above", failed.len());
    });
}
