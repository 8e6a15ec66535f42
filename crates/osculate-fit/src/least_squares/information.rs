//! What the residuals say about the shared parameters, the own ones eliminated.

use super::BlockProblem;
use super::normal::linearise;
use nalgebra::DMatrix;

/// Marginal information of the shared parameters, `H_gg − Σ H_gb H_bb⁻¹ H_bg`, of residuals in units of their noise.
///
/// # Errors
/// Where an evaluation fails.
pub fn information<P: BlockProblem>(
    problem: &P,
    shared: &[f64],
    own: &[Vec<f64>],
) -> Result<Information, P::Error> {
    let normal = linearise(problem, shared, own)?;
    let mut matrix = normal.shared.clone();
    let n = normal.gradient.len();
    let mut scores = Vec::with_capacity(normal.blocks.len());
    for block in &normal.blocks {
        let mut score = block.score.clone();
        let factor = if block.gradient.is_empty() { None } else { block.own.clone().cholesky() };
        if let Some(factor) = factor {
            matrix -= &block.coupling * factor.solve(&block.coupling.transpose());
            score -= &block.coupling * factor.solve(&block.gradient);
        }
        scores.push(score);
    }
    let mut outer = DMatrix::zeros(n, n);
    for s in &scores {
        outer += s * s.transpose();
    }
    let residuals = normal.blocks.iter().map(|b| b.residuals).sum();
    Ok(Information { matrix, outer, cost: normal.cost, residuals })
}

/// Information matrix of the shared parameters and the outer product of the blocks' scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Information {
    /// `JᵀJ` with own parameters eliminated.
    pub matrix: DMatrix<f64>,
    /// `Σ_b s_b s_bᵀ` with `s_b = J_bᵀ r_b`: the middle of the cluster-robust covariance.
    pub outer: DMatrix<f64>,
    /// Sum of squares.
    pub cost: f64,
    /// How many residuals there are; a pose that a roll-out starts from is none.
    pub residuals: usize,
}
