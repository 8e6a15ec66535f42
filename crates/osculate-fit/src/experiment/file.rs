//! The content of an experiment file.

use super::ExperimentError;
use super::channel::ChannelFile;
use crate::fit::{Algorithm, Designs};
use crate::nuisance::Nuisance;
use crate::parameter::FreeParameter;
use crate::recording::Part;
use crate::robust::Robust;
use crate::surface::Average;
use crate::trust::GRIDS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An experiment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// Scene file, relative to the experiment.
    pub scene: PathBuf,
    /// Name of the actor that the recordings track.
    pub body: String,
    /// Folder of recordings, relative to the experiment; `--data` overrides it.
    pub data: PathBuf,
    /// Part that is fitted, where the folder has a split.
    #[serde(default)]
    pub part: PartName,
    /// Steps between two frames.
    pub substeps: usize,
    /// What is compared.
    #[serde(default)]
    pub loss: Loss,
    /// Whether records that are far off count less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robust: Option<Robust>,
    /// What is measured; the pose of the body where absent.
    #[serde(rename = "channel", default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelFile>,
    /// What of the recorded start is uncertain.
    #[serde(default)]
    pub initial_state: InitialStateFile,
    /// What is another in each recording.
    #[serde(rename = "nuisance", default, skip_serializing_if = "Vec::is_empty")]
    pub nuisances: Vec<Nuisance>,
    /// Free parameters.
    #[serde(rename = "parameter", default)]
    pub parameters: Vec<FreeParameter>,
    /// Stages of the fit; one full roll-out with Levenberg–Marquardt where absent.
    #[serde(rename = "stage", default)]
    pub stages: Vec<StageFile>,
    /// Starts.
    #[serde(default)]
    pub multistart: MultiStart,
    /// Profiles.
    #[serde(default)]
    pub profile: ProfileFile,
    /// Intervals by drawing tosses again.
    #[serde(default)]
    pub bootstrap: BootstrapFile,
    /// What the derivatives are good for.
    #[serde(default)]
    pub trust: TrustFile,
    /// Synthetic recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<crate::twin::TwinFile>,
}

/// A part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartName {
    /// For fitting.
    #[default]
    Train,
    /// For choosing.
    Valid,
    /// For judging.
    Test,
    /// Every toss that the metadata list.
    All,
}

impl From<PartName> for Part {
    fn from(p: PartName) -> Self {
        match p {
            PartName::Train => Self::Train,
            PartName::Valid => Self::Valid,
            PartName::Test => Self::Test,
            PartName::All => Self::All,
        }
    }
}

/// The loss.
#[derive(Clone, Copy, Debug, PartialEq, Default, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// A toss: mean |δp|²/half side + mean θ². The protocol of the public baselines.
    #[default]
    Baseline,
    /// A toss: Σ |δp|²/σ_p² + Σ θ²/σ_θ²: residuals in units of their noise.
    Noise {
        /// σ_p, of one coordinate (m).
        position_sigma: f64,
        /// σ_θ, of one coordinate (deg).
        rotation_sigma_deg: f64,
    },
    /// A toss: Σ over channels and their records of (reading − record)²/σ².
    Channels {
        /// The mean over the records of a channel in place of their sum: every toss counts alike, and every channel.
        #[serde(default)]
        per_frame_mean: bool,
    },
}

/// Standard deviations of the recorded start.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InitialStateFile {
    /// Of each coordinate of the position (m).
    pub position_sigma: Option<f64>,
    /// Of each coordinate of the rotation (deg).
    pub rotation_sigma_deg: Option<f64>,
    /// Of each coordinate of the velocity (m/s).
    pub velocity_sigma: Option<f64>,
    /// Of each coordinate of the angular velocity (rad/s).
    pub angular_velocity_sigma: Option<f64>,
    /// Of revolute and prismatic joints, by the actor that they move.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub joints: BTreeMap<String, JointPriorFile>,
}

/// Standard deviations of the recorded start of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct JointPriorFile {
    /// Of its position (rad, m).
    pub position_sigma: Option<f64>,
    /// Of its rate (rad/s, m/s).
    pub rate_sigma: Option<f64>,
}

