//! `[[actor]]`: one body.

use super::build::Context;
use super::error::FileError;
use super::schema::{Actor, ActorPose, ExplicitSamples, Samples, Shape};
use super::shape::{self, Resolved};
use super::{collider, free, impulse, mass};
use crate::{Body, BodyKind};
use nalgebra::Vector3;
use osculate_contact::{ContactError, ContactParams};
use osculate_geometry::GeometryError;
use osculate_geometry::quadrature::SurfaceSamples;
use osculate_math::se3::Pose;
use osculate_math::so3;

/// The most samples of an actor.
const MOST_SAMPLES: usize = 2_000_000;

/// How far the norm of a quaternion may be from 1; it is then normalised.
const UNIT: f64 = 1e-6;

/// Names stand in parameter paths such as `cube.mu`.
pub(super) fn check_name(
    context: &Context<'_>,
    actors: &[Actor],
    i: usize,
) -> Result<(), FileError> {
    let name = &actors[i].name;
    let field = format!("actor[{i}].name");
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !(1..=100).contains(&name.chars().count()) || !name.chars().all(word) {
        let allowed = "1 to 100 letters, digits, '_' and '-'";
        return Err(context.value(&field, format!("{name:?}"), allowed));
    }
    match actors[..i].iter().position(|other| other.name == *name) {
        Some(other) => {
            let allowed = format!("a name other than that of actor[{other}]");
            Err(context.value(&field, format!("'{name}'"), allowed))
        }
        None => Ok(()),
    }
}

/// The body of an actor; `at` is its field path.
pub(super) fn body(
    context: &Context<'_>,
    actor: &Actor,
    at: &str,
    steps: usize,
) -> Result<Body, FileError> {
    let shape = shape::resolve(context, actor.shape.as_ref(), &format!("{at}.shape"))?;
    let pose = pose(context, &actor.pose, &format!("{at}.pose"))?;
    let velocity = context.vector(&format!("{at}.velocity"), &actor.velocity)?;
    let field = format!("{at}.angular_velocity");
    let angular_velocity = context.vector(&field, &actor.angular_velocity)?;
    let kind = if actor.fixed {
        check_static(context, actor, at)?;
        BodyKind::Static { motion: motion(context, actor, at, steps)? }
    } else {
        if actor.motion.is_some() {
            let allowed = "no motion, or static = true";
            return Err(context.value(
                &format!("{at}.motion"),
                "motion of a dynamic actor",
                allowed,
            ));
        }
        BodyKind::Dynamic { mass: mass::properties(context, actor, &shape, at)? }
    };
    let mut body = Body {
        name: actor.name.clone(),
        kind,
        pose,
        velocity,
        angular_velocity,
        gravity: actor.gravity,
        contact: contact(context, actor, at)?,
        impulse: impulse::surface(context, actor, at)?,
        features: impulse::features(context, actor, &shape, at)?,
        collider: collider::collider(context, &actor.collider, &shape, at)?,
        samples: samples(context, actor, &shape, at)?,
        free_samples: matches!(actor.samples, Some(Samples::Explicit(_))),
        shape: None,
    };
    body.shape = free::shape(context, (actor, &shape), &body, at)?;
    Ok(body)
}

fn check_static(context: &Context<'_>, actor: &Actor, at: &str) -> Result<(), FileError> {
    let given = [
        ("mass", actor.mass.is_some()),
        ("density", actor.density.is_some()),
        ("center", actor.center.is_some()),
        ("inertia", actor.inertia.is_some()),
        ("velocity", actor.velocity.iter().any(|x| x.abs() > 0.0)),
        ("angular_velocity", actor.angular_velocity.iter().any(|x| x.abs() > 0.0)),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => {
            let found = format!("{name} of a static actor");
            let allowed = "neither mass properties nor velocities, or static = false";
            Err(context.value(&format!("{at}.{name}"), found, allowed))
        }
    }
}

fn motion(
    context: &Context<'_>,
    actor: &Actor,
    at: &str,
    steps: usize,
) -> Result<Vec<Pose>, FileError> {
    let Some(poses) = &actor.motion else { return Ok(Vec::new()) };
    let at = format!("{at}.motion");
    if poses.len() != steps {
        let found = format!("{} poses", poses.len());
        return Err(context.value(&at, found, format!("{steps} poses, one for each step")));
    }
    poses.iter().enumerate().map(|(i, p)| pose(context, p, &format!("{at}[{i}]"))).collect()
}

