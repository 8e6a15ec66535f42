//! Laws of grids and meshes, and of what all colliders share.

use super::laws::check_field;
use super::*;
use crate::distance::MeshDistance;
use crate::grid::GridSdf;
use crate::grid::{GridParams, Interpolation, ResolutionMode};
use crate::mesh::TriangleMesh;
use osculate_math::check::Smoothness::{Kink, Smooth};
use std::sync::Arc;

fn brick() -> Collider {
    let mesh = TriangleMesh::cuboid(&Vector3::new(0.5, 0.6, 0.7)).unwrap();
    Collider::mesh(MeshDistance::new(&mesh).unwrap())
}

/// An L, extruded: it has an edge that points inwards.
fn l_shape() -> TriangleMesh {
    let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
    let corner = |z: f64| outline.map(|[x, y]| Vector3::new(x, y, z));
    let vertices = [corner(-0.5), corner(0.5)].concat();
    let caps = [[0, 1, 3], [1, 2, 3], [0, 3, 5], [3, 4, 5]];
    let mut triangles: Vec<[usize; 3]> = caps.map(|[a, b, c]| [a, c, b]).to_vec();
    triangles.extend(caps.map(|t| t.map(|i| i + 6)));
    for i in 0..6 {
        let j = (i + 1) % 6;
        triangles.extend([[i, j, j + 6], [i, j + 6, i + 6]]);
    }
    TriangleMesh::new(vertices, triangles).unwrap()
}

fn grid(mesh: &TriangleMesh, delta: f64) -> Collider {
    let params = GridParams {
        mode: ResolutionMode::Explicit,
        delta: [delta, 0.8 * delta, 1.1 * delta],
        min_cells: [1; 3],
        padding: 0.3,
    };
    Collider::grid(GridSdf::of_mesh(mesh, &params).unwrap())
}

/// The same with another interpolant.
fn interpolated(collider: &Collider, interpolation: Interpolation) -> Collider {
    let Collider::Grid(field) = collider else { panic!("a grid") };
    let base = Arc::new((*field.base).clone().interpolated(interpolation));
    Collider::Grid(GridField { base, ..*field })
}

#[test]
fn mesh_has_exact_derivatives_at_every_feature() {
    for field in [brick(), brick().scaled(1.3, 0.04).unwrap()] {
        for (regime, x, smoothness) in [
            ("face", [0.9, 0.1, -0.2], Smooth),
            ("edge", [0.9, 1.1, -0.2], Smooth),
            ("vertex", [0.9, 1.1, 1.3], Smooth),
            ("deep", [0.45, 0.1, -0.2], Smooth),
            ("exactly beside an edge", [0.9, 0.6, -0.1], Kink),
            ("exactly on an edge", [0.5, 0.6, 0.1], Kink),
            ("exactly on a vertex", [0.5, 0.6, 0.7], Kink),
            ("exactly at the centre", [0.0, 0.0, 0.0], Kink),
        ] {
            check_field(&field, regime, x, smoothness);
        }
    }
    let l = Collider::mesh(MeshDistance::new(&l_shape()).unwrap());
    check_field(&l, "inside, nearest to an edge that points inwards", [0.8, 0.7, 0.1], Smooth);
    check_field(&l, "exactly where face and edge meet", [0.8, 1.0, 0.1], Kink);
}

#[test]
fn grid_has_exact_derivatives_inside_outside_and_between_cells() {
    let made = grid(&TriangleMesh::icosphere(0.8, 2).unwrap(), 0.4);
    let Collider::Grid(field) = &made else { panic!("a grid") };
    let (node, h) = (field.base.node([2, 3, 2]), field.base.spacing());
    let upper = field.base.bounds().upper;
    let numbers = [(1.0, 0.0), (1.3, 0.04)];
    for (interpolation, (s, r)) in
        Interpolation::ALL.into_iter().flat_map(|i| numbers.map(|n| (i, n)))
    {
        let made = interpolated(&made, interpolation).scaled(s, r).unwrap();
        let at = |x: Vector3<f64>| <[f64; 3]>::from(x * s);
        let inside = node + h.component_mul(&Vector3::new(0.3, 0.6, 0.45));
        let outermost = field.base.node([0, 3, 2]) + (inside - node);
        for (regime, x, smoothness) in [
            ("inside", inside, Smooth),
            ("in an outermost cell", outermost, Smooth),
            ("beyond a face", Vector3::new(upper.x + 0.2, inside.y, inside.z), Smooth),
            ("beyond an edge", Vector3::new(upper.x + 0.2, inside.y, upper.z + 0.1), Smooth),
            ("beyond a corner", upper + Vector3::new(0.2, 0.3, 0.1), Smooth),
            ("exactly between cells", Vector3::new(node.x, inside.y, inside.z), Kink),
            ("exactly on a node", node, Kink),
            ("exactly on the boundary", Vector3::new(upper.x, inside.y, inside.z), Kink),
        ] {
            check_field(&made, regime, at(x), smoothness);
        }
    }
}

