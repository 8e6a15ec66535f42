//! Head-on impacts against the exact restitution of a damped penalty contact.
//!
//! `u (1 + e) = ln((1 + u)/(1 − e u))`, `u = c_n v`: for any penalty law, whatever k, m and ramp.

mod common;

use common::laws::{
    Sci, block, damping_of, order, plain, plane, restitution, roll, settings, thrown,
};
use nalgebra::Vector3;
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Method, Scene};
use osculate_geometry::collider::Collider;

const TARGETS: [f64; 7] = [0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99];
/// Asked of every restitution once the impact is resolved.
const BAR: f64 = 5e-3;
const AREA: f64 = 0.01;

/// A head-on impact on a plane without gravity.
#[derive(Clone, Copy)]
struct Impact {
    mass: f64,
    area: f64,
    speed: f64,
    contact: ContactParams,
    method: Method,
    schedule: DissipationSchedule,
}

impl Impact {
    fn new(contact: ContactParams) -> Self {
        Self {
            mass: 0.37,
            area: AREA,
            speed: 1.5,
            contact,
            method: Method::Bdf2,
            schedule: DissipationSchedule::Current,
        }
    }

    /// Rebound speed over impact speed; the gap is crossed in `gap` steps, and `steps` are done in all.
    fn rebound(&self, dt: f64, gap: f64, steps: usize) -> f64 {
        let half = Vector3::new(0.05, 0.05, 0.05);
        let height = half.z + self.contact.threshold + self.speed * dt * gap;
        let body = block("block", self.mass, half, self.area, self.contact);
        let body = thrown(body, [0.0, 0.0, height], [0.0, 0.0, -self.speed]);
        let scene = Scene::new(Vector3::zeros(), vec![plane(self.contact), body]).unwrap();
        let settings = settings(self.method, self.schedule, FrictionRamp::C1);
        let (_, trajectory) = roll(scene, settings, dt, steps);
        let end = &trajectory.path.state(steps)[1];
        assert!(end.center.z > half.z + self.contact.threshold, "the block has not left");
        end.velocity.z / self.speed
    }

    /// Half a period of the undamped plain contact [s].
    fn duration(&self) -> f64 {
        std::f64::consts::PI * (self.mass / (self.contact.stiffness * self.area)).sqrt()
    }

    /// Rebound with the undamped contact time divided in `n`.
    fn resolved(&self, n: usize) -> f64 {
        // A damped rebound is slow to leave, a smoothed contact is longer.
        self.rebound(self.duration() / n as f64, 0.37 * n as f64, 8 * n)
    }
}

fn smoothed(stiffness: f64) -> ContactParams {
    ContactParams { smoothing: 0.002, threshold: 0.001, ..plain(stiffness) }
}

#[test]
fn rebound_speed_matches_the_exact_restitution_for_plain_and_smoothed_ramps() {
    let mut worst = (0.0, String::new());
    for (ramp, contact) in [("plain", plain(1e7)), ("smoothed", smoothed(1e7))] {
        for target in TARGETS {
            let mut impact = Impact::new(contact);
            impact.contact.damping = damping_of(target) / impact.speed;
            let errors: Vec<f64> = [100, 200, 400]
                .iter()
                .map(|&n| (impact.resolved(n) / target - 1.0).abs())
                .collect();
            println!("{ramp} e = {target}: relative errors {errors:.2?}", errors = Sci(&errors));
            assert!(errors[2] < BAR, "{ramp} e = {target}: off by {:.2e}", errors[2]);
            assert!(errors[2] < errors[0], "{ramp} e = {target}: no convergence");
            if errors[2] > worst.0 {
                worst = (errors[2], format!("{ramp}, e = {target}"));
            }
        }
    }
    println!("restitution: worst relative error {:.2e} ({}), asked {BAR:e}", worst.0, worst.1);
}

