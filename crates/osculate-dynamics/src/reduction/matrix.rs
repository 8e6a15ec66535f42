//! The reduced residual and its Jacobian.

use super::{JointStage, Reduction};
use crate::articulated::TreeKinematics;
use crate::linalg::BlockMatrix;
use crate::linalg::blocks::{BLOCK, Block};
use osculate_math::Scalar;

/// Columns of the reduced unknowns that move one body: at its centre of mass, velocity and angular velocity.
type Columns<T> = Vec<(usize, [T; BLOCK])>;

/// A matrix over the unknowns of all bodies: the blocks of contact and inertia, and those of closures by row and column.
#[derive(Clone, Debug)]
pub(crate) struct LinkMatrix<T> {
    pub(crate) bodies: BlockMatrix<T>,
    pub(super) closures: Vec<(usize, usize, Block<T>)>,
}

impl<T> Default for LinkMatrix<T> {
    fn default() -> Self {
        Self { bodies: BlockMatrix::default(), closures: Vec::new() }
    }
}

impl<T: Scalar> LinkMatrix<T> {
    /// Calls `f` with first row, first column and block of every block.
    fn for_each(&self, mut f: impl FnMut(usize, usize, &Block<T>)) {
        self.bodies.for_each(|row, column, block| f(BLOCK * row, BLOCK * column, block));
        self.closures.iter().for_each(|(row, column, block)| f(*row, *column, block));
    }

    /// `Kᵀ λ`.
    pub(super) fn transposed_times(&self, lambda: &[T]) -> Vec<T> {
        let mut out = vec![T::zero(); lambda.len()];
        self.for_each(|row, column, block| {
            for (i, line) in block.chunks_exact(BLOCK).enumerate() {
                let l = lambda[row + i];
                for (x, k) in out[column..column + BLOCK].iter_mut().zip(line) {
                    *x += *k * l;
                }
            }
        });
        out
    }
}

impl<T: Scalar> Reduction<T> {
    /// Columns that move each body, by its first unknown over six.
    fn columns(&self, kinematics: &TreeKinematics<T>) -> Vec<Columns<T>> {
        let mut out = vec![Vec::new(); self.at.len() + self.free.len()];
        for &(at, to) in &self.free {
            out[at / BLOCK] = (0..BLOCK)
                .map(|k| {
                    let mut unit = [T::zero(); BLOCK];
                    unit[k] = T::one();
                    (to + k, unit)
                })
                .collect();
        }
        for (link, &at) in self.at.iter().enumerate() {
            let column = |&k: &usize| {
                let (v, w) = kinematics.center_column(link, k);
                (self.first_dof + k, [v.x, v.y, v.z, w.x, w.y, w.z])
            };
            out[at / BLOCK] = self.model.support(link).iter().map(column).collect();
        }
        out
    }

    /// `r_q = Jᵀ r + r_joint`; returns `r_joint`.
    pub(crate) fn residual(
        &self,
        kinematics: &TreeKinematics<T>,
        (stage, duration): (&JointStage<'_, T>, f64),
        links: &[T],
        out: &mut [T],
    ) -> Vec<T> {
        self.gather(kinematics, links, out);
        let joints = self.joint_residual(stage, duration);
        for (r, j) in out[self.first_dof..].iter_mut().zip(&joints) {
            *r += *j;
        }
        joints
    }

    /// `K_q = Jᵀ K J + ∂(Jᵀ r)/∂q + K_joint`, row-major.
    ///
    /// * `links`: `r`, with which the columns turn.
    pub(crate) fn matrix(
        &self,
        kinematics: &TreeKinematics<T>,
        (stage, duration): (&JointStage<'_, T>, f64),
        (links, k): (&[T], &LinkMatrix<T>),
        out: &mut [T],
    ) {
        let n = self.unknowns;
        out.fill(T::zero());
        let columns = self.columns(kinematics);
        k.for_each(|row, column, block| {
            for (j, x) in &columns[column / BLOCK] {
                let image: [T; BLOCK] = std::array::from_fn(|i| {
                    let line = &block[BLOCK * i..BLOCK * (i + 1)];
                    line.iter().zip(x).fold(T::zero(), |sum, (k, x)| sum + *k * *x)
                });
                for (i, y) in &columns[row / BLOCK] {
                    let product = y.iter().zip(&image).fold(T::zero(), |s, (y, z)| s + *y * *z);
                    out[i * n + j] += product;
                }
            }
        });
        let first = self.first_dof;
        let turning = kinematics.geometric_stiffness(&self.model, &self.wrenches(links));
        for i in 0..self.model.dofs() {
            for j in 0..self.model.dofs() {
                out[(first + i) * n + first + j] += turning[(i, j)];
            }
        }
        self.add_joint_matrix(stage, duration, |i, j, x| out[(first + i) * n + first + j] += x);
    }

    /// Diagonal of the mass matrix `Jᵀ M J`, armature included, and mass that each unknown moves \[kg\].
    ///
    /// * `inertia`: mass and inertia about the centre of mass, world axes, of each link.
    pub(super) fn inertia_diagonal(
        &self,
        kinematics: &TreeKinematics<T>,
        inertia: impl Fn(usize) -> (T, nalgebra::Matrix3<T>),
    ) -> Vec<(T, T)> {
        let mut out = vec![(T::zero(), T::zero()); self.model.dofs()];
        for link in 0..self.bodies.len() {
            let (mass, about) = inertia(link);
            for &k in self.model.support(link) {
                let (v, w) = kinematics.center_column(link, k);
                out[k].0 += mass * v.dot(&v) + w.dot(&(about * w));
                out[k].1 += mass;
            }
            for (i, k) in self.model.joint_dofs(link).enumerate() {
                out[k].0 += self.model.links()[link].joint.armature[i];
            }
        }
        out
    }
}
