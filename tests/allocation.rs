//! No heap allocation inside a stage once warmed: what a roll-out allocates does not depend on its length. What it keeps is linear
//! in its steps, and checkpoints keep far less.

mod common;

use allocation_counter::measure;
use common::{Case, Final, cases, simulator};
use osculate_contact::DissipationSchedule;
use osculate_dynamics::sensitivity::adjoint;
use osculate_dynamics::{Method, Simulator, Trajectory};

/// Most bytes at a time beyond those before.
fn peak(work: impl FnOnce()) -> f64 {
    measure(work).bytes_max as f64
}

#[test]
fn memory_is_linear_in_steps_and_checkpoints_keep_a_fraction() {
    let case = cases().swap_remove(0);
    let [short, long] = [1, 4].map(|times| {
        let steps = times * 10 * case.steps;
        let simulator = simulator(
            &Case { steps, ..case.clone() },
            Method::Bdf2,
            DissipationSchedule::CurrentGeometry,
        );
        let (p, outcome) = (simulator.parameters(), Final { steps });
        let kept = peak(|| {
            let trajectory = simulator.run(&p).unwrap();
            adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        });
        let interval = (steps as f64).sqrt() as usize;
        let checkpoints = peak(|| {
            adjoint::checkpointed_gradient(&simulator, &p, &outcome, interval).unwrap();
        });
        println!("{steps} steps: {kept:.0} bytes, with checkpoints {checkpoints:.0}");
        (kept, checkpoints)
    });
    let growth = long.0 / short.0;
    assert!((3.0..5.0).contains(&growth), "four times the steps take {growth} times the memory");
    // States at checkpoints and factors of one interval: twice as many of each.
    assert!(long.1 < 0.2 * long.0 && long.1 < 3.0 * short.1, "{short:?} and {long:?}");
}

/// Allocations of a roll-out into a trajectory that has done a longer one.
fn allocations(simulator: &Simulator, trajectory: &mut Trajectory) -> u64 {
    let p = simulator.parameters();
    measure(|| simulator.run_into(&p, trajectory).unwrap()).count_total
}

#[test]
fn roll_outs_of_any_length_allocate_the_same_number_of_times() {
    for case in cases() {
        for method in Method::ALL {
            for schedule in DissipationSchedule::ALL {
                let long = simulator(&case, method, schedule);
                let short = Case { steps: case.steps / 2, ..case.clone() };
                let short = simulator(&short, method, schedule);
                let mut trajectory = long.run(&long.parameters()).unwrap();
                let counts = [&long, &short].map(|s| allocations(s, &mut trajectory));
                let what = format!("{} {method:?} {schedule:?}", case.name);
                assert_eq!(counts[0], counts[1], "{what}: of {} steps and of half", case.steps);
                if method == Method::Bdf2 && schedule == DissipationSchedule::Current {
                    println!("{what}: {} allocations whatever the length", counts[0]);
                }
            }
        }
    }
}

#[test]
fn contacts_allocate_nothing() {
    let touching = cases().into_iter().find(|c| c.name == "slide").unwrap();
    let mut free = touching.clone();
    free.scene.bodies[1].pose.position.z += 10.0;
    for schedule in DissipationSchedule::ALL {
        let counts = [&touching, &free].map(|case| {
            let simulator = simulator(case, Method::Bdf2, schedule);
            let mut trajectory = simulator.run(&simulator.parameters()).unwrap();
            allocations(&simulator, &mut trajectory)
        });
        assert_eq!(counts[0], counts[1], "{schedule:?}");
    }
}

#[test]
fn adjoints_of_any_length_allocate_the_same_number_of_times() {
    for case in cases() {
        for method in Method::ALL {
            let counts = [case.steps, case.steps / 2].map(|steps| {
                let simulator = simulator(
                    &Case { steps, ..case.clone() },
                    method,
                    DissipationSchedule::CurrentGeometry,
                );
                let p = simulator.parameters();
                let trajectory = simulator.run(&p).unwrap();
                let outcome = Final { steps };
                measure(|| {
                    adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
                })
                .count_total
            });
            assert_eq!(counts[0], counts[1], "{} {method:?}: and of half the steps", case.name);
        }
    }
}
