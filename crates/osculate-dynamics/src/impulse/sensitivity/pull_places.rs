//! Pullback of where things are: anchors to what they continue and to contacts, contacts to poses and dimensions.

use super::adjoint::{StateBar, Sweep, settle};
use super::back::Back;
use super::carry::{self, AnchorBar, AnchorState, Memory};
use super::stretch;
use crate::impulse::AnchorImpulse;
use crate::impulse::body::RigidState;
use nalgebra::Vector3;
use osculate_math::se3::Pose;

fn anchor_state(a: &AnchorImpulse) -> AnchorState {
    AnchorState { position: a.position, normal: a.normal, displacement: a.displacement }
}

impl Sweep<'_> {
    /// Anchors to contacts, poses and the anchors that they continue.
    pub(super) fn pull_anchors(
        &mut self,
        back: &mut Back<'_>,
        anchors: &[AnchorBar],
        bars: &mut [StateBar],
    ) {
        let source = self.source;
        let mut next = match back.step {
            0 => Vec::new(),
            k => vec![AnchorBar::default(); source.trajectory.records[k - 1].anchors.len()],
        };
        let mut bars_of_place = anchors.to_vec();
        for (i, parts) in back.record.stretched() {
            let [a, b] = [i, i + 1].map(|k| {
                let mut state = anchor_state(&back.record.anchors[k]);
                // Before the stretch is taken out; what remembers nothing had no displacement.
                state.displacement = match self.memory(back, k) {
                    Some((memory, ..)) => memory.displacement(&state),
                    None => Vector3::zeros(),
                };
                state
            });
            let (first, second) = bars_of_place.split_at_mut(i + 1);
            stretch::pull_unstretch([&a, &b], [&mut first[i], &mut second[0]], parts);
        }
        for (i, anchor) in back.record.anchors.iter().enumerate() {
            let Some((memory, j, partner)) = self.memory(back, i) else { continue };
            let by = bars_of_place[i].displacement;
            if by == Vector3::zeros() {
                continue;
            }
            let moves = anchor.bodies.map(|b| source.system.items[b].inertia.is_some());
            let bar = memory.pull(&anchor_state(anchor), &by, moves);
            bars_of_place[i].position += bar.new[0];
            bars_of_place[i].normal += bar.new[1];
            next[j].add(&bar.old);
            if let Some(p) = partner {
                next[p].add(&bar.partner);
            }
            for (k, body) in anchor.bodies.into_iter().enumerate() {
                self.earlier[body].center += bar.before[k][0];
                self.earlier[body].rotation += bar.before[k][1];
                bars[body].center += bar.now[k][0];
                bars[body].rotation += bar.now[k][1];
            }
        }
        for bar in &mut next {
            for x in [&mut bar.position, &mut bar.normal, &mut bar.displacement] {
                settle(x.as_mut_slice());
            }
        }
        self.anchors = next;
        self.pull_places(back, &bars_of_place);
    }

    /// What an anchor continues: with the index of that anchor in the step before, and of its partner.
    fn memory(&self, back: &Back<'_>, i: usize) -> Option<(Memory, usize, Option<usize>)> {
        let source = self.source;
        let anchor = &back.record.anchors[i];
        let j = anchor.continues.filter(|_| back.step > 0)?;
        let past = &source.trajectory.records[back.step - 1].anchors;
        let before = source.trajectory.state(back.step - 1);
        let poses = |s: &[RigidState]| -> [Pose; 2] { anchor.bodies.map(|b| s[b].pose()) };
        let partner = past[j].partner.filter(|&p| !past[p].released);
        let memory = Memory {
            old: anchor_state(&past[j]),
            partner: partner.map(|p| anchor_state(&past[p])),
            before: poses(before),
            now: poses(back.states),
            holder: carry::holder_of(&source.system, anchor.bodies),
        };
        Some((memory, j, partner))
    }

    /// Places of anchors to the contacts of their regions.
    fn pull_places(&mut self, back: &mut Back<'_>, bars: &[AnchorBar]) {
        let source = self.source;
        let mut i = 0;
        while i < bars.len() {
            let anchor = &back.record.anchors[i];
            let [from, to] = anchor.contacts;
            let count = 1 + usize::from(anchor.partner.is_some());
            let own = &bars[i..i + count];
            if source.together(back.record, anchor) {
                let share = own[0].position / (to - from) as f64;
                back.contacts[from..to].iter_mut().for_each(|c| c.middle += share);
                back.contacts[from].normal += own[0].normal;
                i += 1;
                continue;
            }
            let length = carry::length(&source.system, anchor.bodies);
            let points: Vec<Vector3<f64>> = back.record.contacts[from..to]
                .iter()
                .map(|c| (c.point.point_a + c.point.point_b) * 0.5)
                .collect();
            let footprint = source.settings.footprint;
            let normal = &anchor.normal;
            if let Some(by) = carry::pull_places(&points, normal, (length, footprint), own) {
                for (bar, middle) in back.contacts[from..to].iter_mut().zip(&by.points) {
                    bar.middle += middle;
                }
                back.contacts[from].normal += by.normal;
            }
            let direct = own.iter().fold(Vector3::zeros(), |sum, b| sum + b.normal);
            back.contacts[from].normal += direct;
            i += count;
        }
    }

    /// Points, normals and gaps to poses and dimensions.
    pub(super) fn pull_contacts(&mut self, back: &Back<'_>, bars: &mut [StateBar]) {
        let source = self.source;
        let parameters = &source.parameters.scene.bodies;
        for (contact, bar) in back.record.contacts.iter().zip(&back.contacts) {
            if bar.gap == 0.0 && bar.middle == Vector3::zeros() && bar.normal == Vector3::zeros() {
                continue;
            }
            let bodies = contact.bodies;
            let poses = bodies.map(|b| back.states[b].local_pose(&parameters[b].center));
            let point = &contact.point;
            let pulled = contact.contact.pull(poses.each_ref(), point, bar);
            let middle = (point.point_a + point.point_b) * 0.5;
            for (k, body) in bodies.into_iter().enumerate() {
                let twist = &pulled[k];
                let state = &back.states[body];
                bars[body].center += twist.translation;
                bars[body].rotation +=
                    twist.rotation + (middle - state.center).cross(&twist.translation);
                self.total.center[body] -= state.rotation.tr_mul(&twist.translation);
                if let Some(collider) = &parameters[body].collider {
                    let contact = &contact.contact;
                    let by = contact.pull_dimensions(k, collider, &poses[k], point, twist);
                    for (sum, d) in self.total.dimensions[body].iter_mut().zip(by) {
                        *sum += d;
                    }
                }
            }
        }
    }
}
