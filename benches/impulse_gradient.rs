//! Cost of a gradient through impulses: forward, linearisation and adjoint of all parameters.
//!
//! Bar: linearisation and adjoint together ≤ 0.5 × forward, which keeps nothing for them. `cargo bench --bench impulse_gradient`.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

use nalgebra::Vector3;
use osculate_dynamics::articulated::{Joint, JointDrive, JointKind, JointPosition};
use osculate_dynamics::impulse::sensitivity::{ImpulseParameters, Linearisation};
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseSimulator};
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{Articulation, Body, Kinematics, LinkJoint, Scene};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_math::{Scalar, se3::Pose, so3};
use std::hint::black_box;
use std::time::Instant;

const STEPS: usize = 300;
const STEP: f64 = 0.004;
const RUNS: usize = 15;

/// Where the first body ends.
struct Distance;
impl Outcome for Distance {
    fn contribution<T: Scalar>(&self, _step: usize, bodies: &[Kinematics<T>]) -> T {
        bodies[0].position.x
    }
    fn observes(&self, step: usize) -> bool {
        step == STEPS
    }
}

fn ground() -> Body {
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    ground.contact.friction = 0.4;
    ground
}

fn cube(name: &str, x: Vector3<f64>) -> Body {
    let half = Vector3::repeat(0.05);
    let mut cube = Body::dynamic(name, MassProperties::cuboid(0.37, &half).unwrap());
    cube.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
    cube.contact.friction = 0.4;
    cube.pose.position = x;
    cube
}

fn tossed() -> Scene {
    let mut cube = cube("cube", Vector3::new(0.0, 0.0, 0.3));
    cube.pose.rotation = so3::exp(&Vector3::new(0.4, 0.3, 0.2));
    cube.velocity = Vector3::new(1.5, 0.3, 0.0);
    cube.angular_velocity = Vector3::new(1.0, 4.0, 0.5);
    Scene::new(Vector3::z() * -9.81, vec![cube, ground()]).unwrap()
}

fn sliding() -> Scene {
    let mut cube = cube("cube", Vector3::z() * 0.05);
    cube.velocity = Vector3::new(3.0, 0.3, 0.0);
    Scene::new(Vector3::z() * -9.81, vec![cube, ground()]).unwrap()
}

fn stack() -> Scene {
    let mut bodies: Vec<Body> = (0..4)
        .map(|i| {
            cube(&format!("cube{i}"), Vector3::new(0.005 * i as f64, 0.0, 0.05 + 0.1 * i as f64))
        })
        .collect();
    bodies.push(ground());
    Scene::new(Vector3::z() * -9.81, bodies).unwrap()
}

/// An arm of seven driven hinges that drags its spherical tip over the ground.
fn arm() -> Scene {
    let mut bodies: Vec<Body> = (0..7)
        .map(|i| {
            let half = Vector3::new(0.1, 0.02, 0.02);
            let mass = MassProperties::cuboid(0.5, &half).unwrap();
            Body::dynamic(format!("link{i}"), mass)
        })
        .collect();
    bodies[6].collider = Some(Collider::sphere(Vector3::x() * 0.1, 0.03).unwrap());
    bodies[6].contact.friction = 0.4;
    bodies.push(ground());
    let at = |x: f64, z: f64| Pose { position: Vector3::new(x, 0.0, z), ..Pose::identity() };
    let link = |i: usize| {
        let axis = if i.is_multiple_of(2) { Vector3::z() } else { Vector3::y() };
        let place = if i == 0 { at(0.0, 0.4) } else { at(0.1, 0.0) };
        let mut joint = Joint::new(JointKind::Revolute { axis }).placed(place).with_armature(0.01);
        joint = joint.with_offset(at(0.1, 0.0));
        let target = if i.is_multiple_of(2) { 0.3 } else { 0.35 };
        joint.laws.friction.viscous = 0.05;
        joint.laws.drive =
            Some(JointDrive { stiffness: 60.0, damping: 3.0, target, ..JointDrive::default() });
        let position = Some(JointPosition::Scalar(if i.is_multiple_of(2) { 0.0 } else { 0.25 }));
        let parent = i.checked_sub(1);
        LinkJoint { body: i, parent, joint, position, rates: vec![0.0] }
    };
    let articulation = Articulation::new(&bodies, (0..7).map(link).collect(), Vec::new()).unwrap();
    let scene = Scene::new(Vector3::z() * -9.81, bodies).unwrap();
    scene.with_articulation(articulation).unwrap()
}

/// Times of several runs of each of some things, in turns \[ms\]: the medians.
fn medians<const N: usize>(mut each: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..RUNS {
        for (run, times) in each.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    })
}

fn main() {
    for (name, scene, beta) in [
        ("tossed, point friction", tossed(), 0.0),
        ("tossed, anchors", tossed(), 0.2),
        ("sliding, point friction", sliding(), 0.0),
        ("sliding, anchors", sliding(), 0.2),
        ("stack of 4, point friction", stack(), 0.0),
        ("stack of 4, anchors", stack(), 0.2),
        ("arm of 7 hinges, point friction", arm(), 0.0),
        ("arm of 7 hinges, anchors", arm(), 0.2),
    ] {
        let settings =
            ImpulseSettings { anchor_beta: beta, sweeps: 100_000, ..ImpulseSettings::default() };
        let simulator = ImpulseSimulator::new(scene, settings, vec![STEP; STEPS]).unwrap();
        let parameters = ImpulseParameters::of(&simulator, simulator.parameters());
        let t = match parameters.run(&simulator) {
            Ok(t) => t,
            Err(e) => {
                println!("{name}: {e}");
                continue;
            }
        };
        let sweeps: usize = t.records.iter().map(|r| r.stats.sweeps).sum();
        let go_on = osculate_dynamics::OnFailure::Continue;
        let linear = || Linearisation::with(&simulator, &parameters, &t, go_on).unwrap();
        let kept = linear();
        let whole = || Linearisation::gradient(&simulator, &parameters, &t, &Distance);
        let refused = whole().err();
        let [forward, prepare, back, one_pass] = medians([
            &mut || drop(black_box(parameters.run(&simulator))),
            &mut || drop(black_box(linear())),
            &mut || drop(black_box(kept.adjoint(&Distance))),
            &mut || drop(black_box(whole())),
        ]);
        println!(
            "{name}: forward {:.2} µs a step ({:.1} sweeps); of it linearisation {:.2}, adjoint {:.2}, together {:.2}, in one pass {}",
            forward * 1e3 / STEPS as f64,
            sweeps as f64 / STEPS as f64,
            prepare / forward,
            back / forward,
            (prepare + back) / forward,
            refused.map_or_else(|| format!("{:.2}", one_pass / forward), |e| e.to_string()),
        );
    }
}
