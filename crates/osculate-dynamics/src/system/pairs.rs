//! Ordered pairs with their combined parameters, and which of them can touch.

use super::{Stage, System};
use crate::linalg::blocks::BLOCK;
use osculate_contact::assembly::Moving;
use osculate_contact::combine::{PairKind, combine};
use osculate_contact::{PairOverride, PairParams};
use osculate_geometry::aabb::Aabb;
use osculate_geometry::broad_phase::overlapping;
use osculate_math::Scalar;

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

/// Finds the edges of pairs whose bodies have the given first unknowns, by slot, and tells each pair its own.
pub(crate) fn join<T>(pairs: &mut [Pair<T>], unknown: &[Option<usize>]) -> Vec<(u32, u32)> {
    let edge = |pair: &Pair<T>| {
        let [a, b] = pair.slots.map(|slot| unknown[slot].map(|x| (x / BLOCK) as u32));
        let (a, b) = (a?, b?);
        Some((a.min(b), a.max(b)))
    };
    let mut edges: Vec<_> = pairs.iter().filter_map(edge).collect();
    edges.sort_unstable();
    edges.dedup();
    for pair in pairs {
        let found = edge(pair).and_then(|e| edges.binary_search(&e).ok());
        pair.edge = found.map(|i| i as u32);
    }
    edges
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
    pub(crate) fn pairs_of(&self, boxes: &[Option<Aabb>]) -> Vec<Pair<T>> {
        let mut pairs = Vec::new();
        for (i, j) in overlapping(boxes) {
            let (i, j) = (i as usize, j as usize);
            pairs.extend([(i, j), (j, i)].into_iter().filter(|&(a, b)| self.scene.may_touch(a, b)));
        }
        pairs.sort_unstable();
        pairs.into_iter().map(|(a, b)| self.pair(a, b)).collect()
    }

    /// The pairs that can touch at a stage, and their edges.
    pub(super) fn near_pairs(&self, stage: &Stage<'_, T>) -> (Vec<Pair<T>>, Vec<(u32, u32)>) {
        let mut pairs = self.pairs_within(stage, 0.0);
        let edges = join(&mut pairs, &self.unknown);
        (pairs, edges)
    }

    /// The pairs whose boxes at a stage, each padded by `slack` \[m\], meet.
    pub(super) fn pairs_within(&self, stage: &Stage<'_, T>, slack: f64) -> Vec<Pair<T>> {
        let boxes = (0..self.bodies.len()).map(|i| {
            let now = self.bounds(i, &stage.now[i], slack)?;
            Some(now.union(&self.bounds(i, &stage.start[i], slack)?))
        });
        self.pairs_of(&boxes.collect::<Vec<_>>())
    }
}
