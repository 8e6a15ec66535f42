//! Articulated bodies in reduced coordinates: trees of links, their kinematics and their dynamics.
//!
//! ```text
//! pose        X_link = X_parent · placement · motion(q) · offset
//! increment   q ⊕ δ: scalar q + δ; rotation exp(δ) R; pose (p + δ_t, exp(δ_r) R), in the joint frame
//! velocity    V_link = Σ_k S_k v_k,  k in the support of the link
//! columns     ∂S_k/∂q_j = ad(S_j) S_k where j carries the axis of k, else 0
//! dynamics    H(q) a + c(q, v) = τ + Σ Jᵀ w,   H = Σ Jᵀ M J + armature
//! ```
//!
//! [`ArticulatedModel`] says what there is; [`Configuration`] where it is; [`TreeKinematics`] where its links are
//! and how they move with each degree of freedom. Everything is generic over the scalar, so that derivatives by
//! state, inertia and placements come from one formula.

mod closure;
mod configuration;
mod drift;
mod dynamics;
mod dynamics_derivatives;
mod error;
pub mod immediate;
mod inverse_pull;
mod joint;
mod joint_force;
mod kinematics;
mod laws;
mod mass_factor;
mod model;
mod spatial;
#[cfg(test)]
pub(crate) mod test_models;
mod validate;

pub(crate) use closure::closure_covectors;
pub use closure::{ClosureRow, closure_rows};
pub use configuration::{Configuration, JointPosition};
pub(crate) use drift::Way;
pub use dynamics::{Load, bias, forward_dynamics, inverse_dynamics, mass_matrix};
pub use dynamics_derivatives::{
    ForwardDerivatives, InverseDerivatives, TreeParameter, TreePoint, forward_derivatives,
    inverse_by_parameters, inverse_derivatives,
};
pub use error::ModelError;
pub(crate) use inverse_pull::{InverseBar, pull_inverse_dynamics};
pub use joint::{Joint, JointKind};
pub use joint_force::CoordinateStage;
pub use kinematics::TreeKinematics;
pub use laws::{JointDrive, JointFriction, JointLaws, JointLimits};
pub use mass_factor::MassFactor;
pub use model::{
    ArticulatedModel, Attachment, ClosureKind, Link, LinkInertia, LoopClosure, sort_by_parent,
};
pub use spatial::{SpatialForce, Twist};
