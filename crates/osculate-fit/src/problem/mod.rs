//! Pose-trajectory residuals of simulated against measured tosses, with exact Jacobians.
//!
//! ```text
//! r = ( √(w_p/n) (p_sim − p) , √(w_R/n) log(R_simᵀ… R) )   each observed frame of a toss of n observed frames
//! ```
//!
//! A toss is one block of the least-squares problem. Its own parameters are the initial states of its segments:
//! none (a roll-out from the recorded start), its velocities or all of it, with a prior around the recorded start.

mod along;
mod residuals;
mod segments;

pub use along::{Along, Projection};

use crate::least_squares::{BlockProblem, BlockResiduals};
use crate::parameter::{FreeParameter, ParameterError, resolve};
use nalgebra::Vector3;
use osculate_dynamics::{Layout, Parameters, RunError, Scene, SceneError, Settings, Simulator};
use osculate_math::se3::Pose;
use segments::{Segments, own_parameters};

/// Weights of the residuals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// `w_p`, weight of a squared distance (1/m²).
    pub position: f64,
    /// `w_R`, weight of a squared angle (1/rad²).
    pub rotation: f64,
    /// Divide by the number of observed frames: every toss counts alike, however long it is.
    pub per_frame_mean: bool,
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

/// Standard deviations of the prior around the recorded start; `None` keeps that part fixed.
///
/// A prior on position or rotation stands for the measurement of the first frame, which then has no residual of its own.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct InitialState {
    /// Of the position (m).
    pub position: Option<f64>,
    /// Of the rotation (rad).
    pub rotation: Option<f64>,
    /// Of the velocity (m/s).
    pub velocity: Option<f64>,
    /// Of the angular velocity (rad/s).
    pub angular_velocity: Option<f64>,
}

impl InitialState {
    pub(super) fn sigmas(&self) -> [Option<f64>; 4] {
        [self.position, self.rotation, self.velocity, self.angular_velocity]
    }

    /// Everything free, held together by continuity alone.
    pub(super) const FREE: Self = Self {
        position: Some(f64::INFINITY),
        rotation: Some(f64::INFINITY),
        velocity: Some(f64::INFINITY),
        angular_velocity: Some(f64::INFINITY),
    };
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
}

/// What is fitted to the tosses.
#[derive(Clone, Debug)]
pub struct Model {
    /// The scene; pose and velocities of the tracked body are those of the toss.
    pub scene: Scene,
    /// How it is simulated.
    pub settings: Settings,
    /// Index of the tracked body.
    pub body: usize,
    /// Steps between two frames.
    pub substeps: usize,
}

/// The identification problem.
pub struct Problem {
    model: Model,
    weights: Weights,
    parameters: Vec<FreeParameter>,
    /// Layout index of each free parameter.
    indices: Vec<usize>,
    layout: Layout,
    base: Parameters,
    /// Values of the free parameters in the scene.
    base_values: Vec<f64>,
    tosses: Vec<Segments>,
    /// Layout indices of the own parameters of a segment, each with its prior's standard deviation.
    own: Vec<(usize, f64)>,
}

/// Why a problem cannot be set up or evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// A toss could not be simulated.
    #[error("toss {id}: {source}")]
    Run {
        /// Number of the toss.
        id: u32,
        /// Why.
        source: RunError,
    },
    /// The scene is not valid for a toss.
    #[error("toss {id}: {source}")]
    Scene {
        /// Number of the toss.
        id: u32,
        /// Why.
        source: SceneError,
    },
    /// A free parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// There are no tosses.
    #[error("no tosses to fit")]
    NoTosses,
    /// A toss has no motion to compare.
    #[error("toss {id}: {frames} frames from the start of the roll-out, at least 2 are needed")]
    TooShort {
        /// Number of the toss.
        id: u32,
        /// Frames found.
        frames: usize,
    },
    /// The tracked body does not move.
    #[error("body '{body}' is static: only a dynamic body can be fitted to a trajectory")]
    Static {
        /// Its name.
        body: String,
    },
}

