//! The code blocks of a page, and what becomes of each kind.

use crate::{chapters, pages, read};

/// A fenced block: what stands after the fence, its text, and the last line of text before it.
pub(crate) struct Block {
    pub(crate) info: String,
    pub(crate) text: String,
    pub(crate) before: String,
    pub(crate) line: usize,
}

/// The blocks of a page, in order.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut inside, mut before) = (false, "");
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(info) => {
                inside = true;
                let (info, text) = (info.trim().into(), String::new());
                found.push(Block { info, text, before: before.into(), line: number + 1 });
            }
            None if inside => {
                let text = &mut found.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            None if !line.trim().is_empty() => before = line,
            None => {}
        }
    }
    assert!(!inside, "a fence is open at the end");
    found
}

/// Blocks that are not run, by page. A new one is a decision: it stands here, and its page says why.
const NOT_RUN: [(&str, usize); 2] = [("docs/guide/first-fit.md", 1), ("docs/guide/python.md", 1)];

/// A block that some kinds of reader would take for tested, and is not, was the fault looked for.
#[test]
fn every_block_is_run_or_says_that_it_is_not_and_why() {
    let mut not_run = Vec::new();
    let mut run = [0; 5];
    for page in chapters() {
        let text = read(&page);
        let mut left_out = 0;
        for block in blocks(&text) {
            let kinds = ["rust", "python", "sh", "toml", "text,output"];
            let place = format!("{page}:{}: ```{}", block.line, block.info);
            match block.info.as_str() {
                // Formulas and pictures.
                "text" => {}
                "sh,not-run" => {
                    let said = block.before.starts_with("*Not run in the tests:");
                    assert!(said, "{place}: the line before does not say why it is not run");
                    left_out += 1;
                }
                info => match kinds.iter().position(|kind| *kind == info) {
                    Some(kind) => run[kind] += 1,
                    None => panic!("{place} is no kind of block that is run"),
                },
            }
        }
        // rustdoc takes indented text for Rust.
        let indented = text.lines().find(|line| line.starts_with("    ") && line.contains(" = "));
        let fenced = blocks(&text).iter().any(|b| b.text.contains(indented.unwrap_or_default()));
        assert!(indented.is_none() || fenced, "{page}: indented code: {indented:?}");
        if left_out > 0 {
            not_run.push((page, left_out));
        }
    }
    let expected: Vec<_> = NOT_RUN.iter().map(|(page, n)| ((*page).to_string(), *n)).collect();
    assert_eq!(not_run, expected, "blocks that are not run");
    assert!(run.iter().all(|n| *n > 0), "no blocks of some kind: {run:?}");
}

/// A page that nobody lists has Rust that nobody runs; `rust,ignore` is Rust that nobody can.
#[test]
fn rust_of_every_page_is_among_the_doctests() {
    let list = read("docs/guide/lib.rs");
    for page in pages() {
        let name = match page.strip_prefix("docs/guide/") {
            Some(name) => name.to_string(),
            None => page.replace("docs/", "../"),
        };
        let rust = blocks(&read(&page)).into_iter().filter(|b| b.info.starts_with("rust"));
        let kinds: Vec<String> = rust.map(|b| b.info).collect();
        assert!(kinds.iter().all(|info| info == "rust"), "{page}: {kinds:?}");
        let listed = list.contains(&format!("\"{name}\""));
        assert_eq!(!kinds.is_empty(), listed, "{page} in docs/guide/lib.rs");
    }
}
