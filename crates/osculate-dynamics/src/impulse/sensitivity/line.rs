//! Rows of two bodies, without what is prescribed.

use crate::impulse::tree::padded;
use nalgebra::{Vector2, Vector3};

/// One body's part of a row.
#[derive(Clone, Debug)]
pub(super) enum LineSide {
    /// It does not answer.
    Fixed,
    /// Linear and angular part of a free body whose first unknown is `at`.
    Free { at: usize, jacobian: [Vector3<f64>; 2] },
    /// A tree whose first vector of unknowns is `at`.
    Tree { at: usize, jacobian: Vec<Vector3<f64>> },
}

/// A row of two bodies without the velocities that are prescribed.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) sides: [LineSide; 2],
}

impl LineSide {
    /// First unknown.
    pub(super) fn at(&self) -> Option<usize> {
        match self {
            Self::Fixed => None,
            Self::Free { at, .. } | Self::Tree { at, .. } => Some(*at),
        }
    }

    fn entries(&self) -> (usize, &[Vector3<f64>]) {
        match self {
            Self::Fixed => (0, &[]),
            Self::Free { at, jacobian } => (*at, jacobian),
            Self::Tree { at, jacobian } => (*at, jacobian),
        }
    }

    fn entries_mut(&mut self) -> &mut [Vector3<f64>] {
        match self {
            Self::Fixed => &mut [],
            Self::Free { jacobian, .. } => jacobian,
            Self::Tree { jacobian, .. } => jacobian,
        }
    }
}

impl Line {
    /// A row in the velocities of a tree.
    pub(super) fn of_tree(at: usize, jacobian: &[f64]) -> Self {
        Self { sides: [LineSide::Tree { at, jacobian: padded(jacobian) }, LineSide::Fixed] }
    }

    /// First unknown and part of the one free body that it moves, where there is no other.
    pub(super) fn alone(&self) -> Option<(usize, &[Vector3<f64>; 2])> {
        match &self.sides {
            [LineSide::Free { at, jacobian }, LineSide::Fixed]
            | [LineSide::Fixed, LineSide::Free { at, jacobian }] => Some((*at, jacobian)),
            _ => None,
        }
    }

    pub(super) fn combined(lines: &[Self; 2], x: &Vector2<f64>) -> Self {
        let mut sum = lines[0].scaled(x.x);
        sum.add(&lines[1], x.y);
        sum
    }

    pub(super) fn scaled(&self, factor: f64) -> Self {
        let mut out = self.clone();
        out.sides.iter_mut().flat_map(LineSide::entries_mut).for_each(|j| *j *= factor);
        out
    }

    /// Adds a multiple of a row of the same bodies.
    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        for (own, more) in self.sides.iter_mut().zip(&other.sides) {
            for (own, more) in own.entries_mut().iter_mut().zip(more.entries().1) {
                *own += more * factor;
            }
        }
    }

    /// `J v`.
    #[inline]
    pub(super) fn velocity(&self, v: &[Vector3<f64>]) -> f64 {
        let side = |s: &LineSide| match s {
            LineSide::Fixed => 0.0,
            LineSide::Free { at, jacobian: [l, a] } => l.dot(&v[*at]) + a.dot(&v[*at + 1]),
            LineSide::Tree { at, jacobian } => {
                jacobian.iter().zip(&v[*at..]).map(|(j, v)| j.dot(v)).sum()
            }
        };
        side(&self.sides[0]) + side(&self.sides[1])
    }

    /// `w ← w + Jᵀ r`.
    #[inline]
    pub(super) fn apply(&self, r: f64, w: &mut [Vector3<f64>]) {
        for side in &self.sides {
            let (at, jacobian) = side.entries();
            for (w, j) in w[at..].iter_mut().zip(jacobian) {
                *w += j * r;
            }
        }
    }

    /// Zero where the row pushes.
    pub(super) fn clear(&self, w: &mut [Vector3<f64>]) {
        for side in &self.sides {
            let (at, jacobian) = side.entries();
            w[at..at + jacobian.len()].fill(Vector3::zeros());
        }
    }

    /// `J J'ᵀ` with a row of any bodies.
    pub(super) fn dot(&self, other: &Self) -> f64 {
        let mut sum = 0.0;
        for (at, own) in self.sides.iter().map(LineSide::entries) {
            for (same, more) in other.sides.iter().map(LineSide::entries) {
                if at == same && own.len() == more.len() {
                    sum += own.iter().zip(more).map(|(j, k)| j.dot(k)).sum::<f64>();
                }
            }
        }
        sum
    }

    /// Changes each side by what its body answers.
    pub(super) fn map(&self, mut f: impl FnMut(&mut LineSide)) -> Self {
        let mut out = self.clone();
        out.sides.iter_mut().for_each(&mut f);
        out
    }
}
