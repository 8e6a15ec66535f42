//! A robust quadratic trend of scattered values on the box `[−1, 1]ⁿ`.
//!
//! ```text
//! y_j ≈ m(x_j) = β₀ + gᵀx_j + ½ x_jᵀ H x_j        minimise Σ_j ψ_j (y_j − m(x_j))²/m(x_j)²
//! ```
//!
//! Scatter is taken as relative: a loss twice as high scatters twice as much, so the walls of a valley do not decide
//! where its floor is. `ψ_j` are Huber's weights, which bound the influence of single values. Both weights follow from
//! the fit before (iteratively re-weighted least squares).

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Re-weightings: from the second on, weights change by percents.
const REWEIGHTINGS: usize = 12;
/// Huber's constant: 95 % efficient for normal scatter.
const HUBER: f64 = 1.345;

/// A fitted quadratic.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadratic {
    constant: f64,
    gradient: DVector<f64>,
    hessian: DMatrix<f64>,
    /// Covariance of the coefficients, in the order of [`terms`].
    covariance: DMatrix<f64>,
    scatter: f64,
    r_squared: f64,
}

/// How many coefficients a quadratic of `n` variables has.
pub fn coefficients(n: usize) -> usize {
    (n + 1) * (n + 2) / 2
}

/// `1, x_i, x_i²/2, x_i x_j (i < j)`.
fn terms(x: &[f64]) -> Vec<f64> {
    let mut t = vec![1.0];
    t.extend_from_slice(x);
    t.extend(x.iter().map(|x| 0.5 * x * x));
    for i in 0..x.len() {
        t.extend(x[i + 1..].iter().map(|y| x[i] * y));
    }
    t
}

/// Gradient of each of the [`terms`], shape [n, coefficients].
fn term_gradients(x: &[f64]) -> DMatrix<f64> {
    let n = x.len();
    let mut d = DMatrix::zeros(n, coefficients(n));
    let mut pair = 1 + 2 * n;
    for i in 0..n {
        d[(i, 1 + i)] = 1.0;
        d[(i, 1 + n + i)] = x[i];
        for j in i + 1..n {
            d[(i, pair)] = x[j];
            d[(j, pair)] = x[i];
            pair += 1;
        }
    }
    d
}

impl Quadratic {
    /// Fits positive values at points of the box; none where there are fewer than two more than coefficients, or the
    /// points do not determine them.
    pub fn fit(points: &[Vec<f64>], values: &[f64]) -> Option<Self> {
        let n = points.first()?.len();
        let p = coefficients(n);
        if values.len() < p + 2 {
            return None;
        }
        let rows: Vec<Vec<f64>> = points.iter().map(|x| terms(x)).collect();
        let basis = DMatrix::from_fn(rows.len(), p, |j, k| rows[j][k]);
        let y = DVector::from_column_slice(values);
        let lowest = y.min().max(f64::MIN_POSITIVE);
        let mut weights = y.map(|y| 1.0 / y.max(lowest));
        let mut beta = solve(&basis, &y, &weights)?.0;
        for _ in 0..REWEIGHTINGS {
            let trend = &basis * &beta;
            // A trend below every value would get any weight it likes.
            let relative = trend.map(|m| 1.0 / m.max(0.5 * lowest));
            let residuals = (&y - &trend).component_mul(&relative);
            let spread = HUBER * 1.4826 * median(residuals.iter().map(|r| r.abs()).collect());
            weights = relative.zip_map(&residuals, |w, r| {
                if r.abs() > spread && spread > 1e-12 { w * (spread / r.abs()).sqrt() } else { w }
            });
            beta = solve(&basis, &y, &weights)?.0;
        }
        let (beta, inverse) = solve(&basis, &y, &weights)?;
        let trend = &basis * &beta;
        let weighted = (&y - &trend).component_mul(&weights);
        let variance = weighted.norm_squared() / (values.len() - p) as f64;
        let mean = weights.component_mul(&weights).dot(&y) / weights.norm_squared();
        let total = y.map(|y| y - mean).component_mul(&weights).norm_squared();
        let residual = (&y - &trend).zip_map(&trend, |r, m| (r / m.max(0.5 * lowest)).powi(2));
        Some(Self {
            constant: beta[0],
            gradient: beta.rows(1, n).into_owned(),
            hessian: hessian(n, &beta),
            covariance: inverse * variance,
            scatter: (residual.sum() / (values.len() - p) as f64).sqrt(),
            r_squared: if total > 0.0 { 1.0 - weighted.norm_squared() / total } else { 1.0 },
        })
    }

    /// `m(x)`.
    pub fn value(&self, x: &[f64]) -> f64 {
        let x = DVector::from_column_slice(x);
        self.constant + self.gradient.dot(&x) + 0.5 * x.dot(&(&self.hessian * &x))
    }

