//! How fine a grid is.
//!
//! ```text
//! cellsᵢ = max(⌈sizeᵢ / (deltaᵢ · reference)⌉, min_cellsᵢ)
//! ```
//!
//! on the padded bounding box. The reference length belongs to the mesh itself, without padding.

use crate::GeometryError;
use crate::aabb::Aabb;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;

/// The most cells of a grid.
pub const MOST_CELLS: u128 = 1_000_000_000;

/// The most memory that the nodes of a grid may take (bytes).
pub const MOST_BYTES: u128 = 4 << 30;

/// The reference length that cells are measured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResolutionMode {
    /// The longest edge of the bounding box.
    LargestAxis,
    /// The shortest edge of the bounding box.
    SmallestAxis,
    /// The mean of the three edge lengths of the bounding box.
    MeanAxis,
    /// The longest edge of a triangle.
    LargestEdge,
    /// The shortest edge of a triangle.
    SmallestEdge,
    /// The mean over the edges of all triangles, each edge once.
    #[default]
    MeanEdge,
    /// One metre: the deltas are cell sizes.
    Explicit,
}

impl ResolutionMode {
    /// All modes.
    pub const ALL: [Self; 7] = [
        Self::LargestAxis,
        Self::SmallestAxis,
        Self::MeanAxis,
        Self::LargestEdge,
        Self::SmallestEdge,
        Self::MeanEdge,
        Self::Explicit,
    ];

    /// Name, as it stands in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::LargestAxis => "largest-axis",
            Self::SmallestAxis => "smallest-axis",
            Self::MeanAxis => "mean-axis",
            Self::LargestEdge => "largest-edge",
            Self::SmallestEdge => "smallest-edge",
            Self::MeanEdge => "mean-edge",
            Self::Explicit => "explicit",
        }
    }

    /// The reference length of a mesh (m).
    pub fn reference(self, mesh: &TriangleMesh) -> f64 {
        let size = Aabb::of_points(mesh.vertices()).map_or_else(Vector3::zeros, |b| b.size());
        match self {
            Self::LargestAxis => size.max(),
            Self::SmallestAxis => size.min(),
            Self::MeanAxis => size.sum() / 3.0,
            Self::LargestEdge => edges(mesh).into_iter().fold(0.0, f64::max),
            Self::SmallestEdge => edges(mesh).into_iter().fold(f64::INFINITY, f64::min),
            Self::MeanEdge => {
                let lengths = edges(mesh);
                lengths.iter().sum::<f64>() / lengths.len() as f64
            }
            Self::Explicit => 1.0,
        }
    }
}

/// Lengths (m) of the edges of a mesh, each once, in the order of vertex indices.
fn edges(mesh: &TriangleMesh) -> Vec<f64> {
    let sides = mesh.triangles().iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    let mut pairs: Vec<(usize, usize)> = sides.map(|(i, j)| (i.min(j), i.max(j))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let vertices = mesh.vertices();
    pairs.into_iter().map(|(i, j)| (vertices[i] - vertices[j]).norm()).collect()
}

/// Resolution and extent of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridParams {
    /// Reference length.
    pub mode: ResolutionMode,
    /// Cell size along each axis by the reference length (–); with [`ResolutionMode::Explicit`] the cell size (m). > 0.
    pub delta: [f64; 3],
    /// Fewest cells along each axis, ≥ 1.
    pub min_cells: [usize; 3],
    /// How far the grid extends beyond the bounding box of the mesh (m), ≥ 0.
    pub padding: f64,
}

impl Default for GridParams {
    fn default() -> Self {
        Self { mode: ResolutionMode::MeanEdge, delta: [0.25; 3], min_cells: [6; 3], padding: 0.005 }
    }
}

/// Box and cells of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridExtent {
    /// The box.
    pub bounds: Aabb,
    /// Cells along each axis.
    pub cells: [usize; 3],
}

