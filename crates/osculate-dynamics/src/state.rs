//! The state of a rigid body and its combinations.
//!
//! ```text
//! c, R            pose of the centre of mass
//! v, W = Ṙ Rᵀ     velocity state; W = skew(ω) + S, and the symmetric S is part of it
//! C(y_b; w, y_j) = y_b + Σ w_j (y_j − y_b),   rotations  exp(Σ w_j log(R_j R_bᵀ)) R_b
//! ```

use nalgebra::{Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::so3::{self, axial};
use osculate_math::{Scalar, mat3, norm::scale};

/// State of a rigid body about its centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState<T = f64> {
    /// Centre of mass \[m\], world.
    pub center: Vector3<T>,
    /// Rotation from body to world.
    pub rotation: Matrix3<T>,
    /// Velocity of the centre of mass \[m/s\], world.
    pub velocity: Vector3<T>,
    /// `W = Ṙ Rᵀ` \[1/s\], world; its antisymmetric part is the angular velocity.
    pub rate: Matrix3<T>,
    /// Angular momentum `R I Rᵀ ω` about the centre of mass \[kg m²/s\], world, where
    /// [`RotationUpdate::Chart`](crate::RotationUpdate::Chart) carries it; zero else.
    pub momentum: Vector3<T>,
}

/// Motion of a body as observed: of its local frame, not of its centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematics<T = f64> {
    /// Origin of the local frame \[m\], world.
    pub position: Vector3<T>,
    /// Rotation from body to world.
    pub rotation: Matrix3<T>,
    /// Velocity of the *centre of mass* \[m/s\], world.
    pub velocity: Vector3<T>,
    /// Angular velocity \[rad/s\], world.
    pub angular_velocity: Vector3<T>,
}

/// Cotangent of a [`BodyState`]: rotations by a world increment `exp(δθ) R`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StateBar<T> {
    pub(crate) center: Vector3<T>,
    pub(crate) rotation: Vector3<T>,
    pub(crate) velocity: Vector3<T>,
    pub(crate) rate: Matrix3<T>,
    pub(crate) momentum: Vector3<T>,
}

impl<T: Scalar> StateBar<T> {
    pub(crate) fn zero() -> Self {
        let o = Vector3::zeros();
        Self { center: o, rotation: o, velocity: o, rate: Matrix3::zeros(), momentum: o }
    }

    /// `self += w · other` in everything but the rotation, which has its own chain rule.
    fn add_linear(&mut self, w: f64, other: &Self) {
        self.center += other.center.map(|x| x * w);
        self.velocity += other.velocity.map(|x| x * w);
        self.rate += other.rate.map(|x| x * w);
        self.momentum += other.momentum.map(|x| x * w);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.add_linear(1.0, other);
        self.rotation += other.rotation;
    }
}

impl<T: Scalar> BodyState<T> {
    /// A body at rest.
    pub fn at_rest(pose: Pose<T>) -> Self {
        Self {
            center: pose.position,
            rotation: pose.rotation,
            velocity: Vector3::zeros(),
            rate: Matrix3::zeros(),
            momentum: Vector3::zeros(),
        }
    }

    /// Pose of the centre-of-mass frame.
    #[inline]
    pub fn pose(&self) -> Pose<T> {
        Pose { position: self.center, rotation: self.rotation }
    }

    /// Angular velocity \[rad/s\], world.
    pub fn angular_velocity(&self) -> Vector3<T> {
        so3::vee(&self.rate)
    }

    /// What is observed of it, for a body whose centre of mass is at `center` in its local frame.
    pub fn kinematics(&self, center: &Vector3<T>) -> Kinematics<T> {
        Kinematics {
            position: self.center - mat3::apply(&self.rotation, center),
            rotation: self.rotation,
            velocity: self.velocity,
            angular_velocity: self.angular_velocity(),
        }
    }

    /// Velocities of a stage that leads from `start` here: `v = (c − c⁰)/Δt`, `W = (1 − R⁰ Rᵀ)/Δt`.
    #[inline]
    pub(crate) fn set_stage_velocity(&mut self, start: &Self, duration: f64) {
        self.velocity = (self.center - start.center).map(|x| x / duration);
        self.rate = (Matrix3::identity() - mat3::mul_transposed(&start.rotation, &self.rotation))
            .map(|x| x / duration);
    }

