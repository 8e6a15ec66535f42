//! Normal equations of a point, with the own parameters of each block eliminated.

use super::{BlockProblem, BlockResiduals};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// A residual up to this is met to rounding.
const MET: f64 = 1e-12;

/// Normal equations of a point with the own parameters kept apart.
pub(super) struct Normal {
    pub(super) cost: f64,
    pub(super) shared: DMatrix<f64>,
    pub(super) gradient: DVector<f64>,
    pub(super) blocks: Vec<OwnNormal>,
}

/// A block's share: cost, `JᵀJ + S` of the shared parameters, and its own.
type Part = (f64, DMatrix<f64>, OwnNormal);

pub(super) struct OwnNormal {
    pub(super) own: DMatrix<f64>,
    pub(super) coupling: DMatrix<f64>,
    pub(super) gradient: DVector<f64>,
    /// `Jᵀr` of the shared parameters, of this block alone.
    pub(super) score: DVector<f64>,
    /// Residuals that anything is told by, see [`tells`].
    pub(super) residuals: usize,
}

/// Whether a residual is a measurement of anything: the pose a roll-out starts from is met exactly, whatever the parameters,
/// and must not count as if it were well fitted.
fn tells(block: &BlockResiduals, i: usize) -> bool {
    let moves = |j: &DMatrix<f64>| j.ncols() > 0 && j.row(i).amax() > 0.0;
    block.residuals[i].abs() > MET || moves(&block.shared) || moves(&block.own)
}

pub(super) fn linearise<P: BlockProblem>(
    problem: &P,
    shared: &[f64],
    own_values: &[Vec<f64>],
) -> Result<Normal, P::Error> {
    let parts: Vec<Result<Part, P::Error>> = (0..problem.blocks())
        .into_par_iter()
        .map(|b| {
            let r = problem.evaluate(b, shared, &own_values[b], true)?;
            let (jg, jl) = (&r.shared, &r.own);
            let own = OwnNormal {
                own: jl.tr_mul(jl),
                coupling: jg.tr_mul(jl),
                gradient: jl.tr_mul(&r.residuals),
                score: jg.tr_mul(&r.residuals),
                residuals: (0..r.residuals.len()).filter(|&i| tells(&r, i)).count(),
            };
            let mut h = jg.tr_mul(jg);
            if let Some(curvature) = problem.curvature(b, shared, &own_values[b])? {
                h += curvature;
            }
            Ok((r.residuals.norm_squared(), h, own))
        })
        .collect();
    let n = shared.len();
    let mut normal = Normal {
        cost: 0.0,
        shared: DMatrix::zeros(n, n),
        gradient: DVector::zeros(n),
        blocks: Vec::with_capacity(parts.len()),
    };
    for part in parts {
        let (cost, h, own) = part?;
        normal.cost += cost;
        normal.shared += h;
        normal.gradient += &own.score;
        normal.blocks.push(own);
    }
    Ok(normal)
}

impl Normal {
    /// Damped Gauss–Newton step, or `None` where the matrix is not positive.
    pub(super) fn step(
        &self,
        damping: f64,
        fixed: &[bool],
    ) -> Option<(DVector<f64>, Vec<DVector<f64>>)> {
        let n = self.gradient.len();
        let mut schur = damped(&self.shared, damping);
        let mut right = -self.gradient.clone();
        let mut own = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            if block.gradient.is_empty() {
                own.push(None);
                continue;
            }
            let factor = damped(&block.own, damping).cholesky()?;
            let solved = factor.solve(&block.coupling.transpose());
            schur -= &block.coupling * &solved;
            right += &block.coupling * factor.solve(&block.gradient);
            own.push(Some((factor, solved)));
        }
        for i in (0..n).filter(|&i| fixed[i]) {
            schur.row_mut(i).fill(0.0);
            schur.column_mut(i).fill(0.0);
            schur[(i, i)] = 1.0;
            right[i] = 0.0;
        }
        let step = schur.cholesky()?.solve(&right);
        let own_steps = own
            .into_iter()
            .zip(&self.blocks)
            .map(|(f, block)| match f {
                Some((factor, solved)) => -factor.solve(&block.gradient) - solved * &step,
                None => DVector::zeros(0),
            })
            .collect();
        step.iter().all(|x| x.is_finite()).then_some((step, own_steps))
    }

    /// Reduction of the cost that the quadratic model promises for a damped step.
    pub(super) fn promised(&self, step: &DVector<f64>, own: &[DVector<f64>], damping: f64) -> f64 {
        let weighted = |h: &DMatrix<f64>, d: &DVector<f64>| {
            (0..d.len()).map(|i| damping * diagonal(h, i) * d[i] * d[i]).sum::<f64>()
        };
        let mut sum = weighted(&self.shared, step) - step.dot(&self.gradient);
        for (block, d) in self.blocks.iter().zip(own) {
            sum += weighted(&block.own, d) - d.dot(&block.gradient);
        }
        sum
    }
}

/// Diagonal entry, never zero: an unseen parameter stays where it is.
fn diagonal(h: &DMatrix<f64>, i: usize) -> f64 {
    if h[(i, i)] > 0.0 { h[(i, i)] } else { 1.0 }
}

fn damped(h: &DMatrix<f64>, damping: f64) -> DMatrix<f64> {
    let mut m = h.clone();
    for i in 0..h.nrows() {
        m[(i, i)] = diagonal(h, i).max(h[(i, i)]) * damping + h[(i, i)];
        if h[(i, i)] <= 0.0 {
            m[(i, i)] = 1.0;
        }
    }
    m
}
