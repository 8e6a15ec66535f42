//! The figures, one per file.

pub(crate) mod comparison;
pub(crate) mod convergence;
pub(crate) mod correlation;
pub(crate) mod line;
pub(crate) mod profile;
pub(crate) mod residual;
pub(crate) mod slice;
pub(crate) mod traction;
pub(crate) mod trajectory;

use crate::axis::AxisScale;
use crate::frame::{BOTTOM, HEAD_RISE, Panel, Side, level_ticks};
use crate::legend::{self, Entry};
use crate::range::Range;
use crate::scene::{Rect, Scene};

/// Size of a figure with one panel \[logical px\]; a long legend makes it higher.
const SIZE: (f64, f64) = (900.0, 600.0);
/// A legend never makes the panel lower than this.
const LOWEST_PANEL: f64 = 300.0;
/// Free space on the right of a panel.
const RIGHT: f64 = 24.0;

/// A figure with one panel below its title and legend.
struct Single<'a> {
    title: &'a str,
    x: (String, Range),
    y: (String, Range),
    entries: Vec<Entry>,
    /// Whether the x axis counts.
    whole: bool,
}

impl Single<'_> {
    /// Draws frame, axes and legend around what `marks` draws.
    fn scene(self, marks: impl FnOnce(&Panel, &mut Scene)) -> Scene {
        let mut scene = Scene::new(SIZE.0);
        let top = scene.title(self.title);
        let top = legend::rows(&mut scene, &self.entries, (40.0, SIZE.0 - RIGHT), top) + 12.0;
        scene.reserve(SIZE.1.max(top + LOWEST_PANEL + BOTTOM));
        let bottom = scene.height - BOTTOM;
        let side = Side::new(&self.y.1, bottom - top, self.y.0.clone());
        let top = if side.ticks.factor.is_empty() { top } else { top + HEAD_RISE };
        let frame = Rect { left: side.margin(), top, right: SIZE.0 - RIGHT, bottom };
        let [x, y] = one_scale([self.x.1, self.y.1], &frame);
        let side = Side::new(&y, bottom - top, self.y.0);
        let panel = Panel { frame, x, y };
        let ticks = level_ticks(&x, frame.width());
        let ticks = if self.whole { ticks.whole() } else { ticks };
        panel.grid(&mut scene, &ticks, &side.ticks);
        marks(&panel, &mut scene);
        panel.bottom(&mut scene, &ticks, &self.x.0);
        panel.left(&mut scene, &side, side.margin());
        scene
    }
}

/// Ranges in which a unit is as long across as upwards, where both axes want that.
fn one_scale([x, y]: [Range; 2], frame: &Rect) -> [Range; 2] {
    if [x, y].iter().any(|r| r.scale() != AxisScale::Equal) {
        return [x, y];
    }
    let length = |r: &Range| r.ends().1 - r.ends().0;
    let unit = (length(&x) / frame.width()).max(length(&y) / frame.height());
    [x.widened(unit * frame.width()), y.widened(unit * frame.height())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_axes_have_one_unit_and_show_all_data() {
        let frame = Rect { left: 10.0, top: 5.0, right: 810.0, bottom: 405.0 };
        for data in [[-1.0, 1.0], [-1.0, 9.0]] {
            let range = |values: [f64; 2], scale| Range::around(values, scale).unwrap();
            let x = range(data, AxisScale::Equal);
            let y = range([-1.0, 1.0], AxisScale::Equal);
            let [p, q] = one_scale([x, y], &frame);
            let unit = |r: &Range, size: f64| size / (r.ends().1 - r.ends().0);
            assert!((unit(&p, 800.0) / unit(&q, 400.0) - 1.0).abs() < 1e-12);
            assert!(p.ends().0 <= x.ends().0 && q.ends().1 >= y.ends().1);
            let [p, q] = one_scale([x, range([-1.0, 1.0], AxisScale::Linear)], &frame);
            assert!((unit(&p, 800.0) / unit(&x, 800.0) - 1.0).abs() < 1e-12);
            assert!((unit(&q, 800.0) / unit(&y, 800.0) - 1.0).abs() < 1e-12);
        }
    }
}
