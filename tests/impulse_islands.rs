//! Bodies that do not touch do not know of each other under the impulse model, and threads change nothing.

mod common;

use common::impulse::{ball, block, ground, scene};
use nalgebra::Vector3;
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseStepper, RigidState, StepRecord};
use osculate_dynamics::{Body, OnFailure, Parameters};
use osculate_math::so3;

const H: f64 = 1.0 / 240.0;

/// A stack of three turned boxes at a place.
fn stack(name: &str, at: [f64; 2], turn: f64) -> Vec<Body> {
    let one = |i: usize| {
        let mut body = block(&format!("{name}{i}"), 1.0, [0.1, 0.08, 0.05], 0.4);
        body.pose.position = Vector3::new(at[0], at[1], 0.05 + 0.1 * i as f64);
        body.pose.rotation = so3::exp(&(Vector3::z() * (turn + 0.3 * i as f64)));
        body
    };
    (0..3).map(one).collect()
}

/// A box that was thrown and tumbles.
fn tossed(at: [f64; 2]) -> Body {
    let mut body = block("tossed", 0.5, [0.05, 0.06, 0.07], 0.3);
    body.pose.position = Vector3::new(at[0], at[1], 0.2);
    body.velocity = Vector3::new(0.5, 1.0, -1.0);
    body.angular_velocity = Vector3::new(3.0, -2.0, 1.0);
    body
}

fn run(
    bodies: Vec<Body>,
    settings: ImpulseSettings,
    steps: usize,
) -> (Vec<RigidState>, Vec<StepRecord>) {
    let mut all = vec![ground(0.5)];
    all.extend(bodies);
    let scene = scene(all);
    let mut stepper = ImpulseStepper::new(&scene, settings, &Parameters::of(&scene)).unwrap();
    let records = (0..steps).map(|_| stepper.step(&[], H).unwrap()).collect();
    (stepper.states()[1..].to_vec(), records)
}

/// Anchors and points, cut off and converged.
fn every_setting() -> Vec<ImpulseSettings> {
    let base = ImpulseSettings { on_failure: OnFailure::Continue, ..ImpulseSettings::default() };
    [(0.2, 200, 0), (0.0, 200, 0), (0.2, 20, 2)]
        .map(|(anchor_beta, sweeps, velocity_sweeps)| ImpulseSettings {
            anchor_beta,
            sweeps,
            velocity_sweeps,
            ..base
        })
        .into()
}

fn bits(states: &[RigidState]) -> Vec<u64> {
    let numbers = |s: &RigidState| {
        let all = [s.center, s.velocity, s.angular_velocity];
        all.iter().flat_map(|v| v.iter()).chain(s.rotation.iter()).map(|x| x.to_bits()).collect()
    };
    states.iter().flat_map(|s| -> Vec<u64> { numbers(s) }).collect()
}

#[test]
fn an_island_moves_bit_by_bit_as_it_would_alone() {
    for settings in every_setting() {
        let groups =
            [stack("a", [0.0, 0.0], 0.1), stack("b", [3.0, 0.0], 0.7), vec![tossed([6.0, 0.0])]];
        // Bodies of two islands in turns, so that rows of one are not side by side.
        let mixed: Vec<Body> =
            (0..3).flat_map(|i| groups.iter().filter_map(move |g| g.get(i).cloned())).collect();
        let names: Vec<String> = mixed.iter().map(|b| b.name.clone()).collect();
        let (together, records) = run(mixed, settings, 60);
        assert!(records.iter().any(|r| r.stats.islands == 3));
        for group in groups {
            let (alone, own) = run(group.clone(), settings, 60);
            assert!(own.iter().all(|r| r.stats.islands <= 1));
            for (body, state) in group.iter().zip(&alone) {
                let place = names.iter().position(|n| *n == body.name).unwrap();
                let same = bits(&[together[place]]) == bits(&[*state]);
                assert!(same, "{}: {:?} {state:?}", body.name, together[place]);
            }
        }
    }
}

#[test]
fn bodies_that_touch_are_one_island_until_they_part() {
    let mut left = block("left", 1.0, [0.1; 3], 0.4);
    let mut right = block("right", 1.0, [0.1; 3], 0.4);
    (left.pose.position.x, right.pose.position.x) = (-0.1, 0.1);
    right.velocity.x = 0.5;
    left.velocity.x = -0.5;
    let (_, records) = run(vec![left, right], ImpulseSettings::default(), 60);
    assert_eq!(records[0].stats.islands, 1);
    assert_eq!(records[59].stats.islands, 2);
    let lonely = run(vec![ball("ball", 1.0, 0.1, 0.3)], ImpulseSettings::default(), 1).1;
    assert_eq!(lonely[0].stats.islands, 1);
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let heap = || {
        // Enough groups for several threads: 40 boxes in pairs, each a little into the other.
        let one = |i: usize| {
            let mut body = block(&format!("{i}"), 0.3, [0.05; 3], 0.4);
            let turn = Vector3::new(0.2, -0.1 * i as f64, 0.3);
            body.pose.position =
                Vector3::new(0.4 * (i / 2) as f64, 0.0, 0.08 + 0.11 * (i % 2) as f64);
            body.pose.rotation = so3::exp(&turn);
            body
        };
        (0..40).map(one).collect::<Vec<_>>()
    };
    for settings in every_setting() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (states, records) = pool.install(|| run(heap(), settings, 20));
            assert!(records.iter().any(|r| r.contacts.len() > 64 && r.stats.islands > 10));
            (bits(&states), records)
        };
        let one = on(1);
        for threads in [2, 3] {
            let other = on(threads);
            assert!(one.0 == other.0 && one.1 == other.1, "{threads} threads");
        }
    }
}
