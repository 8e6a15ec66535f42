//! `[[outcome]]`: the scalar that is differentiated.

use super::build::Context;
use super::error::FileError;
use super::schema::OutcomeWeights;
use crate::sensitivity::Outcome;
use crate::{Kinematics, Scene};
use nalgebra::Vector3;
use osculate_math::{Scalar, norm, so3};

/// Weights of the position and the rotation of the first dynamic actor where a file has no outcome: unequal, so
/// that no symmetry of a scene hides a derivative.
const POSITION: [f64; 3] = [1.0, 0.7, 0.4];
const ROTATION: [f64; 3] = [0.3, 0.5, 0.2];

/// A weighted sum of motions:
/// `Σ (w_p·p + w_r·log R + w_v·v + w_ω·ω + w_s ‖v‖)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneOutcome {
    /// The terms.
    pub terms: Vec<OutcomeTerm>,
}

/// One body after one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutcomeTerm {
    /// The body, by index.
    pub body: usize,
    /// After how many steps.
    pub step: usize,
    /// Weights of the position of the local origin \[1/m\].
    pub position: Vector3<f64>,
    /// Weights of the rotation vector \[1/rad\].
    pub rotation: Vector3<f64>,
    /// Weights of the velocity of the centre of mass \[s/m\].
    pub velocity: Vector3<f64>,
    /// Weights of the angular velocity \[s/rad\].
    pub angular_velocity: Vector3<f64>,
    /// Weight of the speed of the centre of mass \[s/m\].
    pub speed: f64,
}

impl OutcomeTerm {
    fn value<T: Scalar>(&self, motion: &Kinematics<T>) -> T {
        let mut total = dot(&motion.position, &self.position)
            + dot(&motion.velocity, &self.velocity)
            + dot(&motion.angular_velocity, &self.angular_velocity);
        if self.rotation != Vector3::zeros() {
            total += dot(&so3::log(&motion.rotation), &self.rotation);
        }
        if self.speed.abs() > 0.0 {
            total += norm::norm0(&motion.velocity) * self.speed;
        }
        total
    }
}

fn dot<T: Scalar>(x: &Vector3<T>, weights: &Vector3<f64>) -> T {
    x.x * weights.x + x.y * weights.y + x.z * weights.z
}

impl Outcome for SceneOutcome {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        let terms = self.terms.iter().filter(|term| term.step == step);
        terms.map(|term| term.value(&bodies[term.body])).fold(T::zero(), |sum, x| sum + x)
    }

    fn observes(&self, step: usize) -> bool {
        self.terms.iter().any(|term| term.step == step)
    }
}

/// The outcome of a file, or the default one.
pub(super) fn terms(
    context: &Context<'_>,
    list: &[OutcomeWeights],
    scene: &Scene,
    steps: usize,
) -> Result<SceneOutcome, FileError> {
    if list.is_empty() {
        let term = |body| OutcomeTerm {
            body,
            step: steps,
            position: Vector3::from(POSITION),
            rotation: Vector3::from(ROTATION),
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
            speed: 0.0,
        };
        return Ok(SceneOutcome { terms: scene.dynamic_bodies().take(1).map(term).collect() });
    }
    let terms = list.iter().enumerate().map(|(i, weights)| {
        let at = format!("outcome[{i}]");
        let body = context.actor(&format!("{at}.actor"), &weights.actor, scene)?;
        let step = weights.step.unwrap_or(steps);
        if step > steps {
            let allowed = format!("0 to {steps}");
            return Err(context.value(&format!("{at}.step"), step, allowed));
        }
        let given =
            [weights.position, weights.rotation, weights.velocity, weights.angular_velocity];
        if given.iter().all(Option::is_none) && weights.speed.is_none() {
            let allowed = "at least one of position, rotation, velocity, angular_velocity, speed";
            return Err(context.value(&at, "no weights", allowed));
        }
        let vector = |name: &str, x: Option<[f64; 3]>| {
            context.vector(&format!("{at}.{name}"), &x.unwrap_or_default())
        };
        Ok(OutcomeTerm {
            body,
            step,
            position: vector("position", weights.position)?,
            rotation: vector("rotation", weights.rotation)?,
            velocity: vector("velocity", weights.velocity)?,
            angular_velocity: vector("angular_velocity", weights.angular_velocity)?,
            speed: context.number(&format!("{at}.speed"), weights.speed.unwrap_or(0.0))?,
        })
    });
    Ok(SceneOutcome { terms: terms.collect::<Result<_, _>>()? })
}
