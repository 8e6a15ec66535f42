//! Exact derivatives of trajectories with impulses.
//!
//! A converged step is a fixed point of the sweeps; its derivative is that of the conditions that hold there, with the states of
//! contacts as they were found: loaded or open, sticking or sliding, closing or rebounding, features, regions and anchors.
//!
//! ```text
//! loaded    u_N + b + γ r_N = 0        stick  u_T + β d/h = 0        slide  u_T + β d/h + α r_T = 0,  ‖r_T‖ = share Σ r_N
//! spin held  ω_N = 0        spin slips  τ = ±r (μ N − Σ‖r_T‖)
//! v⁺ = v_f + M⁻¹Jᵀ r,   q⁺ = q + h v⁺        carried: poses, velocities and displacements d of anchors; no warm start
//! ```
//!
//! [`Linearisation`] factorises every step once. [`Linearisation::tangent`] goes forward in jets, a few parameters at a time;
//! [`Linearisation::adjoint`] goes back, one outcome by all parameters. Both solve with the same factors, so they agree to rounding.
//! What does not act has a derivative of exactly zero: `μ` while everything sticks.
//!
//! At a switch the derivative is one-sided: a contact whose impulse is exactly zero counts as open, a friction impulse exactly on
//! its circle without slip counts as sticking. [`Linearisation::switches`] tells how near they are.

mod adjoint;
mod assembly;
mod back;
mod ball;
mod carry;
mod collect;
mod ellipsoid;
mod error;
mod factor;
mod free;
mod gather;
mod jumps;
mod line;
mod linear;
mod lines;
mod normal_slopes;
mod parameters;
mod path;
mod pull_places;
mod pull_rows;
mod source;
mod stretch;
mod switches;
mod tangent;
mod tangent_solve;
mod torsion;
mod tree;

pub use error::ImpulseGradientError;
pub use parameters::{ImpulseLayout, ImpulseParameterInfo, ImpulseParameters};
pub use path::ImpulsePath;
pub use switches::{ImpulseSwitch, SwitchKind};

use super::simulate::{ImpulseSimulator, ImpulseTrajectory};
use crate::OnFailure;
use linear::StepLinear;
use source::Source;

/// A trajectory with every step linearised at its fixed point.
pub struct Linearisation<'a> {
    source: Source<'a>,
    steps: Vec<StepLinear>,
}

impl<'a> Linearisation<'a> {
    /// Linearises the trajectory that [`ImpulseParameters::run`] gave for `parameters`.
    ///
    /// # Errors
    /// As [`Linearisation::with`], which also says what is refused.
    pub fn new(
        simulator: &'a ImpulseSimulator,
        parameters: &'a ImpulseParameters,
        trajectory: &'a ImpulseTrajectory,
    ) -> Result<Self, ImpulseGradientError> {
        Self::with(simulator, parameters, trajectory, OnFailure::Stop)
    }

    /// As [`Linearisation::new`], with a choice of what to do where a step is not converged or the motion depends on a
    /// distribution of load that is not determined: stop, or go on with the step as if it were a fixed point, and with that
    /// derivative in which redundant rows keep their impulses. Differences need not confirm either.
    ///
    /// # Errors
    /// Where a step is not converged, the motion is not determined, the friction mode is one of the counter-examples, there are
    /// sweeps for velocity alone, the parameters do not fit, or the trajectory's flag says stop.
    pub fn with(
        simulator: &'a ImpulseSimulator,
        parameters: &'a ImpulseParameters,
        trajectory: &'a ImpulseTrajectory,
        on_indeterminate: OnFailure,
    ) -> Result<Self, ImpulseGradientError> {
        let source = Source::checked(simulator, parameters, trajectory, on_indeterminate)?;
        let mut scratch = source.scratch()?;
        let step = |k| {
            let mut linear = StepLinear::default();
            source.linearise(k, &mut scratch, &mut linear).map(|()| linear)
        };
        let steps: Result<_, _> = (0..trajectory.records.len()).map(step).collect();
        Ok(Self { steps: steps?, source })
    }

    /// Rows that follow from others, in all steps: a box on four corners has some.
    pub fn redundant_rows(&self) -> usize {
        self.steps.iter().map(StepLinear::redundant).sum()
    }
}
