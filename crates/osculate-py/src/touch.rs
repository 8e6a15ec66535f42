//! Contacts of either model as one kind of row.

use nalgebra::Vector3;
use osculate_dynamics::ContactRecord;
use osculate_dynamics::impulse::{AnchorImpulse, ContactImpulse, ImpulseTrajectory};

/// One point of contact, of either model.
pub(crate) struct Touch {
    pub(crate) bodies: [usize; 2],
    pub(crate) gap: f64,
    pub(crate) position: Vector3<f64>,
    pub(crate) normal: Vector3<f64>,
    /// On the first body.
    pub(crate) force: Vector3<f64>,
}

impl Touch {
    pub(crate) fn of_record(c: &ContactRecord) -> Self {
        Self {
            bodies: [c.colliding, c.collider],
            gap: c.distance,
            position: c.position,
            normal: c.normal,
            force: c.force,
        }
    }

    /// Impulses over a step are mean forces.
    pub(crate) fn of_impulses(
        trajectory: &ImpulseTrajectory,
        step: usize,
        duration: f64,
    ) -> Vec<Self> {
        let point = |c: &ContactImpulse| Self {
            bodies: c.bodies,
            gap: c.point.gap,
            position: (c.point.point_a + c.point.point_b) * 0.5,
            normal: c.point.normal,
            force: (c.point.normal * c.normal + c.friction) / duration,
        };
        // Friction of a patch acts at its anchors, which carry no load of their own.
        let anchor = |a: &AnchorImpulse| Self {
            bodies: a.bodies,
            gap: 0.0,
            position: a.position,
            normal: a.normal,
            force: a.impulse / duration,
        };
        let record = &trajectory.records[step - 1];
        record.contacts.iter().map(point).chain(record.anchors.iter().map(anchor)).collect()
    }
}
