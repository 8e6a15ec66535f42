//! State of a free body and its velocity without contact.
//!
//! ```text
//! v_f = v + h (g + f/m)
//! body frame, w = Rᵀω:   I (w_f − w) + h w̄ × I w̄ = h Rᵀτ,   w̄ = (w + w_f)/2      implicit midpoint
//! q⁺ = q + h v⁺:          c⁺ = c + h v⁺,   R⁺ = exp(h ω⁺) R
//! ```
//!
//! The midpoint rule keeps `½ w·I w` and `‖I w‖` of a free body to rounding, for any step; and since a rotation by
//! `h ω⁺` leaves `Rᵀω⁺` as it is, so does the whole step.

use crate::Kinematics;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3, norm::scale, real, real_matrix, se3::Pose, so3};

/// State of a rigid body about its centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidState<T = f64> {
    /// Centre of mass \[m\], world.
    pub center: Vector3<T>,
    /// Rotation from body to world.
    pub rotation: Matrix3<T>,
    /// Velocity of the centre of mass \[m/s\], world.
    pub velocity: Vector3<T>,
    /// Angular velocity \[rad/s\], world.
    pub angular_velocity: Vector3<T>,
}

/// Mass and inertia about the centre of mass, local axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia<T = f64> {
    /// Mass \[kg\].
    pub mass: T,
    /// Inertia \[kg m²\], local axes.
    pub tensor: Matrix3<T>,
}

/// What the velocity of a turning body does about its gyroscopic torque.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gyroscopic {
    /// Implicit midpoint rule in the body frame: keeps energy and the size of the angular momentum.
    #[default]
    Midpoint,
    /// `I (ω_f − ω) = h (τ − ω × I ω)` with the torque of the start: gains energy.
    Explicit,
    /// No torque: a free body keeps its angular velocity, whatever its inertia.
    Off,
}

/// The gyroscopic equation has no solution within reach: the body turns too far in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnsTooFast {
    /// Angle of a step `h ‖ω‖` \[rad\].
    pub angle: f64,
}

/// Newton steps of the gyroscopic equation.
const ITERATIONS: usize = 50;
/// Relative residual at which it is solved.
const SOLVED: f64 = 1e-14;

impl<T: Scalar> RigidState<T> {
    /// Pose of a frame at the centre of mass.
    #[inline]
    pub fn pose(&self) -> Pose<T> {
        Pose { position: self.center, rotation: self.rotation }
    }

    /// Pose of the local frame of a body whose centre of mass is at `center` in it.
    #[inline]
    pub fn local_pose(&self, center: &Vector3<T>) -> Pose<T> {
        let position = self.center - mat3::apply(&self.rotation, center);
        Pose { position, rotation: self.rotation }
    }

    /// What is observed of it, for a body whose centre of mass is at `center` in its local frame.
    pub fn kinematics(&self, center: &Vector3<T>) -> Kinematics<T> {
        Kinematics {
            position: self.local_pose(center).position,
            rotation: self.rotation,
            velocity: self.velocity,
            angular_velocity: self.angular_velocity,
        }
    }

    /// The state after `duration` \[s\] at a velocity: `c + h v`, `exp(h ω) R`.
    #[must_use]
    pub fn advanced(&self, velocity: &[Vector3<T>; 2], duration: f64) -> Self {
        let [v, w] = velocity;
        let turned = mat3::mul(&so3::exp(&w.map(|x| x * duration)), &self.rotation);
        Self {
            center: self.center + v.map(|x| x * duration),
            rotation: crate::state::nearest_rotation(&turned),
            velocity: *v,
            angular_velocity: *w,
        }
    }

    /// The state without derivatives.
    pub fn real(&self) -> RigidState {
        RigidState {
            center: real(&self.center),
            rotation: real_matrix(&self.rotation),
            velocity: real(&self.velocity),
            angular_velocity: real(&self.angular_velocity),
        }
    }
}

impl<T: Scalar> Inertia<T> {
    /// `I⁻¹` in the world: `R I⁻¹ Rᵀ` \[1/(kg m²)\].
    pub fn inverse_in_world(&self, rotation: &Matrix3<T>) -> Matrix3<T> {
        mat3::mul_transposed(&mat3::mul(rotation, &inverse(&self.tensor)), rotation)
    }

    /// Kinetic energy \[J\].
    pub fn kinetic_energy(&self, state: &RigidState<T>) -> T {
        let w = mat3::apply_transposed(&state.rotation, &state.angular_velocity);
        let linear = self.mass * state.velocity.dot(&state.velocity);
        (linear + w.dot(&mat3::apply(&self.tensor, &w))) * 0.5
    }

