//! The minimum of a rough loss: quadratics fitted to space-filling designs in shrinking boxes.
//!
//! ```text
//! x = (u − centre)/half width ∈ [−1, 1]ⁿ       L(x) ≈ L₀ + gᵀx + ½ xᵀHx       minimum of the fit inside the box
//! ```
//!
//! Roll-outs through impacts are chaotic: neighbouring parameters give losses that scatter by some percent about a
//! smooth trend. A search for the lowest value ends at the luckiest sample, a gradient follows the scatter. Here each
//! round samples a box, fits the trend ([`quadratic`]), and re-centres on its minimum. A coordinate whose minimum is
//! inside its box gets a smaller box, one whose minimum is on a face keeps its size. The estimate is the minimum of
//! the last trend, whatever the loss at that very point is.
//!
//! A box is never made so small that the trend rises by less than the scatter from its minimum to the face: in there
//! only scatter is left to see. Then rounds add points to the box they have. A minimum whose own loss is far above that
//! of the centre is none of the loss: the valley is narrower than the box and smooth. Then the centre stays, in a
//! smaller box.
//!
//! What is fitted is an average over blocks, by default the mean. Where a few chaotic roll-outs carry the mean, the
//! geometric mean scatters less: every block counts by its relative change ([`Average`]).
//!
//! Designs are Latin hypercubes of a fixed seed; their points are evaluated in parallel and used in their order: the
//! same bits for any number of threads. Response surfaces go back to Box & Wilson, J. R. Stat. Soc. B 13 (1951).

pub mod quadratic;

use crate::least_squares::{BlockProblem, Solution, Stop, block_costs};
use nalgebra::DMatrix;
use quadratic::Quadratic;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// Coordinates and the losses of the blocks there.
type Evaluated = (Vec<f64>, Vec<f64>);

/// Fewest points of a round for a trend of `parameters` coordinates: one and a half for each coefficient, and two.
pub fn least_points(parameters: usize) -> usize {
    quadratic::coefficients(parameters) * 3 / 2 + 2
}

/// A minimum closer to a face than this (in half widths) is on it.
const FACE: f64 = 0.95;
/// A loss this many times that of the centre refutes a minimum: scatter of roll-outs is a few percents.
const REFUTED: f64 = 1.2;

/// The average over blocks whose trend is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// `Σ L_b / B`, that which every other algorithm lowers.
    #[default]
    Mean,
    /// `exp(Σ ln L_b / B)`: no single block decides.
    GeometricMean,
}

impl Average {
    /// The average of the losses of blocks.
    fn of(self, losses: &[f64]) -> f64 {
        let n = losses.len().max(1) as f64;
        match self {
            Self::Mean => losses.iter().sum::<f64>() / n,
            // A loss of exactly zero counts as the smallest positive one, not as −∞.
            Self::GeometricMean => {
                (losses.iter().map(|l| l.max(f64::MIN_POSITIVE).ln()).sum::<f64>() / n).exp()
            }
        }
    }
}

/// Settings of the solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What is fitted.
    pub average: Average,
    /// Points of a round.
    pub points: usize,
    /// Boxes, one after another.
    pub rounds: usize,
    /// Half widths of the first box, in coordinates; the last one holds for those not listed.
    pub half_widths: Vec<f64>,
    /// Factor of a half width after a round whose minimum is inside, as far as scatter allows.
    pub shrink: f64,
    /// Seed of the designs.
    pub seed: u64,
}

/// The box of a round and what was found in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Round {
    /// Centre, in coordinates.
    pub centre: Vec<f64>,
    /// Half widths, in coordinates; zero for a parameter that is held.
    pub half_widths: Vec<f64>,
    /// Minimum of the trend, in coordinates.
    pub minimum: Vec<f64>,
    /// The trend there: average loss of a block.
    pub loss: f64,
    /// Standard deviation of the loss about the trend, relative to it: the roughness.
    pub scatter: f64,
    /// Share of the variance of the losses that the trend explains.
    pub r_squared: f64,
    /// Points used: those of this round and earlier ones inside the box.
    pub points: usize,
    /// Points of this round without a value.
    pub failed: usize,
}

/// The trend of the last round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Surface {
    /// Smooth loss at the minimum: the average over blocks.
    pub loss: f64,
    /// Second derivative of the smooth loss by the coordinates.
    pub hessian: Vec<Vec<f64>>,
    /// Standard error of each coordinate of the minimum that the scatter makes; none where it exceeds the box or the
    /// minimum is on a face.
    pub standard_errors: Vec<Option<f64>>,
    /// Every round.
    pub rounds: Vec<Round>,
    /// Everything the last trend was fitted to.
    #[serde(skip)]
    pub design: Design,
}

