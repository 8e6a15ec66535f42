//! The compliant model.

use super::{ContactModel, Entry, ModelError};
use crate::trust::{Switch, nearest_samples};
use osculate_dynamics::impulse::RigidState;
use osculate_dynamics::sensitivity::{Outcome, adjoint, hessian, tangent};
use osculate_dynamics::{
    BodyState, Layout, OnFailure, Parameters, Path, RunError, Scene, SceneError, Settings,
    Simulator, Trajectory,
};
use osculate_math::{Jet, Scalar};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Columns of the Hessian of one pass.
const WIDTH: usize = 4;

/// A roll-out that kept its factors.
pub type Kept<'a> = (&'a Simulator, &'a Parameters, &'a Trajectory);

fn rigid<T: Scalar>(state: &BodyState<T>) -> RigidState<T> {
    RigidState {
        center: state.center,
        rotation: state.rotation,
        velocity: state.velocity,
        angular_velocity: state.angular_velocity(),
    }
}

impl ContactModel for Simulator {
    type Settings = Settings;
    type Parameters<T: Scalar> = Parameters<T>;
    type Layout = Layout;
    type Trajectory = Trajectory;
    type Derivatives<'a> = Kept<'a>;
    type Path<T: Scalar> = Path<T>;

    fn new(scene: Scene, settings: Settings, durations: Vec<f64>) -> Result<Self, SceneError> {
        Self::new(scene, settings, durations)
    }

    fn scene(&self) -> &Scene {
        self.scene()
    }

    fn settings(&self) -> &Settings {
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

    fn all_parameters(&self, scene: Parameters) -> Parameters {
        scene
    }

    fn of_scene<T: Scalar>(parameters: &Parameters<T>) -> &Parameters<T> {
        parameters
    }

    fn of_scene_mut<T: Scalar>(parameters: &mut Parameters<T>) -> &mut Parameters<T> {
        parameters
    }

    fn lift<T: Scalar>(parameters: &Parameters) -> Parameters<T> {
        parameters.lift()
    }

    fn layout(&self, parameters: &Parameters) -> Layout {
        Layout::new(self.scene(), parameters)
    }

    fn entries(layout: &Layout) -> Vec<Entry> {
        let entries = layout.entries().iter();
        entries.map(|e| Entry { path: e.path.clone(), unit: e.unit }).collect()
    }

    fn values(layout: &Layout, parameters: &Parameters) -> Vec<f64> {
        layout.values(parameters)
    }

    fn add<T: Scalar>(layout: &Layout, parameters: &mut Parameters<T>, i: usize, x: T) {
        layout.add(parameters, i, x);
    }

    fn run_into(
        &self,
        parameters: &Parameters,
        trajectory: &mut Trajectory,
    ) -> Result<(), ModelError> {
        Ok(self.run_into(parameters, trajectory)?)
    }

    fn interrupted_by(trajectory: Trajectory, flag: Arc<AtomicBool>) -> Trajectory {
        trajectory.interrupted_by(flag)
    }

    fn state(trajectory: &Trajectory, step: usize, body: usize) -> RigidState {
        rigid(&trajectory.path.state(step)[body])
    }

    fn unconverged(trajectory: &Trajectory) -> usize {
        trajectory.unconverged()
    }

    /// A stage that did not converge is taken as if it were a root; how many there are is in the trajectory.
    fn linearise<'a>(
        &'a self,
        parameters: &'a Parameters,
        trajectory: &'a Trajectory,
        _on_failure: OnFailure,
    ) -> Result<Kept<'a>, ModelError> {
        Ok((self, parameters, trajectory))
    }

    fn adjoint(
        (simulator, parameters, trajectory): &Kept<'_>,
        outcome: &impl Outcome,
    ) -> Result<(f64, Vec<f64>), ModelError> {
        Ok(adjoint::gradient(simulator, trajectory, parameters, outcome)?)
    }

    fn path<const M: usize>(
        (simulator, _, trajectory): &Kept<'_>,
        parameters: &Parameters<Jet<M>>,
    ) -> Result<Path<Jet<M>>, ModelError> {
        Ok(tangent::path(simulator, trajectory, parameters)?)
    }

    fn state_on<T: Scalar>(path: &Path<T>, step: usize, body: usize) -> RigidState<T> {
        rigid(&path.state(step)[body])
    }

    fn curvature(
        (simulator, parameters, trajectory): &Kept<'_>,
        asked: &[(usize, f64)],
        outcome: &impl Outcome,
    ) -> Result<Vec<f64>, ModelError> {
        let chunks: Result<Vec<Vec<f64>>, RunError> = asked
            .par_chunks(WIDTH)
            .map(|chunk| {
                let which: Vec<usize> = chunk.iter().map(|a| a.0).collect();
                hessian::hessian::<WIDTH>(simulator, trajectory, parameters, &which, outcome)
                    .map(|h| (0..chunk.len()).map(|k| h[(k, k)]).collect())
            })
            .collect();
        Ok(chunks?.concat())
    }

    fn hessian_product(
        (simulator, parameters, trajectory): &Kept<'_>,
        direction: &[f64],
        outcome: &impl Outcome,
    ) -> Result<Option<Vec<f64>>, ModelError> {
        let (_, _, product) =
            hessian::vector_product(simulator, trajectory, parameters, direction, outcome)?;
        Ok(Some(product))
    }

    fn switches(
        derivatives: &Kept<'_>,
        asked: &[(usize, f64)],
    ) -> Result<Vec<Vec<Switch>>, ModelError> {
        let which: Vec<usize> = asked.iter().map(|a| a.0).collect();
        Ok(nearest_samples(*derivatives, &which)?)
    }
}
