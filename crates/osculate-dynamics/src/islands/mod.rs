//! One stage of a scene of many bodies: near pairs, islands, a Newton solve for each.
//!
//! An island is a set of dynamic bodies whose boxes meet, directly or through others; static bodies join nothing. The box of
//! a body contains it at the start of the stage and where its velocity would carry it, with some slack. A
//! solution that leaves its box may have missed a contact: the boxes grow, and islands that find new pairs are solved on. Islands are
//! independent, so they are solved in parallel, each in one thread: the same bits for any number of threads.
//!
//! Everything is kept in an [`IslandsMemory`] from stage to stage and written in place: which part of it an island gets depends on the
//! stage alone, so a roll-out that is made again in the same memory allocates nothing.

mod island;
mod partition;

pub(crate) use partition::find;

use crate::factors::IslandFactors;
use crate::newton::{Failure, NewtonSettings, StageStats};
use crate::state::BodyState;
use crate::system::{Stage, System};
use island::IslandWork;
use nalgebra::Vector3;
use osculate_geometry::aabb::Aabb;
use partition::{Islands, PartitionMemory};
use rayon::prelude::*;

/// Share of a step's own motion by which a box is larger, and the least share of the body's size.
const SLACK: (f64, f64) = (0.5, 0.02);

/// How often boxes grow before every pair is looked at.
const GROWTHS: usize = 6;

/// Half extents of a box that contains everything \[m\].
const EVERYWHERE: f64 = 1e30;

/// Memory of the stage solves of a scene of many bodies, used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct IslandsMemory {
    guess: Vec<BodyState>,
    boxes: Vec<Option<Aabb>>,
    partition: PartitionMemory,
    /// Islands of each round of growing boxes.
    rounds: Vec<Islands>,
    works: Works,
    /// Factors that nobody keeps.
    factors: Vec<IslandFactors>,
}

/// Solves a stage from the guess in `now`; returns the dynamic body with the largest residual too.
///
/// Of the statistics, iterations are those of the island that took most, of all rounds of growing boxes; residual and tolerance are of
/// the worst.
///
/// * `kept`: where the factors of the islands are left, if they are wanted.
pub(crate) fn solve(
    (system, stage): (&System<'_, f64>, &Stage<'_, f64>),
    settings: &NewtonSettings,
    memory: &mut IslandsMemory,
    kept: Option<&mut Vec<IslandFactors>>,
    now: &mut [BodyState],
) -> Result<(StageStats, usize), Failure> {
    let IslandsMemory { guess, boxes, partition, rounds, works, factors } = memory;
    let keep_factors = kept.is_some();
    let factors = kept.unwrap_or(factors);
    factors.iter_mut().for_each(|of| of.nodes.clear());
    works.free();
    guess.clear();
    guess.extend_from_slice(now);
    enclose(system, stage.start, guess, boxes);
    let (mut growth, mut iterations, mut local) = (0, 0, 0);
    loop {
        if rounds.len() == growth {
            rounds.push(Islands::default());
        }
        let (before, rest) = rounds.split_at_mut(growth);
        let islands = &mut rest[0];
        islands.find(system, boxes, partition);
        works.assign(before.last(), islands, factors);
        works.solve((system, stage), (settings, keep_factors), (islands, guess), factors);
        for (island, work) in works.of(islands) {
            work.failure.map_or(Ok(()), Err)?;
            for (&body, state) in island.bodies.iter().zip(work.now()).take(island.dynamic()) {
                now[body] = *state;
                if work.stats.converged {
                    guess[body] = *state;
                }
            }
        }
        growth += 1;
        let solved = || works.of(islands).map(|(_, work)| &work.stats);
        iterations += solved().map(|s| s.iterations).max().unwrap_or(0);
        local += solved().map(|s| s.local_iterations).sum::<usize>();
        // A contact that was not looked for can be why a stage does not converge; twice not, and bodies may be anywhere.
        let hopeless = growth > 2 && solved().any(|s| !s.converged);
        if hopeless || !grow(system, now, boxes, growth) {
            return Ok(works.summary(islands, (iterations, local)));
        }
    }
}

/// Boxes that contain start and guess, with slack.
fn enclose(
    system: &System<'_, f64>,
    start: &[BodyState],
    guess: &[BodyState],
    boxes: &mut Vec<Option<Aabb>>,
) {
    let one = |i: usize| {
        let motion = (guess[i].center - start[i].center).norm();
        let first = system.bounds(i, &start[i], 0.0)?;
        let slack = SLACK.0 * motion + SLACK.1 * first.size().max();
        Some(first.union(&system.bounds(i, &guess[i], 0.0)?).padded(slack))
    };
    boxes.clear();
    boxes.extend((0..system.bodies.len()).map(one));
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
        let (Some(own), Some(found)) = (place, system.bounds(i, &now[i], 0.0)) else { continue };
        if growth <= GROWTHS && system.unknown[i].is_some() && !own.contains(&found) {
            let slack = SLACK.1 * (1 << growth) as f64 * found.size().max();
            // Not without a box: those that have none (a half-space, the ground) are not paired with each other.
            *own = if growth < GROWTHS {
                own.union(&found).padded(slack)
            } else {
                Aabb::about(&Vector3::zeros(), &Vector3::repeat(EVERYWHERE))
            };
            grown = true;
        }
    }
    grown
}