/// The roll-outs behind a trend, to fit it again to other averages of the blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    average: Average,
    region: Region,
    /// Coordinates and the losses of the blocks, of each point.
    points: Vec<Evaluated>,
}

impl Design {
    /// Coordinates of the minimum of the trend where block `b` counts `counts[b]` times; none where there is no trend.
    pub fn minimum(&self, counts: &[usize]) -> Option<Vec<f64>> {
        let drawn = |losses: &[f64]| {
            let all = losses.iter().zip(counts).flat_map(|(l, n)| std::iter::repeat_n(*l, *n));
            self.average.of(&all.collect::<Vec<f64>>())
        };
        let (_, trend) = fit_round(&self.region, &self.points, drawn)?;
        Some(self.region.coordinates(&trend.minimum()))
    }
}

/// A box around a centre, cut to the bounds. Only coordinates that have a width in it move.
#[derive(Clone, Debug, PartialEq)]
struct Region {
    ends: Vec<[f64; 2]>,
    centre: Vec<f64>,
    half: Vec<f64>,
    moving: Vec<usize>,
}

impl Region {
    fn new(centre: &[f64], half: &[f64], bounds: &[[f64; 2]]) -> Self {
        let ends = |i: usize| {
            let [low, high] = bounds[i];
            // A centre at a bound keeps a box of full width inside it, as far as the bounds leave room.
            let shift =
                (low - (centre[i] - half[i])).max(0.0) - ((centre[i] + half[i]) - high).max(0.0);
            let (a, b) = (centre[i] + shift - half[i], centre[i] + shift + half[i]);
            [a.max(low), b.min(high)]
        };
        let ends: Vec<[f64; 2]> = (0..centre.len()).map(ends).collect();
        let half: Vec<f64> = ends.iter().map(|[a, b]| 0.5 * (b - a).max(0.0)).collect();
        Self {
            centre: ends.iter().map(|[a, b]| 0.5 * (a + b)).collect(),
            moving: (0..half.len()).filter(|&i| half[i] > 0.0).collect(),
            half,
            ends,
        }
    }

    /// Coordinates of a point of the box of moving parameters.
    fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        let mut u = self.centre.clone();
        for (&i, x) in self.moving.iter().zip(x) {
            // The last bit of a sum must not leave the bounds.
            u[i] = (u[i] + self.half[i] * x).clamp(self.ends[i][0], self.ends[i][1]);
        }
        u
    }

    /// The point of the box, where coordinates are inside it.
    fn inside(&self, u: &[f64]) -> Option<Vec<f64>> {
        let x = |&i: &usize| (u[i] - self.centre[i]) / self.half[i];
        let x: Vec<f64> = self.moving.iter().map(x).collect();
        x.iter().all(|x| x.abs() <= 1.0 + 1e-12).then_some(x)
    }

    /// Half widths of the next box, and whether the minimum is inside this one.
    fn next_half_widths(
        &self,
        trend: &Quadratic,
        round: &Round,
        shrink: f64,
        half: &mut [f64],
    ) -> bool {
        let minimum = trend.minimum();
        for (a, &i) in self.moving.iter().enumerate() {
            let rise = 0.5 * trend.valley_curvature(a) * shrink.powi(2);
            let shrinks = minimum[a].abs() < FACE && rise > round.scatter * round.loss;
            half[i] = self.half[i] * if shrinks { shrink } else { 1.0 };
        }
        minimum.iter().all(|x| x.abs() < FACE)
    }

    /// A Latin hypercube.
    fn design(&self, points: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = StdRng::seed_from_u64(seed);
        let columns: Vec<Vec<f64>> =
            self.moving.iter().map(|_| latin_column(points, &mut rng)).collect();
        (0..points)
            .map(|k| {
                self.coordinates(&columns.iter().map(|c| 2.0 * c[k] - 1.0).collect::<Vec<_>>())
            })
            .collect()
    }
}

/// One coordinate of a Latin hypercube in `[0, 1)`: one value in each of `points` equal strata, in random order.
pub(crate) fn latin_column(points: usize, rng: &mut StdRng) -> Vec<f64> {
    let mut strata: Vec<usize> = (0..points).collect();
    for k in (1..points).rev() {
        strata.swap(k, rng.random_range(0..=k));
    }
    strata.into_iter().map(|s| (s as f64 + rng.random::<f64>()) / points as f64).collect()
}

