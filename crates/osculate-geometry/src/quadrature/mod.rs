//! Where contact is evaluated on a surface, and how much surface each place stands for.
//!
//! ```text
//! ∫_T f dA ≈ |T| Σ_i w_i f(λ_i),   Σ_i w_i = 1
//! ∫_S f dA ≈ Σ_s W_s f(x_s),       W_s = w_i |T| \[m²\]
//! ```
//!
//! * [`TriangleRule`]: points `λ_i` (barycentric) and weights `w_i` on one triangle.
//! * [`SurfaceSamples`]: points `x_s`, weights `W_s` and normals on a whole surface.
//! * [`Surface`]: the same as functions of the vertices, and their pullback.

mod samples;
mod surface;
mod triangle;

pub use samples::SurfaceSamples;
pub use surface::{SampleValues, Surface};
pub use triangle::{TriangleNode, TriangleRule};
