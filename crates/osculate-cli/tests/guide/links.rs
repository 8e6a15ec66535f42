//! Links of every page of the repository, on the Git host and in the book.

use crate::{blocks, chapters, pages, read, workspace};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// Text and target of every Markdown link outside of code.
pub(crate) fn targets(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in prose(page) {
        let mut rest = line.as_str();
        while let Some(at) = rest.find("](") {
            let text = rest[..at].rsplit('[').next().unwrap_or_default().to_string();
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            found.push((text, rest[..end].to_string()));
            rest = &rest[end..];
        }
    }
    found
}

/// Lines outside of fenced blocks, code spans blanked out.
fn prose(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            // Of `a](b)` in a code span no link is made; a link may have a code span for its text.
            let spans = line.split('`').enumerate();
            let kept =
                spans.map(|(k, s)| if k % 2 == 0 { s.into() } else { s.replace("](", "  ") });
            lines.push(kept.collect::<String>());
        }
    }
    lines
}

/// Anchors of the headings, as Git hosts and mdBook make them: lower case, letters, digits, `-`, `_`, a space a hyphen.
fn anchors(page: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    for line in prose(page).iter().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let again = (1..).map(|k| format!("{anchor}-{k}"));
        let free = std::iter::once(anchor.clone()).chain(again).find(|a| !found.contains(a));
        found.extend(free);
    }
    found
}

/// `a/b/../c` without its dots.
fn resolved(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// Every Markdown file of the repository, by its path in it.
fn documents() -> Vec<PathBuf> {
    let root = workspace();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            let skipped = name.starts_with('.')
                || ["target", "results", "node_modules", "book"].contains(&name.as_str());
            if path.is_dir() && !skipped {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path.strip_prefix(&root).unwrap().to_path_buf());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_link_of_every_page_leads_to_a_file_and_a_heading_that_exist() {
    let root = workspace();
    let pages: HashSet<PathBuf> = pages().iter().map(PathBuf::from).collect();
    let mut broken = Vec::new();
    let mut looked_at = 0;
    for document in documents() {
        let text = read(document.to_str().unwrap());
        for (_, target) in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            looked_at += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let folder = document.parent().unwrap();
            let to = if path.is_empty() { document.clone() } else { resolved(&folder.join(path)) };
            let place = format!("{}: {target}", document.display());
            if !root.join(&to).exists() {
                broken.push(format!("{place}: does not exist"));
            } else if !anchor.is_empty() {
                let known = anchors(&read(to.to_str().unwrap()));
                if !known.contains(anchor) {
                    broken.push(format!("{place}: no such heading"));
                }
            }
            // mdBook turns every link to `x.md` into one to `x.html`, which only pages of the book have.
            let is_page = to.extension().is_some_and(|e| e == "md") && !path.is_empty();
            if is_page && pages.contains(&document) && !pages.contains(&to) {
                broken.push(format!("{place}: is not in the book; link to its folder"));
            }
        }
    }
    assert!(broken.is_empty(), "{} of {looked_at} links:\n{}", broken.len(), broken.join("\n"));
    assert!(looked_at > 200, "only {looked_at} links were found");
}

#[test]
fn every_page_of_the_documentation_is_in_the_book() {
    let pages: HashSet<PathBuf> = pages().iter().map(PathBuf::from).collect();
    let summary = Path::new("docs/SUMMARY.md");
    for document in documents().iter().filter(|d| d.starts_with("docs") && *d != summary) {
        assert!(pages.contains(document), "{} is not in docs/SUMMARY.md", document.display());
    }
}

/// Paths and items that the guide names in code spans, so that a file that moves takes its name in the guide along.
#[test]
fn every_path_that_the_guide_names_exists_and_every_item_of_the_straight_line_is_in_its_file() {
    let root = workspace();
    let folders =
        ["crates/", "docs/", "tests/", "benches/", "experiments/", "notebooks/", "paper/"];
    let mut named = 0;
    for page in chapters() {
        for line in read(&page).lines() {
            for span in line.split('`').skip(1).step_by(2) {
                if folders.iter().any(|f| span.starts_with(f)) && !span.contains(' ') {
                    assert!(root.join(span).exists(), "{page} names {span}, which does not exist");
                    named += 1;
                }
            }
        }
    }
    assert!(named >= 3, "only {named} paths");

    let page = "docs/guide/straight-line.md";
    let (mut rows, text) = (0, read(page));
    for row in text.lines().filter(|line| line.starts_with('|') && line.contains(".rs)")) {
        let (_, target) = targets(row).remove(0);
        let file = resolved(&Path::new("docs/guide").join(&target));
        let source = read(file.to_str().unwrap());
        let cells: Vec<&str> = row.split('|').collect();
        let items: Vec<&str> = cells[cells.len() - 2].split('`').skip(1).step_by(2).collect();
        assert!(!items.is_empty(), "{page}: no item in: {row}");
        for item in items {
            let declared =
                ["fn ", "struct ", "enum ", "trait "].map(|kind| format!("{kind}{item}"));
            let is_there = declared.iter().any(|d| source.contains(d.as_str()));
            assert!(is_there, "{page}: {item} is not in {}", file.display());
        }
        rows += 1;
    }
    assert!(rows >= 12, "{page}: only {rows} rows");
    assert!(!blocks::blocks(&text).is_empty());
}
