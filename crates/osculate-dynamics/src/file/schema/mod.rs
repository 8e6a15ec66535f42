//! What a scene file holds: plain structs, one for each table of the file.
//!
//! Units, defaults and ranges are those of `docs/scene.md`.

mod actor;
mod field;
mod impulse;
mod joint;
mod mesh_file;
mod names;
mod shape;
mod variants;

pub use actor::{Actor, ActorPose, Contact, ExplicitSamples, FreeGeometry};
pub use field::{MeshField, SdfField};
pub use impulse::{ActorImpulse, Impulse, Model};
pub use joint::{
    DriveTable, EffortTable, FrameTable, FrictionTable, JointTable, JointWord, LimitTable,
    LoopTable, LoopWord,
};
pub use mesh_file::MeshFile;
pub use shape::{
    BoxField, BoxShape, CylinderField, CylinderShape, Icosphere, PlaneField, Shape, SphereField,
    Triangles,
};
pub use variants::{Collider, ColliderField, ColliderKind, Samples};

use super::source::Source;
use crate::{InitialRate, Method, NewtonSettings, OnFailure, RotationUpdate};
use names::{FailureName, MethodName, RampName, RateName, RotationName};
use osculate_contact::{DissipationSchedule, FrictionRamp};
use serde::{Deserialize, Serialize};

/// A scene file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a scene")]
pub struct SceneFile {
    /// Gravity \[m/s²\], world.
    pub gravity: [f64; 3],
    /// If given, the only ordered pairs (colliding, collider) that may touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<[String; 2]>>,
    /// Ordered pairs (colliding, collider) that may not touch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disable: Vec<[String; 2]>,
    /// `[[filter]]`: which layers and actors are allowed to touch; later ones replace earlier ones.
    #[serde(rename = "filter", skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<FilterRule>,
    /// `[solver]`: method, time grid, tolerances.
    pub solver: Solver,
    /// `[[actor]]`: the bodies.
    #[serde(rename = "actor", skip_serializing_if = "Vec::is_empty")]
    pub actors: Vec<Actor>,
    /// `[[joint]]`: actors that are links.
    #[serde(rename = "joint", skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<JointTable>,
    /// `[[loop]]`: compliant loop closures.
    #[serde(rename = "loop", skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopTable>,
    /// `[[effort]]`: forces and targets of joints over some steps.
    #[serde(rename = "effort", skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<EffortTable>,
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
            filters: Vec::new(),
            solver: Solver::default(),
            actors: Vec::new(),
            joints: Vec::new(),
            loops: Vec::new(),
            efforts: Vec::new(),
            pairs: Vec::new(),
            wrenches: Vec::new(),
            outcome: Vec::new(),
            source: Source::default(),
        }
    }
}

/// `[solver]`. The time grid is two of `dt`, `steps` and `duration`, or `steps_s`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of solver settings")]
pub struct Solver {
    /// The contact model.
    #[serde(skip_serializing_if = "is_default")]
    pub model: Model,
    /// Settings of the impulse model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impulse: Option<Impulse>,
    /// Integration method.
    #[serde(with = "MethodName")]
    pub method: Method,
    /// Time step \[s\], > 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dt: Option<f64>,
    /// Number of steps, 1 to 10⁷.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Simulated time \[s\], > 0; with `dt`, a whole number of steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Duration of every step \[s\], each > 0.
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
    /// How rotations are integrated.
    #[serde(with = "RotationName")]
    pub rotation: RotationUpdate,
    /// What an initial angular velocity means.
    #[serde(with = "RateName")]
    pub initial_rate: InitialRate,
    /// Residual force allowed, relative to the sum of the magnitudes of all forces \[–\], in (0, 1).
    pub tolerance: f64,
    /// Most Newton iterations a stage, 1 to 100 000.
    pub iterations: usize,
    /// Most halvings of a Newton step, 0 to 60.
    pub halvings: usize,
    /// What to do where the tolerance is not reached.
    #[serde(with = "FailureName")]
    pub on_failure: OnFailure,
}

/// Whether a value need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Solver {
    fn default() -> Self {
        let newton = NewtonSettings::default();
        Self {
            model: Model::default(),
            impulse: None,
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
            rotation: RotationUpdate::default(),
            initial_rate: InitialRate::default(),
            tolerance: newton.tolerance,
            iterations: newton.iterations,
            halvings: newton.halvings,
            on_failure: newton.on_failure,
        }
    }
}

/// `[[filter]]`: enables or disables contact between two layers or two actors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a filter: a table")]
pub struct FilterRule {
    /// Two layers, the first of colliding actors, the second of colliders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<[String; 2]>,
    /// Two actors, the first colliding, the second the collider; instead of `layers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actors: Option<[String; 2]>,
    /// Whether they are allowed to touch.
    pub enable: bool,
    /// Not for the reverse direction.
    #[serde(default)]
    pub one_way: bool,
    /// For everything nested in the two actors too.
    #[serde(default)]
    pub nested: bool,
}

/// `[[pair]]`: values that replace the combined ones of two actors, whichever is colliding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a pair: a table")]
pub struct Pair {
    /// The two actors.
    pub actors: [String; 2],
    /// Replaces `k` \[Pa/m\], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<f64>,
    /// Replaces `V_f` \[m/s\], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v_f: Option<f64>,
    /// Replaces `c_t` \[s/m\], ≥ 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_t: Option<f64>,
    /// Replaces `μ` \[–\], ≥ 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Replaces `c_n` \[s/m\], ≥ 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_n: Option<f64>,
}

/// `[[wrench]]`: a force and a torque on a dynamic actor over some steps, all of them by default. Several add up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a wrench: a table")]
pub struct AppliedWrench {
    /// The actor.
    pub actor: String,
    /// Steps `from..to`, counted from 0, `to` not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<[usize; 2]>,
    /// Times \[s\]: the steps whose middle lies in `[from, to)`; instead of `steps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<[f64; 2]>,
    /// Force at the centre of mass \[N\], world.
    #[serde(default)]
    pub force: [f64; 3],
    /// Torque \[N m\], world.
    #[serde(default)]
    pub torque: [f64; 3],
}

/// `[[outcome]]`: weights of the motion of one actor after one step. Terms add up to the scalar outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an outcome: a table")]
pub struct OutcomeWeights {
    /// The actor.
    pub actor: String,
    /// After how many steps; after the last by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// Weights of the position of the local origin \[1/m\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// Weights of the rotation vector `log R` \[1/rad\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<[f64; 3]>,
    /// Weights of the velocity of the centre of mass \[s/m\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
    /// Weights of the angular velocity \[s/rad\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity: Option<[f64; 3]>,
    /// Weight of the speed of the centre of mass \[s/m\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
}