    /// `[v_f, ω_f]`: velocity after `duration` \[s\] without contact, under a force \[N\] (weight included) and a
    /// torque \[N m\], world.
    ///
    /// The midpoint equation is solved in `f64`; two more Newton steps in `T` then carry its first three derivatives
    /// exactly.
    ///
    /// # Errors
    /// Where the gyroscopic equation is not solved.
    pub fn free_velocity(
        &self,
        state: &RigidState<T>,
        [force, torque]: &[Vector3<T>; 2],
        duration: f64,
        gyroscopic: Gyroscopic,
    ) -> Result<[Vector3<T>; 2], TurnsTooFast> {
        let v = state.velocity + scale(force, self.mass.recip() * duration);
        let turn = |x: &Vector3<T>| mat3::apply_transposed(&state.rotation, x);
        let start = turn(&state.angular_velocity);
        let twist = turn(torque).map(|x| x * duration);
        let momentum = |w: &Vector3<T>| mat3::apply(&self.tensor, w);
        let explicit = |w: &Vector3<T>| {
            let change = twist - w.cross(&momentum(w)).map(|x| x * duration);
            start + mat3::apply(&inverse(&self.tensor), &change)
        };
        let w = match gyroscopic {
            Gyroscopic::Midpoint => {
                let guess = midpoint(&self.real(), &real(&start), &real(&twist), duration)?;
                let mut w = guess.map(T::from);
                for _ in 0..2 {
                    w -= gyroscopic_step(self, &[start, w, twist], duration).0;
                }
                w
            }
            Gyroscopic::Explicit => explicit(&start),
            Gyroscopic::Off => explicit(&Vector3::zeros()),
        };
        Ok([v, mat3::apply(&state.rotation, &w)])
    }

    fn real(&self) -> Inertia {
        Inertia { mass: self.mass.re(), tensor: real_matrix(&self.tensor) }
    }
}

/// Newton's step of the midpoint equation and its residual \[N m s\].
fn gyroscopic_step<T: Scalar>(
    body: &Inertia<T>,
    [start, end, twist]: &[Vector3<T>; 3],
    duration: f64,
) -> (Vector3<T>, Vector3<T>) {
    let middle = (start + end).map(|x| x * 0.5);
    let momentum = mat3::apply(&body.tensor, &middle);
    let residual = mat3::apply(&body.tensor, &(end - start))
        + middle.cross(&momentum).map(|x| x * duration)
        - twist;
    let by_middle = mat3::mul(&so3::skew(&middle), &body.tensor) - so3::skew(&momentum);
    let jacobian = body.tensor + by_middle.map(|x| x * (0.5 * duration));
    (mat3::apply(&inverse(&jacobian), &residual), residual)
}

fn midpoint(
    body: &Inertia,
    start: &Vector3<f64>,
    twist: &Vector3<f64>,
    duration: f64,
) -> Result<Vector3<f64>, TurnsTooFast> {
    let mut w = start + inverse(&body.tensor) * twist;
    let size = (body.tensor * start).norm() + twist.norm();
    for _ in 0..ITERATIONS {
        let (step, residual) = gyroscopic_step(body, &[*start, w, *twist], duration);
        if residual.norm() <= SOLVED * size {
            return Ok(w);
        }
        w -= step;
    }
    Err(TurnsTooFast { angle: duration * start.norm() })
}

