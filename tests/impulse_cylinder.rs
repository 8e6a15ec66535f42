//! Laws of motion of cylinders in the impulse model.

#![allow(missing_docs, reason = "the names of tests say it")]

mod common;

use common::impulse::{GRAVITY, block, can, ground, push, run, scene};
use nalgebra::Vector3;
use osculate_dynamics::OnFailure;
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseSimulator};
use osculate_math::so3;
use std::f64::consts::FRAC_PI_2;

const SIZE: [f64; 2] = [0.06, 0.02];

fn settings() -> ImpulseSettings {
    ImpulseSettings { sweeps: 100_000, ..ImpulseSettings::default() }
}

#[test]
fn disc_slides_as_far_as_coulomb_says() {
    let (h, mu, speed) = (0.002, 0.5, 1.5);
    let mut disc = can("disc", 0.4, SIZE, mu);
    disc.velocity.x = speed;
    let t = run(&scene(vec![disc, ground(mu)]), settings(), (h, 250), &[]);
    let deceleration = mu * GRAVITY * h;
    let way: f64 = (1..=250).map(|k| (speed - deceleration * f64::from(k)).max(0.0) * h).sum();
    let end = &t.last()[0];
    assert!((end.center.x - way).abs() < 1e-9, "{} instead of {way}", end.center.x);
    assert!(end.center.yz().norm() - 0.02 < 1e-9 && end.velocity.norm() < 1e-12);
}

#[test]
fn disc_that_spins_in_place_is_slowed_by_friction_at_its_rim_and_does_not_walk() {
    // Three points at the rim: torque μ N R. Anchors, which are two, would push it aside.
    let (h, mu, spin) = (0.002, 0.5, 30.0);
    let mut disc = can("disc", 0.4, SIZE, mu);
    disc.angular_velocity.z = spin;
    let settings = ImpulseSettings { anchor_beta: 0.0, ..settings() };
    let t = run(&scene(vec![disc, ground(mu)]), settings, (h, 50), &[]);
    // I = m R²/2.
    let exact = spin - 2.0 * mu * GRAVITY / SIZE[0] * 0.1;
    let end = &t.last()[0];
    assert!((end.angular_velocity.z - exact).abs() < 1e-9, "{}", end.angular_velocity.z);
    assert!(end.center.xy().norm() < 1e-12);
}

#[test]
fn cylinder_on_its_side_rolls_on_and_a_sliding_one_comes_to_two_thirds_of_its_speed() {
    // Without anchors: their memory follows a rolling contact to second order, here to 3e-5 of the speed.
    let settings = ImpulseSettings { anchor_beta: 0.0, ..settings() };
    let (h, mu, speed) = (0.002, 0.5, 1.0);
    for (rolls, last) in [(1.0, 1.0), (0.0, 2.0 / 3.0)] {
        let mut disc = can("disc", 0.4, SIZE, mu);
        disc.pose.rotation = so3::exp(&(Vector3::x() * FRAC_PI_2));
        disc.pose.position.z = SIZE[0];
        disc.velocity.x = speed;
        disc.angular_velocity.y = rolls * speed / SIZE[0];
        let t = run(&scene(vec![disc, ground(mu)]), settings, (h, 300), &[]);
        let end = &t.last()[0];
        assert!((end.velocity.x - last * speed).abs() < 1e-9, "{}", end.velocity.x);
        assert!((end.angular_velocity.y * SIZE[0] - end.velocity.x).abs() < 1e-9);
        assert!((end.center.z - SIZE[0]).abs() < 1e-9 && end.center.y.abs() < 1e-9);
    }
}

#[test]
fn can_tips_where_the_push_leaves_its_base_in_every_direction() {
    // m g R = F z: held by the lowest point of the rim between the three points that it stands on.
    let (radius, half) = (0.05, 0.1);
    for k in 0..8 {
        let along = so3::exp(&(Vector3::z() * (0.4 + f64::from(k) * 0.785))) * Vector3::x();
        for (part, tips) in [(0.95, false), (1.03, true)] {
            let can = can("can", 1.0, [radius, half], 1.0);
            // At the centre of mass.
            let force = along * (part * GRAVITY * radius / half);
            let wrench = [push(force, Vector3::zeros())];
            // One that falls may end a step unsolved; where it stands is not asked of that.
            let settings =
                ImpulseSettings { sweeps: 3000, on_failure: OnFailure::Continue, ..settings() };
            let t = run(&scene(vec![can, ground(1.0)]), settings, (0.005, 200), &wrench);
            let axis = t.last()[0].rotation.column(2).z;
            assert_eq!(axis < 0.99, tips, "pushed by {part} along {along:?}: axis {axis}");
        }
    }
}