    /// `H`.
    pub fn hessian(&self) -> &DMatrix<f64> {
        &self.hessian
    }

    /// Standard deviation of the values about the trend, relative to it.
    pub fn scatter(&self) -> f64 {
        self.scatter
    }

    /// Share of the weighted variance that the trend explains.
    pub fn r_squared(&self) -> f64 {
        self.r_squared
    }

    /// The least curvature that the scatter lets one tell from none: the mean standard error of the `H_ii`.
    fn least_curvature(&self) -> f64 {
        let n = self.gradient.len();
        let error = |i: usize| self.covariance[(1 + n + i, 1 + n + i)].max(0.0).sqrt();
        (0..n).map(error).sum::<f64>() / n as f64
    }

    /// A power of `H` with eigenvalues raised to the least curvature.
    fn positive(&self, power: i32) -> DMatrix<f64> {
        let eigen = SymmetricEigen::new(self.hessian.clone());
        let floor = self.least_curvature().max(1e-9 * eigen.eigenvalues.amax());
        let raised = eigen.eigenvalues.map(|l| l.max(floor).max(f64::MIN_POSITIVE).powi(power));
        let v = &eigen.eigenvectors;
        v * DMatrix::from_diagonal(&raised) * v.transpose()
    }

    /// Second derivative along a coordinate with the others optimal, `1/(H⁻¹)_ii`.
    pub fn valley_curvature(&self, i: usize) -> f64 {
        1.0 / self.positive(-1)[(i, i)]
    }

    /// The minimum inside the box, `H` made positive: curvature that the scatter hides counts as just significant, so
    /// that a direction without any goes to a face only along a significant slope.
    pub fn minimum(&self) -> Vec<f64> {
        let n = self.gradient.len();
        let positive = self.positive(1);
        // Coordinate descent: for a positive definite matrix and a box it converges to the only minimum.
        let mut x = vec![0.0; n];
        for _ in 0..10_000 {
            let mut moved = 0.0_f64;
            for i in 0..n {
                let slope = self.gradient[i]
                    + (0..n).filter(|&j| j != i).map(|j| positive[(i, j)] * x[j]).sum::<f64>();
                let next = (-slope / positive[(i, i)]).clamp(-1.0, 1.0);
                moved = moved.max((next - x[i]).abs());
                x[i] = next;
            }
            if moved < 1e-12 {
                break;
            }
        }
        x
    }

    /// Standard error of each coordinate of the minimum, `H⁻¹ (∇t C ∇tᵀ) H⁻¹` with the covariance `C` of the
    /// coefficients of the terms `t` and `H` made positive as for [`Quadratic::minimum`]; none for a coordinate on a
    /// face, and where the error exceeds the box.
    pub fn standard_errors(&self, minimum: &[f64]) -> Vec<Option<f64>> {
        let n = minimum.len();
        let free: Vec<usize> = (0..n).filter(|&i| minimum[i].abs() < 1.0).collect();
        let mut errors = vec![None; n];
        if free.is_empty() {
            return errors;
        }
        let part = self.positive(1).select_rows(&free).select_columns(&free);
        let Some(inverse) = part.try_inverse() else { return errors };
        let slopes = term_gradients(minimum).select_rows(&free);
        let covariance = &inverse * (&slopes * &self.covariance * slopes.transpose()) * &inverse;
        for (k, &i) in free.iter().enumerate() {
            errors[i] = Some(covariance[(k, k)].max(0.0).sqrt()).filter(|e| *e <= 1.0);
        }
        errors
    }
}

fn hessian(n: usize, beta: &DVector<f64>) -> DMatrix<f64> {
    let mut h = DMatrix::zeros(n, n);
    let mut pair = 1 + 2 * n;
    for i in 0..n {
        h[(i, i)] = beta[1 + n + i];
        for j in i + 1..n {
            h[(i, j)] = beta[pair];
            h[(j, i)] = beta[pair];
            pair += 1;
        }
    }
    h
}

/// Weighted least squares: coefficients, and the inverse of the normal matrix.
fn solve(
    basis: &DMatrix<f64>,
    values: &DVector<f64>,
    weights: &DVector<f64>,
) -> Option<(DVector<f64>, DMatrix<f64>)> {
    let rows = DMatrix::from_fn(basis.nrows(), basis.ncols(), |j, k| basis[(j, k)] * weights[j]);
    let right = values.component_mul(weights);
    let qr = rows.qr();
    let r = qr.r();
    let largest = r.diagonal().amax();
    if r.diagonal().amin() <= 1e-12 * largest {
        return None;
    }
    let inverse = r.clone().try_inverse()?;
    let beta = &inverse * (qr.q().tr_mul(&right));
    Some((beta, &inverse * inverse.transpose()))
}

fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    if x.is_empty() { 0.0 } else { x[x.len() / 2] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::latin_column;
    use rand::{SeedableRng, rngs::StdRng};

    fn points(count: usize, n: usize) -> Vec<Vec<f64>> {
        let mut rng = StdRng::seed_from_u64(3);
        let columns: Vec<_> = (0..n).map(|_| latin_column(count, &mut rng)).collect();
        (0..count).map(|k| columns.iter().map(|c| 2.0 * c[k] - 1.0).collect()).collect()
    }

    /// Minimum at (0.3, −0.5), value 2 there.
    fn bowl(x: &[f64]) -> f64 {
        let (a, b) = (x[0] - 0.3, x[1] + 0.5);
        2.0 + 3.0 * a * a + b * b + 1.5 * a * b
    }

    #[test]
    fn a_quadratic_is_fitted_exactly() {
        let x = points(20, 2);
        let q = Quadratic::fit(&x, &x.iter().map(|x| bowl(x)).collect::<Vec<_>>()).unwrap();
        let m = q.minimum();
        assert!((m[0] - 0.3).abs() < 1e-9 && (m[1] + 0.5).abs() < 1e-9, "{m:?}");
        assert!((q.value(&m) - 2.0).abs() < 1e-12 && q.scatter() < 1e-12);
        assert!((q.hessian()[(0, 0)] - 6.0).abs() < 1e-9);
        assert!((q.hessian()[(0, 1)] - 1.5).abs() < 1e-9);
        assert!((q.r_squared() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_minimum_on_a_face_is_optimal_along_it() {
        let far = |x: &[f64]| bowl(&[x[0] - 2.0, x[1]]);
        let x = points(20, 2);
        let q = Quadratic::fit(&x, &x.iter().map(|x| far(x)).collect::<Vec<_>>()).unwrap();
        let m = q.minimum();
        assert!((m[0] - 1.0).abs() < 1e-12);
        assert!([-1e-3, 1e-3].iter().all(|d| q.value(&[m[0], m[1] + d]) > q.value(&m)));
        assert_eq!(q.standard_errors(&m)[0], None);
    }

    #[test]
    fn one_wild_value_in_thirty_moves_the_minimum_less_than_a_plain_fit() {
        let x = points(30, 2);
        let mut y: Vec<f64> = x.iter().map(|x| bowl(x)).collect();
        // Scatter of a percent, so that Huber's weights have a scale.
        for (k, y) in y.iter_mut().enumerate() {
            *y *= 1.0 + 0.01 * if k % 2 == 0 { 1.0 } else { -1.0 };
        }
        let good = Quadratic::fit(&x, &y).unwrap().minimum();
        y[7] *= 3.0;
        let robust = Quadratic::fit(&x, &y).unwrap().minimum();
        let rows: Vec<_> = x.iter().map(|x| terms(x)).collect();
        let basis = DMatrix::from_fn(30, 6, |j, k| rows[j][k]);
        let ones = DVector::from_element(30, 1.0);
        let beta = solve(&basis, &DVector::from_vec(y), &ones).unwrap().0;
        let plain = -hessian(2, &beta).try_inverse().unwrap() * beta.rows(1, 2);
        let off = |m: &[f64]| (m[0] - good[0]).hypot(m[1] - good[1]);
        assert!(off(&robust) < 0.2 * off(plain.as_slice()), "{robust:?} {plain:?} {good:?}");
    }

    #[test]
    fn standard_errors_are_the_spread_over_repeated_scatter() {
        let x = points(40, 2);
        let mut rng = StdRng::seed_from_u64(8);
        let (mut minima, mut claimed) = (Vec::new(), Vec::new());
        for _ in 0..400 {
            let noise = latin_column(40, &mut rng);
            let y: Vec<f64> =
                x.iter().zip(noise).map(|(x, e)| bowl(x) * (1.0 + 0.1 * (e - 0.5))).collect();
            let q = Quadratic::fit(&x, &y).unwrap();
            let m = q.minimum();
            claimed.push(q.standard_errors(&m)[1].unwrap());
            minima.push(m[1]);
        }
        let mean = minima.iter().sum::<f64>() / 400.0;
        let spread = (minima.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        let claimed = claimed.iter().sum::<f64>() / 400.0;
        assert!((claimed / spread - 1.0).abs() < 0.25, "claimed {claimed}, found {spread}");
    }

    #[test]
    fn too_few_or_degenerate_points_have_no_trend() {
        let x = points(7, 2);
        assert_eq!(Quadratic::fit(&x, &[1.0; 7]), None);
        let line: Vec<Vec<f64>> = (0..20).map(|k| vec![0.1 * f64::from(k) - 1.0, 0.0]).collect();
        assert_eq!(Quadratic::fit(&line, &[1.0; 20]), None);
    }
}
