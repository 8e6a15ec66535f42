//! Parameters that the data cannot tell apart, by name.
//!
//! ```text
//! marginal    σ_i = √(C_ii)            C = s² H⁻¹: the others free
//! conditional τ_i = √(s²/H_ii)         the others known
//! ```
//!
//! Where `σ_i` is large and `τ_i` is small, the data do speak of parameter `i`, but only together with others: along a
//! valley of the loss it *moves with* them. Where the valley has no end, `σ_i` is infinite and the valley itself, a direction
//! without information, says with which.

use super::WEAK;
use crate::design::Posterior;
use nalgebra::DMatrix;

/// A parameter moves with others where knowing them makes its standard error smaller by this factor.
const TOGETHER: f64 = 3.0;
/// Correlation from which a parameter is a partner.
const PARTNER: f64 = 0.7;

/// Partners of each parameter, those with the largest correlation first; empty where it has none.
///
/// * `information`: `H`; `posterior`: its inverse; `variance`: `s²`.
pub(super) fn partners(
    information: &DMatrix<f64>,
    posterior: &Posterior,
    variance: f64,
) -> Vec<Vec<usize>> {
    let n = information.nrows();
    let marginal: Vec<f64> =
        posterior.standard_errors().iter().map(|e| e * variance.sqrt()).collect();
    let size = |m: &DMatrix<f64>, i: usize, j: usize| {
        let both = (m[(i, i)] * m[(j, j)]).sqrt();
        if both > 0.0 { (m[(i, j)] / both).abs() } else { 0.0 }
    };
    let of = |i: usize| -> Vec<usize> {
        let conditional = (variance / information[(i, i)]).sqrt();
        // Also where the data say nothing of it at all: then the conditional error is infinite too, and no partner helps.
        if !(marginal[i] > WEAK && conditional * TOGETHER < marginal[i]) {
            return Vec::new();
        }
        let finite = posterior.determined[i];
        let along = if finite { &posterior.covariance } else { &posterior.undetermined };
        let correlation = |j: usize| size(along, i, j);
        let comparable = |&j: &usize| j != i && posterior.determined[j] == finite;
        let mut others: Vec<usize> = (0..n).filter(comparable).collect();
        others.sort_by(|&a, &b| correlation(b).total_cmp(&correlation(a)));
        // Three that only together make a valley have smaller correlations: the largest is named at least.
        let count = others.iter().filter(|&&j| correlation(j) >= PARTNER).count().max(1);
        others.truncate(count);
        others
    };
    (0..n).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(jacobian: &DMatrix<f64>, variance: f64) -> Vec<Vec<usize>> {
        let information = jacobian.tr_mul(jacobian);
        partners(&information, &Posterior::of(&information), variance)
    }

    #[test]
    fn two_parameters_that_act_as_their_product_are_partners_and_a_third_is_not() {
        // In logarithms: y = a + b but for one part in a thousand; c acts alone.
        let j = DMatrix::from_row_slice(
            4,
            3,
            &[1.0, 1.0, 0.0, 1.0, 1.001, 0.0, 1.0, 0.999, 0.0, 0.0, 0.0, 5.0],
        );
        let none: Vec<usize> = Vec::new();
        assert_eq!(of(&j, 1e-2), [vec![1], vec![0], none.clone()]);
        // Data a million times better tell them apart.
        assert_eq!(of(&j, 1e-14), [none.clone(), none.clone(), none]);
    }

    #[test]
    fn a_valley_without_an_end_names_its_parameters_and_no_other() {
        // Only the product of the first two is told; the third by itself; the fourth not at all.
        let j = DMatrix::from_row_slice(
            3,
            4,
            &[1.0, 1.0, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0],
        );
        let none: Vec<usize> = Vec::new();
        assert_eq!(of(&j, 1e-2), [vec![1], vec![0], none.clone(), none]);
    }

    #[test]
    fn a_parameter_without_any_influence_moves_with_nothing() {
        // Its information is nearly zero: fixing the other does not help.
        let j = DMatrix::from_row_slice(3, 2, &[1.0, 1e-9, 1.0, -1e-9, 2.0, 0.0]);
        assert!(of(&j, 1e-2).iter().all(Vec::is_empty));
    }
}
