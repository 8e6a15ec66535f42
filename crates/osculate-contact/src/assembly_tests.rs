//! `K` and the pullback of a pair against jets through the poses of both bodies.

use super::*;
use crate::FrictionRamp;
use crate::sample::Status;
use crate::test_fields;
use osculate_math::{Jet, se3::Pose, so3};

/// Exact derivatives computed twice: rounding only, relative to the largest entry.
const EXACT: f64 = 1e-12;
const DURATION: f64 = 0.01;
/// Poses now (12) and at stage start (12), parameters (8), dimensions (7), centre of the collider (3).
const DIRECTIONS: usize = 24 + PAIR_PARAMETERS + DIMENSIONS + 3;

/// What a pair depends on.
#[derive(Clone)]
struct Numbers<T> {
    now: [Pose<T>; 2],
    start: [Pose<T>; 2],
    params: PairParams<T>,
    collider: Collider<T>,
    center: Vector3<T>,
    points: Vec<Vector3<T>>,
    normals: Option<Vec<Vector3<T>>>,
    weights: Vec<T>,
}

struct Pair {
    law: ContactLaw,
    numbers: Numbers<f64>,
}

fn params(collider_normal: bool) -> PairParams {
    PairParams {
        stiffness: 2.0,
        smoothing: 0.1,
        threshold: 0.05,
        max_alignment: 0.2,
        friction: 0.4,
        viscous_friction: 0.3,
        damping: 0.7,
        falloff_speed: 0.5,
        collider_normal,
    }
}

/// Colliders with a point of their surface and the normal there.
fn colliders() -> [(Collider, Vector3<f64>, Vector3<f64>); 6] {
    let n = Vector3::new(0.0, 0.6, 0.8);
    let edge = Vector3::new(1.0, 0.0, 1.0).normalize();
    let grid_surface = test_fields::grid_surface();
    let cuboid = Collider::cuboid(Vector3::zeros(), Vector3::new(0.5, 0.6, 0.7)).unwrap();
    [
        (Collider::half_space(n * 1.7, 0.2).unwrap(), n * 0.2 + Vector3::new(0.3, 0.08, -0.06), n),
        (Collider::sphere(Vector3::zeros(), 0.8).unwrap(), n * 0.8, n),
        (cuboid.clone(), Vector3::new(0.1, 0.2, 0.7), Vector3::z()),
        (cuboid, Vector3::new(0.5, 0.2, 0.7), edge),
        (test_fields::grid(), grid_surface.0, grid_surface.1),
        (test_fields::mesh(), Vector3::new(0.5, 0.2, 0.7) * test_fields::SCALE, edge),
    ]
}

fn turn(v: [f64; 3]) -> Matrix3<f64> {
    so3::exp(&Vector3::from(v))
}

/// Four samples about depth `phi`, moved by `velocity` (collider axes) during the stage while both bodies turn.
fn pair(
    (collider, surface, n): (Collider, Vector3<f64>, Vector3<f64>),
    (phi, velocity): (f64, [f64; 3]),
    law: ContactLaw,
    (normals, collider_normal): (bool, bool),
) -> Pair {
    let center = Vector3::new(0.03, -0.02, 0.05);
    let points: Vec<_> = (0..4)
        .map(|i| {
            let s = f64::from(i);
            Vector3::new(0.2 + 4e-3 * s, -0.1 - 3e-3 * s, 0.15 + 2e-3 * s * s)
        })
        .collect();
    // The collider's local origin is at c_B − R_B X_cB; sample 0 of the colliding body goes where it is wanted.
    let place = |p: Vector3<f64>, b: Pose, r: Matrix3<f64>| {
        let world = b.position + b.rotation * (p - center);
        Pose { position: world - r * points[0], rotation: r }
    };
    let b = Pose { position: Vector3::new(0.4, -0.3, 0.9), rotation: turn([0.5, -0.8, 0.3]) };
    let turned = |r: Matrix3<f64>, w: [f64; 3]| turn(w.map(|x| -x * DURATION)) * r;
    let b0 = Pose {
        position: b.position - Vector3::new(0.2, 0.1, -0.1) * DURATION,
        rotation: turned(b.rotation, [0.3, 0.2, -0.4]),
    };
    let p = surface + n * phi;
    let r = turn([-0.4, 0.9, 1.1]);
    let a = place(p, b, r);
    let a0 = place(p - Vector3::from(velocity) * DURATION, b0, turned(r, [-0.2, 0.5, 0.1]));
    // Nearly opposing the field, so that alignment and fading have derivatives.
    let tilt = turn([0.5, -0.3, 0.2]);
    let normal = |i: usize| {
        let spread = turn([0.02 * i as f64, 0.01, 0.0]);
        spread * tilt * (a.rotation.transpose() * b.rotation * -n)
    };
    Pair {
        law,
        numbers: Numbers {
            now: [a, b],
            start: [a0, b0],
            params: params(collider_normal),
            collider,
            center,
            normals: normals.then(|| (0..4).map(normal).collect()),
            weights: vec![0.3, 0.2, 0.4, 0.1],
            points,
        },
    }
}

