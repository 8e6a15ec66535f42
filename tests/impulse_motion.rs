//! Motions of the impulse stepper that have a closed form.

mod common;

use common::impulse::{GRAVITY, ball, block, ground, run, scene};
use nalgebra::Vector3;
use osculate_contact::PairOverride;
use osculate_contact::impulse::normal::SpringDamper;
use osculate_dynamics::impulse::{ImpulseSettings, NormalLaw};
use osculate_dynamics::{Body, OnFailure, Override, Scene, Wrench};
use osculate_geometry::collider::Collider;
use osculate_math::so3;

fn settings(beta: f64) -> ImpulseSettings {
    ImpulseSettings { anchor_beta: beta, ..ImpulseSettings::default() }
}

/// Ground tilted about y, and a body that stands on it.
fn tilted(angle: f64, mut body: Body, height: f64, friction: f64) -> Scene {
    let mut plane = ground(friction);
    plane.pose.rotation = so3::exp(&Vector3::new(0.0, angle, 0.0));
    body.pose.rotation = plane.pose.rotation;
    body.pose.position = plane.pose.rotation * Vector3::z() * height;
    scene(vec![body, plane])
}

fn close(found: f64, exact: f64, part: f64, what: &str) {
    assert!((found / exact - 1.0).abs() < part, "{what}: {found}, exact {exact}");
}

#[test]
fn thrown_cube_stops_after_the_exact_way_without_lift() {
    for beta in [0.0, 0.2] {
        let h = 1.0 / 500.0;
        let mut cube = block("cube", 1.0, [0.05; 3], 0.5);
        cube.velocity.x = 6.0;
        let t = run(&scene(vec![cube, ground(0.5)]), settings(beta), (h, 1000), &[]);
        let way = 36.0 / (2.0 * 0.5 * GRAVITY);
        close(t.last()[0].center.x, way, 5e-3, "way");
        close(t.last()[0].center.x, way - 6.0 * h / 2.0, 1e-5, "way of the discrete law");
        let lift = (0..=1000).map(|k| t.state(k)[0].center.z - 0.05).fold(0.0, f64::max);
        assert!(lift <= 1e-6, "lift {lift} m");
    }
}

#[test]
fn block_on_a_slope_sticks_or_slides_by_coulombs_law() {
    for beta in [0.0, 0.2] {
        for mu in [0.1_f64, 0.3, 0.5, 0.7, 1.0] {
            for degrees in [3.0_f64, 10.0, 20.0, 30.0, 40.0] {
                let angle = degrees.to_radians();
                if (angle - mu.atan()).abs() < 2f64.to_radians() {
                    continue;
                }
                // Flat enough not to tip.
                let body = block("block", 1.0, [0.1, 0.1, 0.02], mu);
                let scene = tilted(angle, body, 0.02, mu);
                let t = run(&scene, settings(beta), (1.0 / 240.0, 120), &[]);
                let v = t.last()[0].velocity.norm();
                let drive = GRAVITY * (angle.sin() - mu * angle.cos()) * 0.5;
                if drive > 0.0 {
                    close(v, drive, 1e-6, "sliding");
                } else {
                    assert!(v < 1e-9, "μ {mu} at {degrees}° slides at {v}");
                }
            }
        }
    }
}

