//! Text tables.

use std::fmt::Write;

/// Rows in aligned columns; the first row is the header.
///
/// * `right`: whether each column is flush right, as numbers are.
pub(crate) fn render(rows: &[Vec<String>], right: &[bool]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter().filter_map(|r| r.get(c)).map(|x| x.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let w = widths[c];
            // Writing to a string does not fail.
            let _ = if right.get(c).copied().unwrap_or(false) {
                write!(line, "{cell:>w$}  ")
            } else {
                write!(line, "{cell:<w$}  ")
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        let text = render(&[row("path", "value"), row("cube.mu", "1")], &[false, true]);
        assert_eq!(text, "path     value\ncube.mu      1\n");
    }
}
