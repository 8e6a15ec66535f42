//! Tosses with forces that the scene does not have: drag and a magnet.

use super::ExperimentError;
use super::config::{Config, Truth};
use crate::experiment::tosses;
use crate::{Input, LayerSpec, Output, Rollout, STATE, WRENCH};
use nalgebra::Vector3;
use osculate_dynamics::Simulator;
use osculate_dynamics::file::BuiltScene;

/// Tosses as they were, and as measured.
pub(super) struct Tosses {
    /// States of every frame, the start first: `[frame][toss × 18]`.
    pub(super) states: Vec<Vec<f64>>,
    /// Measured poses after the start: `[frame][toss × 12]`.
    pub(super) measured: Vec<Vec<f64>>,
    /// How many.
    pub(super) count: usize,
}

impl Truth {
    /// `−c v − A (d/|d|) (a²/(d² + a²))²`.
    pub(super) fn force(&self, state: &[f64]) -> Vector3<f64> {
        let position = Vector3::from_column_slice(&state[..3]);
        let velocity = Vector3::from_column_slice(&state[12..15]);
        let d = position - Vector3::from(self.magnet);
        let (square, reach) = (d.norm_squared(), self.reach * self.reach);
        let fall = reach / (square + reach);
        let pull = self.attraction * fall * fall / square.sqrt().max(f64::MIN_POSITIVE);
        velocity * -self.drag - d * pull
    }

    /// The wrench that a batch of states feels, `[toss × 6]`.
    fn wrenches(&self, states: &[f64]) -> Vec<[f64; WRENCH]> {
        let of = |s: &[f64]| {
            let f = self.force(s);
            [f.x, f.y, f.z, 0.0, 0.0, 0.0]
        };
        states.chunks(STATE).map(of).collect()
    }
}

/// One batch through a layer of states and wrenches.
fn advance(layer: &Rollout, truth: &Truth, states: &[f64]) -> Result<Vec<f64>, ExperimentError> {
    let each = states.chunks(STATE).zip(truth.wrenches(states));
    let inputs: Vec<f64> =
        each.flat_map(|(s, w)| s.iter().copied().chain(w).collect::<Vec<_>>()).collect();
    Ok(layer.run(&inputs)?.outputs)
}

fn layer(simulator: Simulator, scene: &BuiltScene, body: &str) -> Result<Rollout, ExperimentError> {
    let steps = simulator.durations().len();
    let spec = LayerSpec {
        inputs: vec![Input::state(body), Input::wrench(body, 0..steps)],
        outputs: vec![Output::state(body, steps)],
    };
    Ok(Rollout::of(simulator, scene.parameters.clone(), spec)?)
}

/// The tosses of the experiment, train first. Forces follow the state in every step.
pub(super) fn make(config: &Config, scene: &BuiltScene) -> Result<Tosses, ExperimentError> {
    let simulator = &scene.simulator;
    // A grid of one step: the force is new in each of them.
    let durations = simulator.durations();
    let mut steps = Vec::new();
    for &duration in durations {
        let one = Simulator::new(simulator.scene().clone(), *simulator.settings(), vec![duration])?;
        steps.push(layer(one, scene, &config.body)?);
    }
    let count = config.train + config.valid;
    let mut rngs: Vec<_> = (0..count).map(|i| tosses::generator(config.seed, i)).collect();
    let first = rngs.iter_mut().flat_map(|rng| tosses::start(rng, &config.start)).collect();
    let mut out = Tosses { states: vec![first], measured: Vec::new(), count };
    let sigmas = [config.position_noise, config.rotation_noise_deg.to_radians()];
    for _ in 0..config.frames {
        let mut now = out.states[out.states.len() - 1].clone();
        for step in &steps {
            now = advance(step, &config.truth, &now)?;
        }
        let each = rngs.iter_mut().zip(now.chunks(STATE));
        out.measured.push(each.flat_map(|(r, s)| tosses::measured(r, s, sigmas)).collect());
        out.states.push(now);
    }
    Ok(out)
}

/// The true law held over a frame, with the scene's own numbers: what a model that knows it could reach. `[frame][toss × 18]`.
pub(super) fn oracle(
    config: &Config,
    scene: &BuiltScene,
    start: &[f64],
) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let frame = layer(scene.simulator.clone(), scene, &config.body)?;
    let mut out = vec![start.to_vec()];
    for k in 0..config.frames {
        out.push(advance(&frame, &config.truth, &out[k])?);
    }
    Ok(out)
}
