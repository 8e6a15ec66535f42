//! Random problems of the law tests.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::Disk;

/// A seeded source of problems.
pub(crate) struct Problems(StdRng);

impl Problems {
    pub(crate) fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    /// `10ˣ`, x uniform.
    pub(crate) fn decades(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.uniform(low, high))
    }

    /// Sum of twelve uniform numbers less six: close to normal.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform(0.0, 1.0)).sum::<f64>() - 6.0
    }

    pub(crate) fn direction(&mut self) -> Vector2<f64> {
        let angle = self.uniform(0.0, std::f64::consts::TAU);
        Vector2::new(angle.cos(), angle.sin())
    }

    pub(crate) fn vector3(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.normal())
    }

    /// Block of eigenvalues `size` and `size/anisotropy` in a random basis.
    pub(crate) fn block(&mut self, size: f64, anisotropy: f64) -> Matrix2<f64> {
        let e = self.direction();
        let f = Vector2::new(-e.y, e.x);
        e * e.transpose() * size + f * f.transpose() * (size / anisotropy)
    }

    /// Sizes over twelve decades, anisotropy to `10^decades`, stick impulses from 1 % to 10⁴ radii; and an old impulse.
    pub(crate) fn disk(&mut self, decades: f64) -> (Disk, Vector2<f64>) {
        let (size, anisotropy) = (self.decades(-6.0, 6.0), self.decades(0.0, decades));
        let block = self.block(size, anisotropy);
        let radius = self.decades(-6.0, 6.0);
        let stick = self.direction() * (radius * self.decades(-2.0, 4.0));
        let old = match self.uniform(0.0, 3.0) {
            x if x < 1.0 => Vector2::zeros(),
            x if x < 2.0 => self.direction() * radius,
            x => self.direction() * (radius * (x - 2.0)),
        };
        (Disk { block, drive: block * stick, radius }, old)
    }

    /// Wishart block of 3×6 normal numbers, as of a contact between bodies of six unknowns.
    pub(crate) fn wishart(&mut self) -> Matrix3<f64> {
        let columns: [Vector3<f64>; 6] = std::array::from_fn(|_| self.vector3());
        columns.iter().map(|c| c * c.transpose()).sum()
    }
}
