//! In which order the nodes of a graph are eliminated, and the fill that follows: the least degree first.

use super::blocks::BLOCK;
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

impl Elimination {
    /// The order for a graph: edges `(i, j)`, `i < j`, each once.
    pub(crate) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let (order, neighbours) = least_degree(nodes, edges);
        let mut place = vec![0; nodes];
        for (k, &node) in order.iter().enumerate() {
            place[node as usize] = k as u32;
        }
        let (mut joined, mut first) = (Vec::new(), vec![0]);
        for list in &neighbours {
            let start = joined.len();
            joined.extend(list.iter().map(|&node| place[node as usize]));
            joined[start..].sort_unstable();
            first.push(joined.len());
        }
        let row = |k: u32| first[k as usize]..first[k as usize + 1];
        let edge = |p: u32, q: u32| {
            let found = joined[row(p)].binary_search(&q);
            (first[p as usize] + found.unwrap_or_else(|at| at)) as u32
        };
        let mut targets = Vec::new();
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
        let filled = edges.iter().map(|&(i, j)| {
            let (p, q) = (place[i as usize], place[j as usize]);
            (edge(p.min(q), p.max(q)), p < q)
        });
        let filled = filled.collect();
        Self { edges: edges.to_vec(), place, joined, first, filled, targets }
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

/// Nodes in the order of least degree (the lowest index of equal ones), and the neighbours each has when its turn comes.
fn least_degree(nodes: usize, edges: &[(u32, u32)]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut adjacent = vec![Vec::new(); nodes];
    for &(i, j) in edges {
        adjacent[i as usize].push(j);
        adjacent[j as usize].push(i);
    }
    adjacent.iter_mut().for_each(|list| list.sort_unstable());
    let mut waiting: std::collections::BTreeSet<(usize, u32)> =
        adjacent.iter().enumerate().map(|(i, list)| (list.len(), i as u32)).collect();
    let (mut order, mut neighbours) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes));
    let mut merged = Vec::new();
    while let Some((_, node)) = waiting.pop_first() {
        let list = std::mem::take(&mut adjacent[node as usize]);
        for &i in &list {
            let own = &mut adjacent[i as usize];
            waiting.remove(&(own.len(), i));
            merged.clear();
            union_without(own, &list, &[node, i], &mut merged);
            std::mem::swap(own, &mut merged);
            waiting.insert((own.len(), i));
        }
        order.push(node);
        neighbours.push(list);
    }
    (order, neighbours)
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
        assert_eq!(Elimination::new(100, &edges).joined.len(), edges.len());
    }
}
