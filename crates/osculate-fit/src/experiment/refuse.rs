//! What is wrong with a value of a file, said alike by experiments, designs and optimisations.

use super::ExperimentError;
use crate::parameter::ParameterError;
use osculate_dynamics::file::Source;
use std::ops::RangeInclusive;

/// Refuses values of a file, with file, line, field, what was found and what is allowed.
pub(crate) trait Refuse {
    /// The text that the file was read from.
    fn source(&self) -> &Source;

    /// An error at a field.
    ///
    /// # Errors
    /// Always.
    fn refuse<T>(
        &self,
        field: &str,
        found: impl ToString,
        allowed: impl Into<String>,
    ) -> Result<T, ExperimentError> {
        Err(ExperimentError::Value {
            place: self.source().place(field),
            found: found.to_string(),
            allowed: allowed.into(),
        })
    }

    /// # Errors
    /// Where a number is not finite and above zero.
    fn positive(&self, field: &str, found: f64) -> Result<(), ExperimentError> {
        if found.is_finite() && found > 0.0 { Ok(()) } else { self.refuse(field, found, "> 0") }
    }

    /// # Errors
    /// Where a count is outside of a range.
    fn count(
        &self,
        field: &str,
        found: usize,
        allowed: RangeInclusive<usize>,
    ) -> Result<(), ExperimentError> {
        if allowed.contains(&found) {
            return Ok(());
        }
        self.refuse(field, found, format!("{} to {}", allowed.start(), allowed.end()))
    }

    /// The place of what is wrong with the parameters of a table.
    ///
    /// * `index`: of a path that is listed, with the field to name in place of the error's own, if another one lists it. Of a path
    ///   that is listed twice, the second is one too many.
    fn parameter(
        &self,
        table: &str,
        source: ParameterError,
        index: impl Fn(&str) -> (usize, Option<&'static str>),
    ) -> ExperimentError {
        let field = source.place().map_or_else(
            || table.to_owned(),
            |(path, own)| {
                let (index, other) = index(path);
                format!("{table}[{index}].{}", other.unwrap_or(own))
            },
        );
        ExperimentError::Parameter { place: self.source().place(&field), source }
    }
}
