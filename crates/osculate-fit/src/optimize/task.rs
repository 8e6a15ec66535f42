//! A trajectory to be optimised, and its residuals with exact derivatives.

use super::file::StageFile;
use super::meter::{Meter, processor_time};
use super::rows::{Rows, Weighted};
use super::variables::Variables;
use crate::contact_model::{ContactModel, Entry, ModelError};
use crate::least_squares::{BlockProblem, BlockResiduals};
use nalgebra::{DMatrix, DVector};
use osculate_dynamics::impulse::ImpulseSimulator;
use osculate_dynamics::{OnFailure, Parameters, Simulator};
use rayon::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// What there is to optimise, under one contact model.
pub struct Task<M: ContactModel> {
    /// Scene, settings and time grid.
    pub simulator: M,
    /// The scene's numbers, with room for those of controls.
    pub base: M::Parameters<f64>,
    /// Their flat order.
    pub layout: M::Layout,
    /// Paths and units, in that order.
    pub entries: Vec<Entry>,
    /// What moves.
    pub variables: Variables,
    /// What is wanted.
    pub rows: Rows,
}

/// A task under the model of its scene.
pub enum Loaded {
    /// `model = "compliant"`.
    Compliant(Box<Task<Simulator>>),
    /// `model = "impulse"`.
    Impulse(Box<Task<ImpulseSimulator>>),
}

/// Factors of contact parameters, for a softer problem than the scene's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Softness {
    /// Of every stiffness k.
    pub k: f64,
    /// Of every ramp length ε.
    pub epsilon: f64,
    /// Of every falloff speed V_f.
    pub v_f: f64,
}

impl Softness {
    /// The scene's own.
    pub const NONE: Self = Self { k: 1.0, epsilon: 1.0, v_f: 1.0 };

    /// That of a stage.
    pub fn of(stage: &StageFile) -> Self {
        Self { k: stage.k, epsilon: stage.epsilon, v_f: stage.v_f }
    }

    fn apply(&self, parameters: &mut Parameters) {
        for body in &mut parameters.bodies {
            body.contact.stiffness *= self.k;
            body.contact.smoothing *= self.epsilon;
            body.contact.falloff_speed *= self.v_f;
        }
        for pair in &mut parameters.overrides {
            pair.stiffness = pair.stiffness.map(|k| k * self.k);
            pair.falloff_speed = pair.falloff_speed.map(|v| v * self.v_f);
        }
    }
}

/// A task at one softness and one set of multipliers, with a count of what was asked of it.
pub struct Problem<'t, M: ContactModel> {
    task: &'t Task<M>,
    pub(super) base: M::Parameters<f64>,
    /// Of each row; zero for objectives.
    pub multipliers: Vec<f64>,
    /// Whether the second order of the residuals counts ([`BlockProblem::curvature`]).
    pub second_order: bool,
    /// What was asked so far.
    pub meter: Meter,
    /// The last roll-out and where it was: solvers ask for a value first, then for derivatives at the same point.
    last: Mutex<Option<(Vec<f64>, M::Trajectory)>>,
}

impl<'t, M: ContactModel> Problem<'t, M> {
    /// A task at a softness.
    pub fn new(task: &'t Task<M>, softness: Softness, meter: Meter) -> Self {
        let mut base = task.base.clone();
        softness.apply(M::of_scene_mut(&mut base));
        let multipliers = vec![0.0; task.rows.rows.len()];
        Self { task, base, multipliers, second_order: false, meter, last: Mutex::new(None) }
    }

    /// A task that is judged whether its search was interrupted or not: its first roll-out goes to the end.
    pub fn to_the_end(task: &'t Task<M>) -> Self {
        let problem = Self::new(task, Softness::NONE, Meter::default());
        let memory = M::interrupted_by(M::Trajectory::default(), Arc::default());
        // At no point yet.
        problem.keep(&vec![f64::NAN; task.variables.len()], memory);
        problem
    }

