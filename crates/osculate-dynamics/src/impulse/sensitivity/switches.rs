//! How near a trajectory is to a change of the state of a contact.

use super::Linearisation;
use super::linear::{Friction, LivePair};
use super::lines::Lines;
use super::tree::{RowState, TreeStep, of_link};
use crate::articulated::immediate::RowSource;
use crate::impulse::ContactImpulse;
use nalgebra::Vector3;

/// What changes at a switch. The first four are kinks of the step: velocities are continuous there, their derivatives are not. At
/// the others the motion jumps.
///
/// A limit of a joint opens and closes as a contact does; dry friction of a joint slips and sticks, and a drive slips at its effort
/// limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchKind {
    /// A loaded contact opens: `r_N` relative to the largest of the step \[–\].
    Opening,
    /// An open contact closes: `u_N + b` relative to the largest speed of a moving body in the step \[–\].
    Closing,
    /// A sticking friction impulse reaches its circle: `(ρ − ‖r_T‖)/ρ` \[–\].
    Slipping,
    /// A sliding friction impulse leaves its circle: `α/(α + tr A)` \[–\].
    Sticking,
    /// An approach reaches the threshold of restitution: their difference relative to the largest speed \[–\].
    Rebounding,
    /// A contact that will rebound is reached a step earlier or later: what is left of its gap, relative to the way of a step
    /// at the largest speed \[–\].
    Arriving,
    /// An anchor lets go: the difference of its slip from the slowest of a release, relative to the largest speed \[–\].
    Releasing,
}

