//! Loss against iteration.

use std::path::Path;

use super::Single;
use crate::axis::AxisScale;
use crate::error::PlotError;
use crate::legend::{Entry, Mark};
use crate::palette::{self, tint};
use crate::range::Range;
use crate::render;
use crate::scene::{Scene, Stroke};

/// With more starts than this, the legend names the best one only.
const MOST_NAMED: usize = 14;

/// Loss against iteration on a logarithmic axis, one line per start; the start that ends lowest is
/// highlighted.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ConvergenceFigure {
    /// Title, broken into lines if it is long.
    pub title: String,
    /// Label of the y axis, with its unit if it has one.
    pub loss_label: String,
    /// Losses of each start, from iteration 0; the starts may differ in length.
    pub starts: Vec<Vec<f64>>,
}

impl ConvergenceFigure {
    /// Writes the figure as PNG or SVG.
    ///
    /// # Errors
    ///
    /// Unknown extension, no finite positive loss, or a path that cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        render::save(path, || self.scene())
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        let losses = self.starts.iter().flatten().copied();
        let y = Range::around(losses, AxisScale::Log).ok_or_else(|| PlotError::empty("losses"))?;
        let longest = self.starts.iter().map(Vec::len).max().unwrap_or_default();
        let iterations = [0.0, longest.saturating_sub(1).max(1) as f64];
        let x = Range::around(iterations, AxisScale::Linear)
            .ok_or_else(|| PlotError::empty("iterations"))?;
        let best = self.best();
        let single = Single {
            title: &self.title,
            x: ("iteration".to_owned(), x),
            y: (self.loss_label.clone(), y),
            entries: self.entries(best),
            whole: true,
        };
        Ok(single.scene(|panel, scene| {
            let others = (0..self.starts.len()).filter(|index| Some(*index) != best);
            for index in others.chain(best) {
                let points: Vec<_> = (0..).map(f64::from).zip(self.starts[index].clone()).collect();
                panel.line(scene, &points, self.stroke(index, best));
                if Some(index) == best {
                    let last = points.iter().rev().find(|p| p.1.is_finite() && p.1 > 0.0);
                    panel.dots(scene, last.map_or(&[], std::slice::from_ref), 4.0, BEST.0);
                }
            }
        }))
    }

    /// Index of the start with the lowest last usable loss.
    fn best(&self) -> Option<usize> {
        let ends = self.starts.iter().enumerate().filter_map(|(i, l)| last(l).map(|l| (i, l)));
        ends.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
    }

    fn stroke(&self, index: usize, best: Option<usize>) -> Stroke {
        if Some(index) == best {
            return Stroke::solid(BEST.0, BEST.1);
        }
        if self.starts.len() > MOST_NAMED {
            return Stroke::solid(tint(palette::GREY, 0.55), 1.0);
        }
        // The first colour is that of the best start.
        let rank = index - usize::from(best.is_some_and(|best| best < index));
        let (colour, dash) = palette::series(rank + 1 + rank / 6);
        Stroke { colour, width: 1.2, dash }
    }

    fn entries(&self, best: Option<usize>) -> Vec<Entry> {
        let count = self.starts.len();
        let line = |index| Mark::Line(self.stroke(index, best));
        if count <= MOST_NAMED {
            let name = |index| match best {
                Some(best) if best == index => format!("start {} (best)", index + 1),
                _ if last(&self.starts[index]).is_none() => {
                    format!("start {} (no value)", index + 1)
                }
                _ => format!("start {}", index + 1),
            };
            return (0..count).map(|index| Entry::new(line(index), name(index))).collect();
        }
        let other = (0..count).find(|index| Some(*index) != best);
        let best = best.map(|i| Entry::new(line(i), format!("start {} (best)", i + 1)));
        let others = other.map(|i| Entry::new(line(i), format!("the other {} starts", count - 1)));
        best.into_iter().chain(others).collect()
    }
}

/// Last usable loss of a start.
fn last(losses: &[f64]) -> Option<f64> {
    losses.iter().rev().copied().find(|loss| loss.is_finite() && *loss > 0.0)
}

/// Colour and width of the best start.
const BEST: (palette::Rgb, f64) = (palette::BLUE, 3.0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_start_ends_lowest_and_ignores_failed_tails() {
        let figure = ConvergenceFigure {
            starts: vec![vec![3.0, 2.0], vec![9.0, 1.0, f64::NAN], vec![], vec![f64::NAN]],
            ..Default::default()
        };
        assert_eq!(figure.best(), Some(1));
    }

    #[test]
    fn no_other_start_has_the_colour_of_the_best() {
        let figure =
            ConvergenceFigure { starts: vec![vec![1.0]; MOST_NAMED], ..Default::default() };
        for index in 1..MOST_NAMED {
            assert_ne!(figure.stroke(index, Some(0)).colour, BEST.0, "start {index}");
        }
    }
}
