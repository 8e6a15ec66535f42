//! Friction impulses of one contact: a million random disks, and the time of every law.
//!
//! Bars: optimality conditions within 1e-12, at most eight Newton steps in 99.9 %, none unsolved, derivative within 1e-8 of differences,
//! at most 100 ns a disk. `cargo bench --bench impulse`.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its problem is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

mod common;

use common::interleaved;
use divan::{Bencher, black_box};
use nalgebra::{Matrix2, Matrix3, SMatrix, SVector, Vector2, Vector3};
use osculate_contact::impulse::torsion::DiskPatch;
use osculate_contact::impulse::{Bisection, Cone, Disk, Ellipsoid, Regime, radial, secular};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const MANY: usize = 1_000_000;
/// Problems a turn of a timing.
const TURN: usize = 4096;

struct Problems(StdRng);

impl Problems {
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn decades(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.uniform(low, high))
    }

    fn direction(&mut self) -> Vector2<f64> {
        let (y, x) = self.uniform(0.0, std::f64::consts::TAU).sin_cos();
        Vector2::new(x, y)
    }

    /// Anisotropy to `10^decades`, sizes over twelve decades, stick impulses of 1 % to 10⁴ radii.
    fn disk(&mut self, decades: f64) -> Disk {
        let (size, anisotropy) = (self.decades(-6.0, 6.0), self.decades(0.0, decades));
        let e = self.direction();
        let f = Vector2::new(-e.y, e.x);
        let block = e * e.transpose() * size + f * f.transpose() * (size / anisotropy);
        let radius = self.decades(-6.0, 6.0);
        let stick = self.direction() * (radius * self.decades(-2.0, 4.0));
        Disk { block, drive: block * stick, radius }
    }

    fn contact<const N: usize>(&mut self) -> (SMatrix<f64, N, N>, SVector<f64, N>) {
        let columns = SMatrix::<f64, N, 8>::from_fn(|_, _| self.uniform(-1.0, 1.0));
        let velocity = SVector::from_fn(|_, _| self.uniform(-1.0, 1.0));
        (columns * columns.transpose(), velocity)
    }

    /// A contact that closes.
    fn cone(&mut self) -> Cone {
        let (block, mut velocity) = self.contact::<3>();
        velocity.x = -velocity.x.abs();
        Cone { block, velocity, friction: 0.5 }
    }
}

fn problems() -> Problems {
    Problems(StdRng::seed_from_u64(0))
}

/// Difference of tangent and central differences, relative to the radius times the anisotropy.
fn difference(disk: &Disk, k: usize) -> Option<f64> {
    let start = Vector2::zeros();
    let solution = disk.solve(&start).unwrap();
    let stick = disk.block.try_inverse()? * disk.drive;
    if (stick.norm() / disk.radius - 1.0).abs() < 0.1 {
        return None;
    }
    let anisotropy = disk.block.norm_squared() / disk.block.determinant();
    let zero = Disk { block: Matrix2::zeros(), drive: Vector2::zeros(), radius: 0.0 };
    let size = disk.block.norm();
    let change = match k {
        0 => Disk { block: Matrix2::new(size, 0.0, 0.0, 0.0), ..zero },
        1 => Disk { block: Matrix2::new(0.0, size, size, 0.0), ..zero },
        2 => Disk { drive: Vector2::new(disk.drive.norm(), 0.0), ..zero },
        _ => Disk { radius: disk.radius, ..zero },
    };
    let at = |t: f64| {
        let moved = Disk {
            block: disk.block + change.block * t,
            drive: disk.drive + change.drive * t,
            radius: disk.radius + change.radius * t,
        };
        moved.solve(&start).unwrap().impulse
    };
    let slope = |h: f64| (at(h) - at(-h)) / (2.0 * h);
    let h = 1e-3 / anisotropy;
    let numeric = (slope(h / 2.0) * 4.0 - slope(h)) / 3.0;
    let (exact, _) = solution.tangent(disk, &change);
    Some((exact - numeric).norm() / (anisotropy * disk.radius))
}

