//! The network: a normal distribution of each parameter's logarithm, given a toss.

use super::Config;
use super::data::{Drawn, Source};
use super::features::PER_FRAME;
use crate::experiment::tosses;
use crate::operation::{numbers, tensor};
use crate::{LearnError, Network};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use rand::RngExt;

/// Standard deviations, in parts of the half range, are kept within these logarithms.
const LOG_SIGMA: [f64; 2] = [-6.0, 2.0];

/// From what is seen of a toss to means and standard deviations: one network looks at every frame, what it says is summed over
/// the frames, and another one reads the sum. Which frame an impact falls into does not matter.
#[derive(Module, Debug)]
pub(super) struct Posterior {
    frame: Network,
    whole: Network,
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

/// Mean and spread of every number of a frame over the tosses trained on.
pub(super) struct Spread(Vec<[f64; 2]>);

impl Spread {
    fn of(seen: &[Vec<f64>]) -> Self {
        let column = |k: usize| {
            let all = || seen.iter().flat_map(|s| s.iter().skip(k).step_by(PER_FRAME).copied());
            let count = all().count().max(1) as f64;
            let mean = all().sum::<f64>() / count;
            let variance = all().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            [mean, variance.sqrt().max(1e-9)]
        };
        Self((0..PER_FRAME).map(column).collect())
    }

    fn apply(&self, seen: &mut [Vec<f64>]) {
        for x in seen.iter_mut().flat_map(|s| s.iter_mut().enumerate()) {
            let [mean, spread] = self.0[x.0 % PER_FRAME];
            *x.1 = (*x.1 - mean) / spread;
        }
    }
}

impl Trained {
    /// Numbers are centred and scaled by `spread`, or by that of these tosses.
    pub(super) fn new(drawn: &[Drawn], source: &Source, spread: Option<Spread>) -> (Self, Spread) {
        let part = |k: usize, x: f64| {
            let [low, high] = source.logarithms(k);
            (x.ln() - 0.5 * (low + high)) / (0.5 * (high - low))
        };
        let wanted = |d: &Drawn| d.truth.iter().enumerate().map(|(k, &x)| part(k, x)).collect();
        let mut seen: Vec<_> = drawn.iter().map(|d| source.known.features(d)).collect();
        let spread = spread.unwrap_or_else(|| Spread::of(&seen));
        spread.apply(&mut seen);
        (Self { seen, wanted: drawn.iter().map(wanted).collect() }, spread)
    }

    /// Tosses of one step of training, drawn with replacement.
    pub(super) fn batch(&self, size: usize, seed: u64, iteration: usize) -> Self {
        let mut rng = tosses::generator(seed, iteration);
        let which: Vec<usize> = (0..size).map(|_| rng.random_range(0..self.seen.len())).collect();
        let pick = |all: &[Vec<f64>]| which.iter().map(|&i| all[i].clone()).collect();
        Self { seen: pick(&self.seen), wanted: pick(&self.wanted) }
    }
}

/// One row a toss.
fn batch(rows: &[Vec<f64>], device: &Device) -> Tensor<2> {
    tensor(rows.concat(), [rows.len(), rows[0].len()], device)
}

impl Posterior {
    pub(super) fn new(config: &Config, source: &Source, device: &Device) -> Self {
        let count = 2 * source.parameters.len();
        let [each, last] = config.hidden;
        let frame = Network::new(&[PER_FRAME, each, each], config.seed, device);
        let whole = Network::new(&[each, last, count], config.seed.wrapping_add(1), device);
        Self { frame, whole: whole.with_last_layer(0.1, &vec![0.0; count], device) }
    }

    /// Means and logarithms of standard deviations, in parts of the half ranges; `seen` as [`batch`] gives it.
    fn says(&self, seen: Tensor<2>) -> [Tensor<2>; 2] {
        let [tosses, numbers] = seen.dims();
        let frames = numbers / PER_FRAME;
        let each = self.frame.forward(seen.reshape([tosses * frames, PER_FRAME])).tanh();
        let [_, width] = each.dims();
        // Of frames that are independent, such a sum varies as one of them does.
        let sum = each.reshape([tosses, frames, width]).sum_dim(1).reshape([tosses, width]);
        let said = self.whole.forward(sum.mul_scalar((frames as f64).sqrt().recip()));
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
