//! The stage residual `r(q; q⁰, v⁰, θ)`, its Jacobian `K = ∂r/∂q`, and the pullback of `r·λ`.
//!
//! ```text
//! r_c = m (c − c⁰ − Δt v⁰)/Δt² − m g − F − Σ f
//! r_θ = −axial(R J (R̃ − R)ᵀ)/Δt² − τ − Σ torques    R̃ = (1 + Δt W⁰) R⁰,  J = tr(I)/2·1 − I
//! K_θθ = (tr(M) 1 − M)/Δt² + …                       M = R J R̃ᵀ
//! ```
//!
//! `r_θ` is the derivative of `Φ_rot = −tr(R J R̃ᵀ)/Δt²` along `exp(δθ) R`; `axial(R J Rᵀ) = 0` is subtracted, so that
//! products are of the size of the difference and not of the rotations (four digits at Δt = 1 ms). Contacts are found anew at every
//! evaluation. Generic over the scalar: f64 for Newton, jets for the tangent and for second derivatives.

use crate::parameters::{BodyParameters, Parameters, Wrench};
use crate::state::{BodyState, StateBar};
use crate::{Scene, SceneError};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::assembly::{Blocks, Moving, PairGradient, PairStage, Wrenches};
use osculate_contact::combine::{PairKind, combine};
use osculate_contact::kinematics::Pullback;
use osculate_contact::{ContactLaw, DissipationSchedule, PairOverride, PairParams};
use osculate_geometry::collider::Collider;
use osculate_geometry::quadrature::SurfaceSamples;
use osculate_math::so3::{axial, skew};
use osculate_math::{Scalar, lift, mat3, norm::scale, real};

/// What inertia needs of a body.
#[derive(Clone, Debug)]
pub(crate) struct Inertial<T> {
    pub(crate) mass: T,
    /// `J = tr(I)/2·1 − I`, body axes.
    pub(crate) second_moment: Matrix3<T>,
    pub(crate) center: Vector3<T>,
    /// Samples relative to the centre of mass, body axes.
    pub(crate) points: Vec<Vector3<T>>,
    /// Radius about the centre of mass that encloses the samples \[m\].
    reach: f64,
    has_gravity: bool,
}

/// An ordered pair with its combined parameters.
#[derive(Clone, Debug)]
pub(crate) struct Pair<'s, T> {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) params: PairParams<T>,
    pub(crate) kind: PairKind,
    pub(crate) replaced: Option<usize>,
    collider: Collider<T>,
    samples: &'s SurfaceSamples,
    moving: Moving,
}

/// Poses, start and duration of a stage, and the wrenches of its step (one a dynamic body, or none).
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a, T> {
    pub(crate) now: &'a [BodyState<T>],
    pub(crate) start: &'a [BodyState<T>],
    pub(crate) duration: f64,
    pub(crate) wrenches: &'a [Wrench<T>],
}

/// A scene with the numbers of one evaluation.
#[derive(Clone, Debug)]
pub(crate) struct System<'s, T> {
    pub(crate) law: ContactLaw,
    pub(crate) bodies: Vec<Inertial<T>>,
    pub(crate) pairs: Vec<Pair<'s, T>>,
    /// First unknown of each body; `None` for static ones.
    pub(crate) unknown: Vec<Option<usize>>,
    pub(crate) unknowns: usize,
    pub(crate) gravity: Vector3<T>,
}

impl<T: Scalar> Inertial<T> {
    fn new(p: &BodyParameters<T>, has_gravity: bool) -> Self {
        let points: Vec<_> = p.points.iter().map(|x| x - p.center).collect();
        let reach = points.iter().map(|x| real(x).norm()).fold(0.0, f64::max);
        let half_trace = p.inertia.trace() * 0.5;
        let second_moment = Matrix3::from_diagonal_element(half_trace) - p.inertia;
        Self { mass: p.mass, second_moment, center: p.center, points, reach, has_gravity }
    }
}

