//! Articulated bodies under the compliant model: laws of motion.

mod common;

use common::trees::{G, friction, inert, link, machine, pose, settings, simulator, v};
use common::{cuboid, ground};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::DissipationSchedule;
use osculate_dynamics::articulated::{ClosureKind, Joint, JointKind, JointPosition};
use osculate_dynamics::{
    Articulation, Body, Method, Parameters, Scene, Simulator, Trajectory, Wrench,
};
use osculate_geometry::mass::MassProperties;
use osculate_math::se3::Pose;

fn deviation(a: &Trajectory, b: &Trajectory, bodies: (usize, usize), steps: usize) -> f64 {
    let of = |t: &Trajectory, body: usize, k: usize| t.path.state(k)[body];
    (0..=steps)
        .map(|k| {
            let (x, y) = (of(a, bodies.0, k), of(b, bodies.1, k));
            let pose = (x.center - y.center).norm() + (x.rotation - y.rotation).norm();
            pose + (x.velocity - y.velocity).norm() + (x.rate - y.rate).norm()
        })
        .fold(0.0, f64::max)
}

/// A box thrown on the ground, as a body or as the only link of a tree.
fn thrown(as_link: bool, dt: f64) -> Simulator {
    let start = pose(v(0.1, -0.2, 0.09), v(0.3, 0.5, -0.4));
    let (velocity, spin) = (v(0.8, 0.3, -1.0), v(3.0, -5.0, 2.0));
    let mut body = cuboid("box", v(0.05, 0.04, 0.06));
    if !as_link {
        (body.pose, body.velocity, body.angular_velocity) = (start, velocity, spin);
        // The joint's velocity is that of its origin.
        body.velocity += spin.cross(&(start.rotation * body.center()));
    }
    let bodies = vec![ground(), body];
    let mut joint = link(1, None, Joint::new(JointKind::Free));
    joint.position = Some(JointPosition::Pose(start));
    joint.rates = velocity.iter().chain(spin.iter()).copied().collect();
    let articulation = Articulation::new(&bodies, vec![joint], Vec::new()).unwrap();
    let mut scene = Scene::new(G, bodies).unwrap();
    if as_link {
        scene = scene.with_articulation(articulation).unwrap();
    }
    let settings = settings(Method::BackwardEuler, DissipationSchedule::CurrentGeometry);
    simulator(&scene, settings, dt, 60)
}

#[test]
fn tree_of_one_free_joint_is_the_free_body() {
    let [body, tree] = [false, true].map(|as_link| {
        let simulator = thrown(as_link, 2e-3);
        simulator.run(&simulator.parameters()).unwrap()
    });
    let found = deviation(&body, &tree, (1, 1), 60);
    assert!(found < 1e-11, "{found:e}");
}

