//! Twins: synthetic tosses from known parameters, with stated noise and seed.

use crate::contact_model::{ContactModel, ModelError};
use crate::problem::{
    JointStart, Model, ModelSettings, ProblemError, Sample, Stretch, Toss, starts_by_joints,
    under_its_model,
};
use crate::recording::{Recording, RecordingError};
use nalgebra::Vector3;
use osculate_dynamics::impulse::ImpulseSimulator;
use osculate_dynamics::{Parameters, SceneError, Simulator};
use osculate_math::{se3::Pose, so3};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

mod channels;

use channels::{extra_columns, names, read_channels};

/// How twins are made. The parameters are those of the scene.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TwinFile {
    /// How many tosses.
    pub tosses: usize,
    /// Frames of a toss.
    pub frames: usize,
    /// Frames a second (1/s).
    pub rate_hz: f64,
    /// Seed of initial states and noise.
    pub seed: u64,
    /// Standard deviation of each coordinate of a measured position (m).
    pub position_noise: f64,
    /// Standard deviation of each coordinate of a measured rotation (deg).
    pub rotation_noise_deg: f64,
    /// The first frame is written without noise: the start of the roll-out is known, as its velocities are.
    #[serde(default)]
    pub exact_start: bool,
    /// Height of the body's origin at the start (m), drawn uniformly.
    pub height: [f64; 2],
    /// Horizontal speed at the start (m/s).
    pub speed: [f64; 2],
    /// Downward speed at the start (m/s).
    pub fall: [f64; 2],
    /// Angular speed at the start (rad/s), any direction.
    pub spin: [f64; 2],
    /// Starts of revolute and prismatic joints, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub joints: BTreeMap<String, JointRange>,
    /// Standard deviation of each component of a channel, by name; that of the channel where it is given, else none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noise: BTreeMap<String, f64>,
}

/// Where a joint starts, drawn uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct JointRange {
    /// Position (rad, m).
    pub position: [f64; 2],
    /// Rate (rad/s, m/s).
    pub rate: [f64; 2],
}

