//! Increments of a rigid pose.

use crate::{Scalar, so3};
use nalgebra::{Matrix3, Vector3};

/// A rigid pose `x = p + R X`: position \[m\] and rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<T = f64> {
    /// Position of the frame's origin \[m\].
    pub position: Vector3<T>,
    /// Rotation from the frame to the world.
    pub rotation: Matrix3<T>,
}

impl<T: Scalar> Pose<T> {
    /// The identity.
    pub fn identity() -> Self {
        Self { position: Vector3::zeros(), rotation: Matrix3::identity() }
    }

    /// `p + R X`.
    #[inline]
    pub fn transform_point(&self, point: &Vector3<T>) -> Vector3<T> {
        self.position + self.rotation * point
    }

    /// `Rᵀ (x − p)`.
    #[inline]
    pub fn inverse_transform_point(&self, point: &Vector3<T>) -> Vector3<T> {
        self.rotation.transpose() * (point - self.position)
    }

    /// The pose moved by a world increment: `p + δp`, `exp(δθ) R`.
    ///
    /// Position and rotation move independently (the six tangent unknowns of a body), so a rotation turns the
    /// frame about its own origin.
    #[inline]
    pub fn incremented(&self, translation: &Vector3<T>, rotation: &Vector3<T>) -> Self {
        Self { position: self.position + translation, rotation: so3::exp(rotation) * self.rotation }
    }

    /// The increment that leads from `origin` here: inverse of [`Pose::incremented`].
    #[inline]
    pub fn increment_from(&self, origin: &Self) -> (Vector3<T>, Vector3<T>) {
        (self.position - origin.position, so3::log(&(self.rotation * origin.rotation.transpose())))
    }

    /// The same pose in another scalar, as a constant.
    pub fn lift<U: Scalar>(&self) -> Pose<U>
    where
        T: Into<f64>,
    {
        Pose {
            position: self.position.map(|x| U::from(x.into())),
            rotation: self.rotation.map(|x| U::from(x.into())),
        }
    }

    /// The pose without derivatives.
    pub fn real(&self) -> Pose<f64> {
        Pose { position: self.position.map(|x| x.re()), rotation: self.rotation.map(|x| x.re()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increment_from_inverts_incremented() {
        let a = Pose::identity()
            .incremented(&Vector3::new(1.0, 2.0, 3.0), &Vector3::new(0.1, -2.0, 0.4));
        let (dp, dr) = (Vector3::new(-0.2, 0.5, 0.0), Vector3::new(0.3, 0.2, -1.1));
        let (ep, er) = a.incremented(&dp, &dr).increment_from(&a);
        assert!((ep - dp).norm() < 1e-15 && (er - dr).norm() < 1e-14);
    }

    #[test]
    fn points_go_there_and_back() {
        let a = Pose::identity()
            .incremented(&Vector3::new(1.0, 2.0, 3.0), &Vector3::new(0.1, -2.0, 0.4));
        let x = Vector3::new(0.3, -0.7, 0.2);
        assert!((a.inverse_transform_point(&a.transform_point(&x)) - x).norm() < 1e-15);
    }
}
