//! What is conserved, exactly or to the order of the method; and that no frame is preferred.

mod common;

use common::laws::{G, Sci, block, order, plain, plane, roll, settings, thrown};
use common::{cases, contact, ground, place};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{
    Body, BodyKind, BodyState, Method, RotationUpdate, Scene, Settings, Simulator, Trajectory,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::se3::Pose;
use osculate_math::so3;

fn law(method: Method, schedule: DissipationSchedule) -> Settings {
    settings(method, schedule, FrictionRamp::C1)
}

/// A slab that samples and collides, and a ball that does both, meeting off centre with friction and damping.
fn collision() -> Scene {
    let rough = ContactParams { friction: 0.5, damping: 0.3, falloff_speed: 0.05, ..contact(1e7) };
    let half = Vector3::new(0.09, 0.08, 0.03);
    let body = |name: &str, mass: MassProperties, mesh: &TriangleMesh| {
        let mut body = Body::dynamic(name, mass);
        body.samples = Some(SurfaceSamples::from_mesh(mesh, TriangleRule::P1Q3));
        body.contact = rough;
        body
    };
    let box_mesh = TriangleMesh::refined_cuboid(&half, 4).unwrap();
    let mut slab = body("slab", MassProperties::cuboid(0.9, &half).unwrap(), &box_mesh);
    slab.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
    let ball_mesh = TriangleMesh::icosphere(0.05, 2).unwrap();
    let mut ball = body("ball", MassProperties::sphere(0.4, 0.05).unwrap(), &ball_mesh);
    ball.collider = Some(Collider::sphere(Vector3::zeros(), 0.05).unwrap());
    let slab = place(slab, [0.0; 3], [0.1, 0.2, 0.0], [0.1, 0.0, 0.4], [0.5, 0.0, 0.2]);
    let ball = place(ball, [0.05, 0.03, 0.09], [0.0; 3], [0.3, -0.2, -1.5], [2.0, 5.0, -1.0]);
    Scene::new(Vector3::zeros(), vec![slab, ball]).unwrap()
}

/// Linear momentum, and angular momentum about the origin.
fn momenta(scene: &Scene, states: &[BodyState]) -> (Vector3<f64>, Vector3<f64>) {
    let mut sum = (Vector3::zeros(), Vector3::zeros());
    for (body, y) in scene.bodies.iter().zip(states) {
        if let Some(mass) = body.mass() {
            let p = y.velocity * mass.mass();
            let spin = y.rotation * mass.inertia() * y.rotation.transpose() * y.angular_velocity();
            sum.0 += p;
            sum.1 += y.center.cross(&p) + spin;
        }
    }
    sum
}

#[test]
fn collision_of_two_free_bodies_conserves_linear_momentum() {
    let scene = collision();
    for method in Method::ALL {
        for schedule in DissipationSchedule::ALL {
            let (_, trajectory) = roll(scene.clone(), law(method, schedule), 5e-4, 120);
            let (before, _) = momenta(&scene, trajectory.path.state(0));
            let (after, _) = momenta(&scene, trajectory.path.state(120));
            let exchanged =
                (trajectory.path.state(120)[1].velocity - scene.bodies[1].velocity).norm();
            assert!(exchanged > 0.5, "they did not collide");
            let error = (after - before).norm() / before.norm();
            assert!(error < 1e-11, "{method:?} {schedule:?}: {error:e}");
        }
    }
}

#[test]
fn collision_of_two_free_bodies_conserves_angular_momentum_in_the_limit_of_short_steps() {
    // The torques of a pair cancel exactly (assembly_tests.rs); the rotational state is of first order in Δt.
    let scene = collision();
    for method in [Method::BackwardEuler, Method::Bdf2, Method::Dirk33] {
        let errors = [120, 240, 480, 960].map(|n| {
            let law = law(method, DissipationSchedule::Current);
            let (_, t) = roll(scene.clone(), law, 0.06 / n as f64, n);
            let (_, before) = momenta(&scene, t.path.state(0));
            (momenta(&scene, t.path.state(n)).1 - before).norm() / before.norm()
        });
        println!(
            "{method:?}: angular momentum lost {:?} slope {:.2}",
            Sci(&errors),
            order(&errors)
        );
        assert!(order(&errors) > 0.8 && errors[3] < 5e-3);
    }
}

#[test]
fn collision_in_the_chart_conserves_angular_momentum_exactly_with_symplectic_methods() {
    // The spin is linear in the state; c × m v is bilinear, which symplectic methods conserve.
    let scene = collision();
    for method in [Method::SymplecticDirk12, Method::SymplecticDirk22] {
        for schedule in DissipationSchedule::ALL {
            let law = Settings { rotation: RotationUpdate::Chart, ..law(method, schedule) };
            let (_, t) = roll(scene.clone(), law, 5e-4, 120);
            let (_, before) = momenta(&scene, t.path.state(0));
            let (_, after) = momenta(&scene, t.path.state(120));
            let exchanged = (t.path.state(120)[1].velocity - scene.bodies[1].velocity).norm();
            assert!(exchanged > 0.5, "they did not collide");
            let error = (after - before).norm() / before.norm();
            println!("{method:?} {schedule:?}: angular momentum off by {error:.1e}");
            assert!(error < 1e-11, "{method:?} {schedule:?}: {error:e}");
        }
    }
}

/// A free body about no principal axis.
fn tumbling(turn: [f64; 3], spin: [f64; 3], inertia: Matrix3<f64>) -> Scene {
    let mass = MassProperties::new(0.37, Vector3::zeros(), inertia).unwrap();
    let body = place(Body::dynamic("body", mass), [0.0; 3], turn, [0.0; 3], spin);
    Scene::new(Vector3::zeros(), vec![body]).unwrap()
}

#[test]
fn free_rotation_conserves_angular_momentum_and_energy_in_the_limit_of_short_steps() {
    let inertia = Matrix3::from_diagonal(&Vector3::new(2e-3, 3e-3, 4e-3));
    let scene = tumbling([0.3, 0.2, 0.1], [4.0, 1.0, -2.0], inertia);
    for method in Method::ALL {
        let errors: Vec<[f64; 2]> = [200, 400, 800]
            .iter()
            .map(|&n| {
                let law = law(method, DissipationSchedule::Current);
                let (simulator, t) = roll(scene.clone(), law, 0.5 / n as f64, n);
                let (_, before) = momenta(&scene, t.path.state(0));
                let p = simulator.parameters();
                let energy = |k: usize| simulator.energies(&t, &p, k).unwrap().kinetic;
                let lost = (momenta(&scene, t.path.state(n)).1 - before).norm() / before.norm();
                [lost, (energy(n) / energy(0) - 1.0).abs()]
            })
            .collect();
        let slopes = [0, 1].map(|i| order(&errors.iter().map(|e| e[i]).collect::<Vec<_>>()));
        println!("{method:?}: L and energy off by {:?} slopes {slopes:.2?}", Sci(&errors[2]));
        assert!(slopes.iter().all(|s| *s > 0.9), "{method:?}: {slopes:?}");
    }
}

#[test]
fn spin_about_a_principal_axis_follows_the_closed_form_of_the_stage() {
    // Planar: R J R̃ᵀ is symmetric where tan θ = Δt ω⁰/(1 + Δt σ⁰); then ω = sin θ/Δt, σ = (1 − cos θ)/Δt.
    let inertia = Matrix3::from_diagonal(&Vector3::new(2e-3, 3e-3, 4e-3));
    let (dt, steps) = (0.02, 50);
    let scene = tumbling([0.0; 3], [0.0, 0.0, 5.0], inertia);
    let (_, t) = roll(scene, law(Method::BackwardEuler, DissipationSchedule::Current), dt, steps);
    let (mut angle, mut spin, mut stretch): (f64, f64, f64) = (0.0, 5.0, 0.0);
    for k in 1..=steps {
        let turned = (dt * spin).atan2(1.0 + dt * stretch);
        angle += turned;
        (spin, stretch) = (turned.sin() / dt, (1.0 - turned.cos()) / dt);
        let y = &t.path.state(k)[0];
        assert!((y.angular_velocity() - Vector3::z() * spin).norm() < 1e-10, "step {k}");
        let expected = so3::exp(&(Vector3::z() * angle));
        assert!((y.rotation - expected).norm() < 1e-11, "step {k}");
    }
    println!("spin of 5 rad/s after {steps} steps of {dt} s: {spin:.6} rad/s");
}

#[test]
fn symplectic_methods_keep_the_energy_of_a_bounce_deep_in_contact_and_euler_loses_it() {
    let contact = plain(1e6);
    let mut body = block("block", 0.37, Vector3::repeat(0.05), 0.01, contact);
    body = thrown(body, [0.0, 0.0, 0.0493], [0.0, 0.0, -0.02]);
    let scene = Scene::new(Vector3::new(0.0, 0.0, -G), vec![plane(contact), body]).unwrap();
    let (dt, steps) = (2e-3, 4000);
    let drift = |method: Method| {
        let (simulator, t) =
            roll(scene.clone(), law(method, DissipationSchedule::Current), dt, steps);
        let p = simulator.parameters();
        let energy = |k: usize| {
            let e = simulator.energies(&t, &p, k).unwrap();
            e.kinetic + e.gravitational + e.contact
        };
        // Of the energy above rest.
        let rest = 0.37 * G * (0.05 - 0.37 * G / 1e4) + 0.5 * (0.37 * G).powi(2) / 1e4;
        (1..=steps)
            .map(|k| ((energy(k) - energy(0)) / (energy(0) - rest)).abs())
            .fold(0.0, f64::max)
    };
    for method in [Method::SymplecticDirk12, Method::SymplecticDirk22] {
        let worst = drift(method);
        println!("{method:?}: energy of {steps} steps within {worst:.1e}");
        assert!(worst < 1e-8, "a quadratic energy is conserved exactly");
    }
    assert!(drift(Method::BackwardEuler) > 0.9);
}

#[test]
fn free_flight_is_the_exact_parabola_for_methods_of_second_order() {
    let (v, g) = (Vector3::new(0.7, -0.3, 2.0), Vector3::new(0.4, 0.1, -G));
    let mass = MassProperties::sphere(0.37, 0.05).unwrap();
    let body = place(Body::dynamic("ball", mass), [0.1, 0.2, 1.0], [0.0; 3], v.into(), [0.0; 3]);
    let start = body.pose.position;
    let scene = Scene::new(g, vec![body]).unwrap();
    let exact = |t: f64| BodyState {
        center: start + v * t + g * (0.5 * t * t),
        velocity: v + g * t,
        ..BodyState::at_rest(Pose::identity())
    };
    let (dt, steps) = (0.01, 100);
    for method in Method::ALL.into_iter().filter(|m| m.order() >= 2) {
        let law = law(method, DissipationSchedule::Current);
        let simulator = Simulator::new(scene.clone(), law, vec![dt; steps]).unwrap();
        // A multistep method has its order from a history only.
        let states = match method {
            Method::Bdf2 => 2,
            Method::Bdf3 => 3,
            _ => 1,
        };
        let history: Vec<_> = (0..states).map(|k| vec![exact(dt * k as f64)]).collect();
        let t = simulator.run_from_history(&simulator.parameters(), &history).unwrap();
        let (end, expected) = (&t.path.state(steps)[0], exact(1.0));
        let error =
            (end.center - expected.center).norm() + (end.velocity - expected.velocity).norm();
        assert!(error < 1e-11, "{method:?}: {error:e}");
    }
}

fn final_state(simulator: &Simulator, trajectory: &Trajectory, body: usize) -> BodyState {
    trajectory.path.state(simulator.steps())[body]
}

/// The scene seen from a frame that is turned and shifted.
fn moved(scene: &Scene, pose: &Pose) -> Scene {
    let r = pose.rotation;
    let mut scene = scene.clone();
    scene.gravity = r * scene.gravity;
    for b in &mut scene.bodies {
        b.pose.position = pose.transform_point(&b.pose.position);
        b.pose.rotation = r * b.pose.rotation;
        b.velocity = r * b.velocity;
        b.angular_velocity = r * b.angular_velocity;
        if let BodyKind::Static { motion } = &mut b.kind {
            for p in motion {
                *p = Pose { position: pose.transform_point(&p.position), rotation: r * p.rotation };
            }
        }
    }
    scene
}

#[test]
fn turning_and_shifting_the_whole_scene_turns_and_shifts_the_trajectory() {
    let pose = Pose {
        position: Vector3::new(0.3, -0.7, 0.4),
        rotation: so3::exp(&Vector3::new(0.8, -1.9, 0.5)),
    };
    let mut worst = 0.0_f64;
    for case in cases().into_iter().filter(|c| c.name != "stack") {
        for method in [Method::BackwardEuler, Method::Bdf2, Method::Dirk23] {
            for schedule in DissipationSchedule::ALL {
                // Short enough that rounding is not amplified by later impacts.
                let run = |scene: Scene| roll(scene, law(method, schedule), case.dt, 25);
                let (s, plain) = run(case.scene.clone());
                let (_, turned) = run(moved(&case.scene, &pose));
                let body = s.scene().dynamic_bodies().next().unwrap();
                let (a, b) = (final_state(&s, &plain, body), final_state(&s, &turned, body));
                let r = pose.rotation;
                let error = (b.center - pose.transform_point(&a.center)).norm()
                    + (b.rotation - r * a.rotation).norm()
                    + (b.velocity - r * a.velocity).norm()
                    + (b.angular_velocity() - r * a.angular_velocity()).norm();
                assert!(error < 1e-7, "{} {method:?} {schedule:?}: {error:e}", case.name);
                worst = worst.max(error);
            }
        }
    }
    println!("frame invariance: worst difference {worst:.1e}");
}

#[test]
fn ground_itself_may_move_without_a_change_of_frame() {
    // A body and a ground that drift together see the contact of a body and a ground at rest (Galilei).
    let drift = Vector3::new(0.4, -0.2, 0.3);
    let (dt, steps) = (1e-3, 40);
    let cube = cases().remove(0).scene.bodies.remove(1);
    let still = Scene::new(Vector3::new(0.1, -0.2, -G), vec![ground(), cube.clone()]).unwrap();
    let mut carried = still.clone();
    carried.bodies[1].velocity += drift;
    let at = |k: usize| Pose { position: drift * (dt * k as f64), rotation: Matrix3::identity() };
    carried.bodies[0].kind = BodyKind::Static { motion: (1..=steps).map(at).collect() };
    for schedule in DissipationSchedule::ALL {
        let run =
            |scene: &Scene| roll(scene.clone(), law(Method::BackwardEuler, schedule), dt, steps).1;
        let (a, b) = (run(&still), run(&carried));
        let (a, b) = (a.path.state(steps)[1], b.path.state(steps)[1]);
        let error = (b.center - a.center - drift * (dt * steps as f64)).norm()
            + (b.velocity - a.velocity - drift).norm()
            + (b.rotation - a.rotation).norm();
        assert!(error < 1e-8, "{schedule:?}: {error:e}");
    }
}