#[test]
fn chain_of_fixed_joints_is_the_composite_body() {
    let parts = ["a", "b", "c"].map(inert);
    let frames = [
        Pose::identity(),
        pose(v(0.1, 0.02, -0.03), v(0.3, -0.2, 0.5)),
        pose(v(0.05, 0.12, 0.07), v(-0.6, 0.1, 0.2)),
    ];
    let (mut mass, mut moment) = (0.0, Vector3::zeros());
    for (part, frame) in parts.iter().zip(&frames) {
        mass += part.mass().unwrap().mass();
        moment += frame.transform_point(&part.center()) * part.mass().unwrap().mass();
    }
    let center = moment / mass;
    let mut inertia = Matrix3::zeros();
    for (part, frame) in parts.iter().zip(&frames) {
        let m = part.mass().unwrap();
        let arm = frame.transform_point(&part.center()) - center;
        inertia += frame.rotation * m.inertia() * frame.rotation.transpose();
        inertia += (Matrix3::identity() * arm.norm_squared() - arm * arm.transpose()) * m.mass();
    }
    let start = pose(v(0.0, 0.0, 1.0), v(0.2, 0.1, -0.3));
    let spin = v(4.0, -2.0, 3.0);
    let mut whole = Body::dynamic("a", MassProperties::new(mass, center, inertia).unwrap());
    (whole.pose, whole.angular_velocity) = (start, spin);
    whole.velocity = v(0.5, 0.2, 1.0) + spin.cross(&(start.rotation * center));
    let mut root = link(0, None, Joint::new(JointKind::Free));
    root.position = Some(JointPosition::Pose(start));
    root.rates = vec![0.5, 0.2, 1.0, 4.0, -2.0, 3.0];
    let fixed = |body: usize| {
        let relative = Pose {
            position: frames[body - 1].inverse_transform_point(&frames[body].position),
            rotation: frames[body - 1].rotation.transpose() * frames[body].rotation,
        };
        link(body, Some(body - 1), Joint::new(JointKind::Fixed).placed(relative))
    };
    let articulation =
        Articulation::new(&parts, vec![root, fixed(1), fixed(2)], Vec::new()).unwrap();
    let chain = Scene::new(G, parts.to_vec()).unwrap().with_articulation(articulation).unwrap();
    let single = Scene::new(G, vec![whole]).unwrap();
    for method in Method::ALL {
        let settings = settings(method, DissipationSchedule::CurrentGeometry);
        let run = |scene: &Scene, steps: usize| {
            let simulator = simulator(scene, settings, 0.2 / steps as f64, steps);
            let trajectory = simulator.run(&simulator.parameters()).unwrap();
            let center = simulator.parameters().bodies[0].center;
            trajectory.path.state(steps)[0].kinematics(&center)
        };
        let apart = |steps: usize| {
            let (a, b) = (run(&chain, steps), run(&single, steps));
            (a.position - b.position).norm() + (a.rotation - b.rotation).norm()
        };
        // Combinations are of each link's velocity, and of the position of the joint frame: only a method that combines
        // nothing moves the chain as it moves the body; with the others the two converge to one motion.
        if method == Method::BackwardEuler {
            let found = apart(40);
            assert!(found < 1e-10, "{found:e}");
        } else {
            let (coarse, fine) = (apart(40), apart(80));
            assert!(fine < 0.6 * coarse && fine < 5e-3, "{method:?}: {coarse:e} {fine:e}");
        }
    }
}

/// A pendulum about y: a block of inertia `i` whose centre of mass is `l` below the joint.
fn pendulum(angle: f64, method: Method, dt: f64, steps: usize) -> (Simulator, f64, f64, f64) {
    let (m, l, i) = (0.7, 0.3, 0.011);
    let inertia = Matrix3::from_diagonal(&v(0.009, i, 0.006));
    let body = Body::dynamic("bob", MassProperties::new(m, v(0.0, 0.0, -l), inertia).unwrap());
    let mut joint = link(0, None, Joint::new(JointKind::Revolute { axis: Vector3::y() }));
    joint.position = Some(JointPosition::Scalar(angle));
    let bodies = vec![body];
    let articulation = Articulation::new(&bodies, vec![joint], Vec::new()).unwrap();
    let scene = Scene::new(v(0.0, 0.0, -9.81), bodies).unwrap();
    let scene = scene.with_articulation(articulation).unwrap();
    let settings = settings(method, DissipationSchedule::CurrentGeometry);
    (simulator(&scene, settings, dt, steps), m, l, i + m * l * l)
}

