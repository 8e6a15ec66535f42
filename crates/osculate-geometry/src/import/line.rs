//! Where a text file is wrong: the parsers tell what they met, not on which line.

use super::Source;
use crate::GeometryError;

/// The longest part of a line that is shown \[characters\].
const SHOWN: usize = 60;

/// A line that is no part of a mesh.
pub(super) struct BadLine<'t> {
    /// From 1.
    line: usize,
    found: &'t str,
    allowed: String,
}

impl BadLine<'_> {
    pub(super) fn refused(self, source: &Source<'_>) -> GeometryError {
        let mut found: String = self.found.trim().chars().take(SHOWN).collect();
        if self.found.trim().chars().count() > SHOWN {
            found.push('…');
        }
        let (path, line, allowed) = (source.path.into(), self.line, self.allowed);
        GeometryError::MeshLine { path, line, found, allowed }
    }
}

/// The first vertex or face of an OBJ file that cannot be one; `finite`: or the first vertex that is infinite or not a number.
pub(super) fn of_obj(text: &str, finite: bool) -> Option<BadLine<'_>> {
    let vertices = text.lines().filter(|line| line.split_whitespace().next() == Some("v")).count();
    let mut before = 0i64;
    for (i, found) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let mut words = found.split_whitespace();
        let allowed = match words.next() {
            Some("v") => {
                before += 1;
                let values: Vec<&str> = words.collect();
                let coordinates = if values.len() >= 6 { &values[..3] } else { &values };
                let is_vertex = match coordinates {
                    [point @ .., weight] if point.len() == 3 => {
                        are_numbers(point, finite) && weight.parse().is_ok_and(|w: f64| w != 0.0)
                    }
                    point => point.len() == 3 && are_numbers(point, finite),
                };
                (!is_vertex)
                    .then(|| "three finite numbers, or four of which the last is not 0".into())
            }
            Some("f") => {
                let is_corner = |corner: &str| {
                    let vertex = corner.split('/').next().unwrap_or_default();
                    vertex.parse().is_ok_and(|i: i64| {
                        (1..=vertices as i64).contains(&i) || (-before..0).contains(&i)
                    })
                };
                (!words.all(is_corner))
                    .then(|| format!("vertices 1 to {vertices}, or -{before} to -1 counted back"))
            }
            _ => None,
        };
        if let Some(allowed) = allowed {
            return Some(BadLine { line: i + 1, found, allowed });
        }
    }
    None
}

/// The first corner or normal of an ASCII STL file that is not three finite numbers.
pub(super) fn of_stl(text: &str) -> Option<BadLine<'_>> {
    text.lines().enumerate().find_map(|(i, found)| {
        let words: Vec<&str> = found.split_whitespace().collect();
        let (["vertex", values @ ..] | ["facet", "normal", values @ ..]) = &words[..] else {
            return None;
        };
        // The format is one of single precision.
        let is_finite = |w: &&str| w.parse().is_ok_and(|x: f32| x.is_finite());
        let bad = values.len() != 3 || !values.iter().all(is_finite);
        bad.then(|| BadLine { line: i + 1, found, allowed: "three finite numbers".into() })
    })
}

fn are_numbers(words: &[&str], finite: bool) -> bool {
    words.iter().all(|w| w.parse().is_ok_and(|x: f64| !finite || x.is_finite()))
}
