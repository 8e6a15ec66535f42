//! One step: contacts, rows, velocities, positions.
//!
//! ```text
//! contacts at q,  v_f = v + h M⁻¹(f + gyroscopic),  r from the last step
//! sweeps:         v⁺ = v_f + M⁻¹Jᵀ r
//! positions:      q⁺ = q + h v⁺
//! joints:         v⁺ ← v⁺ + Coriolis and gyroscopic forces, where they act on the way
//! ```

mod motion;
mod reset;

pub use reset::ResetError;

use super::body::RigidState;
use super::build::{Builder, Touch};
use super::doubt::doubts;
use super::memory::WarmStart;
use super::near::Near;
use super::patch::{Anchor, Patches};
use super::propagation::Propagation;
use super::record::{AnchorImpulse, ContactImpulse, StepRecord};
use super::row::Velocities;
use super::rows::Rows;
use super::settings::{ArticulatedResponse, Coriolis, ImpulseSettings};
use super::solve::{regime, world};
use super::system::System;
use super::tree::{End, JoinError, JointedBodies, Trees};
use super::{ImpulseStepError, islands, schedule};
use crate::articulated::immediate::TreeResponse;
use crate::articulated::{ArticulatedModel, Configuration};
use crate::{OnFailure, Parameters, Scene, SceneError, Wrench};
use nalgebra::Vector3;

/// Bodies in motion, stepped one step at a time.
#[derive(Clone, Debug)]
pub struct ImpulseStepper {
    names: Vec<String>,
    system: System,
    settings: ImpulseSettings,
    states: Vec<RigidState>,
    warm: WarmStart,
    patches: Patches,
    trees: Trees,
    rows: Rows,
    touches: Vec<Touch>,
    step: usize,
}

impl ImpulseStepper {
    /// Bodies of a scene at its initial state, with the numbers given.
    ///
    /// # Errors
    /// Where the scene, the settings or a shape is invalid.
    pub fn new(
        scene: &Scene,
        settings: ImpulseSettings,
        parameters: &Parameters,
    ) -> Result<Self, SceneError> {
        scene.validate()?;
        settings.validate()?;
        let system = System::new(scene, parameters)?;
        let states = system.initial(parameters);
        Ok(Self {
            names: scene.bodies.iter().map(|b| b.name.clone()).collect(),
            system,
            settings,
            states,
            warm: WarmStart::default(),
            patches: Patches::default(),
            trees: Trees::default(),
            rows: Rows::default(),
            touches: Vec::new(),
            step: 0,
        })
    }

    /// States of all bodies.
    pub fn states(&self) -> &[RigidState] {
        &self.states
    }

    /// Steps done.
    pub fn steps(&self) -> usize {
        self.step
    }

    /// Settings.
    pub fn settings(&self) -> &ImpulseSettings {
        &self.settings
    }

    /// Makes bodies of the scene links of a tree, at positions and velocities of its joints.
    ///
    /// The mass properties of the model count, not those of the bodies. Links that a joint connects do not touch.
    ///
    /// * `bodies`: the body of each link.
    ///
    /// # Errors
    /// Where a body does not exist, is static or a link already, or positions or velocities do not fit the model.
    pub fn join(
        &mut self,
        model: ArticulatedModel,
        bodies: Vec<usize>,
        q: Configuration,
        v: Vec<f64>,
    ) -> Result<(), JoinError> {
        let links: Vec<_> = model.links().iter().map(|l| l.parent).collect();
        let at = bodies.clone();
        self.join_filtered(model, bodies, q, v)?;
        for (k, parent) in links.into_iter().enumerate() {
            if let Some(parent) = parent {
                self.system.connect(at[k], at[parent]);
            }
        }
        Ok(())
    }

    /// As [`ImpulseStepper::join`], where the filter of the scene says which links touch.
    pub(crate) fn join_filtered(
        &mut self,
        model: ArticulatedModel,
        bodies: Vec<usize>,
        q: Configuration,
        v: Vec<f64>,
    ) -> Result<(), JoinError> {
        let tree = JointedBodies::new(model, bodies, q, v)?;
        for (k, (&index, link)) in tree.bodies().iter().zip(tree.model().links()).enumerate() {
            let link = link.name.clone();
            let bodies = self.names.len();
            let Some(item) = self.system.items.get(index) else {
                return Err(JoinError::UnknownBody { link, index, bodies });
            };
            if item.unknown.is_none() || tree.bodies()[..k].contains(&index) {
                return Err(JoinError::NotFree { link, body: self.names[index].clone() });
            }
        }
        let which = self.trees.list.len();
        for (k, (&body, link)) in tree.bodies().iter().zip(tree.model().links()).enumerate() {
            self.system.make_link(body, [which, k], link.inertia.center);
        }
        tree.write_states(&mut self.states);
        self.trees.list.push(tree);
        self.trees.place(self.system.unknowns());
        Ok(())
    }

