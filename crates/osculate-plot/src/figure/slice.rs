//! Planes through a field, with its zero level.

use std::path::Path;

use crate::axis::{Axis, AxisScale, with_unit};
use crate::data::{same_length, usable};
use crate::error::PlotError;
use crate::frame::{BOTTOM, Panel, Side, level_ticks};
use crate::palette::{GREY, INK, Rgb, diverging};
use crate::range::Range;
use crate::render;
use crate::scene::{LABEL, Label, Rect, Scene, Stroke};

/// Longest side of a panel \[logical px\].
const LONGEST: f64 = 260.0;
const SHORTEST: f64 = 40.0;
const GAP: f64 = 22.0;
const BAR_WIDTH: f64 = 18.0;
/// Shades of the map; neighbours of one shade are drawn as one rectangle.
const SHADES: f64 = 32.0;
const MISSING: Rgb = Rgb(200, 200, 200);

/// Values on a plane, at the points of a lattice.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// What stands above the panel.
    pub name: String,
    /// Level axis.
    pub x: Axis,
    /// Upright axis.
    pub y: Axis,
    /// First and last coordinate of the lattice along both axes.
    pub ends: [[f64; 2]; 2],
    /// Points along both axes, ≥ 2.
    pub points: [usize; 2],
    /// Values, shape `[points along y, points along x]`, row by row from the lowest y; a NaN is shown as missing.
    pub values: Vec<f64>,
}

/// Planes through a field as maps with one colour bar: negative blue, positive red, the zero level drawn.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SliceFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// The planes, from left to right.
    pub slices: Vec<Slice>,
    /// What the values are.
    pub label: String,
    /// Their unit.
    pub unit: String,
}

impl Slice {
    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.points[0] + i]
    }

    /// Coordinate of a lattice index, which may be between two points.
    fn coordinate(&self, axis: usize, index: f64) -> f64 {
        let [from, to] = self.ends[axis];
        from + (to - from) * index / (self.points[axis] - 1) as f64
    }

    /// Extent of a panel, half a step beyond the outermost points.
    fn extent(&self, axis: usize) -> [f64; 2] {
        [-0.5, self.points[axis] as f64 - 0.5].map(|i| self.coordinate(axis, i))
    }

    fn check(&self) -> Result<(), PlotError> {
        same_length(
            &format!("slice `{}`", self.name),
            self.points[0] * self.points[1],
            self.values.len(),
        )?;
        let ends = self.ends.iter().all(|[a, b]| usable(*a) && usable(*b) && a < b);
        if !ends || self.points.iter().any(|&n| n < 2) {
            return Err(PlotError::empty(format!("slice `{}`", self.name)));
        }
        Ok(())
    }

    /// The zero level as segments, from two triangles in each square of the lattice.
    fn zero_level(&self) -> Vec<[(f64, f64); 2]> {
        let mut segments = Vec::new();
        for j in 0..self.points[1] - 1 {
            for i in 0..self.points[0] - 1 {
                for triangle in [[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]] {
                    let corners = triangle.map(|(a, b)| (i + a, j + b));
                    let cuts: Vec<_> =
                        (0..3).filter_map(|k| self.cut(corners[k], corners[(k + 1) % 3])).collect();
                    if let [a, b] = cuts[..] {
                        segments.push([a, b]);
                    }
                }
            }
        }
        segments
    }

    /// Where the value changes sign between two lattice points.
    fn cut(&self, a: (usize, usize), b: (usize, usize)) -> Option<(f64, f64)> {
        let (u, v) = (self.at(a.0, a.1), self.at(b.0, b.1));
        if u.is_nan() || v.is_nan() || (u < 0.0) == (v < 0.0) {
            return None;
        }
        let s = u / (u - v);
        let along = |from: usize, to: usize| from as f64 + (to as f64 - from as f64) * s;
        Some((self.coordinate(0, along(a.0, b.0)), self.coordinate(1, along(a.1, b.1))))
    }
}

