//! Second derivatives: the tangent of the adjoint, with the factors of the roll-out.

use super::{Outcome, adjoint::Sweep, tangent};
use crate::{Layout, Parameters, RunError, Simulator, Trajectory};
use nalgebra::DMatrix;
use osculate_math::Jet;

/// Outcome, gradient, and the product of the Hessian with a direction.
///
/// * `direction`: one number for each parameter of the layout.
///
/// # Errors
/// Where the parameters do not fit the scene, or the trajectory's flag says stop.
pub fn vector_product(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters,
    direction: &[f64],
    outcome: &impl Outcome,
) -> Result<(f64, Vec<f64>, Vec<f64>), RunError> {
    let layout = Layout::new(simulator.scene(), parameters);
    let mut seeded = parameters.lift::<Jet<1>>();
    for (i, &d) in direction.iter().enumerate().filter(|(_, d)| **d != 0.0) {
        layout.add(&mut seeded, i, Jet { re: 0.0, eps: [d] });
    }
    let (value, gradient) = derivative_of_gradient(simulator, trajectory, &seeded, outcome)?;
    let product = gradient.iter().map(|g| g.eps[0]).collect();
    Ok((value.re, gradient.iter().map(|g| g.re).collect(), product))
}

/// The Hessian of an outcome by the parameters `which` (indices of the layout), `M` columns at a time.
///
/// # Errors
/// Where the parameters do not fit the scene, or the trajectory's flag says stop.
pub fn hessian<const M: usize>(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters,
    which: &[usize],
    outcome: &impl Outcome,
) -> Result<DMatrix<f64>, RunError> {
    let layout = Layout::new(simulator.scene(), parameters);
    let mut hessian = DMatrix::zeros(which.len(), which.len());
    for (chunk, columns) in which.chunks(M).enumerate() {
        let mut seeded = parameters.lift::<Jet<M>>();
        for (direction, &i) in columns.iter().enumerate() {
            layout.add(&mut seeded, i, Jet::variable(0.0, direction));
        }
        let (_, gradient) = derivative_of_gradient(simulator, trajectory, &seeded, outcome)?;
        for (row, &i) in which.iter().enumerate() {
            for column in 0..columns.len() {
                hessian[(row, chunk * M + column)] = gradient[i].eps[column];
            }
        }
    }
    Ok(hessian)
}

fn derivative_of_gradient<const M: usize>(
    simulator: &Simulator,
    trajectory: &Trajectory,
    parameters: &Parameters<Jet<M>>,
    outcome: &impl Outcome,
) -> Result<(Jet<M>, Vec<Jet<M>>), RunError> {
    let path = tangent::path_with_stages(simulator, trajectory, parameters)?;
    let system = simulator.system(parameters)?;
    let mut sweep = Sweep::new(simulator, &system, parameters, outcome);
    for step in (0..simulator.steps()).rev() {
        trajectory.go_on(step)?;
        sweep.step_back(step, &path, trajectory);
    }
    Ok(sweep.finish(&path))
}
