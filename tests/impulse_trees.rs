//! Laws of motion of articulated bodies in the impulse stepper.

mod common;

use common::impulse::{GRAVITY, block, ground, push, scene};
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::articulated::{
    ArticulatedModel, Attachment, ClosureKind, Configuration, Joint, JointDrive, JointFriction,
    JointKind, JointPosition, Link, LinkInertia, LoopClosure,
};
use osculate_dynamics::impulse::{
    Gyroscopic, ImpulseSettings, ImpulseSimulator, ImpulseStepError, ImpulseStepper, JoinError,
    ResetError, StepRecord,
};
use osculate_dynamics::{Body, OnFailure, Parameters, Scene};
use osculate_geometry::filter::{Direction, Nested};
use osculate_math::se3::Pose;

const H: f64 = 1e-3;

fn settings() -> ImpulseSettings {
    ImpulseSettings { tolerance: 1e-11, sweeps: 20_000, ..ImpulseSettings::default() }
}

fn stepper(scene: &Scene, settings: ImpulseSettings) -> ImpulseStepper {
    ImpulseStepper::new(scene, settings, &Parameters::of(scene)).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose { position: Vector3::new(x, y, z), ..Pose::identity() }
}

/// A link with the mass properties of a body.
fn link(body: &Body, parent: Option<usize>, joint: Joint) -> Link {
    let inertia = LinkInertia::from(*body.mass().unwrap());
    Link { name: body.name.clone(), parent, joint, inertia }
}

fn hinge() -> JointKind {
    JointKind::Revolute { axis: Vector3::y() }
}

fn slide(axis: Vector3<f64>) -> JointKind {
    JointKind::Prismatic { axis }
}

fn zeros(model: &ArticulatedModel) -> Vec<f64> {
    vec![0.0; model.dofs()]
}

fn run(stepper: &mut ImpulseStepper, steps: usize) -> StepRecord {
    (0..steps).map(|_| stepper.step(&[], H).unwrap()).last().unwrap()
}

fn normals(record: &StepRecord) -> f64 {
    record.contacts.iter().map(|c| c.normal).sum()
}

/// A tree of one body with a free joint is a free body: falling, hitting, sliding, stopping.
#[test]
fn a_tree_of_one_free_link_moves_like_the_free_body() {
    let mut brick = block("brick", 0.7, [0.1, 0.07, 0.05], 0.4);
    brick.pose = Pose {
        position: Vector3::new(0.0, 0.0, 0.2),
        rotation: osculate_math::so3::exp(&Vector3::new(0.3, -0.2, 0.1)),
    };
    brick.velocity = Vector3::new(1.0, 0.3, -0.5);
    let pose = brick.pose;
    let scene = scene(vec![brick.clone(), ground(0.4)]);
    // Gyroscopic torques are explicit in a tree. The sweeps of both are the same, converged or not.
    let settings = ImpulseSettings {
        gyroscopic: Gyroscopic::Explicit,
        sweeps: 300,
        on_failure: OnFailure::Continue,
        ..settings()
    };
    let mut free = stepper(&scene, settings);
    let mut tree = stepper(&scene, settings);
    let model =
        ArticulatedModel::new(vec![link(&brick, None, Joint::new(JointKind::Free))], Vec::new())
            .unwrap();
    let q = Configuration::of(&model, vec![JointPosition::Pose(pose)]).unwrap();
    tree.join(model, vec![0], q, vec![1.0, 0.3, -0.5, 0.0, 0.0, 0.0]).unwrap();
    for step in 0..600 {
        free.step(&[], H).unwrap();
        tree.step(&[], H).unwrap();
        let (a, b) = (free.states()[0], tree.states()[0]);
        let apart = (a.center - b.center).norm() + (a.rotation - b.rotation).norm();
        assert!(apart < 1e-6, "step {step}: {apart:e}");
    }
    assert!(tree.states()[0].velocity.norm() < 1e-6, "it has stopped");
}

