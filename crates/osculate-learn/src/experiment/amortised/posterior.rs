//! The network: a normal distribution of each parameter's logarithm, given a toss.

use super::Config;
use super::data::{Drawn, Source};
use crate::experiment::tosses;
use crate::operation::{numbers, tensor};
use crate::{LearnError, Network};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use rand::RngExt;

/// Standard deviations, in parts of the half range, are kept within these logarithms.
const LOG_SIGMA: [f64; 2] = [-6.0, 2.0];

/// From what is seen of a toss to means and standard deviations.
#[derive(Module, Debug)]
pub(super) struct Posterior {
    network: Network,
}

/// Tosses as numbers: what is seen, and the parameters in parts of their half ranges.
pub(super) struct Trained {
    seen: Vec<Vec<f64>>,
    wanted: Vec<Vec<f64>>,
}

/// An estimate of the network.
pub(super) struct Estimate {
    pub(super) values: Vec<f64>,
    /// Standard deviations of the logarithms.
    pub(super) log_sigmas: Vec<f64>,
}

/// What is seen of a toss: the start, and every `stride`-th measured pose; lengths over 0.2 m, speeds over 1 m/s and 10 rad/s.
fn seen(drawn: &Drawn, stride: usize) -> Vec<f64> {
    let toss = &drawn.toss;
    let mut out: Vec<f64> = toss.velocity.iter().copied().collect();
    out.extend(toss.angular_velocity.iter().map(|x| x / 10.0));
    for pose in toss.measured.iter().step_by(stride) {
        out.extend(pose.position.iter().map(|x| x / 0.2));
        out.extend(pose.rotation.iter());
    }
    out
}

impl Trained {
    pub(super) fn new(drawn: &[Drawn], source: &Source, stride: usize) -> Self {
        let part = |k: usize, x: f64| {
            let [low, high] = source.logarithms(k);
            (x.ln() - 0.5 * (low + high)) / (0.5 * (high - low))
        };
        let wanted = |d: &Drawn| d.truth.iter().enumerate().map(|(k, &x)| part(k, x)).collect();
        Self {
            seen: drawn.iter().map(|d| seen(d, stride)).collect(),
            wanted: drawn.iter().map(wanted).collect(),
        }
    }

    /// Tosses of one step of training, drawn with replacement.
    pub(super) fn batch(&self, size: usize, seed: u64, iteration: usize) -> Self {
        let mut rng = tosses::generator(seed, iteration);
        let which: Vec<usize> = (0..size).map(|_| rng.random_range(0..self.seen.len())).collect();
        let pick = |all: &[Vec<f64>]| which.iter().map(|&i| all[i].clone()).collect();
        Self { seen: pick(&self.seen), wanted: pick(&self.wanted) }
    }
}

fn batch(rows: &[Vec<f64>], device: &Device) -> Tensor<2> {
    tensor(rows.concat(), [rows.len(), rows[0].len()], device)
}

impl Posterior {
    pub(super) fn new(config: &Config, source: &Source, device: &Device) -> Self {
        let seen = 6 + 12 * source.twin.frames.div_ceil(config.stride);
        let hidden = config.hidden.iter().copied();
        let count = 2 * source.parameters.len();
        let sizes: Vec<usize> = std::iter::once(seen).chain(hidden).chain([count]).collect();
        let network = Network::new(&sizes, config.seed, device);
        Self { network: network.with_last_layer(0.1, &vec![0.0; count], device) }
    }

    /// Means and logarithms of standard deviations, in parts of the half ranges.
    fn says(&self, seen: Tensor<2>) -> [Tensor<2>; 2] {
        let said = self.network.forward(seen);
        let [rows, columns] = said.dims();
        let mean = said.clone().slice([0..rows, 0..columns / 2]);
        let log = said.slice([0..rows, columns / 2..columns]);
        [mean, log.clamp(LOG_SIGMA[0], LOG_SIGMA[1])]
    }

    /// Mean over tosses of `Σ ½ ((z − m)/s)² + ln s`: the negative logarithm of the density, but for a constant.
    pub(super) fn loss(&self, batch_of: &Trained, device: &Device) -> Tensor<1> {
        let [mean, log] = self.says(batch(&batch_of.seen, device));
        let off = (batch(&batch_of.wanted, device) - mean) * (-log.clone()).exp();
        let total = (off.clone() * off).mul_scalar(0.5) + log;
        total.sum().mul_scalar(1.0 / batch_of.seen.len() as f64)
    }

    pub(super) fn estimate(
        &self,
        tosses: &Trained,
        source: &Source,
        device: &Device,
    ) -> Result<Vec<Estimate>, LearnError> {
        let [mean, log] = self.says(batch(&tosses.seen, device));
        let count = source.parameters.len();
        let (mean, log) = (numbers(&mean)?, numbers(&log)?);
        let each = mean.chunks(count).zip(log.chunks(count));
        Ok(each
            .map(|(m, s)| {
                let half = |k: usize| {
                    let [low, high] = source.logarithms(k);
                    (0.5 * (low + high), 0.5 * (high - low))
                };
                let value = |k: usize| (half(k).0 + half(k).1 * m[k]).exp();
                Estimate {
                    values: (0..count).map(value).collect(),
                    log_sigmas: (0..count).map(|k| half(k).1 * s[k].exp()).collect(),
                }
            })
            .collect())
    }
}
