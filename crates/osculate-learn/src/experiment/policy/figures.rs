//! Ways of the box, and the loss.

use super::config::Config;
use super::unroll::Course;
use crate::experiment::train::Point;
use osculate_plot::{Axis, LineFigure, Series};

const TRAINED: usize = 0;
const OTHERS: usize = 6;
const PUSHER: usize = 1;
const GOAL: usize = 2;

/// Ways of box and pusher in the plane.
pub(super) fn path(config: &Config, trained: &[Course], others: &[Course]) -> LineFigure {
    let line = |name: &str, first: bool, way: &[[f64; 2]], colour| {
        let (x, y) = way.iter().map(|p| (p[0], p[1])).unzip();
        Series::line(if first { name } else { "" }, x, y).coloured(colour)
    };
    let mut series = Vec::new();
    for (i, c) in others.iter().enumerate() {
        series.push(line("box, held-out starts", i == 0, &c.boxes, OTHERS));
    }
    for (i, c) in trained.iter().enumerate() {
        series.push(line("pusher", i == 0, &c.pushers, PUSHER));
    }
    for (i, c) in trained.iter().enumerate() {
        series.push(line("box", i == 0, &c.boxes, TRAINED));
    }
    series.push(Series::dots("goal", vec![config.goal[0]], vec![config.goal[1]]).coloured(GOAL));
    LineFigure {
        title: "A box pushed to its goal by a network".into(),
        x: Axis::equal("x", "m"),
        y: Axis::equal("y", "m"),
        series,
        slopes: Vec::new(),
    }
}

/// Loss against iteration.
pub(super) fn loss(curve: &[Point]) -> LineFigure {
    let (x, y) = curve.iter().map(|p| (p.iteration as f64, p.loss)).unzip();
    LineFigure {
        title: "Loss of the policy".into(),
        x: Axis::linear("iteration", ""),
        y: Axis::log("loss", ""),
        series: vec![Series::line("mean of the starts", x, y)],
        slopes: Vec::new(),
    }
}
