//! Sums over the samples of a pair, on several threads where they are many.

use std::ops::{AddAssign, Range};

/// Samples that one thread takes at once: some 40 µs of laws on a half-space, ten times what handing them over costs.
const CHUNK: usize = 1024;

/// Adds what `add` adds for `0..count` to `sum`.
///
/// Up to [`CHUNK`] at once, in order; more in a tree of chunks that depends on `count` alone, so that any number of threads gives
/// the same bits.
#[inline]
pub(super) fn sum<S: AddAssign + Default + Send>(
    count: usize,
    sum: &mut S,
    add: &(impl Fn(Range<usize>, &mut S) + Sync),
) {
    if count <= CHUNK {
        add(0..count, sum);
    } else {
        *sum += tree(0..count, add);
    }
}

fn tree<S: AddAssign + Default + Send>(
    range: Range<usize>,
    add: &(impl Fn(Range<usize>, &mut S) + Sync),
) -> S {
    if range.len() <= CHUNK {
        let mut sum = S::default();
        add(range, &mut sum);
        return sum;
    }
    let middle = range.start + range.len().div_ceil(2 * CHUNK) * CHUNK;
    let halves = (|| tree(range.start..middle, add), || tree(middle..range.end, add));
    // Handing over allocates: one thread does without.
    let alone = rayon::current_num_threads() == 1;
    let (mut sum, rest) =
        if alone { (halves.0(), halves.1()) } else { rayon::join(halves.0, halves.1) };
    sum += rest;
    sum
}

/// What `find` finds in `0..count`, in order.
pub(super) fn find<S: Send>(
    count: usize,
    found: &mut Vec<S>,
    find: &(impl Fn(Range<usize>, &mut Vec<S>) + Sync),
) {
    found.clear();
    if count <= CHUNK || rayon::current_num_threads() == 1 {
        find(0..count, found);
    } else {
        let mut parts: Vec<Vec<S>> = (0..count.div_ceil(CHUNK)).map(|_| Vec::new()).collect();
        rayon::scope(|scope| {
            for (i, part) in parts.iter_mut().enumerate() {
                scope.spawn(move |_| find(i * CHUNK..count.min((i + 1) * CHUNK), part));
            }
        });
        parts.iter_mut().for_each(|part| found.append(part));
    }
}

#[cfg(test)]
mod tests {
    use crate::assembly::{Blocks, Moving, NearForces, PairStage, Wrenches};
    use crate::kinematics::Pullback;
    use crate::{ContactLaw, DissipationSchedule, PairParams};
    use nalgebra::{Matrix3, Vector3};
    use osculate_geometry::collider::Collider;
    use osculate_math::se3::Pose;
    use osculate_math::so3;

    const MOVING: Moving = Moving { colliding: true, collider: true };

