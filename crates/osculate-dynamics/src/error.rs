//! The errors of this crate.

use osculate_contact::ContactError;
use osculate_geometry::GeometryError;

/// What can be wrong with a scene.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// Links start a stage where their joints put them, not in the chart of the step.
    #[error(
        "rotation \"chart\" is for scenes without joints; allowed with joints: \"rate-tensor\""
    )]
    ChartOfJoints,
    /// Steps of a method with a memory cannot be halved.
    #[error(
        "steps of {method} cannot be halved: its coefficients are for steps of one length; allowed: one-step methods"
    )]
    Memory {
        /// Its name.
        method: String,
    },
    /// A number of a body is outside its range.
    #[error("body '{body}': {field} is {found}, allowed: {allowed}")]
    Body {
        /// Name of the body.
        body: String,
        /// Which number.
        field: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A number of the scene or of its time grid is outside its range.
    #[error("{field} is {found}, allowed: {allowed}")]
    Number {
        /// Which number.
        field: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Two bodies have one name.
    #[error("two bodies are named '{name}'; names must be unique")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A name that no body has.
    #[error("no body is named '{name}'; there are: {known}")]
    UnknownBody {
        /// The name found.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Two parameters have one path.
    #[error("two parameters are named '{path}'; a shape mode needs a name of its own")]
    DuplicatePath {
        /// The path.
        path: String,
    },
    /// A shape has something free that it does not have.
    #[error("body '{body}': {what} without {needed}")]
    Shape {
        /// Name of the body.
        body: String,
        /// What is free.
        what: &'static str,
        /// What there must be.
        needed: &'static str,
    },
    /// A roll-out from known states of a scene whose joints have none.
    #[error(
        "a roll-out from a history of body states is not possible with joints: run from the initial state"
    )]
    HistoryOfJoints,
    /// A list has the wrong length.
    #[error("{what}: {found} given, {expected} needed")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many were found.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// Contact parameters of a body.
    #[error("body '{body}': {source}")]
    Contact {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: ContactError,
    },
    /// Mass properties or shape of a body.
    #[error("body '{body}': {source}")]
    Geometry {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: GeometryError,
    },
    /// Joints, or their numbers.
    #[error(transparent)]
    Articulation(#[from] crate::ArticulationError),
    /// Overridden values of a pair.
    #[error("override of '{first}' and '{second}': {source}")]
    Override {
        /// One body.
        first: String,
        /// The other.
        second: String,
        /// What is wrong.
        source: ContactError,
    },
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// Newton did not reach its tolerance.
    #[error(
        "step {step}, stage {stage}: not converged after {iterations} iterations, \
         residual {residual:.3e} N > {tolerance:.3e} N, largest at body '{body}'"
    )]
    NotConverged {
        /// Index of the step, from 0.
        step: usize,
        /// Index of the stage, from 0.
        stage: usize,
        /// Iterations done.
        iterations: usize,
        /// Norm of the residual force \[N\].
        residual: f64,
        /// What was asked \[N\].
        tolerance: f64,
        /// The body with the largest residual.
        body: String,
    },
    /// The matrix of a stage has no inverse.
    #[error(
        "step {step}, stage {stage}: the stage matrix is singular at unknown {pivot} of body '{body}'"
    )]
    Singular {
        /// Index of the step, from 0.
        step: usize,
        /// Index of the stage, from 0.
        stage: usize,
        /// Which unknown of the body (0–2 translation, 3–5 rotation).
        pivot: usize,
        /// The body.
        body: String,
    },
    /// The caller asked to stop.
    #[error("interrupted at step {step}")]
    Interrupted {
        /// Index of the step, from 0.
        step: usize,
    },
    /// A state or a force is not finite.
    #[error("step {step}, stage {stage}: the motion of body '{body}' is not finite")]
    Diverged {
        /// Index of the step, from 0.
        step: usize,
        /// Index of the stage, from 0.
        stage: usize,
        /// The body.
        body: String,
    },
}
