//! One trait over the two contact models: how a scene is rolled out, numbered and differentiated.
//!
//! Whatever asks about roll-outs (checks of gradients, fits, verdicts of trust) is written once, generic over
//! [`ContactModel`]; [`Simulator`](osculate_dynamics::Simulator) and
//! [`ImpulseSimulator`](osculate_dynamics::impulse::ImpulseSimulator) implement it.

mod compliant;
mod error;
mod impulse;

pub use compliant::Kept;
pub use error::ModelError;
pub use impulse::ImpulseDerivatives;

use crate::trust::Switch;
use osculate_dynamics::impulse::RigidState;
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{Kinematics, OnFailure, Parameters, Scene, SceneError};
use osculate_math::{Jet, Scalar};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A number of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path, unique in the scene.
    pub path: String,
    /// Unit, empty for a pure number.
    pub unit: &'static str,
}

/// A contact model with a scene, settings and a time grid.
pub trait ContactModel: Clone + Send + Sync + Sized + 'static {
    /// How it is solved.
    type Settings: Copy + Send + Sync;
    /// Every number that a trajectory depends on.
    type Parameters<T: Scalar>: Clone + Send + Sync;
    /// The flat order of these numbers.
    type Layout: Send + Sync;
    /// A roll-out.
    type Trajectory: Default + Send + Sync;
    /// A roll-out that can be differentiated.
    type Derivatives<'a>: Sync
    where
        Self: 'a;
    /// States of a roll-out with derivatives.
    type Path<T: Scalar>;

    /// A simulation of a scene with steps of the given durations \[s\].
    ///
    /// # Errors
    /// Where the scene, the settings or a duration is not valid.
    fn new(scene: Scene, settings: Self::Settings, durations: Vec<f64>)
    -> Result<Self, SceneError>;
    /// The scene.
    fn scene(&self) -> &Scene;
    /// The settings.
    fn settings(&self) -> &Self::Settings;
    /// Durations of the steps \[s\].
    fn durations(&self) -> &[f64];

    /// Once `flag` is true, roll-outs and derivatives of them stop with an error, but for trajectories with a flag of their own.
    fn interrupt_by(&mut self, flag: Arc<AtomicBool>);
    /// The flag of [`ContactModel::interrupt_by`].
    fn interrupt(&self) -> Option<&Arc<AtomicBool>>;

    /// The numbers of the simulation, with bodies, gravity, pairs and what acts in steps from `scene`.
    fn all_parameters(&self, scene: Parameters) -> Self::Parameters<f64>;
    /// Bodies, gravity, pairs and what acts in steps.
    fn of_scene<T: Scalar>(parameters: &Self::Parameters<T>) -> &Parameters<T>;
    /// As [`ContactModel::of_scene`], to change them.
    fn of_scene_mut<T: Scalar>(parameters: &mut Self::Parameters<T>) -> &mut Parameters<T>;
    /// The same numbers as constants of another scalar.
    fn lift<T: Scalar>(parameters: &Self::Parameters<f64>) -> Self::Parameters<T>;

    /// The order of the numbers.
    fn layout(&self, parameters: &Self::Parameters<f64>) -> Self::Layout;
    /// Paths and units, in order.
    fn entries(layout: &Self::Layout) -> Vec<Entry>;
    /// The flat values; a rotation has the value 0.
    fn values(layout: &Self::Layout, parameters: &Self::Parameters<f64>) -> Vec<f64>;
    /// Adds `x` to number `i`; derivatives that `x` carries come along.
    fn add<T: Scalar>(layout: &Self::Layout, parameters: &mut Self::Parameters<T>, i: usize, x: T);

    /// Rolls out the whole time grid, in memory that is used again.
    ///
    /// # Errors
    /// Where a step fails or the parameters do not fit the scene.
    fn run_into(
        &self,
        parameters: &Self::Parameters<f64>,
        trajectory: &mut Self::Trajectory,
    ) -> Result<(), ModelError>;
    /// The same memory; once `flag` is true, a roll-out into it, or a derivative of it, stops with an error.
    fn interrupted_by(trajectory: Self::Trajectory, flag: Arc<AtomicBool>) -> Self::Trajectory;
    /// State of a body after some steps.
    fn state(trajectory: &Self::Trajectory, step: usize, body: usize) -> RigidState;
    /// Solves that did not meet their tolerance.
    fn unconverged(trajectory: &Self::Trajectory) -> usize;

    /// A roll-out, ready to be differentiated.
    ///
    /// * `on_failure`: what to do where a step has no derivative for sure; see the model's page.
    ///
    /// # Errors
    /// Where a derivative does not exist and `on_failure` says stop, or a setting has none.
    fn linearise<'a>(
        &'a self,
        parameters: &'a Self::Parameters<f64>,
        trajectory: &'a Self::Trajectory,
        on_failure: OnFailure,
    ) -> Result<Self::Derivatives<'a>, ModelError>;
    /// An outcome and its derivative by every number, in order: the reverse sweep.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    fn adjoint(
        derivatives: &Self::Derivatives<'_>,
        outcome: &impl Outcome,
    ) -> Result<(f64, Vec<f64>), ModelError>;
    /// The states with their derivatives along `M` directions.
    ///
    /// * `parameters`: the numbers that were linearised, each with its derivative along the directions.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    fn path<const M: usize>(
        derivatives: &Self::Derivatives<'_>,
        parameters: &Self::Parameters<Jet<M>>,
    ) -> Result<Self::Path<Jet<M>>, ModelError>;
    /// State of a body after some steps, with its derivatives.
    fn state_on<T: Scalar>(path: &Self::Path<T>, step: usize, body: usize) -> RigidState<T>;

    /// `d²J/dθ²` of each number asked about: exact, or over one standard error where there is none that is exact.
    ///
    /// * `asked`: index and standard error.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    fn curvature(
        derivatives: &Self::Derivatives<'_>,
        asked: &[(usize, f64)],
        outcome: &impl Outcome,
    ) -> Result<Vec<f64>, ModelError>;
    /// `∂²J/∂θ∂d`: derivative of the gradient of an outcome along a direction; none where there are first derivatives only.
    ///
    /// * `direction`: one number for each number, in order.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    fn hessian_product(
        derivatives: &Self::Derivatives<'_>,
        direction: &[f64],
        outcome: &impl Outcome,
    ) -> Result<Option<Vec<f64>>, ModelError>;
    /// The nearest switch of every kind that occurs, for each number asked about.
    ///
    /// * `asked`: index and a large change.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    fn switches(
        derivatives: &Self::Derivatives<'_>,
        asked: &[(usize, f64)],
    ) -> Result<Vec<Vec<Switch>>, ModelError>;

    /// How many steps there are.
    fn steps(&self) -> usize {
        self.durations().len()
    }

    /// Times of the states \[s\], from 0.
    fn times(&self) -> Vec<f64> {
        osculate_dynamics::step_times(self.durations())
    }

    /// As [`ContactModel::run_into`].
    ///
    /// # Errors
    /// As [`ContactModel::run_into`].
    fn run(&self, parameters: &Self::Parameters<f64>) -> Result<Self::Trajectory, ModelError> {
        let mut trajectory = Self::Trajectory::default();
        self.run_into(parameters, &mut trajectory)?;
        Ok(trajectory)
    }

    /// The outcome of a roll-out.
    fn value(
        &self,
        trajectory: &Self::Trajectory,
        parameters: &Self::Parameters<f64>,
        outcome: &impl Outcome,
    ) -> f64 {
        evaluate(self.steps(), Self::of_scene(parameters), outcome, |step, body| {
            Self::state(trajectory, step, body)
        })
    }

    /// The outcome of a roll-out at numbers of which one is changed by `x`; none where the roll-out fails.
    fn value_at(
        &self,
        (layout, parameters): (&Self::Layout, &Self::Parameters<f64>),
        (i, x): (usize, f64),
        outcome: &impl Outcome,
        scratch: &mut Self::Trajectory,
    ) -> Option<f64> {
        let mut changed = parameters.clone();
        Self::add(layout, &mut changed, i, x);
        self.run_into(&changed, scratch).ok()?;
        Some(self.value(scratch, &changed, outcome)).filter(|v| v.is_finite())
    }

    /// An outcome and its derivative by each number of `which`, `M` at a time: the tangent.
    ///
    /// # Errors
    /// Where the parameters do not fit the scene.
    fn tangent<const M: usize>(
        &self,
        derivatives: &Self::Derivatives<'_>,
        (layout, parameters): (&Self::Layout, &Self::Parameters<f64>),
        which: &[usize],
        outcome: &impl Outcome,
    ) -> Result<Vec<f64>, ModelError> {
        let mut gradient = Vec::with_capacity(which.len());
        for chunk in which.chunks(M) {
            let mut seeded = Self::lift::<Jet<M>>(parameters);
            for (direction, &i) in chunk.iter().enumerate() {
                Self::add(layout, &mut seeded, i, Jet::variable(0.0, direction));
            }
            let path = Self::path(derivatives, &seeded)?;
            let total = evaluate(self.steps(), Self::of_scene(&seeded), outcome, |step, body| {
                Self::state_on(&path, step, body)
            });
            gradient.extend_from_slice(&total.eps[..chunk.len()]);
        }
        Ok(gradient)
    }
}

/// The sum of an outcome over the steps that it observes.
fn evaluate<T: Scalar>(
    steps: usize,
    parameters: &Parameters<T>,
    outcome: &impl Outcome,
    state: impl Fn(usize, usize) -> RigidState<T>,
) -> T {
    let mut bodies: Vec<Kinematics<T>> = Vec::with_capacity(parameters.bodies.len());
    let mut total = T::zero();
    for step in (0..=steps).filter(|&k| outcome.observes(k)) {
        bodies.clear();
        let all = parameters.bodies.iter().enumerate();
        bodies.extend(all.map(|(i, p)| state(step, i).kinematics(&p.center)));
        total += outcome.contribution(step, &bodies);
    }
    total
}

/// Index of a path among entries.
pub fn index_of(entries: &[Entry], path: &str) -> Option<usize> {
    entries.iter().position(|e| e.path == path)
}
