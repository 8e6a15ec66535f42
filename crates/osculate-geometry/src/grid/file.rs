//! Grid files.
//!
//! Little endian, in this order:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `OSCGRID` and a zero |
//! | 4 | version |
//! | 24 | cells along x, y, z |
//! | 48 | lower and upper corner (m) |
//! | 32 | key: SHA-256 of what the grid was made of |
//! | 8 a node | values (m), z fastest |
//! | 32 | SHA-256 of everything before |

use super::params::check_cells;
use super::{GridExtent, GridSdf};
use crate::GeometryError;
use crate::aabb::Aabb;
use nalgebra::Vector3;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Read;
use std::path::Path;

const MAGIC: [u8; 8] = *b"OSCGRID\0";

/// Version of the format, raised whenever it changes.
pub const VERSION: u32 = 1;

const HEADER: usize = 8 + 4 + 24 + 48 + 32;
const CHECKSUM: usize = 32;

impl GridSdf {
    /// Writes the grid; an existing file is replaced in one step.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), GeometryError> {
        let path = path.as_ref();
        let failed = |error: std::io::Error| GeometryError::WriteFile {
            path: path.into(),
            kind: error.kind(),
        };
        // Readers never see half a file, and two writers of one grid do not disturb each other.
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        let written =
            fs::write(&temporary, self.to_bytes()).and_then(|()| fs::rename(&temporary, path));
        written.map_err(|error| {
            // What is left of the attempt may stay where even this fails.
            let _ = fs::remove_file(&temporary);
            failed(error)
        })
    }

    /// Reads a grid.
    ///
    /// # Errors
    /// Where the file cannot be read, is no grid file, has another version, is truncated or changed, or describes a grid
    /// that is too large. Nothing is allocated before the length of the file is known to fit its header.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, GeometryError> {
        let path = path.as_ref();
        let failed = |error: std::io::Error| GeometryError::ReadFile {
            path: path.into(),
            kind: error.kind(),
        };
        let refuse = |cause| GeometryError::GridFile { path: path.into(), cause };
        let mut file = fs::File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut bytes = vec![0; HEADER];
        if length < HEADER as u64 {
            return Err(refuse(GridFileError::Length { expected: HEADER as u64, found: length }));
        }
        file.read_exact(&mut bytes).map_err(failed)?;
        let (extent, key) = header(&bytes).map_err(refuse)?;
        let nodes: usize = extent.cells.iter().map(|n| n + 1).product();
        let expected = HEADER + 8 * nodes + CHECKSUM;
        if length != expected as u64 {
            return Err(refuse(GridFileError::Length { expected: expected as u64, found: length }));
        }
        bytes.resize(expected, 0);
        file.read_exact(&mut bytes[HEADER..]).map_err(failed)?;
        body(extent, key, &bytes).map_err(refuse)
    }

    /// The grid of a file's bytes.
    ///
    /// # Errors
    /// As [`GridSdf::load`], without a path.
    pub fn parse(bytes: &[u8]) -> Result<Self, GridFileError> {
        let found = bytes.len() as u64;
        if bytes.len() < HEADER {
            return Err(GridFileError::Length { expected: HEADER as u64, found });
        }
        let (extent, key) = header(bytes)?;
        let nodes: usize = extent.cells.iter().map(|n| n + 1).product();
        let expected = (HEADER + 8 * nodes + CHECKSUM) as u64;
        if found != expected {
            return Err(GridFileError::Length { expected, found });
        }
        body(extent, key, bytes)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.bytes() + CHECKSUM);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        for n in self.cells {
            bytes.extend((n as u64).to_le_bytes());
        }
        for x in self.bounds.lower.iter().chain(&self.bounds.upper) {
            bytes.extend(x.to_le_bytes());
        }
        bytes.extend(self.key);
        for x in &self.values {
            bytes.extend(x.to_le_bytes());
        }
        let checksum = Sha256::digest(&bytes);
        bytes.extend(checksum);
        bytes
    }
}

/// The grid of bytes whose length fits their header.
fn body(extent: GridExtent, key: super::GridKey, bytes: &[u8]) -> Result<GridSdf, GridFileError> {
    let (signed, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    if Sha256::digest(signed).as_slice() != checksum {
        return Err(GridFileError::Checksum);
    }
    let mut numbers = Reader(&signed[HEADER..]);
    let values: Vec<f64> = (0..numbers.0.len() / 8).map(|_| numbers.f64()).collect();
    match values.iter().position(|x| !x.is_finite()) {
        Some(node) => Err(GridFileError::Value { node, found: values[node] }),
        None => Ok(GridSdf::assemble(extent, values, key)),
    }
}

/// Why a file is not taken for a grid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GridFileError {
    /// It does not begin as a grid file does.
    #[error("it does not begin as a grid file does")]
    Magic,
    /// It was written in another version of the format.
    #[error("its version is {found}, allowed: {allowed}")]
    Version {
        /// Version of the file.
        found: u32,
        /// The version that is read.
        allowed: u32,
    },
    /// It is shorter or longer than its header says.
    #[error("it has {found} bytes, by its header {expected}")]
    Length {
        /// Bytes that the header asks for.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// Its header describes no grid.
    #[error("its header describes {found:?} cells from {lower:?} m to {upper:?} m")]
    Extent {
        /// Cells along x, y, z.
        found: [u64; 3],
        /// Lower corner `[m]`.
        lower: [f64; 3],
        /// Upper corner `[m]`.
        upper: [f64; 3],
    },
    /// Its grid is too large.
    #[error("{0}")]
    Size(Box<GeometryError>),
    /// Its bytes are not those that were written.
    #[error("its checksum does not fit its bytes")]
    Checksum,
    /// A value is infinite or not a number.
    #[error("node {node} is {found}, allowed: finite")]
    Value {
        /// Index of the node.
        node: usize,
        /// The value found `[m]`.
        found: f64,
    },
}

/// Numbers from a slice that is known to be long enough.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_at(N);
        self.0 = rest;
        let mut bytes = [0; N];
        bytes.copy_from_slice(head);
        bytes
    }

    fn f64(&mut self) -> f64 {
        f64::from_le_bytes(self.take())
    }
}

