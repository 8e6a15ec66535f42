//! Rows of two bodies, without what is prescribed.

use crate::impulse::row::{Row, Side};
use nalgebra::{Vector2, Vector3};

/// A row of two bodies without the velocities that are prescribed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// First unknown of each body.
    pub(super) at: [Option<usize>; 2],
    /// `J`, linear and angular.
    pub(super) jacobian: [[Vector3<f64>; 2]; 2],
}

impl Line {
    pub(super) fn of(row: &Row) -> Self {
        let side = |s: &Side| match s {
            Side::Fixed => (None, [Vector3::zeros(); 2]),
            // Scenes with joints are refused.
            Side::Tree { .. } => (None, [Vector3::zeros(); 2]),
            Side::Free { at, jacobian, .. } => (Some(*at), *jacobian),
        };
        let [a, b] = [side(&row.sides[0]), side(&row.sides[1])];
        Self { at: [a.0, b.0], jacobian: [a.1, b.1] }
    }

    pub(super) fn combined(lines: &[Self; 2], x: &Vector2<f64>) -> Self {
        let mut sum = Self { at: lines[0].at, jacobian: [[Vector3::zeros(); 2]; 2] };
        sum.add(&lines[0], x.x);
        sum.add(&lines[1], x.y);
        sum
    }

    /// Adds a multiple of a row of the same bodies.
    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        for (own, more) in self.jacobian.iter_mut().flatten().zip(other.jacobian.iter().flatten()) {
            *own += more * factor;
        }
    }

    /// `J v`.
    pub(super) fn velocity(&self, v: &[Vector3<f64>]) -> f64 {
        let side = |k: usize| {
            let [l, a] = &self.jacobian[k];
            self.at[k].map_or(0.0, |at| l.dot(&v[at]) + a.dot(&v[at + 1]))
        };
        side(0) + side(1)
    }

    /// `w ← w + Jᵀ r`.
    pub(super) fn apply(&self, r: f64, w: &mut [Vector3<f64>]) {
        for (at, [l, a]) in self.at.iter().zip(&self.jacobian) {
            if let Some(at) = *at {
                w[at] += l * r;
                w[at + 1] += a * r;
            }
        }
    }

    /// Zero where the row pushes.
    pub(super) fn clear(&self, w: &mut [Vector3<f64>]) {
        for at in self.at.into_iter().flatten() {
            w[at..at + 2].fill(Vector3::zeros());
        }
    }

    /// `J J'ᵀ` with a row of any bodies.
    pub(super) fn dot(&self, other: &Self) -> f64 {
        let mut sum = 0.0;
        for (at, [l, a]) in self.at.iter().zip(&self.jacobian) {
            for (same, [m, b]) in other.at.iter().zip(&other.jacobian) {
                if at.is_some() && at == same {
                    sum += l.dot(m) + a.dot(b);
                }
            }
        }
        sum
    }
}
