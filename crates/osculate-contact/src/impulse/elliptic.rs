//! Friction in an ellipsoid, at a given normal impulse: sliding, spinning and rolling share one budget.
//!
//! ```text
//! min ½ fᵀA f − bᵀf,   Σ fᵢ²/μᵢ² ≤ r_N²
//! f = D y,  D = diag μ:   min ½ yᵀ(DAD) y − (Db)ᵀ y,  ‖y‖ ≤ r_N         a trust region, see secular
//! slip A f − b = −α D⁻² f:  normal to the ellipsoid (greatest dissipation)
//!
//! stick  dy = A′⁻¹ g
//! slide  K = A′ + αI,  dα = (yᵀK⁻¹g − ρ dρ)/(yᵀK⁻¹y),  dy = K⁻¹(g − y dα)      g = db′ − dA′ y,  ρ = r_N
//! ```
//!
//! With (slide, slide, spin, roll, roll) as rows this is MuJoCo's elliptic cone of `condim` 3, 4 and 6 on the slice of one normal impulse; with
//! `(μ, μ, μ r)` the ellipsoid of Howe and Cutkosky for a patch that slides and spins. Coefficients of spin and roll are lengths. A row with
//! `μᵢ = 0` has no friction.
//!
//! Sources: MuJoCo documentation, *Computation, Friction cones*; Howe and Cutkosky 1996, <https://doi.org/10.1177/027836499601500603>.

mod derivative;

pub use derivative::EllipsoidVariation;

use super::disk::{KEEP, Regime};
use super::plane::SINGULAR;
use super::{ImpulseError, jacobi, secular};
use nalgebra::{SMatrix, SVector};
use osculate_math::Scalar;

/// The friction rows of a contact after MuJoCo's `condim`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condim {
    /// 1: no friction.
    Frictionless,
    /// 3: two sliding rows.
    Sliding,
    /// 4: and spin about the normal.
    Spinning,
    /// 6: and two rolling rows.
    Rolling,
}

impl Condim {
    /// How many friction rows it has: slide, slide, spin, roll, roll.
    pub fn rows(self) -> usize {
        match self {
            Self::Frictionless => 0,
            Self::Sliding => 2,
            Self::Spinning => 3,
            Self::Rolling => 5,
        }
    }

    /// Coefficients of the rows, zero where there is none, from the triple (slide \[–\], spin \[m\], roll \[m\]).
    pub fn coefficients<T: Scalar>(self, [slide, spin, roll]: [T; 3]) -> [T; 5] {
        let all = [slide, slide, spin, roll, roll];
        std::array::from_fn(|i| if i < self.rows() { all[i] } else { T::zero() })
    }
}

impl TryFrom<u8> for Condim {
    type Error = ImpulseError;

    fn try_from(condim: u8) -> Result<Self, ImpulseError> {
        match condim {
            1 => Ok(Self::Frictionless),
            3 => Ok(Self::Sliding),
            4 => Ok(Self::Spinning),
            6 => Ok(Self::Rolling),
            _ => Err(ImpulseError::Input {
                quantity: "condim",
                found: f64::from(condim),
                allowed: "1, 3, 4, 6",
            }),
        }
    }
}

/// The problem of one contact with `N` friction rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid<const N: usize, T = f64> {
    /// `A`, velocity per impulse; symmetric, positive semidefinite, the upper triangle is read.
    pub block: SMatrix<T, N, N>,
    /// `b`, minus the velocity without this impulse.
    pub drive: SVector<T, N>,
    /// `μᵢ`, ≥ 0.
    pub coefficients: SVector<T, N>,
    /// `r_N` \[N s\], ≥ 0.
    pub load: T,
}

