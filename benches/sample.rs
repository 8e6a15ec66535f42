//! One contact sample: force and 3×3 derivative through the generic law, against the same written by hand in f64.
//!
//! A half-space, no surface normals, the default schedule, in the smooth part of the ramp and below the falloff
//! speed (the longest branches). Bar: ≤ 1.5 × by hand. `cargo bench --bench sample`.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

mod common;

use common::interleaved;
use divan::{Bencher, black_box};
use nalgebra::{Matrix3, Vector3};
use num_dual::{Dual64, DualSVec64};
use osculate_contact::{ContactLaw, PairParams, Sample};
use osculate_geometry::collider::Collider;
use osculate_math::{Jet, Scalar};

/// Samples a turn: enough to be timed, few enough to stay in the first cache.
const SAMPLES: usize = 256;
/// Samples that are read once a turn.
const VOLUME: usize = 40_000;
const DURATION: f64 = 1e-3;

struct Bench {
    law: ContactLaw,
    params: PairParams,
    collider: Collider,
    samples: Vec<Sample>,
}

impl Bench {
    fn new(collider: Collider) -> Self {
        Self::with_samples(collider, SAMPLES)
    }

    fn with_samples(collider: Collider, count: usize) -> Self {
        let params = PairParams {
            stiffness: 1e9,
            smoothing: 0.005,
            threshold: 0.001,
            max_alignment: 0.0,
            friction: 0.3,
            viscous_friction: 0.1,
            damping: 0.4,
            falloff_speed: 0.5,
            collider_normal: true,
        };
        let sample = |i: usize| {
            let s = i as f64;
            let position =
                Vector3::new(0.1 * s.sin(), 0.1 * s.cos(), -0.001 - 0.0005 * (0.7 * s).sin());
            let velocity = Vector3::new(0.2, -0.1, 0.3 * (0.3 * s).sin());
            Sample {
                position,
                start: position - velocity * DURATION,
                normal: None,
                duration: DURATION,
            }
        };
        let samples = (0..count).map(sample).collect();
        Self { law: ContactLaw::default(), params, collider, samples }
    }

    fn plane() -> Self {
        Self::new(Collider::half_space(Vector3::z(), 0.0).unwrap())
    }

    fn ball() -> Self {
        Self::new(Collider::sphere(Vector3::new(0.0, 0.0, -1.0), 1.01_f64.sqrt()).unwrap())
    }

    fn cuboid() -> Self {
        Self::new(Collider::cuboid(Vector3::new(0.0, 0.0, -0.3), Vector3::repeat(0.3)).unwrap())
    }

    /// Sum of the forces in one scalar, with the positions seeded by `seed`.
    fn sum<T: Scalar>(&self, seed: impl Fn(&Vector3<f64>) -> Vector3<T>) -> Vector3<T> {
        let params = self.params.map(T::from);
        let collider = self.collider.with_dimensions(&self.collider.dimensions().map(T::from));
        self.samples.iter().fold(Vector3::zeros(), |sum, s| {
            let sample = Sample {
                position: seed(&s.position),
                start: s.start.map(T::from),
                normal: None,
                duration: s.duration,
            };
            sum + self.law.total(&params, &collider, &sample)
        })
    }

    /// Force and derivative of every sample through the law as the assembly does it.
    fn generic(&self, out: &mut [(Vector3<f64>, Matrix3<f64>)]) {
        for (s, out) in self.samples.iter().zip(out) {
            let slopes = self.law.slopes(&self.params, &self.collider, s);
            *out = (slopes.traction, slopes.by_position);
        }
    }

    /// Force and derivative of every sample by hand, for a half-space.
    fn by_hand(&self, out: &mut [(Vector3<f64>, Matrix3<f64>)]) {
        let Collider::HalfSpace(plane) = self.collider else { return };
        let normal = plane.normal.normalize();
        for (s, out) in self.samples.iter().zip(out) {
            *out = by_hand(&self.params, &normal, plane.offset, s);
        }
    }
}

/// `λ_n` and `dλ_n/dφ`.
#[inline]
fn load_by_hand(p: &PairParams, phi: f64) -> (f64, f64) {
    let (eps, z) = (p.smoothing, -phi - (p.smoothing - p.threshold));
    if z <= -eps {
        (0.0, 0.0)
    } else if z >= eps {
        (p.stiffness * z, -p.stiffness)
    } else {
        let y = z / eps;
        let h = 0.1875 * eps + (0.5 + 0.375 * y - 0.0625 * y * y * y) * z;
        let slope = 0.5 + 0.75 * y - 0.25 * y * y * y;
        let curvature = 0.75 * (1.0 - y * y) / eps;
        (p.stiffness * h * slope, -p.stiffness * (slope * slope + h * curvature))
    }
}

/// Traction and its derivative by the position on a half-space: `φ⁰` does not depend on the position.
#[inline]
fn by_hand(
    p: &PairParams,
    n: &Vector3<f64>,
    offset: f64,
    s: &Sample,
) -> (Vector3<f64>, Matrix3<f64>) {
    let phi = n.dot(&s.position) - offset;
    if phi >= p.threshold {
        return (Vector3::zeros(), Matrix3::zeros());
    }
    let rate = 1.0 / s.duration;
    let moved = s.position - s.start;
    let v = moved * rate;
    let v_n = v.dot(n);
    let v_t = v - n * v_n;
    let (load, slope) = load_by_hand(p, phi);
    let (start_load, _) = load_by_hand(p, phi - n.dot(&moved));
    let square = v_t.norm_squared();
    // μ ρ'(V)/V and its derivative by V, over V
    let (friction, bend) = if square < p.falloff_speed * p.falloff_speed {
        let (speed, f) = (square.sqrt(), 1.0 / p.falloff_speed);
        let bend = if speed > 0.0 { -f * f / speed } else { 0.0 };
        ((2.0 - speed * f) * f, bend)
    } else {
        let inverse = 1.0 / square.sqrt();
        (inverse, -inverse * inverse * inverse)
    };
    let tangential = p.viscous_friction + p.friction * friction;
    let force = n * (load - start_load * p.damping * v_n) - v_t * (start_load * tangential);
    let across = start_load * rate * tangential;
    let along = slope - start_load * rate * p.damping + across;
    let bent = start_load * rate * p.friction * bend;
    let by = Matrix3::from_fn(|i, j| {
        let diagonal = if i == j { across } else { 0.0 };
        n[i] * n[j] * along - diagonal - v_t[i] * v_t[j] * bent
    });
    (force, by)
}

