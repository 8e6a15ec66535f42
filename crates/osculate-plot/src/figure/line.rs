//! Any named series against one axis.

use std::path::Path;

use super::Single;
use crate::axis::{Axis, AxisScale};
use crate::data::{points, same_length};
use crate::error::PlotError;
use crate::frame::Panel;
use crate::legend::{Entry, Mark};
use crate::palette::{self, GREY};
use crate::range::Range;
use crate::render;
use crate::scene::{Scene, Stroke};

const DOT: f64 = 2.8;
/// Distance of a reference slope below its series, as part of the height of the axis.
const SLOPE_OFFSET: f64 = 0.08;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SeriesStyle {
    /// A line.
    #[default]
    Line,
    /// A dot per point.
    Dots,
    /// Both.
    LineDots,
}

/// Named points.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Series {
    /// Name in the legend; an empty one gives no entry.
    pub name: String,
    /// Abscissas, in the unit of the x axis.
    pub x: Vec<f64>,
    /// Ordinates, as many as abscissas, in the unit of the y axis.
    pub y: Vec<f64>,
    /// Line, dots or both.
    pub style: SeriesStyle,
    /// Place in the palette (colour and dashes); `None` takes that of its place in the figure.
    pub palette: Option<usize>,
}

impl Series {
    /// Series drawn as a line.
    pub fn line(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { name: name.into(), x, y, style: SeriesStyle::Line, palette: None }
    }

    /// Series drawn as dots.
    pub fn dots(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { name: name.into(), x, y, style: SeriesStyle::Dots, palette: None }
    }

    /// Series drawn as a line with dots.
    pub fn line_dots(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { name: name.into(), x, y, style: SeriesStyle::LineDots, palette: None }
    }

    /// With this place in the palette: two series of one case get one colour. Seven colours, then again with dashes.
    #[must_use]
    pub fn coloured(self, palette: usize) -> Self {
        Self { palette: Some(palette), ..self }
    }
}

/// Dashed line `y ∝ x^order` between two logarithmic axes, drawn just below the series whose own
/// slope is nearest.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceSlope {
    /// Slope between the logarithms.
    pub order: f64,
    /// Name in the legend.
    pub label: String,
}

/// Named series against one x axis.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LineFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// Axis of the abscissas.
    pub x: Axis,
    /// Axis of the ordinates.
    pub y: Axis,
    /// What is drawn, in this order.
    pub series: Vec<Series>,
    /// Reference lines; these need two logarithmic axes.
    pub slopes: Vec<ReferenceSlope>,
}

impl LineFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, series of unequal lengths, no drawable point, a reference slope on a linear
    /// axis, or a path that cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        for series in &self.series {
            same_length(&format!("y of series `{}`", series.name), series.x.len(), series.y.len())?;
        }
        if let Some(slope) = self.slopes.first()
            && (self.x.scale, self.y.scale) != (AxisScale::Log, AxisScale::Log)
        {
            return Err(PlotError::SlopeNeedsLogAxes { order: slope.order });
        }
        let (x, y) = self.ranges()?;
        let data: Vec<_> = self.series.iter().map(|s| points(&s.x, &s.y)).collect();
        let slopes: Vec<_> = self
            .slopes
            .iter()
            .map(|slope| reference(slope.order, &data, (y.ends().1 - y.ends().0) * SLOPE_OFFSET))
            .collect();
        let lowest = slopes.iter().flatten().map(|p| p.1);
        let bounds = self.drawable(|p| p.1).into_iter().chain(lowest);
        let y = Range::around(bounds, self.y.scale).unwrap_or(y);
        let single = Single {
            title: &self.title,
            x: (self.x.title(), x),
            y: (self.y.title(), y),
            entries: self.entries(),
            whole: false,
        };
        Ok(single.scene(|panel, scene| {
            for (index, line) in slopes.iter().enumerate() {
                panel.line(scene, line, slope_stroke(index));
            }
            for (index, (series, points)) in self.series.iter().zip(&data).enumerate() {
                draw(panel, scene, points, (series.style, series.palette.unwrap_or(index)));
            }
        }))
    }

    /// Coordinates of the points that both axes can show.
    fn drawable(&self, pick: impl Fn((f64, f64)) -> f64) -> Vec<f64> {
        let shows = |value: f64, scale| Range::around([value], scale).is_some();
        let all = self.series.iter().flat_map(|s| points(&s.x, &s.y));
        all.filter(|p| shows(p.0, self.x.scale) && shows(p.1, self.y.scale)).map(pick).collect()
    }

    fn ranges(&self) -> Result<(Range, Range), PlotError> {
        let x = Range::around(self.drawable(|p| p.0), self.x.scale);
        let y = Range::around(self.drawable(|p| p.1), self.y.scale);
        x.zip(y).ok_or_else(|| PlotError::empty(format!("line figure `{}`", self.title)))
    }

    fn entries(&self) -> Vec<Entry> {
        let series = self.series.iter().enumerate().filter(|(_, s)| !s.name.is_empty());
        let series =
            series.map(|(index, s)| Entry::new(mark(s.style, s.palette.unwrap_or(index)), &s.name));
        let slopes = self.slopes.iter().enumerate();
        let slopes = slopes.map(|(i, s)| Entry::new(Mark::Line(slope_stroke(i)), &s.label));
        series.chain(slopes).collect()
    }
}

