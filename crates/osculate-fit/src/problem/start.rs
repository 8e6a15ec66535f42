//! Where a toss starts: the recorded pose and velocities of the tracked body, of a link through its joint.
//!
//! ```text
//! X = A · m(q) · B          pose of a link of the world: placement, motion of the joint, offset
//! m = A⁻¹ X B⁻¹             q its coordinates: projected where the joint moves in fewer directions than the recording
//! ```

use super::{JointStart, Model, Quantity, Toss};
use nalgebra::Vector3;
use osculate_dynamics::articulated::{
    Configuration, Joint, JointKind, JointPosition, TreeKinematics,
};
use osculate_dynamics::{ArticulationError, Scene, SceneError};
use osculate_math::se3::Pose;
use osculate_math::so3;

/// Name of the link that the tracked body hangs on, if it does: then its pose is not that of its joint alone.
pub(crate) fn hangs_on(scene: &Scene, body: usize) -> Option<&str> {
    let articulation = scene.articulation.as_ref()?;
    let links = articulation.model().links();
    let parent = links[articulation.link_of_body(body)?].parent?;
    Some(&links[parent].name)
}

/// Whether the tracked body is moved by a joint.
pub(crate) fn is_link(scene: &Scene, body: usize) -> bool {
    scene.articulation.as_ref().is_some_and(|a| a.link_of_body(body).is_some())
}

/// Names of the joints from the tracked body to the world.
pub(super) fn joints_to(scene: &Scene, body: usize) -> Vec<&str> {
    let Some(articulation) = &scene.articulation else { return Vec::new() };
    let links = articulation.model().links();
    let mut link = articulation.link_of_body(body);
    let mut names = Vec::new();
    while let Some(i) = link {
        names.push(links[i].name.as_str());
        link = links[i].parent;
    }
    names
}

/// Whether joint channels say where every joint stands that moves the tracked body.
pub(crate) fn starts_by_joints(model: &Model) -> bool {
    let Some(articulation) = &model.scene.articulation else { return false };
    let links = articulation.model().links();
    let mut link = articulation.link_of_body(model.body);
    if link.is_none() {
        return false;
    }
    while let Some(i) = link {
        let body = articulation.bodies()[i];
        let measured =
            model.channels.iter().any(|c| c.quantity == Quantity::JointPosition && c.body == body);
        if links[i].joint.kind.dofs() > 0 && !measured {
            return false;
        }
        link = links[i].parent;
    }
    true
}

/// Poses of all bodies where a toss starts.
///
/// # Errors
/// Where a joint cannot be at its position.
pub(crate) fn start_poses(model: &Model, toss: &Toss) -> Result<Vec<Pose>, SceneError> {
    let mut scene = model.scene.clone();
    place_all(
        &mut scene,
        model.body,
        toss,
        (&toss.measured[0], toss.velocity, toss.angular_velocity),
    )?;
    let mut poses: Vec<Pose> = scene.bodies.iter().map(|b| b.pose).collect();
    if let Some(articulation) = &scene.articulation {
        let at = &articulation.initial.configuration;
        let tree = TreeKinematics::new(articulation.model(), at);
        for (&body, pose) in articulation.bodies().iter().zip(tree.links) {
            poses[body] = pose;
        }
    }
    Ok(poses)
}

/// Sets all that a toss says of the start: of the tracked body, of joints, of other bodies.
///
/// # Errors
/// Where a joint cannot be at that position.
pub(crate) fn place_all(
    scene: &mut Scene,
    body: usize,
    toss: &Toss,
    start: (&Pose, Vector3<f64>, Vector3<f64>),
) -> Result<(), SceneError> {
    place(scene, body, start)?;
    place_joints(scene, &toss.joints)?;
    for other in &toss.others {
        place(scene, other.body, (&other.pose, other.velocity, other.angular_velocity))?;
    }
    Ok(())
}

/// Sets position and rate of joints of one degree of freedom.
///
/// # Errors
/// Where a joint cannot be at that position.
fn place_joints(scene: &mut Scene, joints: &[JointStart]) -> Result<(), SceneError> {
    let Some(articulation) = &mut scene.articulation else { return Ok(()) };
    let mut positions = articulation.initial.configuration.joints().to_vec();
    for joint in joints {
        let Some(link) = articulation.link_of_body(joint.body) else { continue };
        if !articulation.model().links()[link].joint.kind.is_scalar() {
            continue;
        }
        positions[link] = JointPosition::Scalar(joint.position);
        let dof = articulation.model().joint_dofs(link).start;
        articulation.initial.rates[dof] = joint.rate;
    }
    let configuration =
        Configuration::of(articulation.model(), positions).map_err(ArticulationError::from)?;
    articulation.initial.configuration = configuration;
    Ok(())
}