#[test]
fn ball_slips_then_rolls_and_rolls_down_a_slope() {
    for beta in [0.0, 0.2] {
        let h = 1.0 / 500.0;
        let mut slipping = ball("ball", 0.3, 0.05, 0.5);
        slipping.velocity.x = 1.5;
        let t = run(&scene(vec![slipping, ground(0.5)]), settings(beta), (h, 500), &[]);
        let last = t.last()[0];
        close(last.velocity.x, 5.0 / 7.0 * 1.5, 5e-4, "rolling speed");
        close(last.angular_velocity.y * 0.05, last.velocity.x, 5e-4, "rolling without slip");
        let angle = 0.3_f64;
        let scene = tilted(angle, ball("ball", 0.3, 0.05, 0.5), 0.05, 0.5);
        let v = run(&scene, settings(beta), (h, 500), &[]).last()[0].velocity.norm();
        close(v, 5.0 / 7.0 * GRAVITY * angle.sin(), 5e-4, "slope");
        // Beyond tan θ = 3.5 μ it slips.
        let (angle, mu) = (0.6_f64, 0.1);
        let scene = tilted(angle, ball("ball", 0.3, 0.05, mu), 0.05, mu);
        let v = run(&scene, settings(beta), (h, 250), &[]).last()[0].velocity.norm();
        close(v, 0.5 * GRAVITY * (angle.sin() - mu * angle.cos()), 5e-4, "slip on a slope");
    }
}

/// Evaluated at the contact of the end of a step instead of midway between the two contacts of it, the displacement of a ball that rolls and spins has a
/// sideways part of `ω_n v h/2` a second: the original solver pushes this ball by 32 mm/s at 1/240 s, 20 mm/s at 1/500 s.
#[test]
fn anchors_do_not_push_a_ball_that_rolls_and_spins() {
    for (rate, seconds) in [(240, 1), (500, 1)] {
        let mut spinning = ball("ball", 0.3, 0.05, 0.5);
        spinning.velocity.x = 0.72;
        spinning.angular_velocity = Vector3::new(0.0, 0.72 / 0.05, 30.0);
        let time = (1.0 / f64::from(rate), (rate * seconds) as usize);
        let t = run(&scene(vec![spinning, ground(0.5)]), settings(0.2), time, &[]);
        assert!(t.records.iter().skip(2).all(|r| r.anchors.len() == 1), "the anchor follows");
        assert!(t.last()[0].center.y.abs() < 1e-9, "{} m sideways", t.last()[0].center.y);
        close(t.last()[0].velocity.x, 0.72, 1e-3, "speed");
        close(t.last()[0].angular_velocity.z, 30.0, 1e-9, "spin");
    }
}

#[test]
fn balls_on_a_dragged_box_move_by_the_exact_accelerations() {
    // SimBenchmark's rolling test: 25 balls of 1 kg on a box of 10 kg, 150 N.
    let directions = [Vector3::new(1.0, 1.0, 0.0).normalize(), Vector3::y()];
    for direction in directions {
        let mut bodies = vec![block("box", 10.0, [10.0, 10.0, 0.5], 0.4)];
        for i in 0..25 {
            let mut one = ball(&format!("ball{i}"), 1.0, 0.5, 0.8);
            let (x, y) = ((i % 5) as f64 - 2.0, (i / 5) as f64 - 2.0);
            one.pose.position = Vector3::new(2.0 * x, 2.0 * y, 1.5);
            bodies.push(one);
        }
        bodies.push(ground(0.4));
        let mut scene = scene(bodies);
        for i in 1..=25 {
            let values = PairOverride { friction: Some(0.8), ..PairOverride::default() };
            scene.overrides.push(Override { bodies: [0, i], values });
        }
        let mut wrenches = vec![Wrench::zero(); 26];
        wrenches[0].force = direction * 150.0;
        let t = run(&scene, settings(0.0), (1e-3, 500), &wrenches);
        let free = 150.0 - 0.4 * 35.0 * GRAVITY;
        let on_ball = free / 10.0 / (3.5 + 25.0 / 10.0);
        let on_box = (free - 25.0 * on_ball) / 10.0;
        for (body, exact) in [(0, on_box), (1, on_ball), (25, on_ball)] {
            close(t.last()[body].velocity.dot(&direction) / 0.5, exact, 5e-3, "acceleration");
        }
    }
}

