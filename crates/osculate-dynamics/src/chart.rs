//! The rotation of a stage in the chart about the base of its step, and angular momentum as velocity state.
//!
//! ```text
//! R = exp(θ) R_b            θ = log(R R_bᵀ),   θ̇ = Jl(θ)⁻¹ ω
//! ω = Jl(θ)(θ − θ⁰)/Δt      the stage's θ̇ = (θ − θ⁰)/Δt
//! L = A ω,   A = R I Rᵀ     δA = [δθ]× A − A [δθ]×
//! ```
//!
//! `Jl(θ) u` is differentiated by jets of width 3; the rest is linear algebra. Crouch and Grossman, J. Nonlinear Sci. 3 (1993) 1;
//! Munthe-Kaas, BIT 38 (1998) 92, on methods in such charts.

use crate::state::{BodyState, StateBar};
use nalgebra::{Matrix3, Vector3};
use osculate_math::so3::{self, axial, skew};
use osculate_math::{Jet, Scalar, mat3};

/// Start and end of a stage in the chart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<T> {
    /// `θ`.
    now: Vector3<T>,
    /// `θ⁰`.
    start: Vector3<T>,
    duration: f64,
}

/// Cotangents of the rotations that a [`Turn`] is made of.
pub(crate) struct TurnBar<T> {
    pub(crate) now: Vector3<T>,
    pub(crate) start: Vector3<T>,
    pub(crate) base: Vector3<T>,
}

/// `Jl(θ)(θ − θ⁰)`.
fn turned<T: Scalar>(now: &Vector3<T>, start: &Vector3<T>) -> Vector3<T> {
    mat3::apply(&so3::left_jacobian(now), &(now - start))
}

impl<T: Scalar> Turn<T> {
    pub(crate) fn new(
        base: &Matrix3<T>,
        (start, now): (&Matrix3<T>, &Matrix3<T>),
        duration: f64,
    ) -> Self {
        let from_base = |r: &Matrix3<T>| so3::log_between(base, r);
        Self { now: from_base(now), start: from_base(start), duration }
    }

    /// `ω` \[rad/s\].
    pub(crate) fn spin(&self) -> Vector3<T> {
        turned(&self.now, &self.start).map(|x| x / self.duration)
    }

    /// `∂ω/∂θ`.
    fn by_now(&self) -> Matrix3<T> {
        let seeded = Vector3::from_fn(|i, _| Jet::<3, T>::variable(self.now[i], i));
        let slopes = turned(&seeded, &self.start.map(Jet::constant));
        Matrix3::from_fn(|i, j| slopes[i].eps[j] / self.duration)
    }

    /// `∂ω/∂(δθ)` along `exp(δθ) R`.
    pub(crate) fn by_increment(&self) -> Matrix3<T> {
        self.by_now() * so3::left_jacobian_inverse(&self.now)
    }

    /// From the cotangent of `ω` to those of the rotations.
    pub(crate) fn pull(&self, spin: &Vector3<T>) -> TurnBar<T> {
        let now = self.by_now().transpose() * spin;
        let start = so3::left_jacobian(&self.now).transpose() * spin.map(|x| -x / self.duration);
        // δθ = Jl⁻¹(θ) δ − Jl⁻¹(θ)ᵀ δ_b
        let inverse = [&self.now, &self.start].map(so3::left_jacobian_inverse);
        TurnBar {
            now: inverse[0].transpose() * now,
            start: inverse[1].transpose() * start,
            base: -(inverse[0] * now) - inverse[1] * start,
        }
    }
}

/// `A = R I Rᵀ`.
pub(crate) fn world_inertia<T: Scalar>(r: &Matrix3<T>, inertia: &Matrix3<T>) -> Matrix3<T> {
    mat3::mul_transposed(&mat3::mul(r, inertia), r)
}

/// Cotangents of rotation (by increments), `I`, and of the vector that `A` or its inverse is applied to.
pub(crate) struct InertiaBar<T> {
    pub(crate) rotation: Vector3<T>,
    pub(crate) inertia: Matrix3<T>,
    pub(crate) vector: Vector3<T>,
}

