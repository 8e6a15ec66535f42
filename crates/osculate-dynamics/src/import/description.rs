//! What a robot file says, in the terms of this crate.

use super::error::Spot;
use super::notes::Note;
use crate::articulated::{ClosureKind, Joint, JointPosition, LinkInertia};
use nalgebra::Vector3;
use osculate_geometry::mesh::TriangleMesh;
use osculate_math::se3::Pose;
use std::path::PathBuf;
use std::sync::Arc;

/// A robot file, read and checked. Lengths are metres, angles radians, masses kilograms, whatever the file has.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Name of the robot or model; empty if there is none.
    pub name: String,
    /// Gravity \[m/s²\], world; `None` where the file says nothing.
    pub gravity: Option<Vector3<f64>>,
    /// Time step \[s\]; `None` where the file says nothing.
    pub timestep: Option<f64>,
    /// The links, parents before children. Several may have no parent.
    pub links: Vec<ImportedLink>,
    /// Geometries of the world, poses in the world.
    pub world: Vec<Geometry>,
    /// Drives of joints.
    pub actuators: Vec<Actuator>,
    /// Loop closures.
    pub closures: Vec<ImportedClosure>,
    /// Pairs of links that may not touch; `None` is the world.
    pub excluded: Vec<[Option<usize>; 2]>,
    /// Pairs of geometries that are to touch by numbers of their own.
    pub pairs: Vec<ContactPair>,
    /// What of the file was not taken as it stands.
    pub notes: Vec<Note>,
}

/// A link and the joint that holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedLink {
    /// Name, unique.
    pub name: String,
    /// Where it stands in the file.
    pub spot: Spot,
    /// Whether it is only the frame between two joints of one body of the file.
    pub between: bool,
    /// Index of its parent, less than its own; `None` for the world.
    pub parent: Option<usize>,
    /// Name of the joint; empty if there is none.
    pub joint_name: String,
    /// The joint, with armature, friction and limits. Its drive follows from the actuators and the spring.
    pub joint: Joint,
    /// Spring of a joint with one coordinate.
    pub spring: Option<Spring>,
    /// Largest force of the joint \[N m or N\], if the file has one.
    pub effort_limit: Option<f64>,
    /// Position in which the model is given.
    pub initial: JointPosition,
    /// Mass properties.
    pub inertia: LinkInertia,
    /// What can touch, poses in the link's frame.
    pub geometries: Vec<Geometry>,
}

/// `τ = −k (q − q₀)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// `k` \[N m/rad or N/m\], > 0.
    pub stiffness: f64,
    /// `q₀` \[rad or m\].
    pub rest: f64,
}

/// A shape, about its own origin.
#[derive(Clone, Debug, PartialEq)]
pub enum GeometryShape {
    /// Half-space `z ≤ 0`.
    Plane,
    /// Ball.
    Sphere {
        /// Radius \[m\].
        radius: f64,
    },
    /// Box along the axes.
    Box {
        /// Half extents \[m\].
        half_extents: Vector3<f64>,
    },
    /// Points within `radius` of a segment along z.
    Capsule {
        /// Radius \[m\].
        radius: f64,
        /// Half the length of the segment \[m\].
        half_length: f64,
    },
    /// Cylinder along z.
    Cylinder {
        /// Radius \[m\].
        radius: f64,
        /// Half its length \[m\].
        half_length: f64,
    },
    /// Ellipsoid along the axes.
    Ellipsoid {
        /// Half axes \[m\].
        half_axes: Vector3<f64>,
    },
    /// A mesh from a file.
    Mesh(MeshShape),
}

/// A mesh from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshShape {
    /// The file that was read.
    pub path: PathBuf,
    /// Factors along the axes of the file; negative ones mirror.
    pub scale: Vector3<f64>,
    /// The mesh, scaled \[m\].
    pub mesh: Arc<TriangleMesh>,
}

/// A shape of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Name; may be empty.
    pub name: String,
    /// Line in the file.
    pub line: usize,
    /// What it looks like.
    pub shape: GeometryShape,
    /// Where it is in its link.
    pub pose: Pose,
    /// How it touches.
    pub contact: ContactNumbers,
}

