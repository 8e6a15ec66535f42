//! Articulated bodies under the compliant model: laws of motion, and derivatives of whole trajectories.

mod common;

use common::{Final, contact, cuboid, ground, outcome_at};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactLaw, DissipationSchedule};
use osculate_dynamics::articulated::{
    Attachment, ClosureKind, Joint, JointDrive, JointFriction, JointKind, JointLimits,
    JointPosition, LoopClosure,
};
use osculate_dynamics::sensitivity::{adjoint, hessian, tangent};
use osculate_dynamics::{
    Articulation, Body, InitialRate, Layout, LinkJoint, Method, NewtonSettings, Parameters, Scene,
    Settings, Simulator, Trajectory, Wrench,
};
use osculate_geometry::mass::MassProperties;
use osculate_math::{se3::Pose, so3};

const G: Vector3<f64> = Vector3::new(0.3, -0.2, -9.81);

fn v(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

fn pose(position: Vector3<f64>, turn: Vector3<f64>) -> Pose {
    Pose { position, rotation: so3::exp(&turn) }
}

fn link(body: usize, parent: Option<usize>, joint: Joint) -> LinkJoint {
    LinkJoint { body, parent, joint, position: None, rates: Vec::new() }
}

fn settings(method: Method, schedule: DissipationSchedule) -> Settings {
    Settings {
        method,
        law: ContactLaw { schedule, ..Default::default() },
        newton: NewtonSettings { tolerance: 1e-13, ..Default::default() },
        ..Default::default()
    }
}

fn simulator(scene: &Scene, settings: Settings, dt: f64, steps: usize) -> Simulator {
    Simulator::new(scene.clone(), settings, vec![dt; steps]).unwrap()
}

/// A block with a point of mass nowhere special; it touches nothing.
fn inert(name: &str) -> Body {
    let mut body = cuboid(name, v(0.03, 0.05, 0.08));
    body.samples = None;
    body
}

fn friction() -> JointFriction {
    JointFriction {
        viscous: 0.02,
        coulomb: 0.05,
        stiction_extra: 0.03,
        stribeck_speed: 0.4,
        falloff_speed: 0.3,
    }
}

/// A scene in which every kind of joint, law and closure is at work, with a body that is no link, on the ground.
fn machine(closure: ClosureKind) -> Scene {
    let mut bodies = vec![ground(), cuboid("base", v(0.08, 0.06, 0.03))];
    bodies[1].contact = contact(1e7);
    bodies.extend(["arm", "wrist", "slide", "tip"].map(inert));
    bodies.push(cuboid("box", Vector3::repeat(0.04)));
    bodies[6].pose.position = v(0.4, 0.1, 0.039);
    bodies[6].velocity = v(0.2, -0.1, -0.3);
    let mut base =
        link(1, None, Joint::new(JointKind::Free).placed(pose(v(0.0, 0.1, 0.0), v(0.1, 0.0, 0.4))));
    base.position = Some(JointPosition::Pose(pose(v(0.02, 0.0, 0.031), v(-0.1, 0.05, 0.2))));
    base.rates = vec![0.3, -0.1, -0.4, 0.5, -0.3, 0.8];
    let axis = v(0.3, 0.9, -0.2).normalize();
    let mut arm = link(
        2,
        Some(1),
        Joint::new(JointKind::Revolute { axis })
            .placed(pose(v(0.05, 0.0, 0.03), v(0.2, -0.1, 0.3)))
            .with_offset(pose(v(0.01, 0.02, 0.08), v(0.1, 0.3, -0.2)))
            .with_armature(2e-3),
    );
    arm.joint.laws.friction = friction();
    arm.joint.laws.limits =
        Some(JointLimits { lower: -1.0, upper: 0.35, stiffness: 40.0, damping: 0.3 });
    arm.position = Some(JointPosition::Scalar(0.4));
    arm.rates = vec![1.3];
    let mut wrist = link(
        3,
        Some(2),
        Joint::new(JointKind::Spherical)
            .placed(pose(v(0.0, 0.01, 0.09), v(-0.3, 0.2, 0.1)))
            .with_offset(pose(v(0.0, 0.0, 0.08), v(0.0, 0.2, 0.0)))
            .with_armature(1e-3),
    );
    wrist.joint.laws.friction = friction();
    wrist.position = Some(JointPosition::Rotation(so3::exp(&v(0.4, -0.3, 0.6))));
    wrist.rates = vec![-0.7, 1.1, 0.4];
    let mut slide = link(
        4,
        Some(1),
        Joint::new(JointKind::Prismatic { axis: v(0.0, 0.6, 0.8) })
            .placed(pose(v(-0.05, 0.0, 0.03), v(0.0, 0.3, 0.0)))
            .with_armature(0.05),
    );
    slide.joint.laws.drive = Some(JointDrive {
        effort: 0.4,
        stiffness: 30.0,
        damping: 2.0,
        target: 0.12,
        target_velocity: 0.1,
        effort_limit: Some(50.0),
    });
    slide.position = Some(JointPosition::Scalar(0.07));
    slide.rates = vec![-0.2];
    let tip = link(
        5,
        Some(4),
        Joint::new(JointKind::Fixed).placed(pose(v(0.0, 0.1, 0.02), v(0.3, 0.0, 0.1))),
    );
    let attached = |link, position, turn| Attachment { link, frame: pose(position, turn) };
    let mut spring = LoopClosure::new(
        "spring",
        closure,
        attached(Some(3), v(0.01, 0.0, 0.05), v(0.2, 0.1, 0.0)),
        attached(Some(5), v(0.0, 0.02, 0.05), v(-0.1, 0.3, 0.2)),
    );
    (spring.stiffness, spring.damping) = (60.0, 0.8);
    let mut rope = LoopClosure::new(
        "rope",
        ClosureKind::Ball,
        attached(None, v(0.1, 0.2, 0.5), Vector3::zeros()),
        attached(Some(3), v(0.0, 0.0, 0.02), Vector3::zeros()),
    );
    (rope.stiffness, rope.damping) = (20.0, 0.1);
    let joints = vec![tip, wrist, arm, base, slide];
    let articulation = Articulation::new(&bodies, joints, vec![spring, rope]).unwrap();
    Scene::new(G, bodies).unwrap().with_articulation(articulation).unwrap()
}

/// The scene's numbers with forces on bodies and joints, and targets, of every step.
fn parameters(simulator: &Simulator) -> Parameters {
    let dynamic = simulator.scene().dynamic_bodies().count();
    let mut p = simulator.parameters();
    let wave = |i: usize| (1.7 * i as f64).sin();
    p.wrenches = (0..simulator.steps() * dynamic)
        .map(|i| Wrench { force: v(0.02, 0.01 * wave(i), -0.01), torque: v(1e-4, -2e-4, 1e-4) })
        .collect();
    let joints = p.articulation.as_mut().unwrap();
    let count = simulator.steps() * joints.model.dofs();
    joints.efforts = (0..count).map(|i| 0.01 * wave(i + 3)).collect();
    joints.targets = (0..count).map(|i| 0.1 + 0.01 * wave(i)).collect();
    p
}

/// Largest difference of two gradients, relative to the largest entry of the same unit.
fn worst(layout: &Layout, a: &[f64], b: &[f64]) -> (f64, String) {
    let unit = |i: usize| layout.entries()[i].unit;
    (0..a.len())
        .map(|i| {
            let alike = (0..a.len()).filter(|&j| unit(j) == unit(i));
            let scale = alike.map(|j| a[j].abs()).fold(1e-300, f64::max);
            ((a[i] - b[i]).abs() / scale, layout.entries()[i].path.clone())
        })
        .max_by(|x, y| x.0.total_cmp(&y.0))
        .unwrap()
}

#[test]
fn adjoint_equals_tangent_for_every_parameter_method_and_schedule() {
    let mut overall = (0.0, String::new());
    for (index, method) in Method::ALL.into_iter().enumerate() {
        let closures = [ClosureKind::Ball, ClosureKind::Revolute, ClosureKind::Fixed];
        let scene = machine(closures[index % 3]);
        let schedule = DissipationSchedule::ALL[index % 3];
        let mut settings = settings(method, schedule);
        if index % 2 == 0 {
            settings.initial_rate = InitialRate::FirstStep;
        }
        let simulator = simulator(&scene, settings, 3e-3, 6);
        let p = parameters(&simulator);
        let trajectory = simulator.run(&p).unwrap_or_else(|e| panic!("{method:?}: {e}"));
        let layout = Layout::new(simulator.scene(), &p);
        let outcome = Final { steps: 6 };
        let (value, reverse) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        let late =
            |path: &str| [".wrench.", ".effort", ".target."].iter().any(|w| path.contains(w));
        let which: Vec<usize> = (0..layout.len())
            .filter(|&i| {
                let path = &layout.entries()[i].path;
                !late(path) || path.ends_with(".4") || path.contains(".wrench.4.")
            })
            .collect();
        let (again, forward) =
            tangent::gradient::<12>(&simulator, &trajectory, &p, &which, &outcome).unwrap();
        assert!(
            (value - again).abs() < 1e-13 * value.abs().max(1.0),
            "{method:?}: {value} {again}"
        );
        let mut full = reverse.clone();
        which.iter().zip(forward).for_each(|(&i, x)| full[i] = x);
        let (error, path) = worst(&layout, &reverse, &full);
        println!("{method:?} {schedule:?}: {error:.1e} at {path}");
        assert!(error < 1e-11, "{method:?} {schedule:?} {path}: {error:e}");
        overall = if error > overall.0 { (error, path) } else { overall };
    }
    println!("adjoint = tangent: worst relative difference {:.2e} at {}", overall.0, overall.1);
}

/// Extrapolated central differences over a ladder of steps, and how far neighbouring rungs are apart.
fn richardson(f: impl Fn(f64) -> f64, h: f64) -> (f64, f64) {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    let rungs: Vec<f64> = (-2..3)
        .map(|k| {
            let h = h * 4.0_f64.powi(-k);
            (4.0 * central(h / 2.0) - central(h)) / 3.0
        })
        .collect();
    rungs
        .windows(2)
        .map(|w| (w[1], (w[1] - w[0]).abs()))
        .min_by(|x, y| x.1.total_cmp(&y.1))
        .unwrap()
}

#[test]
fn adjoint_equals_differences_where_the_outcome_is_smooth() {
    let (mut judged, mut skipped, mut overall) = (0, 0, (0.0, String::new()));
    for (index, (method, schedule, closure)) in [
        (Method::BackwardEuler, DissipationSchedule::CurrentGeometry, ClosureKind::Ball),
        (Method::Bdf2, DissipationSchedule::Current, ClosureKind::Revolute),
        (Method::Dirk23, DissipationSchedule::StageStart, ClosureKind::Fixed),
    ]
    .into_iter()
    .enumerate()
    {
        let scene = machine(closure);
        let simulator = simulator(&scene, settings(method, schedule), 3e-3, 6);
        let p = parameters(&simulator);
        let trajectory = simulator.run(&p).unwrap();
        let layout = Layout::new(simulator.scene(), &p);
        let outcome = Final { steps: 6 };
        let (_, gradient) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        let values = layout.values(&p);
        for (i, entry) in layout.entries().iter().enumerate() {
            let step = |w: &str| entry.path.contains(w) && !entry.path.contains(".4");
            // Each parameter with one of the three.
            if step(".wrench.") || step(".effort") || step(".target.") || i % 3 != index {
                continue;
            }
            let h = match entry.unit {
                "m" => 1e-5,
                "kg m²" => 1e-7,
                "rad" => 1e-4,
                _ => (values[i].abs() * 1e-2).max(1e-3),
            };
            let f = |t: f64| {
                let mut q = p.clone();
                layout.add(&mut q, i, t);
                outcome_at(&simulator, &q)
            };
            let alike = (0..layout.len()).filter(|&j| layout.entries()[j].unit == entry.unit);
            let unit = alike.map(|j| gradient[j].abs()).fold(1e-300, f64::max);
            let (numeric, spread) = richardson(f, h);
            if spread > 1e-7 * unit {
                skipped += 1;
                continue;
            }
            judged += 1;
            let error = (numeric - gradient[i]).abs() / unit;
            let what = format!("{method:?} {}", entry.path);
            assert!(error < 1e-7, "{what}: {} by differences {numeric}, {error:e}", gradient[i]);
            overall = if error > overall.0 { (error, what) } else { overall };
        }
    }
    println!(
        "adjoint = differences: worst {:.2e} at {}; {judged} judged, {skipped} not smooth",
        overall.0, overall.1
    );
    assert!(judged > 3 * skipped, "{judged} judged, {skipped} skipped");
}

#[test]
fn hessian_is_the_difference_of_the_adjoint() {
    let scene = machine(ClosureKind::Fixed);
    let mut settings = settings(Method::Bdf2, DissipationSchedule::Current);
    settings.initial_rate = InitialRate::FirstStep;
    let simulator = simulator(&scene, settings, 3e-3, 4);
    let p = simulator.parameters();
    let trajectory = simulator.run(&p).unwrap();
    let layout = Layout::new(simulator.scene(), &p);
    let outcome = Final { steps: 4 };
    let chosen = |path: &str| {
        let joint = path.starts_with("joint.") || path.starts_with("loop.");
        joint || path.contains(".mass") || path.contains(".center") || path.contains(".mu")
    };
    let turns = |i: &usize| layout.entries()[*i].path.contains("rotation");
    let which: Vec<usize> =
        (0..layout.len()).filter(|&i| chosen(&layout.entries()[i].path)).collect();
    let h = hessian::hessian::<8>(&simulator, &trajectory, &p, &which, &outcome).unwrap();
    let gradient_at = |i: usize, t: f64| {
        let mut q = p.clone();
        layout.add(&mut q, i, t);
        let trajectory = simulator.run(&q).unwrap();
        adjoint::gradient(&simulator, &trajectory, &q, &outcome).unwrap().1
    };
    let values = layout.values(&p);
    let (mut judged, mut skipped, mut overall) = (0, 0, (0.0, String::new()));
    for (column, &i) in which.iter().enumerate().filter(|(_, i)| !turns(i)) {
        let step = match layout.entries()[i].unit {
            "m" => 1e-5,
            "rad" => 1e-4,
            _ => (values[i].abs() * 1e-2).max(1e-3),
        };
        let rung = |h: f64| {
            let of = |h: f64| {
                let (a, b) = (gradient_at(i, h), gradient_at(i, -h));
                a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>()
            };
            let (coarse, fine) = (of(h), of(h / 2.0));
            fine.iter().zip(coarse).map(|(f, c)| (4.0 * f - c) / 3.0).collect::<Vec<f64>>()
        };
        let (first, second) = (rung(step), rung(step / 8.0));
        for (row, &j) in which.iter().enumerate().filter(|(_, j)| !turns(j)) {
            let alike = which.iter().enumerate();
            let alike =
                alike.filter(|(_, k)| layout.entries()[**k].unit == layout.entries()[j].unit);
            let unit = alike.map(|(k, _)| h[(k, column)].abs()).fold(1e-300, f64::max);
            if (first[j] - second[j]).abs() > 1e-5 * unit {
                skipped += 1;
                continue;
            }
            judged += 1;
            let error = (second[j] - h[(row, column)]).abs() / unit;
            let what = format!("∂²/∂{}∂{}", layout.entries()[j].path, layout.entries()[i].path);
            assert!(error < 3e-5, "{what}: {} by differences {}", h[(row, column)], second[j]);
            overall = if error > overall.0 { (error, what) } else { overall };
        }
    }
    println!(
        "Hessian = differences: worst {:.2e} at {}; {judged} judged, {skipped} not smooth",
        overall.0, overall.1
    );
    assert!(judged > 3 * skipped, "{judged} judged, {skipped} skipped");
}

#[test]
fn checkpoints_give_the_same_bits() {
    let scene = machine(ClosureKind::Ball);
    for method in [Method::Bdf3, Method::Dirk33] {
        let simulator =
            simulator(&scene, settings(method, DissipationSchedule::CurrentGeometry), 3e-3, 7);
        let p = parameters(&simulator);
        let trajectory = simulator.run(&p).unwrap();
        let outcome = Final { steps: 7 };
        let (_, full) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        for interval in [1, 3] {
            let (_, gradient) =
                adjoint::checkpointed_gradient(&simulator, &p, &outcome, interval).unwrap();
            for (a, b) in full.iter().zip(&gradient) {
                assert_eq!(a.to_bits(), b.to_bits(), "{method:?} interval {interval}");
            }
        }
    }
}

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
