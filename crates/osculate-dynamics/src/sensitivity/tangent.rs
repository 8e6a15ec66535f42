//! Tangent: the whole trajectory in jets, `K dq = −∂r/∂(q⁰, v⁰, θ)` at each stage.

use super::Outcome;
use crate::reduction::{JointStage, Reduction};
use crate::simulate::{StageEnd, StageIndex};
use crate::state::{BodyState, Kinematics};
use crate::system::{Culling, Stage, System, lift_state};
use crate::{Layout, Parameters, Path, RotationUpdate, RunError, Simulator, Trajectory};
use nalgebra::Vector3;
use osculate_math::{Jet, Scalar, mat3, so3};

/// The trajectory with its derivatives along `M` directions of the parameters.
///
/// * `parameters`: the values of the roll-out, each with its derivative along the directions.
///
/// One solve a stage with the factors of the roll-out; no jet goes through an iteration. Holds states only.
///
/// # Errors
/// Where the parameters do not fit the scene, or the trajectory's flag says stop.
pub fn path<const M: usize>(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters<Jet<M>>,
) -> Result<Path<Jet<M>>, RunError> {
    let path = Path::of_states(trajectory.path.bodies, trajectory.path.stages);
    roll_out(simulator, trajectory, parameters, path)
}

/// As [`path`], with the stages, which the adjoint needs.
pub(super) fn path_with_stages<const M: usize>(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters<Jet<M>>,
) -> Result<Path<Jet<M>>, RunError> {
    let path = Path::new(trajectory.path.bodies, trajectory.path.stages);
    roll_out(simulator, trajectory, parameters, path)
}

fn roll_out<const M: usize>(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters<Jet<M>>,
    mut path: Path<Jet<M>>,
) -> Result<Path<Jet<M>>, RunError> {
    if !trajectory.has_factors() {
        return Err(RunError::NoFactors);
    }
    let system = simulator.system(parameters)?;
    simulator.push_initial(parameters, &system, &mut path);
    let mut residual = vec![Jet::<M>::from(0.0); system.solved()];
    let solve = |at: StageIndex, stage: &Stage<'_, Jet<M>>, end: StageEnd<'_, Jet<M>>| {
        trajectory.go_on(at.step)?;
        match &system.reduction {
            None => differentiate(&system, trajectory, at, stage, end.bodies, &mut residual),
            Some(r) => differentiate_tree((&system, r), trajectory, at, stage, end, &mut residual),
        }
        Ok::<(), RunError>(())
    };
    let of = (parameters, system.reduction.as_ref());
    simulator.roll(of, 0..simulator.steps(), &mut path, &mut Vec::new(), solve)?;
    Ok(path)
}

/// Writes the end poses of a stage with their derivatives.
fn differentiate<const M: usize>(
    system: &System<'_, Jet<M>>,
    trajectory: &Trajectory,
    at: StageIndex,
    stage: &Stage<'_, Jet<M>>,
    now: &mut [BodyState<Jet<M>>],
    residual: &mut [Jet<M>],
) {
    let (_, ends) = trajectory.path.stage(at.step, at.stage);
    for (i, unknown) in system.unknown.iter().enumerate() {
        if unknown.is_some() {
            now[i] = lift_state(&ends[i]);
        }
    }
    let at_end = Stage { now, ..*stage };
    system.with_whole(&at_end, |part| {
        system.residual(part, &at_end, &mut Culling::default(), residual)
    });
    for r in residual.iter_mut() {
        // The converged value is a constant: only its derivatives at fixed q go on.
        *r = Jet { re: 0.0, eps: r.eps.map(|e| -e) };
    }
    trajectory.factors(at.step, at.stage).solve(residual);
    for (i, unknown) in system.unknown.iter().enumerate() {
        if let Some(k) = *unknown {
            turn(&mut now[i], &residual[k..]);
        }
    }
    if system.rotation == RotationUpdate::Chart {
        // At the derivative found the residual is zero but for rounding, which the momentum is rid of.
        let at_end = Stage { now, ..*stage };
        system.with_whole(&at_end, |part| {
            system.residual(part, &at_end, &mut Culling::default(), residual)
        });
        system.keep_defect(&system.unknown, stage.duration, residual, now);
    }
}

