//! What the derivatives by the variables are good for, at the best point.
//!
//! Asked is the motion along the variable's own change, `J_j = u_j · z` with `u_j = (∂z/∂x_j)/‖∂z/∂x_j‖` held: the cost is no
//! such outcome, as its gradient is zero at its minimum. Of a control the step is asked about in which its most
//! influential number weighs most.

use super::file::TrustFile;
use super::meter::Meter;
use super::rows::Weighted;
use super::task::{Problem, Softness, Task};
use super::variables::Variables;
use crate::contact_model::{ContactModel, ModelError};
use crate::trust::{Asked, Judged, Subject, assess};
use osculate_dynamics::OnFailure;
use rayon::prelude::*;

/// Verdicts on the variables that matter most.
///
/// # Errors
/// Where the roll-out at the point fails.
pub fn verdicts<M: ContactModel>(
    task: &Task<M>,
    x: &[f64],
    how: &TrustFile,
) -> Result<Vec<Judged>, ModelError> {
    if how.variables == 0 {
        return Ok(Vec::new());
    }
    let problem = Problem::new(task, Softness::NONE, Meter::default());
    let (_, jacobian) = problem.linearised(x)?;
    let parameters = problem.parameters(x);
    let sizes: Vec<f64> = jacobian.column_iter().map(|c| c.norm()).collect();
    let mut chosen = representatives(&task.variables, &sizes);
    chosen.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    chosen.truncate(how.variables);
    let ask = |&j: &usize| -> Result<Option<Judged>, ModelError> {
        let (free, size) = (&task.variables.free[j], sizes[j]);
        let place = task.variables.moved.iter().filter_map(|m| {
            let weight = m.terms.iter().find(|t| t.0 == j)?.1;
            Some((m.index, weight))
        });
        let Some((index, _)) = place.max_by(|a, b| a.1.total_cmp(&b.1)) else { return Ok(None) };
        if !(size > 0.0 && size.is_finite()) {
            return Ok(None);
        }
        let width = free.range[1] - free.range[0];
        let weights = jacobian.column(j).iter().map(|e| e / size).collect();
        let outcome = Weighted { rows: &task.rows, weights };
        let (simulator, on_failure) = (&task.simulator, OnFailure::Continue);
        let subject = Subject { simulator, parameters: &parameters, outcome: &outcome, on_failure };
        let asked = Asked { index, scale: 0.25 * width, sigma: how.change * width };
        Ok(assess(&subject, &[asked], how.grids)?.pop())
    };
    let judged: Result<Vec<_>, ModelError> = chosen.par_iter().map(ask).collect();
    Ok(judged?.into_iter().flatten().collect())
}

/// Every parameter, and of each control the number that matters most.
fn representatives(variables: &Variables, sizes: &[f64]) -> Vec<usize> {
    let controls = &variables.controls;
    let single = (0..sizes.len()).filter(|j| !controls.iter().any(|c| c.variables.contains(j)));
    let most = controls
        .iter()
        .filter_map(|c| c.variables.clone().max_by(|a, b| sizes[*a].total_cmp(&sizes[*b])));
    single.chain(most).collect()
}
