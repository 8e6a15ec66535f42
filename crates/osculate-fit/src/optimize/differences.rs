//! The same task without exact derivatives: forward differences of the residuals, for comparison.

use super::task::Problem;
use crate::contact_model::{ContactModel, ModelError};
use crate::least_squares::{BlockProblem, BlockResiduals};
use nalgebra::{DMatrix, DVector};

/// Step in a half width of a range: the root of what the stage solves leave, about 1e-10 of the forces.
const STEP: f64 = 1e-5;

/// A problem whose Jacobian is made of as many roll-outs as it has variables.
pub struct Differenced<'p, 't, M: ContactModel>(pub &'p Problem<'t, M>);

impl<M: ContactModel> BlockProblem for Differenced<'_, '_, M> {
    type Error = ModelError;

    fn blocks(&self) -> usize {
        1
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }

    fn evaluate(
        &self,
        block: usize,
        x: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ModelError> {
        let mut here = self.0.evaluate(block, x, own, false)?;
        if jacobian {
            let bounds = self.0.task().variables.bounds();
            let mut columns = Vec::with_capacity(x.len());
            let mut moved = x.to_vec();
            for (j, [_, high]) in bounds.iter().enumerate() {
                let step = if x[j] + STEP <= *high { STEP } else { -STEP };
                moved[j] = x[j] + step;
                let there = self.0.evaluate(block, &moved, own, false)?.residuals;
                moved[j] = x[j];
                columns.push((there - &here.residuals) / step);
            }
            here.shared = if columns.is_empty() {
                DMatrix::zeros(here.residuals.len(), 0)
            } else {
                DMatrix::from_columns(&columns)
            };
            here.own = DMatrix::zeros(here.residuals.len(), 0);
        }
        Ok(here)
    }

    fn cost_and_gradient(
        &self,
        block: usize,
        x: &[f64],
        own: &[f64],
    ) -> Result<(f64, DVector<f64>), ModelError> {
        let r = self.evaluate(block, x, own, true)?;
        Ok((r.residuals.norm_squared(), r.shared.tr_mul(&r.residuals) * 2.0))
    }
}
