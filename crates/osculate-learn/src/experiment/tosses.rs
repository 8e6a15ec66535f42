//! Initial states and measured poses of synthetic tosses.

use super::ExperimentError;
use super::files::require;
use crate::STATE;
use nalgebra::{Matrix3, Vector3};
use osculate_math::so3;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Ranges of initial states, drawn uniformly.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// Height of the body's origin (m).
    pub(super) height: [f64; 2],
    /// Horizontal speed (m/s).
    pub(super) speed: [f64; 2],
    /// Downward speed (m/s).
    pub(super) fall: [f64; 2],
    /// Angular speed (rad/s), any axis.
    pub(super) spin: [f64; 2],
}

impl Start {
    pub(super) fn check(&self, file: &Path) -> Result<(), ExperimentError> {
        for (field, [a, b]) in [
            ("start.height", self.height),
            ("start.speed", self.speed),
            ("start.fall", self.fall),
            ("start.spin", self.spin),
        ] {
            let fits = a.is_finite() && b.is_finite() && a <= b;
            require(file, (field, format!("[{a}, {b}]")), fits, "low <= high, finite")?;
        }
        Ok(())
    }
}

/// A generator of its own for a toss: more tosses begin with the same ones.
pub(super) fn generator(seed: u64, toss: usize) -> StdRng {
    StdRng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(toss as u64))
}

/// Uniform.
pub(super) fn between(rng: &mut StdRng, [low, high]: [f64; 2]) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

/// Three numbers of a normal distribution.
pub(super) fn normal(rng: &mut StdRng, sigma: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| sigma * Distribution::<f64>::sample(&StandardNormal, rng))
}

/// An initial state in the ranges, any rotation, over the origin.
pub(super) fn start(rng: &mut StdRng, ranges: &Start) -> [f64; STATE] {
    let height = between(rng, ranges.height);
    let (speed, fall) = (between(rng, ranges.speed), between(rng, ranges.fall));
    let (spin, heading) = (between(rng, ranges.spin), between(rng, [0.0, std::f64::consts::TAU]));
    let (a, b) = (normal(rng, 1.0), normal(rng, 1.0));
    let rotation = so3::from_quaternion::<f64>([a.x, a.y, a.z, b.x]);
    let axis = normal(rng, 1.0);
    let velocity = Vector3::new(speed * heading.cos(), speed * heading.sin(), -fall);
    let rate = axis * (spin / axis.norm().max(1e-12));
    state(&Vector3::new(0.0, 0.0, height), &rotation, &velocity, &rate)
}

/// The numbers of a state.
pub(super) fn state(
    position: &Vector3<f64>,
    rotation: &Matrix3<f64>,
    velocity: &Vector3<f64>,
    rate: &Vector3<f64>,
) -> [f64; STATE] {
    let mut out = [0.0; STATE];
    let rows = rotation.transpose();
    let all = position.iter().chain(rows.iter()).chain(velocity.iter()).chain(rate.iter());
    for (o, x) in out.iter_mut().zip(all) {
        *o = *x;
    }
    out
}

/// Position and rotation of a state.
pub(super) fn pose(state: &[f64]) -> (Vector3<f64>, Matrix3<f64>) {
    (Vector3::from_column_slice(&state[..3]), Matrix3::from_row_slice(&state[3..12]))
}

/// A pose as measured: 12 numbers, position and rotation row by row.
pub(super) fn measured(rng: &mut StdRng, state: &[f64], sigmas: [f64; 2]) -> [f64; 12] {
    let (position, rotation) = pose(state);
    let position = position + normal(rng, sigmas[0]);
    let rotation = so3::exp(&normal(rng, sigmas[1])) * rotation;
    let mut out = [0.0; 12];
    for (o, x) in out.iter_mut().zip(position.iter().chain(rotation.transpose().iter())) {
        *o = *x;
    }
    out
}
