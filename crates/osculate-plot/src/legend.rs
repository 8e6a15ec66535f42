//! Legends in rows above the panels, where they cover no data.

use crate::palette::Rgb;
use crate::scene::{Label, Rect, Scene, Stroke, TICK};
use crate::text;

const ROW: f64 = 21.0;
const SAMPLE: f64 = 26.0;
const SAMPLE_GAP: f64 = 6.0;
const ENTRY_GAP: f64 = 22.0;

/// What an entry of the legend shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Line(Stroke),
    Dots(Rgb),
    LineDots(Stroke),
    Patch(Rgb),
}

/// Sample and name.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) mark: Mark,
    pub(crate) name: String,
}

impl Entry {
    pub(crate) fn new(mark: Mark, name: impl Into<String>) -> Self {
        Self { mark, name: name.into() }
    }

    fn width(&self) -> f64 {
        SAMPLE + SAMPLE_GAP + text::width(&self.name, TICK)
    }

    fn draw(&self, scene: &mut Scene, left: f64, y: f64) {
        let line = [(left, y), (left + SAMPLE, y)];
        let middle = (left + SAMPLE / 2.0, y);
        match self.mark {
            Mark::Line(stroke) => scene.path(&line, stroke),
            Mark::Dots(colour) => scene.disc(middle, 3.0, colour),
            Mark::LineDots(stroke) => {
                scene.path(&line, stroke);
                scene.disc(middle, 3.0, stroke.colour);
            }
            Mark::Patch(colour) => {
                let rect = Rect { left, top: y - 6.0, right: left + SAMPLE, bottom: y + 6.0 };
                scene.rect(rect, colour);
            }
        }
        scene.text(Label::new(self.name.clone(), (left + SAMPLE + SAMPLE_GAP, y), TICK).left());
    }
}

/// Draws the entries in centred rows between `left` and `right` and returns the y below them.
pub(crate) fn rows(
    scene: &mut Scene,
    entries: &[Entry],
    (left, right): (f64, f64),
    top: f64,
) -> f64 {
    let room = right - left;
    let shorten = |entry: &Entry| {
        let name = text::fit(&entry.name, TICK, room - SAMPLE - SAMPLE_GAP);
        Entry::new(entry.mark, name)
    };
    let mut rows: Vec<(f64, Vec<Entry>)> = Vec::new();
    for entry in entries.iter().map(shorten) {
        let width = entry.width();
        match rows.last_mut() {
            Some((used, row)) if *used + ENTRY_GAP + width <= room => {
                *used += ENTRY_GAP + width;
                row.push(entry);
            }
            _ => rows.push((width, vec![entry])),
        }
    }
    let mut y = top;
    for (used, row) in rows {
        let mut x = left + (room - used) / 2.0;
        for entry in row {
            entry.draw(scene, x, y + ROW / 2.0);
            x += entry.width() + ENTRY_GAP;
        }
        y += ROW;
    }
    y
}
