//! Derivatives of whole trajectories: adjoint, tangent, differences and second order.

mod common;

use common::differences::richardson;
use common::shapes::without_points;
use common::{Final, cases, outcome_at, parameters, simulator, simulator_with, with_override};
use osculate_contact::DissipationSchedule;
use osculate_contact::params::ACTOR_SYMBOLS;
use osculate_dynamics::RotationUpdate::{self, Chart, RateTensor};
use osculate_dynamics::sensitivity::{adjoint, hessian, tangent};
use osculate_dynamics::{Layout, Method, ParameterInfo, Parameters};

/// Both use one linearisation, so they differ by rounding only.
const ADJOINT_IS_TANGENT: f64 = 1e-11;

/// What entries are compared with one scale: the same unit, and of geometry the same sort of thing, since an outcome changes
/// less by one node of many than by a whole body.
fn kind(entry: &ParameterInfo) -> (&'static str, &'static str) {
    let sorts = ["vertex_", "node_", "sample_"];
    let sort = sorts.into_iter().find(|sort| entry.path.contains(sort));
    (entry.unit, sort.unwrap_or(""))
}

/// Largest difference of two gradients, each entry relative to its scale, and where.
///
/// The scale of an entry is the largest entry of its [`kind`]; of a contact coefficient also the largest
/// logarithmic derivative `θ ∂/∂θ` of its actor's coefficients, over `θ`: an entry far below that is what is left
/// of cancelling shares of the stages, and so is its rounding.
fn worst(layout: &Layout, values: &[f64], a: &[f64], b: &[f64]) -> (f64, String) {
    let entry = |i: usize| &layout.entries()[i];
    let actor = |i: usize| {
        let (actor, symbol) = entry(i).path.split_once('.').unwrap_or(("", ""));
        ACTOR_SYMBOLS.contains(&symbol).then_some(actor)
    };
    let scale = |i: usize| {
        (0..a.len())
            .map(|j| {
                if kind(entry(j)) == kind(entry(i)) {
                    a[j].abs()
                } else if actor(i).is_some() && actor(j) == actor(i) && values[i] != 0.0 {
                    (a[j] * values[j] / values[i]).abs()
                } else {
                    0.0
                }
            })
            .fold(1e-300, f64::max)
    };
    (0..a.len())
        .map(|i| ((a[i] - b[i]).abs() / scale(i), entry(i).path.clone()))
        .max_by(|x, y| x.0.total_cmp(&y.0))
        .unwrap()
}

#[test]
fn adjoint_equals_tangent_for_every_parameter_method_and_schedule() {
    let mut overall = (0.0, String::new());
    for case in cases() {
        let case = if case.name == "stick" { with_override(case) } else { case };
        let rows = Method::ALL
            .into_iter()
            .flat_map(|method| DissipationSchedule::ALL.map(|schedule| (method, schedule)));
        for (method, schedule) in rows {
            for rotation in RotationUpdate::ALL {
                let simulator = simulator_with(&case, method, schedule, rotation);
                let p = parameters(&simulator);
                let trajectory = simulator
                    .run(&p)
                    .unwrap_or_else(|e| panic!("{} {method:?} {schedule:?}: {e}", case.name));
                let layout = Layout::new(simulator.scene(), &p);
                let outcome = Final { steps: case.steps };
                let (value, reverse) =
                    adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
                // Every parameter but the wrenches, of which a few.
                let which: Vec<usize> = (0..layout.len())
                    .filter(|&i| {
                        let path = &layout.entries()[i].path;
                        !path.contains("wrench") || path.contains("wrench.7.")
                    })
                    .collect();
                let (again, forward) =
                    tangent::gradient::<12>(&simulator, &trajectory, &p, &which, &outcome).unwrap();
                assert!((value - again).abs() < 1e-14 * value.abs().max(1.0));
                let mut full = reverse.clone();
                for (i, x) in which.iter().zip(forward) {
                    full[*i] = x;
                }
                let (error, path) = worst(&layout, &layout.values(&p), &reverse, &full);
                let what = format!("{} {method:?} {schedule:?} {rotation:?} {path}", case.name);
                assert!(error < ADJOINT_IS_TANGENT, "{what}: {error:e}");
                if error > overall.0 {
                    overall = (error, what);
                }
            }
        }
    }
    println!("adjoint = tangent: worst relative difference {:.2e} at {}", overall.0, overall.1);
}