/// Why twins cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TwinError {
    /// A number is outside its range.
    #[error("twin.{field} is {found}, allowed: {allowed}")]
    Value {
        /// Which.
        field: &'static str,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A name that is none of the scene's.
    #[error("twin.{table} names '{found}', which is none of {allowed}")]
    Name {
        /// `joints` or `noise`.
        table: &'static str,
        /// The name found.
        found: String,
        /// Names there are.
        allowed: String,
    },
    /// The scene does not fit.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The channels of a toss could not be read.
    #[error(transparent)]
    Channels(#[from] ProblemError),
    /// A toss could not be simulated.
    #[error("twin toss {id}: {source}")]
    Run {
        /// Its number.
        id: u32,
        /// Why.
        source: ModelError,
    },
    /// The destination cannot be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A file cannot be written.
    #[error("{file}: {source}")]
    Write {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
}

impl TwinFile {
    /// Checks every value.
    ///
    /// # Errors
    /// [`TwinError::Value`] with the field, the value and what is allowed.
    pub fn check(&self) -> Result<(), TwinError> {
        let refuse =
            |field, found: String, allowed| Err(TwinError::Value { field, found, allowed });
        if self.tosses == 0 || self.tosses > 100_000 {
            return refuse("tosses", self.tosses.to_string(), "1 to 100000");
        }
        if self.frames < 2 || self.frames > 1_000_000 {
            return refuse("frames", self.frames.to_string(), "2 to 1000000");
        }
        if !(self.rate_hz.is_finite() && self.rate_hz > 0.0) {
            return refuse("rate_hz", self.rate_hz.to_string(), "> 0");
        }
        for (field, x) in [
            ("position_noise", self.position_noise),
            ("rotation_noise_deg", self.rotation_noise_deg),
        ] {
            if !(x.is_finite() && x >= 0.0) {
                return refuse(field, x.to_string(), ">= 0");
            }
        }
        let ranges =
            self.joints.values().flat_map(|j| [("joints", j.position), ("joints", j.rate)]);
        for (field, [a, b]) in ranges.chain([
            ("height", self.height),
            ("speed", self.speed),
            ("fall", self.fall),
            ("spin", self.spin),
        ]) {
            if !(a.is_finite() && b.is_finite() && a <= b) {
                return refuse(field, format!("[{a}, {b}]"), "low <= high, finite");
            }
        }
        Ok(())
    }
}

/// Tosses with noise, and the true velocities at their starts; and how many solves of their roll-outs did not converge.
///
/// # Errors
/// Where a number is out of range or a simulation fails.
pub fn make(model: &Model, twin: &TwinFile) -> Result<(Vec<Toss>, usize), TwinError> {
    twin.check()?;
    names(model, twin)?;
    let made: Result<Vec<_>, _> = (0..twin.tosses).map(|i| toss(model, twin, i)).collect();
    let (tosses, unconverged): (Vec<Toss>, Vec<usize>) = made?.into_iter().unzip();
    Ok((tosses, unconverged.iter().sum()))
}

fn toss(model: &Model, twin: &TwinFile, i: usize) -> Result<(Toss, usize), TwinError> {
    // Each toss has its own stream, so a longer twin starts with the same tosses.
    let mut rng = StdRng::seed_from_u64(twin.seed.wrapping_mul(1_000_003).wrapping_add(i as u64));
    let mut between = |[low, high]: [f64; 2]| low + (high - low) * rng.random::<f64>();
    let height = between(twin.height);
    let (speed, fall, spin) = (between(twin.speed), between(twin.fall), between(twin.spin));
    let heading = between([0.0, std::f64::consts::TAU]);
    let mut normal = || StandardNormal.sample(&mut rng);
    let rotation = so3::from_quaternion::<f64>([normal(), normal(), normal(), normal()]);
    let axis = Vector3::new(normal(), normal(), normal());
    let start = Pose { position: Vector3::new(0.0, 0.0, height), rotation };
    let toss = Toss {
        id: i as u32,
        times: (0..twin.frames).map(|k| k as f64 / twin.rate_hz).collect(),
        measured: vec![start; twin.frames],
        observed: vec![true; twin.frames],
        velocity: Vector3::new(speed * heading.cos(), speed * heading.sin(), -fall),
        angular_velocity: axis * (spin / axis.norm().max(1e-12)),
        joints: twin
            .joints
            .iter()
            .filter_map(|(name, range)| {
                let body = model.scene.bodies.iter().position(|b| b.name == *name)?;
                let mut between = |[low, high]: [f64; 2]| low + (high - low) * rng.random::<f64>();
                Some(JointStart {
                    body,
                    position: between(range.position),
                    rate: between(range.rate),
                })
            })
            .collect(),
        others: Vec::new(),
        series: Vec::new(),
        labels: BTreeMap::new(),
    };
    if !model.channels.is_empty() {
        return read_channels(model, twin, toss, &mut rng);
    }
    let (exact, unconverged) = roll(model, &toss)?;
    let mut measured: Vec<Pose> = exact.iter().map(|p| noisy(p, twin, &mut rng)).collect();
    if twin.exact_start {
        measured[0] = exact[0];
    }
    Ok((Toss { measured, ..toss }, unconverged))
}

fn noisy(pose: &Pose, twin: &TwinFile, rng: &mut impl Rng) -> Pose {
    let mut vector = |sigma: f64| {
        Vector3::from_fn(|_, _| sigma * Distribution::<f64>::sample(&StandardNormal, rng))
    };
    let shift = vector(twin.position_noise);
    let turn = vector(twin.rotation_noise_deg.to_radians());
    pose.incremented(&shift, &turn)
}

/// Poses of a toss rolled out from its start with the scene's own parameters, and its unconverged solves.
fn roll(model: &Model, toss: &Toss) -> Result<(Vec<Pose>, usize), TwinError> {
    under_its_model!(model.clone(), stretch => roll_under(&stretch, toss))
}

fn roll_under<S: ContactModel>(
    stretch: &Stretch<S>,
    toss: &Toss,
) -> Result<(Vec<Pose>, usize), TwinError> {
    let frames = toss.times.len();
    let start = (&toss.measured[0], toss.velocity, toss.angular_velocity);
    let simulator = stretch.simulator(toss, 0..frames, start)?;
    let parameters = simulator.all_parameters(Parameters::of(simulator.scene()));
    let trajectory =
        simulator.run(&parameters).map_err(|source| TwinError::Run { id: toss.id, source })?;
    let center = S::of_scene(&parameters).bodies[stretch.body].center;
    Ok((stretch.poses(&simulator, &trajectory, &center), S::unconverged(&trajectory)))
}

/// Writes tosses as a data folder: `tosses/*.csv`, `metadata.json`, `split.json`, `twin.json` (how it was made).
///
/// * `truth`: parameters to record, `(path, value)`.
///
/// # Errors
/// Where a file cannot be written.
pub fn write(
    tosses: &[Toss],
    model: &Model,
    twin: &TwinFile,
    truth: &[(String, f64)],
    folder: &Path,
) -> Result<(), TwinError> {
    let io = |file: &Path| {
        let file = file.display().to_string();
        move |source| TwinError::Write { file, source }
    };
    let csv_folder = folder.join("tosses");
    std::fs::create_dir_all(&csv_folder).map_err(io(&csv_folder))?;
    let mut records = Vec::new();
    let extra = extra_columns(model);
    for t in tosses {
        let name = format!("tosses/toss_{:03}.csv", t.id);
        recording(model, t, &extra).write_csv(&folder.join(&name))?;
        records.push(record(model, t, &name));
    }
    let mut metadata = metadata(model, twin, &records);
    if !extra.is_empty() {
        let names: Vec<&str> = extra.iter().map(|e| e.0.as_str()).collect();
        metadata["extra_columns"] = serde_json::json!(names);
    }
    let ids: Vec<u32> = tosses.iter().map(|t| t.id).collect();
    let (train, valid) = ids.split_at((2 * ids.len()).div_ceil(3));
    let truth: serde_json::Map<String, serde_json::Value> =
        truth.iter().map(|(k, v)| (k.clone(), serde_json::json!(v))).collect();
    for (name, value) in [
        ("metadata.json", metadata),
        (
            "split.json",
            serde_json::json!({ "rule": "first two thirds for training", "train": train, "valid": valid }),
        ),
        (
            "twin.json",
            serde_json::json!({ "made_by": "osculate twin", "settings": twin, "parameters": truth }),
        ),
    ] {
        let file = folder.join(name);
        let text = format!("{value:#}\n");
        std::fs::write(&file, text).map_err(io(&file))?;
    }
    Ok(())
}

/// The file of a toss.
fn recording(model: &Model, t: &Toss, extra: &[(String, usize, usize)]) -> Recording {
    let column = |(name, c, k): &(String, usize, usize)| {
        let axes = &model.channels[*c].axes;
        let field = |s: &Option<Sample>| s.as_ref().map(|s| s.fields(axes)[*k]);
        (name.clone(), t.series[*c].iter().map(field).collect())
    };
    Recording {
        id: t.id,
        times: t.times.clone(),
        poses: if starts_by_joints(model) { Vec::new() } else { t.measured.clone() },
        velocities: None,
        angular_velocities: None,
        extra: extra.iter().map(column).collect(),
    }
}

/// The entry of a toss in the metadata.
fn record(model: &Model, t: &Toss, file: &str) -> serde_json::Value {
    // The true start: the measured rotation is noisy, so the spin in body axes is that of the measured frame.
    let body_spin = t.measured[0].rotation.transpose() * t.angular_velocity;
    let joints: BTreeMap<&str, [f64; 2]> = t
        .joints
        .iter()
        .map(|j| (model.scene.bodies[j.body].name.as_str(), [j.position, j.rate]))
        .collect();
    let mut record = serde_json::json!({
        "id": t.id, "file": file, "frames": t.times.len(), "group": t.id,
        "rollout_start_frame": 0,
        "rollout_v0_m_s": t.velocity.as_slice(),
        "rollout_w0_rad_s": body_spin.as_slice(),
    });
    if !joints.is_empty() {
        record["rollout_joints"] = serde_json::json!(joints);
    }
    if !t.labels.is_empty() {
        record["labels"] = serde_json::json!(t.labels);
    }
    record
}

fn metadata(model: &Model, twin: &TwinFile, records: &[serde_json::Value]) -> serde_json::Value {
    let body = &model.scene.bodies[model.body];
    let reach =
        body.samples.iter().flat_map(|s| s.points().iter().map(|p| p.amax())).fold(0.0, f64::max);
    let (mass, inertia) =
        body.mass().map_or((0.0, Vector3::zeros()), |m| (m.mass(), m.inertia().diagonal()));
    // A body that touches nothing has the width of the cube of its inertia, I = 2/3 m h².
    let reach = if reach > 0.0 { reach } else { (1.5 * inertia.mean() / mass).sqrt() };
    serde_json::json!({
        "name": "twin: synthetic tosses, no measurement",
        "n_tosses": records.len(),
        "dt_s": 1.0 / twin.rate_hz,
        "rate_hz": twin.rate_hz,
        "cube": {
            "side_m": 2.0 * reach, "half_side_m": reach, "mass_kg": mass,
            "inertia_kg_m2": inertia.as_slice(),
        },
        "gravity_m_s2": model.scene.gravity.norm(),
        "tosses": records,
    })
}
