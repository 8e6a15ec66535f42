//! From the samples of an ordered pair to its generalised force, its exact Jacobian and its pullback.
//!
//! With `ξ(δ) = δc_A + δθ_A × a − δc_B − δθ_B × b` the relative displacement of a sample (`a`, `b` its lever
//! arms), everything below is one of
//!
//! ```text
//! r·λ = −Σ w T·ξ(λ)                                        residual, tested against λ
//! δf  = w (∂T/∂p ξ(δ) + ∂T/∂n (δθ_A − δθ_B) × n) + δθ_B × f  force on A when the bodies move
//! ```
//!
//! in the axes of the collider; [`Wrenches`] and [`Blocks`] are rotated to the world once a pair.
//! `K` is exact and in general not symmetric: it has `λ_n ∇²Φ`, the derivatives of load, normal and alignment,
//! the collider's rotation and the curvature of the kinematics.

mod chunks;
mod forces;
mod moments;
mod near;
mod start;

pub use forces::Wrenches;
pub use near::{NearForces, NearSample};
pub use start::StartSlopes;

use forces::Forces;
use moments::Moments;

use crate::kinematics::Pullback;
use crate::linearised::Slopes;
use crate::params::PAIR_PARAMETERS;
use crate::sample::{ContactLaw, Sample, Traction};
use crate::{DissipationSchedule, PairParams};
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::collider::{Collider, DIMENSIONS};
use osculate_math::{Scalar, mat3, norm::scale, real, so3::skew};
use std::ops::Range;

/// An ordered pair at one stage: everything a sample of it needs.
#[derive(Clone, Copy, Debug)]
pub struct PairStage<'a, T = f64> {
    /// Settings of the law.
    pub law: &'a ContactLaw,
    /// Combined parameters.
    pub params: &'a PairParams<T>,
    /// The collider.
    pub collider: &'a Collider<T>,
    /// Samples of the colliding body relative to its centre of mass, body axes \[m\].
    pub points: &'a [Vector3<T>],
    /// Reference areas of the samples \[m²\].
    pub weights: &'a [T],
    /// Outward unit normals of the colliding surface, body axes, where it has any.
    pub normals: Option<&'a [Vector3<T>]>,
    /// Pullback now.
    pub now: Pullback<T>,
    /// Pullback at stage start, or [`Pullback::carried_back`]: what `V_rel` is made of.
    pub start: Pullback<T>,
    /// Duration of the stage \[s\].
    pub duration: f64,
}

/// `∂r/∂q` of a pair in collider axes: 3×3 blocks, rows and columns in the order `c_A, θ_A, c_B, θ_B`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocks<T = f64>(pub [[Matrix3<T>; 4]; 4]);

impl<T: Scalar> Default for Blocks<T> {
    fn default() -> Self {
        Self([[Matrix3::zeros(); 4]; 4])
    }
}

/// `∂(r·λ)/∂(…)` of a pair for a test vector λ, in the axes of the collider (at stage start where it says so).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairGradient<T = f64> {
    /// By the pair's parameters, in the order of [`PairParams::to_array`].
    pub params: [T; PAIR_PARAMETERS],
    /// By the collider's dimensions.
    pub dimensions: [T; DIMENSIONS],
    /// By the current pose `c_A, θ_A, c_B, θ_B`.
    pub now: [Vector3<T>; 4],
    /// By the stage-start pose `c_A, θ_A, c_B, θ_B`, in collider axes at stage start.
    pub start: [Vector3<T>; 4],
    /// By the linear map of the stage-start pullback, `∂(r·λ)/∂M` of `p⁰ = M X + …`, where it is no rigid motion; its offset has
    /// that of `c_A` above.
    pub start_map: Matrix3<T>,
    /// By the centre of mass of the collider in its local frame.
    pub collider_center: Vector3<T>,
}

impl<T: Scalar> Default for PairGradient<T> {
    fn default() -> Self {
        let o = [Vector3::zeros(); 4];
        Self {
            params: [T::zero(); PAIR_PARAMETERS],
            dimensions: [T::zero(); DIMENSIONS],
            now: o,
            start: o,
            start_map: Matrix3::zeros(),
            collider_center: Vector3::zeros(),
        }
    }
}

/// `∂(r·λ)/∂(…)` of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleGradient<T = f64> {
    /// By its position, body axes of the colliding body.
    pub point: Vector3<T>,
    /// By its weight.
    pub weight: T,
    /// By its normal, body axes; zero where the surface has none.
    pub normal: Vector3<T>,
    /// Where the collider was asked: reference position \[m\], and the gradient by `Φ` and `G` there. Now, and at stage start
    /// where the schedule looks at it.
    pub fields: [Option<FieldGradient<T>>; 2],
}

