//! Mesh files that a robot file names.

use super::description::MeshShape;
use super::error::{ImportError, Problem};
use super::notes::{Note, Outcome};
use super::xml::Element;
use nalgebra::Vector3;
use osculate_geometry::GeometryError;
use osculate_geometry::import::{ImportOptions, read_mesh};
use osculate_geometry::mesh::TriangleMesh;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where files are looked for, and what is made of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobotOptions {
    /// Folder of the robot file: relative paths start there.
    pub folder: PathBuf,
    /// Further folders. The file of `package://NAME/PATH` is `FOLDER/NAME/PATH`, or `FOLDER/PATH` where the last part
    /// of `FOLDER` is `NAME`; the folder of the robot file and those around it are tried too.
    pub search: Vec<PathBuf>,
    /// Whether the root of a URDF tree floats; it is fixed to the world otherwise.
    pub floating: bool,
    /// The most triangles of a mesh; the limit of the reader where it is `None`.
    pub most_triangles: Option<usize>,
}

/// A mesh by file and factors.
type Key = (PathBuf, [u64; 3]);

/// Reads meshes, each once.
pub(super) struct Meshes<'o> {
    options: &'o RobotOptions,
    read: RefCell<BTreeMap<Key, Arc<TriangleMesh>>>,
}

/// A mesh that a file names.
pub(super) struct MeshName<'a> {
    /// The name in the file.
    pub(super) file: &'a str,
    /// A folder in which relative names start, relative to that of the robot file.
    pub(super) folder: &'a str,
    /// Factors along the axes.
    pub(super) scale: Vector3<f64>,
}

impl<'o> Meshes<'o> {
    pub(super) fn new(options: &'o RobotOptions) -> Self {
        Self { options, read: RefCell::default() }
    }

    /// Reads a mesh; what is doubtful about it becomes notes at `at`.
    pub(super) fn load(
        &self,
        at: Element<'_>,
        name: &MeshName<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<MeshShape, ImportError> {
        let scale = name.scale;
        let tried_paths = self.places(name);
        let Some(path) = tried_paths.iter().find(|p| p.is_file()).cloned() else {
            return Err(at.error(Problem::MeshNotFound { file: name.file.into(), tried_paths }));
        };
        let key = (path.clone(), [scale.x, scale.y, scale.z].map(f64::to_bits));
        if let Some(mesh) = self.read.borrow().get(&key) {
            return Ok(MeshShape { path, scale, mesh: Arc::clone(mesh) });
        }
        let wrong = |source| at.error(Problem::Mesh { file: path.display().to_string(), source });
        let largest = scale.amax();
        let defaults = ImportOptions::default();
        let most_triangles = self.options.most_triangles.unwrap_or(defaults.most_triangles);
        let options = ImportOptions { scale: largest, most_triangles, ..defaults };
        let (mesh, report) = read_mesh(&path, &options).map_err(wrong)?;
        for line in report.lines() {
            notes.push(at.note(None, Outcome::Doubtful, format!("'{}' has {line}", name.file)));
        }
        let mesh = stretched(mesh, &(scale / largest)).map_err(wrong)?;
        let mesh = Arc::new(mesh);
        self.read.borrow_mut().insert(key, Arc::clone(&mesh));
        Ok(MeshShape { path, scale, mesh })
    }

    /// Where a mesh may be, in the order in which it is looked for.
    fn places(&self, name: &MeshName<'_>) -> Vec<PathBuf> {
        let own = &self.options.folder;
        if let Some(rest) = name.file.strip_prefix("package://") {
            return self.in_package(rest);
        }
        let file = Path::new(name.file.strip_prefix("file://").unwrap_or(name.file));
        if file.is_absolute() {
            return vec![file.into()];
        }
        let mut places = vec![own.join(name.folder).join(file)];
        places.extend(self.options.search.iter().map(|folder| folder.join(file)));
        places
    }

    fn in_package(&self, rest: &str) -> Vec<PathBuf> {
        let (package, inner) = rest.split_once('/').unwrap_or((rest, ""));
        let around = self.options.folder.ancestors();
        let around = around.filter(|f| f.file_name().is_some_and(|n| n == package));
        let mut places: Vec<PathBuf> = around.map(|f| f.join(inner)).collect();
        for folder in &self.options.search {
            if folder.file_name().is_some_and(|n| n == package) {
                places.push(folder.join(inner));
            }
            places.push(folder.join(rest));
        }
        places.push(self.options.folder.join(rest));
        places
    }
}

/// The mesh with factors along its axes; an odd number of negative ones turns triangles round.
fn stretched(mesh: TriangleMesh, factors: &Vector3<f64>) -> Result<TriangleMesh, GeometryError> {
    if factors.iter().all(|f| f.to_bits() == 1_f64.to_bits()) {
        return Ok(mesh);
    }
    let vertices = mesh.vertices().iter().map(|v| v.component_mul(factors)).collect();
    let mirrored = factors.product() < 0.0;
    let turn = |&[a, b, c]: &[usize; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
    TriangleMesh::new(vertices, mesh.triangles().iter().map(turn).collect())
}
