//! Tractions on a surface, seen along the normal.

use std::collections::BTreeMap;
use std::path::Path;

use crate::axis::{Axis, AxisScale, with_unit};
use crate::data::usable;
use crate::error::PlotError;
use crate::frame::{BOTTOM, Panel, Side, level_ticks};
use crate::palette::{GREY, INK, Rgb, diverging};
use crate::range::Range;
use crate::render;
use crate::scene::{Label, Rect, Scene, Stroke, TICK};

/// Longest side of the panel \[logical px\].
const LONGEST: f64 = 460.0;
const SHORTEST: f64 = 120.0;
/// Length of the largest arrow.
const ARROW: f64 = 42.0;
const BAR_WIDTH: f64 = 18.0;
const BAR_STEPS: usize = 64;
/// Radii of the discs.
const RADII: (f64, f64) = (2.0, 11.0);
/// Smaller discs have no outline.
const OUTLINED: f64 = 4.0;
/// More samples than this share their arrows.
const ARROWS: usize = 300;
const IDLE: Rgb = Rgb(205, 205, 205);

/// Traction at a sample.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct TractionPoint {
    /// Place in the plane of the figure, in the unit of the axes.
    pub at: [f64; 2],
    /// Normal traction, ≥ 0; zero for a sample that carries nothing.
    pub normal: f64,
    /// Tangential traction in the plane of the figure.
    pub tangential: [f64; 2],
}

/// Normal traction as discs of one colour scale, tangential traction as arrows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TractionFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// Level axis.
    pub x: Axis,
    /// Upright axis.
    pub y: Axis,
    /// Unit of the tractions.
    pub unit: String,
    /// The samples.
    pub points: Vec<TractionPoint>,
}

impl TractionFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, no sample that carries anything, or a path that cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        let finite = |p: &&TractionPoint| {
            p.at.iter().chain(&p.tangential).chain([&p.normal]).all(|x| usable(*x))
        };
        let points: Vec<_> = self.points.iter().filter(finite).collect();
        let largest = points.iter().map(|p| p.normal).fold(0.0, f64::max);
        if largest <= 0.0 {
            return Err(PlotError::empty("tractions"));
        }
        let range = |axis: usize| {
            let range = Range::around(points.iter().map(|p| p.at[axis]), AxisScale::Linear);
            range.ok_or_else(|| PlotError::empty("axis of the tractions"))
        };
        let (x, y) = (range(0)?, range(1)?);
        let size = |r: &Range| r.ends().1 - r.ends().0;
        // One scale along both axes.
        let longest = size(&x).max(size(&y));
        let pixels = |r: &Range| (LONGEST * size(r) / longest).max(SHORTEST);
        let side = Side::new(&y, pixels(&y), self.y.title());
        let bar = Range::around([0.0, largest], AxisScale::Linear);
        let bar = bar.ok_or_else(|| PlotError::empty("colour bar"))?.tight();
        let bar_side = Side::new(&bar, pixels(&y), with_unit("normal traction", &self.unit));
        let left = side.margin() + 14.0;
        let right = left + pixels(&x);
        let width = right + 28.0 + BAR_WIDTH + bar_side.margin() + 14.0;
        let mut scene = Scene::new(width.ceil());
        let top = scene.title(&self.title) + 40.0;
        let frame = Rect { left, top, right, bottom: top + pixels(&y) };
        let panel = Panel { frame, x, y };
        let ticks = level_ticks(&x, frame.width());
        panel.grid(&mut scene, &ticks, &side.ticks);
        self.marks(&mut scene, &panel, &points, largest);
        panel.bottom(&mut scene, &ticks, &self.x.title());
        panel.left(&mut scene, &side, side.margin());
        let bar_frame = Rect { left: right + 28.0, right: right + 28.0 + BAR_WIDTH, ..frame };
        colour_bar(&mut scene, Panel { frame: bar_frame, x: bar, y: bar }, &bar_side);
        scene.reserve(frame.bottom + BOTTOM);
        Ok(scene)
    }

    fn marks(&self, scene: &mut Scene, panel: &Panel, points: &[&TractionPoint], largest: f64) {
        let frame = panel.frame;
        let area = frame.width() * frame.height() / points.len() as f64;
        let radius = (0.35 * area.sqrt()).clamp(RADII.0, RADII.1);
        // The loaded samples lie above the others.
        let mut order: Vec<_> = points.to_vec();
        order.sort_by(|a, b| a.normal.total_cmp(&b.normal));
        for p in &order {
            let Some(place) = panel.place((p.at[0], p.at[1])) else { continue };
            if p.normal > 0.0 {
                if radius > OUTLINED {
                    scene.disc(place, radius + 0.8, GREY);
                }
                scene.disc(place, radius, diverging(p.normal / largest));
            } else {
                scene.disc(place, RADII.0, IDLE);
            }
        }
        let arrows = arrows(panel, &order);
        let longest = arrows.iter().map(|(_, t)| t[0].hypot(t[1])).fold(0.0, f64::max);
        if longest <= 0.0 {
            return;
        }
        for (from, tangential) in arrows {
            let [u, v] = tangential.map(|t| t / longest * ARROW);
            arrow(scene, from, (from.0 + u, from.1 - v));
        }
        let middle = frame.centre().0;
        let key = format!("tangential traction of {} {}", four_digits(longest), self.unit);
        let y = frame.top - 16.0;
        arrow(scene, (middle - 150.0, y), (middle - 150.0 + ARROW, y));
        scene.text(Label::new(key, (middle - 98.0, y), TICK).left());
    }
}