#[test]
fn grid_is_continuous_across_cells_and_its_boundary() {
    let made = grid(&l_shape(), 0.25);
    let Collider::Grid(field) = &made else { panic!("a grid") };
    let (node, upper) = (field.base.node([3, 4, 2]), field.base.bounds().upper);
    let off = node + Vector3::new(0.0, 0.05, 0.03);
    for made in Interpolation::ALL.map(|i| interpolated(&made, i)) {
        for x in [node, off, Vector3::new(upper.x, 0.3, 0.2), upper] {
            for step in [Vector3::x(), Vector3::repeat(1.0)] {
                let jump = made.phi(&(x + step * 1e-9)) - made.phi(&(x - step * 1e-9));
                assert!(jump.abs() < 1e-8, "{x:?}: {jump}");
            }
        }
    }
}

#[test]
fn gradient_jumps_across_trilinear_cells_and_not_across_tricubic_ones() {
    let made = grid(&TriangleMesh::icosphere(0.8, 2).unwrap(), 0.25);
    let Collider::Grid(field) = &made else { panic!("a grid") };
    let [nx, ny, nz] = field.base.cells();
    let largest = |interpolation| {
        let made = interpolated(&made, interpolation);
        let h = field.base.spacing();
        let jump = |(i, j, k): (usize, usize, usize)| {
            let x = field.base.node([i, j, k]) + Vector3::new(0.0, 0.4 * h.y, 0.7 * h.z);
            let step = Vector3::x() * 1e-9;
            (made.field(&(x + step)).gradient - made.field(&(x - step)).gradient).norm()
        };
        // The first and the last are faces of outermost cells, with an extrapolated node.
        let faces =
            (1..nx).flat_map(|i| (0..ny).flat_map(move |j| (0..nz).map(move |k| (i, j, k))));
        faces.map(jump).fold(0.0, f64::max)
    };
    assert!(largest(Interpolation::Trilinear) > 0.1);
    assert!(largest(Interpolation::Tricubic) < 1e-6);
}

#[test]
fn tricubic_grid_is_exact_on_linear_and_but_for_outermost_cells_on_quadratic_functions() {
    let made = grid(&l_shape(), 0.25);
    let Collider::Grid(field) = &made else { panic!("a grid") };
    let base = &field.base;
    let [nx, ny, nz] = base.nodes();
    let of = |f: &dyn Fn(Vector3<f64>) -> f64| {
        let node = |n: usize| base.node([n / (ny * nz), n / nz % ny, n % nz]);
        let values = (0..nx * ny * nz).map(|n| f(node(n))).collect();
        base.with_values(values).unwrap().interpolated(Interpolation::Tricubic)
    };
    let linear = |x: Vector3<f64>| 0.3 + x.dot(&Vector3::new(0.2, -1.0, 0.4));
    let bilinear = |x: Vector3<f64>| linear(x) + x.x * x.x - 0.7 * x.y * x.z + 0.4 * x.z * x.z;
    let (bounds, h) = (base.bounds(), base.spacing());
    let inner = |x: &Vector3<f64>| {
        (0..3).all(|i| (x[i] - bounds.lower[i]).min(bounds.upper[i] - x[i]) > h[i])
    };
    let (flat, curved) = (of(&linear), of(&bilinear));
    for x in random_points(2000, 1.5).iter().filter(|x| bounds.distance(x) == 0.0) {
        assert!((flat.phi(x) - linear(*x)).abs() < 1e-13, "{x:?}");
        if inner(x) {
            assert!((curved.phi(x) - bilinear(*x)).abs() < 1e-13, "{x:?}");
        }
    }
}

#[test]
fn tricubic_grid_of_one_cell_is_trilinear() {
    let one = GridParams { delta: [1e6; 3], min_cells: [1; 3], ..GridParams::default() };
    let made = Collider::grid(GridSdf::of_mesh(&l_shape(), &one).unwrap());
    let cubic = interpolated(&made, Interpolation::Tricubic);
    for x in random_points(200, 1.5) {
        let (a, b) = (made.field(&x), cubic.field(&x));
        assert!((a.phi - b.phi).abs() < 1e-14 && (a.gradient - b.gradient).norm() < 1e-13, "{x:?}");
    }
}

