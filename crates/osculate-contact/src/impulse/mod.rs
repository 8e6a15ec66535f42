//! Friction as impulses: laws of one contact, each a small problem with its derivative.
//!
//! ```text
//! r = (r_N, r_T)  contact impulse [N s]          u = W r + b  contact velocity [m/s], normal first
//!
//! combine  μ of a pair of surfaces
//! normal   r_N: rigid, speculative, soft, rebounding
//! disk     r_T at a given r_N: min ½xᵀAx − bᵀx on ‖x‖ ≤ μ r_N
//! cone     r_N and r_T together, exactly
//! radial, bisection   what others do instead, as counter-examples
//! elliptic slide, spin and roll on one ellipsoid
//! torsion  spin: linear budget, PhysX, ellipsoid, uniform disk on its limit surface
//! patch    anchors that share the load of a region, and hold positions
//! ```
//!
//! No bodies and no sweeps: a stepper owns both, and calls these. Solutions are found in `f64`; their derivatives are closed
//! forms of the optimality conditions, generic over [`osculate_math::Scalar`], forward and reverse.
//!
//! Source: the page *Friction* of the documentation of the Steel solver, and the sources named in each file.

pub mod bisection;
pub mod combine;
pub mod cone;
pub mod disk;
pub mod elliptic;
mod error;
mod jacobi;
pub mod limit_surface;
pub mod normal;
pub mod patch;
mod plane;
pub mod radial;
pub mod secular;
#[cfg(test)]
mod test_problems;
pub mod torsion;

pub use bisection::{Bisection, BisectionSolution, BisectionWarning};
pub use combine::{FrictionCombine, PairFriction, SurfaceFriction};
pub use cone::{Cone, ConeRegime, ConeSolution};
pub use disk::{Disk, DiskSolution, Regime};
pub use elliptic::{Condim, Ellipsoid, EllipsoidSolution};
pub use error::ImpulseError;
pub use normal::{NormalRow, Rigid, SpringDamper};