    /// The trees, in the order they were joined.
    pub fn trees(&self) -> &[JointedBodies] {
        &self.trees.list
    }

    /// The trees, to tell their joints what to do.
    pub fn trees_mut(&mut self) -> &mut [JointedBodies] {
        &mut self.trees.list
    }

    /// Goes on by `duration` \[s\] under wrenches, one a dynamic body, or none at all.
    ///
    /// # Errors
    /// Where the duration is not positive, a motion is not finite, an impulse law refuses its input, a tree has no
    /// mass matrix, or the sweeps did not converge and the settings say stop; the states are then those of the start
    /// of the step.
    pub fn step(
        &mut self,
        wrenches: &[Wrench],
        duration: f64,
    ) -> Result<StepRecord, ImpulseStepError> {
        // Rows borrow the trees, which change only when the step is done.
        let mut trees = std::mem::take(&mut self.trees);
        let result = self.step_with(&trees, wrenches, duration);
        let record = result.map(|(record, ends)| {
            trees.advance(ends);
            record
        });
        self.trees = trees;
        record
    }

    fn step_with(
        &mut self,
        trees: &Trees,
        wrenches: &[Wrench],
        duration: f64,
    ) -> Result<(StepRecord, Vec<End>), ImpulseStepError> {
        let at = self.step;
        if !(duration > 0.0 && duration.is_finite()) {
            return Err(ImpulseStepError::Duration { step: at, found: duration });
        }
        if at == 0 {
            self.check_pairs()?;
        }
        let loads = trees.loads(&self.system, wrenches);
        let singular = |source| ImpulseStepError::Tree { step: at, source };
        let responses =
            trees.responses(&loads, (self.settings.coriolis, duration)).map_err(singular)?;
        let [mut start, mut free] = self.free_velocities(wrenches, duration)?;
        trees.extend(&responses, [&mut start, &mut free]);
        let anchors = self.build([&mut start, &mut free], (trees, &responses), duration);
        let mut v = self.warm_velocities(&free);
        let law = |source| ImpulseStepError::Law { step: at, source };
        let stats = islands::solve(&mut self.rows, (&free, &mut v), &self.settings).map_err(law)?;
        if !stats.converged && self.settings.on_failure == OnFailure::Stop {
            return Err(self.not_converged(trees, stats));
        }
        let mut states = self.advanced(&v, duration);
        let mut ends = trees.ends(&responses, &v, &self.rows.joints);
        if self.settings.velocity_sweeps > 0 {
            schedule::settle(&mut self.rows, &mut v, &self.settings).map_err(law)?;
            for (state, item) in states.iter_mut().zip(&self.system.items) {
                if let Some(u) = item.unknown {
                    (state.velocity, state.angular_velocity) = (v[u], v[u + 1]);
                }
            }
            trees.settle(&mut ends, &v);
        }
        if self.settings.coriolis == Coriolis::Conserving {
            trees.drift(&self.system, &responses, &mut ends).map_err(singular)?;
        }
        trees.write_ends(&ends, &mut states);
        self.check_finite(&states)?;
        self.patches.store(anchors, (&self.rows, &v), &self.states, duration);
        self.warm.store(&self.touches, &self.rows, duration);
        let record = self.record(stats, &v);
        self.states = states;
        self.step += 1;
        Ok((record, ends))
    }

    /// Links that joints connect are known by the first step.
    fn check_pairs(&self) -> Result<(), ImpulseStepError> {
        let Some((bodies, source)) = self.system.refused_pair() else { return Ok(()) };
        let [first, second] = bodies.map(|b| self.names[b].clone());
        Err(ImpulseStepError::Pair { step: self.step, first, second, source })
    }

    fn not_converged(&self, trees: &Trees, stats: super::ImpulseStats) -> ImpulseStepError {
        let step = self.step;
        match stats.worst_tree.map(|t| &trees.list[t]) {
            Some(tree) => {
                let root = self.names[tree.bodies()[0]].clone();
                ImpulseStepError::JointsNotConverged { step, stats, root }
            }
            None => {
                let bodies = self.touches[stats.worst].bodies.map(|b| self.names[b].clone());
                let [first, second] = bodies;
                ImpulseStepError::NotConverged { step, stats, first, second }
            }
        }
    }

