//! What a scene file holds: plain structs, one for each table of the file.
//!
//! Units, defaults and ranges are those of `docs/scene.md`. Every field is public, so scenes can be built in Rust too:
//!
//! ```
//! use osculate_dynamics::file::{Actor, BoxShape, Collider, ColliderKind, PlaneField, SceneFile, Shape, Solver};
//!
//! let ground = Actor {
//!     name: "ground".into(),
//!     fixed: true,
//!     shape: Some(Shape::Plane(PlaneField { normal: [0.0, 0.0, 1.0], offset: 0.0 })),
//!     ..Actor::default()
//! };
//! let cube = Actor {
//!     name: "cube".into(),
//!     shape: Some(Shape::Box(BoxShape { half_extents: [0.05; 3], subdivisions: 2 })),
//!     mass: Some(0.4),
//!     collider: Collider::Named(ColliderKind::None),
//!     ..Actor::default()
//! };
//! let scene = SceneFile {
//!     solver: Solver { dt: Some(1e-3), steps: Some(10), ..Solver::default() },
//!     actors: vec![cube, ground],
//!     ..SceneFile::default()
//! };
//! let built = scene.build(".".as_ref())?;
//! built.simulator.run(&built.parameters)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::names::{self, FailureName, MethodName, RampName, RateName};
use super::source::Source;
use crate::{InitialRate, Method, NewtonSettings, OnFailure};
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_geometry::quadrature::TriangleRule;
use osculate_math::{se3, so3};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use super::variants::{Collider, ColliderField, ColliderKind, Samples};

/// A scene file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneFile {
    /// Gravity [m/s²], world.
    pub gravity: [f64; 3],
    /// If given, the only ordered pairs (colliding, collider) that may touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<[String; 2]>>,
    /// Ordered pairs (colliding, collider) that may not touch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disable: Vec<[String; 2]>,
    /// `[solver]`: method, time grid, tolerances.
    pub solver: Solver,
    /// `[[actor]]`: the bodies.
    #[serde(rename = "actor", skip_serializing_if = "Vec::is_empty")]
    pub actors: Vec<Actor>,
    /// `[[pair]]`: values that replace combined ones.
    #[serde(rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// `[[wrench]]`: applied forces and torques.
    #[serde(rename = "wrench", skip_serializing_if = "Vec::is_empty")]
    pub wrenches: Vec<AppliedWrench>,
    /// `[[outcome]]`: the terms of the scalar that is differentiated.
    #[serde(rename = "outcome", skip_serializing_if = "Vec::is_empty")]
    pub outcome: Vec<OutcomeWeights>,
    /// Where the scene was read from, for lines in errors; not a part of it.
    #[serde(skip)]
    pub source: Source,
}

impl Default for SceneFile {
    fn default() -> Self {
        Self {
            gravity: [0.0, 0.0, -9.81],
            only: None,
            disable: Vec::new(),
            solver: Solver::default(),
            actors: Vec::new(),
            pairs: Vec::new(),
            wrenches: Vec::new(),
            outcome: Vec::new(),
            source: Source::default(),
        }
    }
}

/// `[solver]`. The time grid is two of `dt`, `steps` and `duration`, or `steps_s`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Solver {
    /// Integration method.
    #[serde(with = "MethodName")]
    pub method: Method,
    /// Time step [s], > 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dt: Option<f64>,
    /// Number of steps, 1 to 10⁷.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Simulated time [s], > 0; with `dt`, a whole number of steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Duration of every step [s], each > 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_s: Option<Vec<f64>>,
    /// Time levels of the dissipative terms; current geometry if neither this nor the two flags are given.
    #[serde(with = "names::schedule", skip_serializing_if = "Option::is_none")]
    pub schedule: Option<DissipationSchedule>,
    /// With `implicit_normal_force`, the other form of `schedule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explicit_normals: Option<bool>,
    /// With `explicit_normals`, the other form of `schedule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implicit_normal_force: Option<bool>,
    /// Fade dissipation by the alignment factor.
    pub fade: bool,
    /// Regularisation of Coulomb friction.
    #[serde(with = "RampName")]
    pub friction_ramp: FrictionRamp,
    /// What an initial angular velocity means.
    #[serde(with = "RateName")]
    pub initial_rate: InitialRate,
    /// Residual force allowed, relative to the sum of the magnitudes of all forces [–], in (0, 1).
    pub tolerance: f64,
    /// Most Newton iterations a stage, 1 to 100 000.
    pub iterations: usize,
    /// Most halvings of a Newton step, 0 to 60.
    pub halvings: usize,
    /// What to do where the tolerance is not reached.
    #[serde(with = "FailureName")]
    pub on_failure: OnFailure,
}

