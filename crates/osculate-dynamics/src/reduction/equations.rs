//! A stage of a scene with joints as equations for Newton's method.

use super::matrix::LinkMatrix;
use super::{JointStage, JointState, Reduction};
use crate::articulated::{Configuration, TreeKinematics};
use crate::linalg::blocks::BLOCK;
use crate::linalg::dense;
use crate::newton::{
    self, Equations, Failure, How, Linearised, NewtonSettings, StageStats, Workspace, moved,
};
use crate::state::BodyState;
use crate::system::{Culling, Part, Stage, System};
use nalgebra::Matrix3;
use osculate_math::mat3;

/// Poses of all bodies and positions of all joints; the former follow for links.
#[derive(Clone, Debug)]
struct ReducedPoint {
    bodies: Vec<BodyState>,
    configuration: Configuration,
    kinematics: TreeKinematics,
}

impl ReducedPoint {
    /// * `bodies`: poses of the bodies; those of links are replaced.
    fn new(
        reduction: &Reduction<f64>,
        mut bodies: Vec<BodyState>,
        configuration: Configuration,
    ) -> Self {
        let kinematics = reduction.kinematics(&configuration);
        reduction.place(&kinematics, &mut bodies);
        Self { bodies, configuration, kinematics }
    }
}

/// Memory of the stage solve, and sizes of the unknowns at the guess.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeWork {
    links: Vec<f64>,
    culling: Culling,
    matrix: LinkMatrix<f64>,
    dense: Vec<f64>,
    /// Inertia of each unknown \[kg or kg m²\].
    inertia: Vec<f64>,
    /// Length that makes a force of each unknown's residual \[m\], 1 for translations.
    lengths: Vec<f64>,
}

impl TreeWork {
    fn prepare(
        &mut self,
        system: &System<'_, f64>,
        reduction: &Reduction<f64>,
        part: &Part<'_, f64>,
        guess: &ReducedPoint,
    ) {
        let n = reduction.unknowns;
        self.links.resize(part.unknowns, 0.0);
        self.matrix.bodies.reset(part.unknowns / BLOCK, part.edges);
        self.dense.resize(n * n, 0.0);
        self.inertia.clear();
        self.lengths.clear();
        let links = &reduction.bodies;
        for (i, body) in system.bodies.iter().enumerate() {
            if system.unknown[i].is_some() && !links.contains(&i) {
                let moment = body.second_moment.trace();
                let gyration = length(moment, body.mass);
                self.inertia.extend([[body.mass; 3], [moment; 3]].as_flattened());
                self.lengths.extend([[1.0; 3], [gyration; 3]].as_flattened());
            }
        }
        let about = |link: usize| {
            let (body, frame) = (&system.bodies[links[link]], &guess.kinematics.links[link]);
            let own =
                Matrix3::from_diagonal_element(body.second_moment.trace()) - body.second_moment;
            let turned = mat3::mul(&frame.rotation, &own);
            (body.mass, mat3::mul_transposed(&turned, &frame.rotation))
        };
        let diagonal = reduction.inertia_diagonal(&guess.kinematics, about);
        for (k, (inertia, mass)) in diagonal.into_iter().enumerate() {
            let turns = guess.kinematics.columns[k].angular.norm_squared() > 0.0;
            self.inertia.push(inertia);
            self.lengths.push(if turns { length(inertia, mass) } else { 1.0 });
        }
    }
}

/// Radius of gyration \[m\]; 1 where there is none.
fn length(moment: f64, mass: f64) -> f64 {
    let length = (moment / mass).sqrt();
    if length.is_finite() && length > 0.0 { length } else { 1.0 }
}

/// A stage of a scene with joints. The stage gives starts, duration and what is applied; its `now` is ignored.
pub(crate) struct TreeProblem<'a, 's> {
    pub(crate) system: &'a System<'s, f64>,
    pub(crate) reduction: &'a Reduction<f64>,
    pub(crate) stage: &'a Stage<'a, f64>,
    pub(crate) joints: JointStage<'a, f64>,
}

impl TreeProblem<'_, '_> {
    /// Solves the stage from the guess in `now` for the bodies and from the start's velocities for the joints; leaves the
    /// factors of `K_q` at the solution. Returns the unknown with the largest residual too.
    pub(crate) fn solve(
        &self,
        settings: &NewtonSettings,
        work: &mut TreeWork,
        (now, end): (&mut [BodyState], &mut JointState),
        (lu, pivots): (&mut [f64], &mut [usize]),
    ) -> Result<(StageStats, usize), Failure> {
        let Self { system, reduction, stage, joints } = *self;
        let start = joints.start;
        let ahead: Vec<f64> = start.rates.iter().map(|v| v * stage.duration).collect();
        let guess = start.configuration.incremented(&ahead);
        let guess = ReducedPoint::new(reduction, now.to_vec(), guess);
        let (found, worst, point) = system.with_whole(stage, |part| {
            work.prepare(system, reduction, part, &guess);
            let mut memory = Workspace::starting_at(guess);
            memory.prepare(reduction.unknowns);
            let mut tree = Tree { system, reduction, part, stage, joints, work, lu, pivots };
            let how = How { duration: stage.duration, keep_factors: true, goal: 0.0 };
            let found = newton::solve(&mut tree, settings, how, &mut memory);
            let worst = tree.worst(memory.residual());
            (found, worst, memory.now)
        });
        now.copy_from_slice(&point.bodies);
        end.configuration = point.configuration;
        found.map(|stats| (stats, worst))
    }
}

