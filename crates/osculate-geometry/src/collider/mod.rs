//! Colliders: signed distance fields `Φ_B` in the reference (local) coordinates of an actor.
//!
//! ```text
//! Φ < 0 inside,  G = ∇Φ leaves the collider
//! ```
//!
//! Every field is generic over the scalar in the query point *and* in its own dimensions, so one formula gives
//! the value, the Hessian `∇²Φ` and the derivatives with respect to radius, extents, offset and normal.
//! The gradient is stored beside the value and never normalised in place: interpolated and pulled-back fields
//! have gradients that are not unit.

mod cuboid;
mod cylinder;
mod free_grid;
mod half_space;
mod new;
mod scaled;
mod sphere;

pub use cuboid::Cuboid;
pub use cylinder::Cylinder;
pub use free_grid::FreeGrid;
pub use half_space::HalfSpace;
pub use scaled::{Base, GridField, MeshField, Scaled};
pub use sphere::Sphere;

use crate::aabb::Aabb;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Jet, Scalar, real};

/// Value and gradient of a signed distance field at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<T = f64> {
    /// `Φ(X)` \[m\], negative inside.
    pub phi: T,
    /// `G = ∇Φ(X)` \[–\]; unit only where the field is an exact distance.
    pub gradient: Vector3<T>,
    /// Whether the gradient is unit by construction, here and around: then it is its own direction.
    pub unit: bool,
}

/// A signed distance field: what the law of a sample asks of a collider.
///
/// Laws are written for any field and run once with the kind known: among all kinds, the compiler keeps what a sample
/// needs in memory across calls that a half-space never makes (`benches/sample.rs`).
pub trait SignedDistance<T> {
    /// Signed distance \[m\] and its gradient at a local point \[m\].
    fn field(&self, point: &Vector3<T>) -> Field<T>;

    /// `∇²Φ` \[1/m\] at a local point, column by column the change of the gradient; `None` where the gradient is
    /// the same all around.
    fn curvature(&self, point: &Vector3<T>) -> Option<Matrix3<T>>;
}

impl<T: Scalar> SignedDistance<T> for HalfSpace<T> {
    #[inline(always)]
    fn field(&self, point: &Vector3<T>) -> Field<T> {
        self.field(point)
    }

    #[inline(always)]
    fn curvature(&self, _: &Vector3<T>) -> Option<Matrix3<T>> {
        None
    }
}

impl<T: Scalar> SignedDistance<T> for Collider<T> {
    #[inline(always)]
    fn field(&self, point: &Vector3<T>) -> Field<T> {
        self.field(point)
    }

    #[inline]
    fn curvature(&self, point: &Vector3<T>) -> Option<Matrix3<T>> {
        self.curvature(point)
    }
}

/// The most dimensions that a collider has.
pub const DIMENSIONS: usize = 7;

/// A signed distance field of the closed family that ships.
///
/// A copy of a grid or a mesh shares its data.
#[derive(Clone, Debug, PartialEq)]
pub enum Collider<T = f64> {
    /// Everything below a plane.
    HalfSpace(HalfSpace<T>),
    /// A ball.
    Sphere(Sphere<T>),
    /// A box aligned with the local axes, its edges sharp or rounded.
    Cuboid(Cuboid<T>),
    /// A cylinder about the local z axis.
    Cylinder(Cylinder<T>),
    /// Distances on a grid.
    Grid(GridField<T>),
    /// Distances on a grid whose node values carry derivatives.
    FreeGrid(FreeGrid<T>),
    /// Distances to the triangles of a closed mesh.
    Mesh(MeshField<T>),
}

impl<T: Scalar> Collider<T> {
    /// Signed distance \[m\] of a local point \[m\].
    #[inline]
    pub fn phi(&self, point: &Vector3<T>) -> T {
        match self {
            Self::HalfSpace(c) => c.phi(point),
            Self::Sphere(c) => c.phi(point),
            Self::Cuboid(c) => c.phi(point),
            Self::Cylinder(c) => c.phi(point),
            Self::Grid(c) => c.phi(point),
            Self::FreeGrid(c) => c.phi(point),
            Self::Mesh(c) => c.phi(point),
        }
    }

