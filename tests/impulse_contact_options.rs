//! Softness that follows the mobility of a contact, and friction that gaps leave out.

#![allow(unreachable_pub, reason = "modules of one test")]

#[path = "common/mod.rs"]
mod common;

use common::impulse::{GRAVITY, ball, ground, run, scene};
use nalgebra::Vector3;
use osculate_dynamics::Wrench;
use osculate_dynamics::impulse::{FrictionPoint, ImpulseSettings};

#[test]
fn regularised_contact_gives_way_alike_under_light_and_heavy_bodies() {
    // At rest (β/h) φ + g W N h = 0 with W = 1/m, N = m g₀.
    let (part, h) = (0.1, 0.004);
    let wanted = -part * GRAVITY * h * h / 0.2;
    let settings = ImpulseSettings { regularization: part, ..ImpulseSettings::default() };
    for mass in [0.01, 1.0, 100.0] {
        let scene = scene(vec![ball("ball", mass, 0.1, 0.5), ground(0.5)]);
        let t = run(&scene, settings, (h, 400), &[Wrench::zero()]);
        let overlap = t.last()[0].center.z - 0.1;
        assert!((overlap - wanted).abs() < 1e-6 * wanted.abs(), "{mass} kg: {overlap} {wanted}");
    }
}

#[test]
fn friction_is_left_out_of_gaps_that_are_too_wide() {
    // Falls 4 mm in the first step, across a gap of 2 mm.
    let mut falling = ball("ball", 1.0, 0.1, 0.5);
    falling.pose.position.z += 2e-3;
    falling.velocity = Vector3::new(0.3, 0.0, -1.0);
    let scene = scene(vec![falling, ground(0.5)]);
    for anchor_beta in [0.0, 0.2] {
        for (friction_gap, rubs) in [(f64::INFINITY, true), (2.1e-3, true), (1.9e-3, false)] {
            let settings =
                ImpulseSettings { anchor_beta, friction_gap, ..ImpulseSettings::default() };
            let t = run(&scene, settings, (0.004, 2), &[Wrench::zero()]);
            let [first, second] = [1, 2].map(|k| t.state(k)[0]);
            assert!(t.records[0].contacts[0].normal > 0.0, "it lands in the first step");
            assert_eq!(first.velocity.x < 0.3, rubs, "{anchor_beta} {friction_gap}");
            // Once it touches there is friction in any case.
            assert!(second.velocity.x < 0.3 && second.velocity.z.abs() < 1e-9);
        }
    }
}

#[test]
fn friction_across_a_gap_acts_where_it_is_told() {
    // Lands across a gap of 2 mm, with no spin: its own point is 0.1 m below the centre, the middle 0.101 m.
    let mut falling = ball("ball", 1.0, 0.1, 0.5);
    falling.pose.position.z += 2e-3;
    falling.velocity = Vector3::new(3.0, 0.0, -1.0);
    let scene = scene(vec![falling, ground(0.5)]);
    for (friction_point, arm) in [(FrictionPoint::Middle, 0.101), (FrictionPoint::Own, 0.1)] {
        let settings = ImpulseSettings { anchor_beta: 0.0, friction_point, ..Default::default() };
        let t = run(&scene, settings, (0.004, 1), &[Wrench::zero()]);
        let s = &t.last()[0];
        let (impulse, inertia) = (3.0 - s.velocity.x, 0.4 * 0.1 * 0.1);
        assert!(impulse > 0.1);
        assert!(
            (s.angular_velocity.y * inertia - arm * impulse).abs() < 1e-12,
            "{friction_point:?}"
        );
    }
}
