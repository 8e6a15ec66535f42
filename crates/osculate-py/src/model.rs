//! The two contact models behind one set of questions.
//!
//! What both models answer is written once, generic over [`ContactModel`]; [`Model`] and [`RolledOut`] only choose.

use crate::arrays::Motions;
use crate::error::Failure;
use crate::outcome::Asked;
use crate::touch::Touch;
use nalgebra::Matrix3;
use osculate_dynamics::file::BuiltScene;
use osculate_dynamics::impulse::ImpulseSimulator;
use osculate_dynamics::sensitivity::hessian;
use osculate_dynamics::{Energies, Kinematics, OnFailure, Scene, Simulator, Wrench};
use osculate_fit::contact_model::{ContactModel, Entry};
use osculate_math::Jet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Directions of one pass of the tangent.
const WIDTH: usize = 8;

/// A simulation with its numbers.
pub(crate) struct Of<M: ContactModel> {
    simulator: Arc<M>,
    parameters: M::Parameters<f64>,
    layout: Arc<M::Layout>,
}

impl<M: ContactModel> Clone for Of<M> {
    fn clone(&self) -> Self {
        let (simulator, layout) = (Arc::clone(&self.simulator), Arc::clone(&self.layout));
        Self { simulator, parameters: self.parameters.clone(), layout }
    }
}

impl<M: ContactModel> Of<M> {
    pub(crate) fn new(simulator: M, parameters: M::Parameters<f64>) -> Self {
        Self::shared(Arc::new(simulator), parameters)
    }

    fn shared(simulator: Arc<M>, parameters: M::Parameters<f64>) -> Self {
        let layout = Arc::new(simulator.layout(&parameters));
        Self { simulator, parameters, layout }
    }

    fn values(&self) -> Vec<f64> {
        M::values(&self.layout, &self.parameters)
    }

    /// Which parameters are increments, whose value is zero wherever they stand (a rotation, a placement).
    fn increments(&self) -> Vec<bool> {
        let (mut moved, before) = (self.parameters.clone(), self.values());
        for (i, _) in before.iter().enumerate().filter(|(_, x)| x.to_bits() << 1 == 0) {
            M::add(&self.layout, &mut moved, i, 0.125);
        }
        let after = M::values(&self.layout, &moved);
        before
            .iter()
            .zip(after)
            .map(|(x, y)| x.to_bits() << 1 == 0 && y.to_bits() << 1 == 0)
            .collect()
    }

    fn with_values(&self, wanted: &[f64], increments: &[bool]) -> Self {
        let mut out = self.clone();
        // x + (y − x) is y but for rounding of the larger one; a second time it is y.
        for round in 0..3 {
            let now = out.values();
            for (i, (&wanted, now)) in wanted.iter().zip(now).enumerate() {
                let rest = wanted - now;
                if rest.abs() > 0.0 && (round == 0 || !increments[i]) {
                    M::add(&out.layout, &mut out.parameters, i, rest);
                }
            }
        }
        out
    }

    fn with_wrenches(&self, wrenches: Vec<Wrench>) -> Self {
        let mut parameters = self.parameters.clone();
        M::of_scene_mut(&mut parameters).wrenches = wrenches;
        Self::shared(Arc::clone(&self.simulator), parameters)
    }

    fn run(&self, flag: Arc<AtomicBool>) -> Result<Rolled<M>, Failure> {
        let mut trajectory = M::interrupted_by(M::Trajectory::default(), Arc::clone(&flag));
        let begin = Instant::now();
        self.simulator.run_into(&self.parameters, &mut trajectory)?;
        Ok(Rolled { of: self.clone(), trajectory, flag, seconds: begin.elapsed().as_secs_f64() })
    }
}

/// A roll-out, and what was rolled out.
pub(crate) struct Rolled<M: ContactModel> {
    of: Of<M>,
    trajectory: M::Trajectory,
    /// That of the trajectory: once true, its derivatives end with an error.
    flag: Arc<AtomicBool>,
    seconds: f64,
}

impl<M: ContactModel> Rolled<M> {
    /// Hands the motion of every body after every step to `each`.
    fn visit(&self, mut each: impl FnMut(&Kinematics)) {
        let bodies = &M::of_scene(&self.of.parameters).bodies;
        for step in 0..=self.of.simulator.steps() {
            for (body, p) in bodies.iter().enumerate() {
                each(&M::state(&self.trajectory, step, body).kinematics(&p.center));
            }
        }
    }

    fn motions(&self) -> Motions {
        let simulator = &self.of.simulator;
        let mut out = Motions::for_states((simulator.steps() + 1) * simulator.scene().bodies.len());
        self.visit(|k| out.push(k));
        out
    }

