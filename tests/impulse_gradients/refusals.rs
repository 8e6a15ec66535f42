//! What is refused, what is near a switch, and that results repeat.

use crate::boxes::{spins, thrown};
use crate::case::{Case, cube, force, tight};
use crate::common::impulse::{GRAVITY, ball, ground, scene};
use nalgebra::Vector3;
use osculate_dynamics::impulse::sensitivity::{ImpulseGradientError, Linearisation, SwitchKind};
use osculate_dynamics::impulse::{
    FrictionMode, FrictionPoint, ImpulseRunError, ImpulseSettings, ImpulseStepError,
};
use osculate_dynamics::{OnFailure, Wrench};
use osculate_math::Jet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn step_that_has_not_converged_refuses_with_its_residual() {
    let settings = ImpulseSettings {
        sweeps: 2,
        on_failure: OnFailure::Continue,
        warm_start: 0.0,
        ..tight(0.0)
    };
    let mut cube = cube();
    cube.velocity.x = 1.0;
    let scene = scene(vec![cube, ground(0.3)]);
    let case = Case::new("unconverged", scene, settings, (0.01, 3), force(1.0, 0.0, 0.0));
    let t = case.run();
    match Linearisation::new(&case.simulator, &case.parameters, &t).err() {
        Some(ImpulseGradientError::NotConverged { step, residual, tolerance }) => {
            assert_eq!(step, t.records.iter().position(|r| !r.stats.converged).unwrap());
            assert_eq!(residual, t.records[step].stats.residual);
            assert!(residual > tolerance && tolerance == 1e-14);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn point_friction_under_a_spinning_box_is_refused_and_patch_friction_is_not() {
    let case = spins(tight(0.0), 4);
    let t = case.run();
    match Linearisation::new(&case.simulator, &case.parameters, &t).err() {
        Some(ImpulseGradientError::Indeterminate { first, second, effect, allowed, .. }) => {
            assert_eq!((first.as_str(), second.as_str()), ("cube", "ground"));
            assert!(effect > 1e-3 && allowed < 1e-6, "{effect}");
        }
        other => panic!("{other:?}"),
    }
    let go_on = OnFailure::Continue;
    let lin = Linearisation::with(&case.simulator, &case.parameters, &t, go_on).unwrap();
    assert!(lin.adjoint(&case.outcome()).unwrap().1.iter().all(|x| x.is_finite()));
    let case = spins(tight(0.3), 4);
    assert!(Linearisation::new(&case.simulator, &case.parameters, &case.run()).is_ok());
}

#[test]
fn counter_examples_and_sweeps_for_velocity_alone_have_no_derivative() {
    let bisection = ImpulseSettings { friction_mode: FrictionMode::Bisection, ..tight(0.0) };
    let sweeps = ImpulseSettings { velocity_sweeps: 3, ..tight(0.0) };
    let soft = ImpulseSettings { regularization: 0.1, ..tight(0.0) };
    let near = ImpulseSettings { friction_gap: 1e-3, ..tight(0.0) };
    let own = ImpulseSettings { friction_point: FrictionPoint::Own, ..tight(0.0) };
    for (settings, wanted) in [
        (bisection, "friction_mode"),
        (sweeps, "velocity_sweeps"),
        (soft, "regularization"),
        (near, "friction_gap"),
        (own, "friction_point"),
    ] {
        let settings = ImpulseSettings { on_failure: OnFailure::Continue, sweeps: 50, ..settings };
        let scene = scene(vec![cube(), ground(0.3)]);
        let case = Case::new("refused", scene, settings, (0.01, 2), Wrench::zero());
        match Linearisation::new(&case.simulator, &case.parameters, &case.run()).err() {
            Some(ImpulseGradientError::Unsupported { field, .. }) => assert_eq!(field, wanted),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn switches_are_seen_where_friction_nears_its_circle() {
    // A point contact that carries the part `load` of what friction can hold.
    let of = |load: f64| {
        let b = ball("ball", 1.0, 0.1, 0.5);
        let force = Vector3::x() * (load * 0.5 * GRAVITY);
        // Held at the point of contact: no turn.
        let push = Wrench { force, torque: Vector3::new(0.0, -0.1 * force.x, 0.0) };
        Case::new("switch", scene(vec![b, ground(0.5)]), tight(0.0), (0.01, 1), push)
    };
    for load in [0.5, 0.99, 0.999] {
        let case = of(load);
        let t = case.run();
        let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
        let nearest =
            lin.switches(1.0).into_iter().find(|s| s.kind == SwitchKind::Slipping).unwrap();
        assert!((nearest.distance - (1.0 - load)).abs() < 1e-9, "{nearest:?}");
        assert_eq!((nearest.step, nearest.bodies), (1, [0, 1]));
        assert_eq!(lin.switches(0.02).iter().any(|s| s.kind == SwitchKind::Slipping), load > 0.98);
    }
    let case = of(1.001);
    let t = case.run();
    let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
    assert!(lin.switches(0.01).iter().any(|s| s.kind == SwitchKind::Sticking));
}

#[test]
fn derivatives_repeat_bit_by_bit() {
    let gradient = || {
        let case = thrown();
        let t = case.run();
        let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
        lin.adjoint(&case.outcome()).unwrap().1
    };
    assert_eq!(gradient(), gradient());
}

/// Symptom: linearisation, adjoint and tangent of a long roll-out ran to their ends whatever the caller asked.
#[test]
fn interrupt_stops_every_pass_over_the_steps() {
    let flag = Arc::new(AtomicBool::new(false));
    let mut case = thrown();
    case.simulator.interrupt_by(Arc::clone(&flag));
    let (t, outcome) = (case.run(), case.outcome());
    let lin = Linearisation::new(&case.simulator, &case.parameters, &t).unwrap();
    let last = t.records.len() - 1;
    flag.store(true, Ordering::Relaxed);
    let stopped = |step| {
        let error = ImpulseRunError::Step(ImpulseStepError::Interrupted { step });
        Some(ImpulseGradientError::Run(error))
    };
    let of = (&case.simulator, &case.parameters);
    assert_eq!(Linearisation::new(of.0, of.1, &t).err(), stopped(0));
    assert_eq!(Linearisation::gradient(of.0, of.1, &t, &outcome).err(), stopped(last));
    assert_eq!(lin.adjoint(&outcome).err(), stopped(last));
    assert_eq!(lin.path(&case.parameters.lift::<Jet<2>>()).err(), stopped(0));
    flag.store(false, Ordering::Relaxed);
    assert!(lin.adjoint(&outcome).is_ok());
}
