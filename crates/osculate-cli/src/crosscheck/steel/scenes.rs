//! The recorded scenes of free bodies, and closed forms of their motion.

use super::articulated;
use super::record::{Case, Recorded, Run, number, vector};
use crate::CliError;
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::{Body, BodyKind, Parameters, Scene, Wrench};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_math::se3::Pose;
use osculate_math::so3;
use serde_json::Value;

/// Gravity of the recordings \[m/s²\].
pub(super) const GRAVITY: f64 = 9.81;

/// Gap up to which contacts are listed \[m\]: `bisection_desaxce` asks for a lift of `μ‖u_T‖` across a gap too, 12.5 mm in a
/// step of 1/240 s at 6 m/s.
const MARGIN: f64 = 0.02;

/// Radius and half height of a disc \[m\]: the file names them without numbers, its contacts show them.
const DISC: [f64; 2] = [0.06, 0.02];

/// Inertia of what does not tilt \[kg m²\].
const UPRIGHT: f64 = 1e9;

/// A point whose way was recorded.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) name: String,
    /// Body of the scene.
    pub(super) body: usize,
    /// From the centre of mass, in the axes of the body \[m\].
    pub(super) offset: Vector3<f64>,
    /// Where it was at every recorded instant \[m\].
    pub(super) path: Vec<Vector3<f64>>,
}

/// A scene, its time grid, what acts on it, and what was recorded of it.
pub(super) struct Set {
    pub(super) scene: Scene,
    pub(super) dt: f64,
    pub(super) steps: usize,
    /// One a dynamic body, at every step.
    pub(super) wrench: Vec<Wrench>,
    /// Targets of drives, one a degree of freedom and step; none for those of the joints.
    pub(super) targets: Vec<f64>,
    pub(super) marks: Vec<Mark>,
    /// Gap up to which contacts are listed \[m\].
    pub(super) margin: f64,
    /// What the jaws of a gripper yield to an impulse along their slides \[1/kg\].
    pub(super) jaw_mobility: Option<f64>,
}

impl Set {
    pub(super) fn durations(&self) -> Vec<f64> {
        vec![self.dt; self.steps]
    }

    /// Adds what acts in every step.
    pub(super) fn drive(&self, parameters: &mut Parameters) {
        let wrenches = (0..self.steps).flat_map(|_| self.wrench.iter().copied());
        parameters.wrenches = wrenches.collect();
        if let (Some(joints), false) = (&mut parameters.articulation, self.targets.is_empty()) {
            joints.targets.clone_from(&self.targets);
        }
    }
}

fn boxed(name: &str, mass: f64, half: &Vector3<f64>, mu: f64) -> Result<Body, CliError> {
    let mut body = Body::dynamic(name, MassProperties::cuboid(mass, half)?);
    body.collider = Some(Collider::cuboid(Vector3::zeros(), *half)?);
    body.contact.friction = mu;
    Ok(body)
}

fn ball(mass: f64, radius: f64, mu: f64) -> Result<Body, CliError> {
    let mut body = Body::dynamic("ball", MassProperties::sphere(mass, radius)?);
    body.collider = Some(Collider::sphere(Vector3::zeros(), radius)?);
    body.contact.friction = mu;
    Ok(body)
}

fn disc(mass: f64, [radius, half_height]: [f64; 2], mu: f64) -> Result<Body, CliError> {
    let mass = MassProperties::cylinder(mass, radius, half_height)?;
    let mut body = Body::dynamic("disc", mass);
    body.collider = Some(Collider::cylinder(Vector3::zeros(), radius, half_height)?);
    body.contact.friction = mu;
    Ok(body)
}

pub(super) fn ground(mu: f64) -> Result<Body, CliError> {
    let mut body = Body::fixed("ground");
    body.collider = Some(Collider::half_space(Vector3::z(), 0.0)?);
    body.contact.friction = mu;
    Ok(body)
}

fn place(body: &mut Body, pose: &Recorded) {
    let position = Vector3::new(pose[0], pose[1], pose[2]);
    body.pose = Pose { position, rotation: Case::rotation(pose) };
}

/// Direction of a push, from the angle of the parameters.
fn direction(case: &Case) -> Vector3<f64> {
    let angle = case.params["direction_deg"].as_f64().unwrap_or(0.0).to_radians();
    Vector3::new(angle.cos(), angle.sin(), 0.0)
}

