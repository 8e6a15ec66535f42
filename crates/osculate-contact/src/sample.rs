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
use osculate_geometry::collider::{Collider, Field};
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
    /// `p`, position now [m].
    pub position: Vector3<T>,
    /// `p⁰`, position at stage start [m].
    pub start: Vector3<T>,
    /// `N_A`, outward normal of the colliding surface where it has one: now, or at stage start for `StageStart`.
    pub normal: Option<Vector3<T>>,
    /// `Δt_i`, duration of the stage [s].
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

/// Tractions on the colliding surface [Pa per reference area], in collider-reference coordinates, by cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traction<T = f64> {
    /// What the sample is to the collider.
    pub status: Status,
    /// Signed distance `φ` [m]; the threshold for a retained contact.
    pub phi: T,
    /// Alignment `s` [–].
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

    /// Total traction [Pa].
    #[inline]
    pub fn total(&self) -> Vector3<T> {
        self.elastic + self.dissipation.total()
    }
}

/// Direction of the normal/tangential split, alignment and load that dissipation sees.
struct DissipativeState<T> {
    normal: Option<Vector3<T>>,
    load: T,
}

impl ContactLaw {
    /// Traction of a sample.
    #[inline]
    pub fn traction<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> Traction<T> {
        let now = collider.field(&sample.position);
        let touching = now.phi < pair.threshold;
        let explicit = self.schedule == DissipationSchedule::StageStart;
        let before = if explicit { collider.field(&sample.start) } else { now };
        let retained = explicit && !touching && before.phi < pair.threshold;
        // The geometry that decides acceptance and dissipation: stage start or now.
        let s = alignment::alignment(&before.gradient, sample.normal.as_ref());
        if !touching && !retained {
            return Traction::none(Status::Apart, now.phi, s);
        }
        if sample.normal.is_some() && !alignment::accepted(s, pair.max_alignment) {
            return Traction::none(Status::Rejected, now.phi, s);
        }
        let state = self.dissipative_state(pair, sample, &now, &before, s);
        let mut traction = if retained {
            Traction::none(Status::Retained, pair.threshold, s)
        } else {
            let mut t = Traction::none(Status::Contact, now.phi, s);
            t.elastic = norm::scale(&now.gradient, load(pair, now.phi));
            t
        };
        if let Some(normal) = state.normal {
            let velocity = (sample.position - sample.start).map(|x| x / sample.duration);
            traction.dissipation =
                dissipation::tractions(pair, self.ramp, state.load, &velocity, &normal);
        }
        traction
    }

    #[inline]
    fn dissipative_state<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        sample: &Sample<T>,
        now: &Field<T>,
        before: &Field<T>,
        s: T,
    ) -> DissipativeState<T> {
        let phi = match self.schedule {
            DissipationSchedule::StageStart => before.phi,
            DissipationSchedule::CurrentGeometry => {
                now.phi - now.gradient.dot(&(sample.position - sample.start))
            }
            DissipationSchedule::Current => now.phi,
        };
        let fading = match sample.normal {
            Some(_) if self.fade => alignment::fading(s, pair.max_alignment),
            _ => T::one(),
        };
        let colliding = sample.normal.map(|n| -n);
        let normal = match colliding {
            Some(n) if !pair.collider_normal => Some(n),
            // A vanishing gradient has no direction: the colliding normal stands in, or nothing.
            _ => norm::direction(&before.gradient).or(colliding),
        };
        DissipativeState { normal, load: fading * load(pair, phi) }
    }

    /// Dissipation potential of a sample over its stage, `Δt_i R` [J/m²].
    ///
    /// The residual is its gradient only for `StageStart`.
    pub fn dissipation_potential<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> T {
        let status = self.traction(pair, collider, sample).status;
        if matches!(status, Status::Apart | Status::Rejected) {
            return T::zero();
        }
        let now = collider.field(&sample.position);
        let explicit = self.schedule == DissipationSchedule::StageStart;
        let before = if explicit { collider.field(&sample.start) } else { now };
        let s = alignment::alignment(&before.gradient, sample.normal.as_ref());
        let state = self.dissipative_state(pair, sample, &now, &before, s);
        state.normal.map_or_else(T::zero, |n| {
            let velocity = (sample.position - sample.start).map(|x| x / sample.duration);
            dissipation::potential(pair, self.ramp, state.load, &velocity, &n) * sample.duration
        })
    }

    /// Elastic energy of a sample per reference area, `W` [J/m²]; zero where the sample is rejected.
    pub fn energy_density<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> T {
        match self.traction(pair, collider, sample).status {
            Status::Contact => normal_penalty::energy_density(
                collider.phi(&sample.position),
                pair.stiffness,
                pair.smoothing,
                pair.threshold,
            ),
            _ => T::zero(),
        }
    }
}

#[inline]
fn load<T: Scalar>(pair: &PairParams<T>, phi: T) -> T {
    normal_penalty::normal_load(phi, pair.stiffness, pair.smoothing, pair.threshold)
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
