//! Which bodies can touch within a step, and where.
//!
//! ```text
//! ‖c_a − c_b‖ ≤ r_a + r_b + margin + reach_a + reach_b        reach = h max ‖v‖ + ‖ω‖ r, before and without contact
//! ```
//!
//! `r` is the radius of a ball about the centre of mass. Boxes about the balls go through a bounding-volume tree; what it finds
//! is then tested as every pair would be, so the tree changes nothing but the time.

use super::body::RigidState;
use super::build::Touch;
use super::system::System;
use nalgebra::Vector3;
use osculate_geometry::aabb::Aabb;
use osculate_geometry::broad_phase::overlapping;
use osculate_geometry::manifold::{Placed, contacts};
use osculate_math::se3::Pose;
use rayon::prelude::*;

/// Up to so many bodies each is compared with each.
const FEW: usize = 24;
/// From so many pairs on their contacts are looked for on several threads.
const MANY: usize = 1024;
/// Boxes are larger than the balls by this part: the tree must not miss what the balls would find.
const SLACK: f64 = 1e-9;

/// Bodies at the start of a step.
pub(crate) struct Near<'a> {
    pub(crate) system: &'a System,
    pub(crate) states: &'a [RigidState],
    /// Linear and angular velocity of each body without contact.
    pub(crate) ahead: &'a [[Vector3<f64>; 2]],
    /// Gap up to which contacts are listed \[m\].
    pub(crate) margin: f64,
    /// Duration of the step \[s\].
    pub(crate) duration: f64,
}

