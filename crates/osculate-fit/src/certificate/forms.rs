//! The dissipative residual as a 1-form on the unknowns of a pair, its curl, and the gradient of `Δt R`, by duals.
//!
//! ```text
//! ω(δq) = −Σ w T_diss(q)·dp(δq)         what the residual holds: ∂R/∂v, since v(q) = (q − q⁰)/Δt
//! d(Δt R) − ω = Δt Σ w ∂R/∂q            the defect: through λ̂, N and a at fixed V
//! dω    = −Σ w dT_diss ∧ dp             the curl: ∂²p is symmetric and drops out
//! ```
//!
//! `q` are `c_A, θ_A, c_B, θ_B` with `exp(δθ) R`; `p` is the sample in collider-reference coordinates. A residual
//! is a gradient of *something* iff `dω = 0`, and of `Δt R` iff the defect vanishes. Torques are divided by the reach `L` of the
//! colliding body, so that all entries are forces.

use super::pair::{PairModel, PairPoses};
use super::stages::StageOf;
use nalgebra::{SMatrix, SVector, Vector3};
use osculate_contact::assembly::PairStage;
use osculate_contact::{ContactLaw, PairParams};
use osculate_math::{Jet, Scalar, se3::Pose};

/// Unknowns of a pair: `c_A, θ_A, c_B, θ_B`.
pub(super) const UNKNOWNS: usize = 12;
/// A number with its derivative by each unknown.
pub(super) type Dual = Jet<UNKNOWNS>;
/// A 1-form.
pub(super) type Form = SVector<f64, UNKNOWNS>;
/// A 2-form or a Jacobian.
pub(super) type Square = SMatrix<f64, UNKNOWNS, UNKNOWNS>;

/// What the duals say of one pair at one stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forms {
    /// `ω`, the residual \[N\].
    pub(super) residual: Form,
    /// `∇_q(Δt R)` \[N\].
    pub(super) gradient: Form,
    /// `dω_ij = ∂_i ω_j − ∂_j ω_i` \[N/m\].
    pub(super) curl: Square,
    /// `‖Σ w dT ⊗ dp‖`: what the curl is the antisymmetric part of, twice \[N/m\].
    pub(super) scale: f64,
}

/// 1 for a force, `1/L` for a torque, 0 for a body without unknowns.
pub(super) fn units<T: Scalar>(model: &PairModel<T>) -> Form {
    let reach = model.reach();
    let per_reach = if reach > 0.0 { reach.recip() } else { 1.0 };
    Form::from_fn(|k, _| match (model.moves[k / 6], k % 6) {
        (false, _) => 0.0,
        (true, 0..3) => 1.0,
        (true, _) => per_reach,
    })
}

/// The poses of a stage now, with their unknowns seeded.
pub(super) fn seeded(now: &PairPoses) -> PairPoses<Dual> {
    let at = |pose: &Pose, first: usize| {
        let seed = |k: usize| Vector3::from_fn(|i, _| Dual::variable(0.0, first + k + i));
        pose.lift::<Dual>().incremented(&seed(0), &seed(3))
    };
    PairPoses { colliding: at(&now.colliding, 0), collider: at(&now.collider, 6) }
}

/// The poses as constants.
pub(super) fn constant(poses: &PairPoses) -> PairPoses<Dual> {
    PairPoses { colliding: poses.colliding.lift(), collider: poses.collider.lift() }
}

/// The forms of a pair at a stage.
pub(super) fn evaluate(
    model: &PairModel<Dual>,
    law: &ContactLaw,
    params: &PairParams<Dual>,
    stage: &StageOf,
) -> Forms {
    let poses = (&constant(&stage.start), &seeded(&stage.now));
    let pair = model.stage(law, params, poses, stage.duration);
    let units = units(model);
    let (mut residual, mut gradient, mut change) = (Form::zeros(), Form::zeros(), Square::zeros());
    pair.for_each_near(|i| add_sample(&pair, i, (&mut residual, &mut gradient, &mut change)));
    change.component_mul_assign(&(units * units.transpose()));
    Forms {
        residual: residual.component_mul(&units),
        gradient: gradient.component_mul(&units),
        curl: change - change.transpose(),
        scale: change.norm(),
    }
}

/// `change[(i, j)] −= w ∂_i T·∂_j p`: `∂_i ω_j` but for the curvature of `p`.
fn add_sample(
    pair: &PairStage<'_, Dual>,
    i: usize,
    (residual, gradient, change): (&mut Form, &mut Form, &mut Square),
) {
    let (sample, w) = (pair.sample(i), pair.weights[i].re);
    let traction = pair.traction(i).dissipation.total();
    let potential = pair.law.dissipation_potential(pair.params, pair.collider, &sample);
    let dp: [Vector3<f64>; UNKNOWNS] = along(&sample.position);
    let dt: [Vector3<f64>; UNKNOWNS] = along(&traction);
    let t = traction.map(|x| x.re);
    for j in 0..UNKNOWNS {
        residual[j] -= w * t.dot(&dp[j]);
        gradient[j] += w * potential.eps[j];
        for k in 0..UNKNOWNS {
            change[(j, k)] -= w * dt[j].dot(&dp[k]);
        }
    }
}

/// A vector's derivative along each unknown.
fn along(v: &Vector3<Dual>) -> [Vector3<f64>; UNKNOWNS] {
    std::array::from_fn(|k| v.map(|x| x.eps[k]))
}
