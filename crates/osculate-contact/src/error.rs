//! The error of this crate.

/// What can be wrong with contact parameters and settings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContactError {
    /// A parameter is outside its range.
    #[error("{parameter} is {found}, allowed: {allowed}")]
    Parameter {
        /// Symbol of the parameter, as in files.
        parameter: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Stage-start normals with the current load: the one combination that the model does not define.
    #[error(
        "explicit normals with an implicit normal force is not a dissipation schedule, \
         allowed (explicit, implicit): (true, false), (false, false), (false, true)"
    )]
    UnsupportedSchedule,
}
