//! A batch of roll-outs with its vector–Jacobian product, as plain numbers: no tensor library here.

mod inputs;
mod outputs;
mod place;
mod spec;
mod typed;

pub use spec::{FORCE, Input, LayerSpec, Output, STATE, WRENCH};

use crate::LearnError;
use osculate_dynamics::Parameters;
use osculate_dynamics::file::BuiltScene;
use osculate_fit::contact_model::ContactModel;
use std::fmt;
use std::sync::{Arc, Mutex};
use typed::{Layer, Typed};

/// A simulation as a function of a batch: one row goes in, one roll-out is made, one row comes out.
///
/// Rows are rolled out in parallel and do not know of each other: a batch gives the bits of its rows one by one, for any
/// number of threads.
#[derive(Clone)]
pub struct Rollout {
    spec: Arc<LayerSpec>,
    layer: Arc<dyn Layer>,
    failure: Arc<Mutex<Option<LearnError>>>,
}

/// What the reverse sweep needs of a batch.
pub(crate) trait Tape: Send + Sync {
    /// `ū = (∂y/∂u)ᵀ ȳ` of each row.
    fn pull(&self, bars: &[f64]) -> Result<Vec<f64>, LearnError>;
}

/// Roll-outs of a batch: outputs, and their derivative.
#[derive(Clone)]
pub struct RolledOut {
    /// Outputs, row by row.
    pub outputs: Vec<f64>,
    pub(crate) tape: Arc<dyn Tape>,
}

impl fmt::Debug for RolledOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RolledOut").field("outputs", &self.outputs).finish_non_exhaustive()
    }
}

impl fmt::Debug for Rollout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rollout").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl RolledOut {
    /// `ū = (∂y/∂u)ᵀ ȳ`, row by row: one adjoint a roll-out.
    ///
    /// * `bars`: as many numbers as outputs.
    ///
    /// # Errors
    /// Where their count is wrong, or a roll-out has no derivative (impulse model).
    pub fn pull(&self, bars: &[f64]) -> Result<Vec<f64>, LearnError> {
        self.tape.pull(bars)
    }
}

impl Rollout {
    /// A layer of a scene, under the contact model that its file names.
    ///
    /// # Errors
    /// Where the specification does not fit the scene.
    pub fn new(scene: &BuiltScene, spec: LayerSpec) -> Result<Self, LearnError> {
        let parameters = scene.parameters.clone();
        match &scene.impulse {
            None => Self::of(scene.simulator.clone(), parameters, spec),
            Some(simulator) => Self::of(simulator.clone(), parameters, spec),
        }
    }

    /// A layer of a simulation.
    ///
    /// * `parameters`: every number that no input sets.
    ///
    /// # Errors
    /// Where the specification does not fit the scene.
    pub fn of<S: ContactModel>(
        simulator: S,
        parameters: Parameters,
        spec: LayerSpec,
    ) -> Result<Self, LearnError> {
        for (what, none) in
            [("inputs", spec.inputs.is_empty()), ("outputs", spec.outputs.is_empty())]
        {
            if none {
                return Err(LearnError::Empty { what });
            }
        }
        let layer = Arc::new(Typed::new(simulator, parameters, &spec)?);
        Ok(Self { spec: Arc::new(spec), layer, failure: Arc::default() })
    }

    /// Inputs and outputs.
    pub fn spec(&self) -> &LayerSpec {
        &self.spec
    }

    /// Rolls a batch out.
    ///
    /// * `inputs`: `rows × input columns` numbers, row by row.
    ///
    /// # Errors
    /// Where the count does not fit, a number is not finite or not one that the scene can have, a step fails or a solve does
    /// not converge: the first such row. A failure is never an output.
    pub fn run(&self, inputs: &[f64]) -> Result<RolledOut, LearnError> {
        let columns = self.spec.input_columns();
        if inputs.is_empty() || !inputs.len().is_multiple_of(columns) {
            return Err(LearnError::Shape { found: [1, inputs.len()], columns });
        }
        Arc::clone(&self.layer).run(inputs)
    }

    /// Why the last backward pass through this layer gave gradients that are not numbers; taken, so that it is told once.
    ///
    /// Under the compliant model it cannot happen; under the impulse model a roll-out can have no derivative.
    pub fn take_failure(&self) -> Option<LearnError> {
        self.failure.lock().ok()?.take()
    }

    pub(crate) fn failure(&self) -> Arc<Mutex<Option<LearnError>>> {
        Arc::clone(&self.failure)
    }
}
