//! Text in the bundled font: its width, its line breaks and its pixels.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, InvalidFont, PxScale, ScaleFont, point};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, FontFamily, FontTransform};

use crate::palette::Rgb;

static BYTES: &[u8] = include_bytes!("../assets/DejaVuSans.ttf");

/// Families that an SVG viewer tries in turn; the second has nearly the same widths.
const FAMILIES: &str = "DejaVu Sans, Verdana, sans-serif";

/// plotters-svg divides the size it is given by this number.
const SVG_SIZE_FACTOR: f64 = 1.24;

/// Baseline below the top of the layout box, and height of that box \[em\]; as in plotters-svg.
const BASELINE: f64 = 0.76;
const BOX_HEIGHT: f64 = 0.98;

/// The bundled font.
pub(crate) fn font() -> Result<&'static FontRef<'static>, InvalidFont> {
    static FONT: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    FONT.get_or_init(|| FontRef::try_from_slice(BYTES).ok()).as_ref().ok_or(InvalidFont)
}

/// Scale of ab_glyph (a line height) for a font size given as em.
fn scale(font: &FontRef<'_>, em: f64) -> PxScale {
    let per_em = font.units_per_em().unwrap_or(2048.0);
    PxScale::from(em as f32 * font.height_unscaled() / per_em)
}

/// Width of a line of text for a font size `em`, in the unit of `em`.
pub(crate) fn width(text: &str, em: f64) -> f64 {
    let Ok(font) = font() else {
        return text.chars().count() as f64 * em * 0.6;
    };
    let scaled = font.as_scaled(scale(font, em));
    text.chars().map(|c| f64::from(scaled.h_advance(scaled.glyph_id(c)))).sum()
}

/// The text, shortened with an ellipsis so that it is no wider than `limit`.
pub(crate) fn fit(text: &str, em: f64, limit: f64) -> String {
    if width(text, em) <= limit {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let short = format!("{}…", kept.iter().collect::<String>().trim_end());
        if width(&short, em) <= limit {
            return short;
        }
    }
    String::new()
}

/// The same for the title of an axis, whose unit in brackets is kept.
pub(crate) fn fit_title(title: &str, em: f64, limit: f64) -> String {
    let unit = title.rfind(" [").filter(|_| title.ends_with(']')).unwrap_or(title.len());
    let (label, unit) = title.split_at(unit);
    format!("{}{unit}", fit(label, em, limit - width(unit, em)))
}

/// The text broken between words into lines no wider than `limit`.
pub(crate) fn wrap(text: &str, em: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), em) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| fit(&line, em, limit)).collect()
}

/// Style of one text for both writers: the SVG writer asks for family, size and anchor, the bitmap
/// writer for pixels.
pub(crate) struct Style {
    pub(crate) em: f64,
    pub(crate) colour: Rgb,
    pub(crate) anchor: HPos,
    pub(crate) upwards: bool,
}

impl BackendTextStyle for Style {
    type FontError = InvalidFont;

    fn color(&self) -> BackendColor {
        let Rgb(r, g, b) = self.colour;
        BackendColor { alpha: 1.0, rgb: (r, g, b) }
    }

    fn size(&self) -> f64 {
        self.em * SVG_SIZE_FACTOR
    }

    fn transform(&self) -> FontTransform {
        if self.upwards { FontTransform::Rotate270 } else { FontTransform::None }
    }

    fn anchor(&self) -> Pos {
        Pos::new(self.anchor, VPos::Center)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::Name(FAMILIES)
    }

    fn layout_box(&self, text: &str) -> Result<((i32, i32), (i32, i32)), InvalidFont> {
        let size = (width(text, self.em).round() as i32, (self.em * BOX_HEIGHT).round() as i32);
        Ok(((0, 0), size))
    }

    fn draw<E, F: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        text: &str,
        (x, y): BackendCoord,
        mut draw: F,
    ) -> Result<Result<(), E>, InvalidFont> {
        let font = font()?;
        let scaled = font.as_scaled(scale(font, self.em));
        let mut pen = x as f32;
        let baseline = y as f32 + (self.em * BASELINE).round() as f32;
        let mut failure = None;
        for c in text.chars() {
            let mut glyph = scaled.scaled_glyph(c);
            glyph.position = point(pen, baseline);
            pen += scaled.h_advance(glyph.id);
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            outline.draw(|dx, dy, coverage| {
                let place = (corner.x as i32 + dx as i32, corner.y as i32 + dy as i32);
                let colour = self.color().mix(f64::from(coverage).min(1.0));
                if coverage > 0.0
                    && failure.is_none()
                    && let Err(error) = draw(place.0, place.1, colour)
                {
                    failure = Some(error);
                }
            });
        }
        Ok(failure.map_or(Ok(()), Err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_font_has_every_symbol_that_labels_use() {
        let font = font().unwrap();
        for c in "azAZ09−×·°²³⁻⁰¹⁴⁵⁶⁷⁸⁹µμρθφ…≤≥±–".chars() {
            assert_ne!(font.glyph_id(c).0, 0, "no glyph for {c}");
        }
    }

    #[test]
    fn fitted_text_is_never_wider_than_its_limit() {
        for limit in [1.0, 30.0, 100.0] {
            assert!(width(&fit("a rather long legend entry", 12.0, limit), 12.0) <= limit);
        }
        assert_eq!(fit("short", 12.0, 100.0), "short");
    }

    #[test]
    fn shortened_axis_titles_keep_their_unit() {
        let title = fit_title("torsional friction radius [m]", 12.0, 120.0);
        assert!(title.ends_with("… [m]"), "{title}");
        assert!(width(&title, 12.0) <= 120.0);
    }

    #[test]
    fn wrapped_text_keeps_all_words() {
        let text = "a title that does not fit into one single line of the figure";
        let lines = wrap(text, 12.0, 150.0);
        assert!(lines.len() > 1);
        assert_eq!(lines.join(" "), text);
    }
}
