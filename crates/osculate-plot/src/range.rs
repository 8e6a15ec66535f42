//! The interval of values that an axis shows.

use crate::axis::AxisScale;
use crate::data::usable;

/// Part of an axis left free on either side of the data.
const PADDING: f64 = 0.05;
/// Data below this are drawn as zero.
const SMALLEST: f64 = 1e-290;

/// Interval of an axis; the ends are logarithms to base ten on a logarithmic scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    scale: AxisScale,
    low: f64,
    high: f64,
}

impl Range {
    /// The smallest interval with a margin around all drawable values; `None` if there are none.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>, scale: AxisScale) -> Option<Self> {
        let mut tight: Option<(f64, f64)> = None;
        for v in values.into_iter().filter_map(|v| coordinate(v, scale)) {
            tight = Some(tight.map_or((v, v), |(low, high)| (low.min(v), high.max(v))));
        }
        let (low, high) = tight?;
        let magnitude = low.abs().max(high.abs());
        let pad = match scale {
            AxisScale::Log if high - low < 1e-6 => 0.5,
            // Zero, or so small that the axis would have no width.
            AxisScale::Linear | AxisScale::Equal if magnitude < SMALLEST => 1.0,
            // Fewer digits than a tick label can show: such data are constant.
            AxisScale::Linear | AxisScale::Equal if high - low < 1e-9 * magnitude => {
                0.1 * magnitude
            }
            _ => PADDING * (high - low),
        };
        Some(Self { scale, low: low - pad, high: high + pad })
    }

    /// The same without a margin at the lower end if that end is zero, for counts and sizes.
    pub(crate) fn starting_at_zero(mut self) -> Self {
        if self.scale == AxisScale::Linear && self.high > 0.0 {
            self.low = 0.0;
        }
        self
    }

    /// Without the margins: the ends are the outermost values themselves.
    pub(crate) fn tight(mut self) -> Self {
        let pad = (self.high - self.low) * PADDING / (1.0 + 2.0 * PADDING);
        self.low += pad;
        self.high -= pad;
        self
    }

    /// Longer by the same at both ends, or as it is where it is as long already.
    pub(crate) fn widened(mut self, length: f64) -> Self {
        let pad = (0.5 * (length - (self.high - self.low))).max(0.0);
        self.low -= pad;
        self.high += pad;
        self
    }

    pub(crate) fn scale(&self) -> AxisScale {
        self.scale
    }

    /// Ends in the coordinate of the scale (logarithms on a logarithmic one).
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Position of a value, 0 at the lower and 1 at the upper end; `None` if it cannot be drawn.
    pub(crate) fn fraction(&self, value: f64) -> Option<f64> {
        coordinate(value, self.scale).map(|c| (c - self.low) / (self.high - self.low))
    }

    /// Position of a value moved to the nearest end if outside; `None` only for NaN.
    pub(crate) fn clamped(&self, value: f64) -> Option<f64> {
        if value.is_nan() {
            return None;
        }
        let outside = if value > 0.0 { 1.0 } else { 0.0 };
        Some(self.fraction(value).unwrap_or(outside).clamp(0.0, 1.0))
    }

    /// Value at a coordinate of the scale.
    pub(crate) fn value(&self, coordinate: f64) -> f64 {
        match self.scale {
            AxisScale::Linear | AxisScale::Equal => coordinate,
            AxisScale::Log => 10f64.powf(coordinate),
        }
    }
}

fn coordinate(value: f64, scale: AxisScale) -> Option<f64> {
    match scale {
        AxisScale::Linear | AxisScale::Equal => usable(value).then_some(value),
        AxisScale::Log => (usable(value) && value > 0.0).then(|| value.log10()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_data_get_a_range_of_positive_width() {
        for scale in [AxisScale::Linear, AxisScale::Log] {
            for value in [5e-324, 1e-9, 1.0, 5e7, 1e300] {
                let (low, high) = Range::around([value, value], scale).unwrap().ends();
                assert!(low < high, "{scale:?} {value}: {low} {high}");
            }
        }
        assert!(Range::around([0.0], AxisScale::Linear).is_some());
    }

    #[test]
    fn undrawable_values_do_not_count() {
        let values = [f64::NAN, f64::INFINITY, -1.0, 0.0];
        assert!(Range::around(values, AxisScale::Log).is_none());
        let range = Range::around(values, AxisScale::Linear).unwrap();
        assert_eq!(range.fraction(f64::NAN), None);
        assert!((range.fraction(-0.5).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn infinite_bounds_end_at_the_axis() {
        let range = Range::around([1.0, 2.0], AxisScale::Log).unwrap();
        assert_eq!(range.clamped(f64::INFINITY), Some(1.0));
        assert_eq!(range.clamped(f64::NEG_INFINITY), Some(0.0));
        assert_eq!(range.clamped(f64::NAN), None);
    }
}
