//! A scene, settings and a time grid.

use super::body::RigidState;
use super::record::StepRecord;
use super::settings::ImpulseSettings;
use super::stepper::{ImpulseStepper, ResetError};
use super::tree::JoinError;
use super::{ImpulseStepError, joints};
use crate::{JointState, Kinematics, Parameters, Scene, SceneError};
use nalgebra::Vector3;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A scene, settings and a time grid, solved with impulses.
#[derive(Clone, Debug)]
pub struct ImpulseSimulator {
    scene: Scene,
    settings: ImpulseSettings,
    durations: Vec<f64>,
    interrupt: Option<Arc<AtomicBool>>,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpulseRunError {
    /// The parameters do not fit the scene, or a shape cannot touch.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Bodies cannot be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] ImpulseStepError),
    /// A body cannot be put elsewhere.
    #[error(transparent)]
    Reset(#[from] ResetError),
}

/// States after every step, and what each step did.
#[derive(Clone, Debug, Default)]
pub struct ImpulseTrajectory {
    bodies: usize,
    states: Vec<RigidState>,
    /// What each step did.
    pub records: Vec<StepRecord>,
    /// Of a scene with joints: joints at the start and after each step, and impulses of their rows in each step.
    joints: Vec<JointState>,
    joint_impulses: Vec<Vec<f64>>,
    /// Velocities of the joints that moved them in each step.
    joint_solved: Vec<Vec<f64>>,
    /// Once true, the roll-out stops.
    interrupt: Option<Arc<AtomicBool>>,
}

/// Equal motions; who may stop them does not count.
impl PartialEq for ImpulseTrajectory {
    fn eq(&self, other: &Self) -> bool {
        self.bodies == other.bodies
            && self.states == other.states
            && self.records == other.records
            && self.joints == other.joints
            && self.joint_impulses == other.joint_impulses
            && self.joint_solved == other.joint_solved
    }
}

impl ImpulseTrajectory {
    /// The same memory; once `flag` is true, a roll-out into it, or a derivative of it, stops with
    /// [`ImpulseStepError::Interrupted`].
    #[must_use]
    pub fn interrupted_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { interrupt: Some(flag), ..self }
    }

    /// An error once the caller asked to stop.
    pub(super) fn go_on(&self, step: usize) -> Result<(), ImpulseRunError> {
        match &self.interrupt {
            Some(flag) if flag.load(Ordering::Relaxed) => {
                Err(ImpulseStepError::Interrupted { step }.into())
            }
            _ => Ok(()),
        }
    }

    /// Joints after `step` steps, where the scene has any.
    pub fn joints(&self, step: usize) -> Option<&JointState> {
        self.joints.get(step)
    }

    /// Impulses of the rows of joints and closures in a step \[N s or N m s\], in the order of
    /// [`JointedBodies::impulses`](super::JointedBodies::impulses); empty where the scene has no joints.
    pub fn joint_impulses(&self, step: usize) -> &[f64] {
        self.joint_impulses.get(step).map_or(&[], Vec::as_slice)
    }

    /// Velocities that moved the joints in a step.
    pub(super) fn joint_solved(&self, step: usize) -> Option<&[f64]> {
        self.joint_solved.get(step).map(Vec::as_slice)
    }

    fn push_joints(&mut self, stepper: &ImpulseStepper) {
        if let Some(tree) = stepper.trees().first() {
            let (configuration, rates) = (tree.configuration().clone(), tree.velocities().to_vec());
            self.joints.push(JointState { configuration, rates });
        }
    }

    /// How many bodies there are.
    pub(crate) fn bodies(&self) -> usize {
        self.bodies
    }

    /// States of all bodies after `step` steps.
    ///
    /// # Panics
    /// Where the trajectory does not hold that step.
    pub fn state(&self, step: usize) -> &[RigidState] {
        &self.states[step * self.bodies..(step + 1) * self.bodies]
    }

    /// States of all bodies at the end.
    ///
    /// # Panics
    /// Where nothing was run.
    pub fn last(&self) -> &[RigidState] {
        self.state(self.records.len())
    }

    /// Steps that did not meet their tolerance; not zero only where the settings say continue.
    pub fn unconverged(&self) -> usize {
        self.records.iter().filter(|r| !r.stats.converged).count()
    }

    /// Motion of a body's local frame, at the start and after each step.
    pub fn kinematics(&self, body: usize, center: &Vector3<f64>) -> Vec<Kinematics> {
        let steps = 0..=self.records.len();
        steps.map(|k| self.state(k)[body].kinematics(center)).collect()
    }
}

impl ImpulseSimulator {
    /// A simulation of a scene with steps of the given durations \[s\].
    ///
    /// # Errors
    /// Where the scene or the settings are invalid, a duration is not positive, or there is none.
    pub fn new(
        scene: Scene,
        settings: ImpulseSettings,
        durations: Vec<f64>,
    ) -> Result<Self, SceneError> {
        scene.validate()?;
        settings.validate()?;
        if durations.is_empty() {
            return Err(SceneError::Count { what: "steps", found: 0, expected: 1 });
        }
        if let Some(&found) = durations.iter().find(|d| !(d.is_finite() && **d > 0.0)) {
            return Err(SceneError::Number { field: "time step", found, allowed: "> 0 s" });
        }
        Ok(Self { scene, settings, durations, interrupt: None })
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The settings.
    pub fn settings(&self) -> &ImpulseSettings {
        &self.settings
    }

    /// Durations of the steps \[s\].
    pub fn durations(&self) -> &[f64] {
        &self.durations
    }

    /// Once `flag` is true, roll-outs and derivatives of them stop with [`ImpulseStepError::Interrupted`], but for trajectories
    /// with a flag of their own ([`ImpulseTrajectory::interrupted_by`]).
    pub fn interrupt_by(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Some(flag);
    }

    /// The flag of [`ImpulseSimulator::interrupt_by`].
    pub fn interrupt(&self) -> Option<&Arc<AtomicBool>> {
        self.interrupt.as_ref()
    }

    /// The scene's own numbers.
    pub fn parameters(&self) -> Parameters {
        Parameters::of(&self.scene)
    }

    /// Rolls out the whole time grid.
    ///
    /// # Errors
    /// Where a step fails or the parameters do not fit the scene.
    pub fn run(&self, parameters: &Parameters) -> Result<ImpulseTrajectory, ImpulseRunError> {
        let mut trajectory = ImpulseTrajectory::default();
        self.run_into(parameters, &mut trajectory)?;
        Ok(trajectory)
    }

    /// As [`ImpulseSimulator::run`].
    ///
    /// # Errors
    /// As [`ImpulseSimulator::run`], and where the trajectory's flag says stop; the steps before the failure stay in the trajectory.
    pub fn run_into(
        &self,
        parameters: &Parameters,
        trajectory: &mut ImpulseTrajectory,
    ) -> Result<(), ImpulseRunError> {
        let mut stepper = ImpulseStepper::new(&self.scene, self.settings, parameters)?;
        if let Some(given) = &parameters.articulation {
            given.check_steps(self.durations.len())?;
        }
        joints::join(&mut stepper, &self.scene, parameters)?;
        let dynamic = self.scene.dynamic_bodies().count();
        let (found, expected) = (parameters.wrenches.len(), self.durations.len() * dynamic);
        if found != 0 && found != expected {
            return Err(SceneError::Count { what: "applied wrenches", found, expected }.into());
        }
        *trajectory = ImpulseTrajectory {
            bodies: self.scene.bodies.len(),
            states: stepper.states().to_vec(),
            records: Vec::with_capacity(self.durations.len()),
            joints: Vec::new(),
            joint_impulses: Vec::new(),
            joint_solved: Vec::new(),
            interrupt: trajectory.interrupt.take().or_else(|| self.interrupt.clone()),
        };
        trajectory.push_joints(&stepper);
        for (k, &duration) in self.durations.iter().enumerate() {
            trajectory.go_on(k)?;
            let wrenches =
                if found == 0 { &[][..] } else { &parameters.wrenches[k * dynamic..][..dynamic] };
            if let (Some(given), Some(tree)) =
                (&parameters.articulation, stepper.trees_mut().first_mut())
            {
                joints::drive(tree, given, k);
            }
            trajectory.records.push(stepper.step(wrenches, duration)?);
            trajectory.states.extend_from_slice(stepper.states());
            trajectory.push_joints(&stepper);
            trajectory
                .joint_impulses
                .extend(stepper.trees().first().map(|tree| tree.impulses().to_vec()));
            trajectory.joint_solved.extend(stepper.trees().first().map(|t| t.solved().to_vec()));
        }
        Ok(())
    }
}
