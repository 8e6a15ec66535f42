//! Coulomb friction with a falloff speed: creep, sliding to a stop, sliding into rolling, and what rests.

mod common;

use common::cases;
use common::laws::{G, block, plain, plane, roll, root, settings, thrown};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactParams, DissipationSchedule, FrictionRamp, Status};
use osculate_dynamics::{Body, BodyKind, Method, Scene, Settings, Simulator, Trajectory};
use osculate_geometry::mass::MassProperties;
use osculate_geometry::quadrature::SurfaceSamples;

const MASS: f64 = 0.37;
const AREA: f64 = 0.01;

/// Static depth of the block in the plain ramp [m].
fn depth(stiffness: f64) -> f64 {
    MASS * G / (stiffness * AREA)
}

fn rough(friction: f64, falloff_speed: f64) -> ContactParams {
    ContactParams { friction, falloff_speed, ..plain(1e6) }
}

/// A block resting on the plane at its static depth, too heavy to turn, with a velocity along x.
fn sliding(contact: ContactParams, gravity: Vector3<f64>, speed: f64) -> Scene {
    let mut body = block("block", MASS, Vector3::repeat(0.05), AREA, contact);
    let mass = MassProperties::new(MASS, Vector3::zeros(), Matrix3::identity() * 1e9).unwrap();
    body.kind = BodyKind::Dynamic { mass };
    let height = 0.05 - depth(contact.stiffness) * (-gravity.z / G);
    Scene::new(gravity, vec![plane(contact), thrown(body, [0.0, 0.0, height], [speed, 0.0, 0.0])])
        .unwrap()
}

fn law(method: Method, ramp: FrictionRamp) -> Settings {
    settings(method, DissipationSchedule::default(), ramp)
}

#[test]
fn block_below_the_coulomb_limit_creeps_at_the_speed_of_the_ramp() {
    let (mu, falloff): (f64, f64) = (0.5, 0.02);
    let mut worst = 0.0_f64;
    for load in [0.1, 0.5, 0.9, 0.97] {
        let tilt = (load * mu).atan();
        let gravity = Vector3::new(tilt.sin(), 0.0, -tilt.cos()) * G;
        // C¹: ρ' = 2V/V_f − V²/V_f²; C∞: ρ' = V/√(V² + V_f²/4).
        let ratio: f64 = load;
        for (ramp, expected) in [
            (FrictionRamp::C1, falloff * (1.0 - (1.0 - ratio).sqrt())),
            (FrictionRamp::Smooth, falloff * 0.5 * ratio / (1.0 - ratio * ratio).sqrt()),
        ] {
            for schedule in DissipationSchedule::ALL {
                let scene = sliding(rough(mu, falloff), gravity, 0.0);
                let mut law = law(Method::BackwardEuler, ramp);
                law.law.schedule = schedule;
                let (_, trajectory) = roll(scene, law, 2e-2, 400);
                let v = trajectory.path.state(400)[1].velocity;
                worst = worst.max((v.x / expected - 1.0).abs());
                assert!((v.x / expected - 1.0).abs() < 1e-8, "{ramp:?} {schedule:?} {load}: {v}");
                assert!(v.z.abs() < 1e-9 * falloff);
            }
        }
    }
    println!("creep: worst relative error {worst:.1e}");
}

#[test]
fn sliding_block_slows_and_stops_as_the_closed_form_says() {
    let (v0, mu, falloff) = (1.0, 0.3, 0.1);
    let (a, t_falloff) = (mu * G, (v0 - falloff) / (mu * G));
    // v = v0 − a t down to V_f, then 2 V_f/(1 + exp(2 a (t − t_f)/V_f)).
    let speed = |t: f64| {
        if t < t_falloff {
            v0 - a * t
        } else {
            2.0 * falloff / (1.0 + (2.0 * a * (t - t_falloff) / falloff).exp())
        }
    };
    let (dt, steps) = (2e-4, 5000);
    let scene = sliding(rough(mu, falloff), Vector3::new(0.0, 0.0, -G), v0);
    let (_, trajectory) = roll(scene, law(Method::Dirk33, FrictionRamp::C1), dt, steps);
    let worst = (0..=steps)
        .map(|k| (trajectory.path.state(k)[1].velocity.x - speed(dt * k as f64)).abs())
        .fold(0.0, f64::max);
    let distance = trajectory.path.state(steps)[1].center.x;
    let expected = (v0 * v0 - falloff * falloff) / (2.0 * a) + falloff * falloff * 2f64.ln() / a;
    println!(
        "sliding: speed off by at most {worst:.1e} m/s, stops after {distance:.9} m, {expected:.9} expected"
    );
    assert!(worst < 1e-6 && (distance - expected).abs() < 1e-7);
}