/// A bar on a hinge whose other end lies on the ground: moments about the hinge give half the weight.
#[test]
fn ground_carries_half_of_a_bar_that_hangs_on_a_hinge() {
    let bar = block("bar", 2.0, [0.5, 0.05, 0.05], 0.0);
    let scene = scene(vec![bar.clone(), ground(0.0)]);
    let mut stepper = stepper(&scene, settings());
    // The hinge is on the axis of the bar at its left end.
    let joint = Joint::new(hinge()).placed(at(-0.5, 0.0, 0.2)).with_offset(at(0.5, 0.0, 0.0));
    let model = ArticulatedModel::new(vec![link(&bar, None, joint)], Vec::new()).unwrap();
    let q = model.neutral().incremented(&[0.1]);
    stepper.join(model.clone(), vec![0], q, zeros(&model)).unwrap();
    let record = run(&mut stepper, 3000);
    let angle = stepper.trees()[0].configuration().joints()[0].scalar().unwrap();
    let rate = stepper.trees()[0].velocities()[0];
    // The lower right edge is at (1, −0.05) from the hinge in the bar.
    let lever = angle.cos() - 0.05 * angle.sin();
    let expected = 2.0 * GRAVITY * 0.5 * angle.cos() / lever;
    let force = normals(&record) / H;
    assert!(rate.abs() < 1e-8, "at rest: {rate:e}");
    assert!((force - expected).abs() < 1e-6 * expected, "{force} N, expected {expected} N");
    assert!(angle > 0.1 && angle < 0.2, "{angle} rad");
}

/// Two driven fingers that press a box from both sides.
fn gripper(friction: f64, squeeze: f64) -> (ImpulseStepper, f64) {
    let finger = |name: &str| block(name, 0.2, [0.02, 0.05, 0.05], friction);
    let mut bodies = vec![finger("left"), finger("right"), block("box", 0.5, [0.04; 3], friction)];
    bodies[2].pose.position = Vector3::new(0.0, 0.0, 0.5);
    let scene = scene(bodies.clone());
    let mut stepper = stepper(&scene, settings());
    let links: Vec<Link> = [(0, -0.061, 1.0), (1, 0.061, -1.0)]
        .into_iter()
        .map(|(i, x, towards)| {
            let axis = Vector3::new(towards, 0.0, 0.0);
            let mut joint = Joint::new(slide(axis)).placed(at(x, 0.0, 0.5));
            let drive = JointDrive { effort: squeeze, damping: 20.0, ..JointDrive::default() };
            joint.laws.drive = Some(drive);
            link(&bodies[i], None, joint)
        })
        .collect();
    let model = ArticulatedModel::new(links, Vec::new()).unwrap();
    stepper.join(model.clone(), vec![0, 1], model.neutral(), zeros(&model)).unwrap();
    for _ in 0..1000 {
        stepper.step(&[], H).unwrap();
    }
    let height = stepper.states()[2].center.z;
    (stepper, height)
}

#[test]
fn fingers_hold_a_box_where_friction_carries_its_weight_and_drop_it_where_not() {
    // 2 μ F against 0.5 kg · g = 4.905 N, at F = 5 N: the limit is μ = 0.49.
    let (stepper, height) = gripper(0.55, 5.0);
    assert!((height - 0.5).abs() < 5e-3, "held at {height} m");
    assert!(stepper.states()[2].velocity.norm() < 1e-6);
    let (stepper, height) = gripper(0.4, 5.0);
    let fall = -stepper.states()[2].velocity.z;
    let expected = GRAVITY - 2.0 * 0.4 * 5.0 / 0.5;
    assert!(height < 0.5 && fall > 0.8 * expected, "{height} m, {fall} m/s");
}

