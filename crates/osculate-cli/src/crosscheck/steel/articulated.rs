//! The recorded articulated scenes: an arm that presses its tip on the ground (e), and jaws on slides that pinch a box (f).
//!
//! Drives of the original are implicit, `τ = −k_p (q − q* + h v) − k_d v` with `h² k_p + h k_d` on the diagonal, as here where they
//! have no effort limit. The recorded limits, 10⁶ N m and 10 N, are never reached and left out; `drive_mode = "rows"` makes
//! every drive a row, as an effort limit does here.

use super::record::{Case, Run, number, vector};
use super::scenes::{GRAVITY, Mark, Set, ground};
use crate::CliError;
use crate::gripper::{BOX, Gripper};
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::articulated::immediate::TreeResponse;
use osculate_dynamics::articulated::{
    ArticulatedModel, Configuration, Joint, JointDrive, JointKind, JointLimits, JointPosition,
    Load, TreeKinematics, TreePoint,
};
use osculate_dynamics::{Articulation, ArticulationError, Body, LinkJoint, Scene, SceneError};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_math::se3::Pose;
use serde_json::Value;

/// Radius of the rods that the recorded inertia is of \[m\].
const ROD: f64 = 0.02;
/// Inertia of the first link \[kg m²\].
const TURRET: f64 = 0.002;
/// Stiffness of a limit \[N m/rad\]: so stiff that it is the original's rigid row.
const LIMIT: f64 = 1e12;
/// Effort of a drive that is a row \[N m\], as recorded.
const ROW_EFFORT: f64 = 1e6;
/// Gap up to which contacts are listed \[m\], as recorded: 5 mm a shape.
const MARGIN: f64 = 0.01;

/// The arm: yaw about z, then shoulder and elbow about y. Its tip is driven along the ground below its surface.
///
/// # Errors
/// Where a number is missing or out of range.
pub(super) fn arm(meta: &Value, run: &Run, case: &Case) -> Result<Set, CliError> {
    let [upper, fore, tip] = ["L2", "L3", "tip"].map(|f| number(meta, f));
    let (upper, fore, tip) = (upper?, fore?, tip?);
    let masses = vector(meta, "masses")?;
    let rod = |mass: f64, length: f64| {
        let across = mass * length * length / 12.0;
        let inertia = Vector3::new(mass * ROD * ROD / 2.0, across, across);
        let center = Vector3::new(length / 2.0, 0.0, 0.0);
        MassProperties::new(mass, center, Matrix3::from_diagonal(&inertia))
    };
    let turret = Matrix3::from_diagonal_element(TURRET);
    let mut bodies = vec![
        Body::dynamic("turret", MassProperties::new(masses.x, Vector3::zeros(), turret)?),
        Body::dynamic("upper arm", rod(masses.y, upper)?),
        Body::dynamic("forearm", rod(masses.z, fore)?),
        ground(number(meta, "mu_floor")?)?,
    ];
    bodies[2].collider = Some(Collider::sphere(Vector3::new(fore, 0.0, 0.0), tip)?);
    bodies[2].contact.friction = number(meta, "mu_tip")?;
    let (stiffness, damping) = (vector(meta, "ke")?, vector(meta, "kd")?);
    let share = number(&case.params, "drive")?;
    let places = [[0.0, 0.0, number(meta, "base_height")?], [0.0; 3], [upper, 0.0, 0.0]];
    let mut joints = Vec::new();
    for (i, place) in places.into_iter().enumerate() {
        let axis = if i == 0 { Vector3::z() } else { Vector3::y() };
        let placement = Pose { position: Vector3::from(place), ..Pose::identity() };
        let joint = Joint::new(JointKind::Revolute { axis }).placed(placement);
        let mut joint = joint.with_armature(number(meta, "armature")?);
        joint.laws.drive = (share > 0.0).then(|| drive(run, [stiffness[i], damping[i]], share));
        if i == 2 && case.params["limit"] == true {
            joint.laws.limits = Some(limit(number(meta, "elbow_limit")?, run));
        }
        let position = case.initial_q.get(i).copied().map(JointPosition::Scalar);
        let parent = i.checked_sub(1);
        joints.push(LinkJoint { body: i, parent, joint, position, rates: Vec::new() });
    }
    let articulation = Articulation::new(&bodies, joints, Vec::new()).map_err(SceneError::from)?;
    let marks = arm_marks(articulation.model(), case, fore)?;
    let scene = Scene::new(Vector3::z() * -GRAVITY, bodies)?.with_articulation(articulation)?;
    Ok(Set {
        scene,
        dt: run.dt,
        steps: case.steps(),
        wrench: Vec::new(),
        targets: arm_targets(meta, run, case)?,
        marks,
        margin: MARGIN,
        jaw_mobility: None,
    })
}

fn configuration(model: &ArticulatedModel, q: &[f64]) -> Result<Configuration, CliError> {
    let joints = q.iter().map(|&x| JointPosition::Scalar(x)).collect();
    let found = Configuration::of(model, joints);
    Ok(found.map_err(|e| SceneError::from(ArticulationError::from(e)))?)
}

