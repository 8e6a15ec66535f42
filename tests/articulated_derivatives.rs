//! Articulated bodies under the compliant model: derivatives of whole trajectories.

mod common;

use common::differences::richardson;
use common::trees::{machine, parameters, settings, simulator};
use common::{Final, outcome_at};
use osculate_contact::DissipationSchedule;
use osculate_dynamics::articulated::ClosureKind;
use osculate_dynamics::sensitivity::{adjoint, hessian, tangent};
use osculate_dynamics::{InitialRate, Layout, Method};
use rayon::prelude::*;

/// Largest difference of two gradients, relative to the largest entry of the same unit.
fn worst(layout: &Layout, a: &[f64], b: &[f64]) -> (f64, String) {
    let unit = |i: usize| layout.entries()[i].unit;
    (0..a.len())
        .map(|i| {
            let alike = (0..a.len()).filter(|&j| unit(j) == unit(i));
            let scale = alike.map(|j| a[j].abs()).fold(1e-300, f64::max);
            ((a[i] - b[i]).abs() / scale, layout.entries()[i].path.clone())
        })
        .max_by(|x, y| x.0.total_cmp(&y.0))
        .unwrap()
}

#[test]
fn adjoint_equals_tangent_for_every_parameter_method_and_schedule() {
    let mut overall = (0.0, String::new());
    for (index, method) in Method::ALL.into_iter().enumerate() {
        let closures = [ClosureKind::Ball, ClosureKind::Revolute, ClosureKind::Fixed];
        let scene = machine(closures[index % 3]);
        let schedule = DissipationSchedule::ALL[index % 3];
        let mut settings = settings(method, schedule);
        if index % 2 == 0 {
            settings.initial_rate = InitialRate::FirstStep;
        }
        let simulator = simulator(&scene, settings, 3e-3, 6);
        let p = parameters(&simulator);
        let trajectory = simulator.run(&p).unwrap_or_else(|e| panic!("{method:?}: {e}"));
        let layout = Layout::new(simulator.scene(), &p);
        let outcome = Final { steps: 6 };
        let (value, reverse) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        let late =
            |path: &str| [".wrench.", ".effort", ".target."].iter().any(|w| path.contains(w));
        let which: Vec<usize> = (0..layout.len())
            .filter(|&i| {
                let path = &layout.entries()[i].path;
                !late(path) || path.ends_with(".4") || path.contains(".wrench.4.")
            })
            .collect();
        let (again, forward) =
            tangent::gradient::<12>(&simulator, &trajectory, &p, &which, &outcome).unwrap();
        assert!(
            (value - again).abs() < 1e-13 * value.abs().max(1.0),
            "{method:?}: {value} {again}"
        );
        let mut full = reverse.clone();
        which.iter().zip(forward).for_each(|(&i, x)| full[i] = x);
        let (error, path) = worst(&layout, &reverse, &full);
        println!("{method:?} {schedule:?}: {error:.1e} at {path}");
        assert!(error < 1e-11, "{method:?} {schedule:?} {path}: {error:e}");
        overall = if error > overall.0 { (error, path) } else { overall };
    }
    println!("adjoint = tangent: worst relative difference {:.2e} at {}", overall.0, overall.1);
}

#[test]
fn adjoint_equals_differences_where_the_outcome_is_smooth() {
    let (mut judged, mut skipped, mut overall) = (0, 0, (0.0, String::new()));
    for (index, (method, schedule, closure)) in [
        (Method::BackwardEuler, DissipationSchedule::CurrentGeometry, ClosureKind::Ball),
        (Method::Bdf2, DissipationSchedule::Current, ClosureKind::Revolute),
        (Method::Dirk23, DissipationSchedule::StageStart, ClosureKind::Fixed),
    ]
    .into_iter()
    .enumerate()
    {
        let scene = machine(closure);
        let simulator = simulator(&scene, settings(method, schedule), 3e-3, 6);
        let p = parameters(&simulator);
        let trajectory = simulator.run(&p).unwrap();
        let layout = Layout::new(simulator.scene(), &p);
        let outcome = Final { steps: 6 };
        let (_, gradient) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        let values = layout.values(&p);
        let entries = layout.entries();
        let step = |path: &str, w: &str| path.contains(w) && !path.contains(".4");
        let of_steps =
            |path: &str| [".wrench.", ".effort", ".target."].iter().any(|w| step(path, w));
        // Each parameter with one of the three.
        let which = (0..layout.len()).filter(|i| i % 3 == index && !of_steps(&entries[*i].path));
        let which: Vec<usize> = which.collect();
        let unit = |i: usize| {
            let alike = (0..layout.len()).filter(|&j| entries[j].unit == entries[i].unit);
            alike.map(|j| gradient[j].abs()).fold(1e-300, f64::max)
        };
        let differences = |&i: &usize| {
            let h = match entries[i].unit {
                "m" => 1e-5,
                "kg m²" => 1e-7,
                "rad" => 1e-4,
                _ => (values[i].abs() * 1e-2).max(1e-3),
            };
            let f = |t: f64| {
                let mut q = p.clone();
                layout.add(&mut q, i, t);
                outcome_at(&simulator, &q)
            };
            // The longest step of the ladder is 64 times this: beyond 16 h a stage of the machine does not converge.
            (i, richardson(f, h / 4.0))
        };
        let all: Vec<(usize, (f64, f64))> = which.par_iter().map(differences).collect();
        for (i, (numeric, spread)) in all {
            if spread > 1e-7 * unit(i) {
                skipped += 1;
                continue;
            }
            judged += 1;
            let error = (numeric - gradient[i]).abs() / unit(i);
            let what = format!("{method:?} {}", entries[i].path);
            assert!(error < 1e-7, "{what}: {} by differences {numeric}, {error:e}", gradient[i]);
            overall = if error > overall.0 { (error, what) } else { overall };
        }
    }
    println!(
        "adjoint = differences: worst {:.2e} at {}; {judged} judged, {skipped} not smooth",
        overall.0, overall.1
    );
    assert!(judged > 3 * skipped, "{judged} judged, {skipped} skipped");
}

