use super::*;
use osculate_math::{Jet, so3};

fn pose(p: [f64; 3], turn: [f64; 3]) -> Pose {
    Pose { position: p.into(), rotation: so3::exp(&turn.into()) }
}

fn find(a: (&ContactShape, &Pose), b: (&ContactShape, &Pose), margin: f64) -> Vec<Contact> {
    contacts(Placed { shape: a.0, pose: a.1 }, Placed { shape: b.0, pose: b.1 }, margin)
}

fn ground() -> ContactShape {
    ContactShape::HalfSpace(Plane { normal: Vector3::z(), offset: 0.0 })
}

/// Pairs of every kind of feature, with poses where they touch.
fn catalogue() -> Vec<(&'static str, [ContactShape; 2], [Pose; 2])> {
    let cube = ContactShape::cuboid(&Vector3::repeat(0.1));
    let slab = ContactShape::cuboid(&Vector3::new(0.3, 0.2, 0.05));
    let ball = ContactShape::sphere(Vector3::new(0.01, 0.0, 0.0), 0.1);
    let rod = ContactShape::capsule([Vector3::x() * -0.2, Vector3::x() * 0.2], 0.05);
    let round = ContactShape::Convex {
        core: Polytope::cuboid(&Vector3::zeros(), &Vector3::repeat(0.08)),
        radius: 0.02,
    };
    let o = || pose([0.0; 3], [0.0; 3]);
    let tilt = || pose([0.01, 0.02, 0.099], [0.02, -0.01, 0.3]);
    let mut all = vec![
        ("box on plane", [cube.clone(), ground()], [tilt(), o()]),
        ("ball on plane", [ball.clone(), ground()], [tilt(), pose([0.0; 3], [0.1, 0.0, 0.0])]),
        ("rod on plane", [rod.clone(), ground()], [pose([0.0, 0.0, 0.049], [0.0, 0.01, 0.2]), o()]),
        (
            "box on slab",
            [cube.clone(), slab.clone()],
            [pose([0.1, 0.15, 0.149], [0.01, 0.02, 0.5]), o()],
        ),
        (
            "slab on box",
            [slab.clone(), cube.clone()],
            [pose([0.0, 0.0, 0.149], [0.01, 0.02, 0.5]), o()],
        ),
        (
            "rounded boxes",
            [round.clone(), round],
            [pose([0.05, 0.0, 0.199], [0.0, 0.01, 0.2]), o()],
        ),
        (
            "ball above face",
            [ball.clone(), cube.clone()],
            [pose([0.03, 0.0, 0.195], [0.0; 3]), o()],
        ),
        ("ball inside box", [ball.clone(), cube.clone()], [pose([0.0, 0.02, 0.05], [0.0; 3]), o()]),
        ("ball at edge", [ball.clone(), cube.clone()], [pose([0.15, 0.0, 0.16], [0.0; 3]), o()]),
        ("ball at corner", [ball.clone(), cube.clone()], [pose([0.14, 0.15, 0.15], [0.0; 3]), o()]),
        ("two balls", [ball.clone(), ball], [pose([0.1, 0.1, 0.12], [0.3, 0.0, 0.0]), o()]),
        (
            "crossed rods",
            [rod.clone(), rod.clone()],
            [pose([0.02, 0.01, 0.099], [0.0, 0.1, 1.3]), o()],
        ),
        ("rods end to end", [rod.clone(), rod], [pose([0.49, 0.01, 0.02], [0.0, 0.0, 0.1]), o()]),
        (
            "edge on edge",
            [cube.clone(), cube],
            [
                pose([0.005, 0.0, 0.282], [0.0, std::f64::consts::FRAC_PI_4, 0.0]),
                pose([0.0; 3], [std::f64::consts::FRAC_PI_4, 0.0, 0.0]),
            ],
        ),
    ];
    all.extend(cans());
    all
}