impl Pair {
    fn stage<'a, T: Scalar>(&'a self, x: &'a Numbers<T>) -> PairStage<'a, T> {
        PairStage {
            law: &self.law,
            params: &x.params,
            collider: &x.collider,
            points: &x.points,
            weights: &x.weights,
            normals: x.normals.as_deref(),
            now: Pullback::new(&x.now[0], &x.now[1], x.center),
            start: Pullback::new(&x.start[0], &x.start[1], x.center),
            duration: DURATION,
        }
    }

    /// `r` in world axes.
    fn residual<T: Scalar>(&self, x: &Numbers<T>) -> [Vector3<T>; 4] {
        let mut w = Wrenches::default();
        self.stage(x).add_forces(&mut w);
        let r = x.now[1].rotation;
        [-(r * w.force), -(r * w.torque_a), r * w.force, r * w.torque_b]
    }

    fn lift<T: Scalar>(&self) -> Numbers<T> {
        let x = &self.numbers;
        Numbers {
            now: x.now.map(|p| p.lift()),
            start: x.start.map(|p| p.lift()),
            params: x.params.map(T::from),
            collider: x.collider.with_dimensions(&x.collider.dimensions().map(T::from)),
            center: x.center.map(T::from),
            points: x.points.iter().map(|p| p.map(T::from)).collect(),
            normals: x.normals.as_ref().map(|n| n.iter().map(|n| n.map(T::from)).collect()),
            weights: x.weights.iter().map(|&w| T::from(w)).collect(),
        }
    }

    /// Everything but the samples, seeded; poses by world increments.
    fn seeded(&self) -> Numbers<Jet<DIRECTIONS>> {
        let mut x = self.lift::<Jet<DIRECTIONS>>();
        let v = |k: usize| Vector3::from_fn(|i, _| Jet::variable(0.0, k + i));
        for body in 0..2 {
            x.now[body] = x.now[body].incremented(&v(6 * body), &v(6 * body + 3));
            x.start[body] = x.start[body].incremented(&v(12 + 6 * body), &v(15 + 6 * body));
        }
        let (params, dimensions) = (x.params.to_array(), x.collider.dimensions());
        let at = |y: f64, k: usize| Jet::variable(y, k);
        x.params = PairParams::from_array(
            std::array::from_fn(|j| at(params[j].re, 24 + j)),
            x.params.collider_normal,
        );
        x.collider =
            x.collider.with_dimensions(&std::array::from_fn(|j| at(dimensions[j].re, 32 + j)));
        x.center += v(32 + DIMENSIONS);
        x
    }

    fn status(&self) -> Status {
        self.stage(&self.numbers).traction(0).status
    }
}

