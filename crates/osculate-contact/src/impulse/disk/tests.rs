use super::*;
use crate::impulse::test_problems::Problems;
use nalgebra::{SVector, Vector3};
use num_dual::{Dual64, DualSVec, implicit_derivative_vec};
use osculate_math::Jet;
use osculate_math::check::{self, Law, Smoothness};

/// Problems of the long tests.
const MANY: usize = 100_000;

fn pack<T: Scalar>(x: [T; 6]) -> Disk<T> {
    let [xx, xy, yy, bx, by, radius] = x;
    Disk { block: Matrix2::new(xx, xy, xy, yy), drive: Vector2::new(bx, by), radius }
}

fn unpack(d: &Disk) -> [f64; 6] {
    [d.block[(0, 0)], d.block[(0, 1)], d.block[(1, 1)], d.drive.x, d.drive.y, d.radius]
}

/// A problem of order one: anisotropy 4, drive along (cos, sin) of `angle` and such that the stick impulse is `ratio` radii.
fn ordinary(angle: f64, ratio: f64) -> Disk {
    let block = Matrix2::new(2.0, 0.6, 0.6, 0.9);
    let drive = block * Vector2::new(angle.cos(), angle.sin()) * (0.7 * ratio);
    Disk { block, drive, radius: 0.7 }
}

struct Impulse;
impl Law<6, 3> for Impulse {
    fn value<T: Scalar>(&self, x: [T; 6]) -> [T; 3] {
        let real = pack(x.map(|x| x.re()));
        let s = real.solve(&Vector2::zeros()).unwrap().lift(&pack(x));
        [s.impulse.x, s.impulse.y, s.multiplier]
    }
}

#[test]
fn random_problems_satisfy_the_optimality_conditions_within_eight_newton_steps() {
    let mut problems = Problems::new(1);
    let (mut long, mut worst, mut most) = (0, 0.0_f64, 0);
    let (mut sticks, mut slides) = (0, 0);
    for _ in 0..MANY {
        let (disk, old) = problems.disk(8.0);
        let s = disk.solve(&old).unwrap();
        worst = worst.max(disk.residual(&s));
        most = most.max(s.steps);
        long += usize::from(s.steps > secular::NEWTON_STEPS);
        sticks += usize::from(s.regime == Regime::Stick);
        slides += usize::from(s.regime == Regime::Slide);
    }
    println!(
        "worst residual {worst:e}, most steps {most}, above 8: {long}, {sticks} stick, {slides} slide"
    );
    assert!(worst <= 1e-12, "residual {worst:e}");
    assert!(long * 1000 <= MANY, "{long} of {MANY} took more than eight steps");
    assert!(sticks > MANY / 10 && slides > MANY / 10);
}

#[test]
fn an_optimal_impulse_is_returned_bit_by_bit() {
    let mut problems = Problems::new(2);
    let mut refined = 0;
    for _ in 0..MANY {
        let (disk, old) = problems.disk(8.0);
        let mut x = disk.solve(&old).unwrap();
        let mut again = disk.solve(&x.impulse).unwrap();
        // A stick impulse is as exact as the slip it started from, whose rounding is that of the old impulse: one more sweep refines it.
        if x.regime == Regime::Stick && !again.kept {
            refined += 1;
            x = again;
            again = disk.solve(&x.impulse).unwrap();
        }
        assert!(again.kept, "{disk:?}: {x:?} became {again:?}");
        assert_eq!(again.impulse, x.impulse);
    }
    println!("{refined} of {MANY} stick impulses were refined once");
}

#[test]
fn an_impulse_without_slip_inside_the_disk_is_kept() {
    let block = Matrix2::new(2.0, 0.6, 0.6, 0.9);
    let old = Vector2::new(0.3, -0.1);
    let s = update(&block, 0.7, &old, &Vector2::zeros()).unwrap();
    assert!(s.kept && s.impulse == old && s.regime == Regime::Stick);
}

