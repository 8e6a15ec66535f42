//! How to simulate.

use crate::integrator::Method;
use crate::{NewtonSettings, RotationUpdate};
use nalgebra::Matrix3;
use osculate_contact::ContactLaw;
use osculate_math::{Scalar, norm};

/// The velocity state that an angular velocity sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum InitialRate {
    /// `W = skew(ω)`: no symmetric part. The page's reading.
    #[default]
    Skew,
    /// `W = (Q − 1)/Δt` with `Q` the rotation about ω by `asin(‖ω‖ Δt)`, Δt the first step: what the reference
    /// implementation does. `S = (√(1 − ‖ω‖²Δt²) − 1)/Δt (1 − n nᵀ)`, clamped at `‖ω‖Δt ≥ 1`.
    FirstStep,
}

impl InitialRate {
    /// The symmetric part `S` \[1/s\].
    pub(crate) fn symmetric<T: Scalar>(
        self,
        angular_velocity: &nalgebra::Vector3<T>,
        first_step: f64,
    ) -> Matrix3<T> {
        match (self, norm::direction(angular_velocity)) {
            (Self::FirstStep, Some(n)) => {
                let turned = angular_velocity.map(|x| x * first_step);
                let square = -turned.dot(&turned) + 1.0;
                let root = if square > 0.0 { square.sqrt() } else { T::zero() };
                let factor = (root - 1.0) / first_step;
                (Matrix3::identity() - n * n.transpose()).map(|x| x * factor)
            }
            _ => Matrix3::zeros(),
        }
    }
}

/// How to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Settings {
    /// Integration method.
    pub method: Method,
    /// Settings of the contact law.
    pub law: ContactLaw,
    /// Tolerances of the stage solve.
    pub newton: NewtonSettings,
    /// How rotations are integrated.
    pub rotation: RotationUpdate,
    /// What an initial angular velocity means; with [`RotationUpdate::Chart`], which has no rate, always an angular velocity.
    pub initial_rate: InitialRate,
}

impl Settings {
    /// The symmetric part of the velocity state that an angular velocity sets \[1/s\].
    pub(crate) fn symmetric_rate<T: Scalar>(
        &self,
        angular_velocity: &nalgebra::Vector3<T>,
        first_step: f64,
    ) -> Matrix3<T> {
        match self.rotation {
            RotationUpdate::RateTensor => self.initial_rate.symmetric(angular_velocity, first_step),
            RotationUpdate::Chart => Matrix3::zeros(),
        }
    }
}