#[test]
fn restitution_does_not_depend_on_stiffness_mass_or_speed_at_given_damping_number() {
    for target in [0.3, 0.8] {
        for (stiffness, mass, speed) in [
            (1e6, 0.37, 1.5),
            (1e9, 0.37, 1.5),
            (1e7, 20.0, 1.5),
            (1e7, 0.01, 1.5),
            (1e7, 0.37, 12.0),
        ] {
            let mut impact = Impact { mass, speed, ..Impact::new(plain(stiffness)) };
            impact.contact.damping = damping_of(target) / speed;
            let e = impact.resolved(400);
            println!("e = {target}: k {stiffness:.0e}, m {mass}, v {speed} give {e:.5}");
            assert!((e / target - 1.0).abs() < BAR);
        }
    }
}

#[test]
fn undamped_impact_keeps_its_energy_to_the_order_of_the_method() {
    for method in Method::ALL {
        let impact = Impact { method, ..Impact::new(smoothed(1e7)) };
        let errors: Vec<f64> =
            [100, 200, 400].iter().map(|&n| (impact.resolved(n).powi(2) - 1.0).abs()).collect();
        let slope = order(&errors);
        println!("{method:?}: energy errors {:?} order {slope:.2}", Sci(&errors));
        // Where the energy is kept better than the trajectory, the slope of what is left means nothing.
        assert!(slope > f64::from(method.order()) - 0.2 || errors[2] < 1e-7, "{method:?}: {slope}");
    }
}

#[test]
fn two_free_bodies_rebound_as_their_reduced_mass_and_keep_their_momentum() {
    let half = Vector3::repeat(0.05);
    for target in [0.2, 0.5, 0.9] {
        for both_roles in [false, true] {
            let speed = 2.0;
            let contact = ContactParams { damping: damping_of(target) / speed, ..smoothed(1e7) };
            let (m1, m2) = (0.3, 0.9);
            let reduced = m1 * m2 / (m1 + m2);
            let gap = 0.002;
            let mut upper = block("upper", m1, half, AREA, contact);
            upper = thrown(upper, [0.0, 0.0, 0.1 + gap], [0.0, 0.0, -1.7]);
            let mut lower = block("lower", m2, half, AREA, contact);
            lower = thrown(lower, [0.0; 3], [0.0, 0.0, 0.3]);
            // Wider than the sampled face, so that every sample sees the same face.
            let slab = Vector3::new(0.1, 0.1, 0.05);
            lower.collider = Some(Collider::cuboid(Vector3::zeros(), slab).unwrap());
            if both_roles {
                upper.collider = lower.collider.clone();
                // The lower block samples its upper face.
                lower.pose.rotation =
                    osculate_math::so3::exp(&(Vector3::x() * std::f64::consts::PI));
            }
            let scene = Scene::new(Vector3::zeros(), vec![upper, lower]).unwrap();
            let passes = if both_roles { 2.0 } else { 1.0 };
            let duration = std::f64::consts::PI * (reduced / (1e7 * AREA * passes)).sqrt();
            let (dt, steps) = (duration / 400.0, 4000);
            let settings = settings(Method::Bdf2, DissipationSchedule::Current, FrictionRamp::C1);
            let (_, trajectory) = roll(scene, settings, dt, steps);
            let end = trajectory.path.state(steps);
            let e = (end[0].velocity.z - end[1].velocity.z) / speed;
            let momentum = m1 * end[0].velocity.z + m2 * end[1].velocity.z;
            println!("two bodies, both roles {both_roles}: e = {e:.5} for {target}");
            assert!((e / target - 1.0).abs() < BAR);
            assert!((momentum - (m2 * 0.3 - m1 * 1.7)).abs() < 1e-10);
        }
    }
}

