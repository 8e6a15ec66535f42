//! Colours that stay apart for colour-blind readers.

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

pub(crate) const WHITE: Rgb = Rgb(255, 255, 255);
pub(crate) const INK: Rgb = Rgb(34, 34, 34);
pub(crate) const GREY: Rgb = Rgb(110, 110, 110);
pub(crate) const GRID: Rgb = Rgb(228, 228, 228);
pub(crate) const BLUE: Rgb = Rgb(0, 114, 178);
pub(crate) const VERMILION: Rgb = Rgb(213, 94, 0);
pub(crate) const GREEN: Rgb = Rgb(0, 158, 115);

/// Colours of Okabe and Ito, <https://jfly.uni-koeln.de/color/>, without the yellow that is too
/// faint for lines on white.
const SERIES: [Rgb; 7] =
    [BLUE, VERMILION, GREEN, Rgb(204, 121, 167), Rgb(230, 159, 0), Rgb(86, 180, 233), Rgb(0, 0, 0)];

/// Dash patterns \[logical px\]; the next one starts when the colours are used up.
const DASHES: [&[f64]; 4] = [&[], &[7.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0]];

/// Colour and dash pattern of the series with this index.
pub(crate) fn series(index: usize) -> (Rgb, &'static [f64]) {
    (SERIES[index % SERIES.len()], DASHES[(index / SERIES.len()) % DASHES.len()])
}

/// Dash pattern of the reference line with this index; none of them is solid.
pub(crate) fn reference_dash(index: usize) -> &'static [f64] {
    DASHES[1 + index % (DASHES.len() - 1)]
}

/// Mixture of white (`amount = 0`) and the colour (`amount = 1`).
pub(crate) fn tint(colour: Rgb, amount: f64) -> Rgb {
    mix(WHITE, colour, amount)
}

/// Diverging map of a correlation: −1 blue, 0 white, 1 red; values outside are clamped.
/// Stops of `RdBu` by C. Brewer, <https://colorbrewer2.org>.
pub(crate) fn diverging(value: f64) -> Rgb {
    const NEGATIVE: [Rgb; 4] =
        [Rgb(247, 247, 247), Rgb(146, 197, 222), Rgb(67, 147, 195), Rgb(33, 102, 172)];
    const POSITIVE: [Rgb; 4] =
        [Rgb(247, 247, 247), Rgb(244, 165, 130), Rgb(214, 96, 77), Rgb(178, 24, 43)];
    let stops = if value < 0.0 { &NEGATIVE } else { &POSITIVE };
    let position = value.abs().min(1.0) * (stops.len() - 1) as f64;
    let below = (position.floor() as usize).min(stops.len() - 2);
    mix(stops[below], stops[below + 1], position - below as f64)
}

fn mix(from: Rgb, to: Rgb, amount: f64) -> Rgb {
    let blend =
        |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * amount).round() as u8;
    Rgb(blend(from.0, to.0), blend(from.1, to.1), blend(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diverging_map_is_white_at_zero_and_saturates_outside() {
        assert_eq!(diverging(0.0), Rgb(247, 247, 247));
        assert_eq!(diverging(-3.0), Rgb(33, 102, 172));
        assert_eq!(diverging(3.0), diverging(1.0));
    }

    #[test]
    fn series_beyond_the_colours_differ_by_dash() {
        assert_eq!(series(0).0, series(7).0);
        assert_ne!(series(0).1, series(7).1);
    }
}
