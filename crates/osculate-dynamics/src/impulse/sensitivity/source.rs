//! What steps are linearised from: the simulation, its numbers and its trajectory, step by step.

use super::collect::nearest;
use super::error::ImpulseGradientError;
use super::linear::StepLinear;
use super::lines::Lines;
use super::parameters::ImpulseParameters;
use crate::Wrench;
use crate::impulse::joints;
use crate::impulse::record::{AnchorImpulse, StepRecord};
use crate::impulse::settings::{FrictionMode, FrictionPoint, ImpulseSettings};
use crate::impulse::simulate::{ImpulseRunError, ImpulseSimulator, ImpulseTrajectory};
use crate::impulse::system::System;
use crate::impulse::tree::{JointedBodies, Trees, padded};
use crate::reduction::Reduction;
use crate::{ArticulationParameters, JointState, OnFailure, SceneError};
use nalgebra::Vector3;

/// What steps are linearised from.
pub(super) struct Source<'a> {
    pub(super) simulator: &'a ImpulseSimulator,
    pub(super) parameters: &'a ImpulseParameters,
    pub(super) trajectory: &'a ImpulseTrajectory,
    pub(super) system: System,
    /// Joints, where the scene has any: one tree.
    pub(super) joints: Option<Reduction<f64>>,
    pub(super) settings: ImpulseSettings,
    pub(super) on_indeterminate: OnFailure,
}

/// Memory that linearisations of steps share.
pub(super) struct Scratch {
    trees: Trees,
    diagonal: Vec<f64>,
    place: Vec<usize>,
    pushed: Vec<Vector3<f64>>,
}

/// Refuses settings whose step is no fixed point, or has no derivative here.
fn refuse(settings: &ImpulseSettings) -> Result<(), ImpulseGradientError> {
    let unsupported =
        |field, found, allowed| Err(ImpulseGradientError::Unsupported { field, found, allowed });
    let mode = settings.friction_mode;
    if !matches!(mode, FrictionMode::FixedNormal | FrictionMode::CoulombNewton) {
        let allowed = "fixed_normal or coulomb_newton";
        return unsupported("friction_mode", format!("{mode:?}"), allowed);
    }
    if settings.velocity_sweeps > 0 {
        let allowed = "0: a number of sweeps is no fixed point";
        return unsupported("velocity_sweeps", settings.velocity_sweeps.to_string(), allowed);
    }
    if settings.friction_point != FrictionPoint::Middle && !settings.patch_friction() {
        let found = format!("{:?}", settings.friction_point);
        return unsupported("friction_point", found, "middle");
    }
    if settings.regularization > 0.0 {
        let allowed = "0: a softness that follows the mobility is not differentiated";
        return unsupported("regularization", settings.regularization.to_string(), allowed);
    }
    if settings.friction_gap.is_finite() {
        let allowed = "none: friction that comes with the gap is not differentiated";
        return unsupported("friction_gap", settings.friction_gap.to_string(), allowed);
    }
    Ok(())
}

impl<'a> Source<'a> {
    /// Checks what [`super::Linearisation::with`] says.
    ///
    /// # Errors
    /// Where something is refused.
    pub(super) fn checked(
        simulator: &'a ImpulseSimulator,
        parameters: &'a ImpulseParameters,
        trajectory: &'a ImpulseTrajectory,
        on_indeterminate: OnFailure,
    ) -> Result<Self, ImpulseGradientError> {
        let settings = parameters.settings(simulator.settings());
        refuse(&settings)?;
        let (found, expected) = (trajectory.records.len(), simulator.durations().len());
        let bodies = simulator.scene().bodies.len();
        if found != expected || trajectory.bodies() != bodies {
            let bodies = trajectory.bodies();
            return Err(ImpulseGradientError::Trajectory { found, bodies, expected });
        }
        Ok(Self::new(simulator, parameters, trajectory, on_indeterminate)?)
    }

    /// # Errors
    /// Where the parameters do not fit the scene.
    fn new(
        simulator: &'a ImpulseSimulator,
        parameters: &'a ImpulseParameters,
        trajectory: &'a ImpulseTrajectory,
        on_indeterminate: OnFailure,
    ) -> Result<Self, SceneError> {
        let mut system = System::new(simulator.scene(), &parameters.scene)?;
        for (i, item) in system.items.iter_mut().enumerate() {
            item.surface.restitution = parameters.restitution[i];
            item.surface.torsional_radius = parameters.torsional_radius[i];
            item.surface.torsional_patch_radius = parameters.torsional_patch_radius[i];
            item.surface.spin_friction = parameters.spin_friction[i];
            item.surface.rolling_friction = parameters.rolling_friction[i];
        }
        let joints = Reduction::new(simulator.scene(), &parameters.scene, &[]);
        if let Some(joints) = &joints {
            for (link, &body) in joints.bodies.iter().enumerate() {
                system.make_link(body, [0, link], joints.model.links()[link].inertia.center);
            }
        }
        let settings = parameters.settings(simulator.settings());
        Ok(Self { simulator, parameters, trajectory, system, joints, settings, on_indeterminate })
    }

