//! Forces and energies of sampled surfaces against closed forms (plain ramp, sampled by reference area).
//!
//! ```text
//! ball sampled on a plane        F = π k R d²                 Π = π k R d³/3
//! plane sampled under a ball     F = π k R d² − π k d³        Π = π k (R d³/3 − d⁴/4)
//! box, face down                 F = k (A d + P d²/2)         P: perimeter, the side faces count
//! box, corner down               F = 3 k d³/2
//! box, edge down, face tilted θ  F = k L d²/2 (1/sin θ + 1/cos θ) + k d³/(3 sin θ cos θ)
//! ```

mod common;

use common::laws::{plain, plane};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::ContactParams;
use osculate_dynamics::{Body, Scene, Settings, Simulator};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::so3;

const K: f64 = 1e6;

/// Contact that no alignment rejects.
fn every_side(threshold: f64) -> ContactParams {
    ContactParams { max_alignment: 1.0, threshold, ..plain(K) }
}

/// Vertical force on body 1 and contact energy of a scene at rest.
fn force_and_energy(bodies: [Body; 2]) -> (f64, f64) {
    let scene = Scene::new(Vector3::zeros(), bodies.into()).unwrap();
    // A step so short that nothing moves.
    let simulator = Simulator::new(scene, Settings::default(), vec![1e-12]).unwrap();
    let p = simulator.parameters();
    let trajectory = simulator.run(&p).unwrap();
    let contacts = simulator.contacts(&trajectory, &p, 0).unwrap();
    let force =
        contacts.iter().map(|c| if c.colliding == 1 { c.force.z } else { -c.force.z }).sum();
    (force, simulator.energies(&trajectory, &p, 0).unwrap().contact)
}

fn sampled(
    samples: SurfaceSamples,
    height: f64,
    rotation: Matrix3<f64>,
    contact: ContactParams,
) -> Body {
    let mut body = Body::dynamic("body", MassProperties::sphere(1.0, 0.1).unwrap());
    body.samples = Some(samples);
    body.pose.position.z = height;
    body.pose.rotation = rotation;
    body.contact = contact;
    body
}

fn judge(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = found / expected - 1.0;
    println!("{what}: {found:.8e}, closed form {expected:.8e}, off by {error:.1e}");
    assert!(error.abs() < tolerance, "{what}: {found} for {expected}");
}

#[test]
fn sampled_ball_on_a_plane_has_the_force_and_energy_of_the_closed_form() {
    let (radius, pi) = (0.1, std::f64::consts::PI);
    let samples = |n: usize| {
        SurfaceSamples::from_mesh(&TriangleMesh::icosphere(radius, n).unwrap(), TriangleRule::P1Q6)
    };
    for (d, threshold) in [(0.02, 0.0), (0.1, 0.0), (0.19, 0.0), (0.03, 0.01)] {
        let found = [4, 5].map(|n| {
            let height = radius - d + threshold;
            let contact = every_side(threshold);
            let body = sampled(samples(n), height, Matrix3::identity(), contact);
            force_and_energy([plane(contact), body])
        });
        let closed = (pi * K * radius * d * d, pi * K * radius * d.powi(3) / 3.0);
        // The facets lie inside the ball: an error of second order in their size.
        let error = found.map(|(f, _)| (f / closed.0 - 1.0).abs());
        assert!(error[1] < 0.3 * error[0], "{error:?}");
        judge(&format!("ball, depth {d}, δ {threshold}, F"), found[1].0, closed.0, 3e-3);
        judge(&format!("ball, depth {d}, δ {threshold}, Π"), found[1].1, closed.1, 5e-3);
    }
}

