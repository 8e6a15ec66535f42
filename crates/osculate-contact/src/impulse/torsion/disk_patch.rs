//! A uniformly loaded disk that slides and spins, at a given normal impulse.
//!
//! ```text
//! rows (slide, slide, spin):  u = W r + b,   r = −∇D(u),   D of limit_surface with c = μ r_N and radius R
//! min ½ (u − b)ᵀ W⁻¹ (u − b) + D(u)                          convex; stick u = 0 where −W⁻¹b… lies in the surface
//! ```
//!
//! In units of `c` and `R` the surface has one shape. Stick is decided on the ray through the stick impulse `−W⁻¹b`: where it leaves the surface
//! at `q = ∇D(n)`, with `−W⁻¹b = −λ q`, the patch slips iff λ > 1. Then the energy falls along `n` from `u = 0`; its least point there
//! is where Newton starts, with halved steps where the energy does not fall. `u = 0`, where `D` has its tip, costs more than the start and is never met.
//!
//! ```text
//! slide   du = J⁻¹ (db + dW r − W ∂∇D),   J = 1 + W ∇²D,    dr = −∇²D du − ∂∇D
//! stick   dr = −W⁻¹ (db + dW r)
//! ```
//!
//! ∂ is the change with `c` and `R`. Kinks: λ = 1 (the sticking side).

use super::super::disk::Regime;
use super::super::{ImpulseError, limit_surface};
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Jet, Scalar};

/// Newton steps at most; quadratic from a start on the right side of the tip, six are usual.
const STEPS: usize = 60;

/// A slip is found where its equation holds to this, relative to `‖u‖ + ‖b‖ + ‖W r‖`: the rounding of three products.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// The problem of one patch: rows slide, slide, spin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskPatch<T = f64> {
    /// `W`, velocity per impulse; symmetric, positive definite.
    pub block: Matrix3<T>,
    /// `b`, velocity without this impulse \[m/s, m/s, rad/s\].
    pub velocity: Vector3<T>,
    /// `c = μ r_N` \[N s\], ≥ 0.
    pub budget: T,
    /// `R` \[m\], > 0.
    pub radius: T,
}

/// A change of the data of a [`DiskPatch`], and the adjoint of one.
pub type DiskPatchVariation<T = f64> = DiskPatch<T>;

/// Friction of a patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskPatchSolution<T = f64> {
    /// `r` \[N s, N s, N m s\].
    pub impulse: Vector3<T>,
    /// `u` \[m/s, m/s, rad/s\]; 0 where it sticks.
    pub slip: Vector3<T>,
    /// What friction does.
    pub regime: Regime,
    /// Newton steps taken.
    pub steps: usize,
}

/// `∇D` at the slip `u`.
fn friction<T: Scalar>(u: &Vector3<T>, budget: T, radius: T) -> Vector3<T> {
    let g = limit_surface::gradient(&Vector3::new(u.x, u.y, u.z * radius));
    Vector3::new(g.x * budget, g.y * budget, g.z * budget * radius)
}

/// A patch in units of its budget and radius: `r = c (1, 1, R) r̃`, `ũ = (1, 1, R) u`.
struct Unit {
    block: Matrix3<f64>,
    inverse: Matrix3<f64>,
    velocity: Vector3<f64>,
}

impl Unit {
    fn new(patch: &DiskPatch) -> Result<Self, ImpulseError> {
        let scale = Vector3::new(1.0, 1.0, patch.radius);
        let block = Matrix3::from_fn(|i, j| {
            scale[i] * patch.block[(i.min(j), i.max(j))] * scale[j] * patch.budget
        });
        let velocity = patch.velocity.component_mul(&scale);
        let singular = || {
            let eigenvalues = patch.block.symmetric_eigenvalues();
            ImpulseError::Indefinite { smallest: eigenvalues.min(), largest: eigenvalues.max() }
        };
        let inverse = block.cholesky().ok_or_else(singular)?.inverse();
        Ok(Self { block, inverse, velocity })
    }

    /// `½ (u − b)ᵀ W⁻¹ (u − b) + D(u)`.
    fn energy(&self, u: &Vector3<f64>) -> f64 {
        let change = u - self.velocity;
        0.5 * change.dot(&(self.inverse * change)) + limit_surface::gradient(u).dot(u)
    }

