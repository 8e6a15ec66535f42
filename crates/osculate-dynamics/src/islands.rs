//! One stage of a scene of many bodies: near pairs, islands, a Newton solve for each.
//!
//! An island is a set of dynamic bodies whose boxes meet, directly or through others; static bodies join nothing. The box of
//! a body contains it at the start of the stage and where its velocity would carry it, with some slack. A
//! solution that leaves its box may have missed a contact: the boxes grow, and islands that find new pairs are solved on. Islands are
//! independent, so they are solved in parallel, each in one thread: the same bits for any number of threads.

use crate::factors::{IslandFactors, IslandMatrix};
use crate::linalg::BlockFactors;
use crate::linalg::blocks::BLOCK;
use crate::newton::{
    self, Bodies, Equations, Failure, How, Matrix, NewtonSettings, Rigid, StageStats, Workspace,
};
use crate::state::BodyState;
use crate::system::{Near, Pair, Part, Stage, System, join};
use osculate_geometry::aabb::Aabb;
use rayon::prelude::*;

/// The most bodies of an island whose matrix is factorised as a dense one.
pub(crate) const DENSE: usize = 4;

/// Share of a step's own motion by which a box is larger, and the least share of the body's size.
const SLACK: (f64, f64) = (0.5, 0.02);

/// How often boxes grow before every pair is looked at.
const GROWTHS: usize = 6;

/// Bodies that can touch during a stage, directly or through others.
#[derive(Clone, Debug, Default)]
struct Island {
    /// Bodies by slot: the dynamic ones, ascending, then the static ones that they may touch.
    bodies: Vec<usize>,
    /// First unknown of each slot.
    unknown: Vec<Option<usize>>,
    pairs: Vec<Pair<f64>>,
    edges: Vec<(u32, u32)>,
}

impl Island {
    fn dynamic(&self) -> usize {
        self.unknown.iter().flatten().count()
    }

    /// Whether another island has the same bodies and pairs.
    fn is_like(&self, other: &Self) -> bool {
        let bodies = |pair: &Pair<f64>| (pair.a, pair.b);
        self.bodies == other.bodies
            && self.pairs.iter().map(bodies).eq(other.pairs.iter().map(bodies))
    }

    fn part(&self) -> Part<'_, f64> {
        Part {
            bodies: &self.bodies,
            unknown: &self.unknown,
            unknowns: BLOCK * self.dynamic(),
            pairs: &self.pairs,
            edges: &self.edges,
        }
    }
}

/// What an island's solve gives.
struct Solved {
    now: Vec<BodyState>,
    stats: StageStats,
    factors: IslandFactors,
    /// The dynamic body with the largest residual.
    worst: usize,
}

/// What a stage's solve gives.
pub(crate) struct StageSolution {
    /// Iterations of the island that took most, of all rounds of growing boxes; residual and tolerance of the worst.
    pub(crate) stats: StageStats,
    pub(crate) factors: Vec<IslandFactors>,
    /// The body with the largest residual, counted among the dynamic ones.
    pub(crate) worst: usize,
}

/// Solves a stage from the guess in `now`.
pub(crate) fn solve(
    system: &System<'_, f64>,
    stage: &Stage<'_, f64>,
    settings: &NewtonSettings,
    keep_factors: bool,
    now: &mut [BodyState],
) -> Result<StageSolution, Failure> {
    let mut guess = now.to_vec();
    let mut boxes = boxes(system, stage.start, &guess);
    let mut before: Vec<(Island, Solved)> = Vec::new();
    let (mut growth, mut iterations, mut local) = (0, 0, 0);
    loop {
        let islands = islands(system, &boxes);
        // An island that found nobody new is solved; the others go on from where they are.
        let known: Vec<Option<Solved>> = islands
            .iter()
            .map(|island| {
                let at = before.iter().position(|(old, _)| old.is_like(island))?;
                let mut known = before.swap_remove(at).1;
                (known.stats.iterations, known.stats.local_iterations) = (0, 0);
                Some(known)
            })
            .collect();
        let solved: Vec<_> = islands
            .par_iter()
            .zip(known)
            .map(|(island, known)| match known {
                Some(known) => Ok(known),
                None => solve_island(system, stage, settings, keep_factors, island, &guess),
            })
            .collect::<Result<_, _>>()?;
        for (island, solved) in islands.iter().zip(&solved) {
            for (&body, state) in island.bodies.iter().zip(&solved.now).take(island.dynamic()) {
                now[body] = *state;
                if solved.stats.converged {
                    guess[body] = *state;
                }
            }
        }
        growth += 1;
        iterations += solved.iter().map(|s| s.stats.iterations).max().unwrap_or(0);
        local += solved.iter().map(|s| s.stats.local_iterations).sum::<usize>();
        // A contact that was not looked for can be why a stage does not converge; twice not, and bodies may be anywhere.
        let hopeless = growth > 2 && solved.iter().any(|s| !s.stats.converged);
        if hopeless || !grow(system, now, &mut boxes, growth) {
            return Ok(collect(solved, (iterations, local)));
        }
        before = islands.into_iter().zip(solved).collect();
    }
}

