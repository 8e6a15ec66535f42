//! `[[actor]]`.

use super::names;
use super::{ActorImpulse, Collider, Samples, Shape, is_default};
use osculate_contact::ContactParams;
use osculate_geometry::quadrature::TriangleRule;
use osculate_math::{se3, so3};
use serde::{Deserialize, Serialize};

/// `[[actor]]`: a body and its roles in contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an actor: a table")]
pub struct Actor {
    /// Unique name: letters, digits, `_`, `-`.
    pub name: String,
    /// `static`: no force moves it.
    #[serde(rename = "static")]
    pub fixed: bool,
    /// Whether gravity acts on it.
    pub gravity: bool,
    /// Contact layer; `default` if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The actor that this one is nested in, for filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Initial velocity of the centre of mass \[m/s\], world.
    pub velocity: [f64; 3],
    /// Initial angular velocity \[rad/s\], world.
    pub angular_velocity: [f64; 3],
    /// Mass \[kg\], > 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Density \[kg/m³\] of the homogeneous body inside the shape, > 0; instead of `mass`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Centre of mass \[m\], local; with `inertia`, default the local origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<[f64; 3]>,
    /// Inertia tensor about the centre of mass \[kg m²\], local axes: entries xx, yy, zz, xy, xz, yz. Off the diagonal
    /// stand tensor entries, minus the products of inertia.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inertia: Option<[f64; 6]>,
    /// Rule for the samples on the triangles of the shape.
    #[serde(with = "names::rule", skip_serializing_if = "Option::is_none")]
    pub quadrature: Option<TriangleRule>,
    /// What of its geometry is a parameter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub free: Vec<FreeGeometry>,
    /// Initial pose of the local frame.
    pub pose: ActorPose,
    /// What it looks like, local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// How it supplies distances.
    pub collider: Collider,
    /// Samples one by one, or none; instead of `quadrature`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// Contact parameters.
    pub contact: Contact,
    /// Parameters of the impulse model.
    #[serde(skip_serializing_if = "is_default")]
    pub impulse: ActorImpulse,
    /// Prescribed poses of a static actor at the end of each step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion: Option<Vec<ActorPose>>,
}

impl Default for Actor {
    fn default() -> Self {
        Self {
            name: String::new(),
            fixed: false,
            gravity: true,
            layer: None,
            parent: None,
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            mass: None,
            density: None,
            center: None,
            inertia: None,
            quadrature: None,
            free: Vec::new(),
            pose: ActorPose::default(),
            shape: None,
            collider: Collider::default(),
            samples: None,
            contact: Contact::default(),
            impulse: ActorImpulse::default(),
            motion: None,
        }
    }
}

/// Geometry that can be a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FreeGeometry {
    /// The size of shape, samples and collider: `cube.scale`.
    Scale,
    /// The half extents of a box: `cube.half_extent_x`.
    HalfExtents,
    /// The edge radius of a rounded box: `cube.edge_radius`.
    EdgeRadius,
    /// The vertices that samples follow from: `cube.vertex_0_x`.
    Vertices,
    /// The node values of a grid: `cube.collider.node_0`.
    Nodes,
}

impl FreeGeometry {
    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scale => "scale",
            Self::HalfExtents => "half_extents",
            Self::EdgeRadius => "edge_radius",
            Self::Vertices => "vertices",
            Self::Nodes => "nodes",
        }
    }
}

/// A pose; its rotation in one of two forms, or none for no rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a pose: a table { position, quaternion or rotation_vector }"
)]
pub struct ActorPose {
    /// Position of the local origin \[m\], world.
    pub position: [f64; 3],
    /// Unit quaternion `[w, x, y, z]`, from local to world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quaternion: Option<[f64; 4]>,
    /// Rotation vector \[rad\], from local to world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation_vector: Option<[f64; 3]>,
}

impl From<&se3::Pose> for ActorPose {
    fn from(pose: &se3::Pose) -> Self {
        let quaternion = Some(so3::to_quaternion(&pose.rotation));
        Self { position: pose.position.into(), quaternion, rotation_vector: None }
    }
}

/// Samples given one by one. The weights are `weights`, or `weight` for all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { points, weights or weight, normals }")]
pub struct ExplicitSamples {
    /// Points \[m\], local.
    pub points: Vec<[f64; 3]>,
    /// Weight of each point \[m²\], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Weight of every point \[m²\], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Outward unit normals, local; without them nothing is rejected or faded by alignment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normals: Option<Vec<[f64; 3]>>,
}

/// `[actor.contact]`: contact parameters of one actor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of contact parameters")]
pub struct Contact {
    /// `k`, penalty coefficient \[Pa/m\], > 0.
    pub k: f64,
    /// `ε`, smoothing half-width \[m\], ≥ 0.
    pub epsilon: f64,
    /// `δ`, distance at which contact starts \[m\].
    pub delta: f64,
    /// Added to `δ` where the colliding actor has no collider \[m\], ≥ 0.
    pub delta_extra: f64,
    /// `m`, largest alignment that is still a contact \[–\], in \[−1, 1\].
    pub m: f64,
    /// `μ`, Coulomb friction \[–\], ≥ 0.
    pub mu: f64,
    /// `c_t`, viscous friction \[s/m\], ≥ 0.
    pub c_t: f64,
    /// `c_n`, normal damping \[s/m\], ≥ 0.
    pub c_n: f64,
    /// `V_f`, falloff speed of friction \[m/s\], > 0.
    pub v_f: f64,
    /// Split velocities by the collider's normal (true) or by the colliding surface's.
    pub collider_normal: bool,
    /// Penalty correction scale \[m\], > 0. Its exponent is 2 − (dimension of what is sampled): 0 for surfaces, so it
    /// changes nothing in scenes of rigid bodies.
    pub length_scale: f64,
}

impl Default for Contact {
    fn default() -> Self {
        Self::from(&ContactParams::default())
    }
}

impl From<&ContactParams> for Contact {
    fn from(p: &ContactParams) -> Self {
        let [k, epsilon, delta, delta_extra, m, mu, c_t, c_n, v_f] = p.to_array();
        let collider_normal = p.collider_normal;
        let length_scale = 1.0;
        Self { k, epsilon, delta, delta_extra, m, mu, c_t, c_n, v_f, collider_normal, length_scale }
    }
}

impl From<&Contact> for ContactParams {
    fn from(c: &Contact) -> Self {
        let values = [c.k, c.epsilon, c.delta, c.delta_extra, c.m, c.mu, c.c_t, c.c_n, c.v_f];
        Self::from_array(values, c.collider_normal)
    }
}
