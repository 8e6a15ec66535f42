//! Articulated bodies in a scene: the layer between joint coordinates and the poses of links.
//!
//! ```text
//! links       x(q), forward kinematics; every link is a body of the scene, with its inertia, wrenches and contacts
//! residual    r_q = Jᵀ r(x) + r_joint
//! matrix      K_q = Jᵀ K J + ∂(Jᵀ r)/∂q + K_joint
//! adjoint     K_qᵀ λ_q = q̄,   λ = J λ_q
//! start       q⁰ = C(q_b; w, q_j), x⁰ = x(q⁰);   v⁰, W⁰ are combined a link
//! ```
//!
//! `J` has the columns of a link's own joint and of its ancestors' only. Bodies that are no links keep their six unknowns,
//! which stand before the degrees of freedom; a scene without joints does not come here.

mod articulation;
mod closure;
mod equations;
mod joint_terms;
mod matrix;
mod pull;
mod state;

pub use articulation::{Articulation, ArticulationError, LinkJoint};
pub use state::{ArticulationParameters, JointState};

pub(crate) use equations::{TreeProblem, TreeWork};
pub(crate) use joint_terms::{NUMBER_COUNT, NUMBERS, TARGET, number_mut, numbers};
pub(crate) use matrix::LinkMatrix;
pub(crate) use pull::{Power, StageForce, TreeBar};
pub(crate) use state::{JointBar, pull_incremented};

use crate::articulated::{ArticulatedModel, Configuration, TreeKinematics};
use crate::linalg::blocks::BLOCK;
use crate::state::BodyState;
use crate::{Parameters, Scene};
use nalgebra::Vector3;
use osculate_math::Scalar;

/// Joint coordinates and stage start of a stage, and what its step applies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointStage<'a, T> {
    pub(crate) now: &'a Configuration<T>,
    pub(crate) start: &'a JointState<T>,
    /// Generalised forces of the step, one a degree of freedom; empty for none.
    pub(crate) efforts: &'a [T],
    /// Targets of the drives of the step, one a degree of freedom; empty for those of the model.
    pub(crate) targets: &'a [T],
}

/// The numbers of one evaluation, and where unknowns stand.
#[derive(Clone, Debug)]
pub(crate) struct Reduction<T> {
    pub(crate) model: ArticulatedModel<T>,
    /// Body of each link.
    pub(crate) bodies: Vec<usize>,
    /// First unknown of each link among those of all bodies.
    at: Vec<usize>,
    /// First unknowns of the bodies that are no links: among those of all bodies, and among the reduced ones.
    free: Vec<(usize, usize)>,
    /// First reduced unknown of a degree of freedom.
    pub(crate) first_dof: usize,
    /// How many reduced unknowns there are.
    pub(crate) unknowns: usize,
}

/// A force and a torque, or a velocity and an angular velocity, at a centre of mass, world axes.
pub(crate) type Pair<T> = (Vector3<T>, Vector3<T>);

impl<T: Scalar> Reduction<T> {
    /// Of a scene with joints.
    ///
    /// * `unknown`: first unknown of each body; empty where covectors of all bodies are not asked for.
    pub(crate) fn new(scene: &Scene, p: &Parameters<T>, unknown: &[Option<usize>]) -> Option<Self> {
        let (articulation, numbers) = (scene.articulation.as_ref()?, p.articulation.as_ref()?);
        let bodies = articulation.bodies().to_vec();
        let mut model = numbers.model.clone();
        for (i, &body) in bodies.iter().enumerate() {
            let inertia = model.inertia_mut(i);
            inertia.mass = p.bodies[body].mass;
            inertia.center = p.bodies[body].center;
            inertia.inertia = p.bodies[body].inertia;
        }
        let at = bodies.iter().filter_map(|&b| unknown.get(b).copied().flatten()).collect();
        let single = |b: &usize| unknown[*b].filter(|_| !bodies.contains(b));
        let free: Vec<_> = (0..unknown.len()).filter_map(|b| single(&b)).collect();
        let free: Vec<_> = free.into_iter().enumerate().map(|(i, at)| (at, BLOCK * i)).collect();
        let first_dof = BLOCK * free.len();
        let unknowns = first_dof + model.dofs();
        Some(Self { model, bodies, at, free, first_dof, unknowns })
    }

    /// Where the links are at a configuration.
    pub(crate) fn kinematics(&self, q: &Configuration<T>) -> TreeKinematics<T> {
        TreeKinematics::new(&self.model, q)
    }

    /// Puts the links where they are.
    pub(crate) fn place(&self, kinematics: &TreeKinematics<T>, states: &mut [BodyState<T>]) {
        for (link, &body) in self.bodies.iter().enumerate() {
            states[body].center = kinematics.centers[link];
            states[body].rotation = kinematics.links[link].rotation;
        }
    }

    /// Puts the links where a state of the joints puts them; returns their velocities and angular velocities.
    pub(crate) fn place_moving(
        &self,
        state: &JointState<T>,
        states: &mut [BodyState<T>],
    ) -> Vec<Pair<T>> {
        let kinematics = self.kinematics(&state.configuration);
        self.place(&kinematics, states);
        kinematics.center_velocities(&self.model, &state.rates)
    }

    /// One force and torque a link, out of a covector of all bodies.
    fn wrenches(&self, of: &[T]) -> Vec<Pair<T>> {
        let v = |k: usize| Vector3::new(of[k], of[k + 1], of[k + 2]);
        self.at.iter().map(|&at| (v(at), v(at + 3))).collect()
    }

    /// `Jᵀ w`: a covector of all bodies to one of the reduced unknowns.
    pub(crate) fn gather(&self, kinematics: &TreeKinematics<T>, of: &[T], out: &mut [T]) {
        for &(from, to) in &self.free {
            out[to..to + BLOCK].copy_from_slice(&of[from..from + BLOCK]);
        }
        let forces = kinematics.generalised_forces(&self.model, &self.wrenches(of));
        out[self.first_dof..].copy_from_slice(&forces);
    }

    /// `J u`: a motion in reduced unknowns to one of all bodies.
    pub(crate) fn spread(&self, kinematics: &TreeKinematics<T>, u: &[T], out: &mut [T]) {
        for &(to, from) in &self.free {
            out[to..to + BLOCK].copy_from_slice(&u[from..from + BLOCK]);
        }
        let motions = kinematics.center_velocities(&self.model, &u[self.first_dof..]);
        for (&at, (linear, angular)) in self.at.iter().zip(&motions) {
            out[at..at + 3].copy_from_slice(linear.as_slice());
            out[at + 3..at + 6].copy_from_slice(angular.as_slice());
        }
    }

    /// Calls `f` with each body that is no link and its first reduced unknown.
    pub(crate) fn for_each_free(&self, unknown: &[Option<usize>], mut f: impl FnMut(usize, usize)) {
        for &(at, first) in &self.free {
            if let Some(body) = unknown.iter().position(|u| *u == Some(at)) {
                f(body, first);
            }
        }
    }

    /// The body whose unknown is meant, for messages: of a degree of freedom the link it moves.
    pub(crate) fn body_of(&self, unknown: &[Option<usize>], reduced: usize) -> usize {
        if reduced >= self.first_dof {
            return self.bodies[self.model.link_of(reduced - self.first_dof)];
        }
        let at = self.free[reduced / BLOCK].0;
        unknown.iter().position(|u| *u == Some(at)).unwrap_or(0)
    }
}
