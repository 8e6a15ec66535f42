//! One panel: frame, ticks and the marks inside.

use crate::palette::{GREY, GRID, INK, Rgb};
use crate::range::Range;
use crate::scene::{LABEL, Label, Rect, Scene, Stroke, TICK};
use crate::text;
use crate::ticks::Ticks;

/// Room below a panel for tick labels and the title of the axis \[logical px\].
pub(crate) const BOTTOM: f64 = 50.0;
/// Height of the middle of a line of text above a panel.
pub(crate) const HEAD_RISE: f64 = 16.0;
/// Length of a tick and distance from it to its label.
const TICK_LENGTH: f64 = 5.0;
const TICK_GAP: f64 = 4.0;
/// Room for the title of an upright axis.
const SIDE_TITLE: f64 = 32.0;

/// Rectangle of a panel and the values that it shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel {
    pub(crate) frame: Rect,
    pub(crate) x: Range,
    pub(crate) y: Range,
}

/// An axis that stands upright: ticks, title and colour of both.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) ticks: Ticks,
    pub(crate) title: String,
    pub(crate) colour: Rgb,
}

impl Side {
    pub(crate) fn new(range: &Range, height: f64, title: String) -> Self {
        Self { ticks: Ticks::new(range, height, |_| 2.0 * TICK), title, colour: INK }
    }

    pub(crate) fn coloured(mut self, colour: Rgb) -> Self {
        self.colour = colour;
        self
    }

    /// Width that the axis needs beside its panel.
    pub(crate) fn margin(&self) -> f64 {
        let labels = self.ticks.major.iter().map(|(_, label)| text::width(label, TICK));
        let widest = labels.fold(text::width(&self.ticks.factor, TICK), f64::max);
        let title = if self.title.is_empty() { 0.0 } else { SIDE_TITLE };
        (widest + TICK_LENGTH + TICK_GAP + title + 6.0).ceil()
    }
}

impl Panel {
    /// Place of a point; `None` if it cannot be drawn. Places outside of the frame are possible.
    pub(crate) fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let (u, v) = (self.x.fraction(x)?, self.y.fraction(y)?);
        Some((self.across(u), self.up(v)))
    }

    pub(crate) fn across(&self, fraction: f64) -> f64 {
        self.frame.left + fraction * self.frame.width()
    }

    pub(crate) fn up(&self, fraction: f64) -> f64 {
        self.frame.bottom - fraction * self.frame.height()
    }

    /// Grid lines, which go below everything else.
    pub(crate) fn grid(&self, scene: &mut Scene, x: &Ticks, y: &Ticks) {
        let Rect { left, top, right, bottom } = self.frame;
        for (fraction, _) in &x.major {
            let x = snap(self.across(*fraction));
            scene.path(&[(x, top), (x, bottom)], Stroke::solid(GRID, 1.0));
        }
        for (fraction, _) in &y.major {
            let y = snap(self.up(*fraction));
            scene.path(&[(left, y), (right, y)], Stroke::solid(GRID, 1.0));
        }
    }

    /// Line through the points; a point that cannot be drawn leaves a gap, one alone becomes a dot.
    pub(crate) fn line(&self, scene: &mut Scene, points: &[(f64, f64)], stroke: Stroke) {
        let places: Vec<_> = points.iter().map(|p| self.place(*p)).collect();
        for run in places.split(Option::is_none) {
            let run: Vec<_> = run.iter().copied().flatten().collect();
            if let [single] = run[..] {
                self.dot(scene, single, stroke.width + 1.0, stroke.colour);
            }
            for piece in clip(&run, &self.frame) {
                scene.path(&piece, stroke);
            }
        }
    }

    /// A dot for each point.
    pub(crate) fn dots(&self, scene: &mut Scene, points: &[(f64, f64)], radius: f64, colour: Rgb) {
        for place in points.iter().filter_map(|p| self.place(*p)) {
            self.dot(scene, place, radius, colour);
        }
    }

    fn dot(&self, scene: &mut Scene, place: (f64, f64), radius: f64, colour: Rgb) {
        let Rect { left, top, right, bottom } = self.frame;
        if (left..=right).contains(&place.0) && (top..=bottom).contains(&place.1) {
            scene.disc(place, radius, colour);
        }
    }

    /// Upright line over the whole height; nothing if the value lies outside.
    pub(crate) fn upright(&self, scene: &mut Scene, x: f64, stroke: Stroke) {
        if let Some(u) = self.x.fraction(x).filter(|u| (0.0..=1.0).contains(u)) {
            let x = self.across(u);
            scene.path(&[(x, self.frame.top), (x, self.frame.bottom)], stroke);
        }
    }

    /// Level line over the whole width; nothing if the value lies outside.
    pub(crate) fn level(&self, scene: &mut Scene, y: f64, stroke: Stroke) {
        if let Some(v) = self.y.fraction(y).filter(|v| (0.0..=1.0).contains(v)) {
            let y = self.up(v);
            scene.path(&[(self.frame.left, y), (self.frame.right, y)], stroke);
        }
    }

    /// Outline and the axis below. An empty `title` leaves its line free.
    pub(crate) fn bottom(&self, scene: &mut Scene, ticks: &Ticks, title: &str) {
        let base = self.frame.bottom;
        self.bottom_ticks(scene, ticks);
        let y = base + TICK_LENGTH + TICK_GAP;
        for (fraction, label) in &ticks.major {
            scene.text(Label::new(label.clone(), (self.across(*fraction), y + 6.0), TICK));
        }
        let factor = text::width(&ticks.factor, TICK);
        let room = self.frame.width() - if factor > 0.0 { 2.0 * factor + 12.0 } else { 0.0 };
        let (middle, _) = self.frame.centre();
        let title = text::fit_title(title, LABEL, room);
        scene.text(Label::new(title, (middle, y + 27.0), LABEL));
        let corner = (self.frame.right, y + 27.0);
        scene.text(Label::new(ticks.factor.clone(), corner, TICK).right());
    }

    /// Outline and ticks without labels, for panels above another one with the same axis.
    pub(crate) fn bottom_ticks(&self, scene: &mut Scene, ticks: &Ticks) {
        let base = self.frame.bottom;
        for (fraction, length) in marks(ticks) {
            let x = snap(self.across(fraction));
            scene.path(&[(x, base), (x, base + length)], Stroke::solid(GREY, 1.0));
        }
        scene.outline(self.frame, Stroke::solid(GREY, 1.0));
    }

    /// Axis on the left; `margin` is its distance to the left end of its title.
    pub(crate) fn left(&self, scene: &mut Scene, side: &Side, margin: f64) {
        let edge = self.frame.left;
        for (fraction, length) in marks(&side.ticks) {
            let y = snap(self.up(fraction));
            scene.path(&[(edge - length, y), (edge, y)], Stroke::solid(GREY, 1.0));
        }
        let x = edge - TICK_LENGTH - TICK_GAP;
        for (fraction, label) in &side.ticks.major {
            let label = Label::new(label.clone(), (x, self.up(*fraction)), TICK);
            scene.text(label.right().coloured(side.colour));
        }
        let factor =
            Label::new(side.ticks.factor.clone(), (edge - 9.0, self.frame.top - HEAD_RISE), TICK);
        scene.text(factor.right().coloured(side.colour));
        self.side_title(scene, side, edge - margin + 18.0);
    }

    /// Axis on the right, as wide as its own margin.
    pub(crate) fn right(&self, scene: &mut Scene, side: &Side) {
        let edge = self.frame.right;
        for (fraction, length) in marks(&side.ticks) {
            let y = snap(self.up(fraction));
            scene.path(&[(edge, y), (edge + length, y)], Stroke::solid(GREY, 1.0));
        }
        let x = edge + TICK_LENGTH + TICK_GAP;
        for (fraction, label) in &side.ticks.major {
            let label = Label::new(label.clone(), (x, self.up(*fraction)), TICK);
            scene.text(label.left().coloured(side.colour));
        }
        let factor =
            Label::new(side.ticks.factor.clone(), (edge + 9.0, self.frame.top - HEAD_RISE), TICK);
        scene.text(factor.left().coloured(side.colour));
        self.side_title(scene, side, edge + side.margin() - 18.0);
    }

    fn side_title(&self, scene: &mut Scene, side: &Side, x: f64) {
        let title = text::fit_title(&side.title, LABEL, self.frame.height() + 16.0);
        let label = Label::new(title, (x, self.frame.centre().1), LABEL);
        scene.text(label.upwards().coloured(side.colour));
    }
}