/// The scene of a case.
///
/// # Errors
/// Where a number is missing or out of range.
pub(super) fn set(family: &str, meta: &Value, run: &Run, case: &Case) -> Result<Set, CliError> {
    match family {
        "e" => return articulated::arm(meta, run, case),
        "f" => return articulated::gripper(meta, run, case),
        _ => {}
    }
    let mu = number(meta, "mu")?;
    let mut floor = ground(mu)?;
    let mut wrench = vec![Wrench::zero()];
    let mut bodies = match family {
        "a" => {
            let (body, push) = pushed(meta, case, mu)?;
            wrench = vec![push];
            vec![body]
        }
        "b" => vec![thrown(meta, case, mu)?],
        "c" => vec![spinning(meta, run, case, mu)?],
        "d" => {
            let angle = number(&case.params, "angle_deg")?.to_radians();
            floor.pose.rotation = so3::exp(&(vector(&case.params, "tilt_axis")? * angle));
            vec![boxed("box", number(meta, "mass")?, &vector(meta, "half")?, mu)?]
        }
        "g" => {
            let push = Vector3::x() * number(&case.params, "push")?;
            wrench = vec![Wrench::zero(); 3];
            wrench[1].force = push;
            stack(meta, mu)?
        }
        _ => vec![dropped(meta, run, case, (mu, &mut floor))?],
    };
    for (body, pose) in bodies.iter_mut().zip(case.poses(0)) {
        place(body, &pose);
    }
    let names: Vec<String> = bodies.iter().map(|b| b.name.clone()).collect();
    // The original sweeps the contacts of the ground first; of one body the order does not matter.
    let first = usize::from(family == "g");
    bodies.insert(if first > 0 { 0 } else { bodies.len() }, floor);
    let mark = |(i, name): (usize, String)| Mark {
        name,
        body: i + first,
        offset: Vector3::zeros(),
        path: case.path(i),
    };
    let mut marks: Vec<Mark> = names.into_iter().enumerate().map(mark).collect();
    if !run.is_free() {
        // How it spins.
        let offset = Vector3::x() * number(meta, "R")?;
        let path = case.path_of(0, &offset);
        marks.push(Mark { name: "equator".into(), body: first, offset, path });
    }
    let scene = Scene::new(Vector3::z() * -GRAVITY, bodies)?;
    Ok(Set {
        scene,
        dt: run.dt,
        steps: case.steps(),
        wrench,
        targets: Vec::new(),
        marks,
        margin: MARGIN,
        jaw_mobility: None,
    })
}

fn pushed(meta: &Value, case: &Case, mu: f64) -> Result<(Body, Wrench), CliError> {
    let mass = number(meta, "mass")?;
    let mut body = boxed("box", mass, &vector(meta, "half")?, mu)?;
    let along = direction(case);
    body.velocity = along * number(&case.params, "initial_slip")?;
    let force = along * (number(&case.params, "load")? * mu * mass * GRAVITY);
    let low = case.params["height"] == "ground";
    let arm = if low { -Vector3::z() * vector(meta, "half")?.z } else { Vector3::zeros() };
    Ok((body, Wrench { force, torque: arm.cross(&force) }))
}

/// A ball or a disc; on the joints of an articulated one, which let it slide and spin about z, it does not tilt.
fn spinning(meta: &Value, run: &Run, case: &Case, mu: f64) -> Result<Body, CliError> {
    let mut body = if case.is_disc() {
        disc(number(meta, "disc_mass")?, DISC, mu)?
    } else {
        ball(number(meta, "mass")?, number(meta, "R")?, mu)?
    };
    body.velocity = vector(&case.params, "v0")?;
    if run.is_free() {
        body.angular_velocity = vector(&case.params, "w0")?;
        return Ok(body);
    }
    if let Some(own) = body.mass().copied() {
        let about = Vector3::new(UPRIGHT, UPRIGHT, own.inertia()[(2, 2)]);
        let upright = Matrix3::from_diagonal(&about);
        let mass = MassProperties::new(own.mass(), Vector3::zeros(), upright)?;
        body.kind = BodyKind::Dynamic { mass };
    }
    body.angular_velocity.z = number(&case.params, "w0")?;
    body.impulse.torsional_radius = number(&case.params, "patch_radius")?;
    Ok(body)
}

