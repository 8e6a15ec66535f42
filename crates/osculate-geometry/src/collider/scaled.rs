//! A fixed field, scaled and rounded: `Φ(X) = s Φ₀(X/s) − r`.
//!
//! Scaling keeps the gradient, rounding moves the surface outwards by `r`:
//!
//! ```text
//! G(X) = G₀(X/s),   ∇²Φ = ∇²Φ₀(X/s)/s,   ∂Φ/∂s = Φ₀ − G₀·X/s,   ∂G/∂s = −∇²Φ₀ X/s²,   ∂Φ/∂r = −1
//! ```

use super::{DIMENSIONS, Field};
use crate::aabb::Aabb;
use crate::distance::MeshDistance;
use crate::grid::GridSdf;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Jet, Scalar, norm::scale};
use std::sync::Arc;

/// A field `Φ₀` that is data: too large to be lifted to a scalar, shared by all that use it.
pub trait Base {
    /// Whether the gradient is unit everywhere.
    const UNIT: bool;

    /// `Φ₀` (m) and its gradient, generic over the scalar of the point.
    fn field<T: Scalar>(&self, point: &Vector3<T>) -> (T, Vector3<T>);

    /// `∇²Φ₀` (1/m) at a point where it is known in closed form.
    #[inline]
    fn hessian<T: Scalar>(&self, _point: &Vector3<T>) -> Option<Matrix3<T>> {
        None
    }

    /// A lower bound of `Φ₀` (m) within a ball.
    fn lower_bound(&self, center: &Vector3<f64>, radius: f64) -> f64;

    /// A box, and a value (m): beyond the box `Φ₀` is at least this value plus the distance to the box.
    fn outside(&self) -> (Aabb, f64);
}

impl Base for GridSdf {
    const UNIT: bool = false;

    #[inline]
    fn field<T: Scalar>(&self, point: &Vector3<T>) -> (T, Vector3<T>) {
        Self::field(self, point)
    }

    #[inline]
    fn hessian<T: Scalar>(&self, point: &Vector3<T>) -> Option<Matrix3<T>> {
        self.trilinear_hessian(|n| self.values()[n], point)
    }

    fn lower_bound(&self, center: &Vector3<f64>, radius: f64) -> f64 {
        Self::lower_bound(self, center, radius)
    }

    fn outside(&self) -> (Aabb, f64) {
        (*self.bounds(), self.lowest_outside())
    }
}

impl Base for MeshDistance {
    const UNIT: bool = true;

    #[inline]
    fn field<T: Scalar>(&self, point: &Vector3<T>) -> (T, Vector3<T>) {
        Self::field(self, point)
    }

    fn lower_bound(&self, center: &Vector3<f64>, radius: f64) -> f64 {
        // The box is cheaper to ask than the triangles.
        let gap = self.bounds().distance(center) - radius;
        if gap > 0.0 { gap } else { self.phi(center) - radius }
    }

    fn outside(&self) -> (Aabb, f64) {
        (*self.bounds(), 0.0)
    }
}

/// A shared field with a scale and a rounding.
#[derive(Debug)]
pub struct Scaled<F, T = f64> {
    /// The field `Φ₀`.
    pub base: Arc<F>,
    /// How many times as large (–), > 0.
    pub scale: T,
    /// How far the surface is moved outwards (m), ≥ 0.
    pub rounding: T,
}

/// Distances on a grid.
pub type GridField<T = f64> = Scaled<GridSdf, T>;

/// Distances to the triangles of a closed mesh.
pub type MeshField<T = f64> = Scaled<MeshDistance, T>;

// Derived implementations would ask the field itself to be `Clone`, and compare what is the same allocation.
impl<F, T: Clone> Clone for Scaled<F, T> {
    fn clone(&self) -> Self {
        let (scale, rounding) = (self.scale.clone(), self.rounding.clone());
        Self { base: Arc::clone(&self.base), scale, rounding }
    }
}

impl<F: PartialEq, T: PartialEq> PartialEq for Scaled<F, T> {
    fn eq(&self, other: &Self) -> bool {
        let numbers = self.scale == other.scale && self.rounding == other.rounding;
        numbers && (Arc::ptr_eq(&self.base, &other.base) || self.base == other.base)
    }
}

