//! What is worth knowing of a scene that was built all the same.

use super::error::Place;
use std::fmt;

/// Something that was changed or that is doubtful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneWarning {
    /// Where.
    pub place: Place,
    /// What was found, and what was done about it.
    pub message: String,
}

impl fmt::Display for SceneWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}
