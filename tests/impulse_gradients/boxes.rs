//! Boxes and balls that slide, stick, tumble, roll and stack.

use crate::case::{Case, HYPERSTATIC, OVERLAP, cube, force, tight};
use crate::common::impulse::{GRAVITY, ball, block, ground, scene};
use nalgebra::Vector3;
use osculate_contact::PairOverride;
use osculate_contact::impulse::FrictionCombine;
use osculate_contact::impulse::normal::{Rigid, SpringDamper};
use osculate_dynamics::impulse::sensitivity::{ImpulseLayout, Linearisation};
use osculate_dynamics::impulse::{FrictionMode, ImpulseSettings, NormalLaw};
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{Kinematics, Override, Wrench};
use osculate_geometry::collider::Collider;
use osculate_math::{Scalar, so3};

/// Position of a body along x at the end.
struct EndX {
    steps: usize,
}

impl Outcome for EndX {
    fn contribution<T: Scalar>(&self, _step: usize, bodies: &[Kinematics<T>]) -> T {
        bodies[0].position.x
    }
    fn observes(&self, step: usize) -> bool {
        step == self.steps
    }
}

/// A box that slides without turning.
fn sliding(anchor_beta: f64) -> Case {
    let mut cube = cube();
    cube.velocity = Vector3::new(1.0, 0.3, 0.0);
    let scene = scene(vec![cube, ground(0.3)]);
    Case::new("sliding", scene, tight(anchor_beta), (0.01, 20), Wrench::zero())
}

/// A box pushed below the limit, held by anchors.
fn held() -> Case {
    let mut cube = cube();
    cube.velocity = Vector3::new(0.02, 0.01, 0.0);
    let scene = scene(vec![cube, ground(0.3)]);
    let push = Wrench { force: Vector3::new(1.5, 0.4, 0.0), torque: Vector3::zeros() };
    Case::new("held", scene, tight(0.3), (0.01, 12), push)
}

/// A box on anchors that slides, then is held.
fn slides_then_holds() -> Case {
    let mut cube = cube();
    cube.velocity = Vector3::new(0.25, 0.1, 0.0);
    let push = Wrench { force: Vector3::new(1.0, 0.3, 0.0), torque: Vector3::zeros() };
    Case::new("slides then holds", scene(vec![cube, ground(0.3)]), tight(0.3), (0.01, 20), push)
}

/// A box on anchors that slides and spins.
pub fn spins(settings: ImpulseSettings, steps: usize) -> Case {
    let mut cube = cube();
    cube.velocity = Vector3::new(0.25, 0.1, 0.0);
    cube.angular_velocity = Vector3::new(0.0, 0.0, 1.5);
    let scene = scene(vec![cube, ground(0.3)]);
    Case::new("spins", scene, settings, (0.01, steps), force(1.0, 0.3, 0.0))
}

/// A cube that flies, lands on a corner and tumbles, with rebound.
pub fn thrown() -> Case {
    let mut cube = block("cube", 0.8, [0.05; 3], 0.4);
    cube.pose.position = Vector3::new(0.0, 0.1, 0.15);
    cube.pose.rotation = so3::exp(&Vector3::new(0.5, 0.4, 0.2));
    cube.velocity = Vector3::new(1.0, 0.4, -1.2);
    cube.angular_velocity = Vector3::new(2.0, -3.0, 1.0);
    cube.impulse.restitution = 0.5;
    let scene = scene(vec![cube, ground(0.3)]);
    Case::new("thrown", scene, tight(0.0), (0.01, 16), force(0.1, 0.2, 0.1))
}

/// Two free boxes that collide out of line and slip along each other, anchors coming and going.
fn colliding() -> Case {
    let boxed = |name: &str, mass: f64| {
        let mut body = block(name, mass, [0.05; 3], 0.3);
        body.gravity = false;
        body
    };
    let (mut a, mut b) = (boxed("a", 0.4), boxed("b", 0.9));
    a.pose.position = Vector3::new(-0.1, 0.0, 0.0);
    a.velocity.x = 1.0;
    b.pose.position = Vector3::new(0.1, 0.02, 0.013);
    b.pose.rotation = so3::exp(&Vector3::new(0.1, 0.2, 0.3));
    b.velocity.x = -0.5;
    Case::new("colliding", scene(vec![a, b]), tight(0.2), (5e-4, 200), Wrench::zero())
}

