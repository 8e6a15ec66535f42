//! Derivative of a pair's force by its stage-start pullback, where that depends on the poses now.
//!
//! ```text
//! p⁰ = M X + o        δ(f, a × f, b × f) = Σ w (1, [a]×, [b]×) ∂T/∂p⁰ (δM X + δo)
//! ```

use super::{Blocks, Moving, PairStage};
use crate::kinematics::Pullback;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Jet, Scalar, so3::skew};

/// Derivatives of force and torques of [`Wrenches`](super::Wrenches) by the columns of `M` (0 to 2) and by `o` (3) of the stage-start pullback,
/// collider axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartSlopes<T = f64>(pub [[Matrix3<T>; 4]; 3]);

impl<T: Scalar> Default for StartSlopes<T> {
    fn default() -> Self {
        Self([[Matrix3::zeros(); 4]; 3])
    }
}

impl<T: Scalar> StartSlopes<T> {
    /// Adds to the Jacobian what comes through the stage-start pullback.
    ///
    /// * `start`: the pullback with its derivatives along the increments `c_A, θ_A, c_B, θ_B`, in collider axes.
    pub fn add_blocks(&self, start: &Pullback<Jet<12, T>>, moving: Moving, blocks: &mut Blocks<T>) {
        let first = if moving.colliding { 0 } else { 6 };
        for k in first..(if moving.collider { 12 } else { 6 }) {
            let column = |j: usize| match j {
                3 => start.offset.map(|x| x.eps[k]),
                _ => start.rotation.column(j).map(|x| x.eps[k]),
            };
            let along = |row: usize| {
                (0..4).fold(Vector3::zeros(), |sum, j| sum + self.0[row][j] * column(j))
            };
            let (force, torques) = (along(0), [along(1), along(2)]);
            let (block, column) = (k / 3, k % 3);
            let mut put = |row: usize, x: Vector3<T>| {
                for i in 0..3 {
                    blocks.0[row][block][(i, column)] += x[i];
                }
            };
            if moving.colliding {
                put(0, -force);
                put(1, -torques[0]);
            }
            if moving.collider {
                put(2, force);
                put(3, torques[1]);
            }
        }
    }
}

impl<T: Scalar> PairStage<'_, T> {
    /// Derivative of [`Wrenches`](super::Wrenches) by the stage-start pullback; not for the schedule that asks for the field there.
    pub fn start_slopes(&self) -> StartSlopes<T> {
        let mut slopes = StartSlopes::default();
        self.for_each_near(|i| {
            let by = self.law.by_start(self.params, self.collider, &self.sample(i));
            let (a, b) = self.now.levers(&self.points[i]);
            let force = by.map(|x| x * self.weights[i]);
            for (row, df) in [force, skew(&a) * force, skew(&b) * force].into_iter().enumerate() {
                for j in 0..3 {
                    slopes.0[row][j] += df.map(|x| x * self.points[i][j]);
                }
                slopes.0[row][3] += df;
            }
        });
        slopes
    }
}
