//! Loss along each parameter.

use std::path::Path;

use super::RIGHT;
use crate::axis::Axis;
use crate::data::{points, same_length, usable};
use crate::error::PlotError;
use crate::format::{short, with_interval};
use crate::frame::{BOTTOM, HEAD_RISE, Panel, Side, level_ticks};
use crate::legend::{self, Entry, Mark};
use crate::palette::{BLUE, GREY, VERMILION, tint};
use crate::range::Range;
use crate::render;
use crate::scene::{LABEL, Label, Rect, Scene, Stroke, TICK};
use crate::text;

/// Height of the line of text above each panel, and the gap between rows.
const HEAD: f64 = 24.0;
const GAP: f64 = 16.0;
const LOSS: Stroke = Stroke { colour: BLUE, width: 1.8, dash: &[] };
const ESTIMATE: Stroke = Stroke { colour: VERMILION, width: 2.0, dash: &[] };
const THRESHOLD: Stroke = Stroke { colour: GREY, width: 1.4, dash: &[7.0, 4.0] };

/// A loss this many times as far from the least as the part to show is far.
const FAR: f64 = 6.0;
/// Where some are, the axis reaches this many times as far.
const ROOM: f64 = 2.0;

/// What the data say about a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The 95 % interval is so narrow that the estimate stands for it; labelled `point`.
    Point {
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// A 95 % interval with two ends; labelled `interval`.
    Interval {
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// The parameter is at least this large; labelled `bound only`.
    LowerBound(f64),
    /// The parameter is at most this large; labelled `bound only`.
    UpperBound(f64),
    /// Every value is possible; labelled `undetermined`, with no region.
    Undetermined,
}

impl Verdict {
    fn label(self) -> &'static str {
        match self {
            Self::Point { .. } => "point",
            Self::Interval { .. } => "interval",
            Self::LowerBound(_) | Self::UpperBound(_) => "bound only",
            Self::Undetermined => "undetermined",
        }
    }

    fn region(self) -> Option<(f64, f64)> {
        match self {
            Self::Point { lower, upper } | Self::Interval { lower, upper } => Some((lower, upper)),
            Self::LowerBound(lower) => Some((lower, f64::INFINITY)),
            Self::UpperBound(upper) => Some((f64::NEG_INFINITY, upper)),
            Self::Undetermined => None,
        }
    }
}

/// Loss along one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterProfile {
    /// Name, unit and scale of the parameter.
    pub axis: Axis,
    /// Values of the parameter, increasing, in its unit.
    pub values: Vec<f64>,
    /// Loss at each value, minimised over the other parameters.
    pub losses: Vec<f64>,
    /// Value at the minimum.
    pub estimate: f64,
    /// What the data say about it.
    pub verdict: Verdict,
    /// Loss up to which the panel shows the profile at least. Where others lie so far above that this part would look
    /// flat, they are cut off and counted in a note; `None` shows all.
    pub top: Option<f64>,
}

/// Loss along each parameter: one panel per parameter with the estimate as a line and the 95 %
/// interval or bound shaded.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ProfileFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// Axis of the losses.
    pub loss: Axis,
    /// Loss at which the 95 % intervals end, if it is to be shown.
    pub threshold: Option<f64>,
    /// One panel each, in this order.
    pub parameters: Vec<ParameterProfile>,
}

