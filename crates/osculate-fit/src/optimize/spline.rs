//! B-splines over the steps of a control.
//!
//! ```text
//! u(t) = Σ_j B_j(t) θ_j          Σ_j B_j(t) = 1,  B_j ≥ 0        on a clamped uniform knot vector
//! ```
//!
//! Degree 0 holds constant pieces, 1 draws straight lines between the numbers, 3 is twice continuously differentiable. As
//! the basis is a partition of unity, a control stays in the range of its numbers. Recursion: Cox and de Boor
//! (C. de Boor, *A Practical Guide to Splines*, 1978, ch. IX).

/// Values of the basis functions that are not zero at `x`: index and value.
///
/// * `x`: place on the domain, 0 to 1.
/// * `count`: how many numbers there are, > `degree`.
pub fn basis(x: f64, count: usize, degree: usize) -> Vec<(usize, f64)> {
    let pieces = count - degree;
    let scaled = x.clamp(0.0, 1.0) * pieces as f64;
    let piece = (scaled.floor() as usize).min(pieces - 1);
    let knot = |i: usize| (i as f64 - degree as f64).clamp(0.0, pieces as f64);
    // Of degree 0 in its piece, then degree by degree; the piece lies between the knots `last` and `last + 1`.
    let last = piece + degree;
    let mut values = vec![1.0];
    for d in 1..=degree {
        let mut next = vec![0.0; d + 1];
        for (k, value) in values.iter().enumerate() {
            let i = last + k + 1 - d;
            let (left, right) = (knot(i), knot(i + d));
            let share = (scaled - left) / (right - left);
            next[k] += value * (1.0 - share);
            next[k + 1] += value * share;
        }
        values = next;
    }
    values.into_iter().enumerate().map(|(k, v)| (last - degree + k, v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basis_is_a_partition_of_unity_and_not_negative() {
        for degree in [0, 1, 3] {
            for count in degree + 1..degree + 7 {
                for i in 0..=200 {
                    let values = basis(f64::from(i) / 200.0, count, degree);
                    let sum: f64 = values.iter().map(|v| v.1).sum();
                    assert!((sum - 1.0).abs() < 1e-14, "degree {degree}, {count} numbers: {sum}");
                    assert!(values.iter().all(|v| v.1 >= -1e-15 && v.0 < count));
                }
            }
        }
    }

    #[test]
    fn ends_are_the_first_and_the_last_number() {
        for degree in [0, 1, 3] {
            for (x, at) in [(0.0, 0), (1.0, 6)] {
                for (i, value) in basis(x, 7, degree) {
                    assert!((value - f64::from(u8::from(i == at))).abs() < 1e-15);
                }
            }
        }
    }

    /// `Σ ξ_j B_j(x) = x` with the Greville abscissas `ξ_j`, means of `degree` knots.
    #[test]
    fn splines_reproduce_straight_lines() {
        for (degree, count) in [(1, 5), (3, 8)] {
            let pieces = (count - degree) as f64;
            let knot = |i: usize| (i as f64 - degree as f64).clamp(0.0, pieces) / pieces;
            let greville =
                |j: usize| (1..=degree).map(|k| knot(j + k)).sum::<f64>() / degree as f64;
            for i in 0..=50 {
                let x = f64::from(i) / 50.0;
                let sum: f64 = basis(x, count, degree).iter().map(|(j, v)| v * greville(*j)).sum();
                assert!((sum - x).abs() < 1e-14, "degree {degree} at {x}: {sum}");
            }
        }
    }
}
