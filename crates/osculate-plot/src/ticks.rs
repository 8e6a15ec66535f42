//! Round positions along an axis and their labels, as many as fit.

use crate::axis::AxisScale;
use crate::format::{common_exponent, fixed, scaled, scientific, superscript};
use crate::range::Range;

/// No axis gets more labels than this.
const MOST: usize = 9;

/// Labelled and unlabelled positions of an axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticks {
    /// Fraction of the axis and label.
    pub(crate) major: Vec<(f64, String)>,
    /// Fractions of the axis.
    pub(crate) minor: Vec<f64>,
    /// Factor common to all labels such as `×10⁻⁹`, or empty.
    pub(crate) factor: String,
}

impl Ticks {
    /// Ticks for an axis of `length`; `extent` gives the length that a label needs along the axis,
    /// with the gap to its neighbour.
    pub(crate) fn new(range: &Range, length: f64, extent: impl Fn(&str) -> f64) -> Self {
        let fits = |ticks: &Self| {
            ticks.major.windows(2).all(|pair| {
                let distance = (pair[1].0 - pair[0].0) * length;
                (extent(&pair[0].1) + extent(&pair[1].1)) / 2.0 <= distance
            })
        };
        match range.scale() {
            AxisScale::Linear | AxisScale::Equal => linear(range, fits),
            AxisScale::Log => logarithmic(range, fits),
        }
    }

