//! Order of convergence of the eight methods on smooth trajectories.
//!
//! Smooth: every sample stays in contact on the linear piece of the plain ramp (or no contact at all), the friction
//! ramp is the C∞ one, the load of dissipation is the current one, the collider does not move.

mod common;

use common::laws::{G, Sci, block, order, plain, plane, roll, settings, thrown};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp, Status};
use osculate_dynamics::{
    Body, BodyKind, BodyState, Method, Scene, Settings, Simulator, Trajectory,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;

const DURATION: f64 = 0.1;
/// Asked of every slope.
const BAR: f64 = 0.1;
const BODY: usize = 1;

fn soft() -> ContactParams {
    ContactParams {
        friction: 0.3,
        viscous_friction: 0.2,
        damping: 1.0,
        falloff_speed: 0.4,
        ..plain(1.3e5)
    }
}

fn laws(method: Method) -> Settings {
    let mut s = settings(method, DissipationSchedule::Current, FrictionRamp::Smooth);
    s.newton.tolerance = 1e-14;
    s
}

fn scene(body: Body, ground: Body) -> Scene {
    Scene::new(Vector3::new(0.0, 0.0, -G), vec![ground, body]).unwrap()
}

/// The inertia of a body that does not turn.
///
/// The rotational state of the model (rate `W` with its symmetric part, rotations combined through logarithms) is of
/// first order in Δt with every method, `tests/conservation.rs`; orders are those of the translation. The update in the chart has
/// the order for both, `tests/rotation.rs`.
fn without_turning(mut body: Body) -> Body {
    let mass = MassProperties::new(0.37, Vector3::zeros(), Matrix3::identity() * 1e9).unwrap();
    body.kind = BodyKind::Dynamic { mass };
    body
}

/// Slides and bounces deep in a plane.
fn on_a_plane() -> Scene {
    let body = without_turning(block("block", 0.37, Vector3::repeat(0.05), 0.01, soft()));
    scene(thrown(body, [0.0, 0.0, 0.0475], [0.6, -0.2, -0.05]), plane(soft()))
}

/// Slides over a ball and bounces deep in it.
fn on_a_ball() -> Scene {
    let mut ball = Body::fixed("ball");
    ball.collider = Some(Collider::sphere(Vector3::new(0.0, 0.0, -0.4), 0.411).unwrap());
    ball.contact = soft();
    let body = without_turning(block("block", 0.37, Vector3::repeat(0.02), 0.01, soft()));
    scene(thrown(body, [0.005, 0.0, 0.0265], [0.2, -0.1, -0.02]), ball)
}

fn finish(scene: &Scene, method: Method, steps: usize) -> BodyState {
    let (simulator, trajectory) = roll(scene.clone(), laws(method), DURATION / steps as f64, steps);
    check_smooth(&simulator, &trajectory);
    trajectory.path.state(steps)[BODY]
}

/// No sample leaves, enters, or comes near doing so.
fn check_smooth(simulator: &Simulator, trajectory: &Trajectory) {
    let p = simulator.parameters();
    for step in (0..simulator.steps()).step_by(simulator.steps() / 20) {
        let contacts = simulator.contacts(trajectory, &p, step).unwrap();
        assert_eq!(contacts.len(), 4, "a sample left: the trajectory is not smooth");
        assert!(contacts.iter().all(|c| c.status == Status::Contact && c.distance < -2e-4));
    }
}

/// Distance of two states: lengths over 0.1 m, speeds over 1 m/s.
fn distance(a: &BodyState, b: &BodyState) -> f64 {
    (a.center - b.center).norm() * 10.0 + (a.velocity - b.velocity).norm()
}

/// Steps at which a method of some order is past its first terms and above rounding (1e-11).
fn ladder(order: u32) -> [usize; 3] {
    if order == 3 { [160, 320, 640] } else { [320, 640, 1280] }
}

const FINE: usize = 10240;

fn judge(name: &str, errors: &[f64], expected: f64) {
    let slope = order(errors);
    println!("{name}: errors {:?} slope {slope:.3}", Sci(errors));
    assert!((slope - expected).abs() < BAR, "{name}: slope {slope}, order {expected}");
}

#[test]
fn every_method_converges_at_its_order() {
    for (name, scene) in [("plane", on_a_plane()), ("ball", on_a_ball())] {
        // A third-order method of the finest step stands in for the solution.
        let fine = finish(&scene, Method::Dirk33, FINE);
        for method in Method::ALL {
            // BDF3 starts itself at first order, which costs one order of the trajectory.
            let expected = if method == Method::Bdf3 { 2 } else { method.order() };
            let errors = ladder(expected).map(|n| distance(&finish(&scene, method, n), &fine));
            judge(&format!("{name} {method:?}"), &errors, f64::from(expected));
        }
    }
}

#[test]
fn backward_differences_have_their_full_order_from_an_exact_history() {
    for (name, scene) in [("plane", on_a_plane()), ("ball", on_a_ball())] {
        let dt = DURATION / FINE as f64;
        let (_, fine) = roll(scene.clone(), laws(Method::Dirk33), dt, FINE);
        for (method, states) in [(Method::Bdf2, 2), (Method::Bdf3, 3)] {
            let errors = ladder(method.order()).map(|n| {
                let simulator =
                    Simulator::new(scene.clone(), laws(method), vec![DURATION / n as f64; n])
                        .unwrap();
                let history: Vec<Vec<BodyState>> =
                    (0..states).map(|k| fine.path.state(k * FINE / n).to_vec()).collect();
                let end = simulator.run_from_history(&simulator.parameters(), &history).unwrap();
                assert_eq!(end.path.state(states - 1), &history[states - 1][..]);
                distance(&end.path.state(n)[BODY], &fine.path.state(FINE)[BODY])
            });
            let what = format!("{name} {method:?} from an exact history");
            judge(&what, &errors, f64::from(method.order()));
        }
    }
}

#[test]
fn history_of_the_initial_state_alone_is_the_plain_run() {
    let simulator = Simulator::new(on_a_plane(), laws(Method::Bdf3), vec![1e-3; 20]).unwrap();
    let p = simulator.parameters();
    let plain = simulator.run(&p).unwrap();
    let first = plain.path.state(0).to_vec();
    let again = simulator.run_from_history(&p, &[first]).unwrap();
    assert_eq!(plain.path.state(20), again.path.state(20));
    let states: Vec<_> = (0..9).map(|k| plain.path.state(k).to_vec()).collect();
    let later = simulator.run_from_history(&p, &states).unwrap();
    assert_eq!(plain.path.state(20), later.path.state(20));
    // Nothing, too much, and the wrong number of bodies.
    assert!(simulator.run_from_history(&p, &[]).is_err());
    assert!(simulator.run_from_history(&p, &vec![states[0].clone(); 21]).is_err());
    assert!(simulator.run_from_history(&p, &[states[0][..1].to_vec()]).is_err());
}
