//! Articulated scenes, and what drives them.

use super::{contact, cuboid, ground};
use nalgebra::Vector3;
use osculate_contact::{ContactLaw, DissipationSchedule};
use osculate_dynamics::articulated::{
    Attachment, ClosureKind, Joint, JointDrive, JointFriction, JointKind, JointLimits,
    JointPosition, LoopClosure,
};
use osculate_dynamics::{
    Articulation, Body, LinkJoint, Method, NewtonSettings, Parameters, Scene, Settings, Simulator,
    Wrench,
};
use osculate_math::{se3::Pose, so3};

pub const G: Vector3<f64> = Vector3::new(0.3, -0.2, -9.81);

pub fn v(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

pub fn pose(position: Vector3<f64>, turn: Vector3<f64>) -> Pose {
    Pose { position, rotation: so3::exp(&turn) }
}

pub fn link(body: usize, parent: Option<usize>, joint: Joint) -> LinkJoint {
    LinkJoint { body, parent, joint, position: None, rates: Vec::new() }
}

pub fn settings(method: Method, schedule: DissipationSchedule) -> Settings {
    Settings {
        method,
        law: ContactLaw { schedule, ..Default::default() },
        newton: NewtonSettings { tolerance: 1e-13, ..Default::default() },
        ..Default::default()
    }
}

pub fn simulator(scene: &Scene, settings: Settings, dt: f64, steps: usize) -> Simulator {
    Simulator::new(scene.clone(), settings, vec![dt; steps]).unwrap()
}

/// A block with a point of mass nowhere special; it touches nothing.
pub fn inert(name: &str) -> Body {
    let mut body = cuboid(name, v(0.03, 0.05, 0.08));
    body.samples = None;
    body
}

pub fn friction() -> JointFriction {
    JointFriction {
        viscous: 0.02,
        coulomb: 0.05,
        stiction_extra: 0.03,
        stribeck_speed: 0.4,
        falloff_speed: 0.3,
    }
}

/// A scene in which every kind of joint, law and closure is at work, with a body that is no link, on the ground.
pub fn machine(closure: ClosureKind) -> Scene {
    let mut bodies = vec![ground(), cuboid("base", v(0.08, 0.06, 0.03))];
    bodies[1].contact = contact(1e7);
    bodies.extend(["arm", "wrist", "slide", "tip"].map(inert));
    bodies.push(cuboid("box", Vector3::repeat(0.04)));
    bodies[6].pose.position = v(0.4, 0.1, 0.039);
    bodies[6].velocity = v(0.2, -0.1, -0.3);
    let mut base =
        link(1, None, Joint::new(JointKind::Free).placed(pose(v(0.0, 0.1, 0.0), v(0.1, 0.0, 0.4))));
    base.position = Some(JointPosition::Pose(pose(v(0.02, 0.0, 0.031), v(-0.1, 0.05, 0.2))));
    base.rates = vec![0.3, -0.1, -0.4, 0.5, -0.3, 0.8];
    let axis = v(0.3, 0.9, -0.2).normalize();
    let mut arm = link(
        2,
        Some(1),
        Joint::new(JointKind::Revolute { axis })
            .placed(pose(v(0.05, 0.0, 0.03), v(0.2, -0.1, 0.3)))
            .with_offset(pose(v(0.01, 0.02, 0.08), v(0.1, 0.3, -0.2)))
            .with_armature(2e-3),
    );
    arm.joint.laws.friction = friction();
    arm.joint.laws.limits =
        Some(JointLimits { lower: -1.0, upper: 0.35, stiffness: 40.0, damping: 0.3 });
    arm.position = Some(JointPosition::Scalar(0.4));
    arm.rates = vec![1.3];
    let mut wrist = link(
        3,
        Some(2),
        Joint::new(JointKind::Spherical)
            .placed(pose(v(0.0, 0.01, 0.09), v(-0.3, 0.2, 0.1)))
            .with_offset(pose(v(0.0, 0.0, 0.08), v(0.0, 0.2, 0.0)))
            .with_armature(1e-3),
    );
    wrist.joint.laws.friction = friction();
    wrist.position = Some(JointPosition::Rotation(so3::exp(&v(0.4, -0.3, 0.6))));
    wrist.rates = vec![-0.7, 1.1, 0.4];
    let mut slide = link(
        4,
        Some(1),
        Joint::new(JointKind::Prismatic { axis: v(0.0, 0.6, 0.8) })
            .placed(pose(v(-0.05, 0.0, 0.03), v(0.0, 0.3, 0.0)))
            .with_armature(0.05),
    );
    slide.joint.laws.drive = Some(JointDrive {
        effort: 0.4,
        stiffness: 30.0,
        damping: 2.0,
        target: 0.12,
        target_velocity: 0.1,
        effort_limit: Some(50.0),
    });
    slide.position = Some(JointPosition::Scalar(0.07));
    slide.rates = vec![-0.2];
    let tip = link(
        5,
        Some(4),
        Joint::new(JointKind::Fixed).placed(pose(v(0.0, 0.1, 0.02), v(0.3, 0.0, 0.1))),
    );
    let joints = vec![tip, wrist, arm, base, slide];
    let articulation = Articulation::new(&bodies, joints, closures(closure)).unwrap();
    Scene::new(G, bodies).unwrap().with_articulation(articulation).unwrap()
}

/// A closure of any kind between two links of the machine, and one to the world.
pub fn closures(kind: ClosureKind) -> Vec<LoopClosure> {
    let attached = |link, position, turn| Attachment { link, frame: pose(position, turn) };
    let mut spring = LoopClosure::new(
        "spring",
        kind,
        attached(Some(3), v(0.01, 0.0, 0.05), v(0.2, 0.1, 0.0)),
        attached(Some(5), v(0.0, 0.02, 0.05), v(-0.1, 0.3, 0.2)),
    );
    (spring.stiffness, spring.damping) = (60.0, 0.8);
    let mut rope = LoopClosure::new(
        "rope",
        ClosureKind::Ball,
        attached(None, v(0.1, 0.2, 0.5), Vector3::zeros()),
        attached(Some(3), v(0.0, 0.0, 0.02), Vector3::zeros()),
    );
    (rope.stiffness, rope.damping) = (20.0, 0.1);
    vec![spring, rope]
}

/// The scene's numbers with forces on bodies and joints, and targets, of every step.
pub fn parameters(simulator: &Simulator) -> Parameters {
    let dynamic = simulator.scene().dynamic_bodies().count();
    let mut p = simulator.parameters();
    let wave = |i: usize| (1.7 * i as f64).sin();
    p.wrenches = (0..simulator.steps() * dynamic)
        .map(|i| Wrench { force: v(0.02, 0.01 * wave(i), -0.01), torque: v(1e-4, -2e-4, 1e-4) })
        .collect();
    let joints = p.articulation.as_mut().unwrap();
    let count = simulator.steps() * joints.model.dofs();
    joints.efforts = (0..count).map(|i| 0.01 * wave(i + 3)).collect();
    joints.targets = (0..count).map(|i| 0.1 + 0.01 * wave(i)).collect();
    p
}
