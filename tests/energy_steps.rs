//! What a step of backward Euler may gain, and how it vanishes with the step.
//!
//! A stage solves `M (v⁺ − v) = −h ∇V(q⁺)`, `h v⁺ = q⁺ − q`. Multiplied by `v⁺` that is
//!
//! ```text
//! E⁺ − E = −½ ‖v⁺ − v‖²_M − D(q, q⁺),      D(q, q⁺) = V(q) − V(q⁺) − ∇V(q⁺)·(q − q⁺)
//! ```
//!
//! where `D ≥ 0` for a convex potential (Bregman's distance): then no step gains. Elsewhere it may, whichever minimum Newton finds:
//!
//! * `V = min(V₁, V₂)`, a change of nearest face inside a box: `−D = V₂(q) − V₁(q) − …`, at most the force times the way to the change: first order in `h`;
//! * joints: the links' potential is bent by the way the links take. With `s = x(q⁺) − x(q) − J(q⁺)(q⁺ − q) = O(h²)` the forces `λ` of a joint do
//!   the work `λ·s`: second order in `h`, first order in an impact that takes one step.

mod common;

use common::impulse::ground;
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactLaw, ContactParams};
use osculate_dynamics::articulated::{Joint, JointKind, JointPosition};
use osculate_dynamics::{Articulation, Body, LinkJoint, Method, Scene, Settings, Simulator};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::quadrature::SurfaceSamples;
use osculate_math::{se3::Pose, so3};

const MASS: f64 = 0.4;
const SPEED: f64 = 1.0;
const DEPTH: f64 = 0.01;

/// Linear ramp, neither friction nor damping.
fn elastic() -> ContactParams {
    ContactParams {
        stiffness: 1e6,
        smoothing: 0.0,
        threshold: 0.0,
        friction: 0.0,
        viscous_friction: 0.0,
        damping: 0.0,
        ..ContactParams::default()
    }
}

fn pose(position: Vector3<f64>) -> Pose {
    Pose { position, rotation: so3::exp(&Vector3::zeros()) }
}

/// A body that touches with one point at its centre of mass.
fn point() -> Body {
    let inertia = Matrix3::identity() * 1e-6;
    let mass = MassProperties::new(MASS, Vector3::zeros(), inertia).unwrap();
    let mut body = Body::dynamic("point", mass);
    let samples = SurfaceSamples::explicit(vec![Vector3::zeros()], vec![2.5e-3], None);
    body.samples = Some(samples.unwrap());
    body.contact = elastic();
    body
}

/// Kinetic, contact energy and position at the start and after each step.
fn run(scene: Scene, h: f64, steps: usize) -> Vec<(f64, f64, Vector3<f64>)> {
    let law = ContactLaw::default();
    let settings = Settings { method: Method::BackwardEuler, law, ..Default::default() };
    let simulator = Simulator::new(scene, settings, vec![h; steps]).unwrap();
    let p = simulator.parameters();
    let t = simulator.run(&p).unwrap();
    let of = |k: usize| {
        let e = simulator.energies(&t, &p, k).unwrap();
        (e.kinetic, e.contact, t.path.state(k)[0].center)
    };
    (0..=steps).map(of).collect()
}

