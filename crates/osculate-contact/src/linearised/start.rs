//! Derivative of a sample's traction by `p⁰`, for schedules that use it in the velocity only.

use super::matrices::add_outer;
use super::{ContactLaw, Linearised, PairParams, Sample, Status};
use crate::DissipationSchedule;
use nalgebra::Matrix3;
use osculate_geometry::collider::Collider;
use osculate_math::Scalar;

impl ContactLaw {
    /// `∂T/∂p⁰` \[Pa/m\] where the schedule looks at no field at `p⁰` (not [`DissipationSchedule::StageStart`]): through `V_rel`,
    /// and with the geometry now through `φ̂ = φ − G·(p − p⁰)`.
    pub fn by_start<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> Matrix3<T> {
        debug_assert!(self.schedule != DissipationSchedule::StageStart, "it asks for Φ at p⁰");
        let contact = self.contact(pair, collider, sample);
        if matches!(contact.status, Status::Apart | Status::Rejected) {
            return Matrix3::zeros();
        }
        let l: Linearised<'_, 1, 1, T> = self.linearise(pair, sample, &contact);
        let mut m = -l.by_moved();
        if self.schedule == DissipationSchedule::CurrentGeometry {
            let (_, by_distance) = l.by_alignment_and_distance();
            add_outer(&mut m, T::one(), &by_distance, &contact.now.gradient);
        }
        m
    }
}
