//! What is known before any experiment: priors, and the errors of a fit.
//!
//! ```text
//! Λ₀ = diag(1/σ_i²) + C⁻¹        C_ij = ρ_ij s_i s_j /(θ'_i θ'_j)        s standard errors of the report, θ' = dθ/du here
//! ```
//!
//! A fit with parameters that the design does not have counts with these left free (their rows of C are left out).

use super::file::{Errors, ParameterFile};
use super::{DesignError, Known};
use crate::json;
use nalgebra::DMatrix;
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Deserialize)]
struct ReportFile {
    parameters: Vec<ParameterOfReport>,
    curvature: Option<CurvatureOfReport>,
}

#[derive(Debug, Deserialize)]
struct ParameterOfReport {
    path: String,
    best: Option<f64>,
    standard_error: Option<f64>,
    robust_standard_error: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct CurvatureOfReport {
    correlation: Vec<Vec<f64>>,
}

/// A fit's report.
pub(super) struct Fitted {
    file: PathBuf,
    report: ReportFile,
    errors: Errors,
}

pub(super) fn read(path: &Path, errors: Errors) -> Result<Fitted, DesignError> {
    let text = osculate_dynamics::file::read_text(path)
        .map_err(|source| DesignError::ReadReport { file: path.to_owned(), source })?;
    let report = json::from_slice(text.as_bytes())
        .map_err(|source| DesignError::Report { file: path.to_owned(), source })?;
    Ok(Fitted { file: path.to_owned(), report, errors })
}

impl Fitted {
    /// The best value of a parameter.
    pub(super) fn value(&self, path: &str) -> Option<f64> {
        self.report.parameters.iter().find(|p| p.path == path)?.best
    }

    fn standard_error(&self, i: usize) -> Option<f64> {
        let p = &self.report.parameters[i];
        let found = match self.errors {
            Errors::Fisher => p.standard_error,
            Errors::Robust => p.robust_standard_error,
        };
        found.filter(|s| s.is_finite() && *s > 0.0)
    }
}

/// Information of what is known, in coordinates.
pub(super) fn information(
    files: &[ParameterFile],
    known: &[Known],
    fitted: Option<&Fitted>,
) -> Result<DMatrix<f64>, DesignError> {
    let n = known.len();
    let mut information = DMatrix::zeros(n, n);
    for (i, sigma) in files.iter().enumerate().filter_map(|(i, p)| Some((i, p.prior?))) {
        information[(i, i)] += sigma.powi(-2);
    }
    let Some(fitted) = fitted else { return Ok(information) };
    let unusable = |why: &str| DesignError::Present { file: fitted.file.clone(), why: why.into() };
    let correlation = match &fitted.report.curvature {
        Some(c) => &c.correlation,
        None => return Err(unusable("it has no curvature")),
    };
    // Fitted parameters come first in a report, in the order of its correlations.
    let rows = fitted.report.parameters.iter().take(correlation.len()).enumerate();
    let shared: Vec<(usize, usize, f64)> = rows
        .filter_map(|(i, p)| {
            let here = known.iter().position(|k| k.path == p.path)?;
            Some((i, here, fitted.standard_error(i)? / known[here].slope.abs()))
        })
        .collect();
    if shared.is_empty() {
        return Err(unusable("no [[parameter]] has a standard error there"));
    }
    let entry = |a: usize, b: usize| {
        let rho = correlation.get(shared[a].0).and_then(|r| r.get(shared[b].0));
        rho.copied().unwrap_or(f64::NAN) * shared[a].2 * shared[b].2
    };
    let covariance = DMatrix::from_fn(shared.len(), shared.len(), entry);
    let Some(factor) = covariance.cholesky() else {
        return Err(unusable("its correlations are not positive definite"));
    };
    let inverse = factor.inverse();
    for (a, (_, i, _)) in shared.iter().enumerate() {
        for (b, (_, j, _)) in shared.iter().enumerate() {
            information[(*i, *j)] += inverse[(a, b)];
        }
    }
    Ok(information)
}
