//! Friction of a patch on the limit surface of a uniformly loaded disk: two sliding rows and spin, found together.
//!
//! ```text
//! (r_T, τ) = −∇D(u),   D of the disk of radius R = 3/2 r at the load c = μ Σ r_N
//! residual ‖W (r′ − r)‖ in (1, 1, r),  r′ what the law gives for the velocity without r
//! ```
//!
//! It acts at one place, the middle of the patch: two anchors would have a torque of their own.

use super::build::Builder;
use super::row::{Row, Velocities};
use super::rows::FrictionPair;
use super::solve::slip;
use nalgebra::{Matrix3, Vector2, Vector3};
use osculate_contact::impulse::torsion::DiskPatch;
use osculate_contact::impulse::{ImpulseError, limit_surface};

/// A change of velocity below this part of what it is made from is none: the law is solved to 32 ε of the same sum.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// The spin row of a patch that slides and spins on its limit surface.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceRows {
    spin: Row,
    /// Normal of the patch.
    pub(crate) normal: Vector3<f64>,
    /// `W` of the rows slide, slide, spin.
    block: Matrix3<f64>,
    /// `R` \[m\].
    radius: f64,
    /// `τ` \[N m s\].
    pub(crate) impulse: f64,
}

impl SurfaceRows {
    /// * `radius`: `r` \[m\], torque of pure spin over `μ N`.
    pub(crate) fn new(
        builder: &Builder<'_>,
        bodies: [usize; 2],
        (normal, pair): (&Vector3<f64>, &FrictionPair),
        radius: f64,
    ) -> Self {
        let spin = builder.angular(bodies, normal);
        let rows = [&pair.rows[0], &pair.rows[1], &spin];
        let block = Matrix3::from_fn(|i, j| rows[i].coupling(rows[j]));
        Self { spin, normal: *normal, block, radius: 1.5 * radius, impulse: 0.0 }
    }

    /// Its row.
    pub(crate) fn rows_mut(&mut self) -> &mut [Row] {
        std::slice::from_mut(&mut self.spin)
    }

    /// Shows its row with its impulse.
    pub(crate) fn each(&self, mut see: impl FnMut(&Row, f64)) {
        see(&self.spin, self.impulse);
    }

    /// What the law changes of the impulses, and the velocity that this brings \[m/s\]; zero where it is rounding.
    fn step(
        &self,
        load: f64,
        pair: &FrictionPair,
        v: &Velocities,
    ) -> Result<(Vector3<f64>, f64), ImpulseError> {
        let old = Vector3::new(pair.impulse.x, pair.impulse.y, self.impulse);
        let slide = slip(pair, v);
        let now = Vector3::new(slide.x, slide.y, self.spin.velocity(v));
        let pushed = self.block * old;
        let law = DiskPatch {
            block: self.block,
            velocity: now - pushed,
            budget: pair.share * load,
            radius: self.radius,
        };
        let step = law.solve()?.impulse - old;
        let lever = Vector3::new(1.0, 1.0, self.radius / 1.5);
        let change = (self.block * step).component_mul(&lever).norm();
        let size = (now.abs() + pushed.abs()).component_mul(&lever).norm();
        if change <= ROUNDING * size { Ok((Vector3::zeros(), 0.0)) } else { Ok((step, change)) }
    }

    /// One sweep, `part` of the way \[–\]; the change of velocity \[m/s\].
    pub(crate) fn sweep(
        &mut self,
        (load, part): (f64, f64),
        pair: &mut FrictionPair,
        v: &mut Velocities,
    ) -> Result<f64, ImpulseError> {
        let (step, change) = self.step(load, pair, v)?;
        if change <= 0.0 {
            return Ok(0.0);
        }
        let step = step * part;
        pair.impulse += Vector2::new(step.x, step.y);
        self.impulse += step.z;
        pair.rows[0].apply(step.x, v);
        pair.rows[1].apply(step.y, v);
        self.spin.apply(step.z, v);
        Ok(change * part)
    }

    /// How far the law is from being met \[m/s\]; not a number where it cannot be solved.
    pub(crate) fn residual(&self, load: f64, pair: &FrictionPair, v: &Velocities) -> f64 {
        self.step(load, pair, v).map_or(f64::NAN, |(_, change)| change)
    }

    /// What spin leaves to sliding \[N s\].
    pub(crate) fn sliding_radius(&self, budget: f64) -> f64 {
        if budget > 0.0 {
            budget * limit_surface::force_beside(self.impulse / (budget * self.radius))
        } else {
            0.0
        }
    }
}
