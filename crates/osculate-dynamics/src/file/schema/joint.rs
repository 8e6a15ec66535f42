//! `[[joint]]` and `[[loop]]`.

use super::ActorPose;
use crate::articulated::{ClosureKind, JointFriction};
use serde::{Deserialize, Serialize};

/// `[[joint]]`: makes an actor a link, joined to its parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a joint: a table")]
pub struct JointTable {
    /// The actor that becomes a link; the joint has its name.
    pub child: String,
    /// The link that it is joined to; the world if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What it lets move.
    pub kind: JointWord,
    /// Axis of a revolute or prismatic joint, joint frame; its length does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Pose of the joint frame in the parent's local frame.
    #[serde(default)]
    pub placement: ActorPose,
    /// Pose of the child's local frame in the moved joint frame.
    #[serde(default)]
    pub offset: ActorPose,
    /// Inertia that every degree of freedom adds \[kg m² or kg\], ≥ 0.
    #[serde(default)]
    pub armature: f64,
    /// Friction.
    #[serde(default)]
    pub friction: FrictionTable,
    /// Limits of a revolute or prismatic joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitTable>,
    /// Drive of a revolute or prismatic joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveTable>,
    /// Initial position: one number, a rotation vector, or position and rotation vector; the identity if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<Vec<f64>>,
    /// Initial velocity of each degree of freedom; rest if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdot: Option<Vec<f64>>,
}

/// The kinds of joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JointWord {
    /// Six degrees of freedom.
    Free,
    /// Three rotations.
    Spherical,
    /// A rotation about the axis.
    Revolute,
    /// A translation along the axis.
    Prismatic,
    /// Nothing moves.
    Fixed,
}

/// `joint.friction`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of joint friction")]
pub struct FrictionTable {
    /// Viscous coefficient \[N m s/rad or N s/m\], ≥ 0.
    pub viscous: f64,
    /// Coulomb friction while moving \[N m or N\], ≥ 0.
    pub coulomb: f64,
    /// What stiction adds near rest \[N m or N\], ≥ 0.
    pub stiction: f64,
    /// Speed on which stiction fades \[rad/s or m/s\], > 0.
    pub stribeck_speed: f64,
    /// Speed below which Coulomb friction is regularised \[rad/s or m/s\], > 0.
    pub falloff_speed: f64,
}

impl Default for FrictionTable {
    fn default() -> Self {
        let f = JointFriction::<f64>::default();
        Self {
            viscous: f.viscous,
            coulomb: f.coulomb,
            stiction: f.stiction_extra,
            stribeck_speed: f.stribeck_speed,
            falloff_speed: f.falloff_speed,
        }
    }
}

/// `joint.limits`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { lower, upper, stiffness, damping }")]
pub struct LimitTable {
    /// Least position \[rad or m\]; none if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Largest position \[rad or m\]; none if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Stiffness beyond a limit \[N m/rad or N/m\], > 0.
    #[serde(default = "hundred")]
    pub stiffness: f64,
    /// Damping beyond a limit \[N m s/rad or N s/m\], ≥ 0.
    #[serde(default)]
    pub damping: f64,
}

fn hundred() -> f64 {
    100.0
}

/// `joint.drive`: `effort + k_p (target − q) + k_d (target_velocity − v)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of a drive")]
pub struct DriveTable {
    /// Feed-forward \[N m or N\].
    pub effort: f64,
    /// Gain of the position \[N m/rad or N/m\], ≥ 0.
    pub k_p: f64,
    /// Gain of the velocity \[N m s/rad or N s/m\], ≥ 0.
    pub k_d: f64,
    /// Target position \[rad or m\].
    pub target: f64,
    /// Target velocity \[rad/s or m/s\].
    pub target_velocity: f64,
    /// Largest magnitude of the whole \[N m or N\], > 0; no limit if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort_limit: Option<f64>,
}

/// `[[effort]]`: a force or torque on a joint, or a target of its drive, over some steps, all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an effort: a table")]
pub struct EffortTable {
    /// The joint, by the actor that is its child.
    pub joint: String,
    /// Steps `from..to`, counted from 0, `to` not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<[usize; 2]>,
    /// Times \[s\]: the steps whose middle lies in `[from, to)`; instead of `steps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<[f64; 2]>,
    /// Force of each degree of freedom \[N m or N\]; several add up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Vec<f64>>,
    /// Target of the drive \[rad or m\]; a later one replaces an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
}

/// `[[loop]]`: a compliant closure between two frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a loop: a table")]
pub struct LoopTable {
    /// Unique name.
    pub name: String,
    /// What it holds together.
    pub kind: LoopWord,
    /// One frame.
    pub first: FrameTable,
    /// The other.
    pub second: FrameTable,
    /// Stiffness \[N/m; N m/rad of the rotational part\], > 0.
    #[serde(default = "million")]
    pub stiffness: f64,
    /// Damping \[N s/m; N m s/rad of the rotational part\], ≥ 0.
    #[serde(default)]
    pub damping: f64,
}

fn million() -> f64 {
    1e6
}

/// What a loop closure holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopWord {
    /// The two origins.
    Ball,
    /// The two origins and the two z axes.
    Revolute,
    /// The two frames.
    Fixed,
}

impl From<LoopWord> for ClosureKind {
    fn from(word: LoopWord) -> Self {
        match word {
            LoopWord::Ball => Self::Ball,
            LoopWord::Revolute => Self::Revolute,
            LoopWord::Fixed => Self::Fixed,
        }
    }
}

/// A frame of a link, or of the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table { link, frame }")]
pub struct FrameTable {
    /// The link; the world if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Pose of the frame in the link's local frame.
    pub frame: ActorPose,
}
