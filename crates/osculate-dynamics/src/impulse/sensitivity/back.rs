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

/// Velocities of two bodies in a field.
#[derive(Clone, Copy)]
pub(super) struct PairTwists {
    pub(super) bodies: [usize; 2],
    pub(super) field: Field,
    /// Linear and angular velocity of each.
    pub(super) of: [[Vector3<f64>; 2]; 2],
}

impl PairTwists {
    /// Relative angular velocity.
    pub(super) fn spin(&self) -> Vector3<f64> {
        self.of[0][1] - self.of[1][1]
    }
}

/// Velocities [`Field::Change`] and [`Field::After`] of the bodies of the last contact: contacts are listed pair by pair.
#[derive(Default)]
pub(super) struct LastPair(Option<[PairTwists; 2]>);

impl LastPair {
    pub(super) fn of(
        &mut self,
        back: &Back<'_>,
        source: &Source<'_>,
        bodies: [usize; 2],
    ) -> &[PairTwists; 2] {
        if self.0.as_ref().is_some_and(|last| last[0].bodies != bodies) {
            self.0 = None;
        }
        let fields = [Field::Change, Field::After];
        self.0.get_or_insert_with(|| fields.map(|field| back.twists(source, bodies, field)))
    }
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

    /// Velocities of two bodies.
    pub(super) fn twists(
        &self,
        source: &Source<'_>,
        bodies: [usize; 2],
        field: Field,
    ) -> PairTwists {
        let of = bodies.map(|body| self.twist(source, body, field));
        PairTwists { bodies, field, of }
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