/// Ticks of a level axis of this length.
pub(crate) fn level_ticks(range: &Range, length: f64) -> Ticks {
    Ticks::new(range, length, |label| text::width(label, TICK) + 14.0)
}

/// Positions and lengths of all ticks.
fn marks(ticks: &Ticks) -> impl Iterator<Item = (f64, f64)> {
    let minor = ticks.minor.iter().map(|fraction| (*fraction, TICK_LENGTH / 2.0));
    minor.chain(ticks.major.iter().map(|(fraction, _)| (*fraction, TICK_LENGTH)))
}

/// Nearest place at which a line of one logical pixel has sharp edges in a PNG.
fn snap(place: f64) -> f64 {
    (place * 2.0).round() / 2.0
}

/// The parts of a polyline inside a rectangle.
fn clip(points: &[(f64, f64)], frame: &Rect) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut connected = false;
    for pair in points.windows(2) {
        let Some((start, end)) = clip_segment(pair[0], pair[1], frame) else {
            connected = false;
            continue;
        };
        let from = along(pair[0], pair[1], start);
        let to = along(pair[0], pair[1], end);
        match pieces.last_mut() {
            Some(piece) if connected && start <= 0.0 => piece.push(to),
            _ => pieces.push(vec![from, to]),
        }
        connected = end >= 1.0;
    }
    pieces
}

fn along(from: (f64, f64), to: (f64, f64), s: f64) -> (f64, f64) {
    (from.0 + (to.0 - from.0) * s, from.1 + (to.1 - from.1) * s)
}

/// First and last parameter of the part of a segment inside a rectangle, after Liang and Barsky.
fn clip_segment(from: (f64, f64), to: (f64, f64), frame: &Rect) -> Option<(f64, f64)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    let edges = [
        (-dx, from.0 - frame.left),
        (dx, frame.right - from.0),
        (-dy, from.1 - frame.top),
        (dy, frame.bottom - from.1),
    ];
    for (towards, distance) in edges {
        if towards < 0.0 {
            start = start.max(distance / towards);
        } else if towards > 0.0 {
            end = end.min(distance / towards);
        } else if distance < 0.0 {
            return None;
        }
    }
    (start <= end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clipped_lines_stay_inside_and_leave_gaps() {
        let frame = Rect { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };
        let zigzag = [(-5.0, 5.0), (5.0, 5.0), (5.0, 50.0), (7.0, 50.0), (7.0, 1.0)];
        let pieces = clip(&zigzag, &frame);
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces[0], [(0.0, 5.0), (5.0, 5.0), (5.0, 10.0)]);
        assert!(pieces.iter().flatten().all(|p| p.0 >= 0.0 && p.1 <= 10.0));
    }
}
