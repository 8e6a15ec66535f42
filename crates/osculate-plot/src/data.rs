//! Checks and summaries of the numbers that are drawn.

use crate::error::PlotError;

/// Beyond this the width of an axis overflows.
const LARGEST: f64 = 1e300;

/// Whether a value can be drawn on a linear axis.
pub(crate) fn usable(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// The usable values, in increasing order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut kept: Vec<f64> = values.iter().copied().filter(|v| usable(*v)).collect();
    kept.sort_by(f64::total_cmp);
    kept
}

/// Mean; the slice is not empty.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    values.iter().map(|v| v / count).sum()
}

/// Median of values in increasing order; the slice is not empty.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    low + (high - low) / 2.0
}

/// Refuses arrays that differ in length.
pub(crate) fn same_length(what: &str, expected: usize, found: usize) -> Result<(), PlotError> {
    if expected == found {
        return Ok(());
    }
    Err(PlotError::LengthMismatch { what: what.to_owned(), expected, found })
}

/// Pairs of two slices.
pub(crate) fn points(x: &[f64], y: &[f64]) -> Vec<(f64, f64)> {
    x.iter().copied().zip(y.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_count_lies_half_way() {
        assert!((median(&sorted(&[4.0, 1.0, f64::NAN, 2.0, 3.0])) - 2.5).abs() < 1e-15);
        assert!((median(&[7.0]) - 7.0).abs() < 1e-15);
    }
}