impl InitialStateFile {
    /// Every standard deviation with its field.
    pub(super) fn sigmas(&self) -> Vec<(String, Option<f64>)> {
        let own = [
            ("position_sigma", self.position_sigma),
            ("rotation_sigma_deg", self.rotation_sigma_deg),
            ("velocity_sigma", self.velocity_sigma),
            ("angular_velocity_sigma", self.angular_velocity_sigma),
        ];
        let mut all = own.map(|(field, s)| (format!("initial_state.{field}"), s)).to_vec();
        for (name, joint) in &self.joints {
            let at = format!("initial_state.joints.{name}");
            all.push((format!("{at}.position_sigma"), joint.position_sigma));
            all.push((format!("{at}.rate_sigma"), joint.rate_sigma));
        }
        all
    }
}

/// One stage.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StageFile {
    /// Only the first frames after the start.
    pub frames: Option<usize>,
    /// Multiple shooting with segments of so many frames.
    pub shooting: Option<usize>,
    /// Algorithm.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// Most iterations.
    #[serde(default = "default_iterations")]
    pub iterations: usize,
    /// First simplex of Nelder–Mead in coordinates.
    #[serde(default = "default_simplex")]
    pub simplex: f64,
    /// Paths that move in this stage; all where absent.
    #[serde(default)]
    pub free: Vec<String>,
    /// Points of a round of a response surface.
    pub points: Option<usize>,
    /// Rounds of a response surface.
    pub rounds: Option<usize>,
    /// Half width of its first box in coordinates.
    pub half_width: Option<f64>,
    /// Factor of a half width after a round whose minimum is inside.
    pub shrink: Option<f64>,
    /// Average over tosses whose trend it fits.
    pub average: Option<Average>,
}

impl StageFile {
    /// Designs of a response surface, with the defaults of absent fields.
    pub fn designs(&self) -> Designs {
        let d = Designs::default();
        Designs {
            points: self.points.unwrap_or(d.points),
            rounds: self.rounds.unwrap_or(d.rounds),
            half_width: self.half_width.unwrap_or(d.half_width),
            shrink: self.shrink.unwrap_or(d.shrink),
            average: self.average.unwrap_or(d.average),
        }
    }
}

pub(super) fn default_iterations() -> usize {
    30
}

pub(super) fn default_simplex() -> f64 {
    0.15
}

/// Where the fit starts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MultiStart {
    /// How many starts.
    pub starts: usize,
    /// Seed.
    pub seed: u64,
}

impl Default for MultiStart {
    fn default() -> Self {
        Self { starts: 5, seed: 1 }
    }
}

/// How profiles are made.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProfileFile {
    /// Values a side of the best; 0 for no profiles.
    pub points: usize,
    /// Iterations of the other parameters at each value.
    pub iterations: usize,
    /// Most tosses used, evenly spread over the part.
    pub tosses: usize,
}

impl Default for ProfileFile {
    fn default() -> Self {
        Self { points: 6, iterations: 4, tosses: 60 }
    }
}

/// How tosses are drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct BootstrapFile {
    /// How many times; 0 for no intervals of this kind.
    pub resamples: usize,
    /// Levenberg–Marquardt iterations of each.
    pub iterations: usize,
    /// Seed.
    pub seed: u64,
}

impl Default for BootstrapFile {
    fn default() -> Self {
        Self { resamples: 0, iterations: 6, seed: 1 }
    }
}

/// How much is asked about the derivatives by the fitted parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrustFile {
    /// Most tosses, evenly spread over the part; 0 for no verdicts.
    pub tosses: usize,
    /// Time grids, each with half the step of the one before.
    pub grids: usize,
}

impl Default for TrustFile {
    fn default() -> Self {
        Self { tosses: 3, grids: GRIDS }
    }
}

/// Characters of a line that an error shows.
const MOST_SHOWN: usize = 80;

/// Text to a value, with the line of what is wrong.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(
    text: &str,
    file: &Path,
) -> Result<T, ExperimentError> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().map_or(0, |s| s.start.min(text.len()));
        let line = text.as_bytes()[..before].iter().filter(|b| **b == b'\n').count() + 1;
        // The library names the type that was expected, not the field: the line does.
        let whole = text.lines().nth(line - 1).unwrap_or_default().trim();
        let shown: String = whole.chars().take(MOST_SHOWN).collect();
        let message = format!("{} (`{shown}`)", error.message());
        ExperimentError::Syntax { file: file.to_owned(), line, message }
    })
}

impl ExperimentFile {
    /// Parses a document.
    ///
    /// # Errors
    /// With file, line, what was found and what is allowed.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ExperimentError> {
        parse(text, file)
    }
}