    /// Only the whole numbers, for counts.
    pub(crate) fn whole(mut self) -> Self {
        if !self.factor.is_empty() {
            return self;
        }
        self.major.retain_mut(|(_, label)| {
            let Some((digits, decimals)) = label.split_once('.') else { return true };
            let whole = decimals.bytes().all(|b| b == b'0');
            *label = digits.to_owned();
            whole
        });
        self
    }
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten.
fn linear(range: &Range, fits: impl Fn(&Ticks) -> bool) -> Ticks {
    let (low, high) = (range.value(range.ends().0), range.value(range.ends().1));
    let span = high - low;
    let mut last = Ticks::default();
    for count in (1..MOST).rev() {
        let raw = span / count as f64;
        let decade = raw.log10().floor();
        let factor = raw / 10f64.powf(decade);
        let (mantissa, decade) = match factor {
            f if f <= 1.0 => (1.0, decade),
            f if f <= 2.0 => (2.0, decade),
            f if f <= 5.0 => (5.0, decade),
            _ => (1.0, decade + 1.0),
        };
        let ticks = linear_with_step(range, mantissa, decade);
        if ticks.major.is_empty() {
            continue;
        }
        if fits(&ticks) {
            return ticks;
        }
        last = ticks;
    }
    last.major.truncate(1);
    last
}

fn linear_with_step(range: &Range, mantissa: f64, decade: f64) -> Ticks {
    let (low, high) = (range.value(range.ends().0), range.value(range.ends().1));
    let step = mantissa * 10f64.powf(decade);
    let slack = 1e-9 * (high - low);
    let first = ((low - slack) / step).ceil();
    let count = (((high + slack) / step).floor() - first).clamp(-1.0, 4.0 * MOST as f64) as i64;
    let values: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
    let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let exponent = match common_exponent(largest.max(step)) {
        // Changes below 1 of a large number read best in full.
        e if e > 0 && decade < 0.0 && largest < 1e9 => 0,
        e => e,
    };
    let decimals = (f64::from(exponent) - decade).clamp(0.0, 15.0) as usize;
    let label = |v: f64| fixed(scaled(v, exponent), decimals);
    Ticks {
        major: values
            .into_iter()
            .filter_map(|v| range.fraction(v).map(|f| (f.clamp(0.0, 1.0), label(v))))
            .collect(),
        minor: Vec::new(),
        factor: if exponent == 0 {
            String::new()
        } else {
            format!("×10{}", superscript(exponent))
        },
    }
}

/// Ticks at powers of ten, with 2 and 5 (or 3) between them where there is room.
fn logarithmic(range: &Range, fits: impl Fn(&Ticks) -> bool) -> Ticks {
    let (low, high) = range.ends();
    let decades = high - low;
    let mantissas: [&[u32]; 3] = [&[1, 2, 5], &[1, 3], &[1]];
    for set in mantissas.into_iter().filter(|set| set.len() == 1 || decades < 3.0) {
        let ticks = log_with(range, set, 1);
        if ticks.major.len() >= 2 && ticks.major.len() <= MOST && fits(&ticks) {
            return ticks;
        }
    }
    for stride in [2, 3, 5, 10, 20, 50, 100, 200] {
        let ticks = log_with(range, &[1], stride);
        if decades > 2.0 && ticks.major.len() <= MOST && !ticks.major.is_empty() && fits(&ticks) {
            return ticks;
        }
    }
    // Less than a decade: ticks at equal differences.
    linear(range, fits)
}

fn log_with(range: &Range, mantissas: &[u32], stride: i32) -> Ticks {
    let (low, high) = range.ends();
    let slack = 1e-9 * (high - low);
    let inside = |c: f64| c >= low - slack && c <= high + slack;
    let exponents = low.floor() as i32..=high.ceil() as i32;
    let coordinate = |m: u32, e: i32| f64::from(e) + f64::from(m).log10();
    let mut shown: Vec<(u32, i32)> = Vec::new();
    for e in exponents.clone().filter(|e| e.rem_euclid(stride) == 0) {
        shown.extend(mantissas.iter().map(|m| (*m, e)).filter(|(m, e)| inside(coordinate(*m, *e))));
    }
    let plain = shown.iter().all(|(_, e)| (-3..5).contains(e));
    let label = |m: u32, e: i32| match (plain, e) {
        (true, 0..) => format!("{}", u64::from(m) * 10u64.pow(e as u32)),
        (true, _) => fixed(f64::from(m) * 10f64.powi(e), -e as usize),
        (false, _) => scientific(m, e),
    };
    let fraction = |c: f64| ((c - low) / (high - low)).clamp(0.0, 1.0);
    let minor_mantissas = if stride == 1 && high - low < 8.0 { 1..=9 } else { 1..=1 };
    Ticks {
        major: shown.iter().map(|(m, e)| (fraction(coordinate(*m, *e)), label(*m, *e))).collect(),
        minor: exponents
            .flat_map(|e| minor_mantissas.clone().map(move |m| (m, e)))
            .map(|(m, e)| coordinate(m, e))
            .filter(|c| inside(*c))
            .map(fraction)
            .collect(),
        factor: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: [f64; 2], scale: AxisScale, length: f64) -> (Vec<String>, String) {
        let range = Range::around(values, scale).unwrap().tight();
        let ticks = Ticks::new(&range, length, |text| 8.0 * text.chars().count() as f64 + 10.0);
        (ticks.major.into_iter().map(|(_, label)| label).collect(), ticks.factor)
    }

    #[test]
    fn linear_ticks_are_round() {
        let (ticks, factor) = labels([0.0, 1.0], AxisScale::Linear, 400.0);
        assert_eq!(ticks, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(factor, "");
    }

    #[test]
    fn tiny_numbers_share_a_power_of_ten() {
        let (ticks, factor) = labels([0.0, 4e-9], AxisScale::Linear, 150.0);
        assert_eq!(ticks, ["0", "1", "2", "3", "4"]);
        assert_eq!(factor, "×10⁻⁹");
    }

    #[test]
    fn two_decades_of_stiffness_get_plain_labels() {
        let (ticks, _) = labels([300.0, 30_000.0], AxisScale::Log, 500.0);
        assert_eq!(ticks, ["500", "1000", "2000", "5000", "10000", "20000"]);
        let (ticks, _) = labels([300.0, 30_000.0], AxisScale::Log, 230.0);
        assert_eq!(ticks, ["300", "1000", "3000", "10000", "30000"]);
        let (ticks, _) = labels([1e-12, 1.0], AxisScale::Log, 250.0);
        assert_eq!(ticks, ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]);
    }

    #[test]
    fn labels_never_overlap_and_an_axis_has_at_least_one() {
        for exponent in -300..300 {
            for scale in [AxisScale::Linear, AxisScale::Log] {
                for width in [1.000_001, 1.1, 3.0, 50.0, 1e6] {
                    let low = 10f64.powi(exponent) * 1.234_567;
                    let range = Range::around([low, low * width], scale).unwrap();
                    let extent = |text: &str| 8.0 * text.chars().count() as f64;
                    let ticks = Ticks::new(&range, 200.0, extent);
                    assert!(!ticks.major.is_empty(), "{scale:?} {low:e} × {width}");
                    for pair in ticks.major.windows(2) {
                        let gap = (pair[1].0 - pair[0].0) * 200.0;
                        assert!(
                            gap >= (extent(&pair[0].1) + extent(&pair[1].1)) / 2.0,
                            "{ticks:?}"
                        );
                    }
                }
            }
        }
    }
}
