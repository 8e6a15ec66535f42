//! Distance fields that come from the triangles of a shape.

use super::names::{InterpolationName, ResolutionName};
use osculate_geometry::grid::{GridParams, Interpolation, ResolutionMode};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Distances on a grid: built from the triangles of the shape, or read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of a grid")]
pub struct SdfField {
    /// The length that cells are measured by.
    #[serde(with = "ResolutionName")]
    pub resolution_mode: ResolutionMode,
    /// Cell size by that length along each axis \[–\]; with `explicit` the cell size \[m\]. > 0.
    pub delta: [f64; 3],
    /// Fewest cells along each axis, ≥ 1.
    pub min_cells: [usize; 3],
    /// How far the grid extends beyond the shape \[m\], ≥ 0.
    pub padding: f64,
    /// What Φ is between the nodes, also of a file.
    #[serde(with = "InterpolationName")]
    pub interpolation: Interpolation,
    /// How many times as large \[–\], > 0.
    pub scale: f64,
    /// How far the surface is moved outwards \[m\], ≥ 0.
    pub rounding: f64,
    /// A grid file to read in place of building one; a relative path starts at the scene file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// A folder that keeps grids from run to run; a relative path starts at the scene file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
}

impl Default for SdfField {
    fn default() -> Self {
        let GridParams { mode, delta, min_cells, padding } = GridParams::default();
        Self {
            resolution_mode: mode,
            delta,
            min_cells,
            padding,
            interpolation: Interpolation::default(),
            scale: 1.0,
            rounding: 0.0,
            file: None,
            cache: None,
        }
    }
}

impl SdfField {
    /// Resolution and extent.
    pub fn params(&self) -> GridParams {
        GridParams {
            mode: self.resolution_mode,
            delta: self.delta,
            min_cells: self.min_cells,
            padding: self.padding,
        }
    }
}

/// Distances to the triangles of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table { scale, rounding }")]
pub struct MeshField {
    /// How many times as large \[–\], > 0.
    pub scale: f64,
    /// How far the surface is moved outwards \[m\], ≥ 0.
    pub rounding: f64,
}

impl Default for MeshField {
    fn default() -> Self {
        Self { scale: 1.0, rounding: 0.0 }
    }
}
