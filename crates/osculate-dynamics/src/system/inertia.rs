//! Inertia, gravity and applied wrenches of the stage residual, their Jacobian and their pullback.

use super::{Inertial, Part, Stage, System, SystemBar};
use crate::RotationUpdate;
use crate::linalg::BlockMatrix;
use crate::linalg::blocks::BLOCK;
use crate::parameters::Wrench;
use crate::state::StateBar;
use nalgebra::{Matrix3, Vector3};
use osculate_math::so3::{axial, skew};
use osculate_math::{Scalar, mat3, norm::scale, real};

impl<T: Scalar> System<'_, T> {
    /// Writes inertia, gravity and applied wrenches; returns the scale of the forces \[N\].
    pub(super) fn inertial_residual(
        &self,
        part: &Part<'_, T>,
        stage: &Stage<'_, T>,
        r: &mut [T],
    ) -> f64 {
        let dt = stage.duration;
        let mut magnitude = 0.0;
        for (slot, &i) in part.bodies.iter().enumerate() {
            let Some(at) = part.unknown[slot] else { continue };
            let body = &self.bodies[i];
            let (now, start) = (&stage.now[slot], &stage.start[slot]);
            let moved = now.center - start.center - start.velocity.map(|x| x * dt);
            let acceleration = moved.map(|x| x / (dt * dt));
            let mut force = scale(&acceleration, body.mass);
            magnitude += real(&force).norm();
            if body.has_gravity {
                let weight = scale(&self.gravity, body.mass);
                magnitude += real(&weight).norm();
                force -= weight;
            }
            let mut torque = match self.rotation {
                RotationUpdate::RateTensor => Self::rate_torque(body, slot, stage),
                RotationUpdate::Chart => Self::chart_torque(body, slot, stage),
            };
            if let Some(w) = self.wrench(i, stage) {
                magnitude += real(&w.force).norm();
                force -= w.force;
                torque -= w.torque;
            }
            for k in 0..3 {
                r[at + k] = force[k];
                r[at + 3 + k] = torque[k];
            }
        }
        magnitude
    }

    /// `−axial(R J (R̃ − R)ᵀ)/Δt²`.
    fn rate_torque(body: &Inertial<T>, slot: usize, stage: &Stage<'_, T>) -> Vector3<T> {
        let (now, dt) = (&stage.now[slot], stage.duration);
        let ahead = Self::predicted(slot, stage) - now.rotation;
        let m = mat3::mul_transposed(&mat3::mul(&now.rotation, &body.second_moment), &ahead);
        axial(&m).map(|x| -x / (dt * dt))
    }

    /// The wrench applied to a body, where there is any.
    fn wrench<'a>(&self, body: usize, stage: &Stage<'a, T>) -> Option<&'a Wrench<T>> {
        stage.wrenches.get(self.unknown[body]? / BLOCK)
    }

    /// `R̃ = (1 + Δt W⁰) R⁰`.
    fn predicted(slot: usize, stage: &Stage<'_, T>) -> Matrix3<T> {
        let start = &stage.start[slot];
        start.rotation + mat3::mul(&start.rate, &start.rotation).map(|x| x * stage.duration)
    }

    /// Inertia, gravity and applied forces of the incremental potential \[J\]. A torque has none on rotations.
    pub(super) fn inertial_potential(&self, part: &Part<'_, T>, stage: &Stage<'_, T>) -> T {
        let dt = stage.duration;
        let mut sum = T::zero();
        for (slot, &i) in part.bodies.iter().enumerate() {
            if part.unknown[slot].is_none() {
                continue;
            }
            let body = &self.bodies[i];
            let (now, start) = (&stage.now[slot], &stage.start[slot]);
            let moved = now.center - start.center;
            let ahead = moved - start.velocity.map(|x| x * dt);
            sum += body.mass * ahead.dot(&ahead) * (0.5 / (dt * dt));
            if body.has_gravity {
                sum -= body.mass * self.gravity.dot(&moved);
            }
            if let Some(w) = self.wrench(i, stage) {
                sum -= w.force.dot(&moved);
            }
            let behind = now.rotation - Self::predicted(slot, stage);
            let weighted = mat3::mul(&behind, &body.second_moment);
            for (x, y) in weighted.iter().zip(behind.iter()) {
                sum += *x * *y * (0.5 / (dt * dt));
            }
        }
        sum
    }

    /// Adds the Jacobian of inertia.
    pub(super) fn inertial_jacobian(
        &self,
        part: &Part<'_, T>,
        stage: &Stage<'_, T>,
        k: &mut BlockMatrix<T>,
    ) {
        let dt = stage.duration;
        for (slot, &i) in part.bodies.iter().enumerate() {
            let Some(at) = part.unknown[slot] else { continue };
            let body = &self.bodies[i];
            let turning = match self.rotation {
                RotationUpdate::RateTensor => Self::rate_jacobian(body, slot, stage),
                RotationUpdate::Chart => Self::chart_jacobian(body, slot, stage),
            };
            let block = &mut k.diagonal[at / BLOCK];
            for row in 0..3 {
                block[row * BLOCK + row] = body.mass / (dt * dt);
                for column in 0..3 {
                    block[(3 + row) * BLOCK + 3 + column] = turning[(row, column)];
                }
            }
        }
    }

    /// `(tr(M) 1 − M)/Δt²`.
    fn rate_jacobian(body: &Inertial<T>, slot: usize, stage: &Stage<'_, T>) -> Matrix3<T> {
        let dt = stage.duration;
        let predicted = Self::predicted(slot, stage);
        let turned = mat3::mul(&stage.now[slot].rotation, &body.second_moment);
        let m = mat3::mul_transposed(&turned, &predicted);
        let trace = m.trace();
        Matrix3::from_fn(|row, column| {
            let diagonal = if row == column { trace } else { T::zero() };
            (diagonal - m[(row, column)]) / (dt * dt)
        })
    }

    /// Adds `∂(r·μ)` of inertia, gravity and applied wrench of one body, with `μ = −λ`.
    pub(super) fn pull_inertia(
        &self,
        i: usize,
        stage: &Stage<'_, T>,
        (mu, mu_turn): (&Vector3<T>, &Vector3<T>),
        start_bar: &mut StateBar<T>,
        bars: &mut SystemBar<T>,
    ) {
        let (dt, body) = (stage.duration, &self.bodies[i]);
        let (now, start) = (&stage.now[i], &stage.start[i]);
        let by_acceleration = scale(mu, body.mass).map(|x| x / (dt * dt));
        start_bar.center -= by_acceleration;
        start_bar.velocity -= by_acceleration.map(|x| x * dt);
        let moved = now.center - start.center - start.velocity.map(|x| x * dt);
        bars.mass[i] += mu.dot(&moved) / (dt * dt);
        if body.has_gravity {
            bars.mass[i] -= mu.dot(&self.gravity);
            bars.gravity -= scale(mu, body.mass);
        }
        if let Some(at) = self.unknown[i]
            && self.wrench(i, stage).is_some()
        {
            let w = &mut bars.wrenches[bars.step * (self.unknowns / BLOCK) + at / BLOCK];
            w.force -= mu;
            w.torque -= mu_turn;
        }
        if self.rotation == RotationUpdate::Chart {
            self.pull_chart_torque(i, stage, mu_turn, start_bar, bars);
            return;
        }
        // μ·r_θ = −tr([μ]× R J R⁰ᵀ (1 + Δt W⁰)ᵀ)/Δt²
        let turned = skew(mu_turn) * now.rotation;
        let advance = Matrix3::identity() + start.rate.map(|x| x * dt);
        let a = turned * body.second_moment * start.rotation.transpose();
        start_bar.rate -= a.map(|x| x / dt);
        start_bar.rotation += axial(&(advance.transpose() * a)).map(|x| x / (dt * dt));
        let ahead = Self::predicted(i, stage) - now.rotation;
        bars.second_moment[i] -= (ahead.transpose() * turned).map(|x| x / (dt * dt)).transpose();
    }
}