#[test]
fn hessian_is_the_difference_of_the_adjoint() {
    let scene = machine(ClosureKind::Fixed);
    let mut settings = settings(Method::Bdf2, DissipationSchedule::Current);
    settings.initial_rate = InitialRate::FirstStep;
    let simulator = simulator(&scene, settings, 3e-3, 4);
    let p = simulator.parameters();
    let trajectory = simulator.run(&p).unwrap();
    let layout = Layout::new(simulator.scene(), &p);
    let outcome = Final { steps: 4 };
    let chosen = |path: &str| {
        let joint = path.starts_with("joint.") || path.starts_with("loop.");
        joint || path.contains(".mass") || path.contains(".center") || path.contains(".mu")
    };
    let turns = |i: &usize| layout.entries()[*i].path.contains("rotation");
    let which: Vec<usize> =
        (0..layout.len()).filter(|&i| chosen(&layout.entries()[i].path)).collect();
    let h = hessian::hessian::<8>(&simulator, &trajectory, &p, &which, &outcome).unwrap();
    let gradient_at = |i: usize, t: f64| {
        let mut q = p.clone();
        layout.add(&mut q, i, t);
        let trajectory = simulator.run(&q).unwrap();
        adjoint::gradient(&simulator, &trajectory, &q, &outcome).unwrap().1
    };
    let values = layout.values(&p);
    let (mut judged, mut skipped, mut overall) = (0, 0, (0.0, String::new()));
    for (column, &i) in which.iter().enumerate().filter(|(_, i)| !turns(i)) {
        let step = match layout.entries()[i].unit {
            "m" => 1e-5,
            "rad" => 1e-4,
            _ => (values[i].abs() * 1e-2).max(1e-3),
        };
        let rung = |h: f64| {
            let of = |h: f64| {
                let (a, b) = (gradient_at(i, h), gradient_at(i, -h));
                a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>()
            };
            let (coarse, fine) = (of(h), of(h / 2.0));
            fine.iter().zip(coarse).map(|(f, c)| (4.0 * f - c) / 3.0).collect::<Vec<f64>>()
        };
        let (first, second) = (rung(step), rung(step / 8.0));
        for (row, &j) in which.iter().enumerate().filter(|(_, j)| !turns(j)) {
            let alike = which.iter().enumerate();
            let alike =
                alike.filter(|(_, k)| layout.entries()[**k].unit == layout.entries()[j].unit);
            let unit = alike.map(|(k, _)| h[(k, column)].abs()).fold(1e-300, f64::max);
            if (first[j] - second[j]).abs() > 1e-5 * unit {
                skipped += 1;
                continue;
            }
            judged += 1;
            let error = (second[j] - h[(row, column)]).abs() / unit;
            let what = format!("∂²/∂{}∂{}", layout.entries()[j].path, layout.entries()[i].path);
            assert!(error < 3e-5, "{what}: {} by differences {}", h[(row, column)], second[j]);
            overall = if error > overall.0 { (error, what) } else { overall };
        }
    }
    println!(
        "Hessian = differences: worst {:.2e} at {}; {judged} judged, {skipped} not smooth",
        overall.0, overall.1
    );
    assert!(judged > 3 * skipped, "{judged} judged, {skipped} skipped");
}

#[test]
fn checkpoints_give_the_same_bits() {
    let scene = machine(ClosureKind::Ball);
    for method in [Method::Bdf3, Method::Dirk33] {
        let simulator =
            simulator(&scene, settings(method, DissipationSchedule::CurrentGeometry), 3e-3, 7);
        let p = parameters(&simulator);
        let trajectory = simulator.run(&p).unwrap();
        let outcome = Final { steps: 7 };
        let (_, full) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        for interval in [1, 3] {
            let (_, gradient) =
                adjoint::checkpointed_gradient(&simulator, &p, &outcome, interval).unwrap();
            for (a, b) in full.iter().zip(&gradient) {
                assert_eq!(a.to_bits(), b.to_bits(), "{method:?} interval {interval}");
            }
        }
    }
}
