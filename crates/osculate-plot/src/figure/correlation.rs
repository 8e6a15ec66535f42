//! Correlation of the estimates.

use std::path::Path;

use crate::axis::AxisScale;
use crate::data::same_length;
use crate::error::PlotError;
use crate::format::fixed;
use crate::frame::{Panel, Side};
use crate::palette::{GREY, INK, Rgb, WHITE, diverging};
use crate::range::Range;
use crate::render;
use crate::scene::{Label, Rect, Scene, Stroke, TICK};
use crate::text;

/// Names longer than this are shortened \[logical px\].
const LONGEST_NAME: f64 = 200.0;
const BAR_WIDTH: f64 = 20.0;
/// Room on the right of the matrix for the colour bar with its axis.
const BAR_ROOM: f64 = 124.0;
const NARROWEST: f64 = 420.0;
const BAR_STEPS: usize = 100;
const MISSING: Rgb = Rgb(200, 200, 200);

/// Correlation matrix as a heat map from −1 to 1, with the values printed in the cells.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CorrelationFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// Names of the parameters.
    pub names: Vec<String>,
    /// Rows of the matrix, shape `[names, names]`; a NaN is shown as missing.
    pub matrix: Vec<Vec<f64>>,
}

impl CorrelationFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, a matrix whose shape does not fit the names, no finite entry, or a path
    /// that cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn check(&self) -> Result<(), PlotError> {
        let count = self.names.len();
        same_length("matrix", count, self.matrix.len())?;
        for (row, name) in self.matrix.iter().zip(&self.names) {
            same_length(&format!("row `{name}` of the matrix"), count, row.len())?;
        }
        if self.matrix.iter().flatten().any(|value| value.is_finite()) {
            return Ok(());
        }
        Err(PlotError::empty("matrix"))
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        self.check()?;
        let count = self.names.len() as f64;
        let cell = (560.0 / count).floor().clamp(34.0, 96.0);
        let names: Vec<_> = self.names.iter().map(|n| text::fit(n, TICK, LONGEST_NAME)).collect();
        let widest = names.iter().map(|n| text::width(n, TICK)).fold(0.0, f64::max);
        let side = count * cell;
        let used = (widest + 26.0 + side + BAR_ROOM).ceil();
        let width = used.max(NARROWEST);
        let left = ((width - used) / 2.0 + widest + 26.0).ceil();
        let mut scene = Scene::new(width.ceil());
        let top = scene.title(&self.title) + 10.0;
        let frame = Rect { left, top, right: left + side, bottom: top + side };

        self.cells(&mut scene, (left, top), cell);
        scene.outline(frame, Stroke::solid(GREY, 1.0));
        let upright = widest > cell - 8.0;
        for (index, name) in names.iter().enumerate() {
            let middle = (index as f64 + 0.5) * cell;
            scene.text(Label::new(name, (left - 8.0, top + middle), TICK).right());
            let below = frame.bottom + if upright { 8.0 } else { 14.0 };
            let label = Label::new(name, (left + middle, below), TICK);
            scene.text(if upright { label.right().upwards() } else { label });
        }
        let names_below = if upright { widest + 20.0 } else { 34.0 };
        bar(&mut scene, frame)?;
        scene.reserve(frame.bottom + names_below);
        Ok(scene)
    }

    fn cells(&self, scene: &mut Scene, (left, top): (f64, f64), cell: f64) {
        let size = (cell * 0.3).min(14.0);
        for (i, row) in self.matrix.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let (x, y) = (left + j as f64 * cell, top + i as f64 * cell);
                let rect = Rect { left: x, top: y, right: x + cell, bottom: y + cell };
                let colour = if value.is_finite() { diverging(*value) } else { MISSING };
                scene.rect(rect, colour);
                let text = if value.is_finite() { fixed(*value, 2) } else { "–".to_owned() };
                let ink = if value.abs() > 0.65 { WHITE } else { INK };
                scene.text(Label::new(text, rect.centre(), size).coloured(ink));
            }
        }
        let (right, bottom) = (cell * self.names.len() as f64, cell * self.names.len() as f64);
        for i in 1..self.names.len() {
            let (x, y) = (left + i as f64 * cell, top + i as f64 * cell);
            scene.path(&[(x, top), (x, top + bottom)], Stroke::solid(WHITE, 1.0));
            scene.path(&[(left, y), (left + right, y)], Stroke::solid(WHITE, 1.0));
        }
    }
}

/// Colour bar on the right of the matrix.
fn bar(scene: &mut Scene, matrix: Rect) -> Result<(), PlotError> {
    let left = matrix.right + 24.0;
    let frame = Rect { left, right: left + BAR_WIDTH, ..matrix };
    let range = Range::around([-1.0, 1.0], AxisScale::Linear);
    let range = range.ok_or_else(|| PlotError::empty("colour bar"))?.tight();
    let panel = Panel { frame, x: range, y: range };
    for step in 0..BAR_STEPS {
        let share = |step: usize| step as f64 / BAR_STEPS as f64;
        let rect = Rect { top: panel.up(share(step + 1)), bottom: panel.up(share(step)), ..frame };
        let middle = (share(step) + share(step + 1)) / 2.0;
        scene.rect(rect, diverging(2.0 * middle - 1.0));
    }
    scene.outline(frame, Stroke::solid(GREY, 1.0));
    panel.right(scene, &Side::new(&range, frame.height(), "correlation".to_owned()));
    Ok(())
}
