//! One quantity for several cases and several variants of each.

use std::path::Path;

use super::RIGHT;
use crate::axis::Axis;
use crate::data::same_length;
use crate::error::PlotError;
use crate::frame::{BOTTOM, Panel, level_ticks};
use crate::legend::{self, Entry, Mark};
use crate::palette::{self, GREY, GRID, INK};
use crate::range::Range;
use crate::render;
use crate::scene::{Label, Rect, Scene, Stroke, TICK};
use crate::text;

const WIDTH: f64 = 900.0;
/// Height of a case, and of each of its variants.
const CASE: f64 = 14.0;
const VARIANT: f64 = 11.0;
const LONGEST_NAME: f64 = 300.0;
const DOT: f64 = 4.0;

/// Values as dots: one line a case, one colour a variant, with upright reference marks.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ComparisonFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// Axis of the values.
    pub axis: Axis,
    /// Names of the variants.
    pub variants: Vec<String>,
    /// Names of the cases, from the top.
    pub cases: Vec<String>,
    /// Values, shape `[cases, variants]`; one that cannot be drawn is left out.
    pub values: Vec<Vec<f64>>,
    /// Reference values with their names.
    pub marks: Vec<(f64, String)>,
}

impl ComparisonFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, values whose shape does not fit the names, no drawable value, or a path that cannot
    /// be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        same_length("values", self.cases.len(), self.values.len())?;
        for (row, name) in self.values.iter().zip(&self.cases) {
            same_length(&format!("values of `{name}`"), self.variants.len(), row.len())?;
        }
        let values = || self.values.iter().flatten().copied();
        if Range::around(values(), self.axis.scale).is_none() {
            return Err(PlotError::empty(format!("comparison `{}`", self.title)));
        }
        let shown = values().chain(self.marks.iter().map(|m| m.0));
        let x = Range::around(shown, self.axis.scale);
        let x = x.ok_or_else(|| PlotError::empty("comparison"))?;
        let names: Vec<_> = self.cases.iter().map(|n| text::fit(n, TICK, LONGEST_NAME)).collect();
        let left = names.iter().map(|n| text::width(n, TICK)).fold(40.0, f64::max) + 22.0;
        let row = CASE + VARIANT * self.variants.len() as f64;

        let mut scene = Scene::new(WIDTH);
        let top = scene.title(&self.title);
        let top = legend::rows(&mut scene, &self.entries(), (40.0, WIDTH - RIGHT), top) + 12.0;
        let bottom = top + row * self.cases.len() as f64;
        let panel = Panel { frame: Rect { left, top, right: WIDTH - RIGHT, bottom }, x, y: x };
        let ticks = level_ticks(&x, panel.frame.width());
        for (fraction, _) in &ticks.major {
            let at = panel.across(*fraction);
            scene.path(&[(at, top), (at, bottom)], Stroke::solid(GRID, 1.0));
        }
        for (index, (value, _)) in self.marks.iter().enumerate() {
            panel.upright(&mut scene, *value, mark(index));
        }
        for (index, (name, values)) in names.iter().zip(&self.values).enumerate() {
            self.case(&mut scene, &panel, (top + row * index as f64, row), (name, values));
        }
        panel.bottom(&mut scene, &ticks, &self.axis.title());
        scene.reserve(bottom + BOTTOM);
        Ok(scene)
    }

    fn case(
        &self,
        scene: &mut Scene,
        panel: &Panel,
        (top, height): (f64, f64),
        (name, values): (&str, &[f64]),
    ) {
        let frame = panel.frame;
        if top > frame.top {
            scene.path(&[(frame.left, top), (frame.right, top)], Stroke::solid(GRID, 1.0));
        }
        let label = Label::new(name, (frame.left - 10.0, top + height / 2.0), TICK);
        scene.text(label.right().coloured(INK));
        for (index, value) in values.iter().enumerate() {
            let Some(fraction) = panel.x.fraction(*value) else { continue };
            let y = top + CASE / 2.0 + VARIANT * (index as f64 + 0.5);
            scene.disc((panel.across(fraction), y), DOT, palette::series(index).0);
        }
    }

    fn entries(&self) -> Vec<Entry> {
        let variants = self.variants.iter().enumerate();
        let variants = variants.map(|(i, n)| Entry::new(Mark::Dots(palette::series(i).0), n));
        let marks = self.marks.iter().enumerate();
        let marks = marks.map(|(i, (_, name))| Entry::new(Mark::Line(mark(i)), name));
        variants.chain(marks).collect()
    }
}

/// Upright reference marks differ by their dashes.
fn mark(index: usize) -> Stroke {
    Stroke { colour: GREY, width: 1.4, dash: palette::reference_dash(index) }
}
