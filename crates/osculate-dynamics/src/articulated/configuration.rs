//! Configurations of a tree: increments, differences and combinations.
//!
//! ```text
//! q ⊕ δ          q + δ;  exp(δ) R;  (p + δ_t, exp(δ_r) R)          δ in the joint frame
//! C(b; w, q_j)   b + Σ w_j (q_j − b);  rotations  exp(Σ w_j log(R_j R_bᵀ)) R_b
//! ```

use super::error::ModelError;
use super::model::ArticulatedModel;
use super::{JointKind, validate};
use crate::state::nearest_rotation;
use nalgebra::{Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::{Scalar, mat3, norm::scale, so3};

/// Position of one joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointPosition<T = f64> {
    /// Of a fixed joint: nothing.
    None,
    /// Angle \[rad\] or distance \[m\]. An angle is not wrapped.
    Scalar(T),
    /// Rotation of the moved joint frame in the joint frame.
    Rotation(Matrix3<T>),
    /// Pose of the moved joint frame in the joint frame.
    Pose(Pose<T>),
}

/// Positions of all joints, one a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration<T = f64> {
    joints: Vec<JointPosition<T>>,
}

fn triple<T: Scalar>(x: &[T]) -> Vector3<T> {
    Vector3::new(x[0], x[1], x[2])
}

fn rotated<T: Scalar>(r: &Matrix3<T>, by: &Vector3<T>) -> Matrix3<T> {
    nearest_rotation(&mat3::mul(&so3::exp(by), r))
}

/// `log(R R_bᵀ)`.
fn turn<T: Scalar>(r: &Matrix3<T>, base: &Matrix3<T>) -> Vector3<T> {
    so3::log(&mat3::mul_transposed(r, base))
}

impl<T: Scalar> JointPosition<T> {
    /// Number of degrees of freedom.
    pub fn dofs(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Scalar(_) => 1,
            Self::Rotation(_) => 3,
            Self::Pose(_) => 6,
        }
    }

    /// The coordinate of a joint that has one.
    pub fn scalar(&self) -> Option<T> {
        match self {
            Self::Scalar(x) => Some(*x),
            _ => None,
        }
    }

    /// The position moved by `delta`, one entry a degree of freedom.
    fn incremented(&self, delta: &[T]) -> Self {
        match self {
            Self::None => Self::None,
            Self::Scalar(x) => Self::Scalar(*x + delta[0]),
            Self::Rotation(r) => Self::Rotation(rotated(r, &triple(delta))),
            Self::Pose(x) => Self::Pose(Pose {
                position: x.position + triple(delta),
                rotation: rotated(&x.rotation, &triple(&delta[3..])),
            }),
        }
    }

    /// Writes the increment that leads from `origin` here. Positions of two kinds differ by nothing.
    fn write_difference(&self, origin: &Self, out: &mut [T]) {
        match (self, origin) {
            (Self::Scalar(x), Self::Scalar(o)) => out[0] = *x - *o,
            (Self::Rotation(r), Self::Rotation(o)) => {
                out.copy_from_slice(turn(r, o).as_slice());
            }
            (Self::Pose(x), Self::Pose(o)) => {
                out[..3].copy_from_slice((x.position - o.position).as_slice());
                out[3..].copy_from_slice(turn(&x.rotation, &o.rotation).as_slice());
            }
            _ => {}
        }
    }

    /// The range of a rotation within the degrees of freedom, if there is one.
    fn rotation_dofs(&self) -> Option<std::ops::Range<usize>> {
        match self {
            Self::Rotation(_) => Some(0..3),
            Self::Pose(_) => Some(3..6),
            _ => None,
        }
    }

    /// The same position in another scalar.
    pub fn map<U: Scalar>(&self, f: &impl Fn(T) -> U) -> JointPosition<U> {
        match self {
            Self::None => JointPosition::None,
            Self::Scalar(x) => JointPosition::Scalar(f(*x)),
            Self::Rotation(r) => JointPosition::Rotation(r.map(f)),
            Self::Pose(x) => JointPosition::Pose(super::joint::map_pose(x, f)),
        }
    }

    fn fits(&self, kind: &JointKind) -> bool {
        match self {
            Self::None => matches!(kind, JointKind::Fixed),
            Self::Scalar(_) => kind.is_scalar(),
            Self::Rotation(_) => matches!(kind, JointKind::Spherical),
            Self::Pose(_) => matches!(kind, JointKind::Free),
        }
    }
}

impl Configuration {
    /// Positions that fit the joints of a model.
    ///
    /// # Errors
    /// Where there are too many or too few, one is of another kind than its joint or not finite, or a rotation is none.
    pub fn of(model: &ArticulatedModel, joints: Vec<JointPosition>) -> Result<Self, ModelError> {
        let (found, expected) = (joints.len(), model.links().len());
        if found != expected {
            return Err(ModelError::Count { what: "joint positions", found, expected });
        }
        for (link, position) in model.links().iter().zip(&joints) {
            let kind = &link.joint.kind;
            if !position.fits(kind) {
                let kind = kind.name();
                return Err(ModelError::Position { link: link.name.clone(), kind });
            }
            validate::position(&link.name, position)?;
        }
        Ok(Self { joints })
    }

