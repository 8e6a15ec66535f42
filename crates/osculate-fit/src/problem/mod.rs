//! Residuals of simulated against measured tosses, with exact Jacobians.
//!
//! ```text
//! r = ( √(w_p/n) (p_sim − p) , √(w_R/n) log(R_sim Rᵀ) )      each observed frame of a toss of n observed frames
//! r = (reading − record)/σ                                  each record of each channel, where the model has channels
//! ```
//!
//! A toss is one block of the least-squares problem. Its own parameters are the initial states of its segments:
//! none (a roll-out from the recorded start), its velocities or all of it, with a prior around the recorded start.

mod along;
mod channel;
mod error;
mod groups;
mod observe;
mod prior;
mod residuals;
mod segments;
mod start;
mod typed;

pub use along::Along;
pub use channel::{BodyStart, Channel, JointStart, Quantity, Sample};
pub use error::ProblemError;
pub use groups::per_group;
pub use prior::{InitialState, JointPrior, PriorError};
pub use typed::numbers;

use crate::contact_model::{Entry, ModelError};
use crate::least_squares::{BlockProblem, BlockResiduals};
use crate::nuisance::Nuisance;
use crate::parameter::{FreeParameter, ParameterError, RECORDING};
use crate::robust::Robust;
use nalgebra::Vector3;
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseSimulator};
use osculate_dynamics::{Scene, SceneError, Settings, Simulator};
use osculate_math::se3::Pose;
pub(crate) use start::{hangs_on, start_poses, starts_by_joints};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use typed::Stretch;
use typed::{Tosses, Typed};

/// Weights of the residuals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// `w_p`, weight of a squared distance (1/m²).
    pub position: f64,
    /// `w_R`, weight of a squared angle (1/rad²).
    pub rotation: f64,
    /// Divide by the number of observed frames: every toss counts alike, however long it is.
    pub per_frame_mean: bool,
    /// Records that are far off count less; of residuals in units of their noise, and so not of means.
    pub robust: Option<Robust>,
}

/// How far a roll-out goes before it starts again from data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// One roll-out to the end.
    Full,
    /// Only the first frames.
    Short {
        /// How many frames after the start.
        frames: usize,
    },
    /// Segments with initial states of their own, tied by continuity.
    MultipleShooting {
        /// Frames of a segment.
        frames: usize,
    },
}

/// One measured toss, from the frame the roll-out starts at.
#[derive(Clone, Debug, PartialEq)]
pub struct Toss {
    /// Number in its data set.
    pub id: u32,
    /// Times of the frames (s).
    pub times: Vec<f64>,
    /// Measured poses of the body's local frame; the first is the start of the roll-out.
    pub measured: Vec<Pose>,
    /// Frames that count.
    pub observed: Vec<bool>,
    /// Velocity of the local origin at the start (m/s), world.
    pub velocity: Vector3<f64>,
    /// Angular velocity at the start (rad/s), world.
    pub angular_velocity: Vector3<f64>,
    /// Where joints start; those that are not here start as in the scene.
    pub joints: Vec<JointStart>,
    /// Where free bodies other than the tracked one start; those that are not here start as in the scene.
    pub others: Vec<BodyStart>,
    /// Records of each channel of the model at each frame; none where nothing was measured.
    pub series: Vec<Vec<Option<Sample>>>,
    /// What the recording shares with others, such as the board it was made on.
    pub labels: BTreeMap<String, String>,
}

impl Toss {
    /// Value of a label; the number of the toss for [`RECORDING`].
    pub fn label(&self, label: &str) -> Option<String> {
        if label == RECORDING { Some(self.id.to_string()) } else { self.labels.get(label).cloned() }
    }
}

/// The contact model, and how it is solved.
#[derive(Clone, Copy, Debug)]
pub enum ModelSettings {
    /// Tractions over surfaces.
    Compliant(Settings),
    /// Impulses at contact points.
    Impulse(ImpulseSettings),
}

