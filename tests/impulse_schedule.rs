//! Orders of sweeps and responses of trees have one fixed point: colours, propagation and the plain sweep agree.

mod common;

use common::impulse::{ball, block, ground, scene};
use nalgebra::Vector3;
use osculate_dynamics::articulated::{
    ArticulatedModel, Joint, JointFriction, JointKind, JointLimits, Link, LinkInertia,
};
use osculate_dynamics::impulse::sensitivity::{ImpulseParameters, Linearisation};
use osculate_dynamics::impulse::{
    ArticulatedResponse, FrictionMode, ImpulseSettings, ImpulseSimulator, ImpulseStepper, SolveMode,
};
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{Body, Kinematics, Parameters, Scene};
use osculate_geometry::collider::Collider;
use osculate_math::{Scalar, se3::Pose};

const H: f64 = 1e-3;
/// Natural residual at which the solves compared here end.
const TOLERANCE: f64 = 1e-12;

fn settings(mode: SolveMode, response: ArticulatedResponse) -> ImpulseSettings {
    ImpulseSettings {
        solve_mode: mode,
        articulated_response: response,
        tolerance: TOLERANCE,
        sweeps: 100_000,
        ..ImpulseSettings::default()
    }
}

const MODES: [SolveMode; 2] = [SolveMode::Serial, SolveMode::Colored];
const RESPONSES: [ArticulatedResponse; 2] =
    [ArticulatedResponse::Immediate, ArticulatedResponse::Propagation];

fn at(x: f64, z: f64) -> Pose {
    Pose { position: Vector3::new(x, 0.0, z), ..Pose::identity() }
}

/// A chain of four bars with a ball at the end of each, hung up by one end, that falls on the ground across a free box: contacts
/// of links with the ground, with a free body and with each other, a limit and dry friction.
fn chain(settings: ImpulseSettings) -> ImpulseStepper {
    let mut bodies = vec![ground(0.4)];
    for i in 0..4 {
        let mut bar = block(&format!("bar{i}"), 0.4, [0.15, 0.02, 0.02], 0.4);
        bar.collider = Some(Collider::sphere(Vector3::x() * 0.15, 0.05).unwrap());
        bodies.push(bar);
    }
    let mut brick = ball("brick", 0.3, 0.06, 0.4);
    brick.pose.position = Vector3::new(0.87, 0.02, 0.06);
    bodies.push(brick);
    let links = (0..4).map(|i: usize| {
        let axis = if i.is_multiple_of(2) { Vector3::y() } else { Vector3::new(0.0, 0.6, 0.8) };
        let place = if i == 0 { at(0.0, 0.3) } else { at(0.15, 0.0) };
        let joint = Joint::new(JointKind::Revolute { axis });
        let mut joint = joint.placed(place).with_offset(at(0.15, 0.0));
        joint.laws.friction = JointFriction { coulomb: 0.02, ..JointFriction::default() };
        if i == 2 {
            joint.laws.limits = Some(JointLimits { damping: 2.0, ..JointLimits::new(-0.3, 0.3) });
        }
        let body = &bodies[i + 1];
        let inertia = LinkInertia::from(*body.mass().unwrap());
        Link { name: body.name.clone(), parent: i.checked_sub(1), joint, inertia }
    });
    let model = ArticulatedModel::new(links.collect(), Vec::new()).unwrap();
    let scene = scene(bodies);
    let mut stepper = ImpulseStepper::new(&scene, settings, &Parameters::of(&scene)).unwrap();
    let q = model.neutral().incremented(&[0.0, 0.2, -0.1, 0.3]);
    stepper.join(model, vec![1, 2, 3, 4], q, vec![0.0, 0.0, 0.5, 0.0]).unwrap();
    stepper
}

fn apart(a: &ImpulseStepper, b: &ImpulseStepper) -> f64 {
    let states = a.states().iter().zip(b.states());
    let each = states.map(|(a, b)| {
        (a.center - b.center).norm()
            + (a.rotation - b.rotation).norm()
            + H * (a.velocity - b.velocity).norm()
    });
    each.fold(0.0, f64::max)
}

#[test]
fn links_as_bodies_of_their_own_move_as_by_their_immediate_response() {
    let mut plain = chain(settings(MODES[0], RESPONSES[0]));
    let others = [(MODES[1], RESPONSES[0]), (MODES[0], RESPONSES[1]), (MODES[1], RESPONSES[1])];
    let mut others = others.map(|(m, r)| chain(settings(m, r)));
    let (mut lies, mut both) = (0, 0);
    for step in 0..1000 {
        let record = plain.step(&[], H).unwrap();
        let acts = |test: &dyn Fn([usize; 2]) -> bool| {
            usize::from(record.contacts.iter().any(|c| test(c.bodies) && c.normal > 0.0))
        };
        lies += acts(&|[a, b]| a == 0 && b < 5);
        both += acts(&|[a, _]| a > 0);
        for (k, other) in others.iter_mut().enumerate() {
            other.step(&[], H).unwrap();
            // Every solve ends at 1e-12 of velocities of about 1 m/s; what is left is that, over a second.
            let apart = apart(&plain, other);
            assert!(apart < 1e-8, "order {k}, step {step}: {apart:e}");
        }
    }
    assert!(lies > 300 && both > 10, "{lies} steps on the ground, {both} between bodies");
}