/// Sets pose and velocities of the local frame of a body; of a link of the world its joint's coordinates. Other joints keep
/// those of the scene.
///
/// # Errors
/// Where a joint cannot be at that position.
fn place(
    scene: &mut Scene,
    body: usize,
    (pose, velocity, spin): (&Pose, Vector3<f64>, Vector3<f64>),
) -> Result<(), SceneError> {
    let tracked = &mut scene.bodies[body];
    tracked.pose = *pose;
    tracked.angular_velocity = spin;
    tracked.velocity = velocity + spin.cross(&(pose.rotation * tracked.center()));
    let Some(articulation) = &mut scene.articulation else { return Ok(()) };
    let Some(link) = articulation.link_of_body(body) else { return Ok(()) };
    let model = articulation.model();
    // Of a link that hangs on another its joints say where it is, in place_joints.
    if model.links()[link].parent.is_some() {
        return Ok(());
    }
    let joint = &model.links()[link].joint;
    let first: usize = model.links()[..link].iter().map(|l| l.joint.kind.dofs()).sum();
    let (position, rates) = coordinates(joint, pose, velocity, spin);
    let mut positions = articulation.initial.configuration.joints().to_vec();
    positions[link] = position;
    let configuration = Configuration::of(model, positions).map_err(ArticulationError::from)?;
    articulation.initial.configuration = configuration;
    articulation.initial.rates[first..first + rates.len()].copy_from_slice(&rates);
    Ok(())
}

/// Position and rates of a joint of the world.
fn coordinates(
    joint: &Joint,
    pose: &Pose,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
) -> (JointPosition, Vec<f64>) {
    let (a, b) = (&joint.placement, &joint.offset);
    let back = a.rotation.transpose();
    // The moved joint frame: X B⁻¹.
    let rotation = pose.rotation * b.rotation.transpose();
    let arm = -(rotation * b.position);
    let moved = back * (pose.position + arm - a.position);
    let (turn, rotation) = (back * spin, back * rotation);
    let linear = back * (velocity + spin.cross(&arm));
    match &joint.kind {
        JointKind::Fixed => (JointPosition::None, Vec::new()),
        JointKind::Revolute { axis } => {
            let angle = axis.dot(&so3::log(&rotation));
            (JointPosition::Scalar(angle), vec![axis.dot(&turn)])
        }
        JointKind::Prismatic { axis } => {
            (JointPosition::Scalar(axis.dot(&moved)), vec![axis.dot(&linear)])
        }
        JointKind::Spherical => (JointPosition::Rotation(rotation), turn.as_slice().to_vec()),
        JointKind::Free => {
            let rates = linear.iter().chain(turn.iter()).copied().collect();
            (JointPosition::Pose(Pose { position: moved, rotation }), rates)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;
    use osculate_dynamics::articulated::{ArticulatedModel, Link, LinkInertia};

    fn pose(x: [f64; 6]) -> Pose {
        let [a, b, c, d, e, f] = x;
        Pose { position: Vector3::new(a, b, c), rotation: so3::exp(&Vector3::new(d, e, f)) }
    }

    /// Pose of a link with this joint at these coordinates, and `h` later by its rates.
    fn poses(joint: &Joint, position: JointPosition, rates: &[f64], h: f64) -> [Pose; 2] {
        let inertia =
            LinkInertia { mass: 1.0, center: Vector3::zeros(), inertia: Matrix3::identity() };
        let link = Link { name: "l".into(), parent: None, joint: joint.clone(), inertia };
        let model = ArticulatedModel::new(vec![link], Vec::new()).unwrap();
        let at = Configuration::of(&model, vec![position]).unwrap();
        let step: Vec<f64> = rates.iter().map(|r| r * h).collect();
        [at.clone(), at.incremented(&step)].map(|q| TreeKinematics::new(&model, &q).links[0])
    }

    #[test]
    fn joint_starts_where_and_as_fast_as_the_recorded_frame_moves() {
        let axis = Vector3::new(0.6, 0.0, 0.8);
        let (placement, offset) =
            (pose([0.1, 0.2, 0.3, 0.4, -0.2, 0.1]), pose([-0.1, 0.3, 0.2, 0.3, 0.5, -0.4]));
        let turned = pose([0.2, -0.3, 0.4, 0.5, 0.6, -0.7]);
        let all = [
            (JointKind::Revolute { axis }, JointPosition::Scalar(0.7), vec![0.4]),
            (JointKind::Prismatic { axis }, JointPosition::Scalar(-0.3), vec![0.8]),
            (JointKind::Spherical, JointPosition::Rotation(turned.rotation), vec![0.3, -0.5, 0.2]),
            (JointKind::Free, JointPosition::Pose(turned), vec![0.3, -0.5, 0.2, 0.6, 0.1, -0.4]),
        ];
        for (kind, position, rates) in all {
            let joint = Joint::new(kind).placed(placement).with_offset(offset);
            let h = 1e-6;
            let [before, after] = poses(&joint, position, &rates, h);
            let [_, back] = poses(&joint, position, &rates, -h);
            let (velocity, spin) = after.increment_from(&back);
            let (velocity, spin) = (velocity / (2.0 * h), spin / (2.0 * h));
            let (found, found_rates) = coordinates(&joint, &before, velocity, spin);
            let [again, _] = poses(&joint, found, &found_rates, h);
            assert!((again.position - before.position).norm() < 1e-14);
            assert!((again.rotation - before.rotation).norm() < 1e-14);
            for (a, b) in found_rates.iter().zip(&rates) {
                assert!((a - b).abs() < 1e-8, "{:?}: {found_rates:?} for {rates:?}", joint.kind);
            }
        }
    }
}
