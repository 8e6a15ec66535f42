//! Patch friction: the friction of a region acts at one or two anchors that remember how far they were dragged.
//!
//! ```text
//! region   contacts of two bodies on one surface, every contact with its own normal row
//! anchors  at the ends of the footprint's long axis, each with the disk ‖r‖ ≤ μ/#anchors Σ r_N
//! row      u_T + β d/h,   d ← P_n [transport(d) + disp_a(p) − disp_b(p)] between the starts of two steps,
//!          of two anchors without what stretches their span
//! ```
//!
//! Between steps a memory stays with the larger of the two bodies: a ball that rolls on the ground leaves it behind, a box on a
//! turntable is carried along with it.

use super::body::RigidState;
use super::build::{Builder, Touch};
use super::memory::clamped;
use super::row::Velocities;
use super::rows::{FrictionPair, Group, Rows};
use super::solve::{velocity, world};
use super::spin::Angular;
use super::system::System;
use nalgebra::{Vector2, Vector3};
use osculate_contact::impulse::Condim;
use osculate_contact::impulse::patch::anchors::{Anchors, anchors};
use osculate_contact::impulse::patch::motion::midpoint;
use osculate_contact::impulse::patch::release::AnchorState;
use osculate_contact::impulse::patch::{
    Candidate, DisplacementField, Interpolation, Memory, Motion, PatchContact, Release, best_match,
    carry, drift_velocity, regions, unstretched,
};
use std::ops::Range;

/// An anchor of a step.
#[derive(Clone, Debug)]
pub(crate) struct Anchor {
    pub(crate) bodies: [usize; 2],
    pub(crate) surface: PatchContact,
    /// Smallest gap of the contacts of its region \[m\].
    pub(crate) gap: f64,
    /// `d` \[m\], world, of the first body against the second.
    pub(crate) displacement: Vector3<f64>,
    /// Friction impulse on the first body \[N s\], world.
    pub(crate) impulse: Vector3<f64>,
    /// `Σ r_N` of its region \[N s\].
    pub(crate) load: f64,
    /// `ρ` \[N s\].
    pub(crate) radius: f64,
    /// The other anchor of its region.
    pub(crate) partner: Option<usize>,
    /// Group of its region.
    pub(crate) group: usize,
    /// Its pair of rows.
    pub(crate) pair: usize,
    /// Whether it let go at the end of the step.
    pub(crate) released: bool,
    /// Rows of the normals of its region.
    pub(crate) contacts: Range<usize>,
    /// The anchor of the last step whose displacement it continues.
    pub(crate) continues: Option<usize>,
}

/// Anchors of the last step, and where the bodies were at its start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patches {
    pub(crate) anchors: Vec<Anchor>,
    states: Vec<RigidState>,
    duration: f64,
}

impl Patches {
    /// Forgets what involves a body.
    pub(crate) fn forget(&mut self, body: usize) {
        let keep: Vec<bool> = self.anchors.iter().map(|a| !a.bodies.contains(&body)).collect();
        // Partners have the same bodies, so both stay or both go.
        let place = |i: usize| keep[..i].iter().filter(|k| **k).count();
        let kept = self.anchors.iter().enumerate().filter(|(i, _)| keep[*i]);
        self.anchors =
            kept.map(|(_, a)| Anchor { partner: a.partner.map(place), ..a.clone() }).collect();
    }

