//! Which rows act: loaded normals, friction of contacts and anchors, spin.

use super::ellipsoid;
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
            self.normals.push(LiveNormal {
                contact: index,
                point,
                impulse: c.normal,
                rebound: c.rebounds.then(|| lines.approach(c.bodies, &point, n)),
                unknown: self.rows.len(),
            });
            self.push_new(lines, c.bodies, (&point, n));
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

    /// Adds the row of a direction at a point, whose column is the same.
    fn push_new(
        &mut self,
        lines: &Lines<'_>,
        bodies: [usize; 2],
        (point, direction): (&Vector3<f64>, &Vector3<f64>),
    ) {
        lines.push(&mut self.rows, bodies, point, direction);
        let own = self.rows.get(self.rows.len() - 1);
        self.columns.push(own);
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
        let unknown = self.rows.len();
        let size = impulse.norm();
        // A fixed point inside its disk has no slip; on the circle the record says which it is.
        let sticks = radius > 0.0 && (size < radius * INSIDE || at.regime != Regime::Slide);
        let friction = if sticks {
            for d in &directions {
                self.push_new(lines, at.bodies, (&at.point, d));
                diagonal.push(0.0);
            }
            Friction::Stick
        } else {
            let along = (radius > 0.0).then(|| impulse / size);
            self.push_sliding((lines, &at), (along, size, share), (group, &directions), diagonal)
        };
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

    /// Adds the row across a sliding impulse, and what follows the load to the columns of the normals.
    ///
    /// * `along`: of the impulse; none on a disk that is a point.
    fn push_sliding(
        &mut self,
        (lines, at): (&Lines<'_>, &Candidate),
        (along, size, share): (Option<Vector2<f64>>, f64, f64),
        (group, directions): (&Range<usize>, &[Vector3<f64>; 2]),
        diagonal: &mut Vec<f64>,
    ) -> Friction {
        let bias = at.displacement * (lines.settings.anchor_beta / lines.duration);
        let slip = |d: &Vector3<f64>| {
            let (line, drift) = lines.line(at.bodies, &at.point, d);
            line.view().velocity(&self.after) + drift + d.dot(&bias)
        };
        let in_world = |x: &Vector2<f64>| directions[0] * x.x + directions[1] * x.y;
        let direction =
            along.unwrap_or_else(|| against(&Vector2::from(directions.each_ref().map(slip))));
        let pull = in_world(&direction);
        let drift = lines.push(&mut self.columns, at.bodies, &at.point, &pull);
        let last = self.columns.len() - 1;
        let speed = self.columns.get(last).velocity(&self.after) + drift + pull.dot(&bias);
        for normal in &self.normals[group.clone()] {
            self.columns.add_own(normal.unknown, last, share);
        }
        self.columns.truncate(last);
        let Some(along) = along else { return Friction::Empty { along: direction } };
        let across = in_world(&Vector2::new(-along.y, along.x));
        self.push_new(lines, at.bodies, (&at.point, &across));
        let alpha = -speed / size;
        diagonal.push(alpha);
        Friction::Slide { along, alpha }
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
        let own = line.view();
        let aim = || impulse - (own.velocity(&self.after) + drift) / lines.mobility(own);
        let part = 1.0 - pairs.iter().filter(slides).map(|p| p.parts.recip()).sum::<f64>();
        let bound = radius * budget;
        let state = if impulse.abs() < INSIDE * bound || aim().abs() <= bound {
            self.push_row(own);
            diagonal.push(0.0);
            Ok(self.rows.len() - 1)
        } else {
            let pull = impulse.signum() * radius;
            for normal in &self.normals[group.clone()] {
                self.columns.add(normal.unknown, own, pull * friction * part);
            }
            for pair in pairs.iter().filter(|p| !slides(p) && p.impulse.norm() > 0.0) {
                let along = pair.impulse / pair.impulse.norm();
                self.columns.add(pair.unknown, own, -pull * along.x);
                self.columns.add(pair.unknown + 1, own, -pull * along.y);
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

/// Against the slip of a pair whose disk is a point; none without slip.
fn against(slip: &Vector2<f64>) -> Vector2<f64> {
    let speed = slip.norm();
    if speed > 0.0 { -slip / speed } else { Vector2::zeros() }
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
