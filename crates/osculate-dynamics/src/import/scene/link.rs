//! Links as actors and joints.

use super::super::description::compose;
use super::super::notes::Outcome;
use super::{NEGLIGIBLE, Writer};
use crate::articulated::{Joint, JointKind, JointPosition, LinkInertia};
use crate::file::{
    Actor, ActorPose, Collider, ColliderKind, DriveTable, FrictionTable, JointTable, JointWord,
    LimitTable, Samples,
};
use nalgebra::{Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::so3;

/// Radius of gyration of a body that only needs some mass \[m\].
const GYRATION: f64 = 0.1;
/// Least principal moment that an actor may have, relative to the largest.
const LEAST_MOMENT: f64 = 1e-9;

impl Writer<'_> {
    /// Gives a link that is its own host the name of its actor.
    pub(super) fn name_link(&mut self, i: usize) {
        if self.hosts[i].link == Some(i) {
            let wanted = &self.robot.links[i].name;
            let name = self.name(wanted);
            if name != *wanted {
                let spot = &self.robot.links[i].spot;
                let (line, element) = (spot.line, spot.element.clone());
                let reason = format!("its actor is named '{name}': letters, digits, '_' and '-'");
                self.note(line, element, Outcome::Changed, &reason);
            }
            self.actors[i] = Some(name);
        }
    }

    /// Writes a link that is its own host.
    pub(super) fn link(&mut self, i: usize) {
        let Some(name) = self.actors[i].clone() else { return };
        let link = &self.robot.links[i];
        let mut inertia = link.inertia;
        if inertia.mass <= 0.0 {
            inertia = self.negligible();
            let (line, element) = (link.spot.line, link.spot.element.clone());
            let reason = "a moving link without mass has 1e-9 of the mass of the robot in a scene";
            self.note(line, element, Outcome::Changed, reason);
        } else if let Some(raised) = turnable(&inertia.inertia) {
            inertia.inertia = raised;
            let (line, element) = (link.spot.line, link.spot.element.clone());
            let reason = "its least principal moment is raised to 1e-9 of the largest";
            self.note(line, element, Outcome::Changed, reason);
        }
        let actor = Actor { name: name.clone(), ..with_mass(&inertia) };
        self.file.actors.push(actor);
        let (parent, before) = match link.parent.map(|p| self.hosts[p]) {
            Some(host) => (host.link.and_then(|p| self.actors[p].clone()), host.frame),
            None => (None, Pose::identity()),
        };
        let placement = compose(&before, &link.joint.placement);
        let drive = self.drives[i];
        let mut table = table(&name, parent, &link.joint, &placement);
        table.drive = drive.map(|d| DriveTable {
            effort: d.effort,
            k_p: d.stiffness,
            k_d: d.damping,
            target: d.target,
            target_velocity: d.target_velocity,
            effort_limit: d.effort_limit,
        });
        table.q = position(&link.initial);
        self.file.joints.push(table);
    }

    /// Mass properties of what only needs some.
    pub(super) fn negligible(&self) -> LinkInertia {
        let mass = NEGLIGIBLE * self.robot.mass().max(f64::MIN_POSITIVE / NEGLIGIBLE);
        let inertia = Matrix3::from_diagonal_element(mass * GYRATION * GYRATION);
        LinkInertia { mass, center: Vector3::zeros(), inertia }
    }
}

/// An actor with mass properties that touches nothing.
pub(super) fn with_mass(inertia: &LinkInertia) -> Actor {
    let i = &inertia.inertia;
    Actor {
        mass: Some(inertia.mass),
        center: Some(inertia.center.into()),
        inertia: Some([i[(0, 0)], i[(1, 1)], i[(2, 2)], i[(0, 1)], i[(0, 2)], i[(1, 2)]]),
        collider: Collider::Named(ColliderKind::None),
        samples: Some(Samples::None),
        ..Actor::default()
    }
}

/// A joint without drive, in the position where its motion is the identity.
pub(super) fn table(
    child: &str,
    parent: Option<String>,
    joint: &Joint,
    placement: &Pose,
) -> JointTable {
    let (kind, axis) = match &joint.kind {
        JointKind::Free => (JointWord::Free, None),
        JointKind::Spherical => (JointWord::Spherical, None),
        JointKind::Revolute { axis } => (JointWord::Revolute, Some((*axis).into())),
        JointKind::Prismatic { axis } => (JointWord::Prismatic, Some((*axis).into())),
        JointKind::Fixed => (JointWord::Fixed, None),
    };
    let friction = &joint.laws.friction;
    JointTable {
        child: child.into(),
        parent,
        kind,
        axis,
        placement: ActorPose::from(placement),
        offset: ActorPose::from(&joint.offset),
        armature: joint.armature[0],
        friction: FrictionTable {
            viscous: friction.viscous,
            coulomb: friction.coulomb,
            stiction: friction.stiction_extra,
            stribeck_speed: friction.stribeck_speed,
            falloff_speed: friction.falloff_speed,
        },
        limits: joint.laws.limits.map(|l| LimitTable {
            lower: Some(l.lower),
            upper: Some(l.upper),
            stiffness: l.stiffness,
            damping: l.damping,
        }),
        drive: None,
        q: None,
        qdot: None,
    }
}

fn position(initial: &JointPosition) -> Option<Vec<f64>> {
    let q = match initial {
        JointPosition::None => return None,
        JointPosition::Scalar(x) => vec![*x],
        JointPosition::Rotation(r) => so3::log(r).as_slice().to_vec(),
        JointPosition::Pose(x) => {
            let turn = so3::log(&x.rotation);
            x.position.iter().chain(turn.iter()).copied().collect()
        }
    };
    q.iter().any(|x| x.abs() > 0.0).then_some(q)
}

/// An inertia with a principal moment of zero, raised; none where there is nothing to do.
fn turnable(inertia: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let moments = inertia.symmetric_eigenvalues();
    let least = LEAST_MOMENT * moments.max().max(f64::MIN_POSITIVE / LEAST_MOMENT);
    // Added to all, so that none exceeds the sum of the others.
    (moments.min() < least).then(|| inertia + Matrix3::from_diagonal_element(least))
}
