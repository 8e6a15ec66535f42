//! Linear interpolation of the nodes along each axis of a cell.
//!
//! ```text
//! Φ = Σ c_ijk (1−x or x)(1−y or y)(1−z or z)      eight corners, 0 ≤ x, y, z ≤ 1 in the cell
//!   = a + a_x x + a_y y + a_z z + a_xy xy + a_xz xz + a_yz yz + a_xyz xyz
//! ```
//!
//! Continuous; the gradient jumps from cell to cell.

use super::{Coordinate, GridSdf, Interpolation};
use nalgebra::{Matrix3, Vector3};
use osculate_math::Scalar;
use std::ops::{Add, Mul, Sub};

/// `a`, `a_x`, … of the cell: differences of the values of its corners (m).
struct Differences<V> {
    a: V,
    x: V,
    y: V,
    z: V,
    xy: V,
    xz: V,
    yz: V,
    xyz: V,
}

impl GridSdf {
    /// The first corner of the cell of a point.
    #[inline]
    fn corner<T>(&self, at: &[Coordinate<T>; 3]) -> usize {
        let [_, ny, nz] = self.nodes();
        (at[0].cell * ny + at[1].cell) * nz + at[2].cell
    }

    #[inline]
    fn differences<T, V>(
        &self,
        value: impl Fn(usize) -> V,
        at: &[Coordinate<T>; 3],
    ) -> Differences<V>
    where
        V: Copy + Sub<Output = V>,
    {
        let [_, ny, nz] = self.nodes();
        let first = self.corner(at);
        let edge = |i: usize, j: usize| {
            let n = first + (i * ny + j) * nz;
            [value(n), value(n + 1)]
        };
        let ([c000, c001], [c010, c011]) = (edge(0, 0), edge(0, 1));
        let ([c100, c101], [c110, c111]) = (edge(1, 0), edge(1, 1));
        let (x, y, z) = (c100 - c000, c010 - c000, c001 - c000);
        let xy = (c110 - c010) - x;
        Differences {
            a: c000,
            x,
            y,
            z,
            xy,
            xz: (c101 - c001) - x,
            yz: (c011 - c001) - y,
            xyz: ((c111 - c011) - (c101 - c001)) - xy,
        }
    }

    /// Value (m) and gradient (–); the point is inside the grid or moved onto its boundary.
    #[inline]
    pub(super) fn trilinear<T, V>(
        &self,
        value: impl Fn(usize) -> V,
        at: &[Coordinate<T>; 3],
    ) -> (T, Vector3<T>)
    where
        T: Scalar + Mul<V, Output = T> + Add<V, Output = T>,
        V: Copy + Sub<Output = V>,
    {
        let d = self.differences(value, at);
        let ([x, y, z], h) = (at.map(|c| c.local), &self.spacing);
        let yz = z * d.xyz + d.xy;
        // ∂/∂x, ∂/∂y, ∂/∂z in cell units.
        let gx = y * yz + z * d.xz + d.x;
        let gy = x * yz + z * d.yz + d.y;
        let gz = y * (x * d.xyz + d.yz) + x * d.xz + d.z;
        let phi = x * gx + y * (z * d.yz + d.y) + z * d.z + d.a;
        (phi, Vector3::new(gx / h.x, gy / h.y, gz / h.z))
    }

    /// `∇²Φ` (1/m) at a point (m) inside the grid where it is trilinear, with values (m) as in [`GridSdf::field_of`]; `None` elsewhere.
    /// Along an axis a trilinear function has no curvature.
    #[inline]
    pub(crate) fn trilinear_hessian<T, V>(
        &self,
        value: impl Fn(usize) -> V,
        point: &Vector3<T>,
    ) -> Option<Matrix3<T>>
    where
        T: Scalar + Mul<V, Output = T> + Add<V, Output = T>,
        V: Copy + Sub<Output = V>,
    {
        let at = [0, 1, 2].map(|i| self.locate(i, point[i]));
        if self.interpolation != Interpolation::Trilinear || at.iter().any(|c| c.beyond.is_some()) {
            return None;
        }
        let d = self.differences(value, &at);
        let ([x, y, z], h) = (at.map(|c| c.local), &self.spacing);
        let xy = (z * d.xyz + d.xy) / (h.x * h.y);
        let xz = (y * d.xyz + d.xz) / (h.x * h.z);
        let yz = (x * d.xyz + d.yz) / (h.y * h.z);
        let o = T::zero();
        Some(Matrix3::new(o, xy, xz, xy, o, yz, xz, yz, o))
    }

    /// [`GridSdf::for_each_node`] of the corners: products of `x` or `1 − x`, and their slopes where the point is not beyond
    /// the grid.
    pub(super) fn trilinear_nodes<T: Scalar>(
        &self,
        at: &[Coordinate<T>; 3],
        mut f: impl FnMut(usize, T, Vector3<T>),
    ) {
        let [_, ny, nz] = self.nodes();
        let (first, upper) = (self.corner(at), at.map(|c| c.local));
        for corner in 0..8 {
            let side = [corner >> 2 & 1, corner >> 1 & 1, corner & 1];
            let weight = |i: usize| if side[i] == 1 { upper[i] } else { -upper[i] + 1.0 };
            let [x, y, z] = [0, 1, 2].map(weight);
            let slope = |i: usize, across: T| match at[i].beyond {
                Some(_) => T::zero(),
                None => across * ((2.0 * side[i] as f64 - 1.0) / self.spacing[i]),
            };
            let slopes = Vector3::new(slope(0, y * z), slope(1, x * z), slope(2, x * y));
            f(first + (side[0] * ny + side[1]) * nz + side[2], x * y * z, slopes);
        }
    }
}
