//! Scenes with joints: every law of a joint on each of its branches, closures, contacts of links.

use crate::case::{Case, force, tight};
use crate::common::impulse::{GRAVITY, block, ground};
use crate::common::trees::closures;
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::articulated::{
    ClosureKind, Joint, JointDrive, JointFriction, JointKind, JointLimits, JointPosition,
    LoopClosure,
};
use osculate_dynamics::impulse::ImpulseSettings;
use osculate_dynamics::impulse::sensitivity::{ImpulseLayout, Linearisation, SwitchKind};
use osculate_dynamics::{Articulation, Body, LinkJoint, Scene, Wrench};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_math::{se3::Pose, so3};

/// Sweeps of joints leave a little more rounding than those of contacts.
pub fn settings(anchor_beta: f64) -> ImpulseSettings {
    ImpulseSettings { tolerance: 1e-13, ..tight(anchor_beta) }
}

/// Without a row there is no derivative by the friction that would make one.
pub const NO_FRICTION: &[&str] = &[".friction", ".stiction"];

pub fn v(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

fn pose(position: Vector3<f64>, turn: Vector3<f64>) -> Pose {
    Pose { position, rotation: so3::exp(&turn) }
}

pub fn at(x: f64, y: f64, z: f64) -> Pose {
    pose(v(x, y, z), Vector3::zeros())
}

pub fn hinge(axis: Vector3<f64>) -> Joint {
    Joint::new(JointKind::Revolute { axis: axis.normalize() })
}

pub fn link(body: usize, parent: Option<usize>, joint: Joint, q: f64, rate: f64) -> LinkJoint {
    LinkJoint { body, parent, joint, position: Some(JointPosition::Scalar(q)), rates: vec![rate] }
}

/// A body that touches nothing, of an inertia without symmetry.
pub fn inert(name: &str, mass: f64) -> Body {
    let inertia = Matrix3::new(4.0, 0.3, -0.2, 0.3, 5.0, 0.1, -0.2, 0.1, 3.0) * (1e-3 * mass);
    Body::dynamic(name, MassProperties::new(mass, v(0.01, -0.005, 0.008), inertia).unwrap())
}

pub fn jointed(bodies: Vec<Body>, joints: Vec<LinkJoint>, closures: Vec<LoopClosure>) -> Scene {
    let articulation = Articulation::new(&bodies, joints, closures).unwrap();
    let gravity = v(0.2, -0.1, -GRAVITY);
    Scene::new(gravity, bodies).unwrap().with_articulation(articulation).unwrap()
}

/// A case with efforts and targets of every step.
pub fn case(
    name: &'static str,
    scene: Scene,
    settings: ImpulseSettings,
    (h, steps): (f64, usize),
    wrench: Wrench,
) -> Case {
    let mut case = Case::new(name, scene, settings, (h, steps), wrench);
    let joints = case.parameters.scene.articulation.as_mut().unwrap();
    let n = joints.model.dofs();
    let wave = |i: usize| (1.7 * i as f64).sin();
    joints.efforts = (0..n * steps).map(|i| 0.01 * wave(i + 3)).collect();
    let target = |k: usize| {
        let drive = joints.model.links()[joints.model.link_of(k)].joint.laws.drive;
        drive.map_or(0.0, |d| d.target)
    };
    joints.targets = (0..n * steps).map(|i| target(i % n) + 0.001 * wave(i)).collect();
    case
}

fn driven(stiffness: f64, damping: f64, target: f64) -> JointDrive {
    JointDrive { stiffness, damping, target, target_velocity: 0.1, ..JointDrive::default() }
}

/// An arm of three hinges whose spherical tip is pressed on the ground and dragged over it.
pub fn arm(friction: f64) -> Scene {
    let mut fore = inert("fore", 0.4);
    fore.collider = Some(Collider::sphere(v(0.2, 0.01, 0.0), 0.03).unwrap());
    fore.contact.friction = friction;
    let bodies = vec![inert("turret", 1.0), inert("upper", 0.6), fore, ground(0.5)];
    let mut turret = hinge(v(0.05, 0.0, 1.0)).placed(at(0.0, 0.0, 0.5)).with_armature(0.02);
    turret.laws.friction.viscous = 0.05;
    let mut upper = hinge(v(0.0, 1.0, 0.1)).placed(pose(v(0.02, 0.0, 0.0), v(0.1, 0.0, 0.0)));
    upper = upper.with_offset(pose(v(0.2, 0.0, 0.0), v(0.0, 0.1, 0.2))).with_armature(0.01);
    upper.laws.drive = Some(JointDrive { effort: 0.3, ..driven(40.0, 2.0, 0.7) });
    let mut elbow = hinge(v(0.0, 1.0, 0.0)).placed(pose(v(0.2, 0.0, 0.0), v(0.0, -0.1, -0.2)));
    elbow = elbow.with_offset(at(0.2, 0.0, 0.0));
    elbow.laws.drive = Some(driven(30.0, 1.0, 0.9));
    elbow.laws.friction.viscous = 0.1;
    let joints = vec![
        link(0, None, turret, 0.2, 2.0),
        link(1, Some(0), upper, 0.42, 0.1),
        link(2, Some(1), elbow, 0.53, -0.2),
    ];
    jointed(bodies, joints, Vec::new())
}

#[test]
fn arm_that_drags_its_tip_has_exact_derivatives() {
    for beta in [0.0, 0.2] {
        let case = case("arm", arm(0.4), settings(beta), (0.004, 12), force(0.2, -0.3, 0.1));
        let t = case.run();
        assert!(t.records.iter().skip(2).all(|r| r.contacts[0].normal > 0.0), "it presses");
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, NO_FRICTION);
        let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
        let at = |path: &str| gradient[layout.index(path).unwrap()];
        for path in ["fore.mu", "joint.upper.k_p", "joint.fore.target.3", "joint.turret.armature"] {
            assert!(at(path).abs() > 1e-6, "{path}: {:e}", at(path));
        }
    }
}