impl<'s, T: Scalar> System<'s, T> {
    /// Combines the parameters of every pair.
    pub(crate) fn new(
        scene: &'s Scene,
        law: ContactLaw,
        p: &Parameters<T>,
    ) -> Result<Self, SceneError> {
        if p.bodies.len() != scene.bodies.len() {
            return Err(SceneError::Count {
                what: "bodies of the parameters",
                found: p.bodies.len(),
                expected: scene.bodies.len(),
            });
        }
        let bodies = p.bodies.iter().zip(&scene.bodies);
        let mut unknowns = 0;
        let unknown = scene.bodies.iter().map(|b| {
            b.is_dynamic().then(|| {
                unknowns += 6;
                unknowns - 6
            })
        });
        let unknown: Vec<_> = unknown.collect();
        let pairs = scene.pairs.iter().filter_map(|&(a, b)| Pair::new(scene, p, a, b)).collect();
        Ok(Self {
            law,
            bodies: bodies.map(|(p, b)| Inertial::new(p, b.gravity)).collect(),
            pairs,
            unknown,
            unknowns,
            gravity: p.gravity,
        })
    }

    /// The pair at a stage, or `None` where no sample can be near.
    pub(crate) fn pair_stage<'a>(
        &'a self,
        pair: &'a Pair<'s, T>,
        stage: &Stage<'_, T>,
    ) -> Option<PairStage<'a, T>> {
        let (a, b) = (&self.bodies[pair.a], &self.bodies[pair.b]);
        let pullback = |states: &[BodyState<T>]| {
            Pullback::new(&states[pair.a].pose(), &states[pair.b].pose(), b.center)
        };
        let (now, start) = (pullback(stage.now), pullback(stage.start));
        // Every field that ships is 1-Lipschitz: no sample is nearer than its body's centre less the reach.
        let collider = pair.collider.real();
        let limit = pair.params.threshold.re() + a.reach;
        let near =
            |p: &Pullback<T>| collider.phi(&(real(&p.offset) + real(&p.collider_center))) < limit;
        let explicit = self.law.schedule == DissipationSchedule::StageStart;
        (near(&now) || (explicit && near(&start))).then_some(PairStage {
            law: &self.law,
            params: &pair.params,
            collider: &pair.collider,
            points: &a.points,
            weights: pair.samples.weights(),
            normals: pair.samples.normals(),
            now,
            start,
            duration: stage.duration,
        })
    }

    /// Writes the residual; returns the scale of the forces in it \[N\].
    pub(crate) fn residual(&self, stage: &Stage<'_, T>, r: &mut [T]) -> f64 {
        let mut magnitude = self.inertial_residual(stage, r);
        for pair in &self.pairs {
            if let Some(p) = self.pair_stage(pair, stage) {
                let mut wrenches = Wrenches::default();
                p.add_forces(&mut wrenches);
                magnitude += wrenches.magnitude;
                self.scatter(pair, stage, &wrenches, r);
            }
        }
        magnitude
    }

    /// Writes residual and Jacobian (row-major); returns the scale of the forces \[N\].
    pub(crate) fn residual_and_jacobian(
        &self,
        stage: &Stage<'_, T>,
        r: &mut [T],
        k: &mut [T],
    ) -> f64 {
        let mut magnitude = self.inertial_residual(stage, r);
        self.inertial_jacobian(stage, k);
        for pair in &self.pairs {
            if let Some(p) = self.pair_stage(pair, stage) {
                let (mut wrenches, mut blocks) = (Wrenches::default(), Blocks::default());
                p.add_forces_and_jacobian(pair.moving, &mut wrenches, &mut blocks);
                if wrenches.magnitude > 0.0 {
                    magnitude += wrenches.magnitude;
                    self.scatter(pair, stage, &wrenches, r);
                    self.scatter_blocks(pair, stage, &blocks, k);
                }
            }
        }
        magnitude
    }

    fn inertial_residual(&self, stage: &Stage<'_, T>, r: &mut [T]) -> f64 {
        let dt = stage.duration;
        let mut magnitude = 0.0;
        for (i, body) in self.bodies.iter().enumerate() {
            let Some(at) = self.unknown[i] else { continue };
            let (now, start) = (&stage.now[i], &stage.start[i]);
            let moved = now.center - start.center - start.velocity.map(|x| x * dt);
            let acceleration = moved.map(|x| x / (dt * dt));
            let mut force = scale(&acceleration, body.mass);
            magnitude += real(&force).norm();
            if body.has_gravity {
                let weight = scale(&self.gravity, body.mass);
                magnitude += real(&weight).norm();
                force -= weight;
            }
            let ahead = Self::predicted(i, stage) - now.rotation;
            let m = mat3::mul_transposed(&mat3::mul(&now.rotation, &body.second_moment), &ahead);
            let mut torque = axial(&m).map(|x| -x / (dt * dt));
            if let Some(w) = stage.wrenches.get(at / 6) {
                magnitude += real(&w.force).norm();
                force -= w.force;
                torque -= w.torque;
            }
            for k in 0..3 {
                r[at + k] = force[k];
                r[at + 3 + k] = torque[k];
            }
        }
        magnitude
    }

    /// `R̃ = (1 + Δt W⁰) R⁰`.
    fn predicted(i: usize, stage: &Stage<'_, T>) -> Matrix3<T> {
        let start = &stage.start[i];
        start.rotation + mat3::mul(&start.rate, &start.rotation).map(|x| x * stage.duration)
    }

    fn inertial_jacobian(&self, stage: &Stage<'_, T>, k: &mut [T]) {
        let (n, dt) = (self.unknowns, stage.duration);
        k.fill(T::zero());
        for (i, body) in self.bodies.iter().enumerate() {
            let Some(at) = self.unknown[i] else { continue };
            let predicted = Self::predicted(i, stage);
            let turned = mat3::mul(&stage.now[i].rotation, &body.second_moment);
            let m = mat3::mul_transposed(&turned, &predicted);
            let trace = m.trace();
            for row in 0..3 {
                k[(at + row) * n + at + row] = body.mass / (dt * dt);
                for column in 0..3 {
                    let diagonal = if row == column { trace } else { T::zero() };
                    k[(at + 3 + row) * n + at + 3 + column] =
                        (diagonal - m[(row, column)]) / (dt * dt);
                }
            }
        }
    }

    /// Subtracts contact forces from the residual, in world axes.
    fn scatter(&self, pair: &Pair<'s, T>, stage: &Stage<'_, T>, w: &Wrenches<T>, r: &mut [T]) {
        let rotation = stage.now[pair.b].rotation;
        let mut put = |body: usize, force: Vector3<T>, torque: Vector3<T>| {
            if let Some(at) = self.unknown[body] {
                for k in 0..3 {
                    r[at + k] += force[k];
                    r[at + 3 + k] += torque[k];
                }
            }
        };
        let force = mat3::apply(&rotation, &w.force);
        put(pair.a, -force, -mat3::apply(&rotation, &w.torque_a));
        put(pair.b, force, mat3::apply(&rotation, &w.torque_b));
    }

    fn scatter_blocks(
        &self,
        pair: &Pair<'s, T>,
        stage: &Stage<'_, T>,
        blocks: &Blocks<T>,
        k: &mut [T],
    ) {
        let n = self.unknowns;
        let rotation = stage.now[pair.b].rotation;
        let first = [self.unknown[pair.a], self.unknown[pair.b]];
        for (row, line) in blocks.0.iter().enumerate() {
            let Some(at) = first[row / 2].map(|x| x + 3 * (row % 2)) else { continue };
            for (column, block) in line.iter().enumerate() {
                let Some(to) = first[column / 2].map(|x| x + 3 * (column % 2)) else { continue };
                let world = mat3::mul_transposed(&mat3::mul(&rotation, block), &rotation);
                for i in 0..3 {
                    for j in 0..3 {
                        k[(at + i) * n + to + j] += world[(i, j)];
                    }
                }
            }
        }
    }

    /// Subtracts `∂(r·λ)/∂(start state, parameters)` from the cotangents: the adjoint of one stage.
    pub(crate) fn pull_residual(
        &self,
        stage: &Stage<'_, T>,
        lambda: &[T],
        start_bars: &mut [StateBar<T>],
        bars: &mut SystemBar<T>,
    ) {
        for (i, start_bar) in start_bars.iter_mut().enumerate() {
            if let Some(at) = self.unknown[i] {
                let v = |k: usize| -Vector3::new(lambda[k], lambda[k + 1], lambda[k + 2]);
                self.pull_inertia(i, stage, (&v(at), &v(at + 3)), start_bar, bars);
            }
        }
        for (index, pair) in self.pairs.iter().enumerate() {
            if let Some(p) = self.pair_stage(pair, stage) {
                self.pull_pair((index, &p), stage, lambda, start_bars, bars);
            }
        }
    }

    /// Adds `∂(r·μ)` of inertia, gravity and applied wrench of one body, with `μ = −λ`.
    fn pull_inertia(
        &self,
        i: usize,
        stage: &Stage<'_, T>,
        (mu, mu_turn): (&Vector3<T>, &Vector3<T>),
        start_bar: &mut StateBar<T>,
        bars: &mut SystemBar<T>,
    ) {
        let (dt, body) = (stage.duration, &self.bodies[i]);
        let (now, start) = (&stage.now[i], &stage.start[i]);
        let by_acceleration = scale(mu, body.mass).map(|x| x / (dt * dt));
        start_bar.center -= by_acceleration;
        start_bar.velocity -= by_acceleration.map(|x| x * dt);
        let moved = now.center - start.center - start.velocity.map(|x| x * dt);
        bars.mass[i] += mu.dot(&moved) / (dt * dt);
        if body.has_gravity {
            bars.mass[i] -= mu.dot(&self.gravity);
            bars.gravity -= scale(mu, body.mass);
        }
        if let Some(at) = self.unknown[i]
            && stage.wrenches.get(at / 6).is_some()
        {
            let w = &mut bars.wrenches[bars.step * (self.unknowns / 6) + at / 6];
            w.force -= mu;
            w.torque -= mu_turn;
        }
        // μ·r_θ = −tr([μ]× R J R⁰ᵀ (1 + Δt W⁰)ᵀ)/Δt²
        let turned = skew(mu_turn) * now.rotation;
        let advance = Matrix3::identity() + start.rate.map(|x| x * dt);
        let a = turned * body.second_moment * start.rotation.transpose();
        start_bar.rate -= a.map(|x| x / dt);
        start_bar.rotation += axial(&(advance.transpose() * a)).map(|x| x / (dt * dt));
        let ahead = Self::predicted(i, stage) - now.rotation;
        bars.second_moment[i] -= (ahead.transpose() * turned).map(|x| x / (dt * dt)).transpose();
    }

    fn pull_pair(
        &self,
        (index, p): (usize, &PairStage<'_, T>),
        stage: &Stage<'_, T>,
        lambda: &[T],
        start_bars: &mut [StateBar<T>],
        bars: &mut SystemBar<T>,
    ) {
        let pair = &self.pairs[index];
        let (now, before) = (stage.now[pair.b].rotation, stage.start[pair.b].rotation);
        let test = |body: usize, turn: usize| match self.unknown[body] {
            Some(at) => {
                let k = at + 3 * turn;
                now.transpose() * -Vector3::new(lambda[k], lambda[k + 1], lambda[k + 2])
            }
            None => Vector3::zeros(),
        };
        let mu = [test(pair.a, 0), test(pair.a, 1), test(pair.b, 0), test(pair.b, 1)];
        let mut gradient = PairGradient::default();
        let points = &mut bars.points[pair.a];
        let mut touched = false;
        p.add_gradient(&mu, &mut gradient, |i, x| {
            points[i] += x;
            touched = true;
        });
        if !touched {
            return;
        }
        for (g, x) in bars.pairs[index].iter_mut().zip(gradient.params) {
            *g += x;
        }
        for (g, x) in bars.dimensions[pair.b].iter_mut().zip(gradient.dimensions) {
            *g += x;
        }
        bars.center[pair.b] += gradient.collider_center;
        for (side, body) in [pair.a, pair.b].into_iter().enumerate() {
            let start = [before * gradient.start[2 * side], before * gradient.start[2 * side + 1]];
            start_bars[body].center += start[0];
            start_bars[body].rotation += start[1];
            // A body that is not solved for has its present pose as a parameter.
            if self.unknown[body].is_none() {
                bars.pose[body][0] += now * gradient.now[2 * side];
                bars.pose[body][1] += now * gradient.now[2 * side + 1];
            }
        }
    }
}

