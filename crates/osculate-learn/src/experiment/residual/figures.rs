//! Errors along tosses, forces, loss.

use super::{Forces, Judged};
use osculate_dynamics::file::BuiltScene;
use osculate_plot::{Axis, LineFigure, Series};

/// Times of frames \[s\], the first after `skip` of them.
fn times(scene: &BuiltScene, count: usize, skip: usize) -> Vec<f64> {
    let frame: f64 = scene.simulator.durations().iter().sum();
    (skip..skip + count).map(|k| k as f64 * frame).collect()
}

/// Mean distance from the true position, held-out tosses.
pub(super) fn error(arms: &[Judged], scene: &BuiltScene) -> LineFigure {
    let series = arms.iter().map(|a| {
        let along = &a.valid.along_m;
        let millimetres = along.iter().map(|x| 1e3 * x).collect();
        Series::line(a.name, times(scene, along.len(), 1), millimetres)
    });
    LineFigure {
        title: "Error of the position on held-out tosses".into(),
        x: Axis::linear("time", "s"),
        y: Axis::log("mean distance", "mm"),
        series: series.collect(),
        slopes: Vec::new(),
    }
}

/// True and learned force along the first held-out toss.
pub(super) fn force(forces: &Forces, scene: &BuiltScene) -> LineFigure {
    let mut series = Vec::new();
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        for (name, of, style) in [("true", &forces.truth, 0), ("network", &forces.learned, 7)] {
            let y: Vec<f64> = of.iter().filter_map(|f| f.first().map(|t| t[k])).collect();
            let x = times(scene, y.len(), 0);
            series.push(Series::line(format!("{name}, {axis}"), x, y).coloured(k + style));
        }
    }
    LineFigure {
        title: "Force that the scene does not have, along a held-out toss".into(),
        x: Axis::linear("time", "s"),
        y: Axis::linear("force", "N"),
        series,
        slopes: Vec::new(),
    }
}

/// Loss of both arms.
pub(super) fn loss(arms: &[Judged]) -> LineFigure {
    let trained = arms.iter().filter(|a| !a.loss.is_empty());
    let series = trained.map(|a| {
        let (x, y) = a.loss.iter().map(|p| (p.iteration as f64, p.loss)).unzip();
        Series::line(a.name, x, y)
    });
    LineFigure {
        title: "Loss on the tosses trained on".into(),
        x: Axis::linear("iteration", ""),
        y: Axis::log("loss", ""),
        series: series.collect(),
        slopes: Vec::new(),
    }
}
