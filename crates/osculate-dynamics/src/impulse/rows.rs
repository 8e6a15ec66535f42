//! Rows of a step: a normal row for each contact, pairs of friction rows, and the groups that share a load.
//!
//! ```text
//! normal     u + b + γ r = 0,  r ≥ 0       b and γ of the normal law
//! friction   u + β d/h = 0 on the disk ‖r‖ ≤ μ Σ r_N
//! ```
//!
//! A group is a set of contacts of one pair of bodies and the places where their friction acts: at the contact
//! itself (point friction), or at the anchors of a region.

use super::propagation::TreePass;
use super::row::Row;
use super::spin::Angular;
use super::tree::JointRows;
use nalgebra::{Matrix2, Vector2, Vector3};
use osculate_math::{Scalar, norm};
use std::ops::Range;

/// What a normal row does when positions are known already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bias {
    /// Removes an overlap: left out of the sweeps for velocity alone.
    Overlap,
    /// Keeps an open gap from closing by more than itself, or a rebound.
    Lasting,
}

/// The normal of a contact.
#[derive(Clone, Debug)]
pub(crate) struct NormalRow {
    pub(crate) row: Row,
    /// `b` \[m/s\].
    pub(crate) bias: f64,
    pub(crate) kind: Bias,
    pub(crate) rebounds: bool,
    /// `γ` \[1/kg\].
    pub(crate) compliance: f64,
    /// `J M⁻¹Jᵀ` \[1/kg\].
    pub(crate) weight: f64,
    /// `r` \[N s\], ≥ 0.
    pub(crate) impulse: f64,
    /// Which contact of the step.
    pub(crate) contact: usize,
}

/// Two tangential rows at one place.
#[derive(Clone, Debug)]
pub(crate) struct FrictionPair {
    pub(crate) rows: [Row; 2],
    /// Directions of the rows, world.
    pub(crate) directions: [Vector3<f64>; 2],
    /// `J M⁻¹Jᵀ` \[1/kg\].
    pub(crate) block: Matrix2<f64>,
    /// `β d/h` \[m/s\].
    pub(crate) bias: Vector2<f64>,
    /// `r_T` \[N s\].
    pub(crate) impulse: Vector2<f64>,
    /// Radius of the disk for each unit of the group's load \[–\]: `μ`, or `μ` divided by the number of anchors.
    pub(crate) share: f64,
}

/// Contacts that share a load, and where their friction acts.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) normals: Range<usize>,
    pub(crate) pairs: Range<usize>,
    /// Spin and rolling.
    pub(crate) angular: Angular,
    /// Friction acts at the one contact of the group.
    pub(crate) point: bool,
}

/// All rows of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) normals: Vec<NormalRow>,
    pub(crate) pairs: Vec<FrictionPair>,
    pub(crate) groups: Vec<Group>,
    pub(crate) joints: Vec<JointRows>,
    /// Trees whose links are bodies of their own in the rows.
    pub(crate) passes: Vec<TreePass>,
}

impl Rows {
    pub(crate) fn clear(&mut self) {
        self.normals.clear();
        self.pairs.clear();
        self.groups.clear();
        self.joints.clear();
        self.passes.clear();
    }

    pub(crate) fn push(&mut self, group: Group) {
        self.groups.push(group);
    }

    /// Sum of the normal impulses of a group \[N s\].
    pub(crate) fn load(&self, group: &Group) -> f64 {
        self.normals[group.normals.clone()].iter().map(|n| n.impulse).sum()
    }
}

/// Two unit tangents `t₀ = n × e/‖n × e‖`, `t₁ = n × t₀`, with `e` the x axis, or the y axis near which the normal is not.
pub fn tangents<T: Scalar>(n: &Vector3<T>) -> [Vector3<T>; 2] {
    let o = T::zero();
    // n × x or n × y.
    let across =
        if n.x.re().abs() < 0.9 { Vector3::new(o, n.z, -n.y) } else { Vector3::new(-n.z, o, n.x) };
    let length = across.dot(&across).sqrt();
    let first = norm::scale(&across, length.recip());
    [first, n.cross(&first)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};

    struct Basis;
    impl Law<3, 6> for Basis {
        fn value<T: Scalar>(&self, n: [T; 3]) -> [T; 6] {
            let [a, b] = tangents(&Vector3::from(n));
            [a.x, a.y, a.z, b.x, b.y, b.z]
        }
    }

    #[test]
    fn tangents_are_orthonormal_and_have_exact_derivatives() {
        for n in [[0.0, 0.0, 1.0], [0.36, 0.48, 0.8], [1.0, 0.0, 0.0], [-0.96, 0.28, 0.0]] {
            let [a, b] = tangents(&Vector3::from(n));
            let n: Vector3<f64> = Vector3::from(n);
            let frame: nalgebra::Matrix3<f64> = nalgebra::Matrix3::from_columns(&[a, b, n]);
            assert!((frame.transpose() * frame - nalgebra::Matrix3::identity()).norm() < 1e-15);
            assert!((frame.determinant() - 1.0).abs() < 1e-15);
            check::gradients(&Basis, "any", n.into(), [1e-3; 3], Smoothness::Smooth, 1e-6);
        }
    }
}
