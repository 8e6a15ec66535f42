//! What a layer observes of a roll-out, and its cotangents.

use super::place::{Named, body_index};
use super::spec::{FORCE, Output, STATE};
use crate::LearnError;
use nalgebra::Vector3;
use osculate_dynamics::Kinematics;
use osculate_dynamics::sensitivity::Outcome;
use osculate_fit::contact_model::{ContactModel, index_of};
use osculate_math::Scalar;

/// An output with its body.
enum Observed {
    State { body: usize, step: usize },
    Force(Force),
}

/// A contact force and what it depends on beside velocities.
struct Force {
    body: usize,
    step: usize,
    duration: f64,
    /// Among the wrenches of the scene, where it has any.
    wrench: Option<usize>,
    /// Where mass, gravity and applied force stand in the flat order.
    mass: Option<usize>,
    gravity: [Option<usize>; 3],
    applied: [Option<usize>; 3],
}

/// What is observed.
pub(super) struct Outputs {
    all: Vec<Observed>,
    columns: usize,
}

impl Outputs {
    /// Finds bodies and steps.
    pub(super) fn new<S: ContactModel>(
        simulator: &S,
        (layout, parameters): (&S::Layout, &S::Parameters<f64>),
        outputs: &[Output],
    ) -> Result<Self, LearnError> {
        let (scene, steps) = (simulator.scene(), simulator.steps());
        let (mut all, mut columns) = (Vec::new(), 0);
        for (i, output) in outputs.iter().enumerate() {
            let place = format!("output {i}");
            let (Output::State { body: name, step } | Output::ContactForce { body: name, step }) =
                output;
            let body = body_index(scene, Named { place: &place, name })?;
            let first = usize::from(matches!(output, Output::ContactForce { .. }));
            if !(first..=steps).contains(step) {
                let allowed = format!("{first} to {steps}");
                return Err(LearnError::Step { place, found: *step, allowed });
            }
            all.push(match output {
                Output::State { step, .. } => Observed::State { body, step: *step },
                Output::ContactForce { step, .. } => {
                    let why = if !scene.bodies[body].is_dynamic() {
                        Some("is static: its momentum tells no force")
                    } else if scene.articulation.is_some() {
                        Some("stands in a scene with joints: its momentum changes by them too")
                    } else {
                        None
                    };
                    if let Some(why) = why {
                        return Err(LearnError::Unsuitable { place, name: name.clone(), why });
                    }
                    Observed::Force(Force::new(simulator, (layout, parameters), (body, *step)))
                }
            });
            columns += output.columns();
        }
        Ok(Self { all, columns })
    }

    /// How many columns there are.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// The outputs of a roll-out.
    pub(super) fn read<S: ContactModel>(
        &self,
        parameters: &S::Parameters<f64>,
        trajectory: &S::Trajectory,
    ) -> Vec<f64> {
        let scene = S::of_scene(parameters);
        let motion = |step: usize, body: usize| {
            S::state(trajectory, step, body).kinematics(&scene.bodies[body].center)
        };
        let mut out = Vec::with_capacity(self.columns);
        for observed in &self.all {
            match observed {
                Observed::State { body, step } => {
                    let k = motion(*step, *body);
                    out.extend(k.position.iter());
                    out.extend(k.rotation.transpose().iter());
                    out.extend(k.velocity.iter());
                    out.extend(k.angular_velocity.iter());
                }
                Observed::Force(f) => {
                    let change =
                        motion(f.step, f.body).velocity - motion(f.step - 1, f.body).velocity;
                    let applied = f.wrench.map_or_else(Vector3::zeros, |w| scene.wrenches[w].force);
                    let m = scene.bodies[f.body].mass;
                    out.extend((change * (m / f.duration) - scene.gravity * m - applied).iter());
                }
            }
        }
        out
    }

