//! What can be wrong with an articulated model.

use osculate_geometry::GeometryError;

/// Why a description is no articulated model, or a value does not fit one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A name is empty.
    #[error("{what} {index} has no name")]
    Unnamed {
        /// Link or closure.
        what: &'static str,
        /// Its index.
        index: usize,
    },
    /// A name is given twice.
    #[error("two {what}s are named '{name}'; names must be unique")]
    DuplicateName {
        /// Link or closure.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A parent that does not exist.
    #[error("link '{link}': there is no parent {parent}")]
    UnknownParent {
        /// The link.
        link: String,
        /// The parent: an index, or a name in quotes.
        parent: String,
    },
    /// A parent stands after its child.
    #[error(
        "link '{link}' (index {index}) stands before its parent (index {parent}); sort the links by parent"
    )]
    Order {
        /// The link.
        link: String,
        /// Its index.
        index: usize,
        /// Its parent's index.
        parent: usize,
    },
    /// Links are their own ancestors.
    #[error("links {names:?} form a cycle; close loops with a loop closure")]
    Cycle {
        /// The links.
        names: Vec<String>,
    },
    /// A number is outside its range.
    #[error("{what} '{name}': {field} is {found}, allowed: {allowed}")]
    Number {
        /// Link or closure.
        what: &'static str,
        /// Its name.
        name: String,
        /// Which number.
        field: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A joint has a law that does not fit its kind.
    #[error("link '{link}': a {kind} joint has no {law}")]
    Law {
        /// The link.
        link: String,
        /// Kind of the joint.
        kind: &'static str,
        /// What was given.
        law: &'static str,
    },
    /// Mass properties.
    #[error("link '{link}': {source}")]
    Mass {
        /// The link.
        link: String,
        /// What is wrong.
        source: GeometryError,
    },
    /// A moving joint carries no mass.
    #[error(
        "link '{link}': its {kind} joint moves, but neither the link nor any descendant has mass"
    )]
    Massless {
        /// The link.
        link: String,
        /// Kind of the joint.
        kind: &'static str,
    },
    /// An attached link that does not exist.
    #[error("closure '{closure}': there is no link {index}, the model has {links}")]
    UnknownLink {
        /// The closure.
        closure: String,
        /// The index found.
        index: usize,
        /// How many links there are.
        links: usize,
    },
    /// A closure that holds a link to itself.
    #[error("closure '{closure}' joins a link to itself")]
    SelfClosure {
        /// The closure.
        closure: String,
    },
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
    /// A joint position of another kind than the joint.
    #[error("link '{link}': the position is no position of a {kind} joint")]
    Position {
        /// The link.
        link: String,
        /// Kind of the joint.
        kind: &'static str,
    },
    /// The mass matrix is not positive definite.
    #[error(
        "the mass matrix is not positive definite at degree of freedom {dof} of link '{link}' (pivot {pivot:.3e})"
    )]
    Singular {
        /// The link whose joint has the degree of freedom.
        link: String,
        /// The degree of freedom.
        dof: usize,
        /// The pivot found.
        pivot: f64,
    },
}