/// Boxes that contain start and guess, with slack.
fn boxes(system: &System<'_, f64>, start: &[BodyState], guess: &[BodyState]) -> Vec<Option<Aabb>> {
    let one = |i: usize| {
        let motion = (guess[i].center - start[i].center).norm();
        let first = system.bounds(i, &start[i], 0.0)?;
        let slack = SLACK.0 * motion + SLACK.1 * first.size().max();
        Some(first.union(&system.bounds(i, &guess[i], 0.0)?).padded(slack))
    };
    (0..system.bodies.len()).map(one).collect()
}

/// Makes the boxes of bodies that left theirs larger; returns whether there were any.
fn grow(
    system: &System<'_, f64>,
    now: &[BodyState],
    boxes: &mut [Option<Aabb>],
    growth: usize,
) -> bool {
    let mut grown = false;
    for (i, place) in boxes.iter_mut().enumerate() {
        let (Some(own), Some(found)) = (*place, system.bounds(i, &now[i], 0.0)) else { continue };
        if system.unknown[i].is_some() && !own.contains(&found) {
            let slack = SLACK.1 * (1 << growth) as f64 * found.size().max();
            *place = (growth < GROWTHS).then(|| own.union(&found).padded(slack));
            grown = true;
        }
    }
    grown
}

/// The representative of an element among sets that are joined by their roots; paths are halved on the way.
pub(crate) fn find(root: &mut [usize], mut i: usize) -> usize {
    while root[i] != i {
        root[i] = root[root[i]];
        i = root[i];
    }
    i
}

/// Islands in the order of their first bodies, with their pairs.
fn islands(system: &System<'_, f64>, boxes: &[Option<Aabb>]) -> Vec<Island> {
    let pairs = system.pairs_of(boxes);
    let mut root: Vec<usize> = (0..boxes.len()).collect();
    for pair in pairs.iter().filter(|p| p.moving.colliding && p.moving.collider) {
        let (a, b) = (find(&mut root, pair.a), find(&mut root, pair.b));
        root[a.max(b)] = a.min(b);
    }
    let mut place = vec![usize::MAX; boxes.len()];
    let mut islands: Vec<Island> = Vec::new();
    let mut slot = vec![0; boxes.len()];
    for i in (0..boxes.len()).filter(|&i| system.unknown[i].is_some()) {
        let root = find(&mut root, i);
        if place[root] == usize::MAX {
            place[root] = islands.len();
            islands.push(Island::default());
        }
        let island = &mut islands[place[root]];
        slot[i] = island.bodies.len();
        island.unknown.push(Some(BLOCK * island.bodies.len()));
        island.bodies.push(i);
        place[i] = place[root];
    }
    for mut pair in pairs {
        let moving = if pair.moving.colliding { pair.a } else { pair.b };
        let island = &mut islands[place[moving]];
        for (side, body) in [pair.a, pair.b].into_iter().enumerate() {
            pair.slots[side] =
                if system.unknown[body].is_some() { slot[body] } else { island.static_slot(body) };
        }
        island.pairs.push(pair);
    }
    for island in &mut islands {
        island.edges = join(&mut island.pairs, &island.unknown);
    }
    islands
}

impl Island {
    /// The slot of a static body, which it gets when it is first asked for.
    fn static_slot(&mut self, body: usize) -> usize {
        let first = self.dynamic();
        let found = self.bodies[first..].iter().position(|&b| b == body);
        found.map_or_else(
            || {
                self.bodies.push(body);
                self.unknown.push(None);
                self.bodies.len() - 1
            },
            |i| first + i,
        )
    }
}

