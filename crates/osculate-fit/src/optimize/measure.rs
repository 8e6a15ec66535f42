//! What is measured of one state: a number, generic over the scalar.

use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::Kinematics;
use osculate_dynamics::file::SceneOutcome;
use osculate_dynamics::sensitivity::Outcome;
use osculate_math::{Scalar, norm, so3};

/// A number of the motion of the bodies at one step.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// `p_i` of the local origin of a body (m).
    Position(usize, usize),
    /// `log(R R*ᵀ)_i` (rad), with the rotation wanted.
    Rotation(usize, usize, Matrix3<f64>),
    /// `v_i` of the centre of mass (m/s).
    Velocity(usize, usize),
    /// `ω_i` (rad/s).
    AngularVelocity(usize, usize),
    /// `(v_a(x) − v_b(x))_i` at a material point x of a (m/s).
    Slip(Point, Option<Point>, usize),
    /// `‖S (p − c)‖` with S the axes that count (m).
    Distance(usize, Vector3<f64>, [bool; 3]),
    /// The scene's outcome, its share of this step.
    Outcome(SceneOutcome, usize),
}

/// A point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The body.
    pub body: usize,
    /// In its local frame (m).
    pub at: Vector3<f64>,
    /// Its centre of mass in the local frame (m).
    pub center: Vector3<f64>,
}

impl Point {
    fn place<T: Scalar>(&self, bodies: &[Kinematics<T>]) -> Vector3<T> {
        let b = &bodies[self.body];
        b.position + b.rotation * self.at.map(T::from)
    }

    /// Velocity of the body at a place of the world: `v + ω × (x − c)`.
    fn velocity<T: Scalar>(&self, bodies: &[Kinematics<T>], x: &Vector3<T>) -> Vector3<T> {
        let b = &bodies[self.body];
        let center = b.position + b.rotation * self.center.map(T::from);
        b.velocity + b.angular_velocity.cross(&(x - center))
    }
}

impl Measure {
    /// Its value.
    pub fn value<T: Scalar>(&self, bodies: &[Kinematics<T>]) -> T {
        match self {
            Self::Position(body, axis) => bodies[*body].position[*axis],
            Self::Rotation(body, axis, target) => {
                so3::log(&(bodies[*body].rotation * target.map(T::from).transpose()))[*axis]
            }
            Self::Velocity(body, axis) => bodies[*body].velocity[*axis],
            Self::AngularVelocity(body, axis) => bodies[*body].angular_velocity[*axis],
            Self::Slip(point, against, axis) => {
                let x = point.place(bodies);
                let other = against.map_or_else(Vector3::zeros, |b| b.velocity(bodies, &x));
                point.velocity(bodies, &x)[*axis] - other[*axis]
            }
            Self::Distance(body, center, axes) => {
                let from = bodies[*body].position - center.map(T::from);
                norm::norm0(&Vector3::from_fn(|i, _| if axes[i] { from[i] } else { T::zero() }))
            }
            Self::Outcome(outcome, step) => outcome.contribution(*step, bodies),
        }
    }
}