/// Arithmetic-geometric mean.
fn agm(mut a: f64, mut b: f64) -> f64 {
    for _ in 0..30 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

/// Time between the first and the third zero of the angle \[s\], by linear interpolation.
fn period(simulator: &Simulator) -> f64 {
    let trajectory = simulator.run(&simulator.parameters()).unwrap();
    let times = simulator.times();
    let angle =
        |k: usize| trajectory.path.joints(k).unwrap().configuration.joints()[0].scalar().unwrap();
    let zeros: Vec<f64> = (0..simulator.steps())
        .filter(|&k| angle(k) * angle(k + 1) <= 0.0)
        .map(|k| times[k] + (times[k + 1] - times[k]) * angle(k) / (angle(k) - angle(k + 1)))
        .collect();
    zeros[2] - zeros[0]
}

#[test]
fn period_of_a_pendulum_converges_to_the_closed_form() {
    for angle in [0.1_f64, 1.0] {
        let (_, m, l, i) = pendulum(angle, Method::Bdf2, 1.0, 1);
        let small = std::f64::consts::TAU * (i / (m * 9.81 * l)).sqrt();
        let exact = small / agm(1.0, (angle / 2.0).cos());
        for method in [Method::Bdf2, Method::Dirk33, Method::SymplecticDirk12] {
            let error = |steps: usize| {
                let (simulator, ..) = pendulum(angle, method, exact / steps as f64, 2 * steps);
                (period(&simulator) - exact).abs() / exact
            };
            let errors = [200, 400, 800].map(error);
            // Rotations, and links that follow joint coordinates, are of first order in the step.
            println!("{angle} {method:?}: {errors:?}");
            assert!(
                errors[2] < 0.6 * errors[1] + 1e-5 && errors[2] < 0.01,
                "{method:?} {errors:?}"
            );
        }
    }
}

#[test]
fn energy_of_a_pendulum_is_kept_to_first_order_and_never_gained_by_backward_euler() {
    for method in Method::ALL {
        let energies = |steps: usize| -> Vec<f64> {
            let (simulator, ..) = pendulum(2.0, method, 1.0 / steps as f64, steps);
            let p = simulator.parameters();
            let trajectory = simulator.run(&p).unwrap();
            let energy = |k| simulator.energies(&trajectory, &p, k).unwrap();
            (0..=steps).map(|k| energy(k).kinetic + energy(k).gravitational).collect()
        };
        let drift = |e: &[f64]| (e[e.len() - 1] - e[0]).abs() / (0.7 * 9.81 * 0.3);
        let (coarse, fine) = (energies(200), energies(400));
        println!("{method:?}: {:.1e} {:.1e}", drift(&coarse), drift(&fine));
        assert!(drift(&fine) < 0.65 * drift(&coarse) + 1e-4, "{method:?}");
        if method == Method::BackwardEuler {
            assert!(coarse.windows(2).all(|w| w[1] <= w[0] + 1e-12));
        }
    }
}

#[test]
fn free_tree_keeps_its_linear_momentum() {
    let bodies: Vec<Body> = ["a", "b", "c"].map(inert).to_vec();
    let mut root = link(0, None, Joint::new(JointKind::Free));
    root.rates = vec![0.3, 0.1, -0.2, 1.0, 2.0, -1.5];
    let mut hinge = link(
        1,
        Some(0),
        Joint::new(JointKind::Revolute { axis: Vector3::x() })
            .placed(pose(v(0.0, 0.05, 0.0), v(0.0, 0.0, 0.3))),
    );
    hinge.rates = vec![5.0];
    hinge.joint.laws.friction = friction();
    let mut ball = link(
        2,
        Some(1),
        Joint::new(JointKind::Spherical).placed(pose(v(0.0, 0.0, 0.1), v(0.0, 0.0, 0.0))),
    );
    ball.rates = vec![-3.0, 1.0, 2.0];
    let articulation = Articulation::new(&bodies, vec![root, hinge, ball], Vec::new()).unwrap();
    let scene =
        Scene::new(Vector3::zeros(), bodies).unwrap().with_articulation(articulation).unwrap();
    for method in Method::ALL {
        let simulator =
            simulator(&scene, settings(method, DissipationSchedule::CurrentGeometry), 4e-3, 50);
        let trajectory = simulator.run(&simulator.parameters()).unwrap();
        let momentum = |k: usize| {
            let states = trajectory.path.state(k);
            states.iter().fold(Vector3::zeros(), |sum, y| sum + y.velocity * 0.37)
        };
        let found = (1..=50).map(|k| (momentum(k) - momentum(0)).norm()).fold(0.0, f64::max);
        assert!(found < 1e-9, "{method:?}: {found:e}");
    }
}

#[test]
fn wrench_on_a_link_reaches_its_ancestors_only() {
    let scene = machine(ClosureKind::Ball);
    let mut settings = settings(Method::BackwardEuler, DissipationSchedule::CurrentGeometry);
    settings.newton.tolerance = 1e-12;
    // A fixed base, no closures: what pushes the slide does not move the arm.
    let bodies = scene.bodies[2..5].to_vec();
    let joint = |axis| Joint::new(JointKind::Revolute { axis });
    let joints = vec![
        link(0, None, joint(Vector3::y())),
        link(1, Some(0), joint(Vector3::x()).placed(pose(v(0.0, 0.0, 0.2), Vector3::zeros()))),
        link(2, None, joint(Vector3::y()).placed(pose(v(1.0, 0.0, 0.0), Vector3::zeros()))),
    ];
    let articulation = Articulation::new(&bodies, joints, Vec::new()).unwrap();
    let scene = Scene::new(G, bodies).unwrap().with_articulation(articulation).unwrap();
    let simulator = simulator(&scene, settings, 2e-3, 5);
    let run = |pushed: Option<usize>| {
        let mut p = simulator.parameters();
        p.wrenches = vec![Wrench::zero(); 15];
        if let Some(i) = pushed {
            (0..5).for_each(|k| p.wrenches[3 * k + i].force = v(1.0, 2.0, 0.5));
        }
        let trajectory = simulator.run(&p).unwrap();
        let joints = trajectory.path.joints(5).unwrap().configuration.joints().to_vec();
        [0, 1, 2].map(|i| joints[i].scalar().unwrap())
    };
    let at_rest = run(None);
    let moved = |pushed: usize| {
        let q = run(Some(pushed));
        [0, 1, 2].map(|i| (q[i] - at_rest[i]).abs() > 1e-10)
    };
    assert_eq!(moved(0), [true, true, false], "the child follows by inertia");
    assert_eq!(moved(1), [true, true, false]);
    assert_eq!(moved(2), [false, false, true]);
}

#[test]
fn adjacent_links_do_not_touch_until_the_filter_enables_them() {
    let mut scene = machine(ClosureKind::Ball);
    let allowed = |scene: &Scene, a: usize, b: usize| scene.filter.allows(a, b);
    for (a, b) in [(1, 2), (2, 3), (1, 4), (4, 5)] {
        assert!(!allowed(&scene, a, b) && !allowed(&scene, b, a), "{a} {b}");
    }
    assert!(allowed(&scene, 1, 3) && allowed(&scene, 2, 4));
    use osculate_geometry::filter::{Direction, Nested};
    scene.filter.enable_actors((1, 2), true, Direction::OneWay, Nested::No).unwrap();
    assert!(allowed(&scene, 1, 2) && !allowed(&scene, 2, 1));
}

#[test]
fn numbers_of_joints_that_do_not_fit_are_refused() {
    let (simulator, ..) = pendulum(0.3, Method::BackwardEuler, 1e-2, 4);
    let refused = |change: &dyn Fn(&mut Parameters)| {
        let mut p = simulator.parameters();
        change(&mut p);
        simulator.run(&p).unwrap_err().to_string()
    };
    let message = refused(&|p| p.articulation.as_mut().unwrap().efforts = vec![0.0; 3]);
    assert!(message.contains("joint efforts: 3 given, 4 needed"), "{message}");
    let message = refused(&|p| p.articulation.as_mut().unwrap().initial.rates.clear());
    assert!(message.contains("initial joint velocities: 0 given, 1 needed"), "{message}");
    let message = refused(&|p| p.articulation = None);
    assert!(message.contains("articulations of the parameters: 0 given, 1 needed"), "{message}");
    let states = vec![simulator.run(&simulator.parameters()).unwrap().path.state(0).to_vec()];
    let message = simulator.run_from_history(&simulator.parameters(), &states).unwrap_err();
    assert!(message.to_string().contains("joints"), "{message}");
}
