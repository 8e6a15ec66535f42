//! Experiment files: which scene, which data, what is free, how it is fitted. Documented in `docs/experiment.md`.

use crate::fit::{Algorithm, Plan, StagePlan};
use crate::identify::ProfilePlan;
use crate::parameter::FreeParameter;
use crate::problem::{Horizon, InitialState, Model, Toss, Weights};
use crate::recording::{Dataset, Part, RecordingError};
use osculate_dynamics::file::{FileError, SceneFile};
use osculate_dynamics::{OnFailure, SceneError};
use serde::{Deserialize, Serialize};
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
    /// What of the recorded start is uncertain.
    #[serde(default)]
    pub initial_state: InitialStateFile,
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
}

/// Standard deviations of the recorded start.
#[derive(Clone, Copy, Debug, PartialEq, Default, Deserialize, Serialize)]
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
}

fn default_iterations() -> usize {
    30
}

fn default_simplex() -> f64 {
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

/// Why an experiment cannot be read or set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The file cannot be read.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a valid experiment.
    #[error("{}: line {line}: {message}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong there, and what is allowed.
        message: String,
    },
    /// A number is outside its range.
    #[error("{}: {field} is {found}, allowed: {allowed}", file.display())]
    Value {
        /// The file.
        file: PathBuf,
        /// Which.
        field: String,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The scene.
    #[error(transparent)]
    Scene(#[from] FileError),
    /// The body, or the scene as a whole.
    #[error("{}: {source}", file.display())]
    Body {
        /// The file.
        file: PathBuf,
        /// Why.
        source: SceneError,
    },
    /// The recordings.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// An experiment with its scene read.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The file's content.
    pub file: ExperimentFile,
    /// Where it was read.
    pub path: PathBuf,
    /// The model to fit.
    pub model: Model,
}

impl ExperimentFile {
    /// Parses a document.
    ///
    /// # Errors
    /// With file, line, what was found and what is allowed.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ExperimentError> {
        toml::from_str(text).map_err(|error| {
            let before = error.span().map_or(0, |s| s.start.min(text.len()));
            let line = text.as_bytes()[..before].iter().filter(|b| **b == b'\n').count() + 1;
            ExperimentError::Syntax {
                file: file.to_owned(),
                line,
                message: error.message().to_owned(),
            }
        })
    }

    fn check(&self, file: &Path) -> Result<(), ExperimentError> {
        let refuse = |field: &str, found: String, allowed| {
            Err(ExperimentError::Value {
                file: file.to_owned(),
                field: field.to_owned(),
                found,
                allowed,
            })
        };
        if self.substeps == 0 || self.substeps > 100_000 {
            return refuse("substeps", self.substeps.to_string(), "1 to 100000");
        }
        if let Loss::Noise { position_sigma: p, rotation_sigma_deg: r } = self.loss {
            for (field, x) in [("loss.position_sigma", p), ("loss.rotation_sigma_deg", r)] {
                if !(x.is_finite() && x > 0.0) {
                    return refuse(field, x.to_string(), "> 0");
                }
            }
        }
        let s = &self.initial_state;
        for (field, x) in [
            ("initial_state.position_sigma", s.position_sigma),
            ("initial_state.rotation_sigma_deg", s.rotation_sigma_deg),
            ("initial_state.velocity_sigma", s.velocity_sigma),
            ("initial_state.angular_velocity_sigma", s.angular_velocity_sigma),
        ] {
            if let Some(x) = x.filter(|x| !(x.is_finite() && *x > 0.0)) {
                return refuse(field, x.to_string(), "> 0, or absent to keep it fixed");
            }
        }
        for (i, stage) in self.stages.iter().enumerate() {
            if stage.frames.is_some() && stage.shooting.is_some() {
                let field = format!("stage[{i}]");
                return refuse(&field, "frames and shooting".into(), "one of them");
            }
            let known = |path: &String| self.parameters.iter().any(|p| p.path == *path);
            if let Some(path) = stage.free.iter().find(|p| !known(p)) {
                return refuse(
                    &format!("stage[{i}].free"),
                    path.clone(),
                    "a path of a [[parameter]]",
                );
            }
            if stage.iterations == 0 {
                return refuse(&format!("stage[{i}].iterations"), "0".into(), ">= 1");
            }
            if stage.frames == Some(0) || stage.shooting == Some(0) {
                return refuse(&format!("stage[{i}]"), "0 frames".into(), ">= 1");
            }
        }
        if self.multistart.starts == 0 || self.multistart.starts > 10_000 {
            return refuse("multistart.starts", self.multistart.starts.to_string(), "1 to 10000");
        }
        Ok(())
    }
}

