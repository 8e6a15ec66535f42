//! A stage of rigid bodies as equations: six unknowns a body, a matrix of blocks.

use super::local::{self, Local};
use super::{Equations, Failure, Linearised, NewtonSettings, Workspace};
use crate::linalg::blocks::BLOCK;
use crate::linalg::{BlockFactors, BlockMatrix, BlockWork, dense};
use crate::state::{BodyState, nearest_rotation};
use crate::system::{Culling, Near, Part, Stage, System};
use nalgebra::Vector3;
use osculate_math::so3;

/// Memory for the factors of the stage matrix.
#[derive(Debug)]
pub(crate) enum Matrix<'a> {
    Dense(&'a mut [f64], &'a mut [usize]),
    Blocks(&'a mut BlockFactors, &'a mut BlockWork),
}

impl Matrix<'_> {
    fn factorise(&mut self, matrix: &BlockMatrix<f64>) -> Result<(), usize> {
        match self {
            Self::Dense(lu, pivots) => {
                matrix.write_dense(lu);
                dense::factorise(lu, pivots)
            }
            Self::Blocks(factors, work) => factors.factorise(matrix, work),
        }
    }

    fn solve(&mut self, b: &mut [f64]) {
        match self {
            Self::Dense(lu, pivots) => dense::solve(lu, pivots, b),
            Self::Blocks(factors, work) => factors.solve_in(b, &mut work.x),
        }
    }
}

/// Matrix and sizes of the bodies of a part, made once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies {
    /// The matrix of the iterate, and that of the point linearised last.
    pub(crate) matrix: BlockMatrix<f64>,
    pub(super) trial: BlockMatrix<f64>,
    /// Mass \[kg\] and moment of inertia \[kg m²\] of the body of each group of six unknowns.
    inertia: Vec<[f64; 2]>,
    /// How many times its inertia over `Δt²` holds each body back, `σ`, and how much of that is in the matrix.
    sigma: Vec<f64>,
    held: Vec<f64>,
    /// Radius of gyration of the body of each group of six unknowns \[m\].
    gyration: Vec<f64>,
    /// Memory of the groups of it that are solved apart, where there ever were any.
    local: Option<Box<Local>>,
    culling: Culling,
}

/// Memory for the solve of a part, used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartWork {
    /// By slot.
    pub(crate) start: Vec<BodyState>,
    pub(crate) base: Vec<BodyState>,
    pub(crate) newton: Workspace<Vec<BodyState>>,
    pub(crate) bodies: Bodies,
    pub(crate) near: Near,
    pub(crate) blocks: BlockWork,
}

impl PartWork {
    /// Gathers start, base and guess of the slots of a part from those of what it is of, and makes room for its matrix.
    ///
    /// * `of`: where the state of each slot is.
    pub(crate) fn prepare(
        &mut self,
        system: &System<'_, f64>,
        (part, of): (&Part<'_, f64>, &[usize]),
        stage: &Stage<'_, f64>,
        guess: &[BodyState],
    ) {
        let gather = |states: &[BodyState], to: &mut Vec<BodyState>| {
            to.clear();
            to.extend(of.iter().map(|&i| states[i]));
        };
        gather(stage.start, &mut self.start);
        gather(stage.base, &mut self.base);
        gather(guess, &mut self.newton.now);
        self.newton.prepare(part.unknowns);
        self.bodies.prepare(system, part);
    }
}

impl Bodies {
    pub(crate) fn prepare(&mut self, system: &System<'_, f64>, part: &Part<'_, f64>) {
        self.matrix.reset(part.unknowns / BLOCK, part.edges);
        self.trial.reset(part.unknowns / BLOCK, part.edges);
        self.gyration.clear();
        for of in [&mut self.sigma, &mut self.held] {
            of.clear();
            of.resize(part.unknowns / BLOCK, 0.0);
        }
        self.inertia.clear();
        for (&body, unknown) in part.bodies.iter().zip(part.unknown) {
            if unknown.is_some() {
                let body = &system.bodies[body];
                self.inertia.push([body.mass, body.second_moment.trace()]);
                let length = (body.second_moment.trace() / body.mass).sqrt();
                self.gyration.push(if length > 0.0 { length } else { 1.0 });
            }
        }
    }
}

/// A `σ` that makes no difference.
const NEGLIGIBLE: f64 = 0.1;

/// How fast `σ` grows at most, and what is left of it after a step that did not go too far.
const MOST_GROWTH: f64 = 8.0;
const DECAY: f64 = 0.25;

impl Bodies {
    /// Adds the inertia that the matrix lacks of what holds bodies back.
    fn hold(&mut self, duration: f64) {
        for body in 0..self.sigma.len() {
            let missing = (self.sigma[body] - self.held[body]) / (duration * duration);
            if missing > 0.0 {
                let [mass, moment] = self.inertia[body];
                self.matrix.shift(body, [mass * missing, moment * missing]);
                self.held[body] = self.sigma[body];
            }
        }
    }

