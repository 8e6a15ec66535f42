//! One contact with Coulomb's law, normal and friction together.
//!
//! ```text
//! u = W r + b,  W = [[W_N, wᵀ], [w, W_T]] symmetric, positive definite [1/kg]
//! 0 ≤ u_N ⟂ r_N ≥ 0,   ‖r_T‖ ≤ μ r_N,   u_T = −α r_T,  α ≥ 0,  α (‖r_T‖ − μ r_N) = 0
//!
//! open    b_N ≥ 0:  r = 0
//! else    A = W_T − w wᵀ/W_N,  c = b_T − (b_N/W_N) w                  r_N eliminated from u_N = 0
//!         s(α) = (A + αI)⁻¹ c,  r_T = −s,  r_N(α) = (w·s − b_N)/W_N
//! stick   α = 0        where ‖s(0)‖ ≤ μ r_N(0)
//! slide   μ r_N(α)/‖s(α)‖ = 1                                         close to linear in α
//! ```
//!
//! At `α → ∞` the impulse is `−b_N/W_N > 0` without friction, so that a root exists between 0 and
//! `‖c‖ (W_N + μ‖w‖)/(−μ b_N) − λ_min(A)`. It need not be the only one where `μ‖w‖ ≥ W_N` (Painlevé): [`Cone::solutions`] lists them.
//!
//! ```text
//! slide   dr = dr_N (1, μ x̂) + c (0, t) + r_N dμ (0, x̂),   x̂ = r_T/‖r_T‖,  t ⟂ x̂,  g = db + dW r
//!         [W_N + μ w·x̂    w·t          ] [dr_N]      [g_N   + r_N dμ w·x̂     ]
//!         [t·w + μ t·W_T x̂  t·W_T t + α] [c   ]  = − [t·g_T + r_N dμ t·W_T x̂ ]
//! ```
//!
//! Singular where two solutions meet: there is no derivative then. Kinks: opening (`b_N = 0`, the open side is taken) and
//! `‖s(0)‖ = μ r_N(0)` (the sticking side).
//!
//! Sources: Daviet, Bertails-Descoubes and Boissieux 2011, <https://doi.org/10.1145/2024156.2024173>, for the scalar form;
//! De Saxcé and Feng 1998, <https://doi.org/10.1016/S0895-7177(98)00119-8>, for the residual.

mod derivative;
mod multiplicity;

pub use derivative::ConeVariation;

use super::ImpulseError;
use super::plane::Spectrum;
use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};
use osculate_math::Scalar;

/// Steps at most: a bracket of positive numbers is halved to its rounding in far fewer.
const STEPS: usize = 256;

/// A slide is a root to this, relative to the terms it is the difference of.
///
/// Three dot products and a quotient round to about 6 ulp of them.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The problem of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone<T = f64> {
    /// `W`, velocity per impulse \[1/kg\], normal first; symmetric, the upper triangle is read.
    pub block: Matrix3<T>,
    /// `b`, velocity without this impulse \[m/s\], the bias of the normal row included.
    pub velocity: Vector3<T>,
    /// `μ` \[–\], ≥ 0.
    pub friction: T,
}

/// What the contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConeRegime {
    /// No impulse.
    Open,
    /// Loaded, without slip.
    Stick,
    /// Loaded, on the cone, opposite to the slip.
    Slide,
    /// Loaded, μ = 0.
    Frictionless,
}

/// Impulse of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConeSolution<T = f64> {
    /// `r` \[N s\], normal first.
    pub impulse: Vector3<T>,
    /// `α` \[1/kg\], slip per friction impulse; 0 where there is no slip or no friction.
    pub multiplier: T,
    /// What the contact does.
    pub regime: ConeRegime,
    /// Steps taken.
    pub steps: usize,
}

/// A contact with its normal impulse eliminated.
pub(super) struct Reduced {
    normal: f64,
    coupling: Vector2<f64>,
    normal_velocity: f64,
    drive: Vector2<f64>,
    spectrum: Spectrum,
}

