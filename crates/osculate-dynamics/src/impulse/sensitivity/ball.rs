//! Impulses on a ball: `‖y‖ ≤ ρ`, several rows that slip together.

/// Orthonormal directions across a unit vector, by Householder's reflection.
pub(super) fn across(along: &[f64]) -> Vec<Vec<f64>> {
    let sign = if along[0] < 0.0 { -1.0 } else { 1.0 };
    let mut mirror = along.to_vec();
    mirror[0] += sign;
    let square: f64 = mirror.iter().map(|x| x * x).sum();
    let column = |j: usize| {
        let factor = 2.0 * mirror[j] / square;
        let entry = |(i, m): (usize, &f64)| f64::from(u8::from(i == j)) - m * factor;
        mirror.iter().enumerate().map(entry).collect()
    };
    (1..along.len()).map(column).collect()
}

/// Part of a block's trace up to which `α` counts as rounding: such a ball sticks \[–\].
pub(super) const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_across_are_orthonormal_and_across() {
        for along in [vec![0.6, -0.8], vec![-0.48, 0.6, 0.64], vec![1.0, 0.0, 0.0], vec![0.5; 4]] {
            let found = across(&along);
            assert_eq!(found.len(), along.len() - 1);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            for (i, a) in found.iter().enumerate() {
                assert!(dot(a, &along).abs() < 1e-15);
                for (j, b) in found.iter().enumerate() {
                    assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-15);
                }
            }
        }
    }
}