/// Friction of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipsoidSolution<const N: usize, T = f64> {
    /// `f`.
    pub impulse: SVector<T, N>,
    /// `y`, with `f = D y` \[N s\].
    pub scaled: SVector<T, N>,
    /// `α`; 0 where it sticks, infinite where the load is zero and `b` is not.
    pub multiplier: T,
    /// What friction does.
    pub regime: Regime,
    /// The old impulse was optimal and is returned bit by bit.
    pub kept: bool,
    /// Newton steps and bisections taken.
    pub steps: usize,
}

/// A problem in its scaled eigenbasis.
struct Scaled<const N: usize> {
    size: f64,
    values: [f64; N],
    axes: SMatrix<f64, N, N>,
    old: SVector<f64, N>,
    slip: SVector<f64, N>,
}

impl<const N: usize> Ellipsoid<N> {
    /// The friction impulse, starting from `old`; an optimal `old` is returned bit by bit.
    ///
    /// # Errors
    /// [`ImpulseError::Input`] where a number is not finite, a coefficient or the load is negative;
    /// [`ImpulseError::Indefinite`]; [`ImpulseError::NotConverged`], which no finite input is known to cause.
    pub fn solve(&self, old: &SVector<f64, N>) -> Result<EllipsoidSolution<N>, ImpulseError> {
        ImpulseError::not_negative("normal impulse", self.load)?;
        for mu in &self.coefficients {
            ImpulseError::not_negative("friction coefficient", *mu)?;
        }
        ImpulseError::finite("contact block", self.block.as_slice())?;
        ImpulseError::finite("drive", self.drive.as_slice())?;
        ImpulseError::finite("friction impulse", old.as_slice())?;
        let scaled = self.scaled(old)?;
        if self.load <= 0.0 {
            let drives = self.drive.component_mul(&self.coefficients).amax() > 0.0;
            let multiplier = if drives { f64::INFINITY } else { 0.0 };
            return Ok(self.solution(SVector::zeros(), multiplier, Regime::Empty, 0));
        }
        if let Some((multiplier, regime)) = scaled.keep(self.load) {
            let (impulse, scaled) = (*old, scaled.old);
            return Ok(EllipsoidSolution {
                impulse,
                scaled,
                multiplier,
                regime,
                kept: true,
                steps: 0,
            });
        }
        if let Some(y) = scaled.stick(self.load) {
            return Ok(self.solution(y, 0.0, Regime::Stick, 0));
        }
        scaled.slide(self)
    }

    fn solution(
        &self,
        y: SVector<f64, N>,
        multiplier: f64,
        regime: Regime,
        steps: usize,
    ) -> EllipsoidSolution<N> {
        let impulse = y.component_mul(&self.coefficients);
        EllipsoidSolution { impulse, scaled: y, multiplier, regime, kept: false, steps }
    }

    fn scaled(&self, old: &SVector<f64, N>) -> Result<Scaled<N>, ImpulseError> {
        let mu = &self.coefficients;
        let slip = derivative::apply(&self.block, old) - self.drive;
        let block = derivative::scaled_block(&self.block, mu);
        let largest = block.diagonal().max();
        let size = if largest > 0.0 { largest } else { 1.0 };
        let (mut values, axes) = jacobi::eigen(&(block / size));
        let greatest = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        // Each rotation rounds by an ulp of the largest entry.
        let rounding = SINGULAR * N as f64 * greatest.max(1.0);
        if least < -rounding {
            let (smallest, largest) = (least * size, greatest * size);
            return Err(ImpulseError::Indefinite { smallest, largest });
        }
        for l in &mut values {
            if *l <= rounding {
                *l = 0.0;
            }
        }
        let y = SVector::from_fn(|i, _| if mu[i] > 0.0 { old[i] / mu[i] } else { 0.0 });
        Ok(Scaled { size, values, axes, old: y, slip: slip.component_mul(mu) })
    }

