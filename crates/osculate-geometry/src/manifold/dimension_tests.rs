//! Pullbacks of contacts against jets.

use super::dimensions::{constant, seeded};
use super::{ContactBar, ContactPoint, TwistBar};
use super::{ContactShape, Placed, contacts};
use crate::collider::{Collider, DIMENSIONS};
use crate::distance::MeshDistance;
use crate::mesh::TriangleMesh;
use nalgebra::Vector3;
use osculate_math::{Jet, Scalar, lift, se3::Pose, so3};

fn pose(x: [f64; 3], turn: [f64; 3]) -> Pose {
    Pose { position: x.into(), rotation: so3::exp(&turn.into()) }
}

/// Pairs of every kind of feature.
fn pairs() -> Vec<(&'static str, [Collider; 2], [Pose; 2])> {
    let plane = || Collider::half_space(Vector3::new(0.2, -0.1, 1.5), 0.05).unwrap();
    let ball = || Collider::sphere(Vector3::new(0.01, 0.02, -0.01), 0.1).unwrap();
    let can = || Collider::cylinder(Vector3::new(0.01, -0.02, 0.005), 0.09, 0.06).unwrap();
    let level = pose([0.0; 3], [0.0; 3]);
    let cuboid = || {
        let c = Vector3::new(0.01, -0.02, 0.005);
        Collider::rounded_cuboid(c, Vector3::new(0.1, 0.12, 0.08), 0.01).unwrap()
    };
    let hull = || {
        let mesh = TriangleMesh::cuboid(&Vector3::new(0.1, 0.07, 0.09)).unwrap();
        Collider::mesh(MeshDistance::new(&mesh).unwrap()).scaled(1.1, 0.01).unwrap()
    };
    let at = |z: f64, turn: [f64; 3]| pose([0.02, 0.03, z], turn);
    let tilted = pose([0.01, -0.02, 0.03], [0.1, 0.05, 0.3]);
    vec![
        ("box on plane", [cuboid(), plane()], [at(0.12, [0.02, 0.01, 0.4]), tilted]),
        ("plane under hull", [plane(), hull()], [tilted, at(0.13, [0.02, 0.01, 0.4])]),
        ("ball on plane", [ball(), plane()], [at(0.15, [0.3, 0.1, 0.4]), tilted]),
        ("ball on ball", [ball(), ball()], [at(0.2, [0.3, 0.1, 0.4]), tilted]),
        ("ball on face", [ball(), cuboid()], [at(0.2, [0.3, 0.1, 0.4]), tilted]),
        ("edge under ball", [cuboid(), ball()], [tilted, pose([0.17, 0.03, 0.15], [0.0; 3])]),
        ("box on box", [cuboid(), cuboid()], [at(0.18, [0.1, 0.05, 0.8]), tilted]),
        ("hull on box", [hull(), cuboid()], [at(0.19, [0.1, 0.05, 0.7]), tilted]),
        ("box on hull", [cuboid(), hull()], [at(0.19, [0.1, 0.05, 0.9]), tilted]),
        (
            "edges",
            [cuboid(), hull()],
            [at(0.29, [0.8, 0.0, 0.0]), pose([0.0; 3], [0.0, 0.75, 0.0])],
        ),
        ("can on plane", [can(), plane()], [at(0.15, [0.3, 0.1, 0.4]), tilted]),
        ("flat can on plane", [can(), plane()], [pose([0.1, 0.2, 0.13], [0.0; 3]), level]),
        ("ball on rim", [ball(), can()], [pose([0.1, 0.05, 0.14], [0.0; 3]), tilted]),
        ("ball on cap", [ball(), can()], [pose([0.02, 0.05, 0.16], [0.0; 3]), tilted]),
        ("ball on side", [ball(), can()], [pose([0.12, 0.12, 0.0], [0.0; 3]), tilted]),
        ("can on box", [can(), cuboid()], [pose([0.02, 0.05, 0.14], [0.02, 0.01, 0.0]), level]),
        ("side on edge", [can(), cuboid()], [pose([0.12, 0.0, 0.15], [1.4, 0.3, 0.0]), level]),
        ("corner on cap", [cuboid(), can()], [at(0.19, [0.7, 0.5, 0.0]), level]),
    ]
}

/// The number whose derivatives are pulled back.
fn number<T: Scalar>(p: &ContactPoint<T>, bar: &ContactBar) -> T {
    let middle = (p.point_a + p.point_b).map(|x| x * 0.5);
    middle.dot(&lift(&bar.middle)) + p.normal.dot(&lift(&bar.normal)) + p.gap * bar.gap
}

#[test]
fn pullback_is_the_derivative_by_jets_for_every_feature_pose_and_dimension() {
    let bar = ContactBar {
        middle: Vector3::new(0.3, -0.7, 0.4),
        normal: Vector3::new(-0.2, 0.5, 0.9),
        gap: 0.8,
    };
    let mut kinds = std::collections::BTreeSet::new();
    for (name, colliders, poses) in pairs() {
        let shapes = colliders.each_ref().map(|c| ContactShape::of_collider(c).unwrap());
        let placed = |i: usize| Placed { shape: &shapes[i], pose: &poses[i] };
        let found = contacts(placed(0), placed(1), 0.2);
        assert!(!found.is_empty(), "{name}");
        for contact in found {
            kinds.insert(contact.id.0 << 1 >> 58);
            let point = contact.evaluate(&poses[0], &poses[1]);
            let pulled = contact.pull(poses.each_ref(), &point, &bar);
            let middle = (point.point_a + point.point_b) * 0.5;
            for body in 0..2 {
                let TwistBar { translation, rotation, .. } = pulled[body];
                let mut jets = poses.each_ref().map(constant);
                jets[body] = seeded(&poses[body]);
                let by = number(&contact.lift().evaluate(&jets[0], &jets[1]), &bar).eps;
                let arm = middle - poses[body].position;
                let turn = rotation + arm.cross(&translation);
                for k in 0..3 {
                    assert!((by[k] - translation[k]).abs() < 1e-12, "{name}, {body}");
                    assert!((by[3 + k] - turn[k]).abs() < 1e-12, "{name}, {body}");
                }
                let d = colliders[body].dimensions();
                let seeds = std::array::from_fn(|j| Jet::<DIMENSIONS>::variable(d[j], j));
                let mut lifted = colliders.each_ref().map(Collider::lift);
                lifted[body] = colliders[body].with_dimensions(&seeds);
                let [a, b] = lifted.each_ref().map(Some);
                let pose = |i: usize| poses[i].lift::<Jet<DIMENSIONS>>();
                let moved = contact.of_colliders([a, b]).evaluate(&pose(0), &pose(1));
                assert!((moved.gap.re - point.gap).abs() < 1e-15, "{name}");
                let by = number(&moved, &bar).eps;
                let dimensions = contact.pull_dimensions(
                    body,
                    &colliders[body],
                    &poses[body],
                    &point,
                    &pulled[body],
                );
                for j in 0..DIMENSIONS {
                    let (x, y) = (by[j], dimensions[j]);
                    assert!((x - y).abs() < 1e-12, "{name}, {body}: {j} is {x}, pulled {y}");
                }
            }
        }
    }
    assert_eq!(kinds.len(), 9, "kinds of features seen: {kinds:?}");
}