    /// Moves cotangents of the stage's velocities to the poses they were made from.
    pub(crate) fn pull_stage_velocity(
        &self,
        start: &Self,
        duration: f64,
        bar: &mut StateBar<T>,
        start_bar: &mut StateBar<T>,
    ) {
        let v = bar.velocity.map(|x| x / duration);
        bar.center += v;
        start_bar.center -= v;
        let turn = mat3::mul_transposed(&start.rotation, &self.rotation);
        let w = bar.rate.map(|x| x / duration).transpose();
        bar.rotation += axial(&(w * turn));
        start_bar.rotation -= axial(&(turn * w));
        bar.velocity = Vector3::zeros();
        bar.rate = Matrix3::zeros();
    }

    /// `C(y_b; w_j, y_j)`; a term that is the base itself does nothing and may be left out.
    pub(crate) fn combine<'a>(base: &Self, terms: impl Iterator<Item = (f64, &'a Self)>) -> Self {
        let mut out = *base;
        let mut turn = Vector3::zeros();
        let mut turned = false;
        for (w, y) in terms {
            out.center += (y.center - base.center).map(|x| x * w);
            out.velocity += (y.velocity - base.velocity).map(|x| x * w);
            out.rate += (y.rate - base.rate).map(|x| x * w);
            out.momentum += (y.momentum - base.momentum).map(|x| x * w);
            turn += so3::log(&mat3::mul_transposed(&y.rotation, &base.rotation)).map(|x| x * w);
            turned = true;
        }
        if turned {
            out.rotation = nearest_rotation(&mat3::mul(&so3::exp(&turn), &base.rotation));
        }
        out
    }

    /// Pullback of [`BodyState::combine`]: distributes `bar` to the base and, through `emit(j, …)`, to the terms.
    pub(crate) fn pull_combine<'a>(
        base: &Self,
        terms: impl Iterator<Item = (f64, &'a Self)> + Clone,
        bar: &StateBar<T>,
        base_bar: &mut StateBar<T>,
        mut emit: impl FnMut(usize, StateBar<T>),
    ) {
        if terms.clone().next().is_none() {
            base_bar.add(bar);
            return;
        }
        let logarithm = |y: &Self| so3::log(&mat3::mul_transposed(&y.rotation, &base.rotation));
        let turn =
            terms.clone().fold(Vector3::zeros(), |sum, (w, y)| sum + logarithm(y).map(|x| x * w));
        // out = exp(φ) R_b, φ = Σ w_j φ_j: δout = Jl(φ) δφ + exp(φ) δ_b, δφ_j = Jl⁻¹(φ_j) δ_j − Jl⁻¹(φ_j)ᵀ δ_b.
        let by_turn = so3::left_jacobian(&turn).transpose() * bar.rotation;
        base_bar.add_linear(1.0, bar);
        base_bar.rotation += so3::exp(&turn).transpose() * bar.rotation;
        for (j, (w, y)) in terms.enumerate() {
            let inverse = so3::left_jacobian_inverse(&logarithm(y));
            let mut term = StateBar::zero();
            term.add_linear(w, bar);
            term.rotation = scale(&(inverse.transpose() * by_turn), T::from(w));
            base_bar.add_linear(-w, bar);
            base_bar.rotation -= scale(&(inverse * by_turn), T::from(w));
            emit(j, term);
        }
    }
}

