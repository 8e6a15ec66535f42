//! The closed loop: one layer call a command.

use super::config::{Config, Pose};
use super::{ExperimentError, rows};
use crate::experiment::files;
use crate::operation::tensor;
use crate::{Input, LayerSpec, LearnError, Network, Output, Rollout, STATE};
use burn::tensor::{Device, Tensor};
use nalgebra::Vector3;
use osculate_dynamics::file::SceneFile;
use osculate_math::so3;
use std::path::Path;

/// Numbers that the network sees.
const FEATURES: usize = 12;

/// The scene as a layer, and what the loop needs of it.
pub(super) struct Arena {
    layer: Rollout,
    config: Config,
    heights: [f64; 2],
    device: Device,
}

/// States after every command, `[starts, 18]` each.
pub(super) struct Unrolled {
    boxes: Vec<Tensor<2>>,
    pushers: Vec<Tensor<2>>,
    forces: Vec<Tensor<2>>,
}

/// The way of one start, for figures and judgement.
pub(super) struct Course {
    pub(super) boxes: Vec<[f64; 2]>,
    pub(super) pushers: Vec<[f64; 2]>,
    pub(super) speed: f64,
    pub(super) largest_force: f64,
}

impl Arena {
    pub(super) fn new(
        file: &Path,
        config: &Config,
        device: &Device,
    ) -> Result<Self, ExperimentError> {
        let scene = SceneFile::load(files::beside(file, &config.scene))?;
        let steps = scene.simulator.steps();
        let (pushed, pusher) = (config.pushed.as_str(), config.pusher.as_str());
        let spec = LayerSpec {
            inputs: vec![
                Input::state(pushed),
                Input::state(pusher),
                Input::wrench(pusher, 0..steps),
            ],
            outputs: vec![
                Output::state(pushed, steps),
                Output::state(pusher, steps),
                Output::contact_force(pushed, steps),
            ],
        };
        let layer = Rollout::new(&scene, spec)?;
        let bodies = &scene.simulator.scene().bodies;
        let height =
            |name: &str| bodies.iter().find(|b| b.name == name).map_or(0.0, |b| b.pose.position.z);
        let heights = [height(pushed), height(pusher)];
        Ok(Self { layer, config: config.clone(), heights, device: device.clone() })
    }

    /// The network before training: a push along x, whatever it sees.
    pub(super) fn network(&self, device: &Device) -> Network {
        let sizes: Vec<usize> = std::iter::once(FEATURES)
            .chain(self.config.hidden.iter().copied())
            .chain([2])
            .collect();
        let push = (self.config.start_push / self.config.force).atanh();
        Network::new(&sizes, self.config.seed, device).with_last_layer(0.1, &[push, 0.0], device)
    }

    /// States of box and pusher at the starts; the pusher stands behind the box, seen from the goal.
    fn start(&self, starts: &[Pose]) -> [Tensor<2>; 2] {
        let state = |position: Vector3<f64>, yaw: f64| {
            let rotation = so3::exp(&Vector3::new(0.0, 0.0, yaw.to_radians()));
            let mut out: Vec<f64> = position.iter().copied().collect();
            out.extend(rotation.transpose().iter());
            out.extend([0.0; 6]);
            out
        };
        let goal = self.config.goal;
        let (mut boxes, mut pushers) = (Vec::new(), Vec::new());
        for Pose(x, y, yaw) in starts {
            let way = Vector3::new(goal[0] - x, goal[1] - y, 0.0);
            let back = way * (self.config.behind / way.norm().max(f64::MIN_POSITIVE));
            boxes.extend(state(Vector3::new(*x, *y, self.heights[0]), *yaw));
            pushers.extend(state(Vector3::new(x - back.x, y - back.y, self.heights[1]), 0.0));
        }
        [boxes, pushers].map(|n| tensor(n, [starts.len(), STATE], &self.device))
    }

    /// Rolls the closed loop out from every start.
    pub(super) fn unroll(
        &self,
        network: &Network,
        starts: &[Pose],
    ) -> Result<Unrolled, LearnError> {
        let [mut pushed, mut pusher] = self.start(starts);
        let mut out = Unrolled {
            boxes: vec![pushed.clone()],
            pushers: vec![pusher.clone()],
            forces: Vec::new(),
        };
        for k in 0..self.config.commands {
            let left = 1.0 - k as f64 / self.config.commands as f64;
            let features = self.features(&pushed, &pusher, left);
            let wrench = self.wrench(network.forward(features), &pusher);
            let after = self.layer.forward(Tensor::cat(vec![pushed, pusher, wrench], 1))?;
            pushed = columns(&after, 0, STATE);
            pusher = columns(&after, STATE, STATE);
            out.boxes.push(pushed.clone());
            out.pushers.push(pusher.clone());
            out.forces.push(columns(&after, 2 * STATE, 3));
        }
        Ok(out)
    }