impl SliceFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, lists that do not fit, no finite value, or a path that cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        self.slices.iter().try_for_each(Slice::check)?;
        let values = self.slices.iter().flat_map(|s| &s.values).copied().filter(|x| usable(*x));
        let largest = values.fold(0.0_f64, |m, x| m.max(x.abs()));
        if largest <= 0.0 {
            return Err(PlotError::empty("slices"));
        }
        let size = |s: &Slice, axis: usize| s.extent(axis)[1] - s.extent(axis)[0];
        let longest =
            self.slices.iter().flat_map(|s| [size(s, 0), size(s, 1)]).fold(0.0_f64, f64::max);
        // One scale for all panels, so that lengths can be compared.
        let pixels = |s: &Slice, axis: usize| (LONGEST * size(s, axis) / longest).max(SHORTEST);
        let mut panels = Vec::new();
        let mut left = 14.0;
        for s in &self.slices {
            let range = |axis: usize| {
                let range = Range::around(s.extent(axis), AxisScale::Linear);
                range.map(Range::tight).ok_or_else(|| PlotError::empty("axis of a slice"))
            };
            let (x, y) = (range(0)?, range(1)?);
            let side = Side::new(&y, pixels(s, 1), s.y.title());
            left += side.margin();
            let frame = Rect { left, top: 0.0, right: left + pixels(s, 0), bottom: pixels(s, 1) };
            left = frame.right + GAP;
            panels.push((Panel { frame, x, y }, side));
        }
        let bar = Range::around([-largest, largest], AxisScale::Linear);
        let bar = bar.ok_or_else(|| PlotError::empty("colour bar"))?.tight();
        let bar_side = Side::new(&bar, LONGEST, with_unit(&self.label, &self.unit));
        let mut scene = Scene::new((left + BAR_WIDTH + bar_side.margin() + 14.0).ceil());
        let top = scene.title(&self.title) + 34.0;
        for (s, (panel, side)) in self.slices.iter().zip(&mut panels) {
            panel.frame.top += top;
            panel.frame.bottom += top;
            draw(&mut scene, s, panel, side, largest);
        }
        let frame = Rect { left, top, right: left + BAR_WIDTH, bottom: top + LONGEST };
        shade_bar(&mut scene, Panel { frame, x: bar, y: bar }, &bar_side);
        let lowest = panels.iter().map(|p| p.0.frame.bottom).fold(frame.bottom, f64::max);
        scene.reserve(lowest + BOTTOM);
        Ok(scene)
    }
}

fn shade(value: f64, largest: f64) -> i32 {
    (value / largest * SHADES).round() as i32
}

fn draw(scene: &mut Scene, slice: &Slice, panel: &Panel, side: &Side, largest: f64) {
    let frame = panel.frame;
    let [columns, rows] = slice.points;
    let step = (frame.width() / columns as f64, frame.height() / rows as f64);
    for j in 0..rows {
        let row: Vec<_> = (0..columns)
            .map(|i| Some(slice.at(i, j)).filter(|x| usable(*x)).map(|x| shade(x, largest)))
            .collect();
        let mut first = 0;
        for run in row.chunk_by(PartialEq::eq) {
            let rect = Rect {
                left: frame.left + first as f64 * step.0,
                right: frame.left + (first + run.len()) as f64 * step.0,
                top: frame.bottom - (j + 1) as f64 * step.1,
                bottom: frame.bottom - j as f64 * step.1,
            };
            scene.rect(rect, run[0].map_or(MISSING, |s| diverging(f64::from(s) / SHADES)));
            first += run.len();
        }
    }
    for [a, b] in slice.zero_level() {
        panel.line(scene, &[a, b], Stroke::solid(INK, 1.5));
    }
    let above = (frame.centre().0, frame.top - 15.0);
    scene.text(Label::new(slice.name.clone(), above, LABEL));
    panel.bottom(scene, &level_ticks(&panel.x, frame.width()), &slice.x.title());
    panel.left(scene, side, side.margin());
}

fn shade_bar(scene: &mut Scene, panel: Panel, side: &Side) {
    let frame = panel.frame;
    let steps = 2 * SHADES as usize;
    for step in 0..steps {
        let share = |step: usize| step as f64 / steps as f64;
        let rect = Rect { top: panel.up(share(step + 1)), bottom: panel.up(share(step)), ..frame };
        scene.rect(rect, diverging(share(step) + share(step + 1) - 1.0));
    }
    scene.outline(frame, Stroke::solid(GREY, 1.0));
    panel.right(scene, side);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disc(points: usize) -> Slice {
        let at = |k: usize| -1.0 + 2.0 * k as f64 / (points - 1) as f64;
        let values =
            (0..points * points).map(|n| at(n % points).hypot(at(n / points)) - 0.6).collect();
        Slice {
            name: "disc".into(),
            x: Axis::linear("x", "m"),
            y: Axis::linear("y", "m"),
            ends: [[-1.0, 1.0]; 2],
            points: [points; 2],
            values,
        }
    }

    #[test]
    fn zero_level_of_a_disc_is_its_circle() {
        let segments = disc(61).zero_level();
        let length: f64 = segments.iter().map(|[a, b]| (a.0 - b.0).hypot(a.1 - b.1)).sum();
        assert!((length - std::f64::consts::TAU * 0.6).abs() < 0.01, "{length}");
        for (x, y) in segments.iter().flatten() {
            assert!((x.hypot(*y) - 0.6).abs() < 1e-3);
        }
    }

    #[test]
    fn slices_that_do_not_fit_are_refused() {
        let with = |slice: Slice| SliceFigure { slices: vec![slice], ..SliceFigure::default() };
        let mut short = disc(5);
        short.values.pop();
        assert!(matches!(with(short).scene(), Err(PlotError::LengthMismatch { expected: 25, .. })));
        let nan = Slice { values: vec![f64::NAN; 25], ..disc(5) };
        assert!(matches!(with(nan).scene(), Err(PlotError::Empty { .. })));
        let flat = Slice { ends: [[0.0, 0.0], [0.0, 1.0]], ..disc(5) };
        assert!(matches!(with(flat).scene(), Err(PlotError::Empty { .. })));
        assert!(with(disc(5)).scene().is_ok());
    }
}
