//! The impulse model.

use super::{ContactModel, Entry, ModelError};
use crate::trust::{Switch, nearest_contacts};
use osculate_dynamics::impulse::sensitivity::{
    ImpulseLayout, ImpulseParameters, ImpulsePath, Linearisation,
};
use osculate_dynamics::impulse::{
    ImpulseSettings, ImpulseSimulator, ImpulseTrajectory, RigidState,
};
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{OnFailure, Parameters, Scene, SceneError};
use osculate_math::{Jet, Scalar};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A roll-out whose steps are linearised.
pub struct ImpulseDerivatives<'a> {
    pub(crate) simulator: &'a ImpulseSimulator,
    pub(crate) parameters: &'a ImpulseParameters,
    pub(crate) trajectory: &'a ImpulseTrajectory,
    pub(crate) on_failure: OnFailure,
    linear: Linearisation<'a>,
}

impl ImpulseDerivatives<'_> {
    /// The steps.
    pub fn linear(&self) -> &Linearisation<'_> {
        &self.linear
    }
}

impl ContactModel for ImpulseSimulator {
    type Settings = ImpulseSettings;
    type Parameters<T: Scalar> = ImpulseParameters<T>;
    type Layout = ImpulseLayout;
    type Trajectory = ImpulseTrajectory;
    type Derivatives<'a> = ImpulseDerivatives<'a>;
    type Path<T: Scalar> = ImpulsePath<T>;

    fn new(
        scene: Scene,
        settings: ImpulseSettings,
        durations: Vec<f64>,
    ) -> Result<Self, SceneError> {
        Self::new(scene, settings, durations)
    }

    fn scene(&self) -> &Scene {
        self.scene()
    }

    fn settings(&self) -> &ImpulseSettings {
        self.settings()
    }

    fn durations(&self) -> &[f64] {
        self.durations()
    }

    fn interrupt_by(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt_by(flag);
    }

    fn interrupt(&self) -> Option<&Arc<AtomicBool>> {
        self.interrupt()
    }

    fn all_parameters(&self, scene: Parameters) -> ImpulseParameters {
        ImpulseParameters::of(self, scene)
    }

    fn of_scene<T: Scalar>(parameters: &ImpulseParameters<T>) -> &Parameters<T> {
        &parameters.scene
    }

    fn of_scene_mut<T: Scalar>(parameters: &mut ImpulseParameters<T>) -> &mut Parameters<T> {
        &mut parameters.scene
    }

    fn lift<T: Scalar>(parameters: &ImpulseParameters) -> ImpulseParameters<T> {
        parameters.lift()
    }

    fn layout(&self, parameters: &ImpulseParameters) -> ImpulseLayout {
        ImpulseLayout::new(self, parameters)
    }

    fn entries(layout: &ImpulseLayout) -> Vec<Entry> {
        let entries = layout.entries().iter();
        entries.map(|e| Entry { path: e.path.clone(), unit: e.unit }).collect()
    }

    fn values(layout: &ImpulseLayout, parameters: &ImpulseParameters) -> Vec<f64> {
        layout.values(parameters)
    }

    fn add<T: Scalar>(
        layout: &ImpulseLayout,
        parameters: &mut ImpulseParameters<T>,
        i: usize,
        x: T,
    ) {
        layout.add(parameters, i, x);
    }

    fn run_into(
        &self,
        parameters: &ImpulseParameters,
        trajectory: &mut ImpulseTrajectory,
    ) -> Result<(), ModelError> {
        Ok(parameters.run_into(self, trajectory)?)
    }

    fn interrupted_by(trajectory: ImpulseTrajectory, flag: Arc<AtomicBool>) -> ImpulseTrajectory {
        trajectory.interrupted_by(flag)
    }

    fn state(trajectory: &ImpulseTrajectory, step: usize, body: usize) -> RigidState {
        trajectory.state(step)[body]
    }

    fn unconverged(trajectory: &ImpulseTrajectory) -> usize {
        trajectory.unconverged()
    }

    /// With [`OnFailure::Continue`], steps that did not converge are taken as fixed points, and redundant rows keep their
    /// impulses.
    fn linearise<'a>(
        &'a self,
        parameters: &'a ImpulseParameters,
        trajectory: &'a ImpulseTrajectory,
        on_failure: OnFailure,
    ) -> Result<ImpulseDerivatives<'a>, ModelError> {
        let linear = Linearisation::with(self, parameters, trajectory, on_failure)?;
        Ok(ImpulseDerivatives { simulator: self, parameters, trajectory, on_failure, linear })
    }

    fn adjoint(
        derivatives: &ImpulseDerivatives<'_>,
        outcome: &impl Outcome,
    ) -> Result<(f64, Vec<f64>), ModelError> {
        Ok(derivatives.linear.adjoint(outcome)?)
    }

    fn path<const M: usize>(
        derivatives: &ImpulseDerivatives<'_>,
        parameters: &ImpulseParameters<Jet<M>>,
    ) -> Result<ImpulsePath<Jet<M>>, ModelError> {
        Ok(derivatives.linear.path(parameters)?)
    }

    fn state_on<T: Scalar>(path: &ImpulsePath<T>, step: usize, body: usize) -> RigidState<T> {
        path.state(step)[body]
    }

    /// `(J(θ + σ) − 2 J(θ) + J(θ − σ))/σ²`: there are first derivatives only. Of a kink or a jump within σ it sees what it
    /// does to the outcome. Not a number where a roll-out fails.
    fn curvature(
        derivatives: &ImpulseDerivatives<'_>,
        asked: &[(usize, f64)],
        outcome: &impl Outcome,
    ) -> Result<Vec<f64>, ModelError> {
        let ImpulseDerivatives { simulator, parameters, trajectory, .. } = derivatives;
        let layout = ImpulseLayout::new(simulator, parameters);
        let middle = simulator.value(trajectory, parameters, outcome);
        let second = |scratch: &mut ImpulseTrajectory, &(i, sigma): &(usize, f64)| {
            let mut at =
                |x: f64| simulator.value_at((&layout, parameters), (i, x), outcome, scratch);
            let sides = at(sigma).zip(at(-sigma));
            sides.map_or(f64::NAN, |(a, b)| ((a - middle) + (b - middle)) / (sigma * sigma))
        };
        Ok(asked.par_iter().map_init(ImpulseTrajectory::default, second).collect())
    }

    fn hessian_product(
        _derivatives: &ImpulseDerivatives<'_>,
        _direction: &[f64],
        _outcome: &impl Outcome,
    ) -> Result<Option<Vec<f64>>, ModelError> {
        Ok(None)
    }

    fn switches(
        derivatives: &ImpulseDerivatives<'_>,
        asked: &[(usize, f64)],
    ) -> Result<Vec<Vec<Switch>>, ModelError> {
        Ok(nearest_contacts(derivatives, asked))
    }
}