impl<'s, T: Scalar> Pair<'s, T> {
    fn new(scene: &'s Scene, p: &Parameters<T>, a: usize, b: usize) -> Option<Self> {
        let (colliding, collider) = (&scene.bodies[a], &scene.bodies[b]);
        let kind = PairKind {
            static_collider: !collider.is_dynamic(),
            thin_colliding: colliding.collider.is_none(),
        };
        let replaced = scene.override_of(a, b);
        let values = replaced.map_or_else(PairOverride::default, |i| p.overrides[i]);
        Some(Self {
            a,
            b,
            params: combine(&p.bodies[a].contact, &p.bodies[b].contact, kind, &values),
            kind,
            replaced,
            collider: p.bodies[b].collider?,
            samples: colliding.samples.as_ref()?,
            moving: Moving { colliding: colliding.is_dynamic(), collider: collider.is_dynamic() },
        })
    }
}

/// Cotangents of everything a [`System`] is made of.
#[derive(Clone, Debug)]
pub(crate) struct SystemBar<T> {
    /// By pair parameters.
    pub(crate) pairs: Vec<[T; 8]>,
    pub(crate) dimensions: Vec<[T; 6]>,
    pub(crate) mass: Vec<T>,
    pub(crate) second_moment: Vec<Matrix3<T>>,
    /// By the centre of mass as the collider sees it (its samples have their own share).
    pub(crate) center: Vec<Vector3<T>>,
    /// By samples relative to the centre of mass.
    pub(crate) points: Vec<Vec<Vector3<T>>>,
    /// By the present pose of a static body.
    pub(crate) pose: Vec<[Vector3<T>; 2]>,
    pub(crate) gravity: Vector3<T>,
    pub(crate) wrenches: Vec<Wrench<T>>,
    /// The step being pulled, for the wrenches.
    pub(crate) step: usize,
}

impl<T: Scalar> SystemBar<T> {
    pub(crate) fn zero(system: &System<'_, T>, wrenches: usize) -> Self {
        let (n, o) = (system.bodies.len(), Vector3::zeros());
        Self {
            pairs: vec![[T::zero(); 8]; system.pairs.len()],
            dimensions: vec![[T::zero(); 6]; n],
            mass: vec![T::zero(); n],
            second_moment: vec![Matrix3::zeros(); n],
            center: vec![o; n],
            points: system.bodies.iter().map(|b| vec![o; b.points.len()]).collect(),
            pose: vec![[o; 2]; n],
            gravity: o,
            wrenches: vec![Wrench::zero(); wrenches],
            step: 0,
        }
    }
}

/// A constant body state in another scalar.
pub(crate) fn lift_state<T: Scalar>(y: &BodyState) -> BodyState<T> {
    BodyState {
        center: lift(&y.center),
        rotation: y.rotation.map(T::from),
        velocity: lift(&y.velocity),
        rate: y.rate.map(T::from),
    }
}
