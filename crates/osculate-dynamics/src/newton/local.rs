//! Groups of bodies that have nearly all of the residual, solved with the other bodies held.
//!
//! In a pile most bodies are where they belong after a few of Newton's steps, and a few (one that tips over, one that starts to slide) need ten
//! more. Steps of all bodies would evaluate every contact again for each of them. So while
//!
//! ```text
//! A = {b : |r_b|² > η² ‖r‖²/n},   A and the bodies they touch at most a quarter of all
//! ```
//!
//! those are solved first, group by group of bodies near each other, as Newton's equations of their own with the rest held where it is, down to what is
//! left outside of `A`. With a potential that leads down it. Then comes a step of all. The solution is the same root: only where Newton's
//! steps start from changes (nonlinear elimination: Lanzkron, Rose and Wilkes, SIAM J. Sci. Comput. 17, 1996).

use super::{How, Matrix, NewtonSettings, Rigid, Workspace, rigid::Bodies, solve};
use crate::islands::{DENSE, find};
use crate::linalg::blocks::BLOCK;
use crate::linalg::{BlockFactors, BlockMatrix};
use crate::state::BodyState;
use crate::system::{Near, Pair, Part, Stage, System, join};

// The numbers below were chosen on the piles of 64 and 216 boxes of `benches/pile.rs`: shares from a third to an eighth cost much the same, η = 0.03 up to
// twice as much.

/// `η`: what may be left of the residual outside of the groups.
const REST: f64 = 0.1;

/// Groups are solved down to this share of the residual outside of them, or to [`BELOW`] of what is good enough.
const GOAL: f64 = 0.3;
const BELOW: f64 = 0.1;

/// The largest share of the bodies that is solved apart, as a divisor, and the fewest bodies there have to be.
const SHARE: usize = 4;
const FEWEST: usize = 8;

/// The most iterations of a group.
const ITERATIONS: usize = 30;

/// A group: slots of its members in the part it is of, then those of the bodies that they may touch.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) slots: Vec<usize>,
    pub(super) members: usize,
    bodies: Vec<usize>,
    unknown: Vec<Option<usize>>,
    pairs: Vec<Pair<f64>>,
    /// Place of each pair in the part.
    lists: Vec<usize>,
    edges: Vec<(u32, u32)>,
}

/// The groups that have the residual, and the norm to solve them down to \[N\]; `None` where it is spread over too many bodies.
///
/// * `squares`: `|r_b|²` of each six unknowns \[N²\].
/// * `asked`: the norm that is good enough \[N\].
pub(super) fn groups(
    part: &Part<'_, f64>,
    matrix: &BlockMatrix<f64>,
    squares: &[f64],
    asked: f64,
) -> Option<(Vec<Group>, f64)> {
    let n = squares.len();
    let total: f64 = squares.iter().sum();
    let least = (REST * REST) * total.max(asked * asked) / n as f64;
    let active: Vec<bool> = squares.iter().map(|s| *s > least).collect();
    let count = |of: &[bool]| of.iter().filter(|x| **x).count();
    if n < FEWEST || SHARE * count(&active) > n {
        return None;
    }
    let mut inside = active.clone();
    for (&(i, j), touched) in part.edges.iter().zip(&matrix.touched) {
        let (i, j) = (i as usize, j as usize);
        if *touched && (active[i] || active[j]) {
            (inside[i], inside[j]) = (true, true);
        }
    }
    if SHARE * count(&inside) > n {
        return None;
    }
    let rest: f64 = squares.iter().zip(&active).map(|(s, a)| if *a { 0.0 } else { *s }).sum();
    let mut root: Vec<usize> = (0..n).collect();
    for &(i, j) in part.edges {
        if inside[i as usize] && inside[j as usize] {
            let (i, j) = (find(&mut root, i as usize), find(&mut root, j as usize));
            root[i.max(j)] = i.min(j);
        }
    }
    let root: Vec<Option<usize>> = (0..n).map(|i| inside[i].then(|| find(&mut root, i))).collect();
    Some((gather(part, &root), (BELOW * asked).max(GOAL * rest.sqrt())))
}