impl Reduced {
    fn new(cone: &Cone) -> Result<Self, ImpulseError> {
        let (normal, coupling, tangential) = parts(&cone.block);
        if normal <= 0.0 {
            let (quantity, allowed) = ("normal entry of the contact block", "> 0");
            return Err(ImpulseError::Input { quantity, found: normal, allowed });
        }
        let normal_velocity = cone.velocity.x;
        let schur = tangential - coupling * coupling.transpose() / normal;
        let drive = cone.velocity.yz() - coupling * (normal_velocity / normal);
        Ok(Self { normal, coupling, normal_velocity, drive, spectrum: Spectrum::new(&schur)? })
    }

    /// `s(α)`, `(A + αI)⁻¹ s` and `r_N(α)`.
    fn at(&self, alpha: f64) -> (Vector2<f64>, Vector2<f64>, f64) {
        let k = self.spectrum.values.map(|l| l * self.spectrum.size + alpha);
        let divide = |v: &Vector2<f64>| {
            let [a, b] = self.spectrum.rotate(v);
            self.spectrum.rotate_back([a / k[0], b / k[1]])
        };
        let s = divide(&self.drive);
        let load = (self.coupling.dot(&s) - self.normal_velocity) / self.normal;
        (s, divide(&s), load)
    }

    /// `‖s‖ − μ r_N`, and its rounding.
    fn excess(&self, s: &Vector2<f64>, load: f64, friction: f64) -> (f64, f64) {
        let size = s.norm();
        let terms = (self.coupling.norm() * size + self.normal_velocity.abs()) / self.normal;
        (size - friction * load, ROUNDING * (size + friction * terms))
    }

    fn solution(&self, alpha: f64, regime: ConeRegime, steps: usize) -> ConeSolution {
        let (s, _, load) = self.at(alpha);
        let impulse = Vector3::new(load, -s.x, -s.y);
        ConeSolution { impulse, multiplier: alpha, regime, steps }
    }

    /// A root of `μ r_N/‖s‖ = 1` in (0, ∞), where that of α = 0 is smaller than 1.
    fn slide(&self, friction: f64) -> Result<ConeSolution, ImpulseError> {
        let reach = self.normal + friction * self.coupling.norm();
        let least = self.spectrum.values[1] * self.spectrum.size;
        let high = self.drive.norm() * reach / (-friction * self.normal_velocity) - least;
        let (mut low, mut high) = (0.0, high.min(f64::MAX));
        let mut alpha = low;
        let (mut residual, mut tolerance) = (f64::NAN, ROUNDING);
        for steps in 0..STEPS {
            let (s, t, load) = self.at(alpha);
            let size = s.norm();
            // An infinite s(0) of a singular block says only that the root is above.
            let (excess, rounding) = if size.is_finite() {
                self.excess(&s, load, friction)
            } else {
                (f64::INFINITY, 0.0)
            };
            if excess.abs() <= rounding {
                return Ok(self.solution(alpha, ConeRegime::Slide, steps));
            }
            (residual, tolerance) = (excess.abs(), rounding);
            if excess > 0.0 {
                low = alpha;
            } else {
                high = alpha;
            }
            let ratio = friction * load / size;
            let slope =
                (ratio * s.dot(&t) / size - friction * self.coupling.dot(&t) / self.normal) / size;
            let newton = alpha + (1.0 - ratio) / slope;
            let middle = 0.5 * (low + high);
            alpha = if newton > low && newton < high { newton } else { middle };
            if alpha <= low || alpha >= high {
                // Neighbouring numbers: the sign changes between them, and no number is closer to the root.
                return Ok(self.solution(alpha, ConeRegime::Slide, steps));
            }
        }
        let law = "Coulomb's cone";
        Err(ImpulseError::NotConverged { law, steps: STEPS, residual, tolerance })
    }
}

