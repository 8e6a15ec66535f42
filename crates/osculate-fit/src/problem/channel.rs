//! Measured channels: what a sensor reads of a roll-out, and how far that is from the record.
//!
//! ```text
//! position, velocity      p, v − ω × R c                    of the local origin, world
//! rotation                log(R R_mᵀ)                       world
//! angular velocity        Rᵀ ω                              body axes, as recordings have it
//! joint position          atan2(a · vee R_j, (tr R_j − 1)/2) of a revolute joint, in (−π, π] about the record;  a · p_j of a prismatic one
//! joint rate              a · (ω − ω_parent);  a · (v − v_parent) at the moved joint
//! impulse                 J = P(t_k) − P(t_{k−1}) − m g (t_k − t_{k−1})        over a frame, world
//! contact force           J/(t_k − t_{k−1})                 its mean over the frame
//! contact torque          (L(t_k) − L(t_{k−1}))/(t_k − t_{k−1})  about the centre of mass, world; L = R I Rᵀ ω
//! ```
//!
//! A reading at time t lies between two steps: it is linear there. A record stamped t was taken at t + τ, τ the channel's clock offset.

use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::articulated::{Joint, JointKind};
use osculate_dynamics::{Kinematics, Parameters, Scene};
use osculate_math::se3::Pose;
use osculate_math::{Scalar, mat3, so3};
use serde::{Deserialize, Serialize};

/// What a channel measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Of the local origin (m), world.
    Position,
    /// Body to world; a quaternion in the record, its error a rotation vector (rad).
    Rotation,
    /// Of the local origin (m/s), world.
    Velocity,
    /// In body axes (rad/s).
    AngularVelocity,
    /// Of a revolute (rad) or prismatic (m) joint.
    JointPosition,
    /// Of a revolute (rad/s) or prismatic (m/s) joint.
    JointRate,
    /// Mean over a frame of what acts on a body beside gravity (N), world.
    ContactForce,
    /// Mean over a frame of the torque about the centre of mass (N m), world.
    ContactTorque,
    /// What a body gets over a frame beside gravity (N s), world.
    Impulse,
}

impl Quantity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Rotation => "rotation",
            Self::Velocity => "velocity",
            Self::AngularVelocity => "angular-velocity",
            Self::JointPosition => "joint-position",
            Self::JointRate => "joint-rate",
            Self::ContactForce => "contact-force",
            Self::ContactTorque => "contact-torque",
            Self::Impulse => "impulse",
        }
    }

    /// Whether it belongs to a joint.
    pub fn of_joint(self) -> bool {
        matches!(self, Self::JointPosition | Self::JointRate)
    }

    /// Whether it is a change of momentum over a frame: the first frame has none.
    pub fn over_a_frame(self) -> bool {
        matches!(self, Self::ContactForce | Self::ContactTorque | Self::Impulse)
    }
}

/// A measured channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Unique name.
    pub name: String,
    /// What it measures.
    pub quantity: Quantity,
    /// Index of the body; of a joint the body that it moves.
    pub body: usize,
    /// Components that are compared.
    pub axes: Vec<usize>,
    /// Columns of the recordings: one an axis, four of a rotation.
    pub columns: Vec<String>,
    /// Column that says which records count.
    pub mask: Option<String>,
    /// Standard deviation of one component, in the unit of the quantity.
    pub sigma: f64,
    /// Whether σ is estimated from residuals.
    pub estimated: bool,
    /// Name of its clock; channels of one clock have one offset.
    pub clock: String,
    /// τ (s).
    pub clock_offset: f64,
}

/// One record of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// Components; of a joint the first.
    Vector(Vector3<f64>),
    /// A rotation.
    Rotation(Matrix3<f64>),
}

impl Sample {
    /// A record against which a misfit is the reading itself; of a rotation its rotation vector.
    pub fn zero(quantity: Quantity) -> Self {
        match quantity {
            Quantity::Rotation => Self::Rotation(Matrix3::identity()),
            _ => Self::Vector(Vector3::zeros()),
        }
    }

    /// The record that such a reading is.
    pub fn of_reading(quantity: Quantity, reading: &Vector3<f64>) -> Self {
        match quantity {
            Quantity::Rotation => Self::Rotation(so3::exp(reading)),
            _ => Self::Vector(*reading),
        }
    }

    /// Fields of the columns of a channel.
    pub fn fields(&self, axes: &[usize]) -> Vec<f64> {
        match self {
            Self::Vector(v) => axes.iter().map(|&k| v[k]).collect(),
            Self::Rotation(r) => so3::to_quaternion(r).to_vec(),
        }
    }
}

/// Where a joint of the world or of another body stands at the start of a roll-out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointStart {
    /// The body that the joint moves.
    pub body: usize,
    /// Angle (rad) or distance (m).
    pub position: f64,
    /// Its rate.
    pub rate: f64,
}

