//! Joints: how a link moves in the frame of its parent.

use super::configuration::JointPosition;
use super::laws::JointLaws;
use nalgebra::{Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::{Scalar, mat3, norm::scale, so3};

/// What a joint lets move. Axes are unit vectors in the joint frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind<T = f64> {
    /// Six degrees of freedom: translation along the axes of the joint frame, then rotation about the moved origin.
    Free,
    /// Three: rotation about the origin of the joint frame.
    Spherical,
    /// One: angle \[rad\] about the axis.
    Revolute {
        /// Unit axis in the joint frame.
        axis: Vector3<T>,
    },
    /// One: distance \[m\] along the axis.
    Prismatic {
        /// Unit axis in the joint frame.
        axis: Vector3<T>,
    },
    /// None.
    Fixed,
}

/// Degrees of freedom of a joint at most.
pub(super) const MOST_DOFS: usize = 6;

/// A joint between a link and its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint<T = f64> {
    /// What it lets move.
    pub kind: JointKind<T>,
    /// Pose of the joint frame in the parent link's frame (in the world for a root).
    pub placement: Pose<T>,
    /// Pose of the link's frame in the moved joint frame.
    pub offset: Pose<T>,
    /// Inertia that a degree of freedom adds to the diagonal of the mass matrix: reflected rotors
    /// \[kg m² for rotations, kg for translations\], ≥ 0. Entries beyond the degrees of freedom are zero.
    pub armature: [T; MOST_DOFS],
    /// Friction, limits and drive.
    pub laws: JointLaws<T>,
}

impl<T> JointKind<T> {
    /// Number of degrees of freedom.
    pub fn dofs(&self) -> usize {
        match self {
            Self::Free => 6,
            Self::Spherical => 3,
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Fixed => 0,
        }
    }

    /// Whether the joint has one coordinate that is a number.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Self::Revolute { .. } | Self::Prismatic { .. })
    }

    /// The word for it, for messages and files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Spherical => "spherical",
            Self::Revolute { .. } => "revolute",
            Self::Prismatic { .. } => "prismatic",
            Self::Fixed => "fixed",
        }
    }
}

impl<T: Scalar> JointKind<T> {
    /// The position at which the joint's motion is the identity.
    pub fn neutral(&self) -> JointPosition<T> {
        match self {
            Self::Free => JointPosition::Pose(Pose::identity()),
            Self::Spherical => JointPosition::Rotation(Matrix3::identity()),
            Self::Revolute { .. } | Self::Prismatic { .. } => JointPosition::Scalar(T::zero()),
            Self::Fixed => JointPosition::None,
        }
    }

    /// Pose of the moved joint frame in the joint frame; the identity where the position is of another kind,
    /// which [`Configuration`](super::Configuration) excludes.
    pub fn motion(&self, position: &JointPosition<T>) -> Pose<T> {
        let still = Pose::identity();
        match (self, position) {
            (Self::Free, JointPosition::Pose(x)) => *x,
            (Self::Spherical, JointPosition::Rotation(r)) => Pose { rotation: *r, ..still },
            (Self::Revolute { axis }, JointPosition::Scalar(angle)) => {
                Pose { rotation: so3::exp(&scale(axis, *angle)), ..still }
            }
            (Self::Prismatic { axis }, JointPosition::Scalar(distance)) => {
                Pose { position: scale(axis, *distance), ..still }
            }
            _ => still,
        }
    }

    /// The same joint in another scalar.
    pub fn map<U: Scalar>(&self, f: &impl Fn(T) -> U) -> JointKind<U> {
        match self {
            Self::Free => JointKind::Free,
            Self::Spherical => JointKind::Spherical,
            Self::Revolute { axis } => JointKind::Revolute { axis: axis.map(f) },
            Self::Prismatic { axis } => JointKind::Prismatic { axis: axis.map(f) },
            Self::Fixed => JointKind::Fixed,
        }
    }
}

impl<T: Scalar> Joint<T> {
    /// A joint at the parent's origin, without armature, friction, limits or drive.
    pub fn new(kind: JointKind<T>) -> Self {
        Self {
            kind,
            placement: Pose::identity(),
            offset: Pose::identity(),
            armature: [T::zero(); MOST_DOFS],
            laws: JointLaws::default(),
        }
    }

    /// The same joint elsewhere in its parent.
    #[must_use]
    pub fn placed(self, placement: Pose<T>) -> Self {
        Self { placement, ..self }
    }

    /// The same joint with the link's frame elsewhere.
    #[must_use]
    pub fn with_offset(self, offset: Pose<T>) -> Self {
        Self { offset, ..self }
    }

    /// The same joint with one armature for every degree of freedom.
    #[must_use]
    pub fn with_armature(mut self, armature: T) -> Self {
        self.armature = [T::zero(); MOST_DOFS];
        self.armature[..self.kind.dofs()].fill(armature);
        self
    }

    /// The same joint in another scalar.
    pub fn map<U: Scalar>(&self, f: &impl Fn(T) -> U) -> Joint<U> {
        Joint {
            kind: self.kind.map(f),
            placement: map_pose(&self.placement, f),
            offset: map_pose(&self.offset, f),
            armature: self.armature.map(f),
            laws: self.laws.map(f),
        }
    }
}

/// `a · b`: the frame `b` of the frame `a`.
#[inline]
pub(super) fn compose<T: Scalar>(a: &Pose<T>, b: &Pose<T>) -> Pose<T> {
    Pose {
        position: a.position + mat3::apply(&a.rotation, &b.position),
        rotation: mat3::mul(&a.rotation, &b.rotation),
    }
}

/// A pose in another scalar.
pub(super) fn map_pose<T: Scalar, U: Scalar>(x: &Pose<T>, f: &impl Fn(T) -> U) -> Pose<U> {
    Pose { position: x.position.map(f), rotation: x.rotation.map(f) }
}
