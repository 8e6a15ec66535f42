//! `[solver] model = "impulse"`: settings and shapes of the impulse model.

use super::build::{BuiltScene, Context};
use super::error::FileError;
use super::schema::{Actor, Samples, Shape, Solver};
use super::shape::Resolved;
use crate::impulse::{ImpulseSettings, ImpulseSimulator};
use crate::{ImpulseSurface, Scene, SceneError};
use nalgebra::Vector3;
use osculate_geometry::manifold::ContactShape;
use std::sync::Arc;

/// Settings of the impulse model.
pub(super) fn settings(
    context: &Context<'_>,
    solver: &Solver,
) -> Result<ImpulseSettings, FileError> {
    let table = solver.impulse.unwrap_or_default();
    if let (None, Some(damping)) = (table.normal_stiffness, table.normal_damping) {
        let field = "solver.impulse.normal_damping";
        return Err(context.value(field, damping, "a damping beside normal_stiffness"));
    }
    if let Some(speed) = table.max_correction_speed {
        context.positive("solver.impulse.max_correction_speed", speed, "m/s")?;
    }
    let settings = ImpulseSettings { on_failure: solver.on_failure, ..(&table).into() };
    settings.validate().map_err(|source| match source {
        SceneError::Number { field, found, allowed } => {
            context.value(&format!("solver.impulse.{field}"), found, allowed)
        }
        source => context.scene("solver.impulse", source),
    })?;
    Ok(settings)
}

/// The impulse simulation of a scene.
pub(super) fn simulator(
    context: &Context<'_>,
    solver: &Solver,
    scene: &Scene,
    durations: &[f64],
) -> Result<ImpulseSimulator, FileError> {
    let settings = settings(context, solver)?;
    for (i, body) in scene.bodies.iter().enumerate() {
        body.contact_shape().map_err(|source| {
            let found = format!("actor '{}'", body.name);
            context.geometry(&format!("actor[{i}].collider"), found, source)
        })?;
    }
    ImpulseSimulator::new(scene.clone(), settings, durations.to_vec())
        .map_err(|source| context.scene("solver.impulse", source))
}

/// What the impulse model needs of a surface.
pub(super) fn surface(
    context: &Context<'_>,
    actor: &Actor,
    at: &str,
) -> Result<ImpulseSurface, FileError> {
    let surface = ImpulseSurface::try_from(&actor.impulse).map_err(|_| {
        context.value(&format!("{at}.impulse.condim"), actor.impulse.condim, "1, 3, 4 or 6")
    })?;
    surface.validate().map_err(|(field, found, allowed)| {
        context.value(&format!("{at}.impulse.{field}"), found, allowed)
    })?;
    Ok(surface)
}

/// The shape of an actor as the impulse model sees it: a mesh by its convex hull.
pub(super) fn features(
    context: &Context<'_>,
    actor: &Actor,
    resolved: &Resolved,
    at: &str,
) -> Result<Option<Arc<ContactShape>>, FileError> {
    let shape = match (&actor.shape, &resolved.field, &resolved.mesh) {
        (Some(Shape::Icosphere(ball)), ..) => {
            Ok(ContactShape::sphere(Vector3::zeros(), ball.radius))
        }
        (_, Some(field), _) => ContactShape::of_collider(field),
        (_, None, Some(mesh)) => ContactShape::hull(mesh.vertices()),
        // The hull of points that stand for a body; fewer than four, or flat, are no shape.
        (_, None, None) => match &actor.samples {
            Some(Samples::Explicit(e)) => {
                let points: Vec<_> = e.points.iter().map(|&x| Vector3::from(x)).collect();
                return Ok(ContactShape::hull(&points).ok().map(Arc::new));
            }
            _ => return Ok(None),
        },
    };
    match shape {
        Ok(shape) => Ok(Some(Arc::new(shape))),
        // A flat mesh has no hull; it is an error where the impulse model needs one.
        Err(_) if resolved.field.is_none() => Ok(None),
        Err(source) => Err(context.geometry(&format!("{at}.shape"), "this shape", source)),
    }
}

impl BuiltScene {
    /// Refuses a scene of the impulse model, for what needs the compliant one.
    ///
    /// * `what`: what is asked for, as in "gradients".
    ///
    /// # Errors
    /// Where the scene says `model = "impulse"`.
    pub fn require_compliant(&self, what: &'static str) -> Result<(), FileError> {
        match &self.impulse {
            None => Ok(()),
            Some(_) => Err(FileError::Unsupported {
                place: self.source.place("solver.model"),
                found: "\"impulse\"".into(),
                missing: what,
                allowed: "\"compliant\"",
            }),
        }
    }
}
