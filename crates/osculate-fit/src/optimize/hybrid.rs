//! Descent along a mixture of two estimates of the gradient of a smoothed cost.
//!
//! ```text
//! J_σ(x) = E[J(x + σ ξ)],   ξ ~ N(0, 1)
//! first order    g₁ = mean of ∇J(x + σ ξ)                      small variance; biased where J jumps
//! zeroth order   g₀ = mean of (J(x + σ ξ) − J(x)) ξ/σ          unbiased; variance grows with the number of variables
//! mixture        g = α g₁ + (1 − α) g₀,   α = V₀/(V₀ + V₁ + B²)
//! ```
//!
//! V are the measured variances of the two means, summed over coordinates, and `B² = ‖g₁ − g₀‖² − V₀ − V₁` the measured
//! square of the bias where `‖g₁ − g₀‖² > 4 (V₀ + V₁)`: two standard errors, below which it is noise and counts as zero.
//! α is where `(1 − α)² V₀ + α² (V₁ + B²)` is least. Each sample is used by both, mirrored (ξ and −ξ). After Suh,
//! Simchowitz, Zhang and Tedrake, *Do differentiable simulators give better policy gradients?*, 2022,
//! <https://arxiv.org/abs/2202.00817>, which bounds the bias; here it is measured.

use crate::least_squares::BlockProblem;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};

/// A mixed gradient and what it was mixed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixed {
    /// Mean cost of the samples.
    pub cost: f64,
    /// The mixture.
    pub gradient: Vec<f64>,
    /// Weight of the first-order estimate.
    pub alpha: f64,
    /// Variance of the mean of the first-order estimate, summed over coordinates.
    pub first_variance: f64,
    /// The same of the zeroth-order one.
    pub zeroth_variance: f64,
    /// Square of the bias of the first-order one.
    pub squared_bias: f64,
}

/// Mean and variance of the mean, summed over coordinates.
fn mean(samples: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let (n, count) = (samples[0].len(), samples.len() as f64);
    let mean: Vec<f64> =
        (0..n).map(|j| samples.iter().map(|s| s[j]).sum::<f64>() / count).collect();
    let square = |s: &Vec<f64>| s.iter().zip(&mean).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let spread: f64 = samples.iter().map(square).sum();
    (mean.clone(), spread / (count * (count - 1.0).max(1.0)))
}

/// Estimates the gradient of the smoothed cost with `2 pairs` samples; none where no sample has a value.
pub fn estimate<P: BlockProblem>(
    problem: &P,
    x: &[f64],
    (sigma, pairs): (f64, usize),
    rng: &mut StdRng,
) -> Option<Mixed> {
    let (mut first, mut zeroth, mut cost) = (Vec::new(), Vec::new(), 0.0);
    for _ in 0..pairs {
        let xi: Vec<f64> = x.iter().map(|_| StandardNormal.sample(rng)).collect();
        let at = |sign: f64| -> Vec<f64> {
            x.iter().zip(&xi).map(|(x, z)| x + sign * sigma * z).collect()
        };
        let sample = |sign: f64| problem.cost_and_gradient(0, &at(sign), &[]).ok();
        let (Some((up, g_up)), Some((down, g_down))) = (sample(1.0), sample(-1.0)) else {
            continue;
        };
        cost += 0.5 * (up + down);
        first.push((g_up + g_down).iter().map(|g| 0.5 * g).collect::<Vec<f64>>());
        zeroth.push(xi.iter().map(|z| 0.5 * (up - down) * z / sigma).collect::<Vec<f64>>());
    }
    if first.is_empty() {
        return None;
    }
    let cost = cost / first.len() as f64;
    let ((g1, v1), (g0, v0)) = (mean(&first), mean(&zeroth));
    let apart: f64 = g1.iter().zip(&g0).map(|(a, b)| (a - b).powi(2)).sum();
    let squared_bias = if apart > 4.0 * (v0 + v1) { apart - v0 - v1 } else { 0.0 };
    let total = v0 + v1 + squared_bias;
    let alpha = if total > 0.0 { v0 / total } else { 1.0 };
    let gradient = g1.iter().zip(&g0).map(|(a, b)| alpha * a + (1.0 - alpha) * b).collect();
    let (first_variance, zeroth_variance) = (v1, v0);
    Some(Mixed { cost, gradient, alpha, first_variance, zeroth_variance, squared_bias })
}