/// Every regime, with the status that sample 0 has (without normals, and not for `StageStart`).
const REGIMES: [(&str, f64, [f64; 3], Status); 7] = [
    ("apart", 0.3, [0.2, 0.1, -0.1], Status::Apart),
    ("touching, stick", -0.02, [0.1, 0.05, -0.3], Status::Contact),
    ("touching, slip", -0.02, [1.2, -0.7, -0.3], Status::Contact),
    ("deep, stick", -0.25, [0.1, 0.05, 0.3], Status::Contact),
    ("deep, slip", -0.25, [1.2, -0.7, 0.3], Status::Contact),
    ("leaving", 0.08, [1.5, 9.0, 12.0], Status::Apart),
    ("arriving", -0.02, [-1.5, -9.0, -12.0], Status::Contact),
];

fn for_every_pair(mut check: impl FnMut(&str, &Pair)) {
    for schedule in DissipationSchedule::ALL {
        for (ramp, fade) in [(FrictionRamp::C1, true), (FrictionRamp::Smooth, false)] {
            let law = ContactLaw { schedule, fade, ramp };
            for collider in colliders() {
                for normals in [(true, true), (true, false), (false, true)] {
                    for (regime, phi, velocity, status) in REGIMES {
                        let pair = pair(collider.clone(), (phi, velocity), law, normals);
                        let name = format!("{regime}, {law:?}, {:?}, {normals:?}", collider.0);
                        if schedule != DissipationSchedule::StageStart {
                            assert_eq!(pair.status(), status, "{name}");
                        }
                        check(&name, &pair);
                    }
                }
            }
        }
    }
}

fn assert_close(name: &str, found: &[f64], exact: &[f64]) -> f64 {
    let scale = exact.iter().chain(found).fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut worst = 0.0_f64;
    for (i, (a, b)) in found.iter().zip(exact).enumerate() {
        let error = (a - b).abs();
        assert!(error <= EXACT * scale, "{name}: entry {i} is {a}, by jets {b}");
        worst = worst.max(if scale > 0.0 { error / scale } else { 0.0 });
    }
    worst
}

#[test]
fn stage_matrix_is_the_derivative_of_the_residual_by_both_poses() {
    let (mut worst, mut touched) = (0.0_f64, 0);
    for_every_pair(|name, pair| {
        let r = pair.residual(&pair.seeded());
        for (colliding, collider) in [(true, true), (true, false), (false, true)] {
            let (mut w, mut blocks) = (Wrenches::default(), Blocks::default());
            let moving = Moving { colliding, collider };
            pair.stage(&pair.numbers).add_forces_and_jacobian(moving, &mut w, &mut blocks);
            let moves = |k: usize| if k < 2 { colliding } else { collider };
            let turn = pair.numbers.now[1].rotation;
            let (mut found, mut exact) = (Vec::new(), Vec::new());
            // Blocks of a body that does not move are nobody's.
            for (row, column) in (0..16).map(|k| (k / 4, k % 4)) {
                if moves(row) && moves(column) {
                    let world = turn * blocks.0[row][column] * turn.transpose();
                    for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                        found.push(world[(i, j)]);
                        exact.push(r[row][i].eps[3 * column + j]);
                    }
                }
            }
            worst = worst.max(assert_close(name, &found, &exact));
            touched += usize::from(w.magnitude > 0.0);
        }
        // The value beside the slopes is the value.
        let (mut w, mut plain) = (Wrenches::default(), Wrenches::default());
        let moving = Moving { colliding: true, collider: true };
        let stage = pair.stage(&pair.numbers);
        stage.add_forces_and_jacobian(moving, &mut w, &mut Blocks::default());
        stage.add_forces(&mut plain);
        assert_close(name, w.force.as_slice(), plain.force.as_slice());
        assert_close(name, w.torque_b.as_slice(), plain.torque_b.as_slice());
    });
    println!("K = derivative by jets: worst {worst:.1e}, {touched} pairs with forces");
    assert!(touched > 1000);
}