    /// Cotangents of the motion from those of the outputs.
    pub(super) fn cotangents(
        &self,
        steps: usize,
        mass: impl Fn(usize) -> f64,
        bars: &[f64],
    ) -> Bars {
        let mut out = Bars { all: Vec::new(), observed: vec![false; steps + 1] };
        let mut at = bars;
        for observed in &self.all {
            match observed {
                Observed::State { body, step } => {
                    let (bar, rest) = at.split_at(STATE);
                    let mut numbers = [0.0; STATE];
                    numbers.copy_from_slice(bar);
                    out.push(*step, *body, numbers);
                    at = rest;
                }
                Observed::Force(f) => {
                    let (bar, rest) = at.split_at(FORCE);
                    let rate = mass(f.body) / f.duration;
                    for (step, sign) in [(f.step, rate), (f.step - 1, -rate)] {
                        let mut numbers = [0.0; STATE];
                        for k in 0..FORCE {
                            numbers[12 + k] = sign * bar[k];
                        }
                        out.push(step, f.body, numbers);
                    }
                    at = rest;
                }
            }
        }
        out
    }

    /// Adds what outputs depend on directly: mass, gravity and applied forces of contact forces.
    pub(super) fn add_direct<S: ContactModel>(
        &self,
        (parameters, trajectory): (&S::Parameters<f64>, &S::Trajectory),
        bars: &[f64],
        gradient: &mut [f64],
    ) {
        let scene = S::of_scene(parameters);
        let mut at = bars;
        for observed in &self.all {
            let Observed::Force(f) = observed else {
                at = &at[STATE..];
                continue;
            };
            let (bar, rest) = at.split_at(FORCE);
            let velocity = |step: usize| S::state(trajectory, step, f.body).velocity;
            let rate = (velocity(f.step) - velocity(f.step - 1)) / f.duration - scene.gravity;
            for k in 0..FORCE {
                for (entry, by) in [
                    (f.mass, rate[k]),
                    (f.gravity[k], -scene.bodies[f.body].mass),
                    (f.applied[k], -1.0),
                ] {
                    if let Some(entry) = entry {
                        gradient[entry] += bar[k] * by;
                    }
                }
            }
            at = rest;
        }
    }
}

impl Force {
    fn new<S: ContactModel>(
        simulator: &S,
        (layout, parameters): (&S::Layout, &S::Parameters<f64>),
        (body, step): (usize, usize),
    ) -> Self {
        let (scene, entries) = (simulator.scene(), S::entries(layout));
        let name = &scene.bodies[body].name;
        let axes = |path: &str| ["x", "y", "z"].map(|a| index_of(&entries, &format!("{path}_{a}")));
        let dynamic: Vec<usize> = scene.dynamic_bodies().collect();
        let place = dynamic.iter().position(|&d| d == body);
        let acts = !S::of_scene(parameters).wrenches.is_empty();
        Self {
            body,
            step,
            duration: simulator.durations()[step - 1],
            wrench: place.filter(|_| acts).map(|p| (step - 1) * dynamic.len() + p),
            mass: index_of(&entries, &format!("{name}.mass")),
            gravity: axes("gravity"),
            applied: axes(&format!("{name}.wrench.{}.force", step - 1)),
        }
    }
}

/// `Σ p̄·p + ⟨R̄, R⟩ + v̄·v + ω̄·ω` over observed states: its gradient is the vector–Jacobian product.
pub(super) struct Bars {
    all: Vec<(usize, usize, [f64; STATE])>,
    observed: Vec<bool>,
}

impl Bars {
    fn push(&mut self, step: usize, body: usize, numbers: [f64; STATE]) {
        self.observed[step] = true;
        self.all.push((step, body, numbers));
    }
}

impl Outcome for Bars {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        let mut total = T::zero();
        for (_, body, bar) in self.all.iter().filter(|b| b.0 == step) {
            let k = &bodies[*body];
            for i in 0..3 {
                total += k.position[i] * bar[i];
                for j in 0..3 {
                    total += k.rotation[(i, j)] * bar[3 + 3 * i + j];
                }
                total += k.velocity[i] * bar[12 + i];
                total += k.angular_velocity[i] * bar[15 + i];
            }
        }
        total
    }

    fn observes(&self, step: usize) -> bool {
        self.observed[step]
    }
}