    fn linearise(&self) -> Result<M::Derivatives<'_>, Failure> {
        let Of { simulator, parameters, .. } = &self.of;
        Ok(simulator.linearise(parameters, &self.trajectory, OnFailure::Stop)?)
    }

    fn gradient(&self, asked: &Asked) -> Result<(f64, Vec<f64>), Failure> {
        Ok(M::adjoint(&self.linearise()?, asked)?)
    }

    /// One pass for every [`WIDTH`] directions.
    fn tangents(&self, directions: &[Vec<f64>]) -> Result<Vec<Motions>, Failure> {
        // A linearisation of the impulse model costs a pass over the steps: made once.
        let (linear, steps) = (self.linearise()?, self.of.simulator.steps());
        let mut out = vec![Motions::default(); directions.len()];
        for (some, out) in directions.chunks(WIDTH).zip(out.chunks_mut(WIDTH)) {
            let mut seeded = M::lift::<Jet<WIDTH>>(&self.of.parameters);
            seed(some, |i, x| M::add(&self.of.layout, &mut seeded, i, x));
            let path = M::path(&linear, &seeded)?;
            for step in 0..=steps {
                for (body, p) in M::of_scene(&seeded).bodies.iter().enumerate() {
                    spread(&M::state_on(&path, step, body).kinematics(&p.center), out);
                }
            }
        }
        Ok(out)
    }
}

/// A scene under one of the models, with its numbers.
#[derive(Clone)]
pub(crate) enum Model {
    Compliant(Of<Simulator>),
    Impulse(Of<ImpulseSimulator>),
}

/// A roll-out of one of them.
pub(crate) enum RolledOut {
    Compliant(Box<Rolled<Simulator>>),
    Impulse(Box<Rolled<ImpulseSimulator>>),
}

/// `either!(Model, self, of => …)`: the same expression under each model.
macro_rules! either {
    ($kind:ident, $value:expr, $of:ident => $answer:expr) => {
        match $value {
            $kind::Compliant($of) => $answer,
            $kind::Impulse($of) => $answer,
        }
    };
}

/// Value, gradient, and product of the Hessian with a direction.
pub(crate) type SecondOrder = (f64, Vec<f64>, Vec<f64>);

impl Model {
    pub(crate) fn new(built: &BuiltScene) -> Self {
        let parameters = built.parameters.clone();
        match &built.impulse {
            None => Self::Compliant(Of::new(built.simulator.clone(), parameters)),
            Some(simulator) => {
                let parameters = simulator.all_parameters(parameters);
                Self::Impulse(Of::new(simulator.clone(), parameters))
            }
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Compliant(_) => "compliant",
            Self::Impulse(_) => "impulse",
        }
    }

    pub(crate) fn scene(&self) -> &Scene {
        either!(Self, self, of => of.simulator.scene())
    }

    pub(crate) fn durations(&self) -> &[f64] {
        either!(Self, self, of => of.simulator.durations())
    }

    /// Paths and units of the parameters.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        match self {
            Self::Compliant(of) => Simulator::entries(&of.layout),
            Self::Impulse(of) => ImpulseSimulator::entries(&of.layout),
        }
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        either!(Self, self, of => of.values())
    }

    pub(crate) fn increments(&self) -> Vec<bool> {
        either!(Self, self, of => of.increments())
    }

    /// The same scene with other values; increments move it, one after the other.
    pub(crate) fn with_values(&self, wanted: &[f64], increments: &[bool]) -> Self {
        match self {
            Self::Compliant(of) => Self::Compliant(of.with_values(wanted, increments)),
            Self::Impulse(of) => Self::Impulse(of.with_values(wanted, increments)),
        }
    }

    /// Whether every number is one that a scene can have.
    pub(crate) fn validate(&self) -> Result<(), Failure> {
        let parameters = match self {
            Self::Compliant(of) => &of.parameters,
            Self::Impulse(of) => &of.parameters.scene,
        };
        parameters.validate(self.scene()).map_err(|e| Failure::Scene(e.to_string()))
    }

    /// The same scene with applied wrenches, `wrenches[step * dynamic bodies + i]`.
    pub(crate) fn with_wrenches(&self, wrenches: Vec<Wrench>) -> Self {
        match self {
            Self::Compliant(of) => Self::Compliant(of.with_wrenches(wrenches)),
            Self::Impulse(of) => Self::Impulse(of.with_wrenches(wrenches)),
        }
    }

    /// Rolls out; ends with an error once the flag is true.
    pub(crate) fn run(&self, flag: Arc<AtomicBool>) -> Result<RolledOut, Failure> {
        match self {
            Self::Compliant(of) => Ok(RolledOut::Compliant(Box::new(of.run(flag)?))),
            Self::Impulse(of) => Ok(RolledOut::Impulse(Box::new(of.run(flag)?))),
        }
    }
}

