//! Piles of cubes that fall on a plane and on each other under the impulse model: how long, how many sweeps, what is left.
//!
//! Cubes of 0.1 m and 0.37 kg, μ = 0.5, steps of 2 ms for 1 s, slightly turned and shifted at random: scenario D of the comparison
//! with MuJoCo. `cargo bench --bench impulse_pile [-- CUBES … ["anchors to 1e-3"]]`; `RAYON_NUM_THREADS=1` for one thread. Times are processor
//! time of all threads. Beside the natural residual of the solve the same measure is taken of Coulomb's law alone over the last
//! 0.2 s, so that any engine with contact points can be asked for it:
//!
//! ```text
//! normal     |r_N − max(0, r_N − (u_N + max(g, 0)/h)/W)| W        friction   ‖r_T − P_{μ r_N}(r_T − u_T/τ)‖ τ,  τ = tr W_T
//! ```
//!
//! with `u` the velocity at the end of the step; both in units of `g h`, what gravity adds in a step. Correction of overlaps
//! counts as residual there.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

mod common;

use common::cpu;
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseStepper, RigidState, StepRecord};
use osculate_dynamics::{Body, OnFailure, Parameters, Scene};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_math::{se3::Pose, so3};
use std::time::Instant;

const HALF: f64 = 0.05;
const MASS: f64 = 0.37;
const FRICTION: f64 = 0.5;
const GRAVITY: f64 = 9.81;
const H: f64 = 0.002;
const STEPS: usize = 500;

/// Numbers between −1 and 1 that look random (Weyl sequence of the golden ratio, squared).
struct Numbers(f64);

impl Numbers {
    fn next(&mut self, width: f64) -> f64 {
        self.0 += 1.0;
        width * (2.0 * (self.0 * self.0 * 0.618_033_988_749_894_9).fract() - 1.0)
    }
}

/// `n` cubes in a lattice of 0.125 × 0.125 × 0.13 m, 8 cm above a plane.
fn scene(n: usize) -> Scene {
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    ground.contact.friction = FRICTION;
    let half = Vector3::repeat(HALF);
    let mass = MassProperties::cuboid(MASS, &half).unwrap();
    let mut numbers = Numbers(0.0);
    let side = (n as f64).cbrt().round() as usize;
    let mut bodies = vec![ground];
    for i in 0..n {
        let (x, y, z) = (i % side, i / side % side, i / (side * side));
        let mut cube = Body::dynamic(format!("cube_{i}"), mass);
        let turn = Vector3::from_fn(|_, _| numbers.next(0.2));
        let position = Vector3::new(
            0.125 * x as f64 + numbers.next(0.01),
            0.125 * y as f64 + numbers.next(0.01),
            0.08 + 0.13 * z as f64,
        );
        cube.pose = Pose { position, rotation: so3::exp(&turn) };
        cube.contact.friction = FRICTION;
        cube.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
        bodies.push(cube);
    }
    Scene::new(Vector3::new(0.0, 0.0, -GRAVITY), bodies).unwrap()
}

/// `J M⁻¹Jᵀ` of a point of two bodies, and their relative velocity there.
fn at_point(
    states: [&[RigidState]; 2],
    [a, b]: [usize; 2],
    point: &Vector3<f64>,
) -> (Matrix3<f64>, Vector3<f64>) {
    let inverse = 6.0 / (MASS * 4.0 * HALF * HALF);
    let (mut block, mut velocity) = (Matrix3::zeros(), Vector3::zeros());
    for (body, sign) in [(a, 1.0), (b, -1.0)] {
        // The plane is body 0.
        if body == 0 {
            continue;
        }
        let (start, end) = (&states[0][body], &states[1][body]);
        let arm = so3::skew(&(point - start.center));
        block += Matrix3::identity() / MASS - arm * arm * inverse;
        velocity += (end.velocity - arm * end.angular_velocity) * sign;
    }
    (block, velocity)
}