impl Near<'_> {
    /// Contacts of all pairs, pairs in ascending order.
    pub(crate) fn touches(&self) -> Vec<Touch> {
        let items = &self.system.items;
        let local =
            |(state, item): (&RigidState, &super::system::Item)| state.local_pose(&item.center);
        let poses: Vec<Pose> = self.states.iter().zip(items).map(local).collect();
        let reach: Vec<f64> = (0..items.len()).map(|i| self.reach(i)).collect();
        let pairs = if items.len() > FEW { self.by_tree(&reach) } else { self.by_pairs(&reach) };
        let of = |&pair: &[usize; 2]| self.between(pair, &poses, &reach);
        if pairs.len() < MANY || rayon::current_num_threads() == 1 {
            return pairs.iter().flat_map(of).collect();
        }
        let found: Vec<Vec<Touch>> = pairs.par_iter().map(of).collect();
        found.into_iter().flatten().collect()
    }

    /// How far a point of a body can get in a step \[m\].
    fn reach(&self, i: usize) -> f64 {
        let radius = self.system.items[i].radius.unwrap_or(0.0);
        let speed = |v: &Vector3<f64>, w: &Vector3<f64>| v.norm() + w.norm() * radius;
        let (state, [linear, angular]) = (&self.states[i], &self.ahead[i]);
        self.duration * speed(&state.velocity, &state.angular_velocity).max(speed(linear, angular))
    }

    /// Whether the balls of two bodies that may touch meet within the step.
    fn meet(&self, [a, b]: [usize; 2], reach: &[f64]) -> bool {
        let radius = |i: usize| self.system.items[i].radius;
        let near = match (radius(a), radius(b)) {
            (Some(r), Some(s)) => {
                let margin = self.margin + reach[a] + reach[b];
                (self.states[a].center - self.states[b].center).norm() <= r + s + margin
            }
            _ => true,
        };
        near && self.system.may_touch([a, b])
    }

    /// Pairs that meet, each body compared with each.
    fn by_pairs(&self, reach: &[f64]) -> Vec<[usize; 2]> {
        let n = self.states.len();
        let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b]));
        all.filter(|&pair| self.meet(pair, reach)).collect()
    }

    /// The same by a bounding-volume tree.
    fn by_tree(&self, reach: &[f64]) -> Vec<[usize; 2]> {
        let boxed = |i: usize| {
            let (item, center) = (&self.system.items[i], &self.states[i].center);
            // One without a shape meets none; one that is anywhere may meet all.
            let radius = if item.shape.is_none() { 0.0 } else { item.radius? };
            let radius = Some(radius + reach[i] + 0.5 * self.margin).filter(|r| r.is_finite())?;
            let half = radius + SLACK * (radius + center.amax());
            Some(Aabb::about(center, &Vector3::repeat(half)))
        };
        let boxes: Vec<_> = (0..self.states.len()).map(boxed).collect();
        let pairs = overlapping(&boxes).into_iter().map(|(a, b)| [a as usize, b as usize]);
        pairs.filter(|&pair| self.meet(pair, reach)).collect()
    }

    fn between(&self, [a, b]: [usize; 2], poses: &[Pose], reach: &[f64]) -> Vec<Touch> {
        let [Some(sa), Some(sb)] = [a, b].map(|i| self.system.items[i].shape.as_ref()) else {
            return Vec::new();
        };
        let margin = self.margin + reach[a] + reach[b];
        let first = Placed { shape: sa, pose: &poses[a] };
        let found = contacts(first, Placed { shape: sb, pose: &poses[b] }, margin);
        let touch = |contact: osculate_geometry::manifold::Contact| Touch {
            bodies: [a, b],
            contact,
            point: contact.evaluate(&poses[a], &poses[b]),
        };
        found.into_iter().map(touch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Parameters, Scene};
    use osculate_geometry::collider::Collider;
    use osculate_geometry::filter::{Direction, Nested};
    use osculate_geometry::mass::MassProperties;

    /// A heap of balls and boxes on a plane, two of which may not touch; one body has no shape, one is thrown at the rest.
    fn heap() -> Scene {
        let mut ground = Body::fixed("ground");
        ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
        let mut bodies = vec![ground];
        for i in 0..60 {
            let half = Vector3::new(0.05, 0.04, 0.06);
            let mut body =
                Body::dynamic(format!("{i}"), MassProperties::cuboid(0.3, &half).unwrap());
            let shape = match i % 3 {
                0 => Collider::sphere(Vector3::new(0.01, 0.0, 0.0), 0.05),
                _ => Collider::cuboid(Vector3::zeros(), half),
            };
            body.collider = (i != 7).then(|| shape.unwrap());
            let at = |k: usize| (0.37 * i as f64 * (1.0 + k as f64 * 0.618)).fract();
            body.pose.position = Vector3::new(0.5 * at(0), 0.5 * at(1), 0.3 * at(2));
            body.velocity = Vector3::x() * if i == 11 { 80.0 } else { 0.1 * at(3) };
            bodies.push(body);
        }
        let mut scene = Scene::new(Vector3::z() * -9.81, bodies).unwrap();
        scene.filter.enable_actors((3, 4), false, Direction::Both, Nested::No).unwrap();
        scene
    }

    #[test]
    fn tree_finds_the_pairs_and_contacts_that_all_pairs_have() {
        let scene = heap();
        let parameters = Parameters::of(&scene);
        let mut system = System::new(&scene, &parameters).unwrap();
        system.connect(9, 2);
        let states = system.initial(&parameters);
        let ahead: Vec<_> = states.iter().map(|s| [s.velocity, s.angular_velocity]).collect();
        for margin in [0.0, 1e-3, 0.05] {
            let near =
                Near { system: &system, states: &states, ahead: &ahead, margin, duration: 0.004 };
            let reach: Vec<f64> = (0..states.len()).map(|i| near.reach(i)).collect();
            let (tree, all) = (near.by_tree(&reach), near.by_pairs(&reach));
            assert!(tree == all && tree.len() > 100 && tree.len() < 61 * 30, "{}", tree.len());
            assert!(!all.contains(&[3, 4]) && !all.contains(&[2, 9]));
            assert!(all.iter().all(|pair| !pair.contains(&8)), "the body without a shape");
            // The fast one meets more than its neighbours.
            assert!(all.iter().filter(|pair| pair.contains(&12)).count() > 30);
            let listed: Vec<[usize; 2]> = near.touches().iter().map(|t| t.bodies).collect();
            assert!(listed.is_sorted() && listed.iter().all(|pair| all.contains(pair)));
        }
    }
}