fn step_of(layout: &Layout, p: &Parameters, i: usize) -> f64 {
    let value = layout.values(p)[i].abs();
    match layout.entries()[i].unit {
        "m" => 1e-6,
        "" if layout.entries()[i].path.ends_with("scale") => 1e-5,
        "rad" => 1e-5,
        "kg m²" => 1e-8,
        "Pa/m" => value * 1e-3,
        "N m" => 1e-5,
        _ => (value * 1e-3).max(1e-5),
    }
}

#[test]
fn adjoint_equals_richardson_differences_where_the_outcome_is_smooth() {
    let mut overall = (0.0, String::new());
    let (mut judged, mut skipped) = (0, 0);
    let mut shapes = 0;
    let rows = [
        (Method::BackwardEuler, DissipationSchedule::CurrentGeometry, RateTensor),
        (Method::Bdf2, DissipationSchedule::Current, RateTensor),
        (Method::Dirk22, DissipationSchedule::StageStart, RateTensor),
        (Method::Bdf3, DissipationSchedule::CurrentGeometry, RateTensor),
    ];
    let charts = [
        (Method::Bdf3, DissipationSchedule::Current, Chart),
        (Method::Dirk33, DissipationSchedule::CurrentGeometry, Chart),
        (Method::SymplecticDirk22, DissipationSchedule::StageStart, Chart),
    ];
    for (index, case) in cases().into_iter().enumerate() {
        // Shapes meet rotations as any other parameter does.
        let charts = (index < 10).then_some(charts[index % 3]);
        for (method, schedule, rotation) in
            [rows[index % 4], rows[(index + 1) % 4]].into_iter().chain(charts)
        {
            let simulator = simulator_with(&case, method, schedule, rotation);
            let p = parameters(&simulator);
            let trajectory = simulator.run(&p).unwrap();
            let layout = Layout::new(simulator.scene(), &p);
            let outcome = Final { steps: case.steps };
            let (_, gradient) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
            let scale = |entry: &ParameterInfo| {
                (0..layout.len())
                    .filter(|&j| kind(&layout.entries()[j]) == kind(entry))
                    .map(|j| gradient[j].abs())
                    .fold(1e-300, f64::max)
            };
            for i in (0..layout.len()).filter(|&i| !layout.entries()[i].path.contains("wrench.1")) {
                let f = |t: f64| {
                    let mut q = p.clone();
                    layout.add(&mut q, i, t);
                    outcome_at(&simulator, &q)
                };
                if layout.entries()[i].path.contains("wrench") && i % 37 != 0 {
                    continue;
                }
                let (numeric, error) = richardson(f, step_of(&layout, &p, i));
                let unit = scale(&layout.entries()[i]);
                // The difference's own error decides whether the outcome is smooth on the stencil.
                if error > 1e-8 * unit {
                    skipped += 1;
                    continue;
                }
                judged += 1;
                let sort = kind(&layout.entries()[i]).1;
                shapes += usize::from(sort == "vertex_" || sort == "node_");
                let relative = (numeric - gradient[i]).abs() / unit;
                let what = format!(
                    "{} {method:?} {schedule:?} {rotation:?} {}",
                    case.name,
                    layout.entries()[i].path
                );
                assert!(relative < 1e-7, "{what}: {} by differences {numeric}", gradient[i]);
                if relative > overall.0 {
                    overall = (relative, what);
                }
            }
        }
    }
    println!(
        "adjoint = differences: worst {:.2e} at {}; {judged} judged, {shapes} of them vertices and nodes, \
         {skipped} not smooth on the stencil",
        overall.0, overall.1
    );
    assert!(judged > skipped, "{judged} judged, {skipped} skipped");
    assert!(shapes > 200, "{shapes} vertices and nodes judged");
}

