//! From a reference case to a scene; the mapping is documented in `docs/crosscheck.md`.

use super::case::{BodyCase, Case, ContactCase, Meshes, PoseCase, Shape};
use crate::CliError;
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactLaw, ContactParams, DissipationSchedule, FrictionRamp, PairOverride};
use osculate_dynamics::{
    Body, BodyKind, InitialRate, Method, NewtonSettings, OnFailure, Override, Parameters, Scene,
    Settings, Simulator, Wrench,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::{se3::Pose, so3};

/// Newton tolerance of the cross-check; the simulator adds what rounding cannot resolve.
pub const NEWTON_TOLERANCE: f64 = 1e-13;
const NEWTON_ITERATIONS: usize = 200;

/// What a case becomes.
#[derive(Clone, Debug)]
pub enum Converted {
    /// It can be run.
    Ready(Box<Prepared>),
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
    /// Mesh keys of the bodies, by body; `None` for an analytic shape.
    pub meshes: Vec<Option<String>>,
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
/// Where the case names something unknown or a number is invalid.
pub fn convert(case: &Case, meshes: &Meshes) -> Result<Converted, CliError> {
    let list = bodies(case);
    let pairs = active_pairs(case, &list);
    let mut built = Vec::new();
    for (i, body) in list.iter().enumerate() {
        let mesh = mesh_of(body, meshes)?;
        let needed = pairs.iter().any(|&(_, b)| b == i);
        let collider = collider(body, mesh.as_ref().map(|m| &m.1))?;
        if let (true, CaseCollider::Unsupported(reason)) = (needed, &collider) {
            return Ok(Converted::Unsupported(reason.clone()));
        }
        let motion = case.kinematic.get(&body.name).map_or(&[][..], Vec::as_slice);
        built.push((convert_body(body, mesh.as_ref().map(|m| &m.1), collider, motion)?, mesh));
    }
    let (scene_bodies, meshes): (Vec<Body>, Vec<_>) =
        built.into_iter().map(|(b, m)| (b, m.map(|m| m.0))).unzip();
    let mut scene = Scene::new(case.gravity.into(), scene_bodies)?;
    scene.pairs = pairs;
    if !case.pair_override.is_empty() {
        scene.overrides.push(Override { bodies: [0, 1], values: pair_override(case)? });
    }
    let simulator = Simulator::new(scene, settings(case)?, durations(case)?)?;
    let mut parameters = simulator.parameters();
    if let Some(w) = case.wrench {
        let wrench = Wrench {
            force: Vector3::new(w[0], w[1], w[2]),
            torque: Vector3::new(w[3], w[4], w[5]),
        };
        parameters.wrenches = vec![wrench; simulator.steps()];
    }
    Ok(Converted::Ready(Box::new(Prepared { simulator, parameters, meshes })))
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

fn settings(case: &Case) -> Result<Settings, CliError> {
    let schedule = match case.dissipation.as_deref() {
        None | Some("default") => DissipationSchedule::CurrentGeometry,
        Some("explicit") => DissipationSchedule::StageStart,
        Some("implicit") => DissipationSchedule::Current,
        Some(found) => {
            let allowed = "default, explicit, implicit";
            return Err(CliError::Value { field: "dissipation", found: found.into(), allowed });
        }
    };
    let ramp = match case.friction.as_deref() {
        None | Some("C1") => FrictionRamp::C1,
        Some("Cinf") => FrictionRamp::Smooth,
        Some(found) => {
            let allowed = "C1, Cinf";
            return Err(CliError::Value { field: "friction", found: found.into(), allowed });
        }
    };
    Ok(Settings {
        method: method(&case.method)?,
        law: ContactLaw { schedule, fade: case.fade.unwrap_or(true), ramp },
        newton: NewtonSettings {
            tolerance: NEWTON_TOLERANCE,
            iterations: NEWTON_ITERATIONS,
            on_failure: OnFailure::Continue,
            ..NewtonSettings::default()
        },
        initial_rate: InitialRate::FirstStep,
    })
}

fn durations(case: &Case) -> Result<Vec<f64>, CliError> {
    match (&case.dts, case.dt, case.steps) {
        (Some(dts), _, _) => Ok(dts.clone()),
        (None, Some(dt), Some(steps)) => Ok(vec![dt; steps]),
        _ => {
            let found = "neither `dts` nor `dt` with `steps`".into();
            Err(CliError::Value { field: "time grid", found, allowed: "one of them" })
        }
    }
}

fn pair_override(case: &Case) -> Result<PairOverride, CliError> {
    let mut values = PairOverride::default();
    for (key, &x) in &case.pair_override {
        let place = match key.as_str() {
            "k" => &mut values.stiffness,
            "vf" => &mut values.falloff_speed,
            "ct" => &mut values.viscous_friction,
            "mu" => &mut values.friction,
            "cn" => &mut values.damping,
            _ => {
                let allowed = "k, vf, ct, mu, cn";
                return Err(CliError::Value { field: "pair_override", found: key.clone(), allowed });
            }
        };
        *place = Some(x);
    }
    Ok(values)
}

enum CaseCollider {
    None,
    Field(Collider),
    Unsupported(String),
}

fn unsupported(kind: &str, body: &BodyCase) -> CaseCollider {
    CaseCollider::Unsupported(format!("it needs a {kind} collider (body '{}')", body.name))
}

fn collider(body: &BodyCase, mesh: Option<&TriangleMesh>) -> Result<CaseCollider, CliError> {
    let field = match (body.collider.as_str(), &body.shape, mesh) {
        ("none", ..) => return Ok(CaseCollider::None),
        ("auto" | "plane", Shape::Plane { plane }, _) => {
            Collider::half_space(plane.normal.into(), plane.distance)?
        }
        ("auto" | "sphere", Shape::Sphere { sphere }, _) => {
            Collider::sphere(sphere.center.into(), sphere.radius)?
        }
        ("sphere", _, Some(mesh)) => {
            let (center, half) = bounds(mesh);
            Collider::sphere(center, half.min())?
        }
        ("box", _, Some(mesh)) => {
            let (center, half) = bounds(mesh);
            Collider::cuboid(center, half)?
        }
        ("auto" | "sdf", _, Some(_)) => return Ok(unsupported("grid SDF", body)),
        ("mesh", _, Some(_)) => return Ok(unsupported("triangle mesh", body)),
        (kind, ..) => return Ok(unsupported(kind, body)),
    };
    Ok(CaseCollider::Field(field))
}

/// Centre and half extents of the local bounding box (m).
fn bounds(mesh: &TriangleMesh) -> (Vector3<f64>, Vector3<f64>) {
    let infinite = Vector3::repeat(f64::INFINITY);
    let (low, high) = mesh
        .vertices()
        .iter()
        .fold((infinite, -infinite), |(low, high), v| (low.inf(v), high.sup(v)));
    ((low + high) * 0.5, (high - low) * 0.5)
}

fn mesh_of(body: &BodyCase, meshes: &Meshes) -> Result<Option<(String, TriangleMesh)>, CliError> {
    let Shape::Mesh(spec) = &body.shape else { return Ok(None) };
    let Some((key, mesh)) = meshes.find(spec) else {
        let allowed = "a mesh of `_meshes.json`";
        return Err(CliError::Value { field: "shape", found: spec.to_string(), allowed });
    };
    let vertices = mesh.vertices.iter().map(|v| Vector3::from(*v)).collect();
    Ok(Some((key.into(), TriangleMesh::new(vertices, mesh.triangles.clone())?)))
}

fn pose(p: &PoseCase) -> Pose {
    let [x, y, z, w] = p.quat;
    Pose { position: p.pos.into(), rotation: so3::from_quaternion([w, x, y, z]) }
}

fn rule(body: &BodyCase) -> Result<TriangleRule, CliError> {
    let Some(found) = &body.element else { return Ok(TriangleRule::P1Q3) };
    TriangleRule::ALL.into_iter().find(|r| r.name() == found).ok_or_else(|| CliError::Value {
        field: "element",
        found: found.clone(),
        allowed: "P1Q1, P1Q3, P1Q6, P1Q7, P1Q12, P1Q16",
    })
}

fn convert_body(
    body: &BodyCase,
    mesh: Option<&TriangleMesh>,
    collider: CaseCollider,
    motion: &[PoseCase],
) -> Result<Body, CliError> {
    let mut out = Body::fixed(&body.name);
    out.pose = pose(&PoseCase { pos: body.pos, quat: body.quat });
    out.contact = contact(&body.contact);
    out.collider = match collider {
        CaseCollider::None => None,
        CaseCollider::Field(field) => Some(field),
        // No active pair asks for its distance; that there is one matters for the threshold padding.
        CaseCollider::Unsupported(_) => Some(Collider::sphere(Vector3::zeros(), 1.0)?),
    };
    if body.fixed {
        out.kind = BodyKind::Static { motion: motion.iter().map(pose).collect() };
        return Ok(out);
    }
    let Some(mesh) = mesh else {
        let (field, found) = ("shape of a dynamic body", "analytic".into());
        return Err(CliError::Value { field, found, allowed: "a mesh" });
    };
    let mass = match (body.mass, body.density) {
        (Some(mass), _) => MassProperties::of_mesh_with_mass(mesh, mass)?,
        (None, density) => MassProperties::of_mesh(mesh, density.unwrap_or(1000.0))?,
    };
    out.kind = BodyKind::Dynamic { mass };
    out.velocity = body.v.unwrap_or_default().into();
    out.angular_velocity = body.w.unwrap_or_default().into();
    out.samples = Some(SurfaceSamples::from_mesh(mesh, rule(body)?));
    Ok(out)
}

fn contact(c: &ContactCase) -> ContactParams {
    ContactParams {
        stiffness: c.k,
        smoothing: c.eps,
        threshold: c.delta,
        threshold_padding: c.delta_extra,
        max_alignment: c.m,
        friction: c.mu,
        viscous_friction: c.ct,
        damping: c.cn,
        // Zero has the meaning of the limit: full friction at any speed.
        falloff_speed: c.vf.max(f64::MIN_POSITIVE),
        collider_normal: c.fric_coll_normal,
    }
}

/// Symmetric matrix of `[xx, xy, xz, yy, yz, zz]`.
pub fn symmetric(x: &[f64; 6]) -> Matrix3<f64> {
    Matrix3::new(x[0], x[1], x[2], x[1], x[3], x[4], x[2], x[4], x[5])
}
