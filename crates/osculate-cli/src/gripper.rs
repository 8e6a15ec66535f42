//! Two jaws that slide towards each other on prismatic joints with drives, and a free box between them.
//!
//! The jaws turn about y so that their upper edges touch the box. The recorded gripper of the cross-check and the pinch of an
//! experiment are this scene.

use crate::CliError;
use nalgebra::Vector3;
use osculate_dynamics::articulated::{Joint, JointDrive, JointKind};
use osculate_dynamics::{Articulation, Body, LinkJoint, Scene, SceneError};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_math::se3::Pose;
use osculate_math::so3;

/// Bodies in the order of the scene: left jaw, right jaw, box.
pub(crate) const BOX: usize = 2;

/// The numbers of the scene.
pub(crate) struct Gripper {
    /// Half extent of the box \[m\].
    pub(crate) half: f64,
    /// Half extents of a jaw \[m\].
    pub(crate) jaw: Vector3<f64>,
    /// Mass of a jaw and of the box \[kg\].
    pub(crate) masses: [f64; 2],
    /// Friction coefficients of the jaws and of the box \[–\].
    pub(crate) friction: [f64; 2],
    /// Angle of the faces of the jaws from the box's \[rad\].
    pub(crate) tilt: f64,
    /// Drive of each jaw; its coordinate grows inwards from the start.
    pub(crate) drive: JointDrive,
    /// Where left jaw, right jaw and box start \[m\].
    pub(crate) start: [Vector3<f64>; 3],
    /// Gravity along −z \[m/s²\].
    pub(crate) gravity: f64,
}

fn block(name: &str, mass: f64, half: &Vector3<f64>, friction: f64) -> Result<Body, CliError> {
    let mut body = Body::dynamic(name, MassProperties::cuboid(mass, half)?);
    body.collider = Some(Collider::cuboid(Vector3::zeros(), *half)?);
    body.contact.friction = friction;
    Ok(body)
}

impl Gripper {
    /// The scene.
    ///
    /// # Errors
    /// Where a number is out of range.
    pub(crate) fn scene(&self) -> Result<Scene, CliError> {
        let ([jaw_mass, box_mass], [jaw_friction, box_friction]) = (self.masses, self.friction);
        let mut bodies = Vec::new();
        let mut joints = Vec::new();
        for (i, (name, inwards)) in [("left jaw", 1.0), ("right jaw", -1.0)].into_iter().enumerate()
        {
            bodies.push(block(name, jaw_mass, &self.jaw, jaw_friction)?);
            let axis = Vector3::x() * inwards;
            let place = Pose { position: self.start[i], ..Pose::identity() };
            let rotation = so3::exp(&(Vector3::y() * (self.tilt * inwards)));
            let turned = Pose { rotation, ..Pose::identity() };
            let joint = Joint::new(JointKind::Prismatic { axis });
            let mut joint = joint.placed(place).with_offset(turned);
            joint.laws.drive = Some(self.drive);
            let (parent, position, rates) = (None, None, Vec::new());
            joints.push(LinkJoint { body: i, parent, joint, position, rates });
        }
        let mut held = block("box", box_mass, &Vector3::repeat(self.half), box_friction)?;
        held.pose.position = self.start[BOX];
        bodies.push(held);
        let articulation =
            Articulation::new(&bodies, joints, Vec::new()).map_err(SceneError::from)?;
        let scene = Scene::new(Vector3::z() * -self.gravity, bodies)?;
        Ok(scene.with_articulation(articulation)?)
    }
}
