//! Meshes from files: Wavefront OBJ and STL (binary and ASCII).
//!
//! * Of an OBJ file only `v` and `f` lines count: objects and groups make one mesh, normals, texture coordinates,
//!   materials, lines and points are passed over. Polygons are cut into fans from their first corner, which is right for
//!   convex ones. Vertices are numbered in the order in which faces use them, and two vertices at one place stay two.
//! * An STL file knows no shared vertices: corners at exactly the same place become one vertex. It stores `f32`.
//! * No unit is stored in either; coordinates are taken as metres.
//!
//! The result need not be closed: ask [`TriangleMesh::check_closed`]. An OBJ file has no end mark, so one that was
//! cut off between two lines is only noticed by that.

mod obj;
mod stl;
#[cfg(test)]
mod tests;

use crate::GeometryError;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;
use std::collections::HashMap;
use std::path::Path;

/// Reads a mesh from an `.obj` or `.stl` file, by extension in upper or lower case.
///
/// # Errors
/// Where the file cannot be read, has another extension, does not follow its format, ends early, or holds no valid
/// mesh (no triangle, a degenerate one, a coordinate that is not finite).
pub fn read_mesh(path: impl AsRef<Path>) -> Result<TriangleMesh, GeometryError> {
    let path = path.as_ref();
    let found = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let parse: fn(&Path, &[u8]) -> Result<TriangleMesh, GeometryError> =
        match found.to_lowercase().as_str() {
            "obj" => obj::parse,
            "stl" => stl::parse,
            _ => return Err(GeometryError::FileExtension { path: path.into(), found }),
        };
    let bytes = std::fs::read(path)
        .map_err(|error| GeometryError::ReadFile { path: path.into(), kind: error.kind() })?;
    parse(path, &bytes)
}

/// A mesh of a file, with the file named in the error.
fn mesh_of_file(
    path: &Path,
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[usize; 3]>,
) -> Result<TriangleMesh, GeometryError> {
    TriangleMesh::new(vertices, triangles)
        .map_err(|cause| GeometryError::FileMesh { path: path.into(), cause: Box::new(cause) })
}

/// Vertices in the order of their first appearance, corners at the same place being one.
#[derive(Default)]
struct Welded {
    vertices: Vec<Vector3<f64>>,
    numbers: HashMap<[u64; 3], usize>,
}

impl Welded {
    fn number(&mut self, point: Vector3<f64>) -> usize {
        // −0 + 0 = 0: both zeros are one place.
        let key = [point.x, point.y, point.z].map(|x| (x + 0.0).to_bits());
        *self.numbers.entry(key).or_insert_with(|| {
            self.vertices.push(point);
            self.vertices.len() - 1
        })
    }
}