impl Experiment {
    /// Reads an experiment and its scene.
    ///
    /// # Errors
    /// Where one of the files is wrong.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ExperimentError::Read { file: path.to_owned(), source })?;
        let file = ExperimentFile::parse(&text, path)?;
        file.check(path)?;
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        let scene_path = folder.join(&file.scene);
        let built = SceneFile::load(&scene_path)?;
        let scene = built.simulator.scene().clone();
        let body = scene
            .body(&file.body)
            .map_err(|source| ExperimentError::Body { file: path.to_owned(), source })?;
        let mut settings = *built.simulator.settings();
        // One stage that fails must not lose a fit; the report counts them.
        settings.newton.on_failure = OnFailure::Continue;
        let model = Model { scene, settings, body, substeps: file.substeps };
        Ok(Self { file, path: path.to_owned(), model })
    }

    /// Folder of the recordings.
    pub fn data_folder(&self, override_with: Option<&Path>) -> PathBuf {
        let folder = self.path.parent().unwrap_or_else(|| Path::new("."));
        override_with.map_or_else(|| folder.join(&self.file.data), Path::to_owned)
    }

    /// The tosses of a part, from the frames their roll-outs start at.
    ///
    /// # Errors
    /// Where a recording is wrong.
    pub fn tosses(&self, data: &Dataset, part: Part) -> Result<Vec<Toss>, ExperimentError> {
        Ok(data.load_part(part)?.into_iter().map(Toss::from).collect())
    }

    /// Weights of the loss, for a cube of a half side (m).
    pub fn weights(&self, half_side: f64) -> Weights {
        match self.file.loss {
            Loss::Baseline => {
                Weights { position: 1.0 / half_side, rotation: 1.0, per_frame_mean: true }
            }
            Loss::Noise { position_sigma, rotation_sigma_deg } => Weights {
                position: position_sigma.powi(-2),
                rotation: rotation_sigma_deg.to_radians().powi(-2),
                per_frame_mean: false,
            },
        }
    }

    /// Prior of the initial states.
    pub fn initial_state(&self) -> InitialState {
        let s = &self.file.initial_state;
        InitialState {
            position: s.position_sigma,
            rotation: s.rotation_sigma_deg.map(f64::to_radians),
            velocity: s.velocity_sigma,
            angular_velocity: s.angular_velocity_sigma,
        }
    }

    /// The plan of the fit.
    pub fn plan(&self, tosses: Vec<Toss>, half_side: f64) -> Plan {
        let stages = self.file.stages.iter().map(|s| StagePlan {
            horizon: match (s.frames, s.shooting) {
                (Some(frames), _) => Horizon::Short { frames },
                (None, Some(frames)) => Horizon::MultipleShooting { frames },
                (None, None) => Horizon::Full,
            },
            algorithm: s.algorithm,
            iterations: s.iterations,
            simplex: s.simplex,
            free: s.free.clone(),
        });
        let mut stages: Vec<StagePlan> = stages.collect();
        if stages.is_empty() {
            stages.push(StagePlan {
                horizon: Horizon::Full,
                algorithm: Algorithm::LevenbergMarquardt,
                iterations: default_iterations(),
                simplex: default_simplex(),
                free: Vec::new(),
            });
        }
        Plan {
            model: self.model.clone(),
            tosses,
            parameters: self.file.parameters.clone(),
            weights: self.weights(half_side),
            initial: self.initial_state(),
            stages,
            starts: self.file.multistart.starts,
            seed: self.file.multistart.seed,
        }
    }

    /// The plan of the profiles.
    pub fn profile_plan(&self) -> ProfilePlan {
        ProfilePlan {
            points: self.file.profile.points,
            iterations: self.file.profile.iterations,
            known_noise: matches!(self.file.loss, Loss::Noise { .. }),
        }
    }
}

impl From<crate::recording::Toss> for Toss {
    fn from(t: crate::recording::Toss) -> Self {
        let first = t.start.frame;
        let measured = t.recording.poses[first..].to_vec();
        Self {
            id: t.recording.id,
            times: t.recording.times[first..].to_vec(),
            observed: vec![true; measured.len()],
            velocity: t.start.velocity,
            angular_velocity: measured[0].rotation * t.start.angular_velocity,
            measured,
        }
    }
}