    /// Rows of all regions; returns the anchors, started from what the old ones remember.
    pub(crate) fn build(
        &self,
        builder: &Builder<'_>,
        touches: &[Touch],
        rows: &mut Rows,
    ) -> Vec<Anchor> {
        let surfaces: Vec<_> = touches.iter().map(|t| surface(builder.system, t)).collect();
        let past = Past::new(self, builder);
        let mut found: Vec<Anchor> = Vec::new();
        for members in by_pair(&surfaces) {
            let (condim, ..) = builder.system.condim(touches[members[0]].bodies);
            if condim != Condim::Sliding {
                // Angular coefficients belong to a contact, not to a region.
                members.iter().for_each(|&i| builder.point(&touches[i], i, rows));
                continue;
            }
            let first = rows.normals.len();
            rows.normals.extend(members.iter().map(|&i| builder.normal(&touches[i], i)));
            let normals = first..rows.normals.len();
            let start = rows.pairs.len();
            let bodies = touches[members[0]].bodies;
            let gap = members.iter().map(|&i| touches[i].point.gap).fold(f64::INFINITY, f64::min);
            let together = builder.system.is_together(builder.settings, bodies, gap);
            // A member too far off for friction keeps its normal row.
            let near = |i: &usize| builder.has_friction(&touches[*i]);
            let rubbing: Vec<usize> = members.iter().copied().filter(near).collect();
            let places = match rubbing.is_empty() {
                true => Vec::new(),
                false => footprint(builder, touches, &rubbing, &surfaces, together),
            };
            let friction = builder.system.friction(bodies, builder.settings);
            let share = friction / places.len().max(1) as f64;
            let first = found.len();
            for place in &places {
                let mut anchor = Anchor {
                    bodies,
                    surface: *place,
                    gap,
                    displacement: Vector3::zeros(),
                    impulse: Vector3::zeros(),
                    load: 0.0,
                    radius: 0.0,
                    partner: None,
                    group: rows.groups.len(),
                    pair: start + found.len() - first,
                    released: false,
                    contacts: normals.clone(),
                    continues: None,
                };
                past.recall(&mut anchor, builder);
                found.push(anchor);
            }
            if let [a, b] = &mut found[first..] {
                (a.partner, b.partner) = (Some(first + 1), Some(first));
                unstretch(a, b);
            }
            rows.pairs.extend(found[first..].iter().map(|a| pair(builder, a, share)));
            let normal = &surfaces[members[0]].normal;
            let angular = match places.is_empty() {
                true => Angular::None,
                false => builder.spin(bodies, normal, gap, (friction, rows.pairs.get(start))),
            };
            let pairs = start..rows.pairs.len();
            rows.push(Group { normals, pairs, angular, point: false });
        }
        found
    }

    /// Starts friction from the impulses that the anchors carry, on the disks of the loads they start from.
    pub(crate) fn start(anchors: &[Anchor], rows: &mut Rows) {
        for anchor in anchors {
            let load = rows.load(&rows.groups[anchor.group]);
            let pair = &mut rows.pairs[anchor.pair];
            pair.impulse = clamped(pair, &anchor.impulse, load);
        }
    }

    /// Keeps the anchors of a step that is done, and lets go of those that slide.
    pub(crate) fn store(
        &mut self,
        mut anchors: Vec<Anchor>,
        (rows, v): (&Rows, &Velocities),
        states: &[RigidState],
        duration: f64,
    ) {
        let release = Release::default();
        for anchor in &mut anchors {
            let pair = &rows.pairs[anchor.pair];
            anchor.load = rows.load(&rows.groups[anchor.group]);
            anchor.radius = rows.groups[anchor.group].angular.sliding_radius(pair, anchor.load);
            anchor.impulse = world(pair);
            let [s, t] = &pair.directions;
            let u: Vector2<f64> = velocity(pair, v);
            let state = AnchorState {
                load: anchor.load,
                radius: anchor.radius,
                impulse: anchor.impulse,
                slip: s * u.x + t * u.y,
            };
            anchor.released = release.releases(&state, anchor.surface.length, duration);
        }
        self.anchors = anchors;
        self.states = states.to_vec();
        self.duration = duration;
    }
}

/// What the anchors of the last step say at the start of this one.
struct Past<'a> {
    patches: &'a Patches,
    motions: Vec<Motion>,
    memories: Vec<Memory>,
}

impl<'a> Past<'a> {
    fn new(patches: &'a Patches, builder: &Builder<'_>) -> Self {
        let moved = patches.states.iter().zip(builder.states);
        let motions: Vec<_> = moved
            .map(|(old, new)| Motion::between(&old.pose(), &new.pose(), Interpolation::Screw))
            .collect();
        let memories = patches.anchors.iter().map(|a| {
            let holder = holder(builder.system, a.bodies);
            let (old, new) = (&patches.states[holder], &builder.states[holder]);
            let turn = new.rotation * old.rotation.transpose();
            let surface = PatchContact {
                position: new.center + turn * (a.surface.position - old.center),
                normal: turn * a.surface.normal,
                ..a.surface
            };
            let displacement = if a.released { Vector3::zeros() } else { turn * a.displacement };
            Memory { contact: surface, displacement }
        });
        let memories = memories.collect();
        Self { patches, motions, memories }
    }

