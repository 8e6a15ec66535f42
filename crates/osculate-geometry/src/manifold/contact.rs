//! One contact: a pair of features with radii, and who is who.

use super::feature::Feature;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm::scale, se3::Pose};

/// Names a pair of features; equal ids in two steps mean that the same features touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureId(pub u64);

impl FeatureId {
    /// Kind of the pair and up to three indices.
    pub(super) fn new(kind: u64, [i, j, k]: [usize; 3]) -> Self {
        const BITS: u32 = 19;
        let low = |x: usize| (x as u64) & ((1 << BITS) - 1);
        Self(kind << (3 * BITS) | low(i) << (2 * BITS) | low(j) << BITS | low(k))
    }

    fn swapped(self) -> Self {
        Self(self.0 ^ 1 << 63)
    }
}

/// Where two bodies touch, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint<T = f64> {
    /// Point of `a` \[m\].
    pub point_a: Vector3<T>,
    /// Point of `b` \[m\].
    pub point_b: Vector3<T>,
    /// Unit normal; leaves `b`.
    pub normal: Vector3<T>,
    /// `g = n·(x_a − x_b)` \[m\]; negative where the bodies overlap.
    pub gap: T,
}

/// A pair of features of two bodies `a` and `b`, in their local frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<T = f64> {
    feature: Feature<T>,
    radii: [T; 2],
    swapped: bool,
    /// Names the features.
    pub id: FeatureId,
}

impl<T: Scalar> Contact<T> {
    /// Features of `a` and `b`, grown by radii.
    pub fn new(feature: Feature<T>, radii: [T; 2], id: FeatureId) -> Self {
        Self { feature, radii, swapped: false, id }
    }

    /// The same contact with `a` and `b` exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { swapped: !self.swapped, id: self.id.swapped(), ..self }
    }

    /// The pair of features; of `(b, a)` where the contact is [swapped](Contact::is_swapped).
    pub fn feature(&self) -> &Feature<T> {
        &self.feature
    }

    /// Radii by which the two features are grown \[m\], in their order.
    pub fn radii(&self) -> &[T; 2] {
        &self.radii
    }

    /// Whether the first feature is that of `b`.
    pub fn is_swapped(&self) -> bool {
        self.swapped
    }

    /// Points, normal and gap at two poses: a closed formula, with exact derivatives for the features found.
    pub fn evaluate(&self, pose_a: &Pose<T>, pose_b: &Pose<T>) -> ContactPoint<T> {
        let (first, second) = if self.swapped { (pose_b, pose_a) } else { (pose_a, pose_b) };
        let [x, y, n] = self.feature.evaluate(first, second);
        let [r, s] = self.radii;
        let gap = n.dot(&(x - y)) - r - s;
        let (x, y) = (x - scale(&n, r), y + scale(&n, s));
        if self.swapped {
            ContactPoint { point_a: y, point_b: x, normal: -n, gap }
        } else {
            ContactPoint { point_a: x, point_b: y, normal: n, gap }
        }
    }

    /// The same contact with its features in another scalar.
    pub(super) fn with<U: Scalar>(&self, feature: Feature<U>, radii: [U; 2]) -> Contact<U> {
        Contact { feature, radii, swapped: self.swapped, id: self.id }
    }

    /// The same features as constants of another scalar.
    pub fn lift<U: Scalar>(&self) -> Contact<U> {
        Contact {
            feature: self.feature.lift(),
            radii: self.radii.map(|r| U::from(r.re())),
            swapped: self.swapped,
            id: self.id,
        }
    }
}
