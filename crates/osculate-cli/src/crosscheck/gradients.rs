//! Family f8: gradients of the final pose.

use super::case::{Case, read};
use super::compare::Worst;
use super::convert::Prepared;
use super::report::{CaseReport, Verdict};
use super::unconverged_note;
use crate::CliError;
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::{Layout, Parameters, Simulator, Trajectory, sensitivity::tangent};
use osculate_math::{Jet, lift_matrix, so3};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What `worst` is.
pub(super) const MEASURE: &str = "gradient deviation / (stated error + 1e-12/h)";
/// Largest deviation by what is allowed.
pub(super) const TOLERANCE: f64 = 1.0;
/// What the reference's outputs repeat to (m, rad): its difference quotient of step `h` is off by this over `h`,
/// which a difference of two extrapolations does not always show.
const OUTPUT_ROUNDING: f64 = 1e-12;
/// Largest deviation of the outputs themselves (m, rad).
const VALUE_TOLERANCE: f64 = 1e-9;
const OUTPUTS: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];
/// Directions of one pass.
const WIDTH: usize = 8;

/// What is recorded.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    pub(super) case: Case,
    value: [f64; 6],
    gradient: BTreeMap<String, Recorded>,
}

#[derive(Debug, Deserialize)]
struct Recorded {
    d: [f64; 6],
    error: [f64; 6],
    h: f64,
    reliable: bool,
}

pub(super) fn load(path: &Path) -> Result<Record, CliError> {
    read(path)
}

/// Which bodies a parameter's name refers to.
#[derive(Clone, Copy, Debug)]
struct Roles {
    dynamic: usize,
    collider: usize,
}

pub(super) fn judge(record: &Record, prepared: &Prepared) -> Result<CaseReport, CliError> {
    let simulator = &prepared.simulator;
    let trajectory = simulator.run(&prepared.parameters)?;
    let scene = simulator.scene();
    let roles = Roles {
        dynamic: scene.dynamic_bodies().next().unwrap_or(0),
        collider: scene.pairs().first().map_or(0, |p| p.1),
    };
    let names: Vec<&String> = record.gradient.keys().collect();
    let mut found: Vec<(&String, [f64; 6])> = Vec::new();
    let mut value = [0.0; 6];
    for chunk in names.chunks(WIDTH) {
        let outputs = differentiate(prepared, &trajectory, roles, chunk)?;
        value = outputs.map(|x| x.re);
        let by = |k: usize| outputs.map(|x| x.eps[k]);
        found.extend(chunk.iter().enumerate().map(|(k, name)| (*name, by(k))));
    }
    let mut worst = Worst::default();
    let mut value_deviation = Worst::default();
    for i in 0..6 {
        value_deviation.see((value[i] - record.value[i]).abs(), || OUTPUTS[i].into());
    }
    let mut entries = Vec::new();
    let mut notes = unconverged_note(&trajectory);
    for (name, ours) in found {
        let entry = compare(name, &ours, &record.gradient[name]);
        if entry.reliable {
            worst.see(entry.worst.value, || entry.worst.place.clone());
        } else {
            notes.push(format!(
                "unreliable, not judged: {} differs by {:.1e} of the gradient's size",
                entry.relative.place, entry.relative.value
            ));
        }
        entries.push(entry.json(&ours));
    }
    let verdict = if value_deviation.exceeds(VALUE_TOLERANCE) {
        let Worst { value, place } = &value_deviation;
        Verdict::Disagrees(format!("{place} itself differs by {value:.1e}"))
    } else if worst.exceeds(TOLERANCE) {
        Verdict::Disagrees(format!("{} is off by {:.1} × the allowed", worst.place, worst.value))
    } else {
        Verdict::Passed
    };
    Ok(CaseReport {
        name: record.case.name.clone(),
        verdict,
        worst: Some(worst.value),
        place: worst.place,
        details: json!({ "value": value_deviation.value, "gradient": entries }),
        notes,
    })
}

struct Entry<'a> {
    name: &'a str,
    recorded: &'a Recorded,
    reliable: bool,
    worst: Worst,
    relative: Worst,
}

