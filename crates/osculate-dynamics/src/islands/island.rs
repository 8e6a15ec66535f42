//! The solve of one island.

use super::partition::Island;
use crate::factors::IslandFactors;
use crate::linalg::blocks::BLOCK;
use crate::newton::{
    self, Equations, Failure, How, NewtonSettings, PartWork, Rigid, StageStats, Workspace,
};
use crate::state::BodyState;
use crate::system::{Stage, System};

/// Memory for the solve of an island, and what it gives.
#[derive(Clone, Debug, Default)]
pub(super) struct IslandWork {
    /// The island it is for, by its index.
    pub(super) island: Option<usize>,
    /// Whether that is to be solved.
    pub(super) waits: bool,
    pub(super) stats: StageStats,
    /// The dynamic body with the largest residual.
    pub(super) worst: usize,
    pub(super) failure: Option<Failure>,
    part: PartWork,
}

impl IslandWork {
    /// States by slot, as they were found.
    pub(super) fn now(&self) -> &[BodyState] {
        &self.part.newton.now
    }

    /// Solves an island.
    pub(super) fn solve(
        &mut self,
        (system, stage): (&System<'_, f64>, &Stage<'_, f64>),
        (settings, keep_factors): (&NewtonSettings, bool),
        (island, guess): (&Island, &[BodyState]),
        factors: &mut IslandFactors,
    ) {
        let (part, count) = (&island.part(), island.dynamic());
        self.part.prepare(system, (part, &island.bodies), stage, guess);
        let PartWork { start, base, newton: work, bodies, near, blocks } = &mut self.part;
        let stage = &Stage { now: &[], start, base, ..*stage };
        let IslandFactors { nodes, matrix } = factors;
        let dynamic = island.bodies[..count].iter();
        nodes.clear();
        nodes.extend(dynamic.map(|&b| system.unknown[b].map_or(0, |at| (at / BLOCK) as u32)));
        // The rates of a chart are looked at pair by pair.
        let near = (!system.has_rates()).then(|| {
            near.prepare(island.pairs.len());
            near
        });
        let factors = matrix.prepare(count, blocks);
        let mut problem = Rigid { system, part, stage, bodies, factors, near, known: None };
        start_lower(&mut problem, start, work);
        let how = How { duration: stage.duration, keep_factors, goal: 0.0 };
        let stats = newton::solve(&mut problem, settings, how, work);
        let scene_unknown = |i: usize| BLOCK * nodes[i / BLOCK] as usize + i % BLOCK;
        self.failure = stats.err().map(|failure| failure.map(scene_unknown));
        self.stats = stats.unwrap_or_default();
        self.worst = nodes[problem.worst(work.residual()) / BLOCK] as usize;
        let (now, residual) = work.solution();
        system.keep_defect(&island.unknown, stage.duration, residual, now);
    }
}

/// Shares of the way from stage start to the guess that are looked at where the whole way is far.
const SHARES: [f64; 3] = [0.5, 0.25, 0.0];

/// How far a body is carried by its velocity that may be inside of another afterwards, as a share of its reach.
const FAR: f64 = 0.1;

/// Moves the guess towards the stage start where the potential is lower there.
///
/// Bodies carried far into each other would find a minimum of the stage in which they stay so: 512 falling cubes at 1.9 m/s and 5 ms ended in
/// one with ten times the energy that they had.
fn start_lower(
    problem: &mut Rigid<'_, '_>,
    start: &Vec<BodyState>,
    work: &mut Workspace<Vec<BodyState>>,
) {
    let Workspace { now: guess, trial: at, step: way, .. } = work;
    if !problem.is_carried_far(start, guess, FAR) {
        return;
    }
    let Some(mut least) = problem.potential(guess) else { return };
    problem.way(start, guess, way);
    at.clone_from(guess);
    for share in SHARES {
        problem.step(start, way, share, at);
        if let Some(potential) = problem.potential(at)
            && potential < least
        {
            least = potential;
            guess.clone_from(at);
        }
    }
}
