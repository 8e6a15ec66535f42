//! Estimates against truth, and the loss.

use super::data::Drawn;
use crate::experiment::train::Point;
use osculate_plot::{Axis, LineFigure, Series};

/// Estimates of one parameter by each method against its true value.
pub(super) fn against(
    path: &str,
    k: usize,
    judged: &[Drawn],
    methods: &[(&str, &[Vec<f64>])],
) -> LineFigure {
    let truth: Vec<f64> = judged.iter().map(|d| d.truth[k]).collect();
    let ends = [
        truth.iter().copied().fold(f64::INFINITY, f64::min),
        truth.iter().copied().fold(0.0, f64::max),
    ];
    let mut series = vec![Series::line("exact", ends.to_vec(), ends.to_vec()).coloured(6)];
    for (colour, (name, estimates)) in methods.iter().enumerate() {
        let y = estimates.iter().map(|e| e[k]).collect();
        series.push(Series::dots(*name, truth.clone(), y).coloured(colour));
    }
    LineFigure {
        title: format!("{path} of held-out tosses, each estimated alone"),
        x: Axis::log("true value", ""),
        y: Axis::log("estimate", ""),
        series,
        slopes: Vec::new(),
    }
}

/// Loss against iteration: it may be negative.
pub(super) fn loss(curve: &[Point]) -> LineFigure {
    let (x, y) = curve.iter().map(|p| (p.iteration as f64, p.loss)).unzip();
    LineFigure {
        title: "Negative logarithm of the density".into(),
        x: Axis::linear("iteration", ""),
        y: Axis::linear("mean of a batch", ""),
        series: vec![Series::line("training", x, y)],
        slopes: Vec::new(),
    }
}