/// A box on a free joint, on the ground or above it, with joints and laws of every kind on it.
pub fn machine(kind: ClosureKind, height: f64) -> Scene {
    let mut bodies = vec![ground(0.4), block("base", 2.0, [0.08, 0.06, 0.03], 0.5)];
    bodies[1].impulse.restitution = 0.3;
    bodies.extend(["arm", "wrist", "slide", "tip"].map(|n| inert(n, 0.2)));
    let friction = JointFriction {
        viscous: 0.02,
        coulomb: 0.05,
        stiction_extra: 0.03,
        stribeck_speed: 0.4,
        falloff_speed: 0.3,
    };
    let free = Joint::new(JointKind::Free).placed(pose(v(0.0, 0.1, 0.0), v(0.1, 0.0, 0.4)));
    let place = pose(v(0.02, 0.0, height), v(-0.3, 0.15, 0.2));
    let base = LinkJoint {
        body: 1,
        parent: None,
        joint: free,
        position: Some(JointPosition::Pose(place)),
        rates: vec![0.3, -0.1, -0.4, 0.5, -0.3, 0.8],
    };
    let mut arm = hinge(v(0.3, 0.9, -0.2))
        .placed(pose(v(0.05, 0.0, 0.03), v(0.2, -0.1, 0.3)))
        .with_offset(pose(v(0.01, 0.02, 0.08), v(0.1, 0.3, -0.2)))
        .with_armature(2e-3);
    arm.laws.friction = friction;
    arm.laws.limits = Some(JointLimits { lower: -1.0, upper: 0.35, stiffness: 40.0, damping: 0.3 });
    let mut ball = Joint::new(JointKind::Spherical)
        .placed(pose(v(0.0, 0.01, 0.09), v(-0.3, 0.2, 0.1)))
        .with_offset(pose(v(0.0, 0.0, 0.08), v(0.0, 0.2, 0.0)))
        .with_armature(1e-3);
    ball.laws.friction = friction;
    let wrist = LinkJoint {
        body: 3,
        parent: Some(2),
        joint: ball,
        position: Some(JointPosition::Rotation(so3::exp(&v(0.4, -0.3, 0.6)))),
        rates: vec![-0.7, 1.1, 0.4],
    };
    let mut slide = Joint::new(JointKind::Prismatic { axis: v(0.0, 0.6, 0.8) })
        .placed(pose(v(-0.05, 0.0, 0.03), v(0.0, 0.3, 0.0)))
        .with_armature(0.05);
    slide.laws.drive =
        Some(JointDrive { effort: 0.4, effort_limit: Some(50.0), ..driven(30.0, 2.0, 0.12) });
    let tip = Joint::new(JointKind::Fixed).placed(pose(v(0.0, 0.1, 0.02), v(0.3, 0.0, 0.1)));
    let tip = LinkJoint { body: 5, parent: Some(4), joint: tip, position: None, rates: Vec::new() };
    let joints = vec![
        tip,
        wrist,
        link(2, Some(1), arm, 0.4, 1.3),
        base,
        link(4, Some(1), slide, 0.07, -0.2),
    ];
    jointed(bodies, joints, closures(kind))
}

/// Of the machine: joints without friction, see [`NO_FRICTION`].
pub const FRICTIONLESS: &[&str] =
    &["joint.base.friction", "joint.base.stiction", "joint.slide.friction", "joint.slide.stiction"];

#[test]
fn every_joint_law_and_closure_has_exact_derivatives_in_the_air() {
    for kind in [ClosureKind::Ball, ClosureKind::Revolute, ClosureKind::Fixed] {
        let scene = machine(kind, 0.3);
        let case = case("machine", scene, settings(0.2), (0.003, 5), force(0.02, 0.01, -0.01));
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, FRICTIONLESS);
    }
}

