//! Boxes along the axes that enclose things.

use nalgebra::{Matrix3, Vector3};

/// A box along the axes, `lower ≤ upper` in every coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest coordinates (m).
    pub lower: Vector3<f64>,
    /// Largest coordinates (m).
    pub upper: Vector3<f64>,
}

impl Aabb {
    /// The smallest box around points; `None` without a point.
    pub fn of_points(points: &[Vector3<f64>]) -> Option<Self> {
        let first = *points.first()?;
        let empty = Self { lower: first, upper: first };
        Some(
            points.iter().fold(empty, |b, x| Self { lower: b.lower.inf(x), upper: b.upper.sup(x) }),
        )
    }

    /// The box about a centre (m) with half extents (m).
    pub fn about(center: &Vector3<f64>, half_extents: &Vector3<f64>) -> Self {
        Self { lower: center - half_extents, upper: center + half_extents }
    }

    /// The box with every face `distance ≥ 0` (m) further out.
    pub fn padded(&self, distance: f64) -> Self {
        let by = Vector3::repeat(distance);
        Self { lower: self.lower - by, upper: self.upper + by }
    }

    /// The smallest box that contains both.
    pub fn union(&self, other: &Self) -> Self {
        Self { lower: self.lower.inf(&other.lower), upper: self.upper.sup(&other.upper) }
    }

    /// The box about this one after a motion: `R X + t`.
    pub fn moved(&self, rotation: &Matrix3<f64>, translation: &Vector3<f64>) -> Self {
        let (center, half) = ((self.lower + self.upper) * 0.5, self.size() * 0.5);
        Self::about(&(rotation * center + translation), &(rotation.abs() * half))
    }

    /// Whether the two share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.lower[i] <= other.upper[i] && other.lower[i] <= self.upper[i])
    }

    /// Whether the other lies within this one.
    pub fn contains(&self, other: &Self) -> bool {
        (0..3).all(|i| self.lower[i] <= other.lower[i] && other.upper[i] <= self.upper[i])
    }

    /// Whether a point lies within.
    #[inline]
    pub fn contains_point(&self, point: &Vector3<f64>) -> bool {
        (0..3).all(|i| self.lower[i] <= point[i] && point[i] <= self.upper[i])
    }

    /// Edge lengths (m).
    pub fn size(&self) -> Vector3<f64> {
        self.upper - self.lower
    }

    /// Distance (m) of a point to the box, 0 inside.
    pub fn distance(&self, point: &Vector3<f64>) -> f64 {
        (self.lower - point).sup(&(point - self.upper)).sup(&Vector3::zeros()).norm()
    }
}
