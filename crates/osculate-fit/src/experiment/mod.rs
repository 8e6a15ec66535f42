//! Experiment files: which scene, which data, what is free, how it is fitted. Documented in `docs/experiment.md`.

mod channel;
mod check;
mod doubts;
mod error;
mod file;
mod refuse;
mod series;

pub use channel::{Axis, ChannelFile, ChannelKind, Sigma};
pub use doubts::Doubt;
pub use error::ExperimentError;
pub use file::{
    ExperimentFile, InitialStateFile, JointPriorFile, Loss, MultiStart, PartName, ProfileFile,
    StageFile, TrustFile,
};
pub(crate) use refuse::Refuse;

use crate::contact_model::Entry;
use crate::fit::{Algorithm, Designs, Plan, StagePlan};
use crate::identify::{BootstrapPlan, ProfilePlan};
use crate::noise;
use crate::problem::{
    Horizon, InitialState, JointPrior, Model, ModelSettings, Problem, ProblemError, Toss, Weights,
    hangs_on, per_group, starts_by_joints,
};
use crate::recording::{Dataset, Part};
use crate::trust::Extent;
use check::Check;
pub(crate) use file::parse;
use file::{default_iterations, default_simplex};
use osculate_dynamics::OnFailure;
use osculate_dynamics::file::{BuiltScene, SceneFile, Source};
use osculate_dynamics::impulse::ImpulseSettings;
use std::path::{Path, PathBuf};

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

fn read(path: &Path) -> Result<String, ExperimentError> {
    osculate_dynamics::file::read_text(path)
        .map_err(|source| ExperimentError::Read { file: path.to_owned(), source })
}

/// One solve that fails must not lose a fit; the report counts them.
fn settings(built: &BuiltScene) -> ModelSettings {
    let on_failure = OnFailure::Continue;
    match &built.impulse {
        Some(simulator) => {
            ModelSettings::Impulse(ImpulseSettings { on_failure, ..*simulator.settings() })
        }
        None => {
            let mut settings = *built.simulator.settings();
            settings.newton.on_failure = on_failure;
            ModelSettings::Compliant(settings)
        }
    }
}

/// The prior that a file says.
fn prior(s: &InitialStateFile) -> InitialState {
    let joint = |(name, j): (&String, &JointPriorFile)| JointPrior {
        joint: name.clone(),
        position: j.position_sigma,
        rate: j.rate_sigma,
    };
    InitialState {
        position: s.position_sigma,
        rotation: s.rotation_sigma_deg.map(f64::to_radians),
        velocity: s.velocity_sigma,
        angular_velocity: s.angular_velocity_sigma,
        joints: s.joints.iter().map(joint).collect(),
    }
}