    /// The same configuration as constants of another scalar.
    pub fn lift<T: Scalar>(&self) -> Configuration<T> {
        self.map(&T::from)
    }
}

impl<T: Scalar> Configuration<T> {
    pub(super) fn new(joints: Vec<JointPosition<T>>) -> Self {
        Self { joints }
    }

    /// Positions of the joints, in the order of the links.
    pub fn joints(&self) -> &[JointPosition<T>] {
        &self.joints
    }

    /// Number of degrees of freedom.
    pub fn dofs(&self) -> usize {
        self.joints.iter().map(JointPosition::dofs).sum()
    }

    /// `q ⊕ δ`.
    ///
    /// # Panics
    /// Where `delta` has not one entry a degree of freedom.
    #[must_use]
    pub fn incremented(&self, delta: &[T]) -> Self {
        assert_eq!(delta.len(), self.dofs(), "one entry a degree of freedom");
        let mut at = 0;
        let joints = self.joints.iter().map(|q| {
            let own = &delta[at..at + q.dofs()];
            at += q.dofs();
            q.incremented(own)
        });
        Self { joints: joints.collect() }
    }

    /// The increment that leads from `origin` here, rotations by at most π.
    ///
    /// # Panics
    /// Where the two are of different models.
    pub fn difference(&self, origin: &Self) -> Vec<T> {
        assert_eq!(self.dofs(), origin.dofs(), "configurations of one model");
        let mut out = vec![T::zero(); self.dofs()];
        let mut at = 0;
        for (q, o) in self.joints.iter().zip(&origin.joints) {
            q.write_difference(o, &mut out[at..at + q.dofs()]);
            at += q.dofs();
        }
        out
    }

    /// `C(self; w_j, q_j)`: a term that is the base itself does nothing and may be left out.
    #[must_use]
    pub fn combined<'a>(&self, terms: impl Iterator<Item = (f64, &'a Self)>) -> Self {
        let mut delta = vec![T::zero(); self.dofs()];
        let mut moved = false;
        for (w, q) in terms {
            for (sum, x) in delta.iter_mut().zip(q.difference(self)) {
                *sum += x * w;
            }
            moved = true;
        }
        if moved { self.incremented(&delta) } else { self.clone() }
    }

    /// Pullback of [`Configuration::combined`]: cotangents of the base and of each term, from that of the result.
    ///
    /// Tangents are increments `q ⊕ δ` of each configuration.
    pub fn pull_combined<'a>(
        &self,
        terms: impl Iterator<Item = (f64, &'a Self)> + Clone,
        bar: &[T],
    ) -> (Vec<T>, Vec<Vec<T>>) {
        let differences: Vec<(f64, Vec<T>)> = terms.map(|(w, q)| (w, q.difference(self))).collect();
        let mut base = bar.to_vec();
        let mut each: Vec<Vec<T>> =
            differences.iter().map(|(w, _)| bar.iter().map(|&b| b * *w).collect()).collect();
        for (_, term) in differences.iter().zip(&each) {
            for (b, t) in base.iter_mut().zip(term) {
                *b -= *t;
            }
        }
        let mut at = 0;
        for q in &self.joints {
            if let Some(own) = q.rotation_dofs()
                && !differences.is_empty()
            {
                let range = at + own.start..at + own.end;
                pull_rotation(&differences, range, bar, (&mut base, &mut each));
            }
            at += q.dofs();
        }
        (base, each)
    }

    /// The same configuration in another scalar.
    pub fn map<U: Scalar>(&self, f: &impl Fn(T) -> U) -> Configuration<U> {
        Configuration { joints: self.joints.iter().map(|q| q.map(f)).collect() }
    }

    /// The configuration without derivatives.
    pub fn real(&self) -> Configuration {
        self.map(&|x: T| x.re())
    }
}

/// Pullback of `exp(Σ w_j φ_j) R_b`, `φ_j = log(R_j R_bᵀ)`, written over the linear one.
///
/// `δout = Jl(φ) δφ + exp(φ) δ_b`, `δφ_j = Jl⁻¹(φ_j) δ_j − Jl⁻¹(φ_j)ᵀ δ_b`.
fn pull_rotation<T: Scalar>(
    differences: &[(f64, Vec<T>)],
    range: std::ops::Range<usize>,
    bar: &[T],
    (base, each): (&mut [T], &mut [Vec<T>]),
) {
    let total = differences.iter().fold(Vector3::zeros(), |sum: Vector3<T>, (w, d)| {
        sum + triple(&d[range.clone()]).map(|x| x * *w)
    });
    let bar = triple(&bar[range.clone()]);
    let by_turn = mat3::apply_transposed(&so3::left_jacobian(&total), &bar);
    let mut base_bar = mat3::apply_transposed(&so3::exp(&total), &bar);
    for ((w, d), term) in differences.iter().zip(each) {
        let inverse = so3::left_jacobian_inverse(&triple(&d[range.clone()]));
        let own = scale(&mat3::apply_transposed(&inverse, &by_turn), T::from(*w));
        base_bar -= scale(&mat3::apply(&inverse, &by_turn), T::from(*w));
        term[range.clone()].copy_from_slice(own.as_slice());
    }
    base[range].copy_from_slice(base_bar.as_slice());
}

#[cfg(test)]
#[path = "configuration_tests.rs"]
mod tests;
