//! Constructors: numbers are checked once, then trusted.

use super::{Collider, Cuboid, Cylinder, HalfSpace, Scaled, Sphere};
use crate::GeometryError;
use crate::distance::MeshDistance;
use crate::grid::GridSdf;
use nalgebra::Vector3;
use std::sync::Arc;

impl Collider<f64> {
    /// Half-space `{X : n·X/‖n‖ ≤ offset}`.
    ///
    /// # Errors
    /// Where the normal is zero or a number is not finite.
    pub fn half_space(normal: Vector3<f64>, offset: f64) -> Result<Self, GeometryError> {
        finite("half space", normal.iter().chain([&offset]))?;
        if normal.norm() < f64::MIN_POSITIVE {
            return Err(GeometryError::ColliderDimension {
                collider: "half space",
                dimension: "length of the normal",
                found: 0.0,
                allowed: "> 0",
            });
        }
        Ok(Self::HalfSpace(HalfSpace::new(normal, offset)))
    }

    /// Ball of a radius \[m\] about a local centre \[m\].
    ///
    /// # Errors
    /// Where the radius is not positive or a number is not finite.
    pub fn sphere(center: Vector3<f64>, radius: f64) -> Result<Self, GeometryError> {
        finite("sphere", center.iter().chain([&radius]))?;
        positive("sphere", "radius", radius)?;
        Ok(Self::Sphere(Sphere { center, radius }))
    }

    /// Box of half extents \[m\] about a local centre \[m\], along the local axes.
    ///
    /// # Errors
    /// Where a half extent is not positive or a number is not finite.
    pub fn cuboid(center: Vector3<f64>, half_extents: Vector3<f64>) -> Result<Self, GeometryError> {
        Self::rounded_cuboid(center, half_extents, 0.0)
    }

    /// As [`Collider::cuboid`], with edges and corners of a radius \[m\].
    ///
    /// # Errors
    /// Where a half extent is not positive, the radius is not from 0 to the smallest half extent, or a number is not
    /// finite.
    pub fn rounded_cuboid(
        center: Vector3<f64>,
        half_extents: Vector3<f64>,
        edge_radius: f64,
    ) -> Result<Self, GeometryError> {
        finite("box", center.iter().chain(half_extents.iter()).chain([&edge_radius]))?;
        for x in half_extents.iter() {
            positive("box", "half extent", *x)?;
        }
        if !(0.0..=half_extents.min()).contains(&edge_radius) {
            return Err(GeometryError::ColliderDimension {
                collider: "box",
                dimension: "edge radius",
                found: edge_radius,
                allowed: "from 0 to the smallest half extent",
            });
        }
        Ok(Self::Cuboid(Cuboid::new(center, half_extents, edge_radius)))
    }

    /// Cylinder of a radius \[m\] and a half height \[m\] about a local centre \[m\], its axis along z.
    ///
    /// # Errors
    /// Where radius or half height is not positive, or a number is not finite.
    pub fn cylinder(
        center: Vector3<f64>,
        radius: f64,
        half_height: f64,
    ) -> Result<Self, GeometryError> {
        finite("cylinder", center.iter().chain([&radius, &half_height]))?;
        positive("cylinder", "radius", radius)?;
        positive("cylinder", "half height", half_height)?;
        Ok(Self::Cylinder(Cylinder { center, radius, half_height }))
    }

    /// Distances on a grid, as large as they were made and without rounding.
    pub fn grid(grid: impl Into<Arc<GridSdf>>) -> Self {
        Self::Grid(Scaled { base: grid.into(), scale: 1.0, rounding: 0.0 })
    }

    /// Distances to the triangles of a mesh, as large as it is and without rounding.
    pub fn mesh(mesh: impl Into<Arc<MeshDistance>>) -> Self {
        Self::Mesh(Scaled { base: mesh.into(), scale: 1.0, rounding: 0.0 })
    }

    /// A grid or a mesh `scale` times as large, its surface `rounding` \[m\] further out; other colliders have their own
    /// dimensions and stay as they are.
    ///
    /// # Errors
    /// Where the scale is not positive, the rounding is negative, or either is not finite.
    pub fn scaled(&self, scale: f64, rounding: f64) -> Result<Self, GeometryError> {
        finite("scaled field", [scale, rounding].iter())?;
        positive("scaled field", "scale", scale)?;
        if rounding < 0.0 {
            return Err(GeometryError::ColliderDimension {
                collider: "scaled field",
                dimension: "rounding",
                found: rounding,
                allowed: "≥ 0",
            });
        }
        Ok(match self {
            Self::Grid(c) => Self::Grid(Scaled { scale, rounding, ..c.clone() }),
            Self::FreeGrid(c) => {
                let mut free = c.clone();
                (free.grid.scale, free.grid.rounding) = (scale, rounding);
                Self::FreeGrid(free)
            }
            Self::Mesh(c) => Self::Mesh(Scaled { scale, rounding, ..c.clone() }),
            other => other.clone(),
        })
    }
}

fn finite<'a>(
    collider: &'static str,
    mut numbers: impl Iterator<Item = &'a f64>,
) -> Result<(), GeometryError> {
    match numbers.find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(&found) => Err(GeometryError::ColliderDimension {
            collider,
            dimension: "dimension",
            found,
            allowed: "finite",
        }),
    }
}

fn positive(
    collider: &'static str,
    dimension: &'static str,
    found: f64,
) -> Result<(), GeometryError> {
    if found > 0.0 {
        Ok(())
    } else {
        Err(GeometryError::ColliderDimension { collider, dimension, found, allowed: "> 0" })
    }
}
