//! The same input gives the same bits: again, in used memory, and on any number of threads.

mod common;

use common::{Case, Final, cases, parameters, simulator};
use osculate_contact::DissipationSchedule;
use osculate_dynamics::sensitivity::{adjoint, tangent};
use osculate_dynamics::{Layout, Method, Simulator, Trajectory};

/// Every number of a roll-out and of its derivatives, as bits.
fn fingerprint(simulator: &Simulator, trajectory: &Trajectory) -> Vec<u64> {
    let p = parameters(simulator);
    let outcome = Final { steps: simulator.steps() };
    let mut numbers = Vec::new();
    for step in 0..=simulator.steps() {
        for y in trajectory.path.state(step) {
            numbers.extend(y.center.iter().chain(y.rotation.iter()));
            numbers.extend(y.velocity.iter().chain(y.rate.iter()));
        }
    }
    let (value, gradient) = adjoint::gradient(simulator, trajectory, &p, &outcome).unwrap();
    let which: Vec<usize> = (0..Layout::new(simulator.scene(), &p).len()).step_by(7).collect();
    let forward = tangent::gradient::<4>(simulator, trajectory, &p, &which, &outcome).unwrap().1;
    numbers.push(value);
    numbers.extend(gradient.iter().chain(&forward));
    numbers.into_iter().map(f64::to_bits).collect()
}

fn work(case: &Case, method: Method) -> Vec<u64> {
    let simulator = simulator(case, method, DissipationSchedule::CurrentGeometry);
    let trajectory = simulator.run(&parameters(&simulator)).unwrap();
    fingerprint(&simulator, &trajectory)
}

#[test]
fn same_input_gives_the_same_bits_again_and_in_used_memory() {
    let mut used = Trajectory::default();
    for case in cases() {
        for method in [Method::BackwardEuler, Method::Bdf3, Method::Dirk33] {
            let simulator = simulator(&case, method, DissipationSchedule::StageStart);
            let p = parameters(&simulator);
            let first = fingerprint(&simulator, &simulator.run(&p).unwrap());
            assert_eq!(first, fingerprint(&simulator, &simulator.run(&p).unwrap()));
            // Memory of another scene, method and length.
            simulator.run_into(&p, &mut used).unwrap();
            assert_eq!(first, fingerprint(&simulator, &used), "{} {method:?}", case.name);
        }
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let works: Vec<(Case, Method)> = cases()
        .into_iter()
        .flat_map(|c| [Method::Bdf2, Method::Dirk22].map(|m| (c.clone(), m)))
        .collect();
    let alone: Vec<_> = works.iter().map(|(c, m)| work(c, *m)).collect();
    for threads in [2, 5] {
        let mut shared = vec![Vec::new(); works.len()];
        std::thread::scope(|scope| {
            let per = works.len().div_ceil(threads);
            for (works, out) in works.chunks(per).zip(shared.chunks_mut(per)) {
                scope.spawn(move || {
                    for ((c, m), out) in works.iter().zip(out) {
                        *out = work(c, *m);
                    }
                });
            }
        });
        assert_eq!(alone, shared, "{threads} threads");
    }
}

#[test]
fn order_of_runs_in_one_memory_does_not_matter() {
    let case = &cases()[0];
    let a = simulator(case, Method::Bdf2, DissipationSchedule::Current);
    let b = simulator(
        &Case { steps: 17, ..case.clone() },
        Method::Dirk23,
        DissipationSchedule::Current,
    );
    let (mut memory, mut seen) = (Trajectory::default(), Vec::new());
    for s in [&a, &b, &a, &a, &b] {
        s.run_into(&parameters(s), &mut memory).unwrap();
        seen.push(fingerprint(s, &memory));
    }
    assert!(seen[0] == seen[2] && seen[2] == seen[3] && seen[1] == seen[4]);
}