    /// Contacts and rows of the step; the anchors.
    fn build(
        &mut self,
        [start, free]: [&mut Vec<Vector3<f64>>; 2],
        (trees, responses): (&Trees, &[TreeResponse<'_>]),
        h: f64,
    ) -> Vec<Anchor> {
        let ahead = self.ahead(free, (trees, responses), h);
        let near = Near {
            system: &self.system,
            states: &self.states,
            ahead: &ahead,
            margin: self.settings.margin,
            duration: h,
        };
        self.touches = near.touches();
        self.rows.clear();
        let propagates = self.settings.articulated_response == ArticulatedResponse::Propagation;
        let propagation = propagates.then(|| {
            let trees = (trees, responses);
            Propagation::new(&self.system, &self.touches, trees, free.len())
        });
        if let Some(propagation) = &propagation {
            propagation.extend(start);
            propagation.extend(free);
        }
        let inverse = self.system.inverse_inertia(&self.states);
        let prescribed = self.system.prescribed(&self.states, self.step, h);
        let builder = Builder {
            system: &self.system,
            settings: &self.settings,
            states: &self.states,
            inverse: &inverse,
            prescribed: &prescribed,
            trees: (trees, responses),
            propagation: propagation.as_ref(),
            velocities: [start, free],
            duration: h,
        };
        let patch = self.settings.patch_friction();
        let anchors = if patch {
            self.patches.build(&builder, &self.touches, &mut self.rows)
        } else {
            builder.point_friction(&self.touches, &mut self.rows);
            Vec::new()
        };
        let part = self.settings.warm_start;
        self.warm.start(&self.touches, &mut self.rows, part, h);
        Patches::start(&anchors, &mut self.rows);
        self.rows.joints = trees.rows(responses, part);
        self.rows.passes = propagation.map_or_else(Vec::new, |p| p.passes);
        anchors
    }

    /// `v_f + M⁻¹Jᵀ r` of the impulses that the rows start from.
    fn warm_velocities(&mut self, free: &Velocities) -> Vec<Vector3<f64>> {
        let mut v = free.to_vec();
        for normal in &self.rows.normals {
            normal.row.apply(normal.impulse, &mut v);
        }
        for pair in &self.rows.pairs {
            for (row, impulse) in pair.rows.iter().zip(pair.impulse.iter()) {
                row.apply(*impulse, &mut v);
            }
        }
        for group in &self.rows.groups {
            group.angular.apply(&mut v);
        }
        for joints in &self.rows.joints {
            joints.warm(&mut v);
        }
        self.rows.start_passes(&mut v);
        v
    }

    fn record(&self, stats: super::ImpulseStats, v: &Velocities) -> StepRecord {
        let contacts = self.rows.groups.iter().enumerate().flat_map(|(index, group)| {
            let pair = self.rows.pairs[group.pairs.clone()].first().filter(|_| group.point);
            let friction = pair.map_or_else(Vector3::zeros, world);
            let radius = |p| group.angular.sliding_radius(p, self.rows.load(group));
            let regime = pair.map(|p| regime(p, radius(p), v));
            let angular = group.angular.world();
            let (solutions, warning) = doubts((&self.rows, v), group, &self.settings);
            self.rows.normals[group.normals.clone()].iter().map(move |normal| {
                let touch = &self.touches[normal.contact];
                ContactImpulse {
                    bodies: touch.bodies,
                    contact: touch.contact,
                    point: touch.point,
                    normal: normal.impulse,
                    friction,
                    regime,
                    rebounds: normal.rebounds,
                    group: index,
                    angular: if group.point { angular } else { Vector3::zeros() },
                    solutions,
                    warning,
                }
            })
        });
        let anchors = self.patches.anchors.iter().map(|a| AnchorImpulse {
            bodies: a.bodies,
            position: a.surface.position,
            normal: a.surface.normal,
            displacement: a.displacement,
            impulse: a.impulse,
            load: a.load,
            radius: a.radius,
            regime: regime(&self.rows.pairs[a.pair], a.radius, v),
            group: a.group,
            spin: self.rows.groups[a.group].angular.world(),
            released: a.released,
            contacts: [a.contacts.start, a.contacts.end],
            partner: a.partner,
            continues: a.continues,
        });
        StepRecord { contacts: contacts.collect(), anchors: anchors.collect(), stats }
    }
}