#[test]
fn can_stands_on_a_box_and_falls_off_where_its_centre_is_beyond_the_edge() {
    for (x, stays) in [(0.0, true), (0.095, true), (0.105, false)] {
        let mut can = can("can", 0.5, [0.04, 0.03], 0.5);
        can.pose.position = Vector3::new(x, 0.01, 0.13);
        let cube = block("cube", 1.0, [0.1, 0.1, 0.05], 0.5);
        let t = run(&scene(vec![can, cube, ground(0.5)]), settings(), (0.004, 150), &[]);
        let end = &t.last()[0];
        assert_eq!(end.center.z > 0.129, stays, "at {x}: {:?}", end.center);
        if stays {
            assert!((end.center - Vector3::new(x, 0.01, 0.13)).norm() < 1e-7, "{:?}", end.center);
        }
    }
}

#[test]
fn box_stands_on_a_can_and_a_can_rolls_over_a_box_without_sinking_in() {
    let base = can("can", 2.0, [0.1, 0.05], 0.5);
    let mut cube = block("cube", 0.5, [0.04, 0.04, 0.04], 0.5);
    cube.pose.position = Vector3::new(0.01, 0.02, 0.14);
    let t = run(&scene(vec![base, cube, ground(0.5)]), settings(), (0.004, 100), &[]);
    assert!((t.last()[1].center - Vector3::new(0.01, 0.02, 0.14)).norm() < 1e-7);

    let mut roller = can("can", 0.5, [0.04, 0.15], 0.5);
    roller.pose.rotation = so3::exp(&(Vector3::x() * FRAC_PI_2));
    roller.pose.position = Vector3::new(0.0, 0.0, 0.14);
    roller.velocity.x = 0.5;
    roller.angular_velocity.y = 0.5 / 0.04;
    let cube = block("cube", 5.0, [0.3, 0.1, 0.05], 0.5);
    let settings = ImpulseSettings { anchor_beta: 0.0, ..settings() };
    let t = run(&scene(vec![roller, cube, ground(0.5)]), settings, (0.004, 100), &[]);
    let end = &t.last()[0];
    assert!((end.center.x - 0.2).abs() < 1e-6, "rolls on at its speed: {}", end.center.x);
    assert!((end.center.z - 0.14).abs() < 1e-7, "{}", end.center.z);
}

#[test]
fn coin_thrown_on_its_rim_rolls_round_without_gaining_energy_or_sinking_in() {
    let [mass, radius, half] = [0.1, 0.05, 0.005];
    let mut coin = can("coin", mass, [radius, half], 0.5);
    coin.pose.rotation = so3::exp(&Vector3::new(0.9, 0.2, 0.1));
    coin.pose.position.z = 0.08;
    coin.velocity = Vector3::new(0.3, 0.1, -0.5);
    coin.angular_velocity = Vector3::new(1.0, 2.0, 3.0);
    let inertia = coin.mass().unwrap().inertia();
    let t = run(&scene(vec![coin, ground(0.5)]), settings(), (0.002, 1000), &[]);
    let energy = |k: usize| {
        let s = &t.state(k)[0];
        let w = s.rotation.tr_mul(&s.angular_velocity);
        let kinetic = 0.5 * (mass * s.velocity.norm_squared() + w.dot(&(inertia * w)));
        kinetic + mass * GRAVITY * s.center.z
    };
    for k in 0..=1000 {
        assert!(energy(k) <= energy(0) * 1.001, "step {k}: {} from {}", energy(k), energy(0));
        let s = &t.state(k)[0];
        let upright = s.rotation.column(2).z.abs();
        let tilt = (1.0 - upright * upright).max(0.0).sqrt();
        let lowest = s.center.z - half * upright - radius * tilt;
        // The lowest point runs round the rim: a step's row is that of its start.
        assert!(lowest > -2.5e-3, "step {k}: the rim is {lowest} m above the ground");
    }
    assert!(energy(1000) < 0.9 * energy(0));
}

#[test]
fn cylinder_against_cylinder_is_refused_by_name() {
    let (a, mut b) = (can("tin", 1.0, SIZE, 0.5), can("drum", 1.0, SIZE, 0.5));
    b.pose.position.x = 1.0;
    let scene = scene(vec![a, b, ground(0.5)]);
    let simulator = ImpulseSimulator::new(scene, settings(), vec![0.004]).unwrap();
    let message = simulator.run(&simulator.parameters()).unwrap_err().to_string();
    for part in ["'tin'", "'drum'", "a cylinder and a cylinder"] {
        assert!(message.contains(part), "{message}");
    }
}