#[test]
fn sums_over_listed_samples_are_those_over_all() {
    let mut touched = 0;
    for_every_pair(|name, pair| {
        let stage = pair.stage(&pair.numbers);
        let moving = Moving { colliding: true, collider: true };
        let (mut w, mut blocks) = (Wrenches::default(), Blocks::default());
        stage.add_forces_and_jacobian(moving, &mut w, &mut blocks);
        let mut samples = Vec::new();
        stage.find_near(0.01, &mut samples);
        let mut found = NearForces::default();
        stage.near_forces(&samples, 0.0, &mut found);
        assert_close(name, found.wrenches.force.as_slice(), w.force.as_slice());
        assert_close(name, found.wrenches.torque_a.as_slice(), w.torque_a.as_slice());
        if pair.law.schedule == DissipationSchedule::StageStart {
            assert_close(name, &[found.potential], &[stage.potential()]);
            assert_close(name, &[stage.potential_of(&samples)], &[stage.potential()]);
        }
        // In any axes.
        let (axes, mut world) = (turn([0.3, -0.4, 0.5]), Blocks::default());
        let offset = axes * stage.now.offset;
        found.for_each_block((&axes, &offset), moving, |i, j, m| world.0[i][j] += m);
        let exact = blocks.0.map(|row| row.map(|m| axes * m * axes.transpose()));
        let flat = |all: &[[Matrix3<f64>; 4]; 4]| {
            all.iter().flatten().flat_map(|m| m.iter().copied().collect::<Vec<_>>()).collect()
        };
        let (found, exact): (Vec<f64>, Vec<f64>) = (flat(&world.0), flat(&exact));
        assert_close(name, &found, &exact);
        touched += usize::from(w.magnitude > 0.0);
    });
    assert!(touched > 300, "{touched} pairs with forces");
}

#[test]
fn pullback_is_the_transposed_derivative_of_the_residual_by_everything() {
    let mut worst = 0.0_f64;
    let lambda = [[0.3, -0.7, 0.2], [0.5, 0.1, -0.4], [-0.6, 0.2, 0.9], [0.1, -0.3, 0.8]];
    let lambda = lambda.map(Vector3::from);
    for_every_pair(|name, pair| {
        let (now, start) = (pair.numbers.now[1].rotation, pair.numbers.start[1].rotation);
        let mut gradient = PairGradient::default();
        let mut samples = vec![[0.0; 7]; pair.numbers.weights.len()];
        pair.stage(&pair.numbers).add_gradient(
            &lambda.map(|l| now.transpose() * l),
            &mut gradient,
            |i, x| {
                let (p, n) = (x.point, x.normal);
                samples[i] = [p.x, p.y, p.z, n.x, n.y, n.z, x.weight];
            },
        );
        let r = pair.residual(&pair.seeded());
        let exact = |k: usize| (0..4).map(|b| lambda[b].dot(&r[b].map(|x| x.eps[k]))).sum();
        let exact: [f64; DIRECTIONS] = std::array::from_fn(exact);
        let world = |r: Matrix3<f64>, g: &[Vector3<f64>; 4]| g.map(|v| r * v);
        let groups = [
            ("now", world(now, &gradient.now).concat_rows(), 0..12),
            ("start", world(start, &gradient.start).concat_rows(), 12..24),
            ("parameters", gradient.params.to_vec(), 24..32),
            ("dimensions", gradient.dimensions.to_vec(), 32..39),
            ("centre", gradient.collider_center.as_slice().to_vec(), 39..42),
        ];
        for (group, found, range) in groups {
            worst = worst.max(assert_close(&format!("{name}: {group}"), &found, &exact[range]));
        }
        for (i, found) in samples.iter().enumerate() {
            let mut x = pair.lift::<Jet<7>>();
            x.points[i] += Vector3::from_fn(|k, _| Jet::variable(0.0, k));
            x.weights[i] += Jet::variable(0.0, 6);
            if let Some(normals) = &mut x.normals {
                normals[i] += Vector3::from_fn(|k, _| Jet::variable(0.0, 3 + k));
            }
            let r = pair.residual(&x);
            let exact = |k: usize| (0..4).map(|b| lambda[b].dot(&r[b].map(|x| x.eps[k]))).sum();
            let exact: [f64; 7] = std::array::from_fn(exact);
            for (what, range) in [("X", 0..3), ("n", 3..6), ("w", 6..7)] {
                let name = format!("{name}: {what}{i}");
                worst = worst.max(assert_close(&name, &found[range.clone()], &exact[range]));
            }
        }
    });
    println!("pullback = derivative by jets: worst {worst:.1e}");
}

