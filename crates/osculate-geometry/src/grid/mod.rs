//! Signed distances on a grid.
//!
//! ```text
//! inside the grid   Φ trilinear, of the 8 nodes of a cell (see `trilinear`), or tricubic, of the 64 around it (see `tricubic`)
//! outside           Φ = Φ(clamped X) + ‖X − clamped X‖
//! ```
//!
//! Nodes hold exact distances. The gradient is the exact derivative of this function and is not unit: trilinear, it jumps
//! across cells; tricubic, it is continuous inside the grid. On the boundary of the grid it jumps with both.

mod build;
mod cache;
mod file;
mod params;
mod tricubic;
mod trilinear;

pub use file::{GridFileError, VERSION};
pub use params::{GridExtent, GridParams, MOST_BYTES, MOST_CELLS, ResolutionMode};

use crate::GeometryError;
use crate::aabb::Aabb;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm};
use std::ops::{Add, Mul, Sub};

/// What a grid was made of: a hash of the mesh and the parameters.
pub type GridKey = [u8; 32];

/// What Φ is between the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Of the 8 nodes of a cell: continuous; second order.
    #[default]
    Trilinear,
    /// Of the 64 nodes around a cell: with a continuous gradient; third order. Values overshoot where the distance has an
    /// edge.
    Tricubic,
}

impl Interpolation {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Trilinear, Self::Tricubic];

    /// Name, as it stands in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trilinear => "trilinear",
            Self::Tricubic => "tricubic",
        }
    }
}

/// Signed distances at the nodes of a regular grid.
#[derive(Clone, PartialEq)]
pub struct GridSdf {
    bounds: Aabb,
    cells: [usize; 3],
    spacing: Vector3<f64>,
    /// Node `(i, j, k)` at `(i n_y + j) n_z + k` (m).
    values: Vec<f64>,
    key: GridKey,
    interpolation: Interpolation,
    /// Bound of `‖∇Φ‖` inside.
    steepest: f64,
    /// No more than the smallest value on the boundary (m).
    lowest_outside: f64,
}

impl std::fmt::Debug for GridSdf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (bounds, cells) = (&self.bounds, &self.cells);
        f.debug_struct("GridSdf").field("bounds", bounds).field("cells", cells).finish()
    }
}

/// A coordinate in its cell.
#[derive(Clone, Copy)]
struct Coordinate<T> {
    cell: usize,
    /// In `[0, 1]`.
    local: T,
    /// How far the point is beyond the grid (m), if it is.
    beyond: Option<T>,
}

impl GridSdf {
    /// A grid of values in node order, trilinear, with what bounds need.
    fn assemble(extent: GridExtent, values: Vec<f64>, key: GridKey) -> Self {
        let GridExtent { bounds, cells } = extent;
        let size = bounds.size();
        let spacing = Vector3::from_fn(|i, _| size[i] / cells[i] as f64);
        Self {
            bounds,
            cells,
            spacing,
            values,
            key,
            interpolation: Interpolation::Trilinear,
            steepest: 0.0,
            lowest_outside: 0.0,
        }
        .interpolated(Interpolation::Trilinear)
    }

    /// The same values, interpolated in this way.
    #[must_use]
    pub fn interpolated(mut self, interpolation: Interpolation) -> Self {
        self.interpolation = interpolation;
        (self.steepest, self.lowest_outside) =
            (self.steepest_slope(), self.lowest_boundary_value());
        if interpolation == Interpolation::Tricubic {
            self.steepest *= tricubic::STEEPER;
            // A point of a face is half a diagonal from a node at most.
            self.lowest_outside -= 0.5 * self.spacing.norm() * self.steepest;
        }
        self
    }

    /// What Φ is between the nodes.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// The same grid with other values (m) at its nodes, as many as there are.
    ///
    /// # Errors
    /// Where there are more or fewer, or one is not finite.
    pub fn with_values(&self, values: Vec<f64>) -> Result<Self, GeometryError> {
        let (found, expected) = (values.len(), self.values.len());
        if found != expected {
            return Err(GeometryError::NodeCount { found, expected });
        }
        if let Some(found) = values.iter().find(|x| !x.is_finite()) {
            let (quantity, allowed) = ("value of a node", "finite");
            return Err(GeometryError::Quantity { quantity, found: *found, allowed });
        }
        let extent = GridExtent { bounds: self.bounds, cells: self.cells };
        Ok(Self::assemble(extent, values, self.key).interpolated(self.interpolation))
    }

    /// The box of the grid.
    pub fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    /// Cells along each axis.
    pub fn cells(&self) -> [usize; 3] {
        self.cells
    }

    /// Nodes along each axis.
    pub fn nodes(&self) -> [usize; 3] {
        self.cells.map(|n| n + 1)
    }

    /// Cell size (m).
    pub fn spacing(&self) -> &Vector3<f64> {
        &self.spacing
    }

    /// Values (m) of the nodes, z fastest.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Hash of what the grid was made of.
    pub fn key(&self) -> &GridKey {
        &self.key
    }

    /// Memory of the values (bytes).
    pub fn bytes(&self) -> usize {
        self.values.len() * size_of::<f64>()
    }

    /// Position of a node (m).
    pub fn node(&self, index: [usize; 3]) -> Vector3<f64> {
        Vector3::from_fn(|i, _| self.coordinate(i, index[i]))
    }

