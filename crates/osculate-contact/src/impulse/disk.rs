//! Friction of one contact on its disk, at a given normal impulse.
//!
//! ```text
//! min ½ xᵀAx − bᵀx,  ‖x‖ ≤ ρ          A 2×2, symmetric, positive semidefinite [1/kg];  b [m/s];  ρ = μ r_N [N s]
//! (A + αI) x = b,  α ≥ 0,  α (‖x‖ − ρ) = 0
//! slip u = A x − b = −α x:  opposite to friction
//!
//! stick   x = x_old − A⁻¹ u_old                        where ‖x‖ ≤ ρ
//! slide   secular equation of α, see secular
//!
//! stick   dx = A⁻¹ (db − dA x)
//! slide   x̂ = x/ρ, t ⟂ x̂, K = A + αI, g = db − dA x:  dx = x̂ dρ + t tᵀ(g − K x̂ dρ)/(tᵀK t)
//! ```
//!
//! The derivative of sliding is the closed form `K dx + x dα = g, xᵀdx = ρ dρ` in the frame (x̂, t), where nothing cancels.
//! The one kink is `‖A⁻¹b‖ = ρ`; there the answer is that of sticking, the side `ρ` grows to.
//!
//! Radial scaling of the stick impulse solves another problem, see `radial`.
//! Source: the page *Friction* of the Steel solver.

use super::plane::{Spectrum, apply, direction, inverse, quarter, scale};
use super::{ImpulseError, secular};
use nalgebra::{Matrix2, Vector2};
use osculate_math::Scalar;

/// An old impulse whose optimality conditions hold to this, relative to `‖A‖‖x‖ + ‖u‖`, is kept.
///
/// The product `A x` has a rounding of 2 ulp of `‖A‖‖x‖`, and so has the rotation to the eigenbasis and back: twice their sum.
pub(super) const KEEP: f64 = 16.0 * f64::EPSILON;

/// The problem of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disk<T = f64> {
    /// `A`, tangential velocity per impulse \[1/kg\]; symmetric, the upper triangle is read.
    pub block: Matrix2<T>,
    /// `b`, minus the tangential velocity without this impulse \[m/s\].
    pub drive: Vector2<T>,
    /// `ρ`, largest impulse \[N s\], ≥ 0.
    pub radius: T,
}

/// What friction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Inside the disk or just on it, without slip.
    Stick,
    /// On the circle, opposite to the slip.
    Slide,
    /// The radius is zero, or so small that `‖b‖/ρ` is not a number: the impulse has the direction of `b`.
    Empty,
}

/// Friction impulse of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskSolution<T = f64> {
    /// `x` \[N s\].
    pub impulse: Vector2<T>,
    /// `α` \[1/kg\], slip per impulse; 0 where it sticks, infinite where the radius is zero and `b` is not.
    pub multiplier: T,
    /// What friction does.
    pub regime: Regime,
    /// The old impulse was optimal and is returned bit by bit.
    pub kept: bool,
    /// Newton steps and bisections taken.
    pub steps: usize,
}

/// A change of the data of a [`Disk`], and the adjoint of one.
pub type DiskVariation<T = f64> = Disk<T>;

impl Disk {
    /// The friction impulse, starting from `old` \[N s\]; an optimal `old` is returned bit by bit.
    ///
    /// # Errors
    /// As [`update`].
    pub fn solve(&self, old: &Vector2<f64>) -> Result<DiskSolution, ImpulseError> {
        update(&self.block, self.radius, old, &(apply(&self.block, old) - self.drive))
    }

