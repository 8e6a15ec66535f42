//! Building a grid of exact distances: 20,000 triangles, 128³ cells, one thread and two.
//!
//! `cargo bench --bench sdf`. Also one query of a grid and of a mesh, which is what a contact sample pays.

#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

use divan::{Bencher, black_box};
use nalgebra::Vector3;
use osculate_geometry::collider::Collider;
use osculate_geometry::distance::MeshDistance;
use osculate_geometry::grid::{GridParams, GridSdf};
use osculate_geometry::mesh::TriangleMesh;

fn main() {
    divan::main();
}

/// 128 cells along each axis.
fn params() -> GridParams {
    GridParams { delta: [1e6; 3], min_cells: [128; 3], ..GridParams::default() }
}

/// 20,480 triangles, all equally far from the middle: the worst case of a search.
fn ball() -> TriangleMesh {
    TriangleMesh::icosphere(0.1, 5).unwrap()
}

/// 20,000 triangles.
fn torus() -> TriangleMesh {
    let (n, m) = (200, 50);
    let at = |i: usize, j: usize| {
        let turn = |k: usize, of: usize| (std::f64::consts::TAU * k as f64 / of as f64).sin_cos();
        let ((sa, ca), (sb, cb)) = (turn(i, n), turn(j, m));
        Vector3::new((0.1 + 0.04 * cb) * ca, (0.1 + 0.04 * cb) * sa, 0.04 * sb)
    };
    let vertices = (0..n * m).map(|k| at(k / m, k % m)).collect();
    let quad = |k: usize| {
        let (i, j) = (k / m, k % m);
        let corner = |a: usize, b: usize| ((i + a) % n) * m + (j + b) % m;
        let (a, b, c, d) = (corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
        [[a, b, c], [a, c, d]]
    };
    TriangleMesh::new(vertices, (0..n * m).flat_map(quad).collect()).unwrap()
}

#[divan::bench(args = [1, 2], sample_count = 3, sample_size = 1)]
fn build_ball(bencher: Bencher<'_, '_>, threads: usize) {
    build(bencher, threads, &ball());
}

#[divan::bench(args = [1, 2], sample_count = 3, sample_size = 1)]
fn build_torus(bencher: Bencher<'_, '_>, threads: usize) {
    build(bencher, threads, &torus());
}

fn build(bencher: Bencher<'_, '_>, threads: usize, mesh: &TriangleMesh) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    bencher.bench_local(|| pool.install(|| GridSdf::of_mesh(mesh, &params()).unwrap()));
}

/// Points near the surface, as contact samples are.
fn samples() -> Vec<Vector3<f64>> {
    let mesh = torus();
    mesh.vertices().iter().enumerate().map(|(i, x)| x * (0.99 + 2e-6 * i as f64)).collect()
}

#[divan::bench]
fn query_grid(bencher: Bencher<'_, '_>) {
    query(bencher, &Collider::grid(GridSdf::of_mesh(&torus(), &params()).unwrap()));
}

#[divan::bench]
fn query_mesh(bencher: Bencher<'_, '_>) {
    query(bencher, &Collider::mesh(MeshDistance::new(&torus()).unwrap()));
}

/// 10,000 values and gradients.
fn query(bencher: Bencher<'_, '_>, collider: &Collider) {
    let samples = samples();
    bencher.bench_local(|| samples.iter().map(|x| collider.field(black_box(x)).phi).sum::<f64>());
}