/// Minimises the trend of the cost over the shared parameters; own parameters stay.
///
/// The cost at the minimum of each round is in the history; no surface where no round has a minimum.
///
/// # Errors
/// Where the start has no value.
pub fn minimise<P: BlockProblem>(
    problem: &P,
    start: (Vec<f64>, Vec<Vec<f64>>),
    bounds: &[[f64; 2]],
    settings: &Settings,
    interrupted: &AtomicBool,
    observe: &(dyn Fn(usize, f64) + Sync),
) -> Result<(Solution, Option<Surface>), P::Error> {
    let (mut shared, own) = start;
    let average = settings.average;
    let first = block_costs(problem, &shared, &own)?;
    let (mut history, mut present) = (vec![first.iter().sum()], average.of(&first));
    observe(0, history[0]);
    let mut half: Vec<f64> = (0..shared.len())
        .map(|i| settings.half_widths.get(i).or(settings.half_widths.last()))
        .map(|h| h.copied().unwrap_or(0.5))
        .collect();
    let mut points: Vec<Evaluated> = Vec::new();
    let (mut surface, mut stop): (Option<Surface>, _) = (None, Stop::Iterations);
    for round in 0..settings.rounds {
        let region = Region::new(&shared, &half, bounds);
        let design =
            region.design(settings.points, settings.seed.wrapping_add(round as u64 * 0x9E37_79B9));
        let values = sample(problem, &design, &own, interrupted);
        if interrupted.load(Ordering::Relaxed) {
            stop = Stop::Interrupted;
            break;
        }
        let before = points.len();
        points.extend(design.into_iter().zip(values).filter_map(|(u, losses)| Some((u, losses?))));
        let Some((mut fitted, trend)) = fit_round(&region, &points, |l| average.of(l)) else {
            stop = Stop::Stalled;
            break;
        };
        fitted.rounds[0].failed = settings.points - (points.len() - before);
        let last = &fitted.rounds[0];
        let at = block_costs(problem, &last.minimum, &own).unwrap_or_else(|_| vec![f64::INFINITY]);
        let reached = average.of(&at);
        if reached > REFUTED * present || last.loss <= 0.0 {
            region.moving.iter().for_each(|&i| half[i] = region.half[i] * settings.shrink);
            stop = Stop::Stalled;
            continue;
        }
        shared.clone_from(&last.minimum);
        present = reached;
        let inside = region.next_half_widths(&trend, last, settings.shrink, &mut half);
        stop = if inside { Stop::Converged } else { Stop::Iterations };
        let mut rounds = surface.map_or_else(Vec::new, |s| s.rounds);
        rounds.push(last.clone());
        let design = Design { average, region, points: points.clone() };
        surface = Some(Surface { rounds, design, ..fitted });
        history.push(at.iter().sum());
        observe(round + 1, history[history.len() - 1]);
    }
    let evaluations = points.len() + history.len();
    Ok((Solution { shared, own, history, evaluations, stop }, surface))
}

/// Losses of the blocks at the points of a design; none where there is no finite value.
fn sample<P: BlockProblem>(
    problem: &P,
    design: &[Vec<f64>],
    own: &[Vec<f64>],
    interrupted: &AtomicBool,
) -> Vec<Option<Vec<f64>>> {
    let value = |u: &Vec<f64>| {
        if interrupted.load(Ordering::Relaxed) {
            return None;
        }
        block_costs(problem, u, own).ok().filter(|losses| losses.iter().all(|l| l.is_finite()))
    };
    design.par_iter().map(value).collect()
}

/// The trend of an average of the blocks' losses inside a box.
fn fit_round(
    region: &Region,
    points: &[Evaluated],
    average: impl Fn(&[f64]) -> f64,
) -> Option<(Surface, Quadratic)> {
    let n = region.centre.len();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (u, losses) in points {
        if let Some(point) = region.inside(u) {
            x.push(point);
            y.push(average(losses));
        }
    }
    let trend = Quadratic::fit(&x, &y)?;
    let minimum = trend.minimum();
    let loss = trend.value(&minimum);
    let errors = trend.standard_errors(&minimum);
    let mut hessian = DMatrix::zeros(n, n);
    let mut standard_errors = vec![None; n];
    for (a, &i) in region.moving.iter().enumerate() {
        for (b, &j) in region.moving.iter().enumerate() {
            hessian[(i, j)] = trend.hessian()[(a, b)] / (region.half[i] * region.half[j]);
        }
        standard_errors[i] = errors[a].map(|e| e * region.half[i]);
    }
    let round = Round {
        centre: region.centre.clone(),
        half_widths: region.half.clone(),
        minimum: region.coordinates(&minimum),
        loss,
        scatter: trend.scatter(),
        r_squared: trend.r_squared(),
        points: y.len(),
        failed: 0,
    };
    let surface = Surface {
        loss,
        hessian: hessian.row_iter().map(|r| r.iter().copied().collect()).collect(),
        standard_errors,
        rounds: vec![round],
        design: Design { average: Average::Mean, region: region.clone(), points: Vec::new() },
    };
    Some((surface, trend))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
