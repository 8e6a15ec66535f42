//! Wavefront OBJ.

use super::mesh_of_file;
use crate::GeometryError;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;
use std::path::Path;

/// The mesh of an OBJ file of which `bytes` are the content.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<TriangleMesh, GeometryError> {
    let failed = |cause| GeometryError::Obj { path: path.into(), cause };
    let text = std::str::from_utf8(bytes).map_err(|_| failed(tobj::LoadError::ReadError))?;
    let surface = surface_lines(text);
    // Faces keep their corners here: the parser's own triangulation turns a face of two corners into a flat triangle.
    let options = tobj::LoadOptions { triangulate: false, ..Default::default() };
    let no_materials = |_: &Path| Ok(Default::default());
    let (models, _) =
        tobj::load_obj_buf(&mut surface.as_bytes(), &options, no_materials).map_err(failed)?;

    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for tobj::Model { mesh, .. } in &models {
        let first = vertices.len();
        vertices.extend(mesh.positions.chunks_exact(3).map(Vector3::from_column_slice));
        let corners: Vec<usize> = mesh.indices.iter().map(|&i| first + i as usize).collect();
        triangles.extend(fans(path, &corners, &mesh.face_arities)?);
    }
    mesh_of_file(path, vertices, triangles)
}

/// Only vertices and faces, without the parts of a line that are no geometry.
///
/// The parser would read a polyline of three points as a triangle, and refuse a file for its texture coordinates.
fn surface_lines(text: &str) -> String {
    let mut surface = String::with_capacity(text.len());
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
                for corner in words {
                    // A corner without a vertex goes on whole, for the parser to refuse.
                    let vertex = corner.split('/').next().filter(|v| !v.is_empty());
                    surface.push(' ');
                    surface.push_str(vertex.unwrap_or(corner));
                }
            }
            _ => continue,
        }
        surface.push('\n');
    }
    surface
}

/// Triangles of polygons: `(a, b, c)`, `(a, c, d)`, … of each; no arities mean that all are triangles.
fn fans(path: &Path, corners: &[usize], arities: &[u32]) -> Result<Vec<[usize; 3]>, GeometryError> {
    if arities.is_empty() {
        return Ok(corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect());
    }
    let (mut triangles, mut rest) = (Vec::new(), corners);
    for (face, &arity) in arities.iter().enumerate() {
        let (polygon, after) = rest.split_at(arity as usize);
        if polygon.len() < 3 {
            let (path, corners) = (path.into(), polygon.len());
            return Err(GeometryError::FaceCorners { path, face, corners });
        }
        triangles.extend(polygon[1..].windows(2).map(|edge| [polygon[0], edge[0], edge[1]]));
        rest = after;
    }
    Ok(triangles)
}