/// What is fitted to the tosses.
#[derive(Clone, Debug)]
pub struct Model {
    /// The scene; pose and velocities of the tracked body are those of the toss.
    pub scene: Scene,
    /// How it is simulated.
    pub settings: ModelSettings,
    /// Index of the tracked body.
    pub body: usize,
    /// Steps between two frames.
    pub substeps: usize,
    /// What is compared; where empty the pose of the tracked body.
    pub channels: Vec<Channel>,
}

/// The identification problem.
pub struct Problem {
    parameters: Vec<FreeParameter>,
    /// The tosses under the model of the scene.
    tosses: Box<dyn Tosses>,
    /// Once true, evaluations stop with an error.
    interrupt: Arc<AtomicBool>,
}

/// Runs an expression with the model as a [`Stretch`] of its own type.
macro_rules! under_its_model {
    ($model:expr, $stretch:ident => $result:expr) => {{
        let Model { scene, settings, body, substeps, channels } = $model;
        match settings {
            ModelSettings::Compliant(settings) => {
                let $stretch = Stretch::<Simulator> { scene, settings, body, substeps, channels };
                $result
            }
            ModelSettings::Impulse(settings) => {
                let $stretch =
                    Stretch::<ImpulseSimulator> { scene, settings, body, substeps, channels };
                $result
            }
        }
    }};
}
pub(crate) use under_its_model;

impl Model {
    /// The numbers of the scene: paths, units and values.
    ///
    /// # Errors
    /// Where the scene is not valid.
    pub fn numbers(&self) -> Result<Vec<(Entry, f64)>, SceneError> {
        under_its_model!(self.clone(), stretch => stretch.numbers())
    }

    /// What the channels of the model read of a toss rolled out with the numbers of the scene, against its records.
    ///
    /// # Errors
    /// Where the scene or the toss is wrong, or the roll-out fails.
    pub fn roll_out(&self, toss: Toss) -> Result<RollOut, ProblemError> {
        let weights = Weights { position: 1.0, rotation: 1.0, per_frame_mean: false, robust: None };
        let how = (Horizon::Full, InitialState::default());
        let problem = under_its_model!(self.clone(), stretch => {
            Typed::problem(stretch, vec![toss], &[], weights, how)
        })?;
        problem.roll_out(0, &[], &[])
    }
}

impl Problem {
    /// Sets up the roll-outs of every toss.
    ///
    /// # Errors
    /// Where a parameter, the scene or a toss is wrong.
    pub fn new(
        model: Model,
        tosses: Vec<Toss>,
        parameters: &[FreeParameter],
        weights: Weights,
        horizon: Horizon,
        initial: InitialState,
    ) -> Result<Self, ProblemError> {
        if tosses.is_empty() {
            return Err(ProblemError::NoTosses);
        }
        if parameters.iter().all(|p| p.profile_only) {
            return Err(ParameterError::None.into());
        }
        let body = &model.scene.bodies[model.body];
        if !body.is_dynamic() {
            return Err(ProblemError::Static { body: body.name.clone() });
        }
        if let Some(parent) = hangs_on(&model.scene, model.body)
            && !starts_by_joints(&model)
        {
            let (body, parent) = (body.name.clone(), parent.to_owned());
            return Err(ProblemError::Hangs { body, parent });
        }
        if !model.channels.is_empty() && matches!(horizon, Horizon::MultipleShooting { .. }) {
            return Err(ProblemError::ShootingChannels);
        }
        initial.check(&model.scene, model.body)?;
        for t in &tosses {
            let (expected, frames) = (model.channels.len(), t.measured.len());
            let found = t.series.iter().filter(|s| s.len() == frames).count();
            if found != expected || t.series.len() != expected {
                return Err(ProblemError::Series { id: t.id, found, expected, frames });
            }
        }
        let how = (horizon, initial);
        if parameters.iter().any(|p| p.per.is_some()) {
            return groups::problem(&model, tosses, parameters, weights, how);
        }
        under_its_model!(model, stretch => Typed::problem(stretch, tosses, parameters, weights, how))
    }