/// Where islands are solved.
#[derive(Clone, Debug, Default)]
struct Works(Vec<IslandWork>);

impl Works {
    /// Of no island.
    fn free(&mut self) {
        self.0.iter_mut().for_each(|work| work.island = None);
    }

    /// An island that found nobody new keeps its solution; the others get what is free, and go on from where they are.
    fn assign(
        &mut self,
        before: Option<&Islands>,
        islands: &mut Islands,
        factors: &mut Vec<IslandFactors>,
    ) {
        for (i, work) in self.0.iter_mut().enumerate() {
            let known = work.island.zip(before).and_then(|(at, of)| islands.like(&of.all()[at]));
            (work.island, work.waits) = (known, false);
            if let Some(at) = known {
                islands.all_mut()[at].work = Some(i);
                (work.stats.iterations, work.stats.local_iterations) = (0, 0);
            } else if let Some(of) = factors.get_mut(i) {
                of.nodes.clear();
            }
        }
        let mut free = 0;
        for (at, island) in islands.all_mut().iter_mut().enumerate() {
            if island.work.is_some() {
                continue;
            }
            while self.0.get(free).is_some_and(|work| work.island.is_some()) {
                free += 1;
            }
            if free == self.0.len() {
                self.0.push(IslandWork::default());
            }
            (self.0[free].island, self.0[free].waits) = (Some(at), true);
            island.work = Some(free);
        }
        if factors.len() < self.0.len() {
            factors.resize_with(self.0.len(), IslandFactors::default);
        }
    }

    /// Solves the islands that wait.
    fn solve(
        &mut self,
        of: (&System<'_, f64>, &Stage<'_, f64>),
        how: (&NewtonSettings, bool),
        (islands, guess): (&Islands, &[BodyState]),
        factors: &mut [IslandFactors],
    ) {
        let one = |(work, factors): (&mut IslandWork, &mut IslandFactors)| {
            if let Some(at) = work.island.filter(|_| work.waits) {
                work.solve(of, how, (&islands.all()[at], guess), factors);
            }
        };
        let waiting = self.0.iter().filter(|work| work.waits).count();
        // Handing over allocates: one island, or one thread, does without.
        if waiting < 2 || rayon::current_num_threads() == 1 {
            self.0.iter_mut().zip(factors).for_each(one);
        } else {
            self.0.par_iter_mut().zip(factors).for_each(one);
        }
    }

    /// Islands, and where they were solved.
    fn of<'a>(
        &'a self,
        islands: &'a Islands,
    ) -> impl Iterator<Item = (&'a partition::Island, &'a IslandWork)> {
        islands.all().iter().filter_map(|island| Some((island, &self.0[island.work?])))
    }

    fn summary(
        &self,
        islands: &Islands,
        (iterations, local_iterations): (usize, usize),
    ) -> (StageStats, usize) {
        let mut stats =
            StageStats { converged: true, iterations, local_iterations, ..StageStats::default() };
        let (mut worst, mut excess) = (0, -1.0);
        for (_, work) in self.of(islands) {
            stats.converged &= work.stats.converged;
            let ratio = work.stats.residual / work.stats.tolerance.max(f64::MIN_POSITIVE);
            if ratio > excess {
                (stats.residual, stats.tolerance) = (work.stats.residual, work.stats.tolerance);
                (worst, excess) = (work.worst, ratio);
            }
        }
        (stats, worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Parameters, RotationUpdate, Scene};
    use osculate_contact::ContactLaw;
    use osculate_geometry::broad_phase::overlapping;
    use osculate_geometry::collider::Collider;
    use osculate_geometry::mass::MassProperties;

    /// Symptom: a body whose box had grown six times lost the ground. It had no box then, and neither has a half-space: bodies without
    /// boxes are not paired with each other.
    #[test]
    fn body_that_may_be_anywhere_is_paired_with_the_ground() {
        let half = Vector3::repeat(0.05);
        let mut ground = Body::fixed("ground");
        ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
        let mut bodies = vec![ground];
        for i in 0..5 {
            let mass = MassProperties::cuboid(0.37, &half).unwrap();
            let mut cube = Body::dynamic(format!("cube_{i}"), mass);
            cube.pose.position = Vector3::new(f64::from(i), 0.0, 0.06);
            cube.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
            bodies.push(cube);
        }
        let scene = Scene::new(Vector3::z() * -9.81, bodies).unwrap();
        let how = (ContactLaw::default(), RotationUpdate::RateTensor);
        let system = System::new(&scene, how, &Parameters::of(&scene)).unwrap();
        let mut now: Vec<_> = scene.bodies.iter().map(|b| BodyState::at_rest(b.pose)).collect();
        let mut boxes = Vec::new();
        enclose(&system, &now, &now, &mut boxes);
        now[1].center.x += 100.0;
        assert!(grow(&system, &now, &mut boxes, GROWTHS));
        let pairs = overlapping(&boxes);
        let others = [(0, 1), (1, 2), (1, 3), (1, 4), (1, 5)];
        assert!(others.iter().all(|pair| pairs.contains(pair)), "{pairs:?}");
        // Nowhere is outside of it, and it does not grow any more.
        assert!(!grow(&system, &now, &mut boxes, GROWTHS + 1));
    }
}
