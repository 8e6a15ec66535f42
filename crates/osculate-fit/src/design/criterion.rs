//! From information to standard errors, and what makes one experiment better than another.
//!
//! ```text
//! C = Λ⁻¹        targets t of n:   A = √tr C_tt      D = det(C_tt)^(1/2n)      E = √λ_max(C_tt)
//! ∂ln A/∂Λ = −C P_t C/(2 tr C_tt)   ∂ln D/∂Λ = −C_{·t} C_tt⁻¹ C_{t·}/(2n)   ∂ln E/∂Λ = −C v vᵀ C/(2 λ_max)
//! ```
//!
//! All three are standard errors in the coordinates of the parameters; of one target they are one number. With nuisance
//! parameters the information of an experiment is `F = H_gg − H_gl (H_ll + P)⁻¹ H_lg`, and with `X = (1, −(H_ll + P)⁻¹ H_lg)`
//! its change is `dF = Xᵀ dH X`: a cotangent `G` of `F` is `X G Xᵀ` of the joint matrix `H = JᵀJ`.

use super::file::Criterion;
use nalgebra::{DMatrix, SymmetricEigen};

/// A direction with less of the scaled information than this part of the largest is not determined.
const SINGULAR: f64 = 1e-13;
/// Share of a parameter in such a direction above which it is not determined.
const SHARE: f64 = 1e-9;

/// Covariance of the parameters, where the information determines them.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// `C`, in the directions that are determined.
    pub covariance: DMatrix<f64>,
    /// Which parameters are determined.
    pub determined: Vec<bool>,
    /// Projector on the directions that are not, in coordinates scaled to a unit diagonal of the information.
    pub undetermined: DMatrix<f64>,
}

impl Posterior {
    /// Inverts an information matrix, which may be singular.
    pub fn of(information: &DMatrix<f64>) -> Self {
        let n = information.nrows();
        let seen: Vec<bool> = (0..n).map(|i| information[(i, i)] > 0.0).collect();
        // Scaled to a unit diagonal: what counts as singular must not depend on units.
        let scale: Vec<f64> = (0..n)
            .map(|i| if seen[i] { information[(i, i)].sqrt().recip() } else { 0.0 })
            .collect();
        let scaled = DMatrix::from_fn(n, n, |i, j| information[(i, j)] * scale[i] * scale[j]);
        let eigen = SymmetricEigen::new(scaled);
        let largest = eigen.eigenvalues.max().max(f64::MIN_POSITIVE);
        let mut determined = seen;
        let mut covariance = DMatrix::zeros(n, n);
        let mut undetermined = DMatrix::zeros(n, n);
        for (k, l) in eigen.eigenvalues.iter().enumerate() {
            let v = eigen.eigenvectors.column(k);
            if *l > SINGULAR * largest {
                covariance += v * v.transpose() / *l;
            } else {
                undetermined += v * v.transpose();
                for (i, d) in determined.iter_mut().enumerate() {
                    *d &= v[i] * v[i] <= SHARE;
                }
            }
        }
        let covariance = DMatrix::from_fn(n, n, |i, j| covariance[(i, j)] * scale[i] * scale[j]);
        Self { covariance, determined, undetermined }
    }

    /// Standard error of each coordinate, infinite where it is not determined.
    pub fn standard_errors(&self) -> Vec<f64> {
        let error = |(i, d): (usize, &bool)| {
            if *d { self.covariance[(i, i)].max(0.0).sqrt() } else { f64::INFINITY }
        };
        self.determined.iter().enumerate().map(error).collect()
    }

    fn of_targets(&self, targets: &[usize]) -> Option<DMatrix<f64>> {
        let all = targets.iter().all(|&t| self.determined[t]);
        let block = |i: usize, j: usize| self.covariance[(targets[i], targets[j])];
        all.then(|| DMatrix::from_fn(targets.len(), targets.len(), block))
    }

    /// The standard error that a criterion makes small, infinite where a target is not determined.
    pub fn score(&self, criterion: Criterion, targets: &[usize]) -> f64 {
        let Some(block) = self.of_targets(targets) else { return f64::INFINITY };
        match criterion {
            Criterion::A => block.trace().sqrt(),
            Criterion::D => {
                log_det(&block).map_or(f64::INFINITY, |l| (l / (2.0 * targets.len() as f64)).exp())
            }
            Criterion::E => SymmetricEigen::new(block).eigenvalues.max().sqrt(),
        }
    }

    /// `ln det C_tt`; none where a target is not determined.
    pub fn log_det(&self, targets: &[usize]) -> Option<f64> {
        log_det(&self.of_targets(targets)?)
    }

    /// Derivative of the logarithm of the score by the information; none where the score is infinite.
    pub fn slope(&self, criterion: Criterion, targets: &[usize]) -> Option<DMatrix<f64>> {
        let block = self.of_targets(targets)?;
        let columns = self.covariance.select_columns(targets.iter());
        let middle = match criterion {
            Criterion::A => DMatrix::identity(targets.len(), targets.len()) / (2.0 * block.trace()),
            Criterion::D => block.cholesky()?.inverse() / (2.0 * targets.len() as f64),
            Criterion::E => {
                let eigen = SymmetricEigen::new(block);
                let k = eigen.eigenvalues.imax();
                let v = eigen.eigenvectors.column(k);
                v * v.transpose() / (2.0 * eigen.eigenvalues[k])
            }
        };
        Some(-(&columns * middle * columns.transpose()))
    }
}