#[test]
fn stopping_distance_tends_to_that_of_coulomb_as_the_falloff_speed_vanishes() {
    let (v0, mu) = (1.0, 0.3);
    let coulomb = v0 * v0 / (2.0 * mu * G);
    let errors = [0.1, 0.05, 0.025].map(|falloff| {
        let scene = sliding(rough(mu, falloff), Vector3::new(0.0, 0.0, -G), v0);
        let (_, t) = roll(scene, law(Method::Dirk22, FrictionRamp::C1), 4e-4, 2000);
        t.path.state(2000)[1].center.x - coulomb
    });
    // The excess is V_f² (ln 2 − 1/2)/(μ g).
    for (error, falloff) in errors.iter().zip([0.1, 0.05, 0.025]) {
        let expected = falloff * falloff * (2f64.ln() - 0.5) / (mu * G);
        assert!((error / expected - 1.0).abs() < 1e-2, "{falloff}: {error:e} {expected:e}");
    }
}

/// A wheel with the inertia of a solid ball, sampled by rings of points.
fn wheel(contact: ContactParams, radius: f64, count: usize) -> Body {
    let mut body = Body::dynamic("ball", MassProperties::sphere(MASS, radius).unwrap());
    let spacing = 2.0 * std::f64::consts::PI / count as f64;
    let ring = |y: f64| {
        (0..count).map(move |i| {
            let angle = spacing * i as f64;
            Vector3::new(radius * angle.sin(), y, -radius * angle.cos())
        })
    };
    let points: Vec<_> = ring(-0.02).chain(ring(0.02)).collect();
    let weights = vec![spacing * radius * 0.05; points.len()];
    body.samples = Some(SurfaceSamples::explicit(points, weights, None).unwrap());
    body.contact = contact;
    body
}

#[test]
fn sliding_ball_ends_up_rolling_at_five_sevenths_of_its_speed() {
    let (radius, v0, mu) = (0.1, 1.0, 0.3);
    let contact = ContactParams { stiffness: 1e8, ..rough(mu, 0.01) };
    let ball = wheel(contact, radius, 4000);
    // Starts where its weight is carried.
    let samples = ball.samples.clone().unwrap();
    let carried = |sink: f64| {
        let depths = samples.points().iter().map(|x| (sink - radius - x.z).max(0.0));
        depths.zip(samples.weights()).map(|(d, w)| contact.stiffness * d * w).sum::<f64>()
    };
    let rest = root(|sink| carried(sink) - MASS * G, 0.0, 1e-3);
    let ball = thrown(ball, [0.0, 0.0, radius - rest], [v0, 0.0, 0.0]);
    let gravity = Vector3::new(0.0, 0.0, -G);
    let scene = Scene::new(gravity, vec![plane(contact), ball]).unwrap();
    let (dt, steps) = (2.5e-4, 2000);
    let (_, trajectory) = roll(scene, law(Method::Bdf2, FrictionRamp::C1), dt, steps);
    let end = &trajectory.path.state(steps)[1];
    let (v, turning) = (end.velocity.x, end.angular_velocity().y * radius);
    let sink = radius - end.center.z;
    println!("rolling: v = {v:.6}, ω R = {turning:.6}, 5/7 = {:.6}, sunk {sink:.1e} m", 5.0 / 7.0);
    // The lever arm is shorter than the radius by the depth.
    assert!(sink > 0.0 && sink < 1e-4);
    assert!((v / (5.0 / 7.0) - 1.0).abs() < 2e-3 && (turning / v - 1.0).abs() < 2e-3);
    // While it slides: v = v0 − μ g t; sliding ends at 2 v0/(7 μ g).
    let half = (v0 / (7.0 * mu * G) / dt) as usize;
    let expected = v0 - mu * G * dt * half as f64;
    assert!((trajectory.path.state(half)[1].velocity.x / expected - 1.0).abs() < 5e-3);
}

