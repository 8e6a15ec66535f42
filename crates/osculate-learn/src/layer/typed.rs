//! A batch under one contact model.

use super::inputs::Inputs;
use super::outputs::Outputs;
use super::spec::LayerSpec;
use super::{RolledOut, Tape};
use crate::LearnError;
use osculate_dynamics::{OnFailure, Parameters};
use osculate_fit::contact_model::ContactModel;
use rayon::prelude::*;
use std::sync::Arc;

/// A layer, whatever its model.
pub(super) trait Layer: Send + Sync {
    fn run(self: Arc<Self>, inputs: &[f64]) -> Result<RolledOut, LearnError>;
}

/// A layer under a model.
pub(super) struct Typed<S: ContactModel> {
    simulator: S,
    inputs: Inputs<S>,
    outputs: Outputs,
    columns: usize,
}

impl<S: ContactModel> Typed<S> {
    pub(super) fn new(
        simulator: S,
        parameters: Parameters,
        spec: &LayerSpec,
    ) -> Result<Self, LearnError> {
        let inputs = Inputs::new(&simulator, parameters, &spec.inputs)?;
        let outputs = Outputs::new(&simulator, (inputs.layout(), inputs.base()), &spec.outputs)?;
        Ok(Self { simulator, inputs, outputs, columns: spec.input_columns() })
    }

    fn roll(&self, row: usize, numbers: &[f64]) -> Result<(Vec<f64>, Rolled<S>), LearnError> {
        let parameters = self.inputs.apply(&self.simulator, (row, numbers))?;
        let trajectory =
            self.simulator.run(&parameters).map_err(|source| LearnError::Run { row, source })?;
        let solves = S::unconverged(&trajectory);
        if solves > 0 {
            return Err(LearnError::Unconverged { row, solves });
        }
        let outputs = self.outputs.read::<S>(&parameters, &trajectory);
        if let Some(column) = outputs.iter().position(|x| !x.is_finite()) {
            return Err(LearnError::Diverged { row, column, found: outputs[column] });
        }
        Ok((outputs, Rolled { parameters, trajectory }))
    }

    fn pull(&self, row: usize, rolled: &Rolled<S>, bars: &[f64]) -> Result<Vec<f64>, LearnError> {
        let Rolled { parameters, trajectory } = rolled;
        let mass = |body: usize| S::of_scene(parameters).bodies[body].mass;
        let outcome = self.outputs.cotangents(self.simulator.steps(), mass, bars);
        let failed = |source| LearnError::Run { row, source };
        let derivatives =
            self.simulator.linearise(parameters, trajectory, OnFailure::Stop).map_err(failed)?;
        let (_, mut gradient) = S::adjoint(&derivatives, &outcome).map_err(failed)?;
        self.outputs.add_direct::<S>((parameters, trajectory), bars, &mut gradient);
        Ok(self.inputs.pull(parameters, &gradient))
    }
}

impl<S: ContactModel> Layer for Typed<S> {
    fn run(self: Arc<Self>, inputs: &[f64]) -> Result<RolledOut, LearnError> {
        let rows: Vec<&[f64]> = inputs.chunks(self.columns).collect();
        // Collected in order before the first failure is looked for: the same row is told for any number of threads.
        let all: Vec<_> = rows.par_iter().enumerate().map(|(i, r)| self.roll(i, r)).collect();
        let (mut outputs, mut rolled) = (Vec::new(), Vec::new());
        for row in all {
            let (numbers, one) = row?;
            outputs.extend(numbers);
            rolled.push(one);
        }
        let tape = Arc::new(Rolls { layer: self, rolled });
        Ok(RolledOut { outputs, tape })
    }
}

/// One roll-out.
struct Rolled<S: ContactModel> {
    parameters: S::Parameters<f64>,
    trajectory: S::Trajectory,
}

/// The roll-outs of a batch.
struct Rolls<S: ContactModel> {
    layer: Arc<Typed<S>>,
    rolled: Vec<Rolled<S>>,
}

impl<S: ContactModel> Tape for Rolls<S> {
    fn pull(&self, bars: &[f64]) -> Result<Vec<f64>, LearnError> {
        let (rows, columns) = (self.rolled.len(), self.layer.outputs.columns());
        if bars.len() != rows * columns {
            return Err(LearnError::Cotangents { found: bars.len(), rows, columns });
        }
        let rows = self.rolled.par_iter().zip(bars.par_chunks(columns)).enumerate();
        let all: Vec<_> = rows.map(|(i, (r, bar))| self.layer.pull(i, r, bar)).collect();
        let mut out = Vec::new();
        for row in all {
            out.extend(row?);
        }
        Ok(out)
    }
}
