//! From a reference case to a scene file; the mapping is documented in `docs/crosscheck.md`.

use super::case::{BodyCase, Case, ContactCase, Meshes, PoseCase, Shape};
use crate::CliError;
use nalgebra::Matrix3;
use osculate_contact::{DissipationSchedule, FrictionRamp};
use osculate_dynamics::file::{
    Actor, ActorPose, AppliedWrench, Collider, ColliderField, ColliderKind, Contact, Pair,
    PlaneField, Samples, SceneFile, SdfField, Shape as SceneShape, Solver, SphereField, Triangles,
};
use osculate_dynamics::{InitialRate, Method, OnFailure, Parameters, Simulator};
use osculate_geometry::quadrature::TriangleRule;
use std::path::Path;

/// Newton tolerance of the cross-check; the simulator adds what rounding cannot resolve.
pub const NEWTON_TOLERANCE: f64 = 1e-13;
const NEWTON_ITERATIONS: usize = 200;

/// What a case becomes.
#[derive(Clone, Debug)]
pub enum Converted {
    /// It can be run.
    Ready(Box<SceneFile>),
    /// It needs what is not built yet.
    Unsupported(String),
}

/// A case ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Scene, settings and time grid.
    pub simulator: Simulator,
    /// The scene's numbers, with the applied wrenches.
    pub parameters: Parameters,
}

impl Prepared {
    /// Builds a converted case.
    ///
    /// # Errors
    /// Where a number is invalid.
    pub fn new(scene: &SceneFile) -> Result<Self, CliError> {
        let built = scene.build(Path::new(""))?;
        Ok(Self { simulator: built.simulator, parameters: built.parameters })
    }
}

/// The bodies of a case, whichever way it lists them.
pub fn bodies(case: &Case) -> Vec<BodyCase> {
    if let (true, Some(shape)) = (case.bodies.is_empty(), &case.shape) {
        return vec![BodyCase {
            name: "body".into(),
            shape: shape.clone(),
            collider: "none".into(),
            fixed: false,
            contact: ContactCase::default(),
            mass: case.mass,
            density: None,
            element: None,
            pos: case.pos.unwrap_or_default(),
            quat: case.quat.unwrap_or([0.0, 0.0, 0.0, 1.0]),
            v: case.v,
            w: case.w,
        }];
    }
    case.bodies.clone()
}

/// Ordered pairs (colliding, collider) of bodies, by name, that the case enables.
pub fn active_pairs(case: &Case, bodies: &[BodyCase]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (i, a) in bodies.iter().enumerate() {
        for (j, b) in bodies.iter().enumerate() {
            let enabled = case.only.as_ref().is_none_or(|[x, y]| *x == a.name && *y == b.name);
            // Static bodies have no samples.
            if i != j && enabled && !a.fixed && b.collider != "none" {
                pairs.push((i, j));
            }
        }
    }
    pairs
}

/// Converts a case.
///
/// # Errors
/// Where the case names something unknown.
pub fn convert(case: &Case, meshes: &Meshes) -> Result<Converted, CliError> {
    let list = bodies(case);
    let pairs = active_pairs(case, &list);
    let mut actors = Vec::new();
    for (i, body) in list.iter().enumerate() {
        let asked = pairs.iter().any(|&(_, b)| b == i);
        let collider = match collider(body) {
            // No active pair asks for its distance, but that there is one decides about the threshold padding.
            Ok(Collider::Field(ColliderField::Sdf(_)) | Collider::Named(ColliderKind::Mesh))
            | Err(_)
                if !asked =>
            {
                Collider::Field(ColliderField::Sphere(SphereField {
                    center: [0.0; 3],
                    radius: 1.0,
                }))
            }
            Ok(collider) => collider,
            Err(reason) => return Ok(Converted::Unsupported(reason)),
        };
        let motion = case.kinematic.get(&body.name).map_or(&[][..], Vec::as_slice);
        actors.push(actor(body, meshes, collider, motion)?);
    }
    let name = |i: usize| list[i].name.clone();
    let wrenches = case.wrench.map(|w| AppliedWrench {
        actor: name(0),
        force: [w[0], w[1], w[2]],
        torque: [w[3], w[4], w[5]],
        ..AppliedWrench::default()
    });
    Ok(Converted::Ready(Box::new(SceneFile {
        gravity: case.gravity,
        only: Some(pairs.iter().map(|&(a, b)| [name(a), name(b)]).collect()),
        solver: solver(case)?,
        actors,
        pairs: pair_override(case, &list)?,
        wrenches: wrenches.into_iter().collect(),
        ..SceneFile::default()
    })))
}

