//! The identification problem under one contact model.

use super::channel::Channel;
use super::prior::own_parameters;
use super::segments::Segments;
use super::start;
use super::{Along, Horizon, InitialState, Problem, ProblemError, RollOut, Toss, Weights};
use crate::contact_model::{ContactModel, Entry, ModelError, index_of};
use crate::least_squares::BlockResiduals;
use crate::nuisance::{self, Nuisance};
use crate::parameter::{FreeParameter, resolve, tied};
use nalgebra::Vector3;
use osculate_dynamics::{Parameters, Scene, SceneError};
use osculate_math::Scalar;
use osculate_math::se3::Pose;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a problem asks of its roll-outs, under whichever model they are.
pub(super) trait Tosses: Send + Sync {
    fn blocks(&self) -> usize;
    fn toss_id(&self, block: usize) -> u32;
    fn unit(&self, i: usize) -> &'static str;
    fn scene_value(&self, path: &str) -> Option<f64>;
    fn channels(&self) -> &[Channel];
    fn channel_units(&self) -> Vec<&'static str>;
    fn own_start(&self) -> Vec<Vec<f64>>;
    fn add_own(&mut self, nuisances: &[Nuisance]) -> Result<(), ProblemError>;
    fn interrupt_by(&mut self, flag: &Arc<AtomicBool>);
    /// Rows of priors of shared parameters, over all tosses.
    fn prior_rows(&self) -> usize;
    fn own_sigmas(&self) -> Vec<(String, f64)>;
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
    /// What is compared; where empty the pose of the tracked body.
    pub(crate) channels: Vec<Channel>,
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
        start::place_all(&mut scene, self.body, toss, start)?;
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
        let mut all = numbers(&simulator, Parameters::of(&self.scene));
        all.extend(self.offsets());
        Ok(all)
    }

    /// Clock offsets of the channels, which are parameters beside those of the scene.
    fn offsets(&self) -> Vec<(Entry, f64)> {
        let mut all: Vec<(Entry, f64)> = Vec::new();
        for c in &self.channels {
            let path = c.offset_path();
            if all.iter().all(|(e, _)| e.path != path) {
                all.push((Entry { path, unit: "s" }, c.clock_offset));
            }
        }
        all
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
    /// Layout indices of others that have its value.
    pub(super) tied: Vec<Vec<usize>>,
    pub(super) layout: S::Layout,
    /// How many of the entries are of the layout; clock offsets follow.
    pub(super) of_layout: usize,
    /// Index among the free parameters of the clock offset of each channel, where it is free.
    pub(super) offsets: Vec<Option<usize>>,
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
        let mut entries = S::entries(&layout);
        let mut values = S::values(&layout, &base);
        let of_layout = entries.len();
        let (more, offset_values): (Vec<Entry>, Vec<f64>) = stretch.offsets().into_iter().unzip();
        entries.extend(more);
        values.extend(offset_values);
        let known = if parameters.is_empty() { Vec::new() } else { resolve(&entries, parameters)? };
        let indices: Vec<usize> = known
            .into_iter()
            .zip(parameters)
            .filter_map(|(i, p)| (!p.profile_only).then_some(i))
            .collect();
        let free: Vec<FreeParameter> =
            parameters.iter().filter(|p| !p.profile_only).cloned().collect();
        let tied = free.iter().map(|p| tied(&entries, p)).collect::<Result<Vec<_>, _>>()?;
        let shooting = matches!(horizon, Horizon::MultipleShooting { .. });
        if start::is_link(scene, stretch.body) && shooting {
            let body = scene.bodies[stretch.body].name.clone();
            return Err(ProblemError::LinkShooting { body });
        }
        let uncertain = if shooting { &InitialState::FREE } else { &initial };
        let own = own_parameters(&entries, (scene, stretch.body), uncertain);
        let tosses = tosses
            .into_iter()
            .map(|mut t| {
                // The segments of shooting have no prior.
                if !shooting {
                    stretch.forget_first(&mut t, &initial);
                }
                Segments::new(&stretch, t, horizon)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let clock = |c: &Channel| index_of(&entries, &c.offset_path());
        let offset = |c: &Channel| clock(c).and_then(|e| indices.iter().position(|&i| i == e));
        let offsets = stretch.channels.iter().map(offset).collect();
        let typed = Self {
            stretch,
            weights,
            parameters: free.clone(),
            indices,
            tied,
            layout,
            of_layout,
            offsets,
            entries,
            values,
            tosses,
            own,
        };
        let interrupt = Arc::default();
        Ok(Problem { parameters: free, tosses: Box::new(typed), interrupt })
    }

    /// Readings less records of each channel at the frames that have one, with their times.
    fn misfits(
        &self,
        (segments, simulator): (&Segments<S>, &S),
        trajectory: &S::Trajectory,
        (parameters, shared): (&S::Parameters<f64>, &[f64]),
    ) -> Vec<Vec<(f64, Vector3<f64>)>> {
        let (toss, ends) = (&segments.toss, simulator.times());
        let p = S::of_scene(parameters);
        let bodies = |step: usize, body: usize| {
            S::state(trajectory, step, body).kinematics(&p.bodies[body].center)
        };
        let mut all = vec![Vec::new(); self.stretch.channels.len()];
        for (c, channel) in self.stretch.channels.iter().enumerate() {
            let numbers = channel.numbers(&self.stretch.scene, p);
            let offset = self.offset::<f64>(c, shared, |_| 0.0);
            for record in self.records(segments, 0).into_iter().filter(|r| r.channel == c) {
                let Some(sample) = toss.series[c][record.frame] else { continue };
                let by = (toss.times.as_slice(), ends.as_slice());
                let off = self.misfit(by, (record, &sample), &bodies, (&numbers, offset));
                let kept =
                    Vector3::from_fn(|k, _| if channel.axes.contains(&k) { off[k] } else { 0.0 });
                all[c].push((toss.times[record.frame], kept));
            }
        }
        all
    }

    /// Clock offset of a channel; `seed(i)` adds derivatives by free parameters.
    pub(super) fn offset<T: Scalar>(
        &self,
        channel: usize,
        shared: &[f64],
        seed: impl Fn(usize) -> T,
    ) -> T {
        match self.offsets[channel] {
            Some(i) => {
                let q = &self.parameters[i];
                seed(i) * q.slope(shared[i]) + q.to_value(shared[i])
            }
            None => T::from(self.stretch.channels[channel].clock_offset),
        }
    }

    /// Value in the scene of the number with an index.
    pub(super) fn base_value(&self, index: usize) -> f64 {
        self.values[index]
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

    fn channels(&self) -> &[Channel] {
        &self.stretch.channels
    }

    fn channel_units(&self) -> Vec<&'static str> {
        self.stretch.channels.iter().map(|c| c.unit(&self.stretch.scene)).collect()
    }

    fn own_start(&self) -> Vec<Vec<f64>> {
        self.tosses.iter().map(|t| vec![0.0; t.simulators.len() * self.own.len()]).collect()
    }

    fn add_own(&mut self, nuisances: &[Nuisance]) -> Result<(), ProblemError> {
        if nuisances.is_empty() {
            return Ok(());
        }
        if self.tosses.iter().any(|t| t.simulators.len() > 1) {
            return Err(ProblemError::NuisanceInSegments);
        }
        // The start of the tracked body is that of the recording, and belongs to the initial state.
        let tracked = (&self.stretch.scene, self.stretch.body);
        let of_start = own_parameters(&self.entries, tracked, &InitialState::FREE);
        let mut taken: Vec<usize> = self.indices.clone();
        taken.extend(of_start.iter().chain(&self.own).map(|o| o.0));
        let found = nuisance::places(&self.entries, nuisances, &taken)
            .map_err(|(index, source)| ProblemError::Nuisance { index, source })?;
        self.own.extend(found);
        Ok(())
    }

    fn interrupt_by(&mut self, flag: &Arc<AtomicBool>) {
        let all = self.tosses.iter_mut().flat_map(|t| t.simulators.iter_mut().chain(&mut t.whole));
        all.for_each(|simulator| simulator.interrupt_by(Arc::clone(flag)));
    }

    fn prior_rows(&self) -> usize {
        self.tosses.len() * self.parameters.iter().filter(|p| p.prior.is_some()).count()
    }

    fn own_sigmas(&self) -> Vec<(String, f64)> {
        self.own.iter().map(|(index, sigma)| (self.entries[*index].path.clone(), *sigma)).collect()
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
        let channels = self.misfits((segments, simulator), &trajectory, (&parameters, shared));
        Ok(RollOut {
            id: segments.toss.id,
            times: segments.toss.times[..simulated.len()].to_vec(),
            measured: segments.toss.measured[..simulated.len()].to_vec(),
            simulated,
            channels,
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
