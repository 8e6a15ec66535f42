//! Scene files: TOML, read, checked and built. The schema is `docs/scene.md`.
//!
//! [`SceneFile::read`] turns text into plain structs, [`SceneFile::build`] checks them and makes a [`BuiltScene`].
//! Every error names file, line, field, the value found and what is allowed.

mod actor;
mod build;
mod error;
mod mass;
mod names;
mod outcome;
mod pairs;
mod read;
mod schema;
mod shape;
mod solver;
mod source;
mod variants;
mod wrench;

#[cfg(test)]
mod tests;

pub use build::BuiltScene;
pub use error::{FileError, Place};
pub use outcome::{OutcomeTerm, SceneOutcome};
pub use schema::{
    Actor, ActorPose, AppliedWrench, BoxField, BoxShape, Collider, ColliderField, ColliderKind,
    Contact, ExplicitSamples, Icosphere, OutcomeWeights, Pair, PlaneField, Samples, SceneFile,
    Shape, Solver, SphereField, Triangles,
};
pub use source::Source;