/// The groups by the representative of each node, in the order of their first members.
fn gather(part: &Part<'_, f64>, root: &[Option<usize>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // Group of each representative, and group and place of each slot.
    let mut of_root = vec![usize::MAX; root.len()];
    let mut place = vec![None; part.bodies.len()];
    for (slot, unknown) in part.unknown.iter().enumerate() {
        let Some(root) = unknown.and_then(|at| root[at / BLOCK]) else { continue };
        if of_root[root] == usize::MAX {
            of_root[root] = groups.len();
            groups.push(Group::default());
        }
        let group = &mut groups[of_root[root]];
        place[slot] = Some((of_root[root], group.members));
        group.unknown.push(Some(BLOCK * group.members));
        group.slots.push(slot);
        group.members += 1;
    }
    for (list, pair) in part.pairs.iter().enumerate() {
        let inside = pair.slots.map(|slot| place[slot]);
        let Some((of, _)) = inside[0].or(inside[1]) else { continue };
        let group = &mut groups[of];
        let mut pair = pair.clone();
        for (side, known) in inside.into_iter().enumerate() {
            let slot = pair.slots[side];
            pair.slots[side] = known.map_or_else(|| group.held(slot), |(_, at)| at);
        }
        pair.moving.colliding = inside[0].is_some();
        pair.moving.collider = inside[1].is_some();
        group.pairs.push(pair);
        group.lists.push(list);
    }
    for group in &mut groups {
        group.bodies = group.slots.iter().map(|&slot| part.bodies[slot]).collect();
        group.edges = join(&mut group.pairs, &group.unknown);
    }
    groups
}

impl Group {
    /// The place of a body that is held, which it gets when it is first asked for.
    fn held(&mut self, slot: usize) -> usize {
        let known = self.slots[self.members..].iter().position(|&s| s == slot);
        known.map_or_else(
            || {
                self.slots.push(slot);
                self.unknown.push(None);
                self.slots.len() - 1
            },
            |at| self.members + at,
        )
    }

    /// Residual and matrix of the group, from those of the part that it is of: the others are held where they are.
    fn gather(
        &self,
        (part, matrix, r): (&Part<'_, f64>, &BlockMatrix<f64>, &[f64]),
        own: &mut BlockMatrix<f64>,
    ) -> Vec<f64> {
        let mut residual = Vec::with_capacity(BLOCK * self.members);
        for (member, &slot) in self.slots[..self.members].iter().enumerate() {
            let Some(at) = part.unknown[slot] else { continue };
            residual.extend_from_slice(&r[at..at + BLOCK]);
            own.diagonal[member] = matrix.diagonal[at / BLOCK];
        }
        // Members stand in the order of their unknowns: rows and columns of an edge are the same.
        for (pair, &list) in self.pairs.iter().zip(&self.lists) {
            if let (Some(to), Some(from)) = (pair.edge, part.pairs[list].edge)
                && matrix.touched[from as usize]
            {
                *own.edge(to as usize) = matrix.off[from as usize];
            }
        }
        residual
    }

    /// Solves the group down to a residual of `goal` \[N\]; moves its members in `now`, and returns the iterations, if that led anywhere.
    ///
    /// * `of_part`: the part that it is of, with matrix and residual at `now`.
    pub(super) fn solve(
        &self,
        (system, stage): (&System<'_, f64>, &Stage<'_, f64>),
        near: &mut Near,
        of_part: (&Part<'_, f64>, &BlockMatrix<f64>, &[f64]),
        (settings, goal): (&NewtonSettings, f64),
        now: &mut [BodyState],
    ) -> Option<usize> {
        let of = |states: &[BodyState]| self.slots.iter().map(|&s| states[s]).collect::<Vec<_>>();
        let (start, base) = (of(stage.start), of(stage.base));
        let stage = Stage { now: &[], start: &start, base: &base, ..*stage };
        let part = Part {
            bodies: &self.bodies,
            unknown: &self.unknown,
            unknowns: BLOCK * self.members,
            pairs: &self.pairs,
            edges: &self.edges,
        };
        let (mut work, mut bodies) = (Workspace::starting_at(of(now)), Bodies::default());
        work.prepare(part.unknowns);
        bodies.prepare(system, &part);
        let (mut lu, mut pivots, mut blocks);
        let factors = if self.members <= DENSE {
            lu = vec![0.0; part.unknowns * part.unknowns];
            pivots = vec![0; part.unknowns];
            Matrix::Dense(&mut lu, &mut pivots)
        } else {
            blocks = BlockFactors::default();
            Matrix::Blocks(&mut blocks)
        };
        let lists = near.take(&self.lists, &self.slots);
        let residual = self.gather(of_part, &mut bodies.trial);
        let at = Stage { now: &work.now, ..stage };
        let known = Some((residual, system.known_near(&part, &at, &lists)));
        let stage = &stage;
        let (bodies, part, near_lists) = (&mut bodies, &part, Some(lists));
        let mut problem = Rigid { system, part, stage, bodies, factors, near: near_lists, known };
        let settings =
            NewtonSettings { iterations: settings.iterations.min(ITERATIONS), ..*settings };
        let how = How { duration: stage.duration, keep_factors: false, goal };
        let solved = solve(&mut problem, &settings, how, &mut work);
        if let Some(lists) = problem.near {
            near.put_back(&self.lists, lists);
        }
        let stats = solved.ok().filter(|s| s.iterations > 0)?;
        for (&slot, state) in self.slots.iter().zip(&work.now).take(self.members) {
            now[slot] = *state;
        }
        Some(stats.iterations)
    }
}
