//! Residuals of a roll-out: one list for the Jacobian by tangents and for the gradient by the adjoint.
//!
//! ```text
//! z_i = c_i + Σ_k d_ik θ_k + Σ_j a_ij m_j(y_{s_j})        m_j a number of one state
//! r_i = z_i  of an objective,   max(0, z_i + λ_i)  of a constraint z_i ≤ 0 with multiplier λ_i
//! J = Σ r_i²,      dJ/dθ = 2 Σ_i r_i dz_i/dθ
//! ```
//!
//! As each `z` is a sum over steps, `Σ r̄_i z_i` with the residuals `r̄` held is an outcome of which the adjoint takes the
//! gradient of `J`.

use super::measure::Measure;
use osculate_dynamics::impulse::RigidState;
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{Kinematics, Parameters};
use osculate_math::Scalar;

/// One residual.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Row {
    /// What does not move.
    pub constant: f64,
    /// Controls that stand in it: place among the moved parameters, and factor.
    pub direct: Vec<(usize, f64)>,
    /// Numbers of states: step, factor, what.
    pub parts: Vec<(usize, f64, Measure)>,
    /// Whether it counts only where positive.
    pub inequality: bool,
}

/// Rows that belong together: an objective or a constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it is called in reports.
    pub name: String,
    /// Its rows.
    pub rows: std::ops::Range<usize>,
    /// How many rows make one error: axes.
    pub group: usize,
    /// Factor from the norm of a group to its error.
    pub unit_error: f64,
    /// Unit of the error.
    pub unit: &'static str,
    /// The error allowed where the goal is reached.
    pub within: Option<f64>,
}

/// All residuals.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Rows {
    /// The residuals.
    pub rows: Vec<Row>,
    /// What they belong to.
    pub terms: Vec<Term>,
    /// Row and part by step.
    by_step: Vec<Vec<(usize, usize)>>,
}

impl Rows {
    /// Residuals of a roll-out of `steps` steps.
    pub fn new(rows: Vec<Row>, terms: Vec<Term>, steps: usize) -> Self {
        let mut by_step = vec![Vec::new(); steps + 1];
        for (i, row) in rows.iter().enumerate() {
            for (j, part) in row.parts.iter().enumerate() {
                by_step[part.0].push((i, j));
            }
        }
        Self { rows, terms, by_step }
    }

    /// `z` of a motion, with the moved parameters.
    ///
    /// * `state`: of a body after some steps.
    pub fn values<T: Scalar>(
        &self,
        state: impl Fn(usize, usize) -> RigidState<T>,
        parameters: &Parameters<T>,
        moved: &[T],
    ) -> Vec<T> {
        let start = |row: &Row| {
            let direct = row.direct.iter().map(|(k, d)| moved[*k] * *d);
            direct.fold(T::from(row.constant), |sum, x| sum + x)
        };
        let mut z: Vec<T> = self.rows.iter().map(start).collect();
        let mut bodies: Vec<Kinematics<T>> = Vec::new();
        for (step, parts) in self.by_step.iter().enumerate().filter(|(_, parts)| !parts.is_empty())
        {
            bodies.clear();
            let all = parameters.bodies.iter().enumerate();
            bodies.extend(all.map(|(body, p)| state(step, body).kinematics(&p.center)));
            for &(i, j) in parts {
                let (_, factor, measure) = &self.rows[i].parts[j];
                z[i] += measure.value(&bodies) * *factor;
            }
        }
        z
    }

    /// `r` from `z`, with the multipliers of the constraints.
    pub fn residuals(&self, z: &[f64], multipliers: &[f64]) -> Vec<f64> {
        let rows = self.rows.iter().zip(z.iter().zip(multipliers));
        rows.map(|(row, (z, m))| if row.inequality { (z + m).max(0.0) } else { *z }).collect()
    }

    /// The largest error of a term.
    pub fn error(&self, term: &Term, z: &[f64]) -> f64 {
        let rows = term.rows.clone().zip(&z[term.rows.clone()]);
        let signed = rows.map(|(i, z)| if self.rows[i].inequality { z.max(0.0) } else { *z });
        let values: Vec<f64> = signed.collect();
        let norms = values.chunks(term.group.max(1)).map(|g| g.iter().map(|x| x * x).sum::<f64>());
        norms.fold(0.0, f64::max).sqrt() * term.unit_error
    }

    /// Whether every term with a tolerance is within it; never where there is none.
    pub fn reached(&self, z: &[f64]) -> bool {
        let asked = || self.terms.iter().filter_map(|t| Some((t, t.within?)));
        asked().next().is_some() && asked().all(|(t, within)| self.error(t, z) <= within)
    }

    /// The largest error relative to what is allowed.
    pub fn worst(&self, z: &[f64]) -> f64 {
        let asked = self.terms.iter().filter_map(|t| Some(self.error(t, z) / t.within?));
        asked.fold(0.0, f64::max)
    }
}

/// `Σ w_i z_i` without the direct part, as an outcome.
#[derive(Debug)]
pub struct Weighted<'r> {
    /// The residuals.
    pub rows: &'r Rows,
    /// Their weights.
    pub weights: Vec<f64>,
}

impl Outcome for Weighted<'_> {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        let mut total = T::zero();
        for &(i, j) in &self.rows.by_step[step] {
            let (_, factor, measure) = &self.rows.rows[i].parts[j];
            let weight = self.weights[i] * factor;
            if weight.abs() > 0.0 {
                total += measure.value(bodies) * weight;
            }
        }
        total
    }

    fn observes(&self, step: usize) -> bool {
        self.rows.by_step[step].iter().any(|(i, _)| self.weights[*i].abs() > 0.0)
    }
}
