//! Sliding and spin of a patch on one surface, and the radius of spin friction.

use crate::case::{Case, OVERLAP, cube, tight};
use crate::common::impulse::{GRAVITY, ball, ground, scene};
use crate::joints::{at, hinge, inert, jointed, link, v};
use osculate_dynamics::articulated::{Joint, JointKind};
use osculate_dynamics::impulse::sensitivity::{ImpulseLayout, Linearisation, SwitchKind};
use osculate_dynamics::impulse::{ImpulseSettings, Torsion};
use osculate_dynamics::{Scene, Wrench};
use osculate_geometry::collider::Collider;

const SURFACES: [Torsion; 2] = [Torsion::Ellipsoid, Torsion::LimitSurface];

fn with(torsion: Torsion, anchor_beta: f64) -> ImpulseSettings {
    // The limit surface is solved to 64 ε of its terms.
    ImpulseSettings { torsion, tolerance: 1e-13, ..tight(anchor_beta) }
}

fn entry(case: &Case, gradient: &[f64], path: &str) -> f64 {
    gradient[ImpulseLayout::new(&case.simulator, &case.parameters).index(path).unwrap()]
}

/// A ball, its collider off its centre, pushed over a tilted plane.
///
/// * `spin`: ratio of `ω` \[rad/s\] and of the speed of sliding.
fn pushed(settings: ImpulseSettings, (speed, spin): (f64, f64), patch: f64) -> Case {
    let mut b = ball("ball", 1.3, 0.1, 0.4);
    b.collider = Some(Collider::sphere(v(0.006, -0.004, 0.003), 0.1).unwrap());
    b.pose.position.z -= OVERLAP + 0.005;
    b.velocity = v(0.8, 0.3, 0.0) * speed;
    b.angular_velocity = v(1.0 * speed, 2.0 * speed, spin);
    // Less than what the overlap brings in every step.
    b.impulse.torsional_radius = if patch > 0.0 { 1e-3 } else { 0.02 };
    b.impulse.torsional_patch_radius = patch;
    let mut plane = ground(0.3);
    plane.collider = Some(Collider::half_space(v(0.02, -0.01, 1.0), 0.0).unwrap());
    plane.impulse.torsional_radius = 0.5 * b.impulse.torsional_radius;
    let push = if speed > 0.0 { 0.3 } else { 0.05 };
    let push = Wrench { force: v(push, 0.1 * push, 0.0), torque: v(0.0, 0.0, 0.01 * push) };
    Case::new("pushed", scene(vec![b, plane]), settings, (0.01, 10), push)
}

#[test]
fn one_surface_has_exact_derivatives_mostly_sliding_and_mostly_spinning() {
    for torsion in SURFACES {
        for anchor_beta in [0.0, 0.2] {
            for motion in [(1.0, 6.0), (0.2, 40.0)] {
                let case = pushed(with(torsion, anchor_beta), motion, 0.0);
                let gradient = case.adjoint_is_tangent();
                case.agrees_with_differences(&gradient, &[]);
                for path in ["ball.mu", "ball.torsional_radius"] {
                    let found = entry(&case, &gradient, path);
                    assert!(found.abs() > 1e-3, "{torsion:?} {path}: {found:e}");
                }
                // The larger of the two acts.
                assert_eq!(entry(&case, &gradient, "ground.torsional_radius"), 0.0);
            }
        }
    }
}

#[test]
fn numbers_of_a_surface_that_sticks_have_exactly_no_effect() {
    for torsion in SURFACES {
        for anchor_beta in [0.0, 0.2] {
            let case = pushed(with(torsion, anchor_beta), (0.0, 0.0), 0.0);
            let gradient = case.adjoint_is_tangent();
            case.agrees_with_differences(&gradient, &[]);
            for path in ["ball.mu", "ball.torsional_radius"] {
                assert_eq!(entry(&case, &gradient, path), 0.0, "{torsion:?} {path}");
            }
        }
    }
}

#[test]
fn patch_that_slides_and_spins_has_exact_derivatives_at_its_anchor() {
    for torsion in SURFACES {
        let mut cube = cube();
        cube.velocity = v(0.25, 0.1, 0.0);
        cube.angular_velocity.z = 3.0;
        cube.impulse.torsional_radius = 0.05;
        let push = Wrench { force: v(1.0, 0.3, 0.0), torque: v(0.01, -0.02, 0.03) };
        let scene = scene(vec![cube, ground(0.3)]);
        let case = Case::new("patch", scene, with(torsion, 0.2), (0.01, 8), push);
        let t = case.run();
        assert!(t.records.iter().all(|r| r.anchors.len() == 1 && r.contacts.len() == 4));
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, crate::case::HYPERSTATIC);
        assert!(entry(&case, &gradient, "cube.torsional_radius").abs() > 1e-3);
    }
}

