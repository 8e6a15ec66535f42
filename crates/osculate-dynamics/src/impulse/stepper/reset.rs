//! Teleports: bodies and trees are put elsewhere, and what their contacts remember is forgotten.

use super::super::body::RigidState;
use super::ImpulseStepper;
use crate::articulated::{Configuration, ModelError};

/// Why a body or a tree cannot be put elsewhere.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResetError {
    /// There are fewer.
    #[error("there is no {what} {index}, there are {count}")]
    Unknown {
        /// Body or tree.
        what: &'static str,
        /// The index found.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Joints say where a link is.
    #[error("body '{body}' is a link of tree {tree}: its joints say where it is, reset the tree")]
    Link {
        /// The body.
        body: String,
        /// Its tree.
        tree: usize,
    },
    /// Positions or velocities do not fit the joints.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl ImpulseStepper {
    /// Puts a free body elsewhere and forgets what its contacts carried.
    ///
    /// # Errors
    /// Where there is no such body, or it is a link.
    pub fn reset(&mut self, body: usize, state: RigidState) -> Result<(), ResetError> {
        let count = self.names.len();
        let item = self.system.items.get(body);
        let item = item.ok_or(ResetError::Unknown { what: "body", index: body, count })?;
        if let Some([tree, _]) = item.link {
            return Err(ResetError::Link { body: self.names[body].clone(), tree });
        }
        self.states[body] = state;
        self.forget(body);
        Ok(())
    }

    /// Puts the joints of a tree elsewhere and forgets what they and the contacts of its links carried.
    ///
    /// * `tree`: of [`ImpulseStepper::trees`].
    ///
    /// # Errors
    /// Where there is no such tree, or positions or velocities do not fit its joints.
    pub fn reset_tree(
        &mut self,
        tree: usize,
        q: &Configuration,
        v: &[f64],
    ) -> Result<(), ResetError> {
        let (index, count) = (tree, self.trees.list.len());
        let unknown = ResetError::Unknown { what: "tree", index, count };
        let tree = self.trees.list.get_mut(index).ok_or(unknown)?;
        tree.reset(q, v)?;
        tree.write_states(&mut self.states);
        for body in tree.bodies().to_vec() {
            self.forget(body);
        }
        Ok(())
    }

    fn forget(&mut self, body: usize) {
        self.warm.forget(body);
        self.patches.forget(body);
    }
}
