//! A stage of rigid bodies as equations: six unknowns a body, a matrix of blocks.

use super::{Equations, Failure};
use crate::linalg::blocks::BLOCK;
use crate::linalg::{BlockFactors, BlockMatrix, dense};
use crate::state::{BodyState, nearest_rotation};
use crate::system::{Part, Stage, System};
use nalgebra::Vector3;
use osculate_math::so3;

/// Memory for the factors of the stage matrix.
#[derive(Debug)]
pub(crate) enum Matrix<'a> {
    Dense(&'a mut [f64], &'a mut [usize]),
    Blocks(&'a mut BlockFactors),
}

impl Matrix<'_> {
    fn factorise(&mut self, matrix: &BlockMatrix<f64>) -> Result<(), usize> {
        match self {
            Self::Dense(lu, pivots) => {
                matrix.write_dense(lu);
                dense::factorise(lu, pivots)
            }
            Self::Blocks(factors) => factors.factorise(matrix),
        }
    }

    fn solve(&self, b: &mut [f64]) {
        match self {
            Self::Dense(lu, pivots) => dense::solve(lu, pivots, b),
            Self::Blocks(factors) => factors.solve(b),
        }
    }
}

/// Matrix and sizes of the bodies of a part, made once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies {
    pub(crate) matrix: BlockMatrix<f64>,
    /// Mass \[kg\] and moment of inertia \[kg m²\] of the body of each group of six unknowns.
    inertia: Vec<[f64; 2]>,
    /// Radius of gyration of the body of each group of six unknowns \[m\].
    gyration: Vec<f64>,
}

impl Bodies {
    pub(crate) fn prepare(&mut self, system: &System<'_, f64>, part: &Part<'_, f64>) {
        self.matrix.reset(part.unknowns / BLOCK, part.edges);
        self.gyration.clear();
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
}

impl<'a> Rigid<'a, '_> {
    fn at<'b>(&self, now: &'b [BodyState]) -> Stage<'b, f64>
    where
        'a: 'b,
    {
        Stage { now, ..*self.stage }
    }
}

impl Equations for Rigid<'_, '_> {
    type Point = Vec<BodyState>;

    fn linearise(&mut self, now: &Self::Point, r: &mut [f64]) -> f64 {
        let at = self.at(now);
        self.system.residual_and_jacobian(self.part, &at, r, &mut self.bodies.matrix)
    }

    fn residual(&mut self, now: &Self::Point, r: &mut [f64]) {
        self.system.residual(self.part, &self.at(now), r);
    }

    fn factorise(&mut self) -> Result<(), Failure> {
        self.factors.factorise(&self.bodies.matrix).map_err(Failure::Singular)
    }

    fn solve(&self, b: &mut [f64]) {
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

    fn potential(&self, now: &Self::Point) -> Option<f64> {
        self.system.potential(self.part, &self.at(now))
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