fn thrown(meta: &Value, case: &Case, mu: f64) -> Result<Body, CliError> {
    let half = Vector3::repeat(number(meta, "half")?);
    let mut body = boxed("box", number(meta, "mass")?, &half, mu)?;
    body.velocity = vector(&case.params, "v")?;
    body.angular_velocity = vector(&case.params, "w")?;
    Ok(body)
}

fn stack(meta: &Value, mu: f64) -> Result<Vec<Body>, CliError> {
    let lists = (meta["masses"].as_array(), meta["halves"].as_array());
    let (Some(masses), Some(halves)) = lists else { return Ok(Vec::new()) };
    let body = |(i, (mass, half)): (usize, (&Value, &Value))| {
        let half = vector(&serde_json::json!({ "half": half }), "half")?;
        boxed(&format!("box{i}"), mass.as_f64().unwrap_or(0.0), &half, mu)
    };
    masses.iter().zip(halves).enumerate().map(body).collect()
}

fn dropped(
    meta: &Value,
    run: &Run,
    case: &Case,
    (mu, floor): (f64, &mut Body),
) -> Result<Body, CliError> {
    let mass = number(meta, "mass")?;
    let round = case.params["kind"].as_str().is_some_and(|k| k.starts_with("sphere"));
    let mut body = if round {
        ball(mass, number(meta, "radius")?, mu)?
    } else {
        boxed("box", mass, &vector(meta, "box")?, mu)?
    };
    body.velocity = vector(&case.params, "v")?;
    body.angular_velocity = vector(&case.params, "w")?;
    if run.options.enable_restitution {
        body.impulse.restitution = number(&case.params, "e_sphere")?;
        floor.impulse.restitution = number(&case.params, "e_ground")?;
    }
    Ok(body)
}

/// Way gone by the end where Coulomb's law has a closed form, each step at the velocity of its end \[m\].
pub(super) fn exact_travel(family: &str, meta: &Value, run: &Run, case: &Case) -> Option<f64> {
    let mu = meta["mu"].as_f64()?;
    let bisects = run.options.bisects();
    let (slip, drive) = match family {
        "a" => {
            let load = case.params["load"].as_f64()?;
            (case.params["initial_slip"].as_f64()?, load * mu * GRAVITY)
        }
        "b" if case.params["kind"] == "flat" => (case.params["speed"].as_f64()?, 0.0),
        "d" => {
            let angle = case.params["angle_deg"].as_f64()?.to_radians();
            return (!bisects).then(|| {
                slide(
                    0.0,
                    GRAVITY * angle.sin(),
                    mu * GRAVITY * angle.cos(),
                    (run.dt, case.steps()),
                )
            });
        }
        // Friction of a disc that spins acts in other directions at each of its points.
        // One that only spins has no direction to go.
        "c" if case.is_disc() => {
            let v = vector(&case.params, "v0").ok()?.norm();
            return (v == 0.0).then_some(0.0);
        }
        "c" => {
            if !run.is_free() {
                let v = vector(&case.params, "v0").ok()?.norm();
                return Some(slide(v, 0.0, mu * GRAVITY, (run.dt, case.steps())));
            }
            // A ball slips to 5/7 of its speed; spin about the normal does nothing to it.
            let v = vector(&case.params, "v0").ok()?.norm();
            let rolled = case.params["w0"][1].as_f64().is_some_and(|w| w != 0.0);
            let speed = |k: usize| (v - mu * GRAVITY * run.dt * k as f64).max(5.0 / 7.0 * v);
            return (!rolled).then(|| (1..=case.steps()).map(|k| run.dt * speed(k)).sum());
        }
        _ => return None,
    };
    (!bisects).then(|| slide(slip, drive, mu * GRAVITY, (run.dt, case.steps())))
}

/// Way under a constant drive and Coulomb's friction, both as accelerations \[m/s²\].
fn slide(mut v: f64, drive: f64, friction: f64, (dt, steps): (f64, usize)) -> f64 {
    let mut way = 0.0;
    for _ in 0..steps {
        v = (v + dt * (drive - friction)).max(0.0);
        way += dt * v;
    }
    way
}
