//! Friction of spin and rolling.

use crate::case::{Case, OVERLAP, tight};
use crate::common::impulse::{ball, ground, scene};
use nalgebra::Vector3;
use osculate_contact::impulse::Condim;
use osculate_dynamics::Wrench;
use osculate_dynamics::impulse::sensitivity::ImpulseLayout;
use osculate_geometry::collider::Collider;

/// A disk on the ground with spin friction, pushed below the limit: `spin` \[rad/s\] stops it from being held at once.
fn twisted(anchor_beta: f64, spin: f64, torque: f64) -> Case {
    // One contact, so that nothing else resists the spin.
    let mut b = ball("ball", 1.3, 0.1, 0.4);
    b.pose.position.z -= OVERLAP;
    b.angular_velocity.z = spin;
    b.impulse.torsional_radius = 0.03;
    let torque = Vector3::new(0.0, -0.1, torque);
    let push = Wrench { force: Vector3::new(1.0, 0.0, 0.0), torque };
    Case::new("twisted", scene(vec![b, ground(0.3)]), tight(anchor_beta), (0.01, 12), push)
}

#[test]
fn spin_friction_has_exact_derivatives_held_and_slipping() {
    for anchor_beta in [0.0, 0.2] {
        let slipping = twisted(anchor_beta, 9.0, 0.02);
        let t = slipping.run();
        assert!(t.last()[0].angular_velocity.z > 0.5, "it still spins");
        let gradient = slipping.adjoint_is_tangent();
        slipping.agrees_with_differences(&gradient, &[]);
        let layout = ImpulseLayout::new(&slipping.simulator, &slipping.parameters);
        assert!(gradient[layout.index("ball.torsional_radius").unwrap()].abs() > 1e-2);
        let held = twisted(anchor_beta, 0.0, 0.02);
        let gradient = held.adjoint_is_tangent();
        held.agrees_with_differences(&gradient, &[]);
        assert_eq!(gradient[layout.index("ball.torsional_radius").unwrap()], 0.0);
    }
}

/// A ball that slides, spins and rolls on one ellipsoid.
fn elliptic(condim: Condim, anchor_beta: f64, moves: bool) -> Case {
    let mut b = ball("ball", 1.3, 0.1, 0.4);
    b.collider = Some(Collider::sphere(Vector3::new(0.006, -0.004, 0.003), 0.1).unwrap());
    b.pose.position.z -= OVERLAP + 0.005;
    b.impulse.condim = condim;
    b.impulse.spin_friction = 0.02;
    b.impulse.rolling_friction = 0.006;
    if moves {
        b.velocity = Vector3::new(0.8, 0.3, 0.0);
        b.angular_velocity = Vector3::new(1.0, 2.0, 6.0);
    }
    let mut plane = ground(0.3);
    plane.collider = Some(Collider::half_space(Vector3::new(0.02, -0.01, 1.0), 0.0).unwrap());
    plane.impulse.spin_friction = 0.01;
    let push = if moves { 0.3 } else { 0.05 };
    let push = Wrench {
        force: Vector3::new(push, 0.1 * push, 0.0),
        torque: Vector3::new(0.0, 0.0, 0.01 * push),
    };
    Case::new("elliptic", scene(vec![b, plane]), tight(anchor_beta), (0.01, 12), push)
}

#[test]
fn spin_and_rolling_on_an_ellipsoid_have_exact_derivatives_slipping() {
    for condim in [Condim::Spinning, Condim::Rolling] {
        for anchor_beta in [0.0, 0.2] {
            let case = elliptic(condim, anchor_beta, true);
            let gradient = case.adjoint_is_tangent();
            case.agrees_with_differences(&gradient, &[]);
            let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
            let at = |path: &str| gradient[layout.index(path).unwrap()];
            assert!(at("ball.mu").abs() > 1e-3 && at("ball.spin_friction").abs() > 1e-3);
            assert_eq!(at("ball.rolling_friction").abs() > 1e-3, condim == Condim::Rolling);
            // The larger of the two acts.
            assert_eq!(at("ground.spin_friction"), 0.0);
        }
    }
}

#[test]
fn coefficients_of_an_ellipsoid_that_sticks_have_exactly_no_effect() {
    let case = elliptic(Condim::Rolling, 0.0, false);
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, &[]);
    let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
    for path in ["ball.mu", "ball.spin_friction", "ball.rolling_friction"] {
        assert_eq!(gradient[layout.index(path).unwrap()], 0.0, "{path}");
    }
}
