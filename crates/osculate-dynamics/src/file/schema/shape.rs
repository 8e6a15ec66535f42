//! Shapes and distance fields.

use super::MeshFile;
use osculate_geometry::mesh::CuboidGrid;
use serde::{Deserialize, Serialize};

/// `shape`: exactly one of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "lowercase",
    expecting = "a table with one of mesh, box, cylinder, icosphere, triangles, plane, sphere"
)]
pub enum Shape {
    /// A mesh from a file.
    Mesh(MeshFile),
    /// A box about the local origin.
    Box(BoxShape),
    /// A cylinder about the local origin, its axis along z.
    Cylinder(CylinderShape),
    /// A subdivided icosahedron about the local origin.
    Icosphere(Icosphere),
    /// A mesh written out.
    Triangles(Triangles),
    /// A half-space.
    Plane(PlaneField),
    /// A ball; it has no triangles, so no samples of its own.
    Sphere(SphereField),
}

/// A box about the local origin, as a mesh and as an exact distance field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table { half_extents, subdivisions, edge_radius, edge_subdivisions }"
)]
pub struct BoxShape {
    /// Half extents \[m\], > 0.
    pub half_extents: [f64; 3],
    /// Squares along each edge of a face, two triangles each; 1 to 200.
    #[serde(default = "one")]
    pub subdivisions: usize,
    /// Radius of edges and corners \[m\], from 0 to below the smallest half extent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_radius: Option<f64>,
    /// Strips of each half of a rounded edge, 1 to 100; two where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_subdivisions: Option<usize>,
}

impl BoxShape {
    /// A box of sharp edges, two triangles on each face.
    pub fn new(half_extents: [f64; 3]) -> Self {
        Self { half_extents, subdivisions: 1, edge_radius: None, edge_subdivisions: None }
    }

    /// How its surface is divided.
    pub fn divisions(&self) -> CuboidGrid {
        let arc = match self.edge_radius {
            Some(_) => self.edge_subdivisions.unwrap_or(2),
            None => 0,
        };
        CuboidGrid { flat: self.subdivisions, arc }
    }
}

fn one() -> usize {
    1
}

/// A cylinder about the local origin, its axis along z, as a mesh and as an exact distance field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { radius, half_height, sides, rings }")]
pub struct CylinderShape {
    /// Radius \[m\], > 0.
    pub radius: f64,
    /// Half of its height \[m\], > 0.
    pub half_height: f64,
    /// Flat sides of its mesh, 3 to 1000.
    #[serde(default = "sides")]
    pub sides: usize,
    /// Rings of triangles of each cap, and half of the strips of its side; 1 to 100.
    #[serde(default = "one")]
    pub rings: usize,
}

fn sides() -> usize {
    32
}

/// An icosahedron, cut and pushed out to its sphere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { radius, subdivisions }")]
pub struct Icosphere {
    /// Radius of the sphere through the vertices \[m\], > 0.
    pub radius: f64,
    /// How often every triangle is cut in four, 0 to 7.
    pub subdivisions: usize,
}

/// A mesh written out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { vertices, triangles }")]
pub struct Triangles {
    /// Vertices \[m\], local.
    pub vertices: Vec<[f64; 3]>,
    /// Three vertex indices each, from 0, counter-clockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
}

/// The half-space `n̂·X ≤ offset`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { normal, offset }")]
pub struct PlaneField {
    /// Normal of the plane, leaving the solid; not zero, its length does not matter.
    pub normal: [f64; 3],
    /// Distance of the plane from the local origin along the unit normal \[m\].
    #[serde(default)]
    pub offset: f64,
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { center, radius }")]
pub struct SphereField {
    /// Centre \[m\], local.
    #[serde(default)]
    pub center: [f64; 3],
    /// Radius \[m\], > 0.
    pub radius: f64,
}

/// A cylinder about an axis along local z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { center, radius, half_height }")]
pub struct CylinderField {
    /// Centre \[m\], local.
    #[serde(default)]
    pub center: [f64; 3],
    /// Radius \[m\], > 0.
    pub radius: f64,
    /// Half of its height \[m\], > 0.
    pub half_height: f64,
}

/// A box along the local axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { center, half_extents, edge_radius }")]
pub struct BoxField {
    /// Centre \[m\], local.
    #[serde(default)]
    pub center: [f64; 3],
    /// Half extents \[m\], > 0.
    pub half_extents: [f64; 3],
    /// Radius of edges and corners \[m\], from 0 to the smallest half extent.
    #[serde(default)]
    pub edge_radius: f64,
}
