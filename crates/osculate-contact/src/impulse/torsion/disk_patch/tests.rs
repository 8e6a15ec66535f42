use super::super::ellipsoid;
use super::*;
use crate::impulse::test_problems::Problems;
use osculate_math::check::{self, Law, Smoothness};

const SIZE: usize = 11;

fn pack<T: Scalar>(x: [T; SIZE]) -> DiskPatch<T> {
    let [a, b, c, d, e, f, vx, vy, w, budget, radius] = x;
    let block = Matrix3::new(a, b, c, b, d, e, c, e, f);
    DiskPatch { block, velocity: Vector3::new(vx, vy, w), budget, radius }
}

fn unpack(p: &DiskPatch) -> [f64; SIZE] {
    let (w, b) = (&p.block, &p.velocity);
    let [a, c, d, e, f, g] = [w[(0, 0)], w[(0, 1)], w[(0, 2)], w[(1, 1)], w[(1, 2)], w[(2, 2)]];
    [a, c, d, e, f, g, b.x, b.y, b.z, p.budget, p.radius]
}

/// A random patch whose stick impulse is `ratio` times what the surface has in its direction.
fn random(problems: &mut Problems, ratio: f64) -> DiskPatch {
    let (budget, radius) = (problems.decades(-3.0, 3.0), problems.decades(-3.0, 1.0));
    let (size, wishart) = (problems.decades(-3.0, 3.0), problems.wishart());
    let scale = Vector3::new(1.0, 1.0, 1.0 / radius);
    let block = Matrix3::from_fn(|i, j| wishart[(i, j)] * size * scale[i] * scale[j]);
    let direction = problems.vector3();
    let surface = limit_surface::gradient(&direction);
    let shape = Vector3::new(1.0, 1.0, radius) * (budget * ratio);
    let velocity = block * surface.component_mul(&shape);
    DiskPatch { block, velocity, budget, radius }
}

struct Friction;
impl Law<SIZE, 6> for Friction {
    fn value<T: Scalar>(&self, x: [T; SIZE]) -> [T; 6] {
        let s = pack(x.map(|x| x.re())).solve().unwrap().lift(&pack(x)).unwrap();
        let (r, u) = (s.impulse, s.slip);
        [r.x, r.y, r.z, u.x, u.y, u.z]
    }
}

#[test]
fn random_patches_are_solved_to_rounding() {
    let mut problems = Problems::new(51);
    let (mut worst, mut steps, mut most) = (0.0_f64, 0, 0);
    for _ in 0..5000 {
        let ratio = problems.decades(-1.0, 4.0);
        let patch = random(&mut problems, ratio);
        let s = patch.solve().unwrap();
        assert_eq!(s.regime == Regime::Stick, ratio <= 1.0, "{ratio}");
        worst = worst.max(patch.residual(&s));
        steps += s.steps;
        most = most.max(s.steps);
    }
    println!("worst residual {worst:e}, steps: mean {:.1}, most {most}", steps as f64 / 5000.0);
    assert!(worst <= 1e-12, "{worst:e}");
}

#[test]
fn stick_is_left_exactly_on_the_surface() {
    let mut problems = Problems::new(52);
    for _ in 0..300 {
        for (ratio, regime) in [(1.0 - 1e-12, Regime::Stick), (1.0 + 1e-12, Regime::Slide)] {
            let s = random(&mut problems, ratio).solve().unwrap();
            assert_eq!(s.regime, regime);
        }
    }
}

#[test]
fn no_impulse_on_the_surface_dissipates_more() {
    let mut problems = Problems::new(53);
    for _ in 0..100 {
        let patch = random(&mut problems, 3.0);
        let s = patch.solve().unwrap();
        let power = s.impulse.dot(&s.slip);
        for _ in 0..30 {
            let other = friction(&problems.vector3(), patch.budget, patch.radius);
            assert!(power <= -other.dot(&s.slip) + 1e-12 * power.abs());
        }
    }
}

#[test]
fn pure_sliding_and_pure_spin_are_coulombs() {
    let block = Matrix3::from_diagonal(&Vector3::new(2.0, 2.0, 30.0));
    let patch = |velocity| DiskPatch { block, velocity, budget: 0.6, radius: 0.3 };
    let slide = patch(Vector3::new(3.0, -4.0, 0.0)).solve().unwrap();
    assert!((slide.impulse - Vector3::new(-0.36, 0.48, 0.0)).norm() <= 1e-15);
    let spin = patch(Vector3::new(0.0, 0.0, 9.0)).solve().unwrap();
    assert!((spin.impulse - Vector3::new(0.0, 0.0, -0.12)).norm() <= 1e-15);
}