/// The same with a cylinder.
fn cans() -> Vec<(&'static str, [ContactShape; 2], [Pose; 2])> {
    let cube = ContactShape::cuboid(&Vector3::repeat(0.1));
    let slab = ContactShape::cuboid(&Vector3::new(0.3, 0.2, 0.05));
    let ball = ContactShape::sphere(Vector3::new(0.01, 0.0, 0.0), 0.1);
    let can = Collider::cylinder(Vector3::x() * 0.01, 0.1, 0.05).unwrap();
    let can = ContactShape::of_collider(&can).unwrap();
    let o = || pose([0.0; 3], [0.0; 3]);
    vec![
        ("flat can on plane", [can.clone(), ground()], [pose([0.0, 0.0, 0.05], [0.0; 3]), o()]),
        ("tilted can", [can.clone(), ground()], [pose([0.0, 0.0, 0.1], [0.0, 0.6, 0.2]), o()]),
        (
            "lying can",
            [can.clone(), ground()],
            [pose([0.0, 0.0, 0.0999], [std::f64::consts::FRAC_PI_2, 0.0, 0.2]), o()],
        ),
        ("can on slab", [can.clone(), slab.clone()], [pose([0.05, 0.0, 0.0999], [0.0; 3]), o()]),
        (
            "can over an edge",
            [can.clone(), slab.clone()],
            [pose([0.25, 0.02, 0.0999], [0.0; 3]), o()],
        ),
        (
            "can lying over an edge",
            [can.clone(), slab.clone()],
            [pose([0.0, 0.18, 0.1499], [std::f64::consts::FRAC_PI_2, 0.0, 0.0]), o()],
        ),
        (
            "rim on edge",
            [can.clone(), slab.clone()],
            [pose([0.33, 0.02, 0.1377], [0.5, 0.0, 0.0]), o()],
        ),
        ("box on can", [cube.clone(), can.clone()], [pose([0.03, 0.0, 0.1499], [0.0; 3]), o()]),
        (
            "corner on cap",
            [cube.clone(), can.clone()],
            [pose([0.02, 0.01, 0.05 + 0.1729], [0.615, 0.785, 0.0]), o()],
        ),
        ("ball on rim", [ball.clone(), can.clone()], [pose([0.15, 0.05, 0.13], [0.0; 3]), o()]),
        ("ball on side", [ball.clone(), can.clone()], [pose([0.19, 0.05, 0.0], [0.0; 3]), o()]),
        ("ball in cap", [ball.clone(), can], [pose([0.02, 0.05, 0.14], [0.0; 3]), o()]),
    ]
}

#[test]
fn every_contact_lies_on_both_bodies_along_its_normal() {
    for (name, [a, b], [pa, pb]) in catalogue() {
        let found = find((&a, &pa), (&b, &pb), 1e-3);
        assert!(!found.is_empty(), "{name} does not touch");
        for contact in &found {
            let c = contact.evaluate(&pa, &pb);
            assert!((c.normal.norm() - 1.0).abs() < 1e-14, "{name}");
            let along = c.point_a - c.point_b - c.normal * c.gap;
            assert!(along.norm() < 1e-14, "{name}: points are {:?} off the normal", along);
            assert!(c.gap < 1e-3 && c.gap > -0.2, "{name}: gap {}", c.gap);
        }
        // Ids tell contacts apart.
        let mut ids: Vec<_> = found.iter().map(|c| c.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), found.len(), "{name}");
    }
}

#[test]
fn exchange_of_the_bodies_reverses_normals_and_keeps_gaps() {
    for (name, [a, b], [pa, pb]) in catalogue() {
        let there = find((&a, &pa), (&b, &pb), 1e-3);
        let back = find((&b, &pb), (&a, &pa), 1e-3);
        assert_eq!(there.len(), back.len(), "{name}");
        for contact in &there {
            let c = contact.evaluate(&pa, &pb);
            let same = back.iter().map(|d| d.evaluate(&pb, &pa)).any(|d| {
                (d.normal + c.normal).norm() < 1e-2
                    && (d.gap - c.gap).abs() < 1e-4
                    && (d.point_a - c.point_b).norm() < 5e-3
            });
            assert!(same, "{name}: no counterpart of {c:?}");
        }
    }
}

