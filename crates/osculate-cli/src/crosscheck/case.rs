//! Reference cases as they stand on disk.
//!
//! Only what is compared is read; other keys are ignored, as the recordings carry more than that.

use crate::CliError;
use osculate_fit::json;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;

/// Settings and bodies of a case. Families that describe one body in place of a list fill the single-body fields.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub struct Case {
    pub name: String,
    pub method: String,
    pub dt: Option<f64>,
    pub dts: Option<Vec<f64>>,
    pub steps: Option<usize>,
    pub gravity: [f64; 3],
    pub dissipation: Option<String>,
    pub fade: Option<bool>,
    pub friction: Option<String>,
    #[serde(default)]
    pub bodies: Vec<BodyCase>,
    pub only: Option<[String; 2]>,
    #[serde(default)]
    pub pair_override: BTreeMap<String, f64>,
    #[serde(default)]
    pub kinematic: BTreeMap<String, Vec<PoseCase>>,
    pub wrench: Option<[f64; 6]>,
    pub shape: Option<Shape>,
    pub mass: Option<f64>,
    pub pos: Option<[f64; 3]>,
    pub quat: Option<[f64; 4]>,
    pub v: Option<[f64; 3]>,
    pub w: Option<[f64; 3]>,
}

/// One body of a case; quaternions are `xyzw`.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub struct BodyCase {
    pub name: String,
    pub shape: Shape,
    pub collider: String,
    #[serde(rename = "static")]
    pub fixed: bool,
    #[serde(default)]
    pub contact: ContactCase,
    pub mass: Option<f64>,
    pub density: Option<f64>,
    pub element: Option<String>,
    pub pos: [f64; 3],
    pub quat: [f64; 4],
    pub v: Option<[f64; 3]>,
    pub w: Option<[f64; 3]>,
}

/// A prescribed pose of the local frame.
#[derive(Clone, Copy, Debug, Deserialize)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub struct PoseCase {
    pub pos: [f64; 3],
    pub quat: [f64; 4],
}

/// A shape: analytic, or a mesh whose vertices stand in `_meshes.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub enum Shape {
    Plane { plane: PlaneCase },
    Sphere { sphere: SphereCase },
    Mesh(serde_json::Value),
}

/// `normal · x ≤ distance` (m).
#[derive(Clone, Copy, Debug, Deserialize)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub struct PlaneCase {
    pub normal: [f64; 3],
    pub distance: f64,
}

/// A ball.
#[derive(Clone, Copy, Debug, Deserialize)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub struct SphereCase {
    pub center: [f64; 3],
    pub radius: f64,
}

/// Contact parameters of an actor, with the defaults of the model.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub struct ContactCase {
    pub k: f64,
    pub eps: f64,
    pub delta: f64,
    pub delta_extra: f64,
    pub fric_coll_normal: bool,
    pub m: f64,
    pub ct: f64,
    pub mu: f64,
    pub vf: f64,
    pub cn: f64,
}

impl Default for ContactCase {
    fn default() -> Self {
        Self {
            k: 1e9,
            eps: 0.005,
            delta: 0.001,
            delta_extra: 0.0,
            fric_coll_normal: true,
            m: 0.0,
            ct: 0.0,
            mu: 0.5,
            vf: 0.01,
            cn: 0.0,
        }
    }
}

/// Mass properties that the engine reports.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub struct Properties {
    pub mass: f64,
    pub com_local: [f64; 3],
    #[serde(rename = "inertia_local_ixx_ixy_ixz_iyy_iyz_izz")]
    pub inertia: [f64; 6],
}

/// A mesh of a family.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "field names and units are those of the reference format")]
pub struct MeshCase {
    pub spec: serde_json::Value,
    pub vertices: Vec<[f64; 3]>,
    pub triangles: Vec<[usize; 3]>,
}

/// The meshes of a family, by key.
#[derive(Clone, Debug, Default, Deserialize)]
#[expect(missing_docs, reason = "field names are those of the reference format")]
pub struct Meshes {
    pub meshes: BTreeMap<String, MeshCase>,
}

impl Meshes {
    /// The mesh that a shape refers to, with its key.
    pub fn find(&self, spec: &serde_json::Value) -> Option<(&str, &MeshCase)> {
        self.meshes.iter().find(|(_, m)| m.spec == *spec).map(|(key, m)| (key.as_str(), m))
    }
}

/// Reads a JSON file.
///
/// # Errors
/// Where the file cannot be read or is not what is expected, with line and column.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, CliError> {
    let text = crate::files::read(path)?;
    json::from_slice(&text).map_err(|source| CliError::Json { path: path.into(), source })
}
