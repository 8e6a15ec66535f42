//! The experiment file.

use super::super::files::require;
use super::super::train::Training;
use super::ExperimentError;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Place of the box \[m\] and its turn \[degrees\].
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Pose(pub(super) f64, pub(super) f64, pub(super) f64);

/// What the file says.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    /// Scene file, beside this one; its time grid is that of one command.
    pub(super) scene: String,
    /// The actor that is pushed.
    #[serde(rename = "box")]
    pub(super) pushed: String,
    /// The actor that pushes.
    pub(super) pusher: String,
    /// Where the box shall be (m).
    pub(super) goal: [f64; 2],
    /// How many commands a roll-out has.
    pub(super) commands: usize,
    /// Largest force along an axis (N).
    pub(super) force: f64,
    /// Against the velocity of the pusher (N s/m).
    pub(super) damping: f64,
    /// That holds the pusher at its height (N/m).
    pub(super) height_stiffness: f64,
    /// Its damping (N s/m).
    pub(super) height_damping: f64,
    /// Force along x before training (N).
    pub(super) start_push: f64,
    /// From the box to the pusher at the start (m).
    pub(super) behind: f64,
    /// Sizes of the hidden layers.
    pub(super) hidden: Vec<usize>,
    /// Seed of the network.
    pub(super) seed: u64,
    /// Starts that are trained on.
    pub(super) starts: Vec<Pose>,
    /// Starts that are only judged.
    pub(super) held_out: Vec<Pose>,
    /// What is wanted.
    pub(super) loss: Scales,
    /// How long it is trained.
    pub(super) training: Training,
    /// As `training`, for tests.
    pub(super) quick: Training,
}

/// An error of one scale counts 1.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scales {
    /// Of the distance at the end (m).
    pub(super) position: f64,
    /// Of the speed at the end (m/s).
    pub(super) speed: f64,
    /// Of the distance on the way (m).
    pub(super) way: f64,
}

impl Config {
    pub(super) fn check(&self, file: &Path) -> Result<(), ExperimentError> {
        let positive = [
            ("force", self.force),
            ("behind", self.behind),
            ("loss.position", self.loss.position),
            ("loss.speed", self.loss.speed),
            ("loss.way", self.loss.way),
            ("training.learning_rate", self.training.learning_rate),
            ("quick.learning_rate", self.quick.learning_rate),
        ];
        for (field, x) in positive {
            require(file, (field, x), x.is_finite() && x > 0.0, "> 0")?;
        }
        for (field, x) in [
            ("damping", self.damping),
            ("height_stiffness", self.height_stiffness),
            ("height_damping", self.height_damping),
        ] {
            require(file, (field, x), x.is_finite() && x >= 0.0, ">= 0")?;
        }
        let share = self.start_push / self.force;
        require(file, ("start_push", self.start_push), share.abs() < 1.0, "below force")?;
        require(file, ("commands", self.commands), self.commands > 0, "at least 1")?;
        require(file, ("starts", self.starts.len()), !self.starts.is_empty(), "at least 1")?;
        let all = self.starts.iter().chain(&self.held_out);
        let finite = all.flat_map(|p| [p.0, p.1, p.2]).chain(self.goal).all(f64::is_finite);
        require(file, ("starts, held_out, goal", "not finite"), finite, "finite numbers")?;
        let sizes = self.hidden.iter().all(|&n| (1..=4096).contains(&n));
        require(file, ("hidden", format!("{:?}", self.hidden)), sizes, "sizes from 1 to 4096")
    }
}
