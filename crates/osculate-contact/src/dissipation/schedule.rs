//! Time levels at which the dissipative terms are evaluated.

use crate::ContactError;

/// The three supported rows of the model's table of (explicit normals, implicit normal force).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum DissipationSchedule {
    /// (true, false): stage-start normal, alignment, friction plane and load; stage-start contacts are retained.
    /// The only row whose residual is the gradient of an incremental potential.
    StageStart,
    /// (false, false), the default: current geometry; stage-start load from the distance `φ⁰ ≈ φ − G·Δp`.
    #[default]
    CurrentGeometry,
    /// (false, true): current geometry and current load.
    Current,
}

impl DissipationSchedule {
    /// Every schedule, for tests and tables.
    pub const ALL: [Self; 3] = [Self::StageStart, Self::CurrentGeometry, Self::Current];

    /// The schedule of two flags.
    ///
    /// # Errors
    /// [`ContactError::UnsupportedSchedule`] for (true, true).
    pub fn from_flags(
        explicit_normals: bool,
        implicit_normal_force: bool,
    ) -> Result<Self, ContactError> {
        match (explicit_normals, implicit_normal_force) {
            (true, false) => Ok(Self::StageStart),
            (false, false) => Ok(Self::CurrentGeometry),
            (false, true) => Ok(Self::Current),
            (true, true) => Err(ContactError::UnsupportedSchedule),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourth_combination_is_refused() {
        assert_eq!(
            DissipationSchedule::from_flags(true, true),
            Err(ContactError::UnsupportedSchedule)
        );
        assert_eq!(
            DissipationSchedule::from_flags(false, false),
            Ok(DissipationSchedule::default())
        );
    }
}
