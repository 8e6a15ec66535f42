//! What a step did.

use super::solve::ImpulseStats;
use nalgebra::Vector3;
use osculate_geometry::manifold::{Contact, ContactPoint};

/// A contact and its impulse on the first body; the second gets the opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactImpulse {
    /// The two bodies.
    pub bodies: [usize; 2],
    /// The features that touch.
    pub contact: Contact,
    /// Where they touch at the start of the step.
    pub point: ContactPoint,
    /// Normal impulse \[N s\], ≥ 0.
    pub normal: f64,
    /// Friction impulse \[N s\], world; zero where friction acts at anchors.
    pub friction: Vector3<f64>,
}

/// Contacts of a step and what its solve took.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// The contacts.
    pub contacts: Vec<ContactImpulse>,
    /// What the solve took.
    pub stats: ImpulseStats,
}