#[test]
fn a_perturbed_impulse_is_not_kept() {
    let disk = ordinary(0.4, 3.0);
    let x = disk.solve(&Vector2::zeros()).unwrap().impulse;
    let turned = Vector2::new(x.x - 1e-13 * x.y, x.y + 1e-13 * x.x);
    let s = disk.solve(&turned).unwrap();
    assert!(!s.kept && (s.impulse - x).norm() <= 1e-15);
}

#[test]
fn slip_is_opposite_to_friction_and_friction_is_never_beyond_the_disk() {
    let mut problems = Problems::new(3);
    for _ in 0..1000 {
        let (disk, old) = problems.disk(3.0);
        let s = disk.solve(&old).unwrap();
        let slip = disk.block * s.impulse - disk.drive;
        assert!(s.impulse.norm() <= disk.radius * (1.0 + 2.0 * f64::EPSILON));
        assert!(
            slip.dot(&s.impulse)
                <= 1e-12 * slip.norm() * s.impulse.norm() + 1e-12 * disk.drive.norm() * disk.radius
        );
        if s.regime == Regime::Slide {
            assert!(
                slip.perp(&s.impulse).abs()
                    <= 1e-12 * disk.radius * (disk.drive.norm() + disk.block.norm() * disk.radius)
            );
        }
    }
}

#[test]
fn no_feasible_impulse_costs_less() {
    let mut problems = Problems::new(4);
    for _ in 0..300 {
        let (disk, old) = problems.disk(4.0);
        let cost = |x: &Vector2<f64>| 0.5 * x.dot(&(disk.block * x)) - disk.drive.dot(x);
        let x = disk.solve(&old).unwrap().impulse;
        let scale = disk.block.norm() * disk.radius * disk.radius + disk.drive.norm() * disk.radius;
        for _ in 0..30 {
            let other = problems.direction() * (disk.radius * problems.uniform(0.0, 1.0).sqrt());
            assert!(cost(&x) <= cost(&other) + 1e-13 * scale);
        }
    }
}

#[test]
fn answers_do_not_depend_on_the_start() {
    let mut problems = Problems::new(5);
    for _ in 0..1000 {
        let (disk, old) = problems.disk(3.0);
        let (a, b) = (disk.solve(&old).unwrap(), disk.solve(&Vector2::zeros()).unwrap());
        assert!((a.impulse - b.impulse).norm() <= 1e-11 * disk.radius);
    }
}

#[test]
fn isotropic_blocks_scale_the_stick_impulse() {
    for ratio in [1.0 + 1e-12, 1.5, 1e6] {
        let drive = Vector2::new(0.6, 0.8) * (2.0 * 0.7 * ratio);
        let disk = Disk { block: Matrix2::identity() * 2.0, drive, radius: 0.7 };
        let s = disk.solve(&Vector2::zeros()).unwrap();
        assert!((s.impulse - Vector2::new(0.42, 0.56)).norm() <= 1e-15);
        assert!((s.multiplier - 2.0 * (ratio - 1.0)).abs() <= 1e-15 * ratio);
    }
}

#[test]
fn impulse_has_exact_first_and_second_derivatives_stuck_and_sliding() {
    for angle in [0.0, 0.4, 1.9, 3.3, 5.0] {
        for ratio in [0.3, 0.9, 1.2, 3.0, 40.0] {
            let x = unpack(&ordinary(angle, ratio));
            let regime = format!("angle {angle}, ratio {ratio}");
            check::gradients(&Impulse, &regime, x, [2e-3; 6], Smoothness::Smooth, 1e-6);
        }
    }
}

