//! How a tree answers impulses at once: the step of an impulse solver in reduced coordinates.
//!
//! ```text
//! Ĥ    = H + armature + h c + (h² k_p + h k_d)         drives without effort limit and viscous friction, implicit
//! v_f  = v + Ĥ⁻¹ h (τ − c(q, v) + k_p (q* − q − h v) + k_d (v* − v) − c v)
//! v⁺   = v_f + Ĥ⁻¹ Jᵀ r                                every impulse moves the whole tree
//! row    u + b + γ r = 0 within lo ≤ r ≤ hi,   u = J v⁺
//! q⁺   = q ⊕ h v⁺
//! ```
//!
//! | row | b | γ | bounds |
//! |---|---|---|---|
//! | limit at distance φ | k φ/(h k + d) | 1/(h (h k + d)) | 0 to ∞ |
//! | drive with effort limit | −h (τ + k_p (q* − q) + k_d v*)/s, s = h² k_p + h k_d | 1/s | ± h τ_max |
//! | dry friction | 0 | 0 | ± h (τ_c + τ_s e^{−((V − V_f)₊/V_s)²}), V at the start |
//! | closure | k g/(h k + d) | 1/(h (h k + d)) | none |
//!
//! A limit and a closure are spring and damper evaluated at the end of the step; a limit that is apart is a row too,
//! without damper, and holds no impulse unless the step would pass it. Friction is not regularised. Friction of a joint with more
//! degrees of freedom holds the norm of its impulse.
//!
//! Source: the immediate response of the page *Friction* of the documentation of the Steel solver.

mod law;
mod row;
mod rows;
mod tree;

#[cfg(test)]
mod tests;

pub use law::{RowNumbers, RowSource, spring_row};
pub use row::{FrictionBlock, TreeRow};
pub use tree::{SolveStats, TreeResponse};