/// Settings of a descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Descent {
    /// Steps.
    pub iterations: usize,
    /// Standard deviation of the samples; it falls with the steps.
    pub sigma: f64,
    /// Samples of an estimate, mirrored in pairs.
    pub samples: usize,
    /// Length of the first step; it falls as `1/√(1 + i/10)`.
    pub rate: f64,
    /// Seed.
    pub seed: u64,
}

/// Normalised descent with momentum from a start; the point with the lowest cost seen is the caller's to keep.
///
/// * `go_on`: called before every step with its number, the mean cost of the last samples and α; false ends the descent.
pub fn descend<P: BlockProblem>(
    problem: &P,
    start: &[f64],
    bounds: &[[f64; 2]],
    settings: &Descent,
    mut go_on: impl FnMut(usize, f64, f64) -> bool,
) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(settings.seed);
    let (mut x, mut velocity) = (start.to_vec(), vec![0.0; start.len()]);
    let (mut cost, mut alpha) = (f64::INFINITY, 1.0);
    for i in 0..settings.iterations {
        if !go_on(i, cost, alpha) {
            break;
        }
        let fall = 1.0 / (1.0 + i as f64 / 10.0).sqrt();
        let sampled = (settings.sigma * fall, settings.samples.div_ceil(2));
        let Some(mixed) = estimate(problem, &x, sampled, &mut rng) else { break };
        (cost, alpha) = (mixed.cost, mixed.alpha);
        let size = mixed.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        if !(size > 0.0 && size.is_finite()) {
            break;
        }
        for (j, [low, high]) in bounds.iter().enumerate() {
            velocity[j] = 0.7 * velocity[j] - 0.3 * settings.rate * fall * mixed.gradient[j] / size;
            x[j] = (x[j] + velocity[j]).clamp(*low, *high);
        }
        // Its cost counts too: the lowest one is kept by whoever counts.
        let _ = problem.evaluate(0, &x, &[], false);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::BlockResiduals;
    use nalgebra::{DMatrix, DVector};

    /// `J = ‖x‖²`, or a staircase with the gradient zero nearly everywhere.
    struct Bowl {
        stairs: bool,
    }

    impl BlockProblem for Bowl {
        type Error = ();
        fn blocks(&self) -> usize {
            1
        }
        fn evaluate(&self, _: usize, x: &[f64], _: &[f64], _: bool) -> Result<BlockResiduals, ()> {
            let level = |x: f64| if self.stairs { (x * 4.0).round() / 4.0 } else { x };
            let slope = if self.stairs { 0.0 } else { 1.0 };
            Ok(BlockResiduals {
                residuals: DVector::from_iterator(x.len(), x.iter().map(|x| level(*x))),
                shared: DMatrix::from_diagonal_element(x.len(), x.len(), slope),
                own: DMatrix::zeros(x.len(), 0),
            })
        }
    }

    #[test]
    fn smooth_cost_is_left_to_the_first_order_and_a_staircase_to_the_zeroth() {
        let mut rng = StdRng::seed_from_u64(1);
        let smooth = estimate(&Bowl { stairs: false }, &[1.0, -0.5], (0.1, 32), &mut rng).unwrap();
        assert!(smooth.alpha > 0.9, "{smooth:?}");
        assert!((smooth.gradient[0] - 2.0).abs() < 0.1, "{smooth:?}");
        let stairs = estimate(&Bowl { stairs: true }, &[1.0, -0.5], (0.3, 256), &mut rng).unwrap();
        assert!(stairs.alpha < 0.1 && stairs.squared_bias > 1.0, "{stairs:?}");
        assert!((stairs.gradient[0] - 2.0).abs() < 0.5, "{stairs:?}");
    }

    #[test]
    fn descent_leaves_a_staircase_that_has_no_gradient() {
        let settings = Descent { iterations: 60, sigma: 0.3, samples: 32, rate: 0.2, seed: 2 };
        let bounds = [[-2.0, 2.0]; 2];
        let x = descend(&Bowl { stairs: true }, &[1.5, -1.5], &bounds, &settings, |_, _, _| true);
        assert!(x.iter().all(|x| x.abs() < 0.3), "{x:?}");
    }
}