    /// Largest violation of the optimality conditions, relative: stationarity to `‖A‖‖x‖ + ‖b‖`, radius to `ρ`.
    pub fn residual(&self, solution: &DiskSolution) -> f64 {
        let x = &solution.impulse;
        let size = x.norm();
        let outside = (size - self.radius).max(0.0);
        if solution.regime == Regime::Empty {
            let across = x.perp(&self.drive).abs();
            let scale = size * self.drive.norm();
            return if scale > 0.0 { across / scale } else { 0.0 }.max(outside);
        }
        let slip = apply(&self.block, x) - self.drive;
        let scale = self.block.norm() * size + self.drive.norm();
        let stationary = (slip + x * solution.multiplier).norm();
        let relative = |part: f64, whole: f64| if part > 0.0 { part / whole } else { 0.0 };
        let gap = if solution.multiplier > 0.0 { (size - self.radius).abs() } else { outside };
        let negative = relative((-solution.multiplier).max(0.0), self.block.norm());
        relative(stationary, scale).max(relative(gap, self.radius)).max(negative)
    }
}

/// The friction impulse after `old` \[N s\], at which the slip is `slip` = A·old − b \[m/s\]: the form of a Gauss–Seidel sweep.
///
/// * `block`: `A` \[1/kg\], symmetric, positive semidefinite; the upper triangle is read.
/// * `radius`: `ρ` \[N s\], ≥ 0.
///
/// A singular block leaves the impulse along its null direction as it was, as far as the disk allows.
///
/// # Errors
/// [`ImpulseError::Input`] where a number is not finite or the radius is negative; [`ImpulseError::Indefinite`];
/// [`ImpulseError::NotConverged`], which no finite input is known to cause.
pub fn update(
    block: &Matrix2<f64>,
    radius: f64,
    old: &Vector2<f64>,
    slip: &Vector2<f64>,
) -> Result<DiskSolution, ImpulseError> {
    ImpulseError::not_negative("disk radius", radius)?;
    check(block, old, slip)?;
    let spectrum = Spectrum::new(block)?;
    if radius <= 0.0 {
        let (impulse, regime) = (Vector2::zeros(), Regime::Empty);
        let drives = (apply(block, old) - slip).amax() > 0.0;
        let multiplier = if drives { f64::INFINITY } else { 0.0 };
        let kept = old.amax() <= 0.0;
        return Ok(DiskSolution { impulse, multiplier, regime, kept, steps: 0 });
    }
    if let Some(kept) = keep(&spectrum, radius, old, slip) {
        return Ok(kept);
    }
    if let Some(impulse) = stick(&spectrum, radius, old, slip) {
        let (multiplier, regime) = (0.0, Regime::Stick);
        return Ok(DiskSolution { impulse, multiplier, regime, kept: false, steps: 0 });
    }
    slide(&spectrum, radius, old, slip)
}

/// Checks that every number is finite.
#[inline]
fn check(
    block: &Matrix2<f64>,
    old: &Vector2<f64>,
    slip: &Vector2<f64>,
) -> Result<(), ImpulseError> {
    if (block.abs().sum() + old.abs().sum() + slip.abs().sum()).is_finite() {
        return Ok(());
    }
    ImpulseError::finite("contact block", block.as_slice())?;
    ImpulseError::finite("friction impulse", old.as_slice())?;
    ImpulseError::finite("slip", slip.as_slice())
}

/// The old impulse where it is optimal to rounding.
fn keep(
    spectrum: &Spectrum,
    radius: f64,
    old: &Vector2<f64>,
    slip: &Vector2<f64>,
) -> Option<DiskSolution> {
    let solution = |multiplier, regime| {
        Some(DiskSolution { impulse: *old, multiplier, regime, kept: true, steps: 0 })
    };
    let (size, speed) = (old.norm(), slip.norm());
    let rounding = KEEP * (spectrum.size * spectrum.values[0] * size + speed);
    if size <= radius && speed <= rounding {
        return solution(0.0, Regime::Stick);
    }
    let on_circle = size > 0.0 && (size - radius).abs() <= 2.0 * f64::EPSILON * radius;
    let opposite = slip.dot(old) <= 0.0 && slip.perp(old).abs() <= rounding * size;
    if on_circle && opposite {
        return solution(-slip.dot(old) / (size * size), Regime::Slide);
    }
    None
}