/// A ball with a speed on four others: every contact has one load, so that there is one solution.
fn ball_scene() -> Scene {
    let mut bodies = vec![ground(0.5)];
    for (i, [x, y]) in
        [[-0.11, -0.1], [0.11, -0.1], [-0.11, 0.12], [0.1, 0.11]].into_iter().enumerate()
    {
        let mut one = ball(&format!("{i}"), 0.5 + 0.1 * i as f64, 0.1, 0.5);
        (one.pose.position.x, one.pose.position.y) = (x, y);
        bodies.push(one);
    }
    let mut top = ball("top", 0.7, 0.1, 0.5);
    top.pose.position.z = 0.24;
    top.velocity = Vector3::new(0.3, 0.1, -0.5);
    top.angular_velocity = Vector3::new(1.0, 2.0, 3.0);
    bodies.push(top);
    scene(bodies)
}

fn balls(settings: ImpulseSettings) -> ImpulseStepper {
    let scene = ball_scene();
    ImpulseStepper::new(&scene, settings, &Parameters::of(&scene)).unwrap()
}

#[test]
fn colours_and_one_order_converge_to_the_same_velocities() {
    for (anchor_beta, friction_mode) in [
        (0.2, FrictionMode::FixedNormal),
        (0.0, FrictionMode::FixedNormal),
        (0.0, FrictionMode::CoulombNewton),
    ] {
        let [mut serial, mut colored] = MODES.map(|mode| {
            let base = settings(mode, RESPONSES[0]);
            balls(ImpulseSettings { anchor_beta, friction_mode, ..base })
        });
        let mut most = 0;
        for step in 0..150 {
            let [a, b] = [&mut serial, &mut colored].map(|s| s.step(&[], H).unwrap());
            assert_eq!(a.contacts.len(), b.contacts.len());
            most = most.max(a.contacts.iter().filter(|c| c.normal > 0.0).count());
            let apart = apart(&serial, &colored);
            assert!(apart < 1e-9, "β {anchor_beta}, {friction_mode:?}, step {step}: {apart:e}");
        }
        assert!(most >= 5, "{most} contacts at once");
    }
}

const STEPS: usize = 100;

/// Where the upper ball ends.
struct End;

impl Outcome for End {
    fn contribution<T: Scalar>(&self, _step: usize, bodies: &[Kinematics<T>]) -> T {
        bodies[5].position.x
    }

    fn observes(&self, step: usize) -> bool {
        step == STEPS
    }
}

/// A derivative is that of the fixed point, in whatever order it was found.
#[test]
fn derivatives_do_not_depend_on_the_order_of_the_sweeps() {
    let [serial, colored] = MODES.map(|mode| {
        let scene = ball_scene();
        let simulator = ImpulseSimulator::new(scene, settings(mode, RESPONSES[0]), vec![H; STEPS]);
        let simulator = simulator.unwrap();
        let parameters = ImpulseParameters::of(&simulator, simulator.parameters());
        let trajectory = parameters.run(&simulator).unwrap();
        let linear = Linearisation::new(&simulator, &parameters, &trajectory).unwrap();
        linear.adjoint(&End).unwrap().1
    });
    let size = serial.iter().map(|x| x.abs()).fold(0.0, f64::max);
    for (a, b) in serial.iter().zip(&colored) {
        // Both trajectories end within 1e-9 of each other; impacts multiply that in the derivative.
        assert!((a - b).abs() < 1e-7 * size, "{a} {b} of {size}");
    }
}

/// A row of forty boxes that press on each other, with a tree of hinged bars on top of them: many groups of each colour.
fn row_of_boxes(settings: ImpulseSettings) -> ImpulseStepper {
    let mut bodies: Vec<Body> = vec![ground(0.5)];
    for i in 0..40 {
        let mut brick = block(&format!("{i}"), 0.5, [0.05; 3], 0.5);
        brick.pose.position = Vector3::new(0.0999 * i as f64, 0.002 * (i % 3) as f64, 0.05);
        bodies.push(brick);
    }
    let first = bodies.len();
    for i in 0..8 {
        bodies.push(block(&format!("bar{i}"), 0.2, [0.2, 0.03, 0.02], 0.5));
    }
    let links = (0..8).map(|i: usize| {
        let joint = match i {
            0 => Joint::new(JointKind::Free).placed(at(0.3, 0.121)),
            _ => {
                let joint = Joint::new(JointKind::Revolute { axis: Vector3::y() });
                joint.placed(at(0.21, 0.0)).with_offset(at(0.21, 0.0))
            }
        };
        let body = &bodies[first + i];
        let inertia = LinkInertia::from(*body.mass().unwrap());
        Link { name: body.name.clone(), parent: i.checked_sub(1), joint, inertia }
    });
    let model = ArticulatedModel::new(links.collect(), Vec::new()).unwrap();
    let scene = scene(bodies);
    let mut stepper = ImpulseStepper::new(&scene, settings, &Parameters::of(&scene)).unwrap();
    let rest = vec![0.0; model.dofs()];
    stepper.join(model.clone(), (first..first + 8).collect(), model.neutral(), rest).unwrap();
    stepper
}

#[test]
fn bits_of_colours_do_not_depend_on_the_number_of_threads() {
    for response in RESPONSES {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let settings = ImpulseSettings {
                    on_failure: osculate_dynamics::OnFailure::Continue,
                    sweeps: 30,
                    velocity_sweeps: 2,
                    ..settings(SolveMode::Colored, response)
                };
                let mut stepper = row_of_boxes(settings);
                let records: Vec<_> = (0..20).map(|_| stepper.step(&[], H).unwrap()).collect();
                assert!(records.iter().any(|r| r.stats.islands == 1 && r.contacts.len() > 150));
                (stepper.states().to_vec(), records)
            })
        };
        let one = on(1);
        for threads in [2, 3] {
            assert!(one == on(threads), "{response:?}, {threads} threads");
        }
    }
}
