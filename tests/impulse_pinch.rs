//! A box between jaws that slide on prismatic joints with drives.

mod common;

use common::impulse::block;
use nalgebra::Vector3;
use osculate_contact::impulse::FrictionCombine;
use osculate_contact::impulse::normal::Rigid;
use osculate_dynamics::articulated::{Joint, JointDrive, JointKind};
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseSimulator, ImpulseTrajectory, NormalLaw};
use osculate_dynamics::{Articulation, LinkJoint, OnFailure, Scene};
use osculate_math::{se3::Pose, so3};

const STEPS: usize = 600;

/// Jaws of 5 mm with faces tilted about y, which start 1 mm from a box of 4 cm.
fn gripper(degrees: f64) -> Scene {
    let mut bodies = vec![
        block("left", 0.032, [0.005, 0.02, 0.02], 5.0),
        block("right", 0.032, [0.005, 0.02, 0.02], 5.0),
        block("box", 0.1, [0.02; 3], 0.5),
    ];
    bodies[2].pose.position.z = 0.5;
    let joints = [(0, 1.0), (1, -1.0)].map(|(body, inwards)| {
        let position = Vector3::new(-0.026 * inwards, 0.0, 0.5);
        let rotation = so3::exp(&(Vector3::y() * (degrees.to_radians() * inwards)));
        let mut joint = Joint::new(JointKind::Prismatic { axis: Vector3::x() * inwards })
            .placed(Pose { position, ..Pose::identity() })
            .with_offset(Pose { rotation, ..Pose::identity() });
        let (stiffness, damping, target) = (100.0, 10.0, 0.01);
        joint.laws.drive = Some(JointDrive { stiffness, damping, target, ..Default::default() });
        LinkJoint { body, parent: None, joint, position: None, rates: Vec::new() }
    });
    let articulation = Articulation::new(&bodies, joints.into(), Vec::new()).unwrap();
    let gravity = Vector3::z() * -common::impulse::GRAVITY;
    Scene::new(gravity, bodies).unwrap().with_articulation(articulation).unwrap()
}

fn run(degrees: f64, settings: ImpulseSettings) -> ImpulseTrajectory {
    // A tenth of the mobility of a contact yields, and a twentieth of an overlap is removed in a step.
    let rigid = Rigid { correction: 0.05, softness: 5.2, ..Rigid::default() };
    let settings = ImpulseSettings {
        normal: NormalLaw::Rigid(rigid),
        combine: FrictionCombine::Average,
        ..settings
    };
    let simulator = ImpulseSimulator::new(gripper(degrees), settings, vec![0.005; STEPS]).unwrap();
    simulator.run(&simulator.parameters()).unwrap()
}

/// Rise of the box over the left jaw from 0.5 s to 3 s \[m\].
fn drift(degrees: f64, settings: ImpulseSettings) -> f64 {
    let trajectory = run(degrees, settings);
    let height = |k: usize| {
        let states = trajectory.state(k);
        states[2].center.z - states[0].center.z
    };
    height(STEPS) - height(100)
}

fn cold(anchor_beta: f64) -> ImpulseSettings {
    ImpulseSettings {
        anchor_beta,
        sweeps: 8,
        tolerance: 1e-14,
        warm_start: 0.0,
        on_failure: OnFailure::Continue,
        ..ImpulseSettings::default()
    }
}

#[test]
fn sliding_tilted_jaws_hold_a_box_with_anchors_and_lose_it_with_points_at_few_sweeps() {
    let (points, anchors) = (drift(5.0, cold(0.0)), drift(5.0, cold(0.2)));
    assert!(anchors.abs() < 50e-6, "anchors drift {anchors} m");
    assert!(points.abs() > 150e-6, "points drift {points} m");
}

#[test]
fn solved_friction_of_either_kind_holds_a_box_between_sliding_tilted_jaws() {
    for anchor_beta in [0.0, 0.2] {
        let settings =
            ImpulseSettings { anchor_beta, tolerance: 1e-10, ..ImpulseSettings::default() };
        let drift = drift(5.0, settings);
        assert!(drift.abs() < 50e-6, "β {anchor_beta}: {drift} m");
    }
}
