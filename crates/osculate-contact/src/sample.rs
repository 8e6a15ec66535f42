//! One contact sample: from its positions to its traction.
//!
//! ```text
//! T = λ_n G + T_diss(λ̂, N, V_rel)        V_rel = (p − p⁰)/Δt
//! ```
//!
//! | schedule | N, s, a | load of λ̂ | contacts |
//! |---|---|---|---|
//! | `StageStart` | at `p⁰` | `λ_n(φ(p⁰))` | now or at stage start |
//! | `CurrentGeometry` | at `p` | `λ_n(φ − G·Δp)` | now |
//! | `Current` | at `p` | `λ_n(φ)` | now |

use crate::dissipation::{self, Dissipation};
use crate::{DissipationSchedule, FrictionRamp, PairParams, alignment, normal_penalty};
use nalgebra::Vector3;
use osculate_geometry::collider::{Collider, Field, SignedDistance};
use osculate_math::{Scalar, norm};

/// Settings of the contact law that are the same for every pair of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactLaw {
    /// Time levels of the dissipative terms.
    pub schedule: DissipationSchedule,
    /// Fade dissipation by the alignment factor `a`.
    pub fade: bool,
    /// Regularisation of Coulomb friction.
    pub ramp: FrictionRamp,
}

impl Default for ContactLaw {
    fn default() -> Self {
        Self { schedule: DissipationSchedule::default(), fade: true, ramp: FrictionRamp::default() }
    }
}

/// A sample in collider-reference coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<T = f64> {
    /// `p`, position now \[m\].
    pub position: Vector3<T>,
    /// `p⁰`, position at stage start \[m\].
    pub start: Vector3<T>,
    /// `N_A`, outward normal of the colliding surface where it has one: now, or at stage start for `StageStart`.
    pub normal: Option<Vector3<T>>,
    /// `Δt_i`, duration of the stage \[s\].
    pub duration: f64,
}

/// What a sample is to its collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// At or beyond the threshold.
    Apart,
    /// Within the threshold, normals misaligned: no force.
    Rejected,
    /// In contact.
    Contact,
    /// In contact at stage start only (`StageStart`): dissipation without a conservative force.
    Retained,
}

impl Status {
    /// Of a sample that is within the threshold now, counts by its stage start, and has aligned normals.
    // Asked one after the other: one match on the three makes LLVM 22 (Rust 1.95) crash where `traction` is compiled for jets.
    #[inline(always)]
    pub(crate) fn of(touching: bool, retained: bool, accepted: impl FnOnce() -> bool) -> Self {
        if !touching && !retained {
            Self::Apart
        } else if !accepted() {
            Self::Rejected
        } else if touching {
            Self::Contact
        } else {
            Self::Retained
        }
    }
}

/// Tractions on the colliding surface \[Pa per reference area\], in collider-reference coordinates, by cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traction<T = f64> {
    /// What the sample is to the collider.
    pub status: Status,
    /// Signed distance `φ` \[m\]; the threshold for a retained contact.
    pub phi: T,
    /// Alignment `s` \[–\].
    pub alignment: T,
    /// Conservative part `λ_n G`.
    pub elastic: Vector3<T>,
    /// Damping and friction.
    pub dissipation: Dissipation<T>,
}

impl<T: Scalar> Traction<T> {
    #[inline]
    fn none(status: Status, phi: T, alignment: T) -> Self {
        let o = Vector3::zeros();
        let dissipation = Dissipation { damping: o, viscous: o, coulomb: o };
        Self { status, phi, alignment, elastic: o, dissipation }
    }

    /// Total traction \[Pa\].
    #[inline]
    pub fn total(&self) -> Vector3<T> {
        self.elastic + self.dissipation.total()
    }
}

/// What decides the laws of a sample: its status, the field now, and the geometry that dissipation sees.
pub(crate) struct Contact<T> {
    pub(crate) status: Status,
    pub(crate) now: Field<T>,
    /// At stage start for `StageStart`, else now.
    pub(crate) before: Field<T>,
    /// `s`, of `before`.
    pub(crate) alignment: T,
}

