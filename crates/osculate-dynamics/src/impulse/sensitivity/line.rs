//! Rows of two bodies, without what is prescribed: all of a step in one piece of memory.

use crate::impulse::tree::padded;
use nalgebra::Vector3;
use std::ops::Range;

/// The unknowns of one body that a row moves: `count` vectors from `at` on, none of a body that does not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) at: usize,
    pub(super) count: usize,
}

impl Part {
    /// First unknown.
    pub(super) fn place(&self) -> Option<usize> {
        (self.count > 0).then_some(self.at)
    }
}

/// A row: the parts of two bodies, and the entries of the first and then of the second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) parts: [Part; 2],
    pub(super) entries: &'a [Vector3<f64>],
}

impl<'a> Line<'a> {
    fn sides(&self) -> [(usize, &'a [Vector3<f64>]); 2] {
        let [a, b] = self.parts;
        let (first, second) = self.entries.split_at(a.count);
        [(a.at, first), (b.at, second)]
    }

    /// `J v`.
    #[inline]
    pub(super) fn velocity(&self, v: &[Vector3<f64>]) -> f64 {
        let side = |(at, jacobian): (usize, &[Vector3<f64>])| match jacobian {
            [] => 0.0,
            // Those of a free body.
            [l, a] => l.dot(&v[at]) + a.dot(&v[at + 1]),
            _ => jacobian.iter().zip(&v[at..]).map(|(j, v)| j.dot(v)).sum(),
        };
        let [first, second] = self.sides();
        side(first) + side(second)
    }

    /// `w ← w + Jᵀ r`.
    #[inline]
    pub(super) fn apply(&self, r: f64, w: &mut [Vector3<f64>]) {
        for (at, jacobian) in self.sides() {
            for (w, j) in w[at..].iter_mut().zip(jacobian) {
                *w += j * r;
            }
        }
    }

    /// The row times a factor.
    pub(super) fn scaled(&self, factor: f64) -> LineBuf {
        let entries = self.entries.iter().map(|j| j * factor).collect();
        LineBuf { parts: self.parts, entries }
    }
}

/// A row with its own memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LineBuf {
    pub(super) parts: [Part; 2],
    pub(super) entries: Vec<Vector3<f64>>,
}

impl LineBuf {
    /// A row in the velocities of a tree.
    pub(super) fn of_tree(at: usize, jacobian: &[f64]) -> Self {
        let entries = padded(jacobian);
        Self { parts: [Part { at, count: entries.len() }, Part::default()], entries }
    }

    pub(super) fn view(&self) -> Line<'_> {
        Line { parts: self.parts, entries: &self.entries }
    }

    /// Adds a multiple of a row of the same bodies.
    pub(super) fn add(&mut self, other: Line<'_>, factor: f64) {
        add(&mut self.entries, other.entries, factor);
    }
}

fn add(to: &mut [Vector3<f64>], from: &[Vector3<f64>], factor: f64) {
    to.iter_mut().zip(from).for_each(|(x, y)| *x += y * factor);
}

/// Rows, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct LineList {
    /// Parts of each row, and where its entries end.
    lines: Vec<([Part; 2], usize)>,
    entries: Vec<Vector3<f64>>,
}

impl LineList {
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn range(&self, i: usize) -> Range<usize> {
        let (parts, end) = self.lines[i];
        end - parts[0].count - parts[1].count..end
    }

    /// Takes out all rows from the row `keep` on.
    pub(super) fn truncate(&mut self, keep: usize) {
        self.lines.truncate(keep);
        self.entries.truncate(self.lines.last().map_or(0, |line| line.1));
    }

    pub(super) fn reserve(&mut self, rows: usize) {
        self.lines.reserve(rows);
        // Those of one free body.
        self.entries.reserve(2 * rows);
    }

    /// Adds a row whose entries `write` appends; returns what that returns beside the parts.
    pub(super) fn push_with<R>(
        &mut self,
        write: impl FnOnce(&mut Vec<Vector3<f64>>) -> ([Part; 2], R),
    ) -> R {
        let (parts, found) = write(&mut self.entries);
        self.lines.push((parts, self.entries.len()));
        found
    }

    pub(super) fn push(&mut self, line: Line<'_>) {
        self.entries.extend_from_slice(line.entries);
        self.lines.push((line.parts, self.entries.len()));
    }

    pub(super) fn get(&self, i: usize) -> Line<'_> {
        Line { parts: self.lines[i].0, entries: &self.entries[self.range(i)] }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Line<'_>> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Parts of all rows.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[Part; 2]> {
        self.lines.iter().map(|(parts, _)| parts)
    }

    /// Adds a multiple of a row of the same bodies to the row `i`.
    pub(super) fn add(&mut self, i: usize, other: Line<'_>, factor: f64) {
        let range = self.range(i);
        add(&mut self.entries[range], other.entries, factor);
    }

    /// Adds a multiple of the row `other`, of the same bodies, to the row `i` before it.
    pub(super) fn add_own(&mut self, i: usize, other: usize, factor: f64) {
        let [own, from] = [i, other].map(|i| self.range(i));
        let (head, tail) = self.entries.split_at_mut(from.start);
        add(&mut head[own], &tail[..from.len()], factor);
    }

    /// Linear and angular entries of rows that all move one free body alone.
    pub(super) fn pairs(&self) -> &[[Vector3<f64>; 2]] {
        self.entries.as_chunks().0
    }
}
