//! Derivatives of trajectories with impulses: adjoint, tangent, differences, closed forms and refusals.

#![allow(unreachable_pub, reason = "modules of one test")]

#[path = "../common/mod.rs"]
mod common;

mod boxes;
mod case;
mod coriolis;
mod cylinders;
mod joints;
mod refusals;
mod spin;
mod torsion;
