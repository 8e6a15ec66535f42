//! Failures are typed, say where and how much, and nothing panics.

mod common;

use common::{Case, cases, simulator};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactLaw, DissipationSchedule};
use osculate_dynamics::{
    Body, Layout, Method, NewtonSettings, OnFailure, RunError, Scene, SceneError, Settings,
    Simulator, StepError, Trajectory, Wrench,
};

fn toss() -> Case {
    cases().remove(0)
}

fn with(newton: NewtonSettings, method: Method) -> Simulator {
    let case = toss();
    let settings = Settings { method, newton, ..Default::default() };
    Simulator::new(case.scene, settings, vec![case.dt; case.steps]).unwrap()
}

#[test]
fn unconverged_stage_stops_with_step_stage_body_and_numbers() {
    let newton = NewtonSettings { iterations: 1, ..Default::default() };
    for method in [Method::BackwardEuler, Method::Dirk22] {
        let simulator = with(newton, method);
        let mut trajectory = Trajectory::default();
        let error = simulator.run_into(&simulator.parameters(), &mut trajectory).unwrap_err();
        let RunError::Step(StepError::NotConverged {
            step,
            stage,
            iterations,
            residual,
            tolerance,
            body,
        }) = &error
        else {
            panic!("{error}")
        };
        assert!(*stage < method.stages() && *iterations == 1 && body == "cube");
        assert!(residual.is_finite() && residual > tolerance && *tolerance > 0.0);
        // The message says it all, and the steps before the failure are still there.
        let text = error.to_string();
        for part in [format!("step {step}"), format!("stage {stage}"), "cube".into(), "N >".into()]
        {
            assert!(text.contains(&part), "{text}");
        }
        assert!(trajectory.path.steps().len() > *step, "{text}");
        assert!(trajectory.path.state(*step)[1].center.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn going_on_after_failures_counts_them() {
    let newton =
        NewtonSettings { iterations: 1, on_failure: OnFailure::Continue, ..Default::default() };
    let simulator = with(newton, Method::BackwardEuler);
    let trajectory = simulator.run(&simulator.parameters()).unwrap();
    let counted = trajectory.stats.iter().filter(|s| !s.converged).count();
    assert!(trajectory.unconverged() == counted && counted > 0 && counted < 40);
    assert!(trajectory.stats.iter().all(|s| s.converged == (s.residual <= s.tolerance)));
    let converged = with(NewtonSettings::default(), Method::BackwardEuler);
    assert_eq!(converged.run(&converged.parameters()).unwrap().unconverged(), 0);
}

/// Symptom: a force of `f64::MAX` was ignored, the stage counted as converged. Cause: its scale is infinite, so
/// the tolerance was too, and `∞ ≤ ∞`.
#[test]
fn infinite_forces_name_step_and_body() {
    let simulator = with(NewtonSettings::default(), Method::Bdf2);
    let mut p = simulator.parameters();
    p.wrenches = vec![Wrench::zero(); 40];
    p.wrenches[7].force = Vector3::new(0.0, f64::MAX, f64::MAX);
    let error = simulator.run(&p).err();
    let expected = StepError::Diverged { step: 7, stage: 0, body: "cube".into() };
    assert_eq!(error, Some(RunError::Step(expected)));
}

#[test]
fn body_without_inertia_is_singular_at_an_unknown_of_that_body() {
    let simulator = with(NewtonSettings::default(), Method::BackwardEuler);
    let mut p = simulator.parameters();
    p.bodies[1].inertia = Matrix3::zeros();
    let error = simulator.run(&p).unwrap_err();
    assert!(
        matches!(&error, RunError::Step(StepError::Singular { step: 0, stage: 0, pivot: 3.., body }) if body == "cube"),
        "{error}"
    );
}

#[test]
fn parameter_that_is_no_number_is_an_error_or_is_not_used_but_never_panics() {
    let mut refused = 0;
    for case in cases() {
        for (method, schedule) in [
            (Method::BackwardEuler, DissipationSchedule::CurrentGeometry),
            (Method::Dirk23, DissipationSchedule::StageStart),
        ] {
            let simulator = simulator(&case, method, schedule);
            let plain = simulator.parameters();
            let layout = Layout::new(simulator.scene(), &plain);
            for i in 0..layout.len() {
                for bad in [f64::NAN, f64::INFINITY] {
                    let mut p = plain.clone();
                    layout.add(&mut p, i, bad);
                    match simulator.run(&p) {
                        Err(_) => refused += 1,
                        Ok(t) => {
                            let end = t.path.state(case.steps);
                            let finite = simulator
                                .scene()
                                .dynamic_bodies()
                                .all(|b| end[b].center.iter().all(|x| x.is_finite()));
                            let path = &layout.entries()[i].path;
                            assert!(finite, "{} {path} = {bad} passed", case.name);
                        }
                    }
                }
            }
        }
    }
    println!("{refused} roll-outs with a number that is none were refused, none panicked");
    assert!(refused > 500);
}

#[test]
fn numbers_of_a_scene_are_refused_with_the_field_and_what_is_allowed() {
    let case = toss();
    let cube = || case.scene.bodies[1].clone();
    let refused = |change: &dyn Fn(&mut Body)| {
        let mut body = cube();
        change(&mut body);
        Scene::new(Vector3::zeros(), vec![body]).unwrap_err().to_string()
    };
    for (text, part) in [
        (refused(&|b| b.pose.position.x = f64::NAN), "position"),
        (refused(&|b| b.angular_velocity.y = f64::INFINITY), "angular velocity"),
        (refused(&|b| b.contact.stiffness = 0.0), "k"),
        (refused(&|b| b.contact.falloff_speed = -1.0), "v_f"),
        (refused(&|b| b.contact.max_alignment = 1.5), "[-1, 1]"),
        (refused(&|b| b.contact.friction = f64::NAN), "mu"),
    ] {
        assert!(text.contains("cube") && text.contains(part), "{text}");
    }
    let gravity = Scene::new(Vector3::new(0.0, f64::NAN, 0.0), vec![cube()]).unwrap_err();
    assert!(matches!(gravity, SceneError::Number { field: "gravity", .. }));
}

#[test]
fn time_grid_and_tolerance_are_refused_with_the_value() {
    let case = toss();
    let build = |durations: Vec<f64>, tolerance: f64| {
        let newton = NewtonSettings { tolerance, ..Default::default() };
        let settings = Settings { newton, law: ContactLaw::default(), ..Default::default() };
        Simulator::new(case.scene.clone(), settings, durations)
    };
    assert!(matches!(build(vec![], 1e-10), Err(SceneError::Count { what: "steps", .. })));
    for bad in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let error = build(vec![1e-3, bad], 1e-10).unwrap_err();
        assert!(matches!(error, SceneError::Number { field: "time step", .. }), "{error}");
        assert!(build(vec![1e-3], bad).is_err());
    }
}

#[test]
fn parameters_of_another_scene_are_refused() {
    let simulator = with(NewtonSettings::default(), Method::BackwardEuler);
    let mut p = simulator.parameters();
    p.bodies.pop();
    let error = simulator.run(&p).unwrap_err();
    assert!(matches!(error, RunError::Scene(SceneError::Count { found: 1, expected: 2, .. })));
    let mut p = simulator.parameters();
    p.wrenches = vec![Wrench::zero(); 3];
    let error = simulator.run(&p).unwrap_err();
    assert!(matches!(error, RunError::Scene(SceneError::Count { found: 3, expected: 40, .. })));
}