/// A reference position \[m\], and what changes by `Φ` and `G` there.
pub type FieldGradient<T> = (Vector3<T>, (T, Vector3<T>));

/// Which bodies of a pair move; blocks of the others are not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moving {
    /// The colliding body.
    pub colliding: bool,
    /// The collider's body.
    pub collider: bool,
}

/// Whether samples are nearer to a collider than a distance, at one pullback.
struct Nearness<'a> {
    collider: &'a Collider,
    pullback: &'a Pullback,
    distance: f64,
    /// `Φ` of the samples of a body as `c + g·X`, where the gradient is the same everywhere.
    linear: Option<(f64, Vector3<f64>)>,
}

impl<'a> Nearness<'a> {
    #[inline]
    fn new(collider: &'a Collider, pullback: &'a Pullback, distance: f64) -> Self {
        let origin = pullback.offset + pullback.collider_center;
        let linear = collider.is_linear().then(|| {
            let field = collider.field(&origin);
            // The two ways to the distance differ by rounding of its terms.
            let rounding = 1e-14 * (origin.norm() + field.phi.abs());
            (field.phi - rounding, pullback.rotation.tr_mul(&field.gradient))
        });
        Self { collider, pullback, distance, linear }
    }

    #[inline(always)]
    fn holds(&self, x: &Vector3<f64>) -> bool {
        match &self.linear {
            Some((c, g)) => c + g.dot(x) < self.distance,
            None => self.collider.phi(&self.pullback.position(x)) < self.distance,
        }
    }
}

