//! Trajectories that do what is wanted: decision variables, objectives, solvers. Files: `docs/optimize.md`.
//!
//! ```text
//! min over x of Σ r_i(x)²          r from the states of a roll-out and from the variables themselves
//! ```
//!
//! * [`Loaded`]: a file, read and checked. [`Task`]: scene, [`variables`] and residual [`rows`] under one contact model.
//! * [`spline`]: what a control is between its numbers.
//! * [`measure`]: numbers of one state, generic over the scalar. `terms`: objectives and constraints in terms of them.
//! * [`Problem`]: residuals with exact Jacobians (tangents) and gradients (one adjoint), at one softness of contact.
//! * [`search`]: many starts through stages of Gauss–Newton, L-BFGS, basin [`hopping`], [`hybrid`] descent or CMA-ES;
//!   [`baselines`].
//! * [`verdicts`]: what the derivatives are good for where the search ended.
//! * [`Report`]: what a run found.

mod allocated;
mod baselines;
mod check;
mod constraints;
mod differences;
mod error;
mod file;
pub mod hopping;
pub mod hybrid;
mod jacobian;
pub mod measure;
mod meter;
mod report;
pub mod rows;
mod run;
mod solve;
pub mod spline;
mod task;
mod terms;
mod trust;
pub mod variables;

pub use baselines::{Baseline, baselines};
pub use differences::Differenced;
pub use error::OptimizeError;
pub use file::{
    AugmentedFile, AxisName, BaselinesFile, ConstraintFile, ConstraintKind, ControlFile,
    ObjectiveFile, ObjectiveKind, OptimizeFile, Solver, Spline, StageFile, TrustFile,
};
pub use meter::{Meter, Sample, Spent, processor_time};
pub use report::{ControlValues, Report, TermError, Value};
pub use run::{
    Checkpoint, Derivatives, Point, Progress, Search, StageResult, StartResult, Watch, search,
};
pub use task::{Loaded, Problem, Softness, Task};
pub use trust::verdicts;

use crate::experiment::ExperimentError;
use osculate_dynamics::file::{BuiltScene, Source};
use std::path::Path;

impl Loaded {
    /// Reads an optimisation and its scene.
    ///
    /// # Errors
    /// Where one of the files is wrong: with file, line, field, what was found and what is allowed.
    pub fn read(path: &Path) -> Result<(OptimizeFile, Self), ExperimentError> {
        check::load(path)
    }

    /// A task on a scene built in Rust; `source` is the text for errors, empty for none.
    ///
    /// # Errors
    /// As [`Loaded::read`].
    pub fn new(
        file: &OptimizeFile,
        source: Source,
        scene: &BuiltScene,
    ) -> Result<Self, ExperimentError> {
        check::build(file, source, scene)
    }
}