/// Largest residuals of Coulomb's law of a step, normal and friction, in units of `g h`.
fn coulomb(record: &StepRecord, states: [&[RigidState]; 2]) -> [f64; 2] {
    let mut worst = [0.0_f64; 2];
    let friction = |bodies, point: &Vector3<f64>, n: &Vector3<f64>, r: &Vector3<f64>, radius| {
        let (block, u) = at_point(states, bodies, point);
        let slip = u - n * n.dot(&u);
        let tau = block.trace() - n.dot(&(block * n));
        let mut aim = r - slip / tau;
        let size: f64 = aim.norm();
        if size > radius {
            aim *= radius / size;
        }
        (r - aim).norm() * tau
    };
    for c in &record.contacts {
        let (p, n) = ((c.point.point_a + c.point.point_b) * 0.5, c.point.normal);
        let (block, u) = at_point(states, c.bodies, &p);
        let weight = n.dot(&(block * n));
        let gap = c.point.gap.max(0.0) / H;
        let aim = (c.normal - (n.dot(&u) + gap) / weight).max(0.0);
        worst[0] = worst[0].max((c.normal - aim).abs() * weight);
        if c.regime.is_some() {
            let found = friction(c.bodies, &p, &n, &c.friction, FRICTION * c.normal);
            worst[1] = worst[1].max(found);
        }
    }
    for a in &record.anchors {
        let found = friction(a.bodies, &a.position, &a.normal, &a.impulse, a.radius);
        worst[1] = worst[1].max(found);
    }
    worst.map(|w| w / (GRAVITY * H))
}

#[derive(Default)]
struct Found {
    sweeps: usize,
    most: usize,
    /// Sweeps of the last 0.2 s.
    late: usize,
    residual: f64,
    unconverged: usize,
    contacts: usize,
    coulomb: [f64; 2],
    overlap: f64,
}

fn stepper(n: usize, settings: ImpulseSettings) -> ImpulseStepper {
    let scene = scene(n);
    ImpulseStepper::new(&scene, settings, &Parameters::of(&scene)).unwrap()
}

fn run(n: usize, name: &str, settings: ImpulseSettings) {
    let mut found = Found::default();
    let mut pile = stepper(n, settings);
    let begin = (Instant::now(), cpu());
    for _ in 0..STEPS {
        let stats = pile.step(&[], H).unwrap().stats;
        found.sweeps += stats.sweeps;
        found.most = found.most.max(stats.sweeps);
        found.residual = found.residual.max(stats.residual);
        found.unconverged += usize::from(!stats.converged);
    }
    let took = begin.0.elapsed().as_secs_f64();
    let worked = cpu().zip(begin.1).map_or(f64::NAN, |(now, before)| now - before);
    // The same again, looked at.
    let mut pile = stepper(n, settings);
    for step in 0..STEPS {
        let before = pile.states().to_vec();
        let record = pile.step(&[], H).unwrap();
        if step < STEPS - STEPS / 5 {
            continue;
        }
        let seen = coulomb(&record, [&before, pile.states()]);
        found.coulomb = [0, 1].map(|i| found.coulomb[i].max(seen[i]));
        let gaps = record.contacts.iter().map(|c| -c.point.gap);
        found.overlap = gaps.fold(found.overlap, f64::max);
        found.contacts = record.contacts.len();
        found.late += record.stats.sweeps;
    }
    let [normal, friction] = found.coulomb;
    let each = |seconds: f64| seconds * 1e6 / STEPS as f64;
    println!(
        "{n:4} cubes, {name:22} {:9.1} µs a step ({:9.1} wall), {:7.1} sweeps (most {:5}, in the end {:6.1}), residual {:.1e}, {:3} of {STEPS} not converged, {:4} contacts; Coulomb normal {normal:.1e}, friction {friction:.1e}, overlap {:.1e} m",
        each(worked),
        each(took),
        found.sweeps as f64 / STEPS as f64,
        found.most,
        5.0 * found.late as f64 / STEPS as f64,
        found.residual,
        found.unconverged,
        found.contacts,
        found.overlap,
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked: Vec<usize> = words.iter().filter_map(|x| x.parse().ok()).collect();
    let asked = if asked.is_empty() { vec![8, 64, 216] } else { asked };
    let only = words.iter().find(|w| w.starts_with("points") || w.starts_with("anchors"));
    let base = ImpulseSettings { on_failure: OnFailure::Continue, ..ImpulseSettings::default() };
    for n in asked {
        for (friction, anchor_beta) in [("points", 0.0), ("anchors", 0.2)] {
            for (end, sweeps, tolerance) in [
                ("10 sweeps", 10, 1e-8),
                ("to 1e-2", 2000, 1e-2),
                ("to 1e-3", 2000, 1e-3),
                ("to 1e-4", 2000, 1e-4),
                ("to 1e-8", 2000, 1e-8),
            ] {
                // A minute of sweeps that do not end.
                if n > 8 && tolerance < 1e-4 && sweeps > 10 {
                    continue;
                }
                let name = format!("{friction} {end}");
                if only.is_none_or(|o| name.starts_with(o.as_str())) {
                    run(n, &name, ImpulseSettings { sweeps, tolerance, anchor_beta, ..base });
                }
            }
        }
    }
}
