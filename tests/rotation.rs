//! Order of convergence of rotations, with the update in the chart: the method's, as of the translation.
//!
//! Free bodies are compared with the classical Runge–Kutta method on `Ṙ = [ω]× R, L̇ = τ`, bodies in contact with the finest roll-out.

mod common;

use common::free::Free;
use common::laws::{G, Sci, block, order, plain, plane, settings, thrown};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp, Status};
use osculate_dynamics::{
    Body, BodyState, Method, Parameters, RotationUpdate, Scene, Settings, Simulator, Trajectory,
    Wrench,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_math::so3;

/// Asked of every slope.
const BAR: f64 = 0.1;
const DURATION: f64 = 0.5;
/// Of the classical method: its error is rounding.
const FINE: usize = 10_000;

fn chart(method: Method) -> Settings {
    let mut s = settings(method, DissipationSchedule::Current, FrictionRamp::Smooth);
    s.newton.tolerance = 1e-14;
    s.rotation = RotationUpdate::Chart;
    s
}

fn inertia() -> Matrix3<f64> {
    let axes = so3::exp(&Vector3::new(0.4, -0.3, 0.7));
    axes * Matrix3::from_diagonal(&Vector3::new(2e-3, 3e-3, 4.5e-3)) * axes.transpose()
}

/// A free body about no principal axis.
fn tumbling() -> Scene {
    let mass = MassProperties::new(0.37, Vector3::zeros(), inertia()).unwrap();
    let mut body = Body::dynamic("body", mass);
    body.pose.rotation = so3::exp(&Vector3::new(0.3, 0.2, 0.1));
    body.velocity = Vector3::new(0.3, -0.1, 1.0);
    body.angular_velocity = Vector3::new(4.0, 1.0, -2.0);
    Scene::new(Vector3::new(0.0, 0.0, -G), vec![body]).unwrap()
}

/// Largest of rotation angle and spin over 1 rad and 10 rad/s, and of position and speed over 0.1 m and 1 m/s.
fn distances(a: &BodyState, b: &BodyState) -> [f64; 2] {
    let turned = so3::log(&(a.rotation * b.rotation.transpose())).norm();
    let spin = (a.angular_velocity() - b.angular_velocity()).norm();
    let moved = (a.center - b.center).norm() * 10.0 + (a.velocity - b.velocity).norm();
    [turned + spin / 10.0, moved]
}

/// Steps at which a method of some order is past its first terms and above rounding.
fn ladder(order: u32) -> [usize; 3] {
    if order == 3 { [100, 200, 400] } else { [200, 400, 800] }
}

/// Orders asked of a roll-out that starts itself.
fn expected(method: Method) -> u32 {
    if method == Method::Bdf3 { 2 } else { method.order() }
}

fn judge(name: &str, errors: &[f64], expected: u32) {
    let slope = order(errors);
    println!("{name}: errors {:?} slope {slope:.3}", Sci(errors));
    assert!((slope - f64::from(expected)).abs() < BAR, "{name}: slope {slope}, order {expected}");
}

fn with_torques(steps: usize, torque: impl Fn(f64) -> Vector3<f64>) -> Vec<Wrench> {
    let at = |k: usize| Wrench { force: Vector3::zeros(), torque: torque(k as f64) };
    (0..steps).map(at).collect()
}

/// Rolls the tumbling body out under torques; those of `history` states are given.
fn tumble(
    method: Method,
    steps: usize,
    torques: Vec<Wrench>,
    history: &[Vec<BodyState>],
) -> BodyState {
    let dt = DURATION / steps as f64;
    let simulator = Simulator::new(tumbling(), chart(method), vec![dt; steps]).unwrap();
    let p = Parameters { wrenches: torques, ..simulator.parameters() };
    let t = match history {
        [] => simulator.run(&p),
        _ => simulator.run_from_history(&p, history),
    };
    t.unwrap().path.state(steps)[0]
}

/// The tumbling body after a time under a torque.
fn exact(time: f64, breaks: usize, torque: impl Fn(f64) -> Vector3<f64>) -> BodyState {
    let body = tumbling().bodies.remove(0);
    let (r, v) = (body.pose.rotation, body.velocity);
    let start =
        Free { rotation: r, momentum: r * inertia() * r.transpose() * body.angular_velocity };
    // Piece by piece, so that a torque may jump between them.
    let end = (0..breaks).fold(start, |y, k| {
        let part = |k: usize| time * k as f64 / breaks as f64;
        let (from, to) = (part(k), part(k + 1));
        y.carried(&inertia(), (from, to), FINE / breaks, |t| {
            torque(t.clamp(from + 1e-9 * time, to - 1e-9 * time))
        })
    });
    let mut y = BodyState::at_rest(body.pose);
    let g = Vector3::new(0.0, 0.0, -G);
    (y.center, y.velocity) = (v * time + g * (0.5 * time * time), v + g * time);
    y.rotation = end.rotation;
    y.rate = so3::skew(&end.spin(&inertia()));
    y
}

#[test]
fn free_tumbling_converges_at_the_order_of_each_method() {
    let fine = exact(DURATION, 1, |_| Vector3::zeros());
    for method in Method::ALL {
        let n = expected(method);
        let errors =
            ladder(n).map(|steps| distances(&tumble(method, steps, vec![], &[]), &fine)[0]);
        judge(&format!("tumbling {method:?}"), &errors, n);
    }
}

#[test]
fn turning_under_torques_converges_at_the_order_of_each_method() {
    let constant = |_: f64| Vector3::new(0.02, -0.01, 0.03);
    // Constant during each of ten pieces: a torque is held over a step.
    let wave = |t: f64| Vector3::new((9.0 * t).sin(), (7.0 * t).cos(), 0.5) * 0.03;
    let held = |t: f64| wave((t / DURATION * 10.0).floor() / 10.0 * DURATION);
    for method in Method::ALL {
        let n = expected(method);
        let fine = exact(DURATION, 1, constant);
        let run = |steps: usize, torque: &dyn Fn(f64) -> Vector3<f64>| {
            let middle = |k: f64| torque((k + 0.5) * DURATION / steps as f64);
            tumble(method, steps, with_torques(steps, middle), &[])
        };
        let errors = ladder(n).map(|steps| distances(&run(steps, &constant), &fine)[0]);
        judge(&format!("constant torque {method:?}"), &errors, n);
        if matches!(method, Method::Bdf2 | Method::Bdf3) {
            continue;
        }
        let fine = exact(DURATION, 10, held);
        let errors = ladder(n).map(|steps| distances(&run(steps, &held), &fine)[0]);
        judge(&format!("held torque {method:?}"), &errors, n);
    }
}

#[test]
fn backward_differences_follow_a_smooth_torque_at_their_order() {
    let wave = |t: f64| Vector3::new((9.0 * t).sin(), (7.0 * t).cos(), 0.5) * 0.03;
    let fine = exact(DURATION, 1, wave);
    for (method, states, n) in [
        (Method::BackwardEuler, 1, 1),
        (Method::Bdf2, 1, 2),
        (Method::Bdf2, 2, 2),
        (Method::Bdf3, 1, 2),
        (Method::Bdf3, 3, 3),
    ] {
        let errors = ladder(n).map(|steps| {
            let dt = DURATION / steps as f64;
            // They look at the torque at the end of the step.
            let torques = with_torques(steps, |k| wave((k + 1.0) * dt));
            let history: Vec<_> =
                (0..states).map(|k| vec![exact(dt * k as f64, 1, wave)]).collect();
            let history = if states == 1 { &[][..] } else { &history };
            distances(&tumble(method, steps, torques, history), &fine)[0]
        });
        judge(&format!("smooth torque {method:?} from {states} states"), &errors, n);
    }
}

#[test]
fn steady_spin_about_a_principal_axis_is_exact_with_every_method() {
    let (spin, dt, steps) = (5.0, 0.02, 50);
    let mass = MassProperties::cuboid(0.37, &Vector3::new(0.05, 0.04, 0.03)).unwrap();
    let mut body = Body::dynamic("body", mass);
    body.angular_velocity.z = spin;
    let scene = Scene::new(Vector3::zeros(), vec![body]).unwrap();
    for method in Method::ALL {
        let simulator = Simulator::new(scene.clone(), chart(method), vec![dt; steps]).unwrap();
        let t = simulator.run(&simulator.parameters()).unwrap();
        for k in 0..=steps {
            let y = &t.path.state(k)[0];
            let turned = so3::exp(&Vector3::new(0.0, 0.0, spin * dt * k as f64));
            assert!((y.rotation - turned).norm() < 1e-11, "{method:?} step {k}");
            assert!((y.angular_velocity().z - spin).abs() < 1e-10, "{method:?} step {k}");
        }
    }
}

#[test]
fn free_tumbling_keeps_angular_momentum_to_rounding_and_energy_to_the_order_of_the_method() {
    for method in Method::ALL {
        let n = expected(method);
        let mut lost = 0.0_f64;
        let errors = ladder(n).map(|steps| {
            let dt = DURATION / steps as f64;
            let simulator = Simulator::new(tumbling(), chart(method), vec![dt; steps]).unwrap();
            let p = simulator.parameters();
            let t = simulator.run(&p).unwrap();
            let (first, last) = (t.path.state(0)[0], t.path.state(steps)[0]);
            let spin =
                last.rotation * inertia() * last.rotation.transpose() * last.angular_velocity();
            // The momentum that is carried is that of the motion, but for what Newton leaves of the residual.
            assert!((spin - last.momentum).norm() < 1e-11 * spin.norm());
            lost = lost.max((last.momentum - first.momentum).norm() / first.momentum.norm());
            let spinning = |y: &BodyState| y.momentum.dot(&y.angular_velocity());
            (spinning(&last) / spinning(&first) - 1.0).abs()
        });
        println!("{method:?}: angular momentum off by {lost:.1e}");
        assert!(lost < 1e-13, "{method:?}: {lost:e}");
        // DIRK22 keeps it to its third order.
        let slope = order(&errors);
        println!("{method:?}: kinetic energy off by {:?} slope {slope:.3}", Sci(&errors));
        assert!(slope > f64::from(n) - BAR, "{method:?}: slope {slope}, order {n}");
    }
}

fn soft() -> ContactParams {
    ContactParams {
        friction: 0.3,
        viscous_friction: 0.2,
        damping: 1.0,
        falloff_speed: 0.4,
        ..plain(1.3e5)
    }
}

/// A block that slides, spins and rocks deep in a plane.
fn on_a_plane() -> Scene {
    let mut body = block("block", 0.37, Vector3::new(0.05, 0.04, 0.05), 0.01, soft());
    body.angular_velocity = Vector3::new(0.03, -0.02, 3.0);
    let body = thrown(body, [0.0, 0.0, 0.0475], [0.6, -0.2, -0.02]);
    Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(soft()), body]).unwrap()
}