    /// Signed distance \[m\] and its gradient at a local point \[m\].
    #[inline(always)]
    pub fn field(&self, point: &Vector3<T>) -> Field<T> {
        match self {
            Self::HalfSpace(c) => c.field(point),
            Self::Sphere(c) => c.field(point),
            Self::Cuboid(c) => c.field(point),
            Self::Cylinder(c) => c.field(point),
            Self::Grid(c) => c.field(point),
            Self::FreeGrid(c) => c.field(point),
            Self::Mesh(c) => c.field(point),
        }
    }

    /// Whether the gradient is the same everywhere.
    #[inline]
    pub fn is_linear(&self) -> bool {
        matches!(self, Self::HalfSpace(_))
    }

    /// A bound of the slope of Φ between any two points \[–\].
    pub fn steepest(&self) -> f64 {
        match self {
            Self::Grid(c) => c.base.steepest(),
            Self::FreeGrid(c) => c.grid.base.steepest(),
            Self::HalfSpace(_)
            | Self::Sphere(_)
            | Self::Cuboid(_)
            | Self::Cylinder(_)
            | Self::Mesh(_) => 1.0,
        }
    }

    /// `∇²Φ` \[1/m\] at a local point, column by column the change of the gradient; `None` where the gradient is
    /// the same all around.
    #[inline]
    pub fn curvature(&self, point: &Vector3<T>) -> Option<Matrix3<T>> {
        match self {
            Self::HalfSpace(_) => None,
            Self::Sphere(c) => {
                let constant =
                    Sphere { center: c.center.map(Jet::constant), radius: Jet::constant(c.radius) };
                Some(slope(point, |x| constant.field(x)))
            }
            Self::Cuboid(c) if c.is_flat(point) => None,
            Self::Cuboid(c) => {
                let constant = Cuboid::new(
                    c.center.map(Jet::constant),
                    c.half_extents.map(Jet::constant),
                    Jet::constant(c.edge_radius),
                );
                Some(slope(point, |x| constant.field(x)))
            }
            Self::Cylinder(c) if c.is_flat(point) => None,
            Self::Cylinder(_) => {
                let constant = self.constant();
                Some(slope(point, |x| constant.field(x)))
            }
            Self::Grid(c) => Some(c.curvature(point)),
            Self::FreeGrid(c) => Some(c.curvature(point)),
            Self::Mesh(c) => Some(c.curvature(point)),
        }
    }

    /// Pullback of [`Collider::field`]: the gradient of `Φ φ̄ + G·ḡ` by the point and by the dimensions.
    pub fn pull_field(
        &self,
        point: &Vector3<T>,
        bar: (T, Vector3<T>),
    ) -> (Vector3<T>, [T; DIMENSIONS]) {
        match self {
            // Four dimensions.
            Self::HalfSpace(_) | Self::Sphere(_) => self.pull_field_by::<7>(point, bar),
            Self::Cylinder(_) => self.pull_field_by::<8>(point, bar),
            Self::Cuboid(_) => {
                let (by_point, mut d) = self.pull_field_by::<9>(point, bar);
                // Φ depends on e − r and on −r: one direction less.
                d[6] = -(d[3] + d[4] + d[5]) - bar.0;
                (by_point, d)
            }
            Self::Grid(c) => c.pull_field(point, bar),
            Self::FreeGrid(c) => c.pull_field(point, bar),
            Self::Mesh(c) => c.pull_field(point, bar),
        }
    }

