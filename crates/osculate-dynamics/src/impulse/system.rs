//! Bodies as the stepper sees them.

use super::body::{Inertia, RigidState};
use super::settings::{ImpulseSettings, Torsion};
use crate::{BodyKind, ImpulseSurface, Parameters, Scene, SceneError};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::impulse::Condim;
use osculate_contact::impulse::torsion::effective_radius;
use osculate_geometry::GeometryError;
use osculate_geometry::filter::ContactFilter;
use osculate_geometry::manifold::ContactShape;
use osculate_math::{se3::Pose, so3};
use std::collections::BTreeSet;

/// A body.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Mass and inertia of a body that moves.
    pub(crate) inertia: Option<Inertia>,
    /// Centre of mass, local.
    pub(crate) center: Vector3<f64>,
    pub(crate) shape: Option<ContactShape>,
    /// Radius of a ball about the centre of mass that contains the shape \[m\]; `None` for a half-space.
    pub(crate) radius: Option<f64>,
    pub(crate) friction: f64,
    pub(crate) surface: ImpulseSurface,
    pub(crate) has_gravity: bool,
    /// Index of its first unknown, for a free body.
    pub(crate) unknown: Option<usize>,
    /// Index among the bodies that forces move.
    pub(crate) dynamic: Option<usize>,
    /// Tree and link, for a link.
    pub(crate) link: Option<[usize; 2]>,
    /// Prescribed poses, one a step.
    pub(crate) motion: Vec<Pose>,
}

/// Bodies and pairs.
#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) items: Vec<Item>,
    pub(crate) gravity: Vector3<f64>,
    filter: ContactFilter,
    /// Pairs `a < b` that a joint connects: they do not touch.
    joined: BTreeSet<[usize; 2]>,
    /// Coefficients that replace combined ones.
    pub(crate) replaced: Vec<([usize; 2], f64)>,
}

impl System {
    pub(crate) fn new(scene: &Scene, parameters: &Parameters) -> Result<Self, SceneError> {
        let (found, expected) = (parameters.bodies.len(), scene.bodies.len());
        if found != expected {
            return Err(SceneError::Count { what: "bodies of the parameters", found, expected });
        }
        let mut dynamic = 0;
        let mut items = Vec::with_capacity(expected);
        for (body, p) in scene.bodies.iter().zip(&parameters.bodies) {
            let shape = body
                .contact_shape_of(p.collider.as_ref())
                .map_err(|source| SceneError::Geometry { body: body.name.clone(), source })?;
            let moves = body.is_dynamic();
            let unknown = moves.then_some(2 * dynamic);
            dynamic += usize::from(moves);
            items.push(Item {
                inertia: moves.then_some(Inertia { mass: p.mass, tensor: p.inertia }),
                center: p.center,
                radius: shape.as_ref().and_then(|s| s.radius_about(&p.center)),
                shape,
                friction: p.contact.friction,
                surface: body.impulse,
                has_gravity: body.gravity,
                unknown,
                dynamic: moves.then(|| dynamic - 1),
                link: None,
                motion: match &body.kind {
                    BodyKind::Static { motion } => motion.clone(),
                    BodyKind::Dynamic { .. } => Vec::new(),
                },
            });
        }
        let overrides = scene.overrides.iter().zip(&parameters.overrides);
        let replaced = overrides.filter_map(|(o, values)| {
            let [a, b] = o.bodies;
            values.friction.map(|mu| ([a.min(b), a.max(b)], mu))
        });
        let replaced = replaced.collect();
        Ok(Self {
            items,
            gravity: parameters.gravity,
            filter: scene.filter.clone(),
            joined: BTreeSet::new(),
            replaced,
        })
    }

    /// Initial states.
    pub(crate) fn initial(&self, parameters: &Parameters) -> Vec<RigidState> {
        let state = |(p, item): (&crate::BodyParameters, &Item)| {
            let o = Vector3::zeros();
            let (v, w) = match item.inertia {
                Some(_) => (p.velocity, p.angular_velocity),
                None => (o, o),
            };
            RigidState {
                center: p.position + p.rotation * p.center,
                rotation: p.rotation,
                velocity: v,
                angular_velocity: w,
            }
        };
        parameters.bodies.iter().zip(&self.items).map(state).collect()
    }

    /// Makes a body a link; its unknowns are those of the tree.
    pub(crate) fn make_link(&mut self, body: usize, link: [usize; 2], center: Vector3<f64>) {
        let item = &mut self.items[body];
        (item.link, item.center) = (Some(link), center);
        item.radius = item.shape.as_ref().and_then(|s| s.radius_about(&center));
        let mut next = 0;
        for item in &mut self.items {
            item.unknown = (item.dynamic.is_some() && item.link.is_none()).then_some(next);
            next += 2 * usize::from(item.unknown.is_some());
        }
    }

    /// Keeps two bodies that a joint connects from touching.
    pub(crate) fn connect(&mut self, a: usize, b: usize) {
        self.joined.insert([a.min(b), a.max(b)]);
    }

