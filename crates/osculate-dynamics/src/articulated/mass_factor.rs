//! Factorisation of the mass matrix that keeps the sparsity of the tree.
//!
//! `H = Lᵀ D L` with `L` unit lower triangular: eliminating from the leaves makes no fill, so `L` has entries only
//! between a degree of freedom and those that move it. Source: Featherstone, *Rigid Body Dynamics Algorithms*, 2008, §6.5.

use super::error::ModelError;
use super::model::ArticulatedModel;
use nalgebra::DMatrix;
use osculate_math::Scalar;

/// `Lᵀ D L` of a mass matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct MassFactor<T = f64> {
    /// Degrees of freedom that move each, less than itself, ascending.
    above: Vec<Vec<usize>>,
    /// `L` below the diagonal, `D` on it.
    entries: DMatrix<T>,
}

impl<T: Scalar> MassFactor<T> {
    /// Factorises a symmetric matrix with the sparsity of the tree's mass matrix; a diagonal may be added to it.
    ///
    /// # Errors
    /// Where a pivot is not positive, or not finite.
    ///
    /// # Panics
    /// Where the matrix has not one row a degree of freedom.
    pub fn new(model: &ArticulatedModel<T>, mut h: DMatrix<T>) -> Result<Self, ModelError> {
        let n = model.dofs();
        assert_eq!(h.shape(), (n, n), "one row a degree of freedom");
        let above: Vec<Vec<usize>> = (0..n)
            .map(|k| {
                let support = model.support(model.link_of(k));
                support.iter().copied().filter(|&j| j < k).collect()
            })
            .collect();
        for k in (0..n).rev() {
            let pivot = h[(k, k)];
            if !(pivot > 0.0 && pivot.re().is_finite()) {
                let link = model.links()[model.link_of(k)].name.clone();
                return Err(ModelError::Singular { link, dof: k, pivot: pivot.re() });
            }
            for (place, &i) in above[k].iter().enumerate().rev() {
                let factor = h[(k, i)] / pivot;
                for &j in &above[k][..=place] {
                    let change = factor * h[(k, j)];
                    h[(i, j)] -= change;
                }
                h[(k, i)] = factor;
            }
        }
        Ok(Self { above, entries: h })
    }

    /// `D`: the inertia that each degree of freedom feels with those after it free to move.
    pub fn pivot(&self, k: usize) -> T {
        self.entries[(k, k)]
    }

    /// `L⁻ᵀ b`, in place: `bᵀ H⁻¹ c = Σ (L⁻ᵀ b)ₖ (L⁻ᵀ c)ₖ/Dₖ`.
    ///
    /// # Panics
    /// Where `b` has not one entry a degree of freedom.
    pub fn half_solve(&self, b: &mut [T]) {
        assert_eq!(b.len(), self.above.len(), "one entry a degree of freedom");
        for k in (0..b.len()).rev() {
            for &i in &self.above[k] {
                let change = self.entries[(k, i)] * b[k];
                b[i] -= change;
            }
        }
    }

    /// `H⁻¹ b`, in place.
    ///
    /// # Panics
    /// Where `b` has not one entry a degree of freedom.
    pub fn solve(&self, b: &mut [T]) {
        self.half_solve(b);
        for k in 0..b.len() {
            let mut sum = b[k] / self.entries[(k, k)];
            for &i in &self.above[k] {
                sum -= self.entries[(k, i)] * b[i];
            }
            b[k] = sum;
        }
    }

    /// `H⁻¹ B`, column by column.
    ///
    /// # Panics
    /// Where `b` has not one row a degree of freedom.
    #[must_use]
    pub fn solve_matrix(&self, mut b: DMatrix<T>) -> DMatrix<T> {
        for mut column in b.column_iter_mut() {
            self.solve(column.as_mut_slice());
        }
        b
    }

    /// `H⁻¹`.
    pub fn inverse(&self) -> DMatrix<T> {
        let n = self.above.len();
        self.solve_matrix(DMatrix::from_fn(n, n, |i, j| if i == j { T::one() } else { T::zero() }))
    }
}
