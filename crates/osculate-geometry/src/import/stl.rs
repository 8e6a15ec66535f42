//! STL, binary and ASCII.

use super::{Welded, mesh_of_file};
use crate::GeometryError;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;
use std::io::Cursor;
use std::path::Path;

/// Bytes of a binary file before its triangles: free text, then their number.
const HEADER: usize = 84;
const TEXT: usize = 80;

/// Bytes of a triangle: normal and corners as twelve `f32`, and two bytes without meaning.
const TRIANGLE: u64 = 50;

/// The mesh of an STL file of which `bytes` are the content.
///
/// A file is binary if its length is what its triangle count says, whatever its free text: many writers begin it
/// with "solid", the mark of an ASCII file.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<TriangleMesh, GeometryError> {
    let triangles = announced_triangles(bytes);
    let expected = HEADER as u64 + TRIANGLE * triangles;
    let found = bytes.len() as u64;
    let mut surface = Surface::default();
    if bytes.len() >= HEADER && found == expected {
        surface.read_binary(bytes).map_err(|_| GeometryError::StlLength {
            path: path.into(),
            triangles,
            expected,
            found,
        })?;
    } else if is_ascii(bytes) {
        for (solid, text) in solids(bytes).enumerate() {
            surface.read_ascii(text).map_err(|error| GeometryError::AsciiStl {
                path: path.into(),
                solid,
                cause: error.to_string(),
            })?;
        }
    } else {
        return Err(GeometryError::StlLength { path: path.into(), triangles, expected, found });
    }
    mesh_of_file(path, surface.corners.vertices, surface.triangles)
}

/// The triangle count of a binary file; 0 where it has no whole header.
fn announced_triangles(bytes: &[u8]) -> u64 {
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

/// The solids of an ASCII file one by one, each from after its first line up to and with its `endsolid`; what stands
/// after the last one too, unless it is blank.
fn solids(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let mut lines = bytes.split(|&b| b == b'\n').peekable();
    std::iter::from_fn(move || {
        while lines.next_if(|line| line.trim_ascii().is_empty()).is_some() {}
        // The parser asks for a name after "solid", which the format does not.
        let mut solid = match lines.next()? {
            line if is_ascii(line.trim_ascii()) => b"solid mesh\n".to_vec(),
            line => [line, b"\n"].concat(),
        };
        for line in lines.by_ref() {
            solid.extend_from_slice(line);
            solid.push(b'\n');
            if line.trim_ascii().starts_with(b"endsolid") {
                break;
            }
        }
        Some(solid)
    })
}

/// Triangles read so far.
#[derive(Default)]
struct Surface {
    corners: Welded,
    triangles: Vec<[usize; 3]>,
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
            self.triangles.push(
                corners.map(|corner| self.corners.number(Vector3::from(corner.0.map(f64::from)))),
            );
        }
        Ok(())
    }
}
