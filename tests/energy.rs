//! Energy of random scenes that nothing drives: contact, friction and joints take it and never give it. Free bodies of the impulse model are in
//! `impulse_cloud.rs`.

mod common;

use common::impulse::{GRAVITY, ground};
use common::{contact, cuboid};
use nalgebra::Vector3;
use osculate_contact::impulse::normal::Rigid;
use osculate_contact::{ContactLaw, DissipationSchedule};
use osculate_dynamics::articulated::{Joint, JointFriction, JointKind, JointPosition};
use osculate_dynamics::impulse::{
    Coriolis, ImpulseSettings, ImpulseSimulator, Inertia, NormalLaw, RigidState,
};
use osculate_dynamics::{
    Articulation, Body, LinkJoint, Method, RunError, Scene, Settings, Simulator,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::quadrature::SurfaceSamples;
use osculate_math::{se3::Pose, so3};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const STEP: f64 = 1e-3;
const STEPS: usize = 250;

struct Random(StdRng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.within(-size, size))
    }

    /// A box that touches by its corners.
    fn body(&mut self, name: String) -> Body {
        let half = Vector3::from_fn(|_, _| self.within(0.03, 0.08));
        let mut body = cuboid(&name, half);
        // Points without normals: none is left out by alignment, which takes elastic energy with it.
        let sign = |i: usize, k: usize| if i >> k & 1 == 1 { half[k] } else { -half[k] };
        let corners = (0..8).map(|i| Vector3::from_fn(|k, _| sign(i, k))).collect();
        body.samples = Some(SurfaceSamples::explicit(corners, vec![2.5e-3; 8], None).unwrap());
        body.contact = contact(10f64.powf(self.within(6.0, 8.0)));
        body.contact.friction = self.within(0.0, 1.0);
        body.contact.damping = self.within(0.0, 1.0);
        body.contact.viscous_friction = self.within(0.0, 0.5);
        body
    }

    /// Six boxes thrown at the ground.
    fn thrown(&mut self) -> Vec<Body> {
        let boxed = |i: usize| {
            let mut body = self.body(format!("box{i}"));
            let place = Vector3::new(i as f64, 0.0, self.within(0.35, 0.45));
            body.pose = Pose { position: place, rotation: so3::exp(&self.vector(2.0)) };
            body.velocity = self.vector(2.0) - Vector3::z() * 2.0;
            body.angular_velocity = self.vector(8.0);
            body
        };
        (0..6).map(boxed).collect()
    }

    fn joint(&mut self, kind: JointKind) -> Joint {
        // Far enough that links do not reach into each other.
        let away = |r: &mut Self, x: f64| Pose {
            position: Vector3::new(x, 0.0, 0.0),
            rotation: so3::exp(&r.vector(0.3)),
        };
        let mut joint = Joint::new(kind).placed(away(self, 0.15)).with_offset(away(self, 0.15));
        joint.laws.friction = JointFriction {
            viscous: self.within(0.0, 0.05),
            coulomb: self.within(0.0, 0.1),
            stiction_extra: self.within(0.0, 0.1),
            ..JointFriction::default()
        };
        joint
    }

    /// Joints of the first three boxes: a free, a revolute and a spherical one.
    fn joints(&mut self, bodies: &[Body]) -> Vec<LinkJoint> {
        let position = JointPosition::Pose(bodies[0].pose);
        let speed = bodies[0].velocity;
        let rates = vec![speed.x, speed.y, speed.z, 1.0, -2.0, 0.5];
        let root = Joint::new(JointKind::Free);
        let base =
            LinkJoint { body: 0, parent: None, joint: root, position: Some(position), rates };
        let axis = self.vector(1.0).normalize();
        let hinge = self.joint(JointKind::Revolute { axis });
        let ball = self.joint(JointKind::Spherical);
        let linked = |body, joint, rates| {
            let (parent, position) = (Some(body - 1), None);
            LinkJoint { body, parent, joint, position, rates }
        };
        let rates = self.vector(3.0).as_slice().to_vec();
        vec![base, linked(1, hinge, vec![self.within(-5.0, 5.0)]), linked(2, ball, rates)]
    }

    /// The boxes above the ground, three of them in a tree where they are `jointed`.
    fn scene(&mut self, jointed: bool) -> Scene {
        let mut bodies = self.thrown();
        if jointed {
            // None of its links starts in the ground.
            bodies[0].pose.position.z += 0.4;
        }
        let joints = self.joints(&bodies);
        bodies.push(ground(0.5));
        let scene = |bodies: &[Body]| Scene::new(Vector3::z() * -GRAVITY, bodies.to_vec()).unwrap();
        if !jointed {
            return scene(&bodies);
        }
        for body in &mut bodies[..3] {
            (body.velocity, body.angular_velocity) = (Vector3::zeros(), Vector3::zeros());
        }
        let articulation = Articulation::new(&bodies, joints, Vec::new()).unwrap();
        scene(&bodies).with_articulation(articulation).unwrap()
    }
}