    /// The slip of a patch that does not stick, from `direction` and the excess `λ − 1`.
    fn slip(
        &self,
        direction: &Vector3<f64>,
        excess: f64,
    ) -> Result<(Vector3<f64>, usize), ImpulseError> {
        let dissipated = limit_surface::gradient(direction).dot(direction);
        let bend = direction.dot(&(self.inverse * direction));
        let mut u = direction * (excess * dissipated / bend);
        let (mut relative, mut least) = (f64::INFINITY, f64::INFINITY);
        let mut stalled = 0;
        for steps in 0..STEPS {
            let g = limit_surface::gradient(&u);
            let pushed = self.block * g;
            let residual = u - self.velocity + pushed;
            let terms = u.norm() + self.velocity.norm() + pushed.norm();
            relative = residual.norm() / terms;
            // Rounding may keep ill-conditioned blocks a little above: two steps without gain end it.
            stalled = if relative < 0.5 * least { 0 } else { stalled + 1 };
            least = least.min(relative);
            if relative <= ROUNDING || (stalled > 1 && relative <= 1e3 * ROUNDING) {
                return Ok((u, steps));
            }
            let jacobian = Matrix3::identity() + self.block * limit_surface::hessian(&u);
            let Some(newton) = jacobian.lu().solve(&residual) else { break };
            let start = self.energy(&u);
            let slope = (self.inverse * residual).dot(&newton);
            let mut step = 1.0;
            // Where the energy cannot resolve the gain any more, the full step is right.
            let resolved = slope > 1e-10 * start.abs();
            while resolved
                && step > 1e-12
                && self.energy(&(u - newton * step)) > start - 1e-4 * step * slope
            {
                step *= 0.5;
            }
            u -= newton * step;
        }
        let law = "friction of a disk";
        Err(ImpulseError::NotConverged {
            law,
            steps: STEPS,
            residual: relative,
            tolerance: ROUNDING,
        })
    }
}

impl DiskPatch {
    /// The friction impulse.
    ///
    /// # Errors
    /// [`ImpulseError::Input`] where a number is out of its range; [`ImpulseError::Indefinite`] where `W` is not positive definite;
    /// [`ImpulseError::NotConverged`].
    pub fn solve(&self) -> Result<DiskPatchSolution, ImpulseError> {
        ImpulseError::not_negative("friction budget", self.budget)?;
        ImpulseError::finite("contact block", self.block.as_slice())?;
        ImpulseError::finite("contact velocity", self.velocity.as_slice())?;
        if !(self.radius > 0.0 && self.radius.is_finite()) {
            let (quantity, allowed) = ("patch radius", "> 0 and finite");
            return Err(ImpulseError::Input { quantity, found: self.radius, allowed });
        }
        let solution =
            |impulse, slip, regime, steps| DiskPatchSolution { impulse, slip, regime, steps };
        if self.budget <= 0.0 {
            return Ok(solution(Vector3::zeros(), self.velocity, Regime::Empty, 0));
        }
        let unit = Unit::new(self)?;
        let shape = Vector3::new(self.budget, self.budget, self.budget * self.radius);
        let load = unit.inverse * unit.velocity;
        let (direction, ratio) = limit_surface::ray(&load);
        if load.norm() <= 0.0 || ratio <= 1.0 {
            let impulse = -load.component_mul(&shape);
            return Ok(solution(impulse, Vector3::zeros(), Regime::Stick, 0));
        }
        let (u, steps) = unit.slip(&direction, ratio - 1.0)?;
        let impulse = -limit_surface::gradient(&u).component_mul(&shape);
        let slip = Vector3::new(u.x, u.y, u.z / self.radius);
        Ok(solution(impulse, slip, Regime::Slide, steps))
    }

    /// `‖u − W r − b‖`, relative to the terms: 0 for a solution; and how far its impulse is from friction of its slip, relative to the budget.
    pub fn residual(&self, solution: &DiskPatchSolution) -> f64 {
        let unit = Vector3::new(1.0, 1.0, self.radius);
        let response = self.block * solution.impulse;
        let gap = (solution.slip - response - self.velocity).component_mul(&unit).norm();
        let scale =
            (response.component_mul(&unit)).norm() + self.velocity.component_mul(&unit).norm();
        let balance = if gap > 0.0 { gap / scale } else { 0.0 };
        if solution.regime != Regime::Slide {
            return balance;
        }
        let wanted = friction(&solution.slip, self.budget, self.radius);
        let off = (wanted + solution.impulse).component_div(&unit).norm() / self.budget;
        balance.max(off)
    }
}

/// `(∇²D, ∂∇D/∂c, ∂∇D/∂R)` at a slip.
fn slopes(
    u: &Vector3<f64>,
    budget: f64,
    radius: f64,
) -> (Matrix3<f64>, Vector3<f64>, Vector3<f64>) {
    let seeded = Vector3::from_fn(|i, _| Jet::<5>::variable(u[i], i));
    let g = friction(&seeded, Jet::variable(budget, 3), Jet::variable(radius, 4));
    (Matrix3::from_fn(|i, j| g[i].eps[j]), g.map(|x| x.eps[3]), g.map(|x| x.eps[4]))
}