impl Model {
    /// Roll-out of a stretch of a toss from a pose and velocities of the local frame.
    pub(crate) fn simulator(
        &self,
        toss: &Toss,
        frames: std::ops::Range<usize>,
        start: (&Pose, Vector3<f64>, Vector3<f64>),
    ) -> Result<Simulator, SceneError> {
        let mut scene = self.scene.clone();
        let (pose, velocity, spin) = start;
        let body = &mut scene.bodies[self.body];
        body.pose = *pose;
        body.angular_velocity = spin;
        body.velocity = velocity + spin.cross(&(pose.rotation * body.center()));
        let mut durations = Vec::with_capacity((frames.len() - 1) * self.substeps);
        for k in frames.start + 1..frames.end {
            let dt = (toss.times[k] - toss.times[k - 1]) / self.substeps as f64;
            durations.extend(std::iter::repeat_n(dt, self.substeps));
        }
        Simulator::new(scene, self.settings, durations)
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
        let body = &model.scene.bodies[model.body];
        if !body.is_dynamic() {
            return Err(ProblemError::Static { body: body.name.clone() });
        }
        let base = Parameters::of(&model.scene);
        let layout = Layout::new(&model.scene, &base);
        let indices = resolve(&layout, parameters)?;
        let values = layout.values(&base);
        let free: Vec<FreeParameter> =
            parameters.iter().filter(|p| !p.profile_only).cloned().collect();
        let indices: Vec<usize> = indices
            .into_iter()
            .zip(parameters)
            .filter_map(|(i, p)| (!p.profile_only).then_some(i))
            .collect();
        let shooting = matches!(horizon, Horizon::MultipleShooting { .. });
        let own = own_parameters(
            &layout,
            &body.name,
            if shooting { &InitialState::FREE } else { &initial },
        );
        let base_values = indices.iter().map(|&i| values[i]).collect();
        // A prior on the initial pose is the measurement of the first frame: it must not count twice.
        let prior_is_first_frame =
            !shooting && (initial.position.is_some() || initial.rotation.is_some());
        let tosses = tosses
            .into_iter()
            .map(|mut t| {
                if prior_is_first_frame && !t.observed.is_empty() {
                    t.observed[0] = false;
                }
                Segments::new(&model, t, horizon)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            model,
            weights,
            parameters: free,
            indices,
            layout,
            base,
            base_values,
            tosses,
            own,
        })
    }

    /// The free parameters.
    pub fn parameters(&self) -> &[FreeParameter] {
        &self.parameters
    }

    /// Unit of a free parameter.
    pub fn unit(&self, i: usize) -> &'static str {
        self.layout.entries()[self.indices[i]].unit
    }

    /// Value in the scene of a parameter by path.
    pub fn scene_value(&self, path: &str) -> Option<f64> {
        self.layout.index(path).map(|i| self.layout.values(&self.base)[i])
    }

    /// Own parameters at the recorded start: increments, so all zero.
    pub fn own_start(&self) -> Vec<Vec<f64>> {
        self.tosses.iter().map(|t| vec![0.0; t.simulators.len() * self.own.len()]).collect()
    }

    /// Roll-out of a toss from its start, through all its segments where it has several: measured and simulated poses of
    /// the local frame at the frames, and how many stages did not converge.
    ///
    /// # Errors
    /// Where a step fails.
    pub fn roll_out(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<RollOut, ProblemError> {
        let segments = &self.tosses[block];
        let own_count = self.own.len();
        let simulator = segments.whole.as_ref().unwrap_or(&segments.simulators[0]);
        let parameters =
            self.at::<f64>(simulator, shared, &own[..own_count.min(own.len())], |_| 0.0);
        let trajectory = simulator
            .run(&parameters)
            .map_err(|source| ProblemError::Run { id: segments.toss.id, source })?;
        let center = self.model.scene.bodies[self.model.body].center();
        let simulated: Vec<Pose> = (0..=simulator.steps())
            .step_by(self.model.substeps)
            .map(|k| {
                let y = trajectory.path.state(k)[self.model.body].kinematics(&center);
                Pose { position: y.position, rotation: y.rotation }
            })
            .collect();
        Ok(RollOut {
            id: segments.toss.id,
            times: segments.toss.times[..simulated.len()].to_vec(),
            measured: segments.toss.measured[..simulated.len()].to_vec(),
            simulated,
            unconverged: trajectory.unconverged(),
        })
    }
}

impl BlockProblem for Problem {
    type Error = ProblemError;

    fn blocks(&self) -> usize {
        self.tosses.len()
    }

    fn evaluate(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ProblemError> {
        self.block(block, shared, own, jacobian)
            .map_err(|source| ProblemError::Run { id: self.tosses[block].toss.id, source })
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
    /// Stages that did not converge.
    pub unconverged: usize,
}