impl Experiment {
    /// Reads an experiment and its scene.
    ///
    /// # Errors
    /// Where one of the files is wrong.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let text = read(path)?;
        let file = ExperimentFile::parse(&text, path)?;
        let check = Check::new(&file, Source::new(path, &text));
        check.values()?;
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        let scene_path = folder.join(&file.scene);
        check.scene(&scene_path)?;
        let built = SceneFile::load(&scene_path)?;
        let scene = built.simulator.scene().clone();
        let body = check.body(&scene)?;
        let channels = channel::channels(&file, &check, &scene)?;
        let (settings, substeps) = (settings(&built), file.substeps);
        let model = Model { scene, settings, body, substeps, channels };
        if !starts_by_joints(&model) {
            check.tracked(hangs_on(&model.scene, body))?;
        }
        check.prior(&model.scene, body)?;
        let numbers = model
            .numbers()
            .map_err(|source| ExperimentError::Body { file: path.to_owned(), source })?;
        let entries: Vec<Entry> = numbers.into_iter().map(|(entry, _)| entry).collect();
        check.parameters(&entries)?;
        check.nuisances(&entries)?;
        Ok(Self { file, path: path.to_owned(), model })
    }

    /// The scene that a file names where it is an experiment, whatever else is in it; none where it is not.
    ///
    /// # Errors
    /// Where the file cannot be read or is not TOML.
    pub fn scene_of(path: &Path) -> Result<Option<PathBuf>, ExperimentError> {
        let text = read(path)?;
        let table: toml::Table = file::parse(&text, path)?;
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        Ok(table.get("scene").and_then(|scene| scene.as_str()).map(|scene| folder.join(scene)))
    }

    /// Folder of the recordings.
    pub fn data_folder(&self, override_with: Option<&Path>) -> PathBuf {
        let folder = self.path.parent().unwrap_or_else(|| Path::new("."));
        override_with.map_or_else(|| folder.join(&self.file.data), Path::to_owned)
    }

    /// The tosses of a part, from the frames their roll-outs start at.
    ///
    /// # Errors
    /// Where a recording is wrong, or the part has no tosses.
    pub fn tosses(&self, data: &Dataset, part: Part) -> Result<Vec<Toss>, ExperimentError> {
        if data.part(part)?.is_empty() {
            let count =
                |p: Part| data.part(p).ok().map(|ids| format!("{} in {}", ids.len(), p.name()));
            let counts: Vec<String> = [Part::Train, Part::Valid, Part::Test, Part::All]
                .into_iter()
                .filter_map(count)
                .collect();
            let name = if part == Part::All { "metadata.json" } else { "split.json" };
            return Err(ExperimentError::EmptyPart {
                file: data.folder().join(name),
                part: part.name(),
                counts: counts.join(", "),
            });
        }
        let tosses = data.load_part(part)?.into_iter().map(|t| self.toss(t));
        let tosses = tosses.map(|t| t.map_err(|e| e.in_recording(data)));
        let tosses = tosses.collect::<Result<Vec<_>, _>>()?;
        self.labels(&tosses, data)?;
        Ok(tosses)
    }

    /// Every toss has the labels that parameters go by.
    fn labels(&self, tosses: &[Toss], data: &Dataset) -> Result<(), ExperimentError> {
        for p in &self.file.parameters {
            let Some(label) = &p.per else { continue };
            let Some(toss) = tosses.iter().find(|t| t.label(label).is_none()) else { continue };
            let known: Vec<&str> = toss.labels.keys().map(String::as_str).collect();
            return Err(ExperimentError::Label {
                file: data.folder().join("metadata.json"),
                id: toss.id,
                label: label.clone(),
                path: p.path.clone(),
                known: if known.is_empty() { "none".into() } else { known.join(", ") },
            });
        }
        Ok(())
    }

    /// The tosses to fit: of the part that the file names, or all where the folder has no split and nothing is held out.
    ///
    /// # Errors
    /// As [`Experiment::tosses`].
    pub fn tosses_to_fit(&self, data: &Dataset) -> Result<Vec<Toss>, ExperimentError> {
        self.tosses(data, if data.has_split() { self.file.part.into() } else { Part::All })
    }

    /// What fixed parameters are judged by: roll-outs of whole tosses from their recorded starts.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    pub fn judged(&self, tosses: Vec<Toss>, half_side: f64) -> Result<Problem, ProblemError> {
        let (model, free) = (self.model.clone(), &self.file.parameters);
        let weights = self.weights(half_side);
        Problem::new(model, tosses, free, weights, Horizon::Full, InitialState::default())
    }

    /// Tosses whose initial states and nuisance parameters are to be estimated with the shared parameters held: the
    /// horizons of the stages, growing, the whole toss last. None where nothing is uncertain.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    pub fn with_own(
        &self,
        tosses: &[Toss],
        half_side: f64,
    ) -> Result<Option<Vec<Problem>>, ProblemError> {
        let initial = self.initial_state();
        if initial == InitialState::default() && self.file.nuisances.is_empty() {
            return Ok(None);
        }
        let mut frames: Vec<usize> = self.file.stages.iter().filter_map(|s| s.frames).collect();
        frames.sort_unstable();
        frames.dedup();
        let horizons = frames.into_iter().map(|frames| Horizon::Short { frames });
        let problem = |horizon| {
            let (model, free) = (self.model.clone(), &self.file.parameters);
            let weights = self.weights(half_side);
            Problem::new(model, tosses.to_vec(), free, weights, horizon, initial.clone())?
                .with_nuisances(&self.file.nuisances)
        };
        horizons.chain([Horizon::Full]).map(problem).collect::<Result<_, _>>().map(Some)
    }

    /// Weights of the loss, for a cube of a half side (m).
    pub fn weights(&self, half_side: f64) -> Weights {
        let robust = self.file.robust;
        match self.file.loss {
            Loss::Baseline => {
                Weights { position: 1.0 / half_side, rotation: 1.0, per_frame_mean: true, robust }
            }
            Loss::Noise { position_sigma, rotation_sigma_deg } => Weights {
                position: position_sigma.powi(-2),
                rotation: rotation_sigma_deg.to_radians().powi(-2),
                per_frame_mean: false,
                robust,
            },
            Loss::Channels { per_frame_mean } => {
                Weights { position: 1.0, rotation: 1.0, per_frame_mean, robust }
            }
        }
    }

    /// Prior of the initial states.
    pub fn initial_state(&self) -> InitialState {
        prior(&self.file.initial_state)
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
            designs: s.designs(),
        });
        let mut stages: Vec<StagePlan> = stages.collect();
        if stages.is_empty() {
            stages.push(StagePlan {
                horizon: Horizon::Full,
                algorithm: Algorithm::LevenbergMarquardt,
                iterations: default_iterations(),
                simplex: default_simplex(),
                free: Vec::new(),
                designs: Designs::default(),
            });
        }
        let mut model = self.model.clone();
        let sigmas = noise::first_sigmas(&model.channels, &tosses);
        model.channels.iter_mut().zip(sigmas).for_each(|(c, sigma)| c.sigma = sigma);
        Plan {
            model,
            parameters: per_group(&self.file.parameters, &tosses),
            tosses,
            weights: self.weights(half_side),
            initial: self.initial_state(),
            nuisances: self.file.nuisances.clone(),
            stages,
            starts: self.file.multistart.starts,
            seed: self.file.multistart.seed,
        }
    }

    /// How much is asked about derivatives.
    pub fn trust_extent(&self) -> Extent {
        Extent { tosses: self.file.trust.tosses, grids: self.file.trust.grids }
    }

    /// The plan of the bootstrap.
    pub fn bootstrap_plan(&self) -> BootstrapPlan {
        let b = self.file.bootstrap;
        BootstrapPlan { resamples: b.resamples, iterations: b.iterations, seed: b.seed }
    }

    /// The plan of the profiles.
    pub fn profile_plan(&self) -> ProfilePlan {
        ProfilePlan {
            points: self.file.profile.points,
            iterations: self.file.profile.iterations,
            known_noise: matches!(
                self.file.loss,
                Loss::Noise { .. } | Loss::Channels { per_frame_mean: false }
            ),
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
            joints: Vec::new(),
            others: Vec::new(),
            series: Vec::new(),
            labels: t.labels,
        }
    }
}
