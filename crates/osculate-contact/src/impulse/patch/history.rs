//! Which anchor of the step before an anchor continues.
//!
//! ```text
//! same pair and friction,  n·n_old ≥ 0.995,  ‖p − p_old‖ ≤ 2 R,  |(p − p_old)·n| ≤ 0.05 R,  ‖d‖ ≤ 0.1 R
//! gap ≤ min(contact envelope, 0.1 R),  adjacent shapes;    the nearest of those
//! ```
//!
//! Independent of how contacts are found and numbered. Points and normals of the old step are carried to the new one by the caller,
//! with the body that holds them.
//! Source: the page *Friction* of the Steel solver.

use super::regions::{ALIGNED, PatchContact};
use nalgebra::Vector3;

/// An anchor of the step before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Where it was, and of which surface.
    pub contact: PatchContact,
    /// `d` \[m\].
    pub displacement: Vector3<f64>,
}

/// An anchor of this step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Where it is, and of which surface.
    pub contact: PatchContact,
    /// Distance of the surfaces \[m\], negative in penetration.
    pub gap: f64,
    /// Gap up to which contacts are found \[m\].
    pub envelope: f64,
}

impl Memory {
    /// Distance \[m\] to an anchor that may continue it.
    fn distance_to(
        &self,
        new: &Candidate,
        adjacent: &impl Fn(usize, usize) -> bool,
    ) -> Option<f64> {
        let (old, next) = (&self.contact, &new.contact);
        let length = next.length;
        let offset = next.position - old.position;
        let joined =
            |i: usize| old.shapes[i] == next.shapes[i] || adjacent(old.shapes[i], next.shapes[i]);
        let same_friction =
            old.friction.iter().zip(&next.friction).all(|(a, b)| a.total_cmp(b).is_eq());
        let fits = old.pair == next.pair
            && same_friction
            && old.normal.dot(&next.normal) >= ALIGNED
            && offset.norm() <= 2.0 * length
            && offset.dot(&next.normal).abs() <= 0.05 * length
            && self.displacement.norm() <= 0.1 * length
            && new.gap <= new.envelope.min(0.1 * length)
            && joined(0)
            && joined(1);
        fits.then(|| offset.norm())
    }
}

/// Index of the memory that an anchor continues: the nearest that fits, the first of equally near ones.
///
/// * `adjacent`: whether two shapes of one body touch.
pub fn best_match(
    anchor: &Candidate,
    memories: &[Memory],
    adjacent: impl Fn(usize, usize) -> bool,
) -> Option<usize> {
    let near = memories
        .iter()
        .enumerate()
        .filter_map(|(i, m)| m.distance_to(anchor, &adjacent).map(|distance| (i, distance)));
    near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(x: f64) -> Memory {
        let contact = PatchContact {
            pair: 3,
            shapes: [1, 9],
            friction: [0.5, 0.4],
            position: Vector3::new(x, 0.0, 0.0),
            normal: Vector3::z(),
            length: 0.1,
        };
        Memory { contact, displacement: Vector3::new(1e-3, 0.0, 0.0) }
    }

    fn anchor() -> Candidate {
        Candidate { contact: memory(0.0).contact, gap: 0.0, envelope: 0.005 }
    }

    fn apart(_: usize, _: usize) -> bool {
        false
    }

    #[test]
    fn the_nearest_memory_is_continued() {
        let memories = [memory(0.05), memory(-0.01), memory(0.01)];
        assert_eq!(best_match(&anchor(), &memories, apart), Some(1));
        assert_eq!(best_match(&anchor(), &[], apart), None);
    }

    #[test]
    fn each_condition_forgets() {
        let old = memory(0.0);
        let with = |contact: PatchContact| Memory { contact, ..old };
        let c = old.contact;
        let tilted = Vector3::new(0.11, 0.0, (1.0 - 0.11_f64 * 0.11).sqrt());
        for forgotten in [
            with(PatchContact { pair: 2, ..c }),
            with(PatchContact { friction: [0.5, 0.41], ..c }),
            with(PatchContact { normal: tilted, ..c }),
            with(PatchContact { position: Vector3::new(0.21, 0.0, 0.0), ..c }),
            with(PatchContact { position: Vector3::new(0.0, 0.0, 6e-3), ..c }),
            with(PatchContact { shapes: [2, 9], ..c }),
            Memory { displacement: Vector3::new(0.011, 0.0, 0.0), ..old },
        ] {
            assert_eq!(best_match(&anchor(), &[forgotten], apart), None, "{forgotten:?}");
        }
        let moved = with(PatchContact { shapes: [2, 9], ..c });
        assert_eq!(best_match(&anchor(), &[moved], |a, b| a.abs_diff(b) == 1), Some(0));
        let lifted = Candidate { gap: 0.006, ..anchor() };
        assert_eq!(best_match(&lifted, &[old], apart), None);
    }
}
