//! Articulated bodies among the bodies of the stepper, by their immediate response.
//!
//! ```text
//! v⁺ = v_f + Ĥ⁻¹Jᵀ r       one impulse moves the whole tree
//! ```
//!
//! Velocities of a tree stand in the velocities of the solver as vectors of three, with zeros at the end, so that a
//! row between two links is a row like any other. Limits, held drives, dry friction and loop closures are rows of
//! [`immediate`](crate::articulated::immediate); they are swept after the contacts.

mod joint_rows;

pub(crate) use joint_rows::JointRows;

use super::body::RigidState;
use super::row::Velocities;
use super::settings::Coriolis;
use super::system::System;
use crate::Wrench;
use crate::articulated::immediate::{FrictionBlock, TreeResponse};
use crate::articulated::{
    ArticulatedModel, Configuration, Load, ModelError, TreeKinematics, TreePoint, Way,
};
use nalgebra::Vector3;
use osculate_math::Scalar;

/// Why bodies cannot be joined to a tree.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// Positions or velocities do not fit the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A body that does not exist.
    #[error("link '{link}': there is no body {index}, the scene has {bodies}")]
    UnknownBody {
        /// The link.
        link: String,
        /// The index found.
        index: usize,
        /// How many bodies there are.
        bodies: usize,
    },
    /// A body that does not move by forces, or is a link already.
    #[error("link '{link}': body '{body}' is static or a link already")]
    NotFree {
        /// The link.
        link: String,
        /// The body.
        body: String,
    },
}

/// An articulated body in motion.
#[derive(Clone, Debug)]
pub struct JointedBodies {
    model: ArticulatedModel,
    bodies: Vec<usize>,
    q: Configuration,
    v: Vec<f64>,
    /// Generalised forces that are applied in every step to come \[N m or N\], one a degree of freedom.
    pub efforts: Vec<f64>,
    /// Velocities with which the last step moved it; empty before the first.
    solved: Vec<f64>,
    /// Where its velocities stand.
    at: usize,
    /// Impulses of its rows in the last step, and how long that was.
    memory: (Vec<f64>, f64),
}

/// How a tree ends a step.
pub(crate) struct End {
    q: Configuration,
    v: Vec<f64>,
    /// Velocities of the rows, with which it came here.
    solved: Vec<f64>,
    memory: (Vec<f64>, f64),
}

/// All trees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    pub(crate) list: Vec<JointedBodies>,
}

/// Entries of a tree in vectors of three.
pub(crate) fn padded<T: Scalar>(x: &[T]) -> Vec<Vector3<T>> {
    let entry = |c: &[T], i: usize| c.get(i).copied().unwrap_or_else(T::zero);
    x.chunks(3).map(|c| Vector3::new(c[0], entry(c, 1), entry(c, 2))).collect()
}

/// The entries of vectors of three.
pub(crate) fn flat_of<T: Scalar>(v: &[Vector3<T>], dofs: usize) -> Vec<T> {
    v.iter().flat_map(|x| [x.x, x.y, x.z]).take(dofs).collect()
}

fn flat(v: &Velocities, at: usize, dofs: usize) -> Vec<f64> {
    flat_of(&v[at..], dofs)
}

impl JointedBodies {
    /// Joins bodies to a tree.
    ///
    /// # Errors
    /// Where lists have the wrong length or positions do not fit the joints.
    pub(crate) fn new(
        model: ArticulatedModel,
        bodies: Vec<usize>,
        q: Configuration,
        v: Vec<f64>,
    ) -> Result<Self, ModelError> {
        let q = Configuration::of(&model, q.joints().to_vec())?;
        let links = model.links().len();
        for (what, found, expected) in
            [("bodies of a tree", bodies.len(), links), ("velocities", v.len(), model.dofs())]
        {
            if found != expected {
                return Err(ModelError::Count { what, found, expected });
            }
        }
        let efforts = vec![0.0; model.dofs()];
        let (solved, memory) = (Vec::new(), (Vec::new(), 0.0));
        Ok(Self { model, bodies, q, v, efforts, solved, at: 0, memory })
    }

    /// The tree.
    pub fn model(&self) -> &ArticulatedModel {
        &self.model
    }

    /// The tree, to change what its joints are told. Nothing is checked.
    pub fn model_mut(&mut self) -> &mut ArticulatedModel {
        &mut self.model
    }