/// The same on a slab that spins and rocks on the plane itself.
fn on_a_slab() -> Scene {
    let mut slab = block("slab", 0.9, Vector3::new(0.2, 0.15, 0.02), 0.02, soft());
    slab.collider = Some(Collider::half_space(Vector3::z(), 0.02).unwrap());
    slab.angular_velocity = Vector3::new(0.01, 0.02, -1.5);
    let slab = thrown(slab, [0.0, 0.0, 0.0152], [-0.2, 0.1, -0.005]);
    let mut body = block("block", 0.37, Vector3::new(0.05, 0.04, 0.05), 0.01, soft());
    body.angular_velocity = Vector3::new(0.03, -0.02, 3.0);
    let body = thrown(body, [0.03, 0.02, 0.0824], [0.3, -0.2, -0.01]);
    Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(soft()), slab, body]).unwrap()
}

const CONTACT: f64 = 0.1;

fn roll(scene: &Scene, settings: Settings, steps: usize) -> (Simulator, Trajectory) {
    let (simulator, t) = common::laws::roll(scene.clone(), settings, CONTACT / steps as f64, steps);
    let p = simulator.parameters();
    let samples = 4 * scene.dynamic_bodies().count();
    for step in (0..steps).step_by(steps / 20) {
        let contacts = simulator.contacts(&t, &p, step).unwrap();
        assert_eq!(contacts.len(), samples, "a sample left: the trajectory is not smooth");
        assert!(contacts.iter().all(|c| c.status == Status::Contact && c.distance < -2e-4));
    }
    (simulator, t)
}