/// Links that a joint connects pass through each other, others do not: a folded chain of three bars.
#[test]
fn links_of_one_tree_touch_each_other_unless_a_joint_connects_them() {
    let bars: Vec<Body> =
        ["a", "b", "c"].map(|n| block(n, 1.0, [0.05, 0.05, 0.2], 0.3)).into_iter().collect();
    let scene = scene(bars.clone());
    let mut stepper = stepper(&scene, settings());
    // a stands still; b is driven along x with c ahead of it, c slides on b with the opposite target.
    let fixed = link(&bars[0], None, Joint::new(JointKind::Fixed));
    let driven = |target: f64, x: f64| {
        let mut joint = Joint::new(slide(Vector3::x())).placed(at(x, 0.0, 0.0));
        joint.laws.drive =
            Some(JointDrive { stiffness: 200.0, damping: 20.0, target, ..JointDrive::default() });
        joint
    };
    let links = vec![
        fixed,
        link(&bars[1], Some(0), driven(0.3, 0.3)),
        link(&bars[2], Some(1), driven(-0.6, 0.3)),
    ];
    let model = ArticulatedModel::new(links, Vec::new()).unwrap();
    stepper.join(model.clone(), vec![0, 1, 2], model.neutral(), zeros(&model)).unwrap();
    run(&mut stepper, 3000);
    let [a, b, c] = [0, 1, 2].map(|i| stepper.states()[i].center.x);
    // c is told to go to x = 0.3: a stops it at nothing, b is passed through.
    assert!(a.abs() < 1e-12 && (c - a) > 0.1 - 1e-4, "a {a} c {c}");
    assert!((b - 0.6).abs() < 0.05 && c < b, "b {b} c {c}");
    // Told to go through a it stops at its side, 0.1 m away.
    let drive = &mut stepper.trees_mut()[0].model_mut().laws_mut(2).drive;
    drive.as_mut().unwrap().target = -1.2;
    let record = run(&mut stepper, 3000);
    let c = stepper.states()[2].center.x;
    assert!((c - 0.1).abs() < 1e-4, "c stops at {c}");
    assert!(normals(&record) / H > 1.0, "a holds c back");
}

/// Symptom: links that a joint connects passed through each other though the filter of the scene enabled them, as the compliant model
/// does. Cause: joining them kept them apart for good.
#[test]
fn adjacent_links_touch_where_the_filter_of_the_scene_enables_them() {
    let bars = ["a", "b"].map(|n| block(n, 1.0, [0.05, 0.05, 0.2], 0.3));
    let mut slides = Joint::new(slide(Vector3::x())).placed(at(0.3, 0.0, 0.0));
    let drive = JointDrive { stiffness: 200.0, damping: 20.0, target: -0.6, ..Default::default() };
    slides.laws.drive = Some(drive);
    let fixed = Joint::new(JointKind::Fixed);
    let joined = |body, parent, joint, rates| {
        let position = None;
        osculate_dynamics::LinkJoint { body, parent, joint, position, rates }
    };
    let joints = vec![joined(0, None, fixed, vec![]), joined(1, Some(0), slides, vec![0.0])];
    let articulation = osculate_dynamics::Articulation::new(&bars, joints, Vec::new()).unwrap();
    let scene = scene(bars.to_vec()).with_articulation(articulation).unwrap();
    let ends = |scene: Scene| {
        let simulator = ImpulseSimulator::new(scene, settings(), vec![H; 2000]).unwrap();
        simulator.run(&simulator.parameters()).unwrap().last()[1].center.x
    };
    let mut enabled = scene.clone();
    enabled.filter.enable_actors((0, 1), true, Direction::Both, Nested::No).unwrap();
    let (apart, together) = (ends(scene), ends(enabled));
    assert!((apart + 0.3).abs() < 1e-3, "passes through: {apart}");
    assert!((together - 0.1).abs() < 1e-4, "stops at the side of its neighbour: {together}");
}

/// A tree that is put elsewhere leaves the memory of its anchors behind; a link alone cannot be put elsewhere.
#[test]
fn a_tree_that_is_put_elsewhere_forgets() {
    let brick = block("brick", 1.0, [0.1; 3], 0.5);
    let scene = scene(vec![brick.clone(), ground(0.5)]);
    let mut stepper = stepper(&scene, settings());
    let link = link(&brick, None, Joint::new(JointKind::Free));
    let model = ArticulatedModel::new(vec![link], Vec::new()).unwrap();
    let pose =
        |x: f64| Configuration::of(&model, vec![JointPosition::Pose(at(x, 0.0, 0.1))]).unwrap();
    stepper.join(model.clone(), vec![0], pose(0.0), zeros(&model)).unwrap();
    // Over the limit for a moment, so slowly that the anchors do not let go.
    let shove = push(Vector3::x() * (1.0001 * 0.5 * GRAVITY), -Vector3::z() * 0.1);
    stepper.step(&[shove], H).unwrap();
    let drag = |r: &StepRecord| r.anchors.iter().map(|a| a.displacement.norm()).fold(0.0, f64::max);
    assert!(drag(&stepper.step(&[], H).unwrap()) > 1e-10);
    let state = stepper.states()[0];
    let refused = stepper.reset(0, state).unwrap_err();
    assert!(matches!(refused, ResetError::Link { tree: 0, .. }), "{refused}");
    assert!(matches!(stepper.reset(5, state), Err(ResetError::Unknown { index: 5, .. })));
    assert!(matches!(stepper.reset_tree(1, &pose(0.3), &[]), Err(ResetError::Unknown { .. })));
    assert!(matches!(stepper.reset_tree(0, &pose(0.3), &[]), Err(ResetError::Model(_))));
    stepper.reset_tree(0, &pose(0.3), &zeros(&model)).unwrap();
    assert!((stepper.states()[0].center.x - 0.3).abs() < 1e-15);
    let record = stepper.step(&[], H).unwrap();
    assert!(!record.anchors.is_empty() && drag(&record) < 1e-15, "{:?}", record.anchors);
    assert!((stepper.states()[0].center.x - 0.3).abs() < 1e-9);
}