/// A pose; `at` is its field path.
pub(super) fn pose(context: &Context<'_>, pose: &ActorPose, at: &str) -> Result<Pose, FileError> {
    let position = context.vector(&format!("{at}.position"), &pose.position)?;
    let rotation = match (pose.quaternion, pose.rotation_vector) {
        (None, None) => nalgebra::Matrix3::identity(),
        (Some(q), None) => {
            let field = format!("{at}.quaternion");
            context.numbers(&field, &q)?;
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (norm - 1.0).abs() > UNIT {
                let found = format!("{q:?} of norm {norm}");
                return Err(context.value(&field, found, "[w, x, y, z] of norm 1 within 1e-6"));
            }
            so3::from_quaternion(q)
        }
        (None, Some(v)) => {
            let field = format!("{at}.rotation_vector");
            let v = context.vector(&field, &v)?;
            // A larger angle has lost its digits modulo 2π.
            if v.norm() > 1e6 {
                return Err(context.value(&field, v.norm(), "a length of at most 1e6 rad"));
            }
            so3::exp(&v)
        }
        (Some(_), Some(_)) => {
            let found = "quaternion beside rotation_vector";
            return Err(context.value(&format!("{at}.rotation_vector"), found, "one of them"));
        }
    };
    Ok(Pose { position, rotation })
}

fn contact(context: &Context<'_>, actor: &Actor, at: &str) -> Result<ContactParams, FileError> {
    let params = ContactParams::from(&actor.contact);
    params.validate().map_err(|source| {
        let name = match &source {
            ContactError::Parameter { parameter, .. } => parameter,
            _ => "",
        };
        let place = context.source.place(&format!("{at}.contact.{name}"));
        FileError::Contact { place, source }
    })?;
    context.positive(&format!("{at}.contact.length_scale"), actor.contact.length_scale, "m")?;
    Ok(params)
}

fn samples(
    context: &Context<'_>,
    actor: &Actor,
    shape: &Resolved,
    at: &str,
) -> Result<Option<SurfaceSamples>, FileError> {
    let field = format!("{at}.quadrature");
    if actor.quadrature.is_some() && actor.samples.is_some() {
        return Err(context.value(&field, "quadrature beside samples", "one of them"));
    }
    match (&actor.samples, &shape.mesh) {
        (Some(Samples::None), _) => return Ok(None),
        (Some(Samples::Explicit(list)), _) => {
            return explicit(context, list, &format!("{at}.samples")).map(Some);
        }
        (None, Some(mesh)) if actor.quadrature.is_some() || !actor.fixed => {
            let rule = actor.quadrature.unwrap_or_default();
            let count = mesh.triangles().len().saturating_mul(rule.nodes().len());
            if count > MOST_SAMPLES {
                return Err(context.value(&field, format!("{count} samples"), "at most 2000000"));
            }
            return Ok(Some(SurfaceSamples::from_mesh(mesh, rule)));
        }
        (None, _) => {}
    }
    if let Some(rule) = actor.quadrature {
        let allowed = "a shape of triangles: mesh, box, cylinder, icosphere or triangles; or explicit samples";
        return Err(context.value(&field, format!("{} without triangles", rule.name()), allowed));
    }
    if !actor.fixed && matches!(actor.shape, Some(Shape::Sphere(_))) {
        let allowed =
            "samples = \"none\", explicit samples, or shape.icosphere, which has triangles";
        let found = "no samples on a dynamic sphere, which has no triangles";
        return Err(context.value(&format!("{at}.samples"), found, allowed));
    }
    Ok(None)
}

fn explicit(
    context: &Context<'_>,
    list: &ExplicitSamples,
    at: &str,
) -> Result<SurfaceSamples, FileError> {
    let count = list.points.len();
    if !(1..=MOST_SAMPLES).contains(&count) {
        let found = format!("{count} points");
        return Err(context.value(&format!("{at}.points"), found, "1 to 2000000 points"));
    }
    let vectors = |name: &str, list: &[[f64; 3]]| -> Result<Vec<Vector3<f64>>, FileError> {
        let vector = |(i, x)| context.vector(&format!("{at}.{name}[{i}]"), x);
        list.iter().enumerate().map(vector).collect()
    };
    let length = |name: &str, found: usize| {
        let field = format!("{at}.{name}");
        let allowed = || format!("{count}, one for each point");
        if found == count { Ok(()) } else { Err(context.value(&field, found, allowed())) }
    };
    let weights = match (&list.weights, list.weight) {
        (Some(weights), None) => {
            length("weights", weights.len())?;
            for (i, &w) in weights.iter().enumerate() {
                context.positive(&format!("{at}.weights[{i}]"), w, "m²")?;
            }
            weights.clone()
        }
        (None, Some(w)) => vec![context.positive(&format!("{at}.weight"), w, "m²")?; count],
        (given, _) => {
            let found = if given.is_some() { "weights and weight" } else { "neither" };
            return Err(context.value(at, found, "weights, or weight for all points"));
        }
    };
    let points = vectors("points", &list.points)?;
    let normals = match &list.normals {
        Some(normals) => {
            length("normals", normals.len())?;
            Some(vectors("normals", normals)?)
        }
        None => None,
    };
    SurfaceSamples::explicit(points, weights, normals).map_err(|source| {
        // All else was checked above.
        let sample = if let GeometryError::Sample { sample, .. } = source { sample } else { 0 };
        let found = list.normals.as_ref().and_then(|normals| normals.get(sample));
        let field = format!("{at}.normals[{sample}]");
        context.geometry(&field, format!("{:?}", found.unwrap_or(&[0.0; 3])), source)
    })
}
