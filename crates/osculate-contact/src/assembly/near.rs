//! A pair that is looked at again and again while one stage is solved: only the samples that may touch, and forces, Jacobian and potential in
//! one pass over them. What a sample takes from its stage start is computed once.

use super::{Moments, Moving, PairStage, Wrenches, chunks};
use crate::alignment;
use crate::kinematics::Pullback;
use crate::linearised::{Linearised, Seen};
use crate::sample::{Contact, Sample, Status};
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::aabb::Aabb;
use osculate_geometry::collider::{Collider, Field, SignedDistance};
use osculate_math::{Scalar, mat3, real};
use std::ops::AddAssign;

/// A sample that may touch during a stage, with what stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct NearSample {
    pub(super) index: u32,
    /// `φ` beyond the threshold when it was found \[m\]: until it has moved that far it cannot touch.
    gap: f64,
    /// `p⁰` \[m\].
    start: Vector3<f64>,
    /// What decides its dissipation, where that is its stage start.
    before: Option<Before>,
}

/// A sample at stage start.
#[derive(Clone, Copy, Debug)]
struct Before {
    field: Field<f64>,
    alignment: f64,
    accepted: bool,
    /// Whether it was within the threshold.
    touched: bool,
    seen: Seen<1, 1, f64>,
}

/// Force of a pair, its Jacobian, and its potential.
#[derive(Clone, Copy, Debug, Default)]
pub struct NearForces {
    /// The force.
    pub wrenches: Wrenches,
    moments: Moments<f64>,
    /// `Σ w (W + Δt_i R)` \[J\] where the force is its gradient ([`DissipationSchedule::StageStart`](crate::DissipationSchedule::StageStart)),
    /// else zero.
    pub potential: f64,
}

impl AddAssign for NearForces {
    fn add_assign(&mut self, other: Self) {
        self.wrenches += other.wrenches;
        self.moments += other.moments;
        self.potential += other.potential;
    }
}

impl NearForces {
    /// Calls `put` with the terms of `∂r/∂q` in world axes: row and column in the order `c_A, θ_A, c_B, θ_B`, and a 3×3 matrix to be added there.
    ///
    /// * `rotation`: of the collider, * `offset`: `c_A − c_B`, world \[m\].
    #[inline]
    pub fn for_each_block(
        &self,
        (rotation, offset): (&Matrix3<f64>, &Vector3<f64>),
        moving: Moving,
        put: impl FnMut(usize, usize, &Matrix3<f64>),
    ) {
        self.moments.turned(rotation).for_each_block(offset, moving, put);
    }
}

impl<T: Scalar> PairStage<'_, T> {
    /// Whether samples within `reach` \[m\] of their body's centre can have `φ` below the threshold and `margin` \[m\] now, or count by
    /// their stage start.
    pub fn may_be_near(&self, reach: f64, margin: f64) -> bool {
        let threshold = self.params.threshold.re();
        let may = |p: &Pullback<T>, distance: f64| {
            let center = real(&p.offset) + real(&p.collider_center);
            self.collider.may_reach(&center, reach, distance)
        };
        may(&self.now, threshold + margin) || (self.explicit() && may(&self.start, threshold))
    }
}