    /// Largest violation of the optimality conditions, relative as that of [`Disk::residual`](super::Disk::residual), in scaled rows.
    pub fn residual(&self, solution: &EllipsoidSolution<N>) -> f64 {
        let block = derivative::scaled_block(&self.block, &self.coefficients);
        let drive = self.drive.component_mul(&self.coefficients);
        let y = &solution.scaled;
        let size = y.norm();
        let relative = |part: f64, whole: f64| if part > 0.0 { part / whole } else { 0.0 };
        let outside = relative((size - self.load).max(0.0), self.load);
        if solution.regime == Regime::Empty {
            return outside;
        }
        let stationary = (block * y + y * solution.multiplier - drive).norm();
        let scale = block.norm() * size + drive.norm();
        let slides = solution.multiplier > 0.0;
        let gap = if slides { relative((size - self.load).abs(), self.load) } else { outside };
        relative(stationary, scale).max(gap).max(relative(-solution.multiplier, block.norm()))
    }
}

impl<const N: usize> Scaled<N> {
    /// Rounding of the scaled slip.
    fn rounding(&self) -> f64 {
        let greatest = self.values.iter().copied().fold(0.0, f64::max);
        0.5 * KEEP * N as f64 * (self.size * greatest * self.old.norm() + self.slip.norm())
    }

    /// Multiplier and regime of the old impulse, where it is optimal to rounding.
    fn keep(&self, load: f64) -> Option<(f64, Regime)> {
        let (size, rounding) = (self.old.norm(), self.rounding());
        if size <= load && self.slip.norm() <= rounding {
            return Some((0.0, Regime::Stick));
        }
        let on_surface = size > 0.0 && (size - load).abs() <= 4.0 * f64::EPSILON * load;
        let along = self.slip.dot(&self.old) / (size * size);
        let across = (self.slip - self.old * along).norm();
        (on_surface && along <= 0.0 && across <= rounding).then_some((-along, Regime::Slide))
    }

    /// The scaled impulse that stops the slip, where the ellipsoid has it.
    fn stick(&self, load: f64) -> Option<SVector<f64, N>> {
        let (u, old) = (self.axes.transpose() * self.slip, self.axes.transpose() * self.old);
        let rounding = self.rounding();
        let (mut moved, mut idle) = (SVector::<f64, N>::zeros(), SVector::<f64, N>::zeros());
        for i in 0..N {
            if self.values[i] > 0.0 {
                moved[i] = old[i] - u[i] / (self.values[i] * self.size);
            } else if u[i].abs() <= rounding {
                idle[i] = old[i];
            } else {
                return None;
            }
        }
        let (need, spare) = (moved.norm(), idle.norm());
        if need > load {
            return None;
        }
        // What moves nothing gives way to what does.
        let room = ((load - need) * (load + need)).sqrt();
        let idle = if spare > room { idle * (room / spare) } else { idle };
        Some(self.axes * (moved + idle))
    }

    fn slide(&self, problem: &Ellipsoid<N>) -> Result<EllipsoidSolution<N>, ImpulseError> {
        let load = problem.load;
        let (u, old) = (self.axes.transpose() * self.slip, self.axes.transpose() * self.old);
        let drive: [f64; N] = std::array::from_fn(|i| self.values[i] * self.size * old[i] - u[i]);
        let beta = drive.map(|b| b / self.size / load);
        if !beta.iter().map(|b| b * b).sum::<f64>().is_finite() {
            // So little load that only the direction of the drive counts.
            let largest = drive.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
            let direction = SVector::from(drive.map(|b| b / largest)).normalize();
            let y = self.axes * direction * load;
            return Ok(problem.solution(y, f64::INFINITY, Regime::Empty, 0));
        }
        let root = secular::solve(&self.values, &beta, secular::NEWTON_STEPS)?;
        let direction = self.axes * SVector::from(root.point);
        let y = direction * (load / direction.norm());
        Ok(problem.solution(y, root.multiplier * self.size, Regime::Slide, root.steps))
    }
}

#[cfg(test)]
mod tests;