/// The centres of the two rods and the tip.
fn arm_marks(model: &ArticulatedModel, case: &Case, fore: f64) -> Result<Vec<Mark>, CliError> {
    let mut paths = [Vec::new(), Vec::new(), Vec::new()];
    let out = Vector3::new(fore / 2.0, 0.0, 0.0);
    for q in &case.joint_q {
        let q = configuration(model, q)?;
        let at = TreeKinematics::new(model, &q);
        let tip = at.centers[2] + at.links[2].rotation * out;
        for (path, x) in paths.iter_mut().zip([at.centers[1], at.centers[2], tip]) {
            path.push(x);
        }
    }
    let places =
        [("upper arm", 1, Vector3::zeros()), ("forearm", 2, Vector3::zeros()), ("tip", 2, out)];
    let marks = places.into_iter().zip(paths).map(|((name, body, offset), path)| Mark {
        name: name.into(),
        body,
        offset,
        path,
    });
    Ok(marks.collect())
}

/// Targets of the three drives in every step: the tip at a radius and a height by inverse kinematics, at the start of the step.
fn arm_targets(meta: &Value, run: &Run, case: &Case) -> Result<Vec<f64>, CliError> {
    let (upper, fore) = (number(meta, "L2")?, number(meta, "L3")?);
    let drop = number(meta, "base_height")? - number(meta, "tip")? + number(meta, "depth")?;
    let start = number(meta, "x0")?;
    let (radial, yaw) = (number(&case.params, "radial")?, number(&case.params, "yaw")?);
    let mut targets = Vec::with_capacity(3 * case.steps());
    for step in 0..case.steps() {
        let t = run.dt * step as f64;
        let radius = start + radial * t;
        let reach = radius * radius + drop * drop - upper * upper - fore * fore;
        let elbow = (reach / (2.0 * upper * fore)).acos();
        let inner = f64::atan2(fore * elbow.sin(), upper + fore * elbow.cos());
        targets.extend([yaw * t, f64::atan2(drop, radius) - inner, elbow]);
    }
    Ok(targets)
}

/// Two jaws that slide along x with a free box between them.
///
/// # Errors
/// Where a number is missing or out of range.
pub(super) fn gripper(meta: &Value, run: &Run, case: &Case) -> Result<Set, CliError> {
    let n = |field| number(meta, field);
    let start = [0, 1, BOX].map(|i| case.path(i).first().copied().unwrap_or_default());
    let gripper = Gripper {
        half: n("box")?,
        jaw: vector(meta, "jaw")?,
        masses: [n("jaw_mass")?, n("box_mass")?],
        friction: [n("mu_jaw")?, n("mu_box")?],
        tilt: number(&case.params, "tilt_deg")?.to_radians(),
        drive: JointDrive { target: n("target")?, ..drive(run, [n("ke")?, n("kd")?], 1.0) },
        start,
        gravity: GRAVITY,
    };
    let scene = gripper.scene()?;
    let own = match &scene.articulation {
        Some(a) => {
            let q = &a.initial.configuration;
            mobility(a, run, q, (0, &start[0], &Vector3::x()))?
        }
        None => 0.0,
    };
    let mark = |(body, b): (usize, &Body)| Mark {
        name: b.name.clone(),
        body,
        offset: Vector3::zeros(),
        path: case.path(body),
    };
    let marks = scene.bodies.iter().enumerate().map(mark).collect();
    Ok(Set {
        scene,
        dt: run.dt,
        steps: case.steps(),
        wrench: Vec::new(),
        targets: Vec::new(),
        marks,
        margin: MARGIN,
        jaw_mobility: Some(own),
    })
}

/// A drive with a share of its gains.
fn drive(run: &Run, [stiffness, damping]: [f64; 2], share: f64) -> JointDrive {
    let effort_limit = (run.options.drive_mode == "rows").then_some(ROW_EFFORT);
    let (stiffness, damping) = (share * stiffness, share * damping);
    JointDrive { stiffness, damping, effort_limit, ..JointDrive::default() }
}

/// An upper limit with the original's row: `b = β φ/h` beyond it, `φ/h` before. The row of spring and damper has
/// `b = k φ/(h k + d)` beyond it, so that `d = h k (1/β − 1)`.
fn limit(upper: f64, run: &Run) -> JointLimits {
    let damping = run.dt * LIMIT * (run.options.baumgarte.recip() - 1.0);
    JointLimits { stiffness: LIMIT, damping, ..JointLimits::new(f64::NEG_INFINITY, upper) }
}

/// `J Ĥ⁻¹ Jᵀ` of a point of a link along a direction \[1/kg\].
fn mobility(
    articulation: &Articulation,
    run: &Run,
    q: &Configuration,
    (link, point, along): (usize, &Vector3<f64>, &Vector3<f64>),
) -> Result<f64, CliError> {
    let model = articulation.model();
    let (rest, load) = (vec![0.0; model.dofs()], Load::gravity(Vector3::zeros()));
    let at = TreePoint { model, q, v: &rest, load: &load };
    let response = TreeResponse::new(at, &rest, run.dt)
        .map_err(|e| SceneError::from(ArticulationError::from(e)))?;
    Ok(response.row(response.jacobian(link, point, along)).weight)
}
