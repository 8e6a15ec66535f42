//! Derivative of one sample's traction: laws at width one to four, the rest linear algebra.
//!
//! ```text
//! T  = λ G + D,   D = −λ̂ (c_n V_n N + τ V_t),   τ = c_t + μ ρ'(V_t)/V_t
//! δT = G δλ + λ δG + D_λ̂ δλ̂ + D_V δV + D_N δN
//! D_V = −λ̂ (c_n N Nᵀ + τ (1 − N Nᵀ) + 2 μ σ V_t V_tᵀ)                  σ = d(ρ'/V)/d(V²)
//! D_N = −λ̂ ((c_n − τ)(N Vᵀ + V_n 1) − 2 μ σ V_n V_t V_tᵀ)
//! ```
//!
//! The laws `λ_n(φ)`, `ρ'(V)/V`, `a(s)` and the field `Φ(X)` are differentiated by jets where they are written;
//! what is here is how they are composed. Jets through the whole of [`ContactLaw::traction`] are the oracle of the
//! tests (`assembly_tests.rs`), at about twice the cost on a half-space (`benches/sample.rs`).

mod matrices;
mod pull;
mod start;

use crate::params::PAIR_PARAMETERS;
use crate::sample::{Contact, ContactLaw, Sample, Status};
use crate::{DissipationSchedule, PairParams, alignment, normal_penalty};
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::collider::{Collider, DIMENSIONS, SignedDistance};
use osculate_math::{Jet, Scalar, norm::scale};

/// Traction and its derivatives by the pose-dependent arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slopes<T = f64> {
    /// `T` \[Pa\].
    pub traction: Vector3<T>,
    /// `∂T/∂p` \[Pa/m\].
    pub by_position: Matrix3<T>,
    /// `∂T/∂N_A` \[Pa\], where the surface has a normal.
    pub by_normal: Option<Matrix3<T>>,
}

impl<T: Scalar> Default for Slopes<T> {
    fn default() -> Self {
        Self { traction: Vector3::zeros(), by_position: Matrix3::zeros(), by_normal: None }
    }
}

/// `T` and the gradient of `T·ξ` by all that the law depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawGradient<T = f64> {
    /// `T` \[Pa\].
    pub traction: Vector3<T>,
    /// By `p`.
    pub position: Vector3<T>,
    /// By `p⁰`.
    pub start: Vector3<T>,
    /// By `N_A`.
    pub normal: Vector3<T>,
    /// By the pair's parameters.
    pub params: [T; PAIR_PARAMETERS],
    /// By the collider's dimensions.
    pub dimensions: [T; DIMENSIONS],
    /// By `Φ` and `G` at `p`.
    pub field: (T, Vector3<T>),
    /// By `Φ` and `G` at `p⁰`, where a schedule looks at them.
    pub start_field: Option<(T, Vector3<T>)>,
}

/// What the laws of a sample take from the geometry that decides dissipation, with slopes as in [`Linearised`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<const W: usize, const F: usize, T> {
    /// `λ_n` at the distance that dissipation sees.
    load: Jet<W, T>,
    fading: Jet<F, T>,
    /// `N`, and `1/‖G‖` where it is the direction of `G`.
    normal: Option<(Vector3<T>, Option<T>)>,
}

/// A contact with the values of its laws and their slopes: `W` of (φ, k, ε, δ), `F` of (V², V_f) and of (s, m).
pub(crate) struct Linearised<'a, const W: usize, const F: usize, T> {
    schedule: DissipationSchedule,
    pair: &'a PairParams<T>,
    contact: &'a Contact<T>,
    /// `λ`; zero for a retained contact.
    load: Jet<W, T>,
    /// `λ_n` at the distance that dissipation sees.
    seen: Jet<W, T>,
    fading: Jet<F, T>,
    /// `N`, and `1/‖G‖` where it is the direction of `G`.
    normal: Option<(Vector3<T>, Option<T>)>,
    /// `Δp` and `V`.
    moved: Vector3<T>,
    velocity: Vector3<T>,
    normal_speed: T,
    tangential: Vector3<T>,
    /// `ρ'/V`.
    friction: Jet<F, T>,
    /// `λ̂` and `τ`.
    load_hat: T,
    tau: T,
    per_duration: f64,
}

#[inline(always)]
fn variable<const N: usize, T: Scalar>(x: T, i: usize) -> Jet<N, T> {
    if i < N { Jet::variable(x, i) } else { Jet::constant(x) }
}

#[inline(always)]
fn load<const W: usize, T: Scalar>(pair: &PairParams<T>, phi: T) -> Jet<W, T> {
    if W == 1 {
        let (k, e, d) = (pair.stiffness, pair.smoothing, pair.threshold);
        let (value, slope) = normal_penalty::normal_load_and_slope(phi, k, e, d);
        return Jet { re: value, eps: [slope; W] };
    }
    normal_penalty::normal_load(
        variable(phi, 0),
        variable(pair.stiffness, 1),
        variable(pair.smoothing, 2),
        variable(pair.threshold, 3),
    )
}

impl ContactLaw {
    /// The sum of [`ContactLaw::traction`] \[Pa\], without its parts.
    #[inline]
    pub fn total<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> Vector3<T> {
        match collider {
            Collider::HalfSpace(plane) => self.total_on(pair, plane, sample),
            _ => self.total_on(pair, collider, sample),
        }
    }