#[test]
fn stage_start_load_converges_to_the_exact_restitution_at_first_order_only() {
    let target = 0.3;
    for (schedule, expected) in [
        (DissipationSchedule::CurrentGeometry, 1.0),
        (DissipationSchedule::StageStart, 1.0),
        (DissipationSchedule::Current, 2.0),
    ] {
        let mut impact = Impact { schedule, ..Impact::new(smoothed(1e7)) };
        impact.contact.damping = damping_of(target) / impact.speed;
        let errors: Vec<f64> =
            [200, 400, 800].iter().map(|&n| (impact.resolved(n) - target).abs()).collect();
        let slope = order(&errors);
        println!("{schedule:?}: errors {:?} order {slope:.2}", Sci(&errors));
        assert!((slope - expected).abs() < 0.25, "{schedule:?}: {slope}");
    }
}

#[test]
fn exact_relation_has_its_limits() {
    // e → 1 − 2u/3 for light, e u → 1 for heavy damping; tabulated values of the relation between.
    assert!((restitution(1e-4) - (1.0 - 2e-4 / 3.0)).abs() < 1e-8);
    assert!((restitution(50.0) * 50.0 - 1.0).abs() < 1e-10);
    for (u, e) in [(0.01, 0.9933774544), (0.5, 0.7484349316), (5.0, 0.1969802453)] {
        assert!((restitution(u) - e).abs() < 1e-9);
        assert!((damping_of(e) - u).abs() < 1e-7);
    }
}

/// `c_n` of the rational formula of the model's documentation.
fn rational_damping(e: f64, speed: f64) -> f64 {
    (1.0 - e) * (1.0 + 4.5 * e) / (e * speed * (1.0 + 8.0 / 3.0 * e))
}

/// An independent one-dimensional integration of the same impact (default ramp, k = 1 GPa/m, reduced mass 0.771 kg,
/// 0.02 m²) printed these digits, at steps so coarse that they are the methods' own errors.
#[test]
fn coarse_impacts_have_the_errors_of_an_independent_one_dimensional_integration() {
    let default = ContactParams { friction: 0.0, ..ContactParams::default() };
    let replica = |speed: f64, damping: f64, method, schedule| Impact {
        mass: 0.771,
        area: 0.02,
        speed,
        contact: ContactParams { damping, ..default },
        method,
        schedule,
    };
    let (current, start) = (DissipationSchedule::Current, DissipationSchedule::CurrentGeometry);
    let mut rows = Vec::new();
    for (e, digits) in [(0.1, 0.0971), (0.3, 0.304), (0.6, 0.610), (0.9, 0.901), (1.0, 0.998)] {
        let impact = replica(2.0, rational_damping(e, 2.0), Method::Bdf2, current);
        rows.push((format!("BDF2, current load, {e}"), impact.rebound(1e-4, 3.0, 600), digits));
    }
    for (dt, digits) in [(1e-4, 0.0934), (5e-5, 0.0952), (2e-5, 0.0963)] {
        let impact = replica(2.0, rational_damping(0.1, 2.0), Method::Bdf2, start);
        rows.push((format!("BDF2, stage-start load, {dt}"), impact.rebound(dt, 3.0, 6000), digits));
    }
    for (dt, digits) in [(1e-4, 0.626), (5e-5, 0.778), (2e-5, 0.900)] {
        let impact = replica(10.0, 0.0, Method::BackwardEuler, current);
        rows.push((format!("backward Euler, {dt}"), impact.rebound(dt, 3.0, 2000), digits));
    }
    for (what, found, digits) in rows {
        println!("{what}: {found:.4}, elsewhere {digits}");
        // Half a unit of the last of three or four printed digits.
        let unit = if digits < 0.1 { 1e-4 } else { 1e-3 };
        assert!((found - digits).abs() <= 0.51 * unit, "{what}: {found} not {digits}");
    }
}

#[test]
fn rational_damping_formula_is_within_its_stated_distance_of_the_exact_relation() {
    let worst = (1..200)
        .map(|i| f64::from(i) / 200.0)
        .map(|e| (restitution(rational_damping(e, 1.0)) - e).abs())
        .fold(0.0, f64::max);
    println!("rational damping formula: off by at most {worst:.4} in e");
    assert!(worst < 0.0076);
}
