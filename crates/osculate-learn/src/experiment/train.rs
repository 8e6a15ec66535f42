//! The loop that all experiments train with.

use super::ExperimentError;
use crate::LearnError;
use crate::operation::numbers;
use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How long and how fast.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Training {
    /// Steps of Adam.
    pub(super) iterations: usize,
    /// First learning rate; it falls to a fiftieth along a cosine.
    pub(super) learning_rate: f64,
}

/// A point of a loss curve.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Point {
    pub(super) iteration: usize,
    pub(super) loss: f64,
}

/// Adam on a loss; the best module seen, and the loss of every iteration.
///
/// * `loss`: of a module in an iteration, shape `[1]`.
pub(super) fn train<M: Module + Clone>(
    mut module: M,
    training: &Training,
    mut loss: impl FnMut(&M, usize) -> Result<Tensor<1>, ExperimentError>,
) -> Result<(M, Vec<Point>), ExperimentError> {
    let mut optimiser = AdamConfig::new().with_epsilon(1e-10).init();
    let (mut best, mut lowest) = (module.clone(), f64::INFINITY);
    let mut curve = Vec::with_capacity(training.iterations);
    for iteration in 0..training.iterations {
        let value = loss(&module, iteration)?;
        let found = scalar(&value)?;
        if !found.is_finite() {
            return Err(ExperimentError::Loss { iteration, found });
        }
        curve.push(Point { iteration, loss: found });
        if found < lowest {
            (best, lowest) = (module.clone(), found);
        }
        let gradients = GradientsParams::from_grads(value.backward(), &module);
        let progress = iteration as f64 / training.iterations.max(1) as f64;
        let wave = 0.5 * (1.0 + (std::f64::consts::PI * progress).cos());
        let rate = training.learning_rate * (0.02 + 0.98 * wave);
        module = optimiser.step(rate, module, gradients);
    }
    Ok((best, curve))
}

/// The number in a tensor of one.
pub(super) fn scalar(tensor: &Tensor<1>) -> Result<f64, LearnError> {
    Ok(numbers(tensor)?[0])
}
