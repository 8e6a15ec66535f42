//! Bounded Levenberg–Marquardt on a sum of blocks, each with parameters of its own.
//!
//! ```text
//! cost(g, l_1…l_B) = Σ_b ‖r_b(g, l_b)‖²          g shared by all blocks, l_b of block b alone
//! (H_gg − Σ_b H_gb H_bb⁻¹ H_bg) δg = −(c_g − Σ_b H_gb H_bb⁻¹ c_b)      H = JᵀJ + S + λ D
//! ```
//!
//! S is the second order, `Σ r ∂²r/∂g²`, where a problem has it ([`BlockProblem::curvature`]); else nothing, which is Gauss–Newton. Where H is not
//! positive, λ grows until it is.
//!
//! Blocks are tosses; their own parameters are initial states. The own ones are eliminated block by block (Schur
//! complement), so the cost is linear in the number of blocks. Damping after Nielsen (1999). Bounds hold the shared
//! parameters in a box: one that sits on its bound and would leave is fixed for the step.
//!
//! Blocks are evaluated in parallel and summed in their order: the same bits for any number of threads.

mod information;
mod normal;
#[cfg(test)]
mod tests;

pub use information::{Information, information};

use nalgebra::{DMatrix, DVector};
use normal::{Normal, linearise};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Residuals of one block and their Jacobians.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockResiduals {
    /// `r_b`.
    pub residuals: DVector<f64>,
    /// `∂r_b/∂g`, empty where no Jacobian was asked.
    pub shared: DMatrix<f64>,
    /// `∂r_b/∂l_b`, empty where no Jacobian was asked or there are no own parameters.
    pub own: DMatrix<f64>,
}

/// A least-squares problem of blocks.
pub trait BlockProblem: Sync {
    /// Error of an evaluation.
    type Error: Send;
    /// How many blocks there are.
    fn blocks(&self) -> usize;
    /// Residuals of a block.
    ///
    /// # Errors
    /// Where they have no value there; a step that leads there is not taken.
    fn evaluate(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, Self::Error>;

    /// Whether the caller asked to stop: then evaluations fail, and solvers return the best point that they have.
    fn interrupted(&self) -> bool {
        false
    }

    /// `Σ_i r_i ∂²r_i/∂g²` of a block: what Gauss–Newton leaves out of half the Hessian of the cost. None where it is left out.
    ///
    /// # Errors
    /// As [`BlockProblem::evaluate`].
    fn curvature(
        &self,
        _block: usize,
        _shared: &[f64],
        _own: &[f64],
    ) -> Result<Option<DMatrix<f64>>, Self::Error> {
        Ok(None)
    }

    /// Cost of a block and its gradient by the shared parameters: through the Jacobian, where there is no cheaper way.
    ///
    /// # Errors
    /// As [`BlockProblem::evaluate`].
    fn cost_and_gradient(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<(f64, DVector<f64>), Self::Error> {
        let r = self.evaluate(block, shared, own, true)?;
        Ok((r.residuals.norm_squared(), r.shared.tr_mul(&r.residuals) * 2.0))
    }
}

/// Settings of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Most iterations.
    pub iterations: usize,
    /// Stop where the relative reduction of the cost promised by the model is below this.
    pub cost_tolerance: f64,
    /// Stop where the step is below this, relative to the parameters' size plus one.
    pub step_tolerance: f64,
    /// First damping, relative to the diagonal.
    pub damping: f64,
    /// Most refused steps of an iteration.
    pub refusals: usize,
    /// Stop where three iterations together lower the cost by less than this part of it; 0 for never.
    pub least_progress: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            iterations: 50,
            cost_tolerance: 1e-10,
            step_tolerance: 1e-9,
            damping: 1e-3,
            // A factor of 2^78.
            refusals: 12,
            least_progress: 0.0,
        }
    }
}

/// Why the solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The model promises no more.
    Converged,
    /// No step reduces the cost, or too slowly to go on.
    Stalled,
    /// The budget is spent.
    Iterations,
    /// The caller asked to stop; the best point so far is returned.
    Interrupted,
}

/// Where the solver got.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Shared parameters.
    pub shared: Vec<f64>,
    /// Own parameters of each block.
    pub own: Vec<Vec<f64>>,
    /// Cost after each iteration, the start first.
    pub history: Vec<f64>,
    /// Evaluations of all blocks.
    pub evaluations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

impl Solution {
    /// The cost reached.
    pub fn cost(&self) -> f64 {
        self.history.last().copied().unwrap_or(f64::INFINITY)
    }
}