/// A ball thrown onto a tilted plane with backspin: slips, then rolls.
fn rolling() -> Case {
    let mut b = ball("ball", 1.0, 0.1, 0.3);
    // Off the centre of mass: it lifts and sinks as it rolls.
    b.collider = Some(Collider::sphere(Vector3::new(0.008, 0.005, -0.007), 0.1).unwrap());
    b.velocity = Vector3::new(1.0, 0.2, 0.0);
    b.angular_velocity = Vector3::new(0.3, -2.0, 1.0);
    b.pose.position.z = 0.101;
    let mut plane = ground(0.2);
    plane.collider = Some(Collider::half_space(Vector3::new(0.1, -0.05, 1.0), 0.0).unwrap());
    Case::new("rolling", scene(vec![b, plane]), tight(0.0), (0.01, 40), force(0.1, 0.2, 0.0))
}

/// Two boxes, the upper one turned and off the middle, pushed below the limit.
fn stacked(anchor_beta: f64) -> Case {
    let mut lower = block("lower", 2.0, [0.1, 0.12, 0.05], 0.6);
    let mut upper = block("upper", 1.0, [0.06, 0.05, 0.04], 0.5);
    lower.pose.position.z -= OVERLAP;
    upper.pose.position = Vector3::new(0.013, 0.008, 0.14 - 2.0 * OVERLAP);
    upper.pose.rotation = so3::exp(&Vector3::new(0.0, 0.0, 0.4));
    let scene = scene(vec![lower, upper, ground(0.5)]);
    Case::new("stacked", scene, tight(anchor_beta), (0.01, 8), force(0.5, 0.2, 0.0))
}

/// A stack on ground that gives.
fn soft_stack(normal: NormalLaw, anchor_beta: f64) -> Case {
    let mut lower = block("lower", 2.0, [0.1, 0.12, 0.05], 0.6);
    let mut upper = block("upper", 1.0, [0.06, 0.05, 0.04], 0.5);
    lower.pose.position.z -= OVERLAP;
    upper.pose.position = Vector3::new(0.0, 0.0, 0.14 - 2.0 * OVERLAP);
    let settings = ImpulseSettings { normal, ..tight(anchor_beta) };
    let scene = scene(vec![lower, upper, ground(0.5)]);
    Case::new("soft stack", scene, settings, (0.01, 4), Wrench::zero())
}

#[test]
fn sliding_box_has_the_derivatives_of_the_closed_form() {
    for anchor_beta in [0.0, 0.2] {
        let (h, speed) = (0.002, 1.0);
        let mut cube = block("cube", 1.3, [0.1, 0.08, 0.005], 0.4);
        cube.velocity.x = speed;
        let scene = scene(vec![cube, ground(0.4)]);
        let steps = 300;
        let case = Case::new("stops", scene, tight(anchor_beta), (h, steps), Wrench::zero());
        let t = case.run();
        assert!(t.last()[0].velocity.norm() < 1e-9, "it has stopped");
        let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
        let (_, g) = lin.adjoint(&EndX { steps }).unwrap();
        let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
        let at = |path: &str| g[layout.index(path).unwrap()];
        // The scheme stops in n = ceil(v/(μ g h)) steps: x = h Σ (v − k μ g h), k < n; v²/(2 μ g) to first order in h.
        let (mu, deceleration) = (0.4, 0.4 * GRAVITY);
        let n = (speed / (deceleration * h)).ceil();
        let moving = n - 1.0;
        let by_mu = -h * h * GRAVITY * moving * n / 2.0;
        let pair = at("cube.mu") + at("ground.mu");
        let drift = if anchor_beta > 0.0 { 3e-2 } else { 1e-9 };
        assert!((pair / by_mu - 1.0).abs() < drift, "beta {anchor_beta}: {pair} {by_mu}");
        let closed = -speed * speed / (2.0 * mu * mu * GRAVITY);
        assert!((pair / closed - 1.0).abs() < 0.02, "{pair} {closed}");
        assert!((at("cube.velocity_x") - speed / deceleration).abs() < 0.02 * speed / deceleration);
        let by_gravity = speed * speed / (2.0 * mu * GRAVITY * GRAVITY);
        assert!((at("gravity_z") - by_gravity).abs() < 0.02 * by_gravity);
        assert!(at("cube.mass").abs() < 1e-12, "{:e}", at("cube.mass"));
    }
}

