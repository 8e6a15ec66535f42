//! Geometry as parameters: what the derivatives have to add up to, and that a parameter is the scene made anew.

mod common;

use common::shapes::{EDGE_RADIUS, HALF_EXTENTS, rounded_case};
use common::{Case, Final, cases, simulator};
use nalgebra::Vector3;
use osculate_contact::DissipationSchedule;
use osculate_dynamics::sensitivity::adjoint;
use osculate_dynamics::{Layout, Method, Simulator};
use osculate_geometry::collider::Collider;

/// Sums of a few hundred derivatives: rounding only.
const EXACT: f64 = 1e-10;

/// The gradient of the outcome of a case by path.
struct Gradient {
    simulator: Simulator,
    layout: Layout,
    gradient: Vec<f64>,
}

impl Gradient {
    fn of(case: &Case) -> Self {
        let simulator = simulator(case, Method::Bdf2, DissipationSchedule::StageStart);
        let p = simulator.parameters();
        let trajectory = simulator.run(&p).unwrap();
        let outcome = Final { steps: case.steps };
        let (_, gradient) = adjoint::gradient(&simulator, &trajectory, &p, &outcome).unwrap();
        let layout = Layout::new(simulator.scene(), &p);
        Self { simulator, layout, gradient }
    }

    fn at(&self, path: &str) -> f64 {
        self.gradient[self.layout.index(path).unwrap()]
    }

    fn vector(&self, path: &str) -> Vector3<f64> {
        Vector3::new(
            self.at(&format!("{path}_x")),
            self.at(&format!("{path}_y")),
            self.at(&format!("{path}_z")),
        )
    }
}

fn assert_sum(what: &str, found: f64, terms: &[f64]) {
    let (sum, size) = (terms.iter().sum::<f64>(), terms.iter().map(|x| x.abs()).sum::<f64>());
    assert!(size > 0.0 && found.abs() > 1e-9 * size, "{what}: nothing depends on it");
    assert!((found - sum).abs() < EXACT * size, "{what}: {found}, the sum is {sum}");
}

fn named(name: &str) -> Case {
    cases().into_iter().find(|c| c.name == name).unwrap()
}

#[test]
fn derivative_by_a_mode_is_the_sum_over_the_vertices_and_dimensions_that_it_moves() {
    let g = Gradient::of(&named("rounded box"));
    let body = &g.simulator.scene().bodies[1];
    let (shape, collider) = (body.shape.as_ref().unwrap(), body.collider.as_ref().unwrap());
    let sum = |displacements: &[Vector3<f64>], dimensions: &[f64]| {
        let vertices = displacements.iter().enumerate();
        let mut terms: Vec<f64> =
            vertices.map(|(i, d)| d.dot(&g.vector(&format!("box.vertex_{i}")))).collect();
        for (name, d) in collider.dimension_names().iter().zip(dimensions) {
            terms.push(d * g.at(&format!("box.collider.{name}")));
        }
        terms
    };
    for mode in &shape.modes {
        let terms = sum(&mode.displacements, &mode.dimensions);
        assert_sum(&mode.name, g.at(&format!("box.{}", mode.name)), &terms);
    }
    let surface = shape.surface.as_ref().unwrap();
    assert_sum("scale", g.at("box.scale"), &sum(surface.vertices(), &collider.dimensions()));
}

/// Weights of explicit samples are areas: a pair's stiffness `k` sees them alike, so `w ∂/∂w` is `k ∂/∂k` but for what the
/// collider's own `k` does.
#[test]
fn derivative_by_the_size_of_explicit_samples_has_points_and_areas() {
    let mut case = named("corners");
    case.scene.bodies[1].shape = named("rounded box").scene.bodies[2].shape.clone();
    let g = Gradient::of(&case);
    let points = case.scene.bodies[1].samples.as_ref().unwrap().points().to_vec();
    let mut terms: Vec<f64> = points
        .iter()
        .enumerate()
        .map(|(i, x)| x.dot(&g.vector(&format!("cube.sample_{i}"))))
        .collect();
    // The collider is static, so the stiffness is the cube's; forces are in proportion to weight and stiffness alike.
    let stiffness = case.scene.bodies[1].contact.stiffness;
    terms.push(2.0 * stiffness * g.at("cube.k"));
    assert_sum("scale", g.at("cube.scale"), &terms);
}

#[test]
fn moving_every_node_is_rounding() {
    let g = Gradient::of(&named("free nodes"));
    let Some(Collider::Grid(grid)) = &g.simulator.scene().bodies[0].collider else {
        panic!("a grid")
    };
    let n = grid.base.values().len();
    let nodes = (0..n).map(|i| g.at(&format!("slab.collider.node_{i}")));
    let terms: Vec<f64> = nodes.map(|x| -x / grid.scale).collect();
    assert!(terms.iter().filter(|x| x.abs() > 0.0).count() >= 8);
    assert_sum("rounding", g.at("slab.collider.rounding"), &terms);
    let by_scale = g.at("slab.collider.scale") * grid.scale;
    assert_sum(
        "size",
        g.at("slab.scale"),
        &[by_scale, g.at("slab.collider.rounding") * grid.rounding],
    );
}

/// Where the second body ends, from parameters.
fn end(simulator: &Simulator, changes: &[(&str, f64)]) -> Vector3<f64> {
    let mut p = simulator.parameters();
    let layout = Layout::new(simulator.scene(), &p);
    for (path, by) in changes {
        layout.add(&mut p, layout.index(path).unwrap(), *by);
    }
    let trajectory = simulator.run(&p).unwrap();
    trajectory.path.state(simulator.steps())[1].center
}

#[test]
fn half_extents_edge_radius_and_size_as_parameters_are_the_box_made_anew() {
    let made = |h: Vector3<f64>, r: f64| {
        let case = rounded_case(h, r);
        simulator(&case, Method::BackwardEuler, DissipationSchedule::CurrentGeometry)
    };
    let h = Vector3::from(HALF_EXTENTS);
    let base = made(h, EDGE_RADIUS);
    for (changes, h, r) in [
        (vec![("box.edge_radius", 0.003)], h, EDGE_RADIUS + 0.003),
        (vec![("box.half_extent_x", 0.002)], h + Vector3::x() * 0.002, EDGE_RADIUS),
        (vec![("box.half_extent_z", -0.001)], h - Vector3::z() * 0.001, EDGE_RADIUS),
        (vec![("box.scale", 0.01)], h * 1.01, EDGE_RADIUS * 1.01),
        (
            vec![("box.scale", 0.01), ("box.edge_radius", 0.003)],
            h * 1.01,
            (EDGE_RADIUS + 0.003) * 1.01,
        ),
    ] {
        let (changed, anew) = (end(&base, &changes), end(&made(h, r), &[]));
        assert!((changed - anew).norm() < 1e-11, "{changes:?}: {changed:?} and {anew:?}");
        assert!((changed - end(&base, &[])).norm() > 1e-6, "{changes:?} changes nothing");
    }
}
