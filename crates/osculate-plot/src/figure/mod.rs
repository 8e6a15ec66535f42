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
        let side = Side::new(&self.y.1, bottom - top, self.y.0);
        let top = if side.ticks.factor.is_empty() { top } else { top + HEAD_RISE };
        let frame = Rect { left: side.margin(), top, right: SIZE.0 - RIGHT, bottom };
        let panel = Panel { frame, x: self.x.1, y: self.y.1 };
        let ticks = level_ticks(&self.x.1, frame.width());
        let ticks = if self.whole { ticks.whole() } else { ticks };
        panel.grid(&mut scene, &ticks, &side.ticks);
        marks(&panel, &mut scene);
        panel.bottom(&mut scene, &ticks, &self.x.0);
        panel.left(&mut scene, &side, side.margin());
        scene
    }
}
