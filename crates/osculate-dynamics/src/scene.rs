//! What there is: bodies, gravity, and which of them may touch.

use crate::layout::{Counts, Layout};
use crate::{Articulation, FreeShape, ImpulseSurface, SceneError};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactParams, PairOverride};
use osculate_geometry::GeometryError;
use osculate_geometry::collider::Collider;
use osculate_geometry::filter::ContactFilter;
use osculate_geometry::manifold::ContactShape;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::quadrature::SurfaceSamples;
use osculate_math::se3::Pose;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What moves a body.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyKind {
    /// It does not move, or it follows `motion`: the pose of the local frame at the end of each step. Past the
    /// end of a list that is not empty the body stays where it is.
    Static {
        /// Prescribed poses, one a step; empty for a body at rest.
        motion: Vec<Pose>,
    },
    /// Forces move it.
    Dynamic {
        /// Mass, centre of mass and inertia in the local frame.
        mass: MassProperties,
    },
}

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Unique name, used in parameter paths.
    pub name: String,
    /// What moves it.
    pub kind: BodyKind,
    /// Initial pose of the local frame.
    pub pose: Pose,
    /// Initial velocity of the centre of mass \[m/s\], world.
    pub velocity: Vector3<f64>,
    /// Initial angular velocity \[rad/s\], world.
    pub angular_velocity: Vector3<f64>,
    /// Whether gravity acts on it.
    pub gravity: bool,
    /// Contact parameters.
    pub contact: ContactParams,
    /// Contact parameters of the impulse model.
    pub impulse: ImpulseSurface,
    /// Shape of the impulse model, where the collider has no faces or there is none.
    pub features: Option<Arc<ContactShape>>,
    /// Distance field in the local frame; `None` switches the collider role off.
    pub collider: Option<Collider>,
    /// Samples in the local frame; `None` switches the colliding role off.
    pub samples: Option<SurfaceSamples>,
    /// Whether the positions of the samples are parameters (explicit points), not consequences of a mesh.
    pub free_samples: bool,
    /// What of its geometry is a parameter; `None` where the geometry is data.
    pub shape: Option<Arc<FreeShape>>,
}

impl Body {
    /// A body that does not move, with default contact parameters and no roles yet.
    pub fn fixed(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: BodyKind::Static { motion: Vec::new() },
            pose: Pose::identity(),
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
            gravity: true,
            contact: ContactParams::default(),
            impulse: ImpulseSurface::default(),
            features: None,
            collider: None,
            samples: None,
            free_samples: false,
            shape: None,
        }
    }

    /// A body that moves, with default contact parameters and no roles yet.
    pub fn dynamic(name: impl Into<String>, mass: MassProperties) -> Self {
        Self { kind: BodyKind::Dynamic { mass }, ..Self::fixed(name) }
    }

    /// Mass properties, for a dynamic body.
    pub fn mass(&self) -> Option<&MassProperties> {
        match &self.kind {
            BodyKind::Dynamic { mass } => Some(mass),
            BodyKind::Static { .. } => None,
        }
    }

    /// Whether forces move it.
    pub fn is_dynamic(&self) -> bool {
        self.mass().is_some()
    }

    /// Centre of mass in the local frame \[m\]; the origin for a static body.
    pub fn center(&self) -> Vector3<f64> {
        self.mass().map_or_else(Vector3::zeros, MassProperties::center_of_mass)
    }

    /// The shape of the impulse model: that of the collider, or the features where the collider is a grid or there is
    /// none; `None` for a body that touches nothing.
    ///
    /// # Errors
    /// Where the body has a role in contact but no shape with faces and vertices.
    pub fn contact_shape(&self) -> Result<Option<ContactShape>, GeometryError> {
        self.contact_shape_of(self.collider.as_ref())
    }

    /// As [`Body::contact_shape`], with other dimensions of the collider.
    pub(crate) fn contact_shape_of(
        &self,
        collider: Option<&Collider>,
    ) -> Result<Option<ContactShape>, GeometryError> {
        let grid = matches!(collider, Some(Collider::Grid(_) | Collider::FreeGrid(_)));
        match (collider, &self.features) {
            (Some(collider), None) => ContactShape::of_collider(collider).map(Some),
            (Some(collider), Some(_)) if !grid => ContactShape::of_collider(collider).map(Some),
            (None, None) if self.samples.is_some() => {
                Err(GeometryError::NoFeatures { collider: "missing" })
            }
            (None, Some(_)) if self.samples.is_none() => Ok(None),
            (_, features) => Ok(features.as_deref().cloned()),
        }
    }

    /// Whether the samples follow from vertices that are parameters.
    pub(crate) fn has_free_surface(&self) -> bool {
        self.shape.as_ref().is_some_and(|s| s.surface.is_some())
    }

    fn validate(&self) -> Result<(), SceneError> {
        if let Some(shape) = &self.shape {
            shape.validate(self)?;
        }
        let numbers = [
            ("position", self.pose.position),
            ("velocity", self.velocity),
            ("angular velocity", self.angular_velocity),
        ];
        for (field, v) in numbers {
            if let Some(&found) = v.iter().find(|x| !x.is_finite()) {
                return Err(self.error(field, found, "finite"));
            }
        }
        let r = self.pose.rotation;
        let defect = (r * r.transpose() - Matrix3::identity()).norm();
        if !(defect < 1e-9 && r.determinant() > 0.0) {
            return Err(self.error("rotation's distance from a rotation", defect, "< 1e-9"));
        }
        self.impulse
            .validate()
            .map_err(|(field, found, allowed)| self.error(field, found, allowed))?;
        self.contact
            .validate()
            .map_err(|source| SceneError::Contact { body: self.name.clone(), source })
    }

    fn error(&self, field: &'static str, found: f64, allowed: &'static str) -> SceneError {
        SceneError::Body { body: self.name.clone(), field, found, allowed }
    }
}