#[test]
fn a_common_motion_moves_contacts_along() {
    let moved = pose([0.3, -1.0, 0.7], [1.0, 0.4, -0.6]);
    let by = |p: &Pose| Pose {
        position: moved.transform_point(&p.position),
        rotation: moved.rotation * p.rotation,
    };
    for (name, [a, b], [pa, pb]) in catalogue() {
        let (here, there) =
            (find((&a, &pa), (&b, &pb), 1e-3), find((&a, &by(&pa)), (&b, &by(&pb)), 1e-3));
        assert_eq!(here.len(), there.len(), "{name}");
        for (c, d) in here.iter().zip(&there) {
            assert_eq!(c.id, d.id, "{name}");
            let (c, d) = (c.evaluate(&pa, &pb), d.evaluate(&by(&pa), &by(&pb)));
            assert!((c.gap - d.gap).abs() < 1e-13, "{name}");
            assert!((moved.transform_point(&c.point_a) - d.point_a).norm() < 1e-13, "{name}");
        }
    }
}

/// The ten numbers of a contact against increments of both poses.
fn numbers<const N: usize>(contact: &Contact, poses: &[Pose; 2], x: [Jet<N>; 12]) -> [Jet<N>; 10] {
    let v = |i: usize| Vector3::new(x[i], x[i + 1], x[i + 2]);
    let a = poses[0].lift::<Jet<N>>().incremented(&v(0), &v(3));
    let b = poses[1].lift::<Jet<N>>().incremented(&v(6), &v(9));
    let c = contact.lift::<Jet<N>>().evaluate(&a, &b);
    let (p, q, n) = (c.point_a, c.point_b, c.normal);
    [p.x, p.y, p.z, q.x, q.y, q.z, n.x, n.y, n.z, c.gap]
}

#[test]
fn contacts_have_exact_derivatives_in_both_poses() {
    for (name, [a, b], poses) in catalogue() {
        for contact in find((&a, &poses[0]), (&b, &poses[1]), 1e-3) {
            let jets =
                numbers::<12>(&contact, &poses, std::array::from_fn(|i| Jet::variable(0.0, i)));
            for i in 0..12 {
                let at = |h: f64| {
                    let x = std::array::from_fn(|j| Jet::constant(if i == j { h } else { 0.0 }));
                    numbers::<1>(&contact, &poses, x).map(|y| y.re)
                };
                let h = 1e-4;
                let ends = [at(h), at(-h), at(h / 2.0), at(-h / 2.0)];
                for (k, jet) in jets.iter().enumerate() {
                    let coarse = (ends[0][k] - ends[1][k]) / (2.0 * h);
                    let fine = (ends[2][k] - ends[3][k]) / h;
                    let slope = (fine * 4.0 - coarse) / 3.0;
                    let scale = 1.0 + slope.abs();
                    assert!(
                        (jet.eps[i] - slope).abs() < 1e-7 * scale,
                        "{name}, {:?}: d{k}/d{i} is {} by jets and {slope} by differences",
                        contact.feature(),
                        jet.eps[i]
                    );
                }
            }
            let real = contact.evaluate(&poses[0], &poses[1]);
            assert!((jets[9].re - real.gap).abs() < 1e-16);
        }
    }
}

