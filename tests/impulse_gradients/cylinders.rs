//! Cylinders that slide, lean, roll and stand on boxes.

use crate::case::{Case, HYPERSTATIC, OVERLAP, cube, force, tight};
use crate::common::impulse::{can, ground, scene};
use nalgebra::Vector3;
use osculate_dynamics::Wrench;
use osculate_dynamics::impulse::sensitivity::ImpulseLayout;
use osculate_math::so3;
use std::f64::consts::FRAC_PI_2;

/// A can on a cap slides and spins; its collider is off its centre of mass.
fn standing(anchor_beta: f64) -> Case {
    let mut can = can("can", 1.3, [0.1, 0.05], 0.4);
    can.pose.position.z -= OVERLAP;
    can.velocity = Vector3::new(1.0, 0.3, 0.0);
    can.angular_velocity.z = 1.5;
    Case::new(
        "standing",
        scene(vec![can, ground(0.3)]),
        tight(anchor_beta),
        (0.01, 12),
        Wrench::zero(),
    )
}

/// A can leans on its rim, slides and turns.
fn leaning(anchor_beta: f64) -> Case {
    let mut can = can("can", 1.3, [0.1, 0.05], 0.4);
    can.pose.rotation = so3::exp(&Vector3::new(0.5, 0.3, 0.2));
    can.pose.position.z = 0.09;
    can.velocity = Vector3::new(0.8, -0.3, 0.0);
    can.angular_velocity = Vector3::new(0.5, -0.3, 4.0);
    Case::new(
        "leaning",
        scene(vec![can, ground(0.3)]),
        tight(anchor_beta),
        (0.01, 10),
        force(0.3, 0.2, 0.1),
    )
}

/// A can lies on its side, slides and begins to roll.
fn rolling(anchor_beta: f64) -> Case {
    let mut can = can("can", 1.3, [0.1, 0.05], 0.4);
    can.pose.rotation = so3::exp(&(Vector3::x() * FRAC_PI_2));
    can.pose.position.z = 0.1 - OVERLAP;
    can.velocity.x = 1.5;
    can.angular_velocity.y = 1.0;
    Case::new(
        "rolling",
        scene(vec![can, ground(0.3)]),
        tight(anchor_beta),
        (0.01, 8),
        force(0.3, 0.0, 0.0),
    )
}

/// A can stands on a box that is pushed.
fn carried() -> Case {
    let mut can = can("can", 0.4, [0.04, 0.03], 0.5);
    can.pose.position = Vector3::new(0.01, 0.005, 0.13 - 2.0 * OVERLAP);
    let mut cube = cube();
    cube.pose.position.x = 0.0;
    Case::new(
        "carried",
        scene(vec![cube, can, ground(0.3)]),
        tight(0.2),
        (0.01, 8),
        force(6.0, 0.4, 0.0),
    )
}

/// A can lies across the edge of a box that stands, its inner end lifted: on both, with parallel normals that turn apart as it
/// tilts, friction along the axis would be at a switch.
fn across(anchor_beta: f64) -> Case {
    let mut can = can("can", 0.4, [0.04, 0.08], 0.5);
    can.pose.rotation = so3::exp(&Vector3::new(FRAC_PI_2 - 0.06, 0.0, 0.0))
        * so3::exp(&Vector3::new(0.0, 0.3, 0.0));
    can.pose.position = Vector3::new(0.01, 0.07, 0.14 - 2.0 * OVERLAP);
    can.velocity.x = 0.2;
    let mut cube = cube();
    cube.pose.position.x = 0.0;
    Case::new(
        "across",
        scene(vec![cube, can, ground(0.3)]),
        tight(anchor_beta),
        (0.005, 6),
        force(0.4, 0.0, 0.0),
    )
}

/// A ball falls on the rim of a can that stands.
fn struck() -> Case {
    let mut can = can("can", 1.3, [0.1, 0.05], 0.4);
    can.pose.position.z -= OVERLAP;
    let mut ball = crate::common::impulse::ball("ball", 0.2, 0.03, 0.5);
    ball.pose.position = Vector3::new(0.09, 0.07, 0.115);
    ball.velocity = Vector3::new(-0.3, 0.0, -1.0);
    Case::new(
        "struck",
        scene(vec![can, ball, ground(0.3)]),
        tight(0.0),
        (0.004, 6),
        force(0.4, 0.0, 0.0),
    )
}

fn cases() -> Vec<(Case, &'static [&'static str])> {
    // Flat on a cap there is no derivative by what tilts it: which point of the rim is lowest has no limit.
    const FLAT: &[&str] = &[".rotation", "ground.collider.normal", "impulse.cfm"];
    vec![
        (standing(0.0), FLAT),
        (standing(0.2), FLAT),
        (leaning(0.0), HYPERSTATIC),
        (leaning(0.2), HYPERSTATIC),
        (rolling(0.0), HYPERSTATIC),
        (rolling(0.2), HYPERSTATIC),
        (carried(), FLAT),
        // As the box tilts, its sticking corners contradict each other: differences are good to 9e-7 there.
        (across(0.0), &[".rotation", "ground.collider.normal", "impulse.cfm"]),
        // At a restitution of zero nothing rebounds: one more switch.
        (struck(), &[".rotation", ".normal", ".restitution", "impulse.cfm"]),
    ]
}

#[test]
fn adjoint_is_the_tangent_and_both_are_differences_for_cylinders() {
    for (case, except) in cases() {
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, except);
    }
}

/// Symptom: adjoint and tangent differed by 3e-6 by the centre of the box. Cause: see `adjoint_is_the_tangent_of_boxes_that_collide_on_anchors`.
#[test]
fn adjoint_is_the_tangent_of_a_can_across_an_edge_on_anchors() {
    across(0.2).adjoint_is_tangent();
}

#[test]
fn radius_and_height_of_a_cylinder_are_parameters() {
    let case = leaning(0.0);
    let gradient = case.adjoint_is_tangent();
    let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
    for path in ["can.collider.radius", "can.collider.half_height"] {
        let found = layout.index(path).map(|i| gradient[i].abs());
        assert!(found.is_some_and(|x| x > 1e-3), "{path}: {found:?}");
    }
}