#[test]
fn coefficient_of_a_sticking_contact_has_exactly_no_effect() {
    for anchor_beta in [0.0, 0.2] {
        let scene = scene(vec![cube(), ground(0.3)]);
        let case = Case::new("stick", scene, tight(anchor_beta), (0.01, 10), force(1.0, 0.2, 0.0));
        let gradient = case.adjoint_is_tangent();
        let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
        for path in ["cube.mu", "ground.mu", "impulse.friction_scale"] {
            assert_eq!(gradient[layout.index(path).unwrap()], 0.0, "{path}");
        }
        let t = case.run();
        let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
        let which = [layout.index("cube.mu").unwrap()];
        let (_, tangent) = lin.tangent::<1>(&which, &case.outcome()).unwrap();
        assert_eq!(tangent[0], 0.0);
        assert!(lin.redundant_rows() > 0);
    }
}

#[test]
fn box_that_slides_has_exact_derivatives() {
    for anchor_beta in [0.0, 0.2] {
        let case = sliding(anchor_beta);
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, HYPERSTATIC);
    }
}

#[test]
fn box_held_by_anchors_has_exact_derivatives() {
    let case = held();
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, HYPERSTATIC);
}

#[test]
fn box_on_anchors_that_slides_then_holds_has_exact_derivatives() {
    let case = slides_then_holds();
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, HYPERSTATIC);
}

#[test]
fn box_held_by_anchors_while_it_turns_back_has_exact_derivatives() {
    // Over the limit of its two anchors for two steps, so slowly that they do not let go; then without a load. No overlap is removed, so that
    // the load is the weight.
    let normal = NormalLaw::Rigid(Rigid { correction: 0.0, ..Rigid::default() });
    let settings = ImpulseSettings { normal, ..tight(0.3) };
    let scene = scene(vec![cube(), ground(0.3)]);
    let mut case = Case::new("turns back", scene, settings, (0.01, 8), Wrench::zero());
    let mu = case.simulator.settings().combine.combine(0.4, 0.3);
    let torque = Vector3::z() * (1.0005 * mu * 1.3 * GRAVITY * 0.1);
    for (k, wrench) in case.parameters.scene.wrenches.iter_mut().enumerate() {
        let torque = if k < 2 { torque } else { Vector3::zeros() };
        *wrench = Wrench { force: Vector3::zeros(), torque };
    }
    let t = case.run();
    let turned = &t.records[4].anchors;
    assert!(turned.iter().all(|a| !a.released && a.displacement.norm() > 1e-8), "{turned:?}");
    let gradient = case.adjoint_is_tangent();
    // A negative part of an overlap is none; four corners are hyperstatic; and the slip, 3e-5 m/s, is less than the steps of differences by
    // velocities.
    case.agrees_with_differences(&gradient, &["impulse.erp", "impulse.cfm", "velocity"]);
}

#[test]
fn box_on_anchors_that_slides_and_spins_has_exact_derivatives() {
    let case = spins(tight(0.3), 8);
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, HYPERSTATIC);
    // Later it is held at an angle, where two anchors contradict each other a little and the sweeps creep.
    spins(ImpulseSettings { anchor_beta: 0.3, ..ImpulseSettings::default() }, 20)
        .adjoint_is_tangent();
}

#[test]
fn cube_thrown_and_landed_has_exact_derivatives() {
    let case = thrown();
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, &[]);
}

#[test]
fn ball_that_slips_and_rolls_on_a_tilted_plane_has_exact_derivatives() {
    let case = rolling();
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, &[]);
}

/// Symptom: adjoint and tangent differed by 7e-8. Cause: of two anchors of which one remembers nothing the adjoint took the stretch
/// at the displacement after it was taken out, which is not zero, instead of before.
#[test]
fn adjoint_is_the_tangent_of_boxes_that_collide_on_anchors() {
    let case = colliding();
    let followed = |r: &osculate_dynamics::impulse::StepRecord| {
        let continues = |a: &osculate_dynamics::impulse::AnchorImpulse| a.continues.is_some();
        r.anchors.iter().any(continues) && !r.anchors.iter().all(continues)
    };
    assert!(case.run().records.iter().any(followed), "an anchor beside one that remembers");
    case.adjoint_is_tangent();
}