    /// The body of each link.
    pub fn bodies(&self) -> &[usize] {
        &self.bodies
    }

    /// Where it is.
    pub fn configuration(&self) -> &Configuration {
        &self.q
    }

    /// How it moves, one a degree of freedom.
    pub fn velocities(&self) -> &[f64] {
        &self.v
    }

    /// Velocities that the rows of the last step found and that moved it; those of now differ where Coriolis forces act after contacts.
    pub(crate) fn solved(&self) -> &[f64] {
        &self.solved
    }

    /// Impulses of the last step on its rows \[N s or N m s\]: limits, held drives and dry friction in the order of
    /// the joints, then closures, then dry friction of joints with more degrees of freedom; as
    /// [`immediate`](crate::articulated::immediate) lists them. Empty before the first step.
    pub fn impulses(&self) -> &[f64] {
        &self.memory.0
    }

    /// States of its links.
    fn states(&self, q: &Configuration, v: &[f64]) -> Vec<RigidState> {
        let at = TreeKinematics::new(&self.model, q);
        let moving = at.center_velocities(&self.model, v);
        let links = at.centers.iter().zip(&at.links).zip(moving);
        links
            .map(|((center, pose), (velocity, angular_velocity))| RigidState {
                center: *center,
                rotation: pose.rotation,
                velocity,
                angular_velocity,
            })
            .collect()
    }

    /// Puts it elsewhere, with another velocity.
    pub(crate) fn put(&mut self, q: &Configuration, v: &[f64]) {
        self.q.clone_from(q);
        self.v.copy_from_slice(v);
    }

    /// Index of its first vector of unknowns.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes on from other positions and velocities, without impulses of the last step.
    ///
    /// # Errors
    /// Where they do not fit the joints.
    pub(crate) fn reset(&mut self, q: &Configuration, v: &[f64]) -> Result<(), ModelError> {
        let q = Configuration::of(&self.model, q.joints().to_vec())?;
        let (found, expected) = (v.len(), self.model.dofs());
        if found != expected {
            return Err(ModelError::Count { what: "velocities", found, expected });
        }
        (self.q, self.v, self.memory) = (q, v.to_vec(), (Vec::new(), 0.0));
        Ok(())
    }

    pub(crate) fn write_states(&self, states: &mut [RigidState]) {
        for (body, state) in self.bodies.iter().zip(self.states(&self.q, &self.v)) {
            states[*body] = state;
        }
    }
}

impl Trees {
    /// Gives every tree its place after the velocities of free bodies.
    pub(crate) fn place(&mut self, mut at: usize) {
        for tree in &mut self.list {
            tree.at = at;
            at += tree.model.dofs().div_ceil(3);
        }
    }

    /// What acts on each tree from outside.
    pub(crate) fn loads(&self, system: &System, wrenches: &[Wrench]) -> Vec<Load> {
        let of = |tree: &JointedBodies| {
            let each = tree.bodies.iter().zip(tree.model.links()).map(|(&body, link)| {
                let item = &system.items[body];
                let applied = item.dynamic.and_then(|d| wrenches.get(d));
                let wrench = applied.copied().unwrap_or_else(Wrench::zero);
                let floats = if item.has_gravity { 0.0 } else { link.inertia.mass };
                (wrench.force - system.gravity * floats, wrench.torque)
            });
            Load { gravity: system.gravity, wrenches: each.collect() }
        };
        self.list.iter().map(of).collect()
    }

