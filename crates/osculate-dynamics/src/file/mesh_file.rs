//! Meshes from files: what was found and changed on the way becomes warnings.

use super::build::Context;
use super::error::FileError;
use super::schema::MeshFile;
use osculate_geometry::GeometryError;
use osculate_geometry::import::{ImportOptions, read_mesh};
use osculate_geometry::mesh::TriangleMesh;

/// The mesh; `at` is the field path of the file.
pub(super) fn read(
    context: &Context<'_>,
    mesh: &MeshFile,
    at: &str,
) -> Result<TriangleMesh, FileError> {
    let defaults = ImportOptions::default();
    let options = ImportOptions {
        scale: context.positive(&format!("{at}.scale"), mesh.scale, "m")?,
        most_triangles: mesh.most_triangles.unwrap_or(defaults.most_triangles),
        ..defaults
    };
    let shown = mesh.file.display();
    match read_mesh(context.base_dir.join(&mesh.file), &options) {
        Ok((read, report)) => {
            report.lines().for_each(|line| context.warn(at, format!("'{shown}' has {line}")));
            Ok(read)
        }
        Err(error @ GeometryError::ReadFile { .. }) => {
            let allowed = "an .obj, .stl, .ply, .gltf or .glb file, its path relative to the folder of the scene file";
            Err(context.value(at, format!("'{shown}': {error}"), allowed))
        }
        Err(error) => Err(context.geometry(at, format!("'{shown}'"), error)),
    }
}