impl<F: Base, T: Scalar> Scaled<F, T> {
    /// Names and units of the dimensions.
    pub(super) const NAMES: [&'static str; 2] = ["scale", "rounding"];
    pub(super) const UNITS: [&'static str; 2] = ["", "m"];

    pub(super) fn dimensions(&self) -> [T; DIMENSIONS] {
        let mut d = [T::zero(); DIMENSIONS];
        (d[0], d[1]) = (self.scale, self.rounding);
        d
    }

    pub(super) fn with_dimensions<U: Scalar>(&self, d: &[U; DIMENSIONS]) -> Scaled<F, U> {
        Scaled { base: Arc::clone(&self.base), scale: d[0], rounding: d[1] }
    }

    /// Signed distance (m).
    #[inline(never)]
    pub fn phi(&self, point: &Vector3<T>) -> T {
        let x = scale(point, self.scale.recip());
        self.base.field(&x).0 * self.scale - self.rounding
    }

    /// Signed distance (m) and its gradient.
    #[inline(never)]
    pub fn field(&self, point: &Vector3<T>) -> Field<T> {
        let (phi, gradient) = self.base.field(&scale(point, self.scale.recip()));
        Field { phi: phi * self.scale - self.rounding, gradient, unit: F::UNIT }
    }

    /// `Φ₀`, `G₀` and `∇²Φ₀` at a point of the field itself.
    fn base_derivatives(&self, x: &Vector3<T>) -> (T, Vector3<T>, Matrix3<T>) {
        derivatives(x, |seeded| self.base.field(seeded))
    }

    /// `∇²Φ` (1/m).
    #[inline(never)]
    pub(super) fn curvature(&self, point: &Vector3<T>) -> Matrix3<T> {
        let inverse = self.scale.recip();
        let x = scale(point, inverse);
        let hessian = self.base.hessian(&x).unwrap_or_else(|| self.base_derivatives(&x).2);
        hessian.map(|x| x * inverse)
    }

    /// The gradient of `Φ φ̄ + G·ḡ` by the point and by the dimensions.
    #[inline(never)]
    pub(super) fn pull_field(
        &self,
        point: &Vector3<T>,
        bar: (T, Vector3<T>),
    ) -> (Vector3<T>, [T; DIMENSIONS]) {
        let x = scale(point, self.scale.recip());
        pull_scaled(self.scale, &x, &self.base_derivatives(&x), bar)
    }

    /// A lower bound of Φ (m) within a ball.
    pub(super) fn lower_bound(&self, center: &Vector3<f64>, radius: f64) -> f64 {
        let s = self.scale.re();
        self.base.lower_bound(&(center / s), radius / s) * s - self.rounding.re()
    }

    /// A box beyond which Φ is at least `threshold` (m).
    pub(super) fn bounds(&self, threshold: f64) -> Aabb {
        let s = self.scale.re();
        let (inner, value) = self.base.outside();
        let scaled = Aabb { lower: inner.lower * s, upper: inner.upper * s };
        scaled.padded((threshold + self.rounding.re() - value * s).max(0.0))
    }
}

/// Value, gradient and Hessian of a field at a point, from its value and gradient in jets.
pub(super) fn derivatives<T: Scalar>(
    x: &Vector3<T>,
    field: impl Fn(&Vector3<Jet<3, T>>) -> (Jet<3, T>, Vector3<Jet<3, T>>),
) -> (T, Vector3<T>, Matrix3<T>) {
    let seeded =
        Vector3::new(Jet::<3, T>::variable(x.x, 0), Jet::variable(x.y, 1), Jet::variable(x.z, 2));
    let (phi, gradient) = field(&seeded);
    let hessian = Matrix3::from_fn(|i, j| gradient[i].eps[j]);
    (phi.re, gradient.map(|g| g.re), hessian)
}

/// The gradient of `Φ φ̄ + G·ḡ` by the point `s x` and by scale and rounding, from `Φ₀`, `G₀` and `∇²Φ₀` at `x`.
pub(super) fn pull_scaled<T: Scalar>(
    s: T,
    x: &Vector3<T>,
    (phi, gradient, hessian): &(T, Vector3<T>, Matrix3<T>),
    (phi_bar, g_bar): (T, Vector3<T>),
) -> (Vector3<T>, [T; DIMENSIONS]) {
    let curved = scale(&(hessian.transpose() * g_bar), s.recip());
    let mut dimensions = [T::zero(); DIMENSIONS];
    dimensions[0] = phi_bar * (*phi - gradient.dot(x)) - curved.dot(x);
    dimensions[1] = -phi_bar;
    (scale(gradient, phi_bar) + curved, dimensions)
}
