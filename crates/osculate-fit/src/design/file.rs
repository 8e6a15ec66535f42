//! The content of a design file.

use crate::experiment::{ExperimentError, parse};
use crate::nuisance::Nuisance;
use crate::parameter::Scale;
use crate::trust::GRIDS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A choice of experiments: docs/design.md.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DesignFile {
    /// Scene file, relative to this one.
    pub scene: PathBuf,
    /// Paths of the parameters that are asked about; all where empty.
    #[serde(default)]
    pub target: Vec<String>,
    /// What makes one experiment better than another.
    #[serde(default)]
    pub criterion: Criterion,
    /// How many experiments are chosen, one after another.
    #[serde(default = "one")]
    pub experiments: usize,
    /// Whether an experiment may be chosen again.
    #[serde(default = "yes")]
    pub repeat: bool,
    /// What the experiments are to tell.
    #[serde(rename = "parameter", default)]
    pub parameters: Vec<ParameterFile>,
    /// What a fit has told already.
    #[serde(default)]
    pub present: Option<PresentFile>,
    /// What differs from one experiment to the next and is not known exactly.
    #[serde(rename = "nuisance", default)]
    pub nuisances: Vec<Nuisance>,
    /// What is measured.
    #[serde(rename = "channel", default)]
    pub channels: Vec<ChannelFile>,
    /// What could be done.
    #[serde(rename = "candidate", default)]
    pub candidates: Vec<CandidateFile>,
    /// A local search from the best candidate.
    #[serde(default)]
    pub ascent: AscentFile,
    /// What derivatives are good for.
    #[serde(default)]
    pub trust: TrustFile,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

/// What is made small: a standard error of the targets, in the coordinates of their scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// `√tr C`.
    #[default]
    A,
    /// `det(C)^(1/2n)`.
    D,
    /// `√λ_max(C)`.
    E,
}

/// A parameter that experiments are to tell.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterFile {
    /// Path in the scene's layout.
    pub path: String,
    /// Coordinate in which its error is counted.
    #[serde(default)]
    pub scale: Scale,
    /// Values it may have.
    pub range: [f64; 2],
    /// Value that is assumed; that of the report, or else of the scene, where absent.
    pub value: Option<f64>,
    /// Standard deviation of what is known of it, in the coordinate.
    pub prior: Option<f64>,
}

/// A fit whose errors are what is known.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PresentFile {
    /// `report.json` of a fit, relative to this file.
    pub report: PathBuf,
    /// Which standard errors.
    #[serde(default)]
    pub errors: Errors,
}

/// Which standard errors of a report are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errors {
    /// Those of the Fisher matrix.
    #[default]
    Fisher,
    /// Those robust against correlation within a recording.
    Robust,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelFile {
    /// Which actor.
    pub actor: String,
    /// What of it.
    pub kind: ChannelKind,
    /// Standard deviation of each coordinate, in the unit of the kind.
    pub sigma: Option<f64>,
    /// The same in degrees (or degrees a second).
    pub sigma_deg: Option<f64>,
    /// Steps between two measurements.
    #[serde(default = "one")]
    pub every: usize,
}

/// What of an actor is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelKind {
    /// Position of the local origin (m).
    Position,
    /// Rotation (rad).
    Rotation,
    /// Velocity of the centre of mass (m/s).
    Velocity,
    /// Angular velocity (rad/s).
    AngularVelocity,
}

impl ChannelKind {
    /// Whether it is counted in angles.
    pub fn is_angle(self) -> bool {
        matches!(self, Self::Rotation | Self::AngularVelocity)
    }
}

/// Experiments that could be done.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateFile {
    /// Unique name.
    pub name: String,
    /// Scene file in place of the design's.
    pub scene: Option<PathBuf>,
    /// Numbers of the scene that are set: path and value, values or range.
    #[serde(default)]
    pub settings: BTreeMap<String, SettingFile>,
}

/// Value, values or range of a setting.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "found something else, allowed: a number, a list of numbers, or { low, high, count }"
)]
pub enum SettingFile {
    /// One value.
    Value(f64),
    /// Several, nothing between them.
    Values(Vec<f64>),
    /// A grid on a range; what is between can be chosen too.
    Grid(GridFile),
}

/// A grid on a range.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GridFile {
    /// Lowest value.
    pub low: f64,
    /// Highest value.
    pub high: f64,
    /// How many values, ends included.
    pub count: usize,
}

/// A local search from the best candidate along the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AscentFile {
    /// Most steps; 0 for none.
    pub steps: usize,
}

/// How much is asked about derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrustFile {
    /// Most candidates asked, the best first; 0 asks nothing.
    pub candidates: usize,
    /// Time grids, each with half the step of the one before.
    pub grids: usize,
}

impl Default for TrustFile {
    fn default() -> Self {
        Self { candidates: 3, grids: GRIDS }
    }
}

impl DesignFile {
    /// Parses a document.
    ///
    /// # Errors
    /// With file, line, what was found and what is allowed.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ExperimentError> {
        parse(text, file)
    }
}