/// Values that replace the combined ones of two bodies, whichever is colliding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Override {
    /// The two bodies, by index.
    pub bodies: [usize; 2],
    /// The values.
    pub values: PairOverride,
}

/// Bodies, gravity and filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Gravity \[m/s²\], world.
    pub gravity: Vector3<f64>,
    /// The bodies.
    pub bodies: Vec<Body>,
    /// Which ordered pairs (colliding, collider) are allowed to touch; see [`Scene::may_touch`].
    pub filter: ContactFilter,
    /// Values that replace combined ones.
    pub overrides: Vec<Override>,
    /// Joints between bodies. Contact of adjacent links is a matter of the filter:
    /// see [`Articulation::separate_adjacent`].
    pub articulation: Option<Articulation>,
}

impl Scene {
    /// A scene in which every possible pair may touch.
    ///
    /// # Errors
    /// Where a body is invalid or two have one name.
    pub fn new(gravity: Vector3<f64>, bodies: Vec<Body>) -> Result<Self, SceneError> {
        let filter = ContactFilter::new(bodies.len());
        let scene = Self { gravity, bodies, filter, overrides: Vec::new(), articulation: None };
        scene.validate()?;
        Ok(scene)
    }

    /// The same scene with joints between its bodies; adjacent links do not touch.
    ///
    /// # Errors
    /// Where the joints are of other bodies.
    pub fn with_articulation(mut self, articulation: Articulation) -> Result<Self, SceneError> {
        articulation.separate_adjacent(&mut self.filter)?;
        self.articulation = Some(articulation);
        self.validate()?;
        Ok(self)
    }

    /// The link that a body is, if it is one.
    pub(crate) fn link_of(&self, body: usize) -> Option<usize> {
        self.articulation.as_ref()?.link_of_body(body)
    }

    /// Whether an ordered pair has its roles: the first samples, the second a collider, not both static, not one body.
    pub fn has_roles(&self, colliding: usize, collider: usize) -> bool {
        let (a, b) = (&self.bodies[colliding], &self.bodies[collider]);
        let moves = a.is_dynamic() || b.is_dynamic();
        colliding != collider && moves && a.samples.is_some() && b.collider.is_some()
    }

    /// Whether an ordered pair has its roles and the filter allows it.
    pub fn may_touch(&self, colliding: usize, collider: usize) -> bool {
        self.has_roles(colliding, collider) && self.filter.allows(colliding, collider)
    }