impl<T: Scalar> PairStage<'_, T> {
    /// Whether a stage-start pullback decides contacts and normals.
    fn explicit(&self) -> bool {
        self.law.schedule == DissipationSchedule::StageStart
    }

    /// Calls `f` with the index of every sample that is within the threshold now (or, for retained contacts, at
    /// stage start). The rest exerts no force. Contacts are found anew at every evaluation.
    ///
    /// A sample within rounding of the threshold may be named too; its law decides.
    #[inline]
    pub fn for_each_near(&self, f: impl FnMut(usize)) {
        self.for_each_near_in(0..self.points.len(), f);
    }

    #[inline]
    fn for_each_near_in(&self, range: Range<usize>, mut f: impl FnMut(usize)) {
        let (collider, threshold) = (self.collider.real(), self.params.threshold.re());
        let (now, start) = (self.now.real(), self.start.real());
        let now = Nearness::new(&collider, &now, threshold);
        let Some(start) = self.explicit().then(|| Nearness::new(&collider, &start, threshold))
        else {
            return range.filter(|&i| now.holds(&real(&self.points[i]))).for_each(f);
        };
        for i in range {
            let x = real(&self.points[i]);
            if now.holds(&x) || start.holds(&x) {
                f(i);
            }
        }
    }

    /// Normal of a sample in collider axes, at the time level of the schedule.
    #[inline]
    fn normal(&self, i: usize) -> Option<Vector3<T>> {
        let level = if self.explicit() { &self.start } else { &self.now };
        Some(mat3::apply(&level.rotation, &self.normals?[i]))
    }

    /// The sample in collider-reference coordinates.
    #[inline]
    pub fn sample(&self, i: usize) -> Sample<T> {
        Sample {
            position: self.now.position(&self.points[i]),
            start: self.start.position(&self.points[i]),
            normal: self.normal(i),
            duration: self.duration,
        }
    }

    /// Traction of a sample.
    #[inline]
    pub fn traction(&self, i: usize) -> Traction<T> {
        self.law.traction(self.params, self.collider, &self.sample(i))
    }

    /// Adds the forces of all samples.
    pub fn add_forces(&self, wrenches: &mut Wrenches<T>) {
        chunks::sum(self.points.len(), wrenches, &|range, sum| {
            self.for_each_near_in(range, |i| {
                let total = self.law.total(self.params, self.collider, &self.sample(i));
                let force = scale(&total, self.weights[i]);
                self.add_force(i, &force, sum);
            });
        });
    }

    /// `Σ w (W + Δt_i R)` \[J\]: what the stage's incremental potential has of the pair.
    ///
    /// The forces are its gradient only for [`DissipationSchedule::StageStart`].
    pub fn potential(&self) -> T {
        let mut sum = T::zero();
        self.for_each_near(|i| {
            let density = self.law.potential(self.params, self.collider, &self.sample(i));
            sum += density * self.weights[i];
        });
        sum
    }

    #[inline]
    fn add_force(&self, i: usize, force: &Vector3<T>, wrenches: &mut Wrenches<T>) {
        let (a, b) = self.now.levers(&self.points[i]);
        wrenches.force += force;
        wrenches.torque_a += a.cross(force);
        wrenches.torque_b += b.cross(force);
        wrenches.magnitude += real(force).norm();
    }

    /// Adds the forces of all samples and their exact Jacobian.
    pub fn add_forces_and_jacobian(
        &self,
        moving: Moving,
        wrenches: &mut Wrenches<T>,
        blocks: &mut Blocks<T>,
    ) {
        let mut forces = Forces { wrenches: *wrenches, moments: Moments::default() };
        chunks::sum(self.points.len(), &mut forces, &|range, sum| {
            self.for_each_near_in(range, |i| {
                let sample = self.sample(i);
                let slopes = self.law.slopes(self.params, self.collider, &sample);
                let force = scale(&slopes.traction, self.weights[i]);
                self.add_force(i, &force, &mut sum.wrenches);
                self.add_moments(i, &sample, (&slopes, &force), &mut sum.moments);
            });
        });
        *wrenches = forces.wrenches;
        forces.moments.add_blocks(&self.now.offset, moving, blocks);
    }

    /// Adds the Jacobian of one sample.
    #[inline(always)]
    fn add_moments(
        &self,
        i: usize,
        sample: &Sample<T>,
        (slopes, force): (&Slopes<T>, &Vector3<T>),
        moments: &mut Moments<T>,
    ) {
        let (arm, w) = (mat3::apply(&self.now.rotation, &self.points[i]), self.weights[i]);
        // The normal moves with the bodies only where it is the present one.
        let by_normal = match (sample.normal, &slopes.by_normal) {
            (Some(n), Some(by)) if !self.explicit() => {
                Some(mat3::mul(&by.map(|x| x * w), &skew(&n)))
            }
            _ => None,
        };
        moments.add(&arm, force, &slopes.by_position.map(|x| x * w), by_normal.as_ref());
    }

    /// Adds `∂(r·λ)/∂(everything but the samples)`, and calls `by_sample` with that of each sample.
    ///
    /// * `lambda`: test vector `c_A, θ_A, c_B, θ_B` in collider axes; zero for a body that does not move.
    pub fn add_gradient(
        &self,
        lambda: &[Vector3<T>; 4],
        gradient: &mut PairGradient<T>,
        mut by_sample: impl FnMut(usize, &SampleGradient<T>),
    ) {
        self.for_each_near(|i| {
            let sample = self.add_sample_gradient(i, lambda, gradient);
            by_sample(i, &sample);
        });
    }

    #[inline]
    fn add_sample_gradient(
        &self,
        i: usize,
        lambda: &[Vector3<T>; 4],
        gradient: &mut PairGradient<T>,
    ) -> SampleGradient<T> {
        let (a, b) = self.now.levers(&self.points[i]);
        let xi = lambda[0] + lambda[1].cross(&a) - lambda[2] - lambda[3].cross(&b);
        // ψ = −w T·ξ, with ξ held fixed: the law's own dependencies.
        let (sample, w) = (self.sample(i), self.weights[i]);
        let by = self.law.gradient(self.params, self.collider, &sample, &scale(&xi, -w));
        for (g, x) in gradient.params.iter_mut().zip(by.params) {
            *g += x;
        }
        for (g, x) in gradient.dimensions.iter_mut().zip(by.dimensions) {
            *g += x;
        }
        // ξ's own dependencies: the lever arms and the axes.
        let f = scale(&by.traction, -w);
        let (h_a, h_b) = (f.cross(&lambda[1]), f.cross(&lambda[3]));
        let p = by.position;
        let lever = p + h_a - h_b;
        gradient.now[0] += p - h_b;
        gradient.now[1] += a.cross(&lever);
        gradient.now[2] += h_b - p;
        gradient.now[3] += f.cross(&xi) - b.cross(&p);
        let (a0, b0) = self.start.levers(&self.points[i]);
        let p0 = by.start;
        gradient.start[0] += p0;
        gradient.start[1] += a0.cross(&p0);
        gradient.start[2] -= p0;
        gradient.start[3] -= b0.cross(&p0);
        gradient.start_map += p0 * self.points[i].transpose();
        let mut normal = Vector3::zeros();
        if let Some(n) = sample.normal {
            let turn = n.cross(&by.normal);
            let (level, axes) = if self.explicit() {
                (&mut gradient.start, &self.start.rotation)
            } else {
                (&mut gradient.now, &self.now.rotation)
            };
            level[1] += turn;
            level[3] -= turn;
            normal = mat3::apply_transposed(axes, &by.normal);
        }
        gradient.collider_center += p + p0;
        SampleGradient {
            point: mat3::apply_transposed(&self.now.rotation, &lever)
                + mat3::apply_transposed(&self.start.rotation, &p0),
            weight: -by.traction.dot(&xi),
            normal,
            fields: [
                Some((sample.position, by.field)),
                by.start_field.map(|field| (sample.start, field)),
            ],
        }
    }
}

#[cfg(test)]
#[path = "assembly_tests.rs"]
mod tests;