/// The point inside a box, nearest to its top, on its way to a side: gain of the step that passes the change of nearest face, and what it should be.
fn crossing(h: f64, phase: f64) -> [f64; 2] {
    let half = 0.1;
    let mut fixed = Body::fixed("box");
    fixed.collider = Some(Collider::cuboid(Vector3::zeros(), Vector3::repeat(half)).unwrap());
    fixed.contact = elastic();
    let mut body = point();
    let way = h * SPEED;
    body.pose = pose(Vector3::new(half - DEPTH - way * (1.0 + phase), 0.0, half - DEPTH));
    body.velocity = Vector3::x() * SPEED;
    let path = run(Scene::new(Vector3::zeros(), vec![body, fixed]).unwrap(), h, 4);
    let depth = |x: &Vector3<f64>| [half - x.x, half - x.z];
    let passes = |w: &&[(f64, f64, Vector3<f64>)]| {
        let ([a, b], [c, d]) = (depth(&w[0].2), depth(&w[1].2));
        a > b && c < d
    };
    let step = path.windows(2).find(passes).expect("it passes");
    let ([x, z], [end, _]) = (depth(&step[0].2), depth(&step[1].2));
    let stiffness = 2.0 * path[0].1 / (DEPTH * DEPTH);
    // Velocities are those of the positions; before this step those of the last.
    let k = path.windows(2).position(|w| w[1].2 == step[1].2).unwrap();
    let velocity =
        |k: usize| if k == 0 { Vector3::x() * SPEED } else { (path[k].2 - path[k - 1].2) / h };
    let change: Vector3<f64> = velocity(k + 1) - velocity(k);
    let bregman = 0.5 * stiffness * (z * z - x * x + (x - end) * (x - end));
    let gain = step[1].0 + step[1].1 - step[0].0 - step[0].1;
    [gain, -0.5 * MASS * change.norm_squared() - bregman]
}

#[test]
fn a_step_across_a_change_of_nearest_face_gains_what_bregmans_distance_says() {
    let largest = |h: f64| {
        let mut most: f64 = 0.0;
        for i in 0..20 {
            let [gain, expected] = crossing(h, (f64::from(i) + 0.5) / 20.0);
            assert!((gain - expected).abs() < 1e-9, "h {h} phase {i}: {gain:e} {expected:e}");
            most = most.max(gain);
        }
        most
    };
    let force = 1e6 * 2.5e-3 * DEPTH;
    let [coarse, fine, finer] = [4e-4, 2e-4, 1e-4].map(largest);
    println!("{coarse:.2e} {fine:.2e} {finer:.2e} J, of at most {:.2e}", force * 4e-4 * SPEED);
    assert!(coarse > 0.0 && coarse < force * 4e-4 * SPEED);
    for ratio in [coarse / fine, fine / finer] {
        assert!((1.7..2.3).contains(&ratio), "first order: {ratio}");
    }
}

/// A pendulum whose bob passes the ground at its lowest point, pressed in: the rod pushes it outwards, along `s = h² v²/(2 r)`.
#[test]
fn a_joint_that_pushes_along_its_bend_gains_at_second_order() {
    let radius = 0.15;
    let gain = |h: f64| {
        let mut fixed = ground(0.0);
        fixed.contact = elastic();
        let bodies = vec![point(), fixed];
        let joint = Joint::new(JointKind::Revolute { axis: Vector3::y() })
            .placed(pose(Vector3::z() * (radius - DEPTH)))
            .with_offset(pose(Vector3::z() * -radius));
        let (position, rates) = (Some(JointPosition::Scalar(0.0)), vec![SPEED / radius]);
        let joints = vec![LinkJoint { body: 0, parent: None, joint, position, rates }];
        let articulation = Articulation::new(&bodies, joints, Vec::new()).unwrap();
        let scene = Scene::new(Vector3::zeros(), bodies).unwrap();
        let path = run(scene.with_articulation(articulation).unwrap(), h, 1);
        let force = 2.0 * path[0].1 / DEPTH;
        let rod = force - MASS * SPEED * SPEED / radius;
        let expected = rod * (h * SPEED).powi(2) / (2.0 * radius);
        (path[1].0 + path[1].1 - path[0].0 - path[0].1, expected)
    };
    let [(coarse, expected), (fine, _)] = [2e-4, 1e-4].map(gain);
    println!("{coarse:.3e} J, expected {expected:.3e}; with half the step {fine:.3e}");
    assert!((coarse / expected - 1.0).abs() < 0.05, "{coarse:e} {expected:e}");
    assert!((3.8..4.2).contains(&(coarse / fine)), "second order: {}", coarse / fine);
}