    /// With numbers that are another in each toss.
    ///
    /// # Errors
    /// Where one names nothing, or what is free already, or tosses are cut into segments.
    pub fn with_nuisances(mut self, nuisances: &[Nuisance]) -> Result<Self, ProblemError> {
        self.tosses.add_own(nuisances)?;
        Ok(self)
    }

    /// The same problem; once `flag` is true its roll-outs and their derivatives stop with an error.
    #[must_use]
    pub fn interrupted_by(mut self, flag: &Arc<AtomicBool>) -> Self {
        self.tosses.interrupt_by(flag);
        self.interrupt = Arc::clone(flag);
        self
    }

    /// A prior of a shared parameter stands in every toss that has it, and is one residual: rows beyond that.
    pub(crate) fn repeated_prior_rows(&self) -> usize {
        let priors = self.parameters.iter().filter(|p| p.prior.is_some()).count();
        self.tosses.prior_rows() - priors
    }

    /// Paths of the own parameters of a toss, each with the standard deviation of its prior.
    pub fn own_sigmas(&self) -> Vec<(String, f64)> {
        self.tosses.own_sigmas()
    }

    /// The free parameters.
    pub fn parameters(&self) -> &[FreeParameter] {
        &self.parameters
    }

    /// Unit of a free parameter.
    pub fn unit(&self, i: usize) -> &'static str {
        self.tosses.unit(i)
    }

    /// Value in the scene of a parameter by path.
    pub fn scene_value(&self, path: &str) -> Option<f64> {
        let free = self.parameters.iter().find(|p| p.path == path);
        self.tosses.scene_value(free.map_or(path, FreeParameter::scene_path))
    }

    /// The channels that are compared.
    pub fn channels(&self) -> &[Channel] {
        self.tosses.channels()
    }

    /// Unit of each channel.
    pub fn channel_units(&self) -> Vec<&'static str> {
        self.tosses.channel_units()
    }

    /// Number of a toss in its data set.
    pub fn toss_id(&self, block: usize) -> u32 {
        self.tosses.toss_id(block)
    }

    /// Own parameters at the recorded start: increments, so all zero.
    pub fn own_start(&self) -> Vec<Vec<f64>> {
        self.tosses.own_start()
    }

    /// Roll-out of a toss from its start, through all its segments where it has several: measured and simulated poses of
    /// the local frame at the frames, and how many solves did not converge.
    ///
    /// # Errors
    /// Where a step fails.
    pub fn roll_out(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<RollOut, ProblemError> {
        self.tosses.roll_out(block, shared, own).map_err(|source| self.failed(block, source))
    }

    /// For every free parameter, the motion of a toss along its own change; none where nothing changes.
    ///
    /// Of a toss in segments, the one that changes most.
    ///
    /// # Errors
    /// Where the roll-out fails.
    pub fn along(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<Vec<Option<Along<'_>>>, ProblemError> {
        self.tosses.along(block, shared, own).map_err(|source| self.failed(block, source))
    }

    fn failed(&self, block: usize, source: ModelError) -> ProblemError {
        ProblemError::Run { id: self.toss_id(block), source }
    }
}

impl BlockProblem for Problem {
    type Error = ProblemError;

    fn blocks(&self) -> usize {
        self.tosses.blocks()
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn evaluate(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ProblemError> {
        self.tosses
            .residuals(block, shared, own, jacobian)
            .map_err(|source| self.failed(block, source))
    }
}

/// A simulated toss beside the measured one.
#[derive(Clone, Debug, PartialEq)]
pub struct RollOut {
    /// Number of the toss.
    pub id: u32,
    /// Times of the frames (s).
    pub times: Vec<f64>,
    /// Measured poses.
    pub measured: Vec<Pose>,
    /// Simulated poses.
    pub simulated: Vec<Pose>,
    /// Of each channel the distance of reading and record at each frame that has one, in its unit: time and readings less records.
    pub channels: Vec<Vec<(f64, Vector3<f64>)>>,
    /// Solves (stages; steps of the impulse model) that did not converge.
    pub unconverged: usize,
}
