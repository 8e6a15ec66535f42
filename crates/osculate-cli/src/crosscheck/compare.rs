//! What two numbers differ by, and where the largest difference is.

use super::case::Properties;
use super::convert::{Prepared, symmetric};
use nalgebra::{Matrix3, Vector3};
use osculate_math::so3;

/// The largest value seen, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worst {
    /// The value; 0 where nothing was compared.
    pub value: f64,
    /// Where it was.
    pub place: String,
}

/// Whether a deviation is beyond a limit; one that is not a number is.
pub fn exceeds(value: f64, limit: f64) -> bool {
    value > limit || value.is_nan()
}

impl Worst {
    /// Whether it is beyond a limit.
    pub fn exceeds(&self, limit: f64) -> bool {
        exceeds(self.value, limit)
    }

    /// Takes note of a value; a NaN is worse than anything.
    pub fn see(&mut self, value: f64, place: impl FnOnce() -> String) {
        if exceeds(value, self.value) {
            (self.value, self.place) = (value, place());
        }
    }
}

/// Rotation of a quaternion `xyzw`.
pub fn rotation(q: &[f64; 4]) -> Matrix3<f64> {
    so3::from_quaternion([q[3], q[0], q[1], q[2]])
}

/// Angle between two rotations (rad).
pub fn angle(a: &Matrix3<f64>, b: &Matrix3<f64>) -> f64 {
    so3::log(&(a * b.transpose())).norm()
}

/// Length of a difference.
pub fn distance(a: &Vector3<f64>, b: &[f64; 3]) -> f64 {
    (a - Vector3::from(*b)).norm()
}

/// Largest deviation of the mass properties of a body from the recorded ones, relative: mass by mass, centre by
/// the radius of gyration, inertia by its largest entry.
pub fn properties(prepared: &Prepared, body: usize, recorded: &Properties) -> f64 {
    let b = &prepared.parameters.bodies[body];
    let inertia = symmetric(&recorded.inertia);
    let gyration = (inertia.trace() / recorded.mass).sqrt();
    let relative = [
        (b.mass - recorded.mass).abs() / recorded.mass,
        distance(&b.center, &recorded.com_local) / gyration,
        (b.inertia - inertia).amax() / inertia.amax(),
    ];
    relative.into_iter().fold(0.0, f64::max)
}
