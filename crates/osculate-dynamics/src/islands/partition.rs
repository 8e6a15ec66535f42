//! Which bodies can touch during a stage, directly or through others.

use crate::linalg::blocks::BLOCK;
use crate::system::{Pair, PairSearch, Part, System, join};
use osculate_geometry::aabb::Aabb;

/// Bodies that can touch during a stage, directly or through others.
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    /// Bodies by slot: the dynamic ones, ascending, then the static ones that they may touch.
    pub(super) bodies: Vec<usize>,
    /// First unknown of each slot.
    pub(super) unknown: Vec<Option<usize>>,
    pub(super) pairs: Vec<Pair<f64>>,
    edges: Vec<(u32, u32)>,
    /// Where it is solved: the index of an [`IslandWork`](super::island::IslandWork).
    pub(super) work: Option<usize>,
}

impl Island {
    fn clear(&mut self) {
        self.bodies.clear();
        self.unknown.clear();
        self.pairs.clear();
        self.work = None;
    }

    pub(super) fn dynamic(&self) -> usize {
        self.unknown.iter().flatten().count()
    }

    /// Whether another island has the same bodies and pairs.
    fn is_like(&self, other: &Self) -> bool {
        let bodies = |pair: &Pair<f64>| (pair.a, pair.b);
        self.bodies == other.bodies
            && self.pairs.iter().map(bodies).eq(other.pairs.iter().map(bodies))
    }

    pub(super) fn part(&self) -> Part<'_, f64> {
        Part {
            bodies: &self.bodies,
            unknown: &self.unknown,
            unknowns: BLOCK * self.dynamic(),
            pairs: &self.pairs,
            edges: &self.edges,
        }
    }

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

/// Islands in the order of their first bodies. Their memory is used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// The first `count` are in use.
    all: Vec<Island>,
    count: usize,
    /// Island of each dynamic body.
    of_body: Vec<usize>,
}

impl Islands {
    pub(super) fn all(&self) -> &[Island] {
        &self.all[..self.count]
    }

    pub(super) fn all_mut(&mut self) -> &mut [Island] {
        &mut self.all[..self.count]
    }

    /// The index of the island that has the bodies and pairs of another.
    pub(super) fn like(&self, other: &Island) -> Option<usize> {
        let at = self.of_body[*other.bodies.first()?];
        self.all[at].is_like(other).then_some(at)
    }

    /// Finds the islands of bodies whose boxes meet, with their pairs.
    pub(super) fn find(
        &mut self,
        system: &System<'_, f64>,
        boxes: &[Option<Aabb>],
        memory: &mut PartitionMemory,
    ) {
        let PartitionMemory { search, pairs, root, slot } = memory;
        let (n, place) = (boxes.len(), &mut self.of_body);
        pairs.clear();
        pairs.extend(system.pairs_of(boxes, search));
        root.clear();
        root.extend(0..n);
        for pair in pairs.iter().filter(|p| p.moving.colliding && p.moving.collider) {
            let (a, b) = (find(root, pair.a), find(root, pair.b));
            root[a.max(b)] = a.min(b);
        }
        place.clear();
        place.resize(n, usize::MAX);
        slot.clear();
        slot.resize(n, 0);
        self.count = 0;
        for i in (0..n).filter(|&i| system.unknown[i].is_some()) {
            let root = find(root, i);
            if place[root] == usize::MAX {
                place[root] = self.count;
                if self.all.len() == self.count {
                    self.all.push(Island::default());
                }
                self.all[self.count].clear();
                self.count += 1;
            }
            let island = &mut self.all[place[root]];
            slot[i] = island.bodies.len();
            island.unknown.push(Some(BLOCK * island.bodies.len()));
            island.bodies.push(i);
            place[i] = place[root];
        }
        for mut pair in pairs.drain(..) {
            let moving = if pair.moving.colliding { pair.a } else { pair.b };
            let island = &mut self.all[place[moving]];
            for (side, body) in [pair.a, pair.b].into_iter().enumerate() {
                pair.slots[side] = if system.unknown[body].is_some() {
                    slot[body]
                } else {
                    island.static_slot(body)
                };
            }
            island.pairs.push(pair);
        }
        for island in &mut self.all[..self.count] {
            join(&mut island.pairs, &island.unknown, &mut island.edges);
        }
    }
}

/// Memory for finding islands, used again.
#[derive(Clone, Debug, Default)]
pub(super) struct PartitionMemory {
    search: PairSearch,
    pairs: Vec<Pair<f64>>,
    root: Vec<usize>,
    /// Slot of each dynamic body.
    slot: Vec<usize>,
}

/// The representative of an element among sets that are joined by their roots; paths are halved on the way.
pub(crate) fn find(root: &mut [usize], mut i: usize) -> usize {
    while root[i] != i {
        root[i] = root[root[i]];
        i = root[i];
    }
    i
}
