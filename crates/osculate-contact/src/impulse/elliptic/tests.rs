use super::*;
use crate::impulse::Disk;
use crate::impulse::test_problems::Problems;
use nalgebra::{Matrix2, Vector2};
use osculate_math::Jet;
use osculate_math::check::{self, Law, Smoothness};

type Contact<T = f64> = Ellipsoid<3, T>;

/// The upper triangle, the drive, the coefficients and the load.
const SIZE: usize = 6 + 3 + 3 + 1;

fn pack<T: Scalar>(x: [T; SIZE]) -> Contact<T> {
    let [a, b, c, d, e, f, ..] = x;
    let take = |from: usize| SVector::from_fn(|i, _| x[from + i]);
    let block = SMatrix::from([[a, b, c], [b, d, e], [c, e, f]]);
    Ellipsoid { block, drive: take(6), coefficients: take(9), load: x[12] }
}

fn unpack(c: &Contact) -> [f64; SIZE] {
    let (w, b, m) = (&c.block, &c.drive, &c.coefficients);
    let upper = [w[(0, 0)], w[(0, 1)], w[(0, 2)], w[(1, 1)], w[(1, 2)], w[(2, 2)]];
    let [a, d, e, f, g, h] = upper;
    [a, d, e, f, g, h, b.x, b.y, b.z, m.x, m.y, m.z, c.load]
}

/// A random contact whose scaled stick impulse is `ratio` loads.
fn random<const N: usize>(problems: &mut Problems, ratio: f64) -> Ellipsoid<N> {
    let columns = SMatrix::<f64, N, 8>::from_fn(|_, _| problems.normal());
    let coefficients = SVector::from_fn(|_, _| problems.decades(-2.0, 0.5));
    let block = columns * columns.transpose();
    let load = problems.decades(-3.0, 3.0);
    let y = SVector::<f64, N>::from_fn(|_, _| problems.normal()).normalize() * (load * ratio);
    Ellipsoid { block, drive: block * y.component_mul(&coefficients), coefficients, load }
}

struct Friction;
impl Law<SIZE, 4> for Friction {
    fn value<T: Scalar>(&self, x: [T; SIZE]) -> [T; 4] {
        let s = pack(x.map(|x| x.re())).solve(&SVector::zeros()).unwrap().lift(&pack(x));
        std::array::from_fn(|i| if i < 3 { s.impulse[i] } else { s.multiplier })
    }
}

#[test]
fn random_contacts_satisfy_the_optimality_conditions_and_are_then_kept() {
    let mut problems = Problems::new(41);
    let (mut worst, mut long) = (0.0_f64, 0);
    for _ in 0..20_000 {
        let ratio = problems.decades(-1.0, 3.0);
        let contact = random::<5>(&mut problems, ratio);
        let s = contact.solve(&SVector::zeros()).unwrap();
        worst = worst.max(contact.residual(&s));
        long += usize::from(s.steps > secular::NEWTON_STEPS);
        assert_eq!(s.regime == Regime::Stick, ratio <= 1.0, "{ratio}");
        let again = contact.solve(&s.impulse).unwrap();
        assert!(again.kept && again.impulse == s.impulse, "{s:?} {again:?}");
    }
    println!("worst residual {worst:e}, {long} above eight steps");
    // Scaled blocks of these have anisotropies of 1e10 and several scales: 99.8 % in eight steps, the rest by bisection.
    assert!(worst <= 1e-13 && long * 500 <= 20_000);
}

#[test]
fn equal_coefficients_of_two_rows_are_the_disk() {
    let mut problems = Problems::new(42);
    for _ in 0..500 {
        let (disk, old) = problems.disk(3.0);
        let exact = disk.solve(&old).unwrap();
        let contact = Ellipsoid::<2> {
            block: disk.block,
            drive: disk.drive,
            coefficients: Vector2::repeat(0.5),
            load: disk.radius * 2.0,
        };
        let s = contact.solve(&old).unwrap();
        assert!((s.impulse - exact.impulse).norm() <= 1e-11 * disk.radius);
        assert_eq!(s.regime, exact.regime);
    }
}

#[test]
fn slip_is_normal_to_the_ellipsoid() {
    let mut problems = Problems::new(43);
    for _ in 0..200 {
        let contact = random::<5>(&mut problems, 5.0);
        let s = contact.solve(&SVector::zeros()).unwrap();
        let slip = contact.block * s.impulse - contact.drive;
        let normal =
            SVector::<f64, 5>::from_fn(|i, _| s.impulse[i] / contact.coefficients[i].powi(2));
        let cosine = slip.dot(&normal) / (slip.norm() * normal.norm());
        assert!((cosine + 1.0).abs() <= 1e-12, "{cosine}");
        let budget: f64 = (0..5).map(|i| (s.impulse[i] / contact.coefficients[i]).powi(2)).sum();
        assert!((budget.sqrt() / contact.load - 1.0).abs() <= 1e-14);
    }
}