#[test]
fn radius_that_grows_with_the_overlap_has_exact_derivatives() {
    // √(2 mm × 0.5 m) = 32 mm.
    for torsion in [Torsion::Linear, Torsion::Ellipsoid, Torsion::LimitSurface] {
        for anchor_beta in [0.0, 0.2] {
            // The linear budget leaves spin nothing of a patch that slides.
            let motion = if torsion == Torsion::Linear { (0.0, 4.0) } else { (0.2, 40.0) };
            let case = pushed(with(torsion, anchor_beta), motion, 0.5);
            let gradient = case.adjoint_is_tangent();
            case.agrees_with_differences(&gradient, &[]);
            assert!(entry(&case, &gradient, "ball.torsional_patch_radius").abs() > 1e-4);
            assert_eq!(entry(&case, &gradient, "ball.torsional_radius"), 0.0);
        }
    }
}

/// A ball on two slides, a lift and a hinge, pressed on the ground by its weight.
fn head(torsional_radius: f64) -> Scene {
    let slide = |axis| Joint::new(JointKind::Prismatic { axis });
    let mut ball = inert("head", 0.7);
    ball.collider = Some(Collider::sphere(v(0.006, -0.004, 0.003), 0.1).unwrap());
    ball.contact.friction = 0.4;
    ball.impulse.torsional_radius = torsional_radius;
    let bodies =
        vec![inert("along", 0.3), inert("across", 0.3), inert("lift", 0.3), ball, ground(0.5)];
    let joints = vec![
        link(0, None, slide(v(1.0, 0.1, 0.0).normalize()).with_armature(0.02), 0.0, 0.3),
        link(1, Some(0), slide(v(0.0, 1.0, 0.05).normalize()), 0.0, -0.2),
        link(
            2,
            Some(1),
            slide(v(0.03, 0.0, 1.0).normalize()).placed(at(0.0, 0.0, 0.095)),
            0.0,
            0.0,
        ),
        link(3, Some(2), hinge(v(0.02, 0.05, 1.0)), 0.2, 8.0),
    ];
    jointed(bodies, joints, Vec::new())
}

#[test]
fn surface_of_a_link_has_exact_derivatives() {
    for torsion in SURFACES {
        for anchor_beta in [0.0, 0.2] {
            let push = Wrench { force: v(0.2, -0.3, -GRAVITY), torque: v(0.0, 0.0, 0.01) };
            let case = Case::new("head", head(0.04), with(torsion, anchor_beta), (0.004, 8), push);
            let t = case.run();
            assert!(t.records.iter().all(|r| r.contacts[0].normal > 0.0), "it presses");
            let gradient = case.adjoint_is_tangent();
            case.agrees_with_differences(&gradient, &[".friction", ".stiction"]);
            for path in ["head.mu", "head.torsional_radius", "joint.along.armature"] {
                let found = entry(&case, &gradient, path);
                assert!(found.abs() > 1e-5, "{torsion:?} {path}: {found:e}");
            }
        }
    }
}

#[test]
fn switches_of_a_surface_are_seen_where_friction_nears_it() {
    for torsion in SURFACES {
        // Held at the point of contact, by a torque that is `part` of what pure spin allows.
        let of = |part: f64| {
            let mut b = ball("ball", 1.0, 0.1, 0.5);
            b.impulse.torsional_radius = 0.04;
            let torque = v(0.0, 0.0, part * 0.04 * 0.5 * GRAVITY);
            let push = Wrench { force: v(0.0, 0.0, 0.0), torque };
            Case::new("switch", scene(vec![b, ground(0.5)]), with(torsion, 0.0), (0.01, 1), push)
        };
        for part in [0.5, 0.99, 0.999] {
            let case = of(part);
            let t = case.run();
            let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
            let near = lin.switches(1.0);
            let nearest = near.iter().find(|s| s.kind == SwitchKind::Slipping).unwrap();
            assert!((nearest.distance - (1.0 - part)).abs() < 1e-9, "{torsion:?} {nearest:?}");
        }
        let case = of(1.001);
        let t = case.run();
        let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
        assert!(lin.switches(0.01).iter().any(|s| s.kind == SwitchKind::Sticking));
    }
}
