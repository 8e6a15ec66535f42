//! A drawing in logical pixels, independent of the format it is written in.

use plotters_backend::text_anchor::HPos;

use crate::palette::{INK, Rgb};
use crate::text;

/// Font sizes \[logical px\].
pub(crate) const TITLE: f64 = 17.0;
pub(crate) const LABEL: f64 = 13.0;
pub(crate) const TICK: f64 = 12.0;

/// Rectangle in logical pixels; y grows downwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn centre(&self) -> (f64, f64) {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }
}

/// Colour, width \[logical px\] and dash pattern of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    pub(crate) colour: Rgb,
    pub(crate) width: f64,
    pub(crate) dash: &'static [f64],
}

impl Stroke {
    pub(crate) fn solid(colour: Rgb, width: f64) -> Self {
        Self { colour, width, dash: &[] }
    }
}

/// A line of text, centred vertically on `at`.
#[derive(Clone)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) at: (f64, f64),
    pub(crate) size: f64,
    pub(crate) colour: Rgb,
    pub(crate) anchor: HPos,
    pub(crate) upwards: bool,
}

impl Label {
    pub(crate) fn new(text: impl Into<String>, at: (f64, f64), size: f64) -> Self {
        Self { text: text.into(), at, size, colour: INK, anchor: HPos::Center, upwards: false }
    }

    pub(crate) fn left(mut self) -> Self {
        self.anchor = HPos::Left;
        self
    }

    pub(crate) fn right(mut self) -> Self {
        self.anchor = HPos::Right;
        self
    }

    pub(crate) fn coloured(mut self, colour: Rgb) -> Self {
        self.colour = colour;
        self
    }

    pub(crate) fn upwards(mut self) -> Self {
        self.upwards = true;
        self
    }
}

/// One shape.
#[derive(Clone)]
pub(crate) enum Item {
    Path { points: Vec<(f64, f64)>, colour: Rgb, width: f64 },
    Rect { rect: Rect, colour: Rgb },
    Disc { centre: (f64, f64), radius: f64, colour: Rgb },
    Text(Label),
}

/// Shapes in the order in which they are painted.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) items: Vec<Item>,
}

impl Scene {
    /// An empty scene; its height grows with [`Scene::reserve`].
    pub(crate) fn new(width: f64) -> Self {
        Self { width, height: 0.0, items: Vec::new() }
    }

    /// Makes the scene at least this high.
    pub(crate) fn reserve(&mut self, height: f64) {
        self.height = self.height.max(height.ceil());
    }

    /// Draws the title and returns the y below it.
    pub(crate) fn title(&mut self, title: &str) -> f64 {
        let mut y = 12.0;
        for line in text::wrap(title, TITLE, self.width - 60.0) {
            self.text(Label::new(line, (self.width / 2.0, y + 11.0), TITLE));
            y += 24.0;
        }
        y
    }

    pub(crate) fn text(&mut self, label: Label) {
        if !label.text.is_empty() {
            self.items.push(Item::Text(label));
        }
    }

    pub(crate) fn rect(&mut self, rect: Rect, colour: Rgb) {
        self.items.push(Item::Rect { rect, colour });
    }

    pub(crate) fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Rgb) {
        self.items.push(Item::Disc { centre, radius, colour });
    }

    /// Draws a polyline of at least two points, cut into dashes if the stroke has any.
    pub(crate) fn path(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        let Stroke { colour, width, dash } = stroke;
        let pieces = if dash.is_empty() { vec![points.to_vec()] } else { dashes(points, dash) };
        for points in pieces.into_iter().filter(|piece| piece.len() > 1) {
            self.items.push(Item::Path { points, colour, width });
        }
    }

    /// Draws the outline of a rectangle.
    pub(crate) fn outline(&mut self, rect: Rect, stroke: Stroke) {
        let Rect { left, top, right, bottom } = rect;
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.path(&corners, stroke);
    }
}

/// Cuts a polyline into the drawn parts of a dash pattern (drawn, left out, drawn, …).
fn dashes(points: &[(f64, f64)], pattern: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = Vec::new();
    let Some(&first) = points.first() else { return pieces };
    let mut piece = vec![first];
    let (mut phase, mut rest) = (0, pattern[0]);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut done = 0.0;
        while length - done > rest {
            done += rest;
            let s = done / length;
            let cut = (from.0 + (to.0 - from.0) * s, from.1 + (to.1 - from.1) * s);
            if phase % 2 == 0 {
                piece.push(cut);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![cut];
            }
            phase = (phase + 1) % pattern.len();
            rest = pattern[phase];
        }
        rest -= length - done;
        if phase % 2 == 0 {
            piece.push(to);
        }
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_their_share_of_the_line() {
        let pieces = dashes(&[(0.0, 0.0), (55.0, 0.0), (100.0, 0.0)], &[6.0, 4.0]);
        let drawn: f64 =
            pieces.iter().flat_map(|p| p.windows(2)).map(|pair| pair[1].0 - pair[0].0).sum();
        assert!((drawn - 60.0).abs() < 1e-9, "drawn {drawn}");
    }
}