#[test]
fn grid_of_exact_distances_is_exact_at_its_nodes() {
    let mesh = l_shape();
    let exact = Collider::mesh(MeshDistance::new(&mesh).unwrap());
    let made = grid(&mesh, 0.25);
    let Collider::Grid(field) = &made else { panic!("a grid") };
    let [nx, ny, nz] = field.base.nodes();
    for (i, j, k) in (0..nx * ny * nz).map(|n| (n / (ny * nz), n / nz % ny, n % nz)) {
        let x = field.base.node([i, j, k]);
        let error = field.base.values()[(i * ny + j) * nz + k] - exact.phi(&x);
        assert!(error.abs() < 1e-14, "node {i} {j} {k}: {error}");
        assert!((made.phi(&x) - exact.phi(&x)).abs() < 1e-14);
    }
}

/// Directions that hit faces, edges and vertices at random.
fn random_points(count: usize, reach: f64) -> Vec<Vector3<f64>> {
    let mut state = 7u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * 2.0 * reach
    };
    (0..count).map(|_| Vector3::new(next(), next(), next())).collect()
}

#[test]
fn distance_to_the_mesh_of_a_box_is_that_of_the_box() {
    let exact = Collider::cuboid(Vector3::zeros(), Vector3::new(0.5, 0.6, 0.7)).unwrap();
    for x in random_points(2000, 1.5) {
        let (a, b) = (brick().field(&x), exact.field(&x));
        assert!((a.phi - b.phi).abs() < 1e-14, "{x:?}: {} against {}", a.phi, b.phi);
        assert!((a.gradient - b.gradient).norm() < 1e-12, "{x:?}");
    }
}

#[test]
fn sphere_on_a_grid_converges_at_second_order_and_tricubic_at_third() {
    let exact = Collider::sphere(Vector3::zeros(), 0.8).unwrap();
    let mesh = MeshDistance::new(&TriangleMesh::icosphere(0.8, 2).unwrap()).unwrap();
    let points: Vec<_> = random_points(4000, 1.0);
    let shell: Vec<_> = points.iter().filter(|x| (x.norm() - 0.8).abs() < 0.15).collect();
    let error = |interpolation: Interpolation, delta: f64| {
        let params = GridParams {
            mode: ResolutionMode::Explicit,
            delta: [delta; 3],
            min_cells: [1; 3],
            padding: 0.4,
        };
        let grid = GridSdf::of_distance(&mesh, &params).unwrap();
        let [nx, ny, nz] = grid.nodes();
        let node = |n: usize| grid.node([n / (ny * nz), n / nz % ny, n % nz]);
        let values = (0..nx * ny * nz).map(|n| exact.phi(&node(n))).collect();
        let made = grid.with_values(values).unwrap().interpolated(interpolation);
        let made = Collider::grid(made);
        let mean = |f: &dyn Fn(&Vector3<f64>) -> f64| {
            (shell.iter().map(|x| f(x).powi(2)).sum::<f64>() / shell.len() as f64).sqrt()
        };
        let gradient = |x: &Vector3<f64>| (made.field(x).gradient - exact.field(x).gradient).norm();
        [mean(&|x| made.phi(x) - exact.phi(x)), mean(&gradient)]
    };
    // Values, then gradients.
    for (interpolation, orders) in
        [(Interpolation::Trilinear, [2.0, 1.0]), (Interpolation::Tricubic, [3.0, 2.0])]
    {
        let (coarse, fine) = (error(interpolation, 0.1), error(interpolation, 0.05));
        for i in 0..2 {
            let order = (coarse[i] / fine[i]).log2();
            let (c, f) = (coarse[i], fine[i]);
            assert!(
                (order - orders[i]).abs() < 0.3,
                "{interpolation:?} {i}: {order}: {c:.2e}, {f:.2e}"
            );
        }
    }
}

#[test]
fn slope_bound_of_a_grid_holds_between_any_two_points() {
    for interpolation in Interpolation::ALL {
        slope_bound_holds(&interpolated(&grid(&l_shape(), 0.3), interpolation));
    }
}

fn slope_bound_holds(made: &Collider) {
    let Collider::Grid(field) = made else { panic!("a grid") };
    let points = random_points(600, 2.5);
    for (x, y) in points.iter().zip(points.iter().skip(1)) {
        let slope = (made.phi(x) - made.phi(y)).abs() / (x - y).norm();
        assert!(slope <= field.base.steepest() + 1e-12, "{slope}");
    }
    let largest = points.iter().map(|x| made.field(x).gradient.norm()).fold(0.0, f64::max);
    assert!(largest <= field.base.steepest());
}

