//! The stage solves of a roll-out in f64: the whole scene in one dense system, island by island, or in joint coordinates.

use super::{Simulator, StageEnd, StageIndex};
use crate::StepError;
use crate::factors::{FactorStore, IslandFactors};
use crate::islands::{self, IslandsMemory};
use crate::linalg::blocks::BLOCK;
use crate::newton::{
    self, Bodies, Equations, Failure, How, Matrix, OnFailure, Rigid, StageStats, Workspace,
};
use crate::reduction::{JointStage, JointState, Reduction, TreeProblem, TreeWork};
use crate::state::BodyState;
use crate::system::{Stage, System};
use std::iter::Zip;
use std::slice::ChunksExactMut;

/// Memory of the solves, made once.
#[derive(Clone, Debug, Default)]
pub(super) struct SolveMemory {
    work: (Workspace<Vec<BodyState>>, Bodies),
    islands: IslandsMemory,
}

/// Solves one stage after the other and keeps the factors.
pub(super) struct StageSolver<'a, 's> {
    simulator: &'a Simulator,
    system: &'a System<'s, f64>,
    stats: &'a mut Vec<StageStats>,
    /// Memory for the dense factors of each stage; none for a large scene.
    whole: Zip<ChunksExactMut<'a, f64>, ChunksExactMut<'a, usize>>,
    islands: &'a mut Vec<Vec<IslandFactors>>,
    memory: &'a mut SolveMemory,
    /// Whether the factors of a large scene are dropped.
    forgets: bool,
    prepared: bool,
    tree: TreeWork,
}

impl<'a, 's> StageSolver<'a, 's> {
    /// A solver of as many stages; earlier factors and statistics are forgotten.
    pub(super) fn new(
        (simulator, system): (&'a Simulator, &'a System<'s, f64>),
        stages: usize,
        (factors, stats): (&'a mut FactorStore, &'a mut Vec<StageStats>),
        (memory, forgets): (&'a mut SolveMemory, bool),
    ) -> Self {
        let n = system.solved();
        let small = system.is_small();
        factors.unknowns = n;
        if small {
            factors.islands.clear();
        }
        factors.lu.resize(if small { stages * n * n } else { 0 }, 0.0);
        factors.pivots.resize(if small { stages * n } else { 0 }, 0);
        stats.clear();
        stats.reserve(stages);
        let lu = factors.lu.chunks_exact_mut((n * n).max(1));
        let whole = lu.zip(factors.pivots.chunks_exact_mut(n.max(1)));
        let islands = &mut factors.islands;
        let tree = TreeWork::default();
        Self { simulator, system, stats, whole, islands, memory, forgets, prepared: false, tree }
    }

    /// Fills the end of a stage.
    pub(super) fn solve(
        &mut self,
        at: StageIndex,
        stage: &Stage<'_, f64>,
        end: StageEnd<'_, f64>,
    ) -> Result<(), StepError> {
        if self.system.solved() == 0 {
            self.stats.push(StageStats { converged: true, ..Default::default() });
            return Ok(());
        }
        newton::predict(self.system, stage.start, stage.duration, end.bodies);
        let joints = self.system.reduction.as_ref().zip(stage.joints).zip(end.joints);
        let solved = match (joints, self.whole.next()) {
            (Some(((reduction, joints), state)), Some(factors)) => {
                self.joints((reduction, joints), stage, (end.bodies, state), factors)
            }
            (_, Some(factors)) => self.bodies(stage, end.bodies, factors),
            (_, None) => self.islands(stage, end.bodies),
        };
        let (found, worst) = solved.map_err(|f| self.simulator.failure(at, f))?;
        self.stats.push(found);
        if !found.converged && self.simulator.settings.newton.on_failure == OnFailure::Stop {
            return Err(StepError::NotConverged {
                step: at.step,
                stage: at.stage,
                iterations: found.iterations,
                residual: found.residual,
                tolerance: found.tolerance,
                body: self.simulator.dynamic_name(worst),
            });
        }
        Ok(())
    }

    /// The whole scene in one dense system; returns the dynamic body with the largest residual too.
    fn bodies(
        &mut self,
        stage: &Stage<'_, f64>,
        now: &mut [BodyState],
        (lu, pivots): (&mut [f64], &mut [usize]),
    ) -> Result<(StageStats, usize), Failure> {
        let (system, settings) = (self.system, &self.simulator.settings.newton);
        let (work, bodies) = (&mut self.memory.work.0, &mut self.memory.work.1);
        let prepared = std::mem::replace(&mut self.prepared, true);
        system.with_whole(stage, |part| {
            if !prepared {
                work.prepare(part.unknowns);
                bodies.prepare(system, part);
            }
            work.now.clear();
            work.now.extend_from_slice(now);
            let factors = Matrix::Dense(lu, pivots);
            let mut problem =
                Rigid { system, part, stage, bodies, factors, near: None, known: None };
            let how = How { duration: stage.duration, keep_factors: true, goal: 0.0 };
            let found = newton::solve(&mut problem, settings, how, work);
            let worst = problem.worst(work.residual()) / BLOCK;
            now.copy_from_slice(&work.now);
            system.keep_defect(part.unknown, stage.duration, work.residual(), now);
            Ok((found?, worst))
        })
    }

    /// Island by island.
    fn islands(
        &mut self,
        stage: &Stage<'_, f64>,
        now: &mut [BodyState],
    ) -> Result<(StageStats, usize), Failure> {
        let settings = &self.simulator.settings.newton;
        // What an earlier roll-out left is memory for this one.
        let solved = self.stats.len();
        if !self.forgets && self.islands.len() == solved {
            self.islands.push(Vec::new());
        }
        let kept = self.islands.get_mut(solved).filter(|_| !self.forgets);
        islands::solve((self.system, stage), settings, &mut self.memory.islands, kept, now)
    }

    /// In joint coordinates.
    fn joints(
        &mut self,
        (reduction, joints): (&Reduction<f64>, JointStage<'_, f64>),
        stage: &Stage<'_, f64>,
        end: (&mut [BodyState], &mut JointState),
        factors: (&mut [f64], &mut [usize]),
    ) -> Result<(StageStats, usize), Failure> {
        let problem = TreeProblem { system: self.system, reduction, stage, joints };
        let settings = &self.simulator.settings.newton;
        let found = problem.solve(settings, &mut self.tree, end, factors);
        let body =
            |i: usize| self.simulator.dynamic_index(reduction.body_of(&self.system.unknown, i));
        let (found, worst) = found.map_err(|failure| failure.map(|i| BLOCK * body(i)))?;
        Ok((found, body(worst)))
    }
}
