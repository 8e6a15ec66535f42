//! Rigid bodies in hard contact: time stepping at the level of velocities, with impulses.
//!
//! ```text
//! v_f = v + h M⁻¹(f_ext + gyroscopic)              body
//! v⁺ = v_f + M⁻¹Jᵀ r                               solve: projected Gauss–Seidel
//! 0 ≤ r_N ⟂ u_N + b + γ r_N ≥ 0                    rows: normal of each contact
//! r_T = argmin ½ xᵀAx − bᵀx, ‖x‖ ≤ μ r_N           friction disk, directly after its normal
//! q⁺ = q + h v⁺                                    stepper
//! ```
//!
//! The other contact model of the crate integrates tractions over surfaces; this one has a few contact points, no
//! stiffness and no regularisation of friction. [`StepStart`] has the equations of a step for any scalar. [`ImpulseStepper`] goes step by step, [`ImpulseSimulator`] over a
//! time grid.
//!
//! Source: the page *Friction* of the documentation of the Steel solver.

mod balance;
mod body;
mod build;
mod doubt;
mod error;
mod islands;
mod joints;
mod memory;
mod near;
mod parts;
mod patch;
mod propagation;
mod record;
mod residual;
mod row;
mod rows;
mod schedule;
pub mod sensitivity;
mod settings;
mod simulate;
mod solve;
mod spin;
mod stall;
mod stepper;
mod surface;
mod system;
mod tree;

pub use balance::{PointImpulse, StepStart};
pub use body::{Gyroscopic, Inertia, RigidState, TurnsTooFast};
pub use error::ImpulseStepError;
pub use record::{AnchorImpulse, ContactImpulse, StepRecord};
pub use row::{jacobian, response};
pub use rows::tangents;
pub use settings::{
    ArticulatedResponse, Coriolis, FrictionMode, FrictionPoint, ImpulseSettings, NormalLaw,
    SolveMode, Torsion,
};
pub use simulate::{ImpulseRunError, ImpulseSimulator, ImpulseTrajectory};
pub use solve::ImpulseStats;
pub use stepper::{ImpulseStepper, ResetError};
pub use tree::{JoinError, JointedBodies};