/// Method of a name in the reference format.
///
/// # Errors
/// Where it is unknown.
pub fn method(name: &str) -> Result<Method, CliError> {
    Ok(match name {
        "BE" => Method::BackwardEuler,
        "BDF2" => Method::Bdf2,
        "BDF3" => Method::Bdf3,
        "DIRK22" => Method::Dirk22,
        "DIRK23" => Method::Dirk23,
        "DIRK33" => Method::Dirk33,
        "SDIRK12" => Method::SymplecticDirk12,
        "SDIRK22" => Method::SymplecticDirk22,
        _ => {
            let allowed = "BE, BDF2, BDF3, DIRK22, DIRK23, DIRK33, SDIRK12, SDIRK22";
            return Err(CliError::Value { field: "method", found: name.into(), allowed });
        }
    })
}

pub(super) fn solver(case: &Case) -> Result<Solver, CliError> {
    let schedule = match case.dissipation.as_deref() {
        None | Some("default") => DissipationSchedule::CurrentGeometry,
        Some("explicit") => DissipationSchedule::StageStart,
        Some("implicit") => DissipationSchedule::Current,
        Some(found) => {
            let allowed = "default, explicit, implicit";
            return Err(CliError::Value { field: "dissipation", found: found.into(), allowed });
        }
    };
    let friction_ramp = match case.friction.as_deref() {
        None | Some("C1") => FrictionRamp::C1,
        Some("Cinf") => FrictionRamp::Smooth,
        Some(found) => {
            let allowed = "C1, Cinf";
            return Err(CliError::Value { field: "friction", found: found.into(), allowed });
        }
    };
    let listed = case.dts.is_some();
    Ok(Solver {
        method: method(&case.method)?,
        dt: case.dt.filter(|_| !listed),
        steps: case.steps.filter(|_| !listed),
        steps_s: case.dts.clone(),
        schedule: Some(schedule),
        fade: case.fade.unwrap_or(true),
        friction_ramp,
        initial_rate: InitialRate::FirstStep,
        tolerance: NEWTON_TOLERANCE,
        iterations: NEWTON_ITERATIONS,
        on_failure: OnFailure::Continue,
        ..Solver::default()
    })
}

fn pair_override(case: &Case, bodies: &[BodyCase]) -> Result<Vec<Pair>, CliError> {
    if case.pair_override.is_empty() {
        return Ok(Vec::new());
    }
    let [a, b] = bodies else {
        let found = format!("{} bodies", bodies.len());
        return Err(CliError::Value { field: "pair_override", found, allowed: "two bodies" });
    };
    let mut pair = Pair { actors: [a.name.clone(), b.name.clone()], ..Pair::default() };
    for (key, &x) in &case.pair_override {
        let place = match key.as_str() {
            "k" => &mut pair.k,
            "vf" => &mut pair.v_f,
            "ct" => &mut pair.c_t,
            "mu" => &mut pair.mu,
            "cn" => &mut pair.c_n,
            _ => {
                let allowed = "k, vf, ct, mu, cn";
                return Err(CliError::Value {
                    field: "pair_override",
                    found: key.clone(),
                    allowed,
                });
            }
        };
        *place = Some(x);
    }
    Ok(vec![pair])
}

/// The collider of a body, or why there is none yet.
fn collider(body: &BodyCase) -> Result<Collider, String> {
    let kind = match (body.collider.as_str(), &body.shape) {
        ("none", _) => ColliderKind::None,
        ("auto" | "plane", Shape::Plane { .. }) => ColliderKind::Plane,
        ("auto" | "sphere", Shape::Sphere { .. }) | ("sphere", Shape::Mesh(_)) => {
            ColliderKind::Sphere
        }
        ("box", Shape::Mesh(_)) => ColliderKind::Box,
        ("auto" | "sdf", Shape::Mesh(_)) => {
            // An actor pads its grid by its own threshold, whatever its grid parameters say.
            let padding = (body.contact.delta + body.contact.delta_extra).max(0.0);
            let field = SdfField { padding, ..SdfField::default() };
            return Ok(Collider::Field(ColliderField::Sdf(field)));
        }
        ("mesh", Shape::Mesh(_)) => ColliderKind::Mesh,
        (kind, _) => {
            return Err(format!(
                "it needs a {kind} collider of this shape, which is not built yet"
            ));
        }
    };
    Ok(Collider::Named(kind))
}