    /// Displacement and impulse of a new anchor.
    fn recall(&self, anchor: &mut Anchor, builder: &Builder<'_>) {
        let place = anchor.surface;
        let candidate =
            Candidate { contact: place, gap: anchor.gap, envelope: builder.settings.margin };
        // Anchors are listed pair by pair, in ascending order.
        let [from, to] = [place.pair, place.pair + 1]
            .map(|pair| self.memories.partition_point(|m| m.contact.pair < pair));
        let found = best_match(&candidate, &self.memories[from..to], |_, _| false);
        let Some(found) = found.map(|i| from + i) else { return };
        let (old, memory) = (&self.patches.anchors[found], &self.memories[found]);
        if self.patches.duration > 0.0 {
            let factor = builder.settings.warm_start * builder.duration / self.patches.duration;
            anchor.impulse = old.impulse * factor;
        }
        // One that let go forgets the way it slid in that step too.
        if old.released {
            return;
        }
        anchor.continues = Some(found);
        let partner = old.partner.filter(|&p| !self.patches.anchors[p].released);
        let field = match partner.and_then(|p| self.memories.get(p)) {
            Some(other) => DisplacementField::of_two(
                &[memory.contact.position, other.contact.position],
                &[memory.displacement, other.displacement],
                &memory.contact.normal,
            ),
            None => DisplacementField::uniform(memory.displacement),
        };
        let middle = midpoint(&old.surface.position, &place.position);
        let motions = anchor.bodies.map(|b| self.motions[b]);
        let normals = [memory.contact.normal, place.normal];
        let start = field.at(&place.position);
        anchor.displacement = carry(&start, &normals, &motions, &middle);
    }
}

/// Regions of contacts that are listed pair by pair.
fn by_pair(surfaces: &[PatchContact]) -> Vec<Vec<usize>> {
    let (mut found, mut first) = (Vec::new(), 0);
    for own in surfaces.chunk_by(|a, b| a.pair == b.pair) {
        let parts = regions(own, |_, _| false).into_iter();
        found.extend(parts.map(|part| part.into_iter().map(|i| first + i).collect()));
        first += own.len();
    }
    found
}

/// The larger of two bodies, with which memories stay.
pub(super) fn holder(system: &System, [a, b]: [usize; 2]) -> usize {
    let size = |i: usize| system.items[i].radius.unwrap_or(f64::INFINITY);
    if size(a) > size(b) { a } else { b }
}

/// A contact as regions see it.
fn surface(system: &System, touch: &Touch) -> PatchContact {
    let [a, b] = touch.bodies;
    let size = |i: usize| system.items[i].radius.unwrap_or(f64::INFINITY);
    PatchContact {
        pair: a * system.items.len() + b,
        shapes: touch.bodies,
        friction: [system.items[a].friction, system.items[b].friction],
        position: touch.middle(),
        normal: touch.point.normal,
        length: size(a).min(size(b)),
    }
}

/// Takes from the displacements of two anchors what no motion of their region takes back.
fn unstretch(a: &mut Anchor, b: &mut Anchor) {
    let Some(parts) = stretch_parts([a.continues, b.continues]) else { return };
    let points = [a.surface.position, b.surface.position];
    let displacements = [a.displacement, b.displacement];
    [a.displacement, b.displacement] =
        unstretched(&points, &displacements, &a.surface.normal, parts);
}

/// How two anchors of a region share a stretch, by what they continue: one that remembers nothing follows the other.
pub(super) fn stretch_parts(continues: [Option<usize>; 2]) -> Option<[f64; 2]> {
    match continues.map(|c| c.is_some()) {
        [true, true] => Some([0.5, 0.5]),
        [true, false] => Some([0.0, 1.0]),
        [false, true] => Some([1.0, 0.0]),
        [false, false] => None,
    }
}

/// Where the anchors of a region stand; in its middle where its friction acts `together`.
fn footprint(
    builder: &Builder<'_>,
    touches: &[Touch],
    members: &[usize],
    surfaces: &[PatchContact],
    together: bool,
) -> Vec<PatchContact> {
    let seed = surfaces[members[0]];
    let points: Vec<_> = members.iter().map(|&i| touches[i].middle()).collect();
    if together {
        let position = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
        return vec![PatchContact { position, ..seed }];
    }
    let found = anchors(&points, &seed.normal, seed.length, builder.settings.footprint);
    let points = found.as_ref().map_or(&[][..], Anchors::points);
    points.iter().map(|&position| PatchContact { position, ..seed }).collect()
}

/// The rows of an anchor.
fn pair(builder: &Builder<'_>, anchor: &Anchor, share: f64) -> FrictionPair {
    let place = &anchor.surface;
    let points = [&place.position; 2];
    let mut pair = builder.friction(anchor.bodies, points, &place.normal, share);
    let beta = builder.settings.anchor_beta;
    let drift = drift_velocity(&anchor.displacement, beta, builder.duration);
    pair.bias = Vector2::new(pair.directions[0].dot(&drift), pair.directions[1].dot(&drift));
    pair
}
