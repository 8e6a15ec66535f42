//! Measured against fitted motion of one toss.

use std::path::Path;

use super::RIGHT;
use crate::axis::{AxisScale, with_unit};
use crate::data::{same_length, usable};
use crate::error::PlotError;
use crate::frame::{BOTTOM, Panel, Side, level_ticks};
use crate::legend::{self, Entry, Mark};
use crate::palette::{BLUE, GREEN, INK, Rgb, VERMILION, tint};
use crate::range::Range;
use crate::render;
use crate::scene::{Rect, Scene, Stroke};
use crate::ticks::Ticks;

const WIDTH: f64 = 900.0;
/// Heights of a panel of one coordinate and of the panel of errors, and the gap between panels.
const COORDINATE: f64 = 185.0;
const ERRORS: f64 = 210.0;
const GAP: f64 = 22.0;

const MEASURED: Rgb = INK;
const FITTED: Rgb = VERMILION;
const POSITION: Stroke = Stroke { colour: BLUE, width: 1.8, dash: &[] };
const ROTATION: Stroke = Stroke { colour: GREEN, width: 1.8, dash: &[7.0, 4.0] };

/// Measured (dots) and fitted (lines) position of one toss in three panels, with the errors of
/// position and rotation below, all against time.
///
/// All arrays have the length of `times`. Frames that were not measured are NaN.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TrajectoryFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// Times \[s\].
    pub times: Vec<f64>,
    /// Measured positions x, y, z \[m\].
    pub measured: Vec<[f64; 3]>,
    /// Fitted positions x, y, z \[m\].
    pub fitted: Vec<[f64; 3]>,
    /// Position errors, in `position_unit`.
    pub position_errors: Vec<f64>,
    /// Unit of the position errors, such as `% of width` or `mm`.
    pub position_unit: String,
    /// Rotation errors \[deg\].
    pub rotation_errors: Vec<f64>,
}

impl TrajectoryFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, arrays of unequal lengths, a panel without a usable value, or a path that
    /// cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn check(&self) -> Result<(), PlotError> {
        let frames = self.times.len();
        same_length("measured", frames, self.measured.len())?;
        same_length("fitted", frames, self.fitted.len())?;
        same_length("position_errors", frames, self.position_errors.len())?;
        same_length("rotation_errors", frames, self.rotation_errors.len())
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        self.check()?;
        let time = Range::around(self.times.iter().copied(), AxisScale::Linear)
            .ok_or_else(|| PlotError::empty("times"))?;
        let ranges = [self.coordinate(0)?, self.coordinate(1)?, self.coordinate(2)?];
        let names = ["x [m]", "y [m]", "z [m]"];
        let mut sides = Vec::new();
        for (range, name) in ranges.iter().zip(names) {
            sides.push(Side::new(range, COORDINATE, name.to_owned()));
        }
        let errors = [
            errors("position_errors", &self.position_errors)?,
            errors("rotation_errors", &self.rotation_errors)?,
        ];
        let position = with_unit("position error", &self.position_unit);
        let position = Side::new(&errors[0], ERRORS, position).coloured(POSITION.colour);
        let rotation = Side::new(&errors[1], ERRORS, "rotation error [deg]".to_owned());
        let rotation = rotation.coloured(ROTATION.colour);
        let left = sides.iter().map(Side::margin).fold(position.margin(), f64::max);
        let right = WIDTH - rotation.margin().max(RIGHT);

        let mut scene = Scene::new(WIDTH);
        let top = scene.title(&self.title);
        let mut top = legend::rows(&mut scene, &entries(), (left, right), top) + 20.0;
        let ticks = level_ticks(&time, right - left);
        for (axis, side) in sides.iter().enumerate() {
            let frame = Rect { left, top, right, bottom: top + COORDINATE };
            let panel = Panel { frame, x: time, y: ranges[axis] };
            self.motion(&mut scene, &panel, axis, (&ticks, side));
            panel.left(&mut scene, side, left);
            top += COORDINATE + GAP;
        }
        let frame = Rect { left, top: top + 4.0, right, bottom: top + 4.0 + ERRORS };
        let panel = Panel { frame, x: time, y: errors[0] };
        panel.grid(&mut scene, &ticks, &position.ticks);
        panel.line(&mut scene, &self.against_time(|i| self.position_errors[i]), POSITION);
        let turned = Panel { y: errors[1], ..panel };
        turned.line(&mut scene, &self.against_time(|i| self.rotation_errors[i]), ROTATION);
        panel.bottom(&mut scene, &ticks, "time [s]");
        panel.left(&mut scene, &position, left);
        turned.right(&mut scene, &rotation);
        scene.reserve(frame.bottom + BOTTOM);
        Ok(scene)
    }

    fn motion(&self, scene: &mut Scene, panel: &Panel, axis: usize, (x, y): (&Ticks, &Side)) {
        panel.grid(scene, x, &y.ticks);
        let measured = self.against_time(|i| self.measured[i][axis]);
        panel.dots(scene, &measured, 2.4, tint(MEASURED, 0.75));
        let fitted = self.against_time(|i| self.fitted[i][axis]);
        panel.line(scene, &fitted, Stroke::solid(FITTED, 1.6));
        panel.bottom_ticks(scene, x);
    }

    fn against_time(&self, value: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
        self.times.iter().enumerate().map(|(i, t)| (*t, value(i))).collect()
    }

    /// Range of one coordinate over both motions.
    fn coordinate(&self, axis: usize) -> Result<Range, PlotError> {
        let both = self.measured.iter().chain(&self.fitted).map(|p| p[axis]);
        Range::around(both, AxisScale::Linear).ok_or_else(|| PlotError::empty("positions"))
    }
}

/// Range of errors, which starts at zero.
fn errors(what: &str, values: &[f64]) -> Result<Range, PlotError> {
    let range = Range::around(values.iter().copied(), AxisScale::Linear);
    let range = range.ok_or_else(|| PlotError::empty(what))?;
    let negative = values.iter().any(|v| usable(*v) && *v < 0.0);
    Ok(if negative { range } else { range.starting_at_zero() })
}

fn entries() -> [Entry; 4] {
    [
        Entry::new(Mark::Dots(tint(MEASURED, 0.75)), "measured"),
        Entry::new(Mark::Line(Stroke::solid(FITTED, 1.6)), "fitted"),
        Entry::new(Mark::Line(POSITION), "position error"),
        Entry::new(Mark::Line(ROTATION), "rotation error"),
    ]
}