    /// Every ordered pair that may touch, ascending. There are about as many as the square of the number of bodies.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let n = self.bodies.len();
        let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        all.filter(|&(a, b)| self.may_touch(a, b)).collect()
    }

    /// Index of a body.
    ///
    /// # Errors
    /// With the names there are.
    pub fn body(&self, name: &str) -> Result<usize, SceneError> {
        self.bodies.iter().position(|b| b.name == name).ok_or_else(|| SceneError::UnknownBody {
            name: name.into(),
            known: self.bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// Indices of the bodies that forces move.
    pub fn dynamic_bodies(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.bodies.len()).filter(|&i| self.bodies[i].is_dynamic())
    }

    /// Checks every number and name.
    ///
    /// # Errors
    /// With the body, the field, the value and what is allowed.
    pub fn validate(&self) -> Result<(), SceneError> {
        if let Some(&found) = self.gravity.iter().find(|x| !x.is_finite()) {
            return Err(SceneError::Number { field: "gravity", found, allowed: "finite" });
        }
        for (i, body) in self.bodies.iter().enumerate() {
            if self.bodies[..i].iter().any(|b| b.name == body.name) {
                return Err(SceneError::DuplicateName { name: body.name.clone() });
            }
            body.validate()?;
        }
        let (found, expected) = (self.filter.actors(), self.bodies.len());
        if found != expected {
            return Err(SceneError::Count { what: "actors of the filter", found, expected });
        }
        for o in &self.overrides {
            let name = |i: usize| self.bodies.get(i).map_or_else(String::new, |b| b.name.clone());
            o.values.validate().map_err(|source| SceneError::Override {
                first: name(o.bodies[0]),
                second: name(o.bodies[1]),
                source,
            })?;
        }
        if let Some(articulation) = &self.articulation {
            articulation.check(&self.bodies)?;
        }
        self.check_paths()
    }

    /// Modes of shapes have names of their own.
    fn check_paths(&self) -> Result<(), SceneError> {
        let named = |b: &Body| b.shape.as_ref().is_some_and(|s| !s.modes.is_empty());
        if !self.bodies.iter().any(named) {
            return Ok(());
        }
        let layout = Layout::with_counts(self, &Counts::default());
        let mut seen = BTreeSet::new();
        match layout.entries().iter().find(|e| !seen.insert(&e.path)) {
            Some(entry) => Err(SceneError::DuplicatePath { path: entry.path.clone() }),
            None => Ok(()),
        }
    }

    /// The override of a pair, by index into `overrides`.
    pub(crate) fn override_of(&self, a: usize, b: usize) -> Option<usize> {
        self.overrides.iter().position(|o| o.bodies == [a, b] || o.bodies == [b, a])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(name: &str) -> Body {
        Body::dynamic(name, MassProperties::sphere(1.0, 0.1).unwrap())
    }

    #[test]
    fn pairs_need_samples_against_a_collider_and_something_that_moves() {
        let mut a = body("a");
        a.samples =
            Some(SurfaceSamples::explicit(vec![Vector3::zeros()], vec![1.0], None).unwrap());
        a.collider = Some(Collider::sphere(Vector3::zeros(), 0.1).unwrap());
        let mut ground = Body::fixed("ground");
        ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
        let mut b = a.clone();
        b.name = "b".into();
        let scene = Scene::new(Vector3::zeros(), vec![a, ground, b]).unwrap();
        assert_eq!(scene.pairs(), vec![(0, 1), (0, 2), (2, 0), (2, 1)]);
    }

    #[test]
    fn invalid_bodies_are_refused_with_name_and_field() {
        let mut bad = body("cube");
        bad.velocity.x = f64::NAN;
        let error = Scene::new(Vector3::zeros(), vec![bad]).unwrap_err();
        assert!(error.to_string().contains("cube") && error.to_string().contains("velocity"));
        let mut bad = body("cube");
        bad.pose.rotation *= 1.001;
        assert!(Scene::new(Vector3::zeros(), vec![bad]).is_err());
        let twice = Scene::new(Vector3::zeros(), vec![body("x"), body("x")]).unwrap_err();
        assert_eq!(twice, SceneError::DuplicateName { name: "x".into() });
    }
}