impl Entry<'_> {
    fn json(&self, ours: &[f64; 6]) -> Value {
        json!({
            "parameter": self.name,
            "judged": self.reliable,
            "ours": ours,
            "recorded": self.recorded.d,
            "stated_error": self.recorded.error,
            "deviation_by_allowed": self.worst.value,
            "deviation_relative": self.relative.value,
        })
    }
}

fn compare<'a>(name: &'a str, ours: &[f64; 6], recorded: &'a Recorded) -> Entry<'a> {
    let scale = recorded.d.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let (mut worst, mut relative) = (Worst::default(), Worst::default());
    for i in 0..6 {
        let deviation = (ours[i] - recorded.d[i]).abs();
        let allowed = recorded.error[i] + OUTPUT_ROUNDING / recorded.h;
        let place = || format!("d({})/d({name})", OUTPUTS[i]);
        worst.see(deviation / allowed, place);
        relative.see(deviation / scale.max(f64::MIN_POSITIVE), place);
    }
    Entry { name, recorded, reliable: recorded.reliable, worst, relative }
}

/// Outputs with their derivatives by the named parameters.
fn differentiate(
    prepared: &Prepared,
    trajectory: &Trajectory,
    roles: Roles,
    names: &[&String],
) -> Result<[Jet<WIDTH>; 6], CliError> {
    let simulator = &prepared.simulator;
    let layout = Layout::new(simulator.scene(), &prepared.parameters);
    let mut seeded = prepared.parameters.lift::<Jet<WIDTH>>();
    for (direction, name) in names.iter().enumerate() {
        seed(simulator, &layout, &mut seeded, (roles, name), direction)?;
    }
    let path = tangent::path(simulator, trajectory, &seeded)?;
    let start = lift_matrix(&prepared.parameters.bodies[roles.dynamic].rotation);
    Ok(outputs(&path.state(simulator.steps())[roles.dynamic], &start))
}

fn outputs(
    end: &osculate_dynamics::BodyState<Jet<WIDTH>>,
    start: &Matrix3<Jet<WIDTH>>,
) -> [Jet<WIDTH>; 6] {
    let turn: Vector3<Jet<WIDTH>> = so3::log(&(end.rotation * start.transpose()));
    let c = end.center;
    [c.x, c.y, c.z, turn.x, turn.y, turn.z]
}

fn seed(
    simulator: &Simulator,
    layout: &Layout,
    seeded: &mut Parameters<Jet<WIDTH>>,
    which: (Roles, &str),
    direction: usize,
) -> Result<(), CliError> {
    let (roles, name) = which;
    let body = &simulator.scene().bodies[roles.dynamic].name;
    let collider = &simulator.scene().bodies[roles.collider].name;
    let x = Jet::variable(0.0, direction);
    if name == "mass" {
        // The reference scales the inertia too.
        let b = &mut seeded.bodies[roles.dynamic];
        let factor = x / b.mass.re + 1.0;
        b.mass *= factor;
        b.inertia = b.inertia.map(|i| i * factor);
        return Ok(());
    }
    let axis = |prefix: &str| {
        let k = name.strip_prefix(prefix)?.parse::<usize>().ok()?;
        ["x", "y", "z"].get(k).copied()
    };
    let path = if let Some(k) = axis("pos") {
        format!("{body}.position_{k}")
    } else if let Some(k) = axis("rot") {
        format!("{body}.rotation_{k}")
    } else if let Some(k) = axis("gravity") {
        format!("gravity_{k}")
    } else if let Some(k) = axis("v") {
        format!("{body}.velocity_{k}")
    } else if let Some(k) = axis("w") {
        format!("{body}.angular_velocity_{k}")
    } else {
        match name {
            "k" | "mu" => format!("{body}.{name}"),
            "cn" => format!("{body}.c_n"),
            "ct" => format!("{body}.c_t"),
            "vf" => format!("{body}.v_f"),
            "eps" => format!("{collider}.epsilon"),
            _ => format!("{collider}.{name}"),
        }
    };
    let Some(i) = layout.index(&path) else {
        let allowed = "pos*, rot*, v*, w*, gravity*, mass, k, mu, cn, ct, vf, eps, delta";
        return Err(CliError::Value { field: "gradient", found: name.into(), allowed });
    };
    layout.add(seeded, i, x);
    Ok(())
}