/// Pullback of `L = A ω`.
pub(crate) fn pull_momentum<T: Scalar>(
    r: &Matrix3<T>,
    inertia: &Matrix3<T>,
    spin: &Vector3<T>,
    momentum: &Vector3<T>,
) -> InertiaBar<T> {
    let a = world_inertia(r, inertia);
    let vector = mat3::apply(&a, momentum);
    InertiaBar {
        rotation: mat3::apply(&a, spin).cross(momentum) - spin.cross(&vector),
        inertia: mat3::apply_transposed(r, momentum) * mat3::apply_transposed(r, spin).transpose(),
        vector,
    }
}

/// `A⁻¹ x = R I⁻¹ Rᵀ x`.
fn solve_inertia<T: Scalar>(r: &Matrix3<T>, inertia: &Matrix3<T>, x: &Vector3<T>) -> Vector3<T> {
    let row = |i: usize| inertia.row(i).transpose();
    let y = mat3::apply_transposed(r, x);
    // Cramer: the inverse has the columns r₁×r₂, r₂×r₀, r₀×r₁ over the determinant.
    let columns = [row(1).cross(&row(2)), row(2).cross(&row(0)), row(0).cross(&row(1))];
    let volume = row(0).dot(&columns[0]);
    let sum = (0..3).fold(Vector3::zeros(), |sum, i| sum + columns[i].map(|c| c * y[i] / volume));
    mat3::apply(r, &sum)
}

impl<T: Scalar> BodyState<T> {
    /// The momentum that goes with the angular velocity, `L = A ω`.
    pub(crate) fn set_momentum(&mut self, inertia: &Matrix3<T>) {
        let a = world_inertia(&self.rotation, inertia);
        self.momentum = mat3::apply(&a, &self.angular_velocity());
    }

    /// The angular velocity that goes with the momentum, `ω = A⁻¹ L`.
    pub(crate) fn set_spin(&mut self, inertia: &Matrix3<T>) {
        self.rate = skew(&solve_inertia(&self.rotation, inertia, &self.momentum));
    }

    /// Moves the cotangent of the rate to momentum and rotation; returns that of `I`.
    pub(crate) fn pull_spin(&self, inertia: &Matrix3<T>, bar: &mut StateBar<T>) -> Matrix3<T> {
        let by_spin = -axial(&bar.rate);
        let by_momentum = solve_inertia(&self.rotation, inertia, &by_spin);
        // A δω = δL − δA ω
        let pulled = pull_momentum(&self.rotation, inertia, &self.angular_velocity(), &by_momentum);
        bar.momentum += by_momentum;
        bar.rotation -= pulled.rotation;
        bar.rate = Matrix3::zeros();
        -pulled.inertia
    }

    /// As [`BodyState::set_stage_velocity`], with `ω = Jl(θ)(θ − θ⁰)/Δt` and the momentum `A ω`, to which it adds what stands there:
    /// `−Δt r_θ`, which makes it `L⁰ + Δt τ` whatever the tolerance of the stage.
    pub(crate) fn set_chart_velocity(
        &mut self,
        base: &Matrix3<T>,
        start: &Self,
        duration: f64,
        inertia: &Matrix3<T>,
    ) {
        self.velocity = (self.center - start.center).map(|x| x / duration);
        let turn = Turn::new(base, (&start.rotation, &self.rotation), duration);
        self.rate = skew(&turn.spin());
        let defect = self.momentum;
        self.set_momentum(inertia);
        self.momentum += defect;
    }

    /// As [`BodyState::pull_stage_velocity`] for the chart, with the cotangents of start and base; returns that of `I`.
    pub(crate) fn pull_chart_velocity(
        &self,
        (base, start): (&Matrix3<T>, &Self),
        duration: f64,
        inertia: &Matrix3<T>,
        bar: &mut StateBar<T>,
        (start_bar, base_bar): (&mut StateBar<T>, &mut StateBar<T>),
    ) -> Matrix3<T> {
        let v = bar.velocity.map(|x| x / duration);
        bar.center += v;
        start_bar.center -= v;
        let turn = Turn::new(base, (&start.rotation, &self.rotation), duration);
        let pulled = pull_momentum(&self.rotation, inertia, &turn.spin(), &bar.momentum);
        let turn = turn.pull(&(pulled.vector - axial(&bar.rate)));
        bar.rotation += pulled.rotation + turn.now;
        start_bar.rotation += turn.start;
        base_bar.rotation += turn.base;
        (bar.velocity, bar.momentum) = (Vector3::zeros(), Vector3::zeros());
        bar.rate = Matrix3::zeros();
        pulled.inertia
    }
}