/// A four-bar linkage carries a load through its loop closure; it hangs still where it is in balance.
#[test]
fn a_closed_loop_holds_its_shape_under_contact() {
    let bars: Vec<Body> =
        ["a", "b", "c"].map(|n| block(n, 1.0, [0.02, 0.02, 0.25], 0.3)).into_iter().collect();
    let mut bodies = bars.clone();
    bodies.push(ground(0.3));
    let scene = scene(bodies);
    let mut stepper = stepper(&scene, settings());
    let joint = |z| Joint::new(hinge()).placed(at(0.0, 0.0, z)).with_offset(at(0.0, 0.0, -0.25));
    let links = vec![
        link(&bars[0], None, joint(0.4)),
        link(&bars[1], Some(0), joint(-0.25)),
        link(&bars[2], Some(1), joint(-0.25)),
    ];
    let end = Attachment { link: Some(2), frame: at(0.0, 0.0, -0.25) };
    let corner = Attachment { link: None, frame: at(0.5, 0.0, 0.4) };
    let closure = LoopClosure::new("loop", ClosureKind::Ball, end, corner);
    let closure = LoopClosure { damping: 1e3, ..closure };
    let model = ArticulatedModel::new(links, vec![closure]).unwrap();
    // Down, across, up: the middle bar would hang 0.1 m below the ground, so the loop leans aside on it.
    let quarter = std::f64::consts::FRAC_PI_2;
    let lean = 0.8;
    let q = model.neutral().incremented(&[lean, -quarter - lean, -quarter + lean]);
    stepper.join(model.clone(), vec![0, 1, 2], q, zeros(&model)).unwrap();
    let mut record = stepper.step(&[], H).unwrap();
    for step in 0..2000 {
        record = stepper.step(&[], H).unwrap();
        let tree = &stepper.trees()[0];
        let at =
            osculate_dynamics::articulated::TreeKinematics::new(tree.model(), tree.configuration());
        let rows = osculate_dynamics::articulated::closure_rows(
            tree.model(),
            &at,
            &tree.model().closures()[0],
        );
        let gap = rows.iter().map(|r| r.gap.abs()).fold(0.0, f64::max);
        assert!(gap < 2e-4, "step {step}: the loop gapes by {gap:e} m");
    }
    assert!(normals(&record) > 0.0, "it leans on the ground");
    let rates = stepper.trees()[0].velocities();
    assert!(rates.iter().all(|v| v.abs() < 1e-3), "{rates:?}");
}

/// Dry friction of a hinge holds a bar that contact would not.
#[test]
fn a_stiff_hinge_holds_its_bar_and_wrenches_move_it() {
    let bar = block("bar", 1.0, [0.5, 0.02, 0.02], 0.3);
    let scene = scene(vec![bar.clone()]);
    let mut stepper = stepper(&scene, settings());
    let mut joint = Joint::new(hinge()).with_offset(at(0.5, 0.0, 0.0));
    joint.laws.friction = JointFriction { coulomb: 6.0, ..JointFriction::default() };
    let model = ArticulatedModel::new(vec![link(&bar, None, joint)], Vec::new()).unwrap();
    stepper.join(model.clone(), vec![0], model.neutral(), zeros(&model)).unwrap();
    run(&mut stepper, 200);
    let angle = |s: &ImpulseStepper| s.trees()[0].configuration().joints()[0].scalar().unwrap();
    assert!(angle(&stepper).abs() < 1e-12, "4.905 N m are held: {:e}", angle(&stepper));
    // 3 N at the centre of mass, 0.5 m from the hinge, is 1.5 N m more: 0.405 N m are left.
    let down = push(Vector3::z() * -3.0, Vector3::zeros());
    stepper.step(&[down], H).unwrap();
    let inertia = 1.0 / 12.0 * (1.0 + 0.04_f64.powi(2)) + 0.25;
    let expected = H * (0.5 * (GRAVITY + 3.0) - 6.0) / inertia;
    let rate = stepper.trees()[0].velocities()[0];
    assert!((rate - expected).abs() < 1e-12, "{rate} {expected}");
}

