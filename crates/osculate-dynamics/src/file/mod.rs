//! Scene files: TOML, read, checked and built. The schema is `docs/scene.md`.
//!
//! [`SceneFile::read`] turns text into plain structs, [`SceneFile::build`] checks them and makes a [`BuiltScene`].
//! Every error names file, line, field, the value found and what is allowed. What was repaired in mesh files, or is
//! doubtful about them, stands in [`BuiltScene::warnings`].
//!
//! Every field of the structs is public, so scenes can be built in Rust too:
//!
//! ```
//! use osculate_dynamics::file::{Actor, BoxShape, Collider, ColliderKind, PlaneField, SceneFile, Shape, Solver};
//!
//! let ground = Actor {
//!     name: "ground".into(),
//!     fixed: true,
//!     shape: Some(Shape::Plane(PlaneField { normal: [0.0, 0.0, 1.0], offset: 0.0 })),
//!     ..Actor::default()
//! };
//! let cube = Actor {
//!     name: "cube".into(),
//!     shape: Some(Shape::Box(BoxShape { subdivisions: 2, ..BoxShape::new([0.05; 3]) })),
//!     mass: Some(0.4),
//!     collider: Collider::Named(ColliderKind::None),
//!     ..Actor::default()
//! };
//! let scene = SceneFile {
//!     solver: Solver { dt: Some(1e-3), steps: Some(10), ..Solver::default() },
//!     actors: vec![cube, ground],
//!     ..SceneFile::default()
//! };
//! let built = scene.build(".".as_ref())?;
//! built.simulator.run(&built.parameters)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod actor;
mod build;
mod collider;
mod effort;
mod error;
mod filter;
mod free;
mod impulse;
mod joint;
mod mass;
mod mesh_file;
mod outcome;
mod pairs;
mod read;
mod schema;
mod shape;
mod solver;
mod source;
pub(crate) mod text;
mod warning;
mod wrench;

#[cfg(test)]
mod tests;

pub use build::BuiltScene;
pub use error::{FileError, Place};
pub use outcome::{OutcomeTerm, SceneOutcome};
pub use schema::{
    Actor, ActorImpulse, ActorPose, AppliedWrench, BoxField, BoxShape, Collider, ColliderField,
    ColliderKind, Contact, CylinderField, CylinderShape, DriveTable, EffortTable, ExplicitSamples,
    FilterRule, FrameTable, FreeGeometry, FrictionTable, Icosphere, Impulse, JointTable, JointWord,
    LimitTable, LoopTable, LoopWord, MeshField, MeshFile, Model, OutcomeWeights, Pair, PlaneField,
    Samples, SceneFile, SdfField, Shape, Solver, SphereField, Triangles,
};
pub use source::Source;
pub use text::read_text;
pub use warning::SceneWarning;
pub use wrench::steps_between;