impl SwitchKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Opening,
        Self::Closing,
        Self::Slipping,
        Self::Sticking,
        Self::Rebounding,
        Self::Arriving,
        Self::Releasing,
    ];

    /// Whether the motion itself jumps there, and not only its derivatives.
    pub fn jumps(self) -> bool {
        matches!(self, Self::Rebounding | Self::Arriving | Self::Releasing)
    }
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
    /// The body whose joint it is, which then is the first of the two; `contact` is a row of
    /// [`JointedBodies::impulses`](crate::impulse::JointedBodies::impulses).
    pub joint: Option<usize>,
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
        self.jumps_of(step, &mut see);
        let (linear, record) = (&self.steps[step], &self.source.trajectory.records[step]);
        let contact = |kind, i: usize, distance: f64| ImpulseSwitch {
            kind,
            distance: distance.abs(),
            step: step + 1,
            bodies: record.contacts[i].bodies,
            contact: i,
            anchor: false,
            joint: None,
        };
        let largest = linear.normals.iter().map(|n| n.impulse).fold(0.0, f64::max);
        for normal in &linear.normals {
            see(contact(SwitchKind::Opening, normal.contact, normal.impulse / largest));
        }
        let fastest = linear.speed(&self.source, step);
        for (i, c) in record.contacts.iter().enumerate().filter(|(_, c)| c.normal <= 0.0) {
            let residual = self.opening(step, c);
            let relative = if fastest > 0.0 { residual / fastest } else { residual };
            see(contact(SwitchKind::Closing, i, relative));
        }
        for pair in &linear.pairs {
            let kind = match pair.friction {
                Friction::Stick => SwitchKind::Slipping,
                Friction::Slide { .. } => SwitchKind::Sticking,
                Friction::Empty { .. } => continue,
            };
            let (index, anchor) = pair.place.index();
            see(ImpulseSwitch {
                kind,
                distance: self.margin(step, pair).abs(),
                step: step + 1,
                bodies: pair.bodies,
                contact: index,
                anchor,
                joint: None,
            });
        }
        for live in &linear.ellipsoids {
            let kind = if live.slides() { SwitchKind::Sticking } else { SwitchKind::Slipping };
            see(contact(kind, live.contact, live.margin));
        }
        for live in &linear.torsions {
            let kind = if live.slides() { SwitchKind::Sticking } else { SwitchKind::Slipping };
            let (index, anchor) = live.place.index();
            let bodies = live.bodies;
            let distance = live.margin.abs();
            see(ImpulseSwitch { anchor, bodies, ..contact(kind, index, distance) });
        }
        if let Some(tree) = &linear.tree {
            self.switches_of_joints(step, tree, see);
        }
    }

    /// `(ρ − ‖r_T‖)/ρ` where a pair sticks, `α/(α + tr A)` where it slides \[–\].
    fn margin(&self, step: usize, pair: &LivePair) -> f64 {
        let (source, linear) = (&self.source, &self.steps[step]);
        match pair.friction {
            Friction::Stick => 1.0 - pair.impulse.norm() / (pair.share * pair.load),
            Friction::Slide { alpha, .. } => {
                let lines = Lines {
                    system: &source.system,
                    settings: &source.settings,
                    states: source.trajectory.state(step),
                    prescribed: &linear.prescribed,
                    inverse: &linear.inverse,
                    tree: source.joints.as_ref().map(|j| &j.model).zip(linear.tree.as_ref()),
                    duration: source.simulator.durations()[step],
                };
                let line = |d: &Vector3<f64>| lines.line(pair.bodies, &pair.point, d).0;
                let trace: f64 =
                    pair.directions.iter().map(|d| lines.mobility(line(d).view())).sum();
                alpha / (alpha + trace)
            }
            Friction::Empty { .. } => f64::INFINITY,
        }
    }

    /// Velocity and angular velocity of a body that the rows of a step found, before its joints move.
    pub(super) fn solved(&self, step: usize, body: usize) -> [Vector3<f64>; 2] {
        let (source, linear) = (&self.source, &self.steps[step]);
        let link = source.system.items[body].link;
        if let (Some([_, link]), Some(joints), Some(tree)) = (link, &source.joints, &linear.tree) {
            let moving = tree.kinematics.center_velocities(&joints.model, &tree.after);
            return [moving[link].0, moving[link].1];
        }
        let state = &source.trajectory.state(step + 1)[body];
        [state.velocity, state.angular_velocity]
    }

    /// `u_N + b` of an open contact \[m/s\].
    fn opening(&self, step: usize, c: &ContactImpulse) -> f64 {
        let source = &self.source;
        let states = source.trajectory.state(step);
        let (p, h) = (c.middle(), source.simulator.durations()[step]);
        let along = |after: bool| {
            let [a, b] = c.bodies.map(|body| {
                let [v, w] = match (&source.system.items[body].inertia, after) {
                    (None, _) => self.steps[step].prescribed(body),
                    (Some(_), true) => self.solved(step, body),
                    (Some(_), false) => [states[body].velocity, states[body].angular_velocity],
                };
                v + w.cross(&(p - states[body].center))
            });
            c.point.normal.dot(&(a - b))
        };
        let bias = match c.rebounds {
            true => source.parameters.restitution(c.bodies) * along(false),
            false => source.settings.normal.row(c.point.gap, h).bias,
        };
        along(true) + bias
    }

    fn switches_of_joints(&self, step: usize, tree: &TreeStep, mut see: impl FnMut(ImpulseSwitch)) {
        let Some(joints) = &self.source.joints else { return };
        let largest = tree.rows.iter().map(|r| r.impulse.abs()).fold(0.0, f64::max);
        let fastest = tree.after.iter().map(|v| v.abs()).fold(0.0, f64::max);
        let relative = |x: f64, to: f64| if to > 0.0 { x / to } else { x };
        let mut joint = |kind, link: usize, row: usize, distance: f64| {
            let body = joints.bodies[link];
            let parent = joints.model.links()[link].parent.map_or(body, |p| joints.bodies[p]);
            see(ImpulseSwitch {
                kind,
                distance: distance.abs(),
                step: step + 1,
                bodies: [body, parent],
                contact: row,
                anchor: false,
                joint: Some(body),
            });
        };
        for (index, row) in tree.rows.iter().enumerate() {
            let Some(link) = of_link(row.source) else { continue };
            let limit = matches!(row.source, RowSource::Upper { .. } | RowSource::Lower { .. });
            let (kind, distance) = match row.state {
                RowState::Apart => (SwitchKind::Closing, relative(row.margin, fastest)),
                RowState::Acting(_) if limit => {
                    (SwitchKind::Opening, relative(row.margin, largest))
                }
                RowState::Acting(_) => (SwitchKind::Slipping, row.margin),
                RowState::Bound(_) => (SwitchKind::Sticking, row.margin),
            };
            joint(kind, link, index, distance);
        }
        let mut index = tree.rows.len();
        for block in &tree.blocks {
            let slips = block.along.is_some();
            let kind = if slips { SwitchKind::Sticking } else { SwitchKind::Slipping };
            joint(kind, block.link, index, block.margin);
            index += block.count;
        }
    }
}