fn header(bytes: &[u8]) -> Result<(GridExtent, super::GridKey), GridFileError> {
    let mut reader = Reader(bytes);
    if reader.take() != MAGIC {
        return Err(GridFileError::Magic);
    }
    let found = u32::from_le_bytes(reader.take());
    if found != VERSION {
        return Err(GridFileError::Version { found, allowed: VERSION });
    }
    let found = [0; 3].map(|_: u64| u64::from_le_bytes(reader.take()));
    let lower = [0; 3].map(|_: u8| reader.f64());
    let upper = [0; 3].map(|_: u8| reader.f64());
    let key = reader.take();
    let bounds = Aabb { lower: Vector3::from(lower), upper: Vector3::from(upper) };
    let size = bounds.size();
    let cells = found.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let bad = size.iter().any(|x| !(*x > 0.0 && x.is_finite())) || cells.contains(&0);
    if bad {
        return Err(GridFileError::Extent { found, lower, upper });
    }
    check_cells(cells).map_err(|error| GridFileError::Size(Box::new(error)))?;
    Ok((GridExtent { bounds, cells }, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GridParams;
    use crate::mesh::TriangleMesh;
    use std::path::PathBuf;

    fn grid() -> GridSdf {
        let mesh = TriangleMesh::icosphere(0.1, 1).unwrap();
        GridSdf::of_mesh(&mesh, &GridParams { delta: [0.5; 3], ..GridParams::default() }).unwrap()
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("osculate-grid-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    fn refused(bytes: &[u8], name: &str) -> GridFileError {
        let path = scratch(name);
        fs::write(&path, bytes).unwrap();
        match GridSdf::load(&path) {
            Err(GeometryError::GridFile { cause, path: named }) if named == path => cause,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn grid_comes_back_bit_for_bit() {
        let path = scratch("whole.grid");
        grid().save(&path).unwrap();
        assert_eq!(GridSdf::load(&path).unwrap(), grid());
        // Over the old file, and nothing is left beside it.
        grid().save(&path).unwrap();
        let beside = fs::read_dir(path.parent().unwrap()).unwrap();
        assert!(beside.flatten().all(|e| e.path().extension().is_none_or(|x| x != "tmp")));
    }

    #[test]
    fn every_flipped_bit_of_a_byte_is_found() {
        let bytes = grid().to_bytes();
        for at in (0..bytes.len()).step_by(bytes.len() / 97) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            refused(&changed, "changed.grid");
        }
        let mut changed = bytes.clone();
        changed[HEADER + 3] ^= 1;
        assert_eq!(refused(&changed, "value.grid"), GridFileError::Checksum);
        changed = bytes.clone();
        changed[8] = 9;
        assert_eq!(
            refused(&changed, "version.grid"),
            GridFileError::Version { found: 9, allowed: VERSION }
        );
        changed[0] = b'X';
        assert_eq!(refused(&changed, "magic.grid"), GridFileError::Magic);
    }

    #[test]
    fn truncated_and_padded_files_are_refused() {
        let bytes = grid().to_bytes();
        let found = bytes.len() as u64;
        for cut in [0, 7, HEADER - 1, HEADER, bytes.len() - 1] {
            let error = refused(&bytes[..cut], "cut.grid");
            assert!(matches!(error, GridFileError::Length { found, .. } if found == cut as u64));
        }
        let longer = [bytes, vec![0]].concat();
        assert_eq!(
            refused(&longer, "longer.grid"),
            GridFileError::Length { expected: found, found: found + 1 }
        );
    }

    #[test]
    fn absurd_headers_are_refused_before_anything_is_allocated() {
        let bytes = grid().to_bytes();
        let with_cells = |cells: [u64; 3]| {
            let mut changed = bytes.clone();
            for (i, n) in cells.iter().enumerate() {
                changed[12 + 8 * i..20 + 8 * i].copy_from_slice(&n.to_le_bytes());
            }
            changed
        };
        for cells in [[u64::MAX; 3], [1 << 20; 3], [600, 1000, 1000]] {
            let error = refused(&with_cells(cells), "huge.grid");
            assert!(matches!(error, GridFileError::Size(_)), "{error}");
        }
        let error = refused(&with_cells([0, 4, 4]), "empty.grid");
        assert!(matches!(error, GridFileError::Extent { found: [0, 4, 4], .. }), "{error}");
        let mut turned = bytes.clone();
        turned[36..44].copy_from_slice(&f64::NAN.to_le_bytes());
        assert!(matches!(refused(&turned, "nan.grid"), GridFileError::Extent { .. }));
    }

    #[test]
    fn value_that_is_not_a_number_is_refused_though_the_checksum_fits() {
        let mut grid = grid();
        grid.values[5] = f64::NAN;
        let error = refused(&grid.to_bytes(), "value_nan.grid");
        assert!(matches!(error, GridFileError::Value { node: 5, .. }), "{error}");
    }

    #[test]
    fn bytes_are_read_as_the_file_that_has_them_and_no_cut_of_them_is() {
        let bytes = grid().to_bytes();
        assert_eq!(GridSdf::parse(&bytes).unwrap(), grid());
        for length in 0..bytes.len() {
            let cut = GridSdf::parse(&bytes[..length]);
            assert!(matches!(cut, Err(GridFileError::Length { .. })), "{length}: {cut:?}");
        }
    }
}
