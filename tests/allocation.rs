//! No heap allocation inside a stage once warmed: what a roll-out allocates does not depend on its length.

mod common;

use allocation_counter::measure;
use common::{Case, Final, cases, simulator};
use osculate_contact::DissipationSchedule;
use osculate_dynamics::sensitivity::adjoint;
use osculate_dynamics::{Method, Simulator, Trajectory};

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
