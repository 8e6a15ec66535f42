//! Wavefront OBJ.

use super::{Source, line, polygon};
use crate::GeometryError;
use crate::mesh::repair::{Part, Soup};
use nalgebra::Vector3;
use std::path::Path;

/// The triangles of an OBJ file of which `bytes` are the content.
pub(super) fn parse(source: &Source<'_>, bytes: &[u8]) -> Result<Soup, GeometryError> {
    let failed = |cause| GeometryError::Obj { path: source.path.into(), cause };
    let text = std::str::from_utf8(bytes).map_err(|_| failed(tobj::LoadError::ReadError))?;
    let failed = |cause| match line::of_obj(text, false) {
        Some(line) => line.refused(source),
        None => failed(cause),
    };
    let (surface, parts) = surface_lines(source, text)?;
    // Faces keep their corners here: the parser's own triangulation turns a face of two corners into a flat triangle.
    let options = tobj::LoadOptions { triangulate: false, ..Default::default() };
    let no_materials = |_: &Path| Ok(Default::default());
    let (models, _) =
        tobj::load_obj_buf(&mut surface.as_bytes(), &options, no_materials).map_err(failed)?;

    let mut soup = Soup { parts, ..Soup::default() };
    for tobj::Model { mesh, .. } in &models {
        let first = soup.vertices.len();
        soup.vertices.extend(mesh.positions.chunks_exact(3).map(Vector3::from_column_slice));
        let infinite = mesh.positions.iter().any(|x| !x.is_finite());
        if let Some(line) = infinite.then(|| line::of_obj(text, true)).flatten() {
            return Err(line.refused(source));
        }
        let corners: Vec<usize> = mesh.indices.iter().map(|&i| first + i as usize).collect();
        push_faces(source, &mut soup.triangles, &corners, &mesh.face_arities)?;
    }
    Ok(soup)
}

/// Only vertices and faces, without the parts of a line that are no geometry; and where objects and groups start.
///
/// The parser would read a polyline of three points as a triangle, refuse a file for its texture coordinates, and make
/// two of a vertex that two groups share.
fn surface_lines(source: &Source<'_>, text: &str) -> Result<(String, Vec<Part>), GeometryError> {
    let (mut surface, mut parts) = (String::with_capacity(text.len()), Vec::new());
    let mut triangles = 0;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let values: Vec<&str> = words.collect();
                // Three coordinates, or four homogeneous ones; six and more are a colour behind three.
                let coordinates = if values.len() >= 6 { &values[..3] } else { &values };
                surface.push_str("v ");
                surface.push_str(&coordinates.join(" "));
            }
            Some("f") => {
                surface.push('f');
                let mut corners = 0usize;
                for corner in words {
                    // A corner without a vertex goes on whole, for the parser to refuse.
                    let vertex = corner.split('/').next().filter(|v| !v.is_empty());
                    surface.push(' ');
                    surface.push_str(vertex.unwrap_or(corner));
                    corners += 1;
                }
                triangles += corners.saturating_sub(2);
                source.check_triangles(triangles as u64)?;
            }
            Some("o" | "g") => {
                let name = words.collect::<Vec<_>>().join(" ");
                parts.push(Part { name, first: triangles });
                continue;
            }
            _ => continue,
        }
        surface.push('\n');
    }
    Ok((surface, parts))
}

/// Adds the triangles of polygons; no arities mean that all are triangles.
fn push_faces(
    source: &Source<'_>,
    triangles: &mut Vec<[usize; 3]>,
    corners: &[usize],
    arities: &[u32],
) -> Result<(), GeometryError> {
    if arities.is_empty() {
        triangles.extend(corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]));
        return Ok(());
    }
    let mut rest = corners;
    for (face, &arity) in arities.iter().enumerate() {
        let (corners, after) = rest.split_at(arity as usize);
        if !polygon::push_fan(triangles, corners) {
            let (path, corners) = (source.path.into(), corners.len());
            return Err(GeometryError::FaceCorners { path, face, corners });
        }
        rest = after;
    }
    Ok(())
}
