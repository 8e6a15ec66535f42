//! Outcomes that Python asks for: the scene's own, or `⟨cotangent, motion⟩`.

use crate::arrays::Cotangents;
use osculate_dynamics::Kinematics;
use osculate_dynamics::file::SceneOutcome;
use osculate_dynamics::sensitivity::Outcome;
use osculate_math::Scalar;

/// What is differentiated.
pub(crate) enum Asked {
    /// The outcome of the scene file.
    Scene(SceneOutcome),
    /// `Σ p̄·p + ⟨R̄, R⟩ + v̄·v + ω̄·ω` over steps and bodies: its gradient is the vector–Jacobian product.
    Motion(Cotangents),
}

impl Outcome for Asked {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        match self {
            Self::Scene(outcome) => outcome.contribution(step, bodies),
            Self::Motion(bars) => {
                let mut total = T::zero();
                for (i, motion) in bodies.iter().enumerate() {
                    let bar = bars.of(step, i);
                    total += weighted(bar.position.as_ref(), &motion.position);
                    total += weighted(bar.rotation.as_ref(), &motion.rotation);
                    total += weighted(bar.velocity.as_ref(), &motion.velocity);
                    total += weighted(bar.angular_velocity.as_ref(), &motion.angular_velocity);
                }
                total
            }
        }
    }

    fn observes(&self, step: usize) -> bool {
        match self {
            Self::Scene(outcome) => outcome.observes(step),
            Self::Motion(bars) => bars.observes(step),
        }
    }
}

/// `Σ w_ij x_ij`; zero without weights.
fn weighted<T: Scalar, const C: usize>(
    weights: Option<&nalgebra::SMatrix<f64, 3, C>>,
    x: &nalgebra::SMatrix<T, 3, C>,
) -> T {
    let Some(weights) = weights else { return T::zero() };
    weights.iter().zip(x.iter()).fold(T::zero(), |sum, (w, x)| sum + *x * *w)
}