fn every_collider() -> Vec<Collider> {
    let half = Vector3::new(0.5, 0.6, 0.7);
    vec![
        Collider::half_space(Vector3::new(0.3, -0.2, 1.0), 0.02).unwrap(),
        Collider::sphere(Vector3::new(0.1, 0.0, -0.2), 0.8).unwrap(),
        Collider::rounded_cuboid(Vector3::new(0.1, 0.0, -0.2), half, 0.2).unwrap(),
        grid(&l_shape(), 0.3),
        grid(&l_shape(), 0.3).scaled(0.7, 0.05).unwrap(),
        interpolated(&grid(&l_shape(), 0.3), Interpolation::Tricubic).scaled(0.7, 0.05).unwrap(),
        brick(),
        Collider::mesh(MeshDistance::new(&l_shape()).unwrap()).scaled(1.2, 0.1).unwrap(),
    ]
}

#[test]
fn what_cannot_be_reached_is_not_reached() {
    let points = random_points(300, 2.5);
    for collider in every_collider() {
        let (mut out_of_reach, mut in_reach) = (0, 0);
        for (center, away) in points.iter().zip(points.iter().rev()) {
            let (radius, threshold) = (0.4, 0.03);
            let x = center + away.normalize() * radius;
            if collider.may_reach(center, radius, threshold) {
                in_reach += 1;
            } else {
                out_of_reach += 1;
                assert!(collider.phi(&x) >= threshold, "{collider:?} at {x:?}");
                assert!(collider.phi(center) >= threshold, "{collider:?} at {center:?}");
            }
            if collider.phi(&x) < threshold {
                assert!(collider.may_reach(center, radius, threshold), "{collider:?} at {x:?}");
            }
        }
        assert!(out_of_reach > 5 && in_reach > 5, "{collider:?}: {out_of_reach}, {in_reach}");
    }
}

#[test]
fn distance_beyond_the_bounds_is_at_least_the_threshold() {
    for collider in every_collider() {
        for threshold in [-0.1, 0.0, 0.2] {
            let Some(bounds) = collider.bounds(threshold) else {
                assert!(matches!(collider, Collider::HalfSpace(_)));
                continue;
            };
            for x in random_points(500, 2.5) {
                if bounds.distance(&x) > 0.0 {
                    assert!(collider.phi(&x) >= threshold - 1e-15, "{collider:?} at {x:?}");
                }
            }
        }
    }
}

#[test]
fn scaling_keeps_the_gradient_and_rounding_moves_the_surface() {
    for base in [grid(&l_shape(), 0.3), brick()] {
        let made = base.scaled(1.4, 0.07).unwrap();
        for x in random_points(100, 1.5) {
            let (a, b) = (base.field(&x), made.field(&(x * 1.4)));
            assert!((b.phi - (1.4 * a.phi - 0.07)).abs() < 1e-14);
            assert!((b.gradient - a.gradient).norm() < 1e-13);
        }
        for (scale, rounding) in [(0.0, 0.0), (-1.0, 0.0), (1.0, -0.1), (f64::NAN, 0.0)] {
            assert!(base.scaled(scale, rounding).is_err());
        }
    }
}

#[test]
fn names_and_units_of_dimensions_come_in_pairs() {
    for collider in every_collider() {
        assert_eq!(collider.dimension_names().len(), collider.dimension_units().len());
        assert_eq!(collider, collider.with_dimensions(&collider.dimensions()));
    }
}

#[test]
fn pullback_is_the_transposed_derivative_by_point_and_dimensions() {
    const N: usize = 3 + DIMENSIONS;
    for collider in every_collider() {
        for x in random_points(40, 1.5) {
            let (bar, d) = ((0.7, Vector3::new(0.3, -0.5, 0.2)), collider.dimensions());
            let seeded = collider
                .with_dimensions(&std::array::from_fn(|j| Jet::<N>::variable(d[j], 3 + j)))
                .field(&Vector3::from_fn(|i, _| Jet::variable(x[i], i)));
            let (by_point, by_dimension) = collider.pull_field(&x, bar);
            for i in 0..3 + collider.dimension_names().len() {
                let g = seeded.gradient.map(|g| g.eps[i]);
                let exact = seeded.phi.eps[i] * bar.0 + g.dot(&bar.1);
                let found = if i < 3 { by_point[i] } else { by_dimension[i - 3] };
                assert!((found - exact).abs() < 1e-12, "{collider:?}: {i}: {found}, {exact}");
            }
        }
    }
}