impl ProfileFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, no parameter, arrays of unequal lengths, a parameter without a drawable
    /// point, or a path that cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        let count = self.parameters.len();
        let (columns, size) = grid(count);
        let panels: Result<Vec<_>, _> = self.parameters.iter().map(|p| self.ranges(p)).collect();
        let panels = panels?;
        if panels.is_empty() {
            return Err(PlotError::empty("parameters"));
        }
        let height = size.1 - HEAD - BOTTOM;
        let side = |index: usize| {
            let first = index.is_multiple_of(columns);
            let title = if first { self.loss.title() } else { String::new() };
            Side::new(&panels[index].1, height, title)
        };
        let sides: Vec<_> = (0..count).map(side).collect();

        let mut scene = Scene::new(size.0 * columns as f64);
        let top = scene.title(&self.title);
        let right = scene.width - RIGHT;
        let top = legend::rows(&mut scene, &self.entries(), (RIGHT, right), top) + 12.0;
        for (index, parameter) in self.parameters.iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let in_column = sides.iter().skip(column).step_by(columns);
            let margin = in_column.map(Side::margin).fold(0.0, f64::max);
            let top = top + row as f64 * (size.1 + GAP) + HEAD;
            let start = column as f64 * size.0;
            let (left, right) = (start + margin + 4.0, start + size.0 - RIGHT);
            let frame = Rect { left, top, right, bottom: top + height };
            let panel = Panel { frame, x: panels[index].0, y: panels[index].1 };
            self.draw(&mut scene, &panel, parameter, (&sides[index], margin));
            scene.reserve(frame.bottom + BOTTOM);
        }
        Ok(scene)
    }

    fn ranges(&self, parameter: &ParameterProfile) -> Result<(Range, Range), PlotError> {
        let name = &parameter.axis.label;
        let (values, losses) = (&parameter.values, &parameter.losses);
        same_length(&format!("losses of `{name}`"), values.len(), losses.len())?;
        let (x_scale, y_scale) = (parameter.axis.scale, self.loss.scale);
        let drawn = |p: &&(f64, f64)| {
            Range::around([p.0], x_scale).is_some() && Range::around([p.1], y_scale).is_some()
        };
        let points = points(values, losses);
        let drawn: Vec<_> = points.iter().filter(drawn).collect();
        if drawn.is_empty() {
            return Err(PlotError::empty(format!("profile of `{name}`")));
        }
        let x = drawn.iter().map(|p| p.0).chain([parameter.estimate]);
        let cut = parameter.cut().unwrap_or(f64::INFINITY);
        let y = drawn.iter().map(|p| p.1).filter(|y| *y <= cut);
        let y = y.chain(self.threshold).chain(parameter.cut());
        let ranges = Range::around(x, x_scale).zip(Range::around(y, y_scale));
        ranges.ok_or_else(|| PlotError::empty(format!("profile of `{name}`")))
    }

    fn draw(
        &self,
        scene: &mut Scene,
        panel: &Panel,
        parameter: &ParameterProfile,
        (side, margin): (&Side, f64),
    ) {
        let frame = panel.frame;
        let clamped = |(lower, upper)| panel.x.clamped(lower).zip(panel.x.clamped(upper));
        if let Some((from, to)) = parameter.verdict.region().and_then(clamped) {
            let (left, right) = (panel.across(from), panel.across(to));
            scene.rect(Rect { left, right, ..frame }, tint(VERMILION, 0.16));
        }
        let ticks = level_ticks(&panel.x, frame.width());
        panel.grid(scene, &ticks, &side.ticks);
        if let Some(threshold) = self.threshold {
            panel.level(scene, threshold, THRESHOLD);
        }
        panel.upright(scene, parameter.estimate, ESTIMATE);
        let points = points(&parameter.values, &parameter.losses);
        panel.line(scene, &points, LOSS);
        panel.dots(scene, &points, 2.2, LOSS.colour);
        panel.bottom(scene, &ticks, &parameter.axis.title());
        panel.left(scene, side, margin);
        if let Some(note) = parameter.note() {
            let place = (frame.left + 6.0, frame.top + 10.0);
            scene.text(Label::new(note, place, TICK).left());
        }
        let y = frame.top - HEAD_RISE;
        let verdict = parameter.verdict.label();
        let label = Label::new(verdict, (frame.right, y), LABEL).right();
        scene.text(label.coloured(VERMILION));
        let room = frame.width() - text::width(verdict, LABEL) - 12.0;
        let summary = text::fit(&parameter.summary(), TICK, room);
        scene.text(Label::new(summary, (frame.left, y), TICK).left());
    }

    fn entries(&self) -> Vec<Entry> {
        let mut entries = vec![
            Entry::new(Mark::LineDots(LOSS), "profile of the loss"),
            Entry::new(Mark::Line(ESTIMATE), "estimate"),
            Entry::new(Mark::Patch(tint(VERMILION, 0.16)), "95 % interval or bound"),
        ];
        if self.threshold.is_some_and(usable) {
            entries.push(Entry::new(Mark::Line(THRESHOLD), "95 % level"));
        }
        entries
    }
}

impl ParameterProfile {
    /// The drawable losses.
    fn usable(&self) -> impl Iterator<Item = f64> + Clone {
        self.losses.iter().copied().filter(|y| usable(*y))
    }

    /// Where the axis of the losses ends, if far values are cut off.
    fn cut(&self) -> Option<f64> {
        let top = self.top.filter(|y| usable(*y))?;
        let least = self.usable().reduce(f64::min)?;
        let height = top - least;
        let far = |y: f64| y - least > FAR * height;
        (height > 0.0 && self.usable().any(far)).then_some(least + ROOM * height)
    }

    /// What is cut off.
    fn note(&self) -> Option<String> {
        let cut = self.cut()?;
        let above = self.usable().filter(|y| *y > cut);
        let largest = above.clone().fold(f64::NEG_INFINITY, f64::max);
        Some(format!("{} above, up to {}", above.count(), short(largest)))
    }

    /// Estimate with its interval, or the bound.
    fn summary(&self) -> String {
        let unit = &self.axis.unit;
        let text = match self.verdict {
            Verdict::Undetermined => return "no value excluded".to_owned(),
            Verdict::Point { .. } => short(self.estimate),
            Verdict::Interval { lower, upper } => with_interval(self.estimate, lower, upper),
            Verdict::LowerBound(bound) => format!("≥ {}", short(bound)),
            Verdict::UpperBound(bound) => format!("≤ {}", short(bound)),
        };
        format!("{text} {unit}").trim_end().to_owned()
    }
}

/// Columns, and width and height of a cell, for this many panels.
fn grid(count: usize) -> (usize, (f64, f64)) {
    match count {
        0 | 1 => (1, (720.0, 460.0)),
        2 | 4 => (2, (480.0, 330.0)),
        _ => (3, (390.0, 290.0)),
    }
}
