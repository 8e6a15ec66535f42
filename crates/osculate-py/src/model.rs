//! The two contact models behind one set of questions.

use crate::arrays::Motions;
use crate::error::Failure;
use crate::outcome::Asked;
use nalgebra::Matrix3;
use osculate_dynamics::file::BuiltScene;
use osculate_dynamics::impulse::sensitivity::{ImpulseLayout, ImpulseParameters, Linearisation};
use osculate_dynamics::impulse::{ImpulseSimulator, ImpulseTrajectory};
use osculate_dynamics::sensitivity::{adjoint, hessian, tangent};
use osculate_dynamics::{Kinematics, Layout, Parameters, Scene, Simulator, Trajectory, Wrench};
use osculate_math::Jet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Directions of one pass of the tangent.
const WIDTH: usize = 8;

/// A scene under one of the models, with its numbers.
#[derive(Clone)]
pub(crate) enum Model {
    Compliant {
        simulator: Arc<Simulator>,
        parameters: Parameters,
        layout: Arc<Layout>,
    },
    Impulse {
        simulator: Arc<ImpulseSimulator>,
        parameters: ImpulseParameters,
        layout: Arc<ImpulseLayout>,
    },
}

/// A roll-out of one of them.
pub(crate) enum RolledOut {
    Compliant(Box<Trajectory>),
    Impulse(ImpulseTrajectory),
}

/// Value, gradient, and product of the Hessian with a direction.
pub(crate) type SecondOrder = (f64, Vec<f64>, Vec<f64>);

impl Model {
    pub(crate) fn new(built: &BuiltScene) -> Self {
        let parameters = built.parameters.clone();
        match &built.impulse {
            None => {
                let layout = Arc::new(Layout::new(built.simulator.scene(), &parameters));
                let simulator = Arc::new(built.simulator.clone());
                Self::Compliant { simulator, parameters, layout }
            }
            Some(simulator) => {
                let parameters = ImpulseParameters::of(simulator, parameters);
                let layout = Arc::new(ImpulseLayout::new(simulator, &parameters));
                Self::Impulse { simulator: Arc::new(simulator.clone()), parameters, layout }
            }
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Compliant { .. } => "compliant",
            Self::Impulse { .. } => "impulse",
        }
    }

    pub(crate) fn scene(&self) -> &Scene {
        match self {
            Self::Compliant { simulator, .. } => simulator.scene(),
            Self::Impulse { simulator, .. } => simulator.scene(),
        }
    }

    pub(crate) fn durations(&self) -> &[f64] {
        match self {
            Self::Compliant { simulator, .. } => simulator.durations(),
            Self::Impulse { simulator, .. } => simulator.durations(),
        }
    }

    /// Paths and units of the parameters.
    pub(crate) fn entries(&self) -> Vec<(String, &'static str)> {
        match self {
            Self::Compliant { layout, .. } => {
                layout.entries().iter().map(|e| (e.path.clone(), e.unit)).collect()
            }
            Self::Impulse { layout, .. } => {
                layout.entries().iter().map(|e| (e.path.clone(), e.unit)).collect()
            }
        }
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        match self {
            Self::Compliant { parameters, layout, .. } => layout.values(parameters),
            Self::Impulse { parameters, layout, .. } => layout.values(parameters),
        }
    }

    fn add(&mut self, i: usize, x: f64) {
        match self {
            Self::Compliant { parameters, layout, .. } => layout.add(parameters, i, x),
            Self::Impulse { parameters, layout, .. } => layout.add(parameters, i, x),
        }
    }

    /// Which parameters are increments, whose value is zero wherever they stand (a rotation, a placement).
    pub(crate) fn increments(&self) -> Vec<bool> {
        let (mut moved, before) = (self.clone(), self.values());
        for (i, _) in before.iter().enumerate().filter(|(_, x)| x.to_bits() << 1 == 0) {
            moved.add(i, 0.125);
        }
        let after = moved.values();
        before
            .iter()
            .zip(after)
            .map(|(x, y)| x.to_bits() << 1 == 0 && y.to_bits() << 1 == 0)
            .collect()
    }

    /// The same scene with other values; increments move it, one after the other.
    pub(crate) fn with_values(&self, wanted: &[f64], increments: &[bool]) -> Self {
        let mut out = self.clone();
        // x + (y − x) is y but for rounding of the larger one; a second time it is y.
        for round in 0..3 {
            let now = out.values();
            for (i, (&wanted, now)) in wanted.iter().zip(now).enumerate() {
                let rest = wanted - now;
                if rest.abs() > 0.0 && (round == 0 || !increments[i]) {
                    out.add(i, rest);
                }
            }
        }
        out
    }

    /// Whether every number is one that a scene can have.
    pub(crate) fn validate(&self) -> Result<(), Failure> {
        let parameters = match self {
            Self::Compliant { parameters, .. } => parameters,
            Self::Impulse { parameters, .. } => &parameters.scene,
        };
        parameters.validate(self.scene()).map_err(|e| Failure::Scene(e.to_string()))
    }