#[test]
fn friction_differs_from_the_ellipsoid_by_less_than_a_fifth_of_the_budget() {
    let mut problems = Problems::new(54);
    let mut worst = 0.0_f64;
    for _ in 0..200 {
        let patch = random(&mut problems, 30.0);
        let s = patch.solve().unwrap();
        let radius = patch.radius * 2.0 / 3.0;
        let e = ellipsoid(patch.block, -patch.velocity, 1.0, radius, patch.budget);
        let other = e.solve(&Vector3::zeros()).unwrap();
        let unit = Vector3::new(1.0, 1.0, 1.0 / radius) / patch.budget;
        worst = worst.max((s.impulse - other.impulse).component_mul(&unit).norm());
    }
    println!("largest difference {worst}");
    // The surfaces are 6.6 % apart; their normals turn the impulse along them too.
    assert!(worst > 0.03 && worst < 0.2, "{worst}");
}

#[test]
fn friction_and_slip_have_exact_derivatives_stuck_sliding_and_spinning() {
    let block = Matrix3::new(1.5, 0.3, -0.2, 0.3, 2.0, 0.6, -0.2, 0.6, 0.9);
    for (regime, velocity) in [
        ("stick", Vector3::new(0.2, -0.1, 0.2)),
        ("slide", Vector3::new(4.0, -3.0, 0.5)),
        ("spin", Vector3::new(0.5, 0.6, 8.0)),
        ("mixed", Vector3::new(3.0, 1.0, -4.0)),
    ] {
        let patch = DiskPatch { block, velocity, budget: 0.8, radius: 0.9 };
        check::gradients(&Friction, regime, unpack(&patch), [2e-3; SIZE], Smoothness::Smooth, 1e-5);
    }
}

#[test]
fn tangent_pullback_and_lift_are_one_derivative() {
    let mut problems = Problems::new(55);
    let mut worst = 0.0_f64;
    for i in 0..300 {
        let ratio = problems.decades(-0.5, 2.0);
        let mut patch = random(&mut problems, ratio);
        if i % 10 == 0 {
            patch.budget = 0.0;
        }
        let s = patch.solve().unwrap();
        let x = unpack(&patch);
        let by = problems.vector3().component_div(&Vector3::new(1.0, 1.0, patch.radius));
        let reverse = unpack(&s.pullback(&patch, &by).unwrap());
        let unit = |k: usize| if k == 9 { x[k].max(1.0) } else { x[k].abs() };
        let mut pairs = Vec::new();
        for (k, reverse) in reverse.iter().enumerate() {
            let change = pack(std::array::from_fn(|j| if j == k { unit(k) } else { 0.0 }));
            let (dr, _) = s.tangent(&patch, &change).unwrap();
            // Off-diagonal entries of a symmetric change count twice.
            let twice = if [1, 2, 4].contains(&k) { 2.0 } else { 1.0 };
            let size = dr.component_div(&Vector3::new(1.0, 1.0, patch.radius)).norm();
            pairs.push((by.dot(&dr), reverse * twice * unit(k), size));
        }
        let scale = pairs.iter().map(|p| p.2).fold(f64::MIN_POSITIVE, f64::max);
        let length = by.component_mul(&Vector3::new(1.0, 1.0, patch.radius)).norm();
        for (forward, reverse, _) in pairs {
            worst = worst.max((forward - reverse).abs() / (scale * length));
        }
    }
    println!("worst disagreement {worst:e}");
    assert!(worst <= 1e-10, "{worst:e}");
}

#[test]
fn hostile_numbers_are_refused() {
    let good = random(&mut Problems::new(56), 2.0);
    for bad in [
        DiskPatch { budget: -1.0, ..good },
        DiskPatch { radius: 0.0, ..good },
        DiskPatch { velocity: Vector3::repeat(f64::NAN), ..good },
        DiskPatch { block: -good.block, ..good },
        DiskPatch { block: Matrix3::zeros(), ..good },
    ] {
        assert!(bad.solve().is_err(), "{bad:?}");
    }
    let still = DiskPatch { velocity: Vector3::zeros(), ..good }.solve().unwrap();
    assert_eq!((still.impulse, still.regime), (Vector3::zeros(), Regime::Stick));
}
