//! Ordered pairs with their combined parameters, and which of them can touch.

use super::{PARALLEL, Stage, System};
use crate::linalg::blocks::BLOCK;
use osculate_contact::assembly::Moving;
use osculate_contact::combine::{PairKind, combine};
use osculate_contact::{PairOverride, PairParams};
use osculate_geometry::aabb::Aabb;
use osculate_geometry::broad_phase::BroadPhase;
use osculate_math::Scalar;
use rayon::prelude::*;

/// An ordered pair with its combined parameters.
#[derive(Clone, Debug)]
pub(crate) struct Pair<T> {
    /// The colliding body and the collider's.
    pub(crate) a: usize,
    pub(crate) b: usize,
    /// Slots of the two.
    pub(crate) slots: [usize; 2],
    /// The two blocks off the diagonal, where both move.
    pub(crate) edge: Option<u32>,
    pub(crate) params: PairParams<T>,
    pub(crate) kind: PairKind,
    pub(crate) replaced: Option<usize>,
    pub(crate) moving: Moving,
}

/// Memory of the search for pairs, used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairSearch {
    broad_phase: BroadPhase,
    allowed: Vec<(usize, usize)>,
}

/// Finds the edges of pairs whose bodies have the given first unknowns, by slot, and tells each pair its own.
pub(crate) fn join<T>(
    pairs: &mut [Pair<T>],
    unknown: &[Option<usize>],
    edges: &mut Vec<(u32, u32)>,
) {
    let edge = |pair: &Pair<T>| {
        let [a, b] = pair.slots.map(|slot| unknown[slot].map(|x| (x / BLOCK) as u32));
        let (a, b) = (a?, b?);
        Some((a.min(b), a.max(b)))
    };
    edges.clear();
    edges.extend(pairs.iter().filter_map(edge));
    edges.sort_unstable();
    edges.dedup();
    for pair in pairs {
        let found = edge(pair).and_then(|e| edges.binary_search(&e).ok());
        pair.edge = found.map(|i| i as u32);
    }
}

/// Calls `take` with what `make` makes of each pair, in the order of the pairs for any number of threads.
pub(super) fn in_order<T: Scalar, R: Send>(
    pairs: &[Pair<T>],
    make: impl Fn(&Pair<T>) -> Option<R> + Send + Sync,
    mut take: impl FnMut(&Pair<T>, R),
) {
    if pairs.len() < PARALLEL || rayon::current_num_threads() == 1 {
        for pair in pairs {
            if let Some(made) = make(pair) {
                take(pair, made);
            }
        }
    } else {
        let all = pairs.par_iter().with_min_len(PARALLEL / 8).map(make);
        let made: Vec<Option<R>> = all.collect();
        for (pair, made) in pairs.iter().zip(made) {
            if let Some(made) = made {
                take(pair, made);
            }
        }
    }
}

impl<T: Scalar> System<'_, T> {
    /// The pair of a colliding body and a collider's; each body has the slot of its index.
    pub(crate) fn pair(&self, a: usize, b: usize) -> Pair<T> {
        let moving = [a, b].map(|i| self.unknown[i].is_some());
        let kind = PairKind {
            static_collider: !moving[1],
            thin_colliding: self.scene.bodies[a].collider.is_none(),
        };
        let replaced = self.scene.override_of(a, b);
        let values = replaced.map_or_else(PairOverride::default, |i| self.overrides[i]);
        Pair {
            a,
            b,
            slots: [a, b],
            edge: None,
            params: combine(&self.contact[a], &self.contact[b], kind, &values),
            kind,
            replaced,
            moving: Moving { colliding: moving[0], collider: moving[1] },
        }
    }

    /// Ordered pairs, ascending, that are allowed to touch and whose boxes meet.
    pub(crate) fn pairs_of<'a>(
        &'a self,
        boxes: &[Option<Aabb>],
        search: &'a mut PairSearch,
    ) -> impl Iterator<Item = Pair<T>> + 'a {
        let PairSearch { broad_phase, allowed } = search;
        allowed.clear();
        for &(i, j) in broad_phase.overlapping(boxes) {
            let (i, j) = (i as usize, j as usize);
            let both = [(i, j), (j, i)].into_iter();
            allowed.extend(both.filter(|&(a, b)| self.scene.may_touch(a, b)));
        }
        allowed.sort_unstable();
        allowed.iter().map(|&(a, b)| self.pair(a, b))
    }

    /// The pairs that can touch at a stage, and their edges.
    pub(super) fn near_pairs(&self, stage: &Stage<'_, T>) -> (Vec<Pair<T>>, Vec<(u32, u32)>) {
        let (mut pairs, mut edges) = (self.pairs_within(stage, 0.0), Vec::new());
        join(&mut pairs, &self.unknown, &mut edges);
        (pairs, edges)
    }

    /// The pairs whose boxes at a stage, each padded by `slack` \[m\], meet.
    pub(super) fn pairs_within(&self, stage: &Stage<'_, T>, slack: f64) -> Vec<Pair<T>> {
        let boxes = (0..self.bodies.len()).map(|i| {
            let now = self.bounds(i, &stage.now[i], slack)?;
            Some(now.union(&self.bounds(i, &stage.start[i], slack)?))
        });
        let boxes: Vec<_> = boxes.collect();
        self.pairs_of(&boxes, &mut PairSearch::default()).collect()
    }
}