#[test]
fn tilted_jaws_hold_a_box_with_anchors() {
    let tilt = 5f64.to_radians();
    let jaw = |side: f64| {
        let mut jaw = Body::fixed(if side < 0.0 { "left" } else { "right" });
        jaw.collider =
            Some(Collider::cuboid(Vector3::zeros(), Vector3::new(0.005, 0.02, 0.02)).unwrap());
        jaw.contact.friction = 2.0;
        jaw.pose.rotation = so3::exp(&Vector3::new(0.0, -side * tilt, 0.0));
        // Overlap for about 5 N on the two corners that touch.
        let reach = 0.02 + 0.005 / tilt.cos() + 0.02 * tilt.tan() - 1.25e-3;
        jaw.pose.position = Vector3::new(side * reach, 0.0, 0.5);
        jaw
    };
    let mut held = block("box", 0.1, [0.02; 3], 0.5);
    held.pose.position.z = 0.5;
    let scene = scene(vec![jaw(-1.0), jaw(1.0), held]);
    let spring = NormalLaw::SpringDamper(SpringDamper { stiffness: 2000.0, damping: 5.0 });
    let drift = |beta, sweeps, warm_start, tolerance| {
        let settings = ImpulseSettings {
            sweeps,
            warm_start,
            tolerance,
            normal: spring,
            on_failure: OnFailure::Continue,
            ..settings(beta)
        };
        let t = run(&scene, settings, (0.005, 600), &[]);
        t.last()[2].center.z - t.state(100)[2].center.z
    };
    assert!(drift(0.2, 1000, 1.0, 1e-10).abs() < 1e-9);
    assert!(drift(0.0, 1000, 1.0, 1e-10).abs() < 1e-9);
    // Eight sweeps from zero, as the original does it.
    let (points, anchors) = (drift(0.0, 8, 0.0, 1e-14), drift(0.2, 8, 0.0, 1e-14));
    assert!(anchors.abs() < 50e-6, "anchors drift {anchors} m");
    assert!(points.abs() > 150e-6, "points drift {points} m");
}

#[test]
fn stack_of_boxes_stands() {
    for beta in [0.0, 0.2] {
        let mut bodies: Vec<Body> = (0..5)
            .map(|i| {
                let mut one = block(&format!("box{i}"), 1.0, [0.06, 0.06, 0.05], 0.5);
                one.pose.position.z = 0.05 + 0.1 * f64::from(i);
                one
            })
            .collect();
        bodies.push(ground(0.5));
        let t = run(&scene(bodies), settings(beta), (1.0 / 240.0, 480), &[]);
        for i in 0..5 {
            let way = (t.last()[i].center - t.state(0)[i].center).norm();
            assert!(way < 1e-6, "box {i} moved {way} m");
        }
        // The impulses of each contact plane carry what is above.
        let record = &t.records[400];
        for level in 0..5 {
            let below = if level == 0 { 5 } else { level - 1 };
            let pair = [level.min(below), level.max(below)];
            let on = record.contacts.iter().filter(|c| c.bodies == pair);
            let load: f64 = on.map(|c| c.normal).sum();
            close(load, (5 - level) as f64 * GRAVITY / 240.0, 1e-5, "load of a plane");
        }
    }
}

#[test]
fn rebound_has_the_coefficient_of_restitution() {
    for e in [0.3, 0.8, 1.0] {
        let mut bouncing = ball("ball", 0.5, 0.05, 0.4);
        bouncing.pose.position.z = 0.35;
        bouncing.impulse.restitution = e;
        let mut floor = ground(0.4);
        floor.impulse.restitution = e;
        let t = run(&scene(vec![bouncing, floor]), settings(0.0), (1.0 / 500.0, 140), &[]);
        let speeds: Vec<f64> = (0..=140).map(|k| t.state(k)[0].velocity.z).collect();
        let hit = speeds.windows(2).position(|v| v[1] > v[0] + 0.1).unwrap();
        assert!(
            (speeds[hit + 1] + e * speeds[hit]).abs() < 1e-3 + 0.1 * f64::from(e == 0.0),
            "{e}"
        );
    }
}