impl Default for Solver {
    fn default() -> Self {
        let newton = NewtonSettings::default();
        Self {
            method: Method::default(),
            dt: None,
            steps: None,
            duration: None,
            steps_s: None,
            schedule: None,
            explicit_normals: None,
            implicit_normal_force: None,
            fade: true,
            friction_ramp: FrictionRamp::default(),
            initial_rate: InitialRate::default(),
            tolerance: newton.tolerance,
            iterations: newton.iterations,
            halvings: newton.halvings,
            on_failure: newton.on_failure,
        }
    }
}

/// `[[actor]]`: a body and its roles in contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Actor {
    /// Unique name: letters, digits, `_`, `-`.
    pub name: String,
    /// `static`: no force moves it.
    #[serde(rename = "static")]
    pub fixed: bool,
    /// Whether gravity acts on it.
    pub gravity: bool,
    /// Initial velocity of the centre of mass [m/s], world.
    pub velocity: [f64; 3],
    /// Initial angular velocity [rad/s], world.
    pub angular_velocity: [f64; 3],
    /// Mass [kg], > 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Density [kg/m³] of the homogeneous body inside the shape, > 0; instead of `mass`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Centre of mass [m], local; with `inertia`, default the local origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<[f64; 3]>,
    /// Inertia tensor about the centre of mass [kg m²], local axes: entries xx, yy, zz, xy, xz, yz. Off the diagonal
    /// stand tensor entries, minus the products of inertia.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inertia: Option<[f64; 6]>,
    /// Rule for the samples on the triangles of the shape.
    #[serde(with = "names::rule", skip_serializing_if = "Option::is_none")]
    pub quadrature: Option<TriangleRule>,
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
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            mass: None,
            density: None,
            center: None,
            inertia: None,
            quadrature: None,
            pose: ActorPose::default(),
            shape: None,
            collider: Collider::default(),
            samples: None,
            contact: Contact::default(),
            motion: None,
        }
    }
}

/// A pose; its rotation in one of two forms, or none for no rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActorPose {
    /// Position of the local origin [m], world.
    pub position: [f64; 3],
    /// Unit quaternion `[w, x, y, z]`, from local to world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quaternion: Option<[f64; 4]>,
    /// Rotation vector [rad], from local to world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation_vector: Option<[f64; 3]>,
}

impl From<&se3::Pose> for ActorPose {
    fn from(pose: &se3::Pose) -> Self {
        let quaternion = Some(so3::to_quaternion(&pose.rotation));
        Self { position: pose.position.into(), quaternion, rotation_vector: None }
    }
}

/// `shape`: exactly one of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A mesh from an OBJ or STL file, in metres; a relative path starts at the scene file.
    Mesh(PathBuf),
    /// A box about the local origin.
    Box(BoxShape),
    /// A subdivided icosahedron about the local origin.
    Icosphere(Icosphere),
    /// A mesh written out.
    Triangles(Triangles),
    /// A half-space.
    Plane(PlaneField),
    /// A ball; it has no triangles, so no samples of its own.
    Sphere(SphereField),
}

/// A box about the local origin, as a mesh and as an exact distance field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxShape {
    /// Half extents [m], > 0.
    pub half_extents: [f64; 3],
    /// Squares along each edge of a face, two triangles each; 1 to 200.
    #[serde(default = "one")]
    pub subdivisions: usize,
}

fn one() -> usize {
    1
}