    /// The same scene with applied wrenches, `wrenches[step * dynamic bodies + i]`.
    pub(crate) fn with_wrenches(&self, wrenches: Vec<Wrench>) -> Self {
        match self {
            Self::Compliant { simulator, parameters, .. } => {
                let parameters = Parameters { wrenches, ..parameters.clone() };
                let layout = Arc::new(Layout::new(simulator.scene(), &parameters));
                Self::Compliant { simulator: Arc::clone(simulator), parameters, layout }
            }
            Self::Impulse { simulator, parameters, .. } => {
                let mut parameters = parameters.clone();
                parameters.scene.wrenches = wrenches;
                let layout = Arc::new(ImpulseLayout::new(simulator, &parameters));
                Self::Impulse { simulator: Arc::clone(simulator), parameters, layout }
            }
        }
    }

    pub(crate) fn run(&self, flag: Arc<AtomicBool>) -> Result<RolledOut, Failure> {
        match self {
            Self::Compliant { simulator, parameters, .. } => {
                let mut trajectory = Trajectory::default().interrupted_by(flag);
                simulator.run_into(parameters, &mut trajectory)?;
                Ok(RolledOut::Compliant(Box::new(trajectory)))
            }
            Self::Impulse { simulator, parameters, .. } => {
                Ok(RolledOut::Impulse(parameters.run(simulator)?))
            }
        }
    }

    fn center(&self, body: usize) -> nalgebra::Vector3<f64> {
        match self {
            Self::Compliant { parameters, .. } => parameters.bodies[body].center,
            Self::Impulse { parameters, .. } => parameters.scene.bodies[body].center,
        }
    }

    /// Motion of every body after every step.
    pub(crate) fn motions(&self, of: &RolledOut) -> Motions {
        let mut out = Motions::for_states((self.durations().len() + 1) * self.scene().bodies.len());
        for step in 0..=self.durations().len() {
            for body in 0..self.scene().bodies.len() {
                let center = self.center(body);
                out.push(&match of {
                    RolledOut::Compliant(t) => t.path.state(step)[body].kinematics(&center),
                    RolledOut::Impulse(t) => t.state(step)[body].kinematics(&center),
                });
            }
        }
        out
    }

    /// An outcome and its gradient, by the adjoint.
    pub(crate) fn gradient(
        &self,
        of: &RolledOut,
        asked: &Asked,
    ) -> Result<(f64, Vec<f64>), Failure> {
        match (self, of) {
            (Self::Compliant { simulator, parameters, .. }, RolledOut::Compliant(t)) => {
                Ok(adjoint::gradient(simulator, t, parameters, asked)?)
            }
            (Self::Impulse { simulator, parameters, .. }, RolledOut::Impulse(t)) => {
                Ok(Linearisation::new(simulator, parameters, t)?.adjoint(asked))
            }
            _ => Err(mixed()),
        }
    }

    /// Derivatives of the motion along directions of the parameters, one of [`Motions`] each.
    pub(crate) fn tangents(
        &self,
        of: &RolledOut,
        directions: &[Vec<f64>],
    ) -> Result<Vec<Motions>, Failure> {
        let mut out = vec![Motions::default(); directions.len()];
        // Each pass costs a linearisation of the impulse model: made once.
        let linear = match (self, of) {
            (Self::Impulse { simulator, parameters, .. }, RolledOut::Impulse(t)) => {
                Some(Linearisation::new(simulator, parameters, t)?)
            }
            _ => None,
        };
        for (some, out) in directions.chunks(WIDTH).zip(out.chunks_mut(WIDTH)) {
            match (self, of) {
                (Self::Compliant { simulator, parameters, layout }, RolledOut::Compliant(t)) => {
                    let mut seeded = parameters.lift::<Jet<WIDTH>>();
                    seed(some, |i, x| layout.add(&mut seeded, i, x));
                    let path = tangent::path(simulator, t, &seeded)?;
                    for step in 0..=self.durations().len() {
                        for (state, p) in path.state(step).iter().zip(&seeded.bodies) {
                            spread(&state.kinematics(&p.center), out);
                        }
                    }
                }
                (Self::Impulse { parameters, layout, .. }, RolledOut::Impulse(_)) => {
                    let mut seeded = parameters.lift::<Jet<WIDTH>>();
                    seed(some, |i, x| layout.add(&mut seeded, i, x));
                    let Some(linear) = &linear else { return Err(mixed()) };
                    let path = linear.path(&seeded)?;
                    for step in 0..=self.durations().len() {
                        for (state, p) in path.state(step).iter().zip(&seeded.scene.bodies) {
                            spread(&state.kinematics(&p.center), out);
                        }
                    }
                }
                _ => return Err(mixed()),
            }
        }
        Ok(out)
    }

    /// Outcome, gradient, and the Hessian times a direction.
    pub(crate) fn second_order(
        &self,
        of: &RolledOut,
        direction: &[f64],
        asked: &Asked,
    ) -> Result<SecondOrder, Failure> {
        match (self, of) {
            (Self::Compliant { simulator, parameters, .. }, RolledOut::Compliant(t)) => {
                Ok(hessian::vector_product(simulator, t, parameters, direction, asked)?)
            }
            (Self::Impulse { .. }, _) => Err(Failure::Gradient(
                "second derivatives: the impulse model has first derivatives only; use model = \"compliant\"".into(),
            )),
            _ => Err(mixed()),
        }
    }
}

/// A roll-out of the other model; no caller can make one.
fn mixed() -> Failure {
    Failure::Scene("the roll-out is of another contact model than the scene".into())
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
