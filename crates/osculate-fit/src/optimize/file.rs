//! The content of an optimisation file.

use crate::experiment::{ExperimentError, MultiStart, parse};
use crate::parameter::FreeParameter;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// An optimisation: docs/optimize.md.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OptimizeFile {
    /// Scene file, relative to this one.
    pub scene: PathBuf,
    /// Parameters of the scene that are free.
    #[serde(rename = "variable", default)]
    pub variables: Vec<FreeParameter>,
    /// Numbers of steps that are free.
    #[serde(rename = "control", default)]
    pub controls: Vec<ControlFile>,
    /// What is wanted.
    #[serde(rename = "objective", default)]
    pub objectives: Vec<ObjectiveFile>,
    /// What must hold.
    #[serde(rename = "constraint", default)]
    pub constraints: Vec<ConstraintFile>,
    /// Stages; one of Gauss–Newton where absent.
    #[serde(rename = "stage", default)]
    pub stages: Vec<StageFile>,
    /// How constraints are kept.
    #[serde(default)]
    pub augmented: AugmentedFile,
    /// Starts.
    #[serde(default)]
    pub multistart: MultiStart,
    /// What `--baselines` may spend.
    #[serde(default)]
    pub baselines: BaselinesFile,
    /// What derivatives are good for.
    #[serde(default)]
    pub trust: TrustFile,
}

/// A number of the steps: force, torque, effort or target.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ControlFile {
    /// Unique name.
    pub name: String,
    /// A dynamic actor, pushed by a wrench.
    pub actor: Option<String>,
    /// A joint, by its child.
    pub joint: Option<String>,
    /// Which number.
    pub component: String,
    /// The steps that it acts in, the last not included.
    pub steps: Option<[usize; 2]>,
    /// The same by time (s).
    pub times: Option<[f64; 2]>,
    /// Numbers of the spline; one a step where absent.
    pub knots: Option<usize>,
    /// What is between the knots.
    #[serde(default)]
    pub spline: Spline,
    /// Values that knots may take.
    pub range: [f64; 2],
    /// Values that knots start from.
    pub start: Option<[f64; 2]>,
}

/// What is between the knots of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spline {
    /// Constant pieces.
    Hold,
    /// Straight lines.
    #[default]
    Linear,
    /// A cubic B-spline.
    Cubic,
}

impl Spline {
    /// Degree of the pieces.
    pub fn degree(self) -> usize {
        match self {
            Self::Hold => 0,
            Self::Linear => 1,
            Self::Cubic => 3,
        }
    }
}

/// What an objective is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveKind {
    /// Position of the local origin.
    Position,
    /// Rotation.
    Rotation,
    /// Velocity of the centre of mass.
    Velocity,
    /// Angular velocity.
    AngularVelocity,
    /// A control itself.
    Effort,
    /// Mean contact force on an actor over a step.
    ContactForce,
    /// Velocity of a point of an actor relative to another.
    NoSlip,
    /// The scene's `[[outcome]]`.
    Outcome,
}

/// One objective.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectiveFile {
    /// What it is about.
    pub kind: ObjectiveKind,
    /// Which actor.
    pub actor: Option<String>,
    /// Value wanted.
    pub target: Option<Vec<f64>>,
    /// Axes that count; all where absent.
    pub axes: Option<Vec<AxisName>>,
    /// After how many steps; after the last where absent.
    pub step: Option<usize>,
    /// Running: at the ends of these steps, the last not included.
    pub steps: Option<[usize; 2]>,
    /// Running: the same by time (s).
    pub times: Option<[f64; 2]>,
    /// The error that costs 1.
    pub scale: f64,
    /// The error allowed where the goal is reached.
    pub within: Option<f64>,
    /// Of `no-slip`: the point in the actor's local frame (m).
    pub point: Option<[f64; 3]>,
    /// Of `no-slip`: the other actor; the world where absent.
    pub against: Option<String>,
    /// Of `effort`: names of controls; all where absent.
    pub controls: Option<Vec<String>>,
}

/// A world axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisName {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