    /// 5000 samples of a sheet across the surface of a collider.
    fn with_sheet<R>(
        collider: &Collider,
        schedule: DissipationSchedule,
        use_it: impl FnOnce(&PairStage<'_>) -> R,
    ) -> R {
        let points: Vec<_> = (0..5000)
            .map(|i| {
                let s = f64::from(i);
                Vector3::new((0.37 * s).sin(), (0.53 * s).cos(), 1.5e-3 * (0.91 * s).sin())
            })
            .collect();
        let weights: Vec<_> = (0..5000).map(|i| 1e-4 * (1.0 + f64::from(i % 7))).collect();
        let law = ContactLaw { schedule, ..ContactLaw::default() };
        let params = PairParams {
            stiffness: 1e6,
            smoothing: 1e-3,
            threshold: 1e-3,
            max_alignment: 0.0,
            friction: 0.4,
            viscous_friction: 0.1,
            damping: 0.3,
            falloff_speed: 0.01,
            collider_normal: true,
        };
        let pose = |z: f64, turn: f64| Pose {
            position: Vector3::new(0.01 * turn, 0.0, z),
            rotation: so3::exp(&Vector3::new(1e-3 * turn, -2e-3, 0.1)),
        };
        let still = Pose { position: Vector3::zeros(), rotation: Matrix3::identity() };
        use_it(&PairStage {
            law: &law,
            params: &params,
            collider,
            points: &points,
            weights: &weights,
            normals: None,
            now: Pullback::new(&pose(-2e-4, 1.0), &still, Vector3::zeros()),
            start: Pullback::new(&pose(1e-4, 0.9), &still, Vector3::zeros()),
            duration: 1e-3,
        })
    }

    type Sums = (Wrenches, Blocks, Wrenches, NearForces, Wrenches, Vec<u32>);

    fn sums(stage: &PairStage<'_>) -> Sums {
        let (mut w, mut blocks) = (Wrenches::default(), Blocks::default());
        stage.add_forces_and_jacobian(MOVING, &mut w, &mut blocks);
        let mut plain = Wrenches::default();
        stage.add_forces(&mut plain);
        let (mut near, mut found) = (Vec::new(), NearForces::default());
        stage.find_near(1e-3, &mut near);
        stage.near_forces(&near, 0.0, &mut found);
        let mut of = Wrenches::default();
        stage.add_forces_of(&near, &mut of);
        (w, blocks, plain, found, of, near.iter().map(|n| n.index).collect())
    }

    fn in_pool(threads: usize, stage: &PairStage<'_>) -> Sums {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| sums(stage))
    }

    fn for_every_sheet(mut check: impl FnMut(&PairStage<'_>)) {
        use DissipationSchedule::{Current, CurrentGeometry, StageStart};
        let ground = Collider::half_space(Vector3::z(), 0.0).unwrap();
        let ball = Collider::sphere(Vector3::new(0.0, 0.0, -2000.0), 2000.0).unwrap();
        for collider in [ground, ball] {
            for schedule in [StageStart, CurrentGeometry, Current] {
                with_sheet(&collider, schedule, &mut check);
            }
        }
    }

    #[test]
    fn sums_over_many_samples_have_the_same_bits_for_any_number_of_threads() {
        for_every_sheet(|stage| {
            let one = in_pool(1, stage);
            assert!(one.0.magnitude > 0.0 && one.5.len() > super::CHUNK);
            for threads in [2, 3, 4] {
                let many = in_pool(threads, stage);
                assert_eq!((one.0, one.1, one.2, one.4), (many.0, many.1, many.2, many.4));
                assert_eq!(format!("{:?}", one.3), format!("{:?}", many.3));
                assert_eq!(one.5, many.5);
            }
        });
    }

    /// Pieces below the size of a chunk are added one sample after the other.
    #[test]
    fn sums_over_many_samples_are_those_of_the_pieces_of_the_surface() {
        for_every_sheet(|stage| {
            let all = sums(stage);
            let (mut w, mut blocks, mut of) =
                (Wrenches::default(), Blocks::default(), Wrenches::default());
            let (mut potential, mut indices) = (0.0, Vec::new());
            for piece in 0..10_usize {
                let range = piece * 500..(piece + 1) * 500;
                let points = &stage.points[range.clone()];
                let part = PairStage { points, weights: &stage.weights[range], ..*stage };
                let (x, b, _, near, y, found) = sums(&part);
                w += x;
                of += y;
                potential += near.potential;
                indices.extend(found.iter().map(|i| i + piece as u32 * 500));
                for (to, from) in blocks.0.iter_mut().flatten().zip(b.0.iter().flatten()) {
                    *to += from;
                }
            }
            assert_eq!(indices, all.5);
            let close = |x: f64, y: f64, scale: f64| assert!((x - y).abs() <= 1e-12 * scale);
            let flat = |w: &Wrenches| [w.force, w.torque_a, w.torque_b];
            for (x, y) in [(&all.0, &w), (&all.2, &w), (&all.4, &of), (&all.3.wrenches, &w)] {
                for (x, y) in flat(x).iter().zip(flat(y)) {
                    x.iter().zip(&y).for_each(|(x, y)| close(*x, *y, w.magnitude));
                }
            }
            close(all.3.potential, potential, potential.abs());
            let largest = blocks.0.iter().flatten().map(|b| b.amax()).fold(0.0, f64::max);
            for (x, y) in all.1.0.iter().flatten().zip(blocks.0.iter().flatten()) {
                x.iter().zip(y).for_each(|(x, y)| close(*x, *y, largest));
            }
        });
    }
}
