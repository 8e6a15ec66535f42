//! STL, binary and ASCII.

use super::{Source, line};
use crate::GeometryError;
use crate::mesh::repair::{Part, Soup};
use nalgebra::Vector3;
use std::collections::HashMap;
use std::io::Cursor;

/// Bytes of a binary file before its triangles: free text, then their number.
pub(super) const HEADER: usize = 84;
const TEXT: usize = 80;

/// Bytes of a triangle: normal and corners as twelve `f32`, and two bytes without meaning.
const TRIANGLE: u64 = 50;

/// The triangles of an STL file of which `bytes` are the content.
pub(super) fn parse(source: &Source<'_>, bytes: &[u8]) -> Result<Soup, GeometryError> {
    let triangles = announced_triangles(bytes);
    let found = bytes.len() as u64;
    let mut surface = Surface::default();
    let wrong_length = || GeometryError::StlLength {
        path: source.path.into(),
        triangles,
        expected: HEADER as u64 + TRIANGLE * triangles,
        found,
    };
    if is_binary(bytes, found) {
        source.check_triangles(triangles)?;
        surface.read_binary(bytes).map_err(|_| wrong_length())?;
    } else if is_ascii(bytes) {
        let lines = bytes.split(|&b| b == b'\n');
        let facets = lines.filter(|line| line.trim_ascii_start().starts_with(b"facet")).count();
        source.check_triangles(facets as u64)?;
        for (solid, (name, text)) in solids(bytes).enumerate() {
            surface.soup.parts.push(Part { name, first: surface.soup.triangles.len() });
            surface.read_ascii(text).map_err(|error| {
                let cause = super::one_line(error);
                let unknown = GeometryError::AsciiStl { path: source.path.into(), solid, cause };
                refused_line(source, bytes).unwrap_or(unknown)
            })?;
        }
    } else {
        return Err(wrong_length());
    }
    Ok(surface.soup)
}

/// What is wrong with a line of an ASCII file, if a line shows it.
fn refused_line(source: &Source<'_>, bytes: &[u8]) -> Option<GeometryError> {
    let text = std::str::from_utf8(bytes).ok()?;
    line::of_stl(text).map(|line| line.refused(source))
}

/// Whether a file is binary: its length is what its triangle count says, whatever its free text. Many writers begin it
/// with "solid", the mark of an ASCII file.
///
/// * `head`: its first [`HEADER`] bytes or more; `length`: that of the file \[bytes\].
pub(super) fn is_binary(head: &[u8], length: u64) -> bool {
    head.len() >= HEADER && length == HEADER as u64 + TRIANGLE * announced_triangles(head)
}

/// The triangle count of a binary file; 0 where it has no whole header.
pub(super) fn announced_triangles(bytes: &[u8]) -> u64 {
    match bytes.get(TEXT..HEADER) {
        Some(&[a, b, c, d]) => u64::from(u32::from_le_bytes([a, b, c, d])),
        _ => 0,
    }
}

fn is_ascii(bytes: &[u8]) -> bool {
    bytes
        .strip_prefix(b"solid")
        .is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

/// The solids of an ASCII file one by one: their names, and their text from after the first line up to and with
/// `endsolid`; what stands after the last one too, unless it is blank.
fn solids(bytes: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let mut lines = bytes.split(|&b| b == b'\n').peekable();
    std::iter::from_fn(move || {
        while lines.next_if(|line| line.trim_ascii().is_empty()).is_some() {}
        let first = lines.next()?.trim_ascii();
        // The parser asks for a name after "solid", which the format does not.
        let (name, mut solid) = match first.strip_prefix(b"solid") {
            Some(name) if is_ascii(first) => (name.trim_ascii(), b"solid mesh\n".to_vec()),
            _ => (&[][..], [first, b"\n"].concat()),
        };
        for line in lines.by_ref() {
            solid.extend_from_slice(line);
            solid.push(b'\n');
            if line.trim_ascii().starts_with(b"endsolid") {
                break;
            }
        }
        Some((String::from_utf8_lossy(name).into_owned(), solid))
    })
}

/// Triangles read so far.
#[derive(Default)]
struct Surface {
    soup: Soup,
    /// Numbers of vertices by the bits of their coordinates.
    numbers: HashMap<[u64; 3], usize>,
}

impl Surface {
    fn read_binary(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let mut bytes = bytes.to_vec();
        // Blank, so that the parser does not take it for an ASCII file by its text.
        bytes[..TEXT].fill(b' ');
        self.read(bytes)
    }

    fn read_ascii(&mut self, solid: Vec<u8>) -> std::io::Result<()> {
        // The parser would try it as a binary file.
        if !solid.starts_with(b"solid ") {
            let found = String::from_utf8_lossy(&solid[..solid.len().min(20)]).into_owned();
            return Err(std::io::Error::other(format!("expected \"solid\", got {found:?}")));
        }
        self.read(solid)
    }

    fn read(&mut self, bytes: Vec<u8>) -> std::io::Result<()> {
        for triangle in stl_io::create_stl_reader(&mut Cursor::new(bytes))? {
            let corners = triangle?.vertices;
            let corners = corners.map(|corner| self.number(corner.0.map(f64::from).into()));
            self.soup.triangles.push(corners);
        }
        Ok(())
    }

    /// Corners at the same place are one vertex, in the order of their first appearance.
    fn number(&mut self, point: Vector3<f64>) -> usize {
        // −0 + 0 = 0: both zeros are one place.
        let key = [point.x, point.y, point.z].map(|x| (x + 0.0).to_bits());
        let vertices = &mut self.soup.vertices;
        *self.numbers.entry(key).or_insert_with(|| {
            vertices.push(point);
            vertices.len() - 1
        })
    }
}
