//! Broad phase: which bodies can touch at all.
//!
//! Axis-aligned boxes in a bounding-volume hierarchy (parry's). Two bodies whose boxes are apart have no sample within the
//! threshold of each other's collider, so the boxes must contain samples and colliders, padded by the threshold.

use crate::aabb::Aabb;
use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb as ParryAabb;
use parry3d_f64::math::Vector as ParryVector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// Pairs `(i, j)`, `i < j`, of boxes that share a point, in ascending order. `None` is unbounded (a half-space) and is
/// paired with every box there is, not with other unbounded ones.
pub fn overlapping(boxes: &[Option<Aabb>]) -> Vec<(u32, u32)> {
    let (bounded, unbounded): (Vec<usize>, Vec<usize>) =
        (0..boxes.len()).partition(|&i| boxes[i].is_some());
    let vector = |v: &Vector3<f64>| ParryVector::new(v.x, v.y, v.z);
    // The tree wants consecutive indices.
    let leaves = bounded.iter().filter_map(|&i| boxes[i].as_ref());
    let leaves: Vec<_> =
        leaves.map(|b| ParryAabb::new(vector(&b.lower), vector(&b.upper))).collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves);
    let mut pairs = Vec::new();
    let mut put = |i: usize, j: usize| pairs.push((i.min(j) as u32, i.max(j) as u32));
    let mut leaf_pair = |i: u32, j: u32| put(bounded[i as usize], bounded[j as usize]);
    tree.traverse_bvtt_single_tree::<false>(&mut BvhWorkspace::default(), &mut leaf_pair);
    for &i in &unbounded {
        bounded.iter().for_each(|&j| put(i, j));
    }
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn coordinates() -> impl Strategy<Value = [f64; 6]> {
        prop::array::uniform6(-1.0..1.0)
    }

    fn boxed(x: [f64; 6]) -> Option<Aabb> {
        let (a, size) = (Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
        // One in about eight is unbounded.
        (size.sum() > -1.5).then(|| Aabb { lower: a, upper: a + size.abs() * 0.4 })
    }

    proptest! {
        #[test]
        fn pairs_are_those_of_comparing_each_with_each(
            all in prop::collection::vec(coordinates(), 0..40)
        ) {
            let boxes: Vec<_> = all.into_iter().map(boxed).collect();
            let mut expected = Vec::new();
            for i in 0..boxes.len() {
                for j in i + 1..boxes.len() {
                    let meet = match (&boxes[i], &boxes[j]) {
                        (Some(a), Some(b)) => a.overlaps(b),
                        (None, None) => false,
                        _ => true,
                    };
                    if meet {
                        expected.push((i as u32, j as u32));
                    }
                }
            }
            prop_assert_eq!(overlapping(&boxes), expected);
        }

        #[test]
        fn moved_box_contains_the_moved_points(x in coordinates(), turn in prop::array::uniform3(-3.0..3.0)) {
            let Some(b) = boxed(x) else { return Ok(()) };
            let (r, t) = (osculate_math::so3::exp(&Vector3::from(turn)), Vector3::new(x[3], x[0], 1.0));
            let moved = b.moved(&r, &t).padded(1e-12);
            for corner in 0..8 {
                let p = Vector3::from_fn(|k, _| if corner >> k & 1 == 1 { b.upper[k] } else { b.lower[k] });
                let p = r * p + t;
                let point = Aabb { lower: p, upper: p };
                prop_assert!(moved.contains(&point));
            }
        }
    }
}
