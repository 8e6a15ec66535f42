//! Lines of any width on a bitmap.
//!
//! plotters makes one polygon of a whole thick path, with whole coordinates: its width then depends
//! on the direction, and it folds over itself where the path turns sharply.

use plotters::prelude::DrawingBackend;
use plotters_backend::{BackendColor, DrawingErrorKind};

/// Pixels of one row, from the first to the last centre inside.
type Span = Option<(f64, f64)>;

/// Fills a path of this width \[px\] with round joints and flat ends. Coordinates are in pixels, with
/// pixel `i` between `i` and `i + 1`.
pub(crate) fn draw<D: DrawingBackend>(
    backend: &mut D,
    points: &[(f64, f64)],
    width: f64,
    colour: BackendColor,
) -> Result<(), DrawingErrorKind<D::ErrorType>> {
    let radius = width / 2.0;
    for (index, pair) in points.windows(2).enumerate() {
        fill(backend, colour, (pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1), radius), |y| {
            let end = (index + 2 < points.len()).then(|| disc(pair[1], radius, y)).flatten();
            join(quadrilateral(pair[0], pair[1], radius, y), end)
        })?;
    }
    Ok(())
}

/// Fills the rows between `low − radius` and `high + radius`.
fn fill<D: DrawingBackend>(
    backend: &mut D,
    colour: BackendColor,
    (low, high, radius): (f64, f64, f64),
    span: impl Fn(f64) -> Span,
) -> Result<(), DrawingErrorKind<D::ErrorType>> {
    for row in (low - radius).floor() as i32..=(high + radius).ceil() as i32 {
        let Some((left, right)) = span(f64::from(row) + 0.5) else { continue };
        let (first, last) = ((left - 0.5).ceil() as i32, (right - 0.5).ceil() as i32 - 1);
        if first <= last {
            backend.draw_line((first, row), (last, row), &colour)?;
        }
    }
    Ok(())
}

fn join(a: Span, b: Span) -> Span {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (one, other) => one.or(other),
    }
}

fn disc(centre: (f64, f64), radius: f64, y: f64) -> Span {
    let half = (radius * radius - (y - centre.1).powi(2)).sqrt();
    (half > 0.0).then_some((centre.0 - half, centre.0 + half))
}

/// The part of row `y` within `radius` of the segment, between its two ends.
fn quadrilateral(from: (f64, f64), to: (f64, f64), radius: f64, y: f64) -> Span {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length <= 0.0 {
        return None;
    }
    let (nx, ny) = (-dy / length * radius, dx / length * radius);
    let corners = [
        (from.0 + nx, from.1 + ny),
        (to.0 + nx, to.1 + ny),
        (to.0 - nx, to.1 - ny),
        (from.0 - nx, from.1 - ny),
    ];
    (0..4).fold(None, |span, i| {
        let (a, b) = (corners[i], corners[(i + 1) % 4]);
        if (a.1 <= y) == (b.1 <= y) {
            return span;
        }
        let x = a.0 + (b.0 - a.0) * (y - a.1) / (b.1 - a.1);
        join(span, Some((x, x)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plotters::prelude::BitMapBackend;

    fn covered(points: &[(f64, f64)], width: f64) -> usize {
        let mut pixels = vec![0; 3 * 200 * 200];
        let white = BackendColor { alpha: 1.0, rgb: (255, 255, 255) };
        let mut backend = BitMapBackend::with_buffer(&mut pixels, (200, 200));
        draw(&mut backend, points, width, white).unwrap();
        drop(backend);
        pixels.chunks(3).filter(|p| p[0] > 0).count()
    }

    #[test]
    fn covered_area_is_length_times_width_in_every_direction() {
        for degrees in [0.0_f64, 17.0, 43.0, 71.0, 90.0, 133.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let points = [-80.0, -11.0, 3.0, 80.0].map(|s| (100.0 + s * cos, 100.0 + s * sin));
            let area = covered(&points, 6.0) as f64;
            assert!((area / 960.0 - 1.0).abs() < 0.02, "{degrees}°: {area} px");
        }
    }

    #[test]
    fn upright_and_level_lines_are_exact() {
        assert_eq!(covered(&[(10.0, 50.0), (110.0, 50.0)], 4.0), 400);
        assert_eq!(covered(&[(50.0, 10.0), (50.0, 110.0)], 4.0), 400);
    }
}