impl PairStage<'_> {
    /// Finds the samples with `φ` below the threshold and `margin` \[m\] now, or that count by their stage start.
    pub fn find_near(&self, margin: f64, samples: &mut Vec<NearSample>) {
        let threshold = self.params.threshold;
        // Most samples are outside of a box that is cheaper to ask than the field.
        let bounds = [threshold + margin, threshold].map(|d| self.collider.bounds(d.max(0.0)));
        let gap = |p: &Vector3<f64>, bounds: &Option<Aabb>| {
            let inside = bounds.is_none_or(|b| b.contains_point(p));
            if inside { self.collider.phi(p) - threshold } else { f64::INFINITY }
        };
        chunks::find(self.points.len(), samples, &|range, found| {
            for i in range {
                let point = &self.points[i];
                let start = self.start.position(point);
                let gap_now = gap(&self.now.position(point), &bounds[0]);
                if gap_now < margin || (self.explicit() && gap(&start, &bounds[1]) < 0.0) {
                    let before = self.explicit().then(|| self.before(i));
                    found.push(NearSample { index: i as u32, gap: gap_now, start, before });
                }
            }
        });
    }

    /// A sample at stage start.
    fn before(&self, i: usize) -> Before {
        let start = self.start.position(&self.points[i]);
        let sample =
            Sample { position: start, start, normal: self.normal(i), duration: self.duration };
        let field = self.collider.field(&start);
        let contact = self.law.contact(self.params, self.collider, &sample);
        let s = contact.alignment;
        Before {
            field,
            alignment: s,
            accepted: sample.normal.is_none() || alignment::accepted(s, self.params.max_alignment),
            touched: field.phi < self.params.threshold,
            seen: self.law.seen(self.params, &sample, &contact),
        }
    }

    /// Adds the forces of some samples.
    pub fn add_forces_of(&self, samples: &[NearSample], wrenches: &mut Wrenches) {
        chunks::sum(samples.len(), wrenches, &|range, sum| {
            for i in samples[range].iter().map(|near| near.index as usize) {
                let total = self.law.total(self.params, self.collider, &self.sample(i));
                self.add_force(i, &(total * self.weights[i]), sum);
            }
        });
    }

    /// [`PairStage::potential`] of some samples \[J\].
    pub fn potential_of(&self, samples: &[NearSample]) -> f64 {
        let of = |i: usize| {
            self.law.potential(self.params, self.collider, &self.sample(i)) * self.weights[i]
        };
        samples.iter().map(|near| of(near.index as usize)).sum()
    }

    /// Writes force, Jacobian and potential of some samples.
    ///
    /// * `changed`: a bound of how much `φ` has changed at any of them since they were found \[m\].
    pub fn near_forces(&self, samples: &[NearSample], changed: f64, sum: &mut NearForces) {
        *sum = NearForces::default();
        match self.collider {
            Collider::HalfSpace(plane) => self.near_forces_on(plane, samples, changed, sum),
            _ => self.near_forces_on(self.collider, samples, changed, sum),
        }
    }

    #[inline(always)]
    fn near_forces_on(
        &self,
        collider: &(impl SignedDistance<f64> + Sync),
        samples: &[NearSample],
        changed: f64,
        sum: &mut NearForces,
    ) {
        chunks::sum(samples.len(), sum, &|range, sum| {
            for near in &samples[range] {
                let apart = near.gap > changed;
                match &near.before {
                    Some(before) if before.touched || !apart => {
                        self.add_near(collider, near, before, sum);
                    }
                    None if !apart => self.add_present(collider, near.index as usize, sum),
                    _ => {}
                }
            }
        });
    }

    /// Adds a sample whose dissipation is decided at stage start.
    #[inline(always)]
    fn add_near(
        &self,
        collider: &impl SignedDistance<f64>,
        near: &NearSample,
        before: &Before,
        sum: &mut NearForces,
    ) {
        let (i, params) = (near.index as usize, self.params);
        let arm = mat3::apply(&self.now.rotation, &self.points[i]);
        let position = arm + self.now.offset + self.now.collider_center;
        let now = collider.field(&position);
        let status = Status::of(now.phi < params.threshold, before.touched, || before.accepted);
        if matches!(status, Status::Apart | Status::Rejected) {
            return;
        }
        let sample = Sample { position, start: near.start, normal: None, duration: self.duration };
        let contact = Contact { status, now, before: before.field, alignment: before.alignment };
        let l: Linearised<'_, 1, 1, f64> =
            self.law.linearise_seeing(params, &sample, &contact, before.seen);
        let w = self.weights[i];
        let force = l.traction() * w;
        sum.potential += l.potential(self.law.ramp, self.duration) * w;
        self.add_force(i, &force, &mut sum.wrenches);
        sum.moments.add(&arm, &force, &(l.by_position(collider, &sample) * w), None);
    }

    /// Adds a sample whose dissipation is decided now.
    fn add_present(&self, collider: &impl SignedDistance<f64>, i: usize, sum: &mut NearForces) {
        let sample = self.sample(i);
        let contact = self.law.contact(self.params, collider, &sample);
        if matches!(contact.status, Status::Apart | Status::Rejected) {
            return;
        }
        let slopes = self.law.slopes_of(self.params, collider, (&sample, &contact));
        let force = slopes.traction * self.weights[i];
        self.add_force(i, &force, &mut sum.wrenches);
        self.add_moments(i, &sample, (&slopes, &force), &mut sum.moments);
    }
}