/// `R (1 + (1 − RᵀR)/2)`: back onto the rotations to second order in the defect, which is rounding.
///
/// Without it products of rotations drift off SO(3) by an ulp a stage, which the stage solve turns into a one-sided
/// rotation of 1e-9 over a thousand stages. Along rotations its derivative is the identity.
pub(crate) fn nearest_rotation<T: Scalar>(r: &Matrix3<T>) -> Matrix3<T> {
    let defect = Matrix3::identity() - mat3::transposed_mul(r, r);
    r + mat3::mul(r, &defect).map(|x| x * 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::Jet;

    fn state(seed: f64) -> BodyState {
        let v = |k: f64| Vector3::from_fn(|i, _| (seed * 1.7 + k + i as f64).sin() * 0.3);
        BodyState {
            center: v(0.0),
            rotation: so3::exp(&v(1.0)),
            velocity: v(2.0),
            rate: Matrix3::from_fn(|i, j| (seed + 3.0 * i as f64 + j as f64).cos()),
            momentum: v(3.0),
        }
    }

    /// A state seeded in its 21 directions.
    fn seeded(y: &BodyState) -> BodyState<Jet<21>> {
        let v =
            |x: &Vector3<f64>, k: usize| Vector3::from_fn(|i, _| Jet::<21>::variable(x[i], k + i));
        let turn = so3::exp(&v(&Vector3::zeros(), 3));
        BodyState {
            center: v(&y.center, 0),
            rotation: turn * y.rotation.map(Jet::from),
            velocity: v(&y.velocity, 6),
            rate: Matrix3::from_fn(|i, j| Jet::variable(y.rate[(i, j)], 9 + 3 * i + j)),
            momentum: v(&y.momentum, 18),
        }
    }

    fn flat(bar: &StateBar<f64>) -> [f64; 21] {
        std::array::from_fn(|i| match i {
            0..3 => bar.center[i],
            3..6 => bar.rotation[i - 3],
            6..9 => bar.velocity[i - 6],
            9..18 => bar.rate[((i - 9) / 3, (i - 9) % 3)],
            _ => bar.momentum[i - 18],
        })
    }

    /// `⟨bar, δy⟩` in each seeded direction.
    fn pairing(bar: &StateBar<f64>, y: &BodyState<Jet<21>>, at: &BodyState) -> [f64; 21] {
        std::array::from_fn(|k| {
            let spin = so3::vee(&(y.rotation.map(|x| x.eps[k]) * at.rotation.transpose()));
            bar.center.dot(&y.center.map(|x| x.eps[k]))
                + bar.rotation.dot(&spin)
                + bar.velocity.dot(&y.velocity.map(|x| x.eps[k]))
                + bar.rate.dot(&y.rate.map(|x| x.eps[k]))
                + bar.momentum.dot(&y.momentum.map(|x| x.eps[k]))
        })
    }

    fn bar() -> StateBar<f64> {
        let y = state(9.0);
        StateBar {
            center: y.center,
            rotation: y.velocity,
            velocity: y.center * 2.0,
            rate: y.rate,
            momentum: y.momentum,
        }
    }

    #[test]
    fn pullback_of_a_combination_is_its_transposed_derivative() {
        let ys = [state(0.0), state(1.0), state(2.0)];
        let weights = [0.7, -0.4];
        let terms = || weights.iter().copied().zip(&ys[1..]);
        let at = BodyState::combine(&ys[0], terms());
        let (mut base, mut others) = (StateBar::zero(), [StateBar::zero(); 2]);
        BodyState::pull_combine(&ys[0], terms(), &bar(), &mut base, |j, b| others[j] = b);
        for (which, found) in [base, others[0], others[1]].iter().enumerate() {
            let lifted: Vec<BodyState<Jet<21>>> = (0..3)
                .map(|i| {
                    let mut y = seeded(&ys[i]);
                    if i != which {
                        y = BodyState {
                            center: ys[i].center.map(Jet::from),
                            rotation: ys[i].rotation.map(Jet::from),
                            velocity: ys[i].velocity.map(Jet::from),
                            rate: ys[i].rate.map(Jet::from),
                            momentum: ys[i].momentum.map(Jet::from),
                        };
                    }
                    y
                })
                .collect();
            let out = BodyState::combine(&lifted[0], weights.iter().copied().zip(&lifted[1..]));
            for (a, b) in flat(found).iter().zip(pairing(&bar(), &out, &at)) {
                assert!((a - b).abs() < 1e-13, "state {which}: {a} {b}");
            }
        }
    }

    #[test]
    fn combination_of_one_state_is_that_state() {
        let (a, b) = (state(0.0), state(1.0));
        let out = BodyState::combine(&a, [(1.0, &b)].into_iter());
        assert!(
            (out.rotation - b.rotation).norm() < 1e-14 && (out.center - b.center).norm() < 1e-15
        );
        assert_eq!(BodyState::combine(&a, std::iter::empty()), a);
    }

    #[test]
    fn pullback_of_stage_velocities_is_their_transposed_derivative() {
        let (start, end) = (state(0.0), state(1.0));
        let (mut end_bar, mut start_bar) = (bar(), StateBar::zero());
        let direct = (end_bar.center, end_bar.rotation);
        end.pull_stage_velocity(&start, 0.3, &mut end_bar, &mut start_bar);
        end_bar.center -= direct.0;
        end_bar.rotation -= direct.1;
        let velocities = |s: BodyState<Jet<21>>, mut e: BodyState<Jet<21>>| {
            e.set_stage_velocity(&s, 0.3);
            std::array::from_fn::<f64, 21, _>(|k| {
                bar().velocity.dot(&e.velocity.map(|x| x.eps[k]))
                    + bar().rate.dot(&e.rate.map(|x| x.eps[k]))
            })
        };
        let constant = |y: &BodyState| {
            let mut y = seeded(y);
            y.center = y.center.map(|x| Jet::from(x.re));
            y.rotation = y.rotation.map(|x| Jet::from(x.re));
            y
        };
        for (found, expected) in [
            (end_bar, velocities(constant(&start), seeded(&end))),
            (start_bar, velocities(seeded(&start), constant(&end))),
        ] {
            for (a, b) in flat(&found)[..6].iter().zip(expected) {
                assert!((a - b).abs() < 1e-13, "{a} {b}");
            }
        }
    }
}
