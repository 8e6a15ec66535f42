//! What the files of motions hold.

use super::super::compare::rotation;
use crate::CliError;
use nalgebra::Vector3;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A file.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    pub(super) meta: Meta,
    pub(super) runs: Vec<Run>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Meta {
    pub(super) scene: Value,
}

/// Cases with the same options.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    pub(super) options: Options,
    pub(super) friction_anchor_beta: f64,
    pub(super) dt: f64,
    #[serde(default)]
    pub(super) group: Option<String>,
    pub(super) cases: Vec<Value>,
}

/// Options that are not the default.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(super) struct Options {
    pub(super) iterations: usize,
    pub(super) friction_mode: String,
    pub(super) baumgarte: f64,
    pub(super) contact_regularization: f64,
    pub(super) contact_friction_gap_max: Option<f64>,
    pub(super) drive_mode: String,
    pub(super) restitution_velocity_threshold: f64,
    pub(super) enable_restitution: bool,
    pub(super) velocity_iterations: usize,
}

impl Options {
    /// Whether the mode is one of the counter-examples, which have another law.
    pub(super) fn bisects(&self) -> bool {
        self.friction_mode.starts_with("bisection")
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            iterations: 12,
            friction_mode: "fixed_normal".into(),
            baumgarte: 0.2,
            contact_regularization: 0.0,
            contact_friction_gap_max: None,
            drive_mode: "augmented".into(),
            restitution_velocity_threshold: 0.5,
            enable_restitution: true,
            velocity_iterations: 0,
        }
    }
}

impl Run {
    /// Whether its bodies are free.
    pub(super) fn is_free(&self) -> bool {
        self.group.as_deref().is_none_or(|g| g == "free")
    }

    /// Whether another run differs in the number of sweeps alone.
    pub(super) fn is_finer(&self, other: &Self) -> bool {
        let [a, b] = [&self.options, &other.options];
        let same = |x: f64, y: f64| (x - y).abs() <= 1e-12;
        a.iterations > b.iterations
            && a.friction_mode == b.friction_mode
            && a.drive_mode == b.drive_mode
            && a.enable_restitution == b.enable_restitution
            && a.velocity_iterations == b.velocity_iterations
            && same(a.baumgarte, b.baumgarte)
            && same(a.contact_regularization, b.contact_regularization)
            && same(a.restitution_velocity_threshold, b.restitution_velocity_threshold)
            && same(self.friction_anchor_beta, other.friction_anchor_beta)
            && same(self.dt, other.dt)
    }
}

/// A pose as recorded: position and quaternion `[x, y, z, w]`.
pub(super) type Recorded = [f64; 7];

/// One case; `q` holds one pose, or one a body, `joint_q` the coordinates of joints.
#[derive(Debug, Deserialize)]
pub(super) struct Case {
    #[serde(default)]
    pub(super) id: String,
    pub(super) params: Value,
    pub(super) steps: Vec<usize>,
    #[serde(default)]
    q: Vec<Value>,
    #[serde(default)]
    qd: Vec<Value>,
    /// By step: `[p, n, gap, force]` of each contact, as the file says.
    #[serde(default)]
    pub(super) contacts: BTreeMap<String, Vec<[f64; 10]>>,
    #[serde(default)]
    pub(super) initial_q: Vec<f64>,
    #[serde(default)]
    pub(super) joint_q: Vec<Vec<f64>>,
}

impl Case {
    /// Recorded poses of the bodies, at a recorded instant.
    pub(super) fn poses(&self, instant: usize) -> Vec<Recorded> {
        let q = self.q.get(instant).cloned().unwrap_or_default();
        serde_json::from_value::<Vec<Recorded>>(q.clone())
            .or_else(|_| serde_json::from_value::<Recorded>(q).map(|one| vec![one]))
            .unwrap_or_default()
    }

    /// Recorded velocity and angular velocity of every body, at a recorded instant.
    pub(super) fn velocities(&self, instant: usize) -> Vec<[Vector3<f64>; 2]> {
        let qd = self.qd.get(instant).cloned().unwrap_or_default();
        let all = serde_json::from_value::<Vec<[f64; 6]>>(qd).unwrap_or_default();
        let split = |x: [f64; 6]| [Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5])];
        all.into_iter().map(split).collect()
    }

    /// Recorded positions of a body; NaN where one is missing, which no comparison passes.
    pub(super) fn path(&self, body: usize) -> Vec<Vector3<f64>> {
        self.path_of(body, &Vector3::zeros())
    }

    /// Recorded positions of a point of a body, at an offset from the centre in its axes \[m\].
    pub(super) fn path_of(&self, body: usize, offset: &Vector3<f64>) -> Vec<Vector3<f64>> {
        let at = |instant: usize| {
            let pose = self.poses(instant).get(body).copied();
            pose.map_or_else(
                || Vector3::repeat(f64::NAN),
                |p| Vector3::new(p[0], p[1], p[2]) + Self::rotation(&p) * offset,
            )
        };
        (0..self.steps.len()).map(at).collect()
    }

    /// Whether the body of family c is a disc.
    pub(super) fn is_disc(&self) -> bool {
        self.id.starts_with("disc")
    }

    /// Steps of the recording.
    pub(super) fn steps(&self) -> usize {
        self.steps.last().copied().unwrap_or(0)
    }

    /// The rotation of a recorded pose.
    pub(super) fn rotation(pose: &Recorded) -> nalgebra::Matrix3<f64> {
        rotation(&[pose[3], pose[4], pose[5], pose[6]])
    }
}

/// A number of a JSON object.
///
/// # Errors
/// Where it is missing or none.
pub(super) fn number(value: &Value, field: &'static str) -> Result<f64, CliError> {
    value[field].as_f64().ok_or_else(|| CliError::Value {
        field,
        found: value[field].to_string(),
        allowed: "a number",
    })
}

/// Three numbers of a JSON object.
///
/// # Errors
/// Where they are missing or not three.
pub(super) fn vector(value: &Value, field: &'static str) -> Result<Vector3<f64>, CliError> {
    let list: Option<Vec<f64>> =
        value[field].as_array().map(|l| l.iter().filter_map(Value::as_f64).collect());
    match list.as_deref() {
        Some(&[x, y, z]) => Ok(Vector3::new(x, y, z)),
        _ => Err(CliError::Value {
            field,
            found: value[field].to_string(),
            allowed: "three numbers",
        }),
    }
}
