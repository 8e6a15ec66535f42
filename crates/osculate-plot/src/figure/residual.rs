//! Distribution of the errors over all tosses.

use std::path::Path;

use super::RIGHT;
use crate::axis::{AxisScale, with_unit};
use crate::data::{mean, median, sorted};
use crate::error::PlotError;
use crate::format::short;
use crate::frame::{BOTTOM, Panel, Side, level_ticks};
use crate::legend::{self, Entry, Mark};
use crate::palette::{BLUE, GREEN, INK, Rgb, VERMILION, tint};
use crate::range::Range;
use crate::render;
use crate::scene::{Rect, Scene, Stroke};
use crate::ticks::Ticks;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 235.0;
const GAP: f64 = 18.0;
const MEDIAN: Stroke = Stroke { colour: VERMILION, width: 2.0, dash: &[] };
const MEAN: Stroke = Stroke { colour: INK, width: 2.0, dash: &[7.0, 4.0] };

/// Mean errors of position and rotation of each toss: histograms, and below them the share of
/// tosses with at most this error; median and mean are marked.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ResidualFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// Mean position error of each toss, in `position_unit`.
    pub position_errors: Vec<f64>,
    /// Unit of the position errors, such as `% of width` or `mm`.
    pub position_unit: String,
    /// Mean rotation error of each toss \[deg\].
    pub rotation_errors: Vec<f64>,
}

impl ResidualFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, no finite error of one kind, or a path that cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        let position = with_unit("mean position error", &self.position_unit);
        let columns = [
            Column::new("position_errors", &self.position_errors, &self.position_unit, BLUE)?,
            Column::new("rotation_errors", &self.rotation_errors, "deg", GREEN)?,
        ];
        let titles = [position, "mean rotation error [deg]".to_owned()];
        let mut scene = Scene::new(WIDTH);
        let below_title = scene.title(&self.title);
        let starts = [0.0, WIDTH / 2.0];
        let mut top = below_title;
        for (column, start) in columns.iter().zip(starts) {
            let room = (start + 50.0, start + WIDTH / 2.0 - RIGHT);
            top = top.max(legend::rows(&mut scene, &column.entries(), room, below_title));
        }
        for ((column, title), start) in columns.iter().zip(&titles).zip(starts) {
            column.draw(&mut scene, title, (start, top + 10.0));
        }
        Ok(scene)
    }
}

/// The two panels of one kind of error.
struct Column<'a> {
    sorted: Vec<f64>,
    unit: &'a str,
    colour: Rgb,
    range: Range,
}

impl<'a> Column<'a> {
    fn new(what: &str, values: &[f64], unit: &'a str, colour: Rgb) -> Result<Self, PlotError> {
        let sorted = sorted(values);
        let range = Range::around(sorted.iter().copied(), AxisScale::Linear);
        let range = range.ok_or_else(|| PlotError::empty(what))?;
        Ok(Self { sorted, unit, colour, range })
    }

    fn draw(&self, scene: &mut Scene, title: &str, (start, top): (f64, f64)) {
        let bars = histogram(&self.sorted, &self.range);
        let most = bars.iter().map(|bar| bar.1).max().unwrap_or(1) as f64;
        let linear = AxisScale::Linear;
        let counts = Range::around([0.0, most], linear).unwrap_or(self.range).starting_at_zero();
        let shares = Range::around([0.0, 100.0], linear).unwrap_or(self.range);
        let mut count_side = Side::new(&counts, HEIGHT, format!("tosses of {}", self.sorted.len()));
        count_side.ticks = count_side.ticks.whole();
        let share_side = Side::new(&shares, HEIGHT, "tosses at most [%]".to_owned());
        let margin = count_side.margin().max(share_side.margin());

        let (left, right) = (start + margin, start + WIDTH / 2.0 - RIGHT);
        let ticks = level_ticks(&self.range, right - left);
        let frame = Rect { left, top, right, bottom: top + HEIGHT };
        let upper = Panel { frame, x: self.range, y: counts };
        upper.grid(scene, &ticks, &count_side.ticks);
        self.bars(scene, &upper, &bars);
        self.marks(scene, &upper);
        upper.bottom_ticks(scene, &ticks);
        upper.left(scene, &count_side, margin);

        let top = frame.bottom + GAP;
        let frame = Rect { top, bottom: top + HEIGHT, ..frame };
        let lower = Panel { frame, x: self.range, y: shares };
        self.curve(scene, &lower, (&ticks, &share_side.ticks));
        lower.bottom(scene, &ticks, title);
        lower.left(scene, &share_side, margin);
        scene.reserve(frame.bottom + BOTTOM);
    }

