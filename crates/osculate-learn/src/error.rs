//! Why a layer cannot be made, or a batch not be rolled out.

use osculate_fit::contact_model::ModelError;

/// Why a layer cannot be made, or a batch not be rolled out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// No such body in the scene.
    #[error("{place}: the scene has no body {name:?}; bodies: {known}")]
    UnknownBody {
        /// Where it was named.
        place: String,
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// No such parameter in the scene.
    #[error("{place}: the scene has no parameter {path:?}; `osculate parameters SCENE` lists all")]
    UnknownParameter {
        /// Where it was named.
        place: String,
        /// The path.
        path: String,
    },
    /// What is asked for does not exist for this body or parameter.
    #[error("{place}: {name:?} {why}")]
    Unsuitable {
        /// Where it was named.
        place: String,
        /// Body or parameter.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// Steps outside of the time grid.
    #[error("{place}: step {found}, allowed: {allowed}")]
    Step {
        /// Where it was named.
        place: String,
        /// The step found.
        found: usize,
        /// What is allowed.
        allowed: String,
    },
    /// Two inputs set the same number.
    #[error("{place}: {path} is set by an input before it")]
    SetTwice {
        /// The second of them.
        place: String,
        /// The number.
        path: String,
    },
    /// Nothing goes in or nothing comes out.
    #[error("the layer has no {what}")]
    Empty {
        /// Inputs or outputs.
        what: &'static str,
    },
    /// The batch does not fit the layer.
    #[error("the batch has shape [{}, {}], needed: [at least 1, {columns}]", found[0], found[1])]
    Shape {
        /// Shape found.
        found: [usize; 2],
        /// Columns of the layer.
        columns: usize,
    },
    /// Cotangents do not fit the roll-outs.
    #[error("{found} cotangents for {rows} roll-outs of {columns} outputs")]
    Cotangents {
        /// How many numbers there are.
        found: usize,
        /// Roll-outs.
        rows: usize,
        /// Outputs of each.
        columns: usize,
    },
    /// The batch is not in double precision.
    #[error("the batch is of type {found}, needed: F64; see `osculate_learn::device`")]
    Precision {
        /// Type found.
        found: String,
    },
    /// A number that is not finite.
    #[error("row {row}, {entry}: {found}, allowed: finite numbers")]
    NotFinite {
        /// Row of the batch.
        row: usize,
        /// Which number.
        entry: String,
        /// The value.
        found: f64,
    },
    /// Nine numbers that are no rotation.
    #[error(
        "row {row}, {body}.rotation: |RᵀR − 1| is {error:.3e}, allowed: up to {allowed:.0e} with determinant +1"
    )]
    NotARotation {
        /// Row of the batch.
        row: usize,
        /// The body.
        body: String,
        /// Largest entry of `|RᵀR − 1|`.
        error: f64,
        /// What is allowed.
        allowed: f64,
    },
    /// A roll-out failed, or its numbers are not those of a scene.
    #[error("row {row}: {source}")]
    Run {
        /// Row of the batch.
        row: usize,
        /// Why.
        source: ModelError,
    },
    /// Solves that did not meet their tolerance.
    #[error("row {row}: {solves} solves did not converge")]
    Unconverged {
        /// Row of the batch.
        row: usize,
        /// How many.
        solves: usize,
    },
    /// An output that is not finite.
    #[error("row {row}: output {column} is {found}")]
    Diverged {
        /// Row of the batch.
        row: usize,
        /// Column.
        column: usize,
        /// The value.
        found: f64,
    },
    /// The tensor library refused.
    #[error("burn: {0}")]
    Burn(String),
}
