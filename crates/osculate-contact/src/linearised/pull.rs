//! The gradient of `T·ξ` by position, normal, parameters and dimensions: the transposed derivatives, applied to `ξ`.

use super::{LawGradient, Linearised};
use crate::DissipationSchedule;
use crate::sample::Sample;
use nalgebra::Vector3;
use osculate_geometry::collider::{Collider, DIMENSIONS};
use osculate_math::{Scalar, norm::scale};

impl<T: Scalar> Linearised<'_, 4, 2, T> {
    /// The gradient of `T·ξ`.
    pub(super) fn pull(
        &self,
        xi: &Vector3<T>,
        (collider, sample): (&Collider<T>, &Sample<T>),
        fade: bool,
        g: &mut LawGradient<T>,
    ) {
        let now = &self.contact.now;
        let (by_s, by_phi) = self.by_alignment_and_distance();
        let seen = by_phi.dot(xi);
        let by_moved = self.by_moved() * xi;
        g.position += by_moved;
        g.start -= by_moved;
        self.pull_params(xi, g);
        // Cotangents of (φ, G) now, and of the geometry that decides dissipation.
        let mut field = (now.gradient.dot(xi) * self.load.eps[0], scale(xi, self.load.re));
        let by_gradient = self.by_gradient(sample.normal.as_ref()).transpose() * xi;
        if sample.normal.is_some() {
            g.normal += self.by_normal(fade).transpose() * xi;
        }
        debug_assert!(fade || by_s.dot(xi).re() == 0.0, "alignment acts through fading only");
        match self.schedule {
            DissipationSchedule::StageStart => {
                let (p, d) = collider.pull_field(&sample.start, (seen, by_gradient));
                g.start += p;
                add(&mut g.dimensions, &d);
                g.start_field = Some((seen, by_gradient));
            }
            DissipationSchedule::CurrentGeometry => {
                // φ̂ = φ − G·(p − p⁰)
                g.position -= scale(&now.gradient, seen);
                g.start += scale(&now.gradient, seen);
                field = (field.0 + seen, field.1 + by_gradient);
            }
            DissipationSchedule::Current => field = (field.0 + seen, field.1 + by_gradient),
        }
        let (p, d) = collider.pull_field(&sample.position, field);
        g.position += p;
        add(&mut g.dimensions, &d);
        g.field = field;
    }

    /// k, ε, δ, m, μ, c_t, c_n, V_f.
    fn pull_params(&self, xi: &Vector3<T>, g: &mut LawGradient<T>) {
        let along = self.contact.now.gradient.dot(xi);
        let resistance = self.resistance().dot(xi);
        let [by_seen, by_fading] = if self.normal.is_some() {
            [resistance * self.fading.re, resistance * self.seen.re]
        } else {
            [T::zero(); 2]
        };
        for j in 0..3 {
            g.params[j] += along * self.load.eps[j + 1] - by_seen * self.seen.eps[j + 1];
        }
        g.params[3] -= by_fading * self.fading.eps[1];
        let slip = self.tangential.dot(xi) * self.load_hat;
        g.params[4] -= slip * self.friction.re;
        g.params[5] -= slip;
        g.params[6] -= self.n().dot(xi) * self.normal_speed * self.load_hat;
        g.params[7] -= slip * self.pair.friction * self.friction.eps[1];
    }
}

fn add<T: Scalar>(to: &mut [T; DIMENSIONS], x: &[T; DIMENSIONS]) {
    for (a, b) in to.iter_mut().zip(x) {
        *a += *b;
    }
}
