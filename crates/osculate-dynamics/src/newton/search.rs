//! How far to go along a Newton step.
//!
//! Where the residual is the gradient of a potential, the potential decides: stiff friction lets the residual grow on
//! steps that lead to the minimum. Else the residual norm has to fall. The full step is mostly taken, so it is
//! evaluated with its matrix at once.
//!
//! In a pile it is too long for a few bodies, that come to rest, to slide or to touch, and right for the others. A shorter step would
//! hold them all back. So inertia is added to the rows of the bodies that went too far, those that are pushed back where they are,
//!
//! ```text
//! (K + diag(σ_b M_b)/Δt²) s = −r        σ_b += max(0, r_b·s_b) Δt²/(2 s_bᵀ M_b s_b)
//! ```
//!
//! with `r_b` the residual at the trial. `σ_b` stays for the next iterations and decays once the body is not pushed back any more, so that the
//! last iterations are Newton's (`Equations::damp`, after Levenberg and Marquardt). Where there is no potential, or none of this helps, the step
//! is shortened until it does, and the best trial is taken where none does (a residual that jumps has no descent direction at the jump).

use super::{Equations, Evaluation, Failure, Workspace};

/// How often the matrix is shifted at most: the last shift is 2¹⁵ times the inertia.
const SHIFTS: usize = 9;

/// How often a step is made again with bodies held back.
const ATTEMPTS: usize = 9;

/// What a step has to improve.
#[derive(Clone, Copy, Debug)]
enum Merit {
    /// The potential \[J\], its slope along the step, and the residual norm.
    Potential(f64, f64, f64),
    /// The residual norm \[N\].
    Norm(f64),
}

/// How good a trial is, and the share of the step it is at.
#[derive(Clone, Copy, Debug)]
struct Trial {
    share: f64,
    value: f64,
}

impl Trial {
    /// A trial that is not finite is the worst there is.
    fn new(share: f64, value: f64) -> Self {
        Self { share, value: if value.is_finite() { value } else { f64::INFINITY } }
    }
}

impl Merit {
    /// Whether a trial is good enough.
    fn accepts(self, trial: Trial) -> bool {
        let Trial { share, value } = trial;
        match self {
            Self::Potential(before, slope, _) => {
                value <= before + 1e-4 * share * slope + 1e-13 * before.abs()
            }
            Self::Norm(before) => value < before * (1.0 - 1e-4 * share),
        }
    }

    /// Whether the full step is good enough, whose residual norm is known.
    fn accepts_full(self, norm: f64, trial: Trial) -> bool {
        let (Self::Potential(.., before) | Self::Norm(before)) = self;
        norm < 0.5 * before || self.accepts(trial)
    }

    /// Where the parabola through potential and slope has its minimum, as a share of the step, after a trial that was too far.
    fn parabola(self, trial: Trial) -> f64 {
        let Self::Potential(before, slope, _) = self else { return 0.5 * trial.share };
        let Trial { share, value } = trial;
        let least = -0.5 * slope * share * share / (value - before - slope * share);
        if least.is_finite() { least.clamp(0.1 * share, 0.5 * share) } else { 0.5 * share }
    }
}

/// Makes one step from the iterate; leaves residual and matrix at the new one.
pub(super) fn step<E: Equations>(
    equations: &mut E,
    (halvings, duration): (usize, f64),
    work: &mut Workspace<E::Point>,
    at: Evaluation,
) -> Result<Evaluation, Failure> {
    let mut attempts = 0;
    loop {
        let merit = direction(equations, duration, work, at)?;
        let full = trial(equations, work, 1.0);
        let last = judged(equations, work, merit, full);
        let good = halvings == 0 || merit.accepts_full(full.norm, last);
        let damped =
            full.is_finite() && equations.damp(&work.step, &work.trial_residual, duration, !good);
        let found = if good {
            full
        } else if damped && attempts < ATTEMPTS {
            attempts += 1;
            continue;
        } else {
            let share = shorten(equations, halvings, work, (merit, last));
            trial(equations, work, share)
        };
        std::mem::swap(&mut work.now, &mut work.trial);
        std::mem::swap(&mut work.residual, &mut work.trial_residual);
        equations.accept();
        return Ok(found);
    }
}

/// Factorises the matrix with what is damped and makes the Newton step; adds inertia until it leads down the potential, where there
/// is one: negative curvature (turning boxes, leaving contacts) else sends Newton up the potential, where it crawls.
fn direction<E: Equations>(
    equations: &mut E,
    duration: f64,
    work: &mut Workspace<E::Point>,
    at: Evaluation,
) -> Result<Merit, Failure> {
    let has_potential = equations.has_potential();
    let mut shift = 0.5 / (duration * duration);
    equations.hold(duration);
    for _ in 0..SHIFTS {
        equations.factorise()?;
        work.newton_step(equations);
        if !has_potential || work.slope() < 0.0 {
            break;
        }
        equations.shift(shift);
        shift *= 4.0;
    }
    if let Some(i) = work.step.iter().position(|x| !x.is_finite()) {
        return Err(Failure::NotFinite(i));
    }
    let slope = work.slope();
    let potential = if has_potential && slope < 0.0 {
        at.of.potential.or_else(|| equations.potential(&work.now))
    } else {
        None
    };
    Ok(potential.map_or(Merit::Norm(at.norm), |p| Merit::Potential(p, slope, at.norm)))
}

/// Linearises at a share of the step.
fn trial<E: Equations>(
    equations: &mut E,
    work: &mut Workspace<E::Point>,
    share: f64,
) -> Evaluation {
    equations.step(&work.now, &work.step, share, &mut work.trial);
    let of = equations.linearise(&work.trial, &mut work.trial_residual);
    Evaluation { norm: equations.norm(&work.trial_residual), of }
}

/// What decides on the full step.
fn judged<E: Equations>(
    equations: &mut E,
    work: &Workspace<E::Point>,
    merit: Merit,
    full: Evaluation,
) -> Trial {
    let value = match merit {
        Merit::Norm(_) => full.norm,
        Merit::Potential(..) => {
            let potential = full.of.potential.or_else(|| equations.potential(&work.trial));
            potential.unwrap_or(f64::NAN)
        }
    };
    Trial::new(1.0, value)
}

/// Shortens the step until it is good enough; returns the share to take.
fn shorten<E: Equations>(
    equations: &mut E,
    halvings: usize,
    work: &mut Workspace<E::Point>,
    (merit, mut last): (Merit, Trial),
) -> f64 {
    let mut best = last;
    for _ in 0..halvings {
        let share = merit.parabola(last);
        equations.step(&work.now, &work.step, share, &mut work.trial);
        let value = match merit {
            Merit::Potential(..) => equations.potential(&work.trial).unwrap_or(f64::NAN),
            Merit::Norm(_) => {
                equations.residual(&work.trial, &mut work.trial_residual);
                equations.norm(&work.trial_residual)
            }
        };
        last = Trial::new(share, value);
        if last.value < best.value {
            best = last;
        }
        if merit.accepts(last) {
            break;
        }
    }
    best.share
}