#[test]
fn sampled_plane_under_a_ball_has_the_force_and_energy_of_the_closed_form() {
    let (radius, d, pi) = (0.1, 0.02, std::f64::consts::PI);
    let n = 400;
    let side = 0.14;
    let at = |i: usize| side * ((i as f64 + 0.5) / n as f64 - 0.5);
    let points: Vec<_> = (0..n * n).map(|i| Vector3::new(at(i / n), at(i % n), 0.0)).collect();
    let weights = vec![(side / n as f64).powi(2); n * n];
    let mut ground = Body::fixed("ground");
    ground.samples = Some(SurfaceSamples::explicit(points, weights, None).unwrap());
    ground.contact = every_side(0.0);
    let mut ball = Body::dynamic("ball", MassProperties::sphere(1.0, radius).unwrap());
    ball.collider = Some(Collider::sphere(Vector3::zeros(), radius).unwrap());
    ball.pose.position.z = radius - d;
    ball.contact = every_side(0.0);
    let (force, energy) = force_and_energy([ground, ball]);
    judge("under a ball, F", force, pi * K * (radius * d * d - d.powi(3)), 1e-4);
    judge("under a ball, Π", energy, pi * K * (radius * d.powi(3) / 3.0 - d.powi(4) / 4.0), 1e-4);
}

fn half() -> Vector3<f64> {
    Vector3::new(0.05, 0.06, 0.07)
}

/// Vertical force on a refined box whose lowest point is at depth `d`.
fn box_force(n: usize, d: f64, rotation: Matrix3<f64>) -> f64 {
    let mesh = TriangleMesh::refined_cuboid(&half(), n).unwrap();
    let samples = SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3);
    let h = half();
    let lowest = (0..8)
        .map(|i| Vector3::from_fn(|k, _| if i >> k & 1 == 1 { h[k] } else { -h[k] }))
        .map(|x| (rotation * x).z)
        .fold(f64::INFINITY, f64::min);
    let body = sampled(samples, -lowest - d, rotation, every_side(0.0));
    force_and_energy([plane(every_side(0.0)), body]).0
}

#[test]
fn box_on_its_face_counts_its_side_faces() {
    // The depth is a line of the mesh: the pressure is linear on every triangle, and the rule exact.
    let (h, d) = (half(), 0.0125);
    let (area, perimeter) = (4.0 * h.x * h.y, 4.0 * (h.x + h.y));
    let expected = K * (area * d + perimeter * d * d / 2.0);
    judge("box, face", box_force(56, d, Matrix3::identity()), expected, 1e-10);
    // Without the side faces it would be off by this much.
    assert!(perimeter * d / (2.0 * area) > 0.1);
}

#[test]
fn box_on_its_corner_carries_three_halves_of_k_d_cubed() {
    // The diagonal points down: every face is inclined alike.
    let down = Vector3::<f64>::repeat(-1.0).normalize();
    let axis = down.cross(&-Vector3::z());
    let angle = axis.norm().atan2(-down.z);
    let rotation = so3::exp(&(axis.normalize() * angle));
    let d = 0.03;
    judge("box, corner", box_force(96, d, rotation), 1.5 * K * d.powi(3), 2e-3);
}

#[test]
fn box_on_its_edge_carries_both_faces_and_both_ends() {
    for tilt in [0.3_f64, 0.8] {
        let (d, length) = (0.015, 2.0 * half().x);
        let (s, c) = tilt.sin_cos();
        let expected =
            K * length * d * d / 2.0 * (1.0 / s + 1.0 / c) + K * d.powi(3) / (3.0 * s * c);
        let rotation = so3::exp(&(Vector3::x() * tilt));
        judge(&format!("box, edge tilted {tilt}"), box_force(96, d, rotation), expected, 1e-3);
    }
}

#[test]
fn static_plane_sampled_or_sampling_gives_opposite_forces_on_the_two_bodies() {
    // One pass, whichever body samples, balances: the contact list holds one force for both.
    let contact = every_side(0.0);
    let mesh = TriangleMesh::icosphere(0.1, 3).unwrap();
    let samples = SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3);
    let mut upper = sampled(samples.clone(), 0.18, Matrix3::identity(), contact);
    upper.collider = Some(Collider::sphere(Vector3::zeros(), 0.1).unwrap());
    let mut lower = upper.clone();
    (lower.name, lower.pose.position.z) = ("lower".into(), 0.0);
    // Both roles: two passes over a mirror-symmetric pair, twice the force of one.
    let (both, energy) = force_and_energy([lower.clone(), upper.clone()]);
    upper.collider = None;
    let (one, half_energy) = force_and_energy([lower, upper]);
    judge("both roles, F", both, 2.0 * one, 1e-12);
    judge("both roles, Π", energy, 2.0 * half_energy, 1e-12);
}