impl RolledOut {
    /// Once true, derivatives end with an error.
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        either!(Self, self, rolled => &rolled.flag)
    }

    /// Motion of every body after every step.
    pub(crate) fn motions(&self) -> Motions {
        either!(Self, self, rolled => rolled.motions())
    }

    /// Wall time of the roll-out itself (s).
    pub(crate) fn seconds(&self) -> f64 {
        either!(Self, self, rolled => rolled.seconds)
    }

    pub(crate) fn unconverged(&self) -> usize {
        match self {
            Self::Compliant(rolled) => rolled.trajectory.unconverged(),
            Self::Impulse(rolled) => rolled.trajectory.unconverged(),
        }
    }

    /// Iterations (or sweeps) and residual of every stage (or step).
    pub(crate) fn solves(&self) -> (Vec<i64>, Vec<f64>) {
        match self {
            Self::Compliant(rolled) => {
                let stats = rolled.trajectory.stats.iter();
                stats.map(|s| (s.iterations as i64, s.residual)).unzip()
            }
            Self::Impulse(rolled) => {
                let records = rolled.trajectory.records.iter();
                records.map(|r| (r.stats.sweeps as i64, r.stats.residual)).unzip()
            }
        }
    }

    /// An outcome and its gradient, by the adjoint.
    pub(crate) fn gradient(&self, asked: &Asked) -> Result<(f64, Vec<f64>), Failure> {
        either!(Self, self, rolled => rolled.gradient(asked))
    }

    /// Derivatives of the motion along directions of the parameters, one of [`Motions`] each.
    pub(crate) fn tangents(&self, directions: &[Vec<f64>]) -> Result<Vec<Motions>, Failure> {
        either!(Self, self, rolled => rolled.tangents(directions))
    }

    /// Outcome, gradient, and the Hessian times a direction.
    pub(crate) fn second_order(
        &self,
        direction: &[f64],
        asked: &Asked,
    ) -> Result<SecondOrder, Failure> {
        let Self::Compliant(rolled) = self else {
            return Err(Failure::Gradient(
                "second derivatives: the impulse model has first derivatives only; use model = \"compliant\"".into(),
            ));
        };
        let Of { simulator, parameters, .. } = &rolled.of;
        Ok(hessian::vector_product(simulator, &rolled.trajectory, parameters, direction, asked)?)
    }

    /// Energies after every step.
    pub(crate) fn energies(&self) -> Result<Vec<Energies>, Failure> {
        let Self::Compliant(rolled) = self else {
            return Err(Failure::Scene(
                "energies: the impulse model stores none in contacts; use velocities".into(),
            ));
        };
        let Of { simulator, parameters, .. } = &rolled.of;
        let of = |k| match rolled.flag.load(Ordering::Relaxed) {
            true => Err(Failure::Scene("interrupted".into())),
            false => Ok(simulator.energies(&rolled.trajectory, parameters, k)?),
        };
        (0..=simulator.steps()).map(of).collect()
    }

    /// What touched at the end of a step, from 1.
    pub(crate) fn contacts(&self, step: usize) -> Result<Vec<Touch>, Failure> {
        match self {
            Self::Compliant(rolled) => {
                let Of { simulator, parameters, .. } = &rolled.of;
                let found = simulator.contacts(&rolled.trajectory, parameters, step - 1)?;
                Ok(found.iter().map(Touch::of_record).collect())
            }
            Self::Impulse(rolled) => {
                let duration = rolled.of.simulator.durations()[step - 1];
                Ok(Touch::of_impulses(&rolled.trajectory, step, duration))
            }
        }
    }
}

fn seed(directions: &[Vec<f64>], mut add: impl FnMut(usize, Jet<WIDTH>)) {
    let count = directions.first().map_or(0, Vec::len);
    for i in 0..count {
        let mut eps = [0.0; WIDTH];
        for (e, d) in eps.iter_mut().zip(directions) {
            *e = d[i];
        }
        if eps.iter().any(|e| e.abs() > 0.0) {
            add(i, Jet { re: 0.0, eps });
        }
    }
}

/// Hands each direction its derivative of the motion of one body.
fn spread(k: &Kinematics<Jet<WIDTH>>, out: &mut [Motions]) {
    for (d, out) in out.iter_mut().enumerate() {
        out.push(&Kinematics {
            position: k.position.map(|x| x.eps[d]),
            rotation: Matrix3::from_fn(|i, j| k.rotation[(i, j)].eps[d]),
            velocity: k.velocity.map(|x| x.eps[d]),
            angular_velocity: k.angular_velocity.map(|x| x.eps[d]),
        });
    }
}
