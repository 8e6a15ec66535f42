//! Small networks in double precision, the same for the same seed.

use crate::operation::tensor;
use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Layers `x ↦ W x + b` with tanh between them.
#[derive(Module, Debug)]
pub struct Network {
    layers: Vec<Linear>,
}

impl Network {
    /// * `sizes`: of input, hidden layers and output.
    ///
    /// Weights are uniform within `±√(3/n)` for `n` inputs of a layer, so that a layer keeps variances; biases are zero.
    /// Burn draws from one generator of the whole process; here the seed decides.
    pub fn new(sizes: &[usize], seed: u64, device: &Device) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let layers = sizes.windows(2).map(|s| {
            let bound = (3.0 / s[0] as f64).sqrt();
            let weight = (0..s[0] * s[1]).map(|_| bound * (2.0 * rng.random::<f64>() - 1.0));
            linear(weight.collect(), vec![0.0; s[1]], [s[0], s[1]], device)
        });
        Self { layers: layers.collect() }
    }

    /// With a last layer scaled by `factor` and the biases given: what it says before it is trained.
    #[must_use]
    pub fn with_last_layer(mut self, factor: f64, biases: &[f64], device: &Device) -> Self {
        if let Some(last) = self.layers.last_mut() {
            let weight = last.weight.val().mul_scalar(factor).detach();
            last.weight = Param::from_tensor(weight);
            last.bias = Some(Param::from_tensor(tensor(biases.to_vec(), [biases.len()], device)));
        }
        self
    }

    /// `[rows, inputs]` to `[rows, outputs]`.
    pub fn forward(&self, mut x: Tensor<2>) -> Tensor<2> {
        for (i, layer) in self.layers.iter().enumerate() {
            if i > 0 {
                x = x.tanh();
            }
            x = layer.forward(x);
        }
        x
    }
}

fn linear(weight: Vec<f64>, bias: Vec<f64>, shape: [usize; 2], device: &Device) -> Linear {
    Linear {
        weight: Param::from_tensor(tensor(weight, shape, device)),
        bias: Some(Param::from_tensor(tensor(bias, [shape[1]], device))),
    }
}