fn solve_island(
    system: &System<'_, f64>,
    stage: &Stage<'_, f64>,
    settings: &NewtonSettings,
    keep_factors: bool,
    island: &Island,
    guess: &[BodyState],
) -> Result<Solved, Failure> {
    let of = |states: &[BodyState]| island.bodies.iter().map(|&b| states[b]).collect::<Vec<_>>();
    let (start, base) = (of(stage.start), of(stage.base));
    let local = Stage { now: &[], start: &start, base: &base, ..*stage };
    let (part, count) = (island.part(), island.dynamic());
    let (mut work, mut bodies) = (Workspace::starting_at(of(guess)), Bodies::default());
    work.prepare(part.unknowns);
    bodies.prepare(system, &part);
    let mut matrix = if count > DENSE {
        IslandMatrix::Blocks(BlockFactors::default())
    } else {
        IslandMatrix::Dense(vec![0.0; 36 * count * count], vec![0; BLOCK * count])
    };
    let factors = match &mut matrix {
        IslandMatrix::Dense(lu, pivots) => Matrix::Dense(lu, pivots),
        IslandMatrix::Blocks(factors) => Matrix::Blocks(factors),
    };
    let nodes = island.bodies[..count].iter();
    let nodes = nodes.map(|&b| system.unknown[b].map_or(0, |at| (at / BLOCK) as u32));
    let nodes: Vec<u32> = nodes.collect();
    let scene_unknown = |i: usize| BLOCK * nodes[i / BLOCK] as usize + i % BLOCK;
    // The rates of a chart are looked at pair by pair.
    let near = (!system.has_rates()).then(|| Near::of(island.pairs.len()));
    let mut problem = Rigid {
        system,
        part: &part,
        stage: &local,
        bodies: &mut bodies,
        factors,
        near,
        known: None,
    };
    start_lower(&mut problem, &start, &mut work.now);
    let how = How { duration: stage.duration, keep_factors, goal: 0.0 };
    let stats = newton::solve(&mut problem, settings, how, &mut work);
    let stats = stats.map_err(|failure| failure.map(scene_unknown))?;
    let worst = nodes[problem.worst(work.residual()) / BLOCK] as usize;
    let mut now = std::mem::take(&mut work.now);
    system.keep_defect(&island.unknown, stage.duration, work.residual(), &mut now);
    Ok(Solved { now, stats, worst, factors: IslandFactors { nodes, matrix } })
}

/// Shares of the way from stage start to the guess that are looked at where the whole way is far.
const SHARES: [f64; 3] = [0.5, 0.25, 0.0];

/// How far a body is carried by its velocity that may be inside of another afterwards, as a share of its reach.
const FAR: f64 = 0.1;

/// Moves the guess towards the stage start where the potential is lower there.
///
/// Bodies carried far into each other would find a minimum of the stage in which they stay so: 512 falling cubes at 1.9 m/s and 5 ms ended in
/// one with ten times the energy that they had.
fn start_lower(problem: &mut Rigid<'_, '_>, start: &Vec<BodyState>, guess: &mut Vec<BodyState>) {
    if !problem.is_carried_far(start, guess, FAR) {
        return;
    }
    let Some(mut least) = problem.potential(guess) else { return };
    let way = problem.way(start, guess);
    let mut at = guess.clone();
    for share in SHARES {
        problem.step(start, &way, share, &mut at);
        if let Some(potential) = problem.potential(&at)
            && potential < least
        {
            least = potential;
            guess.clone_from(&at);
        }
    }
}

fn collect(solved: Vec<Solved>, (iterations, local_iterations): (usize, usize)) -> StageSolution {
    let mut stats =
        StageStats { converged: true, iterations, local_iterations, ..StageStats::default() };
    let (mut worst, mut excess) = (0, -1.0);
    let mut factors = Vec::with_capacity(solved.len());
    for island in solved {
        stats.converged &= island.stats.converged;
        let ratio = island.stats.residual / island.stats.tolerance.max(f64::MIN_POSITIVE);
        if ratio > excess {
            (stats.residual, stats.tolerance) = (island.stats.residual, island.stats.tolerance);
            (worst, excess) = (island.worst, ratio);
        }
        factors.push(island.factors);
    }
    StageSolution { stats, factors, worst }
}
