//! The compliant contact law: one sample from its position to its force.
//!
//! ```text
//! p, p⁰        sample in collider-reference coordinates, now and at stage start      kinematics
//! φ, G         distance and gradient                                                osculate_geometry::collider
//! h, W, λ_n    ramp, energy, load                                                   normal_penalty
//! s, a         alignment: rejected where s > m, dissipation faded by a              alignment
//! R            μ ρ(V_t) + c_t V_t²/2 + c_n V_n²/2, times the load                   dissipation
//! T            λ_n G + T_diss                                                       sample
//! ∂T           by position, start, normal, parameters, dimensions                   linearised
//! f, K         w Jᵀ T and its derivative                                            assembly
//! ```
//!
//! Formulas after the *Contact* page of the SuperDex Physics documentation (Meta Platforms, CC-BY-4.0).
//! Each is written once, generic over [`osculate_math::Scalar`]; every derivative is a consequence.
//!
//! The laws of the other contact model, impulses on friction disks, are in [`impulse`].

pub mod alignment;
pub mod assembly;
pub mod combine;
pub mod dissipation;
mod error;
pub mod impulse;
pub mod kinematics;
pub mod linearised;
pub mod normal_penalty;
pub mod params;
pub mod restitution;
pub mod sample;
#[cfg(test)]
mod test_fields;

pub use combine::PairOverride;
pub use dissipation::{DissipationSchedule, FrictionRamp};
pub use error::ContactError;
pub use params::{ContactParams, PairParams};
pub use restitution::RestitutionLaw;
pub use sample::{ContactLaw, Sample, Status, Traction};