fn million() {
    let mut problems = problems();
    let (mut worst, mut long, mut most, mut slides) = (0.0_f64, 0, 0, 0);
    for _ in 0..MANY {
        let disk = problems.disk(8.0);
        let s = disk.solve(&Vector2::zeros()).unwrap();
        worst = worst.max(disk.residual(&s));
        long += usize::from(s.steps > secular::NEWTON_STEPS);
        most = most.max(s.steps);
        slides += usize::from(s.regime == Regime::Slide);
    }
    let share = 100.0 * (MANY - long) as f64 / MANY as f64;
    println!("{MANY} disks, anisotropy to 1e8, {slides} slide, none unsolved");
    println!("  optimality conditions within     {worst:8.1e} (bar 1e-12)");
    println!("  at most eight steps in           {share:8.4} % (bar 99.9), most {most}");
    let found = (0..MANY / 10).filter_map(|i| difference(&problems.disk(2.0), i % 4));
    let worst = found.fold(0.0, f64::max);
    println!(
        "  tangent against differences      {worst:8.1e} (bar 1e-8; of the radius times the anisotropy, to 100)"
    );
}

/// Calls `f` on every item, for its time.
fn each<T, R>(items: &[T], f: impl Fn(&T) -> R) {
    for item in items {
        black_box(f(item));
    }
}

fn times() {
    let mut problems = problems();
    let disks: Vec<Disk> = (0..TURN).map(|_| problems.disk(8.0)).collect();
    let solved: Vec<_> = disks.iter().map(|d| (*d, d.solve(&Vector2::zeros()).unwrap())).collect();
    let cones: Vec<Cone> = (0..TURN).map(|_| problems.cone()).collect();
    let by = Vector2::new(0.3, -0.7);
    let median = interleaved(
        101,
        &mut [
            &mut || each(&disks, |d| d.solve(&Vector2::zeros())),
            &mut || each(&solved, |(d, s)| d.solve(&s.impulse)),
            &mut || each(&solved, |(d, s)| s.tangent(d, d)),
            &mut || each(&solved, |(d, s)| s.pullback(d, &by)),
            &mut || each(&cones, Cone::solve),
        ],
    )
    .map(|t| t / TURN as f64 * 1e9);
    println!("medians of 101 turns of {TURN}");
    for (name, time) in [
        "disk from rest (bar 100 ns)",
        "disk from its solution",
        "tangent of a disk",
        "pullback of a disk",
        "cone",
    ]
    .into_iter()
    .zip(median)
    {
        println!("  {name:<32} {time:6.1} ns");
    }
}

#[divan::bench]
fn radial_scaling(bencher: Bencher<'_, '_>) {
    let disk = problems().disk(2.0);
    let radii = radial::Radii::equal(disk.radius);
    let slip = -disk.drive;
    bencher.bench(|| radial::update(black_box(&disk.block), &radii, &Vector2::zeros(), &slip));
}

#[divan::bench]
fn bisection(bencher: Bencher<'_, '_>) {
    let cone = problems().cone();
    bencher.bench(|| Bisection::Plain.solve(black_box(&cone), &Vector3::zeros()));
}

#[divan::bench]
fn every_solution_of_a_cone(bencher: Bencher<'_, '_>) {
    let cone = problems().cone();
    bencher.bench(|| black_box(&cone).solutions());
}

#[divan::bench(consts = [2, 3, 5])]
fn ellipsoid<const N: usize>(bencher: Bencher<'_, '_>) {
    let (block, drive) = problems().contact::<N>();
    let contact = Ellipsoid { block, drive, coefficients: SVector::repeat(0.5), load: 0.1 };
    bencher.bench(|| black_box(&contact).solve(&SVector::zeros()));
}

#[divan::bench]
fn uniform_disk(bencher: Bencher<'_, '_>) {
    let (block, velocity): (Matrix3<f64>, Vector3<f64>) = problems().contact::<3>();
    let patch = DiskPatch { block, velocity, budget: 0.05, radius: 0.5 };
    bencher.bench(|| black_box(&patch).solve());
}

fn main() {
    if std::env::args().skip(1).all(|a| a.starts_with('-')) {
        million();
        times();
    }
    divan::main();
}
