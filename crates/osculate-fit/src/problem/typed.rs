//! The identification problem under one contact model.

use super::segments::{Segments, own_parameters};
use super::start;
use super::{Along, Horizon, InitialState, Problem, ProblemError, RollOut, Toss, Weights};
use crate::contact_model::{ContactModel, Entry, ModelError, index_of};
use crate::least_squares::BlockResiduals;
use crate::parameter::{FreeParameter, resolve};
use nalgebra::Vector3;
use osculate_dynamics::{Parameters, Scene, SceneError};
use osculate_math::se3::Pose;

/// What a problem asks of its roll-outs, under whichever model they are.
pub(super) trait Tosses: Send + Sync {
    fn blocks(&self) -> usize;
    fn toss_id(&self, block: usize) -> u32;
    fn unit(&self, i: usize) -> &'static str;
    fn scene_value(&self, path: &str) -> Option<f64>;
    fn own_start(&self) -> Vec<Vec<f64>>;
    fn residuals(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ModelError>;
    fn roll_out(&self, block: usize, shared: &[f64], own: &[f64]) -> Result<RollOut, ModelError>;
    fn along(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<Vec<Option<Along<'_>>>, ModelError>;
}

/// A scene that is rolled out from the starts of tosses.
pub(crate) struct Stretch<S: ContactModel> {
    pub(crate) scene: Scene,
    pub(crate) settings: S::Settings,
    /// Index of the tracked body.
    pub(crate) body: usize,
    /// Steps between two frames.
    pub(crate) substeps: usize,
}

impl<S: ContactModel> Stretch<S> {
    /// Roll-out of a stretch of a toss from a pose and velocities of the local frame.
    pub(crate) fn simulator(
        &self,
        toss: &Toss,
        frames: std::ops::Range<usize>,
        start: (&Pose, Vector3<f64>, Vector3<f64>),
    ) -> Result<S, SceneError> {
        let mut scene = self.scene.clone();
        start::place(&mut scene, self.body, start)?;
        let mut durations = Vec::with_capacity((frames.len() - 1) * self.substeps);
        for k in frames.start + 1..frames.end {
            let dt = (toss.times[k] - toss.times[k - 1]) / self.substeps as f64;
            durations.extend(std::iter::repeat_n(dt, self.substeps));
        }
        S::new(scene, self.settings, durations)
    }

    /// Poses of the local frame at the frames of a roll-out.
    pub(crate) fn poses(
        &self,
        simulator: &S,
        trajectory: &S::Trajectory,
        center: &Vector3<f64>,
    ) -> Vec<Pose> {
        let steps = (0..=simulator.steps()).step_by(self.substeps);
        let pose = |k| S::state(trajectory, k, self.body).local_pose(center);
        steps.map(pose).collect()
    }

    /// The numbers of the scene: paths, units and values.
    pub(crate) fn numbers(&self) -> Result<Vec<(Entry, f64)>, SceneError> {
        // The numbers do not depend on the time grid.
        let simulator = S::new(self.scene.clone(), self.settings, vec![1.0])?;
        Ok(numbers(&simulator, Parameters::of(&self.scene)))
    }
}

/// Paths, units and values of the numbers of a simulation.
///
/// * `parameters`: bodies, gravity, pairs and what acts in steps.
pub fn numbers<S: ContactModel>(simulator: &S, parameters: Parameters) -> Vec<(Entry, f64)> {
    let parameters = simulator.all_parameters(parameters);
    let layout = simulator.layout(&parameters);
    S::entries(&layout).into_iter().zip(S::values(&layout, &parameters)).collect()
}

/// The tosses of a problem under one model.
pub(super) struct Typed<S: ContactModel> {
    pub(super) stretch: Stretch<S>,
    pub(super) weights: Weights,
    pub(super) parameters: Vec<FreeParameter>,
    /// Layout index of each free parameter.
    pub(super) indices: Vec<usize>,
    pub(super) layout: S::Layout,
    entries: Vec<Entry>,
    /// Values in the scene.
    values: Vec<f64>,
    pub(super) tosses: Vec<Segments<S>>,
    /// Layout indices of the own parameters of a segment, each with its prior's standard deviation.
    pub(super) own: Vec<(usize, f64)>,
}

impl<S: ContactModel> Typed<S> {
    /// Sets up the roll-outs of every toss.
    pub(super) fn problem(
        stretch: Stretch<S>,
        tosses: Vec<Toss>,
        parameters: &[FreeParameter],
        weights: Weights,
        (horizon, initial): (Horizon, InitialState),
    ) -> Result<Problem, ProblemError> {
        let scene = &stretch.scene;
        let simulator = S::new(scene.clone(), stretch.settings, vec![1.0])?;
        let base = simulator.all_parameters(Parameters::of(scene));
        let layout = simulator.layout(&base);
        let entries = S::entries(&layout);
        let indices: Vec<usize> = resolve(&entries, parameters)?
            .into_iter()
            .zip(parameters)
            .filter_map(|(i, p)| (!p.profile_only).then_some(i))
            .collect();
        let free: Vec<FreeParameter> =
            parameters.iter().filter(|p| !p.profile_only).cloned().collect();
        let shooting = matches!(horizon, Horizon::MultipleShooting { .. });
        let name = &scene.bodies[stretch.body].name;
        if start::is_link(scene, stretch.body) && (shooting || initial != InitialState::default()) {
            return Err(ProblemError::LinkStart { body: name.clone() });
        }
        let own =
            own_parameters(&entries, name, if shooting { &InitialState::FREE } else { &initial });
        // A prior on the initial pose is the measurement of the first frame: it must not count twice.
        let prior_is_first_frame =
            !shooting && (initial.position.is_some() || initial.rotation.is_some());
        let tosses = tosses
            .into_iter()
            .map(|mut t| {
                if prior_is_first_frame && !t.observed.is_empty() {
                    t.observed[0] = false;
                }
                Segments::new(&stretch, t, horizon)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let values = S::values(&layout, &base);
        let typed = Self {
            stretch,
            weights,
            parameters: free.clone(),
            indices,
            layout,
            entries,
            values,
            tosses,
            own,
        };
        Ok(Problem { parameters: free, tosses: Box::new(typed) })
    }

    /// Value of a free parameter in the scene.
    pub(super) fn base_value(&self, i: usize) -> f64 {
        self.values[self.indices[i]]
    }
}

impl<S: ContactModel> Tosses for Typed<S> {
    fn blocks(&self) -> usize {
        self.tosses.len()
    }

    fn toss_id(&self, block: usize) -> u32 {
        self.tosses[block].toss.id
    }

    fn unit(&self, i: usize) -> &'static str {
        self.entries[self.indices[i]].unit
    }

    fn scene_value(&self, path: &str) -> Option<f64> {
        index_of(&self.entries, path).map(|i| self.values[i])
    }

    fn own_start(&self) -> Vec<Vec<f64>> {
        self.tosses.iter().map(|t| vec![0.0; t.simulators.len() * self.own.len()]).collect()
    }

    fn residuals(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ModelError> {
        self.residuals_of(block, shared, own, jacobian)
    }

    fn roll_out(&self, block: usize, shared: &[f64], own: &[f64]) -> Result<RollOut, ModelError> {
        let segments = &self.tosses[block];
        let own_count = self.own.len();
        let simulator = segments.whole.as_ref().unwrap_or(&segments.simulators[0]);
        let parameters =
            self.at::<f64>(simulator, shared, &own[..own_count.min(own.len())], |_| 0.0);
        let trajectory = simulator.run(&parameters)?;
        let center = self.stretch.scene.bodies[self.stretch.body].center();
        let simulated = self.stretch.poses(simulator, &trajectory, &center);
        Ok(RollOut {
            id: segments.toss.id,
            times: segments.toss.times[..simulated.len()].to_vec(),
            measured: segments.toss.measured[..simulated.len()].to_vec(),
            simulated,
            unconverged: S::unconverged(&trajectory),
        })
    }

    fn along(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<Vec<Option<Along<'_>>>, ModelError> {
        self.motions_along(block, shared, own)
    }
}
