//! No heap allocation inside a stage once warmed: what a roll-out allocates does not depend on its length. What it keeps is linear
//! in its steps, and checkpoints keep far less.

mod common;

use allocation_counter::measure;
use common::{Case, Final, case, cases, cuboid, ground, place, simulator};
use nalgebra::Vector3;
use osculate_contact::{ContactLaw, DissipationSchedule};
use osculate_dynamics::sensitivity::adjoint;
use osculate_dynamics::{
    Body, Method, NewtonSettings, OnFailure, RotationUpdate, Settings, Simulator, Trajectory,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};

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

const HALF: f64 = 0.05;

fn cube(name: &str, position: [f64; 3], turn: [f64; 3]) -> Body {
    let half = Vector3::repeat(HALF);
    let mut cube = cuboid(name, half);
    cube.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
    place(cube, position, turn, [0.0; 3], [0.0; 3])
}

/// Twelve cubes in three layers that touch each other and the ground.
fn stack() -> Vec<Body> {
    let at = |i: usize, n: usize| 0.0999 * (i % n) as f64;
    let one = |i: usize| [at(i, 2), at(i / 2, 2), 0.0496 + 0.0997 * (i / 4) as f64];
    (0..12).map(|i| cube(&format!("stack_{i}"), one(i), [0.0; 3])).collect()
}

/// `side³` cubes, slightly turned, that fall on each other and on the ground.
fn pile(side: usize) -> Vec<Body> {
    let wobble = |i: usize, k: usize| ((3 * i + 7 * k + 1) as f64).sin();
    let one = |i: usize| {
        let at = [i % side, i / side % side, i / (side * side)].map(|x| x as f64);
        let shift = [0, 1].map(|k| 0.01 * wobble(i, k));
        let at = [0.125 * at[0] + shift[0], 0.125 * at[1] + shift[1], 0.06 + 0.12 * at[2]];
        cube(&format!("pile_{i}"), at, [2, 3, 4].map(|k| 0.2 * wobble(i, k)))
    };
    (0..side * side * side).map(one).collect()
}

/// Steps that do not converge are kept: the schedules without a potential have stages without solution.
fn going_on(
    bodies: Vec<Body>,
    (dt, steps): (f64, usize),
    (schedule, rotation): (DissipationSchedule, RotationUpdate),
) -> Simulator {
    let bodies = std::iter::once(ground()).chain(bodies).collect();
    let settings = Settings {
        rotation,
        law: ContactLaw { schedule, ..Default::default() },
        newton: NewtonSettings {
            tolerance: 1e-8,
            on_failure: OnFailure::Continue,
            ..Default::default()
        },
        ..Default::default()
    };
    Simulator::new(case("many", bodies, dt, steps).scene, settings, vec![dt; steps]).unwrap()
}

/// Allocations of roll-outs of a few lengths, in one thread, into a trajectory that has done the longest. A roll-out asks for the same memory
/// whenever it is made: what it needed once, it has.
fn warmed(
    of: impl Fn(usize) -> Simulator + Sync,
    steps: [usize; 3],
    mut trajectory: Trajectory,
) -> ([u64; 3], Trajectory) {
    // Handing work over to other threads allocates.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let longest = of(*steps.iter().max().unwrap());
        longest.run_into(&longest.parameters(), &mut trajectory).unwrap();
        (steps.map(|n| allocations(&of(n), &mut trajectory)), trajectory)
    })
}

/// Symptom it guards against: twelve cubes allocated 230 times a step. Lists of bodies, pairs, samples, islands and groups were made anew in
/// every stage, and only scenes of up to four bodies, which have no islands, were counted.
#[test]
fn stages_of_piles_allocate_nothing() {
    let rotations = [RotationUpdate::RateTensor, RotationUpdate::Chart];
    for (name, bodies, steps) in [("stack", stack(), [1, 20, 40]), ("pile", pile(3), [1, 30, 60])] {
        for schedule in DissipationSchedule::ALL {
            for rotation in rotations {
                for memory in [Trajectory::without_factors(), Trajectory::default()] {
                    let of = |n: usize| going_on(bodies.clone(), (5e-3, n), (schedule, rotation));
                    let what = format!("{name} {schedule:?} {rotation:?}");
                    let (counts, trajectory) = warmed(of, steps, memory);
                    assert!(counts.iter().all(|n| *n == counts[0]), "{what}: {counts:?}");
                    let local: usize = trajectory.stats.iter().map(|s| s.local_iterations).sum();
                    println!("{what}: {} whatever the length, {local} of groups", counts[0]);
                }
            }
        }
    }
}

#[test]
fn groups_that_are_solved_apart_allocate_nothing() {
    let how = (DissipationSchedule::StageStart, RotationUpdate::RateTensor);
    let of = |n: usize| going_on(pile(4), (5e-3, n), how);
    let (counts, trajectory) = warmed(of, [1, 60, 90], Trajectory::without_factors());
    let local: usize = trajectory.stats.iter().map(|s| s.local_iterations).sum();
    assert!(local > 50, "{local} iterations of groups");
    assert!(counts.iter().all(|n| *n == counts[0]), "{counts:?}");
}

/// Above 1024 samples of a pair are shared among threads, where there are several.
#[test]
fn many_samples_of_a_pair_allocate_nothing_in_one_thread() {
    let ball = TriangleMesh::icosphere(HALF, 4).unwrap();
    let samples = SurfaceSamples::from_mesh(&ball, TriangleRule::P1Q3);
    assert!(samples.points().len() > 4 * 1024);
    for count in [1, 6] {
        let balls = || {
            let at = |i: usize| [0.098 * i as f64, 0.0, 0.0493];
            let ball = |i: usize| {
                let mut ball = cube(&format!("ball_{i}"), at(i), [0.0; 3]);
                ball.samples = Some(samples.clone());
                ball.collider = Some(Collider::sphere(Vector3::zeros(), HALF).unwrap());
                ball
            };
            (0..count).map(ball).collect::<Vec<_>>()
        };
        for schedule in DissipationSchedule::ALL {
            let how = (schedule, RotationUpdate::RateTensor);
            let of = |n: usize| going_on(balls(), (2e-3, n), how);
            let (counts, _) = warmed(of, [1, 5, 10], Trajectory::without_factors());
            assert!(counts.iter().all(|n| *n == counts[0]), "{count} {schedule:?}: {counts:?}");
        }
    }
}