#[test]
fn slopes_by_the_stage_start_pullback_are_its_derivatives_along_any_affine_map() {
    let lambda = [[0.3, -0.7, 0.2], [0.5, 0.1, -0.4], [-0.6, 0.2, 0.9], [0.1, -0.3, 0.8]];
    let lambda = lambda.map(Vector3::from);
    let (mut worst, mut touched) = (0.0_f64, 0);
    for_every_pair(|name, pair| {
        if pair.law.schedule == DissipationSchedule::StageStart {
            return;
        }
        let lifted = pair.lift::<Jet<12>>();
        let mut stage = pair.stage(&lifted);
        // Columns of M, then o.
        for (k, i) in (0..12).map(|k| (k / 3, k % 3)) {
            let x =
                if k < 3 { &mut stage.start.rotation[(i, k)] } else { &mut stage.start.offset[i] };
            x.eps[3 * k + i] = 1.0;
        }
        let mut w = Wrenches::default();
        stage.add_forces(&mut w);
        let stage = pair.stage(&pair.numbers);
        let slopes = stage.start_slopes();
        for (row, exact) in [w.force, w.torque_a, w.torque_b].iter().enumerate() {
            let found =
                (0..12).flat_map(|k| slopes.0[row][k / 3].column(k % 3).into_owned().data.0[0]);
            let exact = (0..12).flat_map(|k| exact.map(|x| x.eps[k]).data.0[0]);
            let (found, exact) = (found.collect::<Vec<_>>(), exact.collect::<Vec<_>>());
            worst = worst.max(assert_close(name, &found, &exact));
        }
        let mut gradient = PairGradient::default();
        stage.add_gradient(&lambda, &mut gradient, |_, _| {});
        let r = [-w.force, -w.torque_a, w.force, w.torque_b];
        let exact: [f64; 12] =
            std::array::from_fn(|k| (0..4).map(|b| lambda[b].dot(&r[b].map(|x| x.eps[k]))).sum());
        let found = [gradient.start_map.as_slice(), gradient.start[0].as_slice()].concat();
        worst = worst.max(assert_close(name, &found, &exact));
        touched += usize::from(w.magnitude > 0.0);
    });
    println!("by the stage start = derivative by jets: worst {worst:.1e}");
    assert!(touched > 300);
}

trait ConcatRows {
    fn concat_rows(&self) -> Vec<f64>;
}

impl ConcatRows for [Vector3<f64>; 4] {
    fn concat_rows(&self) -> Vec<f64> {
        self.iter().flat_map(|v| v.as_slice().to_vec()).collect()
    }
}

#[test]
fn retained_contacts_keep_their_dissipation_and_lose_their_normal_force() {
    let law = ContactLaw { schedule: DissipationSchedule::StageStart, ..Default::default() };
    let (_, phi, velocity, _) = REGIMES[5];
    for collider in colliders() {
        let pair = pair(collider, (phi, velocity), law, (true, true));
        let traction = pair.stage(&pair.numbers).traction(0);
        assert_eq!(traction.status, Status::Retained);
        assert_eq!(traction.elastic, Vector3::zeros());
        assert!(traction.dissipation.total().norm() > 0.0);
    }
}

#[test]
fn forces_of_a_pair_balance_and_their_torques_cancel_about_any_point() {
    for_every_pair(|name, pair| {
        let [fa, ta, fb, tb] = pair.residual(&pair.numbers);
        let [a, b] = pair.numbers.now;
        assert_close(name, (fa + fb).as_slice(), &[0.0; 3]);
        let total = ta + tb + a.position.cross(&fa) + b.position.cross(&fb);
        let scale = ta.norm() + tb.norm() + fa.norm();
        assert!(total.norm() <= EXACT * scale, "{name}: {total:?}");
    });
}
