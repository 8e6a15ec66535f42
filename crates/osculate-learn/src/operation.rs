//! Roll-outs as an operation of burn's automatic differentiation.
//!
//! ```text
//! forward    y = f(u)                 roll-outs, in f64
//! backward   ū = (∂f/∂u)ᵀ ȳ           one adjoint a roll-out: nothing of the simulation is on burn's tape
//! ```

use crate::LearnError;
use crate::layer::{RolledOut, Rollout, Tape};
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData, try_read_sync};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// The processor, with double precision as its default and gradients on.
///
/// # Errors
/// Where another part of the program made tensors in single precision before: burn locks the precision of a device at its
/// first tensor.
pub fn device() -> Result<Device, LearnError> {
    static CONFIGURED: OnceLock<Result<(), String>> = OnceLock::new();
    let configured = CONFIGURED.get_or_init(|| {
        let mut device = Device::flex();
        match device.configure(FloatDType::F64) {
            Err(_) if device.settings().float_dtype == FloatDType::F64 => Ok(()),
            other => other.map_err(|e| e.to_string()),
        }
    });
    configured.clone().map_err(LearnError::Burn)?;
    Ok(Device::flex().autodiff())
}

/// A tensor of double precision from numbers, row by row.
pub fn tensor<const D: usize>(numbers: Vec<f64>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F64))
}

/// The numbers of a tensor of double precision, row by row.
///
/// # Errors
/// Where it has another precision or cannot be read.
pub fn numbers<const D: usize>(tensor: &Tensor<D>) -> Result<Vec<f64>, LearnError> {
    if tensor.dtype() != DType::F64 {
        return Err(LearnError::Precision { found: format!("{:?}", tensor.dtype()) });
    }
    let data = tensor.clone().try_into_data().map_err(|e| LearnError::Burn(e.to_string()))?;
    data.try_into_vec::<f64>().map_err(|e| LearnError::Burn(e.to_string()))
}

impl Rollout {
    /// Rolls a batch out: shape `[rows, input columns]` in, `[rows, output columns]` out, differentiable by burn.
    ///
    /// * `inputs`: in double precision, on the device of [`device`].
    ///
    /// Where a backward pass meets a roll-out without derivative, the gradients are not numbers and
    /// [`Rollout::take_failure`] says why.
    ///
    /// # Errors
    /// As [`Rollout::run`]; also where shape or precision do not fit.
    pub fn forward(&self, inputs: Tensor<2>) -> Result<Tensor<2>, LearnError> {
        let [rows, found] = inputs.dims();
        let columns = self.spec().input_columns();
        if rows == 0 || found != columns {
            return Err(LearnError::Shape { found: [rows, found], columns });
        }
        let RolledOut { outputs, tape } = self.run(&numbers(&inputs)?)?;
        let shape = [rows, self.spec().output_columns()];
        let outputs = tensor(outputs, shape, &inputs.device());
        let tape = Recorded { tape, shape: [rows, columns], failure: self.failure() };
        let joined = <Dispatch as RolloutOperation>::join(
            inputs.into_dispatch(),
            outputs.into_dispatch(),
            tape,
        );
        Ok(Tensor::from_dispatch(joined))
    }
}

/// What the backward pass needs.
#[derive(Clone)]
pub(crate) struct Recorded {
    tape: Arc<dyn Tape>,
    shape: [usize; 2],
    failure: Arc<Mutex<Option<LearnError>>>,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Recorded {
    /// `ū`, or not numbers where there is no derivative.
    fn pull(&self, bars: Result<Vec<f64>, LearnError>) -> TensorData {
        let found = bars.and_then(|bars| self.tape.pull(&bars));
        let numbers = found.unwrap_or_else(|e| {
            if let Ok(mut failure) = self.failure.lock() {
                *failure = Some(e);
            }
            vec![f64::NAN; self.shape[0] * self.shape[1]]
        });
        TensorData::new(numbers, self.shape)
    }
}

/// The operation that ties outputs, computed before, to their inputs.
#[backend_extension(Autodiff, Flex)]
pub(crate) trait RolloutOperation: Backend {
    /// The outputs, as a function of the inputs.
    fn join(
        inputs: FloatTensor<Self>,
        outputs: FloatTensor<Self>,
        recorded: Recorded,
    ) -> FloatTensor<Self>;
}

impl RolloutOperation for Flex {
    fn join(
        _inputs: FloatTensor<Self>,
        outputs: FloatTensor<Self>,
        _recorded: Recorded,
    ) -> FloatTensor<Self> {
        outputs
    }
}

impl<B: Backend + RolloutOperation, C: CheckpointStrategy> RolloutOperation for Autodiff<B, C> {
    fn join(
        inputs: FloatTensor<Self>,
        outputs: FloatTensor<Self>,
        recorded: Recorded,
    ) -> FloatTensor<Self> {
        let (_, node) = inputs.into_parts();
        let outputs = outputs.into_primitive();
        match Pull.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(recorded, outputs),
            OpsKind::UnTracked(prepared) => prepared.finish(outputs),
        }
    }
}

/// The backward pass.
#[derive(Debug)]
struct Pull;

impl<B: Backend> Backward<B, 1> for Pull {
    type State = Recorded;

    fn backward(
        self,
        ops: Ops<Recorded, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let bar = gradients.consume::<B>(&ops.node);
        let [Some(parent)] = ops.parents else { return };
        let device = bar.device();
        let read = try_read_sync(B::float_into_data(bar));
        let bars = match read {
            Some(Ok(data)) => {
                data.try_into_vec::<f64>().map_err(|e| LearnError::Burn(e.to_string()))
            }
            Some(Err(e)) => Err(LearnError::Burn(e.to_string())),
            None => Err(LearnError::Burn("the device cannot be read at once".into())),
        };
        let gradient = B::float_from_data(ops.state.pull(bars), &device);
        gradients.register::<B>(parent.id, gradient);
    }
}
