//! Grids that are built once.

use super::file::VERSION;
use super::{GridKey, GridParams, GridSdf};
use crate::GeometryError;
use crate::distance::MeshDistance;
use crate::mesh::TriangleMesh;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// SHA-256 of format version, vertices, triangles and parameters.
pub(super) fn key(mesh: &TriangleMesh, params: &GridParams) -> GridKey {
    let mut hash = Sha256::new();
    hash.update(VERSION.to_le_bytes());
    hash.update((mesh.vertices().len() as u64).to_le_bytes());
    for x in mesh.vertices().iter().flatten() {
        hash.update(x.to_le_bytes());
    }
    hash.update((mesh.triangles().len() as u64).to_le_bytes());
    for &i in mesh.triangles().iter().flatten() {
        hash.update((i as u64).to_le_bytes());
    }
    hash.update(params.mode.name());
    for x in params.delta.iter().chain([&params.padding]) {
        hash.update(x.to_le_bytes());
    }
    for n in params.min_cells {
        hash.update((n as u64).to_le_bytes());
    }
    hash.finalize().into()
}

impl GridSdf {
    /// Where [`GridSdf::cached`] keeps the grid of a mesh, which must be closed or welded as it would be.
    ///
    /// # Errors
    /// Where the mesh is open even after welding.
    pub fn cache_path(
        mesh: &TriangleMesh,
        params: &GridParams,
        dir: &Path,
    ) -> Result<PathBuf, GeometryError> {
        Ok(path(&key(MeshDistance::new(mesh)?.mesh(), params), dir))
    }

    /// The grid of a mesh from a folder, or built and put there.
    ///
    /// A file is found by the hash of what it was made of. One that is damaged is replaced.
    ///
    /// # Errors
    /// As [`GridSdf::of_mesh`]; where the folder or the file cannot be written.
    pub fn cached(
        mesh: &TriangleMesh,
        params: &GridParams,
        dir: impl AsRef<Path>,
    ) -> Result<Self, GeometryError> {
        let dir = dir.as_ref();
        params.extent(mesh)?;
        let distance = MeshDistance::new(mesh)?;
        let key = key(distance.mesh(), params);
        let path = path(&key, dir);
        if let Ok(grid) = Self::load(&path)
            && grid.key == key
        {
            return Ok(grid);
        }
        let grid = Self::of_distance(&distance, params)?;
        std::fs::create_dir_all(dir)
            .map_err(|error| GeometryError::WriteFile { path: dir.into(), kind: error.kind() })?;
        grid.save(path)?;
        Ok(grid)
    }
}

fn path(key: &GridKey, dir: &Path) -> PathBuf {
    let mut name = String::with_capacity(72);
    for byte in key {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
    }
    dir.join(name + ".grid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_request_is_read_and_a_damaged_file_is_replaced() {
        let dir = std::env::temp_dir().join(format!("osculate-cache-{}", std::process::id()));
        let mesh = TriangleMesh::icosphere(0.1, 1).unwrap();
        let params = GridParams { delta: [0.5; 3], ..GridParams::default() };
        let built = GridSdf::cached(&mesh, &params, &dir).unwrap();
        let path = GridSdf::cache_path(&mesh, &params, &dir).unwrap();
        let written = std::fs::read(&path).unwrap();
        assert_eq!(GridSdf::cached(&mesh, &params, &dir).unwrap(), built);
        std::fs::write(&path, &written[..written.len() / 2]).unwrap();
        assert_eq!(GridSdf::cached(&mesh, &params, &dir).unwrap(), built);
        assert_eq!(std::fs::read(&path).unwrap(), written);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn every_parameter_and_every_vertex_counts_in_the_key() {
        let mesh = TriangleMesh::icosphere(0.1, 1).unwrap();
        let params = GridParams::default();
        let mut keys = vec![key(&mesh, &params), key(&mesh.scaled(1.0 + 1e-15).unwrap(), &params)];
        let mut see = |change: fn(&mut GridParams)| {
            let mut changed = params;
            change(&mut changed);
            keys.push(key(&mesh, &changed));
        };
        see(|p| p.mode = super::super::ResolutionMode::MeanAxis);
        see(|p| p.delta[1] = 0.3);
        see(|p| p.min_cells[2] = 7);
        see(|p| p.padding = 0.006);
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[..i].iter().all(|b| a != b), "key {i}");
        }
    }
}
