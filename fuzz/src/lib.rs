//! What the fuzz targets call: a reader on any bytes, and the laws that hold for whatever it gives.

use osculate_dynamics::file::SceneFile;
use osculate_dynamics::import::{Description, ImportError, RobotOptions};
use osculate_geometry::grid::GridSdf;
use osculate_geometry::import::{ImportOptions, MeshFormat, parse_mesh};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Any bytes are a mesh within the limits, or an error that can be shown.
///
/// # Panics
/// Where a mesh has what meshes never have.
pub fn mesh(format: MeshFormat, bytes: &[u8]) {
    // Few: what is refused by the limit has to be refused before it takes time or memory.
    let options = ImportOptions { most_triangles: 10_000, ..ImportOptions::default() };
    match parse_mesh("fuzz", format, bytes, &options) {
        Ok((mesh, report)) => {
            assert!(mesh.triangles().len() <= options.most_triangles);
            assert!(mesh.vertices().iter().flatten().all(|x| x.is_finite()));
            let counted: usize = report.pieces.iter().map(|piece| piece.triangles).sum();
            assert_eq!(counted, mesh.triangles().len(), "triangles of all pieces");
            report.lines().for_each(|line| assert!(!line.is_empty()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Any bytes are a grid or an error. The checksum is made to fit, so that what it protects is reached too.
///
/// # Panics
/// Where a grid has what grids never have.
pub fn grid(bytes: &[u8]) {
    let mut signed = bytes.to_vec();
    if let Some(body) = bytes.len().checked_sub(32) {
        let checksum = Sha256::digest(&bytes[..body]);
        signed[body..].copy_from_slice(&checksum);
    }
    for bytes in [bytes, &signed] {
        match GridSdf::parse(bytes) {
            Ok(grid) => {
                assert_eq!(grid.values().len(), grid.nodes().iter().product::<usize>());
                let middle = (grid.bounds().lower + grid.bounds().upper) * 0.5;
                for point in [middle, grid.bounds().lower, grid.bounds().upper * 2.0] {
                    let _: f64 = grid.phi(&point);
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Any text is a scene or an error; any scene can be built or is refused; written, it can be read again.
///
/// # Panics
/// Where a scene that was written cannot be read.
pub fn scene(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match SceneFile::parse(text, "fuzz.toml") {
        Ok(scene) => {
            if let Ok(text) = scene.to_toml() {
                assert!(SceneFile::parse(&text, "again.toml").is_ok(), "unreadable: {text}");
            }
            if let Err(error) = scene.build(Path::new("/nonexistent")) {
                assert!(!error.to_string().is_empty());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A reader of robot files.
type RobotReader = fn(&str, &Path, &RobotOptions) -> Result<Description, ImportError>;

/// Any text is a robot, of which there is a model and a scene that can be read again, or an error with a place.
///
/// # Panics
/// Where a robot has no model, or its scene cannot be read.
pub fn robot(bytes: &[u8], read: RobotReader) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let folder = Path::new("/nonexistent");
    let options = RobotOptions { folder: folder.into(), ..RobotOptions::default() };
    match read(text, Path::new("fuzz"), &options) {
        Ok(robot) => {
            assert!(robot.model().is_ok(), "no model");
            robot.notes.iter().for_each(|note| assert!(note.line >= 1 && !note.reason.is_empty()));
            let scene = robot.scene(folder).file;
            let text = scene.to_toml().expect("written");
            assert!(SceneFile::parse(&text, "again.toml").is_ok(), "unreadable: {text}");
            if let Err(error) = scene.build(folder) {
                assert!(!error.to_string().is_empty());
            }
        }
        Err(error) => {
            assert!(error.spot.line >= 1 && !error.problem.to_string().is_empty(), "{error}");
        }
    }
}