    fn bars(&self, scene: &mut Scene, panel: &Panel, bars: &[((f64, f64), usize)]) {
        for ((from, to), count) in bars.iter().filter(|bar| bar.1 > 0) {
            let corner = panel.place((*from, *count as f64)).zip(panel.place((*to, 0.0)));
            if let Some(((left, top), (right, bottom))) = corner {
                let rect = Rect { left, top, right, bottom };
                scene.rect(rect, tint(self.colour, 0.45));
                scene.outline(rect, Stroke::solid(self.colour, 1.0));
            }
        }
    }

    /// Share of tosses with at most this error, as a staircase.
    fn curve(&self, scene: &mut Scene, panel: &Panel, (x, y): (&Ticks, &Ticks)) {
        panel.grid(scene, x, y);
        let count = self.sorted.len() as f64;
        let mut stairs = vec![(self.range.ends().0, 0.0)];
        for (index, value) in self.sorted.iter().enumerate() {
            let share = |tosses: usize| 100.0 * tosses as f64 / count;
            stairs.extend([(*value, share(index)), (*value, share(index + 1))]);
        }
        stairs.push((self.range.ends().1, 100.0));
        panel.line(scene, &stairs, Stroke::solid(self.colour, 2.0));
        self.marks(scene, panel);
    }

    fn marks(&self, scene: &mut Scene, panel: &Panel) {
        panel.upright(scene, median(&self.sorted), MEDIAN);
        panel.upright(scene, mean(&self.sorted), MEAN);
    }

    fn entries(&self) -> [Entry; 2] {
        let named = |name: &str, value: f64| format!("{name} {} {}", short(value), self.unit);
        [
            Entry::new(Mark::Line(MEDIAN), named("median", median(&self.sorted))),
            Entry::new(Mark::Line(MEAN), named("mean", mean(&self.sorted))),
        ]
    }
}

/// Bins of equal width with their counts. The width follows Freedman and Diaconis, 1981,
/// <https://doi.org/10.1007/BF01025868>, within 5 to 40 bins; constant data get one bin.
fn histogram(sorted: &[f64], range: &Range) -> Vec<((f64, f64), usize)> {
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    let span = last - first;
    if span <= 1e-9 * first.abs().max(last.abs()) {
        let half = (range.ends().1 - range.ends().0) / 20.0;
        return vec![((first - half, first + half), sorted.len())];
    }
    let quartile = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let width = 2.0 * (quartile(0.75) - quartile(0.25)) / (sorted.len() as f64).cbrt();
    let bins = if width > 0.0 { (span / width).ceil().clamp(5.0, 40.0) as usize } else { 20 };
    let edge = |i: usize| first + span * i as f64 / bins as f64;
    let mut bars: Vec<_> = (0..bins).map(|i| ((edge(i), edge(i + 1)), 0)).collect();
    for value in sorted {
        let bin = ((value - first) / span * bins as f64) as usize;
        bars[bin.min(bins - 1)].1 += 1;
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_toss_is_in_one_bin() {
        let values: Vec<f64> = (0..517).map(|i| (f64::from(i) * 0.7).sin() * 3.0).collect();
        let values = sorted(&values);
        let range = Range::around(values.iter().copied(), AxisScale::Linear).unwrap();
        let counted: usize = histogram(&values, &range).iter().map(|bar| bar.1).sum();
        assert_eq!(counted, values.len());
        assert_eq!(histogram(&[2.0; 9], &range).len(), 1);
    }
}