    /// `N`: three directions of the point and as many as there are dimensions.
    fn pull_field_by<const N: usize>(
        &self,
        point: &Vector3<T>,
        (phi, g): (T, Vector3<T>),
    ) -> (Vector3<T>, [T; DIMENSIONS]) {
        let seed = |x: T, i: usize| {
            if i < N { Jet::<N, T>::variable(x, i) } else { Jet::constant(x) }
        };
        let d = self.dimensions();
        let collider = self.with_dimensions(&std::array::from_fn(|j| seed(d[j], 3 + j)));
        let field =
            collider.field(&Vector3::new(seed(point.x, 0), seed(point.y, 1), seed(point.z, 2)));
        let by = |i: usize| {
            let [x, y, z] = [0, 1, 2].map(|k| field.gradient[k].eps[i]);
            field.phi.eps[i] * phi + x * g.x + y * g.y + z * g.z
        };
        let dimensions = std::array::from_fn(|j| if 3 + j < N { by(3 + j) } else { T::zero() });
        (Vector3::new(by(0), by(1), by(2)), dimensions)
    }

    /// The collider's dimensions, in the order of [`Collider::dimension_names`]; unused places are zero.
    pub fn dimensions(&self) -> [T; DIMENSIONS] {
        let o = T::zero();
        match self {
            Self::HalfSpace(c) => [c.normal.x, c.normal.y, c.normal.z, c.offset, o, o, o],
            Self::Sphere(c) => [c.center.x, c.center.y, c.center.z, c.radius, o, o, o],
            Self::Cuboid(c) => {
                let (a, h) = (c.center, c.half_extents);
                [a.x, a.y, a.z, h.x, h.y, h.z, c.edge_radius]
            }
            Self::Cylinder(c) => {
                [c.center.x, c.center.y, c.center.z, c.radius, c.half_height, o, o]
            }
            Self::Grid(c) => c.dimensions(),
            Self::FreeGrid(c) => c.grid.dimensions(),
            Self::Mesh(c) => c.dimensions(),
        }
    }

    /// The same kind of collider with other dimensions, in another scalar. Node values of a grid are constants of it.
    pub fn with_dimensions<U: Scalar>(&self, d: &[U; DIMENSIONS]) -> Collider<U> {
        let v = Vector3::new(d[0], d[1], d[2]);
        match self {
            Self::HalfSpace(_) => Collider::HalfSpace(HalfSpace::new(v, d[3])),
            Self::Sphere(_) => Collider::Sphere(Sphere { center: v, radius: d[3] }),
            Self::Cuboid(_) => {
                Collider::Cuboid(Cuboid::new(v, Vector3::new(d[3], d[4], d[5]), d[6]))
            }
            Self::Cylinder(_) => {
                Collider::Cylinder(Cylinder { center: v, radius: d[3], half_height: d[4] })
            }
            Self::Grid(c) => Collider::Grid(c.with_dimensions(d)),
            Self::FreeGrid(c) => Collider::Grid(c.grid.with_dimensions(d)),
            Self::Mesh(c) => Collider::Mesh(c.with_dimensions(d)),
        }
    }