#[test]
fn hessian_is_the_difference_of_the_adjoint_and_symmetric_where_smooth() {
    let mut overall = (0.0, String::new());
    for (index, method, schedule, rotation) in [
        (0, Method::Bdf2, DissipationSchedule::Current, RateTensor),
        (1, Method::BackwardEuler, DissipationSchedule::CurrentGeometry, RateTensor),
        (4, Method::Dirk22, DissipationSchedule::StageStart, RateTensor),
        (7, Method::SymplecticDirk12, DissipationSchedule::Current, RateTensor),
        (10, Method::Bdf2, DissipationSchedule::CurrentGeometry, RateTensor),
        (11, Method::Bdf2, DissipationSchedule::StageStart, RateTensor),
        (12, Method::Bdf2, DissipationSchedule::Current, RateTensor),
        (0, Method::Bdf3, DissipationSchedule::CurrentGeometry, Chart),
        (7, Method::Dirk22, DissipationSchedule::Current, Chart),
    ] {
        let mut case = cases().swap_remove(index);
        if index == 10 {
            case = without_points(case);
        }
        let simulator = simulator_with(&case, method, schedule, rotation);
        let mut p = parameters(&simulator);
        p.wrenches.clear();
        let trajectory = simulator.run(&p).unwrap();
        let layout = Layout::new(simulator.scene(), &p);
        let outcome = Final { steps: case.steps };
        let which: Vec<usize> = (0..layout.len()).collect();
        let h = hessian::hessian::<8>(&simulator, &trajectory, &p, &which, &outcome).unwrap();
        let gradient_at = |i: usize, t: f64| {
            let mut q = p.clone();
            layout.add(&mut q, i, t);
            let trajectory = simulator.run(&q).unwrap();
            adjoint::gradient(&simulator, &trajectory, &q, &outcome).unwrap().1
        };
        let (mut judged, mut skipped) = (0, 0);
        // Of rotations: a Hessian's column is the derivative of the gradient at the turned pose, by turns of that pose.
        for i in 0..layout.len() {
            let rungs: Vec<Vec<f64>> = (-2..3)
                .map(|k| {
                    let h = step_of(&layout, &p, i) * 4.0_f64.powi(-k);
                    let central = |h: f64| {
                        let (a, b) = (gradient_at(i, h), gradient_at(i, -h));
                        a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>()
                    };
                    let (coarse, fine) = (central(h), central(h / 2.0));
                    fine.iter().zip(coarse).map(|(f, c)| (4.0 * f - c) / 3.0).collect()
                })
                .collect();
            for j in 0..layout.len() {
                let (numeric, spread) = rungs
                    .windows(3)
                    .map(|w| (w[1][j], (w[1][j] - w[0][j]).abs().max((w[1][j] - w[2][j]).abs())))
                    .min_by(|x, y| x.1.total_cmp(&y.1))
                    .unwrap();
                let unit = (0..layout.len())
                    .filter(|&k| layout.entries()[k].unit == layout.entries()[j].unit)
                    .map(|k| h[(k, i)].abs())
                    .fold(1e-300, f64::max);
                if spread > 3e-7 * unit {
                    skipped += 1;
                    continue;
                }
                judged += 1;
                let error = (numeric - h[(j, i)]).abs() / unit;
                let what = format!(
                    "{} {method:?}: ∂²/∂{}∂{}",
                    case.name,
                    layout.entries()[j].path,
                    layout.entries()[i].path
                );
                assert!(error < 1e-6, "{what}: {} by differences {numeric}", h[(j, i)]);
                if error > overall.0 {
                    overall = (error, what);
                }
            }
        }
        println!(
            "{} {method:?} {rotation:?}: {judged} second derivatives judged, {skipped} not smooth on the stencil",
            case.name
        );
        assert!(judged > layout.len() * layout.len() / 4, "{judged} judged");
        for i in 0..layout.len() {
            // Rotation increments do not commute: their second derivatives differ by the gradient.
            let turns = |k: usize| layout.entries()[k].unit == "rad";
            for j in (0..i).filter(|&j| !(turns(i) && turns(j))) {
                let size = (h[(i, i)] * h[(j, j)]).abs().sqrt().max(h[(i, j)].abs());
                // What is left of shares that cancel is rounding of the largest of its unit.
                let alike =
                    |a: usize, b: usize| layout.entries()[a].unit == layout.entries()[b].unit;
                let row = (0..layout.len()).filter(|&k| alike(k, j)).map(|k| h[(i, k)].abs());
                let column = (0..layout.len()).filter(|&k| alike(k, i)).map(|k| h[(k, j)].abs());
                let largest = row.chain(column);
                let rounding = 1e-12 * largest.fold(1.0, f64::max);
                assert!(
                    (h[(i, j)] - h[(j, i)]).abs() <= 1e-7 * size.max(1e-300) + rounding,
                    "{}: H[{}, {}] = {} and {}",
                    case.name,
                    layout.entries()[i].path,
                    layout.entries()[j].path,
                    h[(i, j)],
                    h[(j, i)]
                );
            }
        }
    }
    println!("Hessian = differences of the adjoint: worst {:.2e} at {}", overall.0, overall.1);
}