#[test]
fn stacked_boxes_have_exact_derivatives() {
    for beta in [0.2, 0.0] {
        let case = stacked(beta);
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, HYPERSTATIC);
    }
}

#[test]
fn stacked_boxes_have_exact_derivatives_by_stiffness_damping_and_softness() {
    let spring = NormalLaw::SpringDamper(SpringDamper { stiffness: 2e4, damping: 50.0 });
    let rigid = NormalLaw::Rigid(Rigid { slop: 1e-4, softness: 0.02, ..Rigid::default() });
    for (law, beta) in [(rigid, 0.0), (spring, 0.2)] {
        let case = soft_stack(law, beta);
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, &[]);
    }
}

#[test]
fn pair_override_takes_the_place_of_the_combined_coefficient() {
    let mut case = sliding(0.2);
    let mut scene = case.simulator.scene().clone();
    let values = PairOverride { friction: Some(0.25), ..PairOverride::default() };
    scene.overrides.push(Override { bodies: [1, 0], values });
    case = Case::new("override", scene, tight(0.2), (0.01, 10), Wrench::zero());
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, HYPERSTATIC);
    let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
    let at = |path: &str| gradient[layout.index(path).unwrap()];
    assert!(at("pair.ground.cube.mu").abs() > 1e-3);
    assert_eq!(at("cube.mu"), 0.0);
}

/// Of two modes the later acts; of two priorities the higher, alone.
#[test]
fn surfaces_say_how_their_friction_combines() {
    use FrictionCombine::{Average, Max, Min, Multiply};
    let (mu, h, steps) = ([0.4, 0.3], 0.01, 10);
    for (modes, priorities, expected) in [
        ([None, None], [0, 0], 0.12_f64.sqrt()),
        ([Some(Average), None], [0, 0], 0.12_f64.sqrt()),
        ([Some(Average), Some(Average)], [0, 0], 0.35),
        ([Some(Average), Some(Multiply)], [0, 0], 0.12),
        ([Some(Max), Some(Min)], [1, 1], 0.4),
        ([Some(Min), Some(Max)], [0, 1], 0.3),
        ([None, Some(Min)], [2, 1], 0.4),
    ] {
        let mut bodies = [block("cube", 1.3, [0.1, 0.08, 0.01], mu[0]), ground(mu[1])];
        bodies[0].velocity.x = 1.0;
        for (k, body) in bodies.iter_mut().enumerate() {
            (body.impulse.combine, body.impulse.friction_priority) = (modes[k], priorities[k]);
        }
        let scene = scene(bodies.to_vec());
        let case = Case::new("combined", scene, tight(0.0), (h, steps), Wrench::zero());
        let speed = 1.0 - expected * GRAVITY * h * steps as f64;
        let found = case.run().last()[0].velocity.x;
        assert!((found - speed).abs() < 1e-9, "{modes:?} {priorities:?}: {found} m/s, {speed}");
        let gradient = case.adjoint_is_tangent();
        let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
        let at = |path: &str| gradient[layout.index(path).unwrap()];
        if priorities[0] != priorities[1] {
            let [acts, silent] = if priorities[0] > priorities[1] {
                ["cube.mu", "ground.mu"]
            } else {
                ["ground.mu", "cube.mu"]
            };
            assert!(at(acts).abs() > 1e-3);
            assert_eq!(at(silent), 0.0);
        }
    }
}

#[test]
fn exact_cone_has_the_derivatives_of_the_disk() {
    let of = |friction_mode| {
        let mut case = rolling();
        let settings = ImpulseSettings { friction_mode, ..tight(0.0) };
        let scene = case.simulator.scene().clone();
        case = Case::new("cone", scene, settings, (0.01, 20), force(0.1, 0.2, 0.0));
        case.adjoint_is_tangent()
    };
    let (disk, cone) = (of(FrictionMode::FixedNormal), of(FrictionMode::CoulombNewton));
    let scale = disk.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in disk.iter().zip(&cone) {
        assert!((a - b).abs() < 1e-9 * scale, "{a} {b}");
    }
}