/// An icosahedron, cut and pushed out to its sphere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Icosphere {
    /// Radius of the sphere through the vertices [m], > 0.
    pub radius: f64,
    /// How often every triangle is cut in four, 0 to 7.
    pub subdivisions: usize,
}

/// A mesh written out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Triangles {
    /// Vertices [m], local.
    pub vertices: Vec<[f64; 3]>,
    /// Three vertex indices each, from 0, counter-clockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
}

/// The half-space `n̂·X ≤ offset`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaneField {
    /// Normal of the plane, leaving the solid; not zero, its length does not matter.
    pub normal: [f64; 3],
    /// Distance of the plane from the local origin along the unit normal [m].
    #[serde(default)]
    pub offset: f64,
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SphereField {
    /// Centre [m], local.
    #[serde(default)]
    pub center: [f64; 3],
    /// Radius [m], > 0.
    pub radius: f64,
}

/// A box along the local axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxField {
    /// Centre [m], local.
    #[serde(default)]
    pub center: [f64; 3],
    /// Half extents [m], > 0.
    pub half_extents: [f64; 3],
}

/// Samples given one by one. The weights are `weights`, or `weight` for all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplicitSamples {
    /// Points [m], local.
    pub points: Vec<[f64; 3]>,
    /// Weight of each point [m²], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Weight of every point [m²], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Outward unit normals, local; without them nothing is rejected or faded by alignment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normals: Option<Vec<[f64; 3]>>,
}

/// `[actor.contact]`: contact parameters of one actor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contact {
    /// `k`, penalty coefficient [Pa/m], > 0.
    pub k: f64,
    /// `ε`, smoothing half-width [m], ≥ 0.
    pub epsilon: f64,
    /// `δ`, distance at which contact starts [m].
    pub delta: f64,
    /// Added to `δ` where the colliding actor has no collider [m], ≥ 0.
    pub delta_extra: f64,
    /// `m`, largest alignment that is still a contact [–], in [−1, 1].
    pub m: f64,
    /// `μ`, Coulomb friction [–], ≥ 0.
    pub mu: f64,
    /// `c_t`, viscous friction [s/m], ≥ 0.
    pub c_t: f64,
    /// `c_n`, normal damping [s/m], ≥ 0.
    pub c_n: f64,
    /// `V_f`, falloff speed of friction [m/s], > 0.
    pub v_f: f64,
    /// Split velocities by the collider's normal (true) or by the colliding surface's.
    pub collider_normal: bool,
    /// Penalty correction scale [m], > 0. Its exponent is 2 − (dimension of what is sampled): 0 for surfaces, so it
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

/// `[[pair]]`: values that replace the combined ones of two actors, whichever is colliding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The two actors.
    pub actors: [String; 2],
    /// Replaces `k` [Pa/m], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<f64>,
    /// Replaces `V_f` [m/s], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v_f: Option<f64>,
    /// Replaces `c_t` [s/m], ≥ 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_t: Option<f64>,
    /// Replaces `μ` [–], ≥ 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Replaces `c_n` [s/m], ≥ 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_n: Option<f64>,
}

/// `[[wrench]]`: a force and a torque on a dynamic actor over some steps, all of them by default. Several add up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppliedWrench {
    /// The actor.
    pub actor: String,
    /// Steps `from..to`, counted from 0, `to` not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<[usize; 2]>,
    /// Times [s]: the steps whose middle lies in `[from, to)`; instead of `steps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<[f64; 2]>,
    /// Force at the centre of mass [N], world.
    #[serde(default)]
    pub force: [f64; 3],
    /// Torque [N m], world.
    #[serde(default)]
    pub torque: [f64; 3],
}

/// `[[outcome]]`: weights of the motion of one actor after one step. Terms add up to the scalar outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeWeights {
    /// The actor.
    pub actor: String,
    /// After how many steps; after the last by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// Weights of the position of the local origin [1/m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// Weights of the rotation vector `log R` [1/rad].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<[f64; 3]>,
    /// Weights of the velocity of the centre of mass [s/m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
    /// Weights of the angular velocity [s/rad].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity: Option<[f64; 3]>,
    /// Weight of the speed of the centre of mass [s/m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
}
