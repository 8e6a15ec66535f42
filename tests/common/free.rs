//! A free rigid body by the classical Runge–Kutta method: an independent solution to compare with.

use nalgebra::{Matrix3, Vector3};
use osculate_math::so3::skew;

/// Rotation and angular momentum [kg m²/s] of a free body.
#[derive(Clone, Copy)]
pub struct Free {
    pub rotation: Matrix3<f64>,
    pub momentum: Vector3<f64>,
}

impl Free {
    /// Angular velocity [rad/s].
    pub fn spin(&self, inertia: &Matrix3<f64>) -> Vector3<f64> {
        let body = self.rotation.transpose() * self.momentum;
        self.rotation * inertia.lu().solve(&body).unwrap()
    }

    /// `Ṙ = [ω]× R, L̇ = τ(t)` from `from` to `to` in `steps` steps.
    pub fn carried(
        mut self,
        inertia: &Matrix3<f64>,
        (from, to): (f64, f64),
        steps: usize,
        torque: impl Fn(f64) -> Vector3<f64>,
    ) -> Self {
        let h = (to - from) / steps as f64;
        for k in 0..steps {
            let t = from + h * k as f64;
            let slope = |y: &Self, t: f64| (skew(&y.spin(inertia)) * y.rotation, torque(t));
            let moved = |k: &(Matrix3<f64>, Vector3<f64>), h: f64| Self {
                rotation: self.rotation + k.0 * h,
                momentum: self.momentum + k.1 * h,
            };
            let a = slope(&self, t);
            let b = slope(&moved(&a, h / 2.0), t + h / 2.0);
            let c = slope(&moved(&b, h / 2.0), t + h / 2.0);
            let d = slope(&moved(&c, h), t + h);
            self.rotation += (a.0 + b.0 * 2.0 + c.0 * 2.0 + d.0) * (h / 6.0);
            self.momentum += (a.1 + b.1 * 2.0 + c.1 * 2.0 + d.1) * (h / 6.0);
        }
        self
    }
}