#[test]
fn derivative_on_the_kink_is_that_of_sticking() {
    // Isotropic with powers of two, so that the stick impulse lies exactly on the circle.
    let x = [2.0, 0.0, 2.0, 1.0, 0.0, 0.5];
    check::gradients(&Impulse, "kink", x, [1e-2; 6], Smoothness::Kink, 1e-8);
    let s = pack(x).solve(&Vector2::zeros()).unwrap();
    assert_eq!(s.regime, Regime::Stick);
    let change = pack([0.0, 0.0, 0.0, 0.2, 0.0, 0.0]);
    assert!((s.tangent(&pack(x), &change).0 - Vector2::new(0.1, 0.0)).norm() < 1e-15);
    let grow = pack([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(s.tangent(&pack(x), &grow).0.norm() <= 0.0);
}

/// Largest difference of tangent, pullback and lift at a problem, relative to the largest slope.
fn disagreement(problems: &mut Problems, disk: &Disk, s: &DiskSolution) -> f64 {
    let seeded: [Jet<6>; 6] = {
        let x = unpack(disk);
        std::array::from_fn(|i| Jet::variable(x[i], i))
    };
    let lifted = s.lift(&pack(seeded));
    let by = Vector2::new(problems.normal(), problems.normal());
    let adjoint = s.pullback(disk, &by);
    // Off-diagonal entries of a symmetric change count twice.
    let reverse = {
        let mut r = unpack(&adjoint);
        r[1] *= 2.0;
        r
    };
    // Each slope in the unit of its argument.
    let unit = [
        disk.block.norm(),
        disk.block.norm(),
        disk.block.norm(),
        disk.drive.norm(),
        disk.drive.norm(),
        disk.radius,
    ];
    let slope = |i: usize| Vector2::new(lifted.impulse.x.eps[i], lifted.impulse.y.eps[i]) * unit[i];
    let scale = (0..6).map(|i| slope(i).norm()).fold(0.0, f64::max);
    let mut worst = 0.0_f64;
    for i in 0..6 {
        let mut change = [0.0; 6];
        change[i] = unit[i];
        let (dx, _) = s.tangent(disk, &pack(change));
        worst = worst.max((dx - slope(i)).norm() / scale);
        worst = worst.max((by.dot(&dx) - reverse[i] * unit[i]).abs() / (scale * by.norm()));
    }
    worst
}

#[test]
fn tangent_pullback_and_lift_are_one_derivative() {
    let mut problems = Problems::new(6);
    let mut worst = 0.0_f64;
    for _ in 0..20_000 {
        let (disk, old) = problems.disk(8.0);
        let s = disk.solve(&old).unwrap();
        // Solving with the stiffness costs its condition number in digits, in every one of the three.
        let k = disk.block + Matrix2::identity() * s.multiplier.min(f64::MAX);
        let condition = k.norm_squared() / k.determinant();
        worst = worst.max(disagreement(&mut problems, &disk, &s) / condition);
    }
    println!("worst disagreement {worst:e} of the condition number");
    assert!(worst <= 1e-13, "{worst:e}");
}

#[test]
fn implicit_function_theorem_of_the_optimality_conditions_gives_the_same_slopes() {
    type D3 = DualSVec<Dual64, 3>;
    let mut problems = Problems::new(7);
    for _ in 0..300 {
        let (disk, old) = problems.disk(2.0);
        let s = disk.solve(&old).unwrap();
        let x = unpack(&disk);
        for i in 0..6 {
            let args: [Dual64; 6] =
                std::array::from_fn(|j| Dual64::new(x[j], if i == j { x[j].abs() } else { 0.0 }));
            let sliding = s.regime == Regime::Slide;
            let conditions = |z: SVector<D3, 3>, a: &[D3; 6]| {
                let [xx, xy, yy, bx, by, radius] = *a;
                let last = if sliding { (z.x * z.x + z.y * z.y) / radius - radius } else { z.z };
                Vector3::new(
                    (xx + z.z) * z.x + xy * z.y - bx,
                    xy * z.x + (yy + z.z) * z.y - by,
                    last,
                )
            };
            let start = Vector3::new(s.impulse.x, s.impulse.y, s.multiplier);
            let found = implicit_derivative_vec(conditions, start, &args);
            let change = pack(std::array::from_fn(|j| if i == j { x[j].abs() } else { 0.0 }));
            let (dx, da) = s.tangent(&disk, &change);
            let difference = Vector2::new(found.x.eps - dx.x, found.y.eps - dx.y).norm();
            assert!(difference <= 1e-10 * disk.radius * 100.0, "{disk:?} {i}: {difference:e}");
            assert!((found.z.eps - da).abs() <= 1e-10 * (disk.block.norm() * 100.0 + s.multiplier));
        }
    }
}

#[test]
fn tangent_agrees_with_central_differences() {
    let mut problems = Problems::new(8);
    let (mut worst, mut checked) = (0.0_f64, 0);
    for _ in 0..20_000 {
        let (disk, _) = problems.disk(2.0);
        let s = disk.solve(&Vector2::zeros()).unwrap();
        let stick = disk.block.try_inverse().unwrap() * disk.drive;
        // A difference across the kink is none.
        if (stick.norm() / disk.radius - 1.0).abs() < 0.1 {
            continue;
        }
        checked += 1;
        let x = unpack(&disk);
        let unit = [
            disk.block.norm(),
            disk.block.norm(),
            disk.block.norm(),
            disk.drive.norm(),
            disk.drive.norm(),
            disk.radius,
        ];
        let anisotropy = disk.block.norm().powi(2) / disk.block.determinant();
        for i in 0..6 {
            let at = |t: f64| {
                let mut y = x;
                y[i] += t * unit[i];
                pack(y).solve(&Vector2::zeros()).unwrap().impulse
            };
            let slope = |h: f64| (at(h) - at(-h)) / (2.0 * h);
            let h = 1e-3 / anisotropy;
            let numeric = (slope(h / 2.0) * 4.0 - slope(h)) / 3.0;
            let mut change = [0.0; 6];
            change[i] = unit[i];
            let (dx, _) = s.tangent(&disk, &pack(change));
            worst = worst.max((dx - numeric).norm() / (anisotropy * disk.radius));
        }
    }
    println!("{checked} problems, worst difference {worst:e} of the radius times the anisotropy");
    assert!(worst <= 1e-8, "{worst:e}");
}

#[test]
fn empty_disk_gives_no_impulse_and_grows_along_the_drive() {
    let disk = Disk { radius: 0.0, ..ordinary(0.4, 1.0) };
    for old in [Vector2::zeros(), Vector2::new(0.3, 0.1)] {
        let s = disk.solve(&old).unwrap();
        assert_eq!((s.impulse, s.regime), (Vector2::zeros(), Regime::Empty));
        assert!(s.multiplier.is_infinite());
        let grow = Disk { block: Matrix2::zeros(), drive: Vector2::zeros(), radius: 1e-9 };
        let small = Disk { radius: 1e-9, ..disk }.solve(&old).unwrap();
        let (dx, _) = s.tangent(&disk, &grow);
        assert!((small.impulse - dx).norm() <= 1e-17);
        assert!(
            (s.pullback(&disk, &Vector2::new(1.0, 2.0)).radius * 1e-9
                - dx.dot(&Vector2::new(1.0, 2.0)))
            .abs()
                < 1e-24
        );
    }
    let still = Disk { drive: Vector2::zeros(), ..disk };
    let s = still.solve(&Vector2::zeros()).unwrap();
    assert_eq!((s.impulse, s.multiplier, s.kept), (Vector2::zeros(), 0.0, true));
}

#[test]
fn no_drive_needs_no_friction() {
    let disk = Disk { drive: Vector2::zeros(), ..ordinary(0.4, 1.0) };
    let s = disk.solve(&Vector2::new(0.5, -0.2)).unwrap();
    assert!(s.impulse.norm() <= 1e-16 && s.regime == Regime::Stick);
}

#[test]
fn singular_block_moves_only_what_it_can() {
    // No response along (−0.6, 0.8).
    let e = Vector2::new(0.8, 0.6);
    let f = Vector2::new(-0.6, 0.8);
    let block = e * e.transpose() * 3.0;
    let disk = Disk { block, drive: e * 1.5, radius: 1.0 };
    let s = disk.solve(&(f * 0.25)).unwrap();
    assert!((s.impulse - (e * 0.5 + f * 0.25)).norm() <= 1e-15 && s.regime == Regime::Stick);
    let clamped = disk.solve(&(f * 4.0)).unwrap();
    assert!((clamped.impulse - (e * 0.5 + f * 0.75_f64.sqrt())).norm() <= 1e-15);
    // A drive that nothing can stop takes the whole disk.
    let pushed = Disk { drive: e * 1.5 + f * 1e-3, ..disk }.solve(&Vector2::zeros()).unwrap();
    assert_eq!(pushed.regime, Regime::Slide);
    assert!(disk.residual(&s) <= 1e-15 && pushed.multiplier > 0.0);
    let none = Disk { block: Matrix2::zeros(), drive: f, radius: 2.0 };
    assert!((none.solve(&e).unwrap().impulse - f * 2.0).norm() <= 1e-15);
    let still = Disk { drive: Vector2::zeros(), ..none };
    assert!((still.solve(&(e * 4.0)).unwrap().impulse - e * 2.0).norm() <= 1e-15);
}

#[test]
fn hostile_numbers_are_refused() {
    let good = ordinary(0.4, 1.0);
    let nan = f64::NAN;
    for bad in [
        Disk { radius: -1.0, ..good },
        Disk { radius: nan, ..good },
        Disk { drive: Vector2::new(nan, 0.0), ..good },
        Disk { block: Matrix2::new(1.0, f64::INFINITY, 0.0, 1.0), ..good },
        Disk { block: Matrix2::new(1.0, 2.0, 2.0, 1.0), ..good },
        Disk { block: -Matrix2::identity(), ..good },
        Disk { block: Matrix2::new(0.0, 1.0, 1.0, 0.0), ..good },
    ] {
        assert!(bad.solve(&Vector2::zeros()).is_err(), "{bad:?}");
    }
    for (radius, drive) in [(1e-300, 1e200), (1e300, 1e-300), (1e-308, 1e308)] {
        let disk = Disk { drive: Vector2::new(drive, 0.5 * drive), radius, ..good };
        let s = disk.solve(&Vector2::zeros()).unwrap();
        assert!(s.impulse.norm() <= radius * (1.0 + 4.0 * f64::EPSILON), "{s:?}");
    }
}

#[test]
fn second_order_variation_is_the_dual_part_of_the_tangent() {
    let (disk, change) = (ordinary(0.4, 3.0), pack([0.1, -0.2, 0.3, 0.5, 0.2, -0.1]));
    let s = disk.solve(&Vector2::zeros()).unwrap();
    let moved = |t: f64| pack(std::array::from_fn(|i| unpack(&disk)[i] + t * unpack(&change)[i]));
    let path = {
        let (x, dx) = (unpack(&disk), unpack(&change));
        pack(std::array::from_fn(|i| Dual64::new(x[i], dx[i])))
    };
    let constant = pack(unpack(&change).map(Dual64::from));
    let second = s.lift(&path).tangent(&path, &constant).0;
    let slope = |t: f64| {
        let d = moved(t);
        d.solve(&Vector2::zeros()).unwrap().tangent(&d, &change).0
    };
    let numeric = (slope(1e-4) - slope(-1e-4)) / 2e-4;
    assert!((Vector2::new(second.x.eps, second.y.eps) - numeric).norm() < 1e-7);
    assert!((Vector2::new(second.x.re(), second.y.re()) - slope(0.0)).norm() < 1e-14);
}
