//! The experiment file.

use super::super::files::require;
use super::super::tosses::Start;
use super::super::train::Training;
use super::ExperimentError;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What the file says.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    /// Scene file, beside this one; its time grid is that of one frame, its numbers are the truth.
    pub(super) scene: String,
    /// The actor that is tossed.
    pub(super) body: String,
    /// Frames after the start.
    pub(super) frames: usize,
    /// Tosses that are trained on.
    pub(super) train: usize,
    /// Tosses that are only judged.
    pub(super) valid: usize,
    /// Seed of starts and noise.
    pub(super) seed: u64,
    /// Standard deviation of each coordinate of a measured position (m).
    pub(super) position_noise: f64,
    /// Standard deviation of each coordinate of a measured rotation (deg).
    pub(super) rotation_noise_deg: f64,
    /// What of the scene is free in both arms.
    #[serde(rename = "parameter")]
    pub(super) parameters: Vec<Free>,
    /// Initial states.
    pub(super) start: Start,
    /// What the scene does not have.
    pub(super) truth: Truth,
    /// The network beside the physics.
    pub(super) network: NetworkFile,
    /// Scales of the errors.
    pub(super) loss: Scales,
    /// How long both arms are trained.
    pub(super) training: Training,
    /// As `training`, for tests.
    pub(super) quick: Training,
}

/// A positive number of the scene, estimated by its logarithm.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Free {
    pub(super) path: String,
    pub(super) start: f64,
}

/// Drag and magnet.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Truth {
    /// `c` (N s/m).
    pub(super) drag: f64,
    /// Where the magnet is (m).
    pub(super) magnet: [f64; 3],
    /// `A` (N).
    pub(super) attraction: f64,
    /// `a` (m).
    pub(super) reach: f64,
}

/// Sizes and scales of the network.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkFile {
    pub(super) hidden: Vec<usize>,
    /// Force of an output of one (N).
    pub(super) force: f64,
    /// Torque of an output of one (N m).
    pub(super) torque: f64,
    pub(super) seed: u64,
}

/// An error of one scale counts about 1.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scales {
    /// Of a position (m).
    pub(super) position: f64,
    /// Of a rotation (rad).
    pub(super) rotation: f64,
}

impl Config {
    pub(super) fn check(&self, file: &Path) -> Result<(), ExperimentError> {
        for (field, x) in [
            ("truth.reach", self.truth.reach),
            ("network.force", self.network.force),
            ("network.torque", self.network.torque),
            ("loss.position", self.loss.position),
            ("loss.rotation", self.loss.rotation),
            ("training.learning_rate", self.training.learning_rate),
            ("quick.learning_rate", self.quick.learning_rate),
        ] {
            require(file, (field, x), x.is_finite() && x > 0.0, "> 0")?;
        }
        for (field, x) in [
            ("truth.drag", self.truth.drag),
            ("truth.attraction", self.truth.attraction),
            ("position_noise", self.position_noise),
            ("rotation_noise_deg", self.rotation_noise_deg),
        ] {
            require(file, (field, x), x.is_finite() && x >= 0.0, ">= 0")?;
        }
        for (field, n) in [("frames", self.frames), ("train", self.train), ("valid", self.valid)] {
            require(file, (field, n), (1..=100_000).contains(&n), "1 to 100000")?;
        }
        for p in &self.parameters {
            let fits = p.start.is_finite() && p.start > 0.0;
            require(file, ("parameter.start", p.start), fits, "> 0")?;
        }
        require(file, ("parameter", 0), !self.parameters.is_empty(), "at least one")?;
        let finite = self.truth.magnet.iter().all(|x| x.is_finite());
        require(file, ("truth.magnet", format!("{:?}", self.truth.magnet)), finite, "finite")?;
        let sizes = self.network.hidden.iter().all(|&n| (1..=4096).contains(&n));
        let found = format!("{:?}", self.network.hidden);
        require(file, ("network.hidden", found), sizes, "sizes from 1 to 4096")?;
        self.start.check(file)
    }
}