    /// Goal, turn, pusher and velocities, each over a scale that makes it about one.
    fn features(&self, pushed: &Tensor<2>, pusher: &Tensor<2>, left: f64) -> Tensor<2> {
        let rows = pushed.dims()[0];
        let to_goal = self.goal(rows) - columns(pushed, 0, 2);
        let from_box = columns(pusher, 0, 2) - columns(pushed, 0, 2);
        let turn = Tensor::cat(vec![columns(pushed, 3, 1), columns(pushed, 6, 1)], 1);
        let time = tensor(vec![left; rows], [rows, 1], &self.device);
        Tensor::cat(
            vec![
                to_goal.mul_scalar(10.0),
                from_box.mul_scalar(10.0),
                turn,
                columns(pushed, 12, 2).mul_scalar(5.0),
                columns(pusher, 12, 2).mul_scalar(5.0),
                columns(pushed, 17, 1),
                time,
            ],
            1,
        )
    }

    /// The network's force, less damping, and what holds the pusher's height.
    fn wrench(&self, said: Tensor<2>, pusher: &Tensor<2>) -> Tensor<2> {
        let c = &self.config;
        let rows = said.dims()[0];
        let flat = said.tanh().mul_scalar(c.force) - columns(pusher, 12, 2).mul_scalar(c.damping);
        let above = columns(pusher, 2, 1).sub_scalar(self.heights[1]);
        let up = -(above.mul_scalar(c.height_stiffness)
            + columns(pusher, 14, 1).mul_scalar(c.height_damping));
        let torque = tensor(vec![0.0; 3 * rows], [rows, 3], &self.device);
        Tensor::cat(vec![flat, up, torque], 1)
    }

    fn goal(&self, rows: usize) -> Tensor<2> {
        tensor(self.config.goal.repeat(rows), [rows, 2], &self.device)
    }
}

impl Unrolled {
    /// `mean over starts of |p − g|²/σ_p² + |v|²/σ_v² at the end, and the mean of |p − g|²/σ_w² on the way`.
    pub(super) fn loss(&self, config: &Config) -> Tensor<1> {
        let rows = self.boxes[0].dims()[0];
        let device = self.boxes[0].device();
        let goal = tensor(config.goal.repeat(rows), [rows, 2], &device);
        let squares =
            |x: Tensor<2>, scale: f64| (x.clone() * x).sum().mul_scalar(1.0 / (scale * scale));
        let off =
            |state: &Tensor<2>, scale: f64| squares(columns(state, 0, 2) - goal.clone(), scale);
        let last = &self.boxes[self.boxes.len() - 1];
        let mut total =
            off(last, config.loss.position) + squares(columns(last, 12, 2), config.loss.speed);
        let share = 1.0 / (self.boxes.len() - 1) as f64;
        for state in &self.boxes[1..] {
            total = total + off(state, config.loss.way).mul_scalar(share);
        }
        total.mul_scalar(1.0 / rows as f64)
    }

    /// The ways, as numbers.
    pub(super) fn courses(&self, arena: &Arena) -> Result<Vec<Course>, ExperimentError> {
        let read = |all: &[Tensor<2>]| all.iter().map(rows).collect::<Result<Vec<_>, _>>();
        let (boxes, pushers, forces) =
            (read(&self.boxes)?, read(&self.pushers)?, read(&self.forces)?);
        let starts = self.boxes[0].dims()[0];
        debug_assert!(boxes.len() == arena.config.commands + 1, "a state after every command");
        let flat =
            |all: &[Vec<Vec<f64>>], i: usize| all.iter().map(|s| [s[i][0], s[i][1]]).collect();
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        Ok((0..starts)
            .map(|i| Course {
                boxes: flat(&boxes, i),
                pushers: flat(&pushers, i),
                speed: norm(&boxes[boxes.len() - 1][i][12..14]),
                largest_force: forces.iter().map(|f| norm(&f[i])).fold(0.0, f64::max),
            })
            .collect())
    }
}

/// Columns `first..first + count`.
fn columns(x: &Tensor<2>, first: usize, count: usize) -> Tensor<2> {
    let rows = x.dims()[0];
    x.clone().slice([0..rows, first..first + count])
}