/// Where a free body other than the tracked one stands at the start of a roll-out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyStart {
    /// The body.
    pub body: usize,
    /// Pose of its local frame.
    pub pose: Pose,
    /// Velocity of the local origin (m/s), world.
    pub velocity: Vector3<f64>,
    /// Angular velocity (rad/s), world.
    pub angular_velocity: Vector3<f64>,
}

/// A joint, with the body that it hangs on and that body's centre of mass in its local frame.
type Hinge<T> = (Joint<T>, Option<(usize, Vector3<T>)>);

/// The numbers of the scene that a channel's reading depends on beside the motion.
#[derive(Clone, Debug)]
pub(super) struct Numbers<T> {
    mass: T,
    inertia: Matrix3<T>,
    center: Vector3<T>,
    gravity: Vector3<T>,
    joint: Option<Hinge<T>>,
}

impl<T: Scalar> Numbers<T> {
    pub(super) fn map<U: Scalar>(&self, f: &impl Fn(T) -> U) -> Numbers<U> {
        Numbers {
            mass: f(self.mass),
            inertia: self.inertia.map(f),
            center: self.center.map(f),
            gravity: self.gravity.map(f),
            joint: self.joint.as_ref().map(|(j, parent)| {
                (j.map(f), parent.as_ref().map(|(body, center)| (*body, center.map(f))))
            }),
        }
    }
}

impl Channel {
    /// Path of the offset of its clock among the parameters.
    pub fn offset_path(&self) -> String {
        format!("clock.{}.offset", self.clock)
    }

    /// Unit of its readings.
    pub fn unit(&self, scene: &Scene) -> &'static str {
        let slides = matches!(
            scene.articulation.as_ref().and_then(|a| {
                a.link_of_body(self.body).map(|i| &a.model().links()[i].joint.kind)
            }),
            Some(JointKind::Prismatic { .. })
        );
        match (self.quantity, slides) {
            (Quantity::Position, _) | (Quantity::JointPosition, true) => "m",
            (Quantity::Velocity, _) | (Quantity::JointRate, true) => "m/s",
            (Quantity::Rotation, _) | (Quantity::JointPosition, false) => "rad",
            (Quantity::AngularVelocity, _) | (Quantity::JointRate, false) => "rad/s",
            (Quantity::ContactForce, _) => "N",
            (Quantity::ContactTorque, _) => "N m",
            (Quantity::Impulse, _) => "N s",
        }
    }

    /// How far the reading of one state is from a record, in the unit of the channel; of a force or torque the momentum.
    pub(crate) fn misfit_of(
        &self,
        scene: &Scene,
        parameters: &Parameters,
        bodies: &impl Fn(usize) -> Kinematics<f64>,
        sample: &Sample,
    ) -> Vector3<f64> {
        self.at_step(bodies, &self.numbers(scene, parameters), sample)
    }

    pub(super) fn numbers<T: Scalar>(&self, scene: &Scene, p: &Parameters<T>) -> Numbers<T> {
        let body = &p.bodies[self.body];
        let gravity = if scene.bodies[self.body].gravity { p.gravity } else { Vector3::zeros() };
        let joint = match (&scene.articulation, &p.articulation) {
            (Some(a), Some(q)) if self.quantity.of_joint() => a.link_of_body(self.body).map(|i| {
                let link = &q.model.links()[i];
                let parent = link.parent.map(|l| (a.bodies()[l], p.bodies[a.bodies()[l]].center));
                (link.joint.clone(), parent)
            }),
            _ => None,
        };
        Numbers { mass: body.mass, inertia: body.inertia, center: body.center, gravity, joint }
    }

    /// How far the reading of one state is from the record; of momenta, the momentum.
    pub(super) fn at_step<T: Scalar>(
        &self,
        bodies: &impl Fn(usize) -> Kinematics<T>,
        n: &Numbers<T>,
        sample: &Sample,
    ) -> Vector3<T> {
        let y = bodies(self.body);
        let measured = match sample {
            Sample::Vector(v) => v.map(T::from),
            Sample::Rotation(m) => {
                return so3::log(&mat3::mul_transposed(&y.rotation, &m.map(T::from)));
            }
        };
        match self.quantity {
            Quantity::Position => y.position - measured,
            Quantity::Velocity => origin_velocity(&y, &n.center) - measured,
            Quantity::Rotation | Quantity::AngularVelocity => {
                mat3::apply_transposed(&y.rotation, &y.angular_velocity) - measured
            }
            Quantity::JointPosition => first(joint_position(bodies, &y, n, measured.x)),
            Quantity::JointRate => first(joint_rate(bodies, &y, n) - measured.x),
            Quantity::ContactForce | Quantity::Impulse => y.velocity.map(|v| v * n.mass),
            Quantity::ContactTorque => {
                let spin = mat3::apply_transposed(&y.rotation, &y.angular_velocity);
                mat3::apply(&y.rotation, &mat3::apply(&n.inertia, &spin))
            }
        }
    }

    /// From the momenta at both ends of a frame of some length (s) to what is compared.
    pub(super) fn over_frame<T: Scalar>(
        &self,
        (from, to): (Vector3<T>, Vector3<T>),
        length: f64,
        n: &Numbers<T>,
        sample: &Sample,
    ) -> Vector3<T> {
        let measured = match sample {
            Sample::Vector(v) => v.map(T::from),
            Sample::Rotation(_) => Vector3::zeros(),
        };
        let change = to - from;
        let weight = n.gravity.map(|g| g * n.mass);
        match self.quantity {
            Quantity::Impulse => change - weight.map(|w| w * length) - measured,
            Quantity::ContactForce => change.map(|x| x / length) - weight - measured,
            _ => change.map(|x| x / length) - measured,
        }
    }
}