/// As [`differentiate`], in joint coordinates.
fn differentiate_tree<const M: usize>(
    (system, reduction): (&System<'_, Jet<M>>, &Reduction<Jet<M>>),
    trajectory: &Trajectory,
    at: StageIndex,
    stage: &Stage<'_, Jet<M>>,
    end: StageEnd<'_, Jet<M>>,
    residual: &mut [Jet<M>],
) {
    let (_, ends) = trajectory.path.stage(at.step, at.stage);
    let (Some((_, values)), Some(start), Some(joints)) =
        (trajectory.path.joint_stage(at.step, at.stage), stage.joints, end.joints)
    else {
        return;
    };
    let now = end.bodies;
    for (i, unknown) in system.unknown.iter().enumerate() {
        if unknown.is_some() {
            now[i] = lift_state(&ends[i]);
        }
    }
    let fixed = values.configuration.lift();
    let kinematics = reduction.kinematics(&fixed);
    reduction.place(&kinematics, now);
    let at_end = Stage { now, ..*stage };
    let mut links = vec![Jet::<M>::from(0.0); system.unknowns];
    system.with_whole(&at_end, |part| {
        system.residual(part, &at_end, &mut Culling::default(), &mut links)
    });
    reduction.add_closures(&at_end, &mut links);
    let of = JointStage { now: &fixed, ..start };
    reduction.residual(&kinematics, (&of, stage.duration), &links, residual);
    for r in residual.iter_mut() {
        *r = Jet { re: 0.0, eps: r.eps.map(|e| -e) };
    }
    trajectory.factors(at.step, at.stage).solve(residual);
    reduction.for_each_free(&system.unknown, |body, first| {
        turn(&mut now[body], &residual[first..]);
    });
    joints.configuration = fixed.incremented(&residual[reduction.first_dof..]);
    reduction.place(&reduction.kinematics(&joints.configuration), now);
}

/// Moves a pose by an increment whose value is zero.
fn turn<const M: usize>(state: &mut BodyState<Jet<M>>, by: &[Jet<M>]) {
    let v = |k: usize| Vector3::new(by[k], by[k + 1], by[k + 2]);
    state.center += v(0);
    // exp(δθ) R: the value of δθ is zero, so its first order is all there is.
    let turned = mat3::mul(&so3::skew(&v(3)), &state.rotation);
    state.rotation += turned;
}

/// Outcome and its derivative by each parameter of `which` (indices of the layout), `M` at a time.
///
/// # Errors
/// As [`path`].
pub fn gradient<const M: usize>(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters,
    which: &[usize],
    outcome: &impl Outcome,
) -> Result<(f64, Vec<f64>), RunError> {
    let layout = Layout::new(simulator.scene(), parameters);
    let (mut value, mut gradient) = (0.0, Vec::with_capacity(which.len()));
    for chunk in which.chunks(M) {
        let mut seeded = parameters.lift::<Jet<M>>();
        for (direction, &i) in chunk.iter().enumerate() {
            layout.add(&mut seeded, i, Jet::variable(0.0, direction));
        }
        let path = path(simulator, trajectory, &seeded)?;
        let total = evaluate(&path, &seeded, simulator.steps(), outcome);
        value = total.re;
        gradient.extend_from_slice(&total.eps[..chunk.len()]);
    }
    Ok((value, gradient))
}

/// The outcome of a path.
pub fn evaluate<T: Scalar>(
    path: &Path<T>,
    parameters: &Parameters<T>,
    steps: usize,
    outcome: &impl Outcome,
) -> T {
    let mut bodies: Vec<Kinematics<T>> = Vec::with_capacity(path.bodies);
    let mut total = T::zero();
    for step in (0..=steps).filter(|&k| outcome.observes(k)) {
        bodies.clear();
        let states = path.state(step).iter().zip(&parameters.bodies);
        bodies.extend(states.map(|(y, p)| y.kinematics(&p.center)));
        total += outcome.contribution(step, &bodies);
    }
    total
}
