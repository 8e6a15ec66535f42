//! Steps that do not converge are halved: where, how often, and what comes out.

mod common;

use common::{Final, cases};
use osculate_dynamics::sensitivity::{adjoint, hessian, tangent};
use osculate_dynamics::{
    Layout, Method, NewtonSettings, OnFailure, RunError, SceneError, Settings, Simulator,
    StepError, Trajectory,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A tossed cube with so few iterations that an impact does not converge at the step asked for.
fn toss(iterations: usize, method: Method) -> Simulator {
    let case = cases().remove(0);
    let newton =
        NewtonSettings { iterations, on_failure: OnFailure::Continue, ..Default::default() };
    let settings = Settings { method, newton, ..Default::default() };
    Simulator::new(case.scene, settings, vec![4.0 * case.dt; case.steps / 4]).unwrap()
}

/// The fewest iterations at which halving helps.
fn halved(method: Method) -> (Simulator, osculate_dynamics::Halved) {
    let found = (2..30).find_map(|iterations| {
        let simulator = toss(iterations, method);
        let p = simulator.parameters();
        let unconverged = simulator.run(&p).unwrap().unconverged();
        let halved = simulator.run_halving(&p, 10, Trajectory::default()).ok()?;
        (unconverged > 0).then_some((simulator, halved))
    });
    found.expect("a number of iterations at which some steps fail and halves do not")
}

#[test]
fn halved_roll_out_converges_and_is_that_of_its_own_grid() {
    for method in [Method::BackwardEuler, Method::Dirk22] {
        let (asked, halved) = halved(method);
        assert_eq!(halved.trajectory.unconverged(), 0);
        assert!(halved.substeps.iter().any(|n| *n > 1) && halved.substeps.contains(&1));
        let fine = halved.simulator.durations();
        let mut at = 0;
        for (n, whole) in halved.substeps.iter().zip(asked.durations()) {
            let sum: f64 = fine[at..at + n].iter().sum();
            assert!((sum - whole).abs() < 1e-15, "{sum} for {whole}");
            at += n;
        }
        assert_eq!(at, fine.len());
        let scene = asked.scene().clone();
        let again = Simulator::new(scene, *asked.settings(), fine.to_vec()).unwrap();
        let plain = again.run(&again.parameters()).unwrap();
        assert_eq!(plain.unconverged(), 0);
        assert_eq!(plain.path.state(fine.len()), halved.trajectory.path.state(fine.len()));
    }
}

#[test]
fn grid_that_converges_is_left_alone() {
    let simulator = toss(60, Method::BackwardEuler);
    let p = simulator.parameters();
    let halved = simulator.run_halving(&p, 10, Trajectory::default()).unwrap();
    assert!(halved.substeps.iter().all(|n| *n == 1));
    assert_eq!(halved.simulator.durations(), simulator.durations());
}

#[test]
fn what_halving_cannot_mend_is_an_error_at_the_step_that_was_asked_for() {
    let simulator = toss(1, Method::BackwardEuler);
    let p = simulator.parameters();
    let plain = {
        let newton = NewtonSettings { on_failure: OnFailure::Stop, ..simulator.settings().newton };
        let settings = Settings { newton, ..*simulator.settings() };
        Simulator::new(simulator.scene().clone(), settings, simulator.durations().to_vec()).unwrap()
    };
    let step = |error: RunError| match error {
        RunError::Step(StepError::NotConverged { step, .. }) => step,
        other => panic!("{other}"),
    };
    let first = step(plain.run(&p).unwrap_err());
    assert_eq!(step(simulator.run_halving(&p, 3, Trajectory::default()).unwrap_err()), first);
    let multistep = toss(60, Method::Bdf2);
    let refused = multistep.run_halving(&p, 3, Trajectory::default()).unwrap_err();
    assert!(matches!(refused, RunError::Scene(SceneError::Memory { .. })), "{refused}");
}

#[test]
fn interrupt_stops_a_roll_out_and_leaves_the_steps_before() {
    let simulator = toss(60, Method::BackwardEuler);
    let p = simulator.parameters();
    let mut trajectory = Trajectory::default().interrupted_by(Arc::new(AtomicBool::new(true)));
    let error = simulator.run_into(&p, &mut trajectory).unwrap_err();
    assert_eq!(error, RunError::Step(StepError::Interrupted { step: 0 }));
    assert_eq!(trajectory.path.steps(), 0..1);
}

/// Symptom: an adjoint, a tangent or a Hessian–vector product ran to its end whatever the caller asked: only roll-outs looked.
#[test]
fn interrupt_stops_derivatives_and_is_that_of_the_simulator_unless_the_trajectory_has_its_own() {
    let flag = Arc::new(AtomicBool::new(false));
    let mut simulator = toss(60, Method::Bdf2);
    simulator.interrupt_by(Arc::clone(&flag));
    let p = simulator.parameters();
    let outcome = Final { steps: simulator.steps() };
    let [lent, own] = [Trajectory::default(), Trajectory::default().interrupted_by(Arc::default())]
        .map(|mut trajectory| {
            simulator.run_into(&p, &mut trajectory).unwrap();
            trajectory
        });
    let last = simulator.steps() - 1;
    let direction = vec![1.0; Layout::new(simulator.scene(), &p).len()];
    flag.store(true, Ordering::Relaxed);
    let adjoint = |t| adjoint::gradient(&simulator, t, &p, &outcome).map(drop);
    let checkpointed = || adjoint::checkpointed_gradient(&simulator, &p, &outcome, 5).map(drop);
    let tangent = |t| tangent::gradient::<2>(&simulator, t, &p, &[0, 1], &outcome).map(drop);
    let product = |t| hessian::vector_product(&simulator, t, &p, &direction, &outcome).map(drop);
    let stopped = |step| Err(RunError::Step(StepError::Interrupted { step }));
    assert_eq!(adjoint(&lent), stopped(last));
    assert_eq!(tangent(&lent), stopped(0));
    assert_eq!(product(&lent), stopped(0));
    assert_eq!(checkpointed(), stopped(0));
    for answer in [adjoint(&own), tangent(&own), product(&own)] {
        assert_eq!(answer, Ok(()));
    }
    flag.store(false, Ordering::Relaxed);
    assert_eq!(adjoint(&lent), Ok(()));
}