#[test]
fn machine_that_lands_on_a_corner_has_exact_derivatives() {
    for beta in [0.0, 0.2] {
        let scene = machine(ClosureKind::Fixed, 0.05);
        let case = case("landing", scene, settings(beta), (0.003, 6), force(0.02, 0.01, -0.01));
        let t = case.run();
        assert!(t.records.iter().any(|r| r.contacts.iter().any(|c| c.normal > 0.0)), "it lands");
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, FRICTIONLESS);
    }
}

/// One hinge with laws.
fn pendulum(change: impl FnOnce(&mut Joint), q: f64, rate: f64) -> Scene {
    let mut joint = hinge(v(0.1, 1.0, 0.0)).with_offset(at(0.0, 0.0, -0.3)).with_armature(0.01);
    change(&mut joint);
    jointed(vec![inert("bob", 0.7)], vec![link(0, None, joint, q, rate)], Vec::new())
}

fn judge(name: &'static str, scene: Scene) -> impl Fn(&str) -> f64 {
    let case = case(name, scene, settings(0.0), (0.005, 8), force(0.1, 0.05, 0.1));
    let gradient = case.adjoint_is_tangent();
    let mut except = Vec::new();
    if case.simulator.scene().articulation.as_ref().unwrap().model().links()[0]
        .joint
        .laws
        .friction
        .coulomb
        == 0.0
    {
        except.extend(NO_FRICTION);
    }
    case.agrees_with_differences(&gradient, &except);
    let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
    move |path| gradient[layout.index(path).unwrap()]
}

#[test]
fn limit_has_exact_derivatives_pressed_and_apart() {
    let limits = JointLimits { lower: -2.0, upper: 0.5, stiffness: 300.0, damping: 2.0 };
    let pressed = judge("limit", pendulum(|j| j.laws.limits = Some(limits), 0.52, 0.3));
    for number in ["upper", "limit_stiffness", "limit_damping"] {
        assert!(pressed(&format!("joint.bob.{number}")).abs() > 1e-6, "{number}");
    }
    assert_eq!(pressed("joint.bob.lower"), 0.0);
    let apart = judge("limit apart", pendulum(|j| j.laws.limits = Some(limits), 0.1, 0.3));
    for number in ["upper", "lower", "limit_stiffness", "limit_damping"] {
        assert_eq!(apart(&format!("joint.bob.{number}")), 0.0, "{number}");
    }
}

#[test]
fn drive_has_exact_derivatives_within_and_at_its_effort_limit() {
    let with = |target: f64, limit: f64| {
        let drive = JointDrive { effort_limit: Some(limit), ..driven(50.0, 2.0, target) };
        pendulum(|j| j.laws.drive = Some(drive), 0.2, 0.3)
    };
    let within = judge("drive", with(0.25, 100.0));
    assert!(within("joint.bob.k_p").abs() > 1e-6 && within("joint.bob.k_d").abs() > 1e-6);
    assert_eq!(within("joint.bob.effort_limit"), 0.0);
    let held = judge("drive held", with(1.5, 3.0));
    assert!(held("joint.bob.effort_limit").abs() > 1e-4);
    assert_eq!((held("joint.bob.k_p"), held("joint.bob.target.2")), (0.0, 0.0));
    // Torque alone.
    let drive =
        |effort: f64| JointDrive { effort, effort_limit: Some(2.0), ..JointDrive::default() };
    let torque = judge("torque", pendulum(|j| j.laws.drive = Some(drive(1.0)), 0.2, 0.3));
    assert!(torque("joint.bob.effort").abs() > 1e-4);
    assert_eq!(torque("joint.bob.effort_limit"), 0.0);
    let most = judge("torque held", pendulum(|j| j.laws.drive = Some(drive(3.0)), 0.2, 0.3));
    assert!(most("joint.bob.effort_limit").abs() > 1e-4);
    assert_eq!(most("joint.bob.effort"), 0.0);
}

#[test]
fn dry_friction_of_a_hinge_has_exact_derivatives_slipping_and_exactly_none_holding() {
    let friction = |coulomb: f64| JointFriction {
        coulomb,
        stiction_extra: 0.4,
        stribeck_speed: 0.5,
        falloff_speed: 0.05,
        viscous: 0.1,
    };
    let slips = judge("slips", pendulum(|j| j.laws.friction = friction(0.3), 0.2, 0.8));
    for number in ["friction", "stiction", "stribeck_speed", "falloff_speed", "damping"] {
        assert!(slips(&format!("joint.bob.{number}")).abs() > 1e-5, "{number}");
    }
    let holds = judge("holds", pendulum(|j| j.laws.friction = friction(5.0), 0.2, 0.0));
    for number in ["friction", "stiction", "stribeck_speed", "falloff_speed"] {
        assert_eq!(holds(&format!("joint.bob.{number}")), 0.0, "{number}");
    }
    assert!(holds("joint.bob.q").abs() > 1e-3);
}