/// Where an arrow starts, and the traction it stands for.
type Arrow = ((f64, f64), [f64; 2]);

/// One arrow for each loaded sample; of many samples, one for each square as large as an arrow, with their means.
fn arrows(panel: &Panel, points: &[&TractionPoint]) -> Vec<Arrow> {
    let loaded = points.iter().filter(|p| p.normal > 0.0);
    let placed = loaded.filter_map(|p| Some((panel.place((p.at[0], p.at[1]))?, p.tangential)));
    let placed: Vec<Arrow> = placed.collect();
    if placed.len() <= ARROWS {
        return placed;
    }
    let mut squares: BTreeMap<(i64, i64), (f64, Arrow)> = BTreeMap::new();
    for ((x, y), [u, v]) in placed {
        let square = ((x / ARROW).floor() as i64, (y / ARROW).floor() as i64);
        let (count, (at, sum)) = squares.entry(square).or_default();
        *count += 1.0;
        (at.0, at.1) = (at.0 + x, at.1 + y);
        (sum[0], sum[1]) = (sum[0] + u, sum[1] + v);
    }
    let mean = |(n, (at, sum)): (f64, Arrow)| ((at.0 / n, at.1 / n), sum.map(|t| t / n));
    squares.into_values().map(mean).collect()
}

/// Four significant digits of a positive number.
fn four_digits(x: f64) -> String {
    let decimals = (3 - x.log10().floor() as i32).clamp(0, 9) as usize;
    format!("{x:.decimals$}")
}

/// A line with a head; nothing where it is too short to see.
fn arrow(scene: &mut Scene, from: (f64, f64), to: (f64, f64)) {
    let (u, v) = (to.0 - from.0, to.1 - from.1);
    let length = u.hypot(v);
    if length < 1.0 {
        return;
    }
    let stroke = Stroke::solid(INK, 1.4);
    scene.path(&[from, to], stroke);
    let head = (0.3 * length).min(7.0);
    let (u, v) = (u / length * head, v / length * head);
    let wing = |side: f64| (to.0 - u + 0.5 * side * v, to.1 - v - 0.5 * side * u);
    scene.path(&[wing(1.0), to, wing(-1.0)], stroke);
}

fn colour_bar(scene: &mut Scene, panel: Panel, side: &Side) {
    let frame = panel.frame;
    for step in 0..BAR_STEPS {
        let share = |step: usize| step as f64 / BAR_STEPS as f64;
        let rect = Rect { top: panel.up(share(step + 1)), bottom: panel.up(share(step)), ..frame };
        scene.rect(rect, diverging(0.5 * (share(step) + share(step + 1))));
    }
    scene.outline(frame, Stroke::solid(GREY, 1.0));
    panel.right(scene, side);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64, normal: f64) -> TractionPoint {
        TractionPoint { at: [x, y], normal, tangential: [0.3 * normal, 0.0] }
    }

    fn figure(points: Vec<TractionPoint>) -> TractionFigure {
        let (x, y) = (Axis::linear("x", "mm"), Axis::linear("y", "mm"));
        TractionFigure { title: "patch".into(), x, y, unit: "Pa".into(), points }
    }

    #[test]
    fn surface_that_carries_nothing_is_refused() {
        let none = figure(vec![point(0.0, 0.0, 0.0), point(1.0, 1.0, 0.0)]);
        assert!(matches!(none.scene(), Err(PlotError::Empty { .. })));
        assert!(matches!(figure(Vec::new()).scene(), Err(PlotError::Empty { .. })));
    }

    #[test]
    fn samples_that_are_no_number_are_left_out() {
        let with =
            figure(vec![point(0.0, 0.0, 1.0), point(f64::NAN, 0.0, 1.0), point(2.0, 1.0, 3.0)]);
        assert!(with.scene().is_ok());
        let only = figure(vec![point(f64::NAN, 0.0, 1.0)]);
        assert!(matches!(only.scene(), Err(PlotError::Empty { .. })));
    }

    #[test]
    fn many_samples_share_arrows_that_keep_the_mean() {
        let range = Range::around([0.0, 1.0], AxisScale::Linear).unwrap();
        let frame = Rect { left: 0.0, top: 0.0, right: LONGEST, bottom: LONGEST };
        let panel = Panel { frame, x: range, y: range };
        let points: Vec<_> = (0..900)
            .map(|i| point(f64::from(i % 30) / 30.0, f64::from(i / 30) / 30.0, 2.0))
            .collect();
        let few = arrows(&panel, &points.iter().take(ARROWS).collect::<Vec<_>>());
        assert_eq!(few.len(), ARROWS);
        let many = arrows(&panel, &points.iter().collect::<Vec<_>>());
        assert!((50..200).contains(&many.len()), "{}", many.len());
        assert!(many.iter().all(|(_, t)| (t[0] - 0.6).abs() < 1e-12 && t[1].abs() < 1e-12));
    }

    #[test]
    fn numbers_have_four_significant_digits() {
        assert_eq!(four_digits(104.668_3), "104.7");
        assert_eq!(four_digits(0.749_31), "0.7493");
        assert_eq!(four_digits(123_456.0), "123456");
    }

    #[test]
    fn lone_sample_is_drawn() {
        assert!(figure(vec![point(0.5, 0.5, 2.0)]).scene().is_ok());
    }
}
