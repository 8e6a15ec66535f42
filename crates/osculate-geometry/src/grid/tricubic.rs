//! Cubic interpolation of the nodes, with a continuous gradient.
//!
//! ```text
//! Φ = Σ c_ijk w_i(x) w_j(y) w_k(z)                 four nodes along each axis, 0 ≤ x, y, z ≤ 1 in the cell
//! w = ( −x + 2x² − x³,  2 − 5x² + 3x³,  x + 4x² − 3x³,  −x² + x³ )/2
//! ```
//!
//! Through the nodes, `C¹`; linear functions are exact, quadratic ones too but for the outermost cells: there the
//! missing node is `2c₀ − c₁`, so that no slope is larger than between nodes that exist. The second derivative jumps across
//! cells. Source: Catmull, Rom 1974; Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE Trans. ASSP
//! 29(6) 1981, <https://doi.org/10.1109/TASSP.1981.1163711>; in three dimensions a tensor product.

use super::{Coordinate, GridSdf};
use nalgebra::Vector3;
use osculate_math::Scalar;
use std::ops::{Add, Mul};

/// The largest sum of `|w|` is 5/4, that of the weights of differences in the slope 3/2, both at x = 1/2.
pub(super) const STEEPER: f64 = 1.5 * 1.25 * 1.25;

/// The four nodes of one axis.
struct Axis<T> {
    nodes: [usize; 4],
    /// Derivative of the value by the value of each (–).
    weights: [T; 4],
    /// Derivative of the slope by the value of each (1/m).
    slopes: [T; 4],
}

impl<T: Scalar> Axis<T> {
    fn new(at: &Coordinate<T>, cells: usize, spacing: f64) -> Self {
        let t = at.local;
        let (t2, t3) = (t * t, t * t * t);
        let weights = [
            (t2 * 2.0 - t - t3) * 0.5,
            (t3 * 3.0 - t2 * 5.0 + 2.0) * 0.5,
            (t + t2 * 4.0 - t3 * 3.0) * 0.5,
            (t3 - t2) * 0.5,
        ];
        let slopes = [
            (t * 4.0 - t2 * 3.0 - 1.0) * 0.5,
            (t2 * 9.0 - t * 10.0) * 0.5,
            (t * 8.0 - t2 * 9.0 + 1.0) * 0.5,
            (t2 * 3.0 - t * 2.0) * 0.5,
        ]
        .map(|x| x / spacing);
        let mut axis =
            Self { nodes: [0, 1, 2, 3].map(|i| (at.cell + i).saturating_sub(1)), weights, slopes };
        if at.cell == 0 {
            axis.extrapolate(0, 1, 2);
        }
        if at.cell + 1 == cells {
            axis.extrapolate(3, 2, 1);
        }
        axis
    }

    /// A node that does not exist is twice the nearest one less the next.
    fn extrapolate(&mut self, missing: usize, nearest: usize, next: usize) {
        for w in [&mut self.weights, &mut self.slopes] {
            let x = w[missing];
            w[nearest] += x * 2.0;
            w[next] -= x;
            w[missing] = T::zero();
        }
        // Asked for with a weight of zero.
        self.nodes[missing] = self.nodes[nearest];
    }
}

impl GridSdf {
    fn axes<T: Scalar>(&self, at: &[Coordinate<T>; 3]) -> [Axis<T>; 3] {
        [0, 1, 2].map(|i| Axis::new(&at[i], self.cells[i], self.spacing[i]))
    }

    /// Value (m) and gradient in a cell.
    pub(super) fn tricubic<T, V>(
        &self,
        value: impl Fn(usize) -> V,
        at: &[Coordinate<T>; 3],
    ) -> (T, Vector3<T>)
    where
        T: Scalar + Mul<V, Output = T> + Add<V, Output = T>,
        V: Copy,
    {
        let [x, y, z] = self.axes(at);
        let [_, ny, nz] = self.nodes();
        let (mut phi, mut gradient) = (T::zero(), Vector3::from_element(T::zero()));
        for i in 0..4 {
            // Over z, then over y: value and slopes of a plane.
            let (mut plane, mut by_y, mut by_z) = (T::zero(), T::zero(), T::zero());
            for j in 0..4 {
                let first = (x.nodes[i] * ny + y.nodes[j]) * nz;
                let (mut line, mut slope) = (T::zero(), T::zero());
                for k in 0..4 {
                    let c = value(first + z.nodes[k]);
                    line += z.weights[k] * c;
                    slope += z.slopes[k] * c;
                }
                plane += y.weights[j] * line;
                by_y += y.slopes[j] * line;
                by_z += y.weights[j] * slope;
            }
            phi += x.weights[i] * plane;
            gradient.x += x.slopes[i] * plane;
            gradient.y += x.weights[i] * by_y;
            gradient.z += x.weights[i] * by_z;
        }
        (phi, gradient)
    }

    /// Calls `f` with every node that matters in a cell and the derivatives of value (–) and gradient (1/m) by it.
    pub(super) fn tricubic_nodes<T: Scalar>(
        &self,
        at: &[Coordinate<T>; 3],
        mut f: impl FnMut(usize, T, Vector3<T>),
    ) {
        let [x, y, z] = self.axes(at);
        let [_, ny, nz] = self.nodes();
        let slope = |axis: usize, s: T| if at[axis].beyond.is_some() { T::zero() } else { s };
        for n in 0..64 {
            let (i, j, k) = (n >> 4, n >> 2 & 3, n & 3);
            let (wx, wy, wz) = (x.weights[i], y.weights[j], z.weights[k]);
            let slopes = Vector3::new(
                slope(0, x.slopes[i] * wy * wz),
                slope(1, wx * y.slopes[j] * wz),
                slope(2, wx * wy * z.slopes[k]),
            );
            f((x.nodes[i] * ny + y.nodes[j]) * nz + z.nodes[k], wx * wy * wz, slopes);
        }
    }
}