/// Two driven fingers with round tips that hold a free box between them.
fn fingers() -> Scene {
    let finger = |name: &str| {
        let mut body = inert(name, 0.2);
        body.collider = Some(Collider::sphere(v(0.0, 0.003, -0.002), 0.02).unwrap());
        body.contact.friction = 0.6;
        body
    };
    let held = block("box", 0.3, [0.04, 0.03, 0.035], 0.7);
    let mut bodies = vec![finger("left"), finger("right"), held];
    bodies[2].pose.position = v(0.001, 0.002, 0.503);
    let joint = |x: f64, towards: f64| {
        let axis = v(towards, 0.0, 0.0);
        let mut joint = Joint::new(JointKind::Prismatic { axis }).placed(at(x, 0.0, 0.5));
        joint.laws.drive = Some(JointDrive { effort: 9.0, ..driven(100.0, 20.0, 0.02) });
        joint
    };
    let joints = vec![
        link(0, None, joint(-0.06, 1.0), 0.0022, 0.0),
        link(1, None, joint(0.06, -1.0), 0.0003, 0.0),
    ];
    jointed(bodies, joints, Vec::new())
}

#[test]
fn fingers_that_hold_a_box_have_exact_derivatives_and_none_by_friction() {
    let case = case("fingers", fingers(), settings(0.2), (0.004, 6), Wrench::zero());
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, NO_FRICTION);
    let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
    for path in ["box.mu", "left.mu", "impulse.friction_scale"] {
        assert_eq!(gradient[layout.index(path).unwrap()], 0.0, "{path}");
    }
    assert!(gradient[layout.index("joint.left.effort.0").unwrap()].abs() > 1e-6);
}

/// A chain that folds back: its last ball presses on the first link.
#[test]
fn links_of_one_tree_that_touch_have_exact_derivatives() {
    let mut first = inert("first", 1.0);
    first.collider = Some(Collider::sphere(v(0.0, 0.0, 0.0), 0.06).unwrap());
    let mut last = inert("last", 0.3);
    last.collider = Some(Collider::sphere(v(0.0, 0.02, 0.0), 0.05).unwrap());
    first.contact.friction = 0.3;
    last.contact.friction = 0.4;
    let bodies = vec![first, inert("middle", 0.5), last];
    let mut root = hinge(v(0.0, 1.0, 0.0)).with_offset(at(0.05, 0.0, 0.0));
    root.laws.friction.viscous = 0.3;
    let middle = hinge(v(0.1, 1.0, 0.0)).placed(at(0.1, 0.0, 0.0)).with_offset(at(0.08, 0.0, 0.0));
    let mut fold =
        hinge(v(0.0, 1.0, 0.05)).placed(at(0.06, 0.0, 0.0)).with_offset(at(0.14, 0.0, 0.0));
    fold.laws.drive = Some(driven(20.0, 0.5, 3.0));
    let joints = vec![
        link(0, None, root, 0.3, 0.5),
        link(1, Some(0), middle, 0.8, 1.0),
        link(2, Some(1), fold, 2.05, 2.5),
    ];
    let scene = jointed(bodies, joints, Vec::new());
    for beta in [0.0, 0.2] {
        let case = case("fold", scene.clone(), settings(beta), (0.004, 10), force(0.1, 0.2, 0.0));
        let t = case.run();
        let touching =
            t.records.iter().flat_map(|r| &r.contacts).filter(|c| c.normal > 0.0).count();
        assert!(touching >= 3, "{touching} contacts loaded");
        let gradient = case.adjoint_is_tangent();
        // Any restitution rebounds from the velocity at the start instead of closing the gap: a jump at zero.
        case.agrees_with_differences(&gradient, &[".friction", ".stiction", ".restitution"]);
    }
}

#[test]
fn switches_name_the_joint() {
    let limits = JointLimits { lower: -2.0, upper: 0.5, stiffness: 300.0, damping: 2.0 };
    let scene = pendulum(|j| j.laws.limits = Some(limits), 0.52, 0.3);
    let case = case("limit", scene, settings(0.0), (0.005, 3), Wrench::zero());
    let t = case.run();
    let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
    let found = lin.switches(f64::INFINITY);
    let open = found.iter().find(|s| s.kind == SwitchKind::Opening && s.step == 1).unwrap();
    // The only row that carries anything is the largest.
    assert_eq!((open.joint, open.contact, open.distance), (Some(0), 0, 1.0));
    assert!(found.iter().any(|s| s.kind == SwitchKind::Closing && s.contact == 1));
}
