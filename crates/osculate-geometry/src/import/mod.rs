//! Meshes from files: Wavefront OBJ, STL (binary and ASCII), PLY (binary and ASCII), glTF 2.0 (`.gltf` and `.glb`).
//!
//! * Of an OBJ file only `v`, `f`, `o` and `g` lines count: normals, texture coordinates, materials, lines and points are
//!   passed over. Vertices are numbered in the order in which faces use them.
//! * An STL file knows no shared vertices: corners at exactly the same place become one vertex. It stores `f32`.
//! * Of a PLY file the elements `vertex` (with `x`, `y`, `z`) and `face` (with `vertex_indices`) count; further
//!   properties and elements are passed over.
//! * Of a glTF file all triangles of the default scene count, each placed by the transforms of its nodes. Axes are kept
//!   as they are: *y* stays up. What deforms (skins, morph targets, animations) and other primitives than triangles are
//!   refused or passed over, see the module of the format. Buffers may be beside the file, within its folder.
//! * Polygons are cut into fans from their first corner, which is right for convex ones.
//! * Objects, groups, solids and nodes make one mesh; its pieces keep their names in the report.
//! * glTF is in metres. The others store no unit; their coordinates are taken as metres times [`ImportOptions::scale`].
//!
//! What is read is then repaired or refused, see [`crate::mesh::repair`]. The result need not be closed: ask
//! [`TriangleMesh::check_closed`]. An OBJ file has no end mark, so one that was cut off between two lines is only
//! noticed by that.
//!
//! ```no_run
//! use osculate_geometry::import::{ImportOptions, read_mesh};
//!
//! let (mesh, report) = read_mesh("bracket.stl", &ImportOptions { scale: 1e-3, ..ImportOptions::default() })?;
//! mesh.check_closed()?;
//! assert!(report.is_unchanged());
//! # Ok::<(), osculate_geometry::GeometryError>(())
//! ```

mod gltf;
mod line;
mod obj;
mod ply;
mod polygon;
mod stl;
#[cfg(test)]
mod tests;

use crate::GeometryError;
use crate::mesh::TriangleMesh;
use crate::mesh::repair::{Repair, RepairReport};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest file \[bytes\] for each triangle that is allowed: a facet of ASCII STL has about 250.
const BYTES_A_TRIANGLE: u64 = 400;

/// How files are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportOptions {
    /// What one unit of the file is `[m]`, > 0: 0.001 for millimetres.
    pub scale: f64,
    /// The most triangles, at most 2³⁰. A file with more is refused before memory is taken for them, one of more than
    /// 400 bytes for each before it is read.
    pub most_triangles: usize,
    /// What is repaired, what is refused.
    pub repair: Repair,
}

impl Default for ImportOptions {
    /// Metres, five million triangles, everything repaired that can be.
    fn default() -> Self {
        Self { scale: 1.0, most_triangles: 5_000_000, repair: Repair::default() }
    }
}

impl ImportOptions {
    fn check(&self) -> Result<(), GeometryError> {
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(GeometryError::Quantity {
                quantity: "scale of a mesh file",
                found: self.scale,
                allowed: "> 0 and finite",
            });
        }
        if !(1..=1 << 30).contains(&self.most_triangles) {
            return Err(GeometryError::Quantity {
                quantity: "most triangles of a mesh file",
                found: self.most_triangles as f64,
                allowed: "1 to 1073741824",
            });
        }
        Ok(())
    }
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// STL, binary or ASCII.
    Stl,
    /// PLY, binary or ASCII.
    Ply,
    /// glTF 2.0, text or binary.
    Gltf,
}

impl MeshFormat {
    /// The format by extension, in upper or lower case.
    ///
    /// # Errors
    /// Where the extension is none of obj, stl, ply, gltf, glb.
    pub fn of(path: impl AsRef<Path>) -> Result<Self, GeometryError> {
        let path = path.as_ref();
        let found = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        match found.to_lowercase().as_str() {
            "obj" => Ok(Self::Obj),
            "stl" => Ok(Self::Stl),
            "ply" => Ok(Self::Ply),
            "gltf" | "glb" => Ok(Self::Gltf),
            _ => Err(GeometryError::FileExtension { path: path.into(), found }),
        }
    }
}

