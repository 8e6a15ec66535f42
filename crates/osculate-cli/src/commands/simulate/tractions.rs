//! Figures of the tractions on the surfaces that touched.

use super::Run;
use crate::CliError;
use nalgebra::Vector3;
use osculate_plot::{Axis, TractionFigure, TractionPoint};
use std::collections::BTreeMap;
use std::path::Path;

/// Samples this share of the body's size from the contact plane are drawn though they carry nothing.
const DEPTH: f64 = 0.1;

/// One figure for each ordered pair that touched, at the step of its largest normal force, or at the step asked for
/// (counted from 1). Returns what was written.
pub(super) fn write(
    run: &Run<'_>,
    folder: &Path,
    at: Option<usize>,
) -> Result<Vec<String>, CliError> {
    let steps = match at {
        Some(step) if (1..=run.steps).contains(&step) => step - 1..step,
        Some(step) => {
            let found = step.to_string();
            return Err(CliError::Value {
                field: "--at",
                found,
                allowed: "a step of the scene, from 1",
            });
        }
        None => 0..run.steps,
    };
    let mut largest: BTreeMap<(usize, usize), (f64, usize)> = BTreeMap::new();
    for step in steps {
        let mut force: BTreeMap<(usize, usize), Vector3<f64>> = BTreeMap::new();
        for c in &run.contacts[step] {
            *force.entry((c.colliding, c.collider)).or_default() += c.elastic;
        }
        for (pair, force) in force {
            let most = largest.entry(pair).or_default();
            if force.norm() > most.0 {
                *most = (force.norm(), step);
            }
        }
    }
    let mut written = Vec::new();
    for ((a, b), (_, step)) in largest.into_iter().filter(|(_, (force, _))| *force > 0.0) {
        let scene = run.scene.simulator.scene();
        let name = format!("traction_{}_on_{}", scene.bodies[a].name, scene.bodies[b].name);
        let figure = figure(run, (a, b), step)?;
        for extension in ["png", "svg"] {
            figure.save(&folder.join(format!("{name}.{extension}")))?;
        }
        written.push(name);
    }
    Ok(written)
}

/// The plane of the figure is perpendicular to the sum of the elastic forces; its level axis is nearest to the world's x.
fn figure(run: &Run<'_>, (a, b): (usize, usize), step: usize) -> Result<TractionFigure, CliError> {
    let all = run.contacts[step].iter();
    let touching: Vec<_> = all.filter(|c| c.colliding == a && c.collider == b).collect();
    let force: Vector3<f64> = touching.iter().map(|c| c.elastic).sum();
    let normal = force / force.norm();
    let along = |axis: Vector3<f64>| axis - normal * normal.dot(&axis);
    let level = if normal.x.abs() < 0.9 { along(Vector3::x()) } else { along(Vector3::y()) };
    let level = level / level.norm();
    let upright = normal.cross(&level);
    let pose = run.trajectory.path.state(step + 1)[a].pose();
    let origin = pose.position;
    // Lengths in mm, tractions in kPa.
    let place = |x: &Vector3<f64>| [level, upright].map(|e| e.dot(&(x - origin)) * 1e3);
    let mut points: BTreeMap<usize, TractionPoint> = BTreeMap::new();
    let numbers = &run.scene.parameters.bodies[a];
    let world: Vec<_> =
        numbers.points.iter().map(|x| pose.transform_point(&(x - numbers.center))).collect();
    let depth =
        touching.iter().map(|c| normal.dot(&c.position)).sum::<f64>() / touching.len() as f64;
    let size = world.iter().map(|x| (x - origin).norm()).fold(0.0, f64::max);
    for (i, x) in world.iter().enumerate() {
        if (normal.dot(x) - depth).abs() <= DEPTH * size {
            points.insert(i, TractionPoint { at: place(x), ..TractionPoint::default() });
        }
    }
    for c in touching {
        let traction = c.force / c.weight * 1e-3;
        let (normal, tangential) =
            (normal.dot(&traction).max(0.0), [level, upright].map(|e| e.dot(&traction)));
        points.insert(c.sample, TractionPoint { at: place(&c.position), normal, tangential });
    }
    let bodies = &run.scene.simulator.scene().bodies;
    let title = format!(
        "{} on {} at t = {:.4} s: {:.1} N along ({:.2}, {:.2}, {:.2})",
        bodies[a].name,
        bodies[b].name,
        run.times[step + 1],
        force.norm(),
        normal.x,
        normal.y,
        normal.z
    );
    Ok(TractionFigure {
        title,
        x: Axis::linear(format!("from the centre of mass, {}", name(&level)), "mm"),
        y: Axis::linear(name(&upright), "mm"),
        unit: "kPa".into(),
        points: points.into_values().collect(),
    })
}

/// `along x`, or the direction in full.
fn name(direction: &Vector3<f64>) -> String {
    for (axis, word) in [(Vector3::x(), "x"), (Vector3::y(), "y"), (Vector3::z(), "z")] {
        if (direction - axis).norm() < 1e-6 {
            return format!("along {word}");
        }
    }
    format!("along ({:.2}, {:.2}, {:.2})", direction.x, direction.y, direction.z)
}
