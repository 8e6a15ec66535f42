//! What can go wrong when a figure is saved.

use std::error::Error;
use std::path::PathBuf;

/// Failures of a figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The extension of the path names no supported format.
    #[error("cannot write `{}`: extension `{found}` is not one of the allowed `.png` and `.svg`", path.display())]
    UnknownExtension {
        /// Path that was asked for.
        path: PathBuf,
        /// Its extension, empty if it has none.
        found: String,
    },
    /// No value of this data can be drawn.
    #[error("nothing to draw: {what} holds no usable value (finite, and positive on a log axis)")]
    Empty {
        /// The field or series in question.
        what: String,
    },
    /// Two arrays that belong together differ in length.
    #[error("{what} has {found} values where {expected} are needed")]
    LengthMismatch {
        /// The field or series in question.
        what: String,
        /// Length that would fit.
        expected: usize,
        /// Length that was given.
        found: usize,
    },
    /// A reference slope is a straight line between two logarithmic axes only.
    #[error("reference slope of order {order} needs two logarithmic axes")]
    SlopeNeedsLogAxes {
        /// Order of the slope.
        order: f64,
    },
    /// The bundled font could not be read.
    #[error("the bundled font is damaged")]
    Font(#[from] ab_glyph::InvalidFont),
    /// The file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// Path that was asked for.
        path: PathBuf,
        /// Reason from the operating system.
        source: std::io::Error,
    },
    /// The drawing library refused a shape or the encoding of the image.
    #[error("cannot draw: {source}")]
    Backend {
        /// Reason from the drawing library.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl PlotError {
    pub(crate) fn empty(what: impl Into<String>) -> Self {
        Self::Empty { what: what.into() }
    }

    pub(crate) fn backend(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Backend { source: Box::new(source) }
    }
}
