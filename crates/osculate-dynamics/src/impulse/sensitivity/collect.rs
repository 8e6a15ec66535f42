//! Which rows act: loaded normals, friction of contacts and anchors, spin.

use super::error::ImpulseGradientError;
use super::line::Line;
use super::linear::{Friction, LiveNormal, LivePair, LiveSpin, Place, StepLinear};
use crate::impulse::build::{Builder, Touch};
use crate::impulse::record::{ContactImpulse, StepRecord};
use crate::impulse::rows::FrictionPair;
use crate::impulse::solve::velocity;
use nalgebra::{Vector2, Vector3};
use osculate_contact::impulse::disk::{self, Regime};
use osculate_contact::impulse::{Condim, ImpulseError};
use std::ops::Range;

/// Part of its radius up to which a friction impulse is inside for sure \[–\]: the tolerance of a solve is far below the rest.
const INSIDE: f64 = 1.0 - 1e-4;

impl StepLinear {
    /// Rows of what has a load.
    pub(super) fn collect(
        &mut self,
        (builder, record, step): (&Builder<'_>, &StepRecord, usize),
        diagonal: &mut Vec<f64>,
    ) -> Result<(), ImpulseGradientError> {
        let place = self.collect_normals(builder, record, diagonal);
        let found = if builder.settings.patch_friction() {
            self.collect_anchors((builder, record), &place, diagonal)
        } else {
            self.collect_points((builder, record), &place, diagonal)
        };
        found.map_err(|source| ImpulseGradientError::Law { step, source })
    }

    /// Loaded normals; returns how many there are before each contact of the record.
    fn collect_normals(
        &mut self,
        builder: &Builder<'_>,
        record: &StepRecord,
        diagonal: &mut Vec<f64>,
    ) -> Vec<usize> {
        let mut place = Vec::with_capacity(record.contacts.len() + 1);
        for (index, c) in record.contacts.iter().enumerate() {
            place.push(self.normals.len());
            let touch = Touch { bodies: c.bodies, contact: c.contact, point: c.point };
            let row = builder.normal(&touch, index);
            if c.normal <= 0.0 {
                self.openings.push((index, row.row.velocity(&self.after) + row.bias));
                continue;
            }
            let rebound = builder.rebound(&touch, &row.row);
            let rebound = rebound.map(|_| row.row.velocity(builder.velocities[0]));
            self.normals.push(LiveNormal {
                contact: index,
                point: touch.middle(),
                impulse: c.normal,
                rebound,
                unknown: self.rows.len(),
            });
            self.rows.push(Line::of(&row.row));
            self.columns.push(Line::of(&row.row));
            diagonal.push(row.compliance);
        }
        place.push(self.normals.len());
        place
    }

    /// Friction at every contact.
    fn collect_points(
        &mut self,
        (builder, record): (&Builder<'_>, &StepRecord),
        place: &[usize],
        diagonal: &mut Vec<f64>,
    ) -> Result<(), ImpulseError> {
        for (index, c) in record.contacts.iter().enumerate() {
            let group = place[index]..place[index + 1];
            if builder.system.condim(c.bodies).0 == Condim::Frictionless || group.is_empty() {
                continue;
            }
            let first = self.pairs.len();
            let touch = Touch { bodies: c.bodies, contact: c.contact, point: c.point };
            let share = builder.system.friction(c.bodies, builder.settings);
            let mut pair = builder.friction(c.bodies, &touch.middle(), &c.point.normal, share);
            pair.impulse = in_basis(&pair, &c.friction);
            let live = Candidate {
                place: Place::Contact(index),
                bodies: c.bodies,
                point: touch.middle(),
                normal: c.point.normal,
                parts: 1.0,
                displacement: Vector3::zeros(),
            };
            self.push(live, &pair, &group, diagonal)?;
            self.push_spin(builder, (c, index), &c.angular, (&group, first), diagonal);
        }
        Ok(())
    }

    /// Friction at the anchors of regions.
    fn collect_anchors(
        &mut self,
        (builder, record): (&Builder<'_>, &StepRecord),
        place: &[usize],
        diagonal: &mut Vec<f64>,
    ) -> Result<(), ImpulseError> {
        let mut first = self.pairs.len();
        for (index, a) in record.anchors.iter().enumerate() {
            let group = place[a.contacts[0]]..place[a.contacts[1]];
            if group.is_empty() {
                continue;
            }
            let parts = if a.partner.is_some() { 2.0 } else { 1.0 };
            let share = builder.system.friction(a.bodies, builder.settings) / parts;
            let mut pair = builder.friction(a.bodies, &a.position, &a.normal, share);
            pair.impulse = in_basis(&pair, &a.impulse);
            let drift = a.displacement * (builder.settings.anchor_beta / builder.duration);
            pair.bias = in_basis(&pair, &drift);
            let live = Candidate {
                place: Place::Anchor(index),
                bodies: a.bodies,
                point: a.position,
                normal: a.normal,
                parts,
                displacement: a.displacement,
            };
            self.push(live, &pair, &group, diagonal)?;
            // The last anchor of a region.
            if a.partner.is_none_or(|p| p < index) {
                let contact = (&record.contacts[a.contacts[0]], a.contacts[0]);
                self.push_spin(builder, contact, &a.spin, (&group, first), diagonal);
                first = self.pairs.len();
            }
        }
        Ok(())
    }

    /// Adds a friction pair where its group has a load.
    fn push(
        &mut self,
        at: Candidate,
        pair: &FrictionPair,
        group: &Range<usize>,
        diagonal: &mut Vec<f64>,
    ) -> Result<(), ImpulseError> {
        let load: f64 = self.normals[group.clone()].iter().map(|n| n.impulse).sum();
        if load <= 0.0 {
            return Ok(());
        }
        let slip = velocity(pair, &self.after) + pair.bias;
        let radius = pair.share * load;
        let lines = [Line::of(&pair.rows[0]), Line::of(&pair.rows[1])];
        let unknown = self.rows.len();
        let size = pair.impulse.norm();
        // A fixed point inside its disk has no slip; on the circle the law itself says which it is.
        let regime = if size < radius * INSIDE {
            Regime::Stick
        } else {
            disk::update(&pair.block, radius, &pair.impulse, &slip)?.regime
        };
        let unit = |x: Vector2<f64>, n: f64| if n > 0.0 { x / n } else { Vector2::zeros() };
        let (friction, margin) = match regime {
            Regime::Stick => {
                self.rows.extend(lines);
                self.columns.extend(lines);
                diagonal.extend([0.0; 2]);
                (Friction::Stick, 1.0 - size / radius)
            }
            Regime::Slide => {
                let along = unit(pair.impulse, size);
                let alpha = -slip.dot(&along) / size;
                let across = Line::combined(&lines, &Vector2::new(-along.y, along.x));
                self.rows.push(across);
                self.columns.push(across);
                diagonal.push(alpha);
                (Friction::Slide { along }, alpha / (alpha + pair.block.trace()))
            }
            Regime::Empty => {
                let along = -unit(slip, slip.norm());
                (Friction::Empty { along }, f64::INFINITY)
            }
        };
        if let Friction::Slide { along } | Friction::Empty { along } = friction {
            let pull = Line::combined(&lines, &along);
            for normal in &self.normals[group.clone()] {
                self.columns[normal.unknown].add(&pull, pair.share);
            }
        }
        self.pairs.push(LivePair {
            place: at.place,
            bodies: at.bodies,
            point: at.point,
            normal: at.normal,
            directions: pair.directions,
            lines,
            impulse: pair.impulse,
            friction,
            load,
            parts: at.parts,
            displacement: at.displacement,
            unknown,
            margin,
        });
        Ok(())
    }

    /// Adds the spin friction of a group whose pairs are those from `first` on.
    fn push_spin(
        &mut self,
        builder: &Builder<'_>,
        (contact, index): (&ContactImpulse, usize),
        spin: &Vector3<f64>,
        (group, first): (&Range<usize>, usize),
        diagonal: &mut Vec<f64>,
    ) {
        let (bodies, n) = (contact.bodies, &contact.point.normal);
        let radius = builder.system.torsional_radius(bodies);
        let pairs = &self.pairs[first..];
        let slides = |p: &&LivePair| !matches!(p.friction, Friction::Stick);
        // Where all slides, nothing of the budget is left, however it changes.
        if radius <= 0.0 || pairs.iter().filter(slides).count() == pairs.len() {
            return;
        }
        let friction = builder.system.friction(bodies, builder.settings);
        let load: f64 = self.normals[group.clone()].iter().map(|n| n.impulse).sum();
        let budget = friction * load - pairs.iter().map(|p| p.impulse.norm()).sum::<f64>();
        let (row, impulse) = (builder.angular(bodies, n), n.dot(spin));
        let line = Line::of(&row);
        let aim = impulse - row.velocity(&self.after) / row.coupling(&row);
        let part = 1.0 - pairs.iter().filter(slides).map(|p| p.parts.recip()).sum::<f64>();
        let state = if impulse.abs() < INSIDE * radius * budget || aim.abs() <= radius * budget {
            self.rows.push(line);
            self.columns.push(line);
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
            contact: index,
            line,
            impulse,
            state,
            radius,
            budget,
            by_friction,
        });
    }
}

/// A friction pair before its state is known.
struct Candidate {
    place: Place,
    bodies: [usize; 2],
    point: Vector3<f64>,
    normal: Vector3<f64>,
    parts: f64,
    displacement: Vector3<f64>,
}

fn in_basis(pair: &FrictionPair, x: &Vector3<f64>) -> Vector2<f64> {
    Vector2::new(pair.directions[0].dot(x), pair.directions[1].dot(x))
}