    /// Whether two bodies may touch: one of them moves by forces, both have a shape, and nothing keeps them apart.
    pub(crate) fn may_touch(&self, [a, b]: [usize; 2]) -> bool {
        let (x, y) = (&self.items[a], &self.items[b]);
        let moves = x.inertia.is_some() || y.inertia.is_some();
        let shapes = x.shape.is_some() && y.shape.is_some();
        let allowed = self.filter.allows(a, b) || self.filter.allows(b, a);
        moves && shapes && allowed && !self.joined.contains(&[a.min(b), a.max(b)])
    }

    /// The first two bodies that may touch and have no contact points between them, and why.
    pub(crate) fn refused_pair(&self) -> Option<([usize; 2], GeometryError)> {
        let count = self.items.len();
        let shape = |i: usize| self.items[i].shape.as_ref();
        let round = |&i: &usize| matches!(shape(i), Some(ContactShape::Cylinder(_)));
        let pairs = (0..count).filter(round).flat_map(|i| (0..count).map(move |j| [i, j]));
        let mut pairs = pairs.filter(|&[i, j]| i != j && self.may_touch([i, j]));
        pairs.find_map(|[i, j]| Some(([i, j], shape(i)?.check_pair(shape(j)?).err()?)))
    }

    /// How many bodies forces move.
    pub(crate) fn dynamic(&self) -> usize {
        self.items.iter().filter(|i| i.dynamic.is_some()).count()
    }

    /// Weight \[N\] of a body of the mass given, world; none where gravity leaves it alone.
    pub(crate) fn weight(&self, body: usize, mass: f64) -> Vector3<f64> {
        if self.items[body].has_gravity { self.gravity * mass } else { Vector3::zeros() }
    }

    /// Vectors of unknowns of the free bodies.
    pub(crate) fn unknowns(&self) -> usize {
        2 * self.items.iter().filter(|i| i.unknown.is_some()).count()
    }

    /// Velocities in a step of bodies that follow prescribed poses.
    pub(crate) fn prescribed(
        &self,
        states: &[RigidState],
        step: usize,
        h: f64,
    ) -> Vec<[Vector3<f64>; 2]> {
        let velocity = |(item, state): (&Item, &RigidState)| {
            let Some(next) = item.motion.get(step) else { return [Vector3::zeros(); 2] };
            let turn = so3::log(&(next.rotation * state.rotation.transpose()));
            [(next.position - state.center) / h, turn / h]
        };
        self.items.iter().zip(states).map(velocity).collect()
    }

    /// Coefficient of a pair \[–\].
    pub(crate) fn friction(&self, [a, b]: [usize; 2], settings: &ImpulseSettings) -> f64 {
        let (x, y) = (self.items[a].friction, self.items[b].friction);
        let replaced = self.replaced.iter().find(|(pair, _)| *pair == [a, b]);
        let surfaces = [&self.items[a].surface, &self.items[b].surface];
        let own = || ImpulseSurface::sliding(surfaces, [x, y], settings.combine);
        let combined = replaced.map_or_else(own, |r| r.1);
        settings.friction_scale * combined
    }

    /// Coefficient of restitution of a pair \[–\].
    pub(crate) fn restitution(&self, [a, b]: [usize; 2]) -> f64 {
        0.5 * (self.items[a].surface.restitution + self.items[b].surface.restitution)
    }

    /// Radius of spin friction of a pair \[m\]: the larger.
    pub(crate) fn torsional_radius(&self, [a, b]: [usize; 2]) -> f64 {
        let radius = |i: usize| self.items[i].surface.torsional_radius;
        radius(a).max(radius(b))
    }

    /// The same where they overlap \[m\], after PhysX's rule.
    pub(crate) fn spin_radius(&self, bodies: [usize; 2], gap: f64) -> f64 {
        let patch = bodies.map(|i| self.items[i].surface.torsional_patch_radius);
        effective_radius(self.torsional_radius(bodies), patch[0].max(patch[1]), gap)
    }

    /// Whether sliding and spin of a region are on one surface, at the least of its gaps \[m\]: then they act in its middle.
    pub(crate) fn is_together(
        &self,
        settings: &ImpulseSettings,
        bodies: [usize; 2],
        gap: f64,
    ) -> bool {
        settings.torsion != Torsion::Linear && self.spin_radius(bodies, gap) > 0.0
    }

    /// Friction rows of a pair and its coefficients of spin and rolling \[m\]: the larger of each.
    pub(crate) fn condim(&self, [a, b]: [usize; 2]) -> (Condim, f64, f64) {
        let (s, t) = (&self.items[a].surface, &self.items[b].surface);
        let condim = if t.condim.rows() > s.condim.rows() { t.condim } else { s.condim };
        let spin = s.spin_friction.max(t.spin_friction);
        (condim, spin, s.rolling_friction.max(t.rolling_friction))
    }

    /// `I⁻¹` of every body in the world; zero for bodies that do not move.
    pub(crate) fn inverse_inertia(&self, states: &[RigidState]) -> Vec<Matrix3<f64>> {
        let inverse = |(item, s): (&Item, &RigidState)| {
            item.inertia.map_or_else(Matrix3::zeros, |i| i.inverse_in_world(&s.rotation))
        };
        self.items.iter().zip(states).map(inverse).collect()
    }
}
