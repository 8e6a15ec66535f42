//! Bodies by name.

use crate::LearnError;
use osculate_dynamics::Scene;

/// A name, and where it was given.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) place: &'a str,
    pub(super) name: &'a str,
}

pub(super) fn body_index(scene: &Scene, named: Named<'_>) -> Result<usize, LearnError> {
    let found = scene.bodies.iter().position(|b| b.name == named.name);
    found.ok_or_else(|| LearnError::UnknownBody {
        place: named.place.into(),
        name: named.name.into(),
        known: scene.bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}