impl ContactLaw {
    /// The field at a sample, and what the sample is to its collider.
    #[inline(always)]
    pub(crate) fn contact<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &impl SignedDistance<T>,
        sample: &Sample<T>,
    ) -> Contact<T> {
        let now = collider.field(&sample.position);
        // The geometry that decides acceptance and dissipation: stage start or now.
        let explicit = self.schedule == DissipationSchedule::StageStart;
        let before = if explicit { collider.field(&sample.start) } else { now };
        let s = alignment::alignment(&before.gradient, sample.normal.as_ref());
        let accepted = || sample.normal.is_none() || alignment::accepted(s, pair.max_alignment);
        let touching = now.phi < pair.threshold;
        let retained = explicit && !touching && before.phi < pair.threshold;
        let status = Status::of(touching, retained, accepted);
        Contact { status, now, before, alignment: s }
    }

    /// Traction of a sample.
    #[inline]
    pub fn traction<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> Traction<T> {
        let contact = self.contact(pair, collider, sample);
        let (phi, s) = (contact.now.phi, contact.alignment);
        let mut traction = match contact.status {
            Status::Apart | Status::Rejected => return Traction::none(contact.status, phi, s),
            Status::Retained => Traction::none(Status::Retained, pair.threshold, s),
            Status::Contact => {
                let elastic = norm::scale(&contact.now.gradient, load(pair, phi));
                Traction { elastic, ..Traction::none(Status::Contact, phi, s) }
            }
        };
        if let Some((normal, _)) = self.split_normal(pair, sample, &contact) {
            traction.dissipation = dissipation::tractions(
                pair,
                self.ramp,
                self.dissipative_load(pair, sample, &contact),
                &velocity(sample),
                &normal,
            );
        }
        traction
    }

    /// The direction `N` of the normal/tangential split, with `1/‖G‖` where it is the direction of `G`.
    #[inline(always)]
    pub(crate) fn split_normal<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        sample: &Sample<T>,
        contact: &Contact<T>,
    ) -> Option<(Vector3<T>, Option<T>)> {
        let colliding = sample.normal.map(|n| -n);
        match colliding {
            Some(n) if !pair.collider_normal => Some((n, None)),
            // A vanishing gradient has no direction: the colliding normal stands in, or nothing.
            _ if contact.before.unit => Some((contact.before.gradient, Some(T::one()))),
            _ => norm::direction_and_inverse(&contact.before.gradient)
                .map(|(n, inverse)| (n, Some(inverse)))
                .or(colliding.map(|n| (n, None))),
        }
    }

    /// The distance that the load of dissipation is taken at.
    #[inline(always)]
    pub(crate) fn seen_distance<T: Scalar>(&self, contact: &Contact<T>, moved: &Vector3<T>) -> T {
        match self.schedule {
            DissipationSchedule::StageStart => contact.before.phi,
            DissipationSchedule::CurrentGeometry => {
                contact.now.phi - contact.now.gradient.dot(moved)
            }
            DissipationSchedule::Current => contact.now.phi,
        }
    }

    /// `λ̂ = a λ_n`.
    #[inline]
    fn dissipative_load<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        sample: &Sample<T>,
        contact: &Contact<T>,
    ) -> T {
        let phi = self.seen_distance(contact, &(sample.position - sample.start));
        let fading = match sample.normal {
            Some(_) if self.fade => alignment::fading(contact.alignment, pair.max_alignment),
            _ => T::one(),
        };
        fading * load(pair, phi)
    }

    /// Dissipation potential of a sample over its stage, `Δt_i R` \[J/m²\].
    ///
    /// The residual is its gradient only for `StageStart`.
    pub fn dissipation_potential<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> T {
        let contact = self.contact(pair, collider, sample);
        match contact.status {
            Status::Apart | Status::Rejected => T::zero(),
            Status::Contact | Status::Retained => self.lost(pair, sample, &contact),
        }
    }

    /// `W + Δt_i R` \[J/m²\]: what the incremental potential of a stage has of a sample.
    pub fn potential<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> T {
        let contact = self.contact(pair, collider, sample);
        match contact.status {
            Status::Apart | Status::Rejected => T::zero(),
            Status::Contact => stored(pair, contact.now.phi) + self.lost(pair, sample, &contact),
            Status::Retained => self.lost(pair, sample, &contact),
        }
    }

    /// `Δt_i R` of a contact.
    fn lost<T: Scalar>(&self, pair: &PairParams<T>, sample: &Sample<T>, contact: &Contact<T>) -> T {
        self.split_normal(pair, sample, contact).map_or_else(T::zero, |(n, _)| {
            let load = self.dissipative_load(pair, sample, contact);
            dissipation::potential(pair, self.ramp, load, &velocity(sample), &n) * sample.duration
        })
    }

    /// Elastic energy of a sample per reference area, `W` \[J/m²\]; zero where the sample is rejected.
    pub fn energy_density<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> T {
        let contact = self.contact(pair, collider, sample);
        match contact.status {
            Status::Contact => stored(pair, contact.now.phi),
            _ => T::zero(),
        }
    }
}

/// `W` of a contact \[J/m²\].
#[inline]
pub(crate) fn stored<T: Scalar>(pair: &PairParams<T>, phi: T) -> T {
    normal_penalty::energy_density(phi, pair.stiffness, pair.smoothing, pair.threshold)
}

/// `V_rel` \[m/s\].
#[inline]
fn velocity<T: Scalar>(sample: &Sample<T>) -> Vector3<T> {
    let per_duration = sample.duration.recip();
    (sample.position - sample.start).map(|x| x * per_duration)
}

#[inline]
fn load<T: Scalar>(pair: &PairParams<T>, phi: T) -> T {
    normal_penalty::normal_load(phi, pair.stiffness, pair.smoothing, pair.threshold)
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