/// How a geometry touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactNumbers {
    /// Sliding \[–\], torsional \[m\] and rolling \[m\] friction; `None` where the file says nothing.
    pub friction: Option<[f64; 3]>,
    /// Dimension of the contact force: 1 normal, 3 with sliding, 4 with torsional, 6 with rolling friction.
    pub dimension: u32,
    /// Bits of what it is.
    pub kind: u32,
    /// Bits of what it touches: two geometries may touch where the bits of one's kind meet the other's.
    pub affinity: u32,
    /// Of two geometries that touch, the numbers of the one with more of it act; with equal ones the larger of each.
    pub priority: i32,
}

/// Drive of a joint with one coordinate, by a control signal `u`.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Name; may be empty.
    pub name: String,
    /// Line in the file.
    pub line: usize,
    /// The link whose joint it drives.
    pub link: usize,
    /// How the force follows from the signal.
    pub kind: ActuatorKind,
    /// Transmission `g`: the joint has `g` times the force, and the drive sees `g q`.
    pub gear: f64,
    /// Least and largest signal.
    pub control_range: Option<[f64; 2]>,
    /// Least and largest force of the drive.
    pub force_range: Option<[f64; 2]>,
}

/// Force of a drive from its signal `u`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActuatorKind {
    /// `gain · u`.
    Torque {
        /// Force of a unit signal.
        gain: f64,
    },
    /// `k_p (u − g q) − k_v g q̇`.
    Position {
        /// `k_p`, ≥ 0.
        kp: f64,
        /// `k_v`, ≥ 0.
        kv: f64,
    },
    /// `k_v (u − g q̇)`.
    Velocity {
        /// `k_v`, ≥ 0.
        kv: f64,
    },
}

/// Two frames held together.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedClosure {
    /// Name, unique among the closures.
    pub name: String,
    /// Where it stands in the file.
    pub spot: Spot,
    /// What it holds together.
    pub kind: ClosureKind,
    /// Link and frame; `None` for the world.
    pub first: (Option<usize>, Pose),
    /// Link and frame; `None` for the world.
    pub second: (Option<usize>, Pose),
}

/// Two geometries with numbers of their own, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactPair {
    /// Line in the file.
    pub line: usize,
    /// The two geometries.
    pub geometries: [String; 2],
    /// How they touch; kind and affinity have no meaning here.
    pub contact: ContactNumbers,
}

impl ContactNumbers {
    /// Whether two geometries may touch by their bits.
    pub fn meets(&self, other: &Self) -> bool {
        self.kind & other.affinity != 0 || other.kind & self.affinity != 0
    }

    /// Whether it can touch anything at all.
    pub fn acts(&self) -> bool {
        self.kind != 0 || self.affinity != 0
    }
}

impl Default for ContactNumbers {
    /// Sliding friction of no stated value, touching everything.
    fn default() -> Self {
        Self { friction: None, dimension: 3, kind: 1, affinity: 1, priority: 0 }
    }
}

impl Description {
    /// Degrees of freedom.
    pub fn dofs(&self) -> usize {
        self.links.iter().map(|l| l.joint.kind.dofs()).sum()
    }

    /// Mass of all links \[kg\].
    pub fn mass(&self) -> f64 {
        self.links.iter().map(|l| l.inertia.mass).sum()
    }

    /// Index of the link of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|l| l.name == name)
    }

    /// Poses of the links in the world, in the position in which the model is given.
    pub fn initial_poses(&self) -> Vec<Pose> {
        let mut poses: Vec<Pose> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let parent = link.parent.map_or_else(Pose::identity, |p| poses[p]);
            let motion = link.joint.kind.motion(&link.initial);
            let steps = [link.joint.placement, motion, link.joint.offset];
            poses.push(steps.iter().fold(parent, |x, y| compose(&x, y)));
        }
        poses
    }
}

/// `a · b`.
pub(super) fn compose(a: &Pose, b: &Pose) -> Pose {
    Pose { position: a.transform_point(&b.position), rotation: a.rotation * b.rotation }
}

/// `a⁻¹`.
pub(super) fn inverse(a: &Pose) -> Pose {
    let rotation = a.rotation.transpose();
    Pose { position: -(rotation * a.position), rotation }
}

/// A shift without rotation.
pub(super) fn shift(position: Vector3<f64>) -> Pose {
    Pose { position, ..Pose::identity() }
}