impl DiskPatchSolution {
    /// The solution as a function of what the data of `patch` carry, exact to two orders of derivatives.
    ///
    /// # Errors
    /// [`ImpulseError::Indefinite`] where `W` is not positive definite.
    pub fn lift<T: Scalar>(
        &self,
        patch: &DiskPatch<T>,
    ) -> Result<DiskPatchSolution<T>, ImpulseError> {
        let block = patch.block.map(|x| x.re());
        let (budget, radius) = (patch.budget.re(), patch.radius.re());
        let singular = || {
            let eigenvalues = block.symmetric_eigenvalues();
            ImpulseError::Indefinite { smallest: eigenvalues.min(), largest: eigenvalues.max() }
        };
        let mut r = self.impulse.map(T::from);
        let mut u = self.slip.map(T::from);
        match self.regime {
            Regime::Empty => {
                u = patch.velocity;
                r = -direction_friction(&u, patch.budget, patch.radius);
            }
            Regime::Stick => {
                let inverse = block.try_inverse().ok_or_else(singular)?.map(T::from);
                for _ in 0..3 {
                    r -= inverse * (patch.block * r + patch.velocity);
                }
            }
            Regime::Slide => {
                let (hessian, _, _) = slopes(&self.slip, budget, radius);
                let jacobian = Matrix3::identity() + block * hessian;
                let inverse = jacobian.try_inverse().ok_or_else(singular)?.map(T::from);
                for _ in 0..3 {
                    let p = friction(&u, patch.budget, patch.radius);
                    u -= inverse * (u - patch.velocity + patch.block * p);
                }
                r = -friction(&u, patch.budget, patch.radius);
            }
        }
        Ok(DiskPatchSolution { impulse: r, slip: u, regime: self.regime, steps: self.steps })
    }

    /// Change `(dr, du)` of impulse and slip with the data of the problem.
    ///
    /// # Errors
    /// As [`DiskPatchSolution::lift`].
    pub fn tangent(
        &self,
        patch: &DiskPatch,
        change: &DiskPatchVariation,
    ) -> Result<(Vector3<f64>, Vector3<f64>), ImpulseError> {
        let jet = |x: f64, dx: f64| Jet::<1> { re: x, eps: [dx] };
        let moved = self.lift(&DiskPatch {
            block: patch.block.zip_map(&change.block, jet),
            velocity: patch.velocity.zip_map(&change.velocity, jet),
            budget: jet(patch.budget, change.budget),
            radius: jet(patch.radius, change.radius),
        })?;
        Ok((moved.impulse.map(|x| x.eps[0]), moved.slip.map(|x| x.eps[0])))
    }

    /// Adjoint of [`DiskPatchSolution::tangent`] for the impulse: derivatives of a number by the data, from its derivative `by_impulse` by the impulse.
    ///
    /// The block's part is symmetric: the change of the number is the sum of its entries times those of a symmetric change.
    ///
    /// # Errors
    /// As [`DiskPatchSolution::lift`].
    pub fn pullback(
        &self,
        patch: &DiskPatch,
        by_impulse: &Vector3<f64>,
    ) -> Result<DiskPatchVariation, ImpulseError> {
        let singular = || {
            let eigenvalues = patch.block.symmetric_eigenvalues();
            ImpulseError::Indefinite { smallest: eigenvalues.min(), largest: eigenvalues.max() }
        };
        let (velocity, budget, radius) = match self.regime {
            Regime::Empty => {
                let g = direction_friction(&patch.velocity, 1.0, patch.radius);
                (Vector3::zeros(), -g.dot(by_impulse), 0.0)
            }
            Regime::Stick => {
                let inverse = patch.block.try_inverse().ok_or_else(singular)?;
                (-(inverse.transpose() * by_impulse), 0.0, 0.0)
            }
            Regime::Slide => {
                let (hessian, by_budget, by_radius) =
                    slopes(&self.slip, patch.budget, patch.radius);
                let jacobian = Matrix3::identity() + patch.block * hessian;
                let inverse = jacobian.try_inverse().ok_or_else(singular)?;
                // J du = db + dW r − W ∂p,  dr = −∇²D du − ∂p
                let velocity = -(inverse.transpose() * (hessian * by_impulse));
                let pushed = -(by_impulse + patch.block.transpose() * velocity);
                (velocity, pushed.dot(&by_budget), pushed.dot(&by_radius))
            }
        };
        let r = &self.impulse;
        let block = Matrix3::from_fn(|i, j| (velocity[i] * r[j] + velocity[j] * r[i]) * 0.5);
        Ok(DiskPatch { block, velocity, budget, radius })
    }
}

/// `∇D`, zero without slip.
fn direction_friction<T: Scalar>(u: &Vector3<T>, budget: T, radius: T) -> Vector3<T> {
    if u.iter().all(|x| x.re().abs() <= 0.0) {
        return Vector3::zeros();
    }
    friction(u, budget, radius)
}

#[cfg(test)]
mod tests;