    /// # Errors
    /// Where a mass matrix is not positive definite.
    pub(crate) fn responses<'a>(
        &'a self,
        loads: &'a [Load],
        (coriolis, h): (Coriolis, f64),
    ) -> Result<Vec<TreeResponse<'a>>, ModelError> {
        let each = self.list.iter().zip(loads).map(|(tree, load)| {
            let point = TreePoint { model: &tree.model, q: &tree.q, v: &tree.v, load };
            match coriolis {
                Coriolis::Explicit => TreeResponse::new(point, &tree.efforts, h),
                Coriolis::Conserving => TreeResponse::kick(point, &tree.efforts, h),
            }
        });
        each.collect()
    }

    /// The same without what acts on the trees.
    ///
    /// # Errors
    /// As [`Trees::responses`].
    pub(crate) fn unforced(&self, h: f64) -> Result<Vec<TreeResponse<'_>>, ModelError> {
        let each = self.list.iter();
        each.map(|tree| TreeResponse::unforced(&tree.model, &tree.q, &tree.v, h)).collect()
    }

    /// Appends the velocities of the trees at the start and without rows.
    pub(crate) fn extend(
        &self,
        responses: &[TreeResponse<'_>],
        [start, free]: [&mut Vec<Vector3<f64>>; 2],
    ) {
        for (tree, response) in self.list.iter().zip(responses) {
            start.extend(padded(&tree.v));
            free.extend(padded(&response.free));
        }
    }

    /// Rows of all joints and closures, started from a part of the impulses of the last step.
    pub(crate) fn rows(&self, responses: &[TreeResponse<'_>], part: f64) -> Vec<JointRows> {
        let of = |(index, (tree, response)): (usize, (&JointedBodies, &TreeResponse<'_>))| {
            let mut rows = JointRows {
                tree: index,
                at: tree.at,
                dofs: tree.model.dofs(),
                rows: response.joint_rows(),
                blocks: response.friction_blocks(),
            };
            let (old, duration) = &tree.memory;
            if *duration > 0.0 && old.len() == rows.each().count() {
                let factor = part * response.duration / duration;
                rows.each_mut().zip(old).for_each(|(row, r)| row.start(r * factor));
                rows.blocks.iter_mut().for_each(FrictionBlock::hold);
            }
            rows
        };
        self.list.iter().zip(responses).enumerate().map(of).collect()
    }

    /// Positions at the end of a step, with the velocities that lead there.
    pub(crate) fn ends(
        &self,
        responses: &[TreeResponse<'_>],
        v: &Velocities,
        rows: &[JointRows],
    ) -> Vec<End> {
        let of = |((tree, response), rows): ((&JointedBodies, &TreeResponse<'_>), &JointRows)| {
            let v = flat(v, tree.at, tree.model.dofs());
            let impulses = rows.each().map(|r| r.impulse).collect();
            let solved = v.clone();
            End { q: response.advanced(&v), v, solved, memory: (impulses, response.duration) }
        };
        self.list.iter().zip(responses).zip(rows).map(of).collect()
    }

    /// Takes velocities that differ from those that the positions were reached with.
    pub(crate) fn settle(&self, ends: &mut [End], v: &Velocities) {
        for (tree, end) in self.list.iter().zip(ends) {
            end.v = flat(v, tree.at, tree.model.dofs());
        }
    }

    /// Lets Coriolis and gyroscopic forces act on the way to the end of a step.
    ///
    /// # Errors
    /// Where a mass matrix is not positive definite.
    pub(crate) fn drift(
        &self,
        system: &System,
        responses: &[TreeResponse<'_>],
        ends: &mut [End],
    ) -> Result<(), ModelError> {
        for ((tree, response), end) in self.list.iter().zip(responses).zip(ends) {
            let next = TreeKinematics::new(&tree.model, &end.q);
            let links = tree.bodies.iter().zip(tree.model.links());
            let weights: Vec<_> = links.map(|(&b, l)| system.weight(b, l.inertia.mass)).collect();
            let way = Way {
                model: &tree.model,
                ends: [&response.at, &next],
                v: &end.v,
                weights: &weights,
                duration: response.duration,
            };
            end.v = way.drift()?.after;
        }
        Ok(())
    }

    /// States of the links at the end of a step.
    pub(crate) fn write_ends(&self, ends: &[End], states: &mut [RigidState]) {
        for (tree, end) in self.list.iter().zip(ends) {
            for (body, state) in tree.bodies.iter().zip(tree.states(&end.q, &end.v)) {
                states[*body] = state;
            }
        }
    }

    /// Velocities of the links without rows.
    pub(crate) fn write_ahead(
        &self,
        responses: &[TreeResponse<'_>],
        ahead: &mut [[Vector3<f64>; 2]],
    ) {
        for (tree, response) in self.list.iter().zip(responses) {
            let moving = response.at.center_velocities(&tree.model, &response.free);
            for (body, (linear, angular)) in tree.bodies.iter().zip(moving) {
                ahead[*body] = [linear, angular];
            }
        }
    }

    pub(crate) fn advance(&mut self, ends: Vec<End>) {
        for (tree, end) in self.list.iter_mut().zip(ends) {
            (tree.q, tree.v, tree.memory) = (end.q, end.v, end.memory);
            tree.solved = end.solved;
        }
    }
}
