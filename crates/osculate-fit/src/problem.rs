//! Pose-trajectory residuals of simulated against measured tosses, with exact Jacobians.
//!
//! ```text
//! r = ( √(w_p/n) (p_sim − p) , √(w_R/n) log(R_simᵀ… R) )   each observed frame of a toss of n observed frames
//! ```
//!
//! A toss is one block of the least-squares problem. Its own parameters are the initial states of its segments:
//! none (a roll-out from the recorded start), its velocities or all of it, with a prior around the recorded start.

use crate::least_squares::{BlockProblem, BlockResiduals};
use crate::parameter::{FreeParameter, ParameterError, resolve};
use nalgebra::{DMatrix, DVector, Vector3};
use osculate_dynamics::sensitivity::tangent;
use osculate_dynamics::{
    BodyState, Layout, Parameters, RunError, Scene, SceneError, Settings, Simulator, Trajectory,
};
use osculate_math::{Jet, Scalar, se3::Pose, so3};

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
    fn sigmas(&self) -> [Option<f64>; 4] {
        [self.position, self.rotation, self.velocity, self.angular_velocity]
    }

    /// Everything free, held together by continuity alone.
    const FREE: Self = Self {
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

/// A toss cut into segments.
struct Segments {
    toss: Toss,
    simulators: Vec<Simulator>,
    /// The toss in one piece, where it is cut into several.
    whole: Option<Simulator>,
    /// First frame of each segment, and the end.
    cuts: Vec<usize>,
}

/// Standard deviation of the continuity of segments, relative to a residual of one: tight against data.
const CONTINUITY: [f64; 4] = [1e-4, 1e-3, 1e-3, 1e-2];

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

    /// The parameters of a segment; `seed(i)` adds derivatives to shared (first) and own parameters.
    fn at<T: Scalar>(
        &self,
        simulator: &Simulator,
        shared: &[f64],
        own: &[f64],
        seed: impl Fn(usize) -> T,
    ) -> Parameters<T> {
        let mut p = simulator.parameters().lift::<T>();
        for (i, &u) in shared.iter().enumerate() {
            let q = &self.parameters[i];
            let moved = T::from(q.to_value(u) - self.base_values[i]) + seed(i) * q.slope(u);
            self.layout.add(&mut p, self.indices[i], moved);
        }
        for (k, ((index, _), &l)) in self.own.iter().zip(own).enumerate() {
            self.layout.add(&mut p, *index, T::from(l) + seed(shared.len() + k));
        }
        p
    }

    /// Residuals of one segment in the scalar of a path.
    fn residuals<T: Scalar>(
        &self,
        segments: &Segments,
        segment: usize,
        state: impl Fn(usize) -> BodyState<T>,
        center: &Vector3<T>,
        out: &mut Vec<T>,
    ) {
        let toss = &segments.toss;
        let observed = toss.observed.iter().filter(|o| **o).count().max(1) as f64;
        let mean = if self.weights.per_frame_mean { observed } else { 1.0 };
        let (wp, wr) =
            ((self.weights.position / mean).sqrt(), (self.weights.rotation / mean).sqrt());
        let first = segments.cuts[segment];
        // A frame shared by two segments belongs to the later one.
        let last = segments.cuts[segment + 1];
        for frame in (first..last).filter(|&f| toss.observed[f]) {
            let y = state((frame - first) * self.model.substeps).kinematics(center);
            let measured = &toss.measured[frame];
            let turn = so3::log(&(y.rotation * measured.rotation.map(T::from).transpose()));
            for k in 0..3 {
                out.push((y.position[k] - measured.position[k]) * wp);
            }
            for k in 0..3 {
                out.push(turn[k] * wr);
            }
        }
    }

    /// Residuals of a toss in jets along `M` directions starting at `first` (shared, then own of each segment).
    fn block_in_jets<const M: usize>(
        &self,
        segments: &Segments,
        trajectories: &[Trajectory],
        (shared, own): (&[f64], &[f64]),
        first: usize,
    ) -> Result<Vec<Jet<M>>, RunError> {
        let (n, body, per) = (shared.len(), self.model.body, self.own.len());
        let mut out = Vec::new();
        let mut ends: Vec<BodyState<Jet<M>>> = Vec::new();
        let mut starts: Vec<BodyState<Jet<M>>> = Vec::new();
        for (s, simulator) in segments.simulators.iter().enumerate() {
            let seed = |i: usize| {
                let column = if i < n { i } else { i + s * per };
                match column.checked_sub(first) {
                    Some(d) if d < M => Jet::<M>::variable(0.0, d),
                    _ => Jet::<M>::constant(0.0),
                }
            };
            let p = self.at::<Jet<M>>(simulator, shared, &own[s * per..(s + 1) * per], seed);
            let path = tangent::path(simulator, &trajectories[s], &p)?;
            let center = p.bodies[body].center;
            self.residuals(segments, s, |k| path.state(k)[body], &center, &mut out);
            starts.push(path.state(0)[body]);
            ends.push(path.state(simulator.steps())[body]);
        }
        self.push_priors(
            own,
            segments,
            |k| match (n + k).checked_sub(first) {
                Some(d) if d < M => Jet::<M>::variable(own[k], d),
                _ => Jet::<M>::constant(own[k]),
            },
            &mut out,
        );
        push_continuity(&starts, &ends, &mut out);
        Ok(out)
    }

    fn push_priors<T: Scalar>(
        &self,
        own: &[f64],
        segments: &Segments,
        value: impl Fn(usize) -> T,
        out: &mut Vec<T>,
    ) {
        if segments.simulators.len() > 1 {
            return;
        }
        for (k, _) in own.iter().enumerate() {
            let sigma = self.own[k % self.own.len()].1;
            if sigma.is_finite() {
                out.push(value(k) / sigma);
            }
        }
    }

    fn block(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, RunError> {
        let (segments, body, per) = (&self.tosses[block], self.model.body, self.own.len());
        let (mut values, mut trajectories) = (Vec::new(), Vec::new());
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (s, simulator) in segments.simulators.iter().enumerate() {
            let p = self.at::<f64>(simulator, shared, &own[s * per..(s + 1) * per], |_| 0.0);
            let trajectory = simulator.run(&p)?;
            let center = p.bodies[body].center;
            self.residuals(segments, s, |k| trajectory.path.state(k)[body], &center, &mut values);
            starts.push(trajectory.path.state(0)[body]);
            ends.push(trajectory.path.state(simulator.steps())[body]);
            trajectories.push(trajectory);
        }
        self.push_priors(own, segments, |k| own[k], &mut values);
        push_continuity(&starts, &ends, &mut values);
        let (rows, n) = (values.len(), shared.len());
        let mut all = DMatrix::zeros(if jacobian { rows } else { 0 }, n + own.len());
        if jacobian {
            self.fill_jacobian(segments, &trajectories, (shared, own), &mut all)?;
        }
        Ok(BlockResiduals {
            residuals: DVector::from_vec(values),
            shared: all.columns(0, n).into_owned(),
            own: all.columns(n, own.len()).into_owned(),
        })
    }

    fn fill_jacobian(
        &self,
        segments: &Segments,
        trajectories: &[Trajectory],
        at: (&[f64], &[f64]),
        all: &mut DMatrix<f64>,
    ) -> Result<(), RunError> {
        let mut first = 0;
        while first < all.ncols() {
            let left = all.ncols() - first;
            first += match left {
                1 => self.fill::<1>(segments, trajectories, at, first, all)?,
                2 => self.fill::<2>(segments, trajectories, at, first, all)?,
                3 => self.fill::<3>(segments, trajectories, at, first, all)?,
                4 | 5 => self.fill::<4>(segments, trajectories, at, first, all)?,
                6 | 7 => self.fill::<6>(segments, trajectories, at, first, all)?,
                _ => self.fill::<8>(segments, trajectories, at, first, all)?,
            };
        }
        Ok(())
    }

    fn fill<const M: usize>(
        &self,
        segments: &Segments,
        trajectories: &[Trajectory],
        at: (&[f64], &[f64]),
        first: usize,
        all: &mut DMatrix<f64>,
    ) -> Result<usize, RunError> {
        let jets = self.block_in_jets::<M>(segments, trajectories, at, first)?;
        for (row, jet) in jets.iter().enumerate() {
            for (d, e) in jet.eps.iter().enumerate() {
                all[(row, first + d)] = *e;
            }
        }
        Ok(M)
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

impl Segments {
    fn new(model: &Model, toss: Toss, horizon: Horizon) -> Result<Self, ProblemError> {
        let frames = toss.measured.len();
        if frames < 2 {
            return Err(ProblemError::TooShort { id: toss.id, frames });
        }
        let cuts: Vec<usize> = match horizon {
            Horizon::Full => vec![0, frames],
            Horizon::Short { frames: h } => vec![0, frames.min(h.max(1) + 1)],
            Horizon::MultipleShooting { frames: h } => {
                let mut cuts: Vec<usize> = (0..frames - 1).step_by(h.max(1)).collect();
                cuts.push(frames);
                cuts
            }
        };
        let simulate = |frames, start| {
            model
                .simulator(&toss, frames, start)
                .map_err(|source| ProblemError::Scene { id: toss.id, source })
        };
        let mut simulators = Vec::new();
        for (s, w) in cuts.windows(2).enumerate() {
            // Segments overlap by one frame: the end of one is the start of the next.
            let end = w[1] + usize::from(s + 2 < cuts.len());
            let (velocity, spin) =
                if s == 0 { (toss.velocity, toss.angular_velocity) } else { toss.rates(w[0]) };
            let start = (&toss.measured[w[0]], velocity, spin);
            simulators.push(simulate(w[0]..end, start)?);
        }
        let start = (&toss.measured[0], toss.velocity, toss.angular_velocity);
        let whole = if simulators.len() > 1 { Some(simulate(0..frames, start)?) } else { None };
        let mut toss = toss;
        if let Horizon::Short { .. } = horizon {
            toss.measured.truncate(cuts[1]);
            toss.observed.truncate(cuts[1]);
            toss.times.truncate(cuts[1]);
        }
        Ok(Self { toss, simulators, whole, cuts })
    }
}

impl Toss {
    /// Velocity and angular velocity around a frame, from its neighbours.
    fn rates(&self, frame: usize) -> (Vector3<f64>, Vector3<f64>) {
        let (a, b) = (frame.saturating_sub(1), (frame + 1).min(self.measured.len() - 1));
        let dt = self.times[b] - self.times[a];
        let (p, r) = self.measured[b].increment_from(&self.measured[a]);
        (p / dt, r / dt)
    }
}

fn own_parameters(layout: &Layout, body: &str, initial: &InitialState) -> Vec<(usize, f64)> {
    let names = ["position", "rotation", "velocity", "angular_velocity"];
    let mut own = Vec::new();
    for (name, sigma) in names.into_iter().zip(initial.sigmas()) {
        let Some(sigma) = sigma else { continue };
        for axis in ["x", "y", "z"] {
            if let Some(i) = layout.index(&format!("{body}.{name}_{axis}")) {
                own.push((i, sigma));
            }
        }
    }
    own
}

/// Residuals that tie the end of each segment to the start of the next.
fn push_continuity<T: Scalar>(starts: &[BodyState<T>], ends: &[BodyState<T>], out: &mut Vec<T>) {
    for (end, start) in ends.iter().zip(starts.iter().skip(1)) {
        let gaps = [
            start.center - end.center,
            so3::log(&(start.rotation * end.rotation.transpose())),
            start.velocity - end.velocity,
            start.angular_velocity() - end.angular_velocity(),
        ];
        for (gap, sigma) in gaps.iter().zip(CONTINUITY) {
            out.extend(gap.iter().map(|x| *x / sigma));
        }
    }
}
