//! How near a trajectory is to what makes the motion itself jump: the threshold of restitution, the step of an impact, and anchors
//! that let go.

use super::Linearisation;
use super::carry;
use super::linear::{Friction, Place};
use super::switches::{ImpulseSwitch, SwitchKind};
use crate::impulse::build::CLOSED;
use nalgebra::Vector3;
use osculate_contact::impulse::patch::release::slow_slip;

impl Linearisation<'_> {
    pub(super) fn jumps_of(&self, step: usize, see: &mut impl FnMut(ImpulseSwitch)) {
        let fastest = self.steps[step].speed(&self.source, step);
        if fastest > 0.0 {
            self.impacts_of(step, fastest, see);
            self.releases_of(step, fastest, see);
        }
    }

    /// Contacts of pairs that rebound.
    fn impacts_of(&self, step: usize, fastest: f64, see: &mut impl FnMut(ImpulseSwitch)) {
        let source = &self.source;
        let record = &source.trajectory.records[step];
        let h = source.simulator.durations()[step];
        let threshold = source.settings.restitution_threshold;
        for (i, c) in record.contacts.iter().enumerate() {
            if source.system.restitution(c.bodies) <= 0.0 {
                continue;
            }
            let middle = (c.point.point_a + c.point.point_b) * 0.5;
            let along =
                |when| c.point.normal.dot(&self.relative_at(step, (c.bodies, &middle), when));
            let approach = -along(When::Start);
            let mut switch = |kind, distance: f64| {
                let bodies = c.bodies;
                see(ImpulseSwitch {
                    kind,
                    distance,
                    step: step + 1,
                    bodies,
                    contact: i,
                    anchor: false,
                    joint: None,
                });
            };
            if c.normal > 0.0 && approach > 0.0 {
                switch(SwitchKind::Rebounding, (approach - threshold).abs() / fastest);
            }
            // One that already touches is reached, whatever its velocity.
            if approach > threshold && c.point.gap > CLOSED {
                let left = c.point.gap + h * along(When::Free) - CLOSED;
                switch(SwitchKind::Arriving, left.abs() / (h * fastest));
            }
        }
    }

    /// Anchors that slide: whether fast enough to let go.
    fn releases_of(&self, step: usize, fastest: f64, see: &mut impl FnMut(ImpulseSwitch)) {
        let source = &self.source;
        let (linear, record) = (&self.steps[step], &source.trajectory.records[step]);
        let h = source.simulator.durations()[step];
        let pairs = linear.pairs.iter().filter(|p| matches!(p.friction, Friction::Slide { .. }));
        let pairs = pairs.map(|p| (p.place, p.bodies, &p.point));
        let patches = linear.torsions.iter().filter(|t| t.slides());
        for (place, bodies, point) in pairs.chain(patches.map(|t| (t.place, t.bodies, &t.point))) {
            let Place::Anchor(i) = place else { continue };
            let anchor = &record.anchors[i];
            if anchor.impulse.norm() <= 0.0 {
                continue;
            }
            let slip = self.relative_at(step, (bodies, point), When::End);
            let against = -slip.dot(&anchor.impulse) / anchor.impulse.norm();
            let slow = slow_slip(carry::length(&source.system, bodies), h);
            see(ImpulseSwitch {
                kind: SwitchKind::Releasing,
                distance: (against - slow).abs() / fastest,
                step: step + 1,
                bodies,
                contact: i,
                anchor: true,
                joint: None,
            });
        }
    }

    /// Velocity of the first body against the second at a point \[m/s\].
    fn relative_at(
        &self,
        step: usize,
        (bodies, point): ([usize; 2], &Vector3<f64>),
        when: When,
    ) -> Vector3<f64> {
        let states = self.source.trajectory.state(step);
        let [a, b] = bodies.map(|i| {
            let [v, w] = self.velocity(step, i, when);
            v + w.cross(&(point - states[i].center))
        });
        a - b
    }

    /// Velocity and angular velocity of a body. Of a link the velocity without contact is taken as that of the start.
    fn velocity(&self, step: usize, body: usize, when: When) -> [Vector3<f64>; 2] {
        let (source, trajectory) = (&self.source, self.source.trajectory);
        let items = &source.system.items;
        let Some(inertia) = &items[body].inertia else {
            return self.steps[step].prescribed(body);
        };
        if let When::End = when {
            return self.solved(step, body);
        }
        let state = &trajectory.state(step)[body];
        let own = [state.velocity, state.angular_velocity];
        if items[body].unknown.is_none() || !matches!(when, When::Free) {
            return own;
        }
        let dynamic = items[..body].iter().filter(|i| i.inertia.is_some()).count();
        let wrench = source.wrench(step, dynamic);
        let gravity =
            if items[body].has_gravity { source.system.gravity } else { Vector3::zeros() };
        let forces = [wrench.force + gravity * inertia.mass, wrench.torque];
        let h = source.simulator.durations()[step];
        // Where a gyroscopic equation is not solved there is no linearisation either.
        inertia.free_velocity(state, &forces, h, source.settings.gyroscopic).unwrap_or(own)
    }
}

/// Which velocities of a step.
#[derive(Clone, Copy)]
enum When {
    Start,
    /// Without contact.
    Free,
    End,
}
