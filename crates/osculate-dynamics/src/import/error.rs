//! Why a file was refused.

use crate::articulated::ModelError;
use osculate_geometry::GeometryError;
use std::fmt;
use std::path::PathBuf;

/// Where in a file something stands.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Spot {
    /// The file, as it was named.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// The element: its tag and name, and the named element around it; empty for the file as a whole.
    pub element: String,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file.display(), self.line)?;
        if self.element.is_empty() { Ok(()) } else { write!(f, ", {}", self.element) }
    }
}

/// Why a robot file was refused, and where. Nothing of a refused file is kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{spot}: {problem}")]
pub struct ImportError {
    /// Where.
    pub spot: Box<Spot>,
    /// What is wrong.
    #[source]
    pub problem: Box<Problem>,
}

impl ImportError {
    pub(super) fn new(spot: Spot, problem: Problem) -> Self {
        Self { spot: Box::new(spot), problem: Box::new(problem) }
    }
}

/// What is wrong with a robot file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file system refused.
    #[error("cannot be read: {kind}")]
    Read {
        /// Why.
        kind: std::io::ErrorKind,
    },
    /// The file is not text.
    #[error("{cause}")]
    NotText {
        /// The line, the byte found there, and what is allowed.
        cause: String,
    },
    /// The file is too long.
    #[error("{found} bytes, allowed: at most {most}")]
    Size {
        /// Its length.
        found: u64,
        /// The most.
        most: u64,
    },
    /// It is no XML, or XML of which nothing is read (document type declarations).
    #[error("column {column}: {message}")]
    Xml {
        /// Column, from 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// Elements stand in each other too deep.
    #[error("elements are nested more than {most} deep")]
    Depth {
        /// The most.
        most: usize,
    },
    /// The outermost element is another.
    #[error("the outermost element is <{found}>, expected: <{expected}>")]
    Root {
        /// Its tag.
        found: String,
        /// The tag of the format.
        expected: &'static str,
    },
    /// An attribute or an element that must be there.
    #[error("{what} is missing")]
    Missing {
        /// What.
        what: String,
    },
    /// Something that may be there once.
    #[error("{what} is given twice, first in line {first}")]
    Twice {
        /// What.
        what: String,
        /// Line of the first.
        first: usize,
    },
    /// A value that is not allowed.
    #[error("{field} is '{found}', allowed: {allowed}")]
    Value {
        /// The attribute.
        field: String,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A name that nothing has.
    #[error("there is no {what} '{name}'")]
    Unknown {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Links that are their own ancestors.
    #[error("links {names:?} form a cycle")]
    Cycle {
        /// The links.
        names: Vec<String>,
    },
    /// A second link without parent where one tree is expected.
    #[error("link '{name}' has no parent, as '{root}' has none; a file holds one tree")]
    Roots {
        /// The second.
        name: String,
        /// The first.
        root: String,
    },
    /// More links than can be held.
    #[error("{found} links, allowed: at most {most}")]
    Links {
        /// How many.
        found: usize,
        /// The most.
        most: usize,
    },
    /// No link at all.
    #[error("there is no link")]
    Empty,
    /// Something that is not simulated and cannot be left out without changing what the file means.
    #[error("{what} is not supported: {reason}")]
    Refused {
        /// What.
        what: String,
        /// Why.
        reason: &'static str,
    },
    /// A mesh file that is in none of the places it may be.
    #[error("mesh file '{file}' is not found; tried: {}", tried(tried_paths))]
    MeshNotFound {
        /// The name in the file.
        file: String,
        /// The paths tried.
        tried_paths: Vec<PathBuf>,
    },
    /// A mesh file, or a mesh, that is not valid.
    #[error("mesh '{file}': {source}")]
    Mesh {
        /// The name in the file.
        file: String,
        /// What is wrong.
        source: GeometryError,
    },
    /// Mass properties that no body has.
    #[error("mass properties: {source}")]
    Mass {
        /// What is wrong.
        source: GeometryError,
    },
    /// A link that moves, with nothing that has mass on it.
    #[error(
        "the {kind} joint of link '{link}' moves, but neither the link nor any descendant has mass"
    )]
    Massless {
        /// The link.
        link: String,
        /// Kind of its joint.
        kind: &'static str,
    },
    /// What was read is no articulated model.
    #[error(transparent)]
    Model(#[from] ModelError),
}

fn tried(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "nothing, for no search directory is given".into();
    }
    let shown: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    shown.join(", ")
}