#[test]
fn hessian_vector_product_is_the_hessian_times_the_vector() {
    let case = &cases()[0];
    let simulator = simulator(case, Method::Bdf2, DissipationSchedule::Current);
    let p = simulator.parameters();
    let trajectory = simulator.run(&p).unwrap();
    let layout = Layout::new(simulator.scene(), &p);
    let outcome = Final { steps: case.steps };
    let which: Vec<usize> = (0..layout.len()).collect();
    let h = hessian::hessian::<8>(&simulator, &trajectory, &p, &which, &outcome).unwrap();
    let direction: Vec<f64> =
        (0..layout.len()).map(|i| step_of(&layout, &p, i) * (i as f64).cos()).collect();
    let (value, gradient, product) =
        hessian::vector_product(&simulator, &trajectory, &p, &direction, &outcome).unwrap();
    let (v, g) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
    assert!((value - v).abs() < 1e-13 * v.abs());
    for i in 0..layout.len() {
        assert!((gradient[i] - g[i]).abs() <= 1e-11 * g[i].abs().max(1e-6));
        let expected: f64 = (0..layout.len()).map(|j| h[(i, j)] * direction[j]).sum();
        let size: f64 = (0..layout.len()).map(|j| (h[(i, j)] * direction[j]).abs()).sum();
        assert!((product[i] - expected).abs() <= 1e-10 * size, "{}", layout.entries()[i].path);
    }
}

#[test]
fn checkpoints_give_the_same_bits() {
    for (method, rotation) in [
        (Method::BackwardEuler, RateTensor),
        (Method::Bdf3, RateTensor),
        (Method::Dirk33, RateTensor),
        (Method::Bdf3, Chart),
        (Method::Dirk23, Chart),
    ] {
        let case = &cases()[0];
        let simulator =
            simulator_with(case, method, DissipationSchedule::CurrentGeometry, rotation);
        let p = parameters(&simulator);
        let trajectory = simulator.run(&p).unwrap();
        let outcome = Final { steps: case.steps };
        let (value, full) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        for interval in [1, 7, 40, 1000] {
            let (again, gradient) =
                adjoint::checkpointed_gradient(&simulator, &p, &outcome, interval).unwrap();
            assert_eq!(value.to_bits(), again.to_bits());
            for (a, b) in full.iter().zip(&gradient) {
                assert_eq!(a.to_bits(), b.to_bits(), "{method:?} interval {interval}");
            }
        }
    }
}
