//! The Jacobian of the rows: by tangents, a few variables at a time, or by adjoints, one row each.
//!
//! Of a long row of controls few residuals look at states: where the motion ends, constraints that act. Then an adjoint for each of
//! them costs less than the tangents of all variables: linear in the number of steps and not quadratic, as a recursion of Riccati
//! is, for any integrator and both contact models. An effort, which is a control itself, costs neither.

use super::meter::processor_time;
use super::rows::Weighted;
use super::task::Problem;
use crate::contact_model::{ContactModel, ModelError};
use nalgebra::DMatrix;
use osculate_math::Jet;
use rayon::prelude::*;

/// Directions of one tangent.
const WIDTH: usize = 8;
/// Adjoints that cost less than the tangents of [`WIDTH`] directions: about 0.4 of a roll-out each, beside 1.1.
const ADJOINTS: usize = 2;

impl<M: ContactModel> Problem<'_, M> {
    /// `dz/dx`; rows of constraints that hold are zero.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene, or it was interrupted.
    pub(super) fn jacobian(
        &self,
        x: &[f64],
        residuals: &[f64],
        trajectory: &M::Trajectory,
    ) -> Result<DMatrix<f64>, ModelError> {
        let rows = &self.task().rows.rows;
        let acts = |i: &usize| !(rows[*i].inequality && residuals[*i] <= 0.0);
        let acting: Vec<usize> = (0..rows.len()).filter(acts).collect();
        let seen = acting.iter().filter(|&&i| !rows[i].parts.is_empty()).count();
        if seen <= ADJOINTS * x.len().div_ceil(WIDTH) {
            self.by_adjoints(x, &acting, trajectory)
        } else {
            self.by_tangents(x, &acting, trajectory)
        }
    }

    /// `dz/dx` of some rows, the others zero: `WIDTH` columns a tangent, in parallel.
    ///
    /// # Errors
    /// As [`Problem::by_adjoints`].
    pub fn by_tangents(
        &self,
        x: &[f64],
        acting: &[usize],
        trajectory: &M::Trajectory,
    ) -> Result<DMatrix<f64>, ModelError> {
        let began = processor_time();
        let parameters = self.parameters(x);
        let linear = self.linearise(&parameters, trajectory)?;
        self.meter.linearised(processor_time() - began);
        let columns: Vec<usize> = (0..x.len()).collect();
        let parts: Result<Vec<_>, ModelError> = columns
            .par_chunks(WIDTH)
            .map(|chunk| {
                let began = processor_time();
                let part = match chunk.len() {
                    1 => self.columns::<1>(x, chunk[0], &linear)?,
                    2 => self.columns::<2>(x, chunk[0], &linear)?,
                    3 | 4 => self.columns::<4>(x, chunk[0], &linear)?,
                    _ => self.columns::<WIDTH>(x, chunk[0], &linear)?,
                };
                self.meter.tangent(processor_time() - began);
                Ok(part)
            })
            .collect();
        let mut jacobian = DMatrix::zeros(self.task().rows.rows.len(), x.len());
        for (chunk, part) in columns.chunks(WIDTH).zip(parts?) {
            for &i in acting {
                for (column, e) in chunk.iter().zip(&part[i]) {
                    jacobian[(i, *column)] = *e;
                }
            }
        }
        Ok(jacobian)
    }

    fn columns<const W: usize>(
        &self,
        x: &[f64],
        first: usize,
        linear: &M::Derivatives<'_>,
    ) -> Result<Vec<Vec<f64>>, ModelError> {
        let seed =
            |j: usize| j.checked_sub(first).filter(|d| *d < W).map(|d| Jet::<W>::variable(0.0, d));
        let task = self.task();
        let of = (&task.layout, &self.base);
        let (parameters, moved) = task.variables.parameters::<M, _>(of, x, seed);
        let path = M::path(linear, &parameters)?;
        let state = |step, body| M::state_on(&path, step, body);
        let z = task.rows.values(state, M::of_scene(&parameters), &moved);
        Ok(z.iter().map(|jet| jet.eps.to_vec()).collect())
    }

    /// `dz/dx` of some rows, the others zero: an adjoint for each that looks at states, in parallel.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene, or it was interrupted.
    pub fn by_adjoints(
        &self,
        x: &[f64],
        acting: &[usize],
        trajectory: &M::Trajectory,
    ) -> Result<DMatrix<f64>, ModelError> {
        let began = processor_time();
        let task = self.task();
        let (parameters, nothing) = (self.parameters(x), vec![0.0; task.entries.len()]);
        let seen = |i: usize| !task.rows.rows[i].parts.is_empty();
        let linear = match acting.iter().any(|&i| seen(i)) {
            true => Some(self.linearise(&parameters, trajectory)?),
            false => None,
        };
        self.meter.linearised(processor_time() - began);
        let row = |&i: &usize| -> Result<Vec<f64>, ModelError> {
            let mut weights = vec![0.0; task.rows.rows.len()];
            weights[i] = 1.0;
            let direct = self.direct(&weights);
            let Some(linear) = linear.as_ref().filter(|_| seen(i)) else {
                return Ok(task.variables.pull(x, &nothing, &direct));
            };
            let began = processor_time();
            let (_, gradient) = M::adjoint(linear, &Weighted { rows: &task.rows, weights })?;
            let pulled = task.variables.pull(x, &gradient, &direct);
            self.meter.adjoint(processor_time() - began);
            Ok(pulled)
        };
        let found: Result<Vec<_>, _> = acting.par_iter().map(row).collect();
        let mut jacobian = DMatrix::zeros(task.rows.rows.len(), x.len());
        for (&i, row) in acting.iter().zip(found?) {
            row.iter().enumerate().for_each(|(j, e)| jacobian[(i, j)] = *e);
        }
        Ok(jacobian)
    }
}