/// `A⁻¹` by cofactors.
pub(crate) fn inverse<T: Scalar>(a: &Matrix3<T>) -> Matrix3<T> {
    let column = |i: usize| Vector3::new(a[(0, i)], a[(1, i)], a[(2, i)]);
    let [x, y, z] = [column(0), column(1), column(2)];
    let (r, s, t) = (y.cross(&z), z.cross(&x), x.cross(&y));
    let det = x.dot(&r).recip();
    Matrix3::new(r.x, r.y, r.z, s.x, s.y, s.z, t.x, t.y, t.z).map(|v| v * det)
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::Jet;

    fn brick() -> Inertia {
        let turn = so3::exp(&Vector3::new(0.3, -0.2, 0.5));
        let tensor = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.7));
        Inertia { mass: 2.0, tensor: turn * tensor * turn.transpose() }
    }

    fn tumbling() -> RigidState {
        RigidState {
            center: Vector3::new(0.1, 0.2, 0.3),
            rotation: so3::exp(&Vector3::new(-0.4, 0.9, 0.2)),
            velocity: Vector3::new(0.5, -0.5, 1.0),
            angular_velocity: Vector3::new(3.0, 5.0, -2.0),
        }
    }

    const FREE: [Vector3<f64>; 2] = [Vector3::new(0.0, 0.0, 0.0), Vector3::new(0.0, 0.0, 0.0)];

    #[test]
    fn free_tumbling_keeps_energy_and_size_of_the_angular_momentum() {
        let (body, mut state) = (brick(), tumbling());
        let momentum =
            |s: &RigidState| (body.tensor * s.rotation.transpose() * s.angular_velocity).norm();
        let (energy, size) = (body.kinetic_energy(&state), momentum(&state));
        for _ in 0..2000 {
            let v = body.free_velocity(&state, &FREE, 0.02, Gyroscopic::Midpoint).unwrap();
            state = state.advanced(&v, 0.02);
        }
        assert!((body.kinetic_energy(&state) / energy - 1.0).abs() < 1e-11);
        assert!((momentum(&state) / size - 1.0).abs() < 1e-11);
    }

    #[test]
    fn explicit_gyroscopic_torque_gains_energy_and_none_is_no_free_motion() {
        let (body, state) = (brick(), tumbling());
        let after = |g| state.advanced(&body.free_velocity(&state, &FREE, 0.02, g).unwrap(), 0.02);
        let energy = |g| body.kinetic_energy(&after(g)) / body.kinetic_energy(&state) - 1.0;
        assert!(energy(Gyroscopic::Explicit) > 1e-5);
        assert!(energy(Gyroscopic::Off).abs() < 1e-14);
        let kept = (after(Gyroscopic::Off).angular_velocity - state.angular_velocity).norm();
        assert!(kept < 1e-14);
    }

    #[test]
    fn midpoint_rule_is_of_second_order_in_the_angular_momentum() {
        // L = R I Rᵀ ω is constant; the step misses it by a rotation of O(h³).
        let (body, state) = (brick(), tumbling());
        let momentum =
            |s: &RigidState| s.rotation * body.tensor * s.rotation.transpose() * s.angular_velocity;
        let error = |h: f64| {
            let v = body.free_velocity(&state, &FREE, h, Gyroscopic::Midpoint).unwrap();
            (momentum(&state.advanced(&v, h)) - momentum(&state)).norm()
        };
        let order = (error(1e-3) / error(5e-4)).log2();
        assert!(order > 1.9, "order {order}");
    }

    #[test]
    fn free_velocity_has_exact_derivatives() {
        let (body, state) = (brick(), tumbling());
        let forces = [Vector3::new(1.0, 2.0, -3.0), Vector3::new(0.4, -0.2, 0.7)];
        let h = 0.03;
        let at = |x: [Jet<3>; 3]| {
            let s = RigidState::<Jet<3>> {
                center: state.center.map(Jet::from),
                rotation: state.rotation.map(Jet::from),
                velocity: state.velocity.map(Jet::from),
                angular_velocity: state.angular_velocity.map(Jet::from) + Vector3::from(x),
            };
            let tensor = body.tensor.map(Jet::from);
            let b = Inertia { mass: Jet::from(body.mass) + x[0], tensor: tensor.map(|t| t + x[1]) };
            b.free_velocity(&s, &forces.map(|f| f.map(Jet::from)), h, Gyroscopic::Midpoint).unwrap()
        };
        let jets = at(std::array::from_fn(|i| Jet::variable(0.0, i)));
        for i in 0..3 {
            let value = |d: f64| {
                let x = std::array::from_fn(|j| Jet::from(if i == j { d } else { 0.0 }));
                at(x).map(|v| real(&v))
            };
            let (a, b) = (value(1e-5), value(-1e-5));
            for k in 0..2 {
                let slope = (a[k] - b[k]) / 2e-5;
                assert!((jets[k].map(|x| x.eps[i]) - slope).norm() < 1e-8);
            }
        }
    }

    #[test]
    fn a_step_that_turns_too_far_is_an_error_not_a_guess() {
        let (body, mut state) = (brick(), tumbling());
        state.angular_velocity *= f64::NAN;
        let found = body.free_velocity(&state, &FREE, 0.02, Gyroscopic::Midpoint);
        assert!(found.is_err());
    }

    #[test]
    fn inverse_by_cofactors_inverts() {
        let a = brick().tensor + so3::skew(&Vector3::new(0.1, 0.2, 0.3));
        assert!((inverse(&a) * a - Matrix3::identity()).norm() < 1e-14);
    }
}