/// Reads a mesh from an `.obj`, `.stl`, `.ply`, `.gltf` or `.glb` file; also what was found and changed.
///
/// # Errors
/// Where an option is outside its range, the file cannot be read, has another extension, more triangles than allowed,
/// does not follow its format, ends early, or holds no valid mesh: no triangle with an area, a corner without vertex, a
/// coordinate that is not finite, a defect that is to be refused.
pub fn read_mesh(
    path: impl AsRef<Path>,
    options: &ImportOptions,
) -> Result<(TriangleMesh, RepairReport), GeometryError> {
    let path = path.as_ref();
    let format = MeshFormat::of(path)?;
    options.check()?;
    let source = Source { path, most: options.most_triangles, folder: path.parent() };
    let bytes = source.read(format)?;
    finish(&source, format, options, &bytes)
}

/// The mesh of a file of which `bytes` are the content; `name` is what errors call it. Files beside it are not read.
///
/// # Errors
/// As [`read_mesh`], and where a glTF file needs another file.
pub fn parse_mesh(
    name: impl AsRef<Path>,
    format: MeshFormat,
    bytes: &[u8],
    options: &ImportOptions,
) -> Result<(TriangleMesh, RepairReport), GeometryError> {
    options.check()?;
    let source = Source { path: name.as_ref(), most: options.most_triangles, folder: None };
    finish(&source, format, options, bytes)
}

fn finish(
    source: &Source<'_>,
    format: MeshFormat,
    options: &ImportOptions,
    bytes: &[u8],
) -> Result<(TriangleMesh, RepairReport), GeometryError> {
    let mut soup = match format {
        MeshFormat::Obj => obj::parse(source, bytes),
        MeshFormat::Stl => stl::parse(source, bytes),
        MeshFormat::Ply => ply::parse(source, bytes),
        MeshFormat::Gltf => gltf::parse(source, bytes),
    }?;
    let mut repair = options.repair;
    if format == MeshFormat::Gltf {
        // The format says that its unit is the metre.
        repair.largest_extent = f64::INFINITY;
    }
    soup.vertices.iter_mut().for_each(|vertex| *vertex *= options.scale);
    soup.repaired(&repair).map_err(|cause| GeometryError::FileMesh {
        path: source.path.into(),
        cause: Box::new(cause),
    })
}

/// The file that is read.
struct Source<'a> {
    path: &'a Path,
    /// The most triangles.
    most: usize,
    /// Where files beside it are; none where they are not to be read.
    folder: Option<&'a Path>,
}

impl Source<'_> {
    /// Its content, unless it is too long or its head announces too many triangles.
    fn read(&self, format: MeshFormat) -> Result<Vec<u8>, GeometryError> {
        let refused =
            |e: std::io::Error| GeometryError::ReadFile { path: self.path.into(), kind: e.kind() };
        let mut file = File::open(self.path).map_err(refused)?;
        let length = file.metadata().map_err(refused)?.len();
        self.check_size(length)?;
        let mut bytes = Vec::new();
        if format == MeshFormat::Stl {
            let mut head = file.by_ref().take(stl::HEADER as u64);
            head.read_to_end(&mut bytes).map_err(refused)?;
            if stl::is_binary(&bytes, length) {
                self.check_triangles(stl::announced_triangles(&bytes))?;
            }
        }
        // A file may grow meanwhile, and some that are none have no length.
        file.take(self.most_bytes() + 1).read_to_end(&mut bytes).map_err(refused)?;
        self.check_size(bytes.len() as u64)?;
        Ok(bytes)
    }

    fn most_bytes(&self) -> u64 {
        // Room for headers and names where few triangles are allowed.
        (BYTES_A_TRIANGLE * self.most as u64).max(1 << 20)
    }

    fn check_size(&self, found: u64) -> Result<(), GeometryError> {
        let most = self.most_bytes();
        if found <= most {
            return Ok(());
        }
        Err(GeometryError::FileSize { path: self.path.into(), found, triangles: self.most, most })
    }

    fn check_triangles(&self, found: u64) -> Result<(), GeometryError> {
        if found <= self.most as u64 {
            return Ok(());
        }
        Err(GeometryError::FileTriangles { path: self.path.into(), found, most: self.most })
    }
}

/// What a parser of others says, on one line of at most 200 characters: some quote whole files.
fn one_line(cause: impl std::fmt::Display) -> String {
    let text = cause.to_string();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = words.chars().take(200).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    short
}
