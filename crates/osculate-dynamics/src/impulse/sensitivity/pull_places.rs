//! Pullback of where things are: anchors to what they continue and to contacts, contacts to poses and dimensions.

use super::adjoint::{StateBar, Sweep, settle};
use super::back::Back;
use super::carry::{self, AnchorBar, AnchorState, Memory};
use super::stretch;
use crate::impulse::body::RigidState;
use crate::impulse::{AnchorImpulse, ContactImpulse};
use nalgebra::Vector3;
use osculate_contact::impulse::patch::Motion;
use osculate_math::se3::Pose;

fn anchor_state(a: &AnchorImpulse) -> AnchorState {
    AnchorState { position: a.position, normal: a.normal, displacement: a.displacement }
}

/// How the bodies of the last anchor moved: anchors are listed pair by pair.
#[derive(Default)]
struct LastMotions(Option<([usize; 2], [Motion; 2])>);

impl LastMotions {
    /// * `poses`: before and now.
    fn of(&mut self, bodies: [usize; 2], [before, now]: [&[Pose; 2]; 2]) -> [Motion; 2] {
        if let Some((_, motions)) = self.0.filter(|(same, _)| *same == bodies) {
            return motions;
        }
        let motions = std::array::from_fn(|k| match before[k] == now[k] {
            true => Motion { center: now[k].position, ..Motion::none() },
            false => carry::motion(&before[k], &now[k]),
        });
        self.0 = Some((bodies, motions));
        motions
    }
}

impl Sweep<'_> {
    /// Anchors to contacts, poses and the anchors that they continue.
    ///
    /// * `bars`: by the anchors; taken to their places.
    pub(super) fn pull_anchors(
        &mut self,
        back: &mut Back<'_>,
        anchors: &mut [AnchorBar],
        bars: &mut [StateBar],
    ) {
        let source = self.source;
        let before = match back.step {
            0 => 0,
            k => source.trajectory.records[k - 1].anchors.len(),
        };
        self.anchors.clear();
        self.anchors.resize(before, AnchorBar::default());
        let mut last = LastMotions::default();
        for (i, parts) in back.record.stretched() {
            let [a, b] = [i, i + 1].map(|k| {
                let mut state = anchor_state(&back.record.anchors[k]);
                // Before the stretch is taken out; what remembers nothing had no displacement.
                state.displacement = match self.memory(back, k, &mut last) {
                    Some((memory, ..)) => memory.displacement(&state),
                    None => Vector3::zeros(),
                };
                state
            });
            let (first, second) = anchors.split_at_mut(i + 1);
            stretch::pull_unstretch([&a, &b], [&mut first[i], &mut second[0]], parts);
        }
        for (i, anchor) in back.record.anchors.iter().enumerate() {
            let by = anchors[i].displacement;
            if by == Vector3::zeros() {
                continue;
            }
            let Some((memory, j, partner)) = self.memory(back, i, &mut last) else { continue };
            let moves = anchor.bodies.map(|b| source.system.items[b].inertia.is_some());
            let bar = memory.pull(&anchor_state(anchor), &by, moves);
            anchors[i].position += bar.new[0];
            anchors[i].normal += bar.new[1];
            self.anchors[j].add(&bar.old);
            if let Some(p) = partner {
                self.anchors[p].add(&bar.partner);
            }
            for (k, body) in anchor.bodies.into_iter().enumerate() {
                self.earlier[body].center += bar.before[k][0];
                self.earlier[body].rotation += bar.before[k][1];
                bars[body].center += bar.now[k][0];
                bars[body].rotation += bar.now[k][1];
            }
        }
        for bar in &mut self.anchors {
            for x in [&mut bar.position, &mut bar.normal, &mut bar.displacement] {
                settle(x.as_mut_slice());
            }
        }
        self.pull_places(back, anchors);
    }

    /// What an anchor continues: with the index of that anchor in the step before, and of its partner.
    fn memory(
        &self,
        back: &Back<'_>,
        i: usize,
        last: &mut LastMotions,
    ) -> Option<(Memory, usize, Option<usize>)> {
        let source = self.source;
        let anchor = &back.record.anchors[i];
        let j = anchor.continues.filter(|_| back.step > 0)?;
        let past = &source.trajectory.records[back.step - 1].anchors;
        let before = source.trajectory.state(back.step - 1);
        let poses = |s: &[RigidState]| -> [Pose; 2] { anchor.bodies.map(|b| s[b].pose()) };
        let partner = past[j].partner.filter(|&p| !past[p].released);
        let (before, now) = (poses(before), poses(back.states));
        let memory = Memory {
            old: anchor_state(&past[j]),
            partner: partner.map(|p| anchor_state(&past[p])),
            motions: last.of(anchor.bodies, [&before, &now]),
            before,
            now,
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
            self.points.clear();
            let middles = back.record.contacts[from..to].iter();
            self.points.extend(middles.map(ContactImpulse::middle));
            let footprint = source.settings.footprint;
            let normal = &anchor.normal;
            if let Some(by) = carry::pull_places(&self.points, normal, (length, footprint), own) {
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
        let mut first = 0;
        for own in back.record.contacts.chunk_by(|a, b| a.bodies == b.bodies) {
            let bars_of_points = &back.contacts[first..first + own.len()];
            first += own.len();
            let bodies = own[0].bodies;
            let poses = bodies.map(|b| back.states[b].local_pose(&parameters[b].center));
            let mut shifts = [Vector3::zeros(); 2];
            for (contact, bar) in own.iter().zip(bars_of_points) {
                let none = Vector3::zeros();
                if bar.gap == 0.0 && bar.middle == none && bar.normal == none {
                    continue;
                }
                let point = &contact.point;
                let pulled = contact.contact.pull(poses.each_ref(), point, bar);
                let middle = (point.point_a + point.point_b) * 0.5;
                for (k, body) in bodies.into_iter().enumerate() {
                    let twist = &pulled[k];
                    let arm = middle - back.states[body].center;
                    shifts[k] += twist.translation;
                    bars[body].rotation += twist.rotation + arm.cross(&twist.translation);
                    if let Some(collider) = &parameters[body].collider {
                        let contact = &contact.contact;
                        let by = contact.pull_dimensions(k, collider, &poses[k], point, twist);
                        for (sum, d) in self.total.dimensions[body].iter_mut().zip(by) {
                            *sum += d;
                        }
                    }
                }
            }
            for (body, shift) in bodies.into_iter().zip(&shifts) {
                bars[body].center += shift;
                self.total.center[body] -= back.states[body].rotation.tr_mul(shift);
            }
        }
    }
}