fn shape(body: &BodyCase, meshes: &Meshes) -> Result<SceneShape, CliError> {
    match &body.shape {
        Shape::Plane { plane } => {
            Ok(SceneShape::Plane(PlaneField { normal: plane.normal, offset: plane.distance }))
        }
        Shape::Sphere { sphere } => {
            Ok(SceneShape::Sphere(SphereField { center: sphere.center, radius: sphere.radius }))
        }
        Shape::Mesh(spec) => match meshes.find(spec) {
            // The very triangles of the reference: samples depend on how faces are cut.
            Some((_, mesh)) => Ok(SceneShape::Triangles(Triangles {
                vertices: mesh.vertices.clone(),
                triangles: mesh.triangles.clone(),
            })),
            None => {
                let allowed = "a mesh of `_meshes.json`";
                Err(CliError::Value { field: "shape", found: spec.to_string(), allowed })
            }
        },
    }
}

fn pose(p: &PoseCase) -> ActorPose {
    let [x, y, z, w] = p.quat;
    ActorPose { position: p.pos, quaternion: Some([w, x, y, z]), rotation_vector: None }
}

fn rule(body: &BodyCase) -> Result<TriangleRule, CliError> {
    let Some(found) = &body.element else { return Ok(TriangleRule::P1Q3) };
    TriangleRule::ALL.into_iter().find(|r| r.name() == found).ok_or_else(|| CliError::Value {
        field: "element",
        found: found.clone(),
        allowed: "P1Q1, P1Q3, P1Q6, P1Q7, P1Q12, P1Q16",
    })
}

/// An actor that is asked for distances.
pub(super) fn plain_actor(body: &BodyCase, meshes: &Meshes) -> Result<Actor, CliError> {
    let allowed = "a collider that is built";
    let unknown = |found| CliError::Value { field: "collider", found, allowed };
    actor(body, meshes, collider(body).map_err(unknown)?, &[])
}

fn actor(
    body: &BodyCase,
    meshes: &Meshes,
    collider: Collider,
    motion: &[PoseCase],
) -> Result<Actor, CliError> {
    let common = Actor {
        name: body.name.clone(),
        fixed: body.fixed,
        pose: pose(&PoseCase { pos: body.pos, quat: body.quat }),
        shape: Some(shape(body, meshes)?),
        collider,
        contact: contact(&body.contact),
        ..Actor::default()
    };
    if body.fixed {
        let motion = (!motion.is_empty()).then(|| motion.iter().map(pose).collect());
        return Ok(Actor { samples: Some(Samples::None), motion, ..common });
    }
    let density = if body.mass.is_some() { None } else { body.density.or(Some(1000.0)) };
    Ok(Actor {
        mass: body.mass,
        density,
        velocity: body.v.unwrap_or_default(),
        angular_velocity: body.w.unwrap_or_default(),
        quadrature: Some(rule(body)?),
        ..common
    })
}

fn contact(c: &ContactCase) -> Contact {
    Contact {
        k: c.k,
        epsilon: c.eps,
        delta: c.delta,
        delta_extra: c.delta_extra,
        m: c.m,
        mu: c.mu,
        c_t: c.ct,
        c_n: c.cn,
        // Zero has the meaning of the limit: full friction at any speed.
        v_f: c.vf.max(f64::MIN_POSITIVE),
        collider_normal: c.fric_coll_normal,
        ..Contact::default()
    }
}

/// Symmetric matrix of `[xx, xy, xz, yy, yz, zz]`.
pub fn symmetric(x: &[f64; 6]) -> Matrix3<f64> {
    Matrix3::new(x[0], x[1], x[2], x[1], x[3], x[4], x[2], x[4], x[5])
}