fn log_det(block: &DMatrix<f64>) -> Option<f64> {
    let factor = block.clone().cholesky()?;
    Some(2.0 * factor.l_dirty().diagonal().iter().map(|x| x.ln()).sum::<f64>())
}

/// Joint information `JᵀJ` of parameters (first) and nuisance parameters, and the prior of the latter.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Rows of residuals in units of their noise, columns of parameters, then of nuisance parameters.
    pub jacobian: DMatrix<f64>,
    /// `1/σ²` of each nuisance parameter.
    pub prior: Vec<f64>,
}

impl Joint {
    /// Information of the parameters with the nuisance parameters eliminated, and `X`.
    pub fn eliminated(&self) -> (DMatrix<f64>, DMatrix<f64>) {
        let joint = self.jacobian.tr_mul(&self.jacobian);
        let (p, q) = (joint.nrows() - self.prior.len(), self.prior.len());
        let mut own = joint.view((p, p), (q, q)).into_owned();
        for (k, weight) in self.prior.iter().enumerate() {
            own[(k, k)] += weight;
        }
        let mut x = DMatrix::zeros(p + q, p);
        x.view_mut((0, 0), (p, p)).fill_with_identity();
        // A positive prior makes it positive definite.
        if let Some(factor) = own.cholesky() {
            let coupling = joint.view((p, 0), (q, p)).into_owned();
            x.view_mut((p, 0), (q, p)).copy_from(&-factor.solve(&coupling));
        }
        let information = joint.rows(0, p) * &x;
        ((&information + information.transpose()) * 0.5, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn information() -> DMatrix<f64> {
        let j = DMatrix::from_row_slice(
            4,
            3,
            &[1.0, 0.2, -0.3, 0.4, 2.0, 0.1, -0.5, 0.3, 0.7, 1.1, -0.6, 0.2],
        );
        j.tr_mul(&j)
    }

    #[test]
    fn slopes_of_the_criteria_are_those_of_differences() {
        let at = information();
        for criterion in [Criterion::A, Criterion::D, Criterion::E] {
            for targets in [vec![0], vec![2, 0], vec![0, 1, 2]] {
                let slope = Posterior::of(&at).slope(criterion, &targets).unwrap();
                for (i, j) in [(0, 0), (0, 1), (1, 2), (2, 2)] {
                    let value = |h: f64| {
                        let mut moved = at.clone();
                        moved[(i, j)] += h;
                        moved[(j, i)] = moved[(i, j)];
                        Posterior::of(&moved).score(criterion, &targets).ln()
                    };
                    let h = 1e-5;
                    let difference = (value(h) - value(-h)) / (2.0 * h);
                    let exact = if i == j { slope[(i, j)] } else { 2.0 * slope[(i, j)] };
                    assert!(
                        (difference - exact).abs() < 1e-8,
                        "{criterion:?} {targets:?} ({i}, {j}): {exact} against {difference}"
                    );
                }
            }
        }
    }

    #[test]
    fn d_optimality_does_not_depend_on_the_scale_of_a_parameter() {
        let (a, b) = (information(), information() * 1.7 + DMatrix::identity(3, 3));
        let scale = DMatrix::from_diagonal(&nalgebra::dvector![1e3, 0.2, 5.0]);
        let ratio = |criterion, a: &DMatrix<f64>, b: &DMatrix<f64>| {
            let all = [0, 1, 2];
            let score = |m: &DMatrix<f64>| Posterior::of(m).score(criterion, &all);
            score(a) / score(b)
        };
        let scaled = |m: &DMatrix<f64>| &scale * m * &scale;
        let (before, after) =
            (ratio(Criterion::D, &a, &b), ratio(Criterion::D, &scaled(&a), &scaled(&b)));
        assert!((before / after - 1.0).abs() < 1e-10, "{before} {after}");
        // The trace does.
        let (before, after) =
            (ratio(Criterion::A, &a, &b), ratio(Criterion::A, &scaled(&a), &scaled(&b)));
        assert!((before / after - 1.0).abs() > 1e-2, "{before} {after}");
    }

    #[test]
    fn what_is_not_seen_has_an_infinite_error_and_the_rest_its_own() {
        // The sum of the first two is told alone, the third by itself, the fourth not at all.
        let j = DMatrix::from_row_slice(2, 4, &[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
        let posterior = Posterior::of(&j.tr_mul(&j));
        let errors = posterior.standard_errors();
        assert!(errors[0].is_infinite() && errors[1].is_infinite() && errors[3].is_infinite());
        assert!((errors[2] - 0.5).abs() < 1e-12, "{errors:?}");
        assert!(posterior.score(Criterion::A, &[0]).is_infinite());
        assert!(posterior.slope(Criterion::A, &[0, 2]).is_none());
        assert!((posterior.score(Criterion::E, &[2]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn eliminated_information_is_that_of_the_joint_problem() {
        // Squares: the sines of a sequence of equal steps span two dimensions only.
        let jacobian = DMatrix::from_fn(9, 5, |i, j| ((i * 5 + j).pow(2) as f64 * 0.37).sin());
        let joint = Joint { jacobian, prior: vec![4.0, 0.5] };
        let (information, x) = joint.eliminated();
        let mut all = joint.jacobian.tr_mul(&joint.jacobian);
        all[(3, 3)] += 4.0;
        all[(4, 4)] += 0.5;
        let corner = all.clone().try_inverse().unwrap().view((0, 0), (3, 3)).into_owned();
        assert!((information.clone().try_inverse().unwrap() - corner).norm() < 1e-10);
        assert!((&x.transpose() * all * &x - information).norm() < 1e-10);
    }
}
