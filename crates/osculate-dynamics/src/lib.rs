//! Rigid bodies, alone and in articulated trees, in compliant contact: scenes, time integration, Newton, and exact derivatives of trajectories.
//!
//! ```text
//! stage      r(q; q⁰, v⁰, θ) = M a + ∂U/∂q + ∂R/∂v = 0,   v = (q − q⁰)/Δt_i,   a = (v − v⁰)/Δt_i
//! Newton     K δq = −r,  K = ∂r/∂q exact, not symmetric, factorised and kept
//! tangent    K dq = −∂r/∂(q⁰, v⁰, θ)          adjoint   Kᵀ λ = q̄
//! second     the tangent of the adjoint, with the same factorisation
//! ```
//!
//! [`Scene`] says what there is, [`Simulator`] what is done with it, [`Trajectory`] what came out, and
//! [`sensitivity`] how it depends on everything.

pub mod articulated;
mod chart;
mod contacts;
mod error;
mod factors;
pub mod file;
mod halving;
mod history;
pub mod import;
pub mod impulse;
mod impulse_surface;
pub mod integrator;
mod islands;
mod layout;
mod linalg;
mod newton;
mod parameters;
mod reduction;
mod rotation;
mod scene;
pub mod sensitivity;
mod shape;
mod simulate;
mod state;
mod system;

pub use contacts::{ContactRecord, Energies};
pub use error::{SceneError, StepError};
pub use halving::Halved;
pub use impulse_surface::ImpulseSurface;
pub use integrator::Method;
pub use layout::{Layout, ParameterInfo};
pub use newton::{NewtonSettings, OnFailure, StageStats};
pub use parameters::{BodyParameters, Parameters, Wrench};
pub use reduction::{
    Articulation, ArticulationError, ArticulationParameters, JointState, LinkJoint,
};
pub use rotation::RotationUpdate;
pub use scene::{Body, BodyKind, Override, Scene};
pub use shape::{FreeShape, Geometry, ShapeMode, ShapeParameters};
pub use simulate::{InitialRate, Path, RunError, Settings, Simulator, Trajectory, step_times};
pub use state::{BodyState, Kinematics};