fn stroke(index: usize) -> Stroke {
    let (colour, dash) = palette::series(index);
    Stroke { colour, width: 1.8, dash }
}

fn slope_stroke(index: usize) -> Stroke {
    Stroke { colour: GREY, width: 1.4, dash: palette::reference_dash(index) }
}

fn mark(style: SeriesStyle, index: usize) -> Mark {
    match style {
        SeriesStyle::Line => Mark::Line(stroke(index)),
        SeriesStyle::Dots => Mark::Dots(stroke(index).colour),
        SeriesStyle::LineDots => Mark::LineDots(stroke(index)),
    }
}

fn draw(
    panel: &Panel,
    scene: &mut Scene,
    points: &[(f64, f64)],
    (style, index): (SeriesStyle, usize),
) {
    let stroke = stroke(index);
    if style != SeriesStyle::Dots {
        panel.line(scene, points, stroke);
    }
    if style != SeriesStyle::Line {
        panel.dots(scene, points, DOT, stroke.colour);
    }
}

/// Ends of a line of this order, `offset` \[decades\] below the series of the nearest slope; empty if
/// no series has a slope.
fn reference(order: f64, data: &[Vec<(f64, f64)>], offset: f64) -> Vec<(f64, f64)> {
    let logs = data.iter().map(|points| {
        let positive = points.iter().filter(|p| p.0 > 0.0 && p.1 > 0.0 && (p.0 * p.1).is_finite());
        positive.map(|p| (p.0.log10(), p.1.log10())).collect::<Vec<_>>()
    });
    let nearest = logs
        .filter_map(|logs| slope(&logs).map(|s| ((s - order).abs(), logs)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, logs)) = nearest else { return Vec::new() };
    let level = logs.iter().map(|(x, y)| y - order * x).fold(f64::INFINITY, f64::min) - offset;
    let first = logs.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let last = logs.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    [first, last].map(|x| (10f64.powf(x), 10f64.powf(level + order * x))).to_vec()
}

/// Slope of the least-squares line; `None` without two different abscissas.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    let product: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    (spread > 1e-18).then(|| product / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_line_has_its_order_and_lies_below_the_nearest_series() {
        let x = [0.1_f64, 0.01, 0.001];
        let first: Vec<_> = x.iter().map(|h| (*h, 3.0 * h)).collect();
        let second: Vec<_> = x.iter().map(|h| (*h, 5.0 * h * h)).collect();
        let line = reference(2.0, &[first, second], 0.2);
        let order = (line[1].1 / line[0].1).log10() / (line[1].0 / line[0].0).log10();
        assert!((order - 2.0).abs() < 1e-9, "order {order}");
        let ratio = line[0].1 / (5.0 * line[0].0.powi(2));
        assert!((ratio.log10() + 0.2).abs() < 1e-9, "ratio {ratio}");
    }

    #[test]
    fn dots_of_a_case_have_the_colour_of_its_line() {
        let (line, dots) = (Series::line("a", vec![], vec![]), Series::dots("b", vec![], vec![]));
        let figure = |dots| LineFigure { series: vec![line.clone(), dots], ..Default::default() };
        let colours = |figure: LineFigure| -> Vec<_> {
            let of = |mark| match mark {
                Mark::Line(stroke) | Mark::LineDots(stroke) => stroke.colour,
                Mark::Dots(colour) => colour,
                _ => GREY,
            };
            figure.entries().into_iter().map(|e| of(e.mark)).collect()
        };
        let own = colours(figure(dots.clone()));
        assert_ne!(own[0], own[1]);
        let shared = colours(figure(dots.coloured(0)));
        assert_eq!(shared[0], shared[1]);
    }

    #[test]
    fn single_point_has_no_slope() {
        assert!(reference(1.0, &[vec![(1.0, 1.0)]], 0.1).is_empty());
    }
}
