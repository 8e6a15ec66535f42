//! Dense LU factorisation with partial pivoting in caller-owned memory.
//!
//! nalgebra's `LU` allocates its permutation at every factorisation; stages must not allocate, and their factors
//! are kept for the derivatives, so this one works on slices of the trajectory's own memory. Row-major.

use osculate_math::Scalar;

/// Factorises `a` (n×n) in place; `pivots[k]` is the row exchanged with row k.
///
/// # Errors
/// The index of the first pivot that is zero or not finite.
pub(crate) fn factorise(a: &mut [f64], pivots: &mut [usize]) -> Result<(), usize> {
    let n = pivots.len();
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                best = i;
            }
        }
        pivots[k] = best;
        if best != k {
            for j in 0..n {
                a.swap(k * n + j, best * n + j);
            }
        }
        let pivot = a[k * n + k];
        if !(pivot.is_finite() && pivot.abs() > 0.0) {
            return Err(k);
        }
        let inverse = pivot.recip();
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let row_k = &upper[k * n + k + 1..];
        for row_i in lower.chunks_exact_mut(n) {
            let factor = row_i[k] * inverse;
            row_i[k] = factor;
            if factor != 0.0 {
                for (x, y) in row_i[k + 1..].iter_mut().zip(row_k) {
                    *x -= factor * y;
                }
            }
        }
    }
    Ok(())
}

/// Solves `A x = b` in place from the factors.
pub(crate) fn solve<T: Scalar>(lu: &[f64], pivots: &[usize], b: &mut [T]) {
    let n = pivots.len();
    for (k, &p) in pivots.iter().enumerate() {
        b.swap(k, p);
    }
    for i in 0..n {
        let mut sum = b[i];
        for j in 0..i {
            sum -= b[j] * lu[i * n + j];
        }
        b[i] = sum;
    }
    for i in (0..n).rev() {
        let mut sum = b[i];
        for j in i + 1..n {
            sum -= b[j] * lu[i * n + j];
        }
        b[i] = sum / lu[i * n + i];
    }
}

/// Solves `Aᵀ x = b` in place from the factors of `A`.
pub(crate) fn solve_transposed<T: Scalar>(lu: &[f64], pivots: &[usize], b: &mut [T]) {
    let n = pivots.len();
    for i in 0..n {
        let mut sum = b[i];
        for j in 0..i {
            sum -= b[j] * lu[j * n + i];
        }
        b[i] = sum / lu[i * n + i];
    }
    for i in (0..n).rev() {
        let mut sum = b[i];
        for j in i + 1..n {
            sum -= b[j] * lu[j * n + i];
        }
        b[i] = sum;
    }
    for (k, &p) in pivots.iter().enumerate().rev() {
        b.swap(k, p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    fn matrix(n: usize) -> DMatrix<f64> {
        // Not symmetric, zero diagonal in places: pivoting is needed.
        DMatrix::from_fn(n, n, |i, j| {
            if i == j && i % 2 == 0 {
                0.0
            } else {
                ((3 * i * i + 7 * i * j + j * j + 1) as f64).sin()
            }
        })
    }

    #[test]
    fn solutions_agree_with_nalgebra() {
        for n in [1, 2, 6, 13] {
            let m = if n == 1 { DMatrix::from_element(1, 1, 3.0) } else { matrix(n) };
            let b = DVector::from_fn(n, |i, _| (i as f64).cos());
            let mut lu: Vec<f64> = m.transpose().as_slice().to_vec();
            let mut pivots = vec![0; n];
            factorise(&mut lu, &mut pivots).unwrap();
            let mut x = b.as_slice().to_vec();
            solve(&lu, &pivots, &mut x);
            assert!((&m * DVector::from_vec(x) - &b).norm() < 1e-12);
            let mut y = b.as_slice().to_vec();
            solve_transposed(&lu, &pivots, &mut y);
            assert!((m.transpose() * DVector::from_vec(y) - &b).norm() < 1e-12);
        }
    }

    #[test]
    fn singular_matrix_names_its_pivot() {
        let mut a = vec![1.0, 2.0, 2.0, 4.0];
        assert_eq!(factorise(&mut a, &mut [0, 0]), Err(1));
        let mut a = vec![f64::NAN, 2.0, 2.0, 4.0];
        assert_eq!(factorise(&mut a, &mut [0, 0]), Err(0));
    }
}
