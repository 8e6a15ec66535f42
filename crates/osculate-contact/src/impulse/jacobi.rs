//! Eigenvalues of small symmetric matrices by Jacobi's rotations.
//!
//! nalgebra's decomposition asks every caller that is generic in the dimension for bounds on allocators; this one asks for none. It also finds small
//! eigenvalues of scaled matrices to a better relative accuracy.

use nalgebra::SMatrix;

/// Sweeps over all pairs; convergence is quadratic, and eight are enough for any matrix of ten rows.
const SWEEPS: usize = 30;

/// Eigenvalues, and eigenvectors as columns, of a symmetric matrix; the upper triangle is read.
pub(super) fn eigen<const N: usize>(matrix: &SMatrix<f64, N, N>) -> ([f64; N], SMatrix<f64, N, N>) {
    let mut a = SMatrix::<f64, N, N>::from_fn(|i, j| matrix[(i.min(j), i.max(j))]);
    let mut vectors = SMatrix::<f64, N, N>::identity();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..N {
            for q in p + 1..N {
                rotated |= rotate(&mut a, &mut vectors, p, q);
            }
        }
        if !rotated {
            break;
        }
    }
    (std::array::from_fn(|i| a[(i, i)]), vectors)
}

/// Makes the entry `(p, q)` zero; false where it is already, to rounding.
fn rotate<const N: usize>(
    a: &mut SMatrix<f64, N, N>,
    vectors: &mut SMatrix<f64, N, N>,
    p: usize,
    q: usize,
) -> bool {
    let (app, aqq, apq) = (a[(p, p)], a[(q, q)], a[(p, q)]);
    let negligible = 0.5 * f64::EPSILON * (app.abs() * aqq.abs()).sqrt();
    if apq.abs() <= negligible {
        return false;
    }
    let ratio = (aqq - app) / (2.0 * apq);
    let tangent = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
    let cosine = (tangent * tangent + 1.0).sqrt().recip();
    let sine = tangent * cosine;
    let turn = |x: f64, y: f64| (cosine * x - sine * y, sine * x + cosine * y);
    for k in 0..N {
        let (x, y) = turn(vectors[(k, p)], vectors[(k, q)]);
        (vectors[(k, p)], vectors[(k, q)]) = (x, y);
        if k != p && k != q {
            let (x, y) = turn(a[(k, p)], a[(k, q)]);
            (a[(k, p)], a[(p, k)], a[(k, q)], a[(q, k)]) = (x, x, y, y);
        }
    }
    (a[(p, p)], a[(q, q)]) = (app - tangent * apq, aqq + tangent * apq);
    (a[(p, q)], a[(q, p)]) = (0.0, 0.0);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impulse::test_problems::Problems;

    #[test]
    fn eigenvectors_rebuild_the_matrix_over_many_scales() {
        let mut problems = Problems::new(31);
        for _ in 0..500 {
            let scales: [f64; 5] = std::array::from_fn(|_| problems.decades(-4.0, 4.0));
            let random = SMatrix::<f64, 5, 5>::from_fn(|_, _| problems.normal());
            let full = random * random.transpose();
            let a = SMatrix::<f64, 5, 5>::from_fn(|i, j| full[(i, j)] * scales[i] * scales[j]);
            let (values, v) = eigen(&a);
            let rebuilt = v * SMatrix::from_diagonal(&values.into()) * v.transpose();
            assert!((rebuilt - a).norm() <= 1e-14 * a.norm());
            assert!((v.transpose() * v - SMatrix::identity()).norm() <= 1e-14);
        }
        let (zero, _) = eigen(&SMatrix::<f64, 3, 3>::zeros());
        assert!(zero.iter().all(|x| x.abs() <= 0.0));
    }
}
