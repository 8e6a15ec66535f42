//! How near a trajectory is to a change of the state of a contact.

use super::Linearisation;
use super::linear::{Friction, Place};

/// What changes at a switch. Each is a kink of the step: velocities are continuous there, their derivatives are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// A loaded contact opens: `r_N` relative to the largest of the step \[–\].
    Opening,
    /// An open contact closes: `u_N + b` relative to the largest speed of a moving body in the step \[–\].
    Closing,
    /// A sticking friction impulse reaches its circle: `(ρ − ‖r_T‖)/ρ` \[–\].
    Slipping,
    /// A sliding friction impulse leaves its circle: `α/(α + tr A)` \[–\].
    Sticking,
}

/// A contact or an anchor near a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpulseSwitch {
    /// What would change.
    pub kind: SwitchKind,
    /// How far it is, relative \[–\], ≥ 0.
    pub distance: f64,
    /// After which step, from 1.
    pub step: usize,
    /// The two bodies.
    pub bodies: [usize; 2],
    /// Index of the contact in the record of the step; of the anchor where `anchor` says so.
    pub contact: usize,
    /// Whether friction acts at an anchor.
    pub anchor: bool,
}

impl Linearisation<'_> {
    /// Every contact and anchor nearer to a switch than `distance` \[–\], the nearest first.
    ///
    /// At distance 0 the derivative is that of the open contact and of the sticking friction: one-sided.
    pub fn switches(&self, distance: f64) -> Vec<ImpulseSwitch> {
        let mut found = Vec::new();
        for step in 0..self.steps.len() {
            self.switches_of(step, |s| {
                if s.distance <= distance {
                    found.push(s);
                }
            });
        }
        found.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        found
    }

    fn switches_of(&self, step: usize, mut see: impl FnMut(ImpulseSwitch)) {
        let (linear, record) = (&self.steps[step], &self.source.trajectory.records[step]);
        let contact = |kind, i: usize, distance: f64| ImpulseSwitch {
            kind,
            distance: distance.abs(),
            step: step + 1,
            bodies: record.contacts[i].bodies,
            contact: i,
            anchor: false,
        };
        let largest = linear.normals.iter().map(|n| n.impulse).fold(0.0, f64::max);
        for normal in &linear.normals {
            see(contact(SwitchKind::Opening, normal.contact, normal.impulse / largest));
        }
        let fastest = linear.speed(&self.source, step);
        for (i, residual) in &linear.openings {
            let relative = if fastest > 0.0 { residual / fastest } else { *residual };
            see(contact(SwitchKind::Closing, *i, relative));
        }
        for pair in &linear.pairs {
            let kind = match pair.friction {
                Friction::Stick => SwitchKind::Slipping,
                Friction::Slide { .. } => SwitchKind::Sticking,
                Friction::Empty { .. } => continue,
            };
            let (index, anchor) = match pair.place {
                Place::Contact(i) => (i, false),
                Place::Anchor(i) => (i, true),
            };
            see(ImpulseSwitch {
                kind,
                distance: pair.margin.abs(),
                step: step + 1,
                bodies: pair.bodies,
                contact: index,
                anchor,
            });
        }
    }
}