    /// The task.
    pub fn task(&self) -> &'t Task<M> {
        self.task
    }

    /// The numbers of the scene at a point.
    pub fn parameters(&self, x: &[f64]) -> M::Parameters<f64> {
        let of = (&self.task.layout, &self.base);
        self.task.variables.parameters::<M, f64>(of, x, |_| None).0
    }

    /// Memory for a roll-out, and whether it already holds that at `x`.
    fn take(&self, x: &[f64]) -> (M::Trajectory, bool) {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match last.take() {
            Some((at, trajectory)) => {
                let same = at.len() == x.len()
                    && at.iter().zip(x).all(|(a, b)| a.to_bits() == b.to_bits());
                (trajectory, same)
            }
            None => (M::Trajectory::default(), false),
        }
    }

    fn keep(&self, x: &[f64], trajectory: M::Trajectory) {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *last = Some((x.to_vec(), trajectory));
    }

    /// `z` at a point, and the roll-out.
    ///
    /// # Errors
    /// Where a step fails.
    pub fn values(&self, x: &[f64]) -> Result<(Vec<f64>, M::Trajectory), ModelError> {
        let began = processor_time();
        let (mut trajectory, known) = self.take(x);
        let of = (&self.task.layout, &self.base);
        let (parameters, moved) = self.task.variables.parameters::<M, f64>(of, x, |_| None);
        if !known {
            self.task.simulator.run_into(&parameters, &mut trajectory)?;
        }
        let state = |step, body| M::state(&trajectory, step, body);
        let z = self.task.rows.values(state, M::of_scene(&parameters), &moved);
        let residuals = self.task.rows.residuals(&z, &self.multipliers);
        let cost = residuals.iter().map(|r| r * r).sum();
        let spent = processor_time() - began;
        self.meter.rolled_out((!known, spent), (x, cost), || self.task.rows.reached(&z));
        Ok((z, trajectory))
    }

    /// What a stage or step that did not converge gives stands for a root: the report counts them.
    pub(super) fn linearise<'a>(
        &'a self,
        parameters: &'a M::Parameters<f64>,
        trajectory: &'a M::Trajectory,
    ) -> Result<M::Derivatives<'a>, ModelError> {
        self.task.simulator.linearise(parameters, trajectory, OnFailure::Continue)
    }

    /// `d(Σ w_i z_i)/dx` by one adjoint.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    pub fn pull(
        &self,
        x: &[f64],
        weights: Vec<f64>,
        trajectory: &M::Trajectory,
    ) -> Result<Vec<f64>, ModelError> {
        let began = processor_time();
        let direct = self.direct(&weights);
        let outcome = Weighted { rows: &self.task.rows, weights };
        let parameters = self.parameters(x);
        let (_, gradient) = M::adjoint(&self.linearise(&parameters, trajectory)?, &outcome)?;
        let pulled = self.task.variables.pull(x, &gradient, &direct);
        self.meter.adjoint(processor_time() - began);
        Ok(pulled)
    }

    /// `d(Σ w_i z_i)/dp` by the moved numbers, of what stands in the residuals by itself.
    pub(super) fn direct(&self, weights: &[f64]) -> Vec<f64> {
        let mut direct = vec![0.0; self.task.variables.moved.len()];
        for (row, w) in self.task.rows.rows.iter().zip(weights) {
            row.direct.iter().for_each(|(k, d)| direct[*k] += w * d);
        }
        direct
    }

    /// `Σ_i w_i d²z_i/dx²`, a column by one product of the outcome's Hessian with what a variable moves; columns in parallel.
    fn bent(
        &self,
        x: &[f64],
        weights: Vec<f64>,
        trajectory: &M::Trajectory,
    ) -> Result<Option<DMatrix<f64>>, ModelError> {
        let (n, variables) = (x.len(), &self.task.variables);
        let direct = self.direct(&weights);
        let outcome = Weighted { rows: &self.task.rows, weights };
        let parameters = self.parameters(x);
        let linear = self.linearise(&parameters, trajectory)?;
        let (_, gradient) = M::adjoint(&linear, &outcome)?;
        let nothing = vec![0.0; direct.len()];
        let column = |j: usize| -> Result<Option<Vec<f64>>, ModelError> {
            let began = processor_time();
            let mut along = vec![0.0; gradient.len()];
            variables.push_forward(x, j).into_iter().for_each(|(i, d)| along[i] += d);
            let product = M::hessian_product(&linear, &along, &outcome)?;
            self.meter.tangent(processor_time() - began);
            Ok(product.map(|product| variables.pull(x, &product, &nothing)))
        };
        let columns: Result<Vec<_>, _> = (0..n).into_par_iter().map(column).collect();
        let columns: Option<Vec<Vec<f64>>> = columns?.into_iter().collect();
        let Some(columns) = columns else { return Ok(None) };
        let mut bent = DMatrix::from_fn(n, n, |i, j| 0.5 * (columns[j][i] + columns[i][j]));
        for (j, b) in variables.bent(x, &gradient, &direct).into_iter().enumerate() {
            bent[(j, j)] += b;
        }
        Ok(Some(bent))
    }

    /// The Jacobian of the rows at a point, with the residuals.
    ///
    /// # Errors
    /// Where a step fails.
    pub fn linearised(&self, x: &[f64]) -> Result<(Vec<f64>, DMatrix<f64>), ModelError> {
        let (z, trajectory) = self.values(x)?;
        let residuals = self.task.rows.residuals(&z, &self.multipliers);
        let jacobian = self.jacobian(x, &residuals, &trajectory)?;
        self.keep(x, trajectory);
        Ok((residuals, jacobian))
    }

    /// Moves the multipliers: `λ ← max(0, z + λ)` of each constraint.
    ///
    /// # Errors
    /// Where a step fails.
    pub fn update_multipliers(&mut self, x: &[f64]) -> Result<(), ModelError> {
        let (z, trajectory) = self.values(x)?;
        self.keep(x, trajectory);
        for (i, _) in self.task.rows.rows.iter().enumerate().filter(|(_, r)| r.inequality) {
            self.multipliers[i] = (z[i] + self.multipliers[i]).max(0.0);
        }
        Ok(())
    }
}

