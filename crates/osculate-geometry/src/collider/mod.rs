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
mod half_space;
mod sphere;

pub use cuboid::Cuboid;
pub use half_space::HalfSpace;
pub use sphere::Sphere;

use crate::GeometryError;
use crate::broad_phase::Aabb;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Jet, Scalar};

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

/// The most dimensions that a collider has.
pub const DIMENSIONS: usize = 6;

/// A signed distance field of the closed family that ships.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Collider<T = f64> {
    /// Everything below a plane.
    HalfSpace(HalfSpace<T>),
    /// A ball.
    Sphere(Sphere<T>),
    /// A box aligned with the local axes.
    Cuboid(Cuboid<T>),
}

impl<T: Scalar> Collider<T> {
    /// Signed distance \[m\] of a local point \[m\].
    #[inline]
    pub fn phi(&self, point: &Vector3<T>) -> T {
        match self {
            Self::HalfSpace(c) => c.phi(point),
            Self::Sphere(c) => c.phi(point),
            Self::Cuboid(c) => c.phi(point),
        }
    }

    /// Signed distance \[m\] and its gradient at a local point \[m\].
    #[inline(always)]
    pub fn field(&self, point: &Vector3<T>) -> Field<T> {
        match self {
            Self::HalfSpace(c) => c.field(point),
            Self::Sphere(c) => c.field(point),
            Self::Cuboid(c) => c.field(point),
        }
    }

    /// `∇²Φ` \[1/m\] at a local point, column by column the change of the gradient; `None` where the gradient is
    /// the same everywhere.
    #[inline]
    pub fn curvature(&self, point: &Vector3<T>) -> Option<Matrix3<T>> {
        if let Self::HalfSpace(_) = self {
            return None;
        }
        let seeded = Vector3::new(
            Jet::<3, T>::variable(point.x, 0),
            Jet::variable(point.y, 1),
            Jet::variable(point.z, 2),
        );
        let gradient = self.constant().field(&seeded).gradient;
        Some(Matrix3::from_fn(|i, j| gradient[i].eps[j]))
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
            Self::Cuboid(_) => self.pull_field_by::<9>(point, bar),
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
            Self::HalfSpace(c) => [c.normal.x, c.normal.y, c.normal.z, c.offset, o, o],
            Self::Sphere(c) => [c.center.x, c.center.y, c.center.z, c.radius, o, o],
            Self::Cuboid(c) => {
                let (a, h) = (c.center, c.half_extents);
                [a.x, a.y, a.z, h.x, h.y, h.z]
            }
        }
    }

    /// The same kind of collider with other dimensions, in another scalar.
    pub fn with_dimensions<U: Scalar>(&self, d: &[U; DIMENSIONS]) -> Collider<U> {
        let v = Vector3::new(d[0], d[1], d[2]);
        match self {
            Self::HalfSpace(_) => Collider::HalfSpace(HalfSpace::new(v, d[3])),
            Self::Sphere(_) => Collider::Sphere(Sphere { center: v, radius: d[3] }),
            Self::Cuboid(_) => {
                Collider::Cuboid(Cuboid { center: v, half_extents: Vector3::new(d[3], d[4], d[5]) })
            }
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
            ],
        }
    }

    /// The collider with constant dimensions, for a point that carries derivatives.
    #[inline]
    pub fn constant<const N: usize>(&self) -> Collider<Jet<N, T>> {
        self.with_dimensions(&self.dimensions().map(Jet::constant))
    }

    /// Kind and dimensions without derivatives.
    pub fn real(&self) -> Collider<f64> {
        self.with_dimensions(&self.dimensions().map(|x| x.re()))
    }
}

impl Collider<f64> {
    /// Local box outside of which `Φ ≥ threshold`; `None` for a half-space, which has none.
    pub fn bounds(&self, threshold: f64) -> Option<Aabb> {
        let (center, half) = match self {
            Self::HalfSpace(_) => return None,
            Self::Sphere(c) => (c.center, Vector3::repeat(c.radius)),
            Self::Cuboid(c) => (c.center, c.half_extents),
        };
        Some(Aabb { min: center - half, max: center + half }.padded(threshold))
    }

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
        finite("box", center.iter().chain(half_extents.iter()))?;
        for x in half_extents.iter() {
            positive("box", "half extent", *x)?;
        }
        Ok(Self::Cuboid(Cuboid { center, half_extents }))
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

#[cfg(test)]
pub(crate) mod laws {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};

    /// Φ and G as functions of the point (3) and of the dimensions (6).
    struct FieldLaw(Collider);
    impl Law<9, 4> for FieldLaw {
        fn value<T: Scalar>(&self, x: [T; 9]) -> [T; 4] {
            let collider = self.0.with_dimensions(&std::array::from_fn(|i| x[3 + i]));
            let field = collider.field(&Vector3::new(x[0], x[1], x[2]));
            [field.phi, field.gradient.x, field.gradient.y, field.gradient.z]
        }
    }

    /// Checks derivatives by point and dimensions, and that the stored gradient is the derivative of the value.
    pub(crate) fn check_field(
        collider: &Collider,
        regime: &str,
        point: [f64; 3],
        smoothness: Smoothness,
    ) {
        let d = collider.dimensions();
        let x = std::array::from_fn(|i| if i < 3 { point[i] } else { d[i - 3] });
        check::gradients(&FieldLaw(*collider), regime, x, [1e-3; 9], smoothness, 1e-6);
        let seeded = Vector3::from_fn(|i, _| Jet::<3>::variable(point[i], i));
        let field = collider.constant().field(&seeded);
        assert_eq!(field.phi, collider.constant().phi(&seeded), "{regime}");
        for i in 0..3 {
            assert!(
                (field.phi.eps[i] - field.gradient[i].re).abs() < 1e-14,
                "{regime}: the gradient is not the derivative of the distance"
            );
        }
    }
}
