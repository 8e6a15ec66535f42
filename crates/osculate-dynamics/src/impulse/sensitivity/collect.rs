//! Which rows act: loaded normals, friction of contacts and anchors, spin.

use super::ellipsoid;
use super::line::Line;
use super::linear::{Friction, LiveNormal, LivePair, LiveSpin, Place, StepLinear};
use super::lines::Lines;
use crate::impulse::record::{ContactImpulse, StepRecord};
use crate::impulse::rows::tangents;
use nalgebra::{Vector2, Vector3};
use osculate_contact::impulse::Condim;
use osculate_contact::impulse::disk::Regime;
use std::ops::Range;

/// Part of its bound up to which an impulse is inside for sure \[–\]: the tolerance of a solve is far below the rest.
pub(super) const INSIDE: f64 = 1.0 - 1e-4;

impl StepLinear {
    /// Rows of what has a load.
    pub(super) fn collect(
        &mut self,
        (lines, record): (&Lines<'_>, &StepRecord),
        (diagonal, place): (&mut Vec<f64>, &mut Vec<usize>),
    ) {
        self.collect_normals((lines, record), diagonal, place);
        if lines.settings.patch_friction() {
            self.collect_anchors((lines, record), place, diagonal);
        } else {
            self.collect_points((lines, record), place, diagonal);
        }
        self.collect_ellipsoids((lines, record), place, diagonal);
    }

    /// Loaded normals.
    ///
    /// * `place`: becomes how many there are before each contact of the record.
    fn collect_normals(
        &mut self,
        (lines, record): (&Lines<'_>, &StepRecord),
        diagonal: &mut Vec<f64>,
        place: &mut Vec<usize>,
    ) {
        place.clear();
        for (index, c) in record.contacts.iter().enumerate() {
            place.push(self.normals.len());
            if c.normal <= 0.0 {
                continue;
            }
            let (point, n) = (c.middle(), &c.point.normal);
            let (line, _) = lines.line(c.bodies, &point, n);
            self.normals.push(LiveNormal {
                contact: index,
                point,
                impulse: c.normal,
                rebound: c.rebounds.then(|| lines.approach(c.bodies, &point, n)),
                unknown: self.rows.len(),
            });
            self.rows.push(line.clone());
            self.columns.push(line);
            diagonal.push(lines.settings.normal.row(c.point.gap, lines.duration).softness);
        }
        place.push(self.normals.len());
    }

    /// Friction at every contact.
    fn collect_points(
        &mut self,
        (lines, record): (&Lines<'_>, &StepRecord),
        place: &[usize],
        diagonal: &mut Vec<f64>,
    ) {
        for (index, c) in record.contacts.iter().enumerate() {
            let group = place[index]..place[index + 1];
            if group.is_empty() {
                continue;
            }
            let condim = lines.system.condim(c.bodies).0;
            if condim == Condim::Frictionless || ellipsoid::has(condim) {
                continue;
            }
            let first = self.pairs.len();
            let candidate = Candidate {
                place: Place::Contact(index),
                bodies: c.bodies,
                point: c.middle(),
                normal: c.point.normal,
                impulse: c.friction,
                regime: c.regime.unwrap_or(Regime::Stick),
                parts: 1.0,
                displacement: Vector3::zeros(),
            };
            let region = Region {
                group,
                contact: index,
                nearest: index,
                radius: lines.system.spin_radius(c.bodies, c.point.gap),
                spin: &c.angular,
            };
            if lines.system.is_together(lines.settings, c.bodies, c.point.gap) {
                self.push_torsion(lines, &candidate, &region, diagonal);
                continue;
            }
            self.push(lines, candidate, &region.group, diagonal);
            self.push_spin(lines, (c, &region), first, diagonal);
        }
    }

    /// Friction at the anchors of regions.
    fn collect_anchors(
        &mut self,
        (lines, record): (&Lines<'_>, &StepRecord),
        place: &[usize],
        diagonal: &mut Vec<f64>,
    ) {
        let mut first = self.pairs.len();
        for (index, a) in record.anchors.iter().enumerate() {
            let group = place[a.contacts[0]]..place[a.contacts[1]];
            if group.is_empty() {
                continue;
            }
            let candidate = Candidate {
                place: Place::Anchor(index),
                bodies: a.bodies,
                point: a.position,
                normal: a.normal,
                impulse: a.impulse,
                regime: a.regime,
                parts: if a.partner.is_some() { 2.0 } else { 1.0 },
                displacement: a.displacement,
            };
            let nearest = nearest(record, a.contacts[0]..a.contacts[1]);
            let gap = record.contacts[nearest].point.gap;
            let radius = lines.system.spin_radius(a.bodies, gap);
            let (contact, spin) = (a.contacts[0], &a.spin);
            let region = Region { group, contact, nearest, radius, spin };
            if lines.system.is_together(lines.settings, a.bodies, gap) {
                self.push_torsion(lines, &candidate, &region, diagonal);
                continue;
            }
            self.push(lines, candidate, &region.group, diagonal);
            // The last anchor of a region.
            if a.partner.is_none_or(|p| p < index) {
                self.push_spin(lines, (&record.contacts[contact], &region), first, diagonal);
                first = self.pairs.len();
            }
        }
    }

    /// Adds a friction pair where its group has a load.
    fn push(
        &mut self,
        lines: &Lines<'_>,
        at: Candidate,
        group: &Range<usize>,
        diagonal: &mut Vec<f64>,
    ) {
        let load: f64 = self.normals[group.clone()].iter().map(|n| n.impulse).sum();
        if load <= 0.0 {
            return;
        }
        let directions = tangents(&at.normal);
        let in_basis = |x: &Vector3<f64>| Vector2::new(directions[0].dot(x), directions[1].dot(x));
        let share = lines.system.friction(at.bodies, lines.settings) / at.parts;
        let (radius, impulse) = (share * load, in_basis(&at.impulse));
        let [first, second] = directions.map(|d| lines.line(at.bodies, &at.point, &d));
        let unknown = self.rows.len();
        let size = impulse.norm();
        // A fixed point inside its disk has no slip; on the circle the record says which it is.
        let sticks = radius > 0.0 && (size < radius * INSIDE || at.regime != Regime::Slide);
        let friction = if sticks {
            Friction::Stick
        } else {
            let u = [&first, &second].map(|(line, drift)| line.velocity(&self.after) + drift);
            let factor = lines.settings.anchor_beta / lines.duration;
            sliding(&impulse, radius, &(Vector2::from(u) + in_basis(&at.displacement) * factor))
        };
        let own = [first.0, second.0];
        match &friction {
            Friction::Stick => {
                self.rows.extend_from_slice(&own);
                self.columns.extend_from_slice(&own);
                diagonal.extend([0.0; 2]);
            }
            Friction::Slide { along, alpha } => {
                let across = Line::combined(&own, &Vector2::new(-along.y, along.x));
                self.rows.push(across.clone());
                self.columns.push(across);
                diagonal.push(*alpha);
            }
            Friction::Empty { .. } => {}
        }
        if let Friction::Slide { along, .. } | Friction::Empty { along } = &friction {
            let pull = Line::combined(&own, along);
            for normal in &self.normals[group.clone()] {
                self.columns[normal.unknown].add(&pull, share);
            }
        }
        self.pairs.push(LivePair {
            place: at.place,
            bodies: at.bodies,
            point: at.point,
            normal: at.normal,
            directions,
            impulse,
            friction,
            load,
            share,
            parts: at.parts,
            displacement: at.displacement,
            unknown,
            normal_unknown: self.normals[group.start].unknown,
        });
    }

    /// Adds the spin friction of a group whose pairs are those from `first` on.
    fn push_spin(
        &mut self,
        lines: &Lines<'_>,
        (contact, region): (&ContactImpulse, &Region<'_>),
        first: usize,
        diagonal: &mut Vec<f64>,
    ) {
        let (bodies, n) = (contact.bodies, &contact.point.normal);
        let (radius, group) = (region.radius, &region.group);
        let pairs = &self.pairs[first..];
        let slides = |p: &&LivePair| !matches!(p.friction, Friction::Stick);
        // Where all slides, nothing of the budget is left, however it changes.
        if radius <= 0.0 || pairs.iter().filter(slides).count() == pairs.len() {
            return;
        }
        let friction = lines.system.friction(bodies, lines.settings);
        let load: f64 = self.normals[group.clone()].iter().map(|n| n.impulse).sum();
        let budget = friction * load - pairs.iter().map(|p| p.impulse.norm()).sum::<f64>();
        let impulse = n.dot(region.spin);
        let (line, drift) = lines.angular(bodies, n);
        let aim = || impulse - (line.velocity(&self.after) + drift) / lines.mobility(&line);
        let part = 1.0 - pairs.iter().filter(slides).map(|p| p.parts.recip()).sum::<f64>();
        let bound = radius * budget;
        let state = if impulse.abs() < INSIDE * bound || aim().abs() <= bound {
            self.rows.push(line.clone());
            self.columns.push(line.clone());
            diagonal.push(0.0);
            Ok(self.rows.len() - 1)
        } else {
            let pull = impulse.signum() * radius;
            for normal in &self.normals[group.clone()] {
                self.columns[normal.unknown].add(&line, pull * friction * part);
            }
            for pair in pairs.iter().filter(|p| !slides(p) && p.impulse.norm() > 0.0) {
                let along = pair.impulse / pair.impulse.norm();
                self.columns[pair.unknown].add(&line, -pull * along.x);
                self.columns[pair.unknown + 1].add(&line, -pull * along.y);
            }
            Err(impulse.signum())
        };
        let by_friction = load * part;
        self.spins.push(LiveSpin {
            bodies,
            contact: region.contact,
            line,
            impulse,
            state,
            nearest: region.nearest,
            radius,
            budget,
            normal_unknown: self.normals[group.start].unknown,
            by_friction,
        });
    }
}

/// What a pair does that does not stick: on its circle, or without one.
fn sliding(impulse: &Vector2<f64>, radius: f64, slip: &Vector2<f64>) -> Friction {
    let size = impulse.norm();
    if radius > 0.0 {
        let along = impulse / size;
        return Friction::Slide { along, alpha: -slip.dot(&along) / size };
    }
    let speed = slip.norm();
    Friction::Empty { along: if speed > 0.0 { -slip / speed } else { Vector2::zeros() } }
}

/// A friction pair before its state is known.
pub(super) struct Candidate {
    pub(super) place: Place,
    pub(super) bodies: [usize; 2],
    pub(super) point: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
    /// World \[N s\].
    pub(super) impulse: Vector3<f64>,
    /// As recorded.
    regime: Regime,
    parts: f64,
    pub(super) displacement: Vector3<f64>,
}

/// Contacts that share friction.
pub(super) struct Region<'a> {
    /// Their loaded normals.
    pub(super) group: Range<usize>,
    /// The contact whose normal spin has.
    contact: usize,
    /// The one that overlaps most.
    pub(super) nearest: usize,
    /// Of spin friction \[m\].
    pub(super) radius: f64,
    /// Spin impulse \[N m s\], world.
    pub(super) spin: &'a Vector3<f64>,
}

/// The contact with the smallest gap, the first at a tie.
pub(super) fn nearest(record: &StepRecord, contacts: Range<usize>) -> usize {
    let first = contacts.start;
    let gap = |i: usize| record.contacts[i].point.gap;
    contacts.fold(first, |best, i| if gap(i) < gap(best) { i } else { best })
}