fn first<T: Scalar>(x: T) -> Vector3<T> {
    Vector3::new(x, T::zero(), T::zero())
}

fn origin_velocity<T: Scalar>(y: &Kinematics<T>, center: &Vector3<T>) -> Vector3<T> {
    y.velocity - y.angular_velocity.cross(&mat3::apply(&y.rotation, center))
}

/// Joint frame in the world and motion of the joint `m = A⁻¹ X B⁻¹` in it, with the parent's motion.
fn joint_motion<T: Scalar>(
    bodies: &impl Fn(usize) -> Kinematics<T>,
    y: &Kinematics<T>,
    (joint, parent): &Hinge<T>,
) -> (Pose<T>, Pose<T>, Option<Kinematics<T>>) {
    let (a, b) = (&joint.placement, &joint.offset);
    let parent = parent.as_ref().map(|(body, _)| bodies(*body));
    let frame = match &parent {
        Some(p) => Pose {
            position: p.position + mat3::apply(&p.rotation, &a.position),
            rotation: mat3::mul(&p.rotation, &a.rotation),
        },
        None => *a,
    };
    let rotation = mat3::mul_transposed(&y.rotation, &b.rotation);
    let position = y.position - mat3::apply(&rotation, &b.position);
    let moved = Pose {
        position: mat3::apply_transposed(&frame.rotation, &(position - frame.position)),
        rotation: mat3::transposed_mul(&frame.rotation, &rotation),
    };
    (frame, moved, parent)
}

/// Position of a joint less the record: of an angle the one in (−π, π].
fn joint_position<T: Scalar>(
    bodies: &impl Fn(usize) -> Kinematics<T>,
    y: &Kinematics<T>,
    n: &Numbers<T>,
    measured: T,
) -> T {
    let Some(joint) = &n.joint else { return T::zero() };
    let (_, moved, _) = joint_motion(bodies, y, joint);
    match &joint.0.kind {
        JointKind::Revolute { axis } => {
            let back = so3::exp(&axis.map(|x| -x * measured));
            let turn = mat3::mul(&moved.rotation, &back);
            axis.dot(&so3::vee(&turn)).atan2((turn.trace() - 1.0) * 0.5)
        }
        JointKind::Prismatic { axis } => axis.dot(&moved.position) - measured,
        JointKind::Free | JointKind::Spherical | JointKind::Fixed => T::zero(),
    }
}

fn joint_rate<T: Scalar>(
    bodies: &impl Fn(usize) -> Kinematics<T>,
    y: &Kinematics<T>,
    n: &Numbers<T>,
) -> T {
    let Some(joint) = &n.joint else { return T::zero() };
    let (frame, moved, parent) = joint_motion(bodies, y, joint);
    let still = (Vector3::zeros(), Vector3::zeros());
    let place = frame.position + mat3::apply(&frame.rotation, &moved.position);
    let at = |k: &Kinematics<T>, center: &Vector3<T>| {
        let arm = place - k.position - mat3::apply(&k.rotation, center);
        (k.velocity + k.angular_velocity.cross(&arm), k.angular_velocity)
    };
    let own = at(y, &n.center);
    let other = match (&parent, &joint.1) {
        (Some(p), Some((_, center))) => at(p, center),
        _ => still,
    };
    match &joint.0.kind {
        JointKind::Revolute { axis } => mat3::apply(&frame.rotation, axis).dot(&(own.1 - other.1)),
        JointKind::Prismatic { axis } => mat3::apply(&frame.rotation, axis).dot(&(own.0 - other.0)),
        JointKind::Free | JointKind::Spherical | JointKind::Fixed => T::zero(),
    }
}
