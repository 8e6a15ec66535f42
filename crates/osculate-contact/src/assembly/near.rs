//! A pair that is looked at again and again while one stage is solved: only the samples that may touch, and forces, Jacobian and potential in
//! one pass over them.

use super::{Blocks, Moments, Moving, PairStage, Wrenches};
use crate::DissipationSchedule;
use crate::kinematics::Pullback;
use crate::normal_penalty::energy_density;
use crate::sample::{Contact, Sample, Status};
use nalgebra::Vector3;
use osculate_math::{Scalar, real};

/// Force of a pair, its Jacobian, and its potential.
#[derive(Clone, Copy, Debug, Default)]
pub struct NearForces {
    /// The force.
    pub wrenches: Wrenches,
    /// Its Jacobian.
    pub blocks: Blocks,
    /// `Σ w (W + Δt_i R)` \[J\] where the force is its gradient ([`DissipationSchedule::StageStart`]), else zero.
    pub potential: f64,
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
    pub fn find_near(&self, margin: f64, samples: &mut Vec<u32>) {
        let distance = self.params.threshold + margin;
        let near = |point: &Vector3<f64>| {
            self.collider.phi(&self.now.position(point)) < distance
                || (self.explicit()
                    && self.collider.phi(&self.start.position(point)) < self.params.threshold)
        };
        samples.clear();
        samples.extend((0..self.points.len()).filter(|&i| near(&self.points[i])).map(|i| i as u32));
    }

    /// Adds the forces of some samples.
    pub fn add_forces_of(&self, samples: &[u32], wrenches: &mut Wrenches) {
        for i in samples.iter().map(|&i| i as usize) {
            let total = self.law.total(self.params, self.collider, &self.sample(i));
            self.add_force(i, &(total * self.weights[i]), wrenches);
        }
    }

    /// [`PairStage::potential`] of some samples \[J\].
    pub fn potential_of(&self, samples: &[u32]) -> f64 {
        let of = |i: usize| {
            let sample = self.sample(i);
            let contact = self.law.contact(self.params, self.collider, &sample);
            self.density(&sample, &contact) * self.weights[i]
        };
        samples.iter().map(|&i| of(i as usize)).sum()
    }

    /// `W + Δt_i R` \[J/m²\].
    #[inline]
    fn density(&self, sample: &Sample, contact: &Contact<f64>) -> f64 {
        let p = self.params;
        match contact.status {
            Status::Apart | Status::Rejected => 0.0,
            Status::Retained => self.law.dissipation_potential_of(p, sample, contact),
            Status::Contact => {
                energy_density(contact.now.phi, p.stiffness, p.smoothing, p.threshold)
                    + self.law.dissipation_potential_of(p, sample, contact)
            }
        }
    }

    /// Force, Jacobian and potential of some samples.
    pub fn near_forces(&self, samples: &[u32], moving: Moving) -> NearForces {
        let mut sum = NearForces::default();
        let mut moments = Moments::default();
        let explicit = self.law.schedule == DissipationSchedule::StageStart;
        for i in samples.iter().map(|&i| i as usize) {
            let sample = self.sample(i);
            let contact = self.law.contact(self.params, self.collider, &sample);
            if matches!(contact.status, Status::Apart | Status::Rejected) {
                continue;
            }
            let w = self.weights[i];
            let slopes = self.law.slopes_of(self.params, self.collider, (&sample, &contact));
            let force = slopes.traction * w;
            self.add_force(i, &force, &mut sum.wrenches);
            if explicit {
                sum.potential += self.density(&sample, &contact) * w;
            }
            self.add_moments(i, &sample, (&slopes, &force), &mut moments);
        }
        moments.add_blocks(&self.now.offset, moving, &mut sum.blocks);
        sum
    }
}