impl GridParams {
    /// Box and cells for a mesh.
    ///
    /// # Errors
    /// Where a parameter is outside its range, or the grid would be too large.
    pub fn extent(&self, mesh: &TriangleMesh) -> Result<GridExtent, GeometryError> {
        let quantity =
            |quantity, found, allowed| GeometryError::Quantity { quantity, found, allowed };
        for delta in self.delta {
            if !(delta > 0.0 && delta.is_finite()) {
                return Err(quantity("resolution delta of a grid", delta, "> 0 and finite"));
            }
        }
        if !(self.padding >= 0.0 && self.padding.is_finite()) {
            return Err(quantity("padding of a grid", self.padding, "≥ 0 and finite"));
        }
        if self.min_cells.contains(&0) {
            return Err(quantity("smallest number of cells of a grid", 0.0, "≥ 1"));
        }
        let Some(bounds) = Aabb::of_points(mesh.vertices()) else {
            return Err(GeometryError::EmptyMesh { vertices: 0, triangles: 0 });
        };
        let (bounds, reference) = (bounds.padded(self.padding), self.mode.reference(mesh));
        let size = bounds.size();
        let wanted: [f64; 3] =
            std::array::from_fn(|i| (size[i] / (self.delta[i] * reference)).ceil());
        if let Some(&cells) = wanted.iter().find(|x| !x.is_finite()) {
            return Err(quantity("number of cells of a grid", cells, "finite"));
        }
        // Conversion saturates: what is too large stays too large.
        let cells = std::array::from_fn(|i| (wanted[i] as usize).max(self.min_cells[i]));
        check_cells(cells)?;
        Ok(GridExtent { bounds, cells })
    }
}

/// Refuses grids that are too large.
pub(super) fn check_cells(cells: [usize; 3]) -> Result<(), GeometryError> {
    let product = |list: [u128; 3]| list.iter().fold(1u128, |a, &b| a.saturating_mul(b));
    let found = product(cells.map(|n| n as u128));
    if found > MOST_CELLS {
        return Err(GeometryError::TooMany { what: "cells of a grid", found, allowed: MOST_CELLS });
    }
    let bytes = product(cells.map(|n| n as u128 + 1)).saturating_mul(8);
    if bytes > MOST_BYTES {
        return Err(GeometryError::TooMany {
            what: "bytes of the nodes of a grid",
            found: bytes,
            allowed: MOST_BYTES,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brick() -> TriangleMesh {
        TriangleMesh::cuboid(&Vector3::new(0.5, 1.0, 1.5)).unwrap()
    }

    #[test]
    fn reference_lengths_of_a_brick_have_their_closed_forms() {
        let diagonals = 5f64.sqrt() + 10f64.sqrt() + 13f64.sqrt();
        for (mode, length) in [
            (ResolutionMode::LargestAxis, 3.0),
            (ResolutionMode::SmallestAxis, 1.0),
            (ResolutionMode::MeanAxis, 2.0),
            (ResolutionMode::LargestEdge, 13f64.sqrt()),
            (ResolutionMode::SmallestEdge, 1.0),
            (ResolutionMode::MeanEdge, (24.0 + 2.0 * diagonals) / 18.0),
            (ResolutionMode::Explicit, 1.0),
        ] {
            assert!((mode.reference(&brick()) - length).abs() < 1e-14, "{mode:?}");
        }
    }

    #[test]
    fn cells_cover_the_padded_box_and_are_at_least_the_minimum() {
        let params = GridParams {
            mode: ResolutionMode::Explicit,
            delta: [0.3, 0.4, 10.0],
            min_cells: [1, 1, 5],
            padding: 0.01,
        };
        let extent = params.extent(&brick()).unwrap();
        assert_eq!(extent.cells, [4, 6, 5]); // 1.02/0.3, 2.02/0.4, at least 5
        assert!((extent.bounds.size() - Vector3::new(1.02, 2.02, 3.02)).norm() < 1e-14);
    }

    #[test]
    fn grids_that_are_too_large_or_undefined_are_refused() {
        let refused = |p: GridParams| p.extent(&brick()).unwrap_err();
        let explicit = |delta| GridParams {
            mode: ResolutionMode::Explicit,
            delta: [delta; 3],
            ..GridParams::default()
        };
        assert!(matches!(
            refused(explicit(1e-4)),
            GeometryError::TooMany { what: "cells of a grid", .. }
        ));
        assert!(matches!(
            refused(explicit(2e-3)),
            GeometryError::TooMany { what: "bytes of the nodes of a grid", .. }
        ));
        for delta in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
            assert!(explicit(delta).extent(&brick()).is_err(), "{delta}");
        }
        for padding in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(GridParams { padding, ..GridParams::default() }.extent(&brick()).is_err());
        }
        assert!(
            GridParams { min_cells: [1, 0, 1], ..GridParams::default() }.extent(&brick()).is_err()
        );
        assert!(
            GridParams { min_cells: [usize::MAX; 3], ..GridParams::default() }
                .extent(&brick())
                .is_err()
        );
    }
}
