//! Tosses with parameters drawn for each.

use super::ExperimentError;
use super::features::Known;
use crate::experiment::tosses::{self, Start};
use crate::{Input, LayerSpec, Output, Rollout, STATE};
use nalgebra::Vector3;
use osculate_dynamics::Parameters;
use osculate_dynamics::Simulator;
use osculate_dynamics::impulse::ImpulseSimulator;
use osculate_fit::experiment::Experiment;
use osculate_fit::parameter::FreeParameter;
use osculate_fit::problem::{Model, ModelSettings, Toss};
use osculate_fit::twin::TwinFile;
use osculate_math::se3::Pose;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A toss and the parameters it was made with.
pub(super) struct Drawn {
    pub(super) truth: Vec<f64>,
    pub(super) toss: Toss,
}

/// Where tosses come from.
pub(super) struct Source {
    pub(super) twin: TwinFile,
    pub(super) parameters: Vec<FreeParameter>,
    pub(super) known: Known,
    layer: Rollout,
}

/// The layer of a whole toss: state and parameters in, states of all frames out.
fn layer(
    model: &Model,
    twin: &TwinFile,
    parameters: &[FreeParameter],
) -> Result<Rollout, ExperimentError> {
    let body = model.scene.bodies[model.body].name.clone();
    let mut inputs = vec![Input::state(&body)];
    inputs.extend(parameters.iter().map(|p| Input::parameter(&p.path)));
    let frames = (1..twin.frames).map(|k| Output::state(&body, k * model.substeps));
    let spec = LayerSpec { inputs, outputs: frames.collect() };
    let duration = 1.0 / (twin.rate_hz * model.substeps as f64);
    let durations = vec![duration; (twin.frames - 1) * model.substeps];
    let (scene, numbers) = (model.scene.clone(), Parameters::of(&model.scene));
    Ok(match model.settings {
        ModelSettings::Compliant(settings) => {
            Rollout::of(Simulator::new(scene, settings, durations)?, numbers, spec)?
        }
        ModelSettings::Impulse(settings) => {
            Rollout::of(ImpulseSimulator::new(scene, settings, durations)?, numbers, spec)?
        }
    })
}

impl Source {
    pub(super) fn new(experiment: &Experiment) -> Result<Self, ExperimentError> {
        let Some(twin) = experiment.file.twin.clone() else {
            let file = experiment.path.display().to_string();
            return Err(ExperimentError::Missing {
                file,
                what: "[twin]",
                why: "how tosses are drawn",
            });
        };
        twin.check()?;
        let free = experiment.file.parameters.iter().filter(|p| !p.profile_only);
        let parameters: Vec<FreeParameter> = free.cloned().collect();
        let layer = layer(&experiment.model, &twin, &parameters)?;
        let scene = &experiment.model.scene;
        let samples = scene.bodies[experiment.model.body].samples.as_ref();
        let samples = samples.map_or_else(Vec::new, |s| s.points().to_vec());
        let known = Known { samples, gravity: scene.gravity };
        Ok(Self { twin, parameters, known, layer })
    }

    pub(super) fn paths(&self) -> Vec<String> {
        self.parameters.iter().map(|p| p.path.clone()).collect()
    }

    /// Ends of the drawn range of a parameter, as logarithms.
    pub(super) fn logarithms(&self, k: usize) -> [f64; 2] {
        let p = &self.parameters[k];
        p.start.unwrap_or(p.range).map(f64::ln)
    }

    /// The middle of the drawn ranges, on their logarithms.
    pub(super) fn middle(&self) -> Vec<f64> {
        let middle = |k: usize| {
            let [low, high] = self.logarithms(k);
            (0.5 * (low + high)).exp()
        };
        (0..self.parameters.len()).map(middle).collect()
    }

    /// So many tosses that could be rolled out, and how many could not.
    pub(super) fn draw(
        &self,
        seed: u64,
        count: usize,
    ) -> Result<(Vec<Drawn>, usize), ExperimentError> {
        let (mut out, mut failed, mut next) = (Vec::new(), 0, 0);
        while out.len() < count {
            let wanted = count - out.len();
            let made: Vec<_> =
                (next..next + wanted).into_par_iter().map(|i| self.toss(seed, i)).collect();
            next += wanted;
            for toss in made {
                match toss {
                    Ok(drawn) => out.push(drawn),
                    // Another one is drawn in its place, as long as most of them are good.
                    Err(e) if failed > count => return Err(e),
                    Err(_) => failed += 1,
                }
            }
        }
        Ok((out, failed))
    }

    fn toss(&self, seed: u64, i: usize) -> Result<Drawn, ExperimentError> {
        let mut rng = tosses::generator(seed, i);
        let t = &self.twin;
        let ranges = Start { height: t.height, speed: t.speed, fall: t.fall, spin: t.spin };
        let start = tosses::start(&mut rng, &ranges);
        let truth: Vec<f64> = (0..self.parameters.len())
            .map(|k| tosses::between(&mut rng, self.logarithms(k)).exp())
            .collect();
        let inputs: Vec<f64> = start.iter().chain(&truth).copied().collect();
        let states = self.layer.run(&inputs)?.outputs;
        let sigmas = [t.position_noise, t.rotation_noise_deg.to_radians()];
        let pose = |numbers: &[f64]| {
            let (position, rotation) = tosses::pose(numbers);
            Pose { position, rotation }
        };
        let mut measured = vec![pose(&start)];
        measured.extend(states.chunks(STATE).map(|s| pose(&tosses::measured(&mut rng, s, sigmas))));
        let toss = Toss {
            id: i as u32,
            times: (0..t.frames).map(|k| k as f64 / t.rate_hz).collect(),
            observed: vec![true; t.frames],
            measured,
            velocity: Vector3::from_column_slice(&start[12..15]),
            angular_velocity: Vector3::from_column_slice(&start[15..18]),
            joints: Vec::new(),
            others: Vec::new(),
            series: Vec::new(),
            labels: BTreeMap::new(),
        };
        Ok(Drawn { truth, toss })
    }
}