/// Kinetic, gravitational and contact energy at the start and after each step, with backward Euler.
fn energies(scene: Scene, schedule: DissipationSchedule) -> Result<Vec<f64>, RunError> {
    let law = ContactLaw { schedule, ..Default::default() };
    let settings = Settings { method: Method::BackwardEuler, law, ..Default::default() };
    let simulator = Simulator::new(scene, settings, vec![STEP; STEPS]).unwrap();
    let p = simulator.parameters();
    let t = simulator.run(&p)?;
    let energy = |k| {
        let e = simulator.energies(&t, &p, k).unwrap();
        e.kinetic + e.gravitational + e.contact
    };
    Ok((0..=STEPS).map(energy).collect())
}

/// On the ground: distances to a plane are linear. Where a corner inside another box changes to another nearest face, a step may gain.
#[test]
fn energy_of_boxes_and_trees_on_the_ground_never_increases() {
    let (mut judged, mut failed, mut worst) = (0, 0, f64::NEG_INFINITY);
    for seed in 0..10 {
        for (jointed, schedule) in
            [false, true].into_iter().flat_map(|j| DissipationSchedule::ALL.map(|s| (j, s)))
        {
            // Where force jumps as a sample leaves a stage may have no solution; that of a tree which is struck hard may not be found.
            let energy = match energies(Random::new(seed).scene(jointed), schedule) {
                Ok(energy) => energy,
                Err(error) => {
                    println!("seed {seed} {schedule:?} jointed {jointed}: {error}");
                    let found = jointed || schedule != DissipationSchedule::StageStart;
                    assert!(found, "it has a potential");
                    failed += 1;
                    continue;
                }
            };
            judged += 1;
            assert!(energy[STEPS] < 0.9 * energy[0], "seed {seed}: nothing touched");
            for (k, pair) in energy.windows(2).enumerate() {
                let gain = (pair[1] - pair[0]) / energy[0];
                worst = f64::max(worst, gain);
                assert!(
                    gain < 1e-12,
                    "seed {seed} {schedule:?} jointed {jointed} step {k}: {gain:e}"
                );
            }
        }
    }
    println!("{judged} roll-outs, largest gain {worst:.1e}; {failed} have no solution");
    assert!(judged > 5 * failed);
}

/// A tree of three links without friction in its joints.
fn tree(seed: u64, gravity: f64) -> Scene {
    let mut random = Random::new(seed);
    let mut bodies = random.thrown();
    let mut joints = random.joints(&bodies);
    bodies.truncate(3);
    for (body, joint) in bodies.iter_mut().zip(&mut joints) {
        (body.velocity, body.angular_velocity) = (Vector3::zeros(), Vector3::zeros());
        body.samples = None;
        joint.joint.laws.friction = JointFriction::default();
    }
    let articulation = Articulation::new(&bodies, joints, Vec::new()).unwrap();
    let scene = Scene::new(Vector3::z() * -gravity, bodies).unwrap();
    scene.with_articulation(articulation).unwrap()
}

