//! Contacts of a pair of bodies that touch as one surface.
//!
//! ```text
//! of one pair of bodies, with the first contact p₀, n₀ that is not taken yet as seed, a contact p, n belongs to its region where
//! n·n₀ ≥ 0.995 (5.7°),  the same two friction coefficients,  |(p − p₀)·n₀| ≤ 0.02 R,  ‖p − p₀‖ ≤ 2 R,
//! and a chain of adjacent shapes of both bodies leads to it
//! ```
//!
//! Source: the page *Friction* of the Steel solver.

use nalgebra::Vector3;
use std::collections::VecDeque;

/// Least cosine of the normals of a region.
pub const ALIGNED: f64 = 0.995;

/// A contact, as regions see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchContact {
    /// The pair of bodies; a static body counts by shape.
    pub pair: usize,
    /// The two shapes.
    pub shapes: [usize; 2],
    /// Friction of the two shapes \[–\].
    pub friction: [f64; 2],
    /// \[m\]
    pub position: Vector3<f64>,
    /// Unit vector.
    pub normal: Vector3<f64>,
    /// `R` of the pair \[m\].
    pub length: f64,
}

/// Same bits: coefficients are copied, not computed.
fn same_friction(a: &[f64; 2], b: &[f64; 2]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.total_cmp(y).is_eq())
}

impl PatchContact {
    /// Whether it lies on the surface of the seed.
    fn lies_on(&self, seed: &Self) -> bool {
        let offset = self.position - seed.position;
        self.pair == seed.pair
            && same_friction(&self.friction, &seed.friction)
            && self.normal.dot(&seed.normal) >= ALIGNED
            && offset.dot(&seed.normal).abs() <= 0.02 * seed.length
            && offset.norm() <= 2.0 * seed.length
    }
}

/// Indices of the contacts of each region, ascending; every contact is in one.
///
/// * `adjacent`: whether two shapes of one body touch; a shape is adjacent to itself, without being asked.
///
/// The order of contacts decides about seeds, so that the caller should keep it from step to step.
pub fn regions(
    contacts: &[PatchContact],
    adjacent: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let joined = |a: usize, b: usize| a == b || adjacent(a, b);
    let mut taken = vec![false; contacts.len()];
    let mut found = Vec::new();
    for (seed, first) in contacts.iter().enumerate() {
        if taken[seed] {
            continue;
        }
        taken[seed] = true;
        let mut region = vec![seed];
        let mut front = VecDeque::from([seed]);
        while let Some(member) = front.pop_front() {
            let [a, b] = contacts[member].shapes;
            for (i, contact) in contacts.iter().enumerate().skip(seed + 1) {
                let reached = joined(a, contact.shapes[0]) && joined(b, contact.shapes[1]);
                if !taken[i] && contact.lies_on(first) && reached {
                    taken[i] = true;
                    region.push(i);
                    front.push_back(i);
                }
            }
        }
        region.sort_unstable();
        found.push(region);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(x: f64, y: f64, shape: usize) -> PatchContact {
        PatchContact {
            pair: 0,
            shapes: [shape, 9],
            friction: [0.5, 0.4],
            position: Vector3::new(x, y, 0.0),
            normal: Vector3::z(),
            length: 0.1,
        }
    }

    fn apart(_: usize, _: usize) -> bool {
        false
    }

    #[test]
    fn corners_of_a_face_are_one_region() {
        let corners = [
            contact(0.0, 0.0, 1),
            contact(0.1, 0.0, 1),
            contact(0.1, 0.1, 1),
            contact(0.0, 0.1, 1),
        ];
        assert_eq!(regions(&corners, apart), [vec![0, 1, 2, 3]]);
        assert!(regions(&[], apart).is_empty());
    }

    #[test]
    fn each_condition_splits() {
        let seed = contact(0.0, 0.0, 1);
        let other = contact(0.05, 0.0, 1);
        let tilted = Vector3::new(0.11, 0.0, (1.0 - 0.11_f64 * 0.11).sqrt());
        for split in [
            PatchContact { pair: 1, ..other },
            PatchContact { friction: [0.4, 0.5], ..other },
            PatchContact { normal: tilted, ..other },
            PatchContact { position: Vector3::new(0.05, 0.0, 2.1e-3), ..other },
            PatchContact { position: Vector3::new(0.201, 0.0, 0.0), ..other },
            PatchContact { shapes: [2, 9], ..other },
            PatchContact { shapes: [1, 8], ..other },
        ] {
            assert_eq!(regions(&[seed, split], apart), [vec![0], vec![1]], "{split:?}");
        }
        assert_eq!(regions(&[seed, other], apart), [vec![0, 1]]);
    }

    #[test]
    fn a_chain_of_adjacent_shapes_joins_its_ends() {
        let row: Vec<_> = [0, 3, 1, 2].iter().map(|&i| contact(0.03 * i as f64, 0.0, i)).collect();
        let neighbours = |a: usize, b: usize| a.abs_diff(b) == 1;
        assert_eq!(regions(&row, neighbours), [vec![0, 1, 2, 3]]);
        let broken = |a: usize, b: usize| neighbours(a, b) && a.min(b) != 1;
        assert_eq!(regions(&row, broken), [vec![0, 2], vec![1, 3]]);
    }
}