/// Displacement of a sample during a step.
fn moved(
    simulator: &Simulator,
    trajectory: &Trajectory,
    step: usize,
    body: usize,
    sample: usize,
) -> Vector3<f64> {
    let b = &simulator.scene().bodies[body];
    let x = b.samples.as_ref().unwrap().points()[sample] - b.center();
    let at = |k: usize| trajectory.path.state(k)[body].pose().transform_point(&x);
    at(step + 1) - at(step)
}

#[test]
fn friction_never_adds_energy_and_never_exceeds_its_cone() {
    let mut seen = 0;
    for case in cases().iter().filter(|c| ["toss", "slide", "stick", "rest"].contains(&c.name)) {
        for schedule in [DissipationSchedule::CurrentGeometry, DissipationSchedule::Current] {
            let mut scene = case.scene.clone();
            for b in &mut scene.bodies {
                b.contact.viscous_friction = 0.0;
            }
            let law = settings(Method::BackwardEuler, schedule, FrictionRamp::C1);
            let (simulator, trajectory) = roll(scene, law, case.dt, case.steps);
            let p = simulator.parameters();
            for step in 0..case.steps {
                for c in simulator.contacts(&trajectory, &p, step).unwrap() {
                    let work = (c.viscous + c.coulomb).dot(&moved(
                        &simulator,
                        &trajectory,
                        step,
                        c.colliding,
                        c.sample,
                    ));
                    assert!(work <= 1e-18, "{} step {step}: friction does {work:e} J", case.name);
                    if c.status == Status::Contact && schedule == DissipationSchedule::Current {
                        let cone = 0.4 * c.elastic.norm();
                        assert!((c.viscous + c.coulomb).norm() <= cone * (1.0 + 1e-12));
                    }
                    seen += usize::from((c.viscous + c.coulomb).norm() > 0.0);
                }
            }
        }
    }
    println!("friction of {seen} contacts takes energy, none adds any");
    assert!(seen > 300);
}

#[test]
fn resting_block_sinks_until_the_pressure_of_its_samples_carries_it() {
    // P = k h h' at each sample; deep: φ = −(ε − δ) − P/k.
    for (stiffness, smoothing, threshold) in
        [(1e5, 0.0, 0.0), (1e5, 0.001, 0.0005), (1e8, 0.005, 0.001), (1e5, 0.0, 0.002)]
    {
        let contact = ContactParams { smoothing, threshold, damping: 5.0, ..plain(stiffness) };
        let body = block("block", MASS, Vector3::repeat(0.05), AREA, contact);
        let body = thrown(body, [0.0, 0.0, 0.05 + threshold], [0.0; 3]);
        let gravity = Vector3::new(0.0, 0.0, -G);
        let scene = Scene::new(gravity, vec![plane(contact), body]).unwrap();
        let (_, trajectory) = roll(scene, law(Method::BackwardEuler, FrictionRamp::C1), 0.01, 1500);
        let phi = trajectory.path.state(1500)[1].center.z - 0.05;
        let pressure = MASS * G / AREA;
        let found =
            osculate_contact::normal_penalty::normal_load(phi, stiffness, smoothing, threshold);
        assert!((found / pressure - 1.0).abs() < 1e-8, "{stiffness:e}: {found} for {pressure}");
        let deep = -(smoothing - threshold) - pressure / stiffness;
        if pressure / stiffness >= smoothing {
            assert!((phi - deep).abs() < 1e-10, "{phi} {deep}");
        }
    }
}