/// What a constraint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstraintKind {
    /// The position stays in a box.
    Inside,
    /// The position stays away from a point or a line.
    KeepOut,
}

/// One constraint.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ConstraintFile {
    /// What it is about.
    pub kind: ConstraintKind,
    /// Which actor.
    pub actor: String,
    /// After how many steps; the last where nothing is given.
    pub step: Option<usize>,
    /// At the ends of these steps, the last not included.
    pub steps: Option<[usize; 2]>,
    /// The same by time (s).
    pub times: Option<[f64; 2]>,
    /// Axes that count; all where absent.
    pub axes: Option<Vec<AxisName>>,
    /// Of `inside`: least position (m).
    pub low: Option<[f64; 3]>,
    /// Of `inside`: largest position (m).
    pub high: Option<[f64; 3]>,
    /// Of `keep-out`: what is to be kept away from (m).
    pub center: Option<[f64; 3]>,
    /// Of `keep-out`: least distance along the axes (m).
    pub radius: Option<f64>,
    /// The violation that costs 1 (m).
    pub scale: f64,
    /// The violation allowed where the goal is reached (m); `scale` where absent.
    pub within: Option<f64>,
}

/// What solves a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Damped Gauss–Newton on exact tangents.
    #[default]
    GaussNewton,
    /// L-BFGS on the adjoint.
    Lbfgs,
    /// Descent along a mixture of first- and zeroth-order gradients of a smoothed cost.
    Hybrid,
    /// Short Gauss–Newton runs from perturbations of the best point so far.
    BasinHopping,
    /// CMA-ES: no derivatives.
    CmaEs,
}

/// One stage.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StageFile {
    /// What solves it.
    pub solver: Solver,
    /// Most iterations; of CMA-ES generations, of basin hopping runs.
    pub iterations: usize,
    /// Factor of every stiffness k.
    pub k: f64,
    /// Factor of every ramp length ε.
    pub epsilon: f64,
    /// Factor of every falloff speed V_f.
    pub v_f: f64,
    /// Of `gauss-newton`: whether the second order of the residuals counts.
    pub second_order: bool,
    /// Of `hybrid`, `basin-hopping` and `cma-es`: standard deviation in half widths of the ranges.
    pub sigma: f64,
    /// Of `hybrid`: points of an estimate. Of `basin-hopping`: points tried before each run.
    pub samples: usize,
    /// Of `hybrid`: length of the first steps in half widths of the ranges.
    pub rate: f64,
}

impl Default for StageFile {
    fn default() -> Self {
        Self {
            solver: Solver::default(),
            iterations: 50,
            k: 1.0,
            epsilon: 1.0,
            v_f: 1.0,
            second_order: false,
            sigma: 0.1,
            samples: 16,
            rate: 0.05,
        }
    }
}

/// How constraints are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AugmentedFile {
    /// Times that the last stage is solved, with multipliers updated in between; 1 for a penalty alone.
    pub rounds: usize,
}

impl Default for AugmentedFile {
    fn default() -> Self {
        Self { rounds: 1 }
    }
}

/// What `--baselines` may spend.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct BaselinesFile {
    /// Starts that are repeated, from the first; 0 for all.
    pub starts: usize,
    /// Most roll-outs of a start.
    pub rollouts: usize,
    /// First standard deviation of CMA-ES in half widths of the ranges.
    pub sigma: f64,
}

impl Default for BaselinesFile {
    fn default() -> Self {
        Self { starts: 0, rollouts: 5000, sigma: 0.3 }
    }
}

/// How much is asked about derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrustFile {
    /// Most variables asked, those that matter most; 0 asks nothing.
    pub variables: usize,
    /// Time grids, each with half the step of the one before.
    pub grids: usize,
    /// The change asked about, as part of the range.
    pub change: f64,
}

impl Default for TrustFile {
    fn default() -> Self {
        Self { variables: 4, grids: crate::trust::GRIDS, change: 0.01 }
    }
}

impl OptimizeFile {
    /// Parses a document.
    ///
    /// # Errors
    /// With file, line, what was found and what is allowed.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ExperimentError> {
        parse(text, file)
    }
}