    #[inline(always)]
    fn total_on<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &impl SignedDistance<T>,
        sample: &Sample<T>,
    ) -> Vector3<T> {
        let contact = self.contact(pair, collider, sample);
        if matches!(contact.status, Status::Apart | Status::Rejected) {
            return Vector3::zeros();
        }
        let l: Linearised<'_, 0, 0, T> = self.linearise(pair, sample, &contact);
        l.traction()
    }

    /// Traction and its derivatives by position and colliding normal.
    #[inline(always)]
    pub fn slopes<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
    ) -> Slopes<T> {
        match collider {
            Collider::HalfSpace(plane) => self.slopes_on(pair, plane, sample),
            _ => self.slopes_on(pair, collider, sample),
        }
    }

    #[inline(always)]
    fn slopes_on<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &impl SignedDistance<T>,
        sample: &Sample<T>,
    ) -> Slopes<T> {
        let contact = self.contact(pair, collider, sample);
        if matches!(contact.status, Status::Apart | Status::Rejected) {
            return Slopes::default();
        }
        self.slopes_of(pair, collider, (sample, &contact))
    }

    /// [`ContactLaw::slopes`] of a contact.
    #[inline(always)]
    pub(crate) fn slopes_of<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &impl SignedDistance<T>,
        (sample, contact): (&Sample<T>, &Contact<T>),
    ) -> Slopes<T> {
        let l: Linearised<'_, 1, 1, T> = self.linearise(pair, sample, contact);
        let by_position = l.by_position(collider, sample);
        let by_normal = sample.normal.map(|_| l.by_normal(self.fade));
        Slopes { traction: l.traction(), by_position, by_normal }
    }

    /// Traction and the gradient of `T·ξ` with `ξ` constant.
    pub fn gradient<T: Scalar>(
        &self,
        pair: &PairParams<T>,
        collider: &Collider<T>,
        sample: &Sample<T>,
        xi: &Vector3<T>,
    ) -> LawGradient<T> {
        let contact = self.contact(pair, collider, sample);
        let mut g = LawGradient {
            traction: Vector3::zeros(),
            position: Vector3::zeros(),
            start: Vector3::zeros(),
            normal: Vector3::zeros(),
            params: [T::zero(); PAIR_PARAMETERS],
            dimensions: [T::zero(); DIMENSIONS],
            field: (T::zero(), Vector3::zeros()),
            start_field: None,
        };
        if matches!(contact.status, Status::Apart | Status::Rejected) {
            return g;
        }
        let l: Linearised<'_, 4, 2, T> = self.linearise(pair, sample, &contact);
        g.traction = l.traction();
        l.pull(xi, (collider, sample), self.fade, &mut g);
        g
    }

    #[inline(always)]
    fn linearise<'a, const W: usize, const F: usize, T: Scalar>(
        &self,
        pair: &'a PairParams<T>,
        sample: &Sample<T>,
        contact: &'a Contact<T>,
    ) -> Linearised<'a, W, F, T> {
        self.linearise_seeing(pair, sample, contact, self.seen(pair, sample, contact))
    }

    /// What dissipation sees of a sample; with [`DissipationSchedule::StageStart`] it is the same for the whole stage.
    #[inline(always)]
    pub(crate) fn seen<const W: usize, const F: usize, T: Scalar>(
        &self,
        pair: &PairParams<T>,
        sample: &Sample<T>,
        contact: &Contact<T>,
    ) -> Seen<W, F, T> {
        let moved = sample.position - sample.start;
        let fading = match sample.normal {
            Some(_) if self.fade => {
                alignment::fading(variable(contact.alignment, 0), variable(pair.max_alignment, 1))
            }
            _ => Jet::constant(T::one()),
        };
        Seen {
            load: load(pair, self.seen_distance(contact, &moved)),
            fading,
            normal: self.split_normal(pair, sample, contact),
        }
    }

    #[inline(always)]
    pub(crate) fn linearise_seeing<'a, const W: usize, const F: usize, T: Scalar>(
        &self,
        pair: &'a PairParams<T>,
        sample: &Sample<T>,
        contact: &'a Contact<T>,
        seen: Seen<W, F, T>,
    ) -> Linearised<'a, W, F, T> {
        let retained = contact.status == Status::Retained;
        let elastic = if retained { Jet::constant(T::zero()) } else { load(pair, contact.now.phi) };
        let moved = sample.position - sample.start;
        let Seen { load, fading, normal } = seen;
        let per_duration = sample.duration.recip();
        let velocity = moved.map(|x| x * per_duration);
        let n = normal.map_or_else(Vector3::zeros, |(n, _)| n);
        let normal_speed = velocity.dot(&n);
        let tangential = velocity - scale(&n, normal_speed);
        let square = variable(tangential.dot(&tangential), 0);
        let friction = self.ramp.slope_over_speed(square, variable(pair.falloff_speed, 1));
        Linearised {
            schedule: self.schedule,
            pair,
            contact,
            load: elastic,
            seen: load,
            fading,
            normal,
            moved,
            velocity,
            normal_speed,
            tangential,
            friction,
            load_hat: if normal.is_some() { fading.re * load.re } else { T::zero() },
            tau: pair.viscous_friction + pair.friction * friction.re,
            per_duration,
        }
    }
}
