//! Sums over the samples of a pair that its Jacobian is made of.
//!
//! The lever arms about the two centres differ by the same `o` for every sample, `b = a + o`, so
//!
//! ```text
//! δf = D (δc_A − δc_B) − (D [a]× + E) δθ_A + (D [a]× + D [o]× + E − [f]×) δθ_B        D = w ∂T/∂p,  E = w ∂T/∂n [n]×
//! ```
//!
//! and the moments of `δf` about `A` are linear in `D`, `D [a]×`, `E`, `f` and their products with `[a]×` from the left: those are
//! summed, and blocks are made of the sums once a pair.

use super::{Blocks, Moving};
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3, so3::skew};
use std::ops::AddAssign;

/// Sums over samples, collider axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments<T> {
    /// `Σ D`, `Σ D [a]×`, `Σ [a]× D`, `Σ [a]× D [a]×`.
    by_position: [Matrix3<T>; 4],
    /// `Σ E`, `Σ [a]× E`.
    by_normal: [Matrix3<T>; 2],
    /// `Σ f`, `Σ [a]× [f]×`.
    force: Vector3<T>,
    turned: Matrix3<T>,
}

impl<T: Scalar> Default for Moments<T> {
    fn default() -> Self {
        let o = Matrix3::zeros();
        Self { by_position: [o; 4], by_normal: [o; 2], force: Vector3::zeros(), turned: o }
    }
}

impl<T: Scalar> AddAssign for Moments<T> {
    fn add_assign(&mut self, other: Self) {
        let add = |m: &mut [Matrix3<T>], x: &[Matrix3<T>]| {
            m.iter_mut().zip(x).for_each(|(m, x)| *m += x);
        };
        add(&mut self.by_position, &other.by_position);
        add(&mut self.by_normal, &other.by_normal);
        self.force += other.force;
        self.turned += other.turned;
    }
}

/// `[a]× M`.
#[inline(always)]
fn cross_left<T: Scalar>(a: &Vector3<T>, m: &Matrix3<T>) -> Matrix3<T> {
    let mut out = Matrix3::zeros();
    for j in 0..3 {
        out[(0, j)] = a.y * m[(2, j)] - a.z * m[(1, j)];
        out[(1, j)] = a.z * m[(0, j)] - a.x * m[(2, j)];
        out[(2, j)] = a.x * m[(1, j)] - a.y * m[(0, j)];
    }
    out
}

/// `M [a]×`.
#[inline(always)]
fn cross_right<T: Scalar>(m: &Matrix3<T>, a: &Vector3<T>) -> Matrix3<T> {
    let mut out = Matrix3::zeros();
    for i in 0..3 {
        out[(i, 0)] = m[(i, 1)] * a.z - m[(i, 2)] * a.y;
        out[(i, 1)] = m[(i, 2)] * a.x - m[(i, 0)] * a.z;
        out[(i, 2)] = m[(i, 0)] * a.y - m[(i, 1)] * a.x;
    }
    out
}

impl<T: Scalar> Moments<T> {
    /// Adds a sample.
    ///
    /// * `arm`: `a`, * `force`: `f`, * `by_position`: `D`, * `by_normal`: `E`.
    #[inline(always)]
    pub(super) fn add(
        &mut self,
        arm: &Vector3<T>,
        force: &Vector3<T>,
        by_position: &Matrix3<T>,
        by_normal: Option<&Matrix3<T>>,
    ) {
        let right = cross_right(by_position, arm);
        self.by_position[0] += by_position;
        self.by_position[1] += right;
        self.by_position[2] += cross_left(arm, by_position);
        self.by_position[3] += cross_left(arm, &right);
        if let Some(e) = by_normal {
            self.by_normal[0] += e;
            self.by_normal[1] += cross_left(arm, e);
        }
        self.force += force;
        // [a]× [f]× = f aᵀ − (a·f) 1
        let along = arm.dot(force);
        for j in 0..3 {
            for i in 0..3 {
                self.turned[(i, j)] += force[i] * arm[j];
            }
            self.turned[(j, j)] -= along;
        }
    }

    /// The same sums in other axes.
    #[inline]
    pub(super) fn turned(&self, rotation: &Matrix3<T>) -> Self {
        let turn = |m: &Matrix3<T>| mat3::mul_transposed(&mat3::mul(rotation, m), rotation);
        let has_normal = self.by_normal.iter().any(|m| *m != Matrix3::zeros());
        Self {
            by_position: self.by_position.each_ref().map(turn),
            by_normal: if has_normal {
                self.by_normal.each_ref().map(turn)
            } else {
                self.by_normal
            },
            force: mat3::apply(rotation, &self.force),
            turned: turn(&self.turned),
        }
    }

    /// Adds the Jacobian of all samples.
    ///
    /// * `offset`: `o`, the centre of `A` as seen from that of `B`.
    pub(super) fn add_blocks(&self, offset: &Vector3<T>, moving: Moving, blocks: &mut Blocks<T>) {
        self.for_each_block(offset, moving, |row, column, m| blocks.0[row][column] += m);
    }

    /// Calls `put` with the terms of the Jacobian of all samples: row, column, and what to add there.
    ///
    /// * `offset`: `o`, the centre of `A` as seen from that of `B`.
    #[inline]
    pub(super) fn for_each_block(
        &self,
        offset: &Vector3<T>,
        moving: Moving,
        mut put: impl FnMut(usize, usize, &Matrix3<T>),
    ) {
        let ([d, da, ad, ada], [e, ae]) = (&self.by_position, &self.by_normal);
        let (o, f) = (skew(offset), skew(&self.force));
        // δf and [a]× δf, column by column: c_A, θ_A, c_B, θ_B.
        let force = [*d, -(da + e), -d, da + mat3::mul(d, &o) + e - f];
        let torque = [*ad, -(ada + ae), -ad, ada + mat3::mul(ad, &o) + ae - self.turned];
        let columns = (if moving.colliding { 0 } else { 2 })..(if moving.collider { 4 } else { 2 });
        for column in columns {
            let (df, adf) = (&force[column], &torque[column]);
            if moving.colliding {
                put(0, column, &-df);
                put(1, column, &-adf);
            }
            if moving.collider {
                put(2, column, df);
                put(3, column, &(adf + cross_left(offset, df)));
            }
        }
        // The lever arms move too, the curvature of the kinematics: [f]× [a]× = ([a]× [f]×)ᵀ.
        let fa = self.turned.transpose();
        if moving.colliding {
            put(1, 1, &-fa);
        }
        if moving.collider {
            put(3, 0, &-f);
            put(3, 1, &fa);
            put(3, 2, &f);
        }
    }
}