    /// Learns `σ` of each body from the residual `r` where a step `s` led: `σ += r·s Δt²/(2 sᵀM s)` where it pushes back, half of the
    /// inertia that would have stopped the body there; elsewhere `σ` decays, unless the step was rejected.
    fn damp(&mut self, step: &[f64], r: &[f64], duration: f64, rejected: bool) {
        let mut more = false;
        for (body, (s, r)) in step.chunks_exact(BLOCK).zip(r.chunks_exact(BLOCK)).enumerate() {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            let [mass, moment] = self.inertia[body];
            let inertia = mass * dot(&s[..3], &s[..3]) + moment * dot(&s[3..], &s[3..]);
            // What would have stopped it where it went.
            let lacking = dot(r, s) * duration * duration / inertia;
            let sigma = &mut self.sigma[body];
            if lacking > NEGLIGIBLE {
                *sigma = (*sigma + 0.5 * lacking).min(MOST_GROWTH * (*sigma + 1.0));
                more = true;
            } else if !rejected {
                *sigma *= DECAY;
                if *sigma < NEGLIGIBLE {
                    *sigma = 0.0;
                }
            }
        }
        if rejected && !more {
            self.sigma.iter_mut().for_each(|s| *s = 4.0 * (*s + 0.5));
        }
    }
}

fn squares(r: &[f64], length: f64) -> f64 {
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    square(&r[..3]) + square(&r[3..]) / (length * length)
}

/// Where Newton starts: every body carried on by its velocity.
pub(crate) fn predict(
    system: &System<'_, f64>,
    stage_start: &[BodyState],
    dt: f64,
    now: &mut [BodyState],
) {
    for (i, unknown) in system.unknown.iter().enumerate() {
        if unknown.is_some() {
            let start = &stage_start[i];
            now[i] = *start;
            now[i].center += start.velocity * dt;
            now[i].rotation = so3::exp(&(start.angular_velocity() * dt)) * start.rotation;
        }
    }
}

/// Moves the pose of a body by an increment.
pub(crate) fn moved(from: &BodyState, by: &[f64], factor: f64, to: &mut BodyState) {
    let v = |k: usize| Vector3::new(by[k], by[k + 1], by[k + 2]) * factor;
    to.center = from.center + v(0);
    to.rotation = nearest_rotation(&(so3::exp(&v(3)) * from.rotation));
}

/// What is solved: a part of a stage. The stage gives start, duration and wrenches; its `now` is ignored.
pub(crate) struct Rigid<'a, 's> {
    pub(crate) system: &'a System<'s, f64>,
    pub(crate) part: &'a Part<'a, f64>,
    pub(crate) stage: &'a Stage<'a, f64>,
    pub(crate) bodies: &'a mut Bodies,
    pub(crate) factors: Matrix<'a>,
    /// Lists of near samples, where the part is evaluated by them.
    pub(crate) near: Option<&'a mut Near>,
    /// Residual of the first point and what else its linearisation would tell, where it is known. Its matrix is that of the trial.
    pub(crate) known: Option<(&'a [f64], Linearised)>,
}

impl<'a> Rigid<'a, '_> {
    fn at<'b>(&self, now: &'b [BodyState]) -> Stage<'b, f64>
    where
        'a: 'b,
    {
        Stage { now, ..*self.stage }
    }
}

impl Rigid<'_, '_> {
    /// Whether a body is carried farther from one state to another than a share of the reach of its samples.
    pub(crate) fn is_carried_far(&self, from: &[BodyState], to: &[BodyState], share: f64) -> bool {
        self.part.bodies.iter().zip(from.iter().zip(to)).any(|(&body, (from, to))| {
            let reach = self.system.bodies[body].reach;
            let turned = (to.rotation - from.rotation).norm();
            (to.center - from.center).norm() + turned * reach > share * reach
        })
    }

    /// Writes the step from some states to others.
    pub(crate) fn way(&self, from: &[BodyState], to: &[BodyState], step: &mut [f64]) {
        for (slot, at) in self.part.unknown.iter().enumerate() {
            let Some(at) = *at else { continue };
            let (from, to) = (&from[slot], &to[slot]);
            let turn = so3::log(&(to.rotation * from.rotation.transpose()));
            step[at..at + 3].copy_from_slice((to.center - from.center).as_slice());
            step[at + 3..at + BLOCK].copy_from_slice(turn.as_slice());
        }
    }
}

impl Equations for Rigid<'_, '_> {
    type Point = Vec<BodyState>;

    fn linearise(&mut self, now: &Self::Point, r: &mut [f64]) -> Linearised {
        if let Some((known, of)) = self.known.take() {
            r.copy_from_slice(known);
            return of;
        }
        let at = self.at(now);
        let Bodies { trial: matrix, culling, .. } = &mut *self.bodies;
        if let Some(near) = &mut self.near {
            return self.system.linearise_near(self.part, &at, near, r, matrix);
        }
        let scale = self.system.residual_and_jacobian(self.part, &at, culling, (r, matrix));
        Linearised { scale, potential: None }
    }