    #[inline]
    fn coordinate(&self, axis: usize, index: usize) -> f64 {
        self.bounds.lower[axis] + self.spacing[axis] * index as f64
    }

    /// Bound of the slope of Φ between any two points.
    pub fn steepest(&self) -> f64 {
        // Outside, the slope of the clamped value and that of the distance are perpendicular.
        (self.steepest * self.steepest + 1.0).sqrt()
    }

    /// A lower bound of Φ (m) within a ball.
    pub(crate) fn lower_bound(&self, center: &Vector3<f64>, radius: f64) -> f64 {
        let gap = self.bounds.distance(center) - radius;
        if gap > 0.0 {
            return self.lowest_outside + gap;
        }
        self.phi(center) - self.steepest() * radius
    }

    /// A value (m) that no point on the boundary or outside is below; trilinear, the smallest one there.
    pub fn lowest_outside(&self) -> f64 {
        self.lowest_outside
    }

    /// Trilinear, every partial derivative is a mean of differences along the edges of its cell.
    fn steepest_slope(&self) -> f64 {
        let [nx, ny, nz] = self.nodes();
        let mut largest = Vector3::<f64>::zeros();
        for (n, &x) in self.values.iter().enumerate() {
            let (i, j, k) = (n / (ny * nz), n / nz % ny, n % nz);
            let mut see = |axis: usize, inside: bool, step: usize| {
                if inside {
                    let slope = (self.values[n + step] - x).abs() / self.spacing[axis];
                    largest[axis] = largest[axis].max(slope);
                }
            };
            see(0, i + 1 < nx, ny * nz);
            see(1, j + 1 < ny, nz);
            see(2, k + 1 < nz, 1);
        }
        largest.norm()
    }

    fn lowest_boundary_value(&self) -> f64 {
        let [nx, ny, nz] = self.nodes();
        let boundary = self.values.iter().enumerate().filter(|(n, _)| {
            let (i, j, k) = (n / (ny * nz), n / nz % ny, n % nz);
            i == 0 || j == 0 || k == 0 || i + 1 == nx || j + 1 == ny || k + 1 == nz
        });
        boundary.fold(f64::INFINITY, |least, (_, &x)| least.min(x))
    }

    /// Value (m) at a point (m).
    #[inline]
    pub fn phi<T: Scalar>(&self, point: &Vector3<T>) -> T {
        self.field(point).0
    }

    /// The cell of a coordinate; beyond the grid the nearest one.
    #[inline]
    fn locate<T: Scalar>(&self, axis: usize, x: T) -> Coordinate<T> {
        let (lower, upper) = (self.bounds.lower[axis], self.bounds.upper[axis]);
        let (re, last) = (x.re(), self.cells[axis] - 1);
        if re < lower {
            return Coordinate { cell: 0, local: T::zero(), beyond: Some(x - lower) };
        }
        if re > upper {
            return Coordinate { cell: last, local: T::one(), beyond: Some(x - upper) };
        }
        // A point on the boundary of two cells belongs to the upper one.
        let cell = (((re - lower) / self.spacing[axis]) as usize).min(last);
        let local = (x - self.coordinate(axis, cell)) / self.spacing[axis];
        Coordinate { cell, local, beyond: None }
    }

    /// Value (m) and gradient at a point (m).
    #[inline]
    pub fn field<T: Scalar>(&self, point: &Vector3<T>) -> (T, Vector3<T>) {
        self.field_of(|n| self.values[n], point)
    }

    /// As [`GridSdf::field`], with the values (m) of the nodes as `value` gives them: numbers, or scalars with derivatives.
    #[inline]
    pub(crate) fn field_of<T, V>(
        &self,
        value: impl Fn(usize) -> V,
        point: &Vector3<T>,
    ) -> (T, Vector3<T>)
    where
        T: Scalar + Mul<V, Output = T> + Add<V, Output = T>,
        V: Copy + Sub<Output = V>,
    {
        let at = [0, 1, 2].map(|i| self.locate(i, point[i]));
        let (mut phi, mut gradient) = match self.interpolation {
            Interpolation::Trilinear => self.trilinear(value, &at),
            Interpolation::Tricubic => self.tricubic(value, &at),
        };
        if at.iter().any(|c| c.beyond.is_some()) {
            let beyond = Vector3::from_fn(|i, _| at[i].beyond.unwrap_or_else(T::zero));
            let distance = norm::norm0(&beyond);
            phi += distance;
            let inverse = distance.recip();
            for i in 0..3 {
                if let Some(x) = at[i].beyond {
                    gradient[i] = x * inverse;
                }
            }
        }
        (phi, gradient)
    }

    /// Calls `f` with the nodes that matter at a point and the derivatives of value (–) and gradient (1/m) by the value of
    /// each: trilinear, the products of `x` or `1 − x`, and their slopes where the point is not beyond the grid.
    pub(crate) fn for_each_node<T: Scalar>(
        &self,
        point: &Vector3<T>,
        f: impl FnMut(usize, T, Vector3<T>),
    ) {
        let at = [0, 1, 2].map(|i| self.locate(i, point[i]));
        match self.interpolation {
            Interpolation::Trilinear => self.trilinear_nodes(&at, f),
            Interpolation::Tricubic => self.tricubic_nodes(&at, f),
        }
    }
}
