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

use super::{How, NewtonSettings, PartWork, Rigid, solve};
use crate::factors::IslandMatrix;
use crate::islands::find;
use crate::linalg::BlockMatrix;
use crate::linalg::blocks::BLOCK;
use crate::state::BodyState;
use crate::system::{Again, Near, Pair, Part, Stage, System, join};

// The numbers below were chosen on the piles of 64 and 216 boxes of `benches/pile.rs`: shares from a third to an eighth cost much the same, η = 0.03 up to
// twice as much.

/// `η`: what may be left of the residual outside of the groups.
const REST: f64 = 0.1;

/// Groups are solved down to this share of the residual outside of them, or to [`BELOW`] of what is good enough.
const GOAL: f64 = 0.3;
const BELOW: f64 = 0.1;

/// The largest share of the bodies that is solved apart, as a divisor, and the fewest bodies there have to be.
const SHARE: usize = 4;
pub(super) const FEWEST: usize = 8;

/// The most iterations of a group.
const ITERATIONS: usize = 30;

/// A group: slots of its members in the part it is of, then those of the bodies that they may touch.
#[derive(Clone, Debug, Default)]
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

/// Groups of a part, and memory for finding and solving them, used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    /// The first `count` are in use.
    pub(super) groups: Vec<Group>,
    pub(super) count: usize,
    pub(super) work: GroupWork,
    pub(super) again: Again,
    /// `|r_b|²` of each six unknowns \[N²\].
    squares: Vec<f64>,
    active: Vec<bool>,
    inside: Vec<bool>,
    joined: Vec<usize>,
    /// The representative of each node inside.
    root: Vec<Option<usize>>,
    /// Group of each representative, and group and place of each slot.
    of_root: Vec<usize>,
    place: Vec<Option<(usize, usize)>>,
}

/// Memory for the solve of a group, used for one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupWork {
    part: PartWork,
    matrix: IslandMatrix,
    residual: Vec<f64>,
    inertia: Vec<f64>,
}

fn refill<T>(list: &mut Vec<T>, with: impl Iterator<Item = T>) {
    list.clear();
    list.extend(with);
}

impl Local {
    /// Finds the groups that have the residual; returns the norm to solve them down to \[N\], or `None` where it is spread over too many
    /// bodies.
    ///
    /// * `squares`: `|r_b|²` of each six unknowns \[N²\].
    /// * `asked`: the norm that is good enough \[N\].
    pub(super) fn find(
        &mut self,
        part: &Part<'_, f64>,
        matrix: &BlockMatrix<f64>,
        squares: impl Iterator<Item = f64>,
        asked: f64,
    ) -> Option<f64> {
        let Self { squares: all, active, inside, joined, root, .. } = self;
        refill(all, squares);
        let n = all.len();
        let total: f64 = all.iter().sum();
        let least = (REST * REST) * total.max(asked * asked) / n as f64;
        refill(active, all.iter().map(|s| *s > least));
        let count = |of: &[bool]| of.iter().filter(|x| **x).count();
        if SHARE * count(active) > n {
            return None;
        }
        inside.clone_from(active);
        for (&(i, j), touched) in part.edges.iter().zip(&matrix.touched) {
            let (i, j) = (i as usize, j as usize);
            if *touched && (active[i] || active[j]) {
                (inside[i], inside[j]) = (true, true);
            }
        }
        if SHARE * count(inside) > n {
            return None;
        }
        let rest = all.iter().zip(&*active).map(|(s, a)| if *a { 0.0 } else { *s });
        let rest: f64 = rest.sum();
        refill(joined, 0..n);
        for &(i, j) in part.edges {
            if inside[i as usize] && inside[j as usize] {
                let (i, j) = (find(joined, i as usize), find(joined, j as usize));
                joined[i.max(j)] = i.min(j);
            }
        }
        refill(root, (0..n).map(|i| inside[i].then(|| find(joined, i))));
        self.gather(part);
        Some((BELOW * asked).max(GOAL * rest.sqrt()))
    }

    /// Makes the groups by the representative of each node, in the order of their first members.
    fn gather(&mut self, part: &Part<'_, f64>) {
        let Self { groups, count, root, of_root, place, .. } = self;
        *count = 0;
        refill(of_root, root.iter().map(|_| usize::MAX));
        refill(place, part.bodies.iter().map(|_| None));
        for (slot, unknown) in part.unknown.iter().enumerate() {
            let Some(root) = unknown.and_then(|at| root[at / BLOCK]) else { continue };
            if of_root[root] == usize::MAX {
                of_root[root] = *count;
                if groups.len() == *count {
                    groups.push(Group::default());
                }
                groups[*count].clear();
                *count += 1;
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
        for group in &mut groups[..*count] {
            refill(&mut group.bodies, group.slots.iter().map(|&slot| part.bodies[slot]));
            join(&mut group.pairs, &group.unknown, &mut group.edges);
        }
    }
}

impl Group {
    fn clear(&mut self) {
        self.members = 0;
        self.slots.clear();
        self.unknown.clear();
        self.pairs.clear();
        self.lists.clear();
    }

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
        (own, residual): (&mut BlockMatrix<f64>, &mut Vec<f64>),
    ) {
        residual.clear();
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
    }

    /// Solves the group down to a residual of `goal` \[N\]; moves its members in `now`, and returns the iterations, if that led anywhere.
    ///
    /// * `of_part`: the part that it is of, with matrix and residual at `now`.
    pub(super) fn solve(
        &self,
        (system, stage): (&System<'_, f64>, &Stage<'_, f64>),
        (near, work): (&mut Near, &mut GroupWork),
        of_part: (&Part<'_, f64>, &BlockMatrix<f64>, &[f64]),
        (settings, goal): (&NewtonSettings, f64),
        now: &mut [BodyState],
    ) -> Option<usize> {
        let part = &Part {
            bodies: &self.bodies,
            unknown: &self.unknown,
            unknowns: BLOCK * self.members,
            pairs: &self.pairs,
            edges: &self.edges,
        };
        work.part.prepare(system, (part, &self.slots), stage, now);
        let GroupWork { part: own, matrix, residual, inertia } = work;
        let PartWork { start, base, newton, bodies, near: lists, blocks } = own;
        let stage = &Stage { now: &[], start, base, ..*stage };
        near.lend(&self.lists, &self.slots, lists);
        self.gather(of_part, (&mut bodies.trial, residual));
        let at = Stage { now: &newton.now, ..*stage };
        let known = Some((&**residual, system.known_near(part, &at, lists, inertia)));
        let factors = matrix.prepare(self.members, blocks);
        let mut problem =
            Rigid { system, part, stage, bodies, factors, near: Some(&mut *lists), known };
        let settings =
            NewtonSettings { iterations: settings.iterations.min(ITERATIONS), ..*settings };
        let how = How { duration: stage.duration, keep_factors: false, goal };
        let solved = solve(&mut problem, &settings, how, newton);
        near.take_back(&self.lists, lists);
        let stats = solved.ok().filter(|s| s.iterations > 0)?;
        for (&slot, state) in self.slots.iter().zip(&newton.now).take(self.members) {
            now[slot] = *state;
        }
        Some(stats.iterations)
    }
}
