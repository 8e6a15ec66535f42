//! Figures of an optimisation: cost against work, paths of all starts, controls.

use crate::{CliError, files};
use nalgebra::Vector3;
use osculate_fit::contact_model::ContactModel;
use osculate_fit::optimize::{
    ConstraintKind, ObjectiveKind, OptimizeFile, Report, StartResult, Task,
};
use osculate_plot::{Axis, LineFigure, Series};
use std::f64::consts::TAU;
use std::path::Path;

/// Colours: the best start, the others, what is wanted, what is to be avoided.
const BEST: usize = 0;
const OTHERS: usize = 6;
const WANTED: usize = 2;
const AVOIDED: usize = 1;

/// Writes every figure as PNG and SVG.
pub(super) fn write<M: ContactModel>(
    folder: &Path,
    (task, file, report): (&Task<M>, &OptimizeFile, &Report),
    rolled: &[Option<M::Trajectory>],
) -> Result<(), CliError> {
    files::create_folder(folder)?;
    let mut all = vec![("convergence", convergence(report))];
    all.extend(path(task, file, report, rolled).map(|figure| ("path", figure)));
    all.extend(controls(task, report).map(|figure| ("controls", figure)));
    for (name, figure) in all {
        figure.save(&folder.join(format!("{name}.png")))?;
        figure.save(&folder.join(format!("{name}.svg")))?;
    }
    Ok(())
}

/// Cost against processor time: roll-outs of methods with derivatives cost more than those without.
fn convergence(report: &Report) -> LineFigure {
    let mut series = Vec::new();
    let baselines = report.baselines.iter().map(|b| (b.method, &b.starts));
    let methods = std::iter::once(("exact derivatives", &report.starts)).chain(baselines);
    for (colour, (name, starts)) in methods.enumerate() {
        for (i, start) in starts.iter().enumerate() {
            let name = if i == 0 { name } else { "" };
            series.push(curve(name, start).coloured(colour));
        }
    }
    LineFigure {
        title: format!("Cost of {} starts", report.starts.len()),
        x: Axis::log("processor time", "s"),
        y: Axis::log("cost", ""),
        series,
        slopes: Vec::new(),
    }
}

fn curve(name: &str, start: &StartResult) -> Series {
    let x = start.history.iter().map(|s| s.spent.cpu_s).collect();
    // A cost of rounding size would stretch the axis over ten decades that mean nothing.
    let y = start.history.iter().map(|s| s.cost.max(1e-8)).collect();
    Series::line(name, x, y)
}

/// Positions of the actors that are wanted somewhere, in the plane of their largest motion.
fn path<M: ContactModel>(
    task: &Task<M>,
    file: &OptimizeFile,
    report: &Report,
    rolled: &[Option<M::Trajectory>],
) -> Option<LineFigure> {
    let scene = task.simulator.scene();
    let wanted: Vec<(usize, Vector3<f64>)> = file
        .objectives
        .iter()
        .filter(|o| o.kind == ObjectiveKind::Position)
        .filter_map(|o| {
            let body = scene.bodies.iter().position(|b| Some(&b.name) == o.actor.as_ref())?;
            Some((body, Vector3::from_column_slice(o.target.as_deref()?)))
        })
        .collect();
    let body = wanted.first().map(|w| w.0).or_else(|| scene.dynamic_bodies().next())?;
    let center = M::of_scene(&task.base).bodies[body].center;
    let positions = |t: &M::Trajectory| -> Vec<Vector3<f64>> {
        let steps = 0..=task.simulator.steps();
        steps.map(|k| M::state(t, k, body).kinematics(&center).position).collect()
    };
    let best = positions(rolled.get(report.best_start)?.as_ref()?);
    let plane = widest(&best);
    let project = |points: &[Vector3<f64>]| -> (Vec<f64>, Vec<f64>) {
        points.iter().map(|p| (p[plane[0]], p[plane[1]])).unzip()
    };
    let mut series = Vec::new();
    let others = rolled.iter().enumerate().filter(|(i, _)| *i != report.best_start);
    for (k, trajectory) in others.filter_map(|(_, t)| t.as_ref()).enumerate() {
        let (x, y) = project(&positions(trajectory));
        series.push(Series::line(if k == 0 { "other starts" } else { "" }, x, y).coloured(OTHERS));
    }
    let (x, y) = project(&best);
    series.push(Series::line("best start", x, y).coloured(BEST));
    let (x, y) = project(&wanted.iter().map(|w| w.1).collect::<Vec<_>>());
    series.push(Series::dots("wanted", x, y).coloured(WANTED));
    series.extend(avoided(file, plane));
    let axis = |i: usize| Axis::equal(["x", "y", "z"][plane[i]], "m");
    Some(LineFigure {
        title: format!("Path of {}", scene.bodies[body].name),
        x: axis(0),
        y: axis(1),
        series,
        slopes: Vec::new(),
    })
}

/// Circles of `keep-out` constraints in this plane.
fn avoided(file: &OptimizeFile, plane: [usize; 2]) -> Vec<Series> {
    let circles = file.constraints.iter().filter(|c| c.kind == ConstraintKind::KeepOut);
    let circle = |(center, radius): ([f64; 3], f64)| {
        let points = (0..=120).map(|i| {
            let angle = TAU * f64::from(i) / 120.0;
            (center[plane[0]] + radius * angle.cos(), center[plane[1]] + radius * angle.sin())
        });
        points.unzip()
    };
    circles
        .filter_map(|c| Some((c.center?, c.radius?)))
        .map(circle)
        .enumerate()
        .map(|(i, (x, y))| {
            Series::line(if i == 0 { "keep out" } else { "" }, x, y).coloured(AVOIDED)
        })
        .collect()
}

/// The two axes of the largest extent, in their order.
fn widest(points: &[Vector3<f64>]) -> [usize; 2] {
    let extent = |axis: usize| {
        let values = || points.iter().map(|p| p[axis]);
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| extent(*b).total_cmp(&extent(*a)));
    let mut plane = [order[0], order[1]];
    plane.sort_unstable();
    plane
}

/// Controls of the best start, each over the largest of its unit.
fn controls<M: ContactModel>(task: &Task<M>, report: &Report) -> Option<LineFigure> {
    let first = report.controls.first()?;
    let one_unit = report.controls.iter().all(|c| c.unit == first.unit);
    let times = task.simulator.times();
    let series = report.controls.iter().map(|c| {
        let largest = c.values.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        let over = if one_unit { 1.0 } else { largest.max(f64::MIN_POSITIVE) };
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (k, value) in c.values.iter().enumerate() {
            // Constant in a step: two points of it.
            x.extend([times[c.first_step + k], times[c.first_step + k + 1]]);
            y.extend([value / over; 2]);
        }
        let name = if one_unit {
            c.name.clone()
        } else {
            format!("{} / {} {}", c.name, osculate_fit::report::number(largest), c.unit)
        };
        Series::line(name, x, y)
    });
    Some(LineFigure {
        title: "Controls of the best start".into(),
        x: Axis::linear("time", "s"),
        y: if one_unit {
            Axis::linear("control", first.unit.clone())
        } else {
            Axis::linear("control over its largest", "")
        },
        series: series.collect(),
        slopes: Vec::new(),
    })
}