#[test]
fn backward_differences_of_three_steps_have_their_third_order_in_contact_from_an_exact_history() {
    const STEPS: usize = 12_800;
    for (name, scene) in [("plane", on_a_plane()), ("slab", on_a_slab())] {
        let fine = roll(&scene, chart(Method::Dirk33), STEPS).1;
        let errors = ladder(3).map(|n| {
            let simulator =
                Simulator::new(scene.clone(), chart(Method::Bdf3), vec![CONTACT / n as f64; n])
                    .unwrap();
            let history: Vec<_> = (0..3).map(|k| fine.path.state(k * STEPS / n).to_vec()).collect();
            let end = simulator.run_from_history(&simulator.parameters(), &history).unwrap();
            worst(end.path.state(n), fine.path.state(STEPS))
        });
        judge(&format!("{name} Bdf3 from three states, rotation"), &errors.map(|e| e[0]), 3);
        judge(&format!("{name} Bdf3 from three states, translation"), &errors.map(|e| e[1]), 3);
    }
}

/// Of all bodies.
fn worst(a: &[BodyState], b: &[BodyState]) -> [f64; 2] {
    a.iter()
        .zip(b)
        .map(|(a, b)| distances(a, b))
        .fold([0.0; 2], |m, d| [m[0].max(d[0]), m[1].max(d[1])])
}

#[test]
fn permanent_contact_converges_at_the_order_of_each_method_in_rotation_and_translation() {
    for (name, scene) in [("plane", on_a_plane()), ("slab", on_a_slab())] {
        let fine = roll(&scene, chart(Method::Dirk33), 6400).1;
        let fine = fine.path.state(6400);
        for method in Method::ALL {
            let n = expected(method);
            let errors = ladder(n)
                .map(|steps| worst(roll(&scene, chart(method), steps).1.path.state(steps), fine));
            judge(&format!("{name} {method:?} rotation"), &errors.map(|e| e[0]), n);
            judge(&format!("{name} {method:?} translation"), &errors.map(|e| e[1]), n);
        }
    }
}