#[test]
fn a_row_without_friction_leaves_the_others_to_themselves() {
    let block = SMatrix::<f64, 3, 3>::new(2.0, 0.6, 0.3, 0.6, 0.9, -0.2, 0.3, -0.2, 1.1);
    for drive in [0.3, 3.0] {
        let contact = Ellipsoid::<3> {
            block,
            drive: SVector::from([drive, -drive, 2.0]),
            coefficients: SVector::from([0.5, 0.5, 0.0]),
            load: 1.2,
        };
        let s = contact.solve(&SVector::zeros()).unwrap();
        let disk = Disk {
            block: Matrix2::new(2.0, 0.6, 0.6, 0.9),
            drive: Vector2::new(drive, -drive),
            radius: 0.6,
        };
        let exact = disk.solve(&Vector2::zeros()).unwrap();
        assert!((s.impulse.xy() - exact.impulse).norm() <= 1e-14 && s.impulse.z.abs() <= 0.0);
        let by = SVector::from([1.0, 2.0, 3.0]);
        let reverse = s.pullback(&contact, &by);
        let two = exact.pullback(&disk, &Vector2::new(1.0, 2.0));
        assert!((reverse.drive.xy() - two.drive).norm() <= 1e-13 && reverse.drive.z.abs() <= 0.0);
    }
}

#[test]
fn friction_has_exact_first_and_second_derivatives_stuck_and_sliding() {
    let mut problems = Problems::new(44);
    for ratio in [0.4, 2.0, 20.0] {
        let mut contact: Contact = random(&mut problems, ratio);
        // Of order one, so that the steps fit every argument.
        contact.coefficients = SVector::from([0.5, 0.6, 0.8]);
        contact.load = 1.3;
        let y = SVector::<f64, 3>::from([0.5, -0.4, 0.3]).normalize() * (1.3 * ratio);
        contact.drive = contact.block * y.component_mul(&contact.coefficients);
        let regime = format!("ratio {ratio}");
        check::gradients(
            &Friction,
            &regime,
            unpack(&contact),
            [2e-3; SIZE],
            Smoothness::Smooth,
            1e-5,
        );
    }
}

#[test]
fn tangent_pullback_and_lift_are_one_derivative() {
    let mut problems = Problems::new(45);
    let mut worst = 0.0_f64;
    for i in 0..600 {
        let ratio = problems.decades(-1.0, 2.0);
        let mut contact: Contact = random(&mut problems, ratio);
        if i % 10 == 0 {
            contact.load = 0.0;
        }
        let s = contact.solve(&SVector::zeros()).unwrap();
        let x = unpack(&contact);
        let lifted = s.lift(&pack::<Jet<SIZE>>(std::array::from_fn(|k| Jet::variable(x[k], k))));
        let by = SVector::<f64, 3>::from_fn(|_, _| problems.normal());
        let reverse = unpack(&s.pullback(&contact, &by));
        let unit = |k: usize| x[k].abs().max(if k == 12 { 1.0 } else { 0.0 });
        let slope = |k: usize| lifted.impulse.map(|f| f.eps[k]) * unit(k);
        let scale = (0..SIZE).map(|k| slope(k).norm()).fold(f64::MIN_POSITIVE, f64::max);
        for (k, reverse) in reverse.iter().enumerate() {
            let change = pack(std::array::from_fn(|j| if j == k { unit(k) } else { 0.0 }));
            let (df, _) = s.tangent(&contact, &change);
            // Off-diagonal entries of a symmetric change count twice.
            let twice = if [1, 2, 4].contains(&k) { 2.0 } else { 1.0 };
            worst = worst.max((df - slope(k)).norm() / scale);
            worst =
                worst.max((by.dot(&df) - reverse * twice * unit(k)).abs() / (scale * by.norm()));
        }
    }
    println!("worst disagreement {worst:e}");
    assert!(worst <= 1e-9, "{worst:e}");
}

#[test]
fn condim_has_the_rows_of_mujoco() {
    let rows = [1, 3, 4, 6].map(|n| Condim::try_from(n).unwrap().rows());
    assert_eq!(rows, [0, 2, 3, 5]);
    assert!([0, 2, 5, 7].into_iter().all(|n| Condim::try_from(n).is_err()));
    let spinning: [f64; 5] = Condim::Spinning.coefficients([0.5, 0.01, 0.002]);
    let rows = [0.5, 0.5, 0.01, 0.0, 0.0];
    assert!(spinning.iter().zip(rows).all(|(x, y)| (x - y).abs() <= 0.0));
}

#[test]
fn hostile_numbers_are_refused() {
    let good: Contact = random(&mut Problems::new(46), 2.0);
    let nan = f64::NAN;
    for bad in [
        Ellipsoid { load: -1.0, ..good },
        Ellipsoid { coefficients: -good.coefficients, ..good },
        Ellipsoid { drive: SVector::repeat(nan), ..good },
        Ellipsoid { block: -good.block, ..good },
    ] {
        assert!(bad.solve(&SVector::zeros()).is_err(), "{bad:?}");
    }
    let tiny = Ellipsoid { load: 1e-305, ..good }.solve(&SVector::zeros()).unwrap();
    assert!(tiny.scaled.norm() <= 1.1e-305);
}