    /// Names of the dimensions, as they stand in parameter paths (`ground.collider.offset`).
    pub fn dimension_names(&self) -> &'static [&'static str] {
        match self {
            Self::HalfSpace(_) => &["normal_x", "normal_y", "normal_z", "offset"],
            Self::Sphere(_) => &["center_x", "center_y", "center_z", "radius"],
            Self::Cuboid(_) => &[
                "center_x",
                "center_y",
                "center_z",
                "half_extent_x",
                "half_extent_y",
                "half_extent_z",
                "edge_radius",
            ],
            Self::Cylinder(_) => &["center_x", "center_y", "center_z", "radius", "half_height"],
            Self::Grid(_) | Self::FreeGrid(_) => &GridField::<f64>::NAMES,
            Self::Mesh(_) => &MeshField::<f64>::NAMES,
        }
    }

    /// Units of the dimensions, empty for a pure number.
    pub fn dimension_units(&self) -> &'static [&'static str] {
        match self {
            Self::HalfSpace(_) => &["", "", "", "m"],
            Self::Sphere(_) => &["m"; 4],
            Self::Cuboid(_) => &["m"; 7],
            Self::Cylinder(_) => &["m"; 5],
            Self::Grid(_) | Self::FreeGrid(_) => &GridField::<f64>::UNITS,
            Self::Mesh(_) => &MeshField::<f64>::UNITS,
        }
    }

    /// The dimensions of the collider `s` times as large about the local origin: `s dⱼ`, but for the normal of a
    /// half-space.
    pub fn grown_dimensions(&self, s: T) -> [T; DIMENSIONS] {
        let d = self.dimensions();
        std::array::from_fn(|j| if self.grows(j) { d[j] * s } else { d[j] })
    }

    /// Whether a dimension grows with the size of the collider.
    pub fn grows(&self, j: usize) -> bool {
        !matches!(self, Self::HalfSpace(_)) || j >= 3
    }

    /// Whether a point within `radius` \[m\] of `center` \[m\] (local) can have `Φ < threshold` \[m\].
    ///
    /// False only where none can. Exact distances change by at most the way gone; interpolated ones have a bound of
    /// their slope.
    pub fn may_reach(&self, center: &Vector3<f64>, radius: f64, threshold: f64) -> bool {
        let lowest = match self {
            Self::Grid(c) => c.lower_bound(center, radius),
            Self::FreeGrid(c) => c.grid.lower_bound(center, radius),
            Self::Mesh(c) => c.lower_bound(center, radius),
            Self::HalfSpace(_) | Self::Sphere(_) | Self::Cuboid(_) | Self::Cylinder(_) => {
                self.real().phi(center) - radius
            }
        };
        // A NaN reaches everything.
        lowest < threshold || lowest.is_nan()
    }

    /// A local box outside of which `Φ ≥ threshold` \[m\]; `None` for the half-space, which has no bounds.
    pub fn bounds(&self, threshold: f64) -> Option<Aabb> {
        match self {
            Self::HalfSpace(_) => None,
            Self::Sphere(c) => {
                let reach = (c.radius.re() + threshold).max(0.0);
                Some(Aabb::about(&real(&c.center), &Vector3::repeat(reach)))
            }
            Self::Cuboid(c) => {
                let reach = real(&c.half_extents).map(|e| (e + threshold).max(0.0));
                Some(Aabb::about(&real(&c.center), &reach))
            }
            Self::Cylinder(c) => {
                let reach = Vector3::new(c.radius.re(), c.radius.re(), c.half_height.re());
                let reach = reach.map(|e| (e + threshold).max(0.0));
                Some(Aabb::about(&real(&c.center), &reach))
            }
            Self::Grid(c) => Some(c.bounds(threshold)),
            Self::FreeGrid(c) => Some(c.grid.bounds(threshold)),
            Self::Mesh(c) => Some(c.bounds(threshold)),
        }
    }

    /// The collider with constant dimensions, for a point that carries derivatives.
    #[inline]
    pub fn constant<const N: usize>(&self) -> Collider<Jet<N, T>> {
        self.with_dimensions(&self.dimensions().map(Jet::constant))
    }

    /// The same collider with constant dimensions of another scalar.
    pub fn lift<U: Scalar>(&self) -> Collider<U> {
        self.with_dimensions(&self.dimensions().map(|x| U::from(x.re())))
    }

    /// Kind and dimensions without derivatives.
    pub fn real(&self) -> Collider<f64> {
        self.lift()
    }
}

/// How the gradient of a field changes with the point, column by column.
#[inline(always)]
fn slope<T: Scalar>(
    point: &Vector3<T>,
    field: impl Fn(&Vector3<Jet<3, T>>) -> Field<Jet<3, T>>,
) -> Matrix3<T> {
    let seeded = Vector3::new(
        Jet::<3, T>::variable(point.x, 0),
        Jet::variable(point.y, 1),
        Jet::variable(point.z, 2),
    );
    let gradient = field(&seeded).gradient;
    Matrix3::from_fn(|i, j| gradient[i].eps[j])
}

#[cfg(test)]
pub(crate) mod laws;
#[cfg(test)]
mod tests;
