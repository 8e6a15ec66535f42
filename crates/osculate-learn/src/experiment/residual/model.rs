//! Physics, with or without a network beside it.

use super::config::Config;
use crate::experiment::tosses;
use crate::operation::{numbers, tensor};
use crate::{Input, LayerSpec, LearnError, Network, Output, Rollout, STATE, WRENCH};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};
use osculate_dynamics::file::BuiltScene;

/// What is learned: logarithms of parameters, shape `[1, parameters]`, and a network from states to wrenches.
#[derive(Module, Debug)]
pub(super) struct Arm {
    logarithms: Param<Tensor<2>>,
    network: Option<Network>,
}

/// The layer of one frame.
pub(super) struct Frame {
    layer: Rollout,
    config: Config,
    device: Device,
}

/// States of every frame.
pub(super) struct Unrolled {
    /// `[tosses, 18]`, the start first.
    pub(super) states: Vec<Tensor<2>>,
}

impl Arm {
    /// Parameters at their starts; the network says next to nothing.
    pub(super) fn new(config: &Config, with_network: bool, device: &Device) -> Self {
        let logarithms: Vec<f64> = config.parameters.iter().map(|p| p.start.ln()).collect();
        let count = logarithms.len();
        let network = with_network.then(|| {
            let hidden = config.network.hidden.iter().copied();
            let sizes: Vec<usize> = std::iter::once(9).chain(hidden).chain([WRENCH]).collect();
            let network = Network::new(&sizes, config.network.seed, device);
            network.with_last_layer(0.01, &[0.0; WRENCH], device)
        });
        Self { logarithms: Param::from_tensor(tensor(logarithms, [1, count], device)), network }
    }

    /// The parameters.
    pub(super) fn values(&self) -> Result<Vec<f64>, LearnError> {
        Ok(numbers(&self.logarithms.val())?.iter().map(|x| x.exp()).collect())
    }
}

impl Frame {
    pub(super) fn new(
        config: &Config,
        scene: &BuiltScene,
        device: &Device,
    ) -> Result<Self, LearnError> {
        let (steps, body) = (scene.simulator.steps(), config.body.as_str());
        let mut inputs = vec![Input::state(body), Input::wrench(body, 0..steps)];
        inputs.extend(config.parameters.iter().map(|p| Input::parameter(&p.path)));
        let spec = LayerSpec { inputs, outputs: vec![Output::state(body, steps)] };
        let layer = Rollout::new(scene, spec)?;
        Ok(Self { layer, config: config.clone(), device: device.clone() })
    }

    /// Rolls tosses out: state → network → wrench → one frame, again and again.
    pub(super) fn unroll(&self, arm: &Arm, start: &[f64]) -> Result<Unrolled, LearnError> {
        let rows = start.len() / STATE;
        let mut state = tensor(start.to_vec(), [rows, STATE], &self.device);
        let parameters = arm.logarithms.val().exp().repeat_dim(0, rows);
        let none = tensor(vec![0.0; WRENCH * rows], [rows, WRENCH], &self.device);
        let mut out = Unrolled { states: vec![state.clone()] };
        for _ in 0..self.config.frames {
            let wrench =
                arm.network.as_ref().map_or_else(|| none.clone(), |n| self.wrench(n, &state));
            state = self.layer.forward(Tensor::cat(vec![state, wrench, parameters.clone()], 1))?;
            out.states.push(state.clone());
        }
        Ok(out)
    }

    /// What the experiment file says.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// The wrenches that an arm sees in states, `[tosses × 6]`.
    pub(super) fn wrenches(&self, arm: &Arm, states: &[f64]) -> Result<Vec<f64>, LearnError> {
        let rows = states.len() / STATE;
        let states = tensor(states.to_vec(), [rows, STATE], &self.device);
        let said = arm.network.as_ref().map(|n| numbers(&self.wrench(n, &states))).transpose()?;
        Ok(said.unwrap_or_else(|| vec![0.0; WRENCH * rows]))
    }

    fn wrench(&self, network: &Network, state: &Tensor<2>) -> Tensor<2> {
        let rows = state.dims()[0];
        let part = |first: usize, scale: f64| {
            state.clone().slice([0..rows, first..first + 3]).mul_scalar(1.0 / scale)
        };
        // Of the size of a toss: 0.2 m, 1 m/s, 10 rad/s.
        let said =
            network.forward(Tensor::cat(vec![part(0, 0.2), part(12, 1.0), part(15, 10.0)], 1));
        let force = said.clone().slice([0..rows, 0..3]).mul_scalar(self.config.network.force);
        let torque = said.slice([0..rows, 3..6]).mul_scalar(self.config.network.torque);
        Tensor::cat(vec![force, torque], 1)
    }

    /// `mean over frames and tosses of √(1 + |p − p̃|²/σ_p² + |R − R̃|²/(2σ_R²)) − 1`: large errors count by their size,
    /// for roll-outs through impacts scatter.
    pub(super) fn loss(
        &self,
        unrolled: &Unrolled,
        measured: &[Vec<f64>],
        rows: usize,
    ) -> Tensor<1> {
        let (p, r) = (self.config.loss.position, self.config.loss.rotation);
        let mut total = tensor(vec![0.0], [1], &self.device);
        for (state, seen) in unrolled.states[1..].iter().zip(measured) {
            let seen = tensor(seen[..12 * rows].to_vec(), [rows, 12], &self.device);
            let off = state.clone().slice([0..rows, 0..12]) - seen;
            let square = off.clone() * off;
            let position =
                square.clone().slice([0..rows, 0..3]).sum_dim(1).mul_scalar(1.0 / (p * p));
            let rotation = square.slice([0..rows, 3..12]).sum_dim(1).mul_scalar(0.5 / (r * r));
            let error = (position + rotation).add_scalar(1.0).sqrt().sub_scalar(1.0);
            total = total + error.sum();
        }
        total.mul_scalar(1.0 / (rows * measured.len()) as f64)
    }
}

/// Errors of a frame against the truth: distance \[m\] and angle \[rad\], means over tosses.
pub(super) fn errors(states: &[f64], truth: &[f64]) -> [f64; 2] {
    let each = states.chunks(STATE).zip(truth.chunks(STATE));
    let mut sums = [0.0; 2];
    for (a, b) in each {
        let ((pa, ra), (pb, rb)) = (tosses::pose(a), tosses::pose(b));
        sums[0] += (pa - pb).norm();
        sums[1] += osculate_math::so3::log(&(ra * rb.transpose())).norm();
    }
    let count = (states.len() / STATE) as f64;
    sums.map(|s| s / count)
}
