//! What a step is pulled back through: multipliers, and the velocities that rows see.

use super::linear::StepLinear;
use super::source::Source;
use super::tree::LinkFields;
use crate::impulse::body::RigidState;
use crate::impulse::record::StepRecord;
use nalgebra::Vector3;
use osculate_geometry::manifold::ContactBar;

/// What a step is pulled back through.
pub(super) struct Back<'a> {
    pub(super) linear: &'a StepLinear,
    pub(super) record: &'a StepRecord,
    pub(super) states: &'a [RigidState],
    pub(super) step: usize,
    /// `μ` of each unknown.
    pub(super) rows: Vec<f64>,
    /// `M⁻¹λ`.
    pub(super) psi: Vec<Vector3<f64>>,
    /// By point, normal and gap of each contact.
    pub(super) contacts: Vec<ContactBar>,
    /// Of the links, where the scene has joints.
    pub(super) links: LinkFields,
}

/// Velocities of all bodies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// `ψ`: none of bodies that are not solved for.
    Change,
    /// After the step; prescribed ones included.
    After,
    /// At the start of the step; prescribed ones included.
    Start,
}

impl Back<'_> {
    /// Linear and angular velocity of a body.
    pub(super) fn twist(
        &self,
        source: &Source<'_>,
        body: usize,
        field: Field,
    ) -> [Vector3<f64>; 2] {
        let item = &source.system.items[body];
        match (field, item.unknown, item.link) {
            (Field::Change, Some(at), _) => [self.psi[at], self.psi[at + 1]],
            (Field::After, Some(at), _) => [self.linear.after[at], self.linear.after[at + 1]],
            (Field::Change, None, Some([_, link])) => self.links.twists[0][link].into(),
            (Field::After, None, Some([_, link])) => self.links.twists[1][link].into(),
            (Field::Change, None, None) => [Vector3::zeros(); 2],
            (Field::Start, ..) if item.inertia.is_some() => {
                [self.states[body].velocity, self.states[body].angular_velocity]
            }
            _ => self.linear.prescribed(body),
        }
    }

    /// Relative velocity at a point.
    pub(super) fn relative(
        &self,
        source: &Source<'_>,
        bodies: [usize; 2],
        p: &Vector3<f64>,
        field: Field,
    ) -> Vector3<f64> {
        let [a, b] = bodies.map(|i| {
            let [l, w] = self.twist(source, i, field);
            l + w.cross(&(p - self.states[i].center))
        });
        a - b
    }

    /// A covector on the velocity of a link, at its centre of mass.
    pub(super) fn charge(
        &mut self,
        source: &Source<'_>,
        body: usize,
        field: Field,
        [force, torque]: [Vector3<f64>; 2],
    ) {
        let place = match field {
            Field::Change => 0,
            Field::After => 1,
            // Velocities at the start are a state of their own.
            Field::Start => return,
        };
        if let Some([_, link]) = source.system.items[body].link {
            let power = &mut self.links.powers[place][link];
            power.0 += force;
            power.1 += torque;
        }
    }
}
