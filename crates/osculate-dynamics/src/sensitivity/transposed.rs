//! The one linear solve of a stage going back: `Kᵀ λ = q̄` from the factors of the forward solve, in f64 and in jets.

use super::joints::StageMatrix;
use crate::factors::StageFactors;
use crate::linalg::blocks::BLOCK;
use osculate_math::{Jet, Scalar};

/// A scalar in which the transposed stage system can be solved from factors in f64.
pub(crate) trait SweepScalar: Scalar {
    /// Solves `Kᵀ x = b` in place; `matrix` gives `K` with its derivatives, where it has any.
    fn solve_transposed(
        factors: StageFactors<'_>,
        matrix: impl FnOnce() -> StageMatrix<Self>,
        b: &mut [Self],
    );
}

impl SweepScalar for f64 {
    fn solve_transposed(
        factors: StageFactors<'_>,
        _matrix: impl FnOnce() -> StageMatrix<f64>,
        b: &mut [f64],
    ) {
        factors.solve_transposed(b);
    }
}

impl<const N: usize> SweepScalar for Jet<N> {
    /// `λ = K⁻ᵀ b`, `λ' = K⁻ᵀ (b' − K'ᵀ λ)`.
    fn solve_transposed(
        factors: StageFactors<'_>,
        matrix: impl FnOnce() -> StageMatrix<Self>,
        b: &mut [Self],
    ) {
        let mut lambda: Vec<f64> = b.iter().map(|x| x.re).collect();
        factors.solve_transposed(&mut lambda);
        let mut subtract = |column: usize, line: &[Self], l: f64| {
            for (x, k) in b[column..].iter_mut().zip(line) {
                (0..N).for_each(|e| x.eps[e] -= k.eps[e] * l);
            }
        };
        match matrix() {
            StageMatrix::Blocks(matrix) => matrix.for_each(|row, column, block| {
                for (i, line) in block.chunks_exact(BLOCK).enumerate() {
                    subtract(BLOCK * column, line, lambda[BLOCK * row + i]);
                }
            }),
            StageMatrix::Dense(matrix) => {
                let rows = matrix.chunks_exact(lambda.len().max(1));
                rows.zip(&lambda).for_each(|(line, &l)| subtract(0, line, l));
            }
        }
        b.iter_mut().for_each(|x| x.re = 0.0);
        factors.solve_transposed(b);
        for (x, l) in b.iter_mut().zip(&lambda) {
            x.re = *l;
        }
    }
}