fn jet(v: &Vector3<f64>) -> Vector3<Jet<3>> {
    Vector3::from_fn(|i, _| Jet::variable(v[i], i))
}

/// The two must agree before their times mean anything.
fn check(bench: &Bench) {
    let mut out = [vec![Default::default(); SAMPLES], vec![Default::default(); SAMPLES]];
    bench.generic(&mut out[0]);
    bench.by_hand(&mut out[1]);
    for ((f, by), (g, hand)) in out[0].iter().zip(&out[1]) {
        assert!((f - g).norm() < 1e-12 * g.norm() && (by - hand).norm() < 1e-12 * hand.norm());
    }
}

fn ratios() {
    let bench = Bench::plane();
    check(&bench);
    let mut out = vec![(Vector3::zeros(), Matrix3::zeros()); SAMPLES];
    let mut again = out.clone();
    let [hand, generic, value] = interleaved(
        2001,
        &mut [
            &mut || bench.by_hand(black_box(&mut out)),
            &mut || bench.generic(black_box(&mut again)),
            &mut || {
                black_box(bench.sum(|v| *v));
            },
        ],
    );
    let nano = |t: f64| t / SAMPLES as f64 * 1e9;
    println!("a sample on a half-space, medians of 2001 turns of {SAMPLES}");
    println!("  force in f64 through the law      {:6.1} ns", nano(value));
    println!("  force and 3×3 by hand             {:6.1} ns", nano(hand));
    println!(
        "  force and 3×3 through the law     {:6.1} ns, {:.2} × by hand (bar 1.5)",
        nano(generic),
        generic / hand
    );
}

/// More samples than caches hold, once each: what `benches/beside_ipctk.py` sets beside another toolkit.
fn at_volume() {
    let bench = Bench::with_samples(Collider::half_space(Vector3::z(), 0.0).unwrap(), VOLUME);
    let mut out = vec![(Vector3::zeros(), Matrix3::zeros()); VOLUME];
    let [value, generic] = interleaved(
        101,
        &mut [
            &mut || {
                black_box(bench.sum(|v| *v));
            },
            &mut || bench.generic(black_box(&mut out)),
        ],
    );
    let nano = |t: f64| t / VOLUME as f64 * 1e9;
    println!("{VOLUME} samples on a half-space, medians of 101 turns");
    println!("  force in f64                      {:6.1} ns", nano(value));
    println!("  force and 3×3                     {:6.1} ns", nano(generic));
}

#[divan::bench(args = ["plane", "ball", "cuboid"])]
fn f64_value(bencher: Bencher<'_, '_>, name: &str) {
    let b = named(name);
    bencher.bench(|| b.sum(|v| *v));
}

#[divan::bench(args = ["plane", "ball", "cuboid"])]
fn dual64(bencher: Bencher<'_, '_>, name: &str) {
    let b = named(name);
    bencher.bench(|| b.sum(|v| Vector3::new(Dual64::new(v.x, 1.0), v.y.into(), v.z.into())));
}

#[divan::bench(args = ["plane", "ball", "cuboid"])]
fn dual_vector_3(bencher: Bencher<'_, '_>, name: &str) {
    let b = named(name);
    bencher.bench(|| b.sum(|v| Vector3::from_fn(|i, _| DualSVec64::<3>::from(v[i]).derivative(i))));
}

#[divan::bench(args = ["plane", "ball", "cuboid"])]
fn dual_vector_6(bencher: Bencher<'_, '_>, name: &str) {
    let b = named(name);
    bencher.bench(|| b.sum(|v| Vector3::from_fn(|i, _| DualSVec64::<6>::from(v[i]).derivative(i))));
}

#[divan::bench(args = ["plane", "ball", "cuboid"])]
fn jet_3(bencher: Bencher<'_, '_>, name: &str) {
    let b = named(name);
    bencher.bench(|| b.sum(jet));
}

#[divan::bench(args = ["plane", "ball", "cuboid"])]
fn jet_6(bencher: Bencher<'_, '_>, name: &str) {
    let b = named(name);
    bencher.bench(|| b.sum(|v| Vector3::from_fn(|i, _| Jet::<6>::variable(v[i], i))));
}

#[divan::bench(args = ["plane", "ball", "cuboid"])]
fn force_and_derivative(bencher: Bencher<'_, '_>, name: &str) {
    let b = named(name);
    let mut out = vec![(Vector3::zeros(), Matrix3::zeros()); SAMPLES];
    bencher.bench_local(|| b.generic(black_box(&mut out)));
}

fn named(name: &str) -> Bench {
    match name {
        "plane" => Bench::plane(),
        "ball" => Bench::ball(),
        _ => Bench::cuboid(),
    }
}

fn main() {
    if std::env::args().skip(1).all(|a| a.starts_with('-')) {
        ratios();
        at_volume();
    }
    divan::main();
}
