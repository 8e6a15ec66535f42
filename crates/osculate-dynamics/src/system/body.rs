//! One body with the numbers of one evaluation.

use super::culling::Extent;
use crate::shape::Geometry;
use crate::{Body, BodyParameters, SceneError};
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::collider::Collider;
use osculate_math::{Scalar, real};

/// What inertia and contact need of a body.
#[derive(Clone, Debug)]
pub(crate) struct Inertial<T> {
    pub(crate) mass: T,
    /// `J = tr(I)/2·1 − I`, body axes.
    pub(crate) second_moment: Matrix3<T>,
    /// `I`, body axes.
    pub(crate) inertia: Matrix3<T>,
    pub(crate) center: Vector3<T>,
    /// Samples relative to the centre of mass, body axes.
    pub(crate) points: Vec<Vector3<T>>,
    /// Reference areas of the samples.
    pub(crate) weights: Vec<T>,
    /// Outward unit normals, body axes, where the surface has any.
    pub(crate) normals: Option<Vec<Vector3<T>>>,
    pub(crate) collider: Option<Collider<T>>,
    /// Radius about the centre of mass that encloses the samples \[m\].
    pub(crate) reach: f64,
    pub(super) extent: Extent,
    pub(super) has_gravity: bool,
}

impl<T: Scalar> Inertial<T> {
    pub(super) fn new(body: &Body, p: &BodyParameters<T>) -> Result<Self, SceneError> {
        let Geometry { points, weights, normals, collider } = Geometry::new(body, p)?;
        let points: Vec<_> = points.into_iter().map(|x| x - p.center).collect();
        let reach = points.iter().map(|x| real(x).norm()).fold(0.0, f64::max);
        let half_trace = p.inertia.trace() * 0.5;
        let extent = Extent::new(&p.contact, (collider.as_ref(), &p.center), &points);
        Ok(Self {
            mass: p.mass,
            second_moment: Matrix3::from_diagonal_element(half_trace) - p.inertia,
            inertia: p.inertia,
            center: p.center,
            points,
            weights,
            normals,
            collider,
            reach,
            extent,
            has_gravity: body.gravity,
        })
    }
}