/// `W_N`, `w` and `W_T`, from the upper triangle.
pub(super) fn parts<T: Scalar>(w: &Matrix3<T>) -> (T, Vector2<T>, Matrix2<T>) {
    let shear = w[(1, 2)];
    let tangential = Matrix2::new(w[(1, 1)], shear, shear, w[(2, 2)]);
    (w[(0, 0)], Vector2::new(w[(0, 1)], w[(0, 2)]), tangential)
}

impl Cone {
    pub(super) fn check(&self) -> Result<Reduced, ImpulseError> {
        ImpulseError::not_negative("friction", self.friction)?;
        ImpulseError::finite("contact block", self.block.as_slice())?;
        ImpulseError::finite("contact velocity", self.velocity.as_slice())?;
        Reduced::new(self)
    }

    /// An impulse that satisfies Coulomb's law: open if it can be, else sticking if it can, else sliding.
    ///
    /// # Errors
    /// [`ImpulseError::Input`] where a number is not finite, `W_N` is not positive or `μ` is negative;
    /// [`ImpulseError::Indefinite`]; [`ImpulseError::NotConverged`], which no finite input is known to cause.
    pub fn solve(&self) -> Result<ConeSolution, ImpulseError> {
        let reduced = self.check()?;
        if self.velocity.x >= 0.0 {
            let (impulse, regime) = (Vector3::zeros(), ConeRegime::Open);
            return Ok(ConeSolution { impulse, multiplier: 0.0, regime, steps: 0 });
        }
        if self.friction <= 0.0 {
            let impulse = Vector3::new(-reduced.normal_velocity / reduced.normal, 0.0, 0.0);
            let regime = ConeRegime::Frictionless;
            return Ok(ConeSolution { impulse, multiplier: 0.0, regime, steps: 0 });
        }
        let (s, _, load) = reduced.at(0.0);
        if s.norm() - self.friction * load <= 0.0 {
            return Ok(reduced.solution(0.0, ConeRegime::Stick, 0));
        }
        reduced.slide(self.friction)
    }

    /// Contact velocity `W r + b` \[m/s\].
    pub fn velocity_after(&self, impulse: &Vector3<f64>) -> Vector3<f64> {
        derivative::apply(&self.block, impulse) + self.velocity
    }

    /// De Saxcé's residual of an impulse, relative to `‖r‖ + (‖W r‖ + ‖b‖)/tr W`: 0 where Coulomb's law holds.
    pub fn residual(&self, impulse: &Vector3<f64>) -> f64 {
        let trace = self.block.trace();
        let response = derivative::apply(&self.block, impulse);
        let scale = impulse.norm() + (response.norm() + self.velocity.norm()) / trace;
        let velocity = (response + self.velocity) / trace;
        let size = natural_residual(impulse, &velocity, self.friction).norm();
        if size > 0.0 { size / scale } else { 0.0 }
    }
}

/// `e = r − P_K(r − û)`, `û = u + μ‖u_T‖ n`: 0 exactly where `r` and `u` satisfy Signorini's and Coulomb's laws.
///
/// * `impulse`: `r` \[N s\], normal first.
/// * `velocity`: `u` divided by a mobility, so that it has the unit of `r`; any positive one gives the same zeros.
pub fn natural_residual(
    impulse: &Vector3<f64>,
    velocity: &Vector3<f64>,
    friction: f64,
) -> Vector3<f64> {
    let lift = friction * velocity.yz().norm();
    let shifted = impulse - velocity - Vector3::new(lift, 0.0, 0.0);
    impulse - project(&shifted, friction)
}

/// The point of the cone `‖x_T‖ ≤ μ x_N` closest to `x`.
pub fn project(x: &Vector3<f64>, friction: f64) -> Vector3<f64> {
    let tangential = x.yz();
    let size = tangential.norm();
    if size <= friction * x.x {
        return *x;
    }
    if friction * size <= -x.x {
        return Vector3::zeros();
    }
    let normal = (x.x + friction * size) / (1.0 + friction * friction);
    let direction = tangential * (friction * normal / size);
    Vector3::new(normal, direction.x, direction.y)
}

#[cfg(test)]
mod tests;
