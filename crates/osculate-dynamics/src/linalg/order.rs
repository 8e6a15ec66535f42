//! In which order the nodes of a graph are eliminated, and the fill that follows: the least degree first.

use super::blocks::BLOCK;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Order of elimination and where each product goes; depends on the graph alone and is used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elimination {
    edges: Vec<(u32, u32)>,
    /// Place at which each node is eliminated. Everything below is by place.
    pub(super) place: Vec<u32>,
    /// Later places that each place is joined to, fill included, ascending; those of place `k` are
    /// `first[k]..first[k + 1]`. An index into this list is an edge of the filled graph.
    pub(super) joined: Vec<u32>,
    pub(super) first: Vec<usize>,
    /// Filled edge of each edge, and whether its first node is eliminated first.
    pub(super) filled: Vec<(u32, bool)>,
    /// Filled edge between each two `i < j` of the places joined to each place, in order.
    pub(super) targets: Vec<u32>,
}

/// Memory for finding an order, used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordering {
    /// Neighbours of each node: of one that is eliminated those it had then, of the others those they have now.
    adjacent: Vec<Vec<u32>>,
    /// Degree and node; the entries of a node whose degree has changed since are out of date.
    waiting: BinaryHeap<Reverse<(usize, u32)>>,
    done: Vec<bool>,
    merged: Vec<u32>,
    order: Vec<u32>,
}

impl Elimination {
    /// Finds the order for a graph, in the memory of the one before: edges `(i, j)`, `i < j`, each once.
    pub(super) fn find(&mut self, nodes: usize, edges: &[(u32, u32)], ordering: &mut Ordering) {
        ordering.least_degree(nodes, edges);
        let Self { edges: own, place, joined, first, filled, targets } = self;
        own.clear();
        own.extend_from_slice(edges);
        place.clear();
        place.resize(nodes, 0);
        for (k, &node) in ordering.order.iter().enumerate() {
            place[node as usize] = k as u32;
        }
        joined.clear();
        first.clear();
        first.push(0);
        for &node in &ordering.order {
            let start = joined.len();
            joined.extend(ordering.adjacent[node as usize].iter().map(|&n| place[n as usize]));
            joined[start..].sort_unstable();
            first.push(joined.len());
        }
        let row = |k: u32| first[k as usize]..first[k as usize + 1];
        let edge = |p: u32, q: u32| {
            let found = joined[row(p)].binary_search(&q);
            (first[p as usize] + found.unwrap_or_else(|at| at)) as u32
        };
        targets.clear();
        for k in 0..nodes as u32 {
            let list = &joined[row(k)];
            for (n, &i) in list.iter().enumerate() {
                // Both lists are ascending, and what is later than `i` here is joined to it there.
                let mut at = first[i as usize];
                for &j in &list[n + 1..] {
                    while joined[at] < j {
                        at += 1;
                    }
                    targets.push(at as u32);
                }
            }
        }
        filled.clear();
        filled.extend(edges.iter().map(|&(i, j)| {
            let (p, q) = (place[i as usize], place[j as usize]);
            (edge(p.min(q), p.max(q)), p < q)
        }));
    }

    /// Forgets the graph: it has no nodes.
    pub(super) fn clear(&mut self) {
        self.edges.clear();
        self.place.clear();
    }

    /// How many nodes the graph has.
    pub(crate) fn nodes(&self) -> usize {
        self.place.len()
    }

    /// Edges of the graph, ascending.
    pub(crate) fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Whether the graph has all these edges, given in ascending order.
    pub(super) fn covers(&self, edges: impl IntoIterator<Item = (u32, u32)>) -> bool {
        let mut own = self.edges.iter();
        edges.into_iter().all(|edge| own.any(|e| *e == edge))
    }

    /// Index of the unknown `i` of the node eliminated at a place.
    pub(super) fn unknown(&self, k: usize, i: usize) -> usize {
        let node = self.place.iter().position(|&p| p as usize == k);
        BLOCK * node.unwrap_or(0) + i
    }

    /// The filled edges from a place to later ones.
    pub(super) fn row(&self, k: usize) -> Range<usize> {
        self.first[k]..self.first[k + 1]
    }
}

impl Ordering {
    /// Finds the nodes in the order of least degree (the lowest index of equal ones), and the neighbours each has when its turn comes.
    fn least_degree(&mut self, nodes: usize, edges: &[(u32, u32)]) {
        let Self { adjacent, waiting, done, merged, order } = self;
        if adjacent.len() < nodes {
            adjacent.resize_with(nodes, Vec::new);
        }
        adjacent[..nodes].iter_mut().for_each(Vec::clear);
        for &(i, j) in edges {
            adjacent[i as usize].push(j);
            adjacent[j as usize].push(i);
        }
        waiting.clear();
        for (i, list) in adjacent[..nodes].iter_mut().enumerate() {
            list.sort_unstable();
            waiting.push(Reverse((list.len(), i as u32)));
        }
        done.clear();
        done.resize(nodes, false);
        order.clear();
        while let Some(Reverse((degree, node))) = waiting.pop() {
            if done[node as usize] || adjacent[node as usize].len() != degree {
                continue;
            }
            done[node as usize] = true;
            order.push(node);
            let list = std::mem::take(&mut adjacent[node as usize]);
            for &i in &list {
                let own = &mut adjacent[i as usize];
                merged.clear();
                union_without(own, &list, &[node, i], merged);
                // Copied, not exchanged: every list keeps its memory, which the next search finds where this one left it.
                own.clone_from(merged);
                waiting.push(Reverse((own.len(), i)));
            }
            adjacent[node as usize] = list;
        }
    }
}

/// The union of two ascending lists without some members.
fn union_without(a: &[u32], b: &[u32], without: &[u32], out: &mut Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => *x.min(y),
            (Some(x), None) | (None, Some(x)) => *x,
            (None, None) => return,
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        if !without.contains(&next) {
            out.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_is_eliminated_without_fill() {
        let edges: Vec<_> = (0..99).map(|i| (i, i + 1)).collect();
        let mut elimination = Elimination::default();
        elimination.find(100, &edges, &mut Ordering::default());
        assert_eq!(elimination.joined.len(), edges.len());
    }

    #[test]
    fn order_found_in_used_memory_is_that_found_in_new() {
        let wheel: Vec<_> = (1..30).map(|i| (0, i)).chain((1..29).map(|i| (i, i + 1))).collect();
        let chain: Vec<_> = (0..11).map(|i| (i, i + 1)).collect();
        let (mut used, mut ordering) = (Elimination::default(), Ordering::default());
        for (nodes, edges) in [(30, &wheel), (12, &chain), (40, &wheel)] {
            let mut new = Elimination::default();
            used.find(nodes, edges, &mut ordering);
            new.find(nodes, edges, &mut Ordering::default());
            assert_eq!(used, new);
        }
    }
}