#[test]
fn gap_changes_with_the_relative_velocity_of_the_points_along_the_normal() {
    // dg/dt = n·(u_a − u_b) for a rigid motion of two bodies: what a row of the stepper assumes.
    for (name, [a, b], poses) in catalogue() {
        for contact in find((&a, &poses[0]), (&b, &poses[1]), 1e-3) {
            let c = contact.evaluate(&poses[0], &poses[1]);
            let jets =
                numbers::<12>(&contact, &poses, std::array::from_fn(|i| Jet::variable(0.0, i)));
            for body in 0..2 {
                let sign = if body == 0 { 1.0 } else { -1.0 };
                // The force acts along n, so any point of the line of the normal has the same row.
                let arm = [c.point_a, c.point_b][body] - poses[body].position;
                let (linear, angular) = (c.normal * sign, arm.cross(&c.normal) * sign);
                for i in 0..3 {
                    let at = 6 * body + i;
                    let clipped =
                        matches!(contact.feature(), Feature::CutLine(..) | Feature::PlanePoint(..));
                    let tolerance = if clipped { 0.05 } else { 1e-12 };
                    assert!((jets[9].eps[at] - linear[i]).abs() < tolerance, "{name}");
                    assert!((jets[9].eps[at + 3] - angular[i]).abs() < tolerance, "{name}");
                }
            }
        }
    }
}

#[test]
fn aligned_boxes_touch_at_the_four_corners_they_share() {
    let cube = ContactShape::cuboid(&Vector3::repeat(0.1));
    let small = ContactShape::cuboid(&Vector3::repeat(0.05));
    for (top, height) in [(&cube, 0.2), (&small, 0.15)] {
        let found = find(
            (top, &pose([0.0, 0.0, height], [0.0; 3])),
            (&cube, &pose([0.0; 3], [0.0; 3])),
            1e-6,
        );
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|c| matches!(c.feature(), Feature::PointPlane(..))));
    }
}

#[test]
fn hull_of_the_corners_of_a_box_is_the_box() {
    let cube = Polytope::cuboid(&Vector3::zeros(), &Vector3::new(0.1, 0.2, 0.3));
    let mut points = cube.vertices().to_vec();
    points.push(Vector3::new(0.01, 0.02, 0.03));
    let hull = Polytope::hull(&points).unwrap();
    assert_eq!((hull.vertices().len(), hull.faces(), hull.edges.len()), (8, 6, 12));
    for (face, plane) in hull.faces.iter().map(|f| (f, &f.plane)) {
        assert_eq!(face.corners.len(), 4);
        let inside = hull.vertices().iter().all(|v| plane.normal.dot(v) <= plane.offset + 1e-15);
        assert!(inside);
    }
    assert!(Polytope::hull(&points[..3]).is_err());
    let flat: Vec<_> = (0..6).map(|i| Vector3::new(i as f64, (i * i) as f64, 0.0)).collect();
    assert!(Polytope::hull(&flat).is_err());
}

#[test]
fn faces_of_boxes_and_prisms_look_outwards() {
    let bodies = [
        Polytope::cuboid(&Vector3::new(0.3, 0.1, -0.2), &Vector3::new(0.1, 0.2, 0.3)),
        Polytope::prism(0.1, 0.05, 12).unwrap(),
        Polytope::prism(0.1, 0.05, 3).unwrap(),
    ];
    for body in bodies {
        for face in &body.faces {
            let outside = |v: &Vector3<f64>| face.plane.normal.dot(v) - face.plane.offset;
            assert!(body.vertices.iter().all(|v| outside(v) < 1e-15));
            assert!(outside(&body.center) < -0.01);
        }
        // Euler's formula.
        assert_eq!(body.vertices.len() + body.faces.len(), body.edges.len() + 2);
    }
    assert!(Polytope::prism(0.1, 0.1, 2).is_err());
    assert!(Polytope::prism(0.0, 0.1, 8).is_err());
}

#[test]
fn bodies_beyond_the_margin_have_no_contacts() {
    for (name, [a, b], [mut pa, pb]) in catalogue() {
        pa.position.z += 1.0;
        assert!(find((&a, &pa), (&b, &pb), 1e-3).is_empty(), "{name}");
    }
}