/// A stage of a scene with joints.
struct Tree<'a, 's> {
    system: &'a System<'s, f64>,
    reduction: &'a Reduction<f64>,
    part: &'a Part<'a, f64>,
    stage: &'a Stage<'a, f64>,
    joints: JointStage<'a, f64>,
    work: &'a mut TreeWork,
    lu: &'a mut [f64],
    pivots: &'a mut [usize],
}

impl Tree<'_, '_> {
    /// Reduces the links' residual; returns the scale of the joints' forces \[N\].
    fn reduce(&self, now: &ReducedPoint, r: &mut [f64]) -> f64 {
        let joints = JointStage { now: &now.configuration, ..self.joints };
        let at = (&joints, self.stage.duration);
        let own = self.reduction.residual(&now.kinematics, at, &self.work.links, r);
        let lengths = &self.work.lengths[self.reduction.first_dof..];
        own.iter().zip(lengths).map(|(r, l)| (r / l).abs()).sum()
    }
}

impl Equations for Tree<'_, '_> {
    type Point = ReducedPoint;

    fn linearise(&mut self, now: &ReducedPoint, r: &mut [f64]) -> Linearised {
        let at = Stage { now: &now.bodies, ..*self.stage };
        let TreeWork { links, matrix, culling, .. } = &mut *self.work;
        let of = (&mut links[..], &mut matrix.bodies);
        let scale = self.system.residual_and_jacobian(self.part, &at, culling, of);
        self.reduction.add_closures(&at, links);
        self.reduction.closure_blocks(&at, matrix);
        let scale = scale + self.reduce(now, r);
        let joints = JointStage { now: &now.configuration, ..self.joints };
        let TreeWork { links, matrix, dense, .. } = &mut *self.work;
        let at = (&joints, self.stage.duration);
        self.reduction.matrix(&now.kinematics, at, (links, matrix), dense);
        Linearised { scale, potential: None }
    }

    fn residual(&mut self, now: &ReducedPoint, r: &mut [f64]) {
        let at = Stage { now: &now.bodies, ..*self.stage };
        let TreeWork { links, culling, .. } = &mut *self.work;
        self.system.residual(self.part, &at, culling, links);
        self.reduction.add_closures(&at, &mut self.work.links);
        self.reduce(now, r);
    }

    fn factorise(&mut self) -> Result<(), Failure> {
        self.lu.copy_from_slice(&self.work.dense);
        dense::factorise(self.lu, self.pivots).map_err(Failure::Singular)
    }

    fn solve(&mut self, b: &mut [f64]) {
        dense::solve(self.lu, self.pivots, b);
    }

    fn shift(&mut self, by: f64) {
        let n = self.reduction.unknowns;
        for (i, inertia) in self.work.inertia.iter().enumerate() {
            self.work.dense[i * (n + 1)] += inertia * by;
        }
    }

    fn step(&self, from: &ReducedPoint, step: &[f64], share: f64, to: &mut ReducedPoint) {
        self.reduction.for_each_free(&self.system.unknown, |body, first| {
            moved(&from.bodies[body], &step[first..first + BLOCK], share, &mut to.bodies[body]);
        });
        let increment: Vec<f64> =
            step[self.reduction.first_dof..].iter().map(|x| x * share).collect();
        to.configuration = from.configuration.incremented(&increment);
        to.kinematics = self.reduction.kinematics(&to.configuration);
        self.reduction.place(&to.kinematics, &mut to.bodies);
    }

    fn norm(&self, r: &[f64]) -> f64 {
        let scaled = r.iter().zip(&self.work.lengths).map(|(r, l)| r / l);
        scaled.map(|x| x * x).sum::<f64>().sqrt()
    }

    fn worst(&self, r: &[f64]) -> usize {
        let size = |i: usize| (r[i] / self.work.lengths[i]).abs();
        (0..r.len()).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(0)
    }

    fn has_potential(&self) -> bool {
        self.system.has_potential(self.stage) && self.reduction.joints_have_potential(&self.joints)
    }

    fn potential(&mut self, now: &ReducedPoint) -> Option<f64> {
        if !self.has_potential() {
            return None;
        }
        let at = Stage { now: &now.bodies, ..*self.stage };
        let joints = JointStage { now: &now.configuration, ..self.joints };
        let own = self.reduction.joint_potential(&joints, self.stage.duration);
        let culling = &mut self.work.culling;
        Some(
            self.system.potential(self.part, &at, culling)?
                + own
                + self.reduction.closure_potential(&at),
        )
    }

    fn rounding(&self, now: &ReducedPoint) -> f64 {
        let mut sum = 0.0;
        for (i, body) in self.system.bodies.iter().enumerate() {
            if let Some(at) = self.system.unknown[i] {
                let length = length(body.second_moment.trace(), body.mass);
                let [stiffness, torsion] = self.work.matrix.bodies.stiffness(at / BLOCK);
                sum += stiffness * (now.bodies[i].center.norm() + length) + torsion / length;
            }
        }
        let (first, n) = (self.reduction.first_dof, self.reduction.unknowns);
        for (link, q) in now.configuration.joints().iter().enumerate() {
            if let Some(q) = q.scalar() {
                let i = first + self.reduction.model.joint_dofs(link).start;
                sum += (self.work.dense[i * (n + 1)] * q).abs() / self.work.lengths[i];
            }
        }
        f64::EPSILON * sum
    }
}