impl<M: ContactModel> BlockProblem for Problem<'_, M> {
    type Error = ModelError;

    fn blocks(&self) -> usize {
        1
    }

    fn interrupted(&self) -> bool {
        self.task.simulator.interrupt().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    fn evaluate(
        &self,
        _: usize,
        x: &[f64],
        _: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ModelError> {
        let (residuals, shared) = if jacobian {
            self.linearised(x)?
        } else {
            let (z, trajectory) = self.values(x)?;
            self.keep(x, trajectory);
            (self.task.rows.residuals(&z, &self.multipliers), DMatrix::zeros(0, x.len()))
        };
        let own = DMatrix::zeros(if jacobian { residuals.len() } else { 0 }, 0);
        Ok(BlockResiduals { residuals: DVector::from_vec(residuals), shared, own })
    }

    /// Constraints that hold have the residual zero, so they do not count.
    fn curvature(
        &self,
        _: usize,
        x: &[f64],
        _: &[f64],
    ) -> Result<Option<DMatrix<f64>>, ModelError> {
        if !self.second_order {
            return Ok(None);
        }
        let (z, trajectory) = self.values(x)?;
        let residuals = self.task.rows.residuals(&z, &self.multipliers);
        let bent = self.bent(x, residuals, &trajectory)?;
        self.keep(x, trajectory);
        Ok(bent)
    }

    /// By the adjoint: one sweep, whatever the number of variables.
    fn cost_and_gradient(
        &self,
        _: usize,
        x: &[f64],
        _: &[f64],
    ) -> Result<(f64, DVector<f64>), ModelError> {
        let (z, trajectory) = self.values(x)?;
        let residuals = self.task.rows.residuals(&z, &self.multipliers);
        let weights = residuals.iter().map(|r| 2.0 * r).collect();
        let gradient = self.pull(x, weights, &trajectory)?;
        self.keep(x, trajectory);
        Ok((residuals.iter().map(|r| r * r).sum(), DVector::from_vec(gradient)))
    }
}
