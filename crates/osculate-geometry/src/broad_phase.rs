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
///
/// [`BroadPhase::overlapping`] in memory of its own.
pub fn overlapping(boxes: &[Option<Aabb>]) -> Vec<(u32, u32)> {
    let mut broad_phase = BroadPhase::default();
    broad_phase.overlapping(boxes);
    broad_phase.pairs
}

/// Memory of the search for boxes that share a point: asked again for as many boxes it allocates nothing, once its lists do not grow.
#[derive(Clone, Default)]
pub struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    leaves: Vec<ParryAabb>,
    bounded: Vec<u32>,
    unbounded: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase").field("pairs", &self.pairs).finish_non_exhaustive()
    }
}

impl BroadPhase {
    /// As [`overlapping`].
    pub fn overlapping(&mut self, boxes: &[Option<Aabb>]) -> &[(u32, u32)] {
        self.sort_out(boxes);
        self.plant();
        let Self { tree, workspace, bounded, unbounded, pairs, .. } = self;
        pairs.clear();
        let mut put = |i: u32, j: u32| pairs.push((i.min(j), i.max(j)));
        let mut leaf_pair = |i: u32, j: u32| put(bounded[i as usize], bounded[j as usize]);
        tree.traverse_bvtt_single_tree::<false>(workspace, &mut leaf_pair);
        for &i in &*unbounded {
            bounded.iter().for_each(|&j| put(i, j));
        }
        pairs.sort_unstable();
        pairs
    }

    /// Lists the boxes that have bounds, which the tree wants to have consecutive indices, and those that have none.
    fn sort_out(&mut self, boxes: &[Option<Aabb>]) {
        let vector = |v: &Vector3<f64>| ParryVector::new(v.x, v.y, v.z);
        self.bounded.clear();
        self.unbounded.clear();
        self.leaves.clear();
        for (i, place) in boxes.iter().enumerate() {
            if let Some(b) = place {
                self.bounded.push(i as u32);
                self.leaves.push(ParryAabb::new(vector(&b.lower), vector(&b.upper)));
            } else {
                self.unbounded.push(i as u32);
            }
        }
    }

    /// Makes the tree of the leaves: in place where it has as many already.
    fn plant(&mut self) {
        if self.tree.leaf_count() as usize != self.leaves.len() {
            self.tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &self.leaves);
            return;
        }
        for (i, leaf) in self.leaves.iter().enumerate() {
            self.tree.insert_or_update_partially(*leaf, i as u32, 0.0);
        }
        // Two leaves are children of the root, and nothing stands above them.
        if self.leaves.len() > 2 {
            self.tree.rebuild(&mut self.workspace, BvhBuildStrategy::Binned);
        }
    }
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

        /// The tree is made anew in place for as many boxes, whatever they were before.
        #[test]
        fn pairs_found_in_used_memory_are_those_found_in_new(
            rounds in prop::collection::vec(prop::collection::vec(coordinates(), 0..12), 1..8)
        ) {
            let mut broad_phase = BroadPhase::default();
            for round in rounds {
                let boxes: Vec<_> = round.into_iter().map(boxed).collect();
                prop_assert_eq!(broad_phase.overlapping(&boxes), overlapping(&boxes));
                let swapped: Vec<_> = boxes.iter().rev().copied().collect();
                prop_assert_eq!(broad_phase.overlapping(&swapped), overlapping(&swapped));
            }
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