/// The impulse that stops the slip, where the disk has it.
fn stick(
    spectrum: &Spectrum,
    radius: f64,
    old: &Vector2<f64>,
    slip: &Vector2<f64>,
) -> Option<Vector2<f64>> {
    let [first, second] = spectrum.values;
    let u = spectrum.rotate(slip);
    if second > 0.0 {
        let step = [u[0] / (first * spectrum.size), u[1] / (second * spectrum.size)];
        let x = old - spectrum.rotate_back(step);
        return (x.norm() <= radius).then_some(x);
    }
    let mut x = spectrum.rotate(old);
    let rounding = KEEP * (spectrum.size * first * old.norm() + slip.norm());
    let stopped = if first > 0.0 { 1 } else { 0 };
    if u[stopped..].iter().any(|u| u.abs() > rounding) {
        return None;
    }
    if first > 0.0 {
        x[0] -= u[0] / (first * spectrum.size);
        if x[0].abs() > radius {
            return None;
        }
        let room = ((radius - x[0]) * (radius + x[0])).sqrt();
        x[1] = x[1].clamp(-room, room);
    } else {
        let size = old.norm();
        x = x.map(|x| if size > radius { x * (radius / size) } else { x });
    }
    let x = spectrum.rotate_back(x);
    let size = x.norm();
    Some(if size > radius { x * (radius / size) } else { x })
}

fn slide(
    spectrum: &Spectrum,
    radius: f64,
    old: &Vector2<f64>,
    slip: &Vector2<f64>,
) -> Result<DiskSolution, ImpulseError> {
    let (x, u) = (spectrum.rotate(old), spectrum.rotate(slip));
    let drive: [f64; 2] = std::array::from_fn(|i| spectrum.values[i] * spectrum.size * x[i] - u[i]);
    // The size is a power of two.
    let inverse = spectrum.size.recip();
    let beta = drive.map(|b| b * inverse / radius);
    if !(beta[0] * beta[0] + beta[1] * beta[1]).is_finite() {
        let largest = drive[0].abs().max(drive[1].abs());
        let d = Vector2::from(drive.map(|b| if largest > 0.0 { b / largest } else { 0.0 }));
        let direction = if largest > 0.0 { d / d.norm() } else { d };
        let impulse = spectrum.rotate_back([direction.x * radius, direction.y * radius]);
        let multiplier = if largest > 0.0 { f64::INFINITY } else { 0.0 };
        return Ok(DiskSolution {
            impulse,
            multiplier,
            regime: Regime::Empty,
            kept: false,
            steps: 0,
        });
    }
    let root = secular::solve(&spectrum.values, &beta, secular::NEWTON_STEPS)?;
    let direction = spectrum.rotate_back(root.point);
    Ok(DiskSolution {
        // On the circle to one ulp, so that the next sweep keeps it.
        impulse: direction * (radius / direction.norm()),
        multiplier: root.multiplier * spectrum.size,
        regime: Regime::Slide,
        kept: false,
        steps: root.steps,
    })
}

/// `x̂`, `t`, `K x̂` and `tᵀK t` of a sliding impulse.
struct Frame<T> {
    along: Vector2<T>,
    across: Vector2<T>,
    stiff_along: Vector2<T>,
    stiff_across: T,
}

impl<T: Scalar> DiskSolution<T> {
    fn frame(&self, disk: &Disk<T>) -> Frame<T> {
        let along = scale(&self.impulse, disk.radius.recip());
        let across = quarter(&along);
        let k = |v: &Vector2<T>| apply(&disk.block, v) + scale(v, self.multiplier);
        Frame { along, across, stiff_along: k(&along), stiff_across: across.dot(&k(&across)) }
    }

