//! Laws of motion of the impulse stepper.

mod common;

use common::impulse::{GRAVITY, ball, block, ground, push, run, scene};
use nalgebra::Vector3;
use osculate_dynamics::OnFailure;
use osculate_dynamics::impulse::ImpulseSettings;

fn point() -> ImpulseSettings {
    ImpulseSettings { anchor_beta: 0.0, ..ImpulseSettings::default() }
}

/// The cube of the notes: 1 kg, 0.2 m, μ 0.5, pushed at ground level with 97 % of the limit.
fn pushed(
    slip: f64,
    load: f64,
    settings: ImpulseSettings,
    steps: usize,
) -> osculate_dynamics::impulse::ImpulseTrajectory {
    let mut cube = block("cube", 1.0, [0.1; 3], 0.5);
    cube.velocity.x = slip;
    let force = Vector3::x() * (load * 0.5 * GRAVITY);
    run(
        &scene(vec![cube, ground(0.5)]),
        settings,
        (1.0 / 240.0, steps),
        &[push(force, -Vector3::z() * 0.1)],
    )
}

#[test]
fn box_at_97_percent_with_initial_slip_stops_after_the_exact_way() {
    for sweeps in [16, 64, 256] {
        let settings = ImpulseSettings {
            sweeps,
            tolerance: 1e-14,
            warm_start: 0.0,
            on_failure: OnFailure::Continue,
            ..point()
        };
        let t = pushed(0.02, 0.97, settings, 480);
        let last = t.last()[0];
        println!(
            "{sweeps}: v {:e} x {:e} z {:e} res {:e} sweeps {}",
            last.velocity.x,
            last.center.x,
            last.center.z - 0.1,
            t.records[400].stats.residual,
            t.records[400].stats.sweeps
        );
    }
    let t = pushed(0.02, 0.97, point(), 480);
    let last = t.last()[0];
    println!("warm: v {:e} x {:e} {:?}", last.velocity.x, last.center.x, t.records[400].stats);
}

#[test]
fn probe_creep() {
    for load in [0.5, 0.9, 0.97] {
        for (name, beta, sweeps, warm) in [
            ("point warm", 0.0, 10000, 1.0),
            ("anchor warm", 0.2, 10000, 1.0),
            ("point 12 cold", 0.0, 12, 0.0),
            ("anchor 12 cold", 0.2, 12, 0.0),
            ("anchor 12 warm", 0.2, 12, 1.0),
        ] {
            let settings = ImpulseSettings {
                anchor_beta: beta,
                sweeps,
                tolerance: 1e-12,
                warm_start: warm,
                on_failure: OnFailure::Continue,
                ..ImpulseSettings::default()
            };
            let t = pushed(0.0, load, settings, 240 * 60);
            let (first, last) = (t.state(240)[0], t.last()[0]);
            let sweeps: usize = t.records.iter().map(|r| r.stats.sweeps).sum();
            println!(
                "{load} {name}: {:e} m in 60 s, after 1 s {:e}, unconverged {}, sweeps {}, stats {:?} anchors {}",
                last.center.x,
                first.center.x,
                t.unconverged(),
                sweeps as f64 / t.records.len() as f64,
                t.records[14000].stats.residual,
                t.records[14000].anchors.len()
            );
        }
    }
}

#[test]
fn ball_falls_and_rests() {
    let mut b = ball("ball", 1.0, 0.1, 0.5);
    b.pose.position.z = 0.3;
    let t = run(&scene(vec![b, ground(0.5)]), point(), (0.01, 200), &[]);
    println!("{:?}", t.last()[0]);
}