/// Kinetic and gravitational energy at the start and after each step under the impulse model.
fn impulse_energies(scene: &Scene, settings: ImpulseSettings, steps: &[f64]) -> Vec<f64> {
    let simulator = ImpulseSimulator::new(scene.clone(), settings, steps.to_vec()).unwrap();
    let t = simulator.run(&simulator.parameters()).unwrap();
    let energy = |states: &[RigidState], i: usize| {
        let Some(mass) = scene.bodies[i].mass() else { return 0.0 };
        let inertia = Inertia { mass: mass.mass(), tensor: mass.inertia() };
        let weight = scene.gravity * inertia.mass;
        inertia.kinetic_energy(&states[i]) - weight.dot(&states[i].center)
    };
    let of = |k| (0..scene.bodies.len()).map(|i| energy(t.state(k), i)).sum();
    (0..=steps.len()).map(of).collect()
}

fn with(coriolis: Coriolis) -> ImpulseSettings {
    ImpulseSettings { coriolis, ..Default::default() }
}

fn largest_gain(e: &[f64], scale: f64) -> f64 {
    e.windows(2).map(|w| w[1] - w[0]).fold(f64::NEG_INFINITY, f64::max) / scale
}

/// Explicit Coriolis forces of a tree may gain, by what vanishes with the square of the step.
#[test]
fn a_free_tree_with_explicit_coriolis_forces_keeps_its_energy_to_second_order_in_a_step() {
    for seed in 0..6 {
        let change = |h: f64| {
            let steps = vec![h; (0.05 / h).round() as usize];
            let e = impulse_energies(&tree(seed, 0.0), with(Coriolis::Explicit), &steps);
            e.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f64::max) / e[0]
        };
        let (coarse, fine) = (change(1e-3), change(5e-4));
        println!("seed {seed}: {coarse:.1e} a step, {fine:.1e} with half of it");
        assert!(coarse < 1e-3 && (3.0..5.0).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
    }
}

/// On the way from one configuration to the next no work is done: for any step.
#[test]
fn a_free_tree_with_conserving_coriolis_forces_keeps_its_energy() {
    for seed in 0..6 {
        for h in [1e-3, 1e-2, 5e-2] {
            let e = impulse_energies(&tree(seed, 0.0), with(Coriolis::Conserving), &[h; 200]);
            let change = e.iter().map(|x| (x / e[0] - 1.0).abs()).fold(0.0, f64::max);
            assert!(change < 1e-12, "seed {seed} h {h}: {change:e}");
        }
    }
}

/// In free fall a step loses `½ h² τ·H⁻¹τ` of its weight `τ`; what gravity does on the way is taken by the trapezoidal rule, whose error of third
/// order is all that a step may gain.
#[test]
fn a_falling_tree_with_conserving_coriolis_forces_does_not_gain_energy() {
    for seed in 0..6 {
        let e = impulse_energies(&tree(seed, GRAVITY), with(Coriolis::Conserving), &[STEP; 200]);
        let gain = largest_gain(&e, e[0]);
        println!("seed {seed}: {gain:.1e}");
        assert!(gain < 0.0, "seed {seed}: {gain:e}");
    }
}

/// With contacts and joint friction, without gravity and without what takes overlaps back: a tree and boxes are thrown at the ground.
#[test]
fn trees_and_boxes_that_collide_without_gravity_never_gain_energy() {
    let normal = NormalLaw::Rigid(Rigid { correction: 0.0, ..Rigid::default() });
    let mut struck = 0;
    for seed in 0..6 {
        let mut scene = Random::new(seed).scene(true);
        scene.gravity = Vector3::zeros();
        for body in scene.bodies.iter_mut().filter(|b| b.is_dynamic()) {
            let half = Vector3::new(0.06, 0.05, 0.04);
            body.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
        }
        let settings = ImpulseSettings { tolerance: 1e-10, normal, ..with(Coriolis::Conserving) };
        let e = impulse_energies(&scene, settings, &[STEP; 2 * STEPS]);
        let gain = largest_gain(&e, e[0]);
        println!("seed {seed}: {gain:.1e}, left {:.2}", e[2 * STEPS] / e[0]);
        assert!(gain < 1e-12, "seed {seed}: {gain:e}");
        struck += usize::from(e[2 * STEPS] < 0.9 * e[0]);
    }
    assert_eq!(struck, 6, "they meet the ground");
}