/// Minimises the cost from a start within bounds.
///
/// * `bounds`: `[low, high]` of each shared parameter.
/// * `interrupted`: checked every iteration; [`BlockProblem::interrupted`] ends one half-way.
/// * `observe`: called with iteration and cost.
///
/// # Errors
/// Where the start itself has no value.
pub fn minimise<P: BlockProblem>(
    problem: &P,
    start: (Vec<f64>, Vec<Vec<f64>>),
    bounds: &[[f64; 2]],
    settings: &Settings,
    interrupted: &AtomicBool,
    mut observe: impl FnMut(usize, f64),
) -> Result<Solution, P::Error> {
    let normal = linearise(problem, &start.0, &start.1)?;
    let mut point = Point { shared: start.0, own: start.1, normal };
    let mut damping = Damping { value: settings.damping, growth: 2.0 };
    let mut history = vec![point.normal.cost];
    let (mut evaluations, mut stop) = (1, Stop::Iterations);
    observe(0, point.normal.cost);
    let asked = || interrupted.load(Ordering::Relaxed) || problem.interrupted();
    for iteration in 1..=settings.iterations {
        if asked() {
            stop = Stop::Interrupted;
            break;
        }
        let before = (point.shared.clone(), point.own.clone());
        if let Some(reason) =
            point.improve(problem, bounds, settings, &mut damping, &mut evaluations)
        {
            // Evaluations that were interrupted look like steps that lead uphill.
            stop = if asked() { Stop::Interrupted } else { reason };
            break;
        }
        point.normal = match linearise(problem, &point.shared, &point.own) {
            Err(_) if asked() => {
                (point.shared, point.own) = before;
                stop = Stop::Interrupted;
                break;
            }
            found => found?,
        };
        evaluations += 1;
        history.push(point.normal.cost);
        observe(iteration, point.normal.cost);
        if slow(&history, settings.least_progress) {
            stop = Stop::Stalled;
            break;
        }
    }
    Ok(Solution { shared: point.shared, own: point.own, history, evaluations, stop })
}

/// Whether the last three iterations lowered the cost by less than a part of it.
fn slow(history: &[f64], least: f64) -> bool {
    let before = history.len().checked_sub(4).map(|i| history[i]);
    let last = history.last().copied().unwrap_or(f64::INFINITY);
    before.is_some_and(|before| last > (1.0 - least) * before)
}

/// Where the solver is.
struct Point {
    shared: Vec<f64>,
    own: Vec<Vec<f64>>,
    normal: Normal,
}

/// Marquardt's damping; refusals make it grow by 2, 4, 8 ….
struct Damping {
    value: f64,
    growth: f64,
}

impl Damping {
    fn refuse(&mut self) {
        self.value *= self.growth;
        self.growth *= 2.0;
    }
}

impl Point {
    /// Takes the first damped step that lowers the cost; the reason where there is none.
    fn improve<P: BlockProblem>(
        &mut self,
        problem: &P,
        bounds: &[[f64; 2]],
        settings: &Settings,
        damping: &mut Damping,
        evaluations: &mut usize,
    ) -> Option<Stop> {
        let normal = &self.normal;
        let fixed = held(&self.shared, bounds, &normal.gradient);
        for _ in 0..settings.refusals {
            let Some((step, own_steps)) = normal.step(damping.value, &fixed) else {
                damping.refuse();
                continue;
            };
            let next: Vec<f64> = (0..step.len())
                .map(|i| (self.shared[i] + step[i]).clamp(bounds[i][0], bounds[i][1]))
                .collect();
            let moved = |(l, d): (&Vec<f64>, &DVector<f64>)| -> Vec<f64> {
                l.iter().zip(d.iter()).map(|(a, b)| a + b).collect()
            };
            let next_own: Vec<Vec<f64>> = self.own.iter().zip(&own_steps).map(moved).collect();
            let promised = normal.promised(&step, &own_steps, damping.value);
            let size = step.norm() + own_steps.iter().map(|d| d.norm()).sum::<f64>();
            let reach = 1.0 + DVector::from_row_slice(&self.shared).norm();
            if promised <= settings.cost_tolerance * normal.cost
                || size <= settings.step_tolerance * reach
            {
                return Some(Stop::Converged);
            }
            *evaluations += 1;
            let cost = cost(problem, &next, &next_own).unwrap_or(f64::INFINITY);
            if cost < normal.cost {
                let gain = (normal.cost - cost) / promised;
                damping.value *= (1.0 - (2.0 * gain - 1.0).powi(3)).clamp(1.0 / 3.0, 2.0);
                damping.growth = 2.0;
                (self.shared, self.own) = (next, next_own);
                return None;
            }
            damping.refuse();
        }
        Some(Stop::Stalled)
    }
}

/// Shared parameters that sit on a bound and would leave.
fn held(shared: &[f64], bounds: &[[f64; 2]], gradient: &DVector<f64>) -> Vec<bool> {
    shared
        .iter()
        .zip(bounds)
        .zip(gradient.iter())
        .map(|((x, [low, high]), g)| (x <= low && *g > 0.0) || (x >= high && *g < 0.0))
        .collect()
}

/// Sum of squares, in block order.
///
/// # Errors
/// The first block's that fails.
pub fn cost<P: BlockProblem>(
    problem: &P,
    shared: &[f64],
    own: &[Vec<f64>],
) -> Result<f64, P::Error> {
    Ok(block_costs(problem, shared, own)?.iter().sum())
}

/// Sum of squares of each block, in order.
///
/// # Errors
/// The first block's that fails.
pub fn block_costs<P: BlockProblem>(
    problem: &P,
    shared: &[f64],
    own: &[Vec<f64>],
) -> Result<Vec<f64>, P::Error> {
    let costs: Vec<Result<f64, P::Error>> = (0..problem.blocks())
        .into_par_iter()
        .map(|b| Ok(problem.evaluate(b, shared, &own[b], false)?.residuals.norm_squared()))
        .collect();
    costs.into_iter().collect()
}
