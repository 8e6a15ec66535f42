//! Traction and potential of a linearised sample, and the matrices of its derivative.

use super::Linearised;
use crate::dissipation::potential;
use crate::sample::{Sample, Status, stored};
use crate::{DissipationSchedule, FrictionRamp};
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::collider::SignedDistance;
use osculate_math::{Scalar, norm::scale};

/// `m += s a bᵀ`.
#[inline(always)]
pub(super) fn add_outer<T: Scalar>(m: &mut Matrix3<T>, s: T, a: &Vector3<T>, b: &Vector3<T>) {
    let a = scale(a, s);
    for j in 0..3 {
        for i in 0..3 {
            m[(i, j)] += a[i] * b[j];
        }
    }
}

#[inline(always)]
fn add_diagonal<T: Scalar>(m: &mut Matrix3<T>, s: T) {
    for i in 0..3 {
        m[(i, i)] += s;
    }
}

impl<const W: usize, const F: usize, T: Scalar> Linearised<'_, W, F, T> {
    #[inline(always)]
    pub(super) fn n(&self) -> Vector3<T> {
        self.normal.map_or_else(Vector3::zeros, |(n, _)| n)
    }

    /// `−D/λ̂ = c_n V_n N + τ V_t`.
    #[inline(always)]
    pub(super) fn resistance(&self) -> Vector3<T> {
        scale(&self.n(), self.pair.damping * self.normal_speed) + scale(&self.tangential, self.tau)
    }

    /// `W + Δt_i R` \[J/m²\].
    #[inline(always)]
    pub(crate) fn potential(&self, ramp: FrictionRamp, duration: f64) -> T {
        let kept = match self.contact.status {
            Status::Contact => stored(self.pair, self.contact.now.phi),
            _ => T::zero(),
        };
        let lost = potential(self.pair, ramp, self.load_hat, &self.velocity, &self.n());
        kept + lost * duration
    }

    #[inline(always)]
    pub(crate) fn traction(&self) -> Vector3<T> {
        scale(&self.contact.now.gradient, self.load.re) - scale(&self.resistance(), self.load_hat)
    }

    /// `D_V/Δt`: by `p` through the velocity.
    #[inline(always)]
    pub(super) fn by_moved(&self) -> Matrix3<T> {
        let (n, v, l) = (self.n(), self.tangential, self.load_hat * self.per_duration);
        let diagonal = l * self.tau;
        let across = scale(&n, diagonal - l * self.pair.damping);
        let bent = scale(&v, l * self.pair.friction * self.friction.eps[0] * -2.0);
        Matrix3::from_fn(|i, j| {
            let x = across[i] * n[j] + bent[i] * v[j];
            if i == j { x - diagonal } else { x }
        })
    }

    /// `D_N`.
    #[inline(always)]
    pub(super) fn by_split_normal(&self) -> Matrix3<T> {
        let l = self.load_hat;
        let across = l * (self.tau - self.pair.damping);
        let mut m = Matrix3::zeros();
        add_diagonal(&mut m, across * self.normal_speed);
        add_outer(&mut m, across, &self.n(), &self.velocity);
        let bend = l * self.pair.friction * self.friction.eps[0] * self.normal_speed * 2.0;
        add_outer(&mut m, bend, &self.tangential, &self.tangential);
        m
    }

    /// `∂T/∂s` and `∂T/∂φ̂`, with `φ̂` the distance that dissipation sees.
    #[inline(always)]
    pub(super) fn by_alignment_and_distance(&self) -> (Vector3<T>, Vector3<T>) {
        if self.normal.is_none() {
            return (Vector3::zeros(), Vector3::zeros());
        }
        let d = self.resistance();
        let by_fading = -(self.seen.re * self.fading.eps[0]);
        (scale(&d, by_fading), scale(&d, -(self.fading.re * self.seen.eps[0])))
    }

    /// `∂T/∂G` of the geometry that decides dissipation: through `N`, `s` and `φ̂`.
    #[inline(always)]
    pub(super) fn by_gradient(&self, normal: Option<&Vector3<T>>) -> Matrix3<T> {
        let (by_s, by_phi) = self.by_alignment_and_distance();
        let mut m = Matrix3::zeros();
        if let Some((n, Some(inverse))) = &self.normal {
            // δN = (1 − N Nᵀ) δG/‖G‖
            m = self.by_split_normal().map(|x| x * *inverse);
            let along = m * n;
            add_outer(&mut m, -T::one(), &along, n);
        }
        if let Some(normal) = normal {
            add_outer(&mut m, T::one(), &by_s, normal);
        }
        if self.schedule == DissipationSchedule::CurrentGeometry {
            add_outer(&mut m, -T::one(), &by_phi, &self.moved);
        }
        m
    }

    /// `∂T/∂p`.
    #[inline(always)]
    pub(crate) fn by_position(
        &self,
        collider: &impl SignedDistance<T>,
        sample: &Sample<T>,
    ) -> Matrix3<T> {
        let g = &self.contact.now.gradient;
        let mut m = self.by_moved();
        add_outer(&mut m, self.load.eps[0], g, g);
        if self.schedule == DissipationSchedule::Current {
            let (_, by_phi) = self.by_alignment_and_distance();
            add_outer(&mut m, T::one(), &by_phi, g);
        }
        if let Some(curvature) = collider.curvature(&sample.position) {
            let mut by_gradient = match self.schedule {
                DissipationSchedule::StageStart => Matrix3::zeros(),
                _ => self.by_gradient(sample.normal.as_ref()),
            };
            add_diagonal(&mut by_gradient, self.load.re);
            m += by_gradient * curvature;
        }
        m
    }

    /// `∂T/∂N_A`.
    #[inline(always)]
    pub(super) fn by_normal(&self, fade: bool) -> Matrix3<T> {
        let mut m = Matrix3::zeros();
        if fade {
            let (by_s, _) = self.by_alignment_and_distance();
            add_outer(&mut m, T::one(), &by_s, &self.contact.before.gradient);
        }
        if let Some((_, None)) = &self.normal {
            m -= self.by_split_normal();
        }
        m
    }
}