    /// Memory of linearisations, and the tree at its start, to be put where the trajectory has it.
    ///
    /// # Errors
    /// Where positions or velocities do not fit the joints.
    pub(super) fn scratch(&self) -> Result<Scratch, ImpulseGradientError> {
        let mut trees = Trees::default();
        if let (Some(joints), Some(JointState { configuration, rates })) =
            (&self.joints, self.trajectory.joints(0))
        {
            let (model, bodies) = (joints.model.clone(), joints.bodies.clone());
            let (q, v) = (configuration.clone(), rates.clone());
            let tree = JointedBodies::new(model, bodies, q, v)
                .map_err(|e| ImpulseGradientError::Run(ImpulseRunError::Join(e.into())))?;
            trees.list.push(tree);
            trees.place(self.system.unknowns());
        }
        Ok(Scratch { trees, diagonal: Vec::new(), place: Vec::new(), pushed: Vec::new() })
    }

    /// What is given for joints by step.
    pub(super) fn given(&self) -> Option<&ArticulationParameters> {
        self.parameters.scene.articulation.as_ref()
    }

    /// Whether the friction of an anchor slides and spins on one surface.
    pub(super) fn together(&self, record: &StepRecord, anchor: &AnchorImpulse) -> bool {
        let [from, to] = anchor.contacts;
        let nearest = nearest(record, from..to);
        let gap = record.contacts[nearest].point.gap;
        self.system.is_together(&self.settings, anchor.bodies, gap)
    }

    /// Wrenches of a step, one a dynamic body, or none.
    fn wrenches(&self, step: usize) -> &[Wrench] {
        let dynamic = self.system.dynamic();
        let all = &self.parameters.scene.wrenches;
        all.get(step * dynamic..(step + 1) * dynamic).unwrap_or(&[])
    }

    /// What acts on a dynamic body in a step.
    pub(super) fn wrench(&self, step: usize, dynamic: usize) -> Wrench {
        self.wrenches(step).get(dynamic).copied().unwrap_or_else(Wrench::zero)
    }

    /// Linearises a step into `linear`, whose memory is used again.
    ///
    /// * `scratch`: of [`Source::scratch`]; its trees are put where the step starts.
    pub(super) fn linearise(
        &self,
        step: usize,
        scratch: &mut Scratch,
        linear: &mut StepLinear,
    ) -> Result<(), ImpulseGradientError> {
        self.trajectory.go_on(step)?;
        let record = &self.trajectory.records[step];
        let stats = &record.stats;
        if !stats.converged && self.on_indeterminate == OnFailure::Stop {
            let (residual, tolerance) = (stats.residual, stats.tolerance);
            return Err(ImpulseGradientError::NotConverged { step, residual, tolerance });
        }
        if let (Some(tree), Some(state)) =
            (scratch.trees.list.first_mut(), self.trajectory.joints(step))
        {
            tree.put(&state.configuration, &state.rates);
            if let Some(given) = self.given() {
                joints::drive(tree, given, step);
            }
        }
        let states = self.trajectory.state(step);
        let duration = self.simulator.durations()[step];
        let responses = scratch
            .trees
            .unforced(duration)
            .map_err(|source| ImpulseGradientError::Tree { step, source })?;
        let free = self.system.items.iter().zip(states).filter(|(i, _)| i.unknown.is_some());
        let inverse = free.filter_map(|(item, state)| {
            let inertia = item.inertia?;
            Some((inertia.mass.recip(), inertia.inverse_in_world(&state.rotation)))
        });
        linear.reset(record.contacts.len());
        let mut own = std::mem::take(&mut linear.inverse);
        own.clear();
        own.extend(inverse);
        let inverse = own;
        let moved = self.system.items.iter().any(|i| !i.motion.is_empty());
        let prescribed =
            if moved { self.system.prescribed(states, step, duration) } else { Vec::new() };
        self.write_after(step, &mut linear.after);
        scratch.diagonal.clear();
        let tree = responses.into_iter().next().zip(self.trajectory.joint_solved(step));
        let tree = tree.map(|(response, after)| {
            let at = scratch.trees.list[0].at();
            let impulses = self.trajectory.joint_impulses(step);
            let diagonal = &mut scratch.diagonal;
            linear.collect_joints((response, at), (after, impulses), diagonal)
        });
        let lines = Lines {
            system: &self.system,
            settings: &self.settings,
            states,
            prescribed: &prescribed,
            inverse: &inverse,
            tree: self.joints.as_ref().map(|j| &j.model).zip(tree.as_ref()),
            duration,
        };
        linear.collect((&lines, record), (&mut scratch.diagonal, &mut scratch.place));
        (linear.inverse, linear.prescribed, linear.tree) = (inverse, prescribed, tree);
        linear.factorise(self, step, (&scratch.diagonal, &mut scratch.pushed))
    }

    /// Velocities of the free bodies after a step, then of the tree.
    fn write_after(&self, step: usize, after: &mut Vec<Vector3<f64>>) {
        let states = self.trajectory.state(step + 1);
        let moving = self.system.items.iter().zip(states).filter(|(i, _)| i.unknown.is_some());
        after.clear();
        moving.for_each(|(_, s)| after.extend([s.velocity, s.angular_velocity]));
        if let Some(solved) = self.trajectory.joint_solved(step) {
            after.extend(padded(solved));
        }
    }
}
