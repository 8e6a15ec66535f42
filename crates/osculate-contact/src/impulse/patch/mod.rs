//! Friction of a patch: few anchors that carry the load of many contacts, and remember how far they were dragged.
//!
//! ```text
//! regions    contacts that touch as one surface                                regions
//! anchors    at most two points of a region, at the ends of its long axis      anchors
//! budget     ρ = μ/#anchors · Σ r_N of the region                              budget
//! motion     how far a body moves a point: disp(p) between two of its poses    motion
//! memory     d ← P_n [ transport(d) + disp_a(p) − disp_b(p) ]                  transport
//! matching   which anchor of the step before an anchor continues               history
//! row        u_T + β d/Δt, solved on the disk of radius ρ                      drift_velocity
//! release    where the region unloads, or an anchor slides                     release
//! ```
//!
//! Lengths are relative to `R`, the bounding radius \[m\] of the smaller body. Displacements are of body a relative to body b.
//! Source: the page *Friction* of the Steel solver.

pub mod anchors;
pub mod anchors_pull;
pub mod history;
pub mod motion;
pub mod regions;
pub mod release;
pub mod transport;

pub use anchors::{Anchors, IsotropicFootprint};
pub use anchors_pull::{PlacesBar, pull_anchors};
pub use history::{Candidate, Memory, best_match};
pub use motion::{Interpolation, Motion};
pub use regions::{PatchContact, regions};
pub use release::{Release, budget, drift_velocity};
pub use transport::{DisplacementField, carry, transport, unstretched};