    fn accept(&mut self) {
        std::mem::swap(&mut self.bodies.matrix, &mut self.bodies.trial);
        self.bodies.held.fill(0.0);
    }

    fn damp(&mut self, step: &[f64], r: &[f64], duration: f64, rejected: bool) -> bool {
        let damps = self.near.is_some() && self.has_potential();
        if damps {
            self.bodies.damp(step, r, duration, rejected);
        }
        damps
    }

    fn hold(&mut self, duration: f64) {
        if self.near.is_some() {
            self.bodies.hold(duration);
        }
    }

    fn relax(
        &mut self,
        now: &mut Self::Point,
        r: &mut [f64],
        settings: &NewtonSettings,
        asked: f64,
    ) -> Option<(Linearised, usize)> {
        if !self.has_potential() {
            return None;
        }
        let (system, part, stage) = (self.system, self.part, self.stage);
        let near = self.near.as_deref_mut()?;
        let Bodies { matrix, sigma, gyration, local, .. } = &mut *self.bodies;
        if gyration.len() < local::FEWEST {
            return None;
        }
        let local = local.get_or_insert_default();
        let bodies = r.chunks_exact(BLOCK).zip(&*gyration);
        let goal = local.find(part, matrix, bodies.map(|(r, l)| squares(r, *l)), asked)?;
        let Local { groups, count, work, again, .. } = &mut **local;
        again.moved.clear();
        again.moved.resize(now.len(), false);
        let mut iterations = 0;
        for group in &groups[..*count] {
            let of = (part, &*matrix, &*r);
            let found = group.solve((system, stage), (near, work), of, (settings, goal), now);
            // Also where it led nowhere: its lists have been asked for elsewhere.
            for &slot in &group.slots[..group.members] {
                again.moved[slot] = true;
                if let (Some(at), Some(_)) = (part.unknown[slot], found) {
                    sigma[at / BLOCK] = 0.0;
                }
            }
            iterations += found.unwrap_or(0);
        }
        let at = Stage { now, ..*stage };
        (iterations > 0)
            .then(|| (system.linearise_again(part, &at, (near, again), r, matrix), iterations))
    }

    fn residual(&mut self, now: &Self::Point, r: &mut [f64]) {
        let at = self.at(now);
        match &mut self.near {
            Some(near) => self.system.residual_near(self.part, &at, near, r),
            None => {
                self.system.residual(self.part, &at, &mut self.bodies.culling, r);
            }
        }
    }

    fn factorise(&mut self) -> Result<(), Failure> {
        self.factors.factorise(&self.bodies.matrix).map_err(Failure::Singular)
    }

    fn solve(&mut self, b: &mut [f64]) {
        self.factors.solve(b);
    }

    fn shift(&mut self, by: f64) {
        for (body, [mass, moment]) in self.bodies.inertia.iter().enumerate() {
            self.bodies.matrix.shift(body, [mass * by, moment * by]);
        }
    }

    fn step(&self, from: &Self::Point, step: &[f64], factor: f64, to: &mut Self::Point) {
        for (slot, unknown) in self.part.unknown.iter().enumerate() {
            if let Some(at) = *unknown {
                moved(&from[slot], &step[at..at + BLOCK], factor, &mut to[slot]);
            }
        }
    }

    fn norm(&self, r: &[f64]) -> f64 {
        let bodies = r.chunks_exact(BLOCK).zip(&self.bodies.gyration);
        bodies.map(|(r, l)| squares(r, *l)).sum::<f64>().sqrt()
    }

    fn worst(&self, r: &[f64]) -> usize {
        let lengths = &self.bodies.gyration;
        let size = |i: usize| squares(&r[BLOCK * i..BLOCK * (i + 1)], lengths[i]);
        let worst = (0..lengths.len()).max_by(|&i, &j| size(i).total_cmp(&size(j)));
        BLOCK * worst.unwrap_or(0)
    }

    fn has_potential(&self) -> bool {
        self.system.has_potential(self.stage)
    }

    fn potential(&mut self, now: &Self::Point) -> Option<f64> {
        let at = self.at(now);
        match &mut self.near {
            Some(near) => self.system.potential_near(self.part, &at, near),
            None => self.system.potential(self.part, &at, &mut self.bodies.culling),
        }
    }

    fn rounding(&self, now: &Self::Point) -> f64 {
        let mut sum = 0.0;
        for (slot, unknown) in self.part.unknown.iter().enumerate() {
            if let Some(at) = *unknown {
                let length = self.bodies.gyration[at / BLOCK];
                let [stiffness, torsion] = self.bodies.matrix.stiffness(at / BLOCK);
                sum += stiffness * (now[slot].center.norm() + length) + torsion / length;
            }
        }
        f64::EPSILON * sum
    }
}
