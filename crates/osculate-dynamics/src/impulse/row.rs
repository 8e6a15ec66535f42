//! A row: one direction of relative velocity of two bodies, and what an impulse along it does.
//!
//! ```text
//! u = J v + drift         J = (d, x × d) of a body at arm x from its centre, with a minus for the second body
//! v ← v + M⁻¹Jᵀ r
//! ```
//!
//! `M⁻¹Jᵀ` is all that a solver knows of a body. A free body has six unknowns; an articulated one gives more of them
//! and its own response, in another arm of [`Side`].

use super::body::Inertia;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3, norm::scale};

/// `(d, x × d)`: the row of a body for a direction at an arm `x` \[m\] from its centre of mass.
#[inline]
pub fn jacobian<T: Scalar>(direction: &Vector3<T>, arm: &Vector3<T>) -> [Vector3<T>; 2] {
    [*direction, arm.cross(direction)]
}

/// `M⁻¹Jᵀ` of a free body.
#[inline]
pub fn response<T: Scalar>(
    inertia: &Inertia<T>,
    inverse_in_world: &Matrix3<T>,
    [linear, angular]: &[Vector3<T>; 2],
) -> [Vector3<T>; 2] {
    [scale(linear, inertia.mass.recip()), mat3::apply(inverse_in_world, angular)]
}

/// One body's part of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Side {
    /// It does not answer.
    Fixed,
    /// A free body, its unknowns from `at` on.
    Free {
        /// Index of its first unknown.
        at: usize,
        /// `J`.
        jacobian: [Vector3<f64>; 2],
        /// `M⁻¹Jᵀ`.
        response: [Vector3<f64>; 2],
    },
    /// A tree, its unknowns from `at` on, three a vector.
    Tree {
        /// Index of its first vector of unknowns.
        at: usize,
        /// `J`.
        jacobian: Vec<Vector3<f64>>,
        /// `Ĥ⁻¹Jᵀ`.
        response: Vec<Vector3<f64>>,
    },
}

/// Unknown velocities of all bodies: linear and angular, one after the other.
pub(crate) type Velocities = [Vector3<f64>];

impl Side {
    /// Index of its first vector of unknowns.
    pub(crate) fn place(&self) -> Option<usize> {
        match self {
            Self::Fixed => None,
            Self::Free { at, .. } | Self::Tree { at, .. } => Some(*at),
        }
    }

    /// Whether it is a tree.
    pub(crate) fn is_tree(&self) -> bool {
        matches!(self, Self::Tree { .. })
    }

    /// Index of its first vector, to be changed, and how many vectors there are.
    pub(crate) fn place_mut(&mut self) -> Option<(&mut usize, usize)> {
        match self {
            Self::Fixed => None,
            Self::Free { at, .. } => Some((at, 2)),
            Self::Tree { at, jacobian, .. } => Some((at, jacobian.len())),
        }
    }

    #[inline]
    fn velocity(&self, v: &Velocities) -> f64 {
        match self {
            Self::Fixed => 0.0,
            Self::Free { at, jacobian: [l, a], .. } => l.dot(&v[*at]) + a.dot(&v[*at + 1]),
            Self::Tree { at, jacobian, .. } => {
                jacobian.iter().zip(&v[*at..]).map(|(j, v)| j.dot(v)).sum()
            }
        }
    }

    /// Sum of the magnitudes of what is added up in `velocity`: what its rounding scales with.
    #[inline]
    fn magnitude(&self, v: &Velocities) -> f64 {
        match self {
            Self::Fixed => 0.0,
            Self::Free { at, jacobian: [l, a], .. } => {
                l.abs().dot(&v[*at].abs()) + a.abs().dot(&v[*at + 1].abs())
            }
            Self::Tree { at, jacobian, .. } => {
                jacobian.iter().zip(&v[*at..]).map(|(j, v)| j.abs().dot(&v.abs())).sum()
            }
        }
    }

    #[inline]
    fn apply(&self, impulse: f64, v: &mut Velocities) {
        match self {
            Self::Fixed => {}
            Self::Free { at, response: [l, a], .. } => {
                v[*at] += l * impulse;
                v[*at + 1] += a * impulse;
            }
            Self::Tree { at, response, .. } => {
                for (v, r) in v[*at..].iter_mut().zip(response) {
                    *v += r * impulse;
                }
            }
        }
    }

    #[inline]
    fn coupling(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Free { at, jacobian: [l, a], .. }, Self::Free { at: same, response, .. })
                if at == same =>
            {
                l.dot(&response[0]) + a.dot(&response[1])
            }
            (Self::Tree { at, jacobian, .. }, Self::Tree { at: same, response, .. })
                if at == same =>
            {
                jacobian.iter().zip(response).map(|(j, r)| j.dot(r)).sum()
            }
            _ => 0.0,
        }
    }
}

/// A row between two bodies; between two links of one tree it has one side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) sides: [Side; 2],
    /// Relative velocity that prescribed motion brings \[m/s\].
    pub(crate) drift: f64,
}

impl Row {
    /// `u` \[m/s\].
    #[inline]
    pub(crate) fn velocity(&self, v: &Velocities) -> f64 {
        self.sides[0].velocity(v) + self.sides[1].velocity(v) + self.drift
    }

    /// What the rounding of `u` scales with \[m/s\].
    #[inline]
    pub(crate) fn magnitude(&self, v: &Velocities) -> f64 {
        self.sides[0].magnitude(v) + self.sides[1].magnitude(v) + self.drift.abs()
    }

    /// `v ← v + M⁻¹Jᵀ r`.
    #[inline]
    pub(crate) fn apply(&self, impulse: f64, v: &mut Velocities) {
        self.sides[0].apply(impulse, v);
        self.sides[1].apply(impulse, v);
    }

    /// `J M⁻¹ J'ᵀ` with another row of the same two bodies \[1/kg\].
    #[inline]
    pub(crate) fn coupling(&self, other: &Self) -> f64 {
        self.sides[0].coupling(&other.sides[0]) + self.sides[1].coupling(&other.sides[1])
    }
}
