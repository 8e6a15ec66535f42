//! Robots from files against other readers of the same files: Pinocchio of URDF, MuJoCo of MJCF
//! (`reference/robots.py` wrote the numbers).
//!
//! Compared are the total mass, the centre of mass, the pose of every link, the mass matrix and the defect of every
//! loop closure, at random positions.

#![expect(clippy::unwrap_used, reason = "a reference file that cannot be read fails the test")]
#![expect(clippy::print_stdout, reason = "the deviations are what the test measures")]

use nalgebra::Vector3;
use osculate_dynamics::articulated::{
    Attachment, Configuration, JointKind, JointPosition, TreeKinematics, mass_matrix,
};
use osculate_dynamics::import::{Description, RobotOptions, read_mjcf, read_urdf};
use osculate_math::se3::Pose;
use osculate_math::so3;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Relative to the largest number of what is compared.
const TOLERANCE: f64 = 1e-12;

#[derive(Deserialize)]
struct Reference {
    engine: String,
    mass: f64,
    /// Joint and index of each degree of freedom.
    dofs: Vec<(String, usize)>,
    samples: Vec<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    /// By joint: a number, a quaternion w x y z, or a position with a quaternion.
    positions: BTreeMap<String, Vec<f64>>,
    center: [f64; 3],
    links: BTreeMap<String, Frame>,
    matrix: Vec<f64>,
    /// By closure: how far its two points are apart, first minus second.
    closures: BTreeMap<String, [f64; 3]>,
}

#[derive(Deserialize)]
struct Frame {
    position: [f64; 3],
    rotation: [f64; 9],
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference/robots")
}

fn load(name: &str) -> (Description, Reference) {
    let path = folder().join(name);
    let robot = if name.ends_with("urdf") {
        read_urdf(&path, &RobotOptions::default()).unwrap()
    } else {
        read_mjcf(&path, &RobotOptions::default()).unwrap()
    };
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
    (robot, serde_json::from_str(&text).unwrap())
}

fn position(kind: &JointKind, x: &[f64]) -> JointPosition {
    let rotation = |q: &[f64]| so3::from_quaternion([q[0], q[1], q[2], q[3]]);
    match kind {
        JointKind::Fixed => JointPosition::None,
        JointKind::Spherical => JointPosition::Rotation(rotation(x)),
        JointKind::Free => JointPosition::Pose(Pose {
            position: Vector3::new(x[0], x[1], x[2]),
            rotation: rotation(&x[3..]),
        }),
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } => JointPosition::Scalar(x[0]),
    }
}

/// The defect of two lists of numbers, relative to the largest of them or to 1.
fn defect(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    found.iter().zip(expected).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs() / scale))
}

/// Largest defects of centre, links, mass matrix and closures.
fn compare(robot: &Description, reference: &Reference, sample: &Sample) -> [f64; 4] {
    let (model, _) = robot.model().unwrap();
    let joints = robot.links.iter().map(|l| match sample.positions.get(&l.joint_name) {
        Some(x) => position(&l.joint.kind, x),
        None => l.joint.kind.neutral(),
    });
    let q = Configuration::of(&model, joints.collect()).unwrap();
    let at = TreeKinematics::new(&model, &q);
    let weighted = robot.links.iter().zip(&at.centers).map(|(l, c)| c * l.inertia.mass);
    let center = weighted.sum::<Vector3<f64>>() / robot.mass();
    let mut links: f64 = 0.0;
    for (name, frame) in &sample.links {
        let pose = at.links[model.find(name).unwrap()];
        links = links.max(defect(pose.position.as_slice(), &frame.position));
        // The reference is in row order.
        links = links.max(defect(pose.rotation.transpose().as_slice(), &frame.rotation));
    }
    let order: Vec<usize> = reference
        .dofs
        .iter()
        .map(|(joint, k)| {
            let link = robot.links.iter().position(|l| l.joint_name == *joint).unwrap();
            model.joint_dofs(link).start + k
        })
        .collect();
    assert_eq!(order.len(), model.dofs());
    let found = mass_matrix(&model, &at);
    let n = order.len();
    let found: Vec<f64> = (0..n * n).map(|i| found[(order[i / n], order[i % n])]).collect();
    let mut closures: f64 = 0.0;
    for (name, expected) in &sample.closures {
        let closure = model.closures().iter().find(|c| c.name == *name).unwrap();
        let place = |a: &Attachment| {
            let link = a.link.map_or_else(Pose::identity, |i| at.links[i]);
            link.transform_point(&a.frame.position)
        };
        let gap = place(&closure.first) - place(&closure.second);
        closures = closures.max(defect(gap.as_slice(), expected));
    }
    [defect(center.as_slice(), &sample.center), links, defect(&found, &sample.matrix), closures]
}

fn agrees(name: &str) {
    let (robot, reference) = load(name);
    let mass = defect(&[robot.mass()], &[reference.mass]);
    assert!(mass < TOLERANCE, "mass {} for {}", robot.mass(), reference.mass);
    for (i, sample) in reference.samples.iter().enumerate() {
        let defects = compare(&robot, &reference, sample);
        let engine = &reference.engine;
        println!(
            "{name} against {engine}, sample {i}: centre {:.1e}, links {:.1e}, mass matrix {:.1e}, closures {:.1e}",
            defects[0], defects[1], defects[2], defects[3]
        );
        assert!(defects.iter().all(|d| *d < TOLERANCE), "{name}, sample {i}: {defects:?}");
    }
}

#[test]
fn arm_of_urdf_has_masses_poses_and_mass_matrix_of_pinocchio() {
    agrees("arm.urdf");
}

#[test]
fn humanoid_of_mjcf_has_masses_poses_and_mass_matrix_of_mujoco() {
    agrees("humanoid.xml");
}

#[test]
fn loop_of_mjcf_has_masses_poses_mass_matrix_and_closures_of_mujoco() {
    agrees("loop.xml");
}
