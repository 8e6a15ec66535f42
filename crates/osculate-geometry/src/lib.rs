//! Who supplies distances and who supplies samples. Knows shapes, no forces.
//!
//! * [`broad_phase`]: which bodies can touch at all.
//! * [`collider`]: signed distance fields, `Φ < 0` inside.
//! * [`filter`]: which ordered pairs are allowed to touch.
//! * [`distance`]: exact distances to a closed mesh; [`grid`]: distances on a grid, built in parallel, kept in files.
//! * [`manifold`]: contact points between two shapes, differentiable in their poses.
//! * [`mesh`]: triangle meshes, their checks and repair, and boxes and spheres as meshes.
//! * [`quadrature`]: rules on a triangle, and the surface samples where contact is evaluated.
//! * [`mass`]: mass, centre and inertia of a homogeneous body.
//! * [`import`]: OBJ, STL, PLY and glTF files.
//!
//! Lengths are metres, angles radians, masses kilograms. Triangles are counter-clockwise seen from outside, so
//! normals leave the body. Everything but the colliders is `f64`.
//!
//! ```
//! use osculate_geometry::mass::MassProperties;
//! use osculate_geometry::mesh::TriangleMesh;
//! use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
//! use nalgebra::Vector3;
//!
//! # fn main() -> Result<(), osculate_geometry::GeometryError> {
//! let mesh = TriangleMesh::refined_cuboid(&Vector3::new(0.05, 0.04, 0.03), 3)?;
//! mesh.check_closed()?;
//! let samples = SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3);
//! let body = MassProperties::of_mesh(&mesh, 1000.0)?;
//!
//! assert_eq!(samples.len(), 3 * 108); // three samples on each triangle
//! assert!((samples.weights().iter().sum::<f64>() - mesh.area()).abs() < 1e-14);
//! assert!((body.mass() - 0.48).abs() < 1e-14); // 1000 kg/m³ · 8 · 0.05 · 0.04 · 0.03 m³
//! # Ok(())
//! # }
//! ```

pub mod aabb;
pub mod broad_phase;
pub mod collider;
pub mod distance;
mod error;
pub mod filter;
pub mod grid;
pub mod import;
pub mod manifold;
pub mod mass;
pub mod mesh;
pub mod quadrature;

pub use error::GeometryError;