#[test]
fn bodies_that_cannot_be_links_are_refused() {
    let bar = block("bar", 1.0, [0.5, 0.02, 0.02], 0.3);
    let scene = scene(vec![bar.clone(), ground(0.3)]);
    let model = ArticulatedModel::new(vec![link(&bar, None, Joint::new(hinge()))], Vec::new());
    let model = model.unwrap();
    let join = |bodies: Vec<usize>, v: Vec<f64>| {
        let mut stepper = stepper(&scene, settings());
        stepper.join(model.clone(), bodies, model.neutral(), v).unwrap_err()
    };
    assert!(matches!(join(vec![7], vec![0.0]), JoinError::UnknownBody { index: 7, .. }));
    assert!(matches!(join(vec![1], vec![0.0]), JoinError::NotFree { .. }));
    assert!(matches!(join(vec![], vec![0.0]), JoinError::Model(_)));
    assert!(matches!(join(vec![0], vec![]), JoinError::Model(_)));
    let mut twice = stepper(&scene, settings());
    twice.join(model.clone(), vec![0], model.neutral(), vec![0.0]).unwrap();
    let again = twice.join(model.clone(), vec![0], model.neutral(), vec![0.0]);
    assert!(matches!(again, Err(JoinError::NotFree { .. })));
}

/// A step whose joints are not solved is an error with the tree's name, and changes nothing.
#[test]
fn joints_that_are_not_solved_are_an_error() {
    let bar = block("bar", 1.0, [0.02, 0.02, 0.25], 0.3);
    let scene = scene(vec![bar.clone()]);
    let few = ImpulseSettings { sweeps: 1, tolerance: 1e-15, ..settings() };
    let mut stepper = stepper(&scene, few);
    let links = vec![link(&bar, None, Joint::new(JointKind::Free))];
    let end = |x: f64| {
        let tip = Attachment { link: Some(0), frame: at(x, 0.1, 0.25) };
        let corner = Attachment { link: None, frame: at(x + 0.01, 0.1, 0.26) };
        LoopClosure::new(&format!("{x}"), ClosureKind::Fixed, tip, corner)
    };
    let model = ArticulatedModel::new(links, vec![end(0.1), end(-0.3)]).unwrap();
    stepper.join(model.clone(), vec![0], model.neutral(), zeros(&model)).unwrap();
    let before = stepper.states()[0];
    let error = stepper.step(&[], H).unwrap_err();
    let ImpulseStepError::JointsNotConverged { root, stats, .. } = error else { panic!("{error}") };
    assert!(root == "bar" && !stats.converged && stats.worst_tree == Some(0));
    assert_eq!((stepper.states()[0], stepper.steps()), (before, 0));
    assert!(stepper.trees()[0].velocities().iter().all(|v| *v == 0.0));
}

/// A point mass on a hinge through it has no inertia there.
#[test]
fn a_tree_without_mass_matrix_is_an_error() {
    let bar = block("bar", 1.0, [0.5, 0.02, 0.02], 0.3);
    let scene = scene(vec![bar.clone()]);
    let mut stepper = stepper(&scene, settings());
    let inertia = LinkInertia { mass: 1.0, center: Vector3::zeros(), inertia: Matrix3::zeros() };
    let link = Link { inertia, ..link(&bar, None, Joint::new(hinge())) };
    let model = ArticulatedModel::new(vec![link], Vec::new()).unwrap();
    stepper.join(model.clone(), vec![0], model.neutral(), vec![0.0]).unwrap();
    assert!(matches!(stepper.step(&[], H), Err(ImpulseStepError::Tree { step: 0, .. })));
}
