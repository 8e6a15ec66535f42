//! Conservation and dissipation in the impulse stepper: bodies thrown at each other without forces.

mod common;

use common::impulse::{ball, block, run, unbiased};
use nalgebra::Vector3;
use osculate_dynamics::impulse::{
    Gyroscopic, ImpulseSettings, ImpulseTrajectory, Inertia, PointImpulse, RigidState, StepRecord,
    StepStart, Torsion,
};
use osculate_dynamics::{OnFailure, Scene};
use osculate_math::{Jet, Scalar, so3};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Kinetic energy of the dynamic bodies \[J\].
fn kinetic(scene: &Scene, states: &[RigidState]) -> f64 {
    let energy = |i: usize| {
        let mass = scene.bodies[i].mass().unwrap();
        Inertia { mass: mass.mass(), tensor: mass.inertia() }.kinetic_energy(&states[i])
    };
    scene.dynamic_bodies().map(energy).sum()
}

/// Boxes, balls and capsules' hulls thrown at each other without gravity.
fn cloud(seed: u64) -> Scene {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut u = |low: f64, high: f64| rng.random_range(low..high);
    let mut bodies = Vec::new();
    for i in 0..8 {
        let half = [u(0.03, 0.1), u(0.03, 0.1), u(0.03, 0.1)];
        let mut body = if i % 3 == 0 {
            ball(&format!("ball{i}"), u(0.1, 2.0), half[0], u(0.0, 1.0))
        } else {
            block(&format!("block{i}"), u(0.1, 2.0), half, u(0.0, 1.0))
        };
        let cell = Vector3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) * 0.4;
        body.pose.position = cell;
        body.pose.rotation = so3::exp(&Vector3::from_fn(|_, _| u(-2.0, 2.0)));
        // Towards the middle.
        body.velocity = (Vector3::repeat(0.2) - cell) * u(1.0, 6.0);
        body.angular_velocity = Vector3::from_fn(|_, _| u(-10.0, 10.0));
        bodies.push(body);
    }
    Scene::new(Vector3::zeros(), bodies).unwrap()
}

fn momenta(scene: &Scene, states: &[RigidState]) -> [Vector3<f64>; 2] {
    let mut sum = [Vector3::zeros(); 2];
    for i in scene.dynamic_bodies() {
        let (mass, s) = (scene.bodies[i].mass().unwrap(), &states[i]);
        let spin = s.rotation * mass.inertia() * s.rotation.transpose() * s.angular_velocity;
        sum[0] += s.velocity * mass.mass();
        sum[1] += s.center.cross(&s.velocity) * mass.mass() + spin;
    }
    sum
}

fn collide(seed: u64, beta: f64) -> (Scene, ImpulseTrajectory) {
    solved(cloud(seed), beta, Torsion::Linear)
}

fn solved(scene: Scene, beta: f64, torsion: Torsion) -> (Scene, ImpulseTrajectory) {
    // A jammed heap takes many sweeps; what they leave is checked here.
    let on_failure = OnFailure::Continue;
    let settings = ImpulseSettings {
        normal: unbiased(),
        anchor_beta: beta,
        torsion,
        on_failure,
        ..ImpulseSettings::default()
    };
    let t = run(&scene, settings, (2e-3, 250), &[]);
    assert!(t.records.iter().all(|r| r.stats.residual < 1e-6));
    (scene, t)
}

fn energy_falls(seed: u64, (scene, t): &(Scene, ImpulseTrajectory)) {
    let energy: Vec<f64> = (0..=250).map(|k| kinetic(scene, t.state(k))).collect();
    assert!(energy[250] < 0.9 * energy[0], "seed {seed}: nothing touched");
    for (k, pair) in energy.windows(2).enumerate() {
        // What the sweeps leave: tolerance times velocities.
        let allowed = 1e-6 * energy[0];
        assert!(pair[1] <= pair[0] + allowed, "seed {seed}, step {k}: {pair:?}");
    }
}

#[test]
fn energy_never_increases_in_an_unforced_scene() {
    for seed in 0..24 {
        energy_falls(seed, &collide(seed, 0.0));
    }
}

#[test]
fn energy_never_increases_where_contacts_slide_and_spin_on_one_surface() {
    for torsion in [Torsion::Linear, Torsion::Ellipsoid, Torsion::LimitSurface] {
        for seed in 0..8 {
            let mut scene = cloud(seed);
            for body in &mut scene.bodies {
                body.impulse.torsional_radius = 0.02;
                body.impulse.torsional_patch_radius = 0.1;
            }
            energy_falls(seed, &solved(scene, 0.0, torsion));
        }
    }
}