    /// Change `(dx, dα)` of impulse and multiplier with the data of the problem.
    ///
    /// In [`Regime::Empty`] the impulse changes with the radius alone, and `dα` is given as 0.
    pub fn tangent(&self, disk: &Disk<T>, change: &DiskVariation<T>) -> (Vector2<T>, T) {
        let pull = change.drive - apply(&change.block, &self.impulse);
        match self.regime {
            Regime::Stick => (inverse(&disk.block, &pull), T::zero()),
            Regime::Slide => {
                let f = self.frame(disk);
                let free = pull - scale(&f.stiff_along, change.radius);
                let turn = f.across.dot(&free) / f.stiff_across;
                let dx = scale(&f.along, change.radius) + scale(&f.across, turn);
                let moved = apply(&disk.block, &dx) + scale(&dx, self.multiplier);
                (dx, f.along.dot(&(pull - moved)) / disk.radius)
            }
            Regime::Empty => (scale(&direction(&disk.drive), change.radius), T::zero()),
        }
    }

    /// Adjoint of [`DiskSolution::tangent`]: derivatives of a number by the data, from its derivative `by_impulse` by the impulse.
    ///
    /// The block's part is symmetric: the change of the number is the sum of its entries times those of a symmetric change.
    pub fn pullback(&self, disk: &Disk<T>, by_impulse: &Vector2<T>) -> DiskVariation<T> {
        let (drive, radius) = match self.regime {
            Regime::Stick => (inverse(&disk.block, by_impulse), T::zero()),
            Regime::Slide => {
                let f = self.frame(disk);
                let turn = f.across.dot(by_impulse) / f.stiff_across;
                let radius = f.along.dot(by_impulse) - turn * f.across.dot(&f.stiff_along);
                (scale(&f.across, turn), radius)
            }
            Regime::Empty => (Vector2::zeros(), direction(&disk.drive).dot(by_impulse)),
        };
        let x = &self.impulse;
        let shear = -(drive.x * x.y + drive.y * x.x) * 0.5;
        let block = Matrix2::new(-drive.x * x.x, shear, shear, -drive.y * x.y);
        Disk { block, drive, radius }
    }
}

impl DiskSolution {
    /// The solution as a function of what the data of `disk` carry; its real part is this solution to rounding.
    ///
    /// Each chord step of the optimality conditions makes one more order of derivatives exact: three are.
    pub fn lift<T: Scalar>(&self, disk: &Disk<T>) -> DiskSolution<T> {
        let real = Disk {
            block: disk.block.map(|x| x.re()),
            drive: disk.drive.map(|x| x.re()),
            radius: disk.radius.re(),
        };
        let mut x = self.impulse.map(T::from);
        let mut alpha = T::from(self.multiplier);
        match self.regime {
            Regime::Empty => x = scale(&direction(&disk.drive), disk.radius),
            Regime::Stick => {
                for _ in 0..3 {
                    let slip = apply(&disk.block, &x) - disk.drive;
                    x -= inverse(&real.block.map(T::from), &slip);
                }
            }
            Regime::Slide => {
                let f = self.frame(&real);
                let stiff = real.block + Matrix2::identity() * self.multiplier;
                let (along, across) = (f.along.map(T::from), f.across.map(T::from));
                for _ in 0..3 {
                    let force = apply(&disk.block, &x) + scale(&x, alpha) - disk.drive;
                    let grow = (disk.radius * disk.radius - x.dot(&x)) * (0.5 / real.radius);
                    let free = -force - scale(&f.stiff_along.map(T::from), grow);
                    let dx = scale(&along, grow)
                        + scale(&across, across.dot(&free) / T::from(f.stiff_across));
                    let moved = apply(&stiff.map(T::from), &dx);
                    x += dx;
                    alpha += along.dot(&(-force - moved)) / T::from(real.radius);
                }
            }
        }
        DiskSolution {
            impulse: x,
            multiplier: alpha,
            regime: self.regime,
            kept: self.kept,
            steps: self.steps,
        }
    }
}

#[cfg(test)]
mod tests;
