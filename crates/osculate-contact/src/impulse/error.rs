//! The error of the impulse laws.

/// What can be wrong with a contact problem, or with its solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpulseError {
    /// An input is outside its range, or not a number.
    #[error("{quantity} is {found}, allowed: {allowed}")]
    Input {
        /// What it is.
        quantity: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The block of a contact is singular or not positive, beyond what its law takes.
    #[error("contact block is singular or indefinite: eigenvalues {smallest:e} and {largest:e}")]
    Indefinite {
        /// Smallest eigenvalue.
        smallest: f64,
        /// Largest eigenvalue.
        largest: f64,
    },
    /// A search did not reach its tolerance.
    #[error("{law} stopped after {steps} steps, residual {residual:e} > {tolerance:e}")]
    NotConverged {
        /// The law that was solved.
        law: &'static str,
        /// Steps taken.
        steps: usize,
        /// Residual reached, relative.
        residual: f64,
        /// Residual wanted, relative.
        tolerance: f64,
    },
}

impl ImpulseError {
    /// Checks that every number is finite.
    #[inline]
    pub(crate) fn finite(quantity: &'static str, values: &[f64]) -> Result<(), Self> {
        // A finite sum has finite terms; an infinite one may have too.
        if values.iter().map(|x| x.abs()).sum::<f64>().is_finite() {
            return Ok(());
        }
        match values.iter().find(|x| !x.is_finite()) {
            None => Ok(()),
            Some(&found) => Err(Self::Input { quantity, found, allowed: "finite" }),
        }
    }

    /// Checks that a number is finite and not negative.
    #[inline]
    pub(crate) fn not_negative(quantity: &'static str, found: f64) -> Result<(), Self> {
        if found >= 0.0 && found.is_finite() {
            return Ok(());
        }
        Err(Self::Input { quantity, found, allowed: ">= 0 and finite" })
    }
}
