//! Chains of hinged boxes that slide on a plane: orders of sweeps and responses of trees beside each other.
//!
//! 4 to 40 boxes of 0.4 kg with hinges about y and z in turns, thrown at 1 m/s, 300 steps of 2 ms, to a residual of 1e-6. Prints
//! processor time a step and a sweep. `cargo bench --bench impulse_chain [-- LINKS …]`; `RAYON_NUM_THREADS=1` for one thread.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

mod common;

use common::cpu;
use nalgebra::Vector3;
use osculate_dynamics::articulated::{ArticulatedModel, Joint, JointKind, Link, LinkInertia};
use osculate_dynamics::impulse::{ArticulatedResponse, ImpulseSettings, ImpulseStepper, SolveMode};
use osculate_dynamics::{Body, OnFailure, Parameters, Scene};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_math::se3::Pose;

const H: f64 = 0.002;
const STEPS: usize = 300;
const FRICTION: f64 = 0.5;

fn at(x: f64, z: f64) -> Pose {
    Pose { position: Vector3::new(x, 0.0, z), ..Pose::identity() }
}

fn chain(n: usize, settings: ImpulseSettings) -> ImpulseStepper {
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    ground.contact.friction = FRICTION;
    let mut bodies = vec![ground];
    let half = Vector3::new(0.09, 0.04, 0.03);
    for i in 0..n {
        let mut link = Body::dynamic(format!("{i}"), MassProperties::cuboid(0.4, &half).unwrap());
        link.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
        link.contact.friction = FRICTION;
        bodies.push(link);
    }
    let links = (0..n).map(|i| {
        let axis = if i.is_multiple_of(2) { Vector3::y() } else { Vector3::z() };
        let joint = match i {
            0 => Joint::new(JointKind::Free).placed(at(0.0, 0.08)),
            _ => {
                let hinge = Joint::new(JointKind::Revolute { axis });
                hinge.placed(at(0.1, 0.0)).with_offset(at(0.1, 0.0))
            }
        };
        let inertia = LinkInertia::from(*bodies[i + 1].mass().unwrap());
        Link { name: i.to_string(), parent: i.checked_sub(1), joint, inertia }
    });
    let model = ArticulatedModel::new(links.collect(), Vec::new()).unwrap();
    let scene = Scene::new(Vector3::z() * -9.81, bodies).unwrap();
    let mut stepper = ImpulseStepper::new(&scene, settings, &Parameters::of(&scene)).unwrap();
    let mut thrown = vec![0.0; model.dofs()];
    (thrown[0], thrown[1]) = (1.0, 0.5);
    stepper.join(model.clone(), (1..=n).collect(), model.neutral(), thrown).unwrap();
    stepper
}

fn run(n: usize, solve_mode: SolveMode, articulated_response: ArticulatedResponse) {
    let settings = ImpulseSettings {
        solve_mode,
        articulated_response,
        tolerance: 1e-6,
        sweeps: 5000,
        on_failure: OnFailure::Continue,
        ..ImpulseSettings::default()
    };
    let mut stepper = chain(n, settings);
    let (mut sweeps, mut failed, mut contacts) = (0, 0, 0);
    let begin = cpu();
    for _ in 0..STEPS {
        let record = stepper.step(&[], H).unwrap();
        sweeps += record.stats.sweeps;
        failed += usize::from(!record.stats.converged);
        contacts += record.contacts.len();
    }
    let worked = cpu().zip(begin).map_or(f64::NAN, |(now, before)| now - before) * 1e6;
    let mean = |x: usize| x as f64 / STEPS as f64;
    println!(
        "{n:3} links, {solve_mode:?}, {articulated_response:?}: {:9.1} µs a step, {:7.1} sweeps, {:6.2} µs a sweep, {failed} of {STEPS} not converged, {:6.1} contacts",
        worked / STEPS as f64,
        mean(sweeps),
        worked / sweeps as f64,
        mean(contacts),
    );
}

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|x| x.parse().ok()).collect();
    let asked = if asked.is_empty() { vec![4, 10, 20, 40] } else { asked };
    for n in asked {
        run(n, SolveMode::Serial, ArticulatedResponse::Immediate);
        run(n, SolveMode::Serial, ArticulatedResponse::Propagation);
        run(n, SolveMode::Colored, ArticulatedResponse::Propagation);
    }
}