#[test]
fn contacts_conserve_linear_momentum_and_impulses_have_no_moment() {
    for (seed, beta) in [(1, 0.0), (2, 0.2)] {
        let (scene, t) = collide(seed, beta);
        let [p, l] = momenta(&scene, t.state(0));
        for k in 0..=250 {
            let [q, m] = momenta(&scene, t.state(k));
            assert!((q - p).norm() < 1e-12 * (1.0 + p.norm()), "step {k}");
            // Free tumbling misses the direction of the angular momentum by O(h³) a step.
            assert!((m - l).norm() < 2e-3 * (1.0 + l.norm()), "step {k}: {}", (m - l).norm());
        }
    }
}

#[test]
fn runs_are_equal_bit_by_bit_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| collide(3, 0.2).1)
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn friction_never_exceeds_mu_times_the_normal_impulse() {
    let (scene, t) = collide(5, 0.0);
    let mut seen = 0;
    for c in t.records.iter().flat_map(|r| &r.contacts) {
        let [a, b] = c.bodies.map(|i| scene.bodies[i].contact.friction);
        assert!(c.normal >= 0.0);
        assert!(c.friction.norm() <= (a * b).sqrt() * c.normal * (1.0 + 1e-12) + 1e-300);
        assert!(c.friction.dot(&c.point.normal).abs() <= 1e-12 * (c.friction.norm() + 1e-300));
        seen += usize::from(c.normal > 0.0);
    }
    assert!(seen > 10, "{seen} loaded contacts");
}

/// The equations of a step of the cloud, at a change of the initial velocity and the mass of one body.
fn balance<T: Scalar>(
    scene: &Scene,
    states: &[RigidState],
    record: &StepRecord,
    [dv, dm]: [T; 2],
) -> Vec<[Vector3<T>; 2]> {
    let lift = |v: &Vector3<f64>| v.map(T::from);
    let inertia: Vec<_> = (0..8)
        .map(|i| {
            let mass = scene.bodies[i].mass().unwrap();
            let tensor = mass.inertia().map(T::from);
            let change = if i == 1 { dm } else { T::from(0.0) };
            Some(Inertia { mass: change + mass.mass(), tensor })
        })
        .collect();
    let states: Vec<_> = states
        .iter()
        .enumerate()
        .map(|(i, s)| {
            let mut velocity = lift(&s.velocity);
            if i == 1 {
                velocity.x += dv;
            }
            RigidState {
                center: lift(&s.center),
                rotation: s.rotation.map(T::from),
                velocity,
                angular_velocity: lift(&s.angular_velocity),
            }
        })
        .collect();
    let zero = Vector3::zeros();
    let start = StepStart {
        inertia: &inertia,
        centers: &[zero; 8],
        states: &states,
        forces: &[[zero; 2]; 8],
        duration: 2e-3,
        gyroscopic: Gyroscopic::Midpoint,
    };
    let impulses: Vec<_> = record
        .contacts
        .iter()
        .map(|c| {
            let contact = c.contact.lift::<T>();
            let point = start.contact_point(c.bodies, &contact);
            let normal = point.normal.map(|x| x * c.normal);
            PointImpulse {
                bodies: c.bodies,
                point: start.contact_middle(c.bodies, &contact),
                linear: normal + lift(&c.friction),
                angular: lift(&c.angular),
            }
        })
        .collect();
    let v = start.velocities_after(&impulses).unwrap();
    // What touches does not close any more.
    for (c, i) in record.contacts.iter().zip(&impulses).filter(|(c, _)| c.normal > 0.0) {
        let u = start.relative_velocity(c.bodies, &i.point, &v);
        let closing = u.map(|x| x.re()).dot(&c.point.normal);
        assert!((closing + c.point.gap.max(0.0) / 2e-3).abs() < 1e-4, "{closing}");
    }
    v
}

#[test]
fn recorded_impulses_balance_the_step_in_every_scalar() {
    let (scene, t) = collide(1, 0.0);
    let touching = |k: &usize| t.records[*k].contacts.iter().any(|c| c.normal > 0.0);
    let mut seen = 0;
    for k in (0..250).filter(touching) {
        let (now, record) = (t.state(k), &t.records[k]);
        let v = balance(&scene, now, record, [0.0, 0.0]);
        for (v, state) in v.iter().zip(t.state(k + 1)) {
            let off = (v[0] - state.velocity).norm() + (v[1] - state.angular_velocity).norm();
            assert!(off < 1e-9 * (1.0 + v[1].norm()), "step {k}: {off}");
        }
        let jets =
            balance(&scene, now, record, [Jet::<2>::variable(0.0, 0), Jet::variable(0.0, 1)]);
        for (i, d) in [[1e-6, 0.0], [0.0, 1e-6]].into_iter().enumerate() {
            let (a, b) =
                (balance(&scene, now, record, d), balance(&scene, now, record, d.map(|x| -x)));
            for (j, body) in jets.iter().enumerate() {
                let slope = (a[j][0] - b[j][0]) / 2e-6;
                assert!((body[0].map(|x| x.eps[i]) - slope).norm() < 1e-6 * (1.0 + slope.norm()));
            }
        }
        seen += 1;
    }
    assert!(seen > 10, "{seen} steps with contact");
}
